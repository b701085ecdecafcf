//! What launches find in caches where they are measured, and what the model makes of it.

use serde::{Deserialize, Serialize};

use aicore::Warmth;
use cann::measure::MeasureOptions;
use manifest::Layout;

/// What a launch that is measured finds in caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Caches {
    /// Nothing.
    Cold,
    /// What the launches before it in its program left.
    Kept,
    /// What it left itself when it ran before.
    Repeated,
    /// Its code, and nothing in L2.
    Flushed,
    /// Its code, and what tensors of other copies did not push out.
    Rotated,
}

impl Caches {
    /// Where a project with this layout is measured so.
    pub(super) fn of(layout: Layout, measure: &MeasureOptions) -> Self {
        match layout {
            // A program launches its kernels as it does.
            Layout::DirectLaunch => Self::Kept,
            _ if measure.warm_up == 0 => Self::Cold,
            _ if measure.flush => Self::Flushed,
            _ if measure.rotate > 1 => Self::Rotated,
            _ => Self::Repeated,
        }
    }

    /// The nearest that the model knows.
    pub(super) fn modelled(self) -> Warmth {
        match self {
            Self::Cold => Warmth::Cold,
            Self::Kept => Warmth::Kept,
            Self::Repeated => Warmth::Repeated,
            Self::Flushed | Self::Rotated => Warmth::Flushed,
        }
    }

    /// What the model makes of it; `None` where it knows nothing like it.
    pub fn exactly(self) -> Option<Warmth> {
        (self != Self::Rotated).then(|| self.modelled())
    }
}
