//! The structures that the host writes for the kernel, as the host's library says them.

/// A tiling structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TilingStructure {
    /// Name of its type.
    pub name: String,
    /// Whether it is the one that is registered for the operator, for all its tiling keys.
    pub of_operator: bool,
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
