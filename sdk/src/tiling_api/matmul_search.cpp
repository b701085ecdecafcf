// How a matrix multiplication is divided. First over cores: the division whose busiest core has least to do, then the
// one that loads least. Then into base blocks: as large as L0C allows and as square as that leaves them, so that every
// element that is loaded is used often. What is left of L1 holds base blocks along k, doubled.
#include "matmul_search.h"

#include <algorithm>
#include <vector>

namespace matmul_tiling {
namespace {
constexpr int32_t kAccumulatorBytes = 4;
constexpr int32_t kLongestBlock = 256; // also the columns of the bias table

int32_t RoundUp(int32_t value, int32_t unit)
{
    return CeilDiv(value, unit) * unit;
}

int32_t Bits(DataType dtype)
{
    switch (dtype) {
        case DataType::DT_INT4:
        case DataType::DT_FLOAT4_E2M1:
        case DataType::DT_FLOAT4_E1M2:
            return 4;
        case DataType::DT_INT8:
        case DataType::DT_UINT8:
        case DataType::DT_BOOL:
        case DataType::DT_HIFLOAT8:
        case DataType::DT_FLOAT8_E4M3FN:
        case DataType::DT_FLOAT8_E5M2:
        case DataType::DT_FLOAT8_E8M0:
            return 8;
        case DataType::DT_FLOAT16:
        case DataType::DT_BF16:
        case DataType::DT_BFLOAT16:
        case DataType::DT_INT16:
        case DataType::DT_UINT16:
            return 16;
        case DataType::DT_INT64:
        case DataType::DT_UINT64:
        case DataType::DT_DOUBLE:
            return 64;
        default:
            return 32;
    }
}

struct Part {
    int32_t m = 0;
    int32_t n = 0;
    int32_t k = 0;
    int32_t cores = 1;
};

struct Base {
    int32_t m = 0;
    int32_t n = 0;
    int32_t k = 0;
};

// What of an operand is in L1 at once: base blocks along its own dimension and along k, and how many in all.
struct Resident {
    int32_t blocks = 1;
    int32_t k_blocks = 1;
    int32_t depth = 1;
};

class Search {
public:
    explicit Search(MatmulApiTilingBase& request)
        : request_(request), a_bits_(Bits(request.aType_.dataType)), b_bits_(Bits(request.bType_.dataType))
    {
        // Bytes of a transposed operand move in pairs of fractals; so do floats along k where a fractal is turned round.
        const bool turned = (request.aType_.type == CubeFormat::NZ && request.aType_.isTrans) ||
                            (request.bType_.type == CubeFormat::NZ && !request.bType_.isTrans);
        k_unit_ = turned ? std::max(kCube, BlockElements(request.aType_.dataType)) :
                           BlockElements(request.aType_.dataType);
        m_unit_ = request.aType_.isTrans ? std::max(kCube, BlockElements(request.aType_.dataType)) : kCube;
        n_unit_ = !request.bType_.isTrans ? std::max(kCube, BlockElements(request.bType_.dataType)) : kCube;
    }

    bool Run()
    {
        return IsValid() && DivideOverCores() && ChooseBase() && FillL1();
    }

private:
    bool IsValid() const
    {
        return request_.singleM > 0 && request_.singleN > 0 && request_.singleK > 0 && request_.blockDim > 0;
    }

    // ---- cores ----

    static int32_t Along(int32_t size, int32_t cores, int32_t fixed, int32_t alignment, int32_t least, int32_t most)
    {
        if (fixed > 0) {
            return fixed;
        }
        int32_t part = cores == 1 ? size : RoundUp(CeilDiv(size, cores), std::max(alignment, 1));
        if (most > 0) {
            part = std::min(part, most);
        }
        if (least > 0) {
            part = std::max(part, least);
        }
        return std::min(part, size);
    }

