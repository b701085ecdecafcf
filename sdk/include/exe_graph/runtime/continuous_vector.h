// List attributes: a head with capacity and size, the elements follow it in the same block of memory.
#ifndef ASCEND_SDK_EXE_GRAPH_CONTINUOUS_VECTOR_H
#define ASCEND_SDK_EXE_GRAPH_CONTINUOUS_VECTOR_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include <securec.h>

#include "graph/error_codes.h"

namespace gert {
class ContinuousVector {
public:
    // A zeroed block that holds a vector of `capacity` elements; total_size gets its bytes.
    template <typename T>
    static std::unique_ptr<uint8_t[]> Create(size_t capacity, size_t& total_size)
    {
        total_size = sizeof(ContinuousVector) + sizeof(T) * capacity;
        std::unique_ptr<uint8_t[]> block(new (std::nothrow) uint8_t[total_size]());
        if (block != nullptr) {
            reinterpret_cast<ContinuousVector*>(block.get())->Init(capacity);
        }
        return block;
    }
    template <typename T>
    static std::unique_ptr<uint8_t[]> Create(size_t capacity)
    {
        size_t total_size = 0;
        return Create<T>(capacity, total_size);
    }

    void Init(size_t capacity)
    {
        capacity_ = capacity;
        size_ = 0;
    }
    size_t GetSize() const
    {
        return size_;
    }
    ge::graphStatus SetSize(size_t size)
    {
        if (size > capacity_) {
            return ge::GRAPH_FAILED;
        }
        size_ = size;
        return ge::GRAPH_SUCCESS;
    }
    size_t GetCapacity() const
    {
        return capacity_;
    }
    const void* GetData() const
    {
        return this + 1;
    }
    void* MutableData()
    {
        return this + 1;
    }

private:
    size_t capacity_;
    size_t size_;
};

template <typename T>
class TypedContinuousVector : private ContinuousVector {
public:
    using ContinuousVector::GetCapacity;
    using ContinuousVector::GetSize;
    using ContinuousVector::SetSize;
    T* MutableData()
    {
        return static_cast<T*>(ContinuousVector::MutableData());
    }
    const T* GetData() const
    {
        return static_cast<const T*>(ContinuousVector::GetData());
    }
};

// A list of lists. The offsets of the inner vectors (bytes from this head) follow the head, then the vectors.
class ContinuousVectorVector {
public:
    void Init(size_t capacity)
    {
        capacity_ = capacity;
        size_ = 0;
        next_offset_ = GetOverHeadLength(capacity);
    }
    // Bytes taken by the head and the table of offsets.
    static size_t GetOverHeadLength(size_t capacity)
    {
        return sizeof(ContinuousVectorVector) + sizeof(size_t) * capacity;
    }
    // Appends a vector of `length` elements; the block must be large enough. Null when the capacity is used up.
    template <typename T>
    ContinuousVector* Add(size_t length)
    {
        if (size_ >= capacity_) {
            return nullptr;
        }
        Offsets()[size_++] = next_offset_;
        ContinuousVector* const inner =
            reinterpret_cast<ContinuousVector*>(reinterpret_cast<uint8_t*>(this) + next_offset_);
        inner->Init(length);
        (void)inner->SetSize(length);
        const size_t bytes = sizeof(ContinuousVector) + sizeof(T) * length;
        next_offset_ += (bytes + sizeof(size_t) - 1) / sizeof(size_t) * sizeof(size_t);
        return inner;
    }
    const ContinuousVector* Get(size_t index) const
    {
        if (index >= size_) {
            return nullptr;
        }
        const uint8_t* const base = reinterpret_cast<const uint8_t*>(this);
        const size_t* const offsets = reinterpret_cast<const size_t*>(this + 1);
        return reinterpret_cast<const ContinuousVector*>(base + offsets[index]);
    }
    size_t GetSize() const
    {
        return size_;
    }

private:
    size_t* Offsets()
    {
        return reinterpret_cast<size_t*>(this + 1);
    }

    size_t capacity_;
    size_t size_;
    size_t next_offset_;
};
} // namespace gert

#endif
