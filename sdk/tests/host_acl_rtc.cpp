// Compilation at run time, as far as the simulator has it: what is known, what is refused with which code, and that a launch gets its
// values.
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt_compile.h"
#include "ascendsim/run_time_kernel.h"
#include "host_check.h"
#include "kernel_operator.h"

namespace {
constexpr char kText[] = "template <typename T> __global__ void store(GM_ADDR to, T value, uint8_t small) {}";

constexpr ascendsim::TextDigest DigestOf(const char* text)
{
    ascendsim::TextDigest digest{14695981039346656037ULL, 0};
    for (; text[digest.bytes] != '\0'; ++digest.bytes) {
        digest.hash = (digest.hash ^ static_cast<unsigned char>(text[digest.bytes])) * 1099511628211ULL;
    }
    return digest;
}

template <typename T> void store(GM_ADDR to, T value, uint8_t small)
{
    AscendC::GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(to));
    tensor.SetValue(AscendC::GetBlockIdx(), value + static_cast<T>(small));
}
const ascendsim::RunTimeKernel kOfFloat(DigestOf(kText), "store<float>", "store", &store<float>);
const ascendsim::RunTimeKernel kOfOther(DigestOf("another text"), "store<int32_t>", "store", &store<int32_t>);

aclrtcProg Created(const char* text)
{
    aclrtcProg prog = nullptr;
    CHECK(aclrtcCreateProg(&prog, text, "name", 0, nullptr, nullptr) == ACL_SUCCESS && prog != nullptr);
    return prog;
}

void Refusals()
{
    aclrtcProg prog = nullptr;
    CHECK(aclrtcCreateProg(nullptr, kText, "", 0, nullptr, nullptr) == ACL_ERROR_RTC_INVALID_INPUT);
    const char* headers[] = {"int x;"};
    CHECK(aclrtcCreateProg(&prog, kText, "", 1, headers, headers) == ACL_ERROR_RTC_PROG_CREATION_FAILURE);
    CHECK(aclrtcCompileProg(nullptr, 0, nullptr) == ACL_ERROR_RTC_INVALID_PROG);

    prog = Created("a text that nobody knows");
    CHECK(aclrtcCompileProg(prog, 0, nullptr) == ACL_ERROR_RTC_COMPILATION);
    size_t size = 0;
    CHECK(aclrtcGetCompileLogSize(prog, &size) == ACL_SUCCESS && size > 1);
    std::vector<char> log(size, 'x');
    CHECK(aclrtcGetCompileLog(prog, log.data()) == ACL_SUCCESS && std::strlen(log.data()) + 1 == size);
    CHECK(std::string(log.data()).find("knows no kernel with this text") != std::string::npos);
    CHECK(aclrtcGetBinDataSize(prog, &size) == ACL_ERROR_RTC_FAILURE);
    CHECK(aclrtcDestroyProg(&prog) == ACL_SUCCESS && prog == nullptr);
    CHECK(aclrtcDestroyProg(&prog) == ACL_ERROR_RTC_INVALID_PROG);

    // A kernel of another text is none of this one.
    prog = Created(kText);
    CHECK(aclrtcAddNameExpr(prog, "store<int32_t>") == ACL_SUCCESS);
    CHECK(aclrtcCompileProg(prog, 0, nullptr) == ACL_ERROR_RTC_NAME_EXPR_NOT_VALID);
    CHECK(aclrtcDestroyProg(&prog) == ACL_SUCCESS);

    char bytes[24] = {};
    aclrtBinHandle binary = nullptr;
    CHECK(aclrtBinaryLoadFromData(bytes, sizeof(bytes), nullptr, &binary) == ACL_ERROR_INVALID_PARAM && binary == nullptr);
}

void Launches()
{
    aclrtcProg prog = Created(kText);
    const char* lowered = nullptr;
    CHECK(aclrtcAddNameExpr(prog, "store<float>") == ACL_SUCCESS);
    CHECK(aclrtcGetLoweredName(prog, "store<float>", &lowered) == ACL_ERROR_RTC_NO_LOWERED_NAMES_BEFORE_COMPILATION);
    CHECK(aclrtcCompileProg(prog, 0, nullptr) == ACL_SUCCESS);
    CHECK(aclrtcAddNameExpr(prog, "store<float>") == ACL_ERROR_RTC_NO_NAME_EXPR_AFTER_COMPILATION);
    CHECK(aclrtcGetLoweredName(prog, "store<half>", &lowered) == ACL_ERROR_RTC_NAME_EXPR_NOT_VALID);
    CHECK(aclrtcGetLoweredName(prog, "store<float>", &lowered) == ACL_SUCCESS);
    size_t size = 0;
    CHECK(aclrtcGetBinDataSize(prog, &size) == ACL_SUCCESS);
    std::vector<char> object(size);
    CHECK(aclrtcGetBinData(prog, object.data()) == ACL_SUCCESS);

    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle function = nullptr;
    CHECK(aclrtBinaryLoadFromData(object.data(), size, nullptr, &binary) == ACL_SUCCESS);
    CHECK(aclrtBinaryGetFunction(binary, "no_such", &function) == ACL_ERROR_INVALID_PARAM);
    CHECK(aclrtBinaryGetFunction(binary, lowered, &function) == ACL_SUCCESS);

    constexpr uint32_t kBlocks = 3;
    void* device = nullptr;
    CHECK(aclrtMalloc(&device, 32, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    float value = 2.5F;
    uint8_t small = 4;
    void* values[] = {&device, &value, &small};
    CHECK(aclrtLaunchKernelWithArgsArray(function, 0, nullptr, nullptr, values) == ACL_ERROR_INVALID_PARAM);
    CHECK(aclrtLaunchKernelWithArgsArray(function, kBlocks, nullptr, nullptr, nullptr) == ACL_ERROR_INVALID_PARAM);
    CHECK(aclrtLaunchKernelWithArgsArray(function, kBlocks, nullptr, nullptr, values) == ACL_SUCCESS);
    const auto holds = [&](float wanted) {
        float found[kBlocks] = {};
        CHECK(aclrtMemcpy(found, sizeof(found), device, sizeof(found), ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
        for (const float one : found) {
            CHECK(one == wanted);
        }
    };
    holds(6.5F);

    aclrtArgsHandle arguments = nullptr;
    CHECK(aclrtKernelArgsInit(function, &arguments) == ACL_SUCCESS);
    value = 10;
    CHECK(aclrtKernelArgsAppend(arguments, &device, sizeof(device), nullptr) == ACL_SUCCESS);
    CHECK(aclrtKernelArgsAppend(arguments, &value, sizeof(value), nullptr) == ACL_SUCCESS);
    CHECK(aclrtKernelArgsFinalize(arguments) == ACL_SUCCESS);
    CHECK(aclrtLaunchKernelWithConfig(function, kBlocks, nullptr, nullptr, arguments, nullptr) == ACL_ERROR_INVALID_PARAM);
    CHECK(aclrtKernelArgsAppend(arguments, &small, sizeof(small), nullptr) == ACL_SUCCESS);
    value = 0; // they were taken as they were
    CHECK(aclrtLaunchKernelWithConfig(function, kBlocks, nullptr, nullptr, arguments, nullptr) == ACL_SUCCESS);
    holds(14.0F);
    CHECK(aclrtBinaryUnLoad(binary) == ACL_SUCCESS && aclrtFree(device) == ACL_SUCCESS);
    CHECK(aclrtcDestroyProg(&prog) == ACL_SUCCESS);
}
} // namespace

int main()
{
    Refusals();
    Launches();
    return CHECK_RESULT();
}
