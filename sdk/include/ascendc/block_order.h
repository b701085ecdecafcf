// Order between blocks by flags in global memory: IBSet and IBWait between two blocks, and one block after the other.
#ifndef ASCENDC_BLOCK_ORDER_H
#define ASCENDC_BLOCK_ORDER_H

#include "ascendc/block_info.h"
#include "ascendc/data_copy.h"
#include "ascendc/tpipe.h"
#include "ascendc/vec_duplicate.h"

namespace AscendC {
namespace detail {

constexpr uint32_t FLAG_WORDS = ONE_BLK_SIZE / sizeof(int32_t);

ASC_API uint64_t FlagPlace(bool isAIVOnly, int32_t blockIdx, int32_t eventID)
{
    const int64_t blocks = isAIVOnly ? GetBlockNum() : GetBlockNum() * GetTaskRatio();
    return static_cast<uint64_t>((blocks * eventID + blockIdx) * static_cast<int64_t>(FLAG_WORDS));
}

/// On hardware copies of the flag to and fro until it is `expected`, then `next`; here an order of the two blocks stands for
/// the polling, whose number of rounds is not determined by the program.
ASC_API void PassFlag(
    const GlobalTensor<int32_t>& flag, const LocalTensor<int32_t>& ub, int32_t expected, int32_t next)
{
    (void)ub;
    PipeBarrier<PIPE_ALL>();
    ascendsim::PassFlag(flag.GetPhyAddr(0), expected, next);
}

}  // namespace detail

/// Tells the block that waits with IBWait for the same blockIdx and eventID. The flags start as 0.
template <bool isAIVOnly = true>
ASC_API void IBSet(
    const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace, int32_t blockIdx,
    int32_t eventID)
{
    detail::PassFlag(gmWorkspace[detail::FlagPlace(isAIVOnly, blockIdx, eventID)], ubWorkspace, 0, 1);
}
template <bool isAIVOnly = true>
ASC_API void IBWait(
    const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace, int32_t blockIdx,
    int32_t eventID)
{
    detail::PassFlag(gmWorkspace[detail::FlagPlace(isAIVOnly, blockIdx, eventID)], ubWorkspace, 1, 0);
}

// ---- one block after the other, in the order of their numbers, as often as the kernel likes ------------
// Eight words per block in GM hold the round that the block has finished; the UB copy has one more for the round's number.

ASC_API void InitDetermineComputeWorkspace(
    GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace)
{
    PipeBarrier<PIPE_ALL>();
    const uint32_t words = static_cast<uint32_t>(GetBlockNum()) * detail::FLAG_WORDS;
    if (GetBlockIdx() == 0) {
        Duplicate(ubWorkspace, 0, static_cast<int32_t>(words));
        detail::Order(HardEvent::V_MTE3);
        DataCopy(gmWorkspace, ubWorkspace, words);
    }
    ubWorkspace.SetValue(words, 1);
    PipeBarrier<PIPE_ALL>();
}

/// Waits until all blocks before this one have finished the round and none after it.
ASC_API void WaitPreBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace)
{
    PipeBarrier<PIPE_ALL>();
    const uint32_t blocks = static_cast<uint32_t>(GetBlockNum());
    const uint32_t self = static_cast<uint32_t>(GetBlockIdx());
    const int32_t round = ubWorkspace.GetValue(blocks * detail::FLAG_WORDS);
    for (;;) {
        DataCopy(ubWorkspace, gmWorkspace, blocks * detail::FLAG_WORDS);
        detail::Order(HardEvent::MTE2_S);
        bool turn = true;
        for (uint32_t block = 0; block < blocks && turn; ++block) {
            turn = ubWorkspace.GetValue(block * detail::FLAG_WORDS) == (block < self ? round : 0);
        }
        detail::Order(HardEvent::S_MTE2);
        if (turn) {
            break;
        }
        ascendsim::Yield();
    }
    PipeBarrier<PIPE_ALL>();
}

ASC_API void NotifyNextBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace)
{
    PipeBarrier<PIPE_ALL>();
    const uint32_t blocks = static_cast<uint32_t>(GetBlockNum());
    const uint32_t self = static_cast<uint32_t>(GetBlockIdx());
    const int32_t round = ubWorkspace.GetValue(blocks * detail::FLAG_WORDS);
    // The last block of a round clears the flags for the next.
    const bool last = self + 1 == blocks;
    const uint32_t at = last ? 0 : self * detail::FLAG_WORDS;
    const uint32_t words = last ? blocks * detail::FLAG_WORDS : detail::FLAG_WORDS;
    detail::Order(HardEvent::S_V);
    Duplicate(ubWorkspace[at], last ? 0 : round, static_cast<int32_t>(words));
    detail::Order(HardEvent::V_MTE3);
    DataCopy(gmWorkspace[at], ubWorkspace[at], words);
    ubWorkspace.SetValue(blocks * detail::FLAG_WORDS, round + 1);
    PipeBarrier<PIPE_ALL>();
}

}  // namespace AscendC

#endif
