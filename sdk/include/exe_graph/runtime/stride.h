// Distances in elements between neighbours along each dimension of a view.
#ifndef ASCEND_SDK_EXE_GRAPH_STRIDE_H
#define ASCEND_SDK_EXE_GRAPH_STRIDE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gert {
class Stride {
public:
    size_t GetDimNum() const;
    // 0 where there is no such dimension.
    int64_t GetStride(size_t index) const;
    int64_t operator[](size_t index) const
    {
        return GetStride(index);
    }
    void SetDimNum(size_t count);
    void SetStride(size_t index, int64_t stride);
    void AppendStride(int64_t stride);

private:
    std::vector<int64_t> strides_;
};
} // namespace gert

#endif
