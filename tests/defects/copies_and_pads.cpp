// Copies with rows, gaps and padding: where they begin, how wide they are, and what lies between.
#include <defect.h>

constexpr uint32_t kOut = 65536;

// The gap between rows of the output counts bytes; here it is a number of blocks.
OUTPUT_DEFECT(gap_of_the_output_in_blocks, "unwritten-output", 1)
{
    constexpr uint32_t rows = 4, columns = 64, half_row = columns / 2;
    Duplicate(Ub(kOut, rows * half_row), 1.0f, rows * half_row);
    Order<V_MTE3>();
    const uint32_t gap = (columns - half_row) * 4;
    for (uint32_t column = 0; column < columns; column += half_row) {
        DataCopyExtParams shape(rows, half_row * 4, 0, kBroken ? gap / 32 : gap, 0);
        DataCopyPad(m.z[column], Ub(kOut, rows * half_row), shape); // here
        PipeBarrier<PIPE_MTE3>();
    }
}

// A block of padding on the left moves the row one block behind the end of its buffer.
DEFECT(left_padding_without_room, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> result, row;
    pipe.InitBuffer(result, 1024);
    pipe.InitBuffer(row, kBroken ? 1024 : 1056);
    auto x = row.Get<float>();
    auto z = result.Get<float>();
    DataCopyPadExtParams<float> pad(true, 8, 0, 0.0f);
    DataCopyPad(x, m.x, DataCopyExtParams(1, 1024, 0, 0, 0), pad); // here
    const auto id = static_cast<event_t>(pipe.FetchEventID(MTE2_V));
    SetFlag<MTE2_V>(id);
    WaitFlag<MTE2_V>(id);
    Adds(z, x, 1.0f, 256);
}

// Windows that overlap, by a gap below zero: the gap counts without a sign.
DEFECT(overlapping_windows_by_a_negative_gap, "out-of-bounds-gm", 1)
{
    constexpr int32_t width = 64, step = 32, windows = 4;
    if (kBroken) {
        DataCopyExtParams shape(windows, width * 4, static_cast<uint32_t>((step - width) * 4), 0, 0);
        DataCopyPad(Ub(0), m.x, shape, DataCopyPadExtParams<float>(false, 0, 0, 0.0f)); // here
    } else {
        for (int32_t i = 0; i < windows; ++i) {
            DataCopy(Ub(static_cast<uint32_t>(i * width * 4), width), m.x[i * step], width);
        }
    }
    Order<MTE2_V>();
    Muls(Ub(kOut), Ub(0), 0.5f, width * windows);
}

// Sixty-four columns in tiles of twenty-four: the last tile is as wide as the others, and its last row leaves the matrix.
DEFECT(last_columns_as_wide_as_the_others, "out-of-bounds-gm?", 1)
{
    constexpr uint32_t rows = 64, columns = 64, tile = 24;
    for (uint32_t first = 0; first < columns; first += tile) {
        const uint32_t left = columns - first;
        const uint32_t width = !kBroken && left < tile ? left : tile;
        auto x = Ub(first * rows * 4, rows * tile);
        DataCopyExtParams shape(rows, width * 4, (columns - width) * 4, 0, 0);
        DataCopyPad(x, m.x[first], shape, DataCopyPadExtParams<float>(false, 0, 0, 0.0f)); // here
        const int32_t id = static_cast<int32_t>(first / tile);
        Order<MTE2_V>(id);
        Abs(x, x, static_cast<int32_t>(rows * width));
    }
}

// Adding is switched on before the output is cleared: zeros are added to whatever is there.
OUTPUT_DEFECT(cleared_by_a_copy_that_adds, "uninitialised-read?", 1)
{
    Duplicate(Ub(0), 0.0f, 256);
    Duplicate(Ub(kOut), 1.0f, 256);
    Order<V_MTE3>();
    if (kBroken) SetAtomicAdd<float>();
    DataCopy(m.z, Ub(0), 256); // here
    PipeBarrier<PIPE_MTE3>();
    if (!kBroken) SetAtomicAdd<float>();
    DataCopy(m.z, Ub(kOut), 256);
    SetAtomicNone();
}

// Two matrices, one of 64 columns and one of 32; the rows of the second are looked for at the pitch of the first.
DEFECT(second_matrix_by_the_pitch_of_the_first, "out-of-bounds-gm", 1)
{
    constexpr uint32_t group = 16, narrow = 32;
    const uint32_t pitch = kBroken ? 64 : narrow;
    for (uint32_t i = 0; i < 8; ++i) {
        auto y = Ub(i * 2048, group * narrow);
        DataCopyExtParams shape(group, narrow * 4, (pitch - narrow) * 4, 0, 0);
        DataCopyPad(y, m.y[i * group * pitch], shape, DataCopyPadExtParams<float>(false, 0, 0, 0.0f)); // here
    }
    Order<MTE2_V>();
    Adds(Ub(kOut, 4096), Ub(0, 4096), 1.0f, 4096);
}

