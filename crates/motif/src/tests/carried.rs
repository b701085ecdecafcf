//! Rounds dealt to cores that add to a tensor which lives longer than they do.

use super::*;

/// A tiling function of one core that looks at the output alone.
const HOST: &str = "#include \"register/op_def_registry.h\"\nnamespace optiling {\nstatic ge::graphStatus Tiling(gert::TilingContext *context)\n{\n    const uint32_t length = context->GetOutputShape(0)->GetStorageShape().GetShapeSize();\n    tiling.set_rounds((length + 255) / 256);\n    context->SetBlockDim(1);\n    return ge::GRAPH_SUCCESS;\n}\n}\n";

/// Ramps, as somebody writes them for one core: each tile is the one before and a step.
const KERNEL: &str = r#"#include "kernel_operator.h"
class Ramp {
public:
    __aicore__ inline void Init(GM_ADDR start, GM_ADDR step, GM_ADDR y, uint32_t rounds)
    {
        this->rounds = rounds;
        startGm.SetGlobalBuffer((__gm__ float *)start, 8);
        stepGm.SetGlobalBuffer((__gm__ float *)step, 8);
        yGm.SetGlobalBuffer((__gm__ float *)y, rounds * TILE);
        pipe.InitBuffer(first, 1, 32);
        pipe.InitBuffer(results, 2, TILE * sizeof(float));
        pipe.InitBuffer(sums, TILE * sizeof(float));
        pipe.InitBuffer(steps, TILE * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        Begin();
        for (uint32_t tile = 0; tile < rounds; tile++) {
            if (tile == rounds - 1 && rounds > 1) {
                Compute();
                CopyOut(tile);
            } else {
                Compute();
                CopyOut(tile);
            }
        }
    }

private:
    __aicore__ inline void Begin()
    {
        AscendC::LocalTensor<float> taken = first.AllocTensor<float>();
        AscendC::DataCopy(taken, startGm, 8);
        first.EnQue(taken);
        taken = first.DeQue<float>();
        sum = sums.Get<float>();
        ahead = steps.Get<float>();
        AscendC::Duplicate(sum, taken.GetValue(0), TILE);
        AscendC::Duplicate(ahead, stepGm.GetValue(0), TILE);
        first.FreeTensor(taken);
    }
    __aicore__ inline void Compute()
    {
        AscendC::LocalTensor<float> result = results.AllocTensor<float>();
        AscendC::Adds(result, sum, 0.0f, TILE);
        AscendC::Add(this->sum, this->sum, this->ahead, TILE);
        results.EnQue(result);
    }
    __aicore__ inline void CopyOut(uint32_t tile)
    {
        AscendC::LocalTensor<float> result = results.DeQue<float>();
        AscendC::DataCopy(yGm[tile * TILE], result, TILE);
        results.FreeTensor(result);
    }
    static constexpr uint32_t TILE = 256;
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> first;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> results;
    AscendC::TBuf<AscendC::TPosition::VECCALC> sums, steps;
    AscendC::GlobalTensor<float> startGm, stepGm, yGm;
    AscendC::LocalTensor<float> sum, ahead;
    uint32_t rounds = 0;
};
extern "C" __global__ __aicore__ void k(GM_ADDR start, GM_ADDR step, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    if (TILING_KEY_IS(1)) {
        Ramp op;
        op.Init(start, step, y, data.rounds);
        op.Process();
    }
}
"#;

fn dealt(host: &str, kernel: &str) -> Result<(bool, Context), String> {
    let before = super::dealing::context(host, kernel);
    let findings = motif("L14").find(&before);
    let site = findings.sites.first().ok_or_else(|| format!("{:?}", findings.refused))?.clone();
    Ok((site.rounding, patched(&before, &motif("L14").apply(&before, &site).unwrap())))
}

#[test]
fn l14_lets_sums_begin_where_the_rounds_of_a_core_do() {
    let (rounding, after) = dealt(HOST, KERNEL).unwrap();
    assert!(rounding);
    let host = after.tree.text("op_host/k.cpp").unwrap();
    assert!(host.contains("1 + context->GetOutputShape(0)->GetStorageShape().GetShapeSize() / 4096"), "{host}");
    let kernel = after.tree.text("op_kernel/k.cpp").unwrap();
    let begun = "        AscendC::Duplicate(ahead, stepGm.GetValue(0), TILE);
        if (AscendC::GetBlockNum() > 1) {
            AscendC::Axpy(sum, ahead, static_cast<float>(AscendC::GetBlockIdx()), TILE); // as the first round of this core finds it
            AscendC::Muls(ahead, ahead, static_cast<float>(AscendC::GetBlockNum()), TILE);
        }
";
    assert!(kernel.contains(begun), "{kernel}");
    assert!(kernel.contains("        Begin();\n        for"), "{kernel}");
    // One question for a choice between two runs.
    let asked = "            if (round++ == turn) {
                turn += AscendC::GetBlockNum();
                if (tile == rounds - 1 && rounds > 1) {
                    Compute();
                    CopyOut(tile);
                } else {
                    Compute();
                    CopyOut(tile);
                }
            }
        }
";
    assert!(kernel.contains(asked), "{kernel}");
}

#[test]
fn l14_refuses_sums_that_begin_otherwise() {
    for (there, instead, why) in [
        // The step is another one in every round, or not made with the sum.
        (
            "        results.EnQue(result);\n",
            "        AscendC::Adds(ahead, ahead, 1.0f, TILE);\n        results.EnQue(result);\n",
            "too",
        ),
        (
            "        AscendC::Duplicate(ahead, stepGm.GetValue(0), TILE);\n",
            "        AscendC::Duplicate(ahead, stepGm.GetValue(0), 8);\n",
            "together",
        ),
        (
            "        first.FreeTensor(taken);\n",
            "        AscendC::Adds(result, sum, 0.0f, TILE);\n        first.FreeTensor(taken);\n",
            "behind",
        ),
        // Rounds that do not add once.
        (
            "        AscendC::Add(this->sum,",
            "        if (rounds > 3) {\n            return;\n        }\n        AscendC::Add(this->sum,",
            "not at all",
        ),
        ("                Compute();\n", "                Compute();\n                Compute();\n", "not at all"),
        // What makes ready is done again, or writes global memory.
        (
            "        for (uint32_t tile",
            "        for (uint32_t again = 0; again < 2; again++) {\n            Begin();\n        }\n        for (uint32_t tile",
            "",
        ),
        (
            "        first.FreeTensor(taken);\n",
            "        AscendC::DataCopy(yGm, taken, 8);\n        first.FreeTensor(taken);\n",
            "all of the work",
        ),
        ("        op.Process();\n", "        op.Process();\n        op.Process();\n", ""),
        ("LocalTensor<float> sum, ahead", "LocalTensor<int32_t> sum, ahead", "made of"),
    ] {
        let kernel = KERNEL.replacen(there, instead, 1);
        assert_ne!(kernel, KERNEL, "{there}");
        let said = dealt(HOST, &kernel).map(|_| ()).expect_err(instead);
        assert!(said.contains(why), "{why}: {said}");
    }
}
