//! Regions of global memory, as a trace names them.

/// Role of a region of global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Operator input.
    Input,
    /// Operator output.
    Output,
    /// Workspace.
    Workspace,
    /// Tiling data.
    Tiling,
    /// Allocation of a direct launch.
    Other,
    /// Operator output with values before the launch: an input changed in place, or filled by the framework.
    Updated,
}

/// A region of global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Virtual base address.
    pub base: u64,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Role.
    pub role: Role,
    /// Index within the role.
    pub index: u32,
}

/// Content of a live region after a direct launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataRegion {
    /// Virtual base address.
    pub base: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}