// Rows of four blocks are moved eight blocks apart, in a buffer for rows that lie together.
DEFECT(rows_spread_past_the_end_of_their_buffer, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> together, apart;
    pipe.InitBuffer(together, 1024);
    pipe.InitBuffer(apart, kBroken ? 1024 : 2048);
    auto from = together.Get<float>();
    auto to = apart.Get<float>();
    Duplicate(from, 1.0f, 256);
    DataCopy(to, from, DataCopyParams(8, 4, 0, 4)); // here
    PipeBarrier<PIPE_V>();
    if (!kBroken) Adds(to, to, 1.0f, 32, 8, UnaryRepeatParams(1, 1, 8, 8));
}

// Odd blocks are fetched while even ones are computed, which needs no flag; but they are put on the even ones.
DEFECT(fetched_into_the_blocks_that_are_computed, "race", 1)
{
    auto mixed = Ub(0, 512);
    Duplicate(mixed, 0.0f, 512);
    Order<V_MTE2>();
    Duplicate(mixed, 1.0f, 64, 4, 2, 16);
    DataCopy(mixed[kBroken ? 0 : 8], m.x, DataCopyParams(32, 1, 0, 1)); // here
    Order<MTE2_V>();
    Adds(Ub(kOut, 512), mixed, 1.0f, 512);
}

// The columns on the right begin before those on the left end, and nothing keeps the two copies in order.
DEFECT(column_halves_that_share_some_columns, "race", 1)
{
    constexpr uint32_t rows = 8, columns = 32, left = 20;
    const uint32_t first = kBroken ? 16 : left;
    const uint32_t right = columns - first;
    Duplicate(Ub(0), 1.0f, 192);
    Duplicate(Ub(kOut), 2.0f, 128);
    Order<V_MTE3>();
    DataCopyPad(m.z, Ub(0), DataCopyExtParams(rows, left * 4, 0, (columns - left) * 4, 0));
    DataCopyPad(m.z[first], Ub(kOut), DataCopyExtParams(rows, right * 4, 0, (columns - right) * 4, 0)); // here
}

// Every row of the workspace moves one row down. From the first row on, each fetch takes what has only just been sent.
DEFECT(rows_moved_down_in_the_workspace, "race", 1)
{
    Duplicate(Ub(kOut), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.w, Ub(kOut), 256);
    Order<MTE3_MTE2>();
    for (int32_t i = 0; i < 3; ++i) {
        const int32_t row = kBroken ? i : 2 - i;
        auto held = Ub(static_cast<uint32_t>(i) * 256, 64);
        DataCopy(held, m.w[row * 64], 64); // here
        Order<MTE2_MTE3>(i);
        DataCopy(m.w[(row + 1) * 64], held, 64);
    }
}

// One element of halo before the row: the row is put right behind it instead of behind its block.
DEFECT(row_behind_one_element_of_halo, "misaligned", 1)
{
    constexpr uint32_t width = 120;
    for (uint32_t i = 0; i < 2; ++i) {
        auto x = Ub(i * 1024, 256);
        Duplicate(x, 0.0f, 8);
        Order<V_MTE2>(static_cast<int32_t>(i));
        auto row = x[kBroken ? 1 : 8];
        DataCopyExtParams shape(1, width * 4, 0, 0, 0);
        DataCopyPad(row, m.x[i * width], shape, DataCopyPadExtParams<float>(false, 0, 0, 0.0f)); // here
        Order<MTE2_V>(static_cast<int32_t>(i));
        Muls(Ub(kOut + i * 1024), x[8], 2.0f, kBroken ? 104 : 120);
    }
}

// Rows of seven blocks stand eight blocks apart: copied out in one piece, the gaps go along.
DEFECT(gaps_between_local_rows_copied_out, "uninitialised-read", 1)
{
    DataCopy(Ub(0), m.x, DataCopyParams(4, 7, 0, 1));
    Order<MTE2_V>();
    Adds(Ub(kOut), Ub(0), 1.0f, 56, 4, UnaryRepeatParams(1, 1, 8, 8));
    Order<V_MTE3>();
    const DataCopyParams whole(1, 32, 0, 0), rows(4, 7, 1, 0);
    DataCopy(m.z, Ub(kOut), kBroken ? whole : rows); // here
}

// Every share is fetched with one block of its right neighbour, and the last share has none.
DEFECT(halo_behind_the_last_share, "out-of-bounds-gm?", 4)
{
    constexpr uint32_t halo = 8;
    const uint32_t share = Memory::kInput / m.blocks;
    const bool neighbour = m.block + 1 < m.blocks;
    auto x = Ub(0, share + halo);
    DataCopy(x, m.x[m.block * share], share + (kBroken || neighbour ? halo : 0)); // here
    if (!kBroken && !neighbour) Duplicate(x[share], 0.0f, halo);
    Order<MTE2_V>();
    Sub(Ub(kOut, share), x[halo], x, static_cast<int32_t>(share));
}
