//! Chunks that stay in the unified buffer: passes over a row, rounds around, kernels that fill several queues at once.

use super::*;

/// Two passes over each row of floats; the second one adds weights that are the same for every row.
fn passes() -> String {
    r#"#include "kernel_operator.h"
using namespace AscendC;
constexpr int32_t BUFFER_NUM = 1;
class Kernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR w, GM_ADDR y, uint32_t rows, uint32_t columns, uint32_t chunk)
    {
        rows_ = rows;
        columns_ = columns;
        chunk_ = chunk;
        xGm.SetGlobalBuffer((__gm__ float *)x);
        wGm.SetGlobalBuffer((__gm__ float *)w);
        yGm.SetGlobalBuffer((__gm__ float *)y);
        pipe.InitBuffer(xQueue, BUFFER_NUM, chunk_ * sizeof(float));
        pipe.InitBuffer(wQueue, 1, chunk_ * sizeof(float));
        pipe.InitBuffer(yQueue, BUFFER_NUM, chunk_ * sizeof(float));
        pipe.InitBuffer(sumBuf, 32);
    }
    __aicore__ inline void Process()
    {
        const uint32_t chunks = (columns_ + chunk_ - 1) / chunk_;
        for (uint32_t row = 0; row < rows_; row++) {
            float sum = 0.0f;
            for (uint32_t i = 0; i < chunks; i++) {
                CopyIn(row, i);
                sum += SumOf(CountOf(i));
            }
            for (uint32_t j = 0; j < chunks; j++) {
                CopyIn(row, j);
                Weights(j * chunk_, CountOf(j));
                Write(row, sum, CountOf(j));
                CopyOut(row, j);
            }
        }
    }

private:
    __aicore__ inline uint32_t CountOf(uint32_t i)
    {
        return columns_ - i * chunk_ < chunk_ ? columns_ - i * chunk_ : chunk_;
    }
    __aicore__ inline void CopyIn(uint32_t row, uint32_t i)
    {
        LocalTensor<float> x = xQueue.AllocTensor<float>();
        uint64_t start = row * columns_;
        start += i * chunk_;
        DataCopyExtParams copyParams{1, static_cast<uint32_t>(CountOf(i) * sizeof(float)), 0, 0, 0};
        DataCopyPad(x, xGm[start], copyParams, DataCopyPadExtParams<float>{false, 0, 0, 0});
        xQueue.EnQue(x);
    }
    __aicore__ inline void Weights(uint32_t start, uint32_t count)
    {
        LocalTensor<float> w = wQueue.AllocTensor<float>();
        DataCopy(w, wGm[start], count);
        wQueue.EnQue(w);
    }
    __aicore__ inline float SumOf(uint32_t count)
    {
        LocalTensor<float> x = xQueue.DeQue<float>();
        LocalTensor<float> sum = sumBuf.Get<float>();
        ReduceSum(sum, x, x, count);
        xQueue.FreeTensor(x);
        return sum.GetValue(0);
    }
    __aicore__ inline void Write(uint32_t row, float sum, uint32_t count)
    {
        LocalTensor<float> x = xQueue.DeQue<float>();
        LocalTensor<float> w = wQueue.DeQue<float>();
        LocalTensor<float> y = yQueue.AllocTensor<float>();
        Muls(y, x, 1.0f / sum, count);
        Add(y, y, w, count);
        yQueue.EnQue(y);
        xQueue.FreeTensor(x);
        wQueue.FreeTensor(w);
    }
    __aicore__ inline void CopyOut(uint32_t row, uint32_t i)
    {
        LocalTensor<float> y = yQueue.DeQue<float>();
        DataCopyExtParams copyParams{1, static_cast<uint32_t>(CountOf(i) * sizeof(float)), 0, 0, 0};
        DataCopyPad(yGm[row * columns_ + i * chunk_], y, copyParams);
        yQueue.FreeTensor(y);
    }

    TPipe pipe;
    TQue<TPosition::VECIN, BUFFER_NUM> xQueue;
    TQue<TPosition::VECIN, 1> wQueue;
    TQue<TPosition::VECOUT, BUFFER_NUM> yQueue;
    TBuf<TPosition::VECCALC> sumBuf;
    GlobalTensor<float> xGm;
    GlobalTensor<float> wGm;
    GlobalTensor<float> yGm;
    uint32_t rows_ = 0;
    uint32_t columns_ = 0;
    uint32_t chunk_ = 0;
};
"#
    .to_owned()
}

