//! Sizes of NPU arch 2201 that preconditions speak of.

/// Bytes of a block in the unified buffer: rows start at blocks, as the buffers do.
pub(crate) const BLOCK_BYTES: i64 = 32;
/// Bytes that one repeat of a vector instruction covers.
pub(crate) const REPEAT_BYTES: i64 = 256;
/// Repeats and strides of repeats are 8 bits wide.
pub(crate) const REPEAT_MAX: i64 = 255;
/// Event ids of one pair of pipes: queues of one position may have as many buffers (reference of
/// `AllocTensor`).
pub(crate) const EVENT_IDS: i64 = 8;
