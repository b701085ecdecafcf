// Shares of cores once more: who starts where, who meets whom, which line of the data cache a word is in.
#include <defect.h>

// The first core has a longer share than the others, whose starts are reckoned with that longer share as well.
DEFECT(long_share_in_the_starts_of_short_ones, "out-of-bounds-gm", 4)
{
    constexpr uint32_t longShare = 280, shortShare = 248;
    const uint32_t count = m.block == 0 ? longShare : shortShare;
    const uint32_t before = m.block == 0 ? 0 : longShare + (m.block - 1) * shortShare;
    const uint32_t start = kBroken ? m.block * longShare : before;
    Duplicate(Ub(0), 1.0f, static_cast<int32_t>(count));
    Order<V_MTE3>();
    DataCopy(m.z[start], Ub(0), count); // here
}

// Six cores have all there is. What is left for the seventh is below zero, and unsigned: a whole share.
DEFECT(nothing_left_wraps_to_a_whole_share, "out-of-bounds-gm", 7)
{
    const uint32_t share = AlignUp(DivCeil(Memory::kInput, m.blocks), 256);
    const uint32_t start = m.block * share;
    if (!kBroken && start >= Memory::kInput) return;
    const uint32_t left = Memory::kInput - start;
    const uint32_t count = left < share ? left : share;
    DataCopy(Ub(0), m.x[start], count); // here
    Order<MTE2_V>();
    Muls(Ub(16384), Ub(0), 2.0f, static_cast<int32_t>(count));
}

// Each core has 32 of 64 columns. The gap behind a row is that of a narrower matrix: rows wander into the other's columns.
DEFECT(rows_wander_into_the_columns_of_the_other, "cross-core-race", 2)
{
    constexpr uint32_t rows = 8, mine = 32, columns = kBroken ? 48 : 64;
    Duplicate(Ub(0), 1.0f, rows * mine);
    Order<V_MTE3>();
    const DataCopyExtParams copy(rows, mine * sizeof(float), 0, (columns - mine) * sizeof(float), 0);
    DataCopyPad(m.z[m.block * mine], Ub(0), copy); // here
}

// The last core has a tail as well, and a barrier behind it that the others never come to.
DEFECT(last_core_meets_once_more_for_its_tail, "deadlock", 3)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyW(), Ub(0), 248);
    SyncAll();
    DataCopy(Ub(1024), m.w[(m.block + 1) % m.blocks * Memory::kShare], 248);
    if (m.block + 1 == m.blocks) {
        DataCopy(m.z, Ub(0), 8);
        if (kBroken) SyncAll(); // here
    }
}

// One core keeps a maximum in the slot, the other a sum: either is atomic, but which comes first makes a difference.
DEFECT(maximum_and_sum_in_one_slot, "cross-core-race", 2)
{
    constexpr uint32_t slot = 8;
    Duplicate(Ub(0), 0.0f, 2 * slot);
    Duplicate(Ub(1024), 3.0f, slot);
    Order<V_MTE3>();
    if (m.block == 0) DataCopy(m.z, Ub(0), 2 * slot);
    SyncAll();
    if (m.block == 0) SetAtomicMax<float>();
    else SetAtomicAdd<float>();
    DataCopy(m.z[kBroken ? 0 : m.block * slot], Ub(1024), slot); // here
    SetAtomicNone();
}

// A sum is one float, an addition to global memory takes eight: seven lanes go along that nobody has written.
DEFECT(seven_lanes_added_with_the_sum, "uninitialised-read", 4)
{
    Duplicate(Ub(4096), 0.0f, 8);
    if (!kBroken) Duplicate(Ub(2048), 0.0f, 8);
    Order<V_MTE3>();
    if (m.block == 0) DataCopy(m.z, Ub(4096), 8);
    SyncAll();
    DataCopy(Ub(0), m.x[m.block * 64], 64);
    Order<MTE2_V>();
    WholeReduceSum(Ub(2048), Ub(0), 64, 1, 1, 1, 8);
    Order<V_MTE3>();
    SetAtomicAdd<float>();
    DataCopy(m.z, Ub(2048), 8); // here
    SetAtomicNone();
}

