//! Preconditions of the vector motifs.

use motif::Id;

use super::kernels::{class, computing};
use super::{Violation, of};

fn axpy() -> String {
    computing("AscendC::Muls(a, x, 2.0f, count);\nAscendC::Exp(z, x, count);\nAscendC::Add(z, z, a, count);")
}
fn multiply_add() -> String {
    computing("AscendC::Exp(z, x, count);\nAscendC::Mul(a, x, x, count);\nAscendC::Add(z, z, a, count);")
}
fn relu() -> String {
    computing("AscendC::Add(a, x, x, count);\nAscendC::Relu(z, a, count);")
}
fn fused_cast() -> String {
    class(
        "    AscendC::TBuf<AscendC::TPosition::VECCALC> hBuf;\n",
        "        pipe.InitBuffer(hBuf, TILE * sizeof(half));\n",
        "AscendC::LocalTensor<half> h = hBuf.Get<half>();\nAscendC::AddRelu(a, x, x, count);\nAscendC::Cast(h, a, AscendC::RoundMode::CAST_RINT, count);\nAscendC::Cast(z, h, AscendC::RoundMode::CAST_NONE, count);",
    )
}
fn cast_back() -> String {
    class(
        "    AscendC::TBuf<AscendC::TPosition::VECCALC> hBuf;\n",
        "        pipe.InitBuffer(hBuf, TILE * sizeof(half));\n",
        "AscendC::LocalTensor<half> h = hBuf.Get<half>();\nAscendC::Exp(a, x, count);\nAscendC::Cast(h, a, AscendC::RoundMode::CAST_RINT, count);\nAscendC::Cast(b, h, AscendC::RoundMode::CAST_NONE, count);\nAscendC::Add(z, x, b, count);",
    )
}
fn scalar_operand() -> String {
    computing("AscendC::Duplicate(a, scale_, count);\nAscendC::Add(z, x, a, count);")
}
fn reciprocal() -> String {
    computing("AscendC::Duplicate(a, scale_, count);\nAscendC::Div(z, x, a, count);")
}
fn chain() -> String {
    computing("AscendC::Muls(a, x, 2.0f, count);\nAscendC::Muls(z, a, scale_, count);")
}
fn negation() -> String {
    computing("AscendC::Muls(a, x, -1.0f, count);\nAscendC::Exp(b, x, count);\nAscendC::Add(z, b, a, count);")
}
fn root() -> String {
    computing("AscendC::Duplicate(a, scale_, count);\nAscendC::Sqrt(a, a, count);\nAscendC::Mul(z, x, a, count);")
}
fn dead_write() -> String {
    computing("AscendC::Duplicate(z, 0.0f, count);\nAscendC::Exp(z, x, count);")
}
fn fill_in_a_loop() -> String {
    computing(
        "AscendC::Exp(z, x, count);\nfor (uint32_t row = 0; row < 4; row++) {\n    AscendC::Duplicate(a, scale_, count);\n    AscendC::Add(z, z, a, count);\n}",
    )
}
fn fill_before_a_copy() -> String {
    computing("AscendC::Exp(z, x, count);").replace(
        "        AscendC::DataCopy(xLocal",
        "        AscendC::Duplicate(xLocal, 0.0f, TILE);\n        AscendC::PipeBarrier<PIPE_ALL>();\n        AscendC::DataCopy(xLocal",
    )
}
fn joined_rows() -> String {
    computing(
        "for (uint32_t row = 0; row < 8; row++) {\n    AscendC::Add(z[row * 64], x[row * 64], a[row * 64], 64);\n}",
    )
}
fn shared_row() -> String {
    computing("for (uint32_t row = 0; row < 8; row++) {\n    AscendC::Mul(z[row * 64], x[row * 64], a, 64);\n}")
}
fn short_rows() -> String {
    computing("for (uint32_t row = 0; row < 8; row++) {\n    AscendC::ReduceMax(z[row * 8], x[row * 64], a, 64);\n}")
}
fn long_reduction() -> String {
    computing("AscendC::ReduceMax(z, x, a, 2048);")
}
fn carried_rows() -> String {
    computing(
        "for (uint32_t row = 0; row < length_; row++) {\n    AscendC::Add(a, a, x[row * 64], 64);\n    AscendC::Adds(z[row * 64], a, 0.0f, 64);\n}",
    )
}
fn counted() -> String {
    computing(
        "uint32_t repeats = count / 64;\nuint32_t rest = count % 64;\nif (repeats > 0) {\n    AscendC::Muls(z, x, scale_, 64, repeats, {1, 1, 8, 8});\n}\nif (rest > 0) {\n    AscendC::Muls(z[repeats * 64], x[repeats * 64], scale_, rest, 1, {1, 1, 8, 8});\n}",
    )
}
fn masks() -> String {
    computing(
        "for (uint32_t row = 0; row < 4; row++) {\n    AscendC::Muls(z[row * 64], x[row * 64], scale_, 64, 1, {1, 1, 8, 8});\n    AscendC::Adds(z[row * 64], z[row * 64], scale_, 64, 1, {1, 1, 8, 8});\n}",
    )
}
fn banks() -> String {
    computing("AscendC::Exp(a, x, count);\nAscendC::Abs(b, x, count);\nAscendC::Add(z, a, b, count);")
        .replace("TILE = 64", "TILE = 128")
}
fn scalars() -> String {
    computing("for (uint32_t i = 0; i < count; i++) {\n    z.SetValue(i, x.GetValue(i) * 2.0f + 1.0f);\n}")
}
fn branches() -> String {
    computing(
        "for (uint32_t i = 0; i < count; i++) {\n    z.SetValue(i, x.GetValue(i) > scale_ ? x.GetValue(i) : scale_);\n}",
    )
}
fn numbers() -> String {
    computing("for (uint32_t i = 0; i < count; i++) {\n    z.SetValue(i, static_cast<float>(i));\n}")
}
fn fetches() -> String {
    class(
        "    AscendC::TBuf<AscendC::TPosition::VECCALC> iBuf;\n",
        "        pipe.InitBuffer(iBuf, TILE * sizeof(int32_t));\n",
        "AscendC::LocalTensor<int32_t> places = iBuf.Get<int32_t>();\nfor (uint32_t i = 0; i < count; i++) {\n    z.SetValue(i, x.GetValue(places.GetValue(i)));\n}",
    )
}
fn row_numbers() -> String {
    computing(
        "for (uint32_t row = 0; row < length_; row++) {\n    float number = a.GetValue(row);\n    AscendC::Muls(z[row * 64], x[row * 64], number, 64);\n}",
    )
}
fn transposed() -> String {
    computing("for (uint32_t i = 0; i < length_; i++) {\n    for (uint32_t j = 0; j < valid_; j++) {\n        z.SetValue(j * length_ + i, x.GetValue(i * valid_ + j));\n    }\n}")
        .replace("float>", "half>")
        .replace("float *", "half *")
        .replace("sizeof(float)", "sizeof(half)")
}

