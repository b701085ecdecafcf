// y = 3 x over floats; the kernel is text that is compiled while this runs.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt_compile.h"

#define NEED(call)                                                                     \
    do {                                                                               \
        if (const aclError error = (call); error != ACL_SUCCESS) {                     \
            std::fprintf(stderr, "%s: %d %s\n", #call, error, aclGetRecentErrMsg());   \
            return 1;                                                                  \
        }                                                                              \
    } while (0)

constexpr uint32_t CORE_NUM = 4;
constexpr uint32_t ELEMENTS = 32768;

int main()
{
    const char *source = R"--(
#include "kernel_operator.h"

constexpr uint32_t TILE_LENGTH = 256; // floats of one tile

namespace scaling {
template <typename T>
__global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, uint32_t elements)
{
    const uint32_t coreLength = elements / AscendC::GetBlockNum();
    const uint32_t offset = coreLength * AscendC::GetBlockIdx();
    AscendC::GlobalTensor<T> xGm;
    AscendC::GlobalTensor<T> yGm;
    xGm.SetGlobalBuffer((__gm__ T *)x + offset, coreLength);
    yGm.SetGlobalBuffer((__gm__ T *)y + offset, coreLength);
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> in;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, TILE_LENGTH * sizeof(T));
    pipe.InitBuffer(out, 1, TILE_LENGTH * sizeof(T));
    for (uint32_t at = 0; at < coreLength; at += TILE_LENGTH) {
        AscendC::LocalTensor<T> a = in.AllocTensor<T>();
        AscendC::DataCopy(a, xGm[at], TILE_LENGTH);
        in.EnQue(a);
        a = in.DeQue<T>();
        AscendC::LocalTensor<T> b = out.AllocTensor<T>();
        AscendC::Muls(b, a, static_cast<T>(3.0f), TILE_LENGTH);
        out.EnQue(b);
        in.FreeTensor(a);
        b = out.DeQue<T>();
        AscendC::DataCopy(yGm[at], b, TILE_LENGTH);
        out.FreeTensor(b);
    }
}
} // namespace scaling
)--";
    const char *expression = "scaling::scale<float>";
    const char *options[] = {"--npu-arch=" NPU_ARCH};
    aclrtcProg program = nullptr;
    NEED(aclrtcCreateProg(&program, source, "scale", 0, nullptr, nullptr));
    NEED(aclrtcAddNameExpr(program, expression));
    if (const aclError error = aclrtcCompileProg(program, 1, options); error != ACL_SUCCESS) {
        size_t size = 0;
        (void)aclrtcGetCompileLogSize(program, &size);
        std::vector<char> log(size);
        (void)aclrtcGetCompileLog(program, log.data());
        std::fprintf(stderr, "%d: %s\n", error, log.data());
        return 1;
    }
    size_t size = 0;
    NEED(aclrtcGetBinDataSize(program, &size));
    std::vector<char> object(size);
    NEED(aclrtcGetBinData(program, object.data()));
    const char *name = nullptr;
    NEED(aclrtcGetLoweredName(program, expression, &name));

    NEED(aclInit(nullptr));
    NEED(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    NEED(aclrtCreateStream(&stream));
    aclrtBinaryLoadOption magic;
    magic.type = ACL_RT_BINARY_LOAD_OPT_MAGIC;
    magic.value.magic = ACL_RT_BINARY_MAGIC_ELF_AICORE;
    aclrtBinaryLoadOptions loading;
    loading.options = &magic;
    loading.numOpt = 1;
    aclrtBinHandle binary = nullptr;
    NEED(aclrtBinaryLoadFromData(object.data(), size, &loading, &binary));
    aclrtFuncHandle function = nullptr;
    NEED(aclrtBinaryGetFunction(binary, name, &function));

    std::vector<float> x(ELEMENTS);
    for (size_t i = 0; i < ELEMENTS; i++) {
        x[i] = static_cast<float>(i % 64);
    }
    const size_t bytes = ELEMENTS * sizeof(float);
    void *xDevice = nullptr;
    void *yDevice = nullptr;
    NEED(aclrtMalloc(&xDevice, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    NEED(aclrtMalloc(&yDevice, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    NEED(aclrtMemcpy(xDevice, bytes, x.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    uint32_t elements = ELEMENTS;
    void *arguments[] = {&xDevice, &yDevice, &elements};
    NEED(aclrtLaunchKernelWithArgsArray(function, CORE_NUM, stream, nullptr, arguments));
    NEED(aclrtSynchronizeStream(stream));
    std::vector<float> y(ELEMENTS);
    NEED(aclrtMemcpy(y.data(), bytes, yDevice, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    size_t wrong = 0;
    for (size_t i = 0; i < ELEMENTS; i++) {
        wrong += y[i] == 3.0f * static_cast<float>(i % 64) ? 0 : 1;
    }
    NEED(aclrtBinaryUnLoad(binary));
    NEED(aclrtFree(xDevice));
    NEED(aclrtFree(yDevice));
    NEED(aclrtDestroyStream(stream));
    NEED(aclrtResetDevice(0));
    NEED(aclFinalize());
    NEED(aclrtcDestroyProg(&program));
    std::printf("%zu wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
}
