// Tilings of the host library beside the kernel headers, which have dtypes as macros: this comes before them, for cube cores.
#ifndef MATMUL_PLAN_H
#define MATMUL_PLAN_H

#ifndef __DAV_C220_CUBE__
#define __DAV_C220_CUBE__ 1
#endif
#include "tiling/matmul_tiling.h"

#undef ASCENDC_ASSERT // of the host

namespace plan {
using matmul_tiling::DataType;
constexpr DataType kHalf = DataType::DT_FLOAT16;
constexpr DataType kBfloat16 = DataType::DT_BF16;
constexpr DataType kFloat = DataType::DT_FLOAT;
constexpr DataType kInt8 = DataType::DT_INT8;
constexpr DataType kInt32 = DataType::DT_INT32;
} // namespace plan

#endif
