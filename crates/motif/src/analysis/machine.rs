//! Sizes of the target that preconditions speak of.

use source::arch::TARGET;

/// Bytes of a block in the unified buffer: rows start at blocks, as the buffers do.
pub(crate) const BLOCK_BYTES: i64 = TARGET.vector.block_bytes;
/// Bytes that one repeat of a vector instruction covers.
pub(crate) const REPEAT_BYTES: i64 = TARGET.vector.repeat_bytes;
/// Most repeats, and largest stride of repeats.
pub(crate) const REPEAT_MAX: i64 = TARGET.vector.repeats;
/// Event ids of one pair of pipes.
pub(crate) const EVENT_IDS: i64 = TARGET.vector.event_ids;
