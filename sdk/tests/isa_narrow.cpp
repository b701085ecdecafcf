// Instructions of several sources or with lists of places: strides of the second source, requantisation in the fixpipe, overlaps
// of what repeats read and write, contiguity of lanes.
#include "isa_model.h"

using namespace isa_test;

namespace {

uint8_t* Ub(size_t offset) { return ascendsim::UbBase() + offset; }
template <typename T>
T* Place(size_t offset)
{
    return reinterpret_cast<T*>(Ub(offset));
}

/// Sums of 16-bit integers from zero up, times a factor of their column in a block, and an offset, to eight bits.
template <typename D>
void CheckAddRelu()
{
    for (int round = 0; round < 16; ++round) {
        const Layout layout = DrawLayout(128);
        const bool high = round % 2 == 0;
        uint64_t words[16];
        for (auto& word : words) {
            word = ascendsim::FloatBits(static_cast<float>(g_random.Real(0.01, 0.7))) | uint64_t{g_random.Below(512)} << 37 |
                   uint64_t{std::is_signed<D>::value} << 46;
        }
        std::memcpy(Operand<uint8_t>(3), words, sizeof(words));
        // The table's address, or its place in units of blocks from that or from the buffer's begin on.
        const auto table = reinterpret_cast<uint64_t>(Operand<uint8_t>(3));
        set_deqscale(round % 3 == 0 ? table : round % 3 == 1 ? table >> 5 : 3 * kArea / 32);
        FillWith<uint8_t>(0);
        FillWith<int16_t>(1);
        FillWith<int16_t>(2);
        std::vector<uint8_t> want = Image();
        EachLane(layout, 128, [&](uint32_t step, uint32_t lane) {
            const int sum = Read<int16_t>(want, 1, At(layout, 1, step, lane, 2)) + Read<int16_t>(want, 2, At(layout, 2, step, lane, 2));
            const uint64_t word = words[lane % 16];
            const float scaled = static_cast<float>(std::min(std::max(sum, 0), 32767)) * ascendsim::FloatFromBits(static_cast<uint32_t>(word));
            int offset = static_cast<int>(word >> 37 & 511);
            offset = offset > 255 ? offset - 512 : offset;
            const int result = static_cast<int>(std::nearbyint(std::min(scaled, 255.0f))) + offset;
            const int low = std::numeric_limits<D>::min();
            const size_t to = (size_t{step} * layout.stride[0] + size_t{lane / 16} * layout.block[0]) * 32 + lane % 16 + (high ? 16 : 0);
            want[to] = static_cast<uint8_t>(std::min(std::max(result, low), low + 255));
        });
        SetMask(layout);
        vaddreluconv_vdeqs162b8(Operand<D>(0), Operand<int16_t>(1), Operand<int16_t>(2), static_cast<uint8_t>(layout.repeat),
                                static_cast<uint8_t>(layout.block[0]), static_cast<uint8_t>(layout.block[1]),
                                static_cast<uint8_t>(layout.block[2]), static_cast<uint8_t>(layout.stride[0]),
                                static_cast<uint8_t>(layout.stride[1]), static_cast<uint8_t>(layout.stride[2]), high);
        Compare<uint8_t>(want, 0, "vaddreluconv_vdeqs162b8", layout);
    }
}

/// All repeat strides that operands may have in common, and each with one operand that has another.
void CheckStrides()
{
    set_mask_norm();
    set_vector_mask(~uint64_t{0}, ~uint64_t{0});
    for (uint32_t stride = 8; stride < 256; ++stride) {
        for (int other = -1; other < 2; other += 2) {
            Layout layout = {false, false, 0, ~uint64_t{0}, 0, 2, {1, 1, 1}, {stride, stride, stride}};
            layout.stride[1] = other < 0 ? stride : 8;
            std::memset(Operand<uint8_t>(0), 0, 2 * kArea);
            for (uint32_t i = 0; i < 2 * 64; ++i) {
                *reinterpret_cast<float*>(Operand<uint8_t>(1) + At(layout, 1, i / 64, i % 64, 4)) = static_cast<float>(i + 1);
            }
            vadds(Operand<float>(0), Operand<float>(1), 1.0f, 2, 1, 1, static_cast<uint16_t>(layout.stride[0]), static_cast<uint16_t>(layout.stride[1]));
            for (uint32_t i = 0; i < 2 * 64; ++i) {
                Expect(*reinterpret_cast<float*>(Operand<uint8_t>(0) + At(layout, 0, i / 64, i % 64, 4)) == static_cast<float>(i + 2),
                       "vadds, repeat stride " + std::to_string(stride));
            }
        }
    }
}

/// Zero is not negative: it stays what it is, whatever the factor of negative values.
void CheckLeakyZero()
{
    const float zeros[2] = {0.0f, -0.0f};
    for (float factor : {-2.0f, std::numeric_limits<float>::infinity(), 0.5f}) {
        std::memcpy(Ub(0), zeros, sizeof(zeros));
        vlrelu(Place<float>(4096), Place<float>(0), factor, 1, 1, 1, 8, 8);
        Expect(std::memcmp(Ub(4096), zeros, sizeof(zeros)) == 0, "vlrelu of zero with factor " + std::to_string(factor));
    }
}

/// A table of sixteen factors lies in the Unified Buffer as a whole, or the fault says what is read.
void CheckFactorTable()
{
    // It may end with the Unified Buffer, given as an address or as a place in blocks.
    for (const size_t at : {size_t{65536}, size_t{196608 - 128}, size_t{196608 - 96}}) {
        for (const bool place : {false, true}) {
            const bool fits = at + 128 <= 196608;
            bool right = false;
            const auto result = OnCore([&] {
                std::memset(Ub(0), 0, 8192);
                for (size_t i = 0; i < (fits ? 16 : 12); ++i) Place<uint64_t>(at)[i] = 0x3F800000u + (i << 37);  // a factor of one, and an offset
                set_deqscale(place ? at / 32 : reinterpret_cast<uint64_t>(Ub(at)));
                vconv_vdeqs162b8h(Ub(0), Place<int16_t>(4096), 1, 1, 1, 8, 8);
                right = Ub(0)[16] == 0 && Ub(0)[17] == 1 && Ub(0)[31] == 15;
            });
            Expect(fits ? result.faults == 0 && right : result.faults == 1 && !right, "a table of factors up to " + std::to_string(at + 128) + ": " + result.first_fault);
        }
    }
    for (const size_t at : {size_t{1} << 20, size_t{196352 + 65536}}) {
        const auto result = OnCore([&] {
            set_deqscale(reinterpret_cast<uint64_t>(Ub(at)));
            vconv_vdeqs162b8h(Ub(0), Place<int16_t>(4096), 1, 1, 1, 8, 8);
        });
        Expect(result.faults == 1 && result.first_fault.find("vconv_vdeqs162b8h: 128 bytes at UB offset " + std::to_string(at)) != std::string::npos,
               "a table of factors at " + std::to_string(at) + ": " + result.first_fault);
    }
}

/// Of reciprocals only the highest bits are kept, rounded: who needs more of them must not find them here.
template <typename T, uint32_t kBits>
void CheckEstimates()
{
    for (int i = 1; i < 128; ++i) {
        *Place<T>(0) = T(static_cast<float>(i));
        vrec(Place<T>(4096), Place<T>(0), 1, 1, 1, 8, 8);
        vrsqrt(Place<T>(8192), Place<T>(0), 1, 1, 1, 8, 8);
        for (const double exact : {1.0 / i, 1 / std::sqrt(static_cast<double>(i))}) {
            const double got = static_cast<double>(static_cast<float>(*Place<T>(exact == 1.0 / i ? 4096 : 8192)));
            const double unit = std::ldexp(1.0, std::ilogb(got) + 1 - static_cast<int>(kBits));
            Expect(std::fabs(got - exact) <= unit && std::fmod(got, unit) == 0, "estimate for " + std::to_string(i) + ": " + std::to_string(got));
        }
    }
}

uint64_t Faults(Callee<void()> body)
{
    const auto result = OnCore(body);
    Expect(result.faults == 0 || result.first_fault.rfind("operand_overlap", 0) == 0, result.first_fault);
    return result.faults;
}

/// What a gather may write over: nothing that this or a later repeat still reads for another lane.
void CheckGathersInPlace()
{
    // The Unified Buffer is another one in each launch.
    const auto filled = [](uint32_t count, uint32_t unit, Callee<uint32_t(uint32_t)> from) {
        uint32_t* const offsets = Place<uint32_t>(65536);
        for (uint32_t i = 0; i < count; ++i) offsets[i] = unit * from(i);
        return offsets;
    };
    const auto gathers = [&](size_t dst, uint32_t repeat, Callee<uint32_t(uint32_t)> from) {
        return Faults([&] {
            vgather(Place<float>(dst), filled(64 * repeat, 4, from), reinterpret_cast<uintptr_t>(Ub(0)), 8, repeat);
        });
    };
    const auto same = [](uint32_t i) { return i; };
    Expect(gathers(0, 2, same) == 0, "each lane replaces what it reads");
    Expect(gathers(0, 1, [](uint32_t i) { return i ^ 1; }) == 1, "lanes of a repeat change places");
    Expect(gathers(256, 2, same) == 1, "a repeat reads what the one before it wrote");
    Expect(gathers(0, 2, [](uint32_t i) { return i + 64; }) == 0, "a repeat writes what the one before it read");
    Expect(gathers(512, 2, same) == 0, "behind what is read");
    const auto blocks = [&](size_t dst, Callee<uint32_t(uint32_t)> from) {
        return Faults([&] {
            vgatherb(Place<float>(dst), filled(16, 32, from), reinterpret_cast<uintptr_t>(Ub(0)), 8, 1, 2);
        });
    };
    Expect(blocks(0, same) == 0, "each block replaces what it reads");
    Expect(blocks(0, [](uint32_t i) { return i ^ 1; }) == 1, "blocks change places");
    Expect(blocks(256, same) == 1, "a repeat reads blocks that the one before it wrote");
    Expect(blocks(512, same) == 0, "blocks behind what is read");
}

/// Lists of sixteen blocks `pitch` bytes apart in VA0 to VA3; what stands behind them in VA4 is no part of them.
uint64_t Transposed(size_t to, size_t from, size_t pitch, uint32_t repeat, uint16_t to_stride, uint16_t from_stride, size_t behind)
{
    return Faults([&] {
        uint64_t list[16];
        for (int side = 0; side < 2; ++side) {
            for (uint32_t i = 0; i < 16; ++i) {
                list[i] = reinterpret_cast<uint64_t>(Ub((side == 0 ? to : from) + i * pitch));
            }
            set_va_reg_sb(side == 0 ? VA0 : VA2, list);
            set_va_reg_sb(side == 0 ? VA1 : VA3, list + 8);
        }
        for (uint64_t& address : list) {
            address = reinterpret_cast<uint64_t>(Ub(behind));
        }
        set_va_reg_sb(VA4, list);
        scatter_vnchwconv_b16(VA0, VA2, static_cast<uint8_t>(repeat), to_stride, from_stride);
    });
}

/// Of all blocks that the second repeat reads the first one has written one, or the block before it.
void CheckListOverlaps()
{
    for (const uint32_t written : {0u, 1u, 8u, 15u}) {
        for (const uint32_t read : {0u, 1u, 8u, 15u}) {
            for (const size_t before : {0u, 32u}) {
                const uint64_t faults = Faults([&] {
                    uint64_t to[16], from[16];
                    for (uint32_t i = 0; i < 16; ++i) {
                        to[i] = reinterpret_cast<uint64_t>(Ub(65536 + i * 128));
                        from[i] = reinterpret_cast<uint64_t>(Ub((i % 2 == 0 ? 32768 : 98304) + i * 128));  // on both sides of the results
                    }
                    from[read] = to[written] - 32 - before;
                    set_va_reg_sb(VA0, to);
                    set_va_reg_sb(VA1, to + 8);
                    set_va_reg_sb(VA2, from);
                    set_va_reg_sb(VA3, from + 8);
                    scatter_vnchwconv_b16(VA0, VA2, 2, 1, 1);
                });
                Expect(faults == (before == 0 ? 1 : 0), "block " + std::to_string(read) + " of a list is block " + std::to_string(written) + " of results");
            }
        }
    }
}

void CheckOverlaps()
{
    // Blocks of both sides by turns; then the second repeat reads where the first one has written, or only further on.
    Expect(Transposed(4096, 4096 + 32, 64, 2, 2, 2, 4096 + 32) == 0, "transposing side by side");
    Expect(Transposed(4096, 4096 + 32, 64, 2, 2, 2, 4096 - 64) == 0, "a block behind the list");
    Expect(Transposed(4096, 4096 + 32, 64, 2, 2, 1, 16384) == 1, "the next repeat reads results");
    Expect(Transposed(4096, 4096, 32, 1, 16, 16, 16384) == 0, "one repeat in place");
    Expect(Transposed(4096, 4096, 32, 3, 16, 16, 16384) == 0, "repeats in place");
    Expect(Transposed(4096 + 512, 4096, 32, 2, 16, 16, 16384) == 1, "one repeat ahead");
    Expect(Transposed(4096, 4096 + 512, 32, 3, 16, 16, 16384) == 0, "one repeat behind");
    Expect(Transposed(4096 + 1024, 4096, 32, 2, 16, 16, 16384) == 0, "two ahead are out of reach of two");
    Expect(Transposed(4096 + 1024, 4096, 32, 3, 16, 16, 16384) == 1, "but not of three");
    Expect(Transposed(4096 + 480, 4096 + 512, 512, 2, 1, 0, 16384) == 0, "what a repeat has read may be written");
    Expect(Transposed(4096 + 480, 4096 + 512, 512, 3, 1, 0, 16384) == 1, "but not read again");
    Expect(Transposed(4096 + 512 + 32, 4096, 32, 2, 16, 16, 16384) == 1, "the last of the list");

    const auto spread = [](size_t to, size_t from, uint16_t block, uint16_t stride, uint8_t repeat) {
        return Faults([&] { vbrcb(Place<uint32_t>(to), Place<uint32_t>(from), block, stride, repeat); });
    };
    Expect(spread(0, 512, 1, 8, 2) == 0 && spread(0, 480, 1, 8, 2) == 0, "spreading up to the source and over the end of the last repeat");
    Expect(spread(0, 512, 1, 8, 3) == 0, "the third repeat writes from the source's begin on, and that has been read");
    Expect(spread(0, 256 - 64, 1, 8, 2) == 1, "spreading over what comes next");
    Expect(spread(0, 256 - 32, 1, 8, 2) == 0, "spreading before what comes next");
    Expect(spread(4096, 4096 - 32, 1, 8, 2) == 1 && spread(4096, 4096 - 64, 1, 8, 2) == 0, "spreading behind the source's begin");
    // A repeat reads eight values, so that the last of seven begins 192 bytes on, of halves 96.
    Expect(spread(4096 + 160, 4096, 1, 0, 7) == 1 && spread(4096 + 192, 4096, 1, 0, 7) == 1 && spread(4096 + 224, 4096, 1, 0, 7) == 0, "spreading over the last of many");
    const auto halves = [](size_t to, size_t from) { return Faults([&] { vbrcb(Place<uint16_t>(to), Place<uint16_t>(from), 1, 0, 7); }); };
    Expect(halves(4096 + 64, 4096) == 1 && halves(4096 + 96, 4096) == 1 && halves(4096 + 128, 4096) == 0, "spreading halves over the last of many");
    Expect(spread(4096 - 64 * 7, 4096, 2, 64, 2) == 0 && spread(4096 + 32 - 64 * 7, 4096, 2, 64, 2) == 1, "by block strides");

    const auto sum = [](size_t to, size_t from, uint16_t distance, uint8_t repeat) {
        return Faults([&] { vcadd(Place<float>(to), Place<float>(from), repeat, distance, 1, 8, false); });
    };
    Expect(sum(0, 0, 1, 4) == 0 && sum(256, 0, 1, 2) == 1 && sum(252, 0, 1, 2) == 0, "sums over what was read and what comes next");
    Expect(sum(252, 0, 1, 3) == 0 && sum(512, 0, 1, 2) == 0 && sum(508, 0, 1, 2) == 1, "sums at the ends of a repeat");
    Expect(sum(512, 0, 64, 2) == 0 && sum(512, 0, 64, 3) == 1 && sum(256, 0, 0, 2) == 1, "sums further on");

    Expect(sum(128, 0, 96, 2) == 0 && sum(128, 0, 96, 3) == 1, "the second sum over what the third repeat reads");

    // Two whole repeats by count, the second reading the same lanes again: only its results meet the source, or their end does.
    const auto again = [](size_t from) {
        return Faults([&] {
            set_mask_count();
            set_vector_mask(0, 128);
            vadds(Place<float>(0), Place<float>(from), 1.0f, 1, 1, 1, 8, 0);
        });
    };
    Expect(again(256 + 32) == 1 && again(512 - 32) == 1 && again(512) == 0 && again(256) == 0, "results of the last repeat over its source");

    const auto exchange = [](size_t to, size_t from) {
        return Faults([&] { v4dtrans(Place<uint16_t>(to), Place<uint16_t>(from), 16, 4, true); });
    };
    Expect(exchange(0, 128) == 0 && exchange(128, 0) == 0 && exchange(0, 96) == 1 && exchange(96, 0) == 1 && exchange(0, 0) == 1, "exchanging");
}

}  // namespace

int main()
{
    const auto result = OnCore([] {
        CheckAddRelu<int8_t>();
        CheckAddRelu<uint8_t>();
        CheckStrides();
        CheckLeakyZero();
        CheckEstimates<float, 13>();
        CheckEstimates<half, 9>();
    });
    Expect(result.faults == 0, result.first_fault);
    CheckOverlaps();
    CheckListOverlaps();
    CheckGathersInPlace();
    CheckFactorTable();
    return Report("isa_narrow");
}
