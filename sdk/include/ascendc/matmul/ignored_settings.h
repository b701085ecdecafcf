// Settings of matrix multiplication that change nothing here: both forms of the object take them.
#ifndef ASCENDC_MATMUL_IGNORED_SETTINGS_H
#define ASCENDC_MATMUL_IGNORED_SETTINGS_H

#include "ascendc/tensor.h"

namespace AscendC {
namespace detail {

struct IgnoredMatmulSettings {
    /// Where Iterate leaves blocks until GetTensorC; the library's own workspace serves.
    template <class T>
    ASC_API void SetWorkspace(GlobalTensor<T>& workspace)
    {
        (void)workspace;
    }
    template <class T>
    ASC_API void SetWorkspace(__gm__ const T* workspace, int size)
    {
        (void)workspace;
        (void)size;
    }
    /// How many products of a batch leave L0C at once.
    ASC_API void SetNBatchOutNum(int32_t batches) { (void)batches; }
    ASC_API void SetLocalWorkspace(const LocalTensor<uint8_t>& buffer) { (void)buffer; }
};

}  // namespace detail
}  // namespace AscendC

#endif
