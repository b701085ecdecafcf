// Functions of the scalar unit: bits, roundings and conversions of numbers, words of global memory, what a core knows of itself.
#include "kernel_operator.h"

#include "isa_support.h"

using namespace isa_test;
namespace A = AscendC;
using A::RoundMode;

namespace {

void Same64(const char* what, uint64_t of, int64_t got, int64_t want)
{
    Expect(got == want, std::string(what) + " of " + std::to_string(of) + ": " + std::to_string(got) + ", expected " + std::to_string(want));
}

bool Bit(uint64_t value, int at) { return (value >> at & 1) != 0; }

void Bits()
{
    std::vector<uint64_t> values = {0, ~uint64_t{0}, 0xFFFF, 0x0100000000000020u, 0x00F0000000000000u, 0xFF00FFFFFFFFFFFFu};
    for (int at = 0; at < 64; ++at) {
        for (const uint64_t value : {uint64_t{1} << at, (uint64_t{1} << at) - 1, ~(uint64_t{1} << at), ~uint64_t{0} << at}) {
            values.push_back(value);
        }
    }
    for (const uint64_t value : values) {
        int64_t ones = 0;
        int64_t lowest[2] = {-1, -1};
        for (int at = 63; at >= 0; --at) {
            ones += Bit(value, at);
            lowest[Bit(value, at)] = at;
        }
        int64_t zeros = 0;
        while (zeros < 64 && !Bit(value, 63 - static_cast<int>(zeros))) {
            ++zeros;
        }
        // Below the sign; where all bits are alike there is no answer.
        int64_t alike = 0;
        while (alike < 63 && Bit(value, 62 - static_cast<int>(alike)) == Bit(value, 63)) {
            ++alike;
        }
        alike = alike == 63 ? -1 : alike;
        Same64("GetBitCount<1>", value, A::GetBitCount<1>(value), ones);
        Same64("GetBitCount<0>", value, A::GetBitCount<0>(value), 64 - ones);
        Same64("ScalarGetCountOfValue<1>", value, A::ScalarGetCountOfValue<1>(value), ones);
        Same64("ScalarGetCountOfValue<0>", value, A::ScalarGetCountOfValue<0>(value), 64 - ones);
        Same64("GetSFFValue<1>", value, A::GetSFFValue<1>(value), lowest[1]);
        Same64("GetSFFValue<0>", value, A::GetSFFValue<0>(value), lowest[0]);
        Same64("ScalarGetSFFValue<1>", value, A::ScalarGetSFFValue<1>(value), lowest[1]);
        Same64("ScalarGetSFFValue<0>", value, A::ScalarGetSFFValue<0>(value), lowest[0]);
        Same64("CountLeadingZero", value, A::CountLeadingZero(value), zeros);
        Same64("ScalarCountLeadingZero", value, A::ScalarCountLeadingZero(value), zeros);
        Same64("CountBitsCntSameAsSignBit", value, A::CountBitsCntSameAsSignBit(static_cast<int64_t>(value)), alike);
    }
    Same64("GetScalarBitcodeValue", 0, static_cast<int64_t>(A::GetScalarBitcodeValue(int8_t{-1})), 0xFF);
    Same64("GetScalarBitcodeValue", 1, static_cast<int64_t>(A::GetScalarBitcodeValue(half(-2.0f))), 0xC000);
    Same64("GetScalarBitcodeValue", 2, static_cast<int64_t>(A::GetScalarBitcodeValue(bfloat16_t(1.0f))), 0x3F80);
    Same64("GetScalarBitcodeValue", 3, static_cast<int64_t>(A::GetScalarBitcodeValue(-1.5f)), 0xBFC00000);
    Same64("GetScalarBitcodeValue", 4, static_cast<int64_t>(A::GetScalarBitcodeValue(int64_t{-7})), -7);
}

void Quotients()
{
    for (int32_t a = 0; a < 70; ++a) {
        for (int32_t b = 0; b < 9; ++b) {
            int32_t want = 0;
            while (b != 0 && want * b < a) {
                ++want;
            }
            const auto of = static_cast<uint64_t>(a * 100 + b);
            const auto ua = static_cast<uint32_t>(a);
            const auto ub = static_cast<uint32_t>(b);
            Same64("CeilDivision", of, A::CeilDivision(a, b), want);
            Same64("CeilNoLog", of, A::CeilNoLog(a, b), want);
            Same64("DivCeil", of, A::DivCeil(ua, ub), want);
            Same64("Ceil", of, A::Ceil(ua, ub), want);
            Same64("AlignUp", of, A::AlignUp(ua, ub), want * b);
        }
    }
    static_assert(A::CeilDivision(1000, 64) == 16 && A::CeilDivision(1, 0) == 0, "known when compiling");
    for (const uint64_t divisor : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7}, uint64_t{641}, uint64_t{0x80000000u}, uint64_t{0xFFFFFFFFu}}) {
        uint32_t magic = 0;
        uint32_t shift = 0;
        A::GetUintDivMagicAndShift(magic, shift, static_cast<uint32_t>(divisor));
        uint64_t magic64 = 0;
        uint64_t shift64 = 0;
        A::GetUintDivMagicAndShift(magic64, shift64, divisor);
        for (const uint64_t x : {uint64_t{0}, uint64_t{1}, divisor - 1, divisor, divisor + 1, uint64_t{0x7FFFFFFFu}, uint64_t{0xFFFFFFFFu}}) {
            const uint64_t low = x & 0xFFFFFFFFu;
            Same64("division by a product", divisor, static_cast<int64_t>(((low * magic >> 32) + low) >> shift), static_cast<int64_t>(low / divisor));
            const uint64_t big = x * 0x100000001u;
            const auto high = static_cast<uint64_t>(static_cast<unsigned __int128>(big) * magic64 >> 64);
            Same64("long division by a product", divisor, static_cast<int64_t>((static_cast<unsigned __int128>(high) + big) >> shift64),
                   static_cast<int64_t>(big / divisor));
        }
    }
}

