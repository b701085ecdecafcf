// Shape and bytes of a tensor, as graph code and library tilings pass them.
#ifndef ASCEND_SDK_GRAPH_TENSOR_H
#define ASCEND_SDK_GRAPH_TENSOR_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/types.h"

namespace ge {
class Shape {
public:
    Shape() = default;
    explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}

    size_t GetDimNum() const
    {
        return dims_.size();
    }
    // 0 where there is no such dimension.
    int64_t GetDim(size_t index) const
    {
        return index < dims_.size() ? dims_[index] : 0;
    }
    graphStatus SetDim(size_t index, int64_t value)
    {
        if (index >= dims_.size()) {
            return GRAPH_FAILED;
        }
        dims_[index] = value;
        return GRAPH_SUCCESS;
    }
    std::vector<int64_t> GetDims() const
    {
        return dims_;
    }
    // Number of elements: 0 without dimensions, -1 when a dimension is not known.
    int64_t GetShapeSize() const
    {
        if (dims_.empty()) {
            return 0;
        }
        int64_t size = 1;
        for (const int64_t dim : dims_) {
            if (dim < 0) {
                return -1;
            }
            size *= dim;
        }
        return size;
    }

private:
    std::vector<int64_t> dims_;
};

// The bytes of a constant, which functions of a graph read; what describes them is part of graph building, which this SDK does not do.
class Tensor {
public:
    Tensor() = default;

    graphStatus SetData(const uint8_t* data, size_t size)
    {
        if (data == nullptr && size > 0) {
            return GRAPH_FAILED;
        }
        data_.assign(data, data + size);
        return GRAPH_SUCCESS;
    }
    graphStatus SetData(std::vector<uint8_t>&& data)
    {
        data_ = std::move(data);
        return GRAPH_SUCCESS;
    }
    const uint8_t* GetData() const
    {
        return data_.data();
    }
    uint8_t* GetData()
    {
        return data_.data();
    }
    // In bytes.
    size_t GetSize() const
    {
        return data_.size();
    }

private:
    std::vector<uint8_t> data_;
};
} // namespace ge

#endif
