// What every program here does around its launches.
#pragma once
#include <cstdint>
#include <cstdlib>

#include "acl/acl.h"
#include "kernel_operator.h"

// Device, stream and memory of one program.
class Device {
public:
    Device()
    {
        aclInit(nullptr);
        aclrtSetDevice(0);
        aclrtCreateStream(&stream);
    }

    ~Device()
    {
        aclrtDestroyStream(stream);
        aclrtResetDevice(0);
        aclFinalize();
    }

    // Zeroed memory; it lives as long as the process.
    uint8_t *Memory(size_t bytes)
    {
        uint8_t *memory = nullptr;
        aclrtMalloc((void **)&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
        aclrtMemset(memory, bytes, 0, bytes);
        return memory;
    }

    void Wait() { aclrtSynchronizeStream(stream); }

    aclrtStream stream = nullptr;
};

// Argument `index` of the program as a number.
inline uint32_t Argument(int argc, char **argv, int index, uint32_t otherwise)
{
    return index < argc ? static_cast<uint32_t>(std::strtoul(argv[index], nullptr, 10)) : otherwise;
}
