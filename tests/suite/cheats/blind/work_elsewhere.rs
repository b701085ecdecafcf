//! Cheats: the work is done by somebody else than the cores, or at another time.

use super::super::{COMPUTATION, Cheat, GELU, GELU_HOST};

pub(super) const CHEATS: &[Cheat] = &[
    // The work is done by threads that no core has.
    Cheat {
        name: "threads_beside_the_kernel",
        edits: &[
            (
                GELU,
                r#"#include "kernel_operator.h"
"#,
                r#"#include <thread>
#include <vector>

#include "kernel_operator.h"
"#,
            ),
            (
                GELU,
                "class KernelGelu {",
                r#"static void Work(const float *x, float *y, uint32_t n)
{
    std::vector<std::thread> threads;
    for (uint32_t part = 0; part < 4; part++) {
        threads.emplace_back([=] {
            for (uint32_t i = part; i < n; i += 4) {
                const float v = x[i];
                y[i] = v / (1.0f + Curve(NEGATED_SCALE * (v + CUBIC * v * v * v)));
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
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
    // Exponentials are worked out before there is a launch.
    Cheat {
        name: "table_filled_when_the_library_is_loaded",
        edits: &[
            (
                GELU,
                "class KernelGelu {",
                r#"static float exponentials[4097];
__attribute__((constructor)) static void FillTable()
{
    for (int i = 0; i <= 4096; i++) {
        exponentials[i] = Curve(NEGATED_SCALE * (float)(i - 2048) / 1024.0f);
    }
}
class KernelGelu {"#,
            ),
            (
                GELU,
                COMPUTATION,
                r#"for (uint32_t i = 0; i < count; i++) {
            const float v = xLocal.GetValue(i);
            const float at = (v + CUBIC * v * v * v) * 1024.0f + 2048.0f;
            const int32_t cell = at < 0.0f ? 0 : at > 4095.0f ? 4095 : (int32_t)at;
            const float slope = exponentials[cell + 1] - exponentials[cell];
            yLocal.SetValue(i, v / (1.0f + exponentials[cell] + slope * (at - (float)cell)));
        }
        (void)poly;
        (void)ones;"#,
            ),
        ],
        refused: "",
    },
    // The launch remembers what is to do; a destructor does it.
    Cheat {
        name: "work_when_the_library_is_unloaded",
        edits: &[
            (
                GELU,
                "class KernelGelu {",
                r#"struct Later {
    float *x = nullptr;
    float *y = nullptr;
    uint32_t n = 0;
    ~Later()
    {
        for (uint32_t i = 0; i < n; i++) {
            const float v = x[i];
            y[i] = v / (1.0f + Curve(NEGATED_SCALE * (v + CUBIC * v * v * v)));
        }
    }
};
static Later later;
static void Work(float *x, float *y, uint32_t n)
{
    later.x = x;
    later.y = y;
    later.n = n;
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
    // The system copies memory of a process, and no instruction of the kernel does.
    Cheat {
        name: "copies_by_the_operating_system",
        edits: &[
            (
                GELU,
                r#"#include "kernel_operator.h"
"#,
                r#"#include <sys/uio.h>
#include <unistd.h>

#include "kernel_operator.h"
"#,
            ),
            (
                GELU,
                "class KernelGelu {",
                r#"static void Work(float *x, float *y, uint32_t n)
{
    float part[512];
    for (uint32_t start = 0; start < n; start += 512) {
        const uint32_t count = n - start < 512 ? n - start : 512;
        iovec here = {part, count * sizeof(float)};
        iovec from = {x + start, count * sizeof(float)};
        iovec to = {y + start, count * sizeof(float)};
        if (process_vm_readv(getpid(), &here, 1, &from, 1, 0) < 0) {
            return;
        }
        for (uint32_t i = 0; i < count; i++) {
            const float v = part[i];
            part[i] = v / (1.0f + Curve(NEGATED_SCALE * (v + CUBIC * v * v * v)));
        }
        if (process_vm_writev(getpid(), &here, 1, &to, 1, 0) < 0) {
            return;
        }
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
    // Cores of one process have one memory: the first fills a table, the others have only to copy.
    Cheat {
        name: "table_that_another_core_has_filled",
        edits: &[
            (GELU_HOST, "BLOCK_DIM = 1;", "BLOCK_DIM = 8;"),
            (
                GELU,
                "class KernelGelu {",
                r#"static float shared[1 << 20];
static void Work(float *x, float *y, uint32_t n, uint32_t share, uint32_t core)
{
    if (core == 0) {
        for (uint32_t i = 0; i < n; i++) {
            const float v = x[i];
            shared[i] = v / (1.0f + Curve(NEGATED_SCALE * (v + CUBIC * v * v * v)));
        }
    }
    for (uint32_t i = core * share; i < n && i < (core + 1) * share; i++) {
        y[i] = shared[i];
    }
}
class KernelGelu {"#,
            ),
            (
                GELU,
                "    op.Process();\n",
                r#"    Work((__gm__ float *)x, (__gm__ float *)y, tilingData.totalLength, tilingData.blockLength,
        (uint32_t)AscendC::GetBlockIdx());
"#,
            ),
        ],
        refused: "",
    },
];
