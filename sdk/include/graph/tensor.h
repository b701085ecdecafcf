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
    explicit Shape(std::vector<int64_t> dims);

    size_t GetDimNum() const;
    // 0 where there is no such dimension.
    int64_t GetDim(size_t index) const;
    graphStatus SetDim(size_t index, int64_t value);
    std::vector<int64_t> GetDims() const;
    // Number of elements: 0 without dimensions, -1 when a dimension is not known.
    int64_t GetShapeSize() const;

private:
    std::vector<int64_t> dims_;
};

// The bytes of a constant, which functions of a graph read; what describes them is part of graph building, which this SDK does not do.
class Tensor {
public:
    Tensor() = default;

    graphStatus SetData(const uint8_t* data, size_t size);
    graphStatus SetData(std::vector<uint8_t>&& data);
    const uint8_t* GetData() const;
    uint8_t* GetData();
    // In bytes.
    size_t GetSize() const;

private:
    std::vector<uint8_t> data_;
};
} // namespace ge

#endif
