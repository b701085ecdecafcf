// Lane-by-lane instructions against a scalar model, over random shapes, masks and values; every byte outside the active
// destination lanes must keep its value, and the record must name exactly the bytes written.
#include "isa_support.h"

using namespace isa_test;

namespace {

const char* const kTracePath = "isa_arith.trace";

struct Shape {
    bool counted;
    uint64_t low, high;
    uint32_t repeat;
    uint32_t count;
    uint8_t bs[3];
    uint8_t rs[3];
};

template <typename T>
T RandomValue(Random& random)
{
    if (std::is_integral<T>::value) {
        return static_cast<T>(random.Next());
    }
    const uint32_t special = random.Below(40);
    if (special == 0) return T(INFINITY);
    if (special == 1) return T(NAN);
    if (special == 2) return T(0.0f);
    return T(static_cast<float>(random.Real(-8, 8)));
}

Shape RandomShape(Random& random, uint32_t per_repeat)
{
    Shape shape = {};
    shape.counted = random.Below(3) == 0;
    shape.count = 1 + random.Below(per_repeat * 5);
    shape.repeat = 1 + random.Below(4);
    shape.low = shape.high = ~uint64_t{0};
    switch (random.Below(4)) {
        case 0:
            shape.low = random.Next();
            shape.high = random.Next();
            break;
        case 1:
            shape.low = (uint64_t{1} << (1 + random.Below(63))) - 1;
            shape.high = 0;
            break;
        case 2:
            shape.low = shape.high = 0x5555555555555555ull;
            break;
        default:
            break;
    }
    for (int i = 0; i < 3; ++i) {
        shape.bs[i] = static_cast<uint8_t>(random.Below(3) == 0 ? 2 : 1);
        shape.rs[i] = static_cast<uint8_t>(random.Below(3) == 0 ? 17 : shape.bs[i] * 8);
    }
    return shape;
}

size_t Index(uint32_t step, uint32_t lane, uint8_t bs, uint8_t rs, size_t size)
{
    const size_t per_block = 32 / size;
    return (size_t{step} * rs + lane / per_block * bs) * per_block + lane % per_block;
}

bool IsActive(const Shape& shape, uint32_t step, uint32_t lane, uint32_t per_repeat)
{
    if (shape.counted) {
        return step * per_repeat + lane < shape.count;
    }
    return ((lane < 64 ? shape.low >> lane : shape.high >> (lane - 64)) & 1) != 0;
}

constexpr size_t kArea = 48 * 1024;

/// Runs one instruction on random data. `model` computes one destination lane from both sources and the old value.
template <typename D, typename S>
void Check(const char* name, uint64_t seed, Callee<void(D*, S*, S*, const Shape&)> instruction,
           Callee<double(double, double, double)> model, bool second = true)
{
    const uint32_t per_repeat = 256 / (sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S));
    Random random(seed);
    const Shape shape = RandomShape(random, per_repeat);
    ascendsim::OpenTrace(kTracePath);
    std::vector<uint8_t> expected;
    std::vector<bool> written(3 * kArea, false);
    OnCore([&] {
        uint8_t* ub = ascendsim::UbBase();
        auto* d = reinterpret_cast<D*>(ub);
        auto* a = reinterpret_cast<S*>(ub + kArea);
        auto* b = reinterpret_cast<S*>(ub + 2 * kArea);
        for (size_t i = 0; i < kArea / sizeof(D); ++i) d[i] = RandomValue<D>(random);
        for (size_t i = 0; i < kArea / sizeof(S); ++i) {
            a[i] = RandomValue<S>(random);
            b[i] = RandomValue<S>(random);
        }
        std::vector<uint8_t> copy(ub, ub + kArea);
        auto* want = reinterpret_cast<D*>(copy.data());
        const uint32_t steps = shape.counted ? (shape.count + per_repeat - 1) / per_repeat : shape.repeat;
        for (uint32_t step = 0; step < steps; ++step) {
            for (uint32_t lane = 0; lane < per_repeat; ++lane) {
                if (!IsActive(shape, step, lane, per_repeat)) continue;
                const size_t at = Index(step, lane, shape.bs[0], shape.rs[0], sizeof(D));
                const S x = a[Index(step, lane, shape.bs[1], shape.rs[1], sizeof(S))];
                const S y = b[Index(step, lane, shape.bs[2], shape.rs[2], sizeof(S))];
                const double value = model(static_cast<double>(x), static_cast<double>(y), static_cast<double>(want[at]));
                want[at] = static_cast<D>(value);
                for (size_t k = 0; k < sizeof(D); ++k) written[at * sizeof(D) + k] = true;
            }
        }
        if (shape.counted) {
            set_mask_count();
            set_vector_mask(0, shape.count);
        } else {
            set_vector_mask(shape.high, shape.low);
        }
        instruction(d, a, b, shape);
        for (size_t i = 0; i < kArea / sizeof(D); ++i) {
            const double got = static_cast<double>(d[i]);
            const double need = static_cast<double>(want[i]);
            if (!Same(got, need)) {
                Fail(std::string(name) + " seed " + std::to_string(seed) + " element " + std::to_string(i) + " is " +
                     std::to_string(got) + ", not " + std::to_string(need));
                break;
            }
        }
    });
    Expect(ascendsim::LastLaunch().faults == 0, std::string(name) + ": " + ascendsim::LastLaunch().first_fault);
    ascendsim::CloseTrace();
    const Trace trace = ReadTrace(kTracePath);
    const Record* record = nullptr;
    for (const Record& candidate : trace.records) {
        if (candidate.name == name) record = &candidate;
    }
    if (record == nullptr) {
        Fail(std::string(name) + " is not in the trace");
        return;
    }
    const std::vector<bool> said = Touched(*record, 2, 3 * kArea);
    const bool exact = shape.counted || shape.low == ~uint64_t{0} || (shape.low & (shape.low + 1)) == 0;
    for (size_t i = 0; i < said.size(); ++i) {
        if (written[i] && !said[i]) {
            Fail(std::string(name) + " seed " + std::to_string(seed) + ": byte " + std::to_string(i) + " written, not recorded");
            break;
        }
        if (exact && said[i] && !written[i]) {
            Fail(std::string(name) + " seed " + std::to_string(seed) + ": byte " + std::to_string(i) + " recorded, not written");
            break;
        }
    }
    Expect(record->ops.size() >= (second ? 3u : 2u), std::string(name) + " has too few operands");
}

