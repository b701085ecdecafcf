//! The motifs there are.

use super::Motif;
use super::d01_double_buffer::DoubleBuffer;
use super::d04_strided_copy::StridedCopy;
use super::d05_data_copy_pad::PlainCopy;
use super::d07_batch_rows::BatchRows;
use super::d08_bound_queue::BoundQueue;
use super::d09_l2_hint::L2Hint;
use super::d13_hoist_load::HoistLoad;
use super::d14_keep_chunks::KeepChunks;
use super::d15_dead_write::DeadWrite;
use super::d16_early_free::EarlyFree;
use super::d21_stage_scalars::StageScalars;
use super::d23_early_copy::EarlyCopy;
use super::l01_all_cores::AllCores;
use super::l02_fewer_cores::FewerCores;
use super::l08_pipe_outside::PipeOutside;
use super::s03_hoist_element::HoistElement;
use super::s13_hoist_descriptor::HoistDescriptor;
use super::v01_scalar_loop::ScalarLoop;
use super::v02_axpy::Axpy;
use super::v03_multiply_add::MultiplyAdd;
use super::v04_relu::FusedRelu;
use super::v05_fused_cast::FusedCast;
use super::v06_scalar_operand::ScalarOperand;
use super::v07_row_broadcast::RowBroadcast;
use super::v09_row_loop::JoinedRows;
use super::v10_counter_mode::CounterMode;
use super::v11_mask_once::MaskOnce;
use super::v12_two_level_reduce::TwoLevelReduce;
use super::v13_row_reduce::RowReduce;
use super::v14_cast_back::CastBack;
use super::v17_bank_gap::BankGap;
use super::v20_branchless::Branchless;
use super::v21_negation::Negation;
use super::v22_gather::GatherElements;
use super::v23_transpose::BlockTranspose;
use super::v24_sort::SortOnce;
use super::v26_hoist_duplicate::HoistDuplicate;
use super::v27_skip_fill::SkipFill;
use super::v28_reciprocal::ScalarReciprocal;
use super::v33_scalar_chain::ScalarChain;
use super::v34_index_vector::IndexVector;
use super::v35_scalar_root::ScalarRoot;
use super::v36_hoist_vector::HoistVector;
use super::v37_carried_rows::CarriedRows;
use super::v38_blocks_first::BlocksFirst;
use super::y01_full_barrier::FullBarrier;
use super::y02_vector_barrier::VectorBarrier;
use super::y03_flag_pair::FlagPair;
use super::y04_queue_for_buffer::QueueForBuffer;
use super::y05_scratch_buffer::ScratchBuffer;
use super::y07_barrier_behind::BarrierBehind;
use super::y11_vector_scalars::VectorScalars;
use super::y12_late_take::LateTake;

/// All motifs, by id.
pub fn all() -> &'static [&'static dyn Motif] {
    &[
        &DoubleBuffer,
        &StridedCopy,
        &PlainCopy,
        &BatchRows,
        &BoundQueue,
        &L2Hint,
        &HoistLoad,
        &KeepChunks,
        &DeadWrite,
        &EarlyFree,
        &EarlyCopy,
        &StageScalars,
        &AllCores,
        &FewerCores,
        &PipeOutside,
        &HoistElement,
        &HoistDescriptor,
        &ScalarLoop,
        &Axpy,
        &MultiplyAdd,
        &FusedRelu,
        &FusedCast,
        &ScalarOperand,
        &RowBroadcast,
        &JoinedRows,
        &CounterMode,
        &MaskOnce,
        &BlocksFirst,
        &TwoLevelReduce,
        &RowReduce,
        &CastBack,
        &BankGap,
        &Branchless,
        &Negation,
        &GatherElements,
        &BlockTranspose,
        &SortOnce,
        &HoistDuplicate,
        &SkipFill,
        &ScalarReciprocal,
        &ScalarChain,
        &ScalarRoot,
        &HoistVector,
        &CarriedRows,
        &IndexVector,
        &QueueForBuffer,
        &FullBarrier,
        &VectorBarrier,
        &FlagPair,
        &ScratchBuffer,
        &BarrierBehind,
        &VectorScalars,
        &LateTake,
    ]
}

/// A motif by its id.
pub fn by_id(id: &str) -> Option<&'static dyn Motif> {
    all().iter().copied().find(|motif| motif.id() == id)
}
