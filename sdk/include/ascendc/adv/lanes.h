// Instructions as the advanced functions use them: whole runs of elements in counter mode, each followed by a barrier,
// and the driver that cuts a call into pieces that fit its temporary buffer.
#ifndef ASCENDC_ADV_LANES_H
#define ASCENDC_ADV_LANES_H

#include "ascendc/tque.h"
#include "ascendc/vec_binary.h"
#include "ascendc/vec_cast.h"
#include "ascendc/vec_compare_select.h"

namespace AscendC {
namespace detail {
namespace lanes {

/// A run of elements in UB, and one of comparison results.
template <typename T>
using Run = __ubuf__ T*;
using Floats = __ubuf__ float*;
using Bits = __ubuf__ uint8_t*;

#define ASCENDC_LANES_BINARY(Name, instr)                            \
    template <typename T>                                            \
    ASC_API void Name(Run<T> d, Run<T> a, Run<T> b)                  \
    {                                                                \
        instr(d, a, b, 1, BLK, BLK, BLK, REP, REP, REP);             \
        pipe_barrier(PIPE_V);                                        \
    }
#define ASCENDC_LANES_UNARY(Name, instr)                             \
    template <typename T>                                            \
    ASC_API void Name(Run<T> d, Run<T> a)                            \
    {                                                                \
        instr(d, a, 1, BLK, BLK, REP, REP);                          \
        pipe_barrier(PIPE_V);                                        \
    }
#define ASCENDC_LANES_SCALAR(Name, instr)                            \
    template <typename T>                                            \
    ASC_API void Name(Run<T> d, Run<T> a, std::common_type_t<T> s)   \
    {                                                                \
        instr(d, a, s, 1, BLK, BLK, REP, REP);                       \
        pipe_barrier(PIPE_V);                                        \
    }
#define ASCENDC_LANES_COMPARE(Name, rel)                             \
    template <typename T>                                            \
    ASC_API void Name(Bits to, Run<T> a, Run<T> b)                   \
    {                                                                \
        vcmpv_##rel(to, a, b, 1, BLK, BLK, BLK, REP, REP, REP);      \
        pipe_barrier(PIPE_V);                                        \
    }                                                                \
    template <typename T>                                            \
    ASC_API void Name##Scalar(Bits to, Run<T> a, std::common_type_t<T> s) \
    {                                                                \
        vcmpvs_##rel(to, a, s, 1, BLK, BLK, REP, REP);               \
        pipe_barrier(PIPE_V);                                        \
    }
ASCENDC_LANES_BINARY(Add, vadd)
ASCENDC_LANES_BINARY(Sub, vsub)
ASCENDC_LANES_BINARY(Mul, vmul)
ASCENDC_LANES_BINARY(Div, vdiv)
ASCENDC_LANES_BINARY(Max, vmax)
ASCENDC_LANES_BINARY(Min, vmin)
ASCENDC_LANES_BINARY(And, vand)
ASCENDC_LANES_BINARY(Or, vor)
ASCENDC_LANES_UNARY(Abs, vabs)
ASCENDC_LANES_UNARY(Exp, vexp)
ASCENDC_LANES_UNARY(Ln, vln)
ASCENDC_LANES_UNARY(Sqrt, vsqrt)
ASCENDC_LANES_UNARY(Relu, vrelu)
ASCENDC_LANES_UNARY(Not, vnot)
ASCENDC_LANES_UNARY(RoundEven, vconv_f322f32r)
ASCENDC_LANES_UNARY(RoundDown, vconv_f322f32f)
ASCENDC_LANES_UNARY(RoundUp, vconv_f322f32c)
ASCENDC_LANES_UNARY(RoundToZero, vconv_f322f32z)
ASCENDC_LANES_SCALAR(Adds, vadds)
ASCENDC_LANES_SCALAR(Muls, vmuls)
ASCENDC_LANES_SCALAR(Maxs, vmaxs)
ASCENDC_LANES_SCALAR(Mins, vmins)
ASCENDC_LANES_COMPARE(Equal, eq)
ASCENDC_LANES_COMPARE(Less, lt)
ASCENDC_LANES_COMPARE(Greater, gt)
#undef ASCENDC_LANES_COMPARE
#undef ASCENDC_LANES_SCALAR
#undef ASCENDC_LANES_UNARY
#undef ASCENDC_LANES_BINARY

/// d += a * s
ASC_API void Axpy(Floats d, Floats a, float s)
{
    vaxpy(d, a, s, 1, BLK, BLK, REP, REP);
    pipe_barrier(PIPE_V);
}
template <typename T>
ASC_API void Fill(Run<T> d, std::common_type_t<T> value)
{
    vector_dup(d, value, 1, BLK, 1, REP, 0);
    pipe_barrier(PIPE_V);
}
/// d = a where the comparison held, else b; the bits are those that ReadBits named.
template <typename T>
ASC_API void Pick(Run<T> d, Run<T> a, Run<T> b)
{
    vsel(d, a, static_cast<__ubuf__ void*>(b), 1, BLK, BLK, BLK, REP, REP, REP,
         static_cast<uint8_t>(SELMODE::VSEL_TENSOR_TENSOR_MODE));
    pipe_barrier(PIPE_V);
}
/// Makes later Picks read their bits at `bits`. Outside counter mode.
ASC_API void ReadBits(const LocalTensor<uint8_t>& bits)
{
    SetMaskLen<uint32_t>(ONE_BLK_SIZE);
    LoadCmpMask<uint32_t>(UbOffset(bits));
}
ASC_API void Widen(Floats d, Run<half> a)
{
    vconv_f162f32(d, a, 1, BLK, BLK, REP, HALF_REP);
    pipe_barrier(PIPE_V);
}
ASC_API void Widen(Floats d, Run<bfloat16_t> a)
{
    vconv_bf162f32(d, a, 1, BLK, BLK, REP, HALF_REP);
    pipe_barrier(PIPE_V);
}
ASC_API void Narrow(Run<half> d, Floats a)
{
    vconv_f322f16(d, a, 1, BLK, BLK, HALF_REP, REP);
    pipe_barrier(PIPE_V);
}
ASC_API void Narrow(Run<bfloat16_t> d, Floats a)
{
    vconv_f322bf16r(d, a, 1, BLK, BLK, HALF_REP, REP);
    pipe_barrier(PIPE_V);
}

/// p = polynomial in z, the highest coefficient first.
template <typename... Rest>
ASC_API void Polynomial(Floats p, Floats z, float first, float second, Rest... rest)
{
    Muls(p, z, first);
    Adds(p, p, second);
    ((Mul(p, p, z), Adds(p, p, rest)), ...);
}
/// d = r + r * z * polynomial(z) with z = r * r: an odd function near zero. d may be r.
template <typename... Coefficients>
ASC_API void Odd(Floats d, Floats r, Floats z, Floats p, Coefficients... coefficients)
{
    Mul(z, r, r);
    Polynomial(p, z, coefficients...);
    Mul(p, p, z);
    Mul(p, p, r);
    Add(d, p, r);
}

/// How a temporary buffer is shared out: `slots` runs of `room` floats, then room for one bit per element. `room` fills
/// whole blocks of float, and of the 16-bit operands where there are such.
struct Share {
    uint32_t room;
    uint32_t bitsAt;
};
ASC_API Share ShareOut(const char* api, const LocalTensor<uint8_t>& temporary, uint32_t slots, bool withBits, bool narrow)
{
    const uint64_t bytes = temporary.GetSize();
    const uint32_t aside = withBits ? ONE_BLK_SIZE : 0;
    const uint32_t unit = narrow ? ONE_BLK_HALF_NUM : ONE_BLK_FLOAT_NUM;
    uint32_t room = bytes < aside ? 0 : static_cast<uint32_t>((bytes - aside) * 8 / (slots * 32 + (withBits ? 1 : 0)));
    constexpr uint32_t repeat = ONE_REPEAT_FLOAT_SIZE;
    room = room >= repeat ? room / repeat * repeat : room / unit * unit;
    if (room == 0) {
        FaultText text;
        text << api << ": a temporary buffer of " << bytes << " bytes is too small; it takes at least "
             << slots * unit * static_cast<uint32_t>(sizeof(float)) + aside + (withBits ? unit / 8 : 0);
        ascendsim::Fault("bad_argument", text.Text());
    }
    return {room, room * slots * static_cast<uint32_t>(sizeof(float))};
}

/// Runs of a temporary buffer. Constants after inlining.
template <uint32_t slots>
struct Slots {
    Floats run[slots == 0 ? 1 : slots];
    Bits bits;
    ASC_API Floats operator[](uint32_t index) const { return run[index]; }
};
template <uint32_t slots>
ASC_API Slots<slots> CutSlots(const LocalTensor<uint8_t>& temporary, const Share& share)
{
    Slots<slots> result;
    const Floats first = reinterpret_cast<Floats>(Ub(temporary));
    for (uint32_t i = 0; i < slots; ++i) {
        result.run[i] = first + i * share.room;
    }
    result.bits = Ub(temporary) + share.bitsAt;
    return result;
}

/// dst = Step(src) in float. Step::Run(d, x, t) may be given d == x, so it writes d only when x is of no use any more.
template <typename Step, typename T>
ASC_API void Map(
    const char* api, const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& temporary,
    uint32_t count)
{
    constexpr bool narrow = sizeof(T) < sizeof(float);
    constexpr uint32_t slots = Step::slots + (narrow ? 1 : 0);
    const Share share = ShareOut(api, temporary, slots, Step::bits, narrow);
    if (share.room == 0) {
        return;
    }
    const Slots<slots> t = CutSlots<slots>(temporary, share);
    if constexpr (Step::bits) {
        ReadBits(temporary[share.bitsAt]);
    }
    set_mask_count();
    for (uint32_t done = 0; done < count; done += share.room) {
        const uint32_t now = count - done < share.room ? count - done : share.room;
        set_vector_mask(0, now);
        if constexpr (narrow) {
            const Floats x = t[slots - 1];
            Widen(x, Ub(src) + done);
            Step::Compute(x, x, t);
            Narrow(Ub(dst) + done, x);
        } else {
            Step::Compute(Ub(dst) + done, Ub(src) + done, t);
        }
    }
    EndCount();
}

/// A temporary buffer behind everything that the kernel has allocated.
ASC_API LocalTensor<uint8_t> Stack()
{
    LocalTensor<uint8_t> stack;
    PopStackBuffer<uint8_t, TPosition::LCM>(stack);
    return stack;
}

}  // namespace lanes
}  // namespace detail

// The four forms of a function of one source: with and without a temporary buffer, with and without a count.
#define ASCENDC_ADV_UNARY_FORMS(Name)                                                                              \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                                          \
        const LocalTensor<uint8_t>& sharedTmpBuffer)                                                               \
    {                                                                                                              \
        Name<T, isReuseSource>(dstTensor, srcTensor, sharedTmpBuffer, srcTensor.GetSize());                        \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const uint32_t calCount)   \
    {                                                                                                              \
        Name<T, isReuseSource>(dstTensor, srcTensor, detail::lanes::Stack(), calCount);                            \
    }                                                                                                              \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor)                            \
    {                                                                                                              \
        Name<T, isReuseSource>(dstTensor, srcTensor, detail::lanes::Stack(), srcTensor.GetSize());                 \
    }
#define ASCENDC_ADV_UNARY(Name, Step)                                                                              \
    template <typename T, bool isReuseSource = false>                                                              \
    ASC_API void Name(                                                                                             \
        const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                                          \
        const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount)                                      \
    {                                                                                                              \
        ASCENDC_CHECK_DTYPE(Name, T, half, float);                                                                 \
        detail::lanes::Map<Step>(#Name, dstTensor, srcTensor, sharedTmpBuffer, calCount);                          \
    }                                                                                                              \
    ASCENDC_ADV_UNARY_FORMS(Name)

}  // namespace AscendC

#endif
