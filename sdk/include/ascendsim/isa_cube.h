// Instructions of the cube core of architecture 2201: movements between global memory, L1, L0A, L0B, the bias table and the
// fixpipe buffer, matrix multiplication into L0C, and the fixpipe that empties L0C.
//
// A fractal is 512 bytes: 16 rows of 32 bytes (16 x C0). L0A holds row-major fractals in row-major order, L0B transposed
// fractals in row-major order, L0C fractals of 16 x 16 accumulators in column-major order. Typed overloads forward to
// one function per instruction with the element's number from the trace format.
#ifndef ASCENDSIM_ISA_CUBE_H
#define ASCENDSIM_ISA_CUBE_H

#include "ascendsim/isa_registers.h"

namespace ascendsim {

/// Number of an element type in the trace format.
template <typename T> struct ElementOf;
#define ASCENDSIM_ELEMENT(T, number) \
    template <> struct ElementOf<T> { static constexpr uint8_t value = number; };
ASCENDSIM_ELEMENT(half, 1)
ASCENDSIM_ELEMENT(float, 2)
ASCENDSIM_ELEMENT(bfloat16_t, 3)
ASCENDSIM_ELEMENT(int8_t, 4)
ASCENDSIM_ELEMENT(uint8_t, 5)
ASCENDSIM_ELEMENT(int16_t, 6)
ASCENDSIM_ELEMENT(uint16_t, 7)
ASCENDSIM_ELEMENT(int32_t, 8)
ASCENDSIM_ELEMENT(uint32_t, 9)
ASCENDSIM_ELEMENT(int64_t, 10)
ASCENDSIM_ELEMENT(uint64_t, 11)
#undef ASCENDSIM_ELEMENT
constexpr uint8_t kElementS4 = 13;

namespace cube {

struct NdToNz {
    uint16_t matrices, rows, columns, matrix_stride, row_stride, c0_stride, n_stride, dst_matrix_stride;
};
void NdToNzCopy(uint8_t element, void* dst, const void* src, const NdToNz& p);

enum class Place : uint8_t { kL1, kL0a, kL0b };
struct Load2d {
    uint16_t base, repeat, src_stride, dst_gap;
    bool transpose;
    addr_cal_mode_t direction;
};
/// Whole fractals from L1 (or global memory) to L0A, L0B or L1.
void LoadFractals(uint8_t element, Place to, bool from_gm, void* dst, const void* src, const Load2d& p);

struct LoadTransposed {
    uint16_t base, repeat, src_stride, dst_gap;
    bool descending;
    uint16_t fractal_gap;
};
void LoadFractalsTransposed(uint8_t element, Place to, void* dst, const void* src, const LoadTransposed& p);

struct Load3d {
    uint16_t k_extension, m_extension, k_start, m_start;
    uint8_t stride_w, stride_h, filter_w, filter_h, dilation_w, dilation_h;
    bool filter_w_high, filter_h_high, transpose, fmatrix_b;
    uint16_t channels;
};
void Img2col(uint8_t element, Place to, void* dst, const void* src, const Load3d& p);

void Fill(Place to, uint8_t bytes, void* dst, int64_t repeat, uint32_t value);

struct Mad {
    uint16_t m, k, n;
    uint8_t unit_flag;
    bool k_aligned;
    bool from_bias;   // accumulation starts from the bias table
    bool init_zero;   // accumulation starts from zero
};
/// `bias` is an address of the bias table when `biased`.
void Multiply(uint8_t c_element, uint8_t a_element, uint8_t b_element, void* c, const void* a, const void* b, bool biased,
              uint64_t bias, const Mad& p);

struct Fixpipe {
    uint16_t n, m;
    uint32_t dst_stride;
    uint16_t src_stride;
    uint8_t unit_flag;
    QuantMode_t quant;
    uint8_t relu;
    bool split, nz2nd;
};
void Drain(bool to_gm, uint8_t dst_element, uint8_t src_element, void* dst, const void* src, const Fixpipe& p);

constexpr uint64_t Bits(uint64_t word, unsigned from, unsigned count) { return (word >> from) & ((uint64_t{1} << count) - 1); }

constexpr Load2d UnpackLoad2d(uint64_t config, bool transpose, addr_cal_mode_t direction)
{
    return {static_cast<uint16_t>(Bits(config, 0, 16)), static_cast<uint16_t>(Bits(config, 16, 8)),
            static_cast<uint16_t>(Bits(config, 24, 16)), static_cast<uint16_t>(Bits(config, 44, 16)), transpose, direction};
}
constexpr LoadTransposed UnpackTransposed(uint64_t config, uint64_t gap)
{
    return {static_cast<uint16_t>(Bits(config, 0, 16)), static_cast<uint16_t>(Bits(config, 16, 8)),
            static_cast<uint16_t>(Bits(config, 24, 16)), static_cast<uint16_t>(Bits(config, 44, 16)),
            false, static_cast<uint16_t>(gap)};
}
constexpr Load3d UnpackLoad3d(uint64_t c0, uint64_t c1)
{
    return {static_cast<uint16_t>(Bits(c0, 0, 16)), static_cast<uint16_t>(Bits(c0, 16, 16)),
            static_cast<uint16_t>(Bits(c0, 32, 16)), static_cast<uint16_t>(Bits(c0, 48, 16)),
            static_cast<uint8_t>(Bits(c1, 0, 6)), static_cast<uint8_t>(Bits(c1, 6, 6)),
            static_cast<uint8_t>(Bits(c1, 12, 8)), static_cast<uint8_t>(Bits(c1, 20, 8)),
            static_cast<uint8_t>(Bits(c1, 28, 8)), static_cast<uint8_t>(Bits(c1, 36, 8)), Bits(c1, 44, 1) != 0,
            Bits(c1, 45, 1) != 0, Bits(c1, 46, 1) != 0, Bits(c1, 47, 1) != 0, static_cast<uint16_t>(Bits(c1, 48, 16))};
}
constexpr Mad UnpackMad(uint64_t config)
{
    return {static_cast<uint16_t>(Bits(config, 0, 12)), static_cast<uint16_t>(Bits(config, 12, 12)),
            static_cast<uint16_t>(Bits(config, 24, 12)), static_cast<uint8_t>(Bits(config, 55, 2)),
            Bits(config, 61, 1) != 0, Bits(config, 62, 1) != 0, Bits(config, 63, 1) != 0};
}
constexpr Fixpipe UnpackFixpipe(uint64_t xm, uint64_t xt)
{
    return {static_cast<uint16_t>(Bits(xm, 4, 12)), static_cast<uint16_t>(Bits(xm, 16, 16)),
            static_cast<uint32_t>(Bits(xm, 32, 32)), static_cast<uint16_t>(Bits(xt, 0, 16)),
            static_cast<uint8_t>(Bits(xt, 32, 2)), static_cast<QuantMode_t>(Bits(xt, 34, 5)),
            static_cast<uint8_t>(Bits(xt, 39, 3)), Bits(xt, 42, 1) != 0, Bits(xt, 43, 1) != 0};
}
constexpr NdToNz UnpackNdToNz(uint64_t xm, uint64_t xt)
{
    return {static_cast<uint16_t>(Bits(xm, 4, 12)), static_cast<uint16_t>(Bits(xm, 16, 16)),
            static_cast<uint16_t>(Bits(xm, 32, 16)), static_cast<uint16_t>(Bits(xm, 48, 16)),
            static_cast<uint16_t>(Bits(xt, 0, 16)), static_cast<uint16_t>(Bits(xt, 16, 16)),
            static_cast<uint16_t>(Bits(xt, 32, 16)), static_cast<uint16_t>(Bits(xt, 48, 16))};
}

}  // namespace cube
}  // namespace ascendsim

