//! Where the cases came through.

use std::collections::BTreeMap;

/// Lines that instructions of all runs came from, by file, relative to the operator's root, and line from 1; each with the most
/// records that one core left there in one launch.
pub type VisitedLines = BTreeMap<(String, u32), u64>;
