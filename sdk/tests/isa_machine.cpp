// The machine around the instructions: trace contents, transfers, faults, waiting blocks, launches.
#include <algorithm>

#include "ascendsim/knob.h"
#include "ascendsim/launch.h"
#include "isa_support.h"

using namespace isa_test;

namespace {

const char* const kTracePath = "isa_machine.trace";

Trace Traced(Callee<void()> body, uint32_t blocks = 1)
{
    ascendsim::OpenTrace(kTracePath);
    OnCore(body, blocks);
    Expect(ascendsim::CloseTrace(), "closing the trace");
    return ReadTrace(kTracePath);
}

uint8_t* Ub(size_t offset) { return ascendsim::UbBase() + offset; }

void TestTransfers()
{
    auto* in = static_cast<uint8_t*>(ascendsim::AllocateRegion(4096, ascendsim::RegionRole::kInput, 0));
    auto* out = static_cast<uint8_t*>(ascendsim::AllocateRegion(4096, ascendsim::RegionRole::kOutput, 0));
    for (int i = 0; i < 4096; ++i) in[i] = static_cast<uint8_t>(i * 7 + i / 256);
    const Trace trace = Traced([&] {
        copy_gm_to_ubuf(Ub(0), in, 0, 4, 2, 6, 1);
        for (int row = 0; row < 4; ++row) {
            Expect(std::memcmp(Ub(static_cast<size_t>(row) * 96), in + row * 256, 64) == 0, "strided load");
        }
        Expect(*Ub(64) == 0xCD, "poison in the gap");
        copy_gm_to_ubuf_align_b16(Ub(1024), in + 2, 0, 3, 10, 0, 0, 4, 0);
        Expect(std::memcmp(Ub(1024 + 32), in + 2 + 14, 10) == 0, "unaligned row");
        Expect(std::memcmp(Ub(1024 + 32 + 10), in + 2 + 14, 2) == 0, "rest of the block repeats the first element");
        set_mov_pad_val(0x1122);
        copy_gm_to_ubuf_align_b16(Ub(2048), in, 0, 1, 10, 3, 2, 0, 0);
        Expect(*Ub(2048) == 0x22 && *Ub(2049) == 0x11 && std::memcmp(Ub(2048 + 6), in, 10) == 0 && *Ub(2048 + 16) == 0x22,
               "paddings");
        copy_gm_to_ubuf_align_b16(Ub(4096), in, 0, 2, 10, 3, 2, 0, 1);
        Expect(std::memcmp(Ub(4096 + 6), in, 10) == 0 && std::memcmp(Ub(4096 + 64 + 6), in + 10, 10) == 0, "padded rows, a block between them");
        copy_ubuf_to_gm_align_b8(out + 5, Ub(0), 0, 2, 33, 0, 0, 1, 7);
        Expect(std::memcmp(out + 5, Ub(0), 33) == 0 && std::memcmp(out + 45, Ub(96), 33) == 0 && out[38] == 0xCD, "packed rows");
    });
    Expect(trace.First("fault") == nullptr, "legal transfers");
    Expect(trace.First("copy_gm_to_ubuf")->ops[0].count0 == 4 && trace.First("copy_gm_to_ubuf")->ops[1].stride0 == 256, "strided record");
}

void TestStore()
{
    ascendsim::ClearRegions();
    auto* out = static_cast<float*>(ascendsim::AllocateRegion(256, ascendsim::RegionRole::kOutput, 3));
    std::fill(out, out + 64, 1.0f);
    const Trace trace = Traced([&] {
        auto* ub = reinterpret_cast<float*>(Ub(0));
        for (int i = 0; i < 64; ++i) ub[i] = static_cast<float>(i);
        set_atomic_add();
        set_atomic_f32();
        copy_ubuf_to_gm(out, ub, 0, 1, 8, 0, 0);
        set_atomic_none();
        for (uint64_t type = 0; type < 7; ++type) {  // what the register says is what was written to it
            set_st_atomic_cfg(type);
            Expect(get_st_atomic_cfg() == static_cast<int64_t>(type), "atomic configuration " + std::to_string(type));
        }
        set_st_atomic_cfg(uint64_t{0});
        Expect(get_icache_prl_st() == 0 && get_data_main_base() == 0 && get_l2_in_main() == 0 && get_l2_vaddr_base() == 0 &&
                   get_stack_phy_base() == 0 && get_thread_id() == 0 && get_thread_dim() == 1 && fake_overflow_status_1() == 0,
               "registers of what is not simulated");
        ascendsim::SetL2Bypass(true);
        copy_ubuf_to_gm_align_b32(out + 1, ub, 0, 1, 12, 0, 0, 0, 0);
        ascendsim::SetL2Bypass(false);
        copy_ubuf_to_gm(out + 16, ub, 0, 1, 8, 0, 0);                       // 64 bytes behind the allocation
        copy_ubuf_to_gm(out + (int64_t{3} << 30), ub, 0, 1, 8, 0, 0);       // far from every tensor
        copy_gm_to_ubuf(Ub(16), out, 0, 1, 1, 0, 0);                        // misaligned
        copy_gm_to_ubuf(Ub(196608 - 64), out, 0, 1, 8, 0, 0);               // behind the buffer
        Expect(ascendsim::ScalarRead(out, 4) && !ascendsim::ScalarRead(out + 72, 4), "scalar range check");
    });
    Expect(out[0] == 1.0f && out[1] == 0.0f && out[2] == 1.0f && out[3] == 2.0f, "atomic and plain store");
    Expect(out[16] == 0.0f && out[63] == 47.0f, "as much of a store as lies in the tensor");
    Expect(ascendsim::GuardsIntact(), "guards");
    const Record* atomic = trace.First("copy_ubuf_to_gm");
    Expect(atomic != nullptr && atomic->head.flags == ascendsim::kFlagAtomic && atomic->ops.size() == 2 &&
               atomic->ops[0].addr == uint64_t{1} << 40 && atomic->ops[0].len == 256 && atomic->ops[0].access == 3 &&
               atomic->ops[0].space == 1 && atomic->head.aux1 == 256 && atomic->head.pipe == 3,
           "atomic store record");
    const Record* hinted = trace.First("copy_ubuf_to_gm_align_b32");
    Expect(hinted != nullptr && hinted->head.flags == ascendsim::kFlagL2Bypass && hinted->ops[0].len == 12, "hinted store");
    const Trace sums = Traced([&] {
        ascendsim::SetL2Bypass(true);
        set_atomic_f32();
        copy_ubuf_to_gm(out, Ub(0), 0, 1, 1, 0, 0);
        set_atomic_none();
        copy_gm_to_ubuf(Ub(0), out, 0, 1, 1, 0, 0);
        copy_ubuf_to_ubuf(Ub(0), Ub(64), 0, 1, 1, 0, 0);  // L2 is not between them
        ascendsim::SetL2Bypass(false);
    });
    Expect(sums.First("copy_ubuf_to_gm")->head.flags == (ascendsim::kFlagAtomic | ascendsim::kFlagL2Bypass) &&
               sums.First("copy_gm_to_ubuf")->head.flags == ascendsim::kFlagL2Bypass && sums.First("copy_ubuf_to_ubuf")->head.flags == 0,
           "hints of sums and loads");
    std::vector<uint32_t> kinds;
    for (const Record& record : trace.records) {
        if (record.name == "fault") kinds.push_back(record.head.aux0);
    }
    Expect(kinds == std::vector<uint32_t>({1, 1, 3, 2, 1}), "fault kinds of transfers");
    Expect(std::any_of(trace.records.begin(), trace.records.end(),
                       [](const Record& record) {
                           return record.message == "copy_ubuf_to_gm: 256 bytes at an address that is near no tensor";
                       }),
           "a fault far from every tensor accuses none");
    const Record* fault = trace.First("fault");
    Expect(fault != nullptr && fault->message == "copy_ubuf_to_gm: 256 bytes at offset 64 of output 3, which has 256 bytes",
           "fault message");
    Expect(trace.launch.find("kernel=test\nblock_dim=1\n") == 0 && trace.end == "status=ok", "launch text");
    Expect(trace.regions.size() == 24 && !trace.modules.empty(), "regions and modules");
    Expect(trace.records.back().name == "end_of_block", "end of block");
}

/// A tensor ends with the first of two bursts: that arrives whole, with the paddings that need a block more.
void TestEndWithBurst()
{
    ascendsim::ClearRegions();
    alignas(32) static uint8_t in[30];
    ascendsim::RegisterRegion(in, sizeof(in), ascendsim::RegionRole::kOther, 0);
    const Trace trace = Traced([&] { copy_gm_to_ubuf_align_b16(Ub(0), in, 0, 2, 30, 3, 2, 0, 0); });
    const Record* move = trace.First("copy_gm_to_ubuf_align_b16");
    Expect(move != nullptr && move->ops[0].len == 64 && move->ops[0].count0 <= 1 && move->ops[1].len == 30, "a tensor that ends with a burst");
    // Of four bursts the third is cut, and nothing comes of the fourth. One that is asked for is one.
    static uint8_t data[96];
    for (uint8_t i = 0; i < 96; ++i) data[i] = static_cast<uint8_t>(i + 1);
    ascendsim::RegisterRegion(data, 80, ascendsim::RegionRole::kOther, 1);
    uint8_t cut[160], one[64], gap[64], bytes[128];
    const Trace faults = Traced([&] {
        copy_gm_to_ubuf_align_b8(Ub(0), data, 0, 4, 32, 0, 0, 0, 0);
        std::memcpy(cut, Ub(0), sizeof(cut));
        copy_gm_to_ubuf_align_b8(Ub(4096), data, 0, 1, 30, 0, 0, 0, 0);
        std::memcpy(one, Ub(4096), sizeof(one));
        copy_gm_to_ubuf_align_b8(Ub(8192), data + 40, 0, 3, 32, 0, 0, 16, 0);  // the tensor ends in the gap behind the first burst
        std::memcpy(gap, Ub(8192), sizeof(gap));
        copy_gm_to_ubuf_align_b8(Ub(12288), data + 78, 0, 4, 1, 0, 0, 0, 0);
        std::memcpy(bytes, Ub(12288), sizeof(bytes));
        copy_gm_to_ubuf(Ub(16384), data + 80, 0, 1, 1, 0, 0);
    });
    const auto untouched = [](const uint8_t* from, const uint8_t* to) { return std::count(from, to, 0xCD) == to - from; };
    Expect(std::equal(cut, cut + 80, data) && untouched(cut + 96, cut + 160), "bursts behind the end of a tensor");
    Expect(std::equal(one, one + 30, data) && one[30] == 1 && one[31] == 1 && untouched(one + 32, one + 64), "one burst");
    Expect(std::equal(gap, gap + 32, data + 40) && untouched(gap + 32, gap + 64), "a tensor that ends in a gap");
    Expect(bytes[0] == 79 && bytes[32] == 80 && untouched(bytes + 64, bytes + 128), "bursts of one byte at the end of a tensor");
    Expect(faults.First("copy_gm_to_ubuf") == nullptr && faults.records.size() == 9, "a transfer from the end of a tensor is none");
    const Trace part = Traced([&] { copy_gm_to_ubuf(Ub(0), data + 48, 0, 1, 2, 0, 0); });
    const Record* move32 = part.First("copy_gm_to_ubuf");
    Expect(move32 != nullptr && move32->ops[0].len == 32 && move32->ops[1].len == 32, "a block that is left of a burst");
}

void TestSites()
{
    const Trace trace = Traced([] {
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);
        set_flag(PIPE_V, PIPE_S, static_cast<event_t>(9));
        pipe_barrier(PIPE_ALL);
        ascendsim::ScalarOps(6);
        ascendsim::ScalarRead(Ub(0), 4);
        ascendsim::ScalarRead(Ub(4), 4);
        ascendsim::ScalarWrite(Ub(64), 2);
        ascendsim::Note("hello");
    });
    const Record* set = trace.First("set_flag");
    const Record* wait = trace.First("wait_flag");
    Expect(set != nullptr && set->head.pipe == 2 && set->head.aux0 == 3 && set->head.aux1 == 2 && set->head.aux2 == 1, "set_flag");
    Expect(wait != nullptr && wait->head.pipe == 1 && set->head.site != wait->head.site, "wait_flag");
    Expect(trace.First("pipe_barrier")->head.pipe == 255, "pipe_barrier");
    const Record* scalar = trace.First("scalar");
    Expect(scalar != nullptr && scalar->head.aux0 == 3 && scalar->head.aux1 == 6 && scalar->ops.size() == 2 &&
               scalar->ops[0].len == 8 && scalar->ops[1].access == 2,
           "merged scalar accesses");
    Expect(trace.First("note")->message == "hello" && trace.First("fault")->head.aux0 == 10, "note and flag fault");
}

