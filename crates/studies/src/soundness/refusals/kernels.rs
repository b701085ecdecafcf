//! Kernels that motifs take. Each is a class around a few statements.

/// A kernel on floats with one input and one result in queues and three buffers; `MEMBERS`, `INIT`, `COMPUTE` are left to fill in.
const CLASS: &str = r#"#include "kernel_operator.h"
constexpr int32_t BUFFERS = 1;
constexpr uint32_t TILE = 64;
struct KernelTilingData {
    uint64_t length;
    uint32_t tiles;
    float scale;
};
class Kernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR z, const uint32_t length, float scale)
    {
        length_ = length;
        scale_ = scale;
        xGm.SetGlobalBuffer((__gm__ float *)x, length);
        zGm.SetGlobalBuffer((__gm__ float *)z, length);
        pipe.InitBuffer(inQueue, BUFFERS, TILE * sizeof(float));
        pipe.InitBuffer(outQueue, BUFFERS, TILE * sizeof(float));
        pipe.InitBuffer(aBuf, TILE * sizeof(float));
        pipe.InitBuffer(bBuf, TILE * sizeof(float));
INIT    }
    __aicore__ inline void Process(uint32_t tiles)
    {
        for (uint32_t i = 0; i < tiles; i++) {
            CopyIn(i * TILE, TILE);
            Compute(TILE);
            CopyOut(i * TILE, TILE);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t start, uint32_t count)
    {
        AscendC::LocalTensor<float> xLocal = inQueue.AllocTensor<float>();
        AscendC::DataCopy(xLocal, xGm[start], count);
        inQueue.EnQue(xLocal);
    }
    __aicore__ inline void Compute(uint32_t count)
    {
        AscendC::LocalTensor<float> x = inQueue.DeQue<float>();
        AscendC::LocalTensor<float> z = outQueue.AllocTensor<float>();
        AscendC::LocalTensor<float> a = aBuf.Get<float>();
        AscendC::LocalTensor<float> b = bBuf.Get<float>();
COMPUTE        outQueue.EnQue(z);
        inQueue.FreeTensor(x);
    }
    __aicore__ inline void CopyOut(uint32_t start, uint32_t count)
    {
        AscendC::LocalTensor<float> zLocal = outQueue.DeQue<float>();
        AscendC::DataCopy(zGm[start], zLocal, count);
        outQueue.FreeTensor(zLocal);
    }
    __aicore__ inline void Next()
    {
        done_ += 1;
    }

    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, BUFFERS> inQueue;
    AscendC::TQue<AscendC::TPosition::VECOUT, BUFFERS> outQueue;
    AscendC::TBuf<AscendC::TPosition::VECCALC> aBuf;
    AscendC::TBuf<AscendC::TPosition::VECCALC> bBuf;
MEMBERS    AscendC::GlobalTensor<float> xGm;
    AscendC::GlobalTensor<float> zGm;
    uint32_t length_;
    uint32_t done_;
    uint32_t valid_;
    float scale_;
};
extern "C" __global__ __aicore__ void probe_kernel(GM_ADDR x, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    Kernel op;
    op.Init(x, z, data.length, data.scale);
    op.Process(data.tiles);
}
"#;

/// The class with members, statements of `Init`, and statements of `Compute`.
pub(super) fn class(members: &str, init: &str, compute: &str) -> String {
    CLASS.replace("MEMBERS", members).replace("INIT", init).replace("COMPUTE", &indented(compute))
}

/// The class around statements of `Compute`, one a line.
pub(super) fn computing(compute: &str) -> String {
    class("", "", compute)
}

/// The class with another body of `Process`.
pub(super) fn processing(process: &str, compute: &str) -> String {
    let text = computing(compute);
    let start = text.find("        for (uint32_t i = 0; i < tiles").unwrap_or(0);
    let end = start + text[start..].find("\n        }\n").map_or(0, |at| at + "\n        }\n".len());
    format!("{}{}{}", &text[..start], indented(process), &text[end..])
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("        {line}\n")).collect()
}