// ---- movements of blocks ------------------------------------------------------------------------------------------
// Bursts of `lenBurst` blocks of 32 bytes; strides are gaps between the end of a burst and the start of the next, in blocks.
void copy_gm_to_cbuf(__cbuf__ void* dst, const __gm__ void* src, uint8_t sid, uint16_t nBurst, uint16_t lenBurst,
                     uint16_t srcStride, uint16_t dstStride, pad_t padMode);
void copy_cbuf_to_gm(__gm__ void* dst, const __cbuf__ void* src, uint8_t sid, uint16_t nBurst, uint16_t lenBurst,
                     uint16_t srcStride, uint16_t dstStride);
void copy_cbuf_to_ubuf(__ubuf__ void* dst, const __cbuf__ void* src, uint8_t sid, uint16_t nBurst, uint16_t lenBurst,
                       uint16_t srcStride, uint16_t dstStride);
void copy_ubuf_to_cbuf(__cbuf__ void* dst, const __ubuf__ void* src, uint8_t sid, uint16_t nBurst, uint16_t lenBurst,
                       uint16_t srcStride, uint16_t dstStride);
/// To the bias table, units of 64 bytes on its side and 32 on L1's; with `convControl` half becomes float.
void copy_cbuf_to_bt(uint64_t dst, const __cbuf__ void* src, uint16_t convControl, uint16_t nBurst, uint16_t lenBurst,
                     uint16_t sourceGap, uint16_t dstGap);
