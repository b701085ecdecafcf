// Template parameters of kernels as tiling keys.
//
// ASCENDC_TPL_ARGS_DECL(Op, d1, d2, ...) declares the template parameters of an operator's kernel in order. The key of an
// instance packs one code per parameter in the order of declaration, low bits first. Width and code by declaration:
//
//   ASCENDC_TPL_UINT_DECL(name, width, mode, values...)   `width` bits; code = position of the value in the declared list
//   ASCENDC_TPL_BOOL_DECL(name, values...)                1 bit; code = the value
//   ASCENDC_TPL_DTYPE_DECL / DATATYPE_DECL / FORMAT_DECL / KERNEL_TYPE_DECL(name, values...)    8 bits; code = the value
//
// The list of a UINT declaration is, by `mode`:
//   ASCENDC_TPL_UI_LIST, v0, v1, ...               v0, v1, ...
//   ASCENDC_TPL_UI_RANGE, n, from, to, ...         n inclusive ranges, one after the other
//   ASCENDC_TPL_UI_MIX, n, from, to, ..., v, ...   n inclusive ranges, then the single values
// Example: UINT_DECL(a, 2, UI_LIST, 10, 20), BOOL_DECL(b, 0, 1) with a = 20, b = 1 gives 1 | 1 << 2 = 5.
// To decode, take the codes off from the low end and look UINT codes up in the list. A key of all ones is invalid.
//
// With ASCENDC_TPL_KERNEL (kernel compilation) the macros vanish: the builder instantiates the entry from the key.
#ifndef TEMPLATE_ARGUMENT_H
#define TEMPLATE_ARGUMENT_H

#include <cstddef>
#include <cstdint>

#define ASCENDC_TPL_AIV_ONLY 0
#define ASCENDC_TPL_AIC_ONLY 1
#define ASCENDC_TPL_MIX_AIV_1_0 4
#define ASCENDC_TPL_MIX_AIC_1_0 5
#define ASCENDC_TPL_MIX_AIC_1_1 6
#define ASCENDC_TPL_MIX_AIC_1_2 7
#define ASCENDC_TPL_AICORE 8
#define ASCENDC_TPL_VECTORCORE 9
#define ASCENDC_TPL_MIX_AICORE 10
#define ASCENDC_TPL_MIX_VECTOR_CORE 11
#define ASCENDC_TPL_MAX 12

#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8

#define ASCENDC_TPL_DTYPE 0
#define ASCENDC_TPL_FORMAT 1
#define ASCENDC_TPL_UINT 2
#define ASCENDC_TPL_BOOL 3

#define ASCENDC_TPL_INPUT_BIAS 100000000
#define ASCENDC_TPL_OUTPUT_BIAS 900000000
#define ASCENDC_TPL_INPUT(x) (ASCENDC_TPL_INPUT_BIAS + (x))
#define ASCENDC_TPL_OUTPUT(x) (ASCENDC_TPL_OUTPUT_BIAS + (x))

#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2

constexpr uint64_t INVALID_TILING_KEY = 0xFFFFFFFFFFFFFFFFu;

// What may be selected is checked by the builder, from the source text; neither side needs it.
#define ASCENDC_TPL_DTYPE_SEL(...)
#define ASCENDC_TPL_DATATYPE_SEL(...)
#define ASCENDC_TPL_FORMAT_SEL(...)
#define ASCENDC_TPL_UINT_SEL(...)
#define ASCENDC_TPL_BOOL_SEL(...)
#define ASCENDC_TPL_TILING_STRUCT_SEL(...)
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...)
#define ASCENDC_TPL_DETERMINISTIC_SEL(...)
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(...)
#define ASCENDC_TPL_ARGS_SEL(...)
#define ASCENDC_TPL_SEL(...)

#ifdef ASCENDC_TPL_KERNEL

#include "ascendc/dtype_ids.h"
#include "ascendsim/types.h"

/// C++ type of a dtype number, for kernels with dtype template parameters.
template <int dataTypeId>
struct TypeFromId {
    using type = void;
};
#define ASCENDC_TPL_TYPE(id, T) \
    template <>                 \
    struct TypeFromId<id> {     \
        using type = T;         \
    };
ASCENDC_TPL_TYPE(DT_FLOAT, float)
ASCENDC_TPL_TYPE(DT_FLOAT16, half)
ASCENDC_TPL_TYPE(DT_BF16, bfloat16_t)
ASCENDC_TPL_TYPE(DT_INT8, int8_t)
ASCENDC_TPL_TYPE(DT_UINT8, uint8_t)
ASCENDC_TPL_TYPE(DT_INT16, int16_t)
ASCENDC_TPL_TYPE(DT_UINT16, uint16_t)
ASCENDC_TPL_TYPE(DT_INT32, int32_t)
ASCENDC_TPL_TYPE(DT_UINT32, uint32_t)
ASCENDC_TPL_TYPE(DT_INT64, int64_t)
ASCENDC_TPL_TYPE(DT_UINT64, uint64_t)
ASCENDC_TPL_TYPE(DT_DOUBLE, double)
ASCENDC_TPL_TYPE(DT_BOOL, bool)
#undef ASCENDC_TPL_TYPE

