// Other spellings of vector instructions: operands packed into one 64-bit word, forms with stride modes, forms that take
// addresses instead of registers. All forward to the instructions of isa.h.
//
// Packed words have the repeat count in bits 56..63. With two sources six strides of 8 bits follow from bit 0: block strides of
// destination and sources, then repeat strides. With one source: block strides of 16 bits, repeat strides of 12.
#ifndef ASCENDSIM_ISA_FORMS_H
#define ASCENDSIM_ISA_FORMS_H

#define ASCENDSIM_PACKED2(c)                                                                                          \
    static_cast<uint8_t>((c) >> 56), static_cast<uint8_t>(c), static_cast<uint8_t>((c) >> 8),                          \
        static_cast<uint8_t>((c) >> 16), static_cast<uint8_t>((c) >> 24), static_cast<uint8_t>((c) >> 32),             \
        static_cast<uint8_t>((c) >> 40)
#define ASCENDSIM_PACKED1(c)                                                                                           \
    static_cast<uint8_t>((c) >> 56), static_cast<uint16_t>(c), static_cast<uint16_t>((c) >> 16),                       \
        static_cast<uint16_t>(((c) >> 32) & 0xFFFu), static_cast<uint16_t>(((c) >> 44) & 0xFFFu)
#define ASCENDSIM_STRIDES2                                                                                             \
    uint8_t repeat, uint8_t dstBlockStride, uint8_t src0BlockStride, uint8_t src1BlockStride, uint8_t dstRepeatStride, \
        uint8_t src0RepeatStride, uint8_t src1RepeatStride
#define ASCENDSIM_GIVEN2                                                                                               \
    repeat, dstBlockStride, src0BlockStride, src1BlockStride, dstRepeatStride, src0RepeatStride, src1RepeatStride
#define ASCENDSIM_STRIDES1                                                                                             \
    uint8_t repeat, uint16_t dstBlockStride, uint16_t srcBlockStride, uint16_t dstRepeatStride, uint16_t srcRepeatStride
#define ASCENDSIM_GIVEN1 repeat, dstBlockStride, srcBlockStride, dstRepeatStride, srcRepeatStride

// The stride modes of older architectures have no effect on 2201.
#define ASCENDSIM_FORMS2(name)                                                                                         \
    template <typename D, typename S>                                                                                  \
    ASC_API void name(D* dst, S* src0, S* src1, uint64_t config)                                                       \
    {                                                                                                                  \
        name(dst, src0, src1, ASCENDSIM_PACKED2(config));                                                              \
    }                                                                                                                  \
    template <typename D, typename S>                                                                                  \
    ASC_API void name(D* dst, S* src0, S* src1, ASCENDSIM_STRIDES2, bool, bool)                                        \
    {                                                                                                                  \
        name(dst, src0, src1, ASCENDSIM_GIVEN2);                                                                       \
    }
ASCENDSIM_FORMS2(vadd) ASCENDSIM_FORMS2(vsub) ASCENDSIM_FORMS2(vmul) ASCENDSIM_FORMS2(vdiv) ASCENDSIM_FORMS2(vmax)
ASCENDSIM_FORMS2(vmin) ASCENDSIM_FORMS2(vand) ASCENDSIM_FORMS2(vor) ASCENDSIM_FORMS2(vmadd) ASCENDSIM_FORMS2(vmaddrelu)
ASCENDSIM_FORMS2(vmla) ASCENDSIM_FORMS2(vaddrelu) ASCENDSIM_FORMS2(vsubrelu) ASCENDSIM_FORMS2(vmulconv_f162s8)
ASCENDSIM_FORMS2(vmulconv_f162u8) ASCENDSIM_FORMS2(vcmpv_eq) ASCENDSIM_FORMS2(vcmpv_ne) ASCENDSIM_FORMS2(vcmpv_lt)
ASCENDSIM_FORMS2(vcmpv_le) ASCENDSIM_FORMS2(vcmpv_gt) ASCENDSIM_FORMS2(vcmpv_ge)
#undef ASCENDSIM_FORMS2