// Every share is a head of 32 bytes by the scalar unit and 64 bytes of payload. 96 bytes are one line and a half: the next
// core's head is written back with the last 32 bytes of this core's payload as they were before.
// The line of either access is right; what the judge names first is the scalar unit's.
DEFECT(head_in_the_line_of_the_payload_before, "cross-core-race", 2)
{
    constexpr uint32_t head = 8, payload = 16, share = kBroken ? head + payload : 32;
    Duplicate(Ub(0), 1.0f, payload);
    m.z.SetValue(m.block * share, static_cast<float>(payload)); // here
    CleanLine(m.z[m.block * share]);
    PipeBarrier<PIPE_ALL>();
    DataCopy(m.z[m.block * share + head], Ub(0), payload);
}

// A record of 32 bytes that begins 48 bytes into a line ends in the next one; only the line of its beginning is written back.
DEFECT(record_across_two_lines, "stale-cache-line", 2)
{
    constexpr uint32_t slot = 64, at = 12, words = 8;
    const GlobalTensor<float> mine = m.w[m.block * slot + at];
    for (uint32_t i = 0; i < words; ++i) m.w.SetValue(m.block * slot + at + i, 1.0f);
    CleanLine(mine);
    if (!kBroken) CleanLine(mine[words - 1]);
    SyncAll();
    const GlobalTensor<float> other = m.w[(1 - m.block) * slot + at];
    DataCopyPad(Ub(0), other, DataCopyExtParams(1, 32, 0, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0.0f)); // here
}

// The workspace begins with 64 counters, which its length does not know of: the last core's slice ends behind it.
DEFECT(counters_in_front_of_the_slices, "out-of-bounds-gm", 4)
{
    constexpr uint32_t counters = 64, slice = kBroken ? 256 : 240;
    Duplicate(Ub(0), 0.0f, 256);
    Order<V_MTE3>();
    if (m.block == 0) DataCopy(m.w, Ub(0), counters);
    DataCopy(m.w[counters + m.block * slice], Ub(0), slice); // here
}

// Three rows for four cores. The idle one leaves its slot as it is, and the sum is taken over all slots.
DEFECT(slot_of_an_idle_core_summed, "uninitialised-read?", 4)
{
    constexpr uint32_t rows = 3, slot = 8;
    if (m.block < rows || !kBroken) {
        Duplicate(Ub(0), m.block < rows ? 1.0f : 0.0f, slot);
        Order<V_MTE3>();
        DataCopy(m.w[m.block * slot], Ub(0), slot);
    }
    SyncAll();
    if (m.block == 0) {
        DataCopy(Ub(1024), m.w, m.blocks * slot); // here
        Order<MTE2_V>();
        WholeReduceSum(Ub(2048), Ub(1024), 32, 1, 1, 1, 8);
    }
}

// So that all tiles have one length the last one begins earlier, within the share before it. Twice computed is as good as
// once, but not in place: what the other core has already scaled is scaled again, or not.
DEFECT(last_tile_moved_back_in_place, "cross-core-race", 2)
{
    constexpr uint32_t total = 400, tile = 256;
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.MyW(), Ub(0), 256);
    SyncAll();
    uint32_t start = m.block * tile, count = tile;
    if (start + tile > total) {
        if (kBroken) start = total - tile;
        else count = total - start;
    }
    DataCopy(Ub(4096), m.w[start], count);
    Order<MTE2_V>();
    Muls(Ub(8192), Ub(4096), 0.5f, static_cast<int32_t>(count));
    Order<V_MTE3>();
    DataCopy(m.w[start], Ub(8192), count); // here
}

