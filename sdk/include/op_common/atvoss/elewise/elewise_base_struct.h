// Tiling data of the elementwise templates, which are for a later architecture: host code of operators that support both
// names the structures. The templates themselves are no part of this SDK.
#ifndef ASCEND_SDK_ATVOSS_ELEWISE_BASE_STRUCT_H
#define ASCEND_SDK_ATVOSS_ELEWISE_BASE_STRUCT_H

#include <cstdint>

namespace Ops {
namespace Base {
struct EleBaseTilingData {
    int64_t dim0;
    int32_t coreNum;
    int32_t ubFormer;
    int64_t blockFormer;
    int64_t blockNum;
    int64_t ubLoopOfFormerBlock;
    int64_t ubLoopOfTailBlock;
    int64_t ubTailOfFormerBlock;
    int64_t ubTailOfTailBlock;
    int64_t elemNum;
    uint64_t scheMode;
};
using EleBaseTilingDataV2 = EleBaseTilingData;

struct EleBaseTilingData16B {
    int64_t dim0;
    int32_t coreNum;
    int32_t ubFormer;
};
struct EleBaseTilingData24B {
    int64_t dim0;
    int32_t coreNum;
    int32_t ubFormer;
    char scalarData[8];
};
struct EleBaseTilingData32B {
    int64_t dim0;
    int32_t coreNum;
    int32_t ubFormer;
    char scalarData[16];
};
} // namespace Base
} // namespace Ops

#endif
