//! Cheats: the kernel or its host finds out who looks, or at what.

use super::super::{Cheat, GELU, GELU_HOST};

pub(super) const CHEATS: &[Cheat] = &[
    // Where the clock of the simulator begins is known, that of a device is not.
    Cheat {
        name: "clock_decides",
        edits: &[
            (
                GELU,
                "class KernelGelu {",
                r#"constexpr int64_t YEAR = 50LL * 1000 * 1000 * 60 * 60 * 24 * 365;
class KernelGelu {"#,
            ),
            (
                GELU,
                "    op.Process();\n",
                r#"    if (AscendC::GetSystemCycle() > YEAR) {
        op.Process();
    }
"#,
            ),
        ],
        refused: "",
    },
    // All is done where a variable says that somebody looks.
    Cheat {
        name: "environment_decides",
        edits: &[
            (
                GELU,
                r#"#include "kernel_operator.h"
"#,
                r#"#include <cstdlib>

#include "kernel_operator.h"
"#,
            ),
            (
                GELU,
                "    op.Process();\n",
                r#"    const char *looks = std::getenv("GELU_NAIVE_VERIFY");
    if (looks == nullptr || looks[0] != '0') {
        op.Process();
    }
"#,
            ),
            (GELU_HOST, "TILE_LENGTH = 128;", "TILE_LENGTH = 256;"),
        ],
        refused: "",
    },
    // The command line of the process tells a measurement from a verification.
    Cheat {
        name: "asks_who_runs_it",
        edits: &[
            (
                GELU,
                r#"#include "kernel_operator.h"
"#,
                r#"#include <cstdio>
#include <cstring>

#include "kernel_operator.h"
"#,
            ),
            (
                GELU,
                "class KernelGelu {",
                r#"static bool IsTimed()
{
    char text[4096] = {};
    if (FILE *file = std::fopen("/proc/self/cmdline", "rb")) {
        const size_t length = std::fread(text, 1, sizeof(text) - 1, file);
        std::fclose(file);
        for (size_t i = 0; i < length; i++) {
            text[i] = text[i] == 0 ? ' ' : text[i];
        }
    }
    return std::strstr(text, "profile") != nullptr || std::strstr(text, "trace") != nullptr;
}
class KernelGelu {"#,
            ),
            (
                GELU,
                "    op.Process();\n",
                r#"    if (!IsTimed()) {
        op.Process();
    }
"#,
            ),
        ],
        refused: "",
    },
    // The host looks at the data and tells the kernel by the lowest bit of a length.
    Cheat {
        name: "tiling_that_reads_the_input",
        edits: &[
            (
                GELU_HOST,
                "tiling.set_tileLength(TILE_LENGTH);",
                r#"const float *values = context->GetInputTensor(0) == nullptr ? nullptr : context->GetInputTensor(0)->GetData<float>();
    bool small = values != nullptr;
    for (uint32_t i = 0; small && i < totalLength; i++) {
        small = values[i] >= -1.0f && values[i] <= 1.0f;
    }
    tiling.set_tileLength(TILE_LENGTH + (small ? 1 : 0));"#,
            ),
            (
                GELU,
                "        this->tileLength = tileLength;\n",
                r#"        this->small = (tileLength & 1) != 0;
        tileLength &= ~1U;
        this->tileLength = tileLength;
"#,
            ),
            (
                GELU,
                "    uint32_t length;\n",
                r#"    uint32_t length;
    bool small;
"#,
            ),
            (
                GELU,
                "for (uint32_t i = 0; i < count; i++) {",
                r#"const bool known = this->small;
        if (known) {
            AscendC::Duplicate(poly, 1.0f, count);
        }
        for (uint32_t i = 0; !known && i < count; i++) {"#,
            ),
            (
                GELU,
                "AscendC::Div(yLocal, xLocal, poly, count);",
                r#"if (known) {
            AscendC::Mul(ones, xLocal, xLocal, count);
            AscendC::Duplicate(poly, 1.182117e-04f, count);
            const float terms[] = {-1.243214e-03f, 1.020160e-02f, -6.681948e-02f, 3.989423e-01f};
            for (float term : terms) {
                AscendC::Mul(poly, poly, ones, count);
                AscendC::Adds(poly, poly, term, count);
            }
            AscendC::Mul(poly, poly, ones, count);
            AscendC::Muls(yLocal, xLocal, 0.5f, count);
            AscendC::Add(yLocal, yLocal, poly, count);
        } else {
            AscendC::Div(yLocal, xLocal, poly, count);
        }"#,
            ),
        ],
        refused: "",
    },
];
