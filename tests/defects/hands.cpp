// Kernels that the compiler does not synchronise: the scalar unit beside the others.
#include <defect.h>

// Positions set one by one, and looked up at once.
DEFECT(looked_up_while_it_is_set, "race", 1)
{
    auto table = Ub(0, 64), out = Ub(1024, 64);
    auto at = Ub<uint32_t>(2048, 64);
    DataCopy(table, m.x, 64);
    Order<MTE2_V>();
    for (uint32_t i = 0; i < 64; ++i) at.SetValue(i, (63 - i) * 4);
    if (!kBroken) Order<S_V>();
    Gather(out, table, at, 0, 64u); // here
    Order<V_MTE3>();
    DataCopy(m.w, out, 64);
}

// The greatest number is read before it has been found.
DEFECT(greatest_number_read_too_soon, "race", 1)
{
    auto x = Ub(0), work = Ub(2048);
    DataCopy(x, m.x, 256);
    Order<MTE2_V>();
    WholeReduceMax(work, x, 64, 4, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
    if (!kBroken) Order<V_S>();
    float greatest = work.GetValue(0); // here
    Order<S_V>();
    PipeBarrier<PIPE_V>();
    Adds(x, x, -greatest, 256);
}

// A counter is written back by the line of another.
DEFECT(cleaned_the_line_of_another, "stale-cache-line", 1)
{
    auto x = Ub(0);
    m.w.SetValue(20, 1.0f);
    CleanLine(m.w[kBroken ? 0 : 20]);
    Order<HardEvent::S_MTE2>();
    DataCopy(x, m.w, 256); // here
    Order<MTE2_V>();
    Adds(x, x, 1.0f, 256);
}

// A row's length comes with the row.
DEFECT(length_read_before_its_row_is_there, "race", 1)
{
    auto row = Ub<int32_t>(0, 256);
    DataCopy(row, m.x.ReinterpretCast<int32_t>(), 256);
    if (!kBroken) Order<MTE2_S>();
    const int32_t length = row.GetValue(0); // here
    Order<HardEvent::S_V>();
    Order<MTE2_V>();
    if (length == 0) Adds(row, row, 1, 256);
}

// Two lists of row numbers, the second one fetched first; the scalar unit waits for that one and takes the other.
DEFECT(list_taken_by_the_flag_of_the_other, "race", 1)
{
    const GlobalTensor<int32_t> numbers = m.y.ReinterpretCast<int32_t>();
    for (int32_t list = 1; list >= 0; --list) {
        DataCopy(Ub<int32_t>(list * 32, 8), numbers[list * 8], 8);
        SetFlag<MTE2_S>(list);
    }
    for (int32_t list = 0; list < 2; ++list) {
        WaitFlag<MTE2_S>(kBroken ? 1 - list : list);
        const int32_t row = Ub<int32_t>(list * 32, 8).GetValue(0) & 7; // here
        DataCopy(Ub(8192 + list * 1024), m.x[row * 256], 256);
    }
}