    bool DivideOverCores()
    {
        const int32_t m = request_.singleM;
        const int32_t n = request_.singleN;
        const int32_t k = request_.singleK;
        const int32_t dim = request_.blockDim;
        const int32_t most_k = request_.enableSplitK_ ? dim : 1;
        int64_t best_work = INT64_MAX;
        int64_t best_load = INT64_MAX;
        for (int32_t k_cores = 1; k_cores <= most_k; ++k_cores) {
            for (int32_t m_cores = 1; m_cores * k_cores <= dim; ++m_cores) {
                const int32_t n_cores = dim / k_cores / m_cores;
                Part part;
                part.m = Along(m, m_cores, request_.singleCoreM, std::max(request_.alignSingleM, kCube),
                               request_.minSingleM, request_.maxSingleM);
                part.n = Along(n, n_cores, request_.singleCoreN, std::max(request_.alignSingleN, kCube),
                               request_.minSingleN, request_.maxSingleN);
                part.k = Along(k, k_cores, request_.singleCoreK, std::max(request_.alignSingleK, k_unit_),
                               request_.minSingleK, request_.maxSingleK);
                part.cores = CeilDiv(m, part.m) * CeilDiv(n, part.n) * CeilDiv(k, part.k);
                const bool fixed = request_.singleCoreM > 0 || request_.singleCoreN > 0 || request_.singleCoreK > 0;
                if (part.cores > dim && !fixed) {
                    continue;
                }
                part.cores = fixed ? dim : part.cores;
                const int64_t work = int64_t{RoundUp(part.m, kCube)} * RoundUp(part.n, kCube) * RoundUp(part.k, kCube);
                const int64_t load = (int64_t{part.m} + part.n) * part.k;
                if (work < best_work || (work == best_work && load < best_load)) {
                    best_work = work;
                    best_load = load;
                    part_ = part;
                }
            }
        }
        return best_work != INT64_MAX;
    }

    // ---- base blocks ----

    bool FitsL0C(int32_t m, int32_t n) const
    {
        return int64_t{m} * n * kAccumulatorBytes <= request_.bufferPool_.l0CSize;
    }

    // The largest k for which a block of both operands fits half of its memory; all of it where the user fixed sizes.
    int32_t LargestK(int32_t m, int32_t n, int32_t share) const
    {
        const int64_t a = int64_t{request_.bufferPool_.l0ASize} * 8 / share / a_bits_ / m;
        const int64_t b = int64_t{request_.bufferPool_.l0BSize} * 8 / share / b_bits_ / n;
        const int64_t most = std::min<int64_t>({a, b, request_.adjust_.maxBaseK, RoundUp(part_.k, k_unit_)});
        return static_cast<int32_t>(most / k_unit_ * k_unit_);
    }

    // A block is all of a short dimension, or a power of two of a long one: then tails are few, and a row of a block is
    // a whole number of bursts.
    static std::vector<int32_t> Candidates(int32_t size, int32_t unit, int32_t least, int32_t most)
    {
        if (least == most) {
            return {most};
        }
        std::vector<int32_t> candidates;
        const int32_t whole = RoundUp(size, unit);
        for (int32_t block = unit; block < whole && block <= most; block *= 2) {
            candidates.push_back(block);
        }
        if (whole <= most) {
            candidates.push_back(whole);
        }
        return candidates;
    }

    bool ChooseBase()
    {
        const auto& limits = request_.adjust_;
        const auto most = [](int32_t limit) { return std::min(limit, kLongestBlock); };
        const auto ms = Candidates(part_.m, m_unit_, limits.minBaseM,
                                   limits.minBaseM == limits.maxBaseM ? limits.maxBaseM : most(limits.maxBaseM));
        const auto ns = Candidates(part_.n, n_unit_, limits.minBaseN,
                                   limits.minBaseN == limits.maxBaseN ? limits.maxBaseN : most(limits.maxBaseN));
        int64_t best = INT64_MAX;
        for (const int32_t m : ms) {
            for (const int32_t n : ns) {
                Consider(m, n, best);
            }
        }
        return best != INT64_MAX;
    }

    void Consider(int32_t m, int32_t n, int64_t& best)
    {
        const auto& limits = request_.adjust_;
        if (m < limits.minBaseM || n < limits.minBaseN || !FitsL0C(m, n) || (request_.isBias && n > kLongestBlock)) {
            return;
        }
        int32_t k = limits.maxBaseK == limits.minBaseK ? limits.maxBaseK : LargestK(m, n, 2);
        if (limits.maxBaseK != limits.minBaseK) {
            k = k < k_unit_ ? LargestK(m, n, 1) : k;
            if (k < part_.k) {
                int32_t power = k_unit_;
                while (power * 2 <= k) {
                    power *= 2;
                }
                k = power;
            }
        }
        if (k <= 0 || int64_t{m} * k * a_bits_ / 8 > request_.bufferPool_.l0ASize ||
            int64_t{n} * k * b_bits_ / 8 > request_.bufferPool_.l0BSize) {
            return;
        }
        // Bytes that one core loads, and a little for every block, which costs instructions.
        const int64_t m_blocks = CeilDiv(part_.m, m);
        const int64_t n_blocks = CeilDiv(part_.n, n);
        const int64_t k_blocks = CeilDiv(part_.k, k);
        const int64_t load = (n_blocks * m_blocks * m * a_bits_ + m_blocks * n_blocks * n * b_bits_) / 8 * part_.k;
        const int64_t cost = load + m_blocks * n_blocks * k_blocks * 4096;
        if (cost < best) {
            best = cost;
            base_ = {m, n, k};
        }
    }

