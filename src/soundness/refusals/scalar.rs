//! Preconditions of the scalar motifs.

use super::Violation;
use super::kernels::{computing, processing};

const fn of(
    motif: &'static str,
    precondition: &'static str,
    kernel: fn() -> String,
    change: &'static [(&'static str, &'static str)],
    because: &'static str,
) -> Violation {
    Violation { motif, precondition, kernel, change, because }
}

const EXP: &str = "AscendC::Exp(z, x, count);";

fn tail() -> String {
    processing(
        "for (uint32_t i = 0; i < tiles; i++) {\n    CopyIn(i * TILE, TILE);\n    Compute(TILE);\n    CopyOut(i * TILE, TILE);\n}\nif (valid_ > 0) {\n    CopyIn(tiles * TILE, valid_);\n    Compute(valid_);\n    CopyOut(tiles * TILE, valid_);\n}",
        EXP,
    )
}
fn choice() -> String {
    processing(
        "for (uint32_t i = 0; i < tiles; i++) {\n    const uint32_t count = i == tiles - 1 ? valid_ : TILE;\n    CopyIn(i * TILE, count);\n    Compute(count);\n    CopyOut(i * TILE, count);\n}",
        EXP,
    )
}
fn element() -> String {
    computing(
        "AscendC::Exp(z, x, count);\nfor (uint32_t row = 0; row < 4; row++) {\n    const float factor = a.GetValue(0);\n    AscendC::Muls(z, z, factor, count);\n}",
    )
}
fn remainder() -> String {
    computing(
        "AscendC::Exp(z, x, count);\nfor (uint32_t i = 0; i < count; i++) {\n    AscendC::Adds(z[i % length_ * 8], x[i / length_ * 8], 1.0f, 8);\n}",
    )
}
fn descriptor() -> String {
    processing(
        "for (uint32_t i = 0; i < tiles; i++) {\n    AscendC::ListTensorDesc list((__gm__ void *)list_);\n    xGm.SetGlobalBuffer(list.GetDataPtr<float>(i));\n    CopyIn(0, TILE);\n    Compute(TILE);\n    CopyOut(0, TILE);\n}",
        EXP,
    )
    .replace("    uint32_t length_;", "    GM_ADDR list_;\n    GM_ADDR other_;\n    uint32_t length_;")
    .replace("AscendC::ListTensorDesc", "ListTensorDesc")
}
fn member() -> String {
    computing(
        "AscendC::Exp(z, x, count);\nfor (uint32_t i = 0; i < length_; i++) {\n    AscendC::Adds(z, z, scale_, length_);\n}",
    )
}
fn constant() -> String {
    computing("if (BUFFERS > 1) {\n    AscendC::Abs(z, x, count);\n}\nAscendC::Exp(z, x, count);")
}
fn core() -> String {
    computing(
        "AscendC::Exp(z, x, count);\nfor (uint32_t i = 0; i < length_; i += AscendC::GetBlockNum()) {\n    AscendC::Adds(z, z, 1.0f, count);\n}",
    )
}

