//! Which places of the program a launch came through.

use std::collections::BTreeSet;

use super::stream::Cursor;
use super::trace::Launch;

/// Sites of all records of a launch, in order.
pub(crate) fn sites(launch: &Launch<'_>) -> Vec<u64> {
    let mut found = BTreeSet::new();
    for stream in launch.cores.values() {
        let mut cursor = Some(stream.cursor(&launch.message_opcodes));
        let mut last = 0;
        while let Some(record) = cursor.as_mut().and_then(Cursor::next) {
            if record.site != last {
                last = record.site;
                found.insert(last);
            }
        }
    }
    found.into_iter().collect()
}
