//! The motifs there are.

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
mod d24_tiles;
mod l01_all_cores;
mod l02_fewer_cores;
mod l08_pipe_outside;
mod l14_dealt_rounds;
mod l15_dealt_loops;
mod s03_hoist_element;
mod s13_hoist_descriptor;
mod s14_tiling_fields;
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
mod v14_cast_back;
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
mod v37_carried_rows;
mod v38_blocks_first;
mod y01_full_barrier;
mod y02_vector_barrier;
mod y03_flag_pair;
mod y04_queue_for_buffer;
mod y05_scratch_buffer;
mod y07_barrier_behind;
mod y11_vector_scalars;
mod y12_late_take;
mod y13_queue_for_flags;

use crate::id::Id;
use crate::motif::Motif;
use d01_double_buffer::DoubleBuffer;
use d04_strided_copy::StridedCopy;
use d05_data_copy_pad::PLAIN_COPY;
use d07_batch_rows::BatchRows;
use d08_bound_queue::BoundQueue;
use d09_l2_hint::L2_HINT;
use d13_hoist_load::HoistLoad;
use d14_keep_chunks::KeepChunks;
use d15_dead_write::DEAD_WRITE;
use d16_early_free::EARLY_FREE;
use d21_stage_scalars::StageScalars;
use d23_early_copy::EarlyCopy;
use d24_tiles::Tiles;
use l01_all_cores::AllCores;
use l02_fewer_cores::FewerCores;
use l08_pipe_outside::PipeOutside;
use l14_dealt_rounds::DealtRounds;
use l15_dealt_loops::DealtLoops;
use s03_hoist_element::HOIST_ELEMENT;
use s13_hoist_descriptor::HOIST_DESCRIPTOR;
use s14_tiling_fields::TilingFields;
use v01_scalar_loop::ScalarLoop;
use v02_axpy::AXPY;
use v03_multiply_add::MULTIPLY_ADD;
use v04_relu::FUSED_RELU;
use v05_fused_cast::FUSED_CAST;
use v06_scalar_operand::SCALAR_OPERAND;
use v07_row_broadcast::RowBroadcast;
use v09_row_loop::JoinedRows;
use v10_counter_mode::CounterMode;
use v11_mask_once::MaskOnce;
use v12_two_level_reduce::TWO_LEVEL_REDUCE;
use v13_row_reduce::ROW_REDUCE;
use v14_cast_back::CAST_BACK;
use v17_bank_gap::BankGap;
use v20_branchless::Branchless;
use v21_negation::NEGATION;
use v22_gather::GATHER_ELEMENTS;
use v23_transpose::BlockTranspose;
use v24_sort::SORT_ONCE;
use v26_hoist_duplicate::HoistDuplicate;
use v27_skip_fill::SKIP_FILL;
use v28_reciprocal::SCALAR_RECIPROCAL;
use v33_scalar_chain::SCALAR_CHAIN;
use v34_index_vector::INDEX_VECTOR;
use v35_scalar_root::ScalarRoot;
use v36_hoist_vector::HoistVector;
use v37_carried_rows::CarriedRows;
use v38_blocks_first::BLOCKS_FIRST;
use y01_full_barrier::FullBarrier;
use y02_vector_barrier::VECTOR_BARRIER;
use y03_flag_pair::FLAG_PAIR;
use y04_queue_for_buffer::QueueForBuffer;
use y05_scratch_buffer::ScratchBuffer;
use y07_barrier_behind::BarrierBehind;
use y11_vector_scalars::VectorScalars;
use y12_late_take::LATE_TAKE;
use y13_queue_for_flags::QueueForFlags;

