// Data types, formats and the small conversions between them.
#ifndef ASCEND_SDK_GRAPH_TYPES_H
#define ASCEND_SDK_GRAPH_TYPES_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "ascendc/dtype_names_end.h"
#include "graph/c_types.h"
#include "graph/error_codes.h"

namespace ge {
using char_t = char;
using float32_t = float;
using float64_t = double;

static const int64_t UNKNOWN_DIM = -1;
static const int64_t UNKNOWN_DIM_NUM = -2;
extern const std::vector<int64_t> UNKNOWN_SHAPE;
extern const std::vector<int64_t> UNKNOWN_RANK;
extern const std::vector<int64_t> DUMMY_SHAPE;
// Sizes of types narrower than a byte are reported as this offset plus the number of bits.
static constexpr int32_t kDataTypeSizeBitOffset = 1000;

#define ASCEND_SDK_CXX_NAME(name, value) name = value,
enum DataType { ASCEND_SDK_DATA_TYPES(ASCEND_SDK_CXX_NAME) };
enum Format { ASCEND_SDK_FORMATS(ASCEND_SDK_CXX_NAME) };
#undef ASCEND_SDK_CXX_NAME

// Bytes of one element; kDataTypeSizeBitOffset + bits below a byte; -1 for a type without a size.
int GetSizeByDataType(DataType data_type);
// Bytes of `element_count` elements, rounded up for types below a byte; -1 for a type without a size.
int64_t GetSizeInBytes(int64_t element_count, DataType data_type);
// "NCHW", "ND", ...; "RESERVED" for a value that is no format.
const char_t* GetFormatName(Format format);

// A format word holds the primary format in bits 0-7, the sub format in bits 8-23 and the C0 code in bits 24-27.
inline int32_t GetPrimaryFormat(int32_t format)
{
    return format & 0xff;
}

inline int32_t GetSubFormat(int32_t format)
{
    return (format >> 8) & 0xffff;
}

inline bool HasSubFormat(int32_t format)
{
    return GetSubFormat(format) > 0;
}

inline int32_t GetC0Format(int32_t format)
{
    return (format >> 24) & 0xf;
}

inline bool HasC0Format(int32_t format)
{
    return GetC0Format(format) > 0;
}

inline int64_t GetC0Value(int32_t format)
{
    return HasC0Format(format) ? int64_t(1) << (GetC0Format(format) - 1) : -1;
}

inline int32_t GetFormatFromSub(int32_t primary_format, int32_t sub_format)
{
    return (primary_format & 0xff) | ((sub_format & 0xffff) << 8);
}

inline int32_t GetFormatFromC0(int32_t format, int32_t c0_format)
{
    return (format & 0xffffff) | ((c0_format & 0xf) << 24);
}

inline int32_t GetFormatFromSubAndC0(int32_t primary_format, int32_t sub_format, int32_t c0_format)
{
    return GetFormatFromC0(GetFormatFromSub(primary_format, sub_format), c0_format);
}

enum Placement { kPlacementHost = 0, kPlacementDevice = 1, kPlacementEnd };
} // namespace ge

#endif