#[test]
fn d14_keeps_what_the_next_pass_loads_again() {
    let slow = passes();
    let fast = round_trip("D14", &slow);
    let loops = "                CopyIn(row, i);
                sum += SumOf(CountOf(i), i);
            }
            for (uint32_t j = 0; j < chunks; j++) {
                if (j >= keepXSlots) {
                    CopyIn(row, j);
                }
                Weights(j * chunk_, CountOf(j));
                Write(row, sum, CountOf(j), j);
";
    assert!(fast.contains(loops), "{fast}");
    let stored = "float SumOf(uint32_t count, uint32_t keptRoundX)
    {
        LocalTensor<float> x = xQueue.DeQue<float>();
        if (keptRoundX < keepXSlots) {
            DataCopy(keepX.Get<float>()[keptRoundX * keepXLength], x, (count + 7) / 8 * 8);
        }
";
    assert!(fast.contains(stored), "{fast}");
    let taken = "        LocalTensor<float> x = keptRound1X < keepXSlots ? keepX.Get<float>()[keptRound1X * keepXLength] : xQueue.DeQue<float>();\n";
    assert!(fast.contains(taken), "{fast}");
    assert!(
        fast.contains("        if (keptRound1X >= keepXSlots) {\n            xQueue.FreeTensor(x);\n        }\n"),
        "{fast}"
    );
    // As many chunks as fit beside all other buffers, whatever the shape.
    let room = "        const uint32_t keepXBytes = (chunk_ * sizeof(float) + 31) / 32 * 32;
        uint32_t keepXTaken = 0;
        keepXTaken += BUFFER_NUM * ((chunk_ * sizeof(float) + 31) / 32 * 32); // xQueue
        keepXTaken += 1 * ((chunk_ * sizeof(float) + 31) / 32 * 32); // wQueue
        keepXTaken += BUFFER_NUM * ((chunk_ * sizeof(float) + 31) / 32 * 32); // yQueue
        keepXTaken += 32; // sumBuf
        keepXLength = keepXBytes / sizeof(float);
        keepXSlots = keepXTaken < 194560 ? (194560 - keepXTaken) / keepXBytes : 0;
        const uint32_t keepXRounds = static_cast<uint32_t>((columns_ + chunk_ - 1) / chunk_);
        keepXSlots = keepXSlots < keepXRounds ? keepXSlots : keepXRounds;
        if (keepXSlots > 0) {
            pipe.InitBuffer(keepX, keepXSlots * keepXBytes);
        }
";
    assert!(fast.contains(room), "{fast}");
    // Then the weights of the first row, for all rows.
    let both = round_trip("D14", &fast);
    assert!(both.contains("if (row == 0 || j >= keepWSlots) {\n                    Weights("), "{both}");
    assert!(both.contains("w = row > 0 && keptRoundW < keepWSlots ? keepW.Get<float>()"), "{both}");
    assert!(both.contains("        keepWTaken += keepXSlots * keepXBytes; // keepX\n"), "{both}");
    assert!(reasons("D14", &both).is_empty());
    // A second buffer of a queue and a buffer that another motif adds are counted.
    let context = context(&both);
    let site = motif("D01").find(&context).sites.into_iter().find(|site| site.note.contains("wQueue")).unwrap();
    let doubled = patched(&context, &motif("D01").apply(&context, &site).unwrap());
    let doubled = doubled.tree.text("k.h").unwrap();
    assert_eq!(doubled.matches("Taken += 2 * ((chunk_ * sizeof(float) + 31) / 32 * 32); // wQueue").count(), 2);
}

#[test]
fn d14_leaves_out_the_copy_alone_where_a_function_fills_several_queues() {
    let joint = passes()
        .replace("                CopyIn(row, j);\n                Weights(j * chunk_, CountOf(j));\n", "                Both(row, j);\n")
        .replace(
            "    __aicore__ inline void Weights(uint32_t start, uint32_t count)\n    {\n",
            "    __aicore__ inline void Both(uint32_t row, uint32_t i)\n    {\n        LocalTensor<float> x = xQueue.AllocTensor<float>();\n",
        )
        .replace(
            "        DataCopy(w, wGm[start], count);\n        wQueue.EnQue(w);\n",
            "        uint64_t start = row * columns_;\n        start += i * chunk_;\n        DataCopyExtParams copyParams{1, static_cast<uint32_t>(CountOf(i) * sizeof(float)), 0, 0, 0};\n        DataCopyPad(x, xGm[start], copyParams, DataCopyPadExtParams<float>{false, 0, 0, 0});\n        DataCopy(w, wGm[i * chunk_], CountOf(i));\n        xQueue.EnQue(x);\n        wQueue.EnQue(w);\n",
        );
    let fast = round_trip("D14", &joint);
    assert!(fast.contains("        if (i >= keepXSlots) {\n            DataCopyPad(x, xGm[start]"), "{fast}");
    let taken = "        LocalTensor<float> xTaken = xQueue.DeQue<float>();\n        LocalTensor<float> x = keptRound1X < keepXSlots ? keepX.Get<float>()[keptRound1X * keepXLength] : xTaken;\n";
    assert!(fast.contains(taken), "{fast}");
    assert!(fast.contains("xQueue.FreeTensor(xTaken);"), "{fast}");
    let both = round_trip("D14", &fast);
    assert!(both.contains("        if (row == 0 || i >= keepWSlots) {\n            DataCopy(w, wGm"), "{both}");
}

#[test]
fn d14_tells_functions_that_run_elsewhere_too_in_which_round_they_are() {
    // The last chunk has a call of its own: it is no round of the loops.
    let tail = |from: &str, to: &str| {
        passes().replace("uint32_t i = 0; i < chunks;", "uint32_t i = 0; i < chunks - 1;").replace("uint32_t j = 0; j < chunks;", "uint32_t j = 0; j < chunks - 1;").replace(
            "            for (uint32_t j",
            "            CopyIn(row, chunks - 1);\n            sum += SumOf(CountOf(chunks - 1));\n            for (uint32_t j",
        ).replace(from, to)
    };
    let slow = tail("(const char *)", "");
    let fast = round_trip("D14", &slow);
    assert!(fast.contains("sum += SumOf(CountOf(i), i);"), "{fast}");
    assert!(fast.contains("sum += SumOf(CountOf(chunks - 1));"), "{fast}");
    assert!(fast.contains("float SumOf(uint32_t count, uint32_t keptRoundX = 0xFFFFFFFF)"), "{fast}");
    assert!(
        fast.contains("static_cast<uint32_t>((columns_ + chunk_ - 1) / chunk_ - 1)") || fast.contains("- 1);"),
        "{fast}"
    );
    // A choice between copies is left out as a whole; buffers may be initialised by functions that Init calls.
    let choice = "        if (CountOf(i) == chunk_) {\n            DataCopy(x, xGm[start], chunk_);\n        } else {\n            DataCopyPad(x, xGm[start], copyParams, DataCopyPadExtParams<float>{false, 0, 0, 0});\n        }\n";
    let chosen = passes()
        .replace("        DataCopyPad(x, xGm[start], copyParams, DataCopyPadExtParams<float>{false, 0, 0, 0});\n", choice)
        .replace("        pipe.InitBuffer(xQueue, BUFFER_NUM, chunk_ * sizeof(float));\n", "        Buffers();\n")
        .replace("    __aicore__ inline void Process()\n", "    __aicore__ inline void Buffers()\n    {\n        pipe.InitBuffer(xQueue, BUFFER_NUM, chunk_ * sizeof(float));\n    }\n    __aicore__ inline void Process()\n");
    let fast = round_trip("D14", &chosen);
    assert!(fast.contains("                if (j >= keepXSlots) {\n                    CopyIn(row, j);"), "{fast}");
    assert!(fast.contains("        pipe.InitBuffer(sumBuf, 32);\n        const uint32_t keepXBytes"), "{fast}");
    let found = motif("D14").find(&context(&chosen.replace("        Buffers();\n", "        if (rows_ > 0) {\n            chunk_ = columns;\n        }\n        Buffers();\n        chunk_ = chunk;\n")));
    assert!(found.refused.iter().any(|refused| refused.reason.contains("changes behind")), "{:?}", found.refused);
}

#[test]
fn d14_is_refused_where_the_passes_may_differ() {
    let slow = passes()
        .replace("wGm[start]", "wGm[start + row_]")
        .replace("    uint32_t rows_ = 0;", "    uint32_t rows_ = 0;\n    uint32_t row_ = 0;");
    let weights_move =
        slow.replace("            float sum = 0.0f;\n", "            float sum = 0.0f;\n            row_ = row;\n");
    let found = motif("D14").find(&context(&weights_move));
    assert!(found.refused.iter().any(|refused| refused.reason.contains("may change row_")), "{:?}", found.refused);
    assert_eq!(found.sites.len(), 1);
    let refused_with = |text: &str, reason: &str| {
        let found = motif("D14").find(&context(text));
        assert!(found.refused.iter().any(|refused| refused.reason.contains(reason)), "{reason}: {found:?}");
    };
    let plain = passes();
    refused_with(&plain.replace("DataCopyPad(yGm[row", "DataCopyPad(xGm[row"), "xGm may be written");
    refused_with(
        &plain.replace("yGm.SetGlobalBuffer((__gm__ float *)y)", "yGm.SetGlobalBuffer((__gm__ float *)x)"),
        "starts where xGm does",
    );
    refused_with(
        &plain.replace("        Muls(y, x,", "        Add(w, w, x, count);\n        Muls(y, x,"),
        "w is changed",
    );
    refused_with(
        &plain.replace("        yQueue.EnQue(y);\n", "        DataCopy(yGm, x, count);\n        yQueue.EnQue(y);\n"),
        "copied out",
    );
    refused_with(
        &plain.replace("                sum += SumOf(CountOf(i));\n", "                if (i < 3) {\n                    continue;\n                }\n                sum += SumOf(CountOf(i));\n"),
        "continue stands before",
    );
    refused_with(&plain.replace("Muls(y, x, 1.0f / sum, count);", "Tanh(y, x, count);"), "room in the unified buffer");
    // Behind a meeting of the cores there may be something else in what is not an argument.
    let meeting = plain.replace("            for (uint32_t j", "            SyncAll();\n            for (uint32_t j");
    assert!(motif("D14").find(&context(&meeting)).refused.is_empty());
    refused_with(
        &meeting.replace("(__gm__ float *)x)", "(__gm__ float *)GetUserWorkspace(x))"),
        "other cores may write xGm",
    );
    // Other ranges, other numbers of rounds: nothing to keep but the weights.
    for other in [
        plain.replace("                CopyIn(row, j);", "                CopyIn(row + 1, j);"),
        plain.replace("uint32_t j = 0; j < chunks", "uint32_t j = 0; j < chunks - 1"),
        plain.replace("uint32_t i = 0; i < chunks", "uint32_t i = 1; i < chunks"),
    ] {
        let found = motif("D14").find(&context(&other));
        assert!(
            found.sites.iter().all(|site| site.note.contains("keep w of wQueue from row 0 on")),
            "{:?}",
            found.sites
        );
    }
}
