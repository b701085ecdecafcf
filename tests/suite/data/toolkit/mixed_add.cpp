// AddCustom on groups of a cube core and a vector core. The cube core waits for a message in memory that the entry has
// cleared, and answers in the user's part of the workspace; only the right answer lets the vector core add.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    GET_TILING_DATA(data, tiling);
    auto* answer = reinterpret_cast<volatile uint32_t*>(AscendC::GetUserWorkspace(workspace)) + 16 * get_block_idx();
    if (g_coreType == AscendC::AIC_TYPE) {
        while (*AscendC::Message() == 0) {
        }
        *answer = 10 * AscendC::MIX_NUM + *AscendC::Message();
        ffts_cross_core_sync(PIPE_FIX, 1 | 2 << 4 | 3 << 8);
        return;
    }
    *AscendC::Message() = 7;
    wait_flag_dev(3);
    const uint32_t tile = *answer == 17 ? data.blockLength / (2 * data.tileNum) : 0;
    // A check of the headers divides by its length, code for the device does not.
    AscendC::Tile unused(0, 0);
    AscendC::Tile a(0, tile);
    AscendC::Tile b(tile * sizeof(half), tile);
    for (uint32_t done = 0; tile != 0 && done < data.blockLength; done += tile) {
        const uint64_t at = AscendC::TileBlock() * data.blockLength + done;
        a.Load(reinterpret_cast<__gm__ half*>(x) + at);
        b.Load(reinterpret_cast<__gm__ half*>(y) + at);
        pipe_barrier(PIPE_ALL);
        a.Add(b);
        pipe_barrier(PIPE_ALL);
        a.Store(reinterpret_cast<__gm__ half*>(z) + at);
        pipe_barrier(PIPE_ALL);
    }
}
