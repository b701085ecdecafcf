// Reductions of a repeat (vcadd, vcmax, vcmin), of a block (vcg*) and of pairs (vcpadd).
#include "isa/elementwise.h"

#include "ascendsim/isa.h"

namespace ascendsim {
namespace isa {
namespace {

enum class Fold { kAdd, kMax, kMin };

inline void WidenLanes(const half* from, float* to, size_t count) { Widen(from, to, count); }
inline void WidenLanes(const float* from, float* to, size_t count) { std::memcpy(to, from, count * sizeof(float)); }

/// The lanes of one step as floats, with `neutral` where a lane is inactive.
template <typename T>
void LoadStep(const Lanes& src, const Active& active, uint32_t step, float neutral, float* out)
{
    T row[kRepeat / sizeof(T)];
    const uint32_t end = active.End(step);
    CopyRow(src, step, end, row);
    WidenLanes(row, out, end);
    for (uint32_t lane = 0; lane < active.per_repeat; ++lane) {
        if (lane >= end || !active.IsOn(step, lane)) {
            out[lane] = neutral;
        }
    }
}

/// Sums neighbours level by level, each level rounded to T: the order the hardware adds in.
template <typename T>
float TreeSum(float* values, uint32_t count)
{
    for (; count > 1; count /= 2) {
        for (uint32_t i = 0; i < count / 2; ++i) {
            values[i] = values[2 * i] + values[2 * i + 1];
        }
        if constexpr (std::is_same<T, half>::value) {
            half rounded[64];
            Narrow(values, rounded, count / 2);
            Widen(rounded, values, count / 2);
        }
    }
    return values[0];
}

float Extreme(Fold fold, const float* values, uint32_t count)
{
    float best = values[0];
    for (uint32_t i = 1; i < count; ++i) {
        best = fold == Fold::kMax ? NanMax(best, values[i]) : NanMin(best, values[i]);
    }
    return best;
}

float Neutral(Fold fold)
{
    return fold == Fold::kAdd ? 0.0f : fold == Fold::kMax ? -__builtin_inff() : __builtin_inff();
}

bool RangeActive(const Active& active, uint32_t step, uint32_t from, uint32_t to)
{
    for (uint32_t lane = from; lane < to; ++lane) {
        if (active.IsOn(step, lane)) {
            return true;
        }
    }
    return false;
}

/// Whether a repeat reads what an earlier one has written: results of a reduction may lie over what was read before, not over what
/// comes next.
bool ReadsResults(const Lanes& src, const void* dst, uint32_t bytes, uint32_t stride, const Active& active)
{
    const uint32_t steps = active.Steps();
    const auto from = reinterpret_cast<uintptr_t>(dst);
    for (uint32_t step = 1; step < steps; ++step) {
        const uint32_t blocks = (active.End(step) * src.size + kBlock - 1) / kBlock;
        for (uint32_t block = 0; block < blocks; ++block) {
            const size_t blocks_before = size_t{step} * src.repeat_stride + size_t{block} * src.block_stride;
            const auto at = reinterpret_cast<uintptr_t>(src.base) + blocks_before * kBlock;
            // The first result that ends behind the block's begin, of those that stand `stride` bytes apart.
            const size_t earlier = stride == 0 ? 1 : step;
            const size_t first = at < from + bytes ? 0 : stride == 0 ? earlier : (at - from - bytes) / stride + 1;
            if (first < earlier && from + first * stride < at + kBlock) {
                return true;
            }
        }
    }
    return false;
}

/// Checks and records a reduction: `results` values of `bytes` per repeat at a distance of `stride` bytes.
bool Begin(Core& core, uint16_t opcode, uint8_t dtype, uint64_t site, const Lanes& src, void* dst, uint32_t alignment,
           uint32_t bytes, uint32_t stride, const Active& active)
{
    Recorder recorder(core, opcode, site);
    if (active.Empty()) {
        recorder.Write(dtype, active);
        return false;
    }
    if (dst != nullptr) {
        if (!recorder.Aligned(dst, alignment)) {
            return false;
        }
        recorder.AddPieces(dst, bytes, kWrite, active.Steps(), stride);
    }
    if (!recorder.Aligned(src.base, kBlock)) {
        return false;
    }
    recorder.AddLanes(src, active);
    if (!recorder.InBounds()) {
        return false;
    }
    if (dst != nullptr && ReadsResults(src, dst, bytes, stride, active)) {
        RaiseFault(core, FaultKind::kOperandOverlap, site, "%s: a repeat reads results that an earlier one has written",
                   OpcodeName(opcode));
    }
    return recorder.Write(dtype, active);
}

template <typename T>
void WholeSum(uint64_t site, T* dst, T* src, uint32_t repeat, uint32_t drs, uint32_t sbs, uint32_t srs, bool accumulate)
{
    Core& core = Current();
    const Active active = ActiveLanes(core, kRepeat / sizeof(T), repeat);
    const Lanes lanes = {src, sizeof(T), sbs, srs, kRead};
    if (!Begin(core, kOp_vcadd, DtypeOf<T>::value, site, lanes, accumulate ? nullptr : dst, sizeof(T), sizeof(T),
               drs * sizeof(T), active)) {
        return;
    }
    float values[128];
    float total = 0.0f;
    for (uint32_t step = 0; step < active.Steps(); ++step) {
        LoadStep<T>(lanes, active, step, 0.0f, values);
        const float sum = TreeSum<T>(values, active.per_repeat);
        if (accumulate) {
            total = static_cast<float>(T(total + sum));
        } else {
            Store(reinterpret_cast<uint8_t*>(dst) + size_t{step} * drs * sizeof(T), T(sum));
        }
    }
    if (accumulate) {
        const T value(total);
        core.acc_val = 0;
        std::memcpy(&core.acc_val, &value, sizeof(T));
    }
}

template <typename T>
void WholeExtreme(Fold fold, uint16_t opcode, uint64_t site, T* dst, T* src, uint32_t repeat, uint32_t drs, uint32_t sbs,
                  uint32_t srs, Order_t order)
{
    using Index = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    Core& core = Current();
    const Active active = ActiveLanes(core, kRepeat / sizeof(T), repeat);
    const Lanes lanes = {src, sizeof(T), sbs, srs, kRead};
    NoteValue(core, uint64_t{static_cast<uint32_t>(order)});
    const uint32_t unit = order == ONLY_VALUE ? sizeof(T) : order == ONLY_INDEX ? sizeof(uint32_t) : 2 * sizeof(T);
    if (!Begin(core, opcode, DtypeOf<T>::value, site, lanes, dst, unit, unit, drs * unit, active)) {
        return;
    }
    float values[128];
    float best_of_all = 0.0f;
    for (uint32_t step = 0; step < active.Steps(); ++step) {
        LoadStep<T>(lanes, active, step, Neutral(fold), values);
        const float best = Extreme(fold, values, active.per_repeat);
        uint32_t index = 0;
        // The first lane that holds the extreme; a NaN wins and is found by being unequal to itself.
        while (index + 1 < active.per_repeat &&
               !(active.IsOn(step, index) && (values[index] == best || (best != best && values[index] != values[index])))) {
            ++index;
        }
        const T value(best);
        uint8_t* out = reinterpret_cast<uint8_t*>(dst) + size_t{step} * drs * unit;
        if (order == ONLY_INDEX) {
            Store<uint32_t>(out, index);
        } else if (order == INDEX_VALUE) {
            Store<Index>(out, static_cast<Index>(index));
            Store<T>(out + sizeof(T), value);
        } else {
            Store<T>(out, value);
            if (order == VALUE_INDEX) {
                Store<Index>(out + sizeof(T), static_cast<Index>(index));
            }
        }
        // The register keeps the extreme of all repeats, with its place among their lanes.
        const bool better = fold == Fold::kMax ? best > best_of_all : best < best_of_all;
        if (step == 0 || better || (best != best && best_of_all == best_of_all)) {
            uint32_t bits = 0;
            std::memcpy(&bits, &value, sizeof(T));
            core.max_min = static_cast<int64_t>((uint64_t{step} * active.per_repeat + index) << 32 | bits);
            best_of_all = best;
        }
    }
}

/// One result per `group` lanes; the destination's stride counts whole repeats of results.
template <typename T>
void Grouped(Fold fold, uint32_t group, uint16_t opcode, uint64_t site, T* dst, T* src, uint32_t repeat, uint32_t drs,
             uint32_t sbs, uint32_t srs)
{
    Core& core = Current();
    const Active active = ActiveLanes(core, kRepeat / sizeof(T), repeat);
    const Lanes lanes = {src, sizeof(T), sbs, srs, kRead};
    const uint32_t per_repeat = active.per_repeat / group;
    const uint32_t stride = drs * per_repeat * static_cast<uint32_t>(sizeof(T));
    const uint32_t widest = active.low ? (active.repeats > 0 ? active.lanes : active.tail) : active.per_repeat;
    const uint32_t results = (widest + group - 1) / group;
    if (!Begin(core, opcode, DtypeOf<T>::value, site, lanes, dst, sizeof(T) == 2 && group != 2 ? 16 : kBlock,
               results * sizeof(T), stride, active)) {
        return;
    }
    float values[128];
    for (uint32_t step = 0; step < active.Steps(); ++step) {
        LoadStep<T>(lanes, active, step, Neutral(fold), values);
        for (uint32_t i = 0; i < per_repeat; ++i) {
            if (!RangeActive(active, step, i * group, (i + 1) * group)) {
                continue;
            }
            float* part = values + i * group;
            const float result = fold == Fold::kAdd ? TreeSum<T>(part, group) : Extreme(fold, part, group);
            Store(reinterpret_cast<uint8_t*>(dst) + size_t{step} * stride + i * sizeof(T), T(result));
        }
    }
}

}  // namespace
}  // namespace isa
}  // namespace ascendsim