void TestWaiting()
{
    std::vector<int> order;
    const Trace synced = Traced([&] {
        order.push_back(static_cast<int>(ascendsim::BlockIdx()));
        *Ub(0) = static_cast<uint8_t>(ascendsim::BlockIdx());
        ascendsim::SyncAll();
        order.push_back(10 + static_cast<int>(ascendsim::BlockIdx()));
        Expect(*Ub(0) == ascendsim::BlockIdx(), "each block has its own buffer");
    }, 3);
    Expect(order == std::vector<int>({0, 1, 2, 12, 10, 11}), "SyncAll order");
    Expect(synced.records.size() == 6 && synced.records[3].core == 2 && synced.records[5].core == 1, "records by core");

    const Trace stuck = Traced([] { if (ascendsim::BlockIdx() != 1) ascendsim::SyncAll(); }, 3);
    Expect(stuck.end.find("status=aborted reason=deadlock") == 0, "deadlock ends the launch: " + stuck.end);

    const Trace crowd = Traced([] { ascendsim::SyncAll(); }, 49);
    Expect(crowd.end.find("deadlock") != std::string::npos, "more blocks than cores cannot wait for each other");

    const Trace flags = Traced([] {
        ffts_cross_core_sync(PIPE_MTE3, 1 | 0 << 4 | 5 << 8);
        wait_flag_dev(5);
    }, 4);
    Expect(flags.end == "status=ok" && flags.First("set_cross_flag")->head.aux0 == 5, "cross-core flags");

    int turns = 0;
    const Trace polled = Traced([&] { while (ascendsim::BlockIdx() == 0 && turns < 1) ascendsim::Yield(); ++turns; }, 2);
    Expect(polled.end == "status=ok", "polling ends when another block has moved");
    const Trace endless = Traced([] { for (;;) ascendsim::Yield(); });
    Expect(endless.end.find("deadlock") != std::string::npos, "endless polling");

    bool after = false;
    const Trace left = Traced([&] { ascendsim::Fault("unsupported", "no such thing"); after = true; });
    Expect(!after && left.end.find("aborted") != std::string::npos, "unsupported ends the block");
}

