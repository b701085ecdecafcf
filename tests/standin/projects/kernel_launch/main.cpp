// Launches add_one and looks at its results.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "acl/acl.h"

void add_one_do(uint32_t blockDim, void *stream, uint8_t *x, uint8_t *y);

int main()
{
    constexpr uint32_t CORE_NUM = 4;
    constexpr size_t ELEMENTS = 32768;
    std::vector<aclFloat16> x(ELEMENTS);
    for (size_t i = 0; i < ELEMENTS; i++) {
        x[i] = aclFloatToFloat16(static_cast<float>(i % 64));
    }
    aclInit(nullptr);
    if (aclrtSetDevice(0) != ACL_SUCCESS) {
        return 1;
    }
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    uint8_t *xDevice = nullptr;
    uint8_t *yDevice = nullptr;
    const size_t bytes = ELEMENTS * sizeof(aclFloat16);
    aclrtMalloc((void **)&xDevice, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void **)&yDevice, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(xDevice, bytes, x.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    add_one_do(CORE_NUM, stream, xDevice, yDevice);
    if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) {
        return 1;
    }
    std::vector<aclFloat16> y(ELEMENTS);
    aclrtMemcpy(y.data(), bytes, yDevice, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    size_t wrong = 0;
    for (size_t i = 0; i < ELEMENTS; i++) {
        wrong += aclFloat16ToFloat(y[i]) == static_cast<float>(i % 64) + 1.0f ? 0 : 1;
    }
    aclrtFree(xDevice);
    aclrtFree(yDevice);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    std::printf("%zu wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
}
