//! Preconditions of the motifs that move data, and of the launch.

use motif::Id;

use super::kernels::{class, computing, processing};
use super::{Violation, of};

const CALL: &str = "            Compute(TILE);\n";
const LOOP: &str = "for (uint32_t i = 0; i < tiles; i++) {\n            CopyIn(i * TILE, TILE);";

fn plain() -> String {
    computing("AscendC::Exp(z, x, count);")
}
fn padded() -> String {
    plain().replace(
        "AscendC::DataCopy(xLocal, xGm[start], count);",
        "AscendC::DataCopyPad(xLocal, xGm[start], AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0}, AscendC::DataCopyPadExtParams<float>{false, 0, 0, 0});",
    )
}
fn rows() -> String {
    plain().replace(
        "AscendC::DataCopy(xLocal, xGm[start], count);",
        "for (uint32_t row = 0; row < 8; row++) {\n            AscendC::DataCopy(xLocal[row * 64], xGm[start + row * 128], 64);\n        }",
    )
}
fn pure_copy() -> String {
    let text = computing("AscendC::DataCopy(z, x, count);");
    text.replace("        AscendC::LocalTensor<float> a = aBuf.Get<float>();\n        AscendC::LocalTensor<float> b = bBuf.Get<float>();\n", "")
}
fn weights() -> String {
    class(
        "    AscendC::TQue<AscendC::TPosition::VECIN, 1> wQueue;\n    AscendC::GlobalTensor<float> wGm;\n",
        "        wGm.SetGlobalBuffer((__gm__ float *)x + 4096, length);\n        pipe.InitBuffer(wQueue, 1, TILE * sizeof(float));\n",
        "AscendC::LocalTensor<float> w = wQueue.DeQue<float>();\nAscendC::Mul(z, x, w, count);\nwQueue.FreeTensor(w);",
    )
    .replace(
        "        inQueue.EnQue(xLocal);\n",
        "        inQueue.EnQue(xLocal);\n        AscendC::LocalTensor<float> wLocal = wQueue.AllocTensor<float>();\n        AscendC::DataCopy(wLocal, wGm, TILE);\n        wQueue.EnQue(wLocal);\n",
    )
}
fn hoisted_weights() -> String {
    class(
        "    AscendC::TQue<AscendC::TPosition::VECIN, 1> wQueue;\n    AscendC::GlobalTensor<float> wGm;\n",
        "        wGm.SetGlobalBuffer((__gm__ float *)x + 4096, length);\n        pipe.InitBuffer(wQueue, 1, TILE * sizeof(float));\n",
        "AscendC::Muls(a, w, scale_, TILE);\nAscendC::Mul(z, x, a, count);",
    )
    .replace("Compute(uint32_t count)", "Compute(uint32_t count, const AscendC::LocalTensor<float> &w)")
    .replace("            Compute(TILE);", "            Compute(TILE, w);")
    .replace(
        "        for (uint32_t i = 0; i < tiles",
        "        AscendC::LocalTensor<float> wLocal = wQueue.AllocTensor<float>();\n        AscendC::DataCopy(wLocal, wGm, TILE);\n        wQueue.EnQue(wLocal);\n        AscendC::LocalTensor<float> w = wQueue.DeQue<float>();\n        for (uint32_t i = 0; i < tiles",
    )
    .replace("            CopyOut(i * TILE, TILE);\n        }\n", "            CopyOut(i * TILE, TILE);\n        }\n        wQueue.FreeTensor(w);\n")
}
fn waiting() -> String {
    computing("AscendC::ReduceSum(a, x, b, count);\nAscendC::Muls(z, x, a.GetValue(0), count);")
        .replace("BUFFERS = 1", "BUFFERS = 2")
}
fn freed_late() -> String {
    computing("AscendC::Exp(a, x, count);\nAscendC::Muls(a, a, 2.0f, count);\nAscendC::Exp(z, a, count);")
}
fn indices() -> String {
    class(
        "    AscendC::GlobalTensor<int32_t> indexGm;\n    uint32_t first;\n    uint32_t rows;\n",
        "        indexGm.SetGlobalBuffer((__gm__ int32_t *)x + 4096, length);\n",
        "AscendC::Exp(z, x, count);",
    )
    .replace(
        "        length_ = length;\n",
        "        length_ = length;\n        first = length * AscendC::GetBlockIdx();\n        rows = length;\n",
    )
    .replace("i < tiles; i++", "i < rows; i++")
    .replace("            CopyIn(i * TILE, TILE);", "            CopyIn(first + i, TILE);")
    .replace(
        "        AscendC::LocalTensor<float> xLocal",
        "        int32_t index = indexGm.GetValue(start);\n        AscendC::LocalTensor<float> xLocal",
    )
    .replace("xGm[start]", "xGm[index * TILE]")
}
fn passes() -> String {
    processing(
        "float sum = 0.0f;\nfor (uint32_t i = 0; i < tiles; i++) {\n    CopyIn(i * TILE, TILE);\n    sum += SumOf(TILE);\n}\nfor (uint32_t j = 0; j < tiles; j++) {\n    CopyIn(j * TILE, TILE);\n    scale_ = sum;\n    Compute(TILE);\n    CopyOut(j * TILE, TILE);\n}",
        "AscendC::Muls(z, x, 2.0f, count);",
    )
    .replace(
        "    __aicore__ inline void Next()",
        "    __aicore__ inline float SumOf(uint32_t count)\n    {\n        AscendC::LocalTensor<float> x = inQueue.DeQue<float>();\n        AscendC::LocalTensor<float> a = aBuf.Get<float>();\n        AscendC::ReduceSum(a, x, a, count);\n        inQueue.FreeTensor(x);\n        return a.GetValue(0);\n    }\n    __aicore__ inline void Next()",
    )
}