/// Rounds to eleven binary digits, to nearest even or to odd.
double ToElevenDigits(double value, bool odd)
{
    if (value == 0) {
        return value;
    }
    const int exponent = std::max(std::ilogb(value), -14);
    const double unit = std::ldexp(1.0, exponent - 10);
    double steps = odd ? std::trunc(value / unit) : std::nearbyint(value / unit);
    if (odd && steps * unit != value && std::fmod(steps, 2) == 0) {
        steps += value < 0 ? -1 : 1;
    }
    const double result = steps * unit;
    const double limit = 65504;
    return std::fabs(result) <= limit ? result : std::copysign(odd ? limit : INFINITY, value);
}

template <RoundMode mode>
void ToInteger(float value, double rounded)
{
    const double want = value != value ? 0 : std::min(std::max(rounded, -2147483648.0), 2147483647.0);
    const std::string what = " of " + std::to_string(value) + " in mode " + std::to_string(static_cast<int>(mode));
    Expect(A::ScalarCast<float, int32_t, mode>(value) == want, "ScalarCast to int32_t" + what);
    Expect(A::Cast<float, int32_t, mode>(value) == want, "Cast to int32_t" + what);
}

void Conversions()
{
    std::vector<float> values = {0.0f, -0.0f, 0.5f, -0.5f, 1.5f, 2.5f, -1.5f, -2.5f, 0.49999997f, 3.14159f, 1e-10f, -1e-10f, 65504.0f, 65519.0f,
                                 65520.0f, -70000.0f, 2049.0f, 2051.0f, 4.5e9f, -4.5e9f, 2147483520.0f, 2147483648.0f, -2147483648.0f, 6.1e-5f, 5.9e-8f};
    Random random(5);
    for (int i = 0; i < 500; ++i) {
        values.push_back(static_cast<float>(std::ldexp(random.Real(-1, 1), static_cast<int>(random.Below(60)) - 30)));
    }
    for (const float value : values) {
        const std::string of = " of " + std::to_string(value);
        ToInteger<RoundMode::CAST_RINT>(value, std::nearbyint(value));
        ToInteger<RoundMode::CAST_FLOOR>(value, std::floor(value));
        ToInteger<RoundMode::CAST_CEIL>(value, std::ceil(value));
        ToInteger<RoundMode::CAST_ROUND>(value, std::round(value));
        const auto odd = A::Cast<float, half, RoundMode::CAST_ODD>(value);
        Expect(static_cast<double>(static_cast<float>(odd)) == ToElevenDigits(value, true), "Cast to half, odd," + of);
        Expect(std::signbit(static_cast<float>(odd)) == std::signbit(value), "sign of Cast to half" + of);
        const half near = A::ToHalf(value);
        Expect(static_cast<double>(static_cast<float>(near)) == ToElevenDigits(value, false), "ToHalf" + of);
        Expect(A::ToFloat(near) == static_cast<float>(near), "ToFloat of half");
        uint32_t bits;
        std::memcpy(&bits, &value, 4);
        const uint32_t kept = (bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u;
        float want;
        std::memcpy(&want, &kept, 4);
        Expect(A::ToFloat(A::ToBfloat16(value)) == want && A::Cast(A::Cast(value)) == want, "ToBfloat16 and back" + of);
    }
    ToInteger<RoundMode::CAST_RINT>(NAN, 0);
    ToInteger<RoundMode::CAST_CEIL>(INFINITY, INFINITY);
    ToInteger<RoundMode::CAST_FLOOR>(-INFINITY, -INFINITY);
    Expect(A::ToFloat(A::Cast<float, half, RoundMode::CAST_ODD>(-INFINITY)) == -INFINITY, "Cast of infinity to half");
    Expect(std::isnan(A::ToFloat(A::ToBfloat16(NAN))) && std::isnan(A::ToFloat(A::ToHalf(NAN))), "conversions of NaN");
    Expect(A::ScalarCast<int32_t, float, RoundMode::CAST_NONE>(-16777217) == -16777216.0f, "ScalarCast to float");
    Expect(A::ScalarCast<half, int32_t, RoundMode::CAST_ROUND>(half(-2.5f)) == -3, "ScalarCast of half to int32_t");
    Expect(A::ToFloat(A::ScalarCast<int32_t, half, RoundMode::CAST_NONE>(-2048)) == -2048.0f, "ScalarCast to half");
}

template <typename T>
void PastTheCache(__gm__ T* words, T first, T second)
{
    std::memset(static_cast<void*>(words), 0, 5 * sizeof(T));
    words[0] = first;
    Expect(A::ReadGmByPassDCache(words) == first, "ReadGmByPassDCache");
    A::WriteGmByPassDCache(words + 1, second);
    A::WriteGmByPassDCache<T>(words + 3, first);
    Expect(words[1] == second && words[3] == first && words[2] == T(0) && words[4] == T(0), "WriteGmByPassDCache");
    Expect(A::ReadGmByPassDCache(words + 1) == second, "ReadGmByPassDCache of what was written");
}

void Blocks()
{
    const auto result = OnCore(
        [] {
            const int64_t block = A::GetBlockIdx();
            static bool seen[3];
            Expect(block >= 0 && block < 3 && !seen[block], "GetBlockIdx");
            seen[block] = true;
            Expect(block_idx == block && block_num == 3 && A::GetBlockNum() == 3, "block_idx, block_num");
            Expect(A::GetSubBlockIdx() == 0 && A::GetSubBlockNum() == 1 && A::GetTaskRation() == 1 && A::GetTaskRatio() == 1, "sub-blocks");
            uint32_t version = 0;
            A::GetArchVersion(version);
            Expect(version == 220, "GetArchVersion");
            const int64_t before = A::GetSystemCycle();
            A::Duplicate(A::LocalTensor<float>(A::TPosition::VECCALC, 0, 64), 0.0f, 64);
            Expect(A::GetSystemCycle() > before, "GetSystemCycle");
            A::SetNextTaskStart();
            A::WaitPreTaskEnd();
            A::ICachePreLoad(2);
            Expect(A::GetICachePreloadStatus() == 0, "GetICachePreloadStatus");
        },
        3);
    Expect(result.completed && result.faults == 0, "blocks: " + result.first_fault);
    static_assert(A::GetDataBlockSizeInBytes() == 32 && A::GetUBSizeInBytes() == 192 * 1024, "sizes of a vector core");
    // As the toolkit's headers have them for this architecture.
    Expect(A::TOTAL_UB_SIZE == 196608 && A::TOTAL_L0A_SIZE == 65536 && A::TOTAL_L0B_SIZE == 65536 && A::TOTAL_L0C_SIZE == 131072 &&
               A::TOTAL_VEC_LOCAL_SIZE == 188416 && A::TMP_UB_OFFSET == 188416 && A::CACHE_LINE_SIZE == 64,
           "sizes of memories");
    Expect(A::FULL_MASK_LEN == 128 && A::HALF_MASK_LEN == 64 && A::FULL_MASK == ~uint64_t{0} && A::MAX_REPEAT_TIMES == 255 && A::MIN_REPEAT_TIMES == 0,
           "masks and repeats");
    const auto trapped = OnCore([] {
        A::Trap();
        Fail("a trap ends the block");
    });
    Expect(trapped.faults == 1, "Trap");
}

/// A scalar instruction each, as the trace counts them.
void Costs()
{
    const std::pair<const char*, std::function<void()>> all[] = {
        {"ScalarCast", [] { A::ScalarCast<float, half, A::RoundMode::CAST_ODD>(1.5f); }},
        {"ScalarGetCountOfValue", [] { A::ScalarGetCountOfValue<1>(5); }},
        {"ScalarCountLeadingZero", [] { A::ScalarCountLeadingZero(5); }},
        {"CountBitsCntSameAsSignBit", [] { A::CountBitsCntSameAsSignBit(5); }},
        {"ScalarGetSFFValue", [] { A::ScalarGetSFFValue<1>(5); }},
    };
    for (const auto& [name, call] : all) {
        ascendsim::OpenTrace("api_scalar.trace");
        OnCore(call);
        Expect(ascendsim::CloseTrace(), "closing the trace");
        uint32_t scalars = 0;
        for (const Record& record : ReadTrace("api_scalar.trace").records) {
            scalars += record.name == "scalar" ? record.head.aux1 : 0;
        }
        Expect(scalars == 1, std::string(name) + ": " + std::to_string(scalars) + " scalar instructions");
    }
    std::remove("api_scalar.trace");
    uint32_t magic = 7, shift = 7;
    A::GetUintDivMagicAndShift(magic, shift, uint32_t{0});
    Expect(magic == 0 && shift == 0, "magic number of no divisor");
}

}  // namespace

