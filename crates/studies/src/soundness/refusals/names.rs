//! Ways to change a variable that do not name it where they do: out-parameters, references, pointers, lambdas.

use super::kernels::computing;
use super::{Violation, of};
use motif::Id;

/// A function of the class that changes what it is handed.
const CLIP: (&str, &str) = (
    "    __aicore__ inline void Next()",
    "    __aicore__ inline void Clip(float &value)\n    {\n        value *= 2.0f;\n    }\n    __aicore__ inline void Next()",
);

fn scalar_operand() -> String {
    computing("AscendC::Duplicate(a, scale_, count);\nAscendC::Add(z, x, a, count);")
}
fn fill_in_a_loop() -> String {
    computing(
        "AscendC::Exp(z, x, count);\nfor (uint32_t row = 0; row < 4; row++) {\n    AscendC::Duplicate(a, scale_, count);\n    AscendC::Add(z, z, a, count);\n}",
    )
}

/// All of them.
pub(super) const VIOLATIONS: &[Violation] = &[
    of(
        Id::V06,
        "no function is handed the scalar to change it",
        scalar_operand,
        &[("AscendC::Add(z, x, a", "Clip(scale_);\n        AscendC::Add(z, x, a"), CLIP],
        "Clip may change scale_",
    ),
    of(
        Id::V06,
        "no reference that was made before changes the scalar",
        scalar_operand,
        &[
            ("AscendC::Duplicate(a", "float &part = scale_;\n        AscendC::Duplicate(a"),
            ("AscendC::Add(z, x, a", "part = 3.0f;\n        AscendC::Add(z, x, a"),
        ],
        "scale_ may change",
    ),
    of(
        Id::V06,
        "no pointer that was made before changes the scalar",
        scalar_operand,
        &[
            ("AscendC::Duplicate(a", "float *place = &scale_;\n        AscendC::Duplicate(a"),
            ("AscendC::Add(z, x, a", "*place = 3.0f;\n        AscendC::Add(z, x, a"),
        ],
        "scale_ may change",
    ),
    of(
        Id::V06,
        "no lambda that was made before changes the scalar",
        scalar_operand,
        &[
            ("AscendC::Duplicate(a", "auto step = [&]() { scale_ = 3.0f; };\n        AscendC::Duplicate(a"),
            ("AscendC::Add(z, x, a", "step();\n        AscendC::Add(z, x, a"),
        ],
        "scale_ may change",
    ),
    of(
        Id::V26,
        "no function is handed the scalar to change it",
        fill_in_a_loop,
        &[("    AscendC::Add(z, z", "    Clip(scale_);\n    AscendC::Add(z, z"), CLIP],
        "Clip may change scale_",
    ),
];
