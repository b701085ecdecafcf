// Address, size and place of a tensor's data. The memory belongs to whoever built the context.
#ifndef ASCEND_SDK_EXE_GRAPH_TENSOR_DATA_H
#define ASCEND_SDK_EXE_GRAPH_TENSOR_DATA_H

#include <cstddef>
#include <cstdint>

#include "graph/error_codes.h"

namespace gert {
using TensorAddress = void*;

enum TensorPlacement : int32_t { kOnDeviceHbm, kOnHost, kFollowing, kOnDeviceP2p, kTensorPlacementEnd };

class TensorData {
public:
    TensorData() = default;
    explicit TensorData(TensorAddress addr, size_t size = 0, TensorPlacement placement = kTensorPlacementEnd)
        : addr_(addr), size_(size), placement_(placement)
    {}
    TensorAddress GetAddr() const
    {
        return addr_;
    }
    size_t GetSize() const
    {
        return size_;
    }
    void SetSize(size_t size)
    {
        size_ = size;
    }
    TensorPlacement GetPlacement() const
    {
        return placement_;
    }
    void SetPlacement(TensorPlacement placement)
    {
        placement_ = placement;
    }

private:
    TensorAddress addr_ = nullptr;
    size_t size_ = 0;
    TensorPlacement placement_ = kTensorPlacementEnd;
};
} // namespace gert

#endif
