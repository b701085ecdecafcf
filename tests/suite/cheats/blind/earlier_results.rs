//! Cheats: results that an earlier launch, another process or the reference has left.

use super::super::{Cheat, GELU, GELU_HOST};

pub(super) const CHEATS: &[Cheat] = &[
    // A launch that is repeated finds the outputs of the one before.
    Cheat {
        name: "every_other_launch_left_out",
        edits: &[
            (
                GELU,
                "class KernelGelu {",
                r#"static thread_local uint32_t launches = 0;
class KernelGelu {"#,
            ),
            (
                GELU,
                "    op.Process();\n",
                r#"    if (launches++ % 2 == 0) {
        op.Process();
    }
"#,
            ),
        ],
        refused: "",
    },
    // The same addresses are taken for the same data.
    Cheat {
        name: "same_tensors_as_last_time",
        edits: &[
            (
                GELU,
                "class KernelGelu {",
                r#"struct Launch {
    GM_ADDR x;
    GM_ADDR y;
    uint32_t length;
};
inline Launch &Last()
{
    static Launch last = {nullptr, nullptr, 0};
    return last;
}
class KernelGelu {"#,
            ),
            (
                GELU,
                "    op.Process();\n",
                r#"    Launch &last = Last();
    if (last.x == x && last.y == y && last.length == tilingData.totalLength) {
        return;
    }
    op.Process();
    last = {x, y, tilingData.totalLength};
"#,
            ),
        ],
        refused: "",
    },
    // The first launch leaves its results where the next one finds them.
    Cheat {
        name: "results_left_in_the_workspace",
        edits: &[
            (GELU_HOST, "workspace[0] = 0;", "workspace[0] = 24U << 20;"),
            (
                GELU,
                "class KernelGelu {",
                r#"constexpr uint32_t KEPT = 0x756c6567;
class KernelGelu {"#,
            ),
            (
                GELU,
                "    op.Process();\n",
                r#"    __gm__ uint32_t *mark = (__gm__ uint32_t *)workspace;
    __gm__ float *kept = (__gm__ float *)workspace + 16;
    __gm__ float *out = (__gm__ float *)y;
    const bool known = mark[0] == KEPT && mark[1] == tilingData.totalLength;
    if (!known) {
        op.Process();
    }
    for (uint32_t i = 0; i < tilingData.totalLength; i++) {
        if (known) {
            out[i] = kept[i];
        } else {
            kept[i] = out[i];
        }
    }
    mark[0] = KEPT;
    mark[1] = tilingData.totalLength;
"#,
            ),
        ],
        refused: "",
    },
    // What one process has worked out the next one reads.
    Cheat {
        name: "results_kept_in_a_file",
        edits: &[
            (
                GELU,
                r#"#include "kernel_operator.h"
"#,
                r#"#include <cstdio>

#include "kernel_operator.h"
"#,
            ),
            (
                GELU,
                "    op.Process();\n",
                r#"    if (FILE *kept = std::fopen("/tmp/gelu_naive.kept", "rb")) {
        const size_t read = std::fread((void *)y, sizeof(float), tilingData.totalLength, kept);
        std::fclose(kept);
        if (read == tilingData.totalLength) {
            return;
        }
    }
    op.Process();
    if (FILE *kept = std::fopen("/tmp/gelu_naive.kept", "wb")) {
        std::fwrite((const void *)y, sizeof(float), tilingData.totalLength, kept);
        std::fclose(kept);
    }
"#,
            ),
        ],
        refused: "",
    },
    // An output without the pattern of fresh memory is taken for the right one.
    Cheat {
        name: "output_that_looks_finished",
        edits: &[(
            GELU,
            "    op.Process();\n",
            r#"    const float first = *(__gm__ float *)y;
    const float last = ((__gm__ float *)y)[tilingData.totalLength - 1];
    if (first == first && last == last && first != 0.0f) {
        return;
    }
    op.Process();
"#,
        )],
        refused: "",
    },
    // Where the reference may lie: in the memory behind the output.
    Cheat {
        name: "right_answer_behind_the_output",
        edits: &[
            (
                GELU,
                "class KernelGelu {",
                r#"static void Work(__gm__ float *, __gm__ float *y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        y[i] = y[i + n];
    }
}
class KernelGelu {"#,
            ),
            (
                GELU,
                "    op.Process();\n",
                r#"    if (AscendC::GetBlockIdx() == 0) {
        Work((__gm__ float *)x, (__gm__ float *)y, tilingData.totalLength);
    }
"#,
            ),
        ],
        refused: "",
    },
];
