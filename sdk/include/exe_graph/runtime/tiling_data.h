// The bytes that a tiling function hands to the kernel.
#ifndef ASCEND_SDK_EXE_GRAPH_TILING_DATA_H
#define ASCEND_SDK_EXE_GRAPH_TILING_DATA_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include <securec.h>

#include "exe_graph/runtime/continuous_vector.h"
#include "exe_graph/runtime/runtime_attrs.h"
#include "graph/error_codes.h"

namespace gert {
class TilingData {
public:
    TilingData(const TilingData&) = delete;
    TilingData& operator=(const TilingData&) = delete;

    size_t GetCapacity() const
    {
        return capacity_;
    }
    size_t GetDataSize() const
    {
        return data_size_;
    }
    void SetDataSize(size_t size)
    {
        data_size_ = size;
    }
    void* GetData()
    {
        return data_;
    }
    const void* GetData() const
    {
        return data_;
    }
    // Room for `size` more bytes, or null when the capacity does not allow it.
    void* Expand(size_t size)
    {
        if (size > capacity_ || data_size_ > capacity_ - size) {
            return nullptr;
        }
        void* const place = static_cast<uint8_t*>(data_) + data_size_;
        data_size_ += size;
        return place;
    }
    template <typename T, typename std::enable_if<std::is_standard_layout<T>::value, int>::type = 0>
    ge::graphStatus Append(const T& value)
    {
        return Append(&value, 1);
    }
    template <typename T, typename std::enable_if<std::is_standard_layout<T>::value, int>::type = 0>
    ge::graphStatus Append(const T* values, size_t count)
    {
        void* const place = count > capacity_ / sizeof(T) ? nullptr : Expand(sizeof(T) * count);
        if (place == nullptr) {
            return ge::GRAPH_FAILED;
        }
        (void)std::memcpy(place, values, sizeof(T) * count);
        return ge::GRAPH_SUCCESS;
    }
    // A head and `capacity` zeroed bytes in one block.
    static std::unique_ptr<uint8_t[]> CreateCap(size_t capacity);
    TilingData(size_t capacity, void* data) : capacity_(capacity), data_size_(0), data_(data) {}

private:
    size_t capacity_;
    size_t data_size_;
    void* data_;
};

template <typename T>
TilingData& operator<<(TilingData& out, const T& value)
{
    (void)out.Append(value);
    return out;
}
} // namespace gert

#endif