/// To the fixpipe buffer, bursts in units of 128 bytes.
void copy_cbuf_to_fbuf(__fbuf__ void* dst, const __cbuf__ void* src, uint16_t burstNum, uint16_t burstLen,
                       uint16_t srcGapSize, uint16_t dstGapSize);
// The packed forms: bits 0..3 sid, 4..15 bursts, 16..31 length, 32..47 source gap, 48..63 destination gap.
#define ASCENDSIM_BURSTS(config)                                                                                   \
    static_cast<uint8_t>((config) & 15u), static_cast<uint16_t>(((config) >> 4) & 0xFFFu),                          \
        static_cast<uint16_t>((config) >> 16), static_cast<uint16_t>((config) >> 32), static_cast<uint16_t>((config) >> 48)
ASC_API void copy_gm_to_cbuf(__cbuf__ void* dst, const __gm__ void* src, uint64_t config, pad_t padMode)
{
    copy_gm_to_cbuf(dst, src, ASCENDSIM_BURSTS(config), padMode);
}
ASC_API void copy_cbuf_to_gm(__gm__ void* dst, const __cbuf__ void* src, uint64_t config)
{
    copy_cbuf_to_gm(dst, src, ASCENDSIM_BURSTS(config));
}
ASC_API void copy_cbuf_to_ubuf(__ubuf__ void* dst, const __cbuf__ void* src, uint64_t config)
{
    copy_cbuf_to_ubuf(dst, src, ASCENDSIM_BURSTS(config));
}
ASC_API void copy_ubuf_to_cbuf(__cbuf__ void* dst, const __ubuf__ void* src, uint64_t config)
{
    copy_ubuf_to_cbuf(dst, src, ASCENDSIM_BURSTS(config));
}
ASC_API void copy_cbuf_to_bt(uint64_t dst, const __cbuf__ void* src, uint64_t config)
{
    copy_cbuf_to_bt(dst, src, static_cast<uint16_t>((config >> 3) & 1u), static_cast<uint16_t>((config >> 4) & 0xFFFu),
                    static_cast<uint16_t>(config >> 16), static_cast<uint16_t>(config >> 32), static_cast<uint16_t>(config >> 48));
}
ASC_API void copy_cbuf_to_fbuf(__fbuf__ void* dst, const __cbuf__ void* src, uint64_t config)
{
    copy_cbuf_to_fbuf(dst, src, static_cast<uint16_t>((config >> 4) & 0xFFFu), static_cast<uint16_t>(config >> 16),
                      static_cast<uint16_t>(config >> 32), static_cast<uint16_t>(config >> 48));
}

// ---- row-major to fractals ----------------------------------------------------------------------------------------
// `ndNum` matrices of nValue x dValue elements with rows srcDValue apart become columns of blocks: element (n, d) goes to block
// (d / C0) * dstNzC0Stride + n * dstNzNStride, strides in blocks; what is missing in the last block becomes zero.
#define ASCENDSIM_ND2NZ(width, T)                                                                                    \
    ASC_API void copy_gm_to_cbuf_multi_nd2nz_##width(__cbuf__ T* dst, __gm__ T* src, uint64_t xm, uint64_t xt)       \
    {                                                                                                                \
        ascendsim::cube::NdToNzCopy(ascendsim::ElementOf<T>::value, dst, src, ascendsim::cube::UnpackNdToNz(xm, xt)); \
    }                                                                                                                \
    ASC_API void copy_gm_to_cbuf_multi_nd2nz_##width(                                                                \
        __cbuf__ T* dst, __gm__ T* src, uint8_t, uint16_t ndNum, uint16_t nValue, uint16_t dValue,                   \
        uint16_t srcNdMatrixStride, uint16_t srcDValue, uint16_t dstNzC0Stride, uint16_t dstNzNStride,               \
        uint16_t dstNzMatrixStride)                                                                                  \
    {                                                                                                                \
        ascendsim::cube::NdToNzCopy(ascendsim::ElementOf<T>::value, dst, src,                                        \
                                    {ndNum, nValue, dValue, srcNdMatrixStride, srcDValue, dstNzC0Stride,             \
                                     dstNzNStride, dstNzMatrixStride});                                              \
    }
