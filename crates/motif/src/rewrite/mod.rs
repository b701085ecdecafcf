//! What many motifs do to the code: edits, and the parts of large rewrites.

pub(crate) mod broadcast_rows;
pub(crate) mod buffers;
pub(crate) mod counted_bytes;
pub(crate) mod edits;
pub(crate) mod hoist;
pub(crate) mod keep_edits;
pub(crate) mod keep_room;
pub(crate) mod members;
pub(crate) mod pairs;
pub(crate) mod peephole;
pub(crate) mod planned_room;
pub(crate) mod queue_depth;
pub(crate) mod round_buffers;
pub(crate) mod round_change;
pub(crate) mod round_rows;
pub(crate) mod round_text;
pub(crate) mod round_undo;
pub(crate) mod row_fission;
pub(crate) mod row_numbers;
pub(crate) mod row_scalars;
pub(crate) mod scalar_loops;
pub(crate) mod signature;
pub(crate) mod template;
pub(crate) mod through_queue;
pub(crate) mod vectorise;
