// Harness of the differential tests: random layouts of vector instructions, walked lane by lane as the mask rules say.
#ifndef ISA_MODEL_H
#define ISA_MODEL_H

#include <algorithm>
#include <cmath>
#include <limits>

#include "isa_support.h"

namespace isa_test {

constexpr uint32_t kArea = 48 * 1024;  // bytes of the buffer that each operand may use

inline Random g_random(11);

/// A lane's value as a double, and back with saturation for integers.
template <typename T>
double Wide(T value)
{
    return static_cast<double>(value);
}
template <>
inline double Wide(half value)
{
    return static_cast<double>(static_cast<float>(value));
}
template <>
inline double Wide(bfloat16_t value)
{
    return static_cast<double>(static_cast<float>(value));
}

template <typename T>
T Draw()
{
    if constexpr (std::is_same<T, float>::value || std::is_same<T, half>::value || std::is_same<T, bfloat16_t>::value) {
        switch (g_random.Below(12)) {
            case 0:
                return T(0.0f);
            case 1:
                return T(static_cast<float>(static_cast<int>(g_random.Below(40)) - 20) + 0.5f);
            case 2:
                return T(static_cast<float>(g_random.Real(-60000, 60000)));
            default:
                return T(static_cast<float>(g_random.Real(-9, 9)));
        }
    } else {
        const uint64_t bits = g_random.Next();
        return static_cast<T>(g_random.Below(3) == 0 ? bits : static_cast<uint64_t>(static_cast<int64_t>(bits % 301) - 150));
    }
}

/// How one call is laid out.
struct Layout {
    bool counter;
    bool each_repeat;  // in counter mode the count is that of each repeat
    uint32_t count;
    uint64_t low, high;
    uint32_t repeat;
    uint32_t block[3];    // strides in blocks: destination, sources
    uint32_t stride[3];
};

inline Layout DrawLayout(uint32_t per_repeat)
{
    Layout layout = {};
    layout.counter = g_random.Below(2) == 0;
    layout.repeat = g_random.Below(5);
    layout.count = g_random.Below(per_repeat * 4 + 1);
    switch (g_random.Below(3)) {
        case 0:
            layout.low = layout.high = ~uint64_t{0};
            break;
        case 1:
            layout.low = (uint64_t{2} << g_random.Below(63)) - 1;
            break;
        default:
            layout.low = g_random.Next();
            layout.high = g_random.Next();
    }
    for (int i = 0; i < 3; ++i) {
        layout.block[i] = g_random.Below(2) == 0 ? 1 : 1 + g_random.Below(3);
        layout.stride[i] = g_random.Below(2) == 0 ? 8 : 8 * layout.block[i] + g_random.Below(4);
    }
    return layout;
}

inline void SetMask(const Layout& layout)
{
    if (layout.counter) {
        set_mask_count();
        set_vector_mask(0, layout.count);
    } else {
        set_mask_norm();
        set_vector_mask(layout.high, layout.low);
    }
}

/// Calls `lane(step, lane)` for lanes that take part, as the mask rules say.
template <typename F>
void EachLane(const Layout& layout, uint32_t per_repeat, F&& lane)
{
    if (layout.counter && !layout.each_repeat) {
        for (uint32_t i = 0; i < layout.count; ++i) {
            lane(i / per_repeat, i % per_repeat);
        }
        return;
    }
    if (layout.counter) {
        for (uint32_t step = 0; step < layout.repeat; ++step) {
            for (uint32_t i = 0; i < layout.count; ++i) {
                lane(step, i);
            }
        }
        return;
    }
    for (uint32_t step = 0; step < layout.repeat; ++step) {
        for (uint32_t i = 0; i < per_repeat; ++i) {
            if (((i < 64 ? layout.low : layout.high) >> (i % 64) & 1u) != 0) {
                lane(step, i);
            }
        }
    }
}

inline size_t At(const Layout& layout, int operand, uint32_t step, uint32_t lane, size_t size)
{
    const auto per_block = static_cast<uint32_t>(32 / size);
    return (size_t{step} * layout.stride[operand] + size_t{lane / per_block} * layout.block[operand]) * 32 + lane % per_block * size;
}

template <typename T>
T* Operand(int which)
{
    return reinterpret_cast<T*>(ascendsim::UbBase() + size_t{kArea} * static_cast<size_t>(which));
}

template <typename T>
T Read(const std::vector<uint8_t>& image, int which, size_t byte)
{
    T value;
    std::memcpy(&value, &image[size_t{kArea} * static_cast<size_t>(which) + byte], sizeof(T));
    return value;
}

template <typename T>
void FillWith(int which)
{
    for (uint32_t i = 0; i < kArea / sizeof(T); ++i) {
        Operand<T>(which)[i] = Draw<T>();
    }
}

inline std::vector<uint8_t> Image() { return std::vector<uint8_t>(ascendsim::UbBase(), ascendsim::UbBase() + 4 * kArea); }

/// Compares the destination lane by lane; `tolerance` is relative, 0 wants the same bits.
template <typename D>
void Compare(const std::vector<uint8_t>& want, double tolerance, const char* name, const Layout& layout)
{
    const std::vector<uint8_t> got = Image();
    if (got == want) {
        return;
    }
    for (size_t byte = 0; byte + sizeof(D) <= got.size(); byte += sizeof(D)) {
        D a;
        D b;
        std::memcpy(&a, &got[byte], sizeof(D));
        std::memcpy(&b, &want[byte], sizeof(D));
        if (std::memcmp(&a, &b, sizeof(D)) == 0) {
            continue;
        }
        const double x = Wide(a);
        const double y = Wide(b);
        const bool close = (x != x && y != y) || x == y || (tolerance > 0 && std::fabs(x - y) <= tolerance * (std::fabs(y) + 1e-30));
        if (!close) {
            Fail(std::string(name) + ": byte " + std::to_string(byte) + " is " + std::to_string(x) + ", want " + std::to_string(y) +
                 (layout.counter ? " counter " + std::to_string(layout.count) : " repeat " + std::to_string(layout.repeat)));
            return;
        }
    }
}

template <typename D, typename S, typename Call, typename Model>
void CheckBinary(const char* name, double tolerance, Call call, Model model)
{
    const auto per_repeat = static_cast<uint32_t>(256 / std::max(sizeof(D), sizeof(S)));
    for (int round = 0; round < 12; ++round) {
        const Layout layout = DrawLayout(per_repeat);
        FillWith<D>(0);
        FillWith<S>(1);
        FillWith<S>(2);
        std::vector<uint8_t> want = Image();
        EachLane(layout, per_repeat, [&](uint32_t step, uint32_t lane) {
            const S a = Read<S>(want, 1, At(layout, 1, step, lane, sizeof(S)));
            const S b = Read<S>(want, 2, At(layout, 2, step, lane, sizeof(S)));
            const size_t to = At(layout, 0, step, lane, sizeof(D));
            const D value = model(a, b, Read<D>(want, 0, to));
            std::memcpy(&want[to], &value, sizeof(D));
        });
        SetMask(layout);
        call(Operand<D>(0), Operand<S>(1), Operand<S>(2), layout.repeat, layout.block[0], layout.block[1], layout.block[2],
             layout.stride[0], layout.stride[1], layout.stride[2]);
        Compare<D>(want, tolerance, name, layout);
    }
}

template <typename D, typename S, typename Call, typename Model>
void CheckUnary(const char* name, double tolerance, Call call, Model model, bool each_repeat = false)
{
    const auto per_repeat = static_cast<uint32_t>(256 / std::max(sizeof(D), sizeof(S)));
    for (int round = 0; round < 8; ++round) {
        Layout layout = DrawLayout(per_repeat);
        layout.each_repeat = each_repeat;
        FillWith<D>(0);
        FillWith<S>(1);
        std::vector<uint8_t> want = Image();
        EachLane(layout, per_repeat, [&](uint32_t step, uint32_t lane) {
            const size_t to = At(layout, 0, step, lane, sizeof(D));
            const D value = model(Read<S>(want, 1, At(layout, 1, step, lane, sizeof(S))), Read<D>(want, 0, to));
            std::memcpy(&want[to], &value, sizeof(D));
        });
        SetMask(layout);
        call(Operand<D>(0), Operand<S>(1), layout.repeat, layout.block[0], layout.block[1], layout.stride[0], layout.stride[1]);
        Compare<D>(want, tolerance, name, layout);
    }
}

}  // namespace isa_test

#endif