ASCENDSIM_ND2NZ(b8, int8_t)
ASCENDSIM_ND2NZ(b8, uint8_t)
ASCENDSIM_ND2NZ(b16, half)
ASCENDSIM_ND2NZ(b16, bfloat16_t)
ASCENDSIM_ND2NZ(b16, int16_t)
ASCENDSIM_ND2NZ(b16, uint16_t)
ASCENDSIM_ND2NZ(b32s, float)
ASCENDSIM_ND2NZ(b32s, int32_t)
ASCENDSIM_ND2NZ(b32s, uint32_t)
#undef ASCENDSIM_ND2NZ

// ---- 2D loads ---------------------------------------------------------------------------------------------------------
// `repeat` fractals from number baseIdx on, srcStride fractals apart, with dstGap fractals between results.
#define ASCENDSIM_LOAD(name, place, gm, D, S)                                                                          \
    ASC_API void name(D* dst, S* src, uint16_t baseIdx, uint8_t repeat, uint16_t srcStride, uint16_t dstGap, uint8_t, \
                      bool transpose, addr_cal_mode_t mode)                                                            \
    {                                                                                                                  \
        ascendsim::cube::LoadFractals(ASCENDSIM_T, ascendsim::cube::Place::place, gm, dst, src,                        \
                                      {baseIdx, repeat, srcStride, dstGap, transpose, mode});                          \
    }                                                                                                                  \
    ASC_API void name(D* dst, S* src, uint16_t baseIdx, uint8_t repeat, uint16_t srcStride, uint16_t dstGap, uint8_t, \
                      bool, bool transpose, addr_cal_mode_t mode)                                                      \
    {                                                                                                                  \
        ascendsim::cube::LoadFractals(ASCENDSIM_T, ascendsim::cube::Place::place, gm, dst, src,                        \
                                      {baseIdx, repeat, srcStride, dstGap, transpose, mode});                          \
    }                                                                                                                  \
    ASC_API void name(D* dst, S* src, uint16_t baseIdx, uint8_t repeat, uint16_t srcStride, uint8_t, bool transpose)   \
    {                                                                                                                  \
        ascendsim::cube::LoadFractals(ASCENDSIM_T, ascendsim::cube::Place::place, gm, dst, src,                        \
                                      {baseIdx, repeat, srcStride, 0, transpose, inc});                                \
    }                                                                                                                  \
    ASC_API void name(D* dst, S* src, uint64_t config, bool transpose, addr_cal_mode_t mode = inc)                     \
    {                                                                                                                  \
        ascendsim::cube::LoadFractals(ASCENDSIM_T, ascendsim::cube::Place::place, gm, dst, src,                        \
                                      ascendsim::cube::UnpackLoad2d(config, transpose, mode));                         \
    }
