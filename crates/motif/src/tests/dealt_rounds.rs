//! L14 where a launch may do something else too, and where rounds are rows.

use super::*;

/// Rows by functions of a class, in an arm of the launch, and elements by the scalar unit in the other one.
const KERNEL: &str = r#"#include "kernel_operator.h"
using namespace AscendC;

template <typename T>
class Rows {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, int64_t height, int64_t width, int64_t aligned, int64_t rest)
    {
        xGm.SetGlobalBuffer((__gm__ T *)x);
        yGm.SetGlobalBuffer((__gm__ T *)y);
        pipe.InitBuffer(inQueue, 1, aligned * sizeof(T));
        pipe.InitBuffer(outQueue, 1, aligned * sizeof(T));
        this->height = height;
        this->width = width;
        this->aligned = aligned;
        this->rest = rest;
    }
    __aicore__ inline void Process()
    {
        for (int i = 0; i < height; i++) {
            CopyIn(i);
            Compute();
            CopyOut(i);
        }
        if (rest > 0) {
            CopyIn(height);
            Compute();
            CopyOut(height);
        }
    }

private:
    __aicore__ inline void CopyIn(int row)
    {
        LocalTensor<T> x = inQueue.template AllocTensor<T>();
        DataCopy(x, xGm[row * width], aligned);
        inQueue.EnQue(x);
    }
    __aicore__ inline void Compute()
    {
        LocalTensor<T> x = inQueue.template DeQue<T>();
        LocalTensor<T> y = outQueue.template AllocTensor<T>();
        Exp(y, x, aligned);
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }
    __aicore__ inline void CopyOut(int row)
    {
        LocalTensor<T> y = outQueue.template DeQue<T>();
        DataCopy(yGm[row * width], y, aligned);
        outQueue.FreeTensor(y);
    }
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> inQueue;
    TQue<QuePosition::VECOUT, 1> outQueue;
    GlobalTensor<T> xGm;
    GlobalTensor<T> yGm;
    int64_t height;
    int64_t width;
    int64_t aligned;
    int64_t rest;
};

class Elements {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y)
    {
        from.SetGlobalBuffer((__gm__ float *)x);
        to.SetGlobalBuffer((__gm__ float *)y);
    }
    __aicore__ inline void Process(int64_t count)
    {
        int64_t at = 0;
        while (at < count) {
            to.SetValue(at, from.GetValue(at));
            at += 1 + static_cast<int64_t>(from.GetValue(at));
        }
    }

private:
    GlobalTensor<float> from;
    GlobalTensor<float> to;
};

extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(t, tiling);
    if (TILING_KEY_IS(1)) {
        Rows<float> op;
        op.Init(x, y, t.height, t.width, t.aligned, t.rest);
        op.Process();
    } else if (TILING_KEY_IS(2)) {
        Elements op;
        op.Init(x, y);
        op.Process(t.height);
    }
}
"#;

const HOST: &str = r#"#include "register/op_def_registry.h"
namespace optiling {
static ge::graphStatus Tiling(gert::TilingContext *context)
{
    const int64_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    int64_t width = context->GetInputShape(0)->GetStorageShape().GetDim(1);
    int64_t height = length / width;
    int64_t key = width > 8 ? 1 : 2;
    tiling.set_height(height);
    tiling.set_width(width);
    tiling.set_aligned((width + 7) / 8 * 8);
    tiling.set_rest(0);
    context->SetTilingKey(key);
    context->SetBlockDim(1);
    return ge::GRAPH_SUCCESS;
}
}
"#;

/// Host and kernel with L14 applied, as text, or why it is not.
fn dealt(host: &str, kernel: &str) -> Result<(String, String), String> {
    let (_, after) = launch::dealt(host, kernel)?;
    let text = |file: &str| after.tree.text(file).unwrap().to_owned();
    Ok((text("op_host/k.cpp"), text("op_kernel/k.cpp")))
}

#[test]
fn what_cannot_be_dealt_stays_with_the_first_core() {
    let (host, kernel) = dealt(HOST, KERNEL).unwrap();
    let question = "    if (!(TILING_KEY_IS(1)) && GetBlockIdx() != 0) {\n        return; // the first core does what is not dealt\n    }\n    if (TILING_KEY_IS(1)) {\n";
    assert!(kernel.contains(question), "{kernel}");
    assert_eq!(kernel.matches("if (round++ == turn) {").count(), 2, "{kernel}");
    // A launch that deals nothing has one core.
    assert!(host.contains("context->SetBlockDim((key == 1) && ("), "{host}");

    // What nobody calls does nothing, however many classes have it.
    let printing =
        "private:\n    __aicore__ inline void Print(int64_t value)\n    {\n        printf(\"%ld\", value);\n    }\n";
    let printing = KERNEL.replace("private:\n", printing);
    assert!(dealt(HOST, &printing).is_ok());
    let same_name = "class Elements {\npublic:\n    __aicore__ inline void Compute()\n    {\n        to.SetValue(0, 1.0f);\n    }\n";
    let same_name = KERNEL.replace("class Elements {\npublic:\n", same_name);
    assert!(dealt(HOST, &same_name).is_ok());
    // What may be called where no call is seen.
    let hidden = same_name.replace("class Elements {", "#define RUN(op) op.Compute()\nclass Elements {");
    assert!(dealt(HOST, &hidden).unwrap_err().contains("nothing is seen to call Compute"));

    // Where one launch does both, nothing is dealt.
    let both =
        KERNEL.replace("    } else if (TILING_KEY_IS(2)) {\n", "").replace("Rows<float> op;", "Rows<float> rows;");
    let both = both.replace("op.Init(x, y, t.height", "rows.Init(x, y, t.height").replacen(
        "op.Process();",
        "rows.Process();",
        1,
    );
    let refused = dealt(HOST, &both).unwrap_err();
    assert!(refused.contains("one launch may do that and what is dealt"), "{refused}");
}

