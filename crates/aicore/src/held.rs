//! Instructions that stand still.

use super::ordering::Clock;
use super::record::{OwnRecord, Record};

/// An instruction that waits behind its pipe's flag, with what the scalar unit knew when it issued it.
pub(crate) struct Held {
    record: OwnRecord,
    /// Position in the core's program.
    pub(crate) number: u64,
    pub(crate) scalar: Clock,
}

impl Held {
    pub(crate) fn new(record: &Record<'_>, number: u64, scalar: Clock) -> Self {
        Self { record: OwnRecord::of(record), number, scalar }
    }

    pub(crate) fn record(&self) -> Record<'_> {
        self.record.record()
    }
}
