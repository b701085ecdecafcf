// Kernel half of ScaleAdd: y = scale * x + z, one buffer a queue.
#include "kernel_operator.h"

constexpr int32_t BUFFER_NUM = 1;

class KernelScaleAdd {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR z, GM_ADDR y, uint32_t coreLength, uint32_t tileLength, float scale)
    {
        this->tileLength = tileLength;
        this->tiles = coreLength / tileLength;
        this->scale = static_cast<half>(scale);
        const uint32_t offset = coreLength * AscendC::GetBlockIdx();
        xGm.SetGlobalBuffer((__gm__ half *)x + offset, coreLength);
        zGm.SetGlobalBuffer((__gm__ half *)z + offset, coreLength);
        yGm.SetGlobalBuffer((__gm__ half *)y + offset, coreLength);
        pipe.InitBuffer(inX, BUFFER_NUM, tileLength * sizeof(half));
        pipe.InitBuffer(inZ, BUFFER_NUM, tileLength * sizeof(half));
        pipe.InitBuffer(outY, BUFFER_NUM, tileLength * sizeof(half));
    }

    __aicore__ inline void Process()
    {
        for (uint32_t tile = 0; tile < this->tiles; tile++) {
            AscendC::LocalTensor<half> x = inX.AllocTensor<half>();
            AscendC::LocalTensor<half> z = inZ.AllocTensor<half>();
            AscendC::DataCopy(x, xGm[tile * this->tileLength], this->tileLength);
            AscendC::DataCopy(z, zGm[tile * this->tileLength], this->tileLength);
            inX.EnQue(x);
            inZ.EnQue(z);
            x = inX.DeQue<half>();
            z = inZ.DeQue<half>();
            AscendC::LocalTensor<half> y = outY.AllocTensor<half>();
            AscendC::Muls(y, x, this->scale, this->tileLength);
            AscendC::Add(y, y, z, this->tileLength);
            outY.EnQue(y);
            inX.FreeTensor(x);
            inZ.FreeTensor(z);
            y = outY.DeQue<half>();
            AscendC::DataCopy(yGm[tile * this->tileLength], y, this->tileLength);
            outY.FreeTensor(y);
        }
    }

private:
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, BUFFER_NUM> inX;
    AscendC::TQue<AscendC::TPosition::VECIN, BUFFER_NUM> inZ;
    AscendC::TQue<AscendC::TPosition::VECOUT, BUFFER_NUM> outY;
    AscendC::GlobalTensor<half> xGm;
    AscendC::GlobalTensor<half> zGm;
    AscendC::GlobalTensor<half> yGm;
    uint32_t tiles;
    uint32_t tileLength;
    half scale;
};

extern "C" __global__ __aicore__ void scale_add(GM_ADDR x, GM_ADDR z, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    if (TILING_KEY_IS(1)) {
        KernelScaleAdd op;
        op.Init(x, z, y, tilingData.coreLength, tilingData.tileLength, tilingData.scale);
        op.Process();
    }
}