#define ASCENDC_TPL_DTYPE_DECL(...)
#define ASCENDC_TPL_DATATYPE_DECL(...)
#define ASCENDC_TPL_FORMAT_DECL(...)
#define ASCENDC_TPL_UINT_DECL(...)
#define ASCENDC_TPL_BOOL_DECL(...)
#define ASCENDC_TPL_KERNEL_TYPE_DECL(...)
#define ASCENDC_TPL_ARGS_DECL(...)

#else

#include <initializer_list>
#include <utility>
#include <vector>

/// One declared template parameter.
struct ParamStruct {
    const char* name;
    uint32_t paramType;
    uint8_t bitWidth;
    /// The allowed values; of UINT parameters with ranges written out.
    std::vector<uint64_t> vals;

    ParamStruct(const char* inName, uint32_t inParamType, uint8_t inBitWidth, std::vector<uint64_t> inVals)
        : name(inName), paramType(inParamType), bitWidth(inBitWidth), vals(std::move(inVals))
    {
        if (paramType == ASCENDC_TPL_UINT) {
            WriteOutRanges();
        }
    }

private:
    void WriteOutRanges()
    {
        const std::vector<uint64_t> raw = std::move(vals);
        vals.clear();
        if (raw.empty()) {
            return;
        }
        size_t at = 1;
        if (raw[0] != ASCENDC_TPL_UI_LIST && raw.size() > 1) {
            const uint64_t ranges = raw[1];
            at = 2;
            for (uint64_t r = 0; r < ranges && at + 1 < raw.size(); ++r, at += 2) {
                // A code has at most bitWidth bits, so that more values could not be told apart anyway.
                const size_t limit = size_t(1) << (bitWidth < 16 ? bitWidth : 16);
                for (uint64_t v = raw[at]; v <= raw[at + 1] && vals.size() < limit; ++v) {
                    vals.push_back(v);
                }
            }
        }
        if (raw[0] != ASCENDC_TPL_UI_RANGE) {
            for (; at < raw.size(); ++at) {
                vals.push_back(raw[at]);
            }
        }
    }
};
using TilingDeclareParams = std::vector<ParamStruct>;

namespace AscendC {

/// Key of the instance with these template arguments; INVALID_TILING_KEY when one is not declared or does not fit.
inline uint64_t EncodeTilingKey(const TilingDeclareParams& declared, std::initializer_list<uint64_t> args)
{
    uint64_t key = 0;
    uint32_t bits = 0;
    const uint64_t* arg = args.begin();
    if (args.size() > declared.size()) {
        return INVALID_TILING_KEY;
    }
    for (size_t i = 0; i < args.size(); ++i, ++arg) {
        const ParamStruct& param = declared[i];
        uint64_t code = *arg;
        if (param.paramType == ASCENDC_TPL_UINT) {
            code = 0;
            while (code < param.vals.size() && param.vals[static_cast<size_t>(code)] != *arg) {
                ++code;
            }
            if (code == param.vals.size()) {
                return INVALID_TILING_KEY;
            }
        }
        if (bits + param.bitWidth > 64 || (param.bitWidth < 64 && (code >> param.bitWidth) != 0)) {
            return INVALID_TILING_KEY;
        }
        key |= code << bits;
        bits += param.bitWidth;
    }
    return key;
}

}  // namespace AscendC

#define ASCENDC_TPL_DTYPE_DECL(x, ...) ParamStruct(#x, ASCENDC_TPL_DTYPE, ASCENDC_TPL_8_BW, {__VA_ARGS__})
#define ASCENDC_TPL_DATATYPE_DECL(x, ...) ParamStruct(#x, ASCENDC_TPL_DTYPE, ASCENDC_TPL_8_BW, {__VA_ARGS__})
#define ASCENDC_TPL_FORMAT_DECL(x, ...) ParamStruct(#x, ASCENDC_TPL_FORMAT, ASCENDC_TPL_8_BW, {__VA_ARGS__})
#define ASCENDC_TPL_UINT_DECL(x, bw, ...) ParamStruct(#x, ASCENDC_TPL_UINT, bw, {__VA_ARGS__})
#define ASCENDC_TPL_BOOL_DECL(x, ...) ParamStruct(#x, ASCENDC_TPL_BOOL, ASCENDC_TPL_1_BW, {__VA_ARGS__})
#define ASCENDC_TPL_KERNEL_TYPE_DECL(x, ...) ParamStruct(#x, ASCENDC_TPL_DTYPE, ASCENDC_TPL_8_BW, {__VA_ARGS__})
// `unused`: a translation unit may include the header for the structures alone.
#define ASCENDC_TPL_ARGS_DECL(x, ...) \
    [[maybe_unused]] static const TilingDeclareParams g_tilingDeclareParams { __VA_ARGS__ }

#define GET_TPL_TILING_KEY(...) \
    ::AscendC::EncodeTilingKey(g_tilingDeclareParams, std::initializer_list<uint64_t>{__VA_ARGS__})
#define ASCENDC_TPL_SEL_PARAM(context, ...)                   \
    do {                                                      \
        (context)->SetTilingKey(GET_TPL_TILING_KEY(__VA_ARGS__)); \
    } while (0)

#endif

#endif