#define ASCENDSIM_LOAD_GM(name, place, D)                                                                              \
    ASC_API void name(D* dst, __gm__ D* src, uint16_t baseIdx, uint8_t repeat, uint16_t srcStride, uint16_t dstGap,    \
                      uint8_t, addr_cal_mode_t mode)                                                                   \
    {                                                                                                                  \
        ascendsim::cube::LoadFractals(ascendsim::ElementOf<D>::value, ascendsim::cube::Place::place, true, dst, src,   \
                                      {baseIdx, repeat, srcStride, dstGap, false, mode});                              \
    }                                                                                                                  \
    ASC_API void name(D* dst, __gm__ D* src, uint16_t baseIdx, uint8_t repeat, uint16_t srcStride, uint16_t dstGap,    \
                      uint8_t, bool, addr_cal_mode_t mode)                                                             \
    {                                                                                                                  \
        ascendsim::cube::LoadFractals(ascendsim::ElementOf<D>::value, ascendsim::cube::Place::place, true, dst, src,   \
                                      {baseIdx, repeat, srcStride, dstGap, false, mode});                              \
    }                                                                                                                  \
    ASC_API void name(D* dst, __gm__ D* src, uint16_t baseIdx, uint8_t repeat, uint16_t srcStride, uint8_t)            \
    {                                                                                                                  \
        ascendsim::cube::LoadFractals(ascendsim::ElementOf<D>::value, ascendsim::cube::Place::place, true, dst, src,   \
                                      {baseIdx, repeat, srcStride, 0, false, inc});                                    \
    }                                                                                                                  \
    ASC_API void name(D* dst, __gm__ D* src, uint64_t config, addr_cal_mode_t mode = inc)                              \
    {                                                                                                                  \
        ascendsim::cube::LoadFractals(ascendsim::ElementOf<D>::value, ascendsim::cube::Place::place, true, dst, src,   \
                                      ascendsim::cube::UnpackLoad2d(config, false, mode));                             \
    }
#define ASCENDSIM_TRANSPOSED(name, place, D, S)                                                                        \
    ASC_API void name(D* dst, S* src, uint16_t indexID, uint8_t repeat, uint16_t srcStride, uint16_t dstGap,           \
                      bool addrmode, uint16_t dstFracGap)                                                              \
    {                                                                                                                  \
        ascendsim::cube::LoadFractalsTransposed(ASCENDSIM_T, ascendsim::cube::Place::place, dst, src,                  \
                                                {indexID, repeat, srcStride, dstGap, addrmode, dstFracGap});           \
    }                                                                                                                  \
    ASC_API void name(D* dst, S* src, uint64_t config, uint64_t fracStride)                                            \
    {                                                                                                                  \
        ascendsim::cube::LoadFractalsTransposed(ASCENDSIM_T, ascendsim::cube::Place::place, dst, src,                  \
                                                ascendsim::cube::UnpackTransposed(config, fracStride));                \
    }
#define ASCENDSIM_IMG2COL(name, place, D, S)                                                                           \
    ASC_API void name(D* dst, S* src, uint16_t stepK, uint16_t stepM, uint16_t posK, uint16_t posM, uint8_t strideW,   \
                      uint8_t strideH, uint8_t filterW, uint8_t filterH, uint8_t dilationW, uint8_t dilationH,         \
                      bool filterSizeW, bool filterSizeH, bool transpose, bool fmatrixCtrl, uint16_t channels)         \
    {                                                                                                                  \
        ascendsim::cube::Img2col(ASCENDSIM_T, ascendsim::cube::Place::place, dst, src,                                 \
                                 {stepK, stepM, posK, posM, strideW, strideH, filterW, filterH, dilationW, dilationH,  \
                                  filterSizeW, filterSizeH, transpose, fmatrixCtrl, channels});                        \
    }                                                                                                                  \
    ASC_API void name(D* dst, S* src, uint64_t config0, uint64_t config1)                                              \
    {                                                                                                                  \
        ascendsim::cube::Img2col(ASCENDSIM_T, ascendsim::cube::Place::place, dst, src,                                 \
                                 ascendsim::cube::UnpackLoad3d(config0, config1));                                     \
    }
#define ASCENDSIM_TYPED(T)                                            \
    ASCENDSIM_LOAD(load_cbuf_to_ca, kL0a, false, T, T)                \
    ASCENDSIM_LOAD(load_cbuf_to_cb, kL0b, false, T, T)                \
    ASCENDSIM_LOAD_GM(load_gm_to_ca, kL0a, T)                         \
    ASCENDSIM_LOAD_GM(load_gm_to_cb, kL0b, T)                         \
    ASCENDSIM_LOAD_GM(load_gm_to_cbuf, kL1, T)                        \
    ASCENDSIM_TRANSPOSED(load_cbuf_to_ca_transpose, kL0a, T, T)       \
    ASCENDSIM_TRANSPOSED(load_cbuf_to_cb_transpose, kL0b, T, T)       \
    ASCENDSIM_IMG2COL(img2colv2_cbuf_to_ca, kL0a, T, T)               \
    ASCENDSIM_IMG2COL(img2colv2_cbuf_to_cb, kL0b, T, T)