pub(super) const VIOLATIONS: &[Violation] = &[
    of(
        Id::D01,
        "the queue is filled in a loop",
        plain,
        &[(LOOP, "{ uint32_t i = 0;\n            CopyIn(i * TILE, TILE);")],
        "filled once",
    ),
    of(
        Id::D01,
        "doubled buffers fit",
        plain,
        &[("BUFFERS, TILE * sizeof(float)", "BUFFERS, 15000 * sizeof(float)")],
        "unified buffer has",
    ),
    of(Id::D04, "rows do not overlap", rows, &[("xLocal[row * 64]", "xLocal[row * 32]")], "rows of xLocal overlap"),
    of(Id::D04, "both sides move on", rows, &[("xGm[start + row * 128]", "xGm[start]")], "pitch"),
    of(Id::D04, "at most 4095 rows", rows, &[("row < 8", "row < 5000")], "5000 rows"),
    of(Id::D04, "equal steps", rows, &[("start + row * 128", "start + row * row")], "is not start + row * pitch"),
    of(Id::D05, "no gaps", padded, &[("sizeof(float)), 0, 0, 0}", "sizeof(float)), 8, 0, 0}")], "gaps"),
    of(Id::D05, "no padding", padded, &[("{false, 0, 0, 0}", "{true, 0, 3, 0}")], "the copy pads"),
    of(
        Id::D05,
        "a length of count elements",
        padded,
        &[("count * sizeof(float)", "4 + count * sizeof(float)")],
        "is not count * sizeof",
    ),
    of(Id::D05, "one block", padded, &[("DataCopyExtParams{1, ", "DataCopyExtParams{2, ")], "several blocks"),
    of(
        Id::D07,
        "arguments grow in equal steps",
        plain,
        &[("CopyIn(i * TILE", "CopyIn(i / 2 * TILE")],
        "no equal steps",
    ),
    of(
        Id::D07,
        "nothing leaves the round",
        plain,
        &[(CALL, "            if (i > 1) {\n                break;\n            }\n            Compute(TILE);\n")],
        "leaves the round",
    ),
    of(
        Id::D07,
        "each stage once a round",
        plain,
        &[(CALL, "            CopyIn(i * TILE, TILE);\n            Compute(TILE);\n")],
        "called twice",
    ),
    of(
        Id::D07,
        "calls in every round",
        plain,
        &[(CALL, "            if (i > 1) {\n                Compute(TILE);\n            }\n")],
        "inside of a statement",
    ),
    of(
        Id::D07,
        "a buffer that keeps something of a row belongs to one stage",
        plain,
        &[
            ("Exp(z, x, count)", "Exp(a, x, count)"),
            (
                "        outQueue.FreeTensor(zLocal);",
                "        AscendC::Exp(aBuf.Get<float>(), zLocal, count);\n        outQueue.FreeTensor(zLocal);",
            ),
        ],
        "carries data of a row",
    ),
    of(
        Id::D08,
        "neither tensor is used in between",
        pure_copy,
        &[("        outQueue.EnQue(z)", "        AscendC::Exp(z, z, count);\n        outQueue.EnQue(z)")],
        "is used at line",
    ),
    of(
        Id::D08,
        "both tensors are only copied",
        pure_copy,
        &[(
            "        inQueue.EnQue(xLocal);",
            "        AscendC::Duplicate(xLocal, 0.0f, 8);\n        inQueue.EnQue(xLocal);",
        )],
        "is not only copied",
    ),
    of(
        Id::D08,
        "the count form",
        pure_copy,
        &[("DataCopy(z, x, count)", "DataCopy(z, x, {1, 8, 0, 0})")],
        "count form",
    ),
    of(
        Id::D09,
        "one call path",
        plain,
        &[(CALL, "            Compute(TILE);\n            CopyIn(i, TILE);\n            CopyOut(i, TILE);\n")],
        "call paths",
    ),
    of(
        Id::D13,
        "the same operand in every round",
        weights,
        &[("wLocal, wGm, TILE", "wLocal, wGm[start], TILE")],
        "start may change",
    ),
    of(
        Id::D13,
        "nobody writes the global tensor",
        weights,
        &[("DataCopy(zGm[start]", "DataCopy(wGm[start]")],
        "wGm may be written",
    ),
    of(
        Id::D13,
        "nobody writes it under another name",
        weights,
        &[("zGm.SetGlobalBuffer((__gm__ float *)z, length)", "zGm.SetGlobalBuffer((__gm__ float *)x + 4096, length)")],
        "zGm is written and starts where wGm does",
    ),
    of(
        Id::D13,
        "nobody changes what was loaded",
        weights,
        &[("Mul(z, x, w, count)", "Mul(w, x, x, count)")],
        "w may be changed",
    ),
    of(
        Id::D13,
        "the reader is called in every round",
        weights,
        &[(CALL, "            if (i > 0) {\n                Compute(TILE);\n            }\n")],
        "not called in every round",
    ),
    of(
        Id::D13,
        "the loop is not left by return",
        weights,
        &[(CALL, "            if (i > 9) {\n                return;\n            }\n            Compute(TILE);\n")],
        "return stands",
    ),
    of(
        Id::V36,
        "the count is the same in every round",
        hoisted_weights,
        &[("scale_, TILE)", "scale_, count)")],
        "count may change",
    ),
    of(
        Id::V36,
        "nobody else writes the destination",
        hoisted_weights,
        &[("Mul(z, x, a, count)", "Mul(a, x, a, count)")],
        "written at line",
    ),
    of(
        Id::V36,
        "the source is only read",
        hoisted_weights,
        &[("Mul(z, x, a, count)", "Mul(w, x, a, count)")],
        "w may be changed",
    ),
    of(
        Id::V36,
        "the scalar is the same in every round",
        hoisted_weights,
        &[("        outQueue.EnQue(z);", "        scale_ += 1.0f;\n        outQueue.EnQue(z);")],
        "scale_",
    ),
    of(
        Id::D14,
        "both passes load the same",
        passes,
        &[("CopyIn(j * TILE, TILE);", "CopyIn((j + 1) * TILE, TILE);")],
        "",
    ),
    of(
        Id::D14,
        "nobody writes the global tensor",
        passes,
        &[("DataCopy(zGm[start]", "DataCopy(xGm[start]")],
        "xGm may be written",
    ),
    of(
        Id::D14,
        "the result lies elsewhere",
        passes,
        &[("zGm.SetGlobalBuffer((__gm__ float *)z", "zGm.SetGlobalBuffer((__gm__ float *)x")],
        "starts where xGm does",
    ),
    of(
        Id::D16,
        "nothing leaves in between",
        freed_late,
        &[("        AscendC::Exp(z", "        if (count == 0) { return; }\n        AscendC::Exp(z")],
        "return stands in between",
    ),
    of(
        Id::D16,
        "the tensor is not handed on",
        freed_late,
        &[("        AscendC::Exp(a", "        auto part = x[8];\n        AscendC::Exp(a")],
        "handed on",
    ),
    of(
        Id::D16,
        "the queue is left alone",
        freed_late,
        &[(
            "        AscendC::Muls(a",
            "        AscendC::LocalTensor<float> other = inQueue.DeQue<float>();\n        AscendC::Muls(a",
        )],
        "inQueue is used at line",
    ),
    of(
        Id::Y12,
        "the queue is left alone",
        freed_late,
        &[(
            "        AscendC::Muls(a",
            "        AscendC::LocalTensor<float> other = outQueue.AllocTensor<float>();\n        AscendC::Muls(a",
        )],
        "outQueue is used at line",
    ),
    of(
        Id::Y12,
        "nothing is handed on in between",
        freed_late,
        &[
            ("        AscendC::Exp(a, x, count);\n        AscendC::Muls(a, a, 2.0f, count);\n", ""),
            ("AscendC::Exp(z, a, count);", "AscendC::Duplicate(z, 2.0f, count);"),
        ],
        "what it hands on comes after what x waits for",
    ),
    of(
        Id::D21,
        "the rounds are a member that stays",
        indices,
        &[(CALL, "            rows -= 1;\n            Compute(TILE);\n")],
        "rows is set at another place",
    ),
    of(
        Id::D21,
        "the tensor is only read",
        indices,
        &[("        AscendC::Exp(z", "        indexGm.SetValue(0, 1);\n        AscendC::Exp(z")],
        "not only read",
    ),
    of(Id::D21, "an element each round", indices, &[("CopyIn(first + i", "CopyIn(first * i")], "is not a name"),
    of(Id::D23, "two buffers", waiting, &[("BUFFERS = 2", "BUFFERS = 1")], "has 1 buffer"),
    of(
        Id::D23,
        "the scalar unit waits",
        waiting,
        &[("a.GetValue(0)", "scale_"), ("ReduceSum(a, x, b, count)", "Exp(a, x, count)")],
        "makes the scalar unit wait",
    ),
    of(
        Id::D23,
        "no way out of the loop",
        waiting,
        &[(CALL, "            if (i == 3) {\n                break;\n            }\n            Compute(TILE);\n")],
        "break stands",
    ),
    of(
        Id::D23,
        "the variables stay",
        waiting,
        &[(CALL, "            tiles -= 1;\n            Compute(TILE);\n")],
        "tiles may change",
    ),
    of(
        Id::D23,
        "nobody writes the global tensor",
        waiting,
        &[("DataCopy(zGm[start]", "DataCopy(xGm[start]")],
        "xGm is written",
    ),
    of(
        Id::D23,
        "nobody writes it under another name",
        waiting,
        &[("zGm.SetGlobalBuffer((__gm__ float *)z", "zGm.SetGlobalBuffer((__gm__ float *)x")],
        "zGm is written and starts where xGm does",
    ),
    of(
        Id::D23,
        "no full barrier",
        waiting,
        &[(CALL, "            AscendC::PipeBarrier<PIPE_ALL>();\n            Compute(TILE);\n")],
        "full barrier",
    ),
    of(Id::L08, "no base class", plain, &[("class Kernel {", "class Kernel : public Base {")], "base class"),
    of(
        Id::L08,
        "no variable of the pipe's name",
        plain,
        &[("    Kernel op;", "    float pipe = 1;\n    Kernel op;")],
        "something named pipe",
    ),
];
