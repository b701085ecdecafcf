// by_hand OBJECT KERNEL DEVICE TIMES [helper|in-place]: what the tests launch by hand. Data are in the current folder.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace {
std::vector<char> Read(const char* file)
{
    std::ifstream stream(file, std::ios::binary);
    return std::vector<char>((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
}

void Must(aclError error, const char* what)
{
    if (error != ACL_SUCCESS) {
        const char* const text = aclGetRecentErrMsg();
        std::fprintf(stderr, "%s: %d: %s\n", what, error, text == nullptr ? "" : text);
        std::exit(1);
    }
}

void* OnDevice(const std::vector<char>& data)
{
    void* pointer = nullptr;
    Must(aclrtMalloc(&pointer, data.size(), ACL_MEM_MALLOC_HUGE_FIRST), "malloc");
    Must(aclrtMemcpy(pointer, data.size(), data.data(), data.size(), ACL_MEMCPY_HOST_TO_DEVICE), "copy");
    return pointer;
}
} // namespace

int main(int, char** argv)
{
    const char* const extra = argv[5] == nullptr ? "" : argv[5];
    Must(aclInit(nullptr), "init");
    Must(aclrtSetDevice(std::atoi(argv[3])), "device");
    aclrtStream stream = nullptr;
    Must(aclrtCreateStream(&stream), "stream");
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle function = nullptr;
    Must(aclrtBinaryLoadFromFile(argv[1], nullptr, &binary), "load");
    Must(aclrtBinaryGetFunction(binary, argv[2], &function), "function");
    const std::vector<char> x = Read("x.bin");
    const std::vector<char> z = Read("z.bin");
    void* x_device = OnDevice(x);
    void* z_device = OnDevice(z);
    void* y_device = std::strcmp(extra, "in-place") == 0 ? z_device : OnDevice(std::vector<char>(x.size()));
    void* workspace = OnDevice(std::vector<char>(1024));
    void* tiling = OnDevice(Read("tiling.bin"));
    void* arguments[] = {&x_device, &z_device, &y_device, &workspace, &tiling};
    aclrtEvent start = nullptr;
    aclrtEvent end = nullptr;
    Must(aclrtCreateEvent(&start), "event");
    Must(aclrtCreateEvent(&end), "event");
    if (std::strcmp(extra, "helper") == 0) {
        aclrtFuncHandle helper = nullptr;
        Must(aclrtBinaryGetFunction(binary, "helper_memset", &helper), "helper");
        Must(aclrtLaunchKernel(helper, 1, &y_device, sizeof(y_device), stream), "helper");
    }
    for (int i = 0; i < std::atoi(argv[4]); ++i) {
        Must(aclrtRecordEvent(start, stream), "record");
        Must(aclrtLaunchKernelWithArgsArray(function, 4, stream, nullptr, arguments), "launch");
        Must(aclrtRecordEvent(end, stream), "record");
        Must(aclrtSynchronizeStreamWithTimeout(stream, 60000), "wait");
        float ms = 0;
        Must(aclrtEventElapsedTime(&ms, start, end), "elapsed");
        std::printf("us %f\n", static_cast<double>(ms) * 1000);
    }
    std::vector<char> y(x.size());
    Must(aclrtMemcpy(y.data(), y.size(), y_device, y.size(), ACL_MEMCPY_DEVICE_TO_HOST), "copy back");
    std::ofstream("y.bin", std::ios::binary).write(y.data(), static_cast<std::streamsize>(y.size()));
    return 0;
}
