//! Elements of global memory moved in tiles.

use super::*;

/// Blends two tensors, element by element, each row with a weight of its own.
const KERNEL: &str = r#"#include "kernel_operator.h"
class Blend {
public:
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR weights, GM_ADDR y, uint32_t rows, uint32_t columns)
    {
        this->rows = rows;
        this->columns = columns;
        aGm.SetGlobalBuffer((__gm__ float *)a, rows * columns);
        bGm.SetGlobalBuffer((__gm__ float *)b, rows * columns);
        weightsGm.SetGlobalBuffer((__gm__ float *)weights, rows);
        yGm.SetGlobalBuffer((__gm__ float *)y, rows * columns);
    }
    __aicore__ inline void Process()
    {
        for (uint32_t row = 0; row < rows; ++row) {
            const float weight = weightsGm.GetValue(row);
            for (uint32_t column = 0; column < columns; ++column) {
                float a = aGm.GetValue(row * columns + column);
                float b = bGm.GetValue(row * columns + column);
                // Where both agree nothing changes.
                yGm.SetValue(row * columns + column, a + (b - a) * weight);
            }
        }
    }

private:
    AscendC::GlobalTensor<float> aGm;
    AscendC::GlobalTensor<float> bGm, weightsGm, yGm;
    uint32_t rows;
    uint32_t columns;
};
extern "C" __global__ __aicore__ void k(GM_ADDR a, GM_ADDR b, GM_ADDR weights, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    Blend op;
    op.Init(a, b, weights, y, data.rows, data.columns);
    op.Process();
}
"#;

#[test]
fn d24_works_on_tiles_of_global_memory() {
    let fast = round_trip("D24", KERNEL);
    for part in [
        "        pipe.InitBuffer(aIn, 1, 2048 * sizeof(float));\n",
        "    AscendC::TPipe pipe;\n    AscendC::TQue<AscendC::TPosition::VECIN, 1> aIn;\n",
        "    AscendC::TQue<AscendC::TPosition::VECOUT, 1> yOut;\n",
        "            for (int64_t tile = 0; tile < columns; tile += 2048) {\n                const uint32_t count = columns - tile < 2048 ? columns - tile : 2048;\n",
        "AscendC::DataCopyPad(aFilled, aGm[row * columns + tile], AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0}, ",
        "                for (uint32_t column = 0; column < count; ++column) {\n                    float a = aTile.GetValue(column);\n",
        "                    // Where both agree nothing changes.\n                    yMade.SetValue(column, a + (b - a) * weight);\n                }\n                AscendC::PipeBarrier<PIPE_ALL>();\n                yOut.EnQue(yMade);\n",
    ] {
        assert!(fast.contains(part), "{part}\n{fast}");
    }
    // What comes of it is what others understand.
    let vectors = apply("V01", &fast).1;
    assert!(vectors.contains("                AscendC::Sub(yMade, bTile, aTile, count);\n"), "{vectors}");
    // The place of an element by a name of its own, a tensor that is read and written, and a pipe that is there.
    let named = KERNEL
        .replace(
            "                float a = ",
            "                const uint32_t at = row * columns + column;\n                float a = ",
        )
        .replace("aGm.GetValue(row * columns + column)", "this->yGm.GetValue(at)")
        .replace("    uint32_t rows;\n", "    AscendC::TPipe *pipe;\n    uint32_t rows;\n");
    let fast = apply("D24", &named).1;
    assert!(!fast.contains("at = row") && fast.contains("float a = yTile.GetValue(column);"), "{fast}");
    assert!(
        fast.contains("        pipe->InitBuffer(yIn, 1,") && fast.contains("        pipe->InitBuffer(yOut, 1,"),
        "{fast}"
    );
}

