// Matrix multiplication: unpacks fractals into panels, multiplies, and writes accumulators back as fractals.
#include <algorithm>
#include <vector>

#include "isa/float16.h"
#include "isa/operands.h"

#include "ascendsim/isa.h"

namespace ascendsim {
namespace isa {
namespace {


/// HF32: the inputs of a float product rounded to eleven bits of mantissa, one of them implied.
constexpr int kHf32Bit = 46;
constexpr int kHf32TowardsZeroBit = 47;

float ToHf32(float value, bool nearest_even)
{
    uint32_t bits = FloatBits(value);
    if ((bits & 0x7F800000u) == 0x7F800000u) {
        return value;
    }
    constexpr uint32_t kDropped = 12;
    const uint32_t half_unit = 1u << (kDropped - 1);
    const uint32_t odd = (bits >> kDropped) & 1u;
    // To nearest; ties go to even or towards zero.
    bits += nearest_even ? half_unit - 1 + odd : half_unit - 1;
    return FloatFromBits(bits & ~((1u << kDropped) - 1));
}

/// Element `index` of fractals of integers or floats as the arithmetic type.
template <typename A, uint8_t kElement>
inline A At(const uint8_t* base, size_t index)
{
    if constexpr (kElement == kElementS4) {
        const int nibble = base[index / 2] >> (index % 2 * 4) & 15;
        return static_cast<A>(nibble >= 8 ? nibble - 16 : nibble);
    } else if constexpr (kElement == kI8) {
        return static_cast<A>(reinterpret_cast<const int8_t*>(base)[index]);
    } else {
        return reinterpret_cast<const A*>(base)[index];
    }
}

/// `count` consecutive elements from `index` on.
template <typename A, uint8_t kElement>
inline void Take(const uint8_t* base, size_t index, uint32_t count, A* to)
{
    if constexpr (kElement == kF16) {
        Widen(reinterpret_cast<const half*>(base) + index, to, count);
    } else if constexpr (kElement == kBf16) {
        Widen(reinterpret_cast<const bfloat16_t*>(base) + index, to, count);
    } else {
        for (uint32_t i = 0; i < count; ++i) {
            to[i] = At<A, kElement>(base, index + i);
        }
    }
}

/// Row-major m x k from L0A.
template <typename A, uint8_t kElement>
void UnpackLeft(const uint8_t* from, uint32_t m, uint32_t k, uint32_t k_fractals, A* to)
{
    constexpr uint32_t kLanes = kBlock * 8 / ElementBits(kElement);
    if (m == 1) {  // a single row is read as a vector
        return Take<A, kElement>(from, 0, k, to);
    }
    for (uint32_t row = 0; row < m; ++row) {
        for (uint32_t group = 0; group * kLanes < k; ++group) {
            const size_t base = (size_t{row / kSide} * k_fractals + group) * kSide * kLanes + size_t{row % kSide} * kLanes;
            const uint32_t lanes = std::min(kLanes, k - group * kLanes);
            Take<A, kElement>(from, base, lanes, to + size_t{row} * k + group * kLanes);
        }
    }
}

/// Panels of sixteen columns, each k x 16 row-major, from L0B.
template <typename A, uint8_t kElement>
void UnpackRight(const uint8_t* from, uint32_t k, uint32_t n_fractals, A* to)
{
    constexpr uint32_t kLanes = kBlock * 8 / ElementBits(kElement);
    for (uint32_t panel = 0; panel < n_fractals; ++panel) {
        for (uint32_t group = 0; group * kLanes < k; ++group) {
            const size_t base = (size_t{group} * n_fractals + panel) * kSide * kLanes;
            const uint32_t lanes = std::min(kLanes, k - group * kLanes);
            A* rows = to + (size_t{panel} * k + group * kLanes) * kSide;
            for (uint32_t column = 0; column < kSide; ++column) {
                A taken[kLanes];
                Take<A, kElement>(from, base + column * kLanes, lanes, taken);
                for (uint32_t lane = 0; lane < lanes; ++lane) {
                    rows[lane * kSide + column] = taken[lane];
                }
            }
        }
    }
}

template <typename A>
struct Vectors;
template <>
struct Vectors<float> {
    typedef float Row __attribute__((vector_size(64), aligned(4), may_alias));
};
template <>
struct Vectors<int32_t> {
    typedef uint32_t Row __attribute__((vector_size(64), aligned(4), may_alias));
};

/// Four rows at a time against a panel of sixteen columns, in the order of k.
template <typename A, int kRows>
void MultiplyRows(const A* left, const A* panel, uint32_t k, A* accumulators)
{
    using Row = typename Vectors<A>::Row;
    Row sums[kRows];
    for (int row = 0; row < kRows; ++row) {
        std::memcpy(&sums[row], accumulators + row * kSide, sizeof(Row));
    }
    for (uint32_t i = 0; i < k; ++i) {
        Row b;
        std::memcpy(&b, panel + size_t{i} * kSide, sizeof(Row));
        for (int row = 0; row < kRows; ++row) {
            if constexpr (std::is_same<A, float>::value) {
                sums[row] += left[size_t(row) * k + i] * b;
            } else {
                sums[row] += static_cast<uint32_t>(left[size_t(row) * k + i]) * b;
            }
        }
    }
    for (int row = 0; row < kRows; ++row) {
        std::memcpy(accumulators + row * kSide, &sums[row], sizeof(Row));
    }
}

template <typename A>
void MultiplyPanels(const A* left, const A* right, uint32_t m, uint32_t k, uint32_t n_fractals, A* accumulators)
{
    const size_t column_step = size_t{CeilDiv(m, kSide)} * kSide * kSide;
    for (uint32_t panel = 0; panel < n_fractals; ++panel) {
        const A* b = right + size_t{panel} * k * kSide;
        A* c = accumulators + panel * column_step;
        uint32_t row = 0;
        for (; row + 4 <= m; row += 4) {
            MultiplyRows<A, 4>(left + size_t{row} * k, b, k, c + row * kSide);
        }
        for (; row < m; ++row) {
            MultiplyRows<A, 1>(left + size_t{row} * k, b, k, c + row * kSide);
        }
    }
}

/// Sets the accumulators to zero or the bias; what accumulates is left as it is.
template <typename A>
void StartAccumulators(A* c, uint32_t m, uint32_t n_fractals, const uint8_t* bias, bool zero)
{
    const size_t column_step = size_t{CeilDiv(m, kSide)} * kSide * kSide;
    for (uint32_t panel = 0; panel < n_fractals && (zero || bias != nullptr); ++panel) {
        for (uint32_t row = 0; row < m; ++row) {
            A* to = c + panel * column_step + size_t{row} * kSide;
            if (bias != nullptr) {
                std::memcpy(to, bias + size_t{panel} * kSide * sizeof(A), kSide * sizeof(A));
            } else {
                std::memset(to, 0, kSide * sizeof(A));
            }
        }
    }
}

struct Operands {
    uint8_t* c;
    const uint8_t* a;
    const uint8_t* b;
    const uint8_t* bias;
};

template <typename A, uint8_t kElement>
void Compute(const Core& core, const cube::Mad& p, const Operands& at, uint32_t k_fractals, bool zero)
{
    static std::vector<A> left;
    static std::vector<A> right;
    const uint32_t n_fractals = CeilDiv(p.n, kSide);
    left.resize(size_t{p.m} * p.k);
    right.resize(size_t{n_fractals} * p.k * kSide);
    UnpackLeft<A, kElement>(at.a, p.m, p.k, k_fractals, left.data());
    UnpackRight<A, kElement>(at.b, p.k, n_fractals, right.data());
    if constexpr (kElement == kF32) {
        if ((core.ctrl >> kHf32Bit & 1u) != 0) {
            const bool nearest_even = (core.ctrl >> kHf32TowardsZeroBit & 1u) == 0;
            for (A& value : left) {
                value = ToHf32(value, nearest_even);
            }
            for (A& value : right) {
                value = ToHf32(value, nearest_even);
            }
        }
    }
    auto* c = reinterpret_cast<A*>(at.c);
    StartAccumulators(c, p.m, n_fractals, at.bias, zero);
    MultiplyPanels(left.data(), right.data(), p.m, p.k, n_fractals, c);
}

/// Checks, records, and finds the operands. False when nothing is to be computed.
bool IssueMad(Core& core, uint16_t opcode, uint64_t site, uint8_t element, void* c, const void* a, const void* b, bool biased,
              uint64_t bias, const cube::Mad& p, uint32_t k_right, uint32_t k_fractals, bool zero, Operands* at)
{
    if (p.m == 0 || p.k == 0 || p.n == 0) {
        AdmitNothing(core, opcode, site);
        return false;
    }
    const uint32_t lanes = kBlock * 8 / ElementBits(element);
    const uint32_t n_fractals = CeilDiv(p.n, kSide);
    const uint32_t m_fractals = CeilDiv(p.m, kSide);
    const uint64_t left_bytes = p.m == 1 ? CeilDiv(p.k * ElementBits(element), kBlock * 8) * uint64_t{kBlock}
                                         : uint64_t{m_fractals} * k_fractals * kFractal;
    at->c = OnChipAddress(core, kSpaceL0c, c);
    at->a = OnChipAddress(core, kSpaceL0a, a);
    at->b = OnChipAddress(core, kSpaceL0b, b);
    at->bias = biased ? OnChipAddress(core, kSpaceBt, reinterpret_cast<const void*>(bias)) : nullptr;
    const bool fresh = zero || biased;
    const Range ranges[] = {
        {kSpaceL0c, fresh ? kWrite : kReadWrite, at->c, uint64_t{m_fractals} * n_fractals * 1024, 0},
        {kSpaceL0a, kRead, at->a, left_bytes, 1},
        {kSpaceL0b, kRead, at->b, uint64_t{CeilDiv(k_right, lanes)} * n_fractals * kFractal, 2},
        {kSpaceBt, kRead, at->bias, uint64_t{n_fractals} * 64, 3}};
    Numbers numbers;
    numbers.aux0 = p.m;
    numbers.aux1 = p.k;
    numbers.aux2 = p.n;
    numbers.repeat = p.unit_flag;
    return AdmitRanges(core, opcode, element, site, ranges, biased ? 4 : 3, numbers);
}

}  // namespace
}  // namespace isa

namespace cube {

using namespace isa;

void Multiply(uint8_t, uint8_t element, uint8_t, void* c, const void* a, const void* b, bool biased, uint64_t bias, const Mad& p)
{
    Core& core = Current();
    const uint64_t site = ASCENDSIM_SITE();
    const uint16_t opcode = element == kElementS4 ? kOp_mad_s4 : kOp_mad;
    const uint32_t lanes = kBlock * 8 / ElementBits(element);
    // Only binary32 has blocks narrower than a fractal's side; there k may be padded to sixteen.
    const uint32_t k_fractals = element == kF32 && p.k_aligned ? CeilDiv(p.k, kSide) * 2 : CeilDiv(p.k, lanes);
    // Zero wins over the table; the form without an address reads the table from its start.
    const bool zero = p.init_zero;
    bias = biased ? bias : 0;
    biased = p.from_bias && !zero;
    Operands at;
    if (!IssueMad(core, opcode, site, element, c, a, b, biased, bias, p, p.k, k_fractals, zero, &at)) {
        return;
    }
    switch (element) {
        case kF16:
            return Compute<float, kF16>(core, p, at, k_fractals, zero);
        case kBf16:
            return Compute<float, kBf16>(core, p, at, k_fractals, zero);
        case kF32:
            return Compute<float, kF32>(core, p, at, k_fractals, zero);
        case kI8:
            return Compute<int32_t, kI8>(core, p, at, k_fractals, zero);
        default:
            return Compute<int32_t, kElementS4>(core, p, at, k_fractals, zero);
    }
}

}  // namespace cube
}  // namespace ascendsim

