// Tensor lists: dynamic inputs arrive as one address of a descriptor in GM.
//
// Layout, in 64-bit words: word 0 is the byte offset of the pointer table; then per tensor one word with the number of
// dimensions in its low half, followed by the dimensions; the pointer table comes last. A list of pointers alone has one such
// word, without dimensions and with the number of tensors in its high half, and a word that says 0xFFFFFFFF.
#ifndef ASCENDC_LIST_TENSOR_H
#define ASCENDC_LIST_TENSOR_H

#include "ascendc/tensor.h"

namespace AscendC {

class ListTensorDesc;

template <class T>
class TensorDesc {
public:
    ASC_API TensorDesc() {}
    /// Where GetDesc puts the dimensions.
    ASC_API void SetShapeAddr(uint64_t* shapePtr) { shape_ = shapePtr; }
    ASC_API uint64_t GetDim() { return dim_; }
    ASC_API uint64_t GetIndex() { return index_; }
    ASC_API uint64_t GetShape(uint32_t offset) { return shape_ != nullptr && offset < dim_ ? shape_[offset] : 0; }
    ASC_API __gm__ T* GetDataPtr() { return data_; }
    ASC_API GlobalTensor<T> GetDataObj()
    {
        GlobalTensor<T> tensor;
        tensor.SetGlobalBuffer(data_);
        return tensor;
    }

private:
    friend class ListTensorDesc;
    __gm__ T* data_ = nullptr;
    uint64_t* shape_ = nullptr;
    uint64_t dim_ = 0;
    uint64_t index_ = 0;
};

class ListTensorDesc {
public:
    ASC_API ListTensorDesc() {}
    ASC_API ListTensorDesc(__gm__ void* data, uint32_t length = 0xFFFFFFFFu, uint32_t shapeSize = 0xFFFFFFFFu)
    {
        Init(data, length, shapeSize);
    }
    ASC_API void Init(__gm__ void* data, uint32_t length = 0xFFFFFFFFu, uint32_t shapeSize = 0xFFFFFFFFu)
    {
        (void)length;
        (void)shapeSize;
        words_ = static_cast<__gm__ uint64_t*>(data);
        table_ = words_ + detail::ReadScalar(words_) / sizeof(uint64_t);
        size_ = 0;
        if (words_ + 3 == table_ && detail::ReadScalar(words_ + 2) == 0xFFFFFFFFu && DimAt(words_ + 1) == 0) {
            const uint32_t pointers = static_cast<uint32_t>(detail::ReadScalar(words_ + 1) >> 32);
            size_ = pointers != 0 ? pointers : 1;
            return;
        }
        for (__gm__ uint64_t* at = words_ + 1; at < table_; at += 1 + DimAt(at)) {
            ++size_;
        }
    }
    template <class T>
    ASC_API void GetDesc(TensorDesc<T>& desc, uint32_t index)
    {
        __gm__ uint64_t* at = words_ + 1;
        for (uint32_t i = 0; i < index && at < table_; ++i) {
            at += 1 + DimAt(at);
        }
        if (at >= table_) {
            ascendsim::Fault(
                "bad_argument",
                detail::Describe("ListTensorDesc: tensor ", index, " of a list of ", size_, "").Text());
            return;
        }
        const uint64_t head = detail::ReadScalar(at);
        desc.dim_ = head & 0xFFFFFFFFu;
        desc.index_ = index;
        for (uint64_t d = 0; d < desc.dim_ && desc.shape_ != nullptr; ++d) {
            desc.shape_[d] = detail::ReadScalar(at + 1 + d);
        }
        desc.data_ = GetDataPtr<T>(index);
    }
    template <class T>
    ASC_API __gm__ T* GetDataPtr(uint32_t index)
    {
        return reinterpret_cast<__gm__ T*>(detail::ReadScalar(table_ + index));
    }
    ASC_API uint32_t GetSize() { return size_; }

private:
    ASC_API static uint64_t DimAt(const __gm__ uint64_t* at) { return detail::ReadScalar(at) & 0xFFFFFFFFu; }

    __gm__ uint64_t* words_ = nullptr;
    __gm__ uint64_t* table_ = nullptr;
    uint32_t size_ = 0;
};

}  // namespace AscendC

#endif
