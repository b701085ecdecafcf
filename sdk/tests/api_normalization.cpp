// Normalisation of rows against double precision: dtypes, padded rows, small temporary buffers.
// A header of its own first: it brings what it needs.
#include "adv_api/normalization/layernorm.h"

#include "kernel_operator.h"

#include "api_slots.h"

using namespace isa_test;
namespace A = AscendC;

constexpr A::LayerNormConfig kVariance = {false, false, false, false};
constexpr A::WelfordUpdateConfig kInPlace = {true};
constexpr A::WelfordFinalizeConfig kCorrected = {true};

namespace {

constexpr uint32_t kBytes = 16384;

template <typename T>
A::LocalTensor<T> At(uint32_t slot, uint32_t bytes = kBytes)
{
    return A::LocalTensor<T>(A::TPosition::VECCALC, slot * kBytes, bytes / sizeof(T));
}
template <typename T>
T* Raw(uint32_t slot)
{
    return reinterpret_cast<T*>(ascendsim::UbBase() + slot * kBytes);
}
template <typename T>
double Value(T value)
{
    return static_cast<double>(static_cast<float>(value));
}
template <typename T>
std::vector<double> Fill(uint32_t slot, uint32_t count, uint64_t seed, double low, double high)
{
    Random random(seed);
    std::vector<double> values(count);
    for (uint32_t i = 0; i < count; ++i) {
        Raw<T>(slot)[i] = static_cast<T>(static_cast<float>(random.Real(low, high)));
        values[i] = Value(Raw<T>(slot)[i]);
    }
    return values;
}
template <typename T>
void Near(const char* what, T got, double want, double scale = 1)
{
    const double precision = sizeof(T) == 4 ? 3e-6 : std::is_same<T, half>::value ? 1e-3 : 8e-3;
    if (!(std::fabs(Value(got) - want) <= precision * (std::fabs(want) + scale))) {
        Fail(std::string(what) + " of " + std::to_string(sizeof(T)) + " bytes: " + std::to_string(Value(got)) + ", expected " + std::to_string(want));
    }
}

struct Size {
    uint32_t m;
    uint32_t k;
    uint32_t columns;
};
struct Moments {
    double mean;
    double variance;
};
Moments MomentsOf(const std::vector<double>& x, const Size& size, uint32_t row)
{
    Moments result = {0, 0};
    for (uint32_t c = 0; c < size.columns; ++c) {
        result.mean += x[row * size.k + c] / size.columns;
    }
    for (uint32_t c = 0; c < size.columns; ++c) {
        result.variance += std::pow(x[row * size.k + c] - result.mean, 2) / size.columns;
    }
    return result;
}

constexpr float kEpsilon = 1e-3f;

// Slots: 0 result, 1 rows, 2 gamma, 3 beta, 4 means, 5 variances, 6 gx, 8 temporary.
template <typename T>
void Rows(const Size& size, uint32_t bytes)
{
    const uint32_t count = size.m * size.k;
    std::vector<double> x = Fill<T>(1, count, size.k, -3, 5);
    const std::vector<double> gamma = Fill<T>(2, size.k, 2, 0.5, 2);
    const std::vector<double> beta = Fill<T>(3, size.k, 3, -1, 1);
    const std::vector<double> gx = Fill<T>(6, count, 4, -1, 1);
    const Kept<kBytes> kept;
    const auto only = [&](const char* what, size_t values) {
        if (8 * kBytes + bytes <= 184 * 1024) {
            kept.But(what, {{0, count * sizeof(T)}, {4, size.m * values}, {5, size.m * values}, {8, bytes}});
        }
    };
    const double epsilon = Value(static_cast<T>(kEpsilon));
    const auto check = [&](const char* what, bool reciprocal) {
        for (uint32_t row = 0; row < size.m; ++row) {
            const Moments want = MomentsOf(x, size, row);
            const double rstd = 1 / std::sqrt(want.variance + epsilon);
            Near(what, Raw<T>(4)[row], want.mean);
            Near(what, Raw<T>(5)[row], reciprocal ? rstd : want.variance);
            for (uint32_t c = 0; c < size.columns; ++c) {
                Near(what, Raw<T>(0)[row * size.k + c], (x[row * size.k + c] - want.mean) * rstd * gamma[c] + beta[c], 2);
            }
        }
    };
    if constexpr (!std::is_same<T, bfloat16_t>::value) {
        LayerNormTiling tiling;
        tiling.bLength = 1;
        tiling.sLength = size.m;
        tiling.hLength = size.k;
        tiling.originalHLength = size.columns == size.k ? 0 : size.columns;  // 0 is all of a row
        A::LayerNorm<T>(At<T>(0), At<T>(4), At<T>(5), At<T>(1), At<T>(2), At<T>(3), At<uint8_t>(8, bytes), static_cast<T>(kEpsilon), tiling);
        check("LayerNorm", false);
        only("LayerNorm", sizeof(T));
        RmsNormTiling rms;
        rms.bLength = 1;
        rms.sLength = size.m;
        rms.hLength = size.k;
        rms.originalHLength = size.columns == size.k ? 0 : size.columns;
        A::RmsNorm<T>(At<T>(0), At<T>(1), At<T>(2), At<uint8_t>(8, bytes), static_cast<T>(kEpsilon), rms);
        for (uint32_t row = 0; row < size.m; ++row) {
            double squares = 0;
            for (uint32_t c = 0; c < size.columns; ++c) {
                squares += x[row * size.k + c] * x[row * size.k + c] / size.columns;
            }
            for (uint32_t c = 0; c < size.columns; ++c) {
                Near("RmsNorm", Raw<T>(0)[row * size.k + c], x[row * size.k + c] / std::sqrt(squares + epsilon) * gamma[c]);
            }
        }
        DeepNormTiling deep;
        deep.bLength = 1;
        deep.sLength = size.m;
        deep.hLength = size.k;
        deep.originalHLength = size.columns == size.k ? 0 : size.columns;
        A::DeepNorm<T>(At<T>(0), At<T>(4), At<T>(5), At<T>(1), At<T>(6), At<T>(3), At<T>(2), At<uint8_t>(8, bytes), static_cast<T>(0.5f), static_cast<T>(kEpsilon), deep);
        only("DeepNorm and RmsNorm", sizeof(T));
        const std::vector<double> plain = x;
        for (uint32_t i = 0; i < count; ++i) {
            x[i] = x[i] * 0.5 + gx[i];
        }
        check("DeepNorm", true);
        x = plain;
    }
    // Means and reciprocals in float.
    const A::LayerNormPara para = {size.m, size.columns, size.k};
    const LayerNormSeparateTiling separate;
    for (const bool variance : {false, true}) {
        if (variance) {
            A::LayerNorm<T, T, false, kVariance>(At<T>(0), At<float>(4), At<float>(5), At<T>(1), At<T>(2), At<T>(3), kEpsilon, At<uint8_t>(8, bytes), para, separate);
        } else {
            A::LayerNorm<T, T>(At<T>(0), At<float>(4), At<float>(5), At<T>(1), At<T>(2), At<T>(3), kEpsilon, At<uint8_t>(8, bytes), para, separate);
        }
        only("LayerNorm [A, R]", sizeof(float));
        for (uint32_t row = 0; row < size.m; ++row) {
            const Moments want = MomentsOf(x, size, row);
            const double rstd = 1 / std::sqrt(want.variance + static_cast<double>(kEpsilon));
            Near("LayerNorm mean", Raw<float>(4)[row], want.mean);
            Near("LayerNorm rstd", Raw<float>(5)[row], variance ? want.variance : rstd);
            for (uint32_t c = 0; c < size.columns; ++c) {
                Near("LayerNorm [A, R]", Raw<T>(0)[row * size.k + c], (x[row * size.k + c] - want.mean) * rstd * gamma[c] + beta[c], 2);
            }
        }
    }
}

/// The same of rows of more than one repeat, in place for want of memory.
void ManyWideRows()
{
    const Size size = {260, 72, 69};
    const uint32_t bytes = size.m * size.k * 4;
    const uint32_t means = bytes, variances = means + 1056, gamma = variances + 1056, beta = gamma + 288, temporary = beta + 288;
    const auto at = [](uint32_t offset, uint32_t count) { return A::LocalTensor<float>(A::TPosition::VECCALC, offset, count); };
    const auto raw = [](uint32_t offset) { return reinterpret_cast<float*>(ascendsim::UbBase() + offset); };
    Random random(72);
    std::vector<double> x(size.m * size.k);
    for (uint32_t i = 0; i < x.size(); ++i) {
        raw(0)[i] = static_cast<float>(random.Real(-3, 5));
        x[i] = raw(0)[i];
    }
    for (uint32_t c = 0; c < size.k; ++c) {
        raw(gamma)[c] = 0.5f + static_cast<float>(c % 7) / 8;
        raw(beta)[c] = static_cast<float>(c % 5) / 4 - 0.5f;
    }
    LayerNormTiling tiling;
    tiling.bLength = 1;
    tiling.sLength = size.m;
    tiling.hLength = size.k;
    tiling.originalHLength = size.columns;
    const A::LocalTensor<uint8_t> room(A::TPosition::VECCALC, temporary, size.m * (size.k + 8) * 4);
    const A::LocalTensor<float> rows = at(0, size.m * size.k);
    A::LayerNorm<float>(rows, at(means, size.m), at(variances, size.m), rows, at(gamma, size.k), at(beta, size.k), room, kEpsilon, tiling);
    for (uint32_t row = 0; row < size.m; ++row) {
        const Moments want = MomentsOf(x, size, row);
        const double rstd = 1 / std::sqrt(want.variance + static_cast<double>(kEpsilon));
        Near("mean of many rows", raw(means)[row], want.mean);
        Near("variance of many rows", raw(variances)[row], want.variance);
        for (uint32_t c = 0; c < size.columns; ++c) {
            Near("LayerNorm of many rows", raw(0)[row * size.k + c], (x[row * size.k + c] - want.mean) * rstd * raw(gamma)[c] + raw(beta)[c], 2);
        }
    }
}

template <typename T>
void Welford()
{
    const uint32_t length = 200;
    std::vector<double> mean(length);
    std::vector<double> spread(length);
    std::fill_n(Raw<float>(1), length, 0.0f);
    std::fill_n(Raw<float>(2), length, 0.0f);
    for (uint32_t n = 1; n <= 4; ++n) {
        const std::vector<double> x = Fill<T>(3, length, n, -4, 4);
        A::WelfordUpdate<T, float>(At<float>(1), At<float>(2), At<float>(1), At<float>(2), At<T>(3), At<uint8_t>(8, 512),
                                   {1, length, length - 8, 1.0f / static_cast<float>(n)});
        for (uint32_t i = 0; i < length - 8; ++i) {
            const double before = mean[i];
            mean[i] += (x[i] - before) / n;
            spread[i] += (x[i] - before) * (x[i] - mean[i]);
        }
    }
    for (uint32_t i = 0; i < length; ++i) {
        Near("WelfordUpdate mean", Raw<float>(1)[i], mean[i]);
        Near("WelfordUpdate spread", Raw<float>(2)[i], spread[i], 10);
    }
    // Mean and variance of everything: four samples at the first 192 positions, three at the others.
    for (uint32_t i = 0; i < length; ++i) {
        Raw<int32_t>(4)[i] = i < 192 ? 4 : 3;
    }
    double total = 0;
    for (uint32_t i = 0; i < length; ++i) {
        mean[i] = Value(Raw<float>(1)[i]);
        spread[i] = Value(Raw<float>(2)[i]);
        total += Raw<int32_t>(4)[i] * mean[i] / (192 * 4 + 8 * 3);
    }
    double variance = 0;
    for (uint32_t i = 0; i < length; ++i) {
        variance += (spread[i] + Raw<int32_t>(4)[i] * std::pow(mean[i] - total, 2)) / (192 * 4 + 8 * 3);
    }
    A::WelfordFinalizePara para = {4, length, 4, 192, 3, 8, 1.0f / length, 1.0f / (192 * 4 + 8 * 3), 0};
    const Kept<kBytes> kept;
    for (const bool tensor : {true, false}) {
        if (tensor) {
            A::WelfordFinalize<false, A::WFFINALIZE_DEFAULT_CFG>(At<float>(5), At<float>(6), At<float>(1), At<float>(2), At<int32_t>(4), At<uint8_t>(8, 2048), para);
        } else {
            // Corrections are those of another architecture.
            A::WelfordFinalize<false, kCorrected>(At<float>(5), At<float>(6), At<float>(1), At<float>(2), At<uint8_t>(8, 2048), para);
        }
        kept.But("WelfordFinalize", {{5, 4}, {6, 4}, {8, 2048}});
        Near("WelfordFinalize mean", Raw<float>(5)[0], total);
        Near("WelfordFinalize variance", Raw<float>(6)[0], variance);
    }
    para.tailCount = 0;
    para.rRec = 1.0f / (4 * length);
    A::WelfordFinalize(At<float>(5), At<float>(6), At<float>(1), At<float>(2), At<uint8_t>(8, 2048), para);
    total = 0;
    for (uint32_t i = 0; i < length; ++i) {
        total += mean[i] / length;
    }
    Near("WelfordFinalize without a tail", Raw<float>(5)[0], total);
}

/// Heads of samples that are no whole blocks, and none; one sample at each of the others; the memory that two copies, a repeat and a block take.
void WelfordHeads()
{
    const uint32_t length = 72, least = (2 * 72 + 64 + 8) * 4;
    const std::vector<double> mean = Fill<float>(1, length, 11, -4, 4);
    const std::vector<double> spread = Fill<float>(2, length, 12, 0, 4);
    for (const uint32_t head : {0u, 1u, 9u, 71u}) {
        const double all = head * 3 + (length - head);
        A::WelfordFinalizePara para = {3, length, 3, head, 1, length - head, 1.0f / length, static_cast<float>(1 / all), 0};
        const auto result = OnCore([&] {
            for (uint32_t i = 0; i < length; ++i) {
                Raw<float>(1)[i] = static_cast<float>(mean[i]);
                Raw<float>(2)[i] = static_cast<float>(spread[i]);
            }
            std::memset(Raw<uint8_t>(8), 0x5A, 4096);
            A::WelfordFinalize(At<float>(5), At<float>(6), At<float>(1), At<float>(2), At<uint8_t>(8, least), para);
            double total = 0, variance = 0;
            for (uint32_t i = 0; i < length; ++i) total += (i < head ? 3 : 1) * mean[i] / all;
            for (uint32_t i = 0; i < length; ++i) variance += (spread[i] + (i < head ? 3 : 1) * std::pow(mean[i] - total, 2)) / all;
            Near("WelfordFinalize mean with a head", Raw<float>(5)[0], total);
            Near("WelfordFinalize variance with a head", Raw<float>(6)[0], variance);
            Expect(Raw<uint8_t>(8)[least] == 0x5A, "WelfordFinalize keeps within its memory");
        });
        Expect(result.faults == 0, "WelfordFinalize with a head of " + std::to_string(head) + ": " + result.first_fault);
        const auto less = OnCore([&] { A::WelfordFinalize(At<float>(5), At<float>(6), At<float>(1), At<float>(2), At<uint8_t>(8, least - 1), para); });
        Expect(less.first_fault == "bad_argument: WelfordFinalize: the temporary buffer has " + std::to_string(least - 1) + " bytes, it takes " + std::to_string(least),
               "WelfordFinalize with too little: " + less.first_fault);
    }
}

/// Behind what is computed results stay as they are, or are those of before.
void WelfordBehind()
{
    const std::vector<double> mean = Fill<float>(1, 24, 1, -4, 4);
    const std::vector<double> spread = Fill<float>(2, 24, 2, 0, 4);
    const std::vector<double> x = Fill<float>(3, 24, 3, -4, 4);
    const A::WelfordUpdateParam para = {1, 24, 13, 0.5f};
    for (const bool inPlace : {false, true}) {
        std::fill_n(Raw<float>(5), 24, 77.0f);
        std::fill_n(Raw<float>(6), 24, 77.0f);
        const Kept<kBytes> kept;
        if (inPlace) {
            A::WelfordUpdate<float, float, false, kInPlace>(At<float>(5), At<float>(6), At<float>(1), At<float>(2), At<float>(3), At<uint8_t>(8, 512), para);
        } else {
            A::WelfordUpdate<float, float>(At<float>(5), At<float>(6), At<float>(1), At<float>(2), At<float>(3), At<uint8_t>(8, 512), para);
        }
        kept.But("WelfordUpdate", {{5, 96}, {6, 96}, {8, 512}});
        for (uint32_t i = 0; i < 24; ++i) {
            const double next = mean[i] + (x[i] - mean[i]) / 2;
            Near("WelfordUpdate mean behind", Raw<float>(5)[i], i < 13 ? next : inPlace ? mean[i] : 77);
            Near("WelfordUpdate spread behind", Raw<float>(6)[i], i < 13 ? spread[i] + (x[i] - mean[i]) * (x[i] - next) : inPlace ? spread[i] : 77, 10);
        }
    }
}

template <typename T>
void Known(const Size& size, uint32_t bytes)
{
    const uint32_t count = size.m * size.k;
    const std::vector<double> x = Fill<T>(1, count, size.k, -3, 5);
    const std::vector<double> gamma = Fill<float>(2, size.k, 2, 0.5, 2);
    const std::vector<double> beta = Fill<float>(3, size.k, 3, -1, 1);
    const std::vector<double> mean = Fill<float>(4, size.m, 4, -1, 2);
    const std::vector<double> variance = Fill<float>(5, size.m, 5, 0.5, 4);
    const Kept<kBytes> kept;
    A::Normalize<float, T>(At<T>(0), At<float>(6), At<float>(4), At<float>(5), At<T>(1), At<float>(2), At<float>(3),
                           At<uint8_t>(8, bytes), kEpsilon, {size.m, size.columns, size.k});
    kept.But("Normalize", {{0, count * sizeof(T)}, {6, size.m * 4}, {8, bytes}});
    for (uint32_t row = 0; row < size.m; ++row) {
        const double rstd = 1 / std::sqrt(variance[row] + static_cast<double>(kEpsilon));
        Near("Normalize rstd", Raw<float>(6)[row], rstd);
        for (uint32_t c = 0; c < size.columns; ++c) {
            const uint32_t at = row * size.k + c;
            Near("Normalize", Raw<T>(0)[at], (x[at] - mean[row]) * rstd * gamma[c] + beta[c], 2);
        }
    }
}

// Slots: 0 dx, 7 xhat, 1 x, 6 dy, 2 gamma, 4 means, 5 variances.
template <typename T>
void Gradients(const Size& size, uint32_t bytes)
{
    const uint32_t count = size.m * size.k;
    const std::vector<double> x = Fill<T>(1, count, size.k, -3, 5);
    const std::vector<double> dy = Fill<T>(6, count, 7, -1, 1);
    const std::vector<double> gamma = Fill<T>(2, size.k, 2, 0.5, 2);
    const std::vector<double> mean = Fill<T>(4, size.m, 4, 0.5, 1.5);
    const std::vector<double> variance = Fill<T>(5, size.m, 5, 2, 6);
    LayerNormGradTiling tiling;
    tiling.bLength = 1;
    tiling.sLength = size.m;
    tiling.hLength = size.k;
    tiling.originalHLength = size.columns == size.k ? 0 : size.columns;
    const Kept<kBytes> kept;
    A::LayerNormGrad<T>(At<T>(0), At<T>(7), At<T>(6), At<T>(1), At<T>(5), At<T>(4), At<T>(2), At<uint8_t>(8, bytes),
                        static_cast<T>(kEpsilon), tiling);
    kept.But("LayerNormGrad", {{0, count * sizeof(T)}, {7, count * sizeof(T)}, {8, bytes}});
    const double h = size.columns;
    for (uint32_t row = 0; row < size.m; ++row) {
        // The definition, with powers of variance + epsilon.
        const double sigma = variance[row] + Value(static_cast<T>(kEpsilon));
        double byVariance = 0;
        double byMean = 0;
        double deviations = 0;
        for (uint32_t c = 0; c < size.columns; ++c) {
            const uint32_t at = row * size.k + c;
            byVariance += -0.5 * dy[at] * gamma[c] * (x[at] - mean[row]) * std::pow(sigma, -1.5);
            byMean += -dy[at] * gamma[c] / std::sqrt(sigma);
            deviations += -2 * (x[at] - mean[row]);
        }
        byMean += byVariance / h * deviations;
        for (uint32_t c = 0; c < size.columns; ++c) {
            const uint32_t at = row * size.k + c;
            Near("LayerNormGrad xhat", Raw<T>(7)[at], (x[at] - mean[row]) / std::sqrt(sigma));
            Near("LayerNormGrad", Raw<T>(0)[at],
                 dy[at] * gamma[c] / std::sqrt(sigma) + byVariance * 2 / h * (x[at] - mean[row]) + byMean / h, 2);
        }
    }
    LayerNormGradBetaTiling sums;
    sums.bLength = size.m;
    sums.sLength = 1;
    sums.hLength = size.k;
    const std::vector<double> xhat = Fill<T>(7, count, 9, -2, 2);
    const Kept<kBytes> summed;
    A::LayerNormGradBeta<T>(At<T>(0), At<T>(3), At<T>(7), At<T>(6), At<uint8_t>(8, bytes), sums);
    summed.But("LayerNormGradBeta", {{0, size.k * sizeof(T)}, {3, size.k * sizeof(T)}, {8, bytes}});
    for (uint32_t c = 0; c < size.columns; ++c) {
        double byGamma = 0;
        double byBeta = 0;
        for (uint32_t row = 0; row < size.m; ++row) {
            byGamma += dy[row * size.k + c] * xhat[row * size.k + c];
            byBeta += dy[row * size.k + c];
        }
        Near("LayerNormGradBeta gamma", Raw<T>(0)[c], byGamma);
        Near("LayerNormGradBeta beta", Raw<T>(3)[c], byBeta);
    }
}

/// Kernels are timed: means become blocks by an instruction for eight rows at a time where those fit, else one by one.
void BlocksOfMeans()
{
    const bool looked = std::exchange(LooksForIdle(), false);
    for (const auto& [rows, columns] : {std::make_pair(7u, 8u), {8u, 8u}, {9u, 8u}, {16u, 8u}, {9u, 16u}, {1u, 56u}, {1u, 64u}}) {
        Expect(ascendsim::OpenTrace("blocks.trace"), "a trace");
        const auto result = OnCore([rows = rows, columns = columns] {
            std::memset(ascendsim::UbBase(), 0, 9 * kBytes);
            RmsNormTiling rms;
            rms.bLength = 1;
            rms.sLength = rows;
            rms.hLength = rms.originalHLength = columns;
            A::RmsNorm<float>(At<float>(0), At<float>(1), At<float>(2), At<uint8_t>(8, 4096), kEpsilon, rms);
        });
        Expect(ascendsim::CloseTrace() && result.faults == 0, "RmsNorm: " + result.first_fault);
        Expect(ReadTrace("blocks.trace").Has("vbrcb") == ((rows + 7) / 8 * 8 * 8 <= rows * columns), "means of " + std::to_string(rows) + " rows of " + std::to_string(columns));
    }
    std::remove("blocks.trace");
    LooksForIdle() = looked;
}

}  // namespace

