// Transposition of images and matrices in the Unified Buffer.
#ifndef ASCENDC_ADV_TRANSPOSE_H
#define ASCENDC_ADV_TRANSPOSE_H

#include "ascendc/adv/row_tools.h"
#include "ascendc/transpose.h"

namespace AscendC {

enum class TransposeType : uint8_t {
    TRANSPOSE_TYPE_NONE,
    TRANSPOSE_NZ2ND_0213,
    TRANSPOSE_NZ2NZ_0213,
    TRANSPOSE_NZ2NZ_012_WITH_N,
    TRANSPOSE_NZ2ND_012_WITH_N,
    TRANSPOSE_NZ2ND_012_WITHOUT_N,
    TRANSPOSE_NZ2NZ_012_WITHOUT_N,
    TRANSPOSE_ND2ND_ONLY,
    TRANSPOSE_ND_UB_GM,
    TRANSPOSE_GRAD_ND_UB_GM,
    TRANSPOSE_ND2ND_B16,
    TRANSPOSE_NCHW2NHWC,
    TRANSPOSE_NHWC2NCHW
};

struct TransposeParamsExt {
    constexpr TransposeParamsExt() = default;
    constexpr TransposeParamsExt(
        const uint16_t nSizeIn, const uint16_t cSizeIn, const uint16_t hSizeIn, const uint16_t wSizeIn,
        const TransposeType transposeTypeIn)
        : nSize(nSizeIn), cSize(cSizeIn), hSize(hSizeIn), wSize(wSizeIn), transposeType(transposeTypeIn)
    {}
    uint16_t nSize = 0;
    uint16_t cSize = 0;
    uint16_t hSize = 0;
    uint16_t wSize = 0;
    TransposeType transposeType = TransposeType::TRANSPOSE_ND2ND_B16;
};

namespace detail {

/// rows x cols to cols x rows. Offsets of as many result rows as end on a whole block are made once and used from every
/// starting column.
template <typename Lane>
ASC_API void TransposeMatrix(
    const LocalTensor<Lane>& dst, const LocalTensor<Lane>& src, uint32_t rows, uint32_t cols,
    const LocalTensor<uint8_t>& tmp)
{
    constexpr uint32_t bytes = sizeof(Lane);
    uint32_t group = 1;
    while (group * rows % blockElements<Lane> != 0) {
        ++group;
    }
    group = group < cols ? group : cols;
    if (!EnoughTmp("Transpose", uint64_t(group) * rows * sizeof(uint32_t), tmp.GetSize())) {
        return;
    }
    const LocalTensor<uint32_t> offsets = TmpPart<uint32_t>(tmp, 0, group * rows);
    for (uint32_t i = 0; i < group * rows; ++i) {
        offsets.SetValue(i, (i % rows * cols + i / rows) * bytes);
    }
    Order(HardEvent::S_V);
    for (uint32_t col = 0; col < cols; col += group) {
        const uint32_t now = cols - col < group ? cols - col : group;
        Gather(dst[col * rows], src, offsets, col * bytes, now * rows);
    }
    ResetMask();
    PipeBarrier<PIPE_V>();
}

}  // namespace detail

/// NCHW to NHWC and back, or one 16 x 16 matrix of 16-bit elements, by transposeType.
template <typename T>
ASC_API void Transpose(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
    const TransposeParamsExt& transposeParams)
{
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Transpose: elements must have 2 or 4 bytes");
    if (transposeParams.transposeType == TransposeType::TRANSPOSE_ND2ND_B16) {
        if constexpr (sizeof(T) == 2) {
            vtranspose(detail::UbAs<uint16_t>(dst), detail::UbAs<uint16_t>(src));
        } else {
            ascendsim::Fault("bad_argument", "Transpose: TRANSPOSE_ND2ND_B16 takes elements of 16 bits");
        }
        return;
    }
    const bool toChannelsLast = transposeParams.transposeType == TransposeType::TRANSPOSE_NCHW2NHWC;
    if (!toChannelsLast && transposeParams.transposeType != TransposeType::TRANSPOSE_NHWC2NCHW) {
        ascendsim::Fault("unsupported", "Transpose: only ND2ND_B16, NCHW2NHWC and NHWC2NCHW are available");
        return;
    }
    using Lane = detail::MoveLane<T>;
    const uint32_t channels = transposeParams.cSize;
    const uint32_t pixels = uint32_t(transposeParams.hSize) * transposeParams.wSize;
    for (uint32_t n = 0; n < transposeParams.nSize; ++n) {
        const uint32_t at = n * channels * pixels;
        detail::TransposeMatrix(
            dst[at].template ReinterpretCast<Lane>(), src[at].template ReinterpretCast<Lane>(),
            toChannelsLast ? channels : pixels, toChannelsLast ? pixels : channels, sharedTmpBuffer);
    }
}

}  // namespace AscendC

#endif
