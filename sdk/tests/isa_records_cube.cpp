// Records of the cube core's instructions: which bytes of which memory their operands say they read and write. Also factors of the
// fixpipe that shift integers first.
#include "ascendsim/launch.h"
#include "isa_spans.h"

using namespace isa_test;
using ascendsim::kSpaceGm;
using ascendsim::kSpaceL1;
using ascendsim::kSpaceL0a;
using ascendsim::kSpaceL0b;
using ascendsim::kSpaceL0c;
using ascendsim::kSpaceBt;
using ascendsim::kSpaceFb;

namespace {

uint8_t g_memory[65536];
template <typename T>
T* Gm(size_t byte = 0)
{
    return reinterpret_cast<T*>(g_memory + byte);
}

Span Writes(uint32_t space, int64_t at, int64_t len, int64_t count = 1, int64_t step = 0) { return {space, kWrites, at, len, count, step}; }
Span Reads(uint32_t space, int64_t at, int64_t len, int64_t count = 1, int64_t step = 0) { return {space, kReads, at, len, count, step}; }

/// `numbers` of a movement: fractals or rows where there are any, bytes, bytes of a burst; of a multiplication m, k and n.
void Check(const char* name, uint32_t repeat, const std::vector<Span>& spans, Callee<void()> body, const std::vector<uint32_t>& numbers = {})
{
    CheckRecord(name, repeat, spans, body, ascendsim::KernelType::kAic, numbers);
}

/// Rows become columns of blocks: five rows of 40 elements, of which a block holds 32 / size.
template <typename T, typename Copy>
void CheckNdToNz(const char* name, Copy copy)
{
    constexpr int64_t size = sizeof(T);
    constexpr int64_t groups = (40 * size + 31) / 32;
    const Span rows = Reads(kSpaceGm, 64, 40 * size, 5, 50 * size);
    Check(name, 1, {Writes(kSpaceL1, 512, 5 * 32, groups, 7 * 32), rows}, [&] { copy(On<T>(kSpaceL1, 512), Gm<T>(64), 0, 1, 5, 40, 300, 50, 7, 1, 0); },
          {5, 5 * 40 * size, 40 * size});
    for (uint16_t apart : {2, 3}) {
        std::vector<Span> spread = {rows};
        for (int64_t row = 0; row < 5; ++row) {
            spread.push_back(Writes(kSpaceL1, 512 + row * apart * 32, 32, groups, 20 * 32));
        }
        Check(name, 1, spread, [&] { copy(On<T>(kSpaceL1, 512), Gm<T>(64), 0, 1, 5, 40, 0, 50, 20, apart, 0); });
    }
    // One row, whose blocks touch although rows would not.
    Check(name, 1, {Writes(kSpaceL1, 0, groups * 32), Reads(kSpaceGm, 0, 40 * size)}, [&] { copy(On<T>(kSpaceL1), Gm<T>(), 0, 1, 1, 40, 0, 50, 1, 2, 0); });
    // Nothing of something is nothing.
    for (int zero = 0; zero < 3; ++zero) {
        Check(name, 0, {}, [&] {
            copy(On<T>(kSpaceL1), Gm<T>(), 0, static_cast<uint16_t>(zero != 0), static_cast<uint16_t>(zero != 1 ? 5 : 0), static_cast<uint16_t>(zero != 2 ? 40 : 0), 300, 50,
                 5, 1, 256);
        });
    }
    // Several matrices, each of them dense.
    Check(name, 2, {Writes(kSpaceL1, 0, groups * 160, 2, 256 * groups), rows, Reads(kSpaceGm, 64 + 300 * size, 40 * size, 5, 50 * size)},
          [&] { copy(On<T>(kSpaceL1), Gm<T>(64), 0, 2, 5, 40, 300, 50, 5, 1, static_cast<uint16_t>(256 * groups / size)); },
          {5, 2 * 5 * 40 * size, 40 * size});
    Check(name, 2, {Writes(kSpaceL1, 0, groups * 32, 2, 256 * groups), Reads(kSpaceGm, 64, 40 * size, 2, 300 * size)},
          [&] { copy(On<T>(kSpaceL1), Gm<T>(64), 0, 2, 1, 40, 300, 50, 1, 1, static_cast<uint16_t>(256 * groups / size)); });
}

void CheckLoads()
{
    Check("load_cbuf_to_ca", 3, {Writes(kSpaceL0a, 512, 512, 3, 1536), Reads(kSpaceL1, 2 * 512, 512, 3, 1024)},
          [] { load_cbuf_to_ca(On<half>(kSpaceL0a, 512), On<half>(kSpaceL1), 2, 3, 2, 2, 0, false, inc); }, {3, 1536, 512});
    Check("load_cbuf_to_cb", 3, {Writes(kSpaceL0b, 0, 1536), Reads(kSpaceL1, 7 * 512, 512), Reads(kSpaceL1, 4 * 512, 512), Reads(kSpaceL1, 512, 512)},
          [] { load_cbuf_to_cb(On<half>(kSpaceL0b), On<half>(kSpaceL1), 7, 3, 3, 0, 0, true, dec); });
    Check("load_cbuf_to_ca_s4", 1, {Writes(kSpaceL0a, 0, 512), Reads(kSpaceL1, 0, 512)},
          [] { load_cbuf_to_ca_s4(On<uint8_t>(kSpaceL0a), On<uint8_t>(kSpaceL1), 0, 1, 1, 0, 0, false, inc); });
    Check("load_cbuf_to_cb_s4", 1, {Writes(kSpaceL0b, 0, 512), Reads(kSpaceL1, 0, 512)},
          [] { load_cbuf_to_cb_s4(On<uint8_t>(kSpaceL0b), On<uint8_t>(kSpaceL1), 0, 1, 1, 0, 0, false, inc); });
    Check("load_gm_to_ca", 2, {Writes(kSpaceL0a, 0, 512, 2, 1024), Reads(kSpaceGm, 512, 512, 2, 1536)},
          [] { load_gm_to_ca(On<half>(kSpaceL0a), Gm<half>(), 1, 2, 3, 1, 0, inc); }, {2, 1024, 512});
    Check("load_gm_to_cb", 2, {Writes(kSpaceL0b, 0, 1024), Reads(kSpaceGm, 512, 1024)}, [] { load_gm_to_cb(On<half>(kSpaceL0b), Gm<half>(), 1, 2, 1, 0, 0, inc); });
    Check("load_gm_to_cbuf", 2, {Writes(kSpaceL1, 32, 1024), Reads(kSpaceGm, 0, 1024)}, [] { load_gm_to_cbuf(On<half>(kSpaceL1, 32), Gm<half>(), 0, 2, 1, 0, 0, inc); });
    // A square of floats is 16 x 16 elements in two fractals, one of bytes 32 x 32 in two.
    Check("load_cbuf_to_ca_transpose", 2, {Writes(kSpaceL0a, 0, 512, 2, 1024), Writes(kSpaceL0a, 2048, 512, 2, 1024), Reads(kSpaceL1, 1024, 1024, 2, 2048)},
          [] { load_cbuf_to_ca_transpose(On<float>(kSpaceL0a), On<float>(kSpaceL1), 1, 2, 2, 3, inc, 1); }, {4, 2048, 1024});
    Check("load_cbuf_to_cb_transpose", 2, {Writes(kSpaceL0b, 0, 512, 2, 2048), Writes(kSpaceL0b, 512, 512, 2, 2048), Reads(kSpaceL1, 0, 2048)},
          [] { load_cbuf_to_cb_transpose(On<int8_t>(kSpaceL0b), On<int8_t>(kSpaceL1), 0, 2, 1, 0, inc, 3); }, {4, 2048, 1024});
    Check("load_cbuf_to_cb_sp", 2, {Writes(kSpaceL0b, 0, 1024), Reads(kSpaceL1, 512, 1024), Reads(kSpaceL1, 8192 + 128, 256)}, [] {
        SetIndexMatrix(On<uint8_t>(kSpaceL1, 8192));
        load_cbuf_to_cb_sp(On<int8_t>(kSpaceL0b), On<int8_t>(kSpaceL1), 1, 2);
    }, {2, 1280, 512});  // with the index
}

void CheckCopies()
{
    Check("copy_gm_to_cbuf", 3, {Writes(kSpaceL1, 64, 64, 3, 96), Reads(kSpaceGm, 5, 64, 3, 128)},
          [] { copy_gm_to_cbuf(On<uint8_t>(kSpaceL1, 64), Gm<uint8_t>(5), 0, 3, 2, 2, 1, PAD_NONE); }, {0, 192, 64});
    const Trace trace = Traced("isa_records_cube.trace", [] {
        copy_gm_to_cbuf(On<uint8_t>(kSpaceL1), Gm<uint8_t>(), 0, 1, 1, 0, 0, PAD_NONE);
        ascendsim::SetL2Bypass(true);
        copy_gm_to_cbuf(On<uint8_t>(kSpaceL1), Gm<uint8_t>(), 0, 1, 1, 0, 0, PAD_NONE);
        copy_cbuf_to_bt(0, On<float>(kSpaceL1), 0, 1, 1, 0, 0);
        ascendsim::SetL2Bypass(false);
    }, ascendsim::KernelType::kAic);
    std::vector<uint32_t> flags;
    for (const Record& record : trace.records) {
        if (record.name == "copy_gm_to_cbuf" || record.name == "copy_cbuf_to_bt") flags.push_back(record.head.flags);
    }
    Expect(flags == std::vector<uint32_t>{0, ascendsim::kFlagL2Bypass, 0}, "loads past L2");
    Check("copy_cbuf_to_gm", 3, {Reads(kSpaceL1, 64, 64, 3, 96), Writes(kSpaceGm, 5, 64, 3, 128)},
          [] { copy_cbuf_to_gm(Gm<uint8_t>(5), On<uint8_t>(kSpaceL1, 64), 0, 3, 2, 1, 2); }, {0, 192, 64});
    Check("copy_cbuf_to_bt", 2, {Writes(kSpaceBt, 64, 128, 2, 192), Reads(kSpaceL1, 0, 128, 2, 160)},
          [] { copy_cbuf_to_bt(64, On<float>(kSpaceL1), 0, 2, 2, 1, 1); }, {0, 256, 128});
    Check("copy_cbuf_to_bt", 2, {Writes(kSpaceBt, 0, 256, 2, 320), Reads(kSpaceL1, 0, 128, 2, 128)}, [] { copy_cbuf_to_bt(0, On<half>(kSpaceL1), 1, 2, 2, 0, 1); });
    Check("copy_cbuf_to_fbuf", 2, {Writes(kSpaceFb, 0, 256, 2, 384), Reads(kSpaceL1, 0, 256, 2, 320)},
          [] { copy_cbuf_to_fbuf(On<uint8_t>(kSpaceFb), On<uint8_t>(kSpaceL1), 2, 2, 10, 3); });
    Check("copy_matrix_cbuf_to_cc", 2, {Writes(kSpaceL0c, 0, 1024, 2, 2048), Reads(kSpaceL1, 32, 1024, 2, 1056)},
          [] { copy_matrix_cbuf_to_cc(On<float>(kSpaceL0c), On<float>(kSpaceL1, 32), 2, 32, 1, 32); }, {0, 2048, 1024});
    Check("create_cbuf_matrix", 2, {Writes(kSpaceL1, 0, 96, 2, 128)}, [] { create_cbuf_matrix(On<uint32_t>(kSpaceL1), 2 | 3 << 16 | int64_t{1} << 32, uint32_t{7}); }, {0, 192, 96});
    // Fifteen bits each, and none between them.
    Check("create_cbuf_matrix", 2, {Writes(kSpaceL1, 0, 96, 2, 128)},
          [] { create_cbuf_matrix(On<uint32_t>(kSpaceL1), 2 | 3 << 16 | int64_t{1} << 32 | int64_t{1} << 15 | int64_t{1} << 31 | int64_t{1} << 47, uint32_t{7}); });
    Check("create_ca_matrix", 2, {Writes(kSpaceL0a, 0, 512, 2, 1536)}, [] { create_ca_matrix(On<half>(kSpaceL0a), 2 | 1 << 16 | int64_t{2} << 32, half(7)); }, {0, 1024, 512});
    Check("create_cb_matrix", 1, {Writes(kSpaceL0b, 0, 1024)}, [] { create_cb_matrix(On<half>(kSpaceL0b), 1 | 2 << 16 | int64_t{2} << 32, half(7)); });
}

/// One row of a is a vector without rows of fractals; a bias of as many columns as fractals have.
void CheckMad()
{
    for (uint16_t k : {1, 16, 17, 100, 128}) {
        const std::vector<Span> spans = {Writes(kSpaceL0c, 0, 3 * 1024), Reads(kSpaceL0a, 0, (k + 15) / 16 * 32), Reads(kSpaceL0b, 0, (k + 15) / 16 * 3 * 512)};
        Check("mad", 0, spans, [=] { mad(On<float>(kSpaceL0c), On<half>(kSpaceL0a), On<half>(kSpaceL0b), 1, k, 40, 0, false, false, true); }, {1, k, 40u});
        std::vector<Span> rows = {Writes(kSpaceL0c, 1024, 2 * 3 * 1024), Reads(kSpaceL0a, 512, (k + 15) / 16 * 2 * 512), Reads(kSpaceL0b, 512, (k + 15) / 16 * 3 * 512),
                                  Reads(kSpaceBt, 64, 3 * 64)};
        Check("mad", 0, rows, [=] {
            mad(On<float>(kSpaceL0c, 1024), On<half>(kSpaceL0a, 512), On<half>(kSpaceL0b, 512), reinterpret_cast<uint64_t>(On<float>(kSpaceBt, 64)), 20, k, 40, 0,
                false, true, false);
        }, {20u, k, 40u});
    }
    for (uint16_t k : {1, 32, 33, 100}) {
        Check("mad", 0, {Writes(kSpaceL0c, 0, 1024), Reads(kSpaceL0c, 0, 1024), Reads(kSpaceL0a, 0, (k + 31) / 32 * 32), Reads(kSpaceL0b, 0, (k + 31) / 32 * 512)},
              [=] { mad(On<int32_t>(kSpaceL0c), On<int8_t>(kSpaceL0a), On<int8_t>(kSpaceL0b), 1, k, 16, 0, false, false, false); }, {1, k, 16u});
    }
}

void CheckWindows()
{
    // A map of 4 x 8 pixels of 16 channels, 3 x 3 windows with a frame of one pixel: 32 rows of 144 columns, of which 20 and 40 are taken.
    const auto map = [] {
        set_fmatrix(8 | uint64_t{4} << 16 | uint64_t{0x01010101} << 32);
        set_l3d_rpt(1 << 16);
    };
    Check("img2colv2_cbuf_to_ca", 1, {Writes(kSpaceL0a, 0, 32 * 48 * 2), Reads(kSpaceL1, 64, 4 * 8 * 32)}, [&] {
        map();
        img2colv2_cbuf_to_ca(On<half>(kSpaceL0a), On<half>(kSpaceL1, 64), 40, 20, 0, 0, 1, 1, 3, 3, 1, 1, false, false, false, false, 16);
    });
    const auto twice = [&] {
        map();
        set_l3d_rpt(1 | 2 << 16);
        img2colv2_cbuf_to_cb(On<half>(kSpaceL0b), On<half>(kSpaceL1, 64), 40, 20, 0, 0, 1, 1, 3, 3, 1, 1, false, false, false, false, 16);
        set_l3d_rpt(1 << 16);
    };
    const Trace trace = Traced("isa_records_cube.trace", twice, ascendsim::KernelType::kAic);
    // Around a ring, which begins where L1 does.
    Check("img2colv2_cbuf_to_ca", 1, {Writes(kSpaceL0a, 0, 32 * 48 * 2), Reads(kSpaceL1, 0, 2048)}, [&] {
        map();
        set_l1_3d_size(2048);
        img2colv2_cbuf_to_ca(On<half>(kSpaceL0a), On<half>(kSpaceL1, 64), 40, 20, 0, 0, 1, 1, 3, 3, 1, 1, false, false, false, false, 16);
        set_l1_3d_size(0);
    });
    const Record* record = trace.First("img2colv2_cbuf_to_cb");
    Expect(record != nullptr && record->head.aux0 == 12 && record->head.aux1 == 12 * 512 && record->head.aux2 == 512, "fractals and bytes of a 3D load");
    Check("img2colv2_cbuf_to_cb", 2, {Writes(kSpaceL0b, 0, 2 * 32 * 48 * 2), Reads(kSpaceL1, 64, 4 * 8 * 32)}, twice);
}

void CheckFixpipe()
{
    // 20 columns of 5 rows in two columns of blocks of 16 rows.
    const Span source = Reads(kSpaceL0c, 1024, 5 * 64, 2, 1024);
    Check("copy_matrix_cc_to_gm", 0, {Writes(kSpaceGm, 4, 80, 5, 120), source}, [] {
        set_nd_para(1);
        copy_matrix_cc_to_gm(Gm<float>(4), On<float>(kSpaceL0c, 1024), 0, 20, 5, 30, 16, 0, NoQuant, 0, false, true);
    }, {2, 400, 80});
    Check("copy_matrix_cc_to_gm", 0, {Writes(kSpaceGm, 0, 5 * 64, 2, 384), source},
          [] { copy_matrix_cc_to_gm(Gm<float>(), On<float>(kSpaceL0c, 1024), 0, 20, 5, 12, 16, 0, NoQuant, 0, false, false); }, {2, 640, 320});
    Check("copy_matrix_cc_to_gm", 0, {Writes(kSpaceGm, 0, 5 * 32, 3, 192), source},
          [] { copy_matrix_cc_to_gm(Gm<float>(), On<float>(kSpaceL0c, 1024), 0, 20, 5, 6, 16, 0, NoQuant, 0, true, false); }, {2, 480, 160});
    Check("copy_matrix_cc_to_cbuf", 0, {Writes(kSpaceL1, 32, 5 * 32, 2, 192), source},
          [] { copy_matrix_cc_to_cbuf(On<half>(kSpaceL1, 32), On<float>(kSpaceL0c, 1024), 0, 20, 5, 6, 16, 0, F322F16, 0, false, false); }, {2, 320, 160});
    Check("copy_matrix_cc_to_gm", 0, {Writes(kSpaceGm, 0, 20, 5, 24), source, Reads(kSpaceFb, 256, 160)}, [] {
        set_nd_para(1);
        set_fpc(2 << 8 | int64_t(uint64_t{1} << 63));  // the highest bit is no part of a place
        copy_matrix_cc_to_gm(Gm<int8_t>(), On<float>(kSpaceL0c, 1024), 0, 20, 5, 24, 16, 0, VQF322B8_PRE, 0, false, true);
    });
    // Sums in global memory are read and written, those of either column of blocks; accumulators are read.
    const auto rw = [](int64_t at, int64_t len) { return Span{kSpaceGm, kReads | kWrites, at, len}; };
    Check("copy_matrix_cc_to_gm", 0, {rw(0, 5 * 32), rw(192, 5 * 16), Reads(kSpaceL0c, 0, 5 * 64, 3, 1024)}, [] {
        set_atomic_add();
        set_atomic_s8();
        copy_matrix_cc_to_gm(Gm<int8_t>(), On<float>(kSpaceL0c), 0, 40, 5, 6, 16, 0, QF322B8_PRE, 0, false, false);
        set_atomic_none();
    });
    Check("copy_matrix_cc_to_gm", 0, {rw(0, 5 * 64), rw(384, 5 * 64), source}, [] {
        set_atomic_add();
        set_atomic_f32();
        copy_matrix_cc_to_gm(Gm<float>(), On<float>(kSpaceL0c, 1024), 0, 20, 5, 12, 16, 0, NoQuant, 0, false, false);
        set_atomic_none();
    });
    // Results go past L2 where they are told to, and may add up there; L1 is not behind it.
    const Trace trace = Traced("isa_records_cube.trace", [] {
        for (int kind = 0; kind < 8; ++kind) {
            ascendsim::SetL2Bypass(kind % 2 == 1);
            if (kind >= 2) {
                set_atomic_f32();  // alone it means sums
                kind / 2 == 2 ? set_atomic_max() : kind / 2 == 3 ? set_atomic_min() : (void)0;
            }
            copy_matrix_cc_to_gm(Gm<float>(), On<float>(kSpaceL0c), 0, 16, 1, 16, 16, 0, NoQuant, 0, false, false);
            set_atomic_none();
            copy_matrix_cc_to_cbuf(On<half>(kSpaceL1), On<float>(kSpaceL0c), 0, 16, 1, 16, 16, 0, F322F16, 0, false, false);
        }
        ascendsim::SetL2Bypass(false);
    }, ascendsim::KernelType::kAic);
    std::vector<uint32_t> out, in;
    for (const Record& record : trace.records) {
        if (record.name == "copy_matrix_cc_to_gm") out.push_back(record.head.flags);
        if (record.name == "copy_matrix_cc_to_cbuf") in.push_back(record.head.flags);
    }
    constexpr uint32_t past = ascendsim::kFlagL2Bypass, sum = ascendsim::kFlagAtomic, high = sum | ascendsim::kFlagAtomicMax, low = sum | ascendsim::kFlagAtomicMin;
    Expect(out == std::vector<uint32_t>{0, past, sum, sum | past, high, high | past, low, low | past} && in == std::vector<uint32_t>(8, 0), "flags of results");
    // Bytes: 40 columns are a column of blocks of 32 and one of 16.
    // They may be at any place in global memory.
    Check("copy_matrix_cc_to_gm", 0, {Writes(kSpaceGm, 3, 5 * 32), Writes(kSpaceGm, 3 + 192, 5 * 16), Reads(kSpaceL0c, 0, 5 * 64, 3, 1024)},
          [] { copy_matrix_cc_to_gm(Gm<int8_t>(3), On<float>(kSpaceL0c), 0, 40, 5, 6, 16, 0, QF322B8_PRE, 0, false, false); });
    // Sixteen of them are half a column of blocks.
    Check("copy_matrix_cc_to_gm", 0, {Writes(kSpaceGm, 0, 5 * 16), Reads(kSpaceL0c, 0, 5 * 64)},
          [] { copy_matrix_cc_to_gm(Gm<int8_t>(), On<float>(kSpaceL0c), 0, 16, 5, 6, 16, 0, QF322B8_PRE, 0, false, false); });
}

/// An operand of a cube instruction in a memory of its own: `call` gets the byte there. Half of the alignment off is a fault.
void CheckAligned(const char* name, uint32_t alignment, Callee<void(size_t)> call)
{
    const auto run = [&](size_t at) { return OnCore([&] { call(at); }, 1, ascendsim::KernelType::kAic); };
    const auto on = run(alignment);
    Expect(on.faults == 0, std::string(name) + " at " + std::to_string(alignment) + ": " + on.first_fault);
    const auto off = run(alignment + alignment / 2);
    Expect(off.faults == 1 && off.first_fault.rfind(std::string("misaligned: ") + name + ":", 0) == 0,
           std::string(name) + " off by half of " + std::to_string(alignment) + ": " + off.first_fault);
}

/// The alignments of docs/isa.md.
void CheckAlignments()
{
    CheckAligned("copy_gm_to_cbuf", 32, [](size_t at) { copy_gm_to_cbuf(On<uint8_t>(kSpaceL1, at), Gm<uint8_t>(5), 0, 1, 2, 0, 0, PAD_NONE); });
    CheckAligned("copy_cbuf_to_gm", 32, [](size_t at) { copy_cbuf_to_gm(Gm<uint8_t>(5), On<uint8_t>(kSpaceL1, at), 0, 1, 2, 0, 0); });
    CheckAligned("copy_cbuf_to_bt", 64, [](size_t at) { copy_cbuf_to_bt(at, On<float>(kSpaceL1), 0, 1, 1, 0, 0); });
    CheckAligned("copy_cbuf_to_bt", 32, [](size_t at) { copy_cbuf_to_bt(0, On<float>(kSpaceL1, at), 0, 1, 1, 0, 0); });
    CheckAligned("copy_cbuf_to_fbuf", 128, [](size_t at) { copy_cbuf_to_fbuf(On<uint8_t>(kSpaceFb, at), On<uint8_t>(kSpaceL1), 1, 1, 4, 1); });
    CheckAligned("copy_cbuf_to_fbuf", 32, [](size_t at) { copy_cbuf_to_fbuf(On<uint8_t>(kSpaceFb), On<uint8_t>(kSpaceL1, at), 1, 1, 4, 1); });
    CheckAligned("copy_matrix_cbuf_to_cc", 32, [](size_t at) { copy_matrix_cbuf_to_cc(On<float>(kSpaceL0c), On<float>(kSpaceL1, at), 1, 1, 0, 0); });
    CheckAligned("copy_matrix_cbuf_to_cc", 32, [](size_t at) { copy_matrix_cbuf_to_cc(On<float>(kSpaceL0c, at), On<float>(kSpaceL1), 1, 1, 0, 0); });
    CheckAligned("load_cbuf_to_ca", 512, [](size_t at) { load_cbuf_to_ca(On<half>(kSpaceL0a, at), On<half>(kSpaceL1), 0, 1, 1, 0, 0, false, inc); });
    CheckAligned("load_cbuf_to_ca", 32, [](size_t at) { load_cbuf_to_ca(On<half>(kSpaceL0a), On<half>(kSpaceL1, at), 0, 1, 1, 0, 0, false, inc); });
    CheckAligned("load_gm_to_cb", 512, [](size_t at) { load_gm_to_cb(On<half>(kSpaceL0b, at), Gm<half>(6), 0, 1, 1, 0, 0, inc); });
    CheckAligned("load_gm_to_cbuf", 32, [](size_t at) { load_gm_to_cbuf(On<half>(kSpaceL1, at), Gm<half>(6), 0, 1, 1, 0, 0, inc); });
    CheckAligned("load_cbuf_to_ca_transpose", 512, [](size_t at) { load_cbuf_to_ca_transpose(On<float>(kSpaceL0a, at), On<float>(kSpaceL1), 0, 1, 1, 0, inc, 0); });
    CheckAligned("load_cbuf_to_cb_transpose", 32, [](size_t at) { load_cbuf_to_cb_transpose(On<float>(kSpaceL0b), On<float>(kSpaceL1, at), 0, 1, 1, 0, inc, 0); });
    for (int operand = 0; operand < 3; ++operand) {
        CheckAligned("load_cbuf_to_cb_sp", operand == 0 ? 512 : 32, [operand](size_t at) {
            SetIndexMatrix(On<uint8_t>(kSpaceL1, 8192 + (operand == 2 ? at : 0)));
            load_cbuf_to_cb_sp(On<int8_t>(kSpaceL0b, operand == 0 ? at : 0), On<int8_t>(kSpaceL1, operand == 1 ? at : 0), 0, 2);
        });
    }
    for (int operand = 0; operand < 2; ++operand) {
        CheckAligned("img2colv2_cbuf_to_ca", operand == 0 ? 512 : 32, [operand](size_t at) {
            set_fmatrix(8 | uint64_t{4} << 16 | uint64_t{0x01010101} << 32);
            set_l3d_rpt(1 << 16);
            img2colv2_cbuf_to_ca(On<half>(kSpaceL0a, operand == 0 ? at : 0), On<half>(kSpaceL1, operand == 1 ? at : 0), 16, 16, 0, 0, 1, 1, 3, 3,
                                 1, 1, false, false, false, false, 16);
        });
    }
    CheckAligned("create_cbuf_matrix", 32, [](size_t at) { create_cbuf_matrix(On<uint32_t>(kSpaceL1, at), 1 | 1 << 16, uint32_t{7}); });
    CheckAligned("create_ca_matrix", 512, [](size_t at) { create_ca_matrix(On<half>(kSpaceL0a, at), 1 | 1 << 16, half(7)); });
    CheckAligned("create_cb_matrix", 512, [](size_t at) { create_cb_matrix(On<half>(kSpaceL0b, at), 1 | 1 << 16, half(7)); });
    for (int operand = 0; operand < 3; ++operand) {
        CheckAligned("mad", operand == 0 ? 1024 : 512, [operand](size_t at) {
            mad(On<float>(kSpaceL0c, operand == 0 ? at : 0), On<half>(kSpaceL0a, operand == 1 ? at : 0), On<half>(kSpaceL0b, operand == 2 ? at : 0),
                16, 16, 16, 0, false, false, true);
        });
    }
    CheckAligned("copy_matrix_cc_to_gm", 64, [](size_t at) {
        copy_matrix_cc_to_gm(Gm<float>(4), On<float>(kSpaceL0c, at), 0, 16, 1, 2, 16, 0, NoQuant, 0, false, false);
    });
    CheckAligned("copy_matrix_cc_to_cbuf", 32, [](size_t at) {
        copy_matrix_cc_to_cbuf(On<half>(kSpaceL1, at), On<float>(kSpaceL0c), 0, 16, 1, 1, 16, 0, F322F16, 0, false, false);
    });
}

/// A mode of the fixpipe that is refused, with what the fault calls it.
template <typename T, typename U>
void CheckRefused(const char* what, QuantMode_t mode, uint8_t relu)
{
    const auto result = OnCore(
        [=] { copy_matrix_cc_to_gm(Gm<T>(), On<U>(kSpaceL0c), 0, 16, 16, 16, 16, 0, mode, relu, false, false); }, 1, ascendsim::KernelType::kAic);
    Expect(!result.completed && result.first_fault.rfind(std::string("unsupported: copy_matrix_cc_to_gm: this ") + what, 0) == 0,
           std::string(what) + " of mode " + std::to_string(mode) + " and " + std::to_string(relu) + ": " + result.first_fault);
}

void CheckRefused()
{
    // Nothing is said of a leaky activation of scaled results.
    CheckRefused<half, int32_t>("activation", DEQF16, LeakyRELU);
    CheckRefused<half, int32_t>("activation", VDEQF16, LeakyRELU);
    CheckRefused<int8_t, int32_t>("activation", REQ8, LeakyRELU);
    CheckRefused<int8_t, int32_t>("activation", VREQ8, LeakyRELU);
    CheckRefused<int8_t, float>("activation", QF322B8_PRE, LeakyRELU);
    CheckRefused<int8_t, float>("activation", VQF322B8_PRE, LeakyRELU);
    // A factor for each channel is not simulated, and behind it there are no activations.
    for (uint8_t relu = PRELU; relu <= PRELU + 1; ++relu) {
        CheckRefused<half, float>("activation", F322F16, relu);
    }
    // Modes name what they make of what: other elements on either side do not fit.
    for (QuantMode_t mode : {NoQuant, F322BF16, DEQF16, REQ8, QF322B8_PRE}) {
        CheckRefused<half, float>("quantisation mode", mode, NoRELU);
    }
    for (QuantMode_t mode : {NoQuant, F322F16, F322BF16, REQ8, QF322B8_PRE}) {
        CheckRefused<half, int32_t>("quantisation mode", mode, NoRELU);
    }
    for (QuantMode_t mode : {NoQuant, F322F16, DEQF16, REQ8}) {
        CheckRefused<int8_t, float>("quantisation mode", mode, NoRELU);
    }
    for (QuantMode_t mode : {NoQuant, F322F16, DEQF16, QF322B8_PRE}) {
        CheckRefused<int8_t, int32_t>("quantisation mode", mode, NoRELU);
    }
    CheckRefused<bfloat16_t, float>("quantisation mode", F322F16, NoRELU);
    CheckRefused<float, float>("quantisation mode", F322F16, NoRELU);
}

/// Negative results times the register's factor, of floats and of what is made of them.
template <typename T>
void CheckLeaky(QuantMode_t mode)
{
    const auto result = OnCore([=] {
        for (int i = 0; i < 16; ++i) On<float>(kSpaceL0c)[i] = static_cast<float>(i) - 8.0f;
        set_lrelu_alpha(0.25f);
        set_nd_para(1);
        copy_matrix_cc_to_gm(Gm<T>(), On<float>(kSpaceL0c), 0, 16, 1, 16, 16, 0, mode, LeakyRELU, false, true);
        for (int i = 0; i < 16; ++i) {
            const float value = static_cast<float>(i) - 8.0f;
            Expect(static_cast<float>(Gm<T>()[i]) == (value < 0 ? value * 0.25f : value), "leaky activation of " + std::to_string(value));
        }
    }, 1, ascendsim::KernelType::kAic);
    Expect(result.faults == 0, "leaky activation: " + result.first_fault);
}

/// Negative integers become zero.
void CheckReluOfIntegers()
{
    const auto result = OnCore([] {
        for (int i = 0; i < 16; ++i) On<int32_t>(kSpaceL0c)[i] = i - 8;
        set_nd_para(1);
        copy_matrix_cc_to_gm(Gm<int32_t>(), On<int32_t>(kSpaceL0c), 0, 16, 1, 16, 16, 0, NoQuant, NormalRELU, false, true);
        for (int i = 0; i < 16; ++i) Expect(Gm<int32_t>()[i] == std::max(i - 8, 0), "activation of integers");
    }, 1, ascendsim::KernelType::kAic);
    Expect(result.faults == 0, "activation of integers: " + result.first_fault);
}

/// Rows and split channels go to global memory, and not both at once.
void CheckRowsAndSplits()
{
    const auto fault = [](bool to_gm, bool split, bool rows, const char* ends) {
        const auto result = OnCore([=] {
            set_nd_para(1);
            if (to_gm) {
                copy_matrix_cc_to_gm(Gm<float>(), On<float>(kSpaceL0c), 0, 16, 16, 16, 16, 0, NoQuant, 0, split, rows);
            } else {
                copy_matrix_cc_to_cbuf(On<half>(kSpaceL1), On<float>(kSpaceL0c), 0, 16, 16, 16, 16, 0, F322F16, 0, split, rows);
            }
        }, 1, ascendsim::KernelType::kAic);
        Expect(result.faults == 1 && result.first_fault.rfind("bad_argument: copy_matrix_cc_to_", 0) == 0 &&
                   result.first_fault.find(ends) != std::string::npos,
               std::string("refused: ") + ends + ": " + result.first_fault);
    };
    fault(true, true, true, "NZ2ND, here it is 2");
    fault(false, false, true, "NZ2ND, here it is 1");
    fault(false, true, false, "bits of an element, here it is 16");
}

/// With bit 36 of the factor integers are first shifted right, by one more than bits 32 to 35 say, and limited to sixteen bits.
void CheckShifts()
{
    for (uint32_t bits = 0; bits < 16; ++bits) {
        const auto result = OnCore([&] {
            set_nd_para(1);
            set_quant_pre(ascendsim::FloatBits(0.5f) | uint64_t{bits} << 32 | uint64_t{1} << 36);
            const int32_t values[16] = {0, 1, 2, 3, 255, 256, 65535, 65536, 100000, 1 << 24, 0x7FFFFFFF, -1, -2, -70000, -(1 << 24), INT32_MIN};
            std::memcpy(On<int32_t>(kSpaceL0c), values, sizeof(values));
            copy_matrix_cc_to_gm(Gm<half>(), On<int32_t>(kSpaceL0c), 0, 16, 1, 16, 16, 0, DEQF16, 0, false, true);
            for (int i = 0; i < 16; ++i) {
                const double shifted = std::floor(values[i] / std::pow(2.0, bits + 1));
                const half want(static_cast<float>(std::fmax(-32768, std::fmin(32767, shifted)) * 0.5));
                Expect(Gm<half>()[i].Bits() == want.Bits(), "shift by " + std::to_string(bits + 1) + " of " + std::to_string(values[i]));
            }
            // Both limits times a factor are just not half of an odd number, from which the next value would be rounded apart.
            for (float factor : {3.0f / 65536, 5.0f / 65536}) {
                set_quant_pre(ascendsim::FloatBits(factor) | uint64_t{bits} << 32 | uint64_t{1} << 36 | uint64_t{1} << 46);
                copy_matrix_cc_to_gm(Gm<int8_t>(), On<int32_t>(kSpaceL0c), 0, 16, 1, 16, 16, 0, REQ8, 0, false, true);
                for (int i = 0; i < 16; ++i) {
                    const double shifted = std::fmax(-32768, std::fmin(32767, std::floor(values[i] / std::pow(2.0, bits + 1))));
                    Expect(Gm<int8_t>()[i] == std::nearbyint(shifted * static_cast<double>(factor)),
                           "shift by " + std::to_string(bits + 1) + " of " + std::to_string(values[i]) + " to eight bits");
                }
            }
        });
        Expect(result.faults == 0, result.first_fault);
    }
}

/// A 3D load of integers of four bits: two pixels of 32 channels, which fill half a block, or of 64, framed by pixels of padding.
void CheckNibbles(uint32_t channels)
{
    const auto result = OnCore([=] {
        set_fmatrix(2 | uint64_t{1} << 16 | uint64_t{1} << 32 | uint64_t{1} << 40);
        set_l3d_rpt(1 << 16);
        set_padding(uint64_t{5});
        for (uint32_t i = 0; i < 2 * channels; i += 2) {
            On<uint8_t>(kSpaceL1)[i / 2] = static_cast<uint8_t>(i * 7 % 16 | (i + 1) * 7 % 16 << 4);
        }
        std::memset(On<uint8_t>(kSpaceL0a), 0xEE, 1024);
        img2colv2_cbuf_to_ca_s4(On<uint8_t>(kSpaceL0a), On<uint8_t>(kSpaceL1), 64, 16, 0, 0, 1, 1, 1, 1, 1, 1, false, false, false, false,
                                static_cast<uint16_t>(channels));
        for (uint32_t row = 0; row < 16; ++row) {
            for (uint32_t channel = 0; channel < 64; ++channel) {
                const uint32_t pixel = (row - 1) * channels + channel;
                const uint32_t want = row > 3 || channel >= channels ? 0 : row == 0 || row == 3 ? 5 : pixel * 7 % 16;
                const uint32_t got = On<uint8_t>(kSpaceL0a)[row * 32 + channel / 2] >> channel % 2 * 4 & 15u;
                Expect(got == want, "3D load of four bits, row " + std::to_string(row) + ", channel " + std::to_string(channel));
            }
        }
        Expect(On<uint8_t>(kSpaceL0a)[512] == 0xEE, "behind a 3D load of four bits");
    });
    Expect(result.faults == 0, result.first_fault);
}

/// A filter may be 256 pixels wider (or higher) than its size says: 300 pixels in a row (or column), windows of 257 with a stride of 3.
void CheckLongFilters()
{
    for (const bool high : {false, true}) {
        for (const uint32_t stride : {1u, 3u, 0u}) {
            const auto result = OnCore([=] {
                set_fmatrix(high ? 1 | uint64_t{300} << 16 : 300 | uint64_t{1} << 16);
                set_l3d_rpt(1 << 16);
                for (uint32_t i = 0; i < 300 * 16; ++i) {
                    On<uint16_t>(kSpaceL1)[i] = static_cast<uint16_t>(i + 1);
                }
                std::memset(On<uint8_t>(kSpaceL0a), 0xEE, 4096);
                const auto along = static_cast<uint8_t>(stride);
                img2colv2_cbuf_to_ca(On<half>(kSpaceL0a), On<half>(kSpaceL1), 48, 32, 16 * 255, 0, high ? 1 : along, high ? along : 1, 1, 1, 1, 1, !high, high, false,
                                     false, 16);
                const uint32_t rows = stride == 0 ? 0 : (300 - 257) / stride + 1;
                for (uint32_t row = 0; row < 32; ++row) {
                    for (uint32_t column = 0; column < 48; ++column) {
                        const uint32_t point = 255 + column / 16;
                        const uint32_t want = row < rows && point < 257 ? (row * stride + point) * 16 + column % 16 + 1 : 0;
                        const uint32_t got = On<uint16_t>(kSpaceL0a)[(row / 16 * 3 + column / 16) * 256 + row % 16 * 16 + column % 16];
                        Expect(got == want, "long filter, row " + std::to_string(row) + ", column " + std::to_string(column) + ": " + std::to_string(got));
                    }
                }
            });
            Expect(result.faults == 0, result.first_fault);
        }
    }
}

}  // namespace