    // ---- L1 ----

    static bool InPairs(DataType dtype, bool turned)
    {
        return dtype == DataType::DT_FLOAT || (turned && Bits(dtype) == 8);
    }

    bool FillL1()
    {
        const int32_t a_block = base_.m * base_.k * a_bits_ / 8;
        const int32_t b_block = base_.n * base_.k * b_bits_ / 8;
        const int32_t m_blocks = CeilDiv(part_.m, base_.m);
        const int32_t n_blocks = CeilDiv(part_.n, base_.n);
        const int32_t k_blocks = CeilDiv(part_.k, base_.k);
        const bool a_there = request_.aType_.pos == TPosition::TSCM;
        const bool b_there = request_.bType_.pos == TPosition::TSCM;
        const int32_t bias = request_.isBias ? base_.n * kAccumulatorBytes : 0;
        // A fixed operand in L1 is the user's: all of it counts.
        int64_t room = int64_t{request_.bufferPool_.l1Size} - bias;
        room -= a_there ? int64_t{m_blocks} * k_blocks * a_block : 0;
        room -= b_there ? int64_t{n_blocks} * k_blocks * b_block : 0;
        const int64_t moving = (a_there ? 0 : a_block) + (b_there ? 0 : b_block);
        if (room < moving) {
            return false;
        }
        // An operand that fits stays in L1 as a whole, both if possible; the other one streams through two blocks.
        const int64_t whole_a = int64_t{m_blocks} * k_blocks * a_block;
        const int64_t whole_b = int64_t{n_blocks} * k_blocks * b_block;
        auto& tiling = request_.tiling_;
        if (!a_there && !b_there) {
            // An operand whose fractals come in pairs may need twice its room.
            const int64_t a_pairs = InPairs(request_.aType_.dataType, request_.aType_.isTrans) ? 2 : 1;
            const int64_t b_pairs = InPairs(request_.bType_.dataType, !request_.bType_.isTrans) ? 2 : 1;
            const bool all_a = whole_a * a_pairs + 2 * b_block * b_pairs <= room;
            const bool all_b = whole_b * b_pairs + 2 * a_block * a_pairs <= room;
            if (whole_a * a_pairs + whole_b * b_pairs <= room) {
                Write({m_blocks, k_blocks, m_blocks * k_blocks}, {n_blocks, k_blocks, n_blocks * k_blocks});
            } else if (all_b && (!all_a || whole_b <= whole_a)) {
                Write({1, 1, 2}, {n_blocks, k_blocks, n_blocks * k_blocks});
            } else if (all_a) {
                Write({m_blocks, k_blocks, m_blocks * k_blocks}, {1, 1, 2});
            } else {
                const int32_t sets = room >= 2 * moving ? 2 : 1;
                const int32_t step = static_cast<int32_t>(std::min<int64_t>(k_blocks, room / (moving * sets)));
                Write({1, step, step * sets}, {1, step, step * sets});
            }
        } else {
            // Blocks along k at once; two sets where they fit.
            const int32_t sets = room >= 2 * moving ? 2 : 1;
            const int32_t step =
                moving == 0 ? k_blocks : static_cast<int32_t>(std::min<int64_t>(k_blocks, room / (moving * sets)));
            const int32_t depth = k_blocks == step && m_blocks == 1 && n_blocks == 1 ? step : step * sets;
            Write(a_there ? Resident{m_blocks, k_blocks, m_blocks * k_blocks} : Resident{1, step, depth},
                  b_there ? Resident{n_blocks, k_blocks, n_blocks * k_blocks} : Resident{1, step, depth});
        }
        tiling.set_shareL1Size(tiling.get_depthA1() * a_block + tiling.get_depthB1() * b_block + bias);
        return true;
    }