void TestOverlap()
{
    const auto faults = [](Callee<void()> body) {
        OnCore(body);
        return ascendsim::LastLaunch().faults;
    };
    const auto f = [](size_t offset) { return reinterpret_cast<float*>(Ub(offset)); };
    Expect(faults([&] { vadd(f(0), f(0), f(4096), 4, 1, 1, 1, 8, 8, 8); }) == 0, "in place is allowed");
    Expect(faults([&] { vadd(f(0), f(4096), f(0), 4, 1, 1, 1, 0, 8, 0); }) == 0, "accumulating is allowed");
    Expect(faults([&] { vadds(f(0), f(0), 1.0f, 4, 1, 1, 0, 8); }) == 0, "results of all repeats in the first one's place");
    Expect(faults([&] { vadds(f(0), f(0), 1.0f, 4, 1, 1, 8, 0); }) == 0, "all repeats of the first one's operands");
    Expect(faults([&] { vadds(f(0), f(0), 1.0f, 4, 1, 1, 8, 1); }) == 1 && faults([&] { vadds(f(0), f(0), 1.0f, 4, 1, 1, 1, 8); }) == 1,
           "in place with other repeats");
    Expect(faults([&] { vadd(f(0), f(32), f(4096), 1, 1, 1, 1, 8, 8, 8); }) == 1, "partial overlap in a repeat");
    Expect(faults([&] { vadds(f(256), f(0), 1.0f, 2, 1, 1, 8, 8); }) == 1, "a later repeat reads an earlier result");
    Expect(faults([&] { vadds(f(0), f(256), 1.0f, 2, 1, 1, 8, 8); }) == 0, "reading ahead of the writes is allowed");
    Expect(faults([&] { vconv_f322f16r(reinterpret_cast<half*>(f(0)), f(0), 4, 1, 1, 4, 8); }) == 0, "narrowing in place");
    Expect(faults([&] { vconv_f162f32(f(0), reinterpret_cast<half*>(f(0)), 4, 1, 1, 8, 4); }) == 1, "widening in place");
    Expect(faults([&] { vadds(f(0), f(32), 1.0f, 4, 2, 2, 16, 16); }) == 0, "interleaved blocks are disjoint");
    Expect(faults([&] { vadds(f(0), f(448), 1.0f, 1, 2, 2, 16, 16); }) == 1, "the last of blocks that lie apart");
    Expect(faults([&] { vadds(f(448), f(0), 1.0f, 1, 2, 2, 16, 16); }) == 1, "the last of blocks that lie apart, of what is read");
    // One side has blocks 0, 2 .. 14, the other 1, 16, 31 ..: eight blocks of each, no ninth.
    Expect(faults([&] { vadds(f(0), f(32), 1.0f, 1, 2, 15, 8, 8); }) == 0, "a block behind those of a destination");
    Expect(faults([&] { vadds(f(32), f(0), 1.0f, 1, 15, 2, 8, 8); }) == 0, "a block behind those of a source");
    // Odd blocks 17, 32 .. of both repeats; sources are blocks 0, 2 .. 14 and 16, 18 .. 30, and there is no third repeat with a block 32.
    Expect(faults([&] { vadds(f(17 * 32), f(0), 1.0f, 2, 15, 2, 0, 16); }) == 0, "a repeat behind those of a source");
    for (const bool second : {false, true}) {
        const auto result = OnCore([&] { vadd(f(0), f(second ? 4096 : 32), f(second ? 32 : 4096), 1, 1, 1, 1, 8, 8, 8); });
        Expect(result.first_fault == std::string("operand_overlap: vadd: source ") + (second ? "1" : "0") +
                                         " overlaps the destination in a way the instruction does not allow",
               "which source overlaps: " + result.first_fault);
    }
    Expect(faults([&] {
        set_vector_mask(0, (uint64_t{1} << 33) - 1);
        vconv_f162u8(Ub(0), reinterpret_cast<half*>(Ub(64)), 2, 2, 1, 8, 0);
        set_vector_mask(~uint64_t{0}, ~uint64_t{0});
    }) == 1, "one lane in the last of a destination's blocks that lie apart");
    Expect(faults([&] {
        set_vector_mask(0, (uint64_t{1} << 33) - 1);
        vconv_u82f16(reinterpret_cast<half*>(Ub(320)), Ub(0), 2, 1, 2, 8, 8);
        set_vector_mask(~uint64_t{0}, ~uint64_t{0});
    }) == 1, "a later repeat reads one lane in the last of blocks that lie apart");
    // Counter mode, with fewer lanes in the second repeat, which starts where the first one does.
    const auto counted = [&](size_t dst, size_t src, uint8_t dstStep, uint8_t srcStep) {
        return faults([&] {
            set_mask_count();
            set_vector_mask(0, 72);
            vadds(f(dst), f(src), 1.0f, 1, 1, 1, dstStep, srcStep);
            set_mask_norm();
        });
    };
    Expect(counted(32, 0, 8, 0) == 1, "the first repeat of a source reaches further than the last");
    Expect(counted(0, 32, 0, 8) == 1, "the first repeat of a destination reaches further than the last");
    Expect(faults([&] { vadds(f(196608 - 64), f(0), 1.0f, 2, 1, 1, 8, 8); }) == 1, "behind the buffer");
    Expect(faults([&] { vadds(f(8), f(512), 1.0f, 1, 1, 1, 8, 8); }) == 1, "misaligned");
    Expect(faults([&] { vadds(f(0), f(512), 1.0f, 0, 1, 1, 8, 8); }) == 0, "no repeats do nothing");
    // Sums that are further apart than what is summed, which lies between the first two.
    Expect(faults([&] {
        set_vector_mask(0, 0xFF);
        vcadd(f(0), f(64), 3, 128, 1, 1, false);
        set_vector_mask(~uint64_t{0}, ~uint64_t{0});
    }) == 0, "sums around what is summed");
    bool untouched = false;
    const auto odd = faults([&] {
        std::memset(Ub(0), 0x3C, 1024);
        vcadd(f(2), f(512), 1, 1, 1, 8, false);
        untouched = *Ub(2) == 0x3C && *Ub(3) == 0x3C && *Ub(5) == 0x3C;
    });
    Expect(odd == 1 && untouched, "a misaligned sum is not stored");
    Expect(faults([&] {
        std::memset(Ub(0), 0x3C, 1024);
        set_vector_mask(0, 0);
        vcadd(f(0), f(512), 2, 1, 1, 8, false);
        set_vector_mask(~uint64_t{0}, ~uint64_t{0});
        untouched = *Ub(0) == 0x3C && *Ub(7) == 0x3C;
    }) == 0 && untouched, "a sum of no lanes");
    bool kept = false;
    const auto misplaced = faults([&] {
        std::memset(Ub(0), 0x3C, 32);
        std::memset(Ub(32), 0xFF, 64);
        set_cmpmask(Ub(0));
        set_cmpmask(Ub(40));
        get_cmpmask(Ub(64));
        kept = std::memcmp(Ub(0), Ub(64), 16) == 0;
    });
    Expect(misplaced == 1 && kept, "a misaligned mask does not arrive");
    // Offsets near the buffer are said; others are no offsets.
    constexpr int64_t kBelow = -(int64_t{1} << 20), kAbove = int64_t{1} << 24;
    for (const int64_t at : {kBelow - 32, kBelow, int64_t{-32}, int64_t{196608 + 65536}, kAbove, kAbove + 32}) {
        for (const bool reads : {true, false}) {
            const auto result = OnCore([&] {
                auto* far = reinterpret_cast<float*>(Ub(0) + at);
                vadds(reads ? f(0) : far, reads ? far : f(0), 1.0f, 1, 1, 1, 8, 8);
            });
            const std::string where = at < kBelow || at > kAbove ? " an address outside the Unified Buffer"
                                                                 : " UB bytes " + std::to_string(at) + " to " + std::to_string(at + 256) +
                                                                       ", the buffer has 196352";
            Expect(result.faults == 1 && result.first_fault.find((reads ? "vadds reads" : "vadds writes") + where) != std::string::npos,
                   "an operand at " + std::to_string(at) + ": " + result.first_fault);
        }
    }
}

