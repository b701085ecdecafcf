// Kernel half: one core moves row after row.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void store_kv_block(GM_ADDR keyIn, GM_ADDR keyCacheIn, GM_ADDR groupLen, GM_ADDR groupKeyIdx,
                                                     GM_ADDR groupKeyCacheIdx, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    const uint32_t width = tilingData.blockLength;
    AscendC::GlobalTensor<half> keys, cache;
    AscendC::GlobalTensor<int32_t> lengths, sources, targets;
    keys.SetGlobalBuffer((__gm__ half *)keyIn);
    cache.SetGlobalBuffer((__gm__ half *)keyCacheIn);
    lengths.SetGlobalBuffer((__gm__ int32_t *)groupLen);
    sources.SetGlobalBuffer((__gm__ int32_t *)groupKeyIdx);
    targets.SetGlobalBuffer((__gm__ int32_t *)groupKeyCacheIdx);
    AscendC::TPipe pipe;
    AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, (width * sizeof(half) + 31) / 32 * 32);
    const AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(width * sizeof(half)), 0, 0, 0};
    for (uint32_t group = 0; group < tilingData.tileNum; group++) {
        for (int32_t at = 0; at < lengths.GetValue(group); at++) {
            AscendC::LocalTensor<half> local = queue.AllocTensor<half>();
            AscendC::DataCopyPad(local, keys[(sources.GetValue(group) + at) * width], row, {false, 0, 0, 0});
            queue.EnQue(local);
            local = queue.DeQue<half>();
            AscendC::DataCopyPad(cache[(targets.GetValue(group) + at) * width], local, row);
            queue.FreeTensor(local);
        }
    }
}
// SPDX-License-Identifier: MIT OR Apache-2.0
