// Conversion of arrays between 16-bit floats and float. Internal to the library.
#ifndef ASCENDSIM_FLOAT16_H
#define ASCENDSIM_FLOAT16_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ascendsim/types.h"

// The compilers' own names: the header that has usual ones is twice as long as all others that instructions include together.
#if defined(__F16C__) && defined(__has_builtin)
#if __has_builtin(__builtin_ia32_vcvtph2ps256) && __has_builtin(__builtin_ia32_vcvtps2ph256)
#define ASCENDSIM_CONVERTS_HALVES 1
#endif
#endif

namespace ascendsim {
namespace isa __attribute__((visibility("hidden"))) {

#ifdef ASCENDSIM_CONVERTS_HALVES
using EightHalves = short __attribute__((vector_size(16)));
using EightFloats = float __attribute__((vector_size(32)));
#endif

// Not inlined: hundreds of instructions convert, most of them hundreds of elements at once.
#define ASCENDSIM_CONVERSION __attribute__((noinline)) inline

ASCENDSIM_CONVERSION void Widen(const half* from, float* to, size_t count)
{
    size_t i = 0;
#ifdef ASCENDSIM_CONVERTS_HALVES
    for (; i + 8 <= count; i += 8) {
        EightHalves packed;
        std::memcpy(&packed, from + i, sizeof(packed));
        const EightFloats wide = __builtin_ia32_vcvtph2ps256(packed);
        std::memcpy(to + i, &wide, sizeof(wide));
    }
#endif
    for (; i < count; ++i) {
        to[i] = from[i];
    }
}

ASCENDSIM_CONVERSION void Narrow(const float* from, half* to, size_t count)
{
    size_t i = 0;
#ifdef ASCENDSIM_CONVERTS_HALVES
    for (; i + 8 <= count; i += 8) {
        EightFloats wide;
        std::memcpy(&wide, from + i, sizeof(wide));
        const EightHalves packed = __builtin_ia32_vcvtps2ph256(wide, 0);  // to the nearest, ties to even
        std::memcpy(static_cast<void*>(to + i), &packed, sizeof(packed));
    }
#endif
    for (; i < count; ++i) {
        to[i] = half(from[i]);
    }
}

ASCENDSIM_CONVERSION void Widen(const bfloat16_t* from, float* to, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        to[i] = from[i];
    }
}

#undef ASCENDSIM_CONVERSION

}  // namespace isa
}  // namespace ascendsim

#endif
