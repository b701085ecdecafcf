// Shape of a tensor: up to kMaxDimNum dimensions, a scalar has none.
#ifndef ASCEND_SDK_EXE_GRAPH_SHAPE_H
#define ASCEND_SDK_EXE_GRAPH_SHAPE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>
#ifndef __CCE_AICORE__
// Operators' host code counts on it. A kernel that includes its tiling's headers would have something done before its launch.
#include <iostream>
#endif

namespace gert {
struct Shape {
public:
    static constexpr size_t kMaxDimNum = 25;
    static constexpr int64_t kInvalidDimValue = std::numeric_limits<int64_t>::min();

    Shape() : dim_num_(0)
    {
        dims_.fill(0);
    }
    Shape(const std::initializer_list<int64_t>& dims) : Shape()
    {
        // A list that is too long makes a scalar, so that a caller sees at once that nothing was taken over.
        if (dims.size() > kMaxDimNum) {
            return;
        }
        for (const int64_t dim : dims) {
            dims_[dim_num_++] = dim;
        }
    }

    bool operator==(const Shape& other) const
    {
        if (dim_num_ != other.dim_num_) {
            return false;
        }
        for (size_t i = 0; i < dim_num_; ++i) {
            if (dims_[i] != other.dims_[i]) {
                return false;
            }
        }
        return true;
    }
    bool operator!=(const Shape& other) const
    {
        return !(*this == other);
    }

    // Number of elements: 1 for a scalar, -1 when the product does not fit.
    int64_t GetShapeSize() const
    {
        int64_t size = 1;
        for (size_t i = 0; i < dim_num_; ++i) {
            if (__builtin_mul_overflow(size, dims_[i], &size)) {
                return -1;
            }
        }
        return size;
    }
    bool IsScalar() const
    {
        return dim_num_ == 0;
    }
    void SetScalar()
    {
        SetDimNum(0);
    }
    size_t GetDimNum() const
    {
        return dim_num_;
    }
    void SetDimNum(size_t dim_num)
    {
        dim_num_ = dim_num < kMaxDimNum ? dim_num : kMaxDimNum;
        if (dim_num_ == 0) {
            dims_[0] = 0;
        }
    }
    int64_t GetDim(size_t index) const
    {
        return index < kMaxDimNum ? dims_[index] : std::numeric_limits<int64_t>::min();
    }
    const int64_t& operator[](size_t index) const
    {
        return dims_[index];
    }
    int64_t& operator[](size_t index)
    {
        return dims_[index];
    }
    void SetDim(size_t index, int64_t value)
    {
        if (index < kMaxDimNum) {
            dims_[index] = value;
            dim_num_ = dim_num_ < index ? index : dim_num_;
        }
    }
    Shape& AppendDim(int64_t value)
    {
        if (dim_num_ < kMaxDimNum) {
            dims_[dim_num_++] = value;
        }
        return *this;
    }

private:
    size_t dim_num_;
    std::array<int64_t, kMaxDimNum> dims_;
};
} // namespace gert

#endif
