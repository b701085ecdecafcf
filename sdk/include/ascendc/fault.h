// Texts of API misuse records.
#ifndef ASCENDC_FAULT_H
#define ASCENDC_FAULT_H

#include "ascendc/defs.h"

namespace AscendC {
namespace detail {

/// A short text put together from words and numbers, without any library.
class FaultText {
public:
    FaultText& operator<<(const char* words)
    {
        while (*words != '\0' && length_ + 1 < sizeof(text_)) {
            text_[length_++] = *words++;
        }
        text_[length_] = '\0';
        return *this;
    }
    FaultText& operator<<(uint64_t number)
    {
        char digits[21];
        int at = 20;
        digits[at] = '\0';
        do {
            digits[--at] = static_cast<char>('0' + number % 10);
            number /= 10;
        } while (number != 0);
        return *this << static_cast<const char*>(digits + at);
    }
    const char* Text() const { return text_; }

private:
    char text_[256] = {};
    uint32_t length_ = 0;
};

// Out of line on purpose: faults are rare, and kernels stay small. Only the text is made here; the
// call of ascendsim::Fault stays in the caller, whose line the record must name.
__attribute__((noinline, cold)) inline FaultText Describe(
    const char* before, uint64_t first, const char* between = "", uint64_t second = 0, const char* after = "")
{
    FaultText text;
    text << before << first << between;
    if (*between != '\0') {
        text << second;
    }
    return text << after;
}

}  // namespace detail
}  // namespace AscendC

#endif