/// The Unified Buffer has 192 KiB, with what the library keeps for itself. An operand's last piece decides, wherever the others lie, and
/// where it is outside nothing is computed.
void TestEnds()
{
    constexpr size_t kEnd = 196608;
    const struct {
        const char* what;
        size_t reach;  // from the first block to the end of the last
        uint32_t count;  // of counter mode; none for a mask
        uint64_t mask;
        uint8_t repeat, block, step;
    } shapes[] = {
        {"repeats in a row", 768, 0, ~uint64_t{0}, 3, 1, 8},
        {"repeats that lie apart", 2 * 40 * 32 + 256, 0, ~uint64_t{0}, 3, 1, 40},
        {"blocks that lie apart", 7 * 3 * 32 + 32, 0, ~uint64_t{0}, 1, 3, 8},
        {"blocks of repeats that lie apart", 2 * 40 * 32 + 7 * 3 * 32 + 32, 0, ~uint64_t{0}, 3, 3, 40},
        {"lanes in the middle", 2 * 40 * 32 + 64, 0, 0xFF00, 3, 1, 40},
        {"a tail behind repeats in a row", 256 + 64, 74, 0, 1, 1, 8},
        {"a tail behind a repeat that lies apart", 40 * 32 + 64, 74, 0, 1, 1, 40},
        {"a part of a block behind one that lies apart", 3 * 32 + 32, 10, 0, 1, 3, 8},
    };
    for (const auto& shape : shapes) {
        for (const size_t at : {kEnd - shape.reach, kEnd - shape.reach + 32}) {
            for (const bool reads : {false, true}) {
                bool computed = false;
                const auto result = OnCore([&] {
                    std::memset(Ub(0), 0x3C, 8192);
                    auto* dst = reinterpret_cast<float*>(reads ? Ub(0) : Ub(at));
                    auto* src = reinterpret_cast<float*>(reads ? Ub(at) : Ub(0));
                    std::memset(dst, 0x3C, 64);
                    if (shape.count != 0) {
                        set_mask_count();
                    }
                    set_vector_mask(0, shape.count != 0 ? shape.count : shape.mask);
                    vmuls(dst, src, 0.0f, shape.repeat, shape.block, shape.block, shape.step, shape.step);
                    set_mask_norm();
                    computed = dst[shape.mask == 0xFF00 ? 8 : 0] == 0.0f;
                });
                const bool fits = at + shape.reach == kEnd;
                const std::string says = std::string("out_of_bounds_ub: vmuls ") + (reads ? "reads" : "writes");
                Expect(computed == fits && (fits ? result.faults == 0 : result.faults == 1 && result.first_fault.rfind(says, 0) == 0),
                       std::string(shape.what) + " up to byte " + std::to_string(at + shape.reach) + ": " + result.first_fault);
            }
        }
    }
}

