// The one macro that the host tests need: counts and prints failures.
#ifndef ASCEND_SDK_TESTS_HOST_CHECK_H
#define ASCEND_SDK_TESTS_HOST_CHECK_H

#include <cstdio>

namespace host_check {
inline int& Failures()
{
    static int failures = 0;
    return failures;
}
} // namespace host_check

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            (void)std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            ++host_check::Failures();                                                 \
        }                                                                             \
    } while (0)

#define CHECK_RESULT() (host_check::Failures() == 0 ? 0 : 1)

#endif
