// Two pipes on the same bytes of the Unified Buffer, or of global memory within one core, without an order.
#include <defect.h>

DEFECT(read_before_the_copy_has_arrived, "race", 1)
{
    DataCopy(Ub(0), m.x, 256);
    if (!kBroken) Order<MTE2_V>();
    Adds(Ub(1024), Ub(0), 1.0f, 256); // here
}

DEFECT(copied_out_before_it_is_computed, "race", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    if (!kBroken) Order<V_MTE3>();
    DataCopy(m.z, Ub(0), 256); // here
}

DEFECT(refilled_while_it_is_computed_with, "race", 1)
{
    DataCopy(Ub(0), m.x, 256);
    Order<MTE2_V>();
    Adds(Ub(1024), Ub(0), 1.0f, 256);
    if (!kBroken) Order<V_MTE2>();
    DataCopy(Ub(0), m.x[256], 256); // here
}

DEFECT(overwritten_while_it_is_copied_out, "race", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.z, Ub(0), 256);
    if (!kBroken) Order<MTE3_V>();
    Duplicate(Ub(0), 2.0f, 256); // here
}

DEFECT(filled_and_computed_into_at_once, "race", 1)
{
    DataCopy(Ub(0), m.x, 256);
    if (!kBroken) Order<MTE2_V>();
    Duplicate(Ub(0), 0.0f, 256); // here
}

DEFECT(computed_into_and_filled_at_once, "race", 1)
{
    Duplicate(Ub(0), 0.0f, 256);
    if (!kBroken) Order<V_MTE2>();
    DataCopy(Ub(0), m.x, 256); // here
}

DEFECT(passed_through_without_an_order, "race", 1)
{
    DataCopy(Ub(0), m.x, 256);
    if (!kBroken) Order<MTE2_MTE3>();
    DataCopy(m.z, Ub(0), 256); // here
}

DEFECT(refilled_while_it_is_copied_out, "race", 1)
{
    DataCopy(Ub(0), m.x, 256);
    Order<MTE2_MTE3>();
    DataCopy(m.z, Ub(0), 256);
    if (!kBroken) Order<MTE3_MTE2>();
    DataCopy(Ub(0), m.x[256], 256); // here
}

DEFECT(two_copies_into_the_same_bytes, "race", 1)
{
    DataCopy(Ub(0), m.x, 256);
    if (!kBroken) PipeBarrier<PIPE_MTE2>();
    DataCopy(Ub(512), m.x, 256); // here
}

DEFECT(two_copies_out_to_the_same_bytes, "race", 1)
{
    Duplicate(Ub(0), 1.0f, 512);
    Order<V_MTE3>();
    DataCopy(m.z, Ub(0), 256);
    if (!kBroken) PipeBarrier<PIPE_MTE3>();
    DataCopy(m.z[128], Ub(1024), 128); // here
}

DEFECT(last_block_of_a_copy_overlaps, "race", 1)
{
    Duplicate(Ub(1024), 1.0f, 256);
    // 257 blocks of 32 bytes less 224: the last one reaches into what follows.
    DataCopy(Ub(0), m.x, kBroken ? 264 : 256); // here
}

DEFECT(second_repeat_of_a_strided_read, "race", 1)
{
    Duplicate(Ub(0), 1.0f, 1024);
    Order<V_MTE2>();
    DataCopy(Ub(1024), m.x, 64);
    if (!kBroken) Order<MTE2_V>();
    // Four repeats of 256 bytes, 512 apart: the third begins at byte 1024.
    Adds(Ub(8192), Ub(0), 1.0f, 64, 4, UnaryRepeatParams(1, 1, 8, 16)); // here
}

DEFECT(strided_rows_of_a_copy, "race", 1)
{
    Duplicate(Ub(0), 1.0f, 1024);
    if (!kBroken) Order<V_MTE2>();
    // Rows of 32 bytes, 64 apart.
    DataCopy(Ub(0), m.x, DataCopyParams(8, 1, 0, 1)); // here
    Order<MTE2_V>();
    Adds(Ub(8192), Ub(0), 1.0f, 256);
}

DEFECT(gathered_before_it_has_arrived, "race", 1)
{
    CreateVecIndex(Ub<int32_t>(4096, 64), 0, 64);
    Muls(Ub<int32_t>(4096, 64), Ub<int32_t>(4096, 64), 4, 64);
    DataCopy(Ub(0), m.x, 256);
    if (!kBroken) Order<MTE2_V>();
    Gather(Ub(8192, 64), Ub(0), Ub<uint32_t>(4096, 64), 0, 64); // here
}