int main()
{
    ascendsim::RegisterRegion(g_memory, sizeof(g_memory), ascendsim::RegionRole::kOther, 0);
    CheckNdToNz<int8_t>("copy_gm_to_cbuf_multi_nd2nz_b8", [](auto... a) { copy_gm_to_cbuf_multi_nd2nz_b8(a...); });
    CheckNdToNz<half>("copy_gm_to_cbuf_multi_nd2nz_b16", [](auto... a) { copy_gm_to_cbuf_multi_nd2nz_b16(a...); });
    CheckNdToNz<float>("copy_gm_to_cbuf_multi_nd2nz_b32s", [](auto... a) { copy_gm_to_cbuf_multi_nd2nz_b32s(a...); });
    CheckLoads();
    CheckCopies();
    CheckMad();
    CheckWindows();
    CheckFixpipe();
    CheckAlignments();
    CheckRefused();
    CheckShifts();
    CheckLeaky<float>(NoQuant);
    CheckLeaky<half>(F322F16);
    CheckLeaky<bfloat16_t>(F322BF16);
    CheckReluOfIntegers();
    CheckRowsAndSplits();
    CheckNibbles(32);
    CheckNibbles(64);
    CheckLongFilters();
    ascendsim::ClearRegions();
    return Report("isa_records_cube");
}
