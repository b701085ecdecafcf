// Work for the vector unit that nobody times: a device that idled runs slowly at first.
#pragma once
#include "device.h"

__global__ __vector__ void busy(uint32_t rounds)
{
    AscendC::InitSocState();
    constexpr uint32_t LENGTH = 16320;
    AscendC::LocalTensor<float> data(AscendC::TPosition::VECCALC, 0, LENGTH);
    AscendC::Duplicate(data, 1.0f, static_cast<int32_t>(LENGTH));
    for (uint32_t i = 0; i < rounds; i++) {
        AscendC::Adds(data, data, 1.0f, static_cast<int32_t>(LENGTH));
    }
}
