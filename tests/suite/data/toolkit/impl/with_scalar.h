// Vector-with-scalar functions, each as two templates that fit the same argument: one type, and a second one for the scalar.
#ifndef ASCENDC_MODULE_OPERATOR_VEC_BINARY_SCALAR_INTERFACE_H
#define ASCENDC_MODULE_OPERATOR_VEC_BINARY_SCALAR_INTERFACE_H

#include <type_traits>

namespace AscendC {

template <typename T>
struct LocalTensor {
    T* memory;
};

#define WITH_SCALAR(function, instruction)                                                                           \
    template <typename T, bool isSetMask = true>                                                                     \
    __aicore__ inline void function(                                                                                 \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue, const int32_t& count)            \
    {                                                                                                                \
        set_vector_mask(~uint64_t{0}, ~uint64_t{0});                                                                 \
        instruction(dst.memory, src.memory, scalarValue, static_cast<uint8_t>(count * sizeof(T) / 256), 1, 1, 8, 8); \
    }                                                                                                                \
    template <typename T, typename U, bool isSetMask = true, std::enable_if_t<std::is_same_v<T, U>, bool> = true>    \
    __aicore__ inline void function(                                                                                 \
        const LocalTensor<T>& dst, const LocalTensor<T>& src, const U& scalarValue, const int32_t& count)            \
    {                                                                                                                \
        function<T, isSetMask>(dst, src, scalarValue, count);                                                        \
    }

WITH_SCALAR(Adds, vadds)
WITH_SCALAR(Muls, vmuls)
WITH_SCALAR(Maxs, vmaxs)
WITH_SCALAR(Mins, vmins)
#undef WITH_SCALAR

}  // namespace AscendC

#define ASCENDC_MODULE_OPERATOR_VEC_CMPSEL_INTERFACE_H

namespace AscendC {

enum class SELMODE : uint8_t { VSEL_TENSOR_SCALAR_MODE = 1 };

struct BinaryRepeatParams {
    uint8_t dstBlkStride;
};

// Something that a number may become as well as a half.
struct Number {
    Number(float number);
};

// Adds the scalar, so that a test sees which one arrived.
template <typename T, typename U, bool isSetMask = true>
__aicore__ inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>&, const LocalTensor<T>& src0, T src1,
    SELMODE, uint32_t count)
{
    Adds<T, isSetMask>(dst, src0, src1, static_cast<int32_t>(count));
}
template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>&, const LocalTensor<T>& src0, const Number& src1, SELMODE,
    uint32_t count);

}  // namespace AscendC

#endif
