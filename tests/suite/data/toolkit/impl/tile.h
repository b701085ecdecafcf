// A kernel API of one class that no other header set has.
#ifndef TILE_H
#define TILE_H

#include <csignal>

#include "kernel_log.h"

namespace AscendC {
namespace check {
struct TileParams {
    uint64_t length;
};
// The CPU-debug package defines it.
bool CheckFuncTileImpl(TileParams& params, const char* name);
}  // namespace check

__aicore__ inline int64_t TileBlock() { return block_idx * g_taskRation + sub_block_idx; }

/// Checks in functions of their own fail at the place in the kernel that called the API.
__attribute__((noinline)) inline void CheckTileOffset(uint64_t offset)
{
    TILE_ASSERT(offset % 32 == 0, KERNEL_LOG(KERNEL_ERROR, "offset %d of a tile is not a multiple of 32\n", int(offset)));
}

/// A tile of halves at a byte offset in the unified buffer.
class Tile {
public:
    __aicore__ inline Tile(uint32_t offset, uint32_t count) : count_(count)
    {
        check::TileParams params{count};
        if (g_coreType != AIV_TYPE || !check::CheckFuncTileImpl(params, "Tile")) {
            raise(SIGABRT);
        }
        CheckTileOffset(offset);
        ASCENDC_ASSERT((offset % (count_ * sizeof(half)) == 0), KERNEL_LOG(KERNEL_ERROR, "offset %d", int(offset)));
        memory_ = reinterpret_cast<half*>(ConstDefiner::Instance().hardwareCpuBufferMap.at(Hardware::UB) + offset);
        AscendCBufInit(0, 1, 1, reinterpret_cast<uint64_t>(memory_), count * sizeof(half));
    }

    __aicore__ inline void Load(__gm__ half* from)
    {
        copy_gm_to_ubuf(memory_, from, 0, 1, static_cast<uint16_t>(count_ / 16), 0, 0);
    }

    __aicore__ inline void Store(__gm__ half* to)
    {
        copy_ubuf_to_gm(to, memory_, 0, 1, static_cast<uint16_t>(count_ / 16), 0, 0);
    }

    __aicore__ inline half* Memory() const { return memory_; }

    __aicore__ inline half GetValue(uint32_t index) const { return memory_[index]; }
    __aicore__ inline void SetValue(uint32_t index, half value) const { memory_[index] = value; }

    __aicore__ inline void Add(const Tile& other)
    {
        set_mask_norm();
        set_vector_mask(~uint64_t{0}, ~uint64_t{0});
        vadd(memory_, memory_, other.memory_, static_cast<uint8_t>(count_ / 128), 1, 1, 1, 8, 8, 8);
    }

private:
    half* memory_ = nullptr;
    uint32_t count_;
};

}  // namespace AscendC

#endif
