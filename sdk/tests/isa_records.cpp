// Records of vector instructions: which bytes their operands say they read and write.
#include "ascendsim/launch.h"
#include "isa_model.h"
#include "isa_spans.h"

using namespace isa_test;

namespace {

constexpr uint32_t kUb = 0;

uint8_t* Ub(size_t offset) { return ascendsim::UbBase() + offset; }
template <typename T>
T* At(size_t offset)
{
    return reinterpret_cast<T*>(Ub(offset));
}

Span Writes(int64_t at, int64_t len, int64_t count = 1, int64_t step = 0) { return {kUb, kWrites, at, len, count, step}; }
Span Reads(int64_t at, int64_t len, int64_t count = 1, int64_t step = 0) { return {kUb, kReads, at, len, count, step}; }

/// Lanes of 32-bit operands that a mask lets through.
void CheckLanes(const Layout& layout, bool exact)
{
    Bytes want;
    uint32_t steps = 0;
    EachLane(layout, 64, [&](uint32_t step, uint32_t lane) {
        for (int i = 0; i < 3; ++i) {
            Add(want, {kUb, i == 0 ? kWrites : kReads, static_cast<int64_t>(i * kArea + At(layout, i, step, lane, 4)), 4});
        }
        steps = step + 1;
    });
    const Trace trace = Traced("isa_records.trace", [&] {
        SetMask(layout);
        vadd(Operand<float>(0), Operand<float>(1), Operand<float>(2), static_cast<uint8_t>(layout.repeat), static_cast<uint8_t>(layout.block[0]),
             static_cast<uint8_t>(layout.block[1]), static_cast<uint8_t>(layout.block[2]), static_cast<uint8_t>(layout.stride[0]),
             static_cast<uint8_t>(layout.stride[1]), static_cast<uint8_t>(layout.stride[2]));
    }, ascendsim::KernelType::kAiv);
    const Record* record = trace.First("vadd");
    if (record == nullptr) {
        return Fail("vadd: no record");
    }
    Bytes got = BytesOf(*record);
    const bool full = layout.counter || layout.low == ~uint64_t{0};
    Expect(record->head.flags == (layout.counter ? ascendsim::kFlagCount : full ? 0 : ascendsim::kFlagPartialMask) && record->head.repeat == steps,
           "head of vadd");
    if (layout.counter) {
        Expect(record->head.aux0 == layout.count, "elements by count");
    }
    if (!exact) {  // the hull of all blocks, in whole blocks
        Bytes blocks;
        for (const auto& byte : got) {
            bool near = false;
            for (int64_t in = byte.second / 32 * 32; in < byte.second / 32 * 32 + 32; ++in) {
                near = near || want.count({byte.first, in}) != 0;
            }
            Expect(near, "vadd: a block without a lane");
        }
        for (const auto& byte : want) {
            Expect(got.count(byte) != 0, "vadd: a lane that the record leaves out");
        }
        return;
    }
    const std::string difference = Difference(got, want);
    Expect(difference.empty(), "vadd " + difference + (layout.counter ? ", counter " : ", mask ") +
                                   std::to_string(layout.counter ? layout.count : layout.low));
}

void CheckMasks()
{
    Layout layout = {false, false, 0, ~uint64_t{0}, 0, 3, {1, 1, 1}, {8, 9, 12}};
    // Equal runs at equal distances from each other.
    for (uint64_t low : {uint64_t{1}, uint64_t{0x5555555555555555}, uint64_t{0xAAAAAAAAAAAAAAAA}, uint64_t{0x0CCCCCC0}, uint64_t{0x700700700},
                         uint64_t{0x8000000000000001}, uint64_t{0xFF00}, uint64_t{0x8000000000000000}, uint64_t{0xFFFFFFFFFFFFFF}, ~uint64_t{0}}) {
        layout.low = low;
        CheckLanes(layout, true);
    }
    // Others by their hull: here every block has a lane.
    for (uint64_t low : {uint64_t{0x3070707070707071}, uint64_t{0x0171717171717110}, uint64_t{0x7070707070707030}}) {
        layout.low = low;
        CheckLanes(layout, false);
    }
    layout = {false, false, 0, 0xF0F0F0F0F0F0F00, 0, 2, {2, 3, 1}, {24, 25, 8}};
    CheckLanes(layout, false);
    for (int round = 0; round < 40; ++round) {
        layout = DrawLayout(64);
        layout.repeat += 1;
        if (!layout.counter && round % 2 == 0) {
            layout.low = ~uint64_t{0};
        } else if (!layout.counter) {
            layout.low = (uint64_t{2} << g_random.Below(63)) - 1;
        } else if (layout.count == 0) {
            layout.count = 1;
        }
        CheckLanes(layout, true);
    }
}

void CheckReductions()
{
    CheckRecord("vcadd", 3, {Writes(0, 4, 3, 8), Reads(4096, 256, 3, 320)}, [] { vcadd(At<float>(0), At<float>(4096), 3, 2, 1, 10, false); });
    CheckRecord("vcadd", 3, {Reads(4096, 32 * 8 * 3)}, [] { vcadd(At<half>(0), At<half>(4096), 3, 1, 1, 8, true); });
    CheckRecord("vcmax", 2, {Writes(0, 4, 2, 4), Reads(4096, 512)}, [] { vcmax(At<half>(0), At<half>(4096), 2, 1, 1, 8, VALUE_INDEX); });
    CheckRecord("vcmin", 2, {Writes(0, 2, 2, 6), Reads(4096, 512)}, [] { vcmin(At<half>(0), At<half>(4096), 2, 3, 1, 8, ONLY_VALUE); });
    CheckRecord("vcgmax", 2, {Writes(0, 16, 2, 32), Reads(4096, 512)}, [] { vcgmax(At<half>(0), At<half>(4096), 2, 2, 1, 8); });
    CheckRecord("vcgadd", 2, {Writes(0, 12, 2, 32), Reads(4096, 68, 2, 256)}, [] {
        set_vector_mask(0, 0x1FFFF);  // seventeen lanes: two groups of eight and a part of one
        vcgadd(At<float>(0), At<float>(4096), 2, 1, 1, 8);
    });
    CheckRecord("vcgadd", 1, {Writes(0, 8), Reads(4096, 40)}, [] {
        set_mask_count();
        set_vector_mask(0, 10);  // a group and a part of one
        vcgadd(At<float>(0), At<float>(4096), 1, 1, 1, 8);
        set_mask_norm();
    });
    CheckRecord("vcpadd", 2, {Writes(0, 256), Reads(4096, 512)}, [] { vcpadd(At<float>(0), At<float>(4096), 2, 1, 1, 8); });
}

template <typename T>
void CheckSorting()
{
    constexpr int64_t size = sizeof(T);
    CheckRecord("vbitsort", 3, {Writes(0, 768), Reads(4096, 96 * size), Reads(8192, 384)}, [] {
        vbitsort(At<T>(0), At<T>(4096), At<uint32_t>(8192), 3);
    });
    // Two repeats of lists of 1, 2, 3 and no records, each as far from the next as all of a repeat together.
    CheckRecord("vmrgsort4", 2, {Writes(0, 96), Reads(4096, 8, 2, 48), Reads(8192, 16, 2, 48), Reads(12288, 24, 2, 48)}, [] {
        std::memset(Ub(0), 0, 65536);
        T* lists[4] = {At<T>(4096), At<T>(8192), At<T>(12288), At<T>(16384)};
        vmrgsort4(At<T>(0), lists, 0x0005000300020001ull, 2 | 7 << 8);
    });
    // No repeats, and lists of no records.
    for (const uint64_t lists : {0u, 7u}) {
        CheckRecord("vmrgsort4", 0, {}, [lists] {
            T* from[4] = {At<T>(4096), At<T>(8192), At<T>(12288), At<T>(16384)};
            vmrgsort4(At<T>(0), from, 0x0005000300020001ull, (lists == 0 ? 2 : 0) | lists << 8);
        }, ascendsim::KernelType::kAiv, {0, 0, 0});
    }
}

void CheckMoving()
{
    const auto zeros = [] { std::memset(Ub(0), 0, 65536); };
    CheckRecord("vbrcb", 2, {Writes(4096, 32, 8, 64), Writes(4096 + 640, 32, 8, 64), Reads(0, 64)}, [] {
        vbrcb(At<uint32_t>(4096), At<uint32_t>(0), 2, 20, 2);
    });
    CheckRecord("vgather", 2, {Writes(4096, 128, 2, 288), Reads(8192, 128, 2, 256), Reads(16384 + 8, 48)}, [&] {
        zeros();
        for (uint32_t i = 0; i < 128; ++i) At<uint32_t>(8192)[i] = i % 32 == 7 ? 8 : i % 32 == 9 ? 52 : 20;
        set_vector_mask(0, 0xFFFFFFFF);
        vgather(At<uint32_t>(4096), At<uint32_t>(8192), 16384, 9, 2);
    });
    CheckRecord("vgatherb", 2, {Writes(4096, 32, 8, 64), Writes(4096 + 576, 32, 8, 64), Reads(8192, 64), Reads(16384 + 32, 96)}, [&] {
        zeros();
        for (uint32_t i = 0; i < 16; ++i) At<uint32_t>(8192)[i] = i == 3 ? 32 : i == 5 ? 96 : 64;
        vgatherb(At<uint32_t>(4096), At<uint32_t>(8192), 16384, 18, 2, 2);
    });
    // Every repeat to the same places: they are said once.
    const Trace trace = Traced("isa_records.trace", [&] {
        zeros();
        vgatherb(At<uint32_t>(4096), At<uint32_t>(8192), 16384, 0, 2, 2);
    }, ascendsim::KernelType::kAiv);
    const Record* record = trace.First("vgatherb");
    Expect(record != nullptr && record->ops.at(0).count0 == 8 && record->ops.at(0).count1 == 1, "repeats of vgatherb without a stride");
    CheckRecord("vreducev2", 2, {Writes(4096, 128), Reads(8192, 256, 2, 320)}, [&] {
        vreducev2(At<uint16_t>(4096), At<uint16_t>(8192), At<uint16_t>(0), 2, 1, 3, 10, 0);  // the first of four, of 256
        Expect(get_rsvd_cnt() == 64, "a quarter");
    });
}

/// A gather that is refused has read its offsets, as one record says.
void CheckRefusedGathers()
{
    for (const bool blocks : {false, true}) {
        for (const uint8_t repeat : {1, 2, 5}) {
            for (const uint32_t offset : {uint32_t{196608}, uint32_t{0x7FFFFF00}, uint32_t{2}}) {
                const uint32_t lanes = (blocks ? 8u : 64u) * repeat;
                ascendsim::OpenTrace("isa_records.trace");
                const auto result = OnCore([&] {
                    std::memset(Ub(0), 0, 65536);
                    At<uint32_t>(8192)[lanes - 1] = offset;
                    blocks ? vgatherb(At<uint32_t>(4096), At<uint32_t>(8192), 0, 8, 1, repeat) : vgather(At<uint32_t>(4096), At<uint32_t>(8192), 0, 8, repeat);
                });
                Expect(ascendsim::CloseTrace() && result.faults == 1, "gathering from " + std::to_string(offset) + ": " + result.first_fault);
                Bytes want, got;
                Add(want, Reads(8192, lanes * 4));
                uint32_t count = 0;
                for (const Record& record : ReadTrace("isa_records.trace").records) {
                    if (record.name.rfind("vgather", 0) == 0) {
                        got = BytesOf(record);
                        ++count;
                    }
                }
                Expect(count == 1 && got == want, "records of a gather that is refused: " + std::to_string(count) + ", " + Difference(got, want));
                std::remove("isa_records.trace");
            }
        }
    }
}

/// What lies in the first or the last bytes of the Unified Buffer is gathered as well, its place given as an offset, an address or the
/// lower half of one.
void CheckGathersFromEnds(uint32_t table)
{
    for (int kind = 0; kind < 3; ++kind) {
        const auto base = [=] { return kind == 0 ? table : reinterpret_cast<uint64_t>(Ub(table)) & (kind == 1 ? ~uint64_t{0} : 0xFFFFFFFFu); };
        bool right = false;
        const Trace trace = Traced("isa_records.trace", [&] {
            for (uint32_t i = 0; i < 64; ++i) {
                At<uint32_t>(table)[i] = 1000 + i;
                At<uint32_t>(8192)[i] = 4 * (63 - i);
                At<uint32_t>(12288)[i] = i < 8 ? 32 * (7 - i) : 0;
            }
            vgather(At<uint32_t>(4096), At<uint32_t>(8192), base(), 8, 1);
            vgatherb(At<uint32_t>(4096 + 256), At<uint32_t>(12288), base(), 8, 1, 1);
            right = true;
            for (uint32_t i = 0; i < 64; ++i) {
                right = right && At<uint32_t>(4096)[i] == 1063 - i && At<uint32_t>(4096 + 256)[i] == 1056 - i / 8 * 8 + i % 8;
            }
        }, ascendsim::KernelType::kAiv);
        const auto gathers = std::count_if(trace.records.begin(), trace.records.end(), [](const Record& record) { return record.name.rfind("vgather", 0) == 0; });
        Expect(right && gathers == 2, "gathers from byte " + std::to_string(table) + ", kind " + std::to_string(kind) + ": " + std::to_string(gathers) + " records");
    }
}

void CheckPacking()
{
    CheckRecord("vreducev2", 2, {Writes(4096, 5 * 4), Reads(8192, 160, 2, 256), Reads(12288, 5, 2, 64)}, [&] {
        std::memset(Ub(0), 0, 65536);
        Ub(12288)[0] = 0x81;
        Ub(12288)[4] = 0x80;
        Ub(12288)[5] = 0xFF;  // behind the fortieth
        Ub(12288 + 64)[1] = 0x11;
        set_mask_count();
        set_vector_mask(0, 40);
        vreducev2(At<uint32_t>(4096), At<uint32_t>(8192), At<uint32_t>(12288), 2, 1, 0, 8, 2);
    });
    CheckRecord("vtranspose", 2, {Writes(0, 512), Reads(4096, 512)}, [] { vtranspose(At<uint16_t>(0), At<uint16_t>(4096)); });
    CheckRecord("vld_va_reg", 0, {Reads(4096, 32)}, [] { vld_va_reg(VA0, At<uint64_t>(4096), L128); });
    CheckRecord("v4dtrans", 2, {Writes(0, 16 * 12 * 2), Reads(4096, 16 * 12 * 2)}, [] { v4dtrans(At<uint16_t>(0), At<uint16_t>(4096), 16, 12, true); });
}

void CheckAddressLists()
{
    // Destinations at uneven distances block by block, evenly spaced sources of half blocks.
    std::vector<Span> spans;
    for (int64_t step = 0; step < 2; ++step) {
        for (int64_t i = 0; i < 16; ++i) {
            spans.push_back(Writes(4096 + i * i * 32 + step * 8192 + 16, 16));
        }
        spans.push_back(Reads(32768 + step * 2048, 16, 16, 64));
    }
    CheckRecord("scatter_vnchwconv_b8", 1, spans, [] {
        uint64_t to[16];
        uint64_t from[16];
        for (uint32_t i = 0; i < 16; ++i) {
            to[i] = reinterpret_cast<uint64_t>(Ub(4096 + i * i * 32));
            from[i] = reinterpret_cast<uint64_t>(Ub(32768 + i * 64));
        }
        set_va_reg_sb(VA2, to);
        set_va_reg_sb(VA3, to + 8);
        set_va_reg_sb(VA4, from);
        set_va_reg_sb(VA5, from + 8);
        scatter_vnchwconv_b8(VA2, VA4, 2, 256, 64, true, false);
    });
}

void CheckNarrow()
{
    CheckRecord("vconv_f162s4", 2, {Writes(0, 64, 2, 96), Reads(4096, 256, 2, 256)}, [] { vconv_f162s4(Ub(0), At<half>(4096), 2, 1, 1, 3, 8); });
    CheckRecord("vconv_s42f16", 2, {Writes(0, 32 * 3, 2, 256), Reads(4096, 32, 2, 64)}, [] {
        set_vector_mask(0, 0xFFFFFFFFFF);  // forty lanes: two and a half blocks of halves, one of nibbles
        vconv_s42f16(At<half>(0), Ub(4096), 2, 1, 1, 8, 2);
    });
    CheckRecord("vconv_deqs162b8h", 2, {Writes(16, 16, 8, 64), Writes(16 + 640, 16, 8, 64), Reads(4096, 256, 2, 288)}, [] {
        set_deqscale(0);
        vconv_deqs162b8h(Ub(0), At<int16_t>(4096), 2, 2, 1, 20, 9);
    });
    CheckRecord("vaddreluconv_vdeqs162b8", 2,
                {Writes(16, 16, 8, 32), Writes(16 + 320, 16, 8, 32), Reads(4096, 256, 2, 288), Reads(8192, 32, 8, 64), Reads(8192 + 576, 32, 8, 64)}, [] {
                    set_deqscale(reinterpret_cast<uint64_t>(Ub(32768)));
                    vaddreluconv_vdeqs162b8(Ub(0), At<int16_t>(4096), At<int16_t>(8192), 2, 1, 1, 2, 10, 9, 18, true);
                });
}

void CheckCompare()
{
    CheckRecord("vcmpv_lt", 2, {Writes(0, 16), Reads(4096, 512), Reads(8192, 256, 2, 288)}, [] {
        vcmpv_lt(Ub(0), At<float>(4096), At<float>(8192), 2, 1, 1, 1, 8, 8, 9);
    });
    CheckRecord("vsel", 2, {Writes(0, 512), Reads(4096, 512), Reads(8192, 16)}, [] {
        vsel(At<float>(0), At<float>(4096), static_cast<void*>(Ub(8192)), 2, 1, 1, 1, 8, 8, 8, 1);
    });
    CheckRecord("vsel", 2, {Writes(0, 512), Reads(4096, 512), Reads(8192, 256, 2, 320)}, [] {
        vsel(At<float>(0), At<float>(4096), At<float>(8192), 2, 1, 1, 1, 8, 8, 10);
    });
    CheckRecord("set_cmpmask", 0, {Reads(4096, 16)}, [] { set_cmpmask(Ub(4096)); });
    CheckRecord("copy_ubuf_to_ubuf", 3, {Writes(0, 64, 3, 96), Reads(4096, 64, 3, 128)}, [] { copy_ubuf_to_ubuf(Ub(0), Ub(4096), 0, 3, 2, 2, 1); });
}

}  // namespace

int main()
{
    CheckMasks();
    CheckReductions();
    CheckSorting<half>();
    CheckSorting<float>();
    CheckMoving();
    CheckRefusedGathers();
    CheckGathersFromEnds(0);
    CheckGathersFromEnds(196608 - 256);
    CheckPacking();
    CheckAddressLists();
    CheckNarrow();
    CheckCompare();
    return Report("isa_records");
}
