// Launches that are timed without data: the trace is the one of a launch with data, and whatever reads data ends the launch.
#include <fstream>
#include <iterator>

#include "isa_support.h"
#include "kernel_operator.h"

using namespace isa_test;

namespace {

constexpr uint32_t kBytes = 65536;

uint8_t* g_in = nullptr;
uint8_t* g_out = nullptr;
uint8_t* g_tiling = nullptr;

template <typename T>
T* At(size_t offset)
{
    return reinterpret_cast<T*>(ascendsim::UbBase() + offset);
}

void MakeRegions()
{
    ascendsim::ClearRegions();
    g_in = static_cast<uint8_t*>(ascendsim::AllocateRegion(kBytes, ascendsim::RegionRole::kInput, 0));
    g_out = static_cast<uint8_t*>(ascendsim::AllocateRegion(kBytes, ascendsim::RegionRole::kOutput, 0));
    g_tiling = static_cast<uint8_t*>(ascendsim::AllocateRegion(64, ascendsim::RegionRole::kTiling, 0));
    std::memset(g_tiling, 3, 64);
    if (ascendsim::TouchesData()) {
        std::memset(g_in, 0, kBytes);
    }
}

struct Run {
    ascendsim::LaunchResult result;
    std::string bytes;  // the trace
};

Run Launch(bool timing_only, ascendsim::KernelType type, Callee<void()> body)
{
    static const char* const path = "machine_timing_only.trace";
    ascendsim::SetTimingOnly(timing_only);
    MakeRegions();
    ascendsim::OpenTrace(path);
    ascendsim::LaunchInfo info;
    info.kernel = "test";
    info.type = type;
    info.block_dim = 2;
    Callee<void()> copy = body;
    Run run;
    run.result = ascendsim::RunLaunch(info, [](void* arg) { (*static_cast<Callee<void()>*>(arg))(); }, &copy);
    Expect(ascendsim::CloseTrace(), "closing the trace");
    std::ifstream file(path, std::ios::binary);
    run.bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    ascendsim::SetTimingOnly(false);
    return run;
}

/// The same bytes in the trace with and without data, and no reason against it.
void ExpectSame(const char* what, ascendsim::KernelType type, Callee<void()> body)
{
    const Run with = Launch(false, type, body);
    const Run without = Launch(true, type, body);
    Expect(with.result.records > 20 && with.result.completed, std::string(what) + ": the launch with data");
    Expect(without.result.data_read.empty(), std::string(what) + ": " + without.result.data_read);
    Expect(with.bytes == without.bytes, std::string(what) + ": the traces differ");
    Expect(with.result.faults == without.result.faults, std::string(what) + ": other faults");
}

/// Runs with data and ends without, with a reason that holds `reason` and a place in this program.
void ExpectRead(const char* reason, Callee<void()> body)
{
    const Run with = Launch(false, ascendsim::KernelType::kAiv, body);
    Expect(with.result.completed && with.result.data_read.empty(), std::string(reason) + ": the launch with data");
    bool after = false;
    const Run without = Launch(true, ascendsim::KernelType::kAiv, [&] {
        body();
        after = true;
    });
    Expect(without.result.data_read.find(reason) != std::string::npos, std::string(reason) + ": got '" + without.result.data_read + "'");
    Expect(!without.result.completed && !after, std::string(reason) + ": the launch goes on");
    Expect(without.result.data_read_site != 0, std::string(reason) + ": no place");
}

void TestVectorCore()
{
    ExpectSame("vector core", ascendsim::KernelType::kAiv, [] {
        copy_gm_to_ubuf(At<void>(0), g_in, 0, 4, 32, 6, 1);
        copy_gm_to_ubuf_align_b16(At<void>(8192), g_in + 2, 0, 3, 10, 0, 0, 4, 0);
        copy_gm_to_ubuf_align_b16(At<void>(8192), g_in, 0, 1, 10, 3, 2, 0, 0);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        vadd(At<float>(0), At<float>(4096), At<float>(8192), 4, 1, 1, 1, 8, 8, 8);
        vmuls(At<half>(0), At<half>(4096), half(2.0f), 4, 1, 1, 8, 8);
        vconv_f162f32(At<float>(16384), At<half>(0), 2, 1, 1, 8, 4);
        vector_dup(At<float>(0), 1.0f, 2, 1, 1, 8, 8);
        set_vector_mask(0, 0xFF);
        vexp(At<float>(0), At<float>(0), 1, 1, 1, 8, 8);
        set_vector_mask(~uint64_t{0}, ~uint64_t{0});
        vcadd(At<float>(0), At<float>(4096), 3, 1, 1, 8, false);
        vcmax(At<half>(256), At<half>(4096), 3, 1, 1, 8, VALUE_INDEX);
        vcgmin(At<half>(1024), At<half>(4096), 3, 1, 1, 8);
        vcpadd(At<float>(2048), At<float>(4096), 3, 1, 1, 8);
        vcmpv_lt(At<uint8_t>(0), At<float>(4096), At<float>(8192), 4, 1, 1, 1, 8, 8, 8);
        vcmp_ge(At<half>(4096), At<half>(8192), 1, 1, 1, 1, 8, 8, 8);
        vsel(At<half>(0), At<half>(4096), At<half>(8192), 1, 1, 1, 1, 8, 8, 8);
        const AscendC::LocalTensor<float> chosen(AscendC::TPosition::VECCALC, 0, 64), others(AscendC::TPosition::VECCALC, 4096, 64);
        const AscendC::LocalTensor<uint8_t> mask(AscendC::TPosition::VECCALC, 8192, 32);
        AscendC::Select(chosen, mask, others, others, AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);
        AscendC::Select(chosen, mask, others, 1.0f, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);
        vbrcb(At<uint16_t>(0), At<uint16_t>(4096), 1, 8, 2);
        vtranspose(At<uint16_t>(0), At<uint16_t>(4096));
        uint64_t rows[8];
        for (uint64_t i = 0; i < 8; ++i) rows[i] = reinterpret_cast<uint64_t>(At<void>(i * 32));
        set_va_reg_sb(VA0, rows);
        set_va_reg_sb(VA1, rows);
        scatter_vnchwconv_b16(VA0, VA0, 2, 16, 16);
        vbitsort(At<float>(0), At<float>(4096), At<uint32_t>(8192), 2);
        float* lists[4] = {At<float>(4096), At<float>(8192), At<float>(12288), At<float>(16384)};
        vmrgsort4(At<float>(0), lists, 32 | uint64_t{32} << 16 | uint64_t{32} << 32 | uint64_t{32} << 48, 1 | 15 << 8);
        // A pattern that is part of the instruction keeps as many elements whatever they are.
        vreducev2(At<uint32_t>(0), At<uint32_t>(4096), At<uint32_t>(8192), 2, 1, 3, 8, 8);
        Expect(get_rsvd_cnt() == 32, "elements kept by a fixed pattern");
        vconv_f162s4(At<void>(0), At<half>(4096), 1, 1, 1, 2, 8);
        copy_ubuf_to_ubuf(At<void>(0), At<void>(4096), 0, 1, 4, 0, 0);
        AscendC::LocalTensor<float> tensor(AscendC::TPosition::VECCALC, 128, 64);
        tensor.SetValue(3, 1.5f);
        AscendC::GlobalTensor<int32_t> out;
        out.SetGlobalBuffer(reinterpret_cast<int32_t*>(g_out));
        out.SetValue(5, 7);
        st_dev(uint32_t{1}, reinterpret_cast<uint32_t*>(g_out), 8);
        Expect(ascendsim::ScalarRead(g_tiling, 4) && *g_tiling == 3, "tiling data are there");
        set_atomic_add();
        set_atomic_f32();
        copy_ubuf_to_gm(g_out, At<void>(0), 0, 1, 8, 0, 0);
        set_atomic_none();
        copy_ubuf_to_gm_align_b8(g_out + 5, At<void>(0), 0, 2, 33, 0, 0, 1, 7);
        copy_ubuf_to_gm(g_out + kBytes, At<void>(0), 0, 1, 8, 0, 0);   // a fault
        vadd(At<float>(4), At<float>(4096), At<float>(8192), 4, 1, 1, 1, 8, 8, 8);  // another
        ascendsim::SyncAll();
        copy_ubuf_to_gm(g_out, At<void>(0), 0, 1, 8, 0, 0);
    });
}

void TestCubeCore()
{
    const auto place = [](uint32_t space, size_t offset) { return ascendsim::OnChipBase(space) + offset; };
    ExpectSame("cube core", ascendsim::KernelType::kAic, [&] {
        for (int turn = 0; turn < 4; ++turn) {
            copy_gm_to_cbuf(place(2, 0), g_in, 0, 1, 64, 0, 0, PAD_NONE);
            set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
            ascendsim::cube::LoadFractals(ascendsim::kF16, ascendsim::cube::Place::kL0a, false, place(3, 0), place(2, 0),
                                          {0, 2, 1, 0, false, inc});
            ascendsim::cube::LoadFractals(ascendsim::kF16, ascendsim::cube::Place::kL0b, false, place(4, 0), place(2, 1024),
                                          {0, 2, 1, 0, true, inc});
            const ascendsim::cube::Mad product = {16, 32, 16, 0, false, false, true};
            ascendsim::cube::Multiply(ascendsim::kF32, ascendsim::kF16, ascendsim::kF16, place(5, 0), place(3, 0), place(4, 0),
                                      false, 0, product);
            ascendsim::cube::Fixpipe drain = {};
            drain.n = 16;
            drain.m = 16;
            drain.dst_stride = 16;
            drain.src_stride = 16;
            ascendsim::cube::Drain(true, ascendsim::kF32, ascendsim::kF32, g_out, place(5, 0), drain);
        }
    });
}

void TestReads()
{
    const AscendC::LocalTensor<int32_t> tensor(AscendC::TPosition::VECCALC, 128, 64);
    AscendC::GlobalTensor<int32_t> in;
    const auto global = [&]() -> AscendC::GlobalTensor<int32_t>& {
        in.SetGlobalBuffer(reinterpret_cast<int32_t*>(g_in));
        return in;
    };
    volatile int64_t sink = 0;
    const auto use = [&](int64_t value) { sink = value; };
    ExpectRead("the scalar unit reads 4 bytes of UB", [&] { use(tensor.GetValue(3)); });
    ExpectRead("the scalar unit reads 4 bytes of input 0", [&] { use(global().GetValue(3)); });
    ExpectRead("the scalar unit reads 4 bytes of input 0", [&] { use(global()(3)); });
    ExpectRead("through a plain pointer", [&] { use(tensor(3)); });
    ExpectRead("through a plain pointer", [&] { use(*static_cast<volatile uint8_t*>(At<uint8_t>(64))); });
    ExpectRead("through a plain pointer", [&] { use(*static_cast<volatile uint8_t*>(g_in + 8)); });
    ExpectRead("through a plain pointer", [&] { *static_cast<volatile uint8_t*>(g_out + 8) = 1; });
    ExpectRead("of input 0", [&] { use(ld_dev(reinterpret_cast<uint32_t*>(g_in), 2)); });
    ExpectRead("the sum of a vcadd", [&] {
        vcadd(At<float>(0), At<float>(4096), 3, 1, 1, 8, true);
        use(get_acc_val());
    });
    ExpectRead("the result of a vcmax", [&] {
        vcmax(At<half>(256), At<half>(4096), 3, 1, 1, 8, VALUE_INDEX);
        use(get_max_min_cnt());
    });
    ExpectRead("how far a vmrgsort4 came", [&] { use(get_vms4_sr()); });
    ExpectRead("vgather", [&] {
        vector_dup(At<int32_t>(8192), 0, 2, 1, 1, 8, 8);
        vgather(At<uint32_t>(0), At<uint32_t>(8192), 4096, 8, 1);
    });
    ExpectRead("vgatherb", [&] {
        vector_dup(At<int32_t>(8192), 0, 2, 1, 1, 8, 8);
        vgatherb(At<uint32_t>(0), At<uint32_t>(8192), reinterpret_cast<uint64_t>(At<void>(4096)), 8, 1, 1);
    });
    ExpectRead("vreducev2", [&] {
        vector_dup(At<int32_t>(8192), 5, 1, 1, 1, 8, 8);
        vreducev2(At<uint32_t>(0), At<uint32_t>(4096), At<uint32_t>(8192), 1, 1, 0, 8, 1);
    });
    ExpectRead("vld_va_reg", [&] {
        vector_dup(At<int32_t>(8192), 0, 1, 1, 1, 8, 8);
        vld_va_reg(VA0, At<uint64_t>(8192), L128);
    });
    ExpectRead("the place of its mask", [&] {
        vector_dup(At<int32_t>(8192), 0, 1, 1, 1, 8, 8);
        set_cmpmask(At<void>(8192));
        vsel(At<half>(0), At<half>(4096), static_cast<void*>(At<half>(8192)), 1, 1, 1, 1, 8, 8, 8, 2);
    });
    // Which lanes a mask from memory selects says nothing of what is read and written.
    const Run selects = Launch(true, ascendsim::KernelType::kAiv, [&] {
        vector_dup(At<int32_t>(8192), 0, 1, 1, 1, 8, 8);
        set_cmpmask(At<void>(8192));
        vsel(At<half>(0), At<half>(4096), At<half>(16384), 1, 1, 1, 1, 8, 8, 8, 0);
    });
    Expect(selects.result.completed && selects.result.faults == 0 && selects.result.data_read.empty(), "a selection by the register: " + selects.result.data_read);
}

/// Cores that wait for one another, and one of them reads data: all of them end.
void TestOthersEndToo()
{
    int ended = 0;
    const Run run = Launch(true, ascendsim::KernelType::kAiv, [&] {
        if (ascendsim::BlockIdx() == 1) {
            (void)AscendC::LocalTensor<int32_t>(AscendC::TPosition::VECCALC, 0, 8).GetValue(0);
        }
        ascendsim::SyncAll();
        ++ended;
    });
    Expect(ended == 0 && run.result.data_read == "the scalar unit reads 4 bytes of UB", "a launch of two cores is cut short");
    Expect(run.result.first_fault.empty(), "no deadlock is reported: " + run.result.first_fault);
}

}  // namespace

int main()
{
    TestVectorCore();
    TestCubeCore();
    TestReads();
    TestOthersEndToo();
    return Report("machine_timing_only");
}
