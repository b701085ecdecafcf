// Bytes that nobody has written, read or handed on.
#include <defect.h>

DEFECT(copied_out_without_a_value, "uninitialised-read", 1)
{
    Duplicate(Ub(0), 1.0f, kBroken ? 64 : 256);
    Order<V_MTE3>();
    DataCopy(m.z, Ub(0), 256); // here
}

DEFECT(computed_with_without_a_value, "uninitialised-read?", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    if (!kBroken) Duplicate(Ub(1024), 1.0f, 256);
    Add(Ub(2048), Ub(0), Ub(1024), 256); // here
}

DEFECT(scalar_without_a_value, "uninitialised-read", 1)
{
    if (!kBroken) Duplicate(Ub(0), 1.0f, 64);
    if (Ub(0).GetValue(0) > 0) Duplicate(Ub(1024), 1.0f, 64); // here
}

DEFECT(tail_of_a_tile_computed_with, "uninitialised-read?", 1)
{
    DataCopyPad(Ub(0), m.x, DataCopyExtParams(1, 400, 0, 0, 0), DataCopyPadExtParams<float>(false, 0, 0, 0.0f));
    Order<MTE2_V>();
    Adds(Ub(2048), Ub(0), 1.0f, kBroken ? 128 : 100); // here
}

DEFECT(workspace_that_nobody_wrote, "uninitialised-read?", 1)
{
    if (!kBroken) {
        Duplicate(Ub(0), 0.0f, 256);
        Order<V_MTE3>();
        DataCopy(m.w, Ub(0), 256);
        Order<MTE3_MTE2>();
    }
    DataCopy(Ub(1024), m.w, 256); // here
}

OUTPUT_DEFECT(output_without_its_tail, "unwritten-output", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.z, Ub(0), kBroken ? 248 : 256); // here
}

OUTPUT_DEFECT(block_that_writes_nothing, "unwritten-output", 4)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    if (!kBroken || m.block < 3) DataCopy(m.MyZ(), Ub(0), 256); // here
}

OUTPUT_DEFECT(gaps_between_rows, "unwritten-output", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.z, Ub(0), DataCopyParams(16, kBroken ? 1 : 2, kBroken ? 1 : 0, kBroken ? 1 : 0)); // here
}

OUTPUT_DEFECT(loop_that_forgets_the_rest, "unwritten-output", 1)
{
    constexpr uint32_t tile = 96;
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    const uint32_t tiles = kBroken ? 256 / tile : (256 + tile - 1) / tile;
    for (uint32_t i = 0; i < tiles; ++i) {
        const uint32_t rest = 256 - i * tile;
        DataCopy(m.z[i * tile], Ub(0), rest < tile ? rest : tile); // here
    }
}

OUTPUT_DEFECT(added_to_an_output_that_nobody_cleared, "uninitialised-read?", 2)
{
    Duplicate(Ub(0), 0.0f, 256);
    Order<V_MTE3>();
    if (!kBroken) {
        DataCopy(m.MyZ(), Ub(0), 256);
        SyncAll();
    }
    SetAtomicAdd<float>();
    for (uint32_t share = 0; share < m.blocks; ++share) DataCopy(m.z[share * 256], Ub(0), 256); // here
    SetAtomicNone();
}

DEFECT(added_to_a_workspace_that_nobody_cleared, "uninitialised-read?", 1)
{
    Duplicate(Ub(0), 0.0f, 256);
    Order<V_MTE3>();
    if (!kBroken) {
        DataCopy(m.w, Ub(0), 256);
        PipeBarrier<PIPE_MTE3>();
    }
    SetAtomicAdd<float>();
    DataCopy(m.w, Ub(0), 256); // here
    SetAtomicNone();
    Order<MTE3_MTE2>();
    DataCopy(Ub(1024), m.w, 256);
}
