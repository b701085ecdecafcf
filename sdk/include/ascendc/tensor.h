// Tensors: typed views of global memory and of the Unified Buffer.
#ifndef ASCENDC_TENSOR_H
#define ASCENDC_TENSOR_H

#include "ascendc/fault.h"

namespace AscendC {

using TBufHandle = uint8_t*;
using TEventID = int8_t;
using TTagType = int32_t;

/// Where a local tensor lies. bufferAddr is the byte offset in its memory.
struct TBuffAddr {
    uint32_t dataLen = 0;
    uint32_t bufferAddr = 0;
    TBufHandle bufferHandle = nullptr;
    uint8_t logicPos = 0;
};

struct ShapeInfo {
    ASC_API ShapeInfo() {}
    ASC_API ShapeInfo(
        const uint8_t rank, const uint32_t sizes[], const uint8_t originalRank, const uint32_t originalSizes[],
        const DataFormat format)
    {
        shapeDim = rank;
        originalShapeDim = originalRank;
        dataFormat = format;
        for (int axis = 0; axis < rank && axis < capacity; ++axis) {
            shape[axis] = sizes[axis];
        }
        for (int axis = 0; axis < originalRank && axis < capacity; ++axis) {
            originalShape[axis] = originalSizes[axis];
        }
    }
    ASC_API ShapeInfo(const uint8_t rank, const uint32_t sizes[], const DataFormat format)
        : ShapeInfo(rank, sizes, rank, sizes, format)
    {}
    ASC_API ShapeInfo(const uint8_t rank, const uint32_t sizes[])
        : ShapeInfo(rank, sizes, rank, sizes, DataFormat::ND)
    {}
    static constexpr int32_t capacity = K_MAX_SHAPE_DIM > 0 ? K_MAX_SHAPE_DIM : 1;
    uint8_t shapeDim = 0;
    uint8_t originalShapeDim = 0;
    uint32_t shape[capacity] = {};
    uint32_t originalShape[capacity] = {};
    DataFormat dataFormat = DataFormat::ND;
};

ASC_API uint64_t GetShapeSize(const ShapeInfo& shapeInfo)
{
    uint64_t size = 1;
    for (int i = 0; i < shapeInfo.shapeDim && i < ShapeInfo::capacity; ++i) {
        size *= shapeInfo.shape[i];
    }
    return size;
}

namespace detail {
/// What an out-of-range reference refers to: the machine recorded the fault, the program must not crash.
template <typename T>
ASC_API T& Nowhere()
{
    static T nowhere;
    nowhere = T();
    return nowhere;
}

/// The scalar unit reads and writes registers.
template <typename T>
ASC_API void CheckFitsRegister()
{
    static_assert(sizeof(T) <= 8, "GetValue, SetValue and operator(): elements have at most 8 bytes");
}

template <typename T>
ASC_API T ReadScalar(const T* ptr)
{
    CheckFitsRegister<T>();
    return ascendsim::ScalarRead(ptr, sizeof(T)) ? *ptr : T();
}
template <typename T>
ASC_API void WriteScalar(T* ptr, T value)
{
    CheckFitsRegister<T>();
    if (ascendsim::ScalarStore(ptr, &value, sizeof(T))) {
        *ptr = value;
    }
}
}  // namespace detail

namespace detail {
/// First byte of the memory that a position stands for. A vector core has the Unified Buffer only, and what it does with
/// positions of the cube core's memories is not executed.
ASC_API uint8_t* MemoryOf(uint8_t position)
{
    if constexpr (g_coreType == AIV) {
        (void)position;
        return ascendsim::UbBase();
    } else {
        switch (GetPhyType(static_cast<TPosition>(position))) {
            case Hardware::L1: return ascendsim::OnChipBase(2);
            case Hardware::L0A: return ascendsim::OnChipBase(3);
            case Hardware::L0B: return ascendsim::OnChipBase(4);
            case Hardware::L0C: return ascendsim::OnChipBase(5);
            case Hardware::BIAS: return ascendsim::OnChipBase(6);
            case Hardware::FIXBUF: return ascendsim::OnChipBase(7);
            default: return ascendsim::UbBase();
        }
    }
}
/// A memory's number in the trace.
constexpr uint32_t SpaceOf(Hardware memory)
{
    switch (memory) {
        case Hardware::L1: return 2;
        case Hardware::L0A: return 3;
        case Hardware::L0B: return 4;
        case Hardware::L0C: return 5;
        case Hardware::BIAS: return 6;
        case Hardware::FIXBUF: return 7;
        default: return 0;
    }
}
}  // namespace detail

namespace detail {
/// The tag of a queue's buffer; defined with the buffers.
ASC_API TTagType& TagOf(TBufHandle handle);
}  // namespace detail

/// A view of elements in on-chip memory.
template <typename T>
class LocalTensor {
public:
    using PrimType = T;

