// Vector functions of two sources. Each comes in three forms: a mask array or a mask length with repeats
// and strides, and an element count.
#ifndef ASCENDC_VEC_BINARY_H
#define ASCENDC_VEC_BINARY_H

#include "ascendc/mask.h"
#include "ascendc/params.h"
#include "ascendc/tensor.h"

namespace AscendC {

namespace detail {
constexpr uint8_t BLK = DEFAULT_BLK_STRIDE;
constexpr uint8_t REP = DEFAULT_REPEAT_STRIDE;
constexpr uint8_t HALF_REP = HALF_DEFAULT_REPEAT_STRIDE;
}  // namespace detail

#define ASCENDC_BINARY_STRIDES(p) \
    p.dstBlkStride, p.src0BlkStride, p.src1BlkStride, p.dstRepStride, p.src0RepStride, p.src1RepStride

// Same dtype on all three tensors.
#define ASCENDC_VEC_BINARY(Name, instr, ...)                                                                       \
    template <typename T, bool isSetMask = true>                                                                   \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask[],        \
        const uint8_t repeatTime, const BinaryRepeatParams& repeatParams)                                          \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(Name, T, __VA_ARGS__);                                                                 \
        detail::SetMask<T, isSetMask>(mask[1], mask[0]);                                                           \
        instr(detail::Ub(dst), detail::Ub(src0), detail::Ub(src1), repeatTime, ASCENDC_BINARY_STRIDES(repeatParams)); \
    }                                                                                                              \
    template <typename T, bool isSetMask = true>                                                                   \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask,          \
        const uint8_t repeatTime, const BinaryRepeatParams& repeatParams)                                          \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(Name, T, __VA_ARGS__);                                                                 \
        detail::SetMask<T, isSetMask>(static_cast<int32_t>(mask));                                                 \
        instr(detail::Ub(dst), detail::Ub(src0), detail::Ub(src1), repeatTime, ASCENDC_BINARY_STRIDES(repeatParams)); \
    }
#define ASCENDC_VEC_BINARY_COUNT(Name, instr, ...)                                                                 \
    template <typename T>                                                                                          \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, const int32_t& count)   \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(Name, T, __VA_ARGS__);                                                                 \
        detail::BeginCount(static_cast<uint64_t>(count));                                                          \
        instr(detail::Ub(dst), detail::Ub(src0), detail::Ub(src1), 1, detail::BLK, detail::BLK, detail::BLK,       \
              detail::REP, detail::REP, detail::REP);                                                              \
        detail::EndCount();                                                                                        \
    }

ASCENDC_VEC_BINARY(Add, vadd, half, float, int16_t, int32_t)
ASCENDC_VEC_BINARY_COUNT(Add, vadd, half, float, int16_t, int32_t)
ASCENDC_VEC_BINARY(Sub, vsub, half, float, int16_t, int32_t)
ASCENDC_VEC_BINARY_COUNT(Sub, vsub, half, float, int16_t, int32_t)
ASCENDC_VEC_BINARY(Mul, vmul, half, float, int16_t, int32_t)
ASCENDC_VEC_BINARY_COUNT(Mul, vmul, half, float, int16_t, int32_t)
ASCENDC_VEC_BINARY(Div, vdiv, half, float)
ASCENDC_VEC_BINARY_COUNT(Div, vdiv, half, float)
ASCENDC_VEC_BINARY(Max, vmax, half, float, int16_t, int32_t)
ASCENDC_VEC_BINARY_COUNT(Max, vmax, half, float, int16_t, int32_t)
ASCENDC_VEC_BINARY(Min, vmin, half, float, int16_t, int32_t)
ASCENDC_VEC_BINARY_COUNT(Min, vmin, half, float, int16_t, int32_t)
ASCENDC_VEC_BINARY(And, vand, int16_t, uint16_t)
ASCENDC_VEC_BINARY(Or, vor, int16_t, uint16_t)
ASCENDC_VEC_BINARY(AddRelu, vaddrelu, int16_t, half, float)
ASCENDC_VEC_BINARY_COUNT(AddRelu, vaddrelu, int16_t, half, float)
ASCENDC_VEC_BINARY(SubRelu, vsubrelu, int16_t, half, float)
ASCENDC_VEC_BINARY_COUNT(SubRelu, vsubrelu, int16_t, half, float)
// dst = src0 * dst + src1
ASCENDC_VEC_BINARY(FusedMulAdd, vmadd, half, float)
ASCENDC_VEC_BINARY_COUNT(FusedMulAdd, vmadd, half, float)
ASCENDC_VEC_BINARY(FusedMulAddRelu, vmaddrelu, half, float)
ASCENDC_VEC_BINARY_COUNT(FusedMulAddRelu, vmaddrelu, half, float)
ASCENDC_VEC_BINARY(MulAddRelu, vmaddrelu, half, float)
ASCENDC_VEC_BINARY_COUNT(MulAddRelu, vmaddrelu, half, float)

