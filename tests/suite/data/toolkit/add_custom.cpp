// AddCustom on the API of the headers beside it.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    ASSERT(NothingOfThisName(data) > 0)
    const uint32_t tile = data.blockLength / (2 * data.tileNum);
    AscendC::Tile a(0, tile);
    AscendC::Tile b(tile * sizeof(half), tile);
    AscendC::FillMemories();
    for (uint32_t done = 0; done < data.blockLength; done += tile) {
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