using namespace ascendsim::isa;

void mad_sp(int32_t* c, int8_t* a, int8_t* b, uint16_t m, uint16_t k, uint16_t n, uint8_t unitFlag, bool cmatrixSource,
            bool cmatrixInitVal)
{
    Core& core = Current();
    const uint64_t site = ASCENDSIM_SITE();
    const ascendsim::cube::Mad p = {m, k, n, unitFlag, false, cmatrixSource, cmatrixInitVal};
    const uint32_t k_fractals = CeilDiv(k, kBlock);
    const uint32_t dense = k / 2u;
    const bool biased = cmatrixSource && !cmatrixInitVal;
    Operands at;
    if (!IssueMad(core, ascendsim::kOp_mad_sp, site, ascendsim::kI8, c, a, b, biased, 0, p, dense, k_fractals, cmatrixInitVal,
                  &at)) {
        return;
    }
    const uint32_t n_fractals = CeilDiv(n, kSide);
    std::vector<int32_t> left(size_t{m} * k);
    UnpackLeft<int32_t, ascendsim::kI8>(at.a, m, k, k_fractals, left.data());
    StartAccumulators(c = reinterpret_cast<int32_t*>(at.c), m, n_fractals, at.bias, cmatrixInitVal);
    core.cube.sparse.resize(core.l0b_size / 4);
    const uint8_t* index = core.cube.sparse.data() + (at.b - core.l0b) / 4;
    for (uint32_t column = 0; column < n_fractals * kSide; ++column) {
        for (uint32_t i = 0; i < dense; ++i) {
            const size_t element = (size_t{i / kBlock} * n_fractals + column / kSide) * ascendsim::isa::kFractal +
                                   size_t{column % kSide} * kBlock + i % kBlock;
            const uint32_t selected = index[element / 4] >> (element % 4 * 2) & 3u;
            // Two weights of every four are kept; the second's index counts from the second element.
            const uint32_t source = i / 2 * 4 + i % 2 + selected;
            const int32_t weight = reinterpret_cast<const int8_t*>(at.b)[element];
            for (uint32_t row = 0; row < m && source < k; ++row) {
                int32_t& sum = c[(size_t{column / kSide} * CeilDiv(m, kSide) * kSide + row) * kSide + column % kSide];
                sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(left[size_t{row} * k + source] * weight));
            }
        }
    }
}
