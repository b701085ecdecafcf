// Bounds-checked memory and string functions that host code of operators calls.
// A failed check returns an error code and leaves the destination in a defined state, as the C11 Annex K family does.
#ifndef ASCEND_SDK_SECUREC_H
#define ASCEND_SDK_SECUREC_H

#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

#ifndef EOK
#define EOK 0
#endif
#ifndef EINVAL
#define EINVAL 22
#endif
#ifndef ERANGE
#define ERANGE 34
#endif
#ifndef EINVAL_AND_RESET
#define EINVAL_AND_RESET 150
#endif
#ifndef ERANGE_AND_RESET
#define ERANGE_AND_RESET 162
#endif
#ifndef EOVERLAP_AND_RESET
#define EOVERLAP_AND_RESET 182
#endif
#ifndef SECUREC_MEM_MAX_LEN
#define SECUREC_MEM_MAX_LEN 0x7fffffffUL
#endif

typedef int errno_t;

inline errno_t memset_s(void* dest, size_t destMax, int c, size_t count)
{
    if (destMax == 0 || destMax > SECUREC_MEM_MAX_LEN) {
        return ERANGE;
    }
    if (dest == nullptr) {
        return EINVAL;
    }
    if (count > destMax) {
        (void)std::memset(dest, c, destMax);
        return ERANGE_AND_RESET;
    }
    (void)std::memset(dest, c, count);
    return EOK;
}

inline errno_t memcpy_s(void* dest, size_t destMax, const void* src, size_t count)
{
    if (destMax == 0 || destMax > SECUREC_MEM_MAX_LEN) {
        return ERANGE;
    }
    if (dest == nullptr) {
        return EINVAL;
    }
    if (src == nullptr) {
        (void)std::memset(dest, 0, destMax);
        return EINVAL_AND_RESET;
    }
    if (count > destMax) {
        (void)std::memset(dest, 0, destMax);
        return ERANGE_AND_RESET;
    }
    const char* from = static_cast<const char*>(src);
    const char* to = static_cast<const char*>(dest);
    const bool apart = from + count <= to || to + count <= from;
    if (!apart && from != to) {
        (void)std::memset(dest, 0, destMax);
        return EOVERLAP_AND_RESET;
    }
    (void)std::memmove(dest, src, count);
    return EOK;
}

inline errno_t memmove_s(void* dest, size_t destMax, const void* src, size_t count)
{
    if (destMax == 0 || destMax > SECUREC_MEM_MAX_LEN) {
        return ERANGE;
    }
    if (dest == nullptr || src == nullptr) {
        return EINVAL;
    }
    if (count > destMax) {
        (void)std::memset(dest, 0, destMax);
        return ERANGE_AND_RESET;
    }
    (void)std::memmove(dest, src, count);
    return EOK;
}

inline errno_t strncpy_s(char* dest, size_t destMax, const char* src, size_t count)
{
    if (dest == nullptr || destMax == 0) {
        return EINVAL;
    }
    size_t length = 0;
    while (src != nullptr && length < count && src[length] != '\0') {
        ++length;
    }
    if (src == nullptr || length >= destMax) {
        dest[0] = '\0';
        return src == nullptr ? EINVAL_AND_RESET : ERANGE_AND_RESET;
    }
    (void)std::memcpy(dest, src, length);
    dest[length] = '\0';
    return EOK;
}

inline errno_t strcpy_s(char* dest, size_t destMax, const char* src)
{
    return strncpy_s(dest, destMax, src, static_cast<size_t>(-1));
}

inline errno_t strcat_s(char* dest, size_t destMax, const char* src)
{
    if (dest == nullptr || destMax == 0) {
        return EINVAL;
    }
    size_t used = 0;
    while (used < destMax && dest[used] != '\0') {
        ++used;
    }
    if (used == destMax) {
        dest[0] = '\0';
        return EINVAL_AND_RESET;
    }
    const errno_t result = strcpy_s(dest + used, destMax - used, src);
    if (result != EOK) {
        dest[0] = '\0';
    }
    return result;
}

// Both return the number of characters written, or -1 when the text does not fit.
inline int vsnprintf_s(char* dest, size_t destMax, size_t count, const char* format, va_list arguments)
{
    if (dest == nullptr || destMax == 0 || format == nullptr) {
        return -1;
    }
    const size_t room = count + 1 < destMax ? count + 1 : destMax;
    const int written = std::vsnprintf(dest, room, format, arguments);
    return written < 0 || static_cast<size_t>(written) >= room ? -1 : written;
}

inline int snprintf_s(char* dest, size_t destMax, size_t count, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf_s(dest, destMax, count, format, arguments);
    va_end(arguments);
    return written;
}

inline int sprintf_s(char* dest, size_t destMax, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf_s(dest, destMax, destMax, format, arguments);
    va_end(arguments);
    return written;
}

#endif