    ASC_API LocalTensor() {}
    /// `tileSize` elements from byte offset `addr` of the memory of `pos`.
    ASC_API LocalTensor(TPosition pos, uint32_t addr, uint32_t tileSize)
    {
        address_.logicPos = static_cast<uint8_t>(pos);
        address_.bufferAddr = addr;
        address_.dataLen = detail::BytesOf<T>(tileSize);
    }
    ASC_API explicit LocalTensor(uint32_t addr)
    {
        address_.logicPos = static_cast<uint8_t>(TPosition::VECCALC);
        address_.bufferAddr = addr;
    }

    ASC_API uint64_t GetPhyAddr() const { return reinterpret_cast<uint64_t>(detail::MemoryOf(address_.logicPos)) + address_.bufferAddr; }
    ASC_API uint64_t GetPhyAddr(const uint32_t offset) const { return GetPhyAddr() + detail::BytesOf<T>(uint64_t(offset)); }

    ASC_API T GetValue(const uint32_t index) const { return detail::ReadScalar(Element(index)); }
    template <typename S>
    ASC_API void SetValue(const uint32_t index, const S value) const
    {
        detail::WriteScalar(Element(index), static_cast<T>(value));
    }
    /// A reference is announced as a write: it is mostly assigned to, and a read before an assignment would look like
    /// use of unwritten memory.
    ASC_API T& operator()(const uint32_t offset) const
    {
        detail::CheckFitsRegister<T>();
        T* ptr = Element(offset);
        return ascendsim::ScalarWrite(ptr, sizeof(T)) ? *ptr : detail::Nowhere<T>();
    }

    ASC_API LocalTensor operator[](const uint32_t offset) const
    {
        LocalTensor result = *this;
        result.address_.bufferAddr += detail::BytesOf<T>(offset);
        result.address_.dataLen -= detail::BytesOf<T>(offset);
        return result;
    }
    template <typename U>
    ASC_API LocalTensor<U> ReinterpretCast() const
    {
        LocalTensor<U> result;
        result.address_ = address_;
        return result;
    }
    /// `offset` counts elements of the other tensor.
    template <typename S>
    ASC_API void SetAddrWithOffset(LocalTensor<S>& src, uint32_t offset)
    {
        address_ = src.address_;
        address_.bufferAddr += detail::BytesOf<S>(offset);
    }
    template <typename S = T>
    ASC_API void CreateTensor(TPosition pos, uint32_t addr, uint32_t tileSize)
    {
        *this = LocalTensor(pos, addr, tileSize);
    }