/// One lane of a gather reads block `at` of what all write, eight blocks; the others read far from it.
void TestGatheredResults()
{
    for (const uint32_t at : {0u, 5u, 6u, 7u, 8u}) {
        for (const bool blocks : {false, true}) {
            for (const uint32_t reader : {0u, 1u, 2u}) {  // the only repeat, the first of two and the second
                const uint32_t repeats = reader == 0 ? 1 : 2;
                const uint32_t lanes = (blocks ? 8 : 64) * repeats, end = 8 * repeats, lane = reader == 2 ? lanes / 2 + 1 : 1;
                const auto result = OnCore([&] {
                    std::memset(Ub(0), 0, 65536);
                    auto* offsets = reinterpret_cast<uint32_t*>(Ub(32768));
                    offsets[lanes] = 4096;  // behind the last one
                    for (uint32_t i = 0; i < lanes; ++i) offsets[i] = i == lane ? 4096 + (end - 8 + at) * 32 : 16384 + i * 32;
                    if (blocks) {
                        vgatherb(reinterpret_cast<uint32_t*>(Ub(4096)), offsets, 0, 8, 1, static_cast<uint8_t>(repeats));
                    } else {
                        vgather(reinterpret_cast<uint32_t*>(Ub(4096)), offsets, 0, 8, static_cast<uint8_t>(repeats));
                    }
                });
                // Of two repeats the first reads before the second writes.
                Expect(result.faults == (at < 8 && reader != 1 ? 1u : 0u) && (result.faults == 0 || result.first_fault.rfind("operand_overlap: vgather", 0) == 0),
                       "a gather from its results, block " + std::to_string(at) + " for repeat " + std::to_string(reader) + ": " + result.first_fault);
            }
        }
    }
}

