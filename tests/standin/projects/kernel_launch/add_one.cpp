// y = x + 1 over halves; the host launches it by add_one_do.
#include "kernel_operator.h"

constexpr uint32_t TILE_LENGTH = 256; // halves of one tile
constexpr uint32_t ELEMENTS = 32768;

extern "C" __global__ __aicore__ void add_one(GM_ADDR x, GM_ADDR y)
{
    const uint32_t coreLength = ELEMENTS / AscendC::GetBlockNum();
    const uint32_t offset = coreLength * AscendC::GetBlockIdx();
    AscendC::GlobalTensor<half> xGm;
    AscendC::GlobalTensor<half> yGm;
    xGm.SetGlobalBuffer((__gm__ half *)x + offset, coreLength);
    yGm.SetGlobalBuffer((__gm__ half *)y + offset, coreLength);
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> in;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, TILE_LENGTH * sizeof(half));
    pipe.InitBuffer(out, 1, TILE_LENGTH * sizeof(half));
    for (uint32_t at = 0; at < coreLength; at += TILE_LENGTH) {
        AscendC::LocalTensor<half> a = in.AllocTensor<half>();
        AscendC::DataCopy(a, xGm[at], TILE_LENGTH);
        in.EnQue(a);
        a = in.DeQue<half>();
        AscendC::LocalTensor<half> b = out.AllocTensor<half>();
        AscendC::Adds(b, a, static_cast<half>(1.0f), TILE_LENGTH);
        out.EnQue(b);
        in.FreeTensor(a);
        b = out.DeQue<half>();
        AscendC::DataCopy(yGm[at], b, TILE_LENGTH);
        out.FreeTensor(b);
    }
}

#ifndef ASCENDC_CPU_DEBUG
void add_one_do(uint32_t blockDim, void *stream, uint8_t *x, uint8_t *y)
{
    add_one<<<blockDim, nullptr, stream>>>(x, y);
}
#endif
