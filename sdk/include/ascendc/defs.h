// Names that every part of the kernel API needs: constants, enumerations, type traits.
#ifndef ASCENDC_DEFS_H
#define ASCENDC_DEFS_H

#include "ascendc/standard.h"
#include "ascendsim/core.h"
#include "ascendsim/types.h"

// Kernels may define it to 0 to shrink every tensor.
#ifndef K_MAX_SHAPE_DIM
#define K_MAX_SHAPE_DIM 8
#endif

namespace AscendC {

// ---- sizes of a 2201 vector core ---------------------------------------------------------------
constexpr uint32_t ONE_BLK_SIZE = 32;
constexpr int32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr int32_t DEFAULT_BLOCK_SIZE = 256;
constexpr int32_t DEFAULT_C0_SIZE = 32;
constexpr int32_t DEFAULT_BLK_NUM = 8;
constexpr int32_t DEFAULT_BLK_STRIDE = 1;
constexpr uint8_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint8_t HALF_DEFAULT_REPEAT_STRIDE = 4;
constexpr uint8_t ONE_FOURTH_DEFAULT_REPEAT_STRIDE = 2;
constexpr int32_t DEFAULT_REDUCE_DST_REP_STRIDE = 1;
constexpr uint8_t DEFAULT_DATA_COPY_NBURST = 1;
constexpr uint8_t DEFAULT_DATA_COPY_STRIDE = 0;
constexpr int32_t MAX_REPEAT_TIMES = 255;
constexpr int32_t MIN_REPEAT_TIMES = 0;
constexpr int32_t VREDUCE_PER_REP_OUTPUT = 2;
constexpr uint64_t FULL_MASK = 0xFFFFFFFFFFFFFFFFu;
constexpr int32_t FULL_MASK_LEN = 128;
constexpr int32_t HALF_MASK_LEN = 64;
constexpr uint64_t MASK_PLACEHOLDER = 0;
constexpr uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};
constexpr int32_t ONE_BYTE_BIT_SIZE = 8;
constexpr uint8_t B64_BYTE_SIZE = 8;
constexpr uint8_t B32_BYTE_SIZE = 4;
constexpr uint8_t B16_BYTE_SIZE = 2;
constexpr uint8_t B8_BYTE_SIZE = 1;
constexpr uint8_t B32_DATA_NUM_PER_BLOCK = 8;
constexpr uint8_t B16_DATA_NUM_PER_BLOCK = 16;
constexpr int32_t B16_DATA_NUM_PER_REPEAT = 128;
constexpr int32_t B32_DATA_NUM_PER_REPEAT = 64;
constexpr uint32_t ONE_BLK_HALF_NUM = 16;
constexpr uint32_t ONE_BLK_FLOAT_NUM = 8;
constexpr uint32_t ONE_REPEAT_HALF_SIZE = 128;
constexpr uint32_t ONE_REPEAT_FLOAT_SIZE = 64;
constexpr uint32_t HALF_REPEAT_SIZE = 128;
constexpr uint32_t FLOAT_REPEAT_SIZE = 64;
constexpr uint32_t MAX_REPEAT_FLOAT_SIZE = 64 * 255;
constexpr uint32_t MAX_REPEAT_HALF_SIZE = 128 * 255;
constexpr uint32_t BRCB_BROADCAST_NUMBER = 8;
constexpr uint32_t BRCB_MAX_REPEAT_SIZE = 8 * 255;
constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;
constexpr int32_t VA_REG_ARRAY_LEN = 8;
constexpr uint8_t MRG_SORT_ELEMENT_LEN = 4;
constexpr int32_t BLOCK_CUBE = 16;
constexpr uint16_t VALUE_512 = 512;
constexpr uint16_t UINT12_MAX = 4095;
constexpr uint32_t F32_INF = 0x7F800000u;
constexpr uint32_t F32_NEG_INF = 0xFF800000u;
constexpr uint32_t F32_NAN = 0x7FC00000u;
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = 184 * 1024;
constexpr uint32_t TOTAL_UB_SIZE = 192 * 1024;
/// Where library functions keep their own temporaries in UB, above what a kernel should allocate.
constexpr uint32_t TMP_UB_OFFSET = 184 * 1024;
constexpr uint32_t TMP_UB_SIZE = 8 * 1024;
constexpr uint32_t TOTAL_L1_SIZE = 512 * 1024;
constexpr uint32_t TOTAL_L0A_SIZE = 64 * 1024;
constexpr uint32_t TOTAL_L0B_SIZE = 64 * 1024;
constexpr uint32_t TOTAL_L0C_SIZE = 128 * 1024;
constexpr uint32_t CACHE_LINE_SIZE = 64;
constexpr size_t RESERVED_WORKSPACE = 16 * 1024 * 1024;
constexpr int32_t K_MAX_DIM = 8;
constexpr int32_t QBUF_MAX_LEN = 64;
constexpr int32_t QUE_MAX_EVENT = 8;

// ---- enumerations --------------------------------------------------------------------------------
enum class TPosition : uint8_t {
    GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC,
    LCM = VECCALC,
    SPM,
    SHM = SPM,
    TSCM, C2PIPE2GM, C2PIPE2LOCAL, MAX
};
using QuePosition = TPosition;

enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

enum class DataFormat : uint8_t { ND = 0, NZ, NCHW, NC1HWC0, NHWC, NCDHW, NDC1HWC0, FRACTAL_Z_3D };

