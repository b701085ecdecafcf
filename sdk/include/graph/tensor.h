// Shape of a tensor, as graph code and library tilings pass it.
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
} // namespace ge

#endif