#define ASCENDSIM_T ascendsim::ElementOf<std::remove_pointer_t<decltype(dst)>>::value
ASCENDSIM_TYPED(half)
ASCENDSIM_TYPED(bfloat16_t)
ASCENDSIM_TYPED(float)
ASCENDSIM_TYPED(int8_t)
ASCENDSIM_TYPED(uint8_t)
ASCENDSIM_TYPED(int16_t)
ASCENDSIM_TYPED(uint16_t)
ASCENDSIM_TYPED(int32_t)
ASCENDSIM_TYPED(uint32_t)
#undef ASCENDSIM_T
#define ASCENDSIM_T ascendsim::kElementS4
ASCENDSIM_LOAD(load_cbuf_to_ca_s4, kL0a, false, void, void)
ASCENDSIM_LOAD(load_cbuf_to_cb_s4, kL0b, false, void, void)
ASCENDSIM_TRANSPOSED(load_cbuf_to_cb_transpose_s4, kL0b, void, void)
ASCENDSIM_IMG2COL(img2colv2_cbuf_to_ca_s4, kL0a, void, void)
ASCENDSIM_IMG2COL(img2colv2_cbuf_to_cb_s4, kL0b, void, void)
#undef ASCENDSIM_T
#undef ASCENDSIM_TYPED
#undef ASCENDSIM_IMG2COL
#undef ASCENDSIM_TRANSPOSED
#undef ASCENDSIM_LOAD_GM
#undef ASCENDSIM_LOAD
/// Dense 4-to-2 weights and their index matrix (SetIndexMatrix): `repeatTime` fractals from number startID on.
void load_cbuf_to_cb_sp(__cb__ int8_t* dst, __cbuf__ int8_t* src, uint16_t startID, uint8_t repeatTime);
ASC_API void load_cbuf_to_cb_sp(__cb__ int8_t* dst, __cbuf__ int8_t* src, uint64_t config)
{
    load_cbuf_to_cb_sp(dst, src, static_cast<uint16_t>(config), static_cast<uint8_t>(config >> 16));
}

// ---- fills ---------------------------------------------------------------------------------------------------------------
// `repeat`: bits 0..14 repetitions, 16..30 blocks each (32 bytes in L1, 512 in L0A and L0B), 32..46 gap in such blocks.
#define ASCENDSIM_FILL(name, place)                                                                                     \
    template <typename T>                                                                                               \
    ASC_API void name(T* dst, int64_t repeat, half value)                                                               \
    {                                                                                                                   \
        ascendsim::cube::Fill(ascendsim::cube::Place::place, 2, dst, repeat, value.Bits());                             \
    }                                                                                                                   \
    template <typename T>                                                                                               \
    ASC_API void name(T* dst, int64_t repeat, uint32_t value)                                                           \
    {                                                                                                                   \
        ascendsim::cube::Fill(ascendsim::cube::Place::place, sizeof(T) == 2 ? 2 : 4, dst, repeat, value);               \
    }                                                                                                                   \
    template <typename T>                                                                                               \
    ASC_API void name(T* dst, int64_t repeat, int32_t value)                                                            \
    {                                                                                                                   \
        ascendsim::cube::Fill(ascendsim::cube::Place::place, sizeof(T) == 2 ? 2 : 4, dst, repeat,                       \
                              static_cast<uint32_t>(value));                                                            \
    }                                                                                                                   \
    template <typename T>                                                                                               \
    ASC_API void name(T* dst, int64_t repeat, float value)                                                              \
    {                                                                                                                   \
        ascendsim::cube::Fill(ascendsim::cube::Place::place, 4, dst, repeat, ascendsim::FloatBits(value));              \
    }                                                                                                                   \
    ASC_API void name##_bf16(bfloat16_t* dst, int64_t repeat, bfloat16_t value)                                         \
    {                                                                                                                   \
        ascendsim::cube::Fill(ascendsim::cube::Place::place, 2, dst, repeat, value.Bits());                             \
    }