int main()
{
    LooksForIdle() = true;
    const auto result = OnCore([] {
        for (const Size size : {Size{1, 16, 16}, Size{5, 48, 43}, Size{16, 128, 128}, Size{9, 208, 200}, Size{3, 1024, 1024}}) {
            for (const uint32_t bytes : {40u * 1024, (4 * size.k + 72 + 2 * 16) * 4}) {
                Rows<float>(size, bytes);
                Rows<half>(size, bytes);
                Rows<bfloat16_t>(size, bytes);
                Known<float>(size, bytes);
                Known<half>(size, bytes);
                const uint32_t more = bytes + (size.k + 24) * 4;
                Gradients<float>(size, more);
                Gradients<half>(size, more);
            }
        }
        // More rows than reciprocals are made at once, in the least memory.
        Rows<float>({20, 8, 7}, 64);
        Rows<float>({16, 8, 7}, 64);
        Rows<half>({20, 16, 13}, 352);
        Known<float>({100, 8, 7}, 288);
        Known<half>({100, 16, 13}, 352);
        // More rows than an instruction has repeats.
        Rows<float>({248, 8, 7}, 60 * 1024);
        Rows<float>({300, 8, 7}, 60 * 1024);
        Rows<half>({300, 16, 13}, 60 * 1024);
        ManyWideRows();
        Welford<float>();
        Welford<half>();
        WelfordBehind();
    });
    Expect(result.completed && result.faults == 0, result.first_fault);
    WelfordHeads();
    BlocksOfMeans();
    // Nothing of temporary memory counts before it is written; rows of one repeat, of several, and longer than strides reach.
    for (const Size size : {Size{9, 48, 43}, Size{5, 208, 200}, Size{1, 2304, 2300}}) {
        const auto written = [&](const char* what, Callee<void()> body) { ExpectWrittenFirst(what, 8 * kBytes, 12 * kBytes, body); };
        const uint32_t bytes = 40 * 1024;
        written("rows", [&] { Rows<float>(size, bytes); });
        written("rows of halves", [&] { Rows<half>(size, bytes); });
        written("known rows", [&] { Known<half>(size, bytes); });
        written("gradients", [&] { Gradients<float>(size, bytes); });
    }
    ExpectWrittenFirst("Welford", 8 * kBytes, 9 * kBytes, Welford<float>);
    return Report("api_normalization");
}
