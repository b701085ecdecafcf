//! Optimisation motifs: each finds its sites in a kernel, proves or states its precondition, and edits in both directions.
//!
//! One file a motif. A motif computes *candidates*, a place with either a patch or the reason why there is none; the
//! trait's provided methods turn them into sites, refusals and checked patches. Ids are those of the catalogue of motifs.

mod barrier_regions;
mod buffers;
mod catalogue;
mod choices;
mod chunk_loads;
mod code;
mod context;
mod d01_double_buffer;
mod d04_strided_copy;
mod d05_data_copy_pad;
mod d07_batch_rows;
mod d08_bound_queue;
mod d09_l2_hint;
mod d13_hoist_load;
mod d14_keep_chunks;
mod d15_dead_write;
mod d16_early_free;
mod d21_stage_scalars;
mod d23_early_copy;
mod entry;
mod hoist;
mod keep_edits;
mod keep_room;
mod l01_all_cores;
mod l06_kernel_type;
mod l07_small_tiling;
mod l08_pipe_outside;
mod l09_workspace;
mod l11_shape_dimensions;
mod linear;
mod pairs;
mod pipe_order;
mod queue_run;
mod queue_uses;
mod regions;
mod round_buffers;
mod round_change;
mod round_list;
mod round_rows;
mod round_text;
mod round_undo;
mod row_fission;
mod row_numbers;
mod row_scalars;
mod rows;
mod s01_fold_tail;
mod s02_peel_last;
mod s03_hoist_element;
mod s04_running_counter;
mod s08_local_member;
mod s09_if_constexpr;
mod s12_core_number;
mod s13_hoist_descriptor;
mod siblings;
mod signature;
mod steady;
mod template;
mod unified_buffer;
mod v01_scalar_loop;
mod v02_axpy;
mod v03_multiply_add;
mod v04_relu;
mod v05_fused_cast;
mod v06_scalar_operand;
mod v07_row_broadcast;
mod v09_row_loop;
mod v10_counter_mode;
mod v11_mask_once;
mod v12_two_level_reduce;
mod v13_row_reduce;
mod v17_bank_gap;
mod v20_branchless;
mod v21_negation;
mod v22_gather;
mod v23_transpose;
mod v24_sort;
mod v26_hoist_duplicate;
mod v27_skip_fill;
mod v28_reciprocal;
mod v33_scalar_chain;
mod v34_index_vector;
mod v35_scalar_root;
mod v36_hoist_vector;
mod vector_chain;
mod vectorise;
mod y01_full_barrier;
mod y02_vector_barrier;
mod y03_flag_pair;
mod y05_scratch_buffer;
mod y06_queue_depth;
mod y07_barrier_behind;
mod y11_vector_scalars;
mod y12_late_take;

pub use catalogue::{all, by_id};
pub use context::{Candidate, Context, Counter, Family, Findings, HotLines, Motif, Refusal, Refused, Site};
pub use unified_buffer::CutLines;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod page;
#[cfg(test)]
mod tests;