#define BIN(name, D, S) \
    [](D* d, S* a, S* b, const Shape& s) { \
        name(d, a, b, static_cast<uint8_t>(s.repeat), s.bs[0], s.bs[1], s.bs[2], s.rs[0], s.rs[1], s.rs[2]); \
    }
#define UN(name, D, S) \
    [](D* d, S* a, S*, const Shape& s) { name(d, a, static_cast<uint8_t>(s.repeat), s.bs[0], s.bs[1], s.rs[0], s.rs[1]); }
#define SC(name, D, S, v) \
    [](D* d, S* a, S*, const Shape& s) { name(d, a, v, static_cast<uint8_t>(s.repeat), s.bs[0], s.bs[1], s.rs[0], s.rs[1]); }

double Clamp16(double v) { return v > 32767 ? 32767 : v < -32768 ? -32768 : v; }
double Wrap32(double v) { return static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(v))); }
double NanMax(double a, double b) { return a != a ? a : b != b ? b : a > b ? a : b; }
double NanMin(double a, double b) { return a != a ? a : b != b ? b : a < b ? a : b; }
double F(double v) { return static_cast<float>(v); }

}  // namespace

int main()
{
    for (uint64_t seed = 1; seed <= 25; ++seed) {
        const auto add = [](double a, double b, double) { return F(a + b); };
        const auto sub = [](double a, double b, double) { return F(a - b); };
        const auto mul = [](double a, double b, double) { return F(a * b); };
        const auto div = [](double a, double b, double) { return F(a / b); };
        const auto hi = [](double a, double b, double) { return NanMax(a, b); };
        const auto lo = [](double a, double b, double) { return NanMin(a, b); };
        Check<half, half>("vadd", seed, BIN(vadd, half, half), add);
        Check<float, float>("vadd", seed, BIN(vadd, float, float), add);
        Check<int16_t, int16_t>("vadd", seed, BIN(vadd, int16_t, int16_t), [](double a, double b, double) { return Clamp16(a + b); });
        Check<int32_t, int32_t>("vadd", seed, BIN(vadd, int32_t, int32_t), [](double a, double b, double) { return Wrap32(a + b); });
        Check<half, half>("vsub", seed, BIN(vsub, half, half), sub);
        Check<float, float>("vsub", seed, BIN(vsub, float, float), sub);
        Check<int32_t, int32_t>("vsub", seed, BIN(vsub, int32_t, int32_t), [](double a, double b, double) { return Wrap32(a - b); });
        Check<half, half>("vmul", seed, BIN(vmul, half, half), mul);
        Check<float, float>("vmul", seed, BIN(vmul, float, float), mul);
        Check<int16_t, int16_t>("vmul", seed, BIN(vmul, int16_t, int16_t), [](double a, double b, double) { return Clamp16(a * b); });
        Check<half, half>("vdiv", seed, BIN(vdiv, half, half), div);
        Check<float, float>("vdiv", seed, BIN(vdiv, float, float), div);
        Check<half, half>("vmax", seed, BIN(vmax, half, half), hi);
        Check<float, float>("vmax", seed, BIN(vmax, float, float), hi);
        Check<int32_t, int32_t>("vmax", seed, BIN(vmax, int32_t, int32_t), hi);
        Check<half, half>("vmin", seed, BIN(vmin, half, half), lo);
        Check<float, float>("vmin", seed, BIN(vmin, float, float), lo);
        Check<int16_t, int16_t>("vand", seed, BIN(vand, int16_t, int16_t),
                                [](double a, double b, double) { return static_cast<int16_t>(static_cast<int>(a) & static_cast<int>(b)); });
        Check<uint16_t, uint16_t>("vor", seed, BIN(vor, uint16_t, uint16_t),
                                  [](double a, double b, double) { return static_cast<int>(a) | static_cast<int>(b); });
        Check<half, half>("vaddrelu", seed, BIN(vaddrelu, half, half), [](double a, double b, double) { return NanMax(F(a + b), 0); });
        Check<half, half>("vmadd", seed, BIN(vmadd, half, half), [](double a, double b, double d) { return F(F(a * d) + b); });
        Check<float, float>("vmadd", seed, BIN(vmadd, float, float), [](double a, double b, double d) { return F(F(a * d) + b); });
        Check<float, half>("vmla", seed, BIN(vmla, float, half), [](double a, double b, double d) { return F(F(a * b) + d); });
        Check<half, half>("vabs", seed, UN(vabs, half, half), [](double a, double, double) { return std::fabs(a); }, false);
        Check<half, half>("vrelu", seed, UN(vrelu, half, half), [](double a, double, double) { return NanMax(a, 0); }, false);
        Check<int32_t, int32_t>("vrelu", seed, UN(vrelu, int32_t, int32_t), [](double a, double, double) { return a > 0 ? a : 0; }, false);
        Check<float, float>("vexp", seed, UN(vexp, float, float), [](double a, double, double) { return expf(static_cast<float>(a)); }, false);
        Check<float, float>("vsqrt", seed, UN(vsqrt, float, float), [](double a, double, double) { return F(std::sqrt(a)); }, false);
        Check<int16_t, int16_t>("vnot", seed, UN(vnot, int16_t, int16_t), [](double a, double, double) { return ~static_cast<int>(a); }, false);
        Check<half, half>("vadds", seed, SC(vadds, half, half, half(1.5f)), [](double a, double, double) { return F(a + 1.5); }, false);
        Check<float, float>("vmuls", seed, SC(vmuls, float, float, 0.3f), [](double a, double, double) { return F(a * static_cast<double>(0.3f)); }, false);
        Check<int16_t, int16_t>("vadds", seed, SC(vadds, int16_t, int16_t, int16_t(30000)), [](double a, double, double) { return Clamp16(a + 30000); }, false);
        Check<half, half>("vmaxs", seed, SC(vmaxs, half, half, half(0.25f)), [](double a, double, double) { return NanMax(a, 0.25); }, false);
        Check<half, half>("vaxpy", seed, SC(vaxpy, half, half, half(0.5f)), [](double a, double, double d) { return F(F(a * 0.5) + d); }, false);
        Check<float, half>("vaxpy", seed, SC(vaxpy, float, half, half(0.5f)), [](double a, double, double d) { return F(F(a * 0.5) + d); }, false);
        Check<half, half>("vlrelu", seed, SC(vlrelu, half, half, half(0.125f)), [](double a, double, double) { return a > 0 || a != a ? a : F(a * 0.125); }, false);
        Check<uint32_t, uint32_t>("vshl", seed, SC(vshl, uint32_t, uint32_t, 5u), [](double a, double, double) { return static_cast<uint32_t>(static_cast<uint32_t>(a) << 5); }, false);
    }
    std::remove(kTracePath);
    return Report("isa_arith");
}
