//! Preconditions of the scalar motifs.

use motif::Id;

use super::kernels::{computing, processing};
use super::{Violation, of};

const EXP: &str = "AscendC::Exp(z, x, count);";

fn element() -> String {
    computing(
        "AscendC::Exp(z, x, count);\nfor (uint32_t row = 0; row < 4; row++) {\n    const float factor = a.GetValue(0);\n    AscendC::Muls(z, z, factor, count);\n}",
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

pub(super) const VIOLATIONS: &[Violation] = &[
    of(
        Id::S03,
        "the index does not change",
        element,
        &[("GetValue(0)", "GetValue(row)")],
        "row is declared in the loop",
    ),
    of(Id::S03, "the tensor is only read", element, &[("Muls(z, z, factor", "Muls(a, a, factor")], "a may be changed"),
    of(
        Id::S03,
        "the name is not assigned again",
        element,
        &[
            ("const float factor", "float factor"),
            ("    AscendC::Muls", "    factor += 1.0f;\n            AscendC::Muls"),
        ],
        "assigned again",
    ),
    of(
        Id::S03,
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
        Id::S03,
        "no view writes the tensor",
        element,
        &[
            ("for (uint32_t row", "AscendC::LocalTensor<float> view = a[0];\n        for (uint32_t row"),
            ("Muls(z, z, factor", "Muls(view, z, factor"),
        ],
        "changed through view",
    ),
    of(
        Id::S13,
        "arguments are the same in every round",
        descriptor,
        &[("        outQueue.EnQue(z);", "        list_ = other_;\n        outQueue.EnQue(z);")],
        "Compute may change list_",
    ),
    of(
        Id::S13,
        "no argument changes with the counter",
        descriptor,
        &[("void *)list_)", "void *)(list_ + i))")],
        "is declared in the loop",
    ),
    of(
        Id::S13,
        "the type of an address is no part of a name",
        descriptor,
        &[
            ("(__gm__ void *)list_)", "(__gm__ void *)voidIdx)"),
            ("            ListTensorDesc", "            GM_ADDR voidIdx = list_ + i;\n            ListTensorDesc"),
        ],
        "is declared in the loop",
    ),
    of(
        Id::S13,
        "it is only asked",
        descriptor,
        &[("            CopyIn(0,", "            Use(list);\n            CopyIn(0,")],
        "not only asked",
    ),
];
