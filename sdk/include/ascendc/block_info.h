// Which block is running, and a few properties of the core.
#ifndef ASCENDC_BLOCK_INFO_H
#define ASCENDC_BLOCK_INFO_H

#include "ascendc/tensor.h"
#include "ascendsim/isa.h"

namespace AscendC {

/// Number of the core among those of its kind: in a mixed launch each block has one or two vector cores.
ASC_API int64_t GetBlockIdx()
{
    if constexpr (g_coreType == AIV) {
        return get_block_idx() * get_subblockdim() + get_subblockid();
    } else {
        return get_block_idx();
    }
}
ASC_API int64_t GetBlockNum() { return get_block_num(); }
ASC_API int64_t GetSubBlockIdx() { return get_subblockid(); }
ASC_API int64_t GetSubBlockNum() { return get_subblockdim(); }
/// Vector cores per cube core of the task: 1 for a vector-only kernel.
ASC_API int64_t GetTaskRation() { return get_subblockdim(); }
ASC_API int64_t GetTaskRatio() { return get_subblockdim(); }
ASC_API int64_t GetSystemCycle() { return get_sys_cnt(); }
ASC_API constexpr int16_t GetDataBlockSizeInBytes() { return ONE_BLK_SIZE; }
ASC_API void GetArchVersion(uint32_t& coreVersion) { coreVersion = static_cast<uint32_t>(get_arch_ver()); }
ASC_API constexpr uint32_t GetUBSizeInBytes() { return TOTAL_UB_SIZE; }
ASC_API uint32_t GetRuntimeUBSize() { return static_cast<uint32_t>(ascendsim::UbSize()); }
ASC_API void Trap() { trap(); }
// Hints to the task scheduler: tasks of one launch are all there is here.
ASC_API void SetNextTaskStart() {}
ASC_API void WaitPreTaskEnd() {}

// ---- data cache of the scalar unit -------------------------------------------------------------------
template <typename T, CacheLine entireType, DcciDst dcciDst>
ASC_API void DataCacheCleanAndInvalid(const GlobalTensor<T>& dst)
{
    dcci(dst.GetPhyAddr(0), static_cast<cache_line_t>(entireType), static_cast<dcci_dst_t>(dcciDst));
}
template <typename T, CacheLine entireType>
ASC_API void DataCacheCleanAndInvalid(const GlobalTensor<T>& dst)
{
    dcci(dst.GetPhyAddr(0), static_cast<cache_line_t>(entireType));
}
template <typename T>
ASC_API void DataCachePreload(const GlobalTensor<uint64_t>& src, const T cacheOffset)
{
    dc_preload(src.GetPhyAddr(0), static_cast<int64_t>(cacheOffset));
}
/// Instruction memory has no cost of its own here, so that loading it early changes nothing.
ASC_API void ICachePreLoad(const int64_t preFetchLen) { (void)preFetchLen; }
ASC_API int64_t GetICachePreloadStatus() { return 0; }

}  // namespace AscendC

namespace ascendsim {
/// The words block_idx and block_num of the language: objects and not macros, because kernels have variables of these names.
struct BlockIdxWord {
    ASC_API operator int64_t() const { return get_block_idx(); }
};
struct BlockNumWord {
    ASC_API operator int64_t() const { return get_block_num(); }
};
}  // namespace ascendsim
constexpr ascendsim::BlockIdxWord block_idx{};
constexpr ascendsim::BlockNumWord block_num{};

#endif
