//! What a tunable decides, as far as its name says it.

use super::words::words;
use space::{Binding, Tunable};

/// What a value is an amount of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Buffers of a queue.
    Buffers,
    /// Length of a tile, in whatever unit the operator counts.
    TileLength,
    /// Tiles of a core.
    TileCount,
    /// Cores that take part.
    Cores,
}

impl Meaning {
    /// What the words of a name say; `None` where they say nothing, or that the value is no amount to choose.
    pub fn of_name(name: &str) -> Option<Self> {
        let words = words(name);
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        let excluded = [
            "eps",
            "epsilon",
            "key",
            "index",
            "idx",
            "dtype",
            "type",
            "byte",
            "bytes",
            "align",
            "alignment",
            "axis",
            "rank",
            "mode",
            "version",
            "event",
            "id",
            "flag",
            "offset",
            "addr",
            "address",
            "ws",
            "workspace",
            "result",
            "mask",
            "shift",
            "ratio",
            "reserved",
            "remain",
            "tail",
            "last",
        ];
        let block_dim = has(&["block", "blocks"]) && has(&["dim", "dims"]);
        let of_cores =
            has(&["core", "cores", "aiv"]) && !has(&["per", "size", "len", "length", "factor", "data"]) || block_dim;
        // A total of cores is what there is to choose from, any other follows from the shape.
        if has(&excluded) || (has(&["total"]) && !of_cores) {
            return None;
        }
        let amount = has(&["num", "number", "count", "cnt", "depth", "nums"]);
        if (has(&["buffer", "buffers", "buf", "que", "queue"]) && (amount || has(&["double"]))) || name == "DB_NUM" {
            return Some(Self::Buffers);
        }
        if of_cores {
            return Some(Self::Cores);
        }
        if words.join("_") == "num_blocks" {
            return Some(Self::Cores);
        }
        if has(&["dim", "dims", "max", "min", "limit", "per"]) {
            return None;
        }
        let extent = has(&["len", "length", "size", "elem", "elems", "elements", "factor"]);
        if has(&["tile", "tiles"]) {
            return Some(if amount && !extent { Self::TileCount } else { Self::TileLength });
        }
        let piece = has(&["chunk", "ub", "copy", "column", "columns", "col", "row", "rows", "base", "loop", "split"]);
        let alone = has(&["chunk", "strip"]) && words.len() == 1;
        (piece && extent || alone).then_some(Self::TileLength)
    }

    /// What a tunable decides.
    pub fn of(tunable: &Tunable) -> Option<Self> {
        match &tunable.binding {
            Binding::Constant { name, .. } => Self::of_name(name.rsplit("::").next().unwrap_or(name)),
            Binding::Argument { call, .. } if call == "InitBuffer" => Some(Self::Buffers),
            Binding::Argument { call, .. } if SETS_CORES.contains(&call.as_str()) => Some(Self::Cores),
            Binding::Cap { target, .. } => Self::of_name(target),
            Binding::Cmake { variable } => Self::of_name(variable),
            Binding::Argument { .. } | Binding::Share { .. } | Binding::Portion { .. } | Binding::Recorded => None,
        }
    }
}

/// Calls of a tiling function that say how many cores take part.
pub const SETS_CORES: [&str; 3] = ["SetBlockDim", "SetNumBlocks", "SetSimdNumBlocks"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_value_is_an_amount_of() {
        let meanings = [
            ("BLOCK_DIM", Some(Meaning::Cores)),
            ("MAX_CORES", Some(Meaning::Cores)),
            ("totalCoreNum", Some(Meaning::Cores)),
            ("totalCoreLength", None),
            ("totalTileNum", None),
            ("BUFFER_NUM", Some(Meaning::Buffers)),
            ("TILE_LENGTH", Some(Meaning::TileLength)),
            ("CHUNK", Some(Meaning::TileLength)),
            ("CHUNK_COUNT", None),
            ("TILE_NUM", Some(Meaning::TileCount)),
            ("TILE_BYTES", None),
        ];
        for (name, meaning) in meanings {
            assert_eq!(Meaning::of_name(name), meaning, "{name}");
        }
    }
}
