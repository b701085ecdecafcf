//! Settings of strong operators, in measures that hold beyond one operator: what to try before the search knows anything.

use serde::{Deserialize, Serialize};

use motif::Counter;
use source::tunable::Meaning;

/// What a setting decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingKind {
    /// Cores that take part, as a share of the machine's vector cores.
    Cores,
    /// Buffers of a queue.
    Buffers,
    /// Length of a tile, as the share of the unified buffer that all buffers then take.
    Tile,
}

/// Values of a setting in the measure of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Before.
    pub slow: f64,
    /// As the strong operator has it.
    pub fast: f64,
}

impl SettingKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Cores, Self::Buffers, Self::Tile];

    /// What stands in a record where those of motifs have a catalogue id.
    pub fn id(self) -> &'static str {
        match self {
            Self::Cores => "cores",
            Self::Buffers => "buffers",
            Self::Tile => "tile",
        }
    }

    /// The kind by what stands in a record.
    pub fn by_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }

    /// The kind of a tunable that means this; `None` where what suits one operator says nothing about others.
    pub fn of(meaning: Meaning) -> Option<Self> {
        match meaning {
            Meaning::Cores => Some(Self::Cores),
            Meaning::Buffers => Some(Self::Buffers),
            Meaning::TileLength => Some(Self::Tile),
            Meaning::TileCount => None,
        }
    }

    /// Counters that a better value brings down. Pipe times are means over the cores that ran.
    pub fn relieves(self) -> &'static [Counter] {
        use Counter::{Mte2Us, Mte3Us, ScalarUs, StallUs, VecUs};
        match self {
            Self::Cores => &[VecUs, Mte2Us, Mte3Us, ScalarUs],
            Self::Buffers => &[StallUs],
            Self::Tile => &[ScalarUs, Mte2Us, Mte3Us, VecUs, StallUs],
        }
    }
}
