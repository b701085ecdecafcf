//! The structure that the host writes for the kernel, as the host's library says it.

/// A tiling structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TilingStructure {
    /// Name of its type.
    pub name: String,
    /// Its fields in order.
    pub fields: Vec<TilingMember>,
}

/// A field of a tiling structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TilingMember {
    /// Its name.
    pub name: String,
    /// Its C++ type, or the name of another structure.
    pub kind: String,
    /// Whether it is an array.
    pub is_array: bool,
}
