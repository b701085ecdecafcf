//! What is asked of the model.

/// What a launch finds in the L2 cache, and whether cores have its code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Warmth {
    /// An empty cache, and no code: every launch is the first.
    #[default]
    Cold,
    /// What the launches before it in the trace left; the first finds nothing.
    Kept,
    /// What it left itself when it ran before: run again and again on the same tensors.
    Repeated,
    /// An empty cache, and its code: run again and again, with the cache emptied in between.
    Flushed,
}

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
    /// What launches find.
    pub warmth: Warmth,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hazards: true,
            auto_sync: true,
            critical_path: false,
            shortcuts: true,
            sample: false,
            warmth: Warmth::Cold,
        }
    }
}