// Cores add one after the other, in their order. The next one is told before this one's sum is out.
MISSED(next_core_told_before_the_sum_is_out, "cross-core-race", 3)
{
    GlobalTensor<int32_t> turns = m.z.ReinterpretCast<int32_t>();
    LocalTensor<int32_t> scratch = Ub<int32_t>(65536, 64);
    Duplicate(Ub(0), 0.0f, 64);
    Order<V_MTE3>();
    if (m.block == 0) DataCopy(m.w, Ub(0), 64);
    InitDetermineComputeWorkspace(turns, scratch);
    SyncAll();
    WaitPreBlock(turns, scratch);
    PipeBarrier<PIPE_ALL>();
    DataCopy(Ub(1024), m.w, 64);
    Order<MTE2_V>();
    Adds(Ub(2048), Ub(1024), 1.0f, 64);
    Order<V_MTE3>();
    if (kBroken) NotifyNextBlock(turns, scratch);
    DataCopy(m.w, Ub(2048), 64); // here
    PipeBarrier<PIPE_ALL>();
    if (!kBroken) NotifyNextBlock(turns, scratch);
}

// The shares are those of a machine with eight cores, four are launched.
OUTPUT_DEFECT(shares_for_cores_that_are_not_launched, "unwritten-output", 4)
{
    constexpr uint32_t total = 1024;
    const uint32_t share = total / (kBroken ? 8 : m.blocks);
    Duplicate(Ub(0), 1.0f, static_cast<int32_t>(share));
    Order<V_MTE3>();
    DataCopy(m.z[m.block * share], Ub(0), share); // here
}

// Every round fills a slot, meets once, and reads what the other core has filled a round before. With one meeting in a round
// that takes three slots: of two, the next round fills the one that is still being read.
DEFECT(two_slots_where_the_reader_is_a_round_behind, "cross-core-race", 2)
{
    constexpr uint32_t slots = kBroken ? 2 : 3, slot = 64;
    Duplicate(Ub(0), 1.0f, slot);
    Order<V_MTE3>();
    for (uint32_t round = 0; round < 4; ++round) {
        DataCopy(m.w[(round % slots * 2 + m.block) * slot], Ub(0), slot); // here
        SyncAll();
        if (round == 0) continue;
        const uint32_t before = (round - 1) % slots * 2 + 1 - m.block;
        DataCopy(Ub(1024 * round), m.w[before * slot], slot);
    }
}

// To save a miss behind the barrier, the line is preloaded in front of it: with what it held before.
DEFECT(line_preloaded_before_the_barrier, "stale-cache-line", 2)
{
    const GlobalTensor<uint64_t> line = m.w.ReinterpretCast<uint64_t>();
    if (m.block == 0) {
        Duplicate(Ub(0), 5.0f, 16);
        Order<V_MTE3>();
        DataCopy(m.w, Ub(0), 16);
    } else if (kBroken) {
        DataCachePreload(line, 0);
    }
    SyncAll();
    if (m.block == 1) {
        if (!kBroken) DataCachePreload(line, 0);
        const float scale = m.w.GetValue(2); // here
        Duplicate(Ub(1024), scale, 64);
    }
}

// Two rows of three tiles. The column of a tile is the rest by the number of rows, so two cores come to the same tile.
DEFECT(column_of_a_tile_by_the_number_of_rows, "cross-core-race", 6)
{
    constexpr uint32_t tileRows = 2, tileColumns = 3, edge = 16, pitch = tileColumns * edge;
    const uint32_t row = m.block / tileColumns;
    const uint32_t column = m.block % (kBroken ? tileRows : tileColumns);
    Duplicate(Ub(0), 1.0f, edge * edge);
    Order<V_MTE3>();
    const DataCopyParams copy(edge, edge * 4 / 32, 0, (pitch - edge) * 4 / 32);
    DataCopy(m.z[row * edge * pitch + column * edge], Ub(0), copy); // here
}

// Flags by turns, the number of which comes from the core instead of the round: neither is ever set by all.
DEFECT(number_of_the_flag_from_the_core, "deadlock", 2)
{
    Duplicate(Ub(0), 1.0f, 64);
    Order<V_MTE3>();
    DataCopy(m.MyW(), Ub(0), 64);
    for (uint32_t round = 0; round < 2; ++round) {
        const uint16_t flag = static_cast<uint16_t>(4 + ((kBroken ? m.block : round) & 1));
        CrossCoreSetFlag<0, PIPE_MTE3>(flag);
        CrossCoreWaitFlag(flag); // here
    }
}