ASCENDSIM_FILL(create_cbuf_matrix, kL1)
ASCENDSIM_FILL(create_ca_matrix, kL0a)
ASCENDSIM_FILL(create_cb_matrix, kL0b)
#undef ASCENDSIM_FILL
template <typename T>
ASC_API void set_l1_2d(T*, int64_t)
{
    ascendsim::Fault("unsupported", "set_l1_2d: not an instruction of architecture 2201");
}
template <typename T>
ASC_API void set_l0a_2d(T*, int64_t)
{
    ascendsim::Fault("unsupported", "set_l0a_2d: not an instruction of architecture 2201");
}
template <typename T>
ASC_API void set_l0b_2d(T*, int64_t)
{
    ascendsim::Fault("unsupported", "set_l0b_2d: not an instruction of architecture 2201");
}

// ---- matrix multiplication ----------------------------------------------------------------------------------------------
// c[m x n] = a[m x k] * b[k x n] + (zero, c itself, or the bias table).
#define ASCENDSIM_MAD(name, C, A, B, CE, AE, BE)                                                                       \
    ASC_API void name(__cc__ C* c, __ca__ A* a, __cb__ B* b, uint16_t m, uint16_t k, uint16_t n, uint8_t unitFlag,     \
                      bool kDirectionAlign, bool cmatrixSource, bool cmatrixInitVal)                                   \
    {                                                                                                                  \
        ascendsim::cube::Multiply(CE, AE, BE, c, a, b, false, 0,                                                       \
                                  {m, k, n, unitFlag, kDirectionAlign, cmatrixSource, cmatrixInitVal});                \
    }                                                                                                                  \
    ASC_API void name(__cc__ C* c, __ca__ A* a, __cb__ B* b, uint64_t bias, uint16_t m, uint16_t k, uint16_t n,        \
                      uint8_t unitFlag, bool kDirectionAlign, bool cmatrixSource, bool cmatrixInitVal)                 \
    {                                                                                                                  \
        ascendsim::cube::Multiply(CE, AE, BE, c, a, b, true, bias,                                                     \
                                  {m, k, n, unitFlag, kDirectionAlign, cmatrixSource, cmatrixInitVal});                \
    }                                                                                                                  \
    ASC_API void name(__cc__ C* c, __ca__ A* a, __cb__ B* b, uint16_t m, uint16_t k, uint16_t n, bool cmatrixInitVal)  \
    {                                                                                                                  \
        ascendsim::cube::Multiply(CE, AE, BE, c, a, b, false, 0, {m, k, n, 0, false, false, cmatrixInitVal});          \
    }                                                                                                                  \
    ASC_API void name(__cc__ C* c, __ca__ A* a, __cb__ B* b, uint64_t config)                                          \
    {                                                                                                                  \
        ascendsim::cube::Multiply(CE, AE, BE, c, a, b, false, 0, ascendsim::cube::UnpackMad(config));                  \
    }                                                                                                                  \
    ASC_API void name(__cc__ C* c, __ca__ A* a, __cb__ B* b, uint64_t bias, uint64_t config)                           \
    {                                                                                                                  \
        ascendsim::cube::Multiply(CE, AE, BE, c, a, b, true, bias, ascendsim::cube::UnpackMad(config));                \
    }
#define ASCENDSIM_MAD_TYPED(C, A, B) \
    ASCENDSIM_MAD(mad, C, A, B, ascendsim::ElementOf<C>::value, ascendsim::ElementOf<A>::value, ascendsim::ElementOf<B>::value)
ASCENDSIM_MAD_TYPED(float, half, half)
ASCENDSIM_MAD_TYPED(float, bfloat16_t, bfloat16_t)
ASCENDSIM_MAD_TYPED(float, float, float)
ASCENDSIM_MAD_TYPED(int32_t, int8_t, int8_t)
ASCENDSIM_MAD(mad_s4, int32_t, void, void, ascendsim::ElementOf<int32_t>::value, ascendsim::kElementS4, ascendsim::kElementS4)
#undef ASCENDSIM_MAD_TYPED
#undef ASCENDSIM_MAD
/// As mad for int8, with b loaded by load_cbuf_to_cb_sp: k counts elements of a, of which b keeps half.
void mad_sp(__cc__ int32_t* c, __ca__ int8_t* a, __cb__ int8_t* b, uint16_t m, uint16_t k, uint16_t n, uint8_t unitFlag,
            bool cmatrixSource, bool cmatrixInitVal);

