// Activation functions put together from vector instructions.
#ifndef ASCENDC_ADV_ACTIVATION_H
#define ASCENDC_ADV_ACTIVATION_H

#include "ascendc/tque.h"
#include "ascendc/vec_binary.h"
#include "ascendc/vec_duplicate.h"
#include "ascendc/vec_unary.h"

namespace AscendC {
namespace detail {

/// dst = 1 / (1 + exp(-src)) over the counted elements; `one` holds at least as many elements and gets ones.
template <typename T>
ASC_API void SigmoidPiece(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& one, int32_t count)
{
    Muls(dst, src, static_cast<T>(-1.0f), count);
    PipeBarrier<PIPE_V>();
    Exp(dst, dst, count);
    PipeBarrier<PIPE_V>();
    Adds(dst, dst, static_cast<T>(1.0f), count);
    Duplicate(one, static_cast<T>(1.0f), count);
    PipeBarrier<PIPE_V>();
    Div(dst, one, dst, count);
    PipeBarrier<PIPE_V>();
}

}  // namespace detail

template <typename T, bool isReuseSource = false>
ASC_API void Sigmoid(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& temporary,
    const uint32_t count)
{
    ASCENDC_CHECK_DTYPE(Sigmoid, T, half, float);
    const LocalTensor<T> tmp = temporary.ReinterpretCast<T>();
    const uint32_t room = tmp.GetSize() / (ONE_BLK_SIZE / sizeof(T)) * (ONE_BLK_SIZE / sizeof(T));
    if (room == 0) {
        ascendsim::Fault("bad_argument", "Sigmoid: the temporary buffer is smaller than a block of 32 bytes");
        return;
    }
    for (uint32_t done = 0; done < count; done += room) {
        const uint32_t now = count - done < room ? count - done : room;
        detail::SigmoidPiece(dst[done], src[done], tmp, static_cast<int32_t>(now));
    }
}
template <typename T, bool isReuseSource = false>
ASC_API void Sigmoid(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count)
{
    LocalTensor<uint8_t> stack;
    PopStackBuffer<uint8_t, TPosition::LCM>(stack);
    Sigmoid<T, isReuseSource>(dst, src, stack, count);
}
template <typename T, bool isReuseSource = false>
ASC_API void Sigmoid(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& temporary)
{
    Sigmoid<T, isReuseSource>(dst, src, temporary, src.GetSize());
}
template <typename T, bool isReuseSource = false>
ASC_API void Sigmoid(const LocalTensor<T>& dst, const LocalTensor<T>& src)
{
    Sigmoid<T, isReuseSource>(dst, src, src.GetSize());
}

/// dst = src / (1 + exp(-src)); dst and src must not be the same tensor.
template <typename T, bool isReuseSource = false>
ASC_API void Silu(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, uint32_t dataSize)
{
    ASCENDC_CHECK_DTYPE(Silu, T, half, float);
    if (detail::Ub(dstLocal) == detail::Ub(srcLocal)) {
        ascendsim::Fault("bad_argument", "Silu: the destination must not be the source");
        return;
    }
    const int32_t count = static_cast<int32_t>(dataSize);
    Muls(dstLocal, srcLocal, static_cast<T>(-1.0f), count);
    PipeBarrier<PIPE_V>();
    Exp(dstLocal, dstLocal, count);
    PipeBarrier<PIPE_V>();
    Adds(dstLocal, dstLocal, static_cast<T>(1.0f), count);
    PipeBarrier<PIPE_V>();
    Div(dstLocal, srcLocal, dstLocal, count);
    PipeBarrier<PIPE_V>();
}

}  // namespace AscendC

#endif