    void Write(const Resident& a, const Resident& b)
    {
        auto& tiling = request_.tiling_;
        const int32_t k_blocks = CeilDiv(part_.k, base_.k);
        const int32_t l0c = base_.m * base_.n * kAccumulatorBytes;
        tiling.set_usedCoreNum(part_.cores);
        tiling.set_M(request_.orgM);
        tiling.set_N(request_.orgN);
        tiling.set_Ka(request_.orgKa);
        tiling.set_Kb(request_.orgKb);
        tiling.set_singleCoreM(part_.m);
        tiling.set_singleCoreN(part_.n);
        tiling.set_singleCoreK(part_.k);
        tiling.set_baseM(base_.m);
        tiling.set_baseN(base_.n);
        tiling.set_baseK(base_.k);
        tiling.set_depthA1(a.depth);
        tiling.set_depthB1(b.depth);
        tiling.set_stepM(a.blocks);
        tiling.set_stepN(b.blocks);
        tiling.set_stepKa(a.k_blocks);
        tiling.set_stepKb(b.k_blocks);
        tiling.set_isBias(request_.isBias ? 1 : 0);
        tiling.set_iterateOrder(Order(a.k_blocks == k_blocks && b.k_blocks == k_blocks));
        tiling.set_shareMode(0);
        tiling.set_transLength(0);
        tiling.set_shareL0CSize(l0c);
        tiling.set_shareUbSize(0);
        tiling.set_dbL0A(Sets(base_.m, a_bits_, request_.bufferPool_.l0ASize));
        tiling.set_dbL0B(Sets(base_.n, b_bits_, request_.bufferPool_.l0BSize));
        tiling.set_dbL0C(1);
        tiling.set_batchM(request_.batchM);
        tiling.set_batchN(request_.batchN);
        tiling.set_singleBatchM(request_.singleBatchM);
        tiling.set_singleBatchN(request_.singleBatchN);
        tiling.set_ALayoutInfoB(request_.aLayout_.b);
        tiling.set_ALayoutInfoS(request_.aLayout_.s);
        tiling.set_ALayoutInfoN(request_.aLayout_.n);
        tiling.set_ALayoutInfoG(request_.aLayout_.g);
        tiling.set_ALayoutInfoD(request_.aLayout_.d);
        tiling.set_BLayoutInfoB(request_.bLayout_.b);
        tiling.set_BLayoutInfoS(request_.bLayout_.s);
        tiling.set_BLayoutInfoN(request_.bLayout_.n);
        tiling.set_BLayoutInfoG(request_.bLayout_.g);
        tiling.set_BLayoutInfoD(request_.bLayout_.d);
        tiling.set_CLayoutInfoB(request_.cLayout_.b);
        tiling.set_CLayoutInfoS1(request_.cLayout_.s);
        tiling.set_CLayoutInfoN(request_.cLayout_.n);
        tiling.set_CLayoutInfoG(request_.cLayout_.g);
        tiling.set_CLayoutInfoS2(request_.cLayout_.d);
        tiling.set_BatchNum(request_.batchNum);
        request_.baseM = base_.m;
        request_.baseN = base_.n;
        request_.baseK = base_.k;
    }

    int32_t Sets(int32_t rows, int32_t bits, int32_t bytes) const
    {
        return int64_t{rows} * base_.k * bits / 8 * 2 <= bytes ? 2 : 1;
    }

    // 0: m runs first, 1: n. Where all of k stays in L1, the operand that is loaded again should be the smaller one.
    int32_t Order(bool whole_k) const
    {
        if (request_.traverse_ != MatrixTraverse::NOSET) {
            return static_cast<int32_t>(request_.traverse_) - 1;
        }
        if (!whole_k) {
            return 0;
        }
        const int64_t n_first = part_.m + int64_t{part_.n} * CeilDiv(part_.m, base_.m);
        const int64_t m_first = part_.n + int64_t{part_.m} * CeilDiv(part_.n, base_.n);
        return n_first < m_first ? 1 : 0;
    }

    MatmulApiTilingBase& request_;
    int32_t a_bits_;
    int32_t b_bits_;
    int32_t k_unit_;
    int32_t m_unit_;
    int32_t n_unit_;
    Part part_;
    Base base_;
};
} // namespace

int32_t BlockElements(DataType dtype)
{
    return 32 * 8 / Bits(dtype);
}

bool SearchMatmul(MatmulApiTilingBase& request)
{
    return Search(request).Run();
}
} // namespace matmul_tiling