DEFECT(offsets_of_a_gather_not_there_yet, "race", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    DataCopy(Ub<float>(4096, 64), m.x, 64);
    if (!kBroken) Order<MTE2_V>();
    Gather(Ub(8192, 64), Ub(0), Ub<uint32_t>(4096, 64), 0, 64); // here
}

DEFECT(result_of_a_reduction_refilled, "race", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    WholeReduceSum(Ub(2048), Ub(0), 64, 4, 1, 1, 8);
    if (!kBroken) Order<V_MTE2>();
    DataCopy(Ub(2048), m.x, 8); // here
}

DEFECT(work_buffer_of_a_reduction_over_a_copy, "race", 1)
{
    DataCopy(Ub(2048), m.x, 256);
    Duplicate(Ub(0), 1.0f, 256);
    if (!kBroken) Order<MTE2_V>();
    ReduceMax(Ub(8192, 8), Ub(0), Ub(2048), 256, true); // here
}

DEFECT(flag_in_the_wrong_direction, "race", 1)
{
    DataCopy(Ub(0), m.x, 256);
    if (kBroken) Order<V_MTE2>();
    else Order<MTE2_V>();
    Adds(Ub(1024), Ub(0), 1.0f, 256); // here
}

DEFECT(flag_set_before_the_copy, "race", 1)
{
    if (kBroken) SetFlag<MTE2_V>(0);
    DataCopy(Ub(0), m.x, 256);
    if (!kBroken) SetFlag<MTE2_V>(0);
    WaitFlag<MTE2_V>(0);
    Adds(Ub(1024), Ub(0), 1.0f, 256); // here
}

DEFECT(wait_behind_the_use, "race", 1)
{
    DataCopy(Ub(0), m.x, 256);
    SetFlag<MTE2_V>(0);
    if (!kBroken) WaitFlag<MTE2_V>(0);
    Adds(Ub(1024), Ub(0), 1.0f, 256); // here
    if (kBroken) WaitFlag<MTE2_V>(0);
}

DEFECT(wait_for_the_other_buffer, "race", 1)
{
    DataCopy(Ub(0), m.x, 256);
    SetFlag<MTE2_V>(0);
    DataCopy(Ub(1024), m.y, 256);
    SetFlag<MTE2_V>(1);
    WaitFlag<MTE2_V>(kBroken ? 0 : 1);
    Adds(Ub(2048), Ub(1024), 1.0f, 256); // here
    WaitFlag<MTE2_V>(kBroken ? 1 : 0);
}

DEFECT(two_buffers_with_one_way_back, "race", 1)
{
    for (int32_t tile = 0; tile < 4; ++tile) {
        const int32_t buffer = tile % 2;
        // The flag of the other buffer lets the copy go one tile too early.
        if (tile >= 2) WaitFlag<V_MTE2>(kBroken ? 0 : buffer);
        DataCopy(Ub(buffer * 1024), m.x[tile * 256], 256); // here
        Order<MTE2_V>(buffer);
        if (kBroken && tile == 1) SetFlag<V_MTE2>(0);
        Adds(Ub(4096), Ub(buffer * 1024), 1.0f, 256);
        if (kBroken ? tile == 0 : tile < 2) SetFlag<V_MTE2>(buffer);
    }
}

DEFECT(barrier_of_another_pipe, "race", 1)
{
    DataCopy(Ub(0), m.x, 256);
    if (kBroken) PipeBarrier<PIPE_V>();
    else PipeBarrier<PIPE_ALL>();
    Adds(Ub(1024), Ub(0), 1.0f, 256); // here
}

DEFECT(order_only_on_one_branch, "race", 2)
{
    DataCopy(Ub(0), m.x, 256);
    if (!kBroken || m.block == 0) Order<MTE2_V>();
    Adds(Ub(1024), Ub(0), 1.0f, 256); // here
}

DEFECT(workspace_read_back_too_early, "race", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.w, Ub(0), 256);
    if (!kBroken) Order<MTE3_MTE2>();
    DataCopy(Ub(1024), m.w, 256); // here
}

DEFECT(workspace_rewritten_while_it_is_read, "race", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.w, Ub(0), 256);
    Order<MTE3_MTE2>();
    DataCopy(Ub(1024), m.w, 256);
    if (!kBroken) Order<MTE2_MTE3>();
    DataCopy(m.w, Ub(0), 256); // here
}