enum class RoundMode : uint8_t {
    CAST_NONE = 0,
    CAST_RINT,   // to nearest, ties to even
    CAST_FLOOR,
    CAST_CEIL,
    CAST_ROUND,  // to nearest, ties away from zero
    CAST_TRUNC,
    CAST_ODD,    // inexact results get an odd last bit
    UNKNOWN = 0xFF,
};
enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR = 0, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };
enum class ReduceMode : uint8_t { REDUCE_MAX = 0, REDUCE_MIN, REDUCE_SUM };
enum class ReduceOrder : uint8_t { ORDER_VALUE_INDEX = 0, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX };
enum class ReduceType : uint8_t { SUM = 0, MAX, MIN };
enum class MaskMode : uint8_t { NORMAL = 0, COUNTER };
enum class CacheMode { CACHE_MODE_DISABLE = 0, CACHE_MODE_NORMAL = 1, CACHE_MODE_LAST = 2, CACHE_MODE_PERSISTENT = 4 };
enum class CacheRwMode { READ = 1, WRITE = 2, RW = 3 };
enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class MemDsbT : uint8_t { ALL = 0, DDR, UB, SEQ };
enum class GatherMaskMode : uint8_t { VERSION_V1 = 0, VERSION_V2 = 1 };
constexpr GatherMaskMode defaultGatherMaskMode = GatherMaskMode::VERSION_V2;

// Which kind of core runs the code.
enum KernelCoreType : int32_t { AIC = 1, AIV = 2, MIX = 3 };

// ---- type traits ---------------------------------------------------------------------------------
/// Four-bit integer, stored two per byte, the first in the low half. Tensors of it count elements; offsets must be even.
struct int4b_t {
    uint8_t storage;
};
constexpr uint32_t INT4_TWO = 2;
constexpr uint32_t INT4_BIT_NUM = 4;

namespace detail {
/// Bytes of `count` elements; whole bytes for four-bit elements.
template <typename T, typename N>
ASC_API constexpr N BytesOf(N count)
{
    if constexpr (std::is_same<T, int4b_t>::value) {
        return static_cast<N>(count / static_cast<N>(INT4_TWO));
    } else {
        return static_cast<N>(count * static_cast<N>(sizeof(T)));
    }
}
/// Elements in `bytes`.
template <typename T, typename N>
ASC_API constexpr N ElementsIn(N bytes)
{
    if constexpr (std::is_same<T, int4b_t>::value) {
        return static_cast<N>(bytes * static_cast<N>(INT4_TWO));
    } else {
        return static_cast<N>(bytes / static_cast<N>(sizeof(T)));
    }
}
}  // namespace detail

/// Element type of a tensor type argument (tensor traits are not supported, so the argument itself).
template <typename T>
using PrimT = T;

template <typename A, typename B>
using IsSameType = std::is_same<A, B>;

template <bool condition, typename A, typename B>
struct Conditional {
    using type = std::conditional_t<condition, A, B>;
};

template <typename... Ts>
struct Tuple {};

/// Whether T is one of Ts.
template <typename T, typename... Ts>
constexpr bool SupportType()
{
    return (std::is_same<T, Ts>::value || ...);
}

/// Memory that a logical position stands for on this architecture.
constexpr Hardware GetPhyType(TPosition pos)
{
    switch (pos) {
        case TPosition::GM:
        case TPosition::CO2: return Hardware::GM;
        case TPosition::A1:
        case TPosition::B1:
        case TPosition::C1:
        case TPosition::TSCM:
        case TPosition::SPM: return Hardware::L1;
        case TPosition::A2: return Hardware::L0A;
        case TPosition::B2: return Hardware::L0B;
        case TPosition::C2: return Hardware::BIAS;
        case TPosition::CO1: return Hardware::L0C;
        case TPosition::C2PIPE2GM: return Hardware::FIXBUF;
        case TPosition::MAX: return Hardware::MAX;
        default: return Hardware::UB;
    }
}

}  // namespace AscendC

using AscendC::AIC;
using AscendC::AIV;

// A kernel for both kinds of cores is compiled twice, once for each. The words are usable with and without parentheses:
// `if ASCEND_IS_AIV {`.
#ifdef __DAV_C220_CUBE__
constexpr int32_t g_coreType = AscendC::AIC;
#define ASCEND_IS_AIV constexpr(false)
#define ASCEND_IS_AIC constexpr(true)
#define ASCEND_IS_NOT_AIV constexpr(true)
#define ASCEND_IS_NOT_AIC constexpr(false)
#else
constexpr int32_t g_coreType = AscendC::AIV;
#define ASCEND_IS_AIV constexpr(true)
#define ASCEND_IS_AIC constexpr(false)
#define ASCEND_IS_NOT_AIV constexpr(false)
#define ASCEND_IS_NOT_AIC constexpr(true)
#endif
#ifdef ASCENDSIM_ONE_KIND_PER_PROGRAM
// A program with its own main is compiled once, so its launches can only be for this kind of cores.
inline const bool g_compiledForOneKind = ::ascendsim::CompiledFor(g_coreType == AscendC::AIC);
#endif

#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif

// A static_assert that names the API and the dtypes it takes; the compiler adds the one that was used.
#define ASCENDC_CHECK_DTYPE(API, T, ...)                            \
    static_assert(                                                  \
        ::AscendC::SupportType<T, __VA_ARGS__>(),                   \
        #API ": dtype not available on NPU architecture 2201; it takes " #__VA_ARGS__)

#endif