#[test]
fn d24_refuses_rounds_that_are_no_walk_through_memory() {
    let write = "                yGm.SetValue(row * columns + column, a + (b - a) * weight);\n";
    for (there, instead, why) in [
        (
            write,
            "                if (a > b) {\n                    yGm.SetValue(row * columns + column, a);\n                }\n",
            "not every round does this SetValue",
        ),
        (
            "float b = bGm.GetValue(row * columns + column);",
            "float b = a > 0 ? bGm.GetValue(row * columns + column) : a;",
            "not every round does this GetValue",
        ),
        (
            "float b = bGm.GetValue(row * columns + column);",
            "float b = bGm.GetValue(row * columns + 2 * column);",
            "is not a start and the counter",
        ),
        (
            "float b = bGm.GetValue(row * columns + column);",
            "float b = bGm.GetValue(columns - column);",
            "is not a start and the counter",
        ),
        (
            "float b = bGm.GetValue(row * columns + column);",
            "float b = bGm.GetValue(Place(row) + column);",
            "Place at line",
        ),
        (
            "float b = bGm.GetValue(row * columns + column);",
            "float b = aGm.GetValue(row + column);",
            "aGm is used at two places",
        ),
        (
            "float b = bGm.GetValue(row * columns + column);",
            "float b = column * 2;",
            "is more than the place of an element",
        ),
        (
            "float b = bGm.GetValue(row * columns + column);",
            "float b = bGm.GetValue(row * columns + column);\n                auto other = aGm[8];",
            "aGm is used as a whole",
        ),
        (
            write,
            "                yGm.SetValue(row * columns + column, a);\n                yGm.SetValue(row * columns + column, b);\n",
            "yGm is written twice",
        ),
        (
            write,
            "                yGm.SetValue(row * columns + column, a);\n                sum += yGm.GetValue(row * columns + column);\n",
            "yGm is read behind its write",
        ),
        (
            write,
            "                if (a > b) {\n                    continue;\n                }\n                yGm.SetValue(row * columns + column, a);\n",
            "continue ends a round",
        ),
        (
            write,
            "                columns = columns - 1;\n                yGm.SetValue(row * columns + column, a);\n",
            "columns may change",
        ),
        (write, "                sum += a + b;\n", "nothing is written"),
        ("++column)", "column += 2)", "counts up in steps of 1"),
        ("    Blend op;\n", "    AscendC::TPipe pipe;\n    Blend op;\n", "a pipe that is no member"),
        ("class Blend {", "class Blend : public Base {", "base class"),
        (
            "        this->rows = rows;\n",
            "        this->rows = rows;\n        pipe.InitBuffer(roomBuf, 64);\n",
            "buffers of its own",
        ),
        (
            "        yGm.SetGlobalBuffer((__gm__ float *)y, rows * columns);\n",
            "        if (rows > 0) {\n            yGm.SetGlobalBuffer((__gm__ float *)y, rows * columns);\n        }\n",
            "does not bind its tensors once for all",
        ),
    ] {
        let kernel = KERNEL.replace(there, instead);
        assert_ne!(kernel, KERNEL, "{there}");
        refuses("D24", &kernel, why);
    }
}

#[test]
fn v01_knows_the_type_that_an_operator_takes_alone() {
    let kernel = KERNEL
        .replace("class Blend {", "template <typename T>\nclass Blend {")
        .replace("GlobalTensor<float>", "GlobalTensor<T>")
        .replace("(__gm__ float *)", "(__gm__ T *)")
        .replace("    Blend op;", "    Blend<DTYPE_A> op;");
    let vectors = |declaration: &str| {
        let mut tree = SourceTree::new();
        tree.insert("op_host/k.cpp", format!("class Op {{\n    Op()\n    {{\n        {declaration}\n    }}\n}};\n"));
        tree.insert("op_kernel/k.cpp", kernel.as_str());
        let context = Context::new(tree, KnownValues::default(), None);
        let site = motif("D24").find(&context).sites.first().cloned().expect("a loop to tile");
        let tiled = patched(&context, &motif("D24").apply(&context, &site).unwrap());
        let found = motif("V01").find(&tiled);
        found.sites.first().map(|site| patched(&tiled, &motif("V01").apply(&tiled, site).unwrap()))
    };
    let one =
        vectors("this->Input(\"a\").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT});").expect("vectors");
    assert!(one.tree.text("op_kernel/k.cpp").unwrap().contains("AscendC::Sub(yMade, bTile, aTile, count);"));
    // Of two types each is another kernel, and of another input nothing is known.
    for declaration in [
        "this->Input(\"a\").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16});",
        "this->Input(\"b\").ParamType(REQUIRED).DataType({ge::DT_FLOAT});",
        "this->Input(\"a\").ParamType(REQUIRED).DataType(types);",
    ] {
        assert!(vectors(declaration).is_none(), "{declaration}");
    }
}