// ---- fixpipe -------------------------------------------------------------------------------------------------------------
#define ASCENDSIM_FIXPIPE(name, gm)                                                                                    \
    template <typename T, typename U>                                                                                  \
    ASC_API void name(T* dst, __cc__ U* src, uint64_t xm, uint64_t xt)                                                 \
    {                                                                                                                  \
        ascendsim::cube::Drain(gm, ascendsim::ElementOf<T>::value, ascendsim::ElementOf<U>::value, dst, src,           \
                               ascendsim::cube::UnpackFixpipe(xm, xt));                                                \
    }                                                                                                                  \
    template <typename T, typename U>                                                                                  \
    ASC_API void name(T* dst, __cc__ U* src, uint8_t, uint16_t nSize, uint16_t mSize, uint32_t dstStride,              \
                      uint16_t srcStride, uint8_t unitFlagMode, QuantMode_t quantPre, uint8_t reluPre,                 \
                      bool channelSplit, bool nz2nd)                                                                   \
    {                                                                                                                  \
        ascendsim::cube::Drain(gm, ascendsim::ElementOf<T>::value, ascendsim::ElementOf<U>::value, dst, src,           \
                               {nSize, mSize, dstStride, srcStride, unitFlagMode, quantPre, reluPre, channelSplit,     \
                                nz2nd});                                                                               \
    }
ASCENDSIM_FIXPIPE(copy_matrix_cc_to_gm, true)
ASCENDSIM_FIXPIPE(copy_matrix_cc_to_cbuf, false)
#undef ASCENDSIM_FIXPIPE
/// L1 to L0C, bursts of 16 x 16 accumulators; the reverse of the fixpipe without conversion.
namespace ascendsim {
namespace cube {
void CopyToAccumulators(uint8_t dst_element, uint8_t src_element, void* dst, const void* src, uint16_t bursts, uint16_t length,
                        uint16_t src_gap, uint16_t dst_gap);
}
}  // namespace ascendsim
template <typename T, typename U>
ASC_API void copy_matrix_cbuf_to_cc(__cc__ T* dst, __cbuf__ U* src, uint16_t nBurst, uint16_t lenBurst, uint16_t srcStride,
                                    uint16_t dstStride)
{
    ascendsim::cube::CopyToAccumulators(ascendsim::ElementOf<T>::value, ascendsim::ElementOf<U>::value, dst, src, nBurst,
                                        lenBurst, srcStride, dstStride);
}
template <typename T, typename U>
ASC_API void copy_matrix_cbuf_to_cc(__cc__ T* dst, __cbuf__ U* src, uint64_t config)
{
    ascendsim::cube::CopyToAccumulators(ascendsim::ElementOf<T>::value, ascendsim::ElementOf<U>::value, dst, src,
                                        static_cast<uint16_t>((config >> 4) & 0xFFFu), static_cast<uint16_t>(config >> 16),
                                        static_cast<uint16_t>(config >> 32), static_cast<uint16_t>(config >> 48));
}

// ---- declared by the toolkit for other architectures -----------------------------------------------------------------------
#define ASCENDSIM_ABSENT(name)                                                                                     \
    template <typename... A>                                                                                       \
    ASC_API void name(A...)                                                                                        \
    {                                                                                                              \
        ascendsim::Fault("unsupported", #name ": not an instruction of architecture 2201");                        \
    }
ASCENDSIM_ABSENT(img2colv2_cbuf_to_ub)
ASCENDSIM_ABSENT(load_image_to_cbuf)
ASCENDSIM_ABSENT(broadcast_ub_to_cc)
ASCENDSIM_ABSENT(load_gm_to_cbuf_unzip)
ASCENDSIM_ABSENT(load_unzip_index_from_gm)
ASCENDSIM_ABSENT(copy_cbuf_to_gm_align)
ASCENDSIM_ABSENT(copy_ubuf_to_fbuf)
ASCENDSIM_ABSENT(vbi)
ASCENDSIM_ABSENT(vscatter)
ASCENDSIM_ABSENT(vpadding)
#undef ASCENDSIM_ABSENT

#endif