/// Selections whose step `writer` puts its results over block `block` of the bits: only what a later step selects by is missed.
void TestSelectionBits()
{
    constexpr uint32_t kBits = 8192, kApart = 16;  // distance of repeats in blocks, so that no other step comes near the bits
    for (const bool memory : {false, true}) {
        for (const uint32_t count : {0u, 128u, 256u, 264u, 400u}) {  // of counter mode; none for four repeats of sixteen lanes
            const uint32_t steps = count == 0 ? 4 : (count + 127) / 128;
            const uint32_t end = count == 0 ? 64 : (count + 7) / 8;
            for (uint32_t writer = 0; writer < steps; ++writer) {
                for (int32_t block = -1; block < 3; ++block) {
                    const uint32_t lanes = count == 0 ? 16 : std::min(128u, count - 128 * writer);
                    bool missed = false;
                    for (uint32_t byte = 16 * (writer + 1); byte < end; ++byte) {
                        const int32_t at = static_cast<int32_t>(byte) - 32 * block;
                        missed = missed || (at >= 0 && at < static_cast<int32_t>((lanes * 2 + 31) / 32 * 32));
                    }
                    const auto result = OnCore([&] {
                        auto* dst = reinterpret_cast<half*>(Ub(static_cast<size_t>(static_cast<int32_t>(kBits + 32 * block) - static_cast<int32_t>(writer * kApart * 32))));
                        auto* src = reinterpret_cast<half*>(Ub(32768));
                        std::memset(Ub(0), 0, 65536);
                        std::memset(ascendsim::UbReserved(), 0, 32);
                        const uint64_t address = memory ? reinterpret_cast<uintptr_t>(Ub(kBits)) : 0;
                        std::memcpy(ascendsim::UbReserved(), &address, sizeof(address));
                        set_cmpmask(ascendsim::UbReserved());
                        if (count != 0) set_mask_count();
                        set_vector_mask(0, count == 0 ? 0xFFFF : count);
                        if (memory) {
                            vsel(dst, src, src + 4096, 4, 1, 1, 1, kApart, 8, 8, 2);
                        } else {
                            vsel(dst, src, static_cast<void*>(Ub(kBits)), 4, 1, 1, 1, kApart, 8, 8, 1);
                        }
                        set_mask_norm();
                    });
                    Expect(missed ? result.faults == 1 && result.first_fault.rfind("operand_overlap: vsel", 0) == 0 : result.faults == 0,
                           "vsel over its bits, count " + std::to_string(count) + ", step " + std::to_string(writer) + ", block " +
                               std::to_string(block) + ": " + result.first_fault);
                }
            }
        }
    }
}