/// All motifs, by id.
pub fn all() -> &'static [&'static dyn Motif] {
    &[
        &DoubleBuffer,
        &StridedCopy,
        &PLAIN_COPY,
        &BatchRows,
        &BoundQueue,
        &L2_HINT,
        &HoistLoad,
        &KeepChunks,
        &DEAD_WRITE,
        &EARLY_FREE,
        &EarlyCopy,
        &Tiles,
        &StageScalars,
        &AllCores,
        &FewerCores,
        &PipeOutside,
        &DealtRounds,
        &DealtLoops,
        &HOIST_ELEMENT,
        &HOIST_DESCRIPTOR,
        &TilingFields,
        &ScalarLoop,
        &AXPY,
        &MULTIPLY_ADD,
        &FUSED_RELU,
        &FUSED_CAST,
        &SCALAR_OPERAND,
        &RowBroadcast,
        &JoinedRows,
        &CounterMode,
        &MaskOnce,
        &BLOCKS_FIRST,
        &TWO_LEVEL_REDUCE,
        &ROW_REDUCE,
        &CAST_BACK,
        &BankGap,
        &Branchless,
        &NEGATION,
        &GATHER_ELEMENTS,
        &BlockTranspose,
        &SORT_ONCE,
        &HoistDuplicate,
        &SKIP_FILL,
        &SCALAR_RECIPROCAL,
        &SCALAR_CHAIN,
        &ScalarRoot,
        &HoistVector,
        &CarriedRows,
        &INDEX_VECTOR,
        &QueueForBuffer,
        &QueueForFlags,
        &FullBarrier,
        &VECTOR_BARRIER,
        &FLAG_PAIR,
        &ScratchBuffer,
        &BarrierBehind,
        &VectorScalars,
        &LATE_TAKE,
    ]
}

/// A motif by its id.
pub fn by_id(id: Id) -> &'static dyn Motif {
    match id {
        Id::D01 => &DoubleBuffer,
        Id::D04 => &StridedCopy,
        Id::D05 => &PLAIN_COPY,
        Id::D07 => &BatchRows,
        Id::D08 => &BoundQueue,
        Id::D09 => &L2_HINT,
        Id::D13 => &HoistLoad,
        Id::D14 => &KeepChunks,
        Id::D15 => &DEAD_WRITE,
        Id::D16 => &EARLY_FREE,
        Id::D21 => &StageScalars,
        Id::D23 => &EarlyCopy,
        Id::D24 => &Tiles,
        Id::L01 => &AllCores,
        Id::L02 => &FewerCores,
        Id::L14 => &DealtRounds,
        Id::L15 => &DealtLoops,
        Id::L08 => &PipeOutside,
        Id::S03 => &HOIST_ELEMENT,
        Id::S13 => &HOIST_DESCRIPTOR,
        Id::S14 => &TilingFields,
        Id::V01 => &ScalarLoop,
        Id::V02 => &AXPY,
        Id::V03 => &MULTIPLY_ADD,
        Id::V04 => &FUSED_RELU,
        Id::V05 => &FUSED_CAST,
        Id::V06 => &SCALAR_OPERAND,
        Id::V07 => &RowBroadcast,
        Id::V09 => &JoinedRows,
        Id::V10 => &CounterMode,
        Id::V11 => &MaskOnce,
        Id::V12 => &TWO_LEVEL_REDUCE,
        Id::V13 => &ROW_REDUCE,
        Id::V14 => &CAST_BACK,
        Id::V17 => &BankGap,
        Id::V20 => &Branchless,
        Id::V21 => &NEGATION,
        Id::V22 => &GATHER_ELEMENTS,
        Id::V23 => &BlockTranspose,
        Id::V24 => &SORT_ONCE,
        Id::V26 => &HoistDuplicate,
        Id::V27 => &SKIP_FILL,
        Id::V28 => &SCALAR_RECIPROCAL,
        Id::V33 => &SCALAR_CHAIN,
        Id::V34 => &INDEX_VECTOR,
        Id::V35 => &ScalarRoot,
        Id::V36 => &HoistVector,
        Id::V37 => &CarriedRows,
        Id::V38 => &BLOCKS_FIRST,
        Id::Y01 => &FullBarrier,
        Id::Y02 => &VECTOR_BARRIER,
        Id::Y03 => &FLAG_PAIR,
        Id::Y04 => &QueueForBuffer,
        Id::Y05 => &ScratchBuffer,
        Id::Y07 => &BarrierBehind,
        Id::Y11 => &VectorScalars,
        Id::Y12 => &LATE_TAKE,
        Id::Y13 => &QueueForFlags,
    }
}

/// A motif by its id as text, from a record or a patch.
pub fn named(id: &str) -> Option<&'static dyn Motif> {
    id.parse().ok().map(by_id)
}