pub(super) const VIOLATIONS: &[Violation] = &[
    of(
        "S01",
        "the condition is the same behind every call",
        tail,
        &[("        outQueue.EnQue(z);", "        valid_ = 0;\n        outQueue.EnQue(z);")],
        "Compute may change valid_",
    ),
    of("S01", "the same calls", tail, &[("            Compute(valid_);\n", "")], ""),
    of(
        "S01",
        "one other argument",
        tail,
        &[("CopyOut(tiles * TILE, valid_)", "CopyOut(tiles * TILE, length_)")],
        "in another way",
    ),
    of(
        "S02",
        "no break",
        choice,
        &[(
            "            Compute(count);\n",
            "            if (count == 0) {\n                break;\n            }\n            Compute(count);\n",
        )],
        "holds break",
    ),
    of(
        "S02",
        "the number of rounds stays",
        choice,
        &[("            Compute(count);\n", "            tiles--;\n            Compute(count);\n")],
        "may change",
    ),
    of(
        "S02",
        "the counter is not changed",
        choice,
        &[("            Compute(count);\n", "            i++;\n            Compute(count);\n")],
        "changes i",
    ),
    of("S02", "the last round and no other", choice, &[("tiles - 1 ?", "tiles - 2 ?")], ""),
    of("S03", "the index does not change", element, &[("GetValue(0)", "GetValue(row)")], "row is declared in the loop"),
    of("S03", "the tensor is only read", element, &[("Muls(z, z, factor", "Muls(a, a, factor")], "a may be changed"),
    of(
        "S03",
        "the name is not assigned again",
        element,
        &[
            ("const float factor", "float factor"),
            ("    AscendC::Muls", "    factor += 1.0f;\n            AscendC::Muls"),
        ],
        "assigned again",
    ),
    of(
        "S03",
        "no call changes the tensor",
        element,
        &[
            ("    AscendC::Muls", "    Next();\n            AscendC::Muls"),
            (
                "done_ += 1;",
                "AscendC::LocalTensor<float> other = aBuf.Get<float>();\n        AscendC::Exp(other, other, 8);",
            ),
        ],
        "Next may change",
    ),
    of(
        "S03",
        "no view writes the tensor",
        element,
        &[
            ("for (uint32_t row", "AscendC::LocalTensor<float> view = a[0];\n        for (uint32_t row"),
            ("Muls(z, z, factor", "Muls(view, z, factor"),
        ],
        "changed through view",
    ),
    of(
        "S04",
        "the divisor is the same in every round",
        remainder,
        &[("1.0f, 8);\n", "1.0f, 8);\n            length_ += 1;\n")],
        "may change",
    ),
    of(
        "S04",
        "the divisor is not shifted",
        remainder,
        &[("1.0f, 8);\n", "1.0f, 8);\n            length_ <<= 1;\n")],
        "may change",
    ),
    of(
        "S04",
        "no call changes the divisor",
        remainder,
        &[("1.0f, 8);\n", "1.0f, 8);\n            Next();\n"), ("done_ += 1;", "length_ += 1;")],
        "may change length_",
    ),
    of(
        "S04",
        "no round is cut short",
        remainder,
        &[("1.0f, 8);\n", "1.0f, 8);\n            if (i > 3) {\n                continue;\n            }\n")],
        "continue",
    ),
    of(
        "S04",
        "the head alone changes the counter",
        remainder,
        &[("1.0f, 8);\n", "1.0f, 8);\n            i += 2;\n")],
        "is changed in the loop",
    ),
    of(
        "S13",
        "arguments are the same in every round",
        descriptor,
        &[("        outQueue.EnQue(z);", "        list_ = other_;\n        outQueue.EnQue(z);")],
        "Compute may change list_",
    ),
    of(
        "S13",
        "no argument changes with the counter",
        descriptor,
        &[("void *)list_)", "void *)(list_ + i))")],
        "is declared in the loop",
    ),
    of(
        "S13",
        "the type of an address is no part of a name",
        descriptor,
        &[
            ("(__gm__ void *)list_)", "(__gm__ void *)voidIdx)"),
            ("            ListTensorDesc", "            GM_ADDR voidIdx = list_ + i;\n            ListTensorDesc"),
        ],
        "is declared in the loop",
    ),
    of(
        "S13",
        "it is only asked",
        descriptor,
        &[("            CopyIn(0,", "            Use(list);\n            CopyIn(0,")],
        "not only asked",
    ),
    of(
        "S08",
        "nobody sets the member",
        member,
        &[
            ("        outQueue.EnQue(z);", "        length_ -= 1;\n        outQueue.EnQue(z);"),
            ("scale_, length_", "scale_, length_"),
        ],
        "",
    ),
    of(
        "S08",
        "the local name is free",
        member,
        &[(
            "        AscendC::Exp",
            "        uint32_t length_Local = 0;\n        uint32_t lengthLocal = 0;\n        AscendC::Exp",
        )],
        "is taken",
    ),
    of("S09", "known at compile time", constant, &[("BUFFERS > 1", "BUFFERS > count")], ""),
    of(
        "S09",
        "no variable hides the constant",
        constant,
        &[("        if (BUFFERS", "        int BUFFERS = 3;\n        if (BUFFERS")],
        "",
    ),
    of("S12", "one spelling", core, &[("Adds(z, z, 1.0f, count)", "Adds(z, z, 1.0f, GetBlockNum())")], "several ways"),
    of(
        "S12",
        "the local name is free",
        core,
        &[("LocalTensor<float> b =", "LocalTensor<float> blockCount =")],
        "is taken",
    ),
];