// `h` puts the narrow results of eight blocks of sources into the upper half of every destination block instead of packing them.
#define ASCENDSIM_FORMS2H(name)                                                                                        \
    template <typename D, typename S>                                                                                  \
    ASC_API void name(D* dst, S* src0, S* src1, ASCENDSIM_STRIDES2, bool h)                                            \
    {                                                                                                                  \
        if (h) {                                                                                                       \
            ascendsim::Fault("unsupported", #name ": results in the upper half of blocks");                            \
        }                                                                                                              \
        name(dst, src0, src1, ASCENDSIM_GIVEN2);                                                                       \
    }                                                                                                                  \
    template <typename D, typename S>                                                                                  \
    ASC_API void name(D* dst, S* src0, S* src1, uint64_t config, bool h)                                               \
    {                                                                                                                  \
        name(dst, src0, src1, ASCENDSIM_PACKED2(config), h);                                                           \
    }
ASCENDSIM_FORMS2H(vaddreluconv_f162s8) ASCENDSIM_FORMS2H(vaddreluconv_f322f16) ASCENDSIM_FORMS2H(vaddreluconv_s162s8)
ASCENDSIM_FORMS2H(vsubreluconv_f162s8) ASCENDSIM_FORMS2H(vsubreluconv_f322f16) ASCENDSIM_FORMS2H(vsubreluconv_s162s8)
#undef ASCENDSIM_FORMS2H

#define ASCENDSIM_FORMS_CMP(name)                                                                                      \
    template <typename S>                                                                                              \
    ASC_API void name(S* src0, S* src1, uint64_t config)                                                               \
    {                                                                                                                  \
        name(src0, src1, ASCENDSIM_PACKED2(config));                                                                   \
    }
ASCENDSIM_FORMS_CMP(vcmp_eq) ASCENDSIM_FORMS_CMP(vcmp_ne) ASCENDSIM_FORMS_CMP(vcmp_lt) ASCENDSIM_FORMS_CMP(vcmp_le)
ASCENDSIM_FORMS_CMP(vcmp_gt) ASCENDSIM_FORMS_CMP(vcmp_ge)
#undef ASCENDSIM_FORMS_CMP

#define ASCENDSIM_FORMS1(name)                                                                                         \
    template <typename D, typename S>                                                                                  \
    ASC_API void name(D* dst, S* src, uint64_t config)                                                                 \
    {                                                                                                                  \
        name(dst, src, ASCENDSIM_PACKED1(config));                                                                     \
    }                                                                                                                  \
    template <typename D, typename S>                                                                                  \
    ASC_API void name(D* dst, S* src, ASCENDSIM_STRIDES1, bool, bool)                                                  \
    {                                                                                                                  \
        name(dst, src, ASCENDSIM_GIVEN1);                                                                              \
    }
#define ASCENDSIM_FORMS1_ROUNDED(name)                                                                                 \
    ASCENDSIM_FORMS1(name##r) ASCENDSIM_FORMS1(name##a) ASCENDSIM_FORMS1(name##f) ASCENDSIM_FORMS1(name##c)             \
    ASCENDSIM_FORMS1(name##z)
ASCENDSIM_FORMS1(vabs) ASCENDSIM_FORMS1(vrelu) ASCENDSIM_FORMS1(vexp) ASCENDSIM_FORMS1(vln) ASCENDSIM_FORMS1(vsqrt)
ASCENDSIM_FORMS1(vrsqrt) ASCENDSIM_FORMS1(vrec) ASCENDSIM_FORMS1(vnot) ASCENDSIM_FORMS1(vcopy)
ASCENDSIM_FORMS1(vconv_f162f32) ASCENDSIM_FORMS1(vconv_bf162f32) ASCENDSIM_FORMS1_ROUNDED(vconv_bf162s32)
ASCENDSIM_FORMS1_ROUNDED(vconv_f162s16) ASCENDSIM_FORMS1_ROUNDED(vconv_f162s32) ASCENDSIM_FORMS1(vconv_f162s8)
ASCENDSIM_FORMS1_ROUNDED(vconv_f162s8) ASCENDSIM_FORMS1(vconv_f162u8) ASCENDSIM_FORMS1_ROUNDED(vconv_f162u8)
ASCENDSIM_FORMS1_ROUNDED(vconv_f322bf16) ASCENDSIM_FORMS1(vconv_f322f16) ASCENDSIM_FORMS1_ROUNDED(vconv_f322f16)
ASCENDSIM_FORMS1(vconv_f322f16o) ASCENDSIM_FORMS1_ROUNDED(vconv_f322f32) ASCENDSIM_FORMS1_ROUNDED(vconv_f322s16)
ASCENDSIM_FORMS1_ROUNDED(vconv_f322s32) ASCENDSIM_FORMS1_ROUNDED(vconv_f322s64) ASCENDSIM_FORMS1(vconv_s162f16)
ASCENDSIM_FORMS1_ROUNDED(vconv_s162f16) ASCENDSIM_FORMS1(vconv_s162f32) ASCENDSIM_FORMS1(vconv_s322f32)
ASCENDSIM_FORMS1_ROUNDED(vconv_s322f32) ASCENDSIM_FORMS1(vconv_s322s16) ASCENDSIM_FORMS1(vconv_s322s64)
ASCENDSIM_FORMS1_ROUNDED(vconv_s642f32) ASCENDSIM_FORMS1(vconv_s642s32) ASCENDSIM_FORMS1(vconv_s82f16)
ASCENDSIM_FORMS1(vconv_u82f16) ASCENDSIM_FORMS1(vconv_deq) ASCENDSIM_FORMS1(vconv_deqs162b8h)
ASCENDSIM_FORMS1(vconv_deqs162b8l) ASCENDSIM_FORMS1(vconv_vdeqs162b8h) ASCENDSIM_FORMS1(vconv_vdeqs162b8l)
ASCENDSIM_FORMS1(vconv_s42f16) ASCENDSIM_FORMS1(vconv_f162s4) ASCENDSIM_FORMS1_ROUNDED(vconv_f162s4)
#undef ASCENDSIM_FORMS1_ROUNDED
#undef ASCENDSIM_FORMS1

#define ASCENDSIM_FORMS1S(name)                                                                                        \
    template <typename D, typename S, typename V>                                                                      \
    ASC_API void name(D* dst, S* src, V value, uint64_t config)                                                        \
    {                                                                                                                  \
        name(dst, src, value, ASCENDSIM_PACKED1(config));                                                              \
    }                                                                                                                  \
    template <typename D, typename S, typename V>                                                                      \
    ASC_API void name(D* dst, S* src, V value, ASCENDSIM_STRIDES1, bool, bool)                                         \
    {                                                                                                                  \
        name(dst, src, value, ASCENDSIM_GIVEN1);                                                                       \
    }
ASCENDSIM_FORMS1S(vadds) ASCENDSIM_FORMS1S(vmuls) ASCENDSIM_FORMS1S(vmaxs) ASCENDSIM_FORMS1S(vmins)
ASCENDSIM_FORMS1S(vlrelu) ASCENDSIM_FORMS1S(vaxpy) ASCENDSIM_FORMS1S(vshl) ASCENDSIM_FORMS1S(vcmpvs_eq)
ASCENDSIM_FORMS1S(vcmpvs_ne) ASCENDSIM_FORMS1S(vcmpvs_lt) ASCENDSIM_FORMS1S(vcmpvs_le) ASCENDSIM_FORMS1S(vcmpvs_gt)
ASCENDSIM_FORMS1S(vcmpvs_ge)
#undef ASCENDSIM_FORMS1S
template <typename T, typename V>
ASC_API void vshr(T* dst, T* src, V distance, uint64_t config, bool round)
{
    vshr(dst, src, distance, ASCENDSIM_PACKED1(config), round);
}
template <typename T>
ASC_API void vsel(T* dst, T* src0, T* src1, uint64_t config)
{
    vsel(dst, src0, src1, ASCENDSIM_PACKED2(config));
}
/// The mode is in bits 48..49.
ASC_API void vsel(half* dst, half* src0, void* selection, uint64_t config)
{
    vsel(dst, src0, selection, ASCENDSIM_PACKED2(config), static_cast<uint8_t>((config >> 48) & 3u));
}
ASC_API void vsel(float* dst, float* src0, void* selection, uint64_t config)
{
    vsel(dst, src0, selection, ASCENDSIM_PACKED2(config), static_cast<uint8_t>((config >> 48) & 3u));
}
/// Base address in bits 0..31, the destination's repeat stride in 32..43.
template <typename T>
ASC_API void vgather(T* dst, uint32_t* offsets, uint64_t config)
{
    vgather(dst, offsets, config & 0xFFFFFFFFu, static_cast<uint16_t>((config >> 32) & 0xFFFu), static_cast<uint8_t>(config >> 56));
}

// Reductions: destination stride in bits 0..15, the source's block stride in 16..31, its repeat stride in 32..47. Without a mode
// vcadd writes its sums and vcmax, vcmin write value and index.
#define ASCENDSIM_PACKED_REDUCE(c)                                                                                     \
    static_cast<uint8_t>((c) >> 56), static_cast<uint16_t>(c), static_cast<uint16_t>((c) >> 16), static_cast<uint16_t>((c) >> 32)
#define ASCENDSIM_FORMS_REDUCE(name)                                                                                   \
    template <typename T>                                                                                              \
    ASC_API void name(T* dst, T* src, uint64_t config)                                                                 \
    {                                                                                                                  \
        name(dst, src, ASCENDSIM_PACKED_REDUCE(config));                                                               \
    }
#define ASCENDSIM_FORMS_EXTREME(name)                                                                                  \
    template <typename T>                                                                                              \
    ASC_API void name(T* dst, T* src, uint8_t repeat, uint16_t dstRepeatStride, uint16_t srcBlockStride,               \
                      uint16_t srcRepeatStride)                                                                        \
    {                                                                                                                  \
        name(dst, src, repeat, dstRepeatStride, srcBlockStride, srcRepeatStride, VALUE_INDEX);                         \
    }                                                                                                                  \
    template <typename T>                                                                                              \
    ASC_API void name(T* dst, T* src, uint64_t config, Order_t order)                                                  \
    {                                                                                                                  \
        name(dst, src, ASCENDSIM_PACKED_REDUCE(config), order);                                                        \
    }
template <typename T>
ASC_API void vcadd(T* dst, T* src, uint8_t repeat, uint16_t dstRepeatStride, uint16_t srcBlockStride, uint16_t srcRepeatStride)
{
    vcadd(dst, src, repeat, dstRepeatStride, srcBlockStride, srcRepeatStride, false);
}
template <typename T>
ASC_API void vcadd(T* dst, T* src, uint64_t config, bool mode)
{
    vcadd(dst, src, ASCENDSIM_PACKED_REDUCE(config), mode);
}
ASCENDSIM_FORMS_EXTREME(vcmax)
ASCENDSIM_FORMS_EXTREME(vcmin)
ASCENDSIM_FORMS_REDUCE(vcgadd)
ASCENDSIM_FORMS_REDUCE(vcgmax)
ASCENDSIM_FORMS_REDUCE(vcgmin)
ASCENDSIM_FORMS_REDUCE(vcpadd)
#undef ASCENDSIM_FORMS_EXTREME
#undef ASCENDSIM_FORMS_REDUCE
#undef ASCENDSIM_PACKED_REDUCE
template <typename T>
ASC_API void vector_dup(T* dst, T value, uint64_t config)
{
    vector_dup(dst, value, ASCENDSIM_PACKED1(config));
}
// Strides of the transposition in bits 0..15 and 16..31.
ASC_API void scatter_vnchwconv_b16(ub_addr8_t dst, ub_addr8_t src, uint64_t config)
{
    scatter_vnchwconv_b16(dst, src, static_cast<uint8_t>(config >> 56), static_cast<uint16_t>(config), static_cast<uint16_t>(config >> 16));
}
ASC_API void scatter_vnchwconv_b32(ub_addr8_t dst, ub_addr8_t src, uint64_t config)
{
    scatter_vnchwconv_b32(dst, src, static_cast<uint8_t>(config >> 56), static_cast<uint16_t>(config), static_cast<uint16_t>(config >> 16));
}
ASC_API void scatter_vnchwconv_b8(ub_addr8_t dst, ub_addr8_t src, uint64_t config, bool dstHighHalf, bool srcHighHalf)
{
    scatter_vnchwconv_b8(dst, src, static_cast<uint8_t>(config >> 56), static_cast<uint16_t>(config), static_cast<uint16_t>(config >> 16),
                         dstHighHalf, srcHighHalf);
}

// Gathering moves bits: any element of the same width will do.
#define ASCENDSIM_SAME_WIDTH(T, U)                                                                                     \
    ASC_API void vgather(T* dst, uint32_t* offsets, uint64_t base, uint16_t dstRepeatStride, uint8_t repeat)           \
    {                                                                                                                  \
        vgather(reinterpret_cast<U*>(dst), offsets, base, dstRepeatStride, repeat);                                    \
    }                                                                                                                  \
    ASC_API void vgatherb(T* dst, uint32_t* offsets, uint64_t base, uint16_t dstRepeatStride, uint8_t dstBlockStride,  \
                          uint8_t repeat)                                                                              \
    {                                                                                                                  \
        vgatherb(reinterpret_cast<U*>(dst), offsets, base, dstRepeatStride, dstBlockStride, repeat);                   \
    }
ASCENDSIM_SAME_WIDTH(half, uint16_t)
ASCENDSIM_SAME_WIDTH(bfloat16_t, uint16_t)
ASCENDSIM_SAME_WIDTH(int16_t, uint16_t)
ASCENDSIM_SAME_WIDTH(float, uint32_t)
ASCENDSIM_SAME_WIDTH(int32_t, uint32_t)
#undef ASCENDSIM_SAME_WIDTH

// Movements between GM and UB: bits 0..3 sid, 4..15 bursts, 16..31 length, 32..47 source gap, 48..63 destination gap; in the
// align forms the length has 32 bits and the paddings follow in 48..53 and 54..59, with both gaps in the second word.
ASC_API void copy_gm_to_ubuf(__ubuf__ void* dst, const __gm__ void* src, uint64_t config)
{
    copy_gm_to_ubuf(dst, src, ASCENDSIM_BURSTS(config));
}
ASC_API void copy_ubuf_to_gm(__gm__ void* dst, const __ubuf__ void* src, uint64_t config)
{
    copy_ubuf_to_gm(dst, src, ASCENDSIM_BURSTS(config));
}
ASC_API void copy_ubuf_to_ubuf(__ubuf__ void* dst, const __ubuf__ void* src, uint64_t config)
{
    copy_ubuf_to_ubuf(dst, src, ASCENDSIM_BURSTS(config));
}
#define ASCENDSIM_ALIGNED(W)                                                                                          \
    ASC_API void copy_gm_to_ubuf_align_##W(__ubuf__ void* dst, const __gm__ void* src, uint64_t config, uint64_t gaps) \
    {                                                                                                                 \
        copy_gm_to_ubuf_align_##W(dst, src, 0, static_cast<uint16_t>((config >> 4) & 0xFFFu),                         \
                                  static_cast<uint32_t>(config >> 16), static_cast<uint8_t>((config >> 48) & 63u),    \
                                  static_cast<uint8_t>((config >> 54) & 63u), static_cast<uint32_t>(gaps),            \
                                  static_cast<uint32_t>(gaps >> 32));                                                 \
    }                                                                                                                 \
    ASC_API void copy_ubuf_to_gm_align_##W(__gm__ void* dst, const __ubuf__ void* src, uint64_t config, uint64_t gaps) \
    {                                                                                                                 \
        copy_ubuf_to_gm_align_##W(dst, src, 0, static_cast<uint16_t>((config >> 4) & 0xFFFu),                         \
                                  static_cast<uint32_t>(config >> 16), 0, 0, static_cast<uint32_t>(gaps),             \
                                  static_cast<uint32_t>(gaps >> 32));                                                 \
    }
ASCENDSIM_ALIGNED(b8)
ASCENDSIM_ALIGNED(b16)
ASCENDSIM_ALIGNED(b32)
#undef ASCENDSIM_ALIGNED

#undef ASCENDSIM_GIVEN1
#undef ASCENDSIM_STRIDES1
#undef ASCENDSIM_GIVEN2
#undef ASCENDSIM_STRIDES2

#endif