template <int kAdd>
void Kernel(uint8_t* x, int by) { x[ascendsim::BlockIdx()] = static_cast<uint8_t>(x[ascendsim::BlockIdx()] + by + kAdd); }

void TestLaunch()
{
    uint8_t memory[8] = {};
    ascendsim::RegisterRegion(memory, sizeof(memory), ascendsim::RegionRole::kOther, 0);
    int evaluated = 0;
    const auto argument = [&] { return ++evaluated; };
    ascendsim::Launch("Kernel", 4, nullptr, 0).Run([](auto... p) { Kernel<5>(p...); }, memory, argument());
    Expect(evaluated == 1 && memory[0] == 6 && memory[3] == 6 && memory[4] == 0, "launch of a template kernel");
    Expect(ascendsim::UnregisterRegion(memory) && ascendsim::FindRegion(memory) == nullptr, "unregistering");
    Expect(ascendsim::KnobsRead().empty(), "no knob was read yet");
    Expect(ascend_tune_knob("tile", 7) == 48 && ascend_tune_knob("other", 7) == 7, "knobs");
    Expect(ascendsim::KnobsRead() == std::vector<std::string>{"other", "tile"}, "knobs that were read");
}

}  // namespace

void TestOrderOfBlocks()
{
    std::vector<int64_t> seen;
    const auto note = [&] { seen.push_back(ascendsim::BlockIdx()); };
    ascendsim::SetBlocksReversed(true);
    OnCore(note, 3);
    ascendsim::SetBlocksReversed(false);
    OnCore(note, 2);
    Expect(seen == std::vector<int64_t>({2, 1, 0, 0, 1}), "order of blocks");
}

