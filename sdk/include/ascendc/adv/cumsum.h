// Running sums of rows or of columns.
#ifndef ASCENDC_ADV_CUMSUM_H
#define ASCENDC_ADV_CUMSUM_H

#include "ascendc/adv/lanes.h"
#include "ascendc/transpose.h"

namespace AscendC {

enum class CumSumAlgorithm { CUMSUM_ALGORITHM_LINEBYLINE = 0, CUMSUM_ALGORITHM_SKLANSKY = 1 };
struct CumSumConfig {
    bool isLastAxis{true};
    bool isReuseSource{false};
    bool outputLastRow{false};
    CumSumAlgorithm algorithm{CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
};
constexpr CumSumConfig defaultCumSumConfig = {true, false, true};
/// Rows, and elements per row; a row fills whole blocks.
struct CumSumInfo {
    uint32_t outter{0};
    uint32_t inner{0};
};

namespace detail {
namespace cumsum {

using lanes::Floats;
using lanes::Run;

constexpr uint32_t ROWS = NCHW_CONV_ADDR_LIST_SIZE;

/// Transposes `repeats` squares of sixteen blocks; the addresses advance by blocks from one to the next. There are no more than 192:
/// a temporary buffer for longer rows has no room in the Unified Buffer.
template <typename T>
ASC_API void Squares(
    uint64_t (&to)[ROWS], uint64_t (&from)[ROWS], uint32_t repeats, uint16_t toStep, uint16_t fromStep)
{
    TransDataTo5HDParams params(
        false, false, static_cast<uint8_t>(repeats), static_cast<uint16_t>(repeats == 1 ? 0 : toStep),
        static_cast<uint16_t>(repeats == 1 ? 0 : fromStep));
    TransDataTo5HD<T>(to, from, params);
    PipeBarrier<PIPE_V>();
}

/// Sixteen rows (or fewer) of `inner` elements to `inner` rows of sixteen at `columns`, or back. A missing row reads the
/// first and writes `beyond`, which has room for sixteen rows.
template <typename T, bool back>
ASC_API void Turn(Run<T> data, Run<T> columns, Run<T> beyond, uint32_t rowCount, uint32_t inner)
{
    constexpr uint32_t block = ONE_BLK_SIZE / sizeof(T);
    constexpr uint32_t halves = ROWS / block;  // blocks that sixteen elements take: 2 for float
    uint64_t rows[ROWS];
    uint64_t pieces[ROWS];
    // Element (row i, lane j) of a square goes to block halves * j + i / block; back, the blocks come in the order in
    // which that leads to whole rows.
    for (uint32_t i = 0; i < ROWS; ++i) {
        const uint32_t row = back && halves == 2 ? (i % 2) * block + i / 2 : i;
        rows[i] = reinterpret_cast<uint64_t>(row < rowCount ? data + row * inner : back ? beyond + row * inner : data);
        const uint32_t piece = back && halves == 2 ? (i % block) * halves + i / block : i;
        pieces[i] = reinterpret_cast<uint64_t>(columns + piece * block);
    }
    const uint32_t repeats = inner / block;
    if (back) {
        Squares<T>(rows, pieces, repeats, 1, ROWS);
    } else {
        Squares<T>(pieces, rows, repeats, ROWS, 1);
    }
}

/// Adds to each of `count` rows of `length` floats the row before it.
ASC_API void AddDown(Floats x, uint32_t count, uint32_t length)
{
    set_mask_count();
    set_vector_mask(0, length);
    for (uint32_t row = 1; row < count; ++row) {
        lanes::Add(x + row * length, x + (row - 1) * length, x + row * length);
    }
    EndCount();
}

/// Sums along rows: sixteen rows at a time are turned, added up line by line and turned back.
template <typename T>
ASC_API void AlongRows(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& temporary, const CumSumInfo& info)
{
    constexpr bool narrow = sizeof(T) < sizeof(float);
    const uint32_t elements = ROWS * info.inner;
    const uint64_t need = uint64_t(elements) * (narrow ? 6 : 8);
    if (temporary.GetSize() < need) {
        ascendsim::Fault(
            "bad_argument", Describe("CumSum: the temporary buffer has ", temporary.GetSize(), " bytes, it takes ",
                                     need).Text());
        return;
    }
    const Run<T> columns = UbAs<T>(temporary);
    const Run<T> behind = columns + elements;
    const Floats sums = reinterpret_cast<Floats>(narrow ? behind : columns);
    for (uint32_t row = 0; row < info.outter; row += ROWS) {
        const uint32_t now = info.outter - row < ROWS ? info.outter - row : ROWS;
        Turn<T, false>(Ub(src) + row * info.inner, columns, behind, now, info.inner);
        if constexpr (narrow) {
            BeginCount(elements);
            lanes::Widen(sums, columns);
            EndCount();
        }
        AddDown(sums, info.inner, ROWS);
        if constexpr (narrow) {
            BeginCount(elements);
            lanes::Narrow(columns, sums);
            EndCount();
        }
        Turn<T, true>(Ub(dst) + row * info.inner, columns, behind, now, info.inner);
    }
}

/// Sums along columns: every row gets the sums of the row before it, kept in float for half.
template <typename T>
ASC_API void AlongColumns(
    const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& temporary, const CumSumInfo& info)
{
    const uint32_t length = info.inner;
    set_mask_count();
    set_vector_mask(0, length);
    if constexpr (sizeof(T) == sizeof(float)) {
        (void)temporary;
        lanes::Muls(Ub(dst), Ub(src), 1.0f);
        for (uint32_t row = 1; row < info.outter; ++row) {
            lanes::Add(Ub(dst) + row * length, Ub(dst) + (row - 1) * length, Ub(src) + row * length);
        }
    } else if (info.outter > 0) {
        const uint64_t need = uint64_t(info.outter > 1 ? 2 : 1) * length * sizeof(float);
        if (temporary.GetSize() < need) {
            ascendsim::Fault(
                "bad_argument", Describe("CumSum: the temporary buffer has ", temporary.GetSize(), " bytes, it takes ",
                                         need).Text());
        } else {
            const Floats sums = UbAs<float>(temporary);
            lanes::Widen(sums, Ub(src));
            lanes::Narrow(Ub(dst), sums);
            for (uint32_t row = 1; row < info.outter; ++row) {
                lanes::Widen(sums + length, Ub(src) + row * length);
                lanes::Add(sums, sums, sums + length);
                lanes::Narrow(Ub(dst) + row * length, sums);
            }
        }
    }
    EndCount();
}

}  // namespace cumsum
}  // namespace detail

/// Running sums over the last axis (along rows) or the first (along columns); the last row once more on request.
template <typename T, const CumSumConfig& config = defaultCumSumConfig>
ASC_API void CumSum(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& lastRowTensor, const LocalTensor<T>& srcTensor,
    const LocalTensor<uint8_t>& sharedTmpBuffer, const CumSumInfo& cumSumInfo)
{
    ASCENDC_CHECK_DTYPE(CumSum, T, half, float);
    static_assert(config.algorithm == CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE,
                  "CumSum: NPU architecture 2201 has the algorithm CUMSUM_ALGORITHM_LINEBYLINE only");
    const uint64_t bytes = uint64_t(cumSumInfo.inner) * sizeof(T);
    if (bytes == 0 || bytes % ONE_BLK_SIZE != 0) {
        ascendsim::Fault(
            "misaligned", detail::Describe("CumSum: rows take ", bytes, " bytes, not whole blocks of 32").Text());
        return;
    }
    if constexpr (config.isLastAxis) {
        detail::cumsum::AlongRows(dstTensor, srcTensor, sharedTmpBuffer, cumSumInfo);
    } else {
        detail::cumsum::AlongColumns(dstTensor, srcTensor, sharedTmpBuffer, cumSumInfo);
    }
    if constexpr (config.outputLastRow) {
        using Lane = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
        detail::BeginCount(cumSumInfo.inner);
        vcopy(detail::UbAs<Lane>(lastRowTensor),
              detail::UbAs<Lane>(dstTensor) + (cumSumInfo.outter - 1) * cumSumInfo.inner, 1, detail::BLK,
              detail::BLK, detail::REP, detail::REP);
        PipeBarrier<PIPE_V>();
        detail::EndCount();
    }
}
template <typename T, const CumSumConfig& config = defaultCumSumConfig>
ASC_API void CumSum(
    const LocalTensor<T>& dstTensor, const LocalTensor<T>& lastRowTensor, const LocalTensor<T>& srcTensor,
    const CumSumInfo& cumSumInfo)
{
    CumSum<T, config>(dstTensor, lastRowTensor, srcTensor, detail::lanes::Stack(), cumSumInfo);
}

}  // namespace AscendC

#endif
