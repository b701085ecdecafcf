//! What is asked of the model.

/// What to find out besides timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Look for hazards.
    pub hazards: bool,
    /// The device compiler inserts synchronisation, as it does unless a project tells it not to (`--cce-auto-sync=off`).
    pub auto_sync: bool,
    /// Follow the critical path of each launch, at the price of a second play, and list the sites that it came through.
    pub critical_path: bool,
    /// Compute once what comes out alike: blocks that do the same at the same time, instructions that came before. Nothing
    /// depends on it but the time that it takes.
    pub shortcuts: bool,
    /// Say which blocks stand for all, from the hazards and what comes out alike.
    pub sample: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { hazards: true, auto_sync: true, critical_path: false, shortcuts: true, sample: false }
    }
}
