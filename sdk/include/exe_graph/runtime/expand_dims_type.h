// Which axes of a full-rank format are inserted ones; bit i set means axis i was added with size 1.
#ifndef ASCEND_SDK_EXE_GRAPH_EXPAND_DIMS_TYPE_H
#define ASCEND_SDK_EXE_GRAPH_EXPAND_DIMS_TYPE_H

#include <cstdint>

#include "exe_graph/runtime/shape.h"
#include "graph/types.h"

namespace gert {
class ExpandDimsType {
public:
    using AxisIndex = uint64_t;
    static constexpr size_t kMaxExpandSize = 56;

    ExpandDimsType() = default;
    // Text of '0' and '1', one character per axis.
    explicit ExpandDimsType(const ge::char_t* axes)
    {
        for (size_t i = 0; axes != nullptr && axes[i] != '\0' && i < kMaxExpandSize; ++i) {
            size_ = i + 1;
            if (axes[i] == '1') {
                SetExpandIndex(i);
            }
        }
    }

    bool operator==(const ExpandDimsType& other) const
    {
        return size_ == other.size_ && mask_ == other.mask_;
    }
    AxisIndex GetFullSize() const
    {
        return size_;
    }
    void SetExpandIndex(AxisIndex index)
    {
        mask_ |= uint64_t(1) << index;
    }
    bool IsExpandIndex(AxisIndex index) const
    {
        return ((mask_ >> index) & 1) != 0;
    }
    ge::graphStatus Expand(const Shape& shape, Shape& out_shape) const
    {
        Shape result;
        size_t next = 0;
        for (AxisIndex axis = 0; axis < size_; ++axis) {
            result.AppendDim(IsExpandIndex(axis) || next >= shape.GetDimNum() ? 1 : shape.GetDim(next++));
        }
        for (; next < shape.GetDimNum(); ++next) {
            result.AppendDim(shape.GetDim(next));
        }
        out_shape = result;
        return ge::GRAPH_SUCCESS;
    }

private:
    uint64_t size_ = 0;
    uint64_t mask_ = 0;
};
} // namespace gert

#endif
