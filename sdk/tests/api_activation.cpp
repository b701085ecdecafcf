// Activation functions and gated linear units against double precision.
#include "kernel_operator.h"

#include "isa_support.h"

using namespace isa_test;
namespace A = AscendC;

namespace {

constexpr uint32_t kBytes = 8192;

template <typename T>
A::LocalTensor<T> At(uint32_t slot)
{
    return A::LocalTensor<T>(A::TPosition::VECCALC, slot * kBytes, kBytes / sizeof(T));
}
template <typename T>
T* Raw(uint32_t slot)
{
    return reinterpret_cast<T*>(ascendsim::UbBase() + slot * kBytes);
}
A::LocalTensor<uint8_t> Temporary(uint32_t bytes) { return A::LocalTensor<uint8_t>(A::TPosition::VECCALC, 4 * kBytes, bytes); }
template <typename T>
double Value(T value)
{
    return static_cast<double>(static_cast<float>(value));
}

double GeluOf(double x) { return x / (1 + std::exp(-1.5957691216057308 * (x + 0.044715 * x * x * x))); }
double SwishOf(double x, double scale) { return x / (1 + std::exp(-scale * x)); }
double FasterGeluV2Of(double x)
{
    const double held = std::min(std::fabs(0.7071 * x), 1.769) - 1.769;
    return x * ((x < 0 ? -1 : 1) * (0.5 - 0.1444 * held * held) + 0.5);
}

/// `precision` is that of the arithmetic: float for half too, unless a function has no room for that.
template <typename T>
void Check(const char* what, uint32_t slot, uint32_t count, double loss, Callee<double(double, double)> want)
{
    const double step = sizeof(T) == 2 ? (std::is_same<T, bfloat16_t>::value ? 1.0 / 256 : 1.0 / 2048) : 0;
    for (uint32_t i = 0; i < count; ++i) {
        const double a = Value(Raw<T>(1)[i]);
        const double b = Value(Raw<T>(2)[i]);
        const double expected = want(a, b);
        const double got = Value(Raw<T>(slot)[i]);
        if (!(std::fabs(got - expected) <= (step + loss) * std::fabs(expected) + loss * 0.01 * std::fabs(a) + (sizeof(T) == 2 ? 6e-8 : 1e-37)) && !Same(got, expected)) {
            Fail(std::string(what) + " of " + std::to_string(a) + ", " + std::to_string(b) + ": " + std::to_string(got) +
                 ", expected " + std::to_string(expected));
            return;
        }
    }
}

template <typename T>
void Fill(uint32_t slot, uint64_t seed, const std::vector<float>& hostile)
{
    Random random(seed);
    for (uint32_t i = 0; i < kBytes / sizeof(T); ++i) {
        Raw<T>(slot)[i] = static_cast<T>(i < hostile.size() ? hostile[i] : static_cast<float>(random.Real(-6, 6)));
    }
}

template <typename T>
void One()
{
    const double exact = 4e-6;
    const double native = sizeof(T) == 2 ? 6e-3 : exact;
    for (const uint32_t count : {1u, 100u, 1999u}) {
        Fill<T>(1, count, {0.0f, 100.0f, -100.0f, 1e-4f, INFINITY, NAN});
        Fill<T>(2, count + 1, {});
        const A::LocalTensor<uint8_t> tmp = Temporary(768);
        A::Gelu(At<T>(0), At<T>(1), tmp, count);
        Check<T>("Gelu", 0, count, exact, [](double a, double) { return GeluOf(a); });
        A::FasterGelu(At<T>(0), At<T>(1), tmp, count);
        Check<T>("FasterGelu", 0, count, exact, [](double a, double) { return SwishOf(a, 1.702); });
        A::FasterGeluV2(At<T>(0), At<T>(1), tmp, count);
        Check<T>("FasterGeluV2", 0, count, 1e-4, [](double a, double) { return FasterGeluV2Of(a); });
        Fill<T>(1, count, {0.0f, 5.5f, -5.5f});
        A::Swish(At<T>(0), At<T>(1), count, static_cast<T>(1.5f));
        Check<T>("Swish", 0, count, native, [](double a, double) { return SwishOf(a, 1.5); });
        A::Silu(At<T>(0), At<T>(1), count);
        Check<T>("Silu", 0, count, native, [](double a, double) { return SwishOf(a, 1); });
        A::GeGLU(At<T>(0), At<T>(1), At<T>(2), tmp, count);
        Check<T>("GeGLU", 0, count, exact, [](double a, double b) { return a * GeluOf(b); });
        for (const uint32_t least : {192u, 288u}) {  // three floats for each of a block of halves, and half a block more
            Fill<T>(0, count, {});
            A::GeGLU(At<T>(0), At<T>(1), At<T>(2), Temporary(least), count);
            Check<T>("GeGLU in little memory", 0, count, exact, [](double a, double b) { return a * GeluOf(b); });
        }
        A::SwiGLU(At<T>(0), At<T>(1), At<T>(2), 0.7f, tmp, count);
        Check<T>("SwiGLU", 0, count, exact, [](double a, double b) { return a * SwishOf(b, 0.7f); });
        A::ReGlu(At<T>(0), At<T>(1), At<T>(2), tmp, count);
        Check<T>("ReGlu", 0, count, exact, [](double a, double b) { return a * std::max(b, 0.0); });
        // In place, and with room behind the pipe's buffers.
        A::Gelu(At<T>(1), At<T>(1), count);
        for (uint32_t i = 0; i < count; ++i) {
            Raw<T>(3)[i] = Raw<T>(1)[i];
        }
        Fill<T>(1, count, {0.0f, 5.5f, -5.5f});
        Check<T>("Gelu in place", 3, count, exact, [](double a, double) { return GeluOf(a); });
    }
}

/// What is computed in the destination cannot be its own source.
void InPlace()
{
    const auto faults = [](const char* what, Callee<void()> call) {
        const ascendsim::LaunchResult result = OnCore(call);
        Expect(result.faults == 1 && result.first_fault.find(what) != std::string::npos, std::string(what) + " in place: " + result.first_fault);
    };
    faults("Silu", [] { A::Silu(At<float>(1), At<float>(1), 64); });
    faults("Swish", [] { A::Swish(At<half>(1), At<half>(1), 64, half(1.0f)); });
    faults("GeGLU", [] { A::GeGLU(At<float>(1), At<float>(1), At<float>(2), 64); });
    faults("SwiGLU", [] { A::SwiGLU(At<float>(2), At<float>(1), At<float>(2), 1.0f, 64); });
}

}  // namespace

int main()
{
    LooksForIdle() = true;
    InPlace();
    OnCore([] {
        A::TPipe pipe;
        A::TBuf<A::TPosition::VECCALC> operands;
        pipe.InitBuffer(operands, 4 * kBytes);
        One<half>();
        One<float>();
        Fill<bfloat16_t>(1, 1, {});
        Fill<bfloat16_t>(2, 2, {});
        A::ReGlu(At<bfloat16_t>(0), At<bfloat16_t>(1), At<bfloat16_t>(2), Temporary(1536), 777);
        Check<bfloat16_t>("ReGlu bfloat16", 0, 777, 0, [](double a, double b) { return a * std::max(b, 0.0); });
    });
    return Report("api_activation");
}