    ASC_API void SetAddr(const TBuffAddr& address) { address_ = address; }
    ASC_API TBufHandle GetBufferHandle() const { return address_.bufferHandle; }
    ASC_API int32_t GetPosition() const { return address_.logicPos; }
    ASC_API void SetSize(const uint32_t size) { address_.dataLen = detail::BytesOf<T>(size); }
    ASC_API uint32_t GetSize() const { return detail::ElementsIn<T>(address_.dataLen); }
    ASC_API uint32_t GetLength() const { return address_.dataLen; }
    /// In bytes, unlike SetSize.
    ASC_API void SetBufferLen(uint32_t dataLen) { address_.dataLen = dataLen; }
    /// The tag of a queue's tensor is its buffer's: it goes through the queue with it.
    ASC_API void SetUserTag(const TTagType tag)
    {
        if (address_.bufferHandle != nullptr) {
            detail::TagOf(address_.bufferHandle) = tag;
        }
        userTag_ = tag;
    }
    ASC_API TTagType GetUserTag() const
    {
        return address_.bufferHandle != nullptr ? detail::TagOf(address_.bufferHandle) : userTag_;
    }
    ASC_API void SetShapeInfo(const ShapeInfo& shapeInfo) { shapeInfo_ = shapeInfo; }
    ASC_API ShapeInfo GetShapeInfo() const { return shapeInfo_; }

    /// `a = b + c` and its like; defined with the operators.
    template <typename E, typename E::Operand* = nullptr>
    ASC_API void operator=(const E& expression)
    {
        expression.AssignTo(*this);
    }

public:
    TBuffAddr address_;
    ShapeInfo shapeInfo_;

private:
    ASC_API T* Element(uint32_t index) const { return reinterpret_cast<T*>(GetPhyAddr(index)); }

    TTagType userTag_ = -1;
};

/// A view of elements in global memory.
template <typename T>
class GlobalTensor {
public:
    using PrimType = T;

    ASC_API GlobalTensor() {}

    ASC_API void SetGlobalBuffer(__gm__ T* buffer, uint64_t bufferSize)
    {
        address_ = buffer;
        oriAddress_ = buffer;
        bufferSize_ = bufferSize;
    }
    ASC_API void SetGlobalBuffer(__gm__ T* buffer) { SetGlobalBuffer(buffer, 0); }

