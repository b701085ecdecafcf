//! Which places of the program a launch came through, and how often.

use std::collections::BTreeMap;

use super::record::NO_PIPE;
use super::stream::Cursor;
use super::trace::Launch;

/// Sites of all records of a launch in order, each with the most records of it that one core has.
pub(crate) fn sites(launch: &Launch<'_>) -> Vec<(u64, u64)> {
    let mut most: BTreeMap<u64, u64> = BTreeMap::new();
    for stream in launch.cores.values() {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        let mut cursor = Some(stream.cursor(&launch.message_opcodes));
        while let Some(record) = cursor.as_mut().and_then(Cursor::next) {
            // What belongs to no pipe, such as the end of a block, is no instruction of its site.
            *counts.entry(record.site).or_default() += u64::from(record.pipe != NO_PIPE);
        }
        for (site, count) in counts {
            let known = most.entry(site).or_default();
            *known = count.max(*known);
        }
    }
    most.remove(&0);
    most.into_iter().collect()
}
