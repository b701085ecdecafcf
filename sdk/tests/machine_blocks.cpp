// Blocks of a launch: which of them do the same to their data, by the digest in their last record, and launches of some of them.
#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

#include "isa_support.h"
#include "kernel_operator.h"

using namespace isa_test;

namespace {

constexpr uint32_t kBytes = 65536;

uint8_t* g_in = nullptr;
uint8_t* g_out = nullptr;

template <typename T>
T* At(size_t offset)
{
    return reinterpret_cast<T*>(ascendsim::UbBase() + offset);
}

/// Digests of the blocks of a launch, in block order. The records before them must be equal: nothing else may tell blocks apart. With
/// `told`, blocks whose heads differ are told by these, and counted there.
std::vector<uint32_t> Digests(const char* what, bool timing_only, Callee<void(int64_t)> body, int* told = nullptr)
{
    static const char* const path = "machine_blocks.trace";
    ascendsim::SetTimingOnly(timing_only);
    ascendsim::ClearRegions();
    g_in = static_cast<uint8_t*>(ascendsim::AllocateRegion(kBytes, ascendsim::RegionRole::kInput, 0));
    g_out = static_cast<uint8_t*>(ascendsim::AllocateRegion(kBytes, ascendsim::RegionRole::kOutput, 0));
    ascendsim::OpenTrace(path);
    const ascendsim::LaunchResult result = OnCore([&] { body(ascendsim::BlockIdx()); }, 3);
    Expect(ascendsim::CloseTrace(), "closing the trace");
    ascendsim::SetTimingOnly(false);
    Expect(result.faults == 0 && result.data_read.empty(), std::string(what) + ": " + result.first_fault + result.data_read);
    std::vector<uint32_t> digests;
    std::vector<std::vector<Record>> records(3);
    for (const Record& record : ReadTrace(path).records) {
        if (record.name == "end_of_block") {
            digests.push_back(record.head.values);
        } else {
            Expect(record.head.values == 0, std::string(what) + ": a digest before the end");
            records[record.core].push_back(record);
        }
    }
    for (const auto& block : records) {
        Expect(block.size() == records[0].size(), std::string(what) + ": blocks of different records");
        for (size_t i = 0; i < std::min(block.size(), records[0].size()); ++i) {
            const Record& a = block[i];
            const Record& b = records[0][i];
            const bool same = std::memcmp(&a.head, &b.head, sizeof(a.head)) == 0;
            if (told != nullptr) {
                *told += same ? 0 : 1;
            } else {
                Expect(same, std::string(what) + ": heads differ: " + a.name);
            }
            for (size_t k = 0; k < a.ops.size(); ++k) {
                Expect(std::memcmp(&a.ops[k], &b.ops[k], sizeof(a.ops[k])) == 0, std::string(what) + ": operands differ: " + a.name);
            }
        }
    }
    Expect(digests.size() == 3, std::string(what) + ": one digest a block");
    digests.resize(3);
    return digests;
}

/// The body gets 0 in two of the blocks and 1 in one: these two have one digest and the third another, and if all get 0, one.
void ExpectTold(const char* what, Callee<void(int64_t)> body)
{
    for (const bool timing_only : {false, true}) {
        const std::vector<uint32_t> told = Digests(what, timing_only, [&](int64_t block) { body(block == 1 ? 1 : 0); });
        Expect(told[0] == told[2], std::string(what) + ": equal blocks have different digests");
        Expect(told[0] != told[1], std::string(what) + ": different blocks have one digest");
        const std::vector<uint32_t> same = Digests(what, timing_only, [&](int64_t) { body(0); });
        Expect(same[0] == same[1] && same[0] == told[0], std::string(what) + ": the digest is not of the values");
    }
}

/// The same of what the heads of records tell.
void ExpectToldByHeads(const char* what, Callee<void(int64_t)> body)
{
    for (const bool timing_only : {false, true}) {
        int told = 0;
        Digests(what, timing_only, [&](int64_t block) { body(block == 1 ? 1 : 0); }, &told);
        Expect(told == 1, std::string(what) + ": one record of one block differs");
    }
}

void TestScalars()
{
    ExpectTold("vadds", [](int64_t x) { vadds(At<float>(0), At<float>(4096), static_cast<float>(x), 4, 1, 1, 8, 8); });
    ExpectTold("vmuls of half", [](int64_t x) { vmuls(At<half>(0), At<half>(4096), half(x + 1), 4, 1, 1, 8, 8); });
    ExpectTold("vaxpy", [](int64_t x) { vaxpy(At<float>(0), At<float>(4096), static_cast<float>(x), 4, 1, 1, 8, 8); });
    ExpectTold("vshl", [](int64_t x) { vshl(At<int32_t>(0), At<int32_t>(4096), static_cast<uint32_t>(x), 4, 1, 1, 8, 8); });
    ExpectTold("vshr", [](int64_t x) { vshr(At<int32_t>(0), At<int32_t>(4096), int32_t{3}, 4, 1, 1, 8, 8, x != 0); });
    ExpectTold("vector_dup", [](int64_t x) { vector_dup(At<int32_t>(0), static_cast<int32_t>(x), 4, 1, 1, 8, 8); });
    ExpectTold("vcmpvs", [](int64_t x) { vcmpvs_lt(At<uint8_t>(0), At<float>(4096), static_cast<float>(x), 4, 1, 1, 8, 8); });
    ExpectTold("Select", [](int64_t x) {
        const AscendC::LocalTensor<float> chosen(AscendC::TPosition::VECCALC, 0, 64), others(AscendC::TPosition::VECCALC, 4096, 64);
        const AscendC::LocalTensor<uint8_t> mask(AscendC::TPosition::VECCALC, 8192, 32);
        AscendC::Select(chosen, mask, others, static_cast<float>(x), AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, 64);
    });
    ExpectTold("vreducev2", [](int64_t x) {
        vreducev2(At<uint32_t>(0), At<uint32_t>(4096), At<uint32_t>(8192), 2, 1, static_cast<uint8_t>(1 + x), 8, 8);
    });
    ExpectTold("vcmax", [](int64_t x) {
        vcmax(At<half>(256), At<half>(4096), 3, 1, 1, 8, x != 0 ? INDEX_VALUE : VALUE_INDEX);
    });
    ExpectTold("v4dtrans", [](int64_t x) { v4dtrans(At<uint16_t>(0), At<uint16_t>(4096), 16, 16, x != 0); });
    ExpectTold("vmrgsort4", [](int64_t x) {
        float* lists[4] = {At<float>(4096), At<float>(8192), At<float>(12288), At<float>(16384)};
        vmrgsort4(At<float>(0), lists, 0x0020002000200020u, 1 | 15 << 8 | static_cast<uint64_t>(x) << 12);
    });
    ExpectTold("scattered sources of a transposition", [](int64_t x) {
        uint64_t rows[2][8];
        for (uint64_t i = 0; i < 16; ++i) rows[i / 8][i % 8] = reinterpret_cast<uint64_t>(At<void>(i * 32));
        set_va_reg_sb(VA0, rows[0]);
        set_va_reg_sb(VA1, rows[1]);
        // Two blocks between the first and the last change places: the hull is the same.
        std::swap(rows[0][2], rows[1][3]);
        if (x != 0) std::swap(rows[0][4], rows[0][5]);
        set_va_reg_sb(VA2, rows[0]);
        set_va_reg_sb(VA3, rows[1]);
        scatter_vnchwconv_b16(VA0, VA2, 1, 0, 0);
    });
    ExpectTold("paddings", [](int64_t x) {
        copy_gm_to_ubuf_align_b16(At<void>(0), g_in, 0, 1, 10, static_cast<uint8_t>(x), static_cast<uint8_t>(1 - x), 0, 0);
    });
}

/// One place in the program, whatever the compiler makes of the branches around it.
__attribute__((noinline)) void LoadPadded() { copy_gm_to_ubuf_align_b16(At<void>(0), g_in, 0, 1, 10, 3, 2, 0, 0); }

void TestRegisters()
{
    ExpectTold("vector mask", [](int64_t x) {
        set_vector_mask(0, x != 0 ? 0xF7 : 0xEF);
        vexp(At<float>(0), At<float>(0), 1, 1, 1, 8, 8);
    });
    ExpectTold("pad value", [](int64_t x) {
        set_mov_pad_val(static_cast<uint64_t>(x));
        copy_gm_to_ubuf_align_b16(At<void>(0), g_in, 0, 1, 10, 3, 2, 0, 0);
    });
    ExpectTold("scale of a dequantisation", [](int64_t x) {
        set_deqscale(half(1.0f + static_cast<float>(x)));
        vconv_deq(At<half>(0), At<int32_t>(4096), 1, 1, 1, 4, 8);
    });
    ExpectToldByHeads("atomic operation", [](int64_t x) {
        set_atomic_f32();
        x != 0 ? set_atomic_max() : set_atomic_min();
        copy_ubuf_to_gm(g_out, At<void>(0), 0, 1, 8, 0, 0);
        set_atomic_none();
    });
    // The same values in the same order, but set before another instruction.
    ExpectTold("when a register is set", [](int64_t x) {
        set_mov_pad_val(5);
        if (x != 0) set_mov_pad_val(6);
        LoadPadded();
        if (x == 0) set_mov_pad_val(6);
        LoadPadded();
    });
}

void TestStores()
{
    ExpectTold("SetValue of a local tensor", [](int64_t x) {
        AscendC::LocalTensor<float> tensor(AscendC::TPosition::VECCALC, 128, 64);
        tensor.SetValue(3, static_cast<float>(x));
    });
    ExpectTold("SetValue of a global tensor", [](int64_t x) {
        AscendC::GlobalTensor<int32_t> out;
        out.SetGlobalBuffer(reinterpret_cast<int32_t*>(g_out));
        out.SetValue(5, static_cast<int32_t>(x));
    });
    ExpectTold("st_dev", [](int64_t x) { st_dev(static_cast<uint32_t>(x), reinterpret_cast<uint32_t*>(g_out), 8); });
}

/// Long streams of alike blocks are cut into chunks at the same places.
void TestChunks()
{
    const char* const path = "machine_blocks.trace";
    ascendsim::OpenTrace(path);
    OnCore([] {
        for (int i = 0; i < 40000; ++i) vadd(At<float>(0), At<float>(4096), At<float>(8192), 4, 1, 1, 1, 8, 8, 8);
    }, 3);
    Expect(ascendsim::CloseTrace(), "closing the trace");
    std::vector<std::vector<uint64_t>> sizes(3);
    for (const auto& [core, bytes] : ReadTrace(path).chunks) sizes.at(core).push_back(bytes);
    Expect(sizes[0].size() > 1 && sizes[0] == sizes[1] && sizes[1] == sizes[2], "chunks of alike blocks");
}

/// Only the chosen blocks run, and know how many there would be; inputs come from a file and outputs begin as poison.
void TestChosen()
{
    ascendsim::ClearRegions();
    std::vector<uint8_t> content(3000);
    for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<uint8_t>(i * 7);
    const int fd = open("input.bin", O_RDWR | O_CREAT | O_TRUNC, 0600);
    Expect(write(fd, content.data(), content.size()) == 3000, "writing the input");
    auto* in = static_cast<uint8_t*>(ascendsim::MapRegion(content.size(), ascendsim::RegionRole::kInput, 0, fd));
    auto* out = static_cast<uint8_t*>(ascendsim::MapRegion(size_t{3} << 20, ascendsim::RegionRole::kOutput, 0, -1));
    Expect(in != nullptr && out != nullptr, "mapped regions");
    if (in == nullptr || out == nullptr) {
        return;
    }
    Expect(std::equal(content.begin(), content.end(), in), "content of the file");
    Expect(in[3000] == 0xCD && in[3039] == 0xCD, "padding of a mapped input is poison");
    Expect(out[0] == 0xCD && out[(size_t{2} << 20) + 5] == 0xCD && out[(size_t{3} << 20) - 1] == 0xCD, "mapped poison");
    std::vector<int64_t> ran;
    const auto body = [&] {
        ran.push_back(ascendsim::BlockIdx());
        Expect(ascendsim::BlockNum() == 9, "the number of blocks stays");
        copy_gm_to_ubuf(At<void>(0), in, 0, 1, 4, 0, 0);
        copy_ubuf_to_gm(out + ascendsim::BlockIdx() * 128, At<void>(0), 0, 1, 4, 0, 0);
    };
    ascendsim::SetChosenBlocks({2, 7});
    Expect(OnCore(body, 9).completed && ran == std::vector<int64_t>{2, 7}, "two of nine blocks");
    Expect(std::equal(out + 256, out + 384, in) && out[255] == 0xCD && out[384] == 0xCD && out[128 * 7] == in[0], "what they wrote");
    ran.clear();
    ascendsim::SetChosenBlocks({});
    Expect(OnCore(body, 9).completed && ran.size() == 9, "all blocks again");
    in[0] ^= 0xFF;
    uint8_t first = 0;
    Expect(pread(fd, &first, 1, 0) == 1 && first == content[0], "the file stays as it is");
    close(fd);
    ascendsim::ClearRegions();
}

}  // namespace

int main()
{
    TestScalars();
    TestRegisters();
    TestStores();
    TestChunks();
    TestChosen();
    return Report("machine_blocks");
}