// The count forms of And and Or work on 16-bit lanes whatever the dtype: `count` is the number of such lanes, also for
// elements of 8 or 32 bits.
#define ASCENDC_VEC_LOGIC_COUNT(Name, instr)                                                                       \
    template <typename T>                                                                                          \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, const int32_t& count)   \
    {                                                                                                              \
        detail::BeginCount(static_cast<uint64_t>(count));                                                          \
        instr(detail::UbAs<int16_t>(dst), detail::UbAs<int16_t>(src0), detail::UbAs<int16_t>(src1), 1,             \
              detail::BLK, detail::BLK, detail::BLK, detail::REP, detail::REP, detail::REP);                       \
        detail::EndCount();                                                                                        \
    }
ASCENDC_VEC_LOGIC_COUNT(And, vand)
ASCENDC_VEC_LOGIC_COUNT(Or, vor)

// Functions whose destination has another dtype than the sources. The mask counts lanes of the wider one.
#define ASCENDC_VEC_BINARY_MIXED(Name, CountType, instr, dstCountRep, srcCountRep, ...)                            \
    template <typename T, typename U, bool isSetMask = true>                                                       \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, uint64_t mask[],        \
        const uint8_t repeatTime, const BinaryRepeatParams& repeatParams)                                          \
    {                                                                                                              \
        static_assert(SupportType<Tuple<T, U>, __VA_ARGS__>(),                                                     \
                      #Name ": this pair of dtypes is not available on NPU architecture 2201");                    \
        detail::SetMask<T, isSetMask>(mask[1], mask[0]);                                                           \
        instr(detail::Ub(dst), detail::Ub(src0), detail::Ub(src1), repeatTime, ASCENDC_BINARY_STRIDES(repeatParams)); \
    }                                                                                                              \
    template <typename T, typename U, bool isSetMask = true>                                                       \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, uint64_t mask,          \
        const uint8_t repeatTime, const BinaryRepeatParams& repeatParams)                                          \
    {                                                                                                              \
        static_assert(SupportType<Tuple<T, U>, __VA_ARGS__>(),                                                     \
                      #Name ": this pair of dtypes is not available on NPU architecture 2201");                    \
        using Wider = std::conditional_t<(sizeof(T) >= sizeof(U)), T, U>;                                          \
        detail::SetMask<Wider, isSetMask>(static_cast<int32_t>(mask));                                             \
        instr(detail::Ub(dst), detail::Ub(src0), detail::Ub(src1), repeatTime, ASCENDC_BINARY_STRIDES(repeatParams)); \
    }                                                                                                              \
    template <typename T, typename U>                                                                              \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, CountType count)        \
    {                                                                                                              \
        static_assert(SupportType<Tuple<T, U>, __VA_ARGS__>(),                                                     \
                      #Name ": this pair of dtypes is not available on NPU architecture 2201");                    \
        detail::BeginCount(static_cast<uint64_t>(count));                                                          \
        instr(detail::Ub(dst), detail::Ub(src0), detail::Ub(src1), 1, detail::BLK, detail::BLK, detail::BLK,       \
              dstCountRep, srcCountRep, srcCountRep);                                                              \
        detail::EndCount();                                                                                        \
    }

namespace detail {
// Repeat strides of the count forms: the narrower side advances by half.
template <typename T, typename U>
constexpr uint8_t dstRep = sizeof(T) < sizeof(U) ? HALF_REP : REP;
template <typename T, typename U>
constexpr uint8_t srcRep = sizeof(U) < sizeof(T) ? HALF_REP : REP;

#define ASCENDC_BINARY_INSTR(name, D, S, instr)                                                            \
    ASC_API void name(                                                                                     \
        __ubuf__ D* dst, __ubuf__ S* src0, __ubuf__ S* src1, uint8_t repeat, uint8_t dstBlk, uint8_t src0Blk, \
        uint8_t src1Blk, uint8_t dstRepeat, uint8_t src0Repeat, uint8_t src1Repeat)                        \
    {                                                                                                      \
        instr(dst, src0, src1, repeat, dstBlk, src0Blk, src1Blk, dstRepeat, src0Repeat, src1Repeat);       \
    }
ASCENDC_BINARY_INSTR(MulCastInstr, int8_t, half, vmulconv_f162s8)
ASCENDC_BINARY_INSTR(MulCastInstr, uint8_t, half, vmulconv_f162u8)
ASCENDC_BINARY_INSTR(AddReluCastInstr, int8_t, half, vaddreluconv_f162s8)
ASCENDC_BINARY_INSTR(AddReluCastInstr, half, float, vaddreluconv_f322f16)
ASCENDC_BINARY_INSTR(AddReluCastInstr, int8_t, int16_t, vaddreluconv_s162s8)
ASCENDC_BINARY_INSTR(SubReluCastInstr, int8_t, half, vsubreluconv_f162s8)
ASCENDC_BINARY_INSTR(SubReluCastInstr, half, float, vsubreluconv_f322f16)
ASCENDC_BINARY_INSTR(SubReluCastInstr, int8_t, int16_t, vsubreluconv_s162s8)
#undef ASCENDC_BINARY_INSTR
}  // namespace detail

#define ASCENDC_PAIR(A, B) Tuple<A, B>
// dst = src0 * src1 + dst
ASCENDC_VEC_BINARY_MIXED(MulAddDst, const int32_t&, vmla, detail::REP, (detail::srcRep<T, U>),
                         ASCENDC_PAIR(half, half), ASCENDC_PAIR(float, float), ASCENDC_PAIR(float, half))
ASCENDC_VEC_BINARY_MIXED(MulCast, uint32_t, detail::MulCastInstr, detail::HALF_REP, detail::REP,
                         ASCENDC_PAIR(int8_t, half), ASCENDC_PAIR(uint8_t, half))
ASCENDC_VEC_BINARY_MIXED(AddReluCast, const uint32_t, detail::AddReluCastInstr, (detail::dstRep<T, U>), detail::REP,
                         ASCENDC_PAIR(int8_t, half), ASCENDC_PAIR(half, float), ASCENDC_PAIR(int8_t, int16_t))
ASCENDC_VEC_BINARY_MIXED(SubReluCast, const uint32_t, detail::SubReluCastInstr, (detail::dstRep<T, U>), detail::REP,
                         ASCENDC_PAIR(int8_t, half), ASCENDC_PAIR(half, float), ASCENDC_PAIR(int8_t, int16_t))
#undef ASCENDC_PAIR
#undef ASCENDC_VEC_BINARY_MIXED
#undef ASCENDC_VEC_LOGIC_COUNT
#undef ASCENDC_VEC_BINARY_COUNT
#undef ASCENDC_VEC_BINARY
#undef ASCENDC_BINARY_STRIDES

}  // namespace AscendC

#endif
