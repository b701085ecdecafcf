// The smallest temporary buffers that the host promises are enough for the kernels' functions, which write nothing behind
// them, and of their tensors only the results. Host and kernel headers in one file, as programs with their own main have them.
#include "kernel_operator.h"
#include "tiling/tiling_api.h"

#include "isa_support.h"

using namespace isa_test;
namespace A = AscendC;

static_assert(ge::DT_FLOAT16 == 1, "the names of dtypes are the host's here");

namespace {

constexpr uint32_t kSlot = 12 * 1024;
constexpr uint32_t kTemporary = 8 * kSlot;

template <typename T>
A::LocalTensor<T> At(uint32_t slot, uint32_t count = 0)
{
    return A::LocalTensor<T>(A::TPosition::VECCALC, slot * kSlot, count == 0 ? kSlot / sizeof(T) : count);
}

using Call = Callee<void(const A::LocalTensor<uint8_t>&)>;

/// Bytes at the start of slots that a call may write.
using Results = std::vector<std::pair<uint32_t, uint32_t>>;

/// Runs `call` with a temporary buffer of `bytes` and looks for faults, for writes behind it and for writes to what is no result.
void With(const std::string& what, uint32_t bytes, const Results& results, Call call)
{
    bool untouched = true;
    bool kept = true;
    const ascendsim::LaunchResult result = OnCore([&] {
        uint8_t* base = ascendsim::UbBase();
        for (uint32_t i = 0; i < 8 * kSlot / 2; ++i) {
            reinterpret_cast<half*>(base)[i] = half(static_cast<float>(i % 7) * 0.25f);
        }
        uint8_t* end = base + kTemporary + bytes;
        std::memset(end, 0x3C, 4096);
        const std::vector<uint8_t> before(base, base + kTemporary);
        call(A::LocalTensor<uint8_t>(A::TPosition::VECCALC, kTemporary, bytes));
        for (const auto& [slot, length] : results) {
            std::memcpy(base + slot * kSlot, &before[slot * kSlot], length);
        }
        kept = std::memcmp(base, before.data(), kTemporary) == 0;
        for (uint32_t i = 0; i < 4096; ++i) {
            untouched = untouched && end[i] == 0x3C;
        }
    });
    Expect(result.completed && result.faults == 0, what + " with " + std::to_string(bytes) + " bytes: " + result.first_fault);
    Expect(untouched, what + " writes behind " + std::to_string(bytes) + " bytes");
    Expect(kept, what + " with " + std::to_string(bytes) + " bytes writes to what is no result");
}

template <typename T>
std::string Named(const char* name)
{
    return std::string(name) + " " + std::to_string(sizeof(T) * 8);
}

#define ELEMENTWISE(Name)                                                                                     \
    {                                                                                                         \
        uint32_t most = 0;                                                                                    \
        uint32_t least = 0;                                                                                   \
        A::Get##Name##MaxMinTmpSize(shape, sizeof(T), false, most, least);                                    \
        for (const uint32_t bytes : {least, most}) {                                                          \
            With(Named<T>(#Name), bytes, one,                                                                 \
                 [](const A::LocalTensor<uint8_t>& t) { A::Name(At<T>(0), At<T>(1), t, kCount); });           \
        }                                                                                                     \
    }

/// Of counts that end with a whole piece or with a part of one.
template <typename T, uint32_t kCount>
void Elementwise()
{
    const ge::Shape shape({10, 100});
    const Results one = {{0, kCount * sizeof(T)}};
    ELEMENTWISE(Acos)
    ELEMENTWISE(Acosh)
    ELEMENTWISE(Asin)
    ELEMENTWISE(Asinh)
    ELEMENTWISE(Atan)
    ELEMENTWISE(Atanh)
    ELEMENTWISE(Ceil)
    ELEMENTWISE(Cos)
    ELEMENTWISE(Cosh)
    ELEMENTWISE(Erf)
    ELEMENTWISE(Erfc)
    ELEMENTWISE(Floor)
    ELEMENTWISE(Frac)
    ELEMENTWISE(Log2)
    ELEMENTWISE(Sign)
    ELEMENTWISE(Sin)
    ELEMENTWISE(Sinh)
    ELEMENTWISE(Tan)
    ELEMENTWISE(Tanh)
    ELEMENTWISE(Trunc)
    uint32_t most = 0;
    uint32_t least = 0;
    A::GetGeluMaxMinTmpSize(shape, sizeof(T), most, least);
    With(Named<T>("Gelu"), least, one, [](const A::LocalTensor<uint8_t>& t) { A::Gelu(At<T>(0), At<T>(1), t, kCount); });
    With(Named<T>("FasterGeluV2"), least, one, [](const A::LocalTensor<uint8_t>& t) { A::FasterGeluV2(At<T>(0), At<T>(1), t, kCount); });
    A::GetSigmoidMaxMinTmpSize(shape, sizeof(T), false, most, least);
    With(Named<T>("Sigmoid"), least, one, [](const A::LocalTensor<uint8_t>& t) { A::Sigmoid(At<T>(0), At<T>(1), t, kCount); });
    A::GetGeGLUMaxMinTmpSize(shape, sizeof(T), false, most, least);
    With(Named<T>("GeGLU"), least, one, [](const A::LocalTensor<uint8_t>& t) { A::GeGLU(At<T>(0), At<T>(1), At<T>(2), t, kCount); });
    A::GetSwiGLUMaxMinTmpSize(shape, sizeof(T), most, least, false);
    With(Named<T>("SwiGLU"), least, one, [](const A::LocalTensor<uint8_t>& t) { A::SwiGLU(At<T>(0), At<T>(1), At<T>(2), 1.0f, t, kCount); });
    A::GetReGluMaxMinTmpSize(shape, sizeof(T), false, most, least);
    With(Named<T>("ReGlu"), least, one, [](const A::LocalTensor<uint8_t>& t) { A::ReGlu(At<T>(0), At<T>(1), At<T>(2), t, kCount); });
    A::GetFmodMaxMinTmpSize(shape, sizeof(T), false, most, least);
    With(Named<T>("Fmod"), least, one, [](const A::LocalTensor<uint8_t>& t) { A::Fmod(At<T>(0), At<T>(1), At<T>(2), t, kCount); });
    const ge::Shape scalar(std::vector<int64_t>{1});
    A::GetPowerMaxMinTmpSize(shape, shape, false, sizeof(T), false, most, least);
    With(Named<T>("Power"), least, one, [](const A::LocalTensor<uint8_t>& t) { A::Power(At<T>(0), At<T>(1), At<T>(2), t, kCount); });
    A::GetPowerMaxMinTmpSize(shape, scalar, false, sizeof(T), false, most, least);
    With(Named<T>("Power by a scalar"), least, one, [](const A::LocalTensor<uint8_t>& t) { A::Power(At<T>(0), At<T>(1), static_cast<T>(2.0f), t, kCount); });
    A::GetDropOutMaxMinTmpSize(shape, sizeof(T), false, most, least);
    With(Named<T>("DropOut"), least, {{0, 960 * sizeof(T)}}, [](const A::LocalTensor<uint8_t>& t) {
        A::DropOut<T, false, A::DROPOUT_MODE_BYTE_ALIGN>(At<T>(0), At<T>(1), At<uint8_t>(2), t, 0.5f, {10, 96, 96});
    });
    for (const bool lastAxis : {true, false}) {
        A::GetCumSumMaxMinTmpSize(ge::Shape({20, 32}), sizeof(T), lastAxis, false, most, least);
        With(Named<T>("CumSum"), least, {{0, 640 * sizeof(T)}, {2, 32 * sizeof(T)}}, [&](const A::LocalTensor<uint8_t>& t) {
            static constexpr A::CumSumConfig down = {false, false, true};
            if (lastAxis) {
                A::CumSum<T>(At<T>(0), At<T>(2), At<T>(1), t, {20, 32});
            } else {
                A::CumSum<T, down>(At<T>(0), At<T>(2), At<T>(1), t, {20, 32});
            }
        });
    }
}

template <typename T>
void Softmax(uint32_t m, uint32_t k)
{
    const ge::Shape shape({m, k});
    const std::string what = std::to_string(m) + "x" + std::to_string(k) + " ";
    const A::SoftMaxShapeInfo info = {m, k, m, k};
    const uint32_t all = m * k * sizeof(T);
    const uint32_t rows = m * 32;
    SoftMaxTiling tiling;
    uint32_t least = A::GetSoftMaxMinTmpSize(shape, sizeof(T), false);
    A::SoftMaxTilingFunc(shape, sizeof(T), least, tiling);
    With(what + Named<T>("SoftMax"), least, {{0, all}, {2, rows}, {3, rows}}, [&](const A::LocalTensor<uint8_t>& t) {
        A::SoftMax<T>(At<T>(0), At<T>(2), At<T>(3), At<T>(1), t, tiling, info);
        A::SimpleSoftMax<T>(At<T>(0), At<T>(2), At<T>(3), At<T>(1), t, tiling, info);
    });
    least = A::GetSoftMaxFlashV2MinTmpSize(shape, sizeof(T), sizeof(T), true);
    A::SoftMaxFlashV2TilingFunc(shape, sizeof(T), sizeof(T), least, tiling, true);
    With(what + Named<T>("SoftmaxFlashV2"), least, {{0, all}, {2, rows}, {3, rows}, {4, rows}}, [&](const A::LocalTensor<uint8_t>& t) {
        A::SoftmaxFlashV2<T, true>(At<T>(0), At<T>(2), At<T>(3), At<T>(1), At<T>(4), At<T>(2), At<T>(3), t, tiling, info);
    });
    for (const bool front : {true, false}) {
        least = A::GetSoftMaxGradMinTmpSize(shape, sizeof(T), front, false);
        A::SoftMaxGradTilingFunc(shape, sizeof(T), least, tiling, front);
        With(what + Named<T>("SoftmaxGrad"), least, {{0, front ? rows : all}}, [&](const A::LocalTensor<uint8_t>& t) {
            A::SoftmaxGrad<T>(At<T>(0), At<T>(2), At<T>(1), t, tiling, front, info);
        });
    }
}

template <typename T>
void Norms(uint32_t m, uint32_t k)
{
    const ge::Shape four({1, m, k, k});
    const ge::Shape three({1, m, k});
    const T epsilon = static_cast<T>(0.01f);
    const uint32_t all = m * k * sizeof(T);
    const std::string what = std::to_string(m) + "x" + std::to_string(k) + " ";
    uint32_t most = 0;
    uint32_t least = 0;
    A::GetLayerNormMaxMinTmpSize(four, sizeof(T), false, most, least);
    LayerNormTiling layer;
    A::GetLayerNormNDTilingInfo(four, least, sizeof(T), false, layer);
    With(what + Named<T>("LayerNorm"), least, {{0, all}, {2, m * sizeof(T)}, {3, m * sizeof(T)}}, [&](const A::LocalTensor<uint8_t>& t) {
        A::LayerNorm<T>(At<T>(0), At<T>(2), At<T>(3), At<T>(1), At<T>(4), At<T>(5), t, epsilon, layer);
    });
    RmsNormTiling rms;
    Expect(A::GetRmsNormMaxMinTmpSize(three, sizeof(T), most, least), "GetRmsNormMaxMinTmpSize");
    A::GetRmsNormTilingInfo(three, three, least, sizeof(T), rms);
    With(what + Named<T>("RmsNorm"), least, {{0, all}}, [&](const A::LocalTensor<uint8_t>& t) {
        A::RmsNorm<T>(At<T>(0), At<T>(1), At<T>(4), t, epsilon, rms);
    });
    A::GetLayerNormGradMaxMinTmpSize(four, sizeof(T), false, most, least);
    LayerNormGradTiling grad;
    A::GetLayerNormGradNDTilingInfo(four, least, sizeof(T), false, grad);
    With(what + Named<T>("LayerNormGrad"), least, {{0, all}, {2, all}}, [&](const A::LocalTensor<uint8_t>& t) {
        A::LayerNormGrad<T>(At<T>(0), At<T>(2), At<T>(1), At<T>(6), At<T>(3), At<T>(5), At<T>(4), t, epsilon, grad);
    });
    A::GetLayerNormGradBetaMaxMinTmpSize(four, sizeof(T), false, most, least);
    LayerNormGradBetaTiling beta;
    A::GetLayerNormGradBetaNDTilingInfo(four, least, sizeof(T), false, beta);
    With(what + Named<T>("LayerNormGradBeta"), least, {{0, k * sizeof(T)}, {2, k * sizeof(T)}}, [&](const A::LocalTensor<uint8_t>& t) {
        A::LayerNormGradBeta<T>(At<T>(0), At<T>(2), At<T>(1), At<T>(6), t, beta);
    });
}

}  // namespace

int main()
{
    LooksForIdle() = true;
    Elementwise<half, 1000>();
    Elementwise<float, 1000>();
    Elementwise<half, 1024>();
    Elementwise<float, 1024>();
    for (const uint32_t m : {1u, 8u, 20u}) {
        for (const uint32_t k : {16u, 64u, 144u}) {
            Softmax<half>(m, k);
            Softmax<float>(m, k);
        }
    }
    for (const uint32_t k : {16u, 128u, 208u}) {
        Norms<half>(16, k);
        Norms<float>(16, k);
    }
    uint32_t most = 0;
    uint32_t least = 0;
    A::GetXorMaxMinTmpSize(ge::Shape({10, 100}), 2, false, most, least);
    With("Xor", least, {{0, 2000}}, [](const A::LocalTensor<uint8_t>& t) { A::Xor(At<int16_t>(0), At<int16_t>(1), At<int16_t>(2), t, 1000); });
    A::GetAxpyMaxMinTmpSize(ge::Shape({10, 100}), 2, false, most, least);
    With("Axpy", least, {{0, 2000}}, [](const A::LocalTensor<uint8_t>& t) { A::Axpy(At<half>(0), At<half>(1), half(2.0f), t, 1000); });
    A::GetAscendQuantMaxMinTmpSize(ge::Shape({10, 96}), 4, most, least);
    With("AscendQuant", least, {{0, 960}}, [](const A::LocalTensor<uint8_t>& t) { A::AscendQuant(At<int8_t>(0), At<float>(1), t, 2.0f, 1.0f, 960); });
    return Report("api_library_buffers");
}
