// Device memory is poisoned, copies are checked, host memory can be filled with a deterministic pattern.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"
#include "host_check.h"
#include "machine/machine.h"

int main()
{
    CHECK(aclInit(nullptr) == ACL_SUCCESS);
    CHECK(aclrtSetDevice(0) == ACL_SUCCESS && aclrtSetDevice(3) == ACL_ERROR_INVALID_DEVICE);
    CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_INVALID_DEVICE);
    CHECK(aclGetRecentErrMsg() != nullptr && aclGetRecentErrMsg() == nullptr);
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS && stream != nullptr);

    void* device = nullptr;
    CHECK(aclrtMalloc(&device, 1000, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    const unsigned char* const bytes = static_cast<unsigned char*>(device);
    CHECK(bytes[0] == ascendsim::Poison() && bytes[999] == ascendsim::Poison());
    CHECK(ascendsim::FindRegion(device) != nullptr && ascendsim::FindRegion(device)->size == 1000);

    void* host = nullptr;
    CHECK(aclrtMallocHost(&host, 1000) == ACL_SUCCESS);
    unsigned char* const text = static_cast<unsigned char*>(host);
    CHECK(text[0] == 0 && text[999] == 0);
    for (int i = 0; i < 1000; ++i) {
        text[i] = static_cast<unsigned char>(i);
    }
    CHECK(aclrtMemcpy(device, 1000, host, 1000, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
    CHECK(bytes[300] == static_cast<unsigned char>(300));
    CHECK(aclrtMemcpy(device, 999, host, 1000, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_ERROR_INVALID_PARAM);
    CHECK(aclrtMemcpy(device, 2000, host, 1001, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_ERROR_INVALID_PARAM);
    CHECK(aclrtMemcpy(host, 1000, text + 1, 10, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_ERROR_INVALID_PARAM);
    CHECK(aclrtMemset(device, 1000, 0, 1000) == ACL_SUCCESS && bytes[999] == 0);
    CHECK(aclrtMemset(static_cast<char*>(device) + 1, 1000, 0, 1000) == ACL_ERROR_INVALID_PARAM);

    CHECK(setenv("ASCEND_SIM_HOST_FILL", "7", 1) == 0);
    void* filled = nullptr;
    CHECK(aclrtMallocHost(&filled, 4096 + 6) == ACL_SUCCESS);
    int zeros = 0;
    for (int i = 0; i < 2051; ++i) {
        aclFloat16 bits = 0;
        std::memcpy(&bits, static_cast<char*>(filled) + 2 * i, sizeof(bits));
        const float value = aclFloat16ToFloat(bits);
        CHECK(std::isfinite(value) && value >= -2.0F && value < 2.0F);
        zeros += value == 0.0F ? 1 : 0;
    }
    CHECK(zeros < 50);
    CHECK(aclFloatToFloat16(1.0F) == 0x3C00 && aclDataTypeSize(ACL_BF16) == 2);

    int64_t cores = 0;
    CHECK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores) == ACL_SUCCESS && cores == 48);
    CHECK(std::strcmp(aclrtGetSocName(), "Ascend910B2") == 0);
    CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
    CHECK(aclrtFree(device) == ACL_SUCCESS && aclrtFree(device) == ACL_ERROR_INVALID_PARAM);
    CHECK(aclrtFreeHost(host) == ACL_SUCCESS && aclrtFreeHost(filled) == ACL_SUCCESS);
    CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS);
    CHECK(aclFinalize() == ACL_ERROR_REPEAT_FINALIZE);
    return CHECK_RESULT();
}
