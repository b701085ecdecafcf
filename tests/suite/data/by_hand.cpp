// Another kernel half of AddCustom: z = x + y, rounded to whole numbers, ties to even. Buffers and flags by hand.
#include "kernel_operator.h"

constexpr uint32_t TILES_PER_STEP = 2;

class KernelAdd {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t blockLength, uint32_t tileNum)
    {
        this->tileCount = tileNum * TILES_PER_STEP;
        this->tileLength = blockLength / this->tileCount;

        const uint32_t offset = blockLength * AscendC::GetBlockIdx();
        xGm.SetGlobalBuffer((__gm__ half *)x + offset, blockLength);
        yGm.SetGlobalBuffer((__gm__ half *)y + offset, blockLength);
        zGm.SetGlobalBuffer((__gm__ half *)z + offset, blockLength);

        pipe.InitBuffer(xBuf, this->tileLength * sizeof(half));
        pipe.InitBuffer(yBuf, this->tileLength * sizeof(half));
        pipe.InitBuffer(zBuf, this->tileLength * sizeof(half));
        pipe.InitBuffer(sumBuf, this->tileLength * sizeof(float));
        pipe.InitBuffer(termBuf, this->tileLength * sizeof(float));
        pipe.InitBuffer(wholeBuf, this->tileLength * sizeof(int32_t));
    }

    __aicore__ inline void Process()
    {
        for (uint32_t tile = 0; tile < this->tileCount; tile++) {
            Step(tile * this->tileLength);
            AscendC::PipeBarrier<PIPE_ALL>(); // the next step overwrites what this one still reads
        }
    }

private:
    __aicore__ inline void Step(uint32_t start)
    {
        AscendC::LocalTensor<half> x = xBuf.Get<half>();
        AscendC::LocalTensor<half> y = yBuf.Get<half>();
        AscendC::LocalTensor<half> z = zBuf.Get<half>();
        AscendC::LocalTensor<float> sum = sumBuf.Get<float>();
        AscendC::LocalTensor<float> term = termBuf.Get<float>();
        AscendC::LocalTensor<int32_t> whole = wholeBuf.Get<int32_t>();

        AscendC::DataCopy(x, xGm[start], this->tileLength);
        AscendC::DataCopy(y, yGm[start], this->tileLength);
        AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
        AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);

        AscendC::Cast(sum, x, AscendC::RoundMode::CAST_NONE, this->tileLength);
        AscendC::Cast(term, y, AscendC::RoundMode::CAST_NONE, this->tileLength);
        AscendC::Add(sum, sum, term, this->tileLength);
        AscendC::Cast(whole, sum, AscendC::RoundMode::CAST_RINT, this->tileLength);
        AscendC::Cast(sum, whole, AscendC::RoundMode::CAST_NONE, this->tileLength);
        AscendC::Cast(z, sum, AscendC::RoundMode::CAST_NONE, this->tileLength);

        AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
        AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
        AscendC::DataCopy(zGm[start], z, this->tileLength);
    }

    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> xBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> yBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> zBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sumBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> termBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wholeBuf;
    AscendC::GlobalTensor<half> xGm;
    AscendC::GlobalTensor<half> yGm;
    AscendC::GlobalTensor<half> zGm;
    uint32_t tileCount;
    uint32_t tileLength;
};

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    KernelAdd op;
    op.Init(x, y, z, tilingData.blockLength, tilingData.tileNum);
    op.Process();
}
