// Every operand of a vector instruction has the alignment that docs/isa.md says: half of it off is a fault, a whole one off is none.
#include "isa_support.h"

using namespace isa_test;

namespace {

uint8_t* Ub(size_t offset) { return ascendsim::UbBase() + offset; }
template <typename T>
T* As(uint8_t* at)
{
    return reinterpret_cast<T*>(at);
}

using Operands = std::vector<uint8_t*>;

/// One instruction with an alignment in bytes for each of its operands.
void Check(const char* name, const std::vector<uint32_t>& alignments, Callee<void(const Operands&)> call)
{
    // Operands at such offsets; a core's buffer has its address only while it runs.
    const auto run = [&](const std::vector<size_t>& offsets) {
        return OnCore([&] {
            std::memset(Ub(0), 0, 128 * 1024);
            Operands operands;
            for (size_t offset : offsets) {
                operands.push_back(Ub(offset));
            }
            call(operands);
        });
    };
    std::vector<size_t> offsets;
    for (size_t i = 0; i < alignments.size(); ++i) {
        offsets.push_back(4096 + 16384 * i);
    }
    const auto result = run(offsets);
    Expect(result.faults == 0, std::string(name) + ": " + result.first_fault);
    for (size_t i = 0; i < alignments.size(); ++i) {
        std::vector<size_t> moved = offsets;
        moved[i] += alignments[i] / 2;
        const auto off = run(moved);
        const std::string begin = std::string("misaligned: ") + name + ": UB offset " + std::to_string(moved[i]) + " is";
        Expect(off.faults == 1 && off.first_fault.rfind(begin, 0) == 0,
               std::string(name) + ", operand " + std::to_string(i) + ": " + off.first_fault);
        moved[i] = offsets[i] + alignments[i];
        const auto on = run(moved);
        Expect(on.faults == 0, std::string(name) + ", operand " + std::to_string(i) + " further on: " + on.first_fault);
    }
}

void CheckArithmetic()
{
    Check("vadd", {32, 32, 32}, [](const Operands& o) { vadd(As<float>(o[0]), As<float>(o[1]), As<float>(o[2]), 2, 1, 1, 1, 8, 8, 8); });
    Check("vmla", {32, 32, 32}, [](const Operands& o) { vmla(As<float>(o[0]), As<float>(o[1]), As<float>(o[2]), 2, 1, 1, 1, 8, 8, 8); });
    Check("vabs", {32, 32}, [](const Operands& o) { vabs(As<half>(o[0]), As<half>(o[1]), 2, 1, 1, 8, 8); });
    Check("vadds", {32, 32}, [](const Operands& o) { vadds(As<float>(o[0]), As<float>(o[1]), 1.0f, 2, 1, 1, 8, 8); });
    Check("vector_dup", {32}, [](const Operands& o) { vector_dup(As<float>(o[0]), 1.0f, 2, 1, 1, 8, 0); });
    Check("vcmpv_lt", {32, 32, 32}, [](const Operands& o) { vcmpv_lt(o[0], As<float>(o[1]), As<float>(o[2]), 2, 1, 1, 1, 8, 8, 8); });
    Check("vcmpvs_lt", {32, 32}, [](const Operands& o) { vcmpvs_lt(o[0], As<float>(o[1]), 1.0f, 2, 1, 1, 8, 8); });
    Check("vcmp_lt", {32, 32}, [](const Operands& o) { vcmp_lt(As<float>(o[0]), As<float>(o[1]), 1, 1, 1, 1, 8, 8, 8); });
    Check("set_cmpmask", {16}, [](const Operands& o) { set_cmpmask(o[0]); });
    Check("get_cmpmask", {16}, [](const Operands& o) { get_cmpmask(o[0]); });
    Check("vsel", {32, 32, 32}, [](const Operands& o) { vsel(As<float>(o[0]), As<float>(o[1]), As<float>(o[2]), 2, 1, 1, 1, 8, 8, 8); });
    Check("vsel", {32, 32, 32}, [](const Operands& o) {
        vsel(As<float>(o[0]), As<float>(o[1]), static_cast<void*>(o[2]), 2, 1, 1, 1, 8, 8, 8, 1);
    });
}

void CheckNarrow()
{
    Check("vconv_s42f16", {32, 32}, [](const Operands& o) { vconv_s42f16(As<half>(o[0]), static_cast<void*>(o[1]), 2, 1, 1, 8, 2); });
    Check("vconv_f162s4", {32, 32}, [](const Operands& o) { vconv_f162s4(static_cast<void*>(o[0]), As<half>(o[1]), 2, 1, 1, 2, 8); });
    for (int high = 0; high < 2; ++high) {
        Check(high != 0 ? "vconv_deqs162b8h" : "vconv_deqs162b8l", {32, 32}, [high](const Operands& o) {
            set_deqscale(ascendsim::FloatBits(1.0f));
            if (high != 0) {
                vconv_deqs162b8h(o[0], As<int16_t>(o[1]), 2, 1, 1, 8, 8);
            } else {
                vconv_deqs162b8l(o[0], As<int16_t>(o[1]), 2, 1, 1, 8, 8);
            }
        });
        Check("vaddreluconv_vdeqs162b8", {32, 32, 32}, [high](const Operands& o) {
            set_deqscale(reinterpret_cast<uint64_t>(Ub(0)));
            vaddreluconv_vdeqs162b8(o[0], As<int16_t>(o[1]), As<int16_t>(o[2]), 2, 1, 1, 1, 8, 8, 8, high != 0);
        });
    }
    Check("v4dtrans", {32, 32}, [](const Operands& o) { v4dtrans(As<uint16_t>(o[0]), As<uint16_t>(o[1]), 16, 16, true); });
}

void CheckReductions()
{
    Check("vcadd", {4, 32}, [](const Operands& o) { vcadd(As<float>(o[0]), As<float>(o[1]), 2, 1, 1, 8, false); });
    Check("vcadd", {2, 32}, [](const Operands& o) { vcadd(As<half>(o[0]), As<half>(o[1]), 2, 1, 1, 8, false); });
    Check("vcmax", {8, 32}, [](const Operands& o) { vcmax(As<float>(o[0]), As<float>(o[1]), 2, 1, 1, 8, VALUE_INDEX); });
    Check("vcmax", {4, 32}, [](const Operands& o) { vcmax(As<half>(o[0]), As<half>(o[1]), 2, 1, 1, 8, INDEX_VALUE); });
    Check("vcmin", {2, 32}, [](const Operands& o) { vcmin(As<half>(o[0]), As<half>(o[1]), 2, 1, 1, 8, ONLY_VALUE); });
    Check("vcmin", {4, 32}, [](const Operands& o) { vcmin(As<half>(o[0]), As<half>(o[1]), 2, 1, 1, 8, ONLY_INDEX); });
    Check("vcgadd", {32, 32}, [](const Operands& o) { vcgadd(As<float>(o[0]), As<float>(o[1]), 2, 1, 1, 8); });
    Check("vcgmax", {16, 32}, [](const Operands& o) { vcgmax(As<half>(o[0]), As<half>(o[1]), 2, 1, 1, 8); });
    Check("vcpadd", {32, 32}, [](const Operands& o) { vcpadd(As<half>(o[0]), As<half>(o[1]), 2, 1, 1, 8); });
}

void CheckRearranging()
{
    Check("vbrcb", {32, 32}, [](const Operands& o) { vbrcb(As<uint16_t>(o[0]), As<uint16_t>(o[1]), 1, 8, 2); });
    Check("vgather", {32, 32}, [](const Operands& o) { vgather(As<uint32_t>(o[0]), As<uint32_t>(o[1]), 0, 8, 1); });
    Check("vgatherb", {32, 32}, [](const Operands& o) { vgatherb(As<uint32_t>(o[0]), As<uint32_t>(o[1]), 0, 8, 1, 1); });
    Check("vreducev2", {32, 32, 32}, [](const Operands& o) {
        vreducev2(As<uint32_t>(o[0]), As<uint32_t>(o[1]), As<uint32_t>(o[2]), 2, 1, 0, 8, 1);
    });
    Check("vreducev2", {32, 32}, [](const Operands& o) {
        vreducev2(As<uint32_t>(o[0]), As<uint32_t>(o[1]), As<uint32_t>(o[1] + 4), 2, 1, 1, 8, 1);  // a pattern has no bits
    });
    Check("vtranspose", {32, 32}, [](const Operands& o) { vtranspose(As<uint16_t>(o[0]), As<uint16_t>(o[1])); });
    Check("vld_va_reg", {32}, [](const Operands& o) { vld_va_reg(VA0, As<uint64_t>(o[0]), H128); });
    Check("vbitsort", {32, 32, 32}, [](const Operands& o) { vbitsort(As<float>(o[0]), As<float>(o[1]), As<uint32_t>(o[2]), 2); });
    Check("vmrgsort4", {32, 8, 8, 8, 8}, [](const Operands& o) {
        float* lists[4] = {As<float>(o[1]), As<float>(o[2]), As<float>(o[3]), As<float>(o[4])};
        vmrgsort4(As<float>(o[0]), lists, 0x0008000800080008ull, 1 | 15 << 8);
    });
}

/// Of address lists every block of each side is checked.
void CheckAddressLists()
{
    for (uint32_t list = 0; list < 2; ++list) {
        for (uint32_t odd = 0; odd < 16; ++odd) {
            for (uint32_t off : {32u, 16u}) {
                const auto result = OnCore([&] {
                    for (uint32_t side = 0; side < 2; ++side) {
                        uint64_t addresses[16];
                        for (uint32_t i = 0; i < 16; ++i) {
                            addresses[i] = reinterpret_cast<uint64_t>(Ub(4096 + 16384 * side + 64 * i + (side == list && i == odd ? off : 0)));
                        }
                        set_va_reg_sb(side == 0 ? VA0 : VA2, addresses);
                        set_va_reg_sb(side == 0 ? VA1 : VA3, addresses + 8);
                    }
                    scatter_vnchwconv_b16(VA0, VA2, 1, 0, 0);
                });
                Expect(off == 32 ? result.faults == 0 : result.faults == 1 && result.first_fault.rfind("misaligned: scatter_vnchwconv_b16", 0) == 0,
                       "address " + std::to_string(odd) + " of list " + std::to_string(list) + ": " + result.first_fault);
            }
        }
    }
}

/// A list takes an address register and the next one; the last has none behind it.
void CheckLastRegister()
{
    using Transpose = void (*)(ub_addr8_t dst, ub_addr8_t src);
    const std::pair<const char*, Transpose> all[] = {
        {"scatter_vnchwconv_b8", [](ub_addr8_t dst, ub_addr8_t src) { scatter_vnchwconv_b8(dst, src, 1, 0, 0, false, false); }},
        {"scatter_vnchwconv_b16", [](ub_addr8_t dst, ub_addr8_t src) { scatter_vnchwconv_b16(dst, src, 1, 0, 0); }},
        {"scatter_vnchwconv_b32", [](ub_addr8_t dst, ub_addr8_t src) { scatter_vnchwconv_b32(dst, src, 1, 0, 0); }},
    };
    constexpr ub_addr8_t kRegisters[] = {VA0, VA1, VA2, VA3, VA4, VA5, VA6, VA7};
    for (const auto& one : all) {
        for (const auto& [dst, src] : {std::make_pair(VA6, VA0), {VA0, VA6}, {VA7, VA0}, {VA0, VA7}, {VA7, VA7}}) {
            const auto result = OnCore([&, to = dst, from = src] {
                for (uint32_t i = 0; i < 8; ++i) {
                    uint64_t addresses[8];
                    for (uint32_t k = 0; k < 8; ++k) addresses[k] = reinterpret_cast<uint64_t>(Ub(4096 * i + 64 * k));
                    set_va_reg_sb(kRegisters[i], addresses);
                }
                std::memset(Ub(0), 0, 32768);
                one.second(to, from);
            });
            const std::string begin = std::string("bad_argument: ") + one.first + ": an address list takes two registers, VA7 has no successor";
            Expect(dst == VA7 || src == VA7 ? result.faults == 1 && result.first_fault.rfind(begin, 0) == 0 : result.faults == 0,
                   std::string(one.first) + " of VA" + std::to_string(dst) + " and VA" + std::to_string(src) + ": " + result.first_fault);
        }
    }
}

void CheckTransfers()
{
    Check("copy_ubuf_to_ubuf", {32, 32}, [](const Operands& o) { copy_ubuf_to_ubuf(o[0], o[1], 0, 2, 1, 1, 1); });
    static uint8_t memory[4096];
    ascendsim::RegisterRegion(memory, sizeof(memory), ascendsim::RegionRole::kOther, 0);
    Check("copy_gm_to_ubuf", {32}, [](const Operands& o) { copy_gm_to_ubuf(o[0], memory + 3, 0, 2, 1, 1, 1); });
    Check("copy_ubuf_to_gm", {32}, [](const Operands& o) { copy_ubuf_to_gm(memory + 5, o[0], 0, 2, 1, 1, 1); });
    Check("copy_gm_to_ubuf_align_b8", {32}, [](const Operands& o) { copy_gm_to_ubuf_align_b8(o[0], memory + 3, 0, 2, 7, 0, 0, 1, 1); });
    Check("copy_ubuf_to_gm_align_b16", {32}, [](const Operands& o) { copy_ubuf_to_gm_align_b16(memory + 2, o[0], 0, 2, 6, 0, 0, 1, 1); });
    ascendsim::UnregisterRegion(memory);
}

}  // namespace

int main()
{
    CheckArithmetic();
    CheckNarrow();
    CheckReductions();
    CheckRearranging();
    CheckAddressLists();
    CheckLastRegister();
    CheckTransfers();
    return Report("isa_alignment");
}