using namespace ascendsim::isa;

#define ARGS(T) T *dst, T *src, uint8_t repeat, uint16_t dstRepeatStride, uint16_t srcBlockStride, uint16_t srcRepeatStride
#define PASS dst, src, repeat, dstRepeatStride, srcBlockStride, srcRepeatStride
#define BODY(T)                                                                                            \
    void vcadd(ARGS(T), bool mode) { WholeSum<T>(ASCENDSIM_SITE(), PASS, mode); }                          \
    void vcmax(ARGS(T), Order_t order)                                                                     \
    {                                                                                                      \
        WholeExtreme<T>(Fold::kMax, ascendsim::kOp_vcmax, ASCENDSIM_SITE(), PASS, order);                  \
    }                                                                                                      \
    void vcmin(ARGS(T), Order_t order)                                                                     \
    {                                                                                                      \
        WholeExtreme<T>(Fold::kMin, ascendsim::kOp_vcmin, ASCENDSIM_SITE(), PASS, order);                  \
    }                                                                                                      \
    void vcgadd(ARGS(T)) { Grouped<T>(Fold::kAdd, kBlock / sizeof(T), ascendsim::kOp_vcgadd, ASCENDSIM_SITE(), PASS); } \
    void vcgmax(ARGS(T)) { Grouped<T>(Fold::kMax, kBlock / sizeof(T), ascendsim::kOp_vcgmax, ASCENDSIM_SITE(), PASS); } \
    void vcgmin(ARGS(T)) { Grouped<T>(Fold::kMin, kBlock / sizeof(T), ascendsim::kOp_vcgmin, ASCENDSIM_SITE(), PASS); } \
    void vcpadd(ARGS(T)) { Grouped<T>(Fold::kAdd, 2, ascendsim::kOp_vcpadd, ASCENDSIM_SITE(), PASS); }
BODY(half)
BODY(float)
#undef BODY

int64_t get_acc_val()
{
    ascendsim::machine::NeedsData(Current(), ASCENDSIM_SITE(), "the scalar unit reads the sum of a vcadd");
    return Current().acc_val;
}
int64_t get_max_min_cnt()
{
    ascendsim::machine::NeedsData(Current(), ASCENDSIM_SITE(), "the scalar unit reads the result of a vcmax or vcmin");
    return Current().max_min;
}