    ASC_API const __gm__ T* GetPhyAddr() const { return address_; }
    ASC_API __gm__ T* GetPhyAddr(const uint64_t offset) const { return Element(offset); }
    ASC_API T GetValue(const uint64_t offset) const { return detail::ReadScalar(Element(offset)); }
    ASC_API void SetValue(const uint64_t offset, T value) { detail::WriteScalar(Element(offset), value); }
    ASC_API __gm__ T& operator()(const uint64_t offset) const
    {
        detail::CheckFitsRegister<T>();
        T* ptr = Element(offset);
        return ascendsim::ScalarRead(ptr, sizeof(T)) ? *ptr : detail::Nowhere<T>();
    }
    ASC_API uint64_t GetSize() const { return bufferSize_; }
    ASC_API GlobalTensor operator[](const uint64_t offset) const
    {
        GlobalTensor result = *this;
        result.SetAddr(offset);
        return result;
    }
    ASC_API void SetAddr(const uint64_t offset)
    {
        address_ = Element(offset);
        oriAddress_ = address_;
    }
    template <typename U>
    ASC_API GlobalTensor<U> ReinterpretCast() const
    {
        GlobalTensor<U> result;
        result.SetGlobalBuffer(
            reinterpret_cast<__gm__ U*>(address_), detail::ElementsIn<U>(detail::BytesOf<T>(bufferSize_)));
        result.cacheMode_ = cacheMode_;
        result.cacheRwMode_ = cacheRwMode_;
        return result;
    }
    ASC_API void SetShapeInfo(const ShapeInfo& shapeInfo) { shapeInfo_ = shapeInfo; }
    ASC_API ShapeInfo GetShapeInfo() const { return shapeInfo_; }
    template <CacheRwMode rwMode = CacheRwMode::RW>
    ASC_API void SetL2CacheHint(CacheMode mode)
    {
        cacheMode_ = mode;
        cacheRwMode_ = rwMode;
    }
    /// Whether transfers in the given direction (READ or WRITE) leave L2 alone.
    ASC_API bool BypassesL2(CacheRwMode direction) const
    {
        return cacheMode_ == CacheMode::CACHE_MODE_DISABLE
            && (static_cast<int>(cacheRwMode_) & static_cast<int>(direction)) != 0;
    }

public:
    __gm__ T* address_ = nullptr;
    __gm__ T* oriAddress_ = nullptr;
    uint64_t bufferSize_ = 0;
    ShapeInfo shapeInfo_;
    CacheMode cacheMode_ = CacheMode::CACHE_MODE_NORMAL;
    CacheRwMode cacheRwMode_ = CacheRwMode::RW;

private:
    ASC_API __gm__ T* Element(uint64_t offset) const
    {
        return reinterpret_cast<__gm__ T*>(
            reinterpret_cast<__gm__ uint8_t*>(address_) + detail::BytesOf<T>(offset));
    }
};

namespace detail {
/// Address of a tensor's first element as instructions take it.
template <typename T>
ASC_API __ubuf__ T* Ub(const LocalTensor<T>& tensor)
{
    return reinterpret_cast<__ubuf__ T*>(tensor.GetPhyAddr());
}
/// The same with another element type of the same width.
template <typename U, typename T>
ASC_API __ubuf__ U* UbAs(const LocalTensor<T>& tensor)
{
    return reinterpret_cast<__ubuf__ U*>(tensor.GetPhyAddr());
}
/// A block of UB that library functions keep for themselves.
template <typename T>
ASC_API __ubuf__ T* UbScratch()
{
    return reinterpret_cast<__ubuf__ T*>(ascendsim::UbBase() + TMP_UB_OFFSET);
}

/// Bytes of a memory that buffers may be cut from. Of the Unified Buffer that is all of it: kernels that know its size
/// take the bytes too that tiling functions are not told of.
ASC_API uint32_t MemorySize(Hardware memory)
{
    switch (memory) {
        case Hardware::L1: return TOTAL_L1_SIZE;
        case Hardware::L0A: return TOTAL_L0A_SIZE;
        case Hardware::L0B: return TOTAL_L0B_SIZE;
        case Hardware::L0C: return TOTAL_L0C_SIZE;
        case Hardware::BIAS: return 1024;
        case Hardware::FIXBUF: return 2048;
        default: return static_cast<uint32_t>(ascendsim::UbSize() + ascendsim::kUbReservedBytes);
    }
}
}  // namespace detail

/// Hands out ranges of one memory one after another, for kernels without a pipe object.
template <Hardware hard = Hardware::UB>
class LocalMemAllocator {

public:
    ASC_API LocalMemAllocator() {}
    ASC_API uint32_t GetCurAddr() const { return head_; }
    template <TPosition pos, class DataType, uint32_t tileSize>
    ASC_API LocalTensor<DataType> Alloc()
    {
        return Take<DataType>(pos, tileSize);
    }
    template <TPosition pos, class DataType>
    ASC_API LocalTensor<DataType> Alloc(uint32_t tileSize)
    {
        return Take<DataType>(pos, tileSize);
    }
    template <class DataType, uint32_t tileSize>
    ASC_API LocalTensor<DataType> Alloc()
    {
        return Take<DataType>(TPosition::VECCALC, tileSize);
    }
    template <class DataType>
    ASC_API LocalTensor<DataType> Alloc(uint32_t tileSize)
    {
        return Take<DataType>(TPosition::VECCALC, tileSize);
    }

private:
    template <class DataType>
    ASC_API LocalTensor<DataType> Take(TPosition pos, uint32_t tileSize)
    {
        const uint64_t bytes = (detail::BytesOf<DataType>(uint64_t(tileSize)) + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE;
        const uint64_t size = detail::MemorySize(hard);
        if (head_ + bytes > size) {
            ascendsim::Fault(
                "ub_overflow",
                detail::Describe("LocalMemAllocator: asked for ", bytes, " bytes, free are ",
                                 size > head_ ? size - head_ : 0).Text());
        }
        LocalTensor<DataType> tensor(pos, head_, tileSize);
        head_ += static_cast<uint32_t>(bytes);
        return tensor;
    }

    uint32_t head_ = 0;
};

}  // namespace AscendC

#endif