int main()
{
    Costs();
    auto* words = static_cast<uint64_t*>(ascendsim::AllocateRegion(64, ascendsim::RegionRole::kOutput, 0));
    const auto result = OnCore([&] {
        Bits();
        Quotients();
        Conversions();
        PastTheCache<uint64_t>(words, 0xFEDCBA9876543210u, ~uint64_t{0});
        PastTheCache<int32_t>(reinterpret_cast<int32_t*>(words), INT32_MIN, -1);
        PastTheCache<half>(reinterpret_cast<half*>(words), half(-1.5f), half(65504.0f));
        PastTheCache<int8_t>(reinterpret_cast<int8_t*>(words), -128, 127);
        // A part of the tiling data, from global memory and from a copy.
        uint8_t part[12] = {}, again[12] = {};
        words[0] = 0x0807060504030201u;
        words[1] = 0x0C0B0A09u;
        copy_data_align64(part, reinterpret_cast<const uint8_t*>(words), sizeof(part));
        copy_data_align64(again, part, sizeof(part));
        for (uint8_t i = 0; i < sizeof(part); ++i) {
            Expect(part[i] == i + 1 && again[i] == i + 1, "byte " + std::to_string(i) + " of a part of the tiling data");
        }
    });
    Expect(result.completed && result.faults == 0, "faults: " + result.first_fault);
    Expect(ascendsim::GuardsIntact(), "wrote outside the words");
    ascendsim::ClearRegions();
    Blocks();
    return Report("api_scalar");
}
