// Distances in elements between neighbours along each dimension of a view.
#ifndef ASCEND_SDK_EXE_GRAPH_STRIDE_H
#define ASCEND_SDK_EXE_GRAPH_STRIDE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gert {
class Stride {
public:
    size_t GetDimNum() const
    {
        return strides_.size();
    }
    // 0 where there is no such dimension.
    int64_t GetStride(size_t index) const
    {
        return index < strides_.size() ? strides_[index] : 0;
    }
    int64_t operator[](size_t index) const
    {
        return GetStride(index);
    }
    void SetDimNum(size_t count)
    {
        strides_.resize(count, 0);
    }
    void SetStride(size_t index, int64_t stride)
    {
        if (index < strides_.size()) {
            strides_[index] = stride;
        }
    }
    void AppendStride(int64_t stride)
    {
        strides_.push_back(stride);
    }

private:
    std::vector<int64_t> strides_;
};
} // namespace gert

#endif
