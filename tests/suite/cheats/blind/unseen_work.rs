//! Cheats: the work is done by the cores, and nothing records it.

use super::super::{COMPUTATION, Cheat, GELU};

pub(super) const CHEATS: &[Cheat] = &[
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
                COMPUTATION,
                r#"AscendC::Div(yLocal, xLocal, ones, count);
        (void)poly;"#,
            ),
        ],
        refused: "GetPhyAddr",
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
];
