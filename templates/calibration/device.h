// What every program here does around its launches. Behind those that warm the device up, each is made twice, and the second is a row
// of rows.csv: by then its code is there, and L2 holds what the first one left.
#pragma once
#include <cstdint>
#include <cstdlib>

#include "acl/acl.h"
#include "kernel_operator.h"

// Device, stream and memory of one program, and how many cores of each kind it is to use (its two arguments).
class Device {
public:
    Device(int argc, char **argv)
        : vectors(Argument(argc, argv, 1, 48)), cubes(Argument(argc, argv, 2, 24))
    {
        good = aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS && aclrtCreateStream(&stream) == ACL_SUCCESS;
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
        void *memory = nullptr;
        good = good && aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS
            && aclrtMemset(memory, bytes, 0, bytes) == ACL_SUCCESS;
        return static_cast<uint8_t *>(memory);
    }

    // Waits for a launch, so that the next one has the device for itself.
    void Wait() { good = good && aclrtSynchronizeStream(stream) == ACL_SUCCESS; }

    // Launches that nobody times.
    template <typename Launch> void WarmUp(Launch launch)
    {
        for (uint32_t i = 0; i < WARM_UP_LAUNCHES; i++) {
            launch();
            Wait();
        }
    }

    // A row: a launch and the same again.
    template <typename Launch> void Row(Launch launch)
    {
        for (int time = 0; time < 2; time++) {
            launch();
            Wait();
        }
    }

    static constexpr uint32_t WARM_UP_LAUNCHES = 8;

    // Exit code of the program.
    int Ended() const { return good ? 0 : 1; }

    uint32_t vectors;
    uint32_t cubes;
    aclrtStream stream = nullptr;

private:
    static uint32_t Argument(int argc, char **argv, int index, uint32_t otherwise)
    {
        return index < argc ? static_cast<uint32_t>(std::strtoul(argv[index], nullptr, 10)) : otherwise;
    }

    bool good = true;
};