#[test]
fn a_function_that_cannot_be_dealt_stays_with_the_first_core() {
    let kernel = KERNEL
        .replace(
            "        for (int i = 0; i < height; i++) {\n",
            "        if (width > 4096) {\n            Together();\n            return;\n        }\n        for (int i = 0; i < height; i++) {\n",
        )
        .replace(
            "private:\n    __aicore__ inline void CopyIn(int row)",
            "private:\n    __aicore__ inline void Together()\n    {\n        for (int i = 0; i < height; i++) {\n            CopyIn(i);\n            LocalTensor<T> x = inQueue.template DeQue<T>();\n            total += static_cast<float>(x.GetValue(0));\n            inQueue.FreeTensor(x);\n        }\n        yGm.SetValue(0, static_cast<T>(total));\n    }\n    __aicore__ inline void CopyIn(int row)",
        )
        .replace("    int64_t rest;\n};", "    int64_t rest;\n    float total = 0;\n};");
    let early = dealt(HOST, &kernel).unwrap_err();
    assert!(early.contains("Together"), "what follows it is in no arm of its own: {early}");
    let kernel = kernel
        .replace(
            "            Together();\n            return;\n        }\n",
            "            Together();\n        } else {\n",
        )
        .replacen("        if (rest > 0) {", "        }\n        if (rest > 0 && width <= 4096) {", 1);
    let both = dealt(HOST, &kernel).unwrap_err();
    assert!(both.contains("one launch may do that and what is dealt"), "{both}");
    let (end, tail) = (kernel.find("        }\n        if (rest > 0 &&").unwrap(), kernel.find("\nprivate:").unwrap());
    let kernel = format!("{}        }}\n    }}\n{}", &kernel[..end], &kernel[tail..]);
    let (_, kernel) = dealt(HOST, &kernel).unwrap();
    let question = "        if ((width > 4096) && GetBlockIdx() != 0) {\n            return; // the first core does what is not dealt\n        }\n        if (width > 4096) {\n            Together();\n";
    assert!(kernel.contains(question), "{kernel}");
    assert!(
        kernel.contains("    if (!(TILING_KEY_IS(1)) && GetBlockIdx() != 0) {"),
        "the other class has its own: {kernel}"
    );
}

#[test]
fn rows_that_end_within_a_block_are_for_one_core() {
    let (host, _) = dealt(HOST, KERNEL).unwrap();
    assert!(
        host.contains("(static_cast<int64_t>(width) * ge::GetSizeByDataType(context->GetOutputDesc(0)->GetDataType()) % 32 == 0) && "),
        "{host}"
    );
    // Elements of a known type.
    let (host, _) = dealt(HOST, &KERNEL.replace("GlobalTensor<T> yGm", "GlobalTensor<half> yGm")).unwrap();
    assert!(host.contains("(static_cast<int64_t>(width) * 2 % 32 == 0) && "), "{host}");
    // What is written to the byte needs no question.
    let padded = KERNEL.replace(
        "DataCopy(yGm[row * width], y, aligned);",
        "DataCopyPad(yGm[row * width], y, {1, static_cast<uint32_t>(width * sizeof(T)), 0, 0, 0});",
    );
    let (host, _) = dealt(HOST, &padded).unwrap();
    assert!(host.contains("context->SetBlockDim((key == 1) && (context->") && !host.contains("% 32"), "{host}");
}

#[test]
fn there_are_no_more_cores_than_rounds() {
    let (host, _) = dealt(HOST, KERNEL).unwrap();
    let rounds = "static_cast<uint32_t>(std::max<int64_t>(1, static_cast<int64_t>(height) + (static_cast<int64_t>(0) > 0 ? 1 : 0))))";
    assert!(host.contains(rounds) && host.contains("GetShapeSize() >= 8192) ? "), "{host}");
    // A number that only the kernel has.
    let (host, _) = dealt(HOST, &KERNEL.replace("i < height", "i < Number()")).unwrap();
    assert!(!host.contains("std::max<int64_t>"), "{host}");
}

#[test]
fn every_class_of_a_name_counts_its_rounds() {
    let class = &KERNEL[KERNEL.find("template <typename T>").unwrap()..KERNEL.find("class Elements").unwrap()];
    let half = class
        .replace("template <typename T>\nclass Rows {", "template <>\nclass Rows<half> {")
        .replace("<T>", "<half>")
        .replace("sizeof(T)", "sizeof(half)")
        .replace("__gm__ T ", "__gm__ half ")
        .replace(".template ", ".");
    let (host, kernel) = dealt(HOST, &KERNEL.replace("class Elements", &format!("{half}class Elements"))).unwrap();
    assert!(host.contains("static_cast<int64_t>(height) + "), "both say the same of it: {host}");
    assert_eq!(kernel.matches("uint32_t round = 0; // of all cores").count(), 2, "{kernel}");
    // Where one of them makes another number of what it is given, the host's is not that of both.
    let other = half
        .replace("        this->height = height;\n", "        height = height / 2;\n        this->height = height;\n");
    let (host, _) = dealt(HOST, &KERNEL.replace("class Elements", &format!("{other}class Elements"))).unwrap();
    assert!(!host.contains("static_cast<int64_t>(height)"), "{host}");
}
