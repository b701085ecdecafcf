// Accesses outside the Unified Buffer, a local buffer, or a tensor in global memory.
#include <defect.h>

DEFECT(more_buffers_than_memory, "ub-overflow", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> a;
    TBuf<TPosition::VECCALC> b;
    pipe.InitBuffer(a, 100 * 1024);
    pipe.InitBuffer(b, (kBroken ? 100 : 80) * 1024); // here
}

DEFECT(queues_deeper_than_memory, "ub-overflow", 1)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> queue;
    TQue<TPosition::VECOUT, 2> out;
    pipe.InitBuffer(queue, 2, 64 * 1024);
    pipe.InitBuffer(out, 2, (kBroken ? 64 : 16) * 1024); // here
}

DEFECT(buffer_read_behind_its_end, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    auto a = buffer.Get<float>(kBroken ? 288 : 256); // here
    Duplicate(a, 1.0f, 256);
}

DEFECT(part_of_a_buffer_behind_its_end, "out-of-bounds-ub", 1)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    auto a = buffer.GetWithOffset<float>(128, kBroken ? 768 : 512); // here
    Duplicate(a, 1.0f, 128);
}

DEFECT(vector_behind_the_memory, "out-of-bounds-ub", 1)
{
    Duplicate(Ub(kBroken ? 196608 : 190000 / 32 * 32), 1.0f, 256); // here
}

DEFECT(copy_behind_the_memory, "out-of-bounds-ub", 1)
{
    DataCopy(Ub(kBroken ? 196608 - 512 : 196608 - 2048), m.x, 256); // here
}

DEFECT(scalar_behind_the_memory, "out-of-bounds-ub", 1)
{
    Ub(0, 8).SetValue(kBroken ? 49152 : 0, 1.0f); // here
}

DEFECT(strides_that_leave_the_memory, "out-of-bounds-ub", 1)
{
    // 255 repeats, 1024 bytes apart.
    Duplicate(Ub(0), 1.0f, uint64_t{64}, uint8_t{kBroken ? 255 : 100}, uint16_t{1}, uint8_t{32}); // here
}

DEFECT(read_behind_an_input, "out-of-bounds-gm", 1)
{
    DataCopy(Ub(0), m.x[kBroken ? Memory::kInput - 128 : Memory::kInput - 256], 256); // here
}

DEFECT(read_before_an_input, "out-of-bounds-gm", 1)
{
    const int64_t start = kBroken ? -8 : 0;
    DataCopy(Ub(0), m.x[static_cast<uint64_t>(start)], 256); // here
}

DEFECT(last_tile_as_long_as_the_others, "out-of-bounds-gm", 1)
{
    constexpr uint32_t tile = 1000;
    for (uint32_t at = 0; at < Memory::kInput; at += tile) {
        const uint32_t rest = Memory::kInput - at;
        DataCopy(Ub(0), m.x[at], kBroken || rest > tile ? tile : rest); // here
        PipeBarrier<PIPE_ALL>();
    }
}

DEFECT(one_tile_too_many, "out-of-bounds-gm", 1)
{
    for (uint32_t tile = 0; tile < Memory::kInput / 512 + (kBroken ? 1 : 0); ++tile) {
        DataCopy(Ub(0), m.x[tile * 512], 512); // here
        PipeBarrier<PIPE_ALL>();
    }
}

DEFECT(write_behind_the_output, "out-of-bounds-gm", 2)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.z[m.block * 256 + (kBroken ? 64 : 0)], Ub(0), 256); // here
}

DEFECT(block_offset_in_bytes, "out-of-bounds-gm", 4)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    DataCopy(m.z[m.block * (kBroken ? 1024 : 256)], Ub(0), 256); // here
}

DEFECT(scalar_write_behind_the_output, "out-of-bounds-gm", 1)
{
    m.z.SetValue(kBroken ? 256 : 255, 1.0f); // here
}

DEFECT(scalar_read_behind_an_input, "out-of-bounds-gm", 1)
{
    Duplicate(Ub(0), m.x.GetValue(kBroken ? Memory::kInput + 64 : 0), 256); // here
}

DEFECT(atomic_add_behind_the_output, "out-of-bounds-gm", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    Order<V_MTE3>();
    SetAtomicAdd<float>();
    DataCopy(m.z[kBroken ? 128 : 0], Ub(0), 256); // here
    SetAtomicNone();
}

DEFECT(rows_that_leave_the_input, "out-of-bounds-gm", 1)
{
    // Rows of 32 bytes, 1024 bytes apart: 16 of them fill the input.
    DataCopy(Ub(0), m.x, DataCopyParams(kBroken ? 18 : 16, 1, 31, 0)); // here
}

DEFECT(gather_behind_the_memory, "out-of-bounds-ub", 1)
{
    Duplicate(Ub(0), 1.0f, 256);
    Duplicate(Ub<int32_t>(4096, 64), kBroken ? 400000 : 128, 64);
    Gather(Ub(8192, 64), Ub(0), Ub<uint32_t>(4096, 64), 0, 64); // here
}
