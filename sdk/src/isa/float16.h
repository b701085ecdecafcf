// Conversion of arrays between 16-bit floats and float. Internal to the library.
#ifndef ASCENDSIM_FLOAT16_H
#define ASCENDSIM_FLOAT16_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "ascendsim/types.h"

namespace ascendsim {
namespace isa __attribute__((visibility("hidden"))) {

inline void Widen(const half* from, float* to, size_t count)
{
    size_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= count; i += 8) {
        const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(packed));
    }
#endif
    for (; i < count; ++i) {
        to[i] = from[i];
    }
}

inline void Narrow(const float* from, half* to, size_t count)
{
    size_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= count; i += 8) {
        const __m128i packed = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), packed);
    }
#endif
    for (; i < count; ++i) {
        to[i] = half(from[i]);
    }
}

inline void Widen(const bfloat16_t* from, float* to, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        to[i] = from[i];
    }
}

}  // namespace isa
}  // namespace ascendsim

#endif
