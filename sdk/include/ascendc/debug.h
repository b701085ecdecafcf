// Debugging aids. What a kernel prints becomes a note in the trace and a line on the standard error output.
#ifndef ASCENDC_DEBUG_H
#define ASCENDC_DEBUG_H

#include "ascendc/tensor.h"

extern "C" int printf(const char* __restrict format, ...);
extern "C" int dprintf(int fd, const char* __restrict format, ...);

namespace AscendC {
namespace detail {

constexpr size_t PRINT_BYTES = 1024;

/// 16-bit floats go through the varargs of C as numbers.
template <typename T>
ASC_API auto Printable(T value)
{
    if constexpr (std::is_same<T, half>::value || std::is_same<T, bfloat16_t>::value) {
        return static_cast<double>(static_cast<float>(value));
    } else {
        return value;
    }
}

ASC_API void Publish(const char* text)
{
    constexpr int standardError = 2;
    ascendsim::Note(text);
    dprintf(standardError, "[block %lld] %s%s", static_cast<long long>(ascendsim::BlockIdx()), text,
            text[0] != '\0' && text[__builtin_strlen(text) - 1] == '\n' ? "" : "\n");
}

/// A growing text with one element after another.
class DumpText {
public:
    template <typename... Args>
    ASC_API void Add(const char* format, Args... args)
    {
        if (length_ + 1 < sizeof(text_)) {
            const int added = __builtin_snprintf(text_ + length_, sizeof(text_) - length_, format, args...);
            length_ += added > 0 ? static_cast<size_t>(added) : 0;
            length_ = length_ < sizeof(text_) ? length_ : sizeof(text_) - 1;
        }
    }
    template <typename T>
    ASC_API void AddElement(T value)
    {
        if constexpr (std::is_integral<T>::value) {
            Add(" %lld", static_cast<long long>(value));
        } else if constexpr (std::is_same<T, int4b_t>::value) {
            Add(" 0x%02x", static_cast<unsigned>(value.storage));
        } else {
            Add(" %g", static_cast<double>(static_cast<float>(value)));
        }
    }
    ASC_API const char* Text() const { return text_; }

private:
    char text_[PRINT_BYTES] = {};
    size_t length_ = 0;
};

template <typename Tensor>
ASC_API void Dump(const char* where, const Tensor& tensor, uint32_t desc, uint32_t dumpSize)
{
    DumpText text;
    text.Add("DumpTensor: desc %u, %s, %u elements:", desc, where, dumpSize);
    for (uint32_t i = 0; i < dumpSize; ++i) {
        text.AddElement(tensor.GetValue(i));
    }
    Publish(text.Text());
}

}  // namespace detail

// Programs that use the whole namespace call printf from their host code too: there it is the C library's.
template <typename... Args>
ASC_API int printf(const char* format, Args... args)
{
    if (!ascendsim::InLaunch()) {
        return ::printf(format, detail::Printable(args)...);
    }
    char text[detail::PRINT_BYTES];
    const int length = __builtin_snprintf(text, sizeof(text), format, detail::Printable(args)...);
    detail::Publish(text);
    return length;
}
template <typename... Args>
ASC_API void PRINTF(const char* format, Args... args)
{
    printf(format, args...);
}

/// Where the text of a dump goes, for kernels that say so themselves; here it goes where it always does.
ASC_API void InitDump(bool mixed, uint32_t bytes)
{
    (void)mixed;
    (void)bytes;
}
ASC_API void InitDump(bool mixed, GM_ADDR start, uint32_t bytes)
{
    (void)mixed;
    (void)start;
    (void)bytes;
}

/// The first dumpSize elements.
template <typename T>
ASC_API void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize)
{
    detail::Dump("UB", tensor, desc, dumpSize);
}
template <typename T>
ASC_API void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize)
{
    detail::Dump("GM", tensor, desc, dumpSize);
}
template <typename T>
ASC_API void DumpTensor(
    const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo& shapeInfo)
{
    (void)shapeInfo;
    detail::Dump("UB", tensor, desc, dumpSize);
}
template <typename T>
ASC_API void DumpTensor(
    const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo& shapeInfo)
{
    (void)shapeInfo;
    detail::Dump("GM", tensor, desc, dumpSize);
}
/// dumpSize elements from element countOff.
template <typename T>
ASC_API void DumpAccChkPoint(const LocalTensor<T>& tensor, uint32_t index, uint32_t countOff, uint32_t dumpSize)
{
    detail::Dump("UB", tensor[countOff], index, dumpSize);
}
template <typename T>
ASC_API void DumpAccChkPoint(const GlobalTensor<T>& tensor, uint32_t index, uint32_t countOff, uint32_t dumpSize)
{
    detail::Dump("GM", tensor[countOff], index, dumpSize);
}
ASC_API void PrintTimeStamp(uint32_t descId) { (void)descId; }
ASC_API void MetricsProfStart() {}
ASC_API void MetricsProfStop() {}
ASC_API void OOMCheckAddrRange(GM_ADDR address, const uint64_t size)
{
    (void)address;
    (void)size;
}

}  // namespace AscendC

// Not even parsed: kernels assert on names that exist only in debug builds, and leave out the semicolon.
#undef ASSERT
#define ASSERT(...)
#undef ASSERT_MSG
#define ASSERT_MSG(...)
#undef ascendc_assert
#define ascendc_assert(...)
#undef ASCENDC_ASSERT
#define ASCENDC_ASSERT(...)
#define KERNEL_LOG(...)
#ifndef assert
#define assert(...)
#endif
#define PRELOAD(len)

#endif