const LAST: &str = "        outQueue.EnQue(z);";

pub(super) const VIOLATIONS: &[Violation] = &[
    of(
        Id::V02,
        "the product is not read afterwards",
        axpy,
        &[(LAST, "        AscendC::Exp(b, a, count);\n        outQueue.EnQue(z);")],
        "used again",
    ),
    of(
        Id::V02,
        "the factor's operand does not change in between",
        axpy,
        &[("AscendC::Exp(z, x, count);", "AscendC::Exp(z, x, count);\n        AscendC::Adds(x, x, 1.0f, count);")],
        "may change x",
    ),
    of(
        Id::V02,
        "the counts are the same",
        axpy,
        &[("Muls(a, x, 2.0f, count)", "Muls(a, x, 2.0f, 8)")],
        "counts differ",
    ),
    of(Id::V02, "half or float", axpy, &[("float>", "int32_t>")], "no form for int32_t"),
    of(
        Id::V02,
        "the scalar does not change in between",
        axpy,
        &[
            ("2.0f, count", "scale_, count"),
            ("AscendC::Exp(z, x, count);", "AscendC::Exp(z, x, count);\n        scale_ *= 2.0f;"),
        ],
        "scale_",
    ),
    of(
        Id::V02,
        "no call in between changes the scalar",
        axpy,
        &[
            ("2.0f, count", "scale_, count"),
            ("AscendC::Exp(z, x, count);", "AscendC::Exp(z, x, count);\n        Next();"),
            ("done_ += 1;", "scale_ += 1.0f;"),
        ],
        "Next may change scale_",
    ),
    of(
        Id::V03,
        "the product is not read afterwards",
        multiply_add,
        &[(LAST, "        AscendC::Exp(b, a, count);\n        outQueue.EnQue(z);")],
        "used again",
    ),
    of(
        Id::V03,
        "the counts are the same",
        multiply_add,
        &[("Add(z, z, a, count)", "Add(z, z, a, 8)")],
        "counts differ",
    ),
    of(Id::V03, "half or float", multiply_add, &[("float>", "int32_t>")], "no form for int32_t"),
    of(
        Id::V04,
        "the sum is not read afterwards",
        relu,
        &[(LAST, "        AscendC::Exp(b, a, count);\n        outQueue.EnQue(z);")],
        "used again",
    ),
    of(
        Id::V04,
        "the sum is not read through a view either",
        relu,
        &[
            ("AscendC::Add(a", "AscendC::LocalTensor<float> view = a[0];\n        AscendC::Add(a"),
            (LAST, "        AscendC::Exp(b, view, count);\n        outQueue.EnQue(z);"),
        ],
        "a is used again",
    ),
    of(
        Id::V04,
        "the operands do not change in between",
        relu,
        &[("AscendC::Relu(", "AscendC::Adds(x, x, 1.0f, count);\n        AscendC::Relu(")],
        "may change x",
    ),
    of(Id::V04, "the counts are the same", relu, &[("Relu(z, a, count)", "Relu(z, a, 8)")], "counts differ"),
    of(Id::V04, "half, float or int16_t", relu, &[("float>", "int32_t>")], "no form for int32_t"),
    of(Id::V05, "rounding to nearest even", fused_cast, &[("CAST_RINT", "CAST_CEIL")], "does not round like CAST_CEIL"),
    of(
        Id::V05,
        "nobody else reads the wide result",
        fused_cast,
        &[(LAST, "        AscendC::Exp(b, a, count);\n        outQueue.EnQue(z);")],
        "used again",
    ),
    of(Id::V05, "there is a form of the two types", fused_cast, &[("AddRelu(", "Mul(")], "no form from float to half"),
    of(
        Id::V14,
        "nobody else reads the narrow values",
        cast_back,
        &[(LAST, "        AscendC::Cast(x, h, AscendC::RoundMode::CAST_NONE, count);\n        outQueue.EnQue(z);")],
        "used again",
    ),
    of(
        Id::V14,
        "the source does not change in between",
        cast_back,
        &[("AscendC::Cast(b", "AscendC::Exp(a, a, count);\n        AscendC::Cast(b")],
        "may change a",
    ),
    of(
        Id::V06,
        "the fill is not read afterwards",
        scalar_operand,
        &[(LAST, "        AscendC::Exp(b, a, count);\n        outQueue.EnQue(z);")],
        "used again",
    ),
    of(
        Id::V06,
        "the filled tensor comes second in a maximum of floats",
        scalar_operand,
        &[("Add(z, x, a", "Max(z, a, x")],
        "of 0 and -0 another one",
    ),
    of(Id::V06, "not a division", scalar_operand, &[("Add(z, x, a", "Div(z, x, a")], "rounds differently"),
    of(
        Id::V06,
        "the counts are the same",
        scalar_operand,
        &[("Duplicate(a, scale_, count)", "Duplicate(a, scale_, 8)")],
        "count",
    ),
    of(
        Id::V06,
        "the scalar does not change in between",
        scalar_operand,
        &[("AscendC::Add(z", "scale_ += 1.0f;\n        AscendC::Add(z")],
        "scale_",
    ),
    of(Id::V28, "float", reciprocal, &[("float>", "half>")], "short float"),
    of(
        Id::V28,
        "the fill is not read afterwards",
        reciprocal,
        &[(LAST, "        AscendC::Exp(b, a, count);\n        outQueue.EnQue(z);")],
        "used again",
    ),
    of(
        Id::V28,
        "the counts are the same",
        reciprocal,
        &[("Duplicate(a, scale_, count)", "Duplicate(a, scale_, 8)")],
        "count",
    ),
    of(
        Id::V33,
        "the middle is not read afterwards",
        chain,
        &[(LAST, "        AscendC::Exp(b, a, count);\n        outQueue.EnQue(z);")],
        "used again",
    ),
    of(Id::V33, "float", chain, &[("float>", "half>")], "round each step"),
    of(Id::V33, "the same instruction", chain, &[("Muls(a, x", "Adds(a, x")], ""),
    of(
        Id::V33,
        "the operand does not change in between",
        chain,
        &[("AscendC::Muls(z", "AscendC::Exp(a, a, count);\n        AscendC::Muls(z")],
        "",
    ),
    of(Id::V21, "a factor of -1", negation, &[("-1.0f", "-2.0f")], ""),
    of(
        Id::V21,
        "the operand does not change in between",
        negation,
        &[("AscendC::Exp(b, x, count);", "AscendC::Exp(x, x, count);\n        AscendC::Exp(b, x, count);")],
        "may change x",
    ),
    of(
        Id::V21,
        "the negation is not read afterwards",
        negation,
        &[(LAST, "        AscendC::Exp(b, a, count);\n        outQueue.EnQue(z);")],
        "used again",
    ),
    of(Id::V35, "the counts are the same", root, &[("Sqrt(a, a, count)", "Sqrt(a, a, 8)")], "counts differ"),
    of(Id::V35, "float", root, &[("float>", "half>")], "half"),
    of(Id::D15, "what overwrites does not read", dead_write, &[("Exp(z, x, count)", "Add(z, z, x, count)")], ""),
    of(Id::D15, "all of it is overwritten", dead_write, &[("Exp(z, x, count)", "Exp(z, x, 8)")], ""),
    of(
        Id::D15,
        "the count means the same number both times",
        dead_write,
        &[("AscendC::Exp(z", "count = valid_;\n        AscendC::Exp(z")],
        "",
    ),
    of(
        Id::D15,
        "nothing leaves before it is overwritten",
        dead_write,
        &[
            (
                "        AscendC::Duplicate(z",
                "        for (uint32_t r = 0; r < 3; r++) {\n        AscendC::Duplicate(z",
            ),
            (
                "AscendC::Exp(z, x, count);",
                "if (r == valid_) { break; }\n        AscendC::Exp(z, x, count);\n        }",
            ),
        ],
        "",
    ),
    of(
        Id::V26,
        "the filled tensor is written by nothing else",
        fill_in_a_loop,
        &[("Add(z, z, a", "Add(a, z, a")],
        "written elsewhere",
    ),
    of(
        Id::V26,
        "the scalar is the same in every round",
        fill_in_a_loop,
        &[("a, scale_", "a, scale_ * row")],
        "declared in the loop",
    ),
    of(
        Id::V26,
        "no call changes the scalar",
        fill_in_a_loop,
        &[("    AscendC::Add(z, z", "    Next();\n    AscendC::Add(z, z"), ("done_ += 1;", "scale_ += 1.0f;")],
        "Next may change scale_",
    ),
    of(
        Id::V26,
        "the count is the same in every round",
        fill_in_a_loop,
        &[("    AscendC::Add(z, z", "    count >>= 1;\n    AscendC::Add(z, z")],
        "count",
    ),
    of(
        Id::V26,
        "the count is not shifted in a call",
        fill_in_a_loop,
        &[
            ("scale_, count", "scale_, valid_"),
            ("    AscendC::Add(z, z", "    Next();\n    AscendC::Add(z, z"),
            ("done_ += 1;", "valid_ <<= 1;"),
        ],
        "valid_",
    ),
    of(
        Id::V27,
        "the tensor is only copied into",
        fill_before_a_copy,
        &[("        inQueue.EnQue", "        AscendC::Exp(xLocal, xLocal, TILE);\n        inQueue.EnQue")],
        "not only copied",
    ),
    of(Id::V09, "operands move on by a row", joined_rows, &[("a[row * 64]", "a")], "the same in every row"),
    of(
        Id::V09,
        "tensors in different memory, or the same at the same place",
        joined_rows,
        &[("x[row * 64]", "z[64 + row * 64]")],
        "different places",
    ),
    of(Id::V09, "steps of 1", joined_rows, &[("row++", "row += 2")], ""),
    of(
        Id::V07,
        "the width is known",
        shared_row,
        &[("row * 64", "row * length_"), ("a, 64)", "a, length_)")],
        "is not known",
    ),
    of(Id::V07, "at most 255 rows", shared_row, &[("row < 8", "row < 300")], "more than 255"),
    of(Id::V07, "whole repeats", shared_row, &[("row * 64", "row * 72"), ("a, 64)", "a, 72)")], "whole repeats"),
    of(Id::V07, "the shared operand is not written", shared_row, &[("z[row * 64]", "a[row * 64]")], "different places"),
    of(
        Id::V13,
        "within one repeat",
        short_rows,
        &[("row * 64", "row * 128"), ("a, 64)", "a, 128)")],
        "within one repeat",
    ),
    of(Id::V13, "at most 255 rows", short_rows, &[("row < 8", "row < 256")], "256 rows"),
    of(Id::V13, "result and work lie apart", short_rows, &[("z[row * 8]", "a[row * 8]")], "share memory"),
    of(Id::V12, "whole repeats", long_reduction, &[("2048", "100")], "not whole repeats"),
    of(Id::V12, "within reach of one more repeat", long_reduction, &[("2048", "8192")], "more than 4096"),
    of(Id::V12, "the work tensor is no operand", long_reduction, &[("(z, x, a", "(z, a, a")], "work tensor"),
    of(Id::V12, "half or float", long_reduction, &[("float>", "int32_t>")], "not half or float"),
    of(Id::V12, "without index", long_reduction, &[("2048)", "2048, true)")], ""),
    of(Id::V38, "at least 256 numbers", long_reduction, &[("2048", "128")], "fewer than 256"),
    of(
        Id::V38,
        "the work tensor is no part of the others",
        long_reduction,
        &[("(z, x, a", "(a[8], x, a")],
        "no tensor of its own",
    ),
    of(Id::V38, "float", long_reduction, &[("float>", "half>")], "half"),
    of(Id::V37, "a copy and nothing more", carried_rows, &[("a, 0.0f", "a, 0.5f")], ""),
    of(
        Id::V37,
        "three tensors in different memory",
        carried_rows,
        &[("Adds(z[row * 64]", "Adds(x[row * 64]")],
        "is read and written",
    ),
    of(
        Id::V10,
        "rows lie close together",
        counted,
        &[("repeats, {1, 1, 8, 8}", "repeats, {1, 1, 16, 16}")],
        "close together",
    ),
    of(Id::V10, "the scalars are the same", counted, &[("scale_, rest", "2.0f, rest")], "scalar operands differ"),
    of(
        Id::V10,
        "each operand further on by the same number",
        counted,
        &[("x[repeats * 64]", "x[64]")],
        "by different numbers",
    ),
    of(
        Id::V11,
        "one mask",
        masks,
        &[("Adds(z[row * 64], z[row * 64], scale_, 64", "Adds(z[row * 64], z[row * 64], scale_, 32")],
        "another mask",
    ),
    of(
        Id::V11,
        "nothing else touches the mask",
        masks,
        &[("    AscendC::Adds", "    AscendC::Exp(a, x, count);\n    AscendC::Adds")],
        "may set a mask",
    ),
    of(
        Id::V11,
        "the mask does not change in the loop",
        masks,
        &[("scale_, 64, 1", "scale_, row, 1")],
        "may change in the loop",
    ),
    of(Id::V17, "two buffers", banks, &[("Add(z, a, b", "Add(z, a, a")], ""),
    of(
        Id::V17,
        "not known to lie apart already",
        banks,
        &[("(aBuf, TILE * sizeof(float))", "(aBuf, 4096 + 256)")],
        "bytes apart",
    ),
    of(
        Id::V01,
        "elements at the counter only",
        scalars,
        &[("x.GetValue(i) * 2.0f", "x.GetValue(i + 1) * 2.0f")],
        "another index",
    ),
    of(
        Id::V01,
        "every function has a vector form",
        scalars,
        &[("x.GetValue(i) * 2.0f", "tanh(x.GetValue(i))")],
        "no vector form",
    ),
    of(
        Id::V01,
        "the loop counts from 0",
        scalars,
        &[("uint32_t i = 0; i < count", "uint32_t i = 1; i < count")],
        "counts from 0",
    ),
    of(
        Id::V01,
        "rounds do not depend on each other",
        scalars,
        &[("z.SetValue(i, x.GetValue(i) * 2.0f + 1.0f);", "scale_ += x.GetValue(i);")],
        "rounds depend on each other",
    ),
    of(
        Id::V01,
        "constants do not change",
        scalars,
        &[("* 2.0f", "* scale_"), ("+ 1.0f);", "+ 1.0f);\n            scale_ += 1.0f;")],
        "differs from round to round",
    ),
    of(
        Id::V01,
        "no call changes a constant",
        scalars,
        &[("* 2.0f", "* scale_"), ("+ 1.0f);", "+ 1.0f);\n            Next();"), ("done_ += 1;", "scale_ += 1.0f;")],
        "Next has no vector form",
    ),
    of(
        Id::V20,
        "one of the compared values is chosen",
        branches,
        &[("? x.GetValue(i) : scale_", "? 1.0f : scale_")],
        "neither the larger nor the smaller",
    ),
    of(
        Id::V20,
        "elements at the counter only",
        branches,
        &[("x.GetValue(i) > scale_", "x.GetValue(i + 1) > scale_")],
        "another index",
    ),
    of(Id::V34, "places in a row", numbers, &[("SetValue(i, ", "SetValue(i * 8, ")], "apart"),
    of(Id::V34, "numbers in equal steps", numbers, &[("<float>(i)", "<float>(i * i)")], ""),
    of(
        Id::V22,
        "source and result in different memory",
        fetches,
        &[("z.SetValue(i, x.", "x.SetValue(i, x.")],
        "may share memory",
    ),
    of(
        Id::V22,
        "16 or 32 bits of one type",
        fetches,
        &[("LocalTensor<float> x =", "LocalTensor<int64_t> x =")],
        "16 or 32 bits",
    ),
    of(Id::Y11, "rows lie close together", row_numbers, &[("x[row * 64]", "x[row * 128]")], "apart"),
    of(
        Id::Y11,
        "the number is not used by the scalar unit again",
        row_numbers,
        &[(
            "number, 64);\n",
            "number, 64);\n            float other = number + 1.0f;\n            AscendC::Adds(z[row * 64], z[row * 64], other, 64);\n",
        )],
        "used by the scalar unit again",
    ),
    of(Id::V23, "elements of 16 bits", transposed, &[("half>", "float>")], "blocks are of half"),
    of(Id::V23, "swapped places", transposed, &[("i * valid_ + j", "j * valid_ + i")], ""),
];