void TestMissing()
{
    OnCore([] { copy_gm_to_ubuf(Ub(0), reinterpret_cast<void*>(uintptr_t{64}), 0, 1, 1, 0, 0); });
    const std::string& fault = ascendsim::LastLaunch().first_fault;
    Expect(fault.find("copy_gm_to_ubuf: 32 bytes at offset 64 of a tensor that the launch does not have") != fault.npos,
           "optional tensor left out: " + fault);
    OnCore([] { *reinterpret_cast<volatile int*>(get_para_base()) = 1; });
    Expect(fault.find("unsupported: get_para_base") == 0, "arguments in memory: " + fault);
}

// In the read-only data of this program, as a kernel's table is in those of its library.
alignas(32) extern const uint32_t kTable[16];
const uint32_t kTable[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};

void TestConstantTables()
{
    void* table = const_cast<uint32_t*>(kTable);
    bool same = false;
    const auto read = OnCore([&] {
        copy_gm_to_ubuf(Ub(0), table, 0, 1, 2, 0, 0);
        same = std::equal(kTable, kTable + 16, reinterpret_cast<const uint32_t*>(Ub(0)));
    });
    Expect(read.faults == 0 && same, "a copy of a constant table: " + read.first_fault);
    const auto written = OnCore([&] { copy_ubuf_to_gm(table, Ub(0), 0, 1, 2, 0, 0); });
    Expect(written.faults == 1, "a constant table is not written");
    static uint32_t variable[16] = {1};
    const auto other = OnCore([] { copy_gm_to_ubuf(Ub(0), variable, 0, 1, 2, 0, 0); });
    Expect(other.faults == 1, "what may change is no table");
}

template <typename T>
void TestDivision(const char* what)
{
    volatile T dividend = static_cast<T>(-7);
    volatile T divisors[4] = {3, 0, 1, 0};
    T quotients[4] = {};
    T remainders[4] = {};
    volatile int last = 3;
    const auto result = OnCore([&] {
        for (int i = 0; i <= last; ++i) {
            quotients[i] = static_cast<T>(dividend / divisors[i]);
            remainders[i] = static_cast<T>(dividend % divisors[i]);
        }
    });
    const T given = dividend;
    Expect(quotients[0] == given / 3 && remainders[0] == given % 3 && quotients[2] == given, std::string("divisions of ") + what);
    Expect(quotients[1] == 0 && remainders[1] == given && quotients[3] == 0 && remainders[3] == given,
           std::string("divisions by zero of ") + what);
    Expect(result.completed && result.faults >= 2, std::string("faults of divisions of ") + what);
    Expect(result.first_fault.find("division_by_zero: an integer is divided by zero") == 0, result.first_fault);
}

// Processors of other families trap no division.
void TestDivisions()
{
#if defined(__x86_64__)
    TestDivision<int32_t>("int32");
    TestDivision<uint32_t>("uint32");
    TestDivision<int64_t>("int64");
    TestDivision<uint64_t>("uint64");
    // Forms that compilers seldom choose: bytes, words, and operands at every kind of address.
    uint64_t zeros[4] = {};
    const uint64_t* const base = zeros;
    uint64_t byte = 0x1234, word = 7, word_rest = 0, far = 9, far_rest = 0, extended = 11, extended_rest = 0;
    const auto result = OnCore([&] {
        asm volatile("divb (%1,%2,8)" : "+a"(byte) : "r"(base), "r"(uint64_t{1}) : "cc", "memory");
        asm volatile("divw 8(%2)" : "+a"(word), "+d"(word_rest) : "r"(base) : "cc", "memory");
        asm volatile("divl 0x100(%2)" : "+a"(far), "+d"(far_rest) : "r"(reinterpret_cast<const char*>(base) - 0x100) : "cc", "memory");
        asm volatile("xorl %%r13d, %%r13d; idivq %%r13" : "+a"(extended), "+d"(extended_rest) : : "r13", "cc");
    });
    Expect(byte == 0x3400 && word == 0 && word_rest == 7 && far == 0 && far_rest == 9 && extended == 0 && extended_rest == 11,
           "divisions by zero of all forms");
    Expect(result.completed && result.faults == 4, "faults of divisions of all forms: " + std::to_string(result.faults));
#endif
}

int main()
{
    setenv("ASCEND_SIM_KNOBS", "bad=x;tile=48;", 1);
    TestTransfers();
    TestStore();
    TestEndWithBurst();
    TestSites();
    TestWaiting();
    TestOverlap();
    TestEnds();
    TestGatheredResults();
    TestSelectionBits();
    TestMissing();
    TestOrderOfBlocks();
    TestLaunch();
    TestConstantTables();
    TestDivisions();
    ascendsim::ClearRegions();
    std::remove(kTracePath);
    return Report("isa_machine");
}
