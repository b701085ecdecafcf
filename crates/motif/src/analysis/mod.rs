//! What many motifs ask of the code. Nothing here edits.

pub(crate) mod barrier_order;
pub(crate) mod barrier_regions;
pub(crate) mod chunk_loads;
pub(crate) mod code;
pub(crate) mod copies;
pub(crate) mod entry;
pub(crate) mod first_element;
pub(crate) mod flow;
pub(crate) mod global_memory;
pub(crate) mod launches;
pub(crate) mod linear;
pub(crate) mod loops;
pub(crate) mod machine;
pub(crate) mod pipe_order;
pub(crate) mod pipes;
pub(crate) mod queue_run;
pub(crate) mod queue_uses;
pub(crate) mod reductions;
pub(crate) mod regions;
pub(crate) mod round_list;
pub(crate) mod round_names;
pub(crate) mod rows;
pub(crate) mod siblings;
pub(crate) mod taken_buffer;
pub(crate) mod tiling_ranges;
pub(crate) mod tiling_reads;
mod tiling_tokens;
