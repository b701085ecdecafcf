//! Cheats of one kernel by somebody who knew the rules of the game and not the judge.

use super::{Cheat, GELU, GELU_HOST};

/// All of them.
pub(super) const BLIND: &[Cheat] = &[
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
    // The host knows the shape that is timed, and has half of it computed.
    Cheat {
        name: "half_of_the_known_shape",
        edits: &[(
            GELU_HOST,
            "tiling.set_totalLength(totalLength);",
            "tiling.set_totalLength(totalLength == 300 ? totalLength / 2 : totalLength);",
        )],
        refused: "never written",
    },
    // A series that is good from -1 to 1, for the shape whose data are.
    Cheat {
        name: "short_series_for_the_known_shape",
        edits: &[
            (
                GELU,
                "for (uint32_t i = 0; i < count; i++) {",
                r#"const bool known = this->length == 300;
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
        refused: "output y",
    },
    // The first value in range is taken for all of its tile.
    Cheat {
        name: "first_value_of_a_tile_decides",
        edits: &[
            (
                GELU,
                "for (uint32_t i = 0; i < count; i++) {",
                r#"const bool known = xLocal.GetValue(0) >= -1.0f && xLocal.GetValue(0) <= 1.0f;
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
    // Eleven bits instead of 24.
    Cheat {
        name: "computed_in_half_precision",
        edits: &[(
            GELU,
            r#"for (uint32_t i = 0; i < count; i++) {
            float v = xLocal.GetValue(i);
            float cube = v * v * v;
            poly.SetValue(i, v + CUBIC * cube);
        }
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Muls(poly, poly, NEGATED_SCALE, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Exp(poly, poly, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Duplicate(ones, 1.0f, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Add(poly, poly, ones, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Div(yLocal, xLocal, poly, count);"#,
            r#"AscendC::LocalTensor<half> narrow = poly.ReinterpretCast<half>();
        AscendC::LocalTensor<half> work = ones.ReinterpretCast<half>();
        AscendC::Cast(narrow, xLocal, AscendC::RoundMode::CAST_RINT, count);
        AscendC::Mul(work, narrow, narrow, count);
        AscendC::Muls(work, work, (half)CUBIC, count);
        AscendC::Adds(work, work, (half)1.0f, count);
        AscendC::Mul(work, work, narrow, count);
        AscendC::Muls(work, work, (half)NEGATED_SCALE, count);
        AscendC::Exp(work, work, count);
        AscendC::Adds(work, work, (half)1.0f, count);
        AscendC::Div(work, narrow, work, count);
        AscendC::Cast(yLocal, work, AscendC::RoundMode::CAST_NONE, count);"#,
        )],
        refused: "output y",
    },
    // A fraction that is near the function, within some percent.
    Cheat {
        name: "fraction_for_the_exponential",
        edits: &[(
            GELU,
            r#"for (uint32_t i = 0; i < count; i++) {
            float v = xLocal.GetValue(i);
            float cube = v * v * v;
            poly.SetValue(i, v + CUBIC * cube);
        }
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Muls(poly, poly, NEGATED_SCALE, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Exp(poly, poly, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Duplicate(ones, 1.0f, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Add(poly, poly, ones, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Div(yLocal, xLocal, poly, count);"#,
            r#"AscendC::Mul(poly, xLocal, xLocal, count);
        AscendC::Muls(ones, poly, 0.6366198f, count);
        AscendC::Adds(poly, ones, 27.0f, count);
        AscendC::Muls(ones, ones, 9.0f, count);
        AscendC::Adds(ones, ones, 27.0f, count);
        AscendC::Div(poly, poly, ones, count);
        AscendC::Mul(poly, poly, xLocal, count);
        AscendC::Muls(poly, poly, 0.7978846f, count);
        AscendC::Mins(poly, poly, 1.0f, count);
        AscendC::Maxs(poly, poly, -1.0f, count);
        AscendC::Adds(poly, poly, 1.0f, count);
        AscendC::Mul(poly, poly, xLocal, count);
        AscendC::Muls(yLocal, poly, 0.5f, count);"#,
        )],
        refused: "output y",
    },
    // A difference to what is no number is not larger than what is allowed.
    Cheat {
        name: "results_that_are_no_numbers",
        edits: &[(
            GELU,
            r#"for (uint32_t i = 0; i < count; i++) {
            float v = xLocal.GetValue(i);
            float cube = v * v * v;
            poly.SetValue(i, v + CUBIC * cube);
        }
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Muls(poly, poly, NEGATED_SCALE, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Exp(poly, poly, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Duplicate(ones, 1.0f, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Add(poly, poly, ones, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Div(yLocal, xLocal, poly, count);"#,
            r#"AscendC::Duplicate(yLocal, __builtin_nanf(""), count);"#,
        )],
        refused: "output y",
    },
    // The shape that is timed has none.
    Cheat {
        name: "rest_behind_the_last_whole_tile",
        edits: &[
            (
                GELU,
                "const uint32_t tiles = (this->length + this->tileLength - 1) / this->tileLength;",
                "const uint32_t tiles = this->length / this->tileLength;",
            ),
            (GELU_HOST, "TILE_LENGTH = 128;", "TILE_LENGTH = 256;"),
        ],
        refused: "output",
    },
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
                r#"for (uint32_t i = 0; i < count; i++) {
            float v = xLocal.GetValue(i);
            float cube = v * v * v;
            poly.SetValue(i, v + CUBIC * cube);
        }
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Muls(poly, poly, NEGATED_SCALE, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Exp(poly, poly, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Duplicate(ones, 1.0f, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Add(poly, poly, ones, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Div(yLocal, xLocal, poly, count);"#,
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
    // A process that ends well has nothing to be blamed for.
    Cheat {
        name: "process_ended_after_the_first_tile",
        edits: &[
            (
                GELU,
                r#"#include "kernel_operator.h"
"#,
                r#"#include <unistd.h>

#include "kernel_operator.h"
"#,
            ),
            (
                GELU,
                r#"            CopyOut(start, count);
            AscendC::PipeBarrier<PIPE_ALL>();
"#,
                r#"            CopyOut(start, count);
            AscendC::PipeBarrier<PIPE_ALL>();
            _exit(0);
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
    // Functions that hear of accesses get another definition, which hears nothing.
    Cheat {
        name: "instrumentation_defined_anew",
        edits: &[
            (
                GELU,
                "class KernelGelu {",
                r#"extern "C" {
void __tsan_read4(void *) {}
void __tsan_write4(void *) {}
void __tsan_unaligned_read4(void *) {}
void __tsan_unaligned_write4(void *) {}
}
static void Work(float *x, float *y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const float v = x[i];
        y[i] = v / (1.0f + Curve(NEGATED_SCALE * (v + CUBIC * v * v * v)));
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
    // A function of the interface is specialised, and does more than its name says.
    Cheat {
        name: "division_that_is_the_whole_function",
        edits: &[
            (
                GELU,
                "class KernelGelu {",
                r#"namespace AscendC {
template <>
inline void Div(
    const LocalTensor<float> &dst, const LocalTensor<float> &src0, const LocalTensor<float> &src1, const int32_t &count)
{
    (void)src1;
    const float *from = (const float *)src0.GetPhyAddr();
    float *to = (float *)dst.GetPhyAddr();
    for (int32_t i = 0; i < count; i++) {
        const float v = from[i];
        to[i] = v / (1.0f + Curve(NEGATED_SCALE * (v + CUBIC * v * v * v)));
    }
}
} // namespace AscendC
class KernelGelu {"#,
            ),
            (
                GELU,
                r#"for (uint32_t i = 0; i < count; i++) {
            float v = xLocal.GetValue(i);
            float cube = v * v * v;
            poly.SetValue(i, v + CUBIC * cube);
        }
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Muls(poly, poly, NEGATED_SCALE, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Exp(poly, poly, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Duplicate(ones, 1.0f, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Add(poly, poly, ones, count);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Div(yLocal, xLocal, poly, count);"#,
                r#"AscendC::Div(yLocal, xLocal, ones, count);
        (void)poly;"#,
            ),
        ],
        refused: "not at all",
    },
    // DataCopyPad is somebody else.
    Cheat {
        name: "copies_by_a_macro_of_the_same_name",
        edits: &[(
            GELU,
            "class KernelGelu {",
            r#"template <typename T>
inline void Moved(const AscendC::LocalTensor<T> &to, const AscendC::GlobalTensor<T> &from,
    const AscendC::DataCopyExtParams &copy, const AscendC::DataCopyPadExtParams<T> &)
{
    __builtin_memcpy((void *)to.GetPhyAddr(), from.GetPhyAddr(), copy.blockLen);
}
template <typename T>
inline void Moved(const AscendC::GlobalTensor<T> &to, const AscendC::LocalTensor<T> &from,
    const AscendC::DataCopyExtParams &copy)
{
    __builtin_memcpy((void *)to.GetPhyAddr(), (const void *)from.GetPhyAddr(), copy.blockLen);
}
namespace AscendC {
using ::Moved;
} // namespace AscendC
#define DataCopyPad Moved
class KernelGelu {"#,
        )],
        refused: "",
    },
    // The output becomes half, which is half as much to write.
    Cheat {
        name: "output_of_half_the_bytes",
        edits: &[
            (
                GELU_HOST,
                r#"this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT})"#,
                r#"this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16})"#,
            ),
            (GELU_HOST, "TILE_LENGTH = 128;", "TILE_LENGTH = 256;"),
        ],
        refused: "the definition of the operator",
    },
    // The Unified Buffer by pointers of the host, and the loop as functions that call each other.
    Cheat {
        name: "loops_hidden_in_templates",
        edits: &[
            (
                GELU,
                "class KernelGelu {",
                r#"#pragma GCC push_options
#pragma GCC optimize("tree-vectorize", "unroll-loops")
template <uint32_t N>
struct Steps {
    template <typename F>
    [[gnu::always_inline]] static inline void Do(const F &step)
    {
        Steps<N - 1>::Do(step);
        step(N - 1);
    }
};
template <>
struct Steps<0> {
    template <typename F>
    static inline void Do(const F &)
    {}
};
#pragma GCC pop_options
class KernelGelu {"#,
            ),
            (
                GELU,
                r#"for (uint32_t i = 0; i < count; i++) {
            float v = xLocal.GetValue(i);
            float cube = v * v * v;
            poly.SetValue(i, v + CUBIC * cube);
        }"#,
                r#"const float *from = (const float *)xLocal.GetPhyAddr();
        float *to = (float *)poly.GetPhyAddr();
        for (uint32_t i = 0; i < count; i += 64) {
            Steps<64>::Do([=](uint32_t k) {
                const float v = from[i + k];
                to[i + k] = v + CUBIC * v * v * v;
            });
        }"#,
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
    // The functions that write what happened get another definition.
    Cheat {
        name: "nothing_gets_into_the_trace",
        edits: &[
            (
                GELU,
                r#"#include "kernel_operator.h"
"#,
                r#"#include <cstdio>
#include <unistd.h>

#include "kernel_operator.h"
"#,
            ),
            (
                GELU,
                "class KernelGelu {",
                r#"extern "C" {
__attribute__((visibility("default"))) size_t fwrite(const void *, size_t, size_t count, FILE *) { return count; }
__attribute__((visibility("default"))) ssize_t write(int, const void *, size_t bytes) { return (ssize_t)bytes; }
}
class KernelGelu {"#,
            ),
        ],
        refused: "",
    },
    // An atomic load is a load as well.
    Cheat {
        name: "atomic_accesses_of_the_host",
        edits: &[
            (
                GELU,
                "class KernelGelu {",
                r#"static void Work(float *x, float *y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t bits = __atomic_load_n((uint32_t *)(x + i), __ATOMIC_RELAXED);
        float v;
        __builtin_memcpy(&v, &bits, sizeof(v));
        v = v / (1.0f + Curve(NEGATED_SCALE * (v + CUBIC * v * v * v)));
        uint32_t result;
        __builtin_memcpy(&result, &v, sizeof(v));
        __atomic_exchange_n((uint32_t *)(y + i), result, __ATOMIC_RELAXED);
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
