// Reductions, comparisons, selection, gathering, packing, spreading, transposing and sorting against scalar models.
#include <algorithm>

#include "isa_support.h"

using namespace isa_test;

namespace {

uint8_t* Ub(size_t offset) { return ascendsim::UbBase() + offset; }
template <typename T>
T* At(size_t offset) { return reinterpret_cast<T*>(Ub(offset)); }

template <typename T>
void Fill(T* values, size_t count, uint64_t seed)
{
    Random random(seed);
    for (size_t i = 0; i < count; ++i) values[i] = T(static_cast<float>(static_cast<int>(random.Below(2001)) - 1000) / 16);
}

template <typename T>
T Tree(std::vector<T> v)
{
    while (v.size() > 1) {
        for (size_t i = 0; i < v.size() / 2; ++i) v[i] = v[2 * i] + v[2 * i + 1];
        v.resize(v.size() / 2);
    }
    return v[0];
}

template <typename T>
void TestReductions()
{
    constexpr uint32_t lanes = 256 / sizeof(T);
    constexpr uint32_t group = 32 / sizeof(T);
    using Index = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
    T* src = At<T>(4096);
    Fill(src, 3 * lanes, 5);
    src[lanes + 3] = src[lanes + 9] = T(900);
    const auto row = [&](uint32_t step, uint32_t active) {
        std::vector<T> v(src + step * lanes, src + (step + 1) * lanes);
        for (uint32_t i = active; i < lanes; ++i) v[i] = T(0);
        return v;
    };
    vcadd(At<T>(0), src, 3, 1, 1, 8, false);
    vcmax(At<T>(256), src, 3, 1, 1, 8, VALUE_INDEX);
    vcmin(At<T>(512), src, 3, 1, 1, 8, ONLY_VALUE);
    vcmax(At<T>(768), src, 3, 2, 1, 8, ONLY_INDEX);
    vcgadd(At<T>(1024), src, 3, 1, 1, 8);
    vcgmax(At<T>(1280), src, 3, 1, 1, 8);
    vcpadd(At<T>(1536), src, 3, 1, 1, 8);
    for (uint32_t step = 0; step < 3; ++step) {
        const std::vector<T> v = row(step, lanes);
        Expect(At<T>(0)[step] == Tree(v), "vcadd");
        const auto best = std::max_element(v.begin(), v.end());
        Expect(At<T>(256)[2 * step] == *best && At<Index>(256)[2 * step + 1] == best - v.begin(), "vcmax value, index");
        Expect(At<T>(512)[step] == *std::min_element(v.begin(), v.end()), "vcmin value");
        Expect(At<uint32_t>(768)[2 * step] == static_cast<uint32_t>(best - v.begin()), "vcmax index");
        for (uint32_t b = 0; b < 8; ++b) {
            const std::vector<T> block(v.begin() + b * group, v.begin() + (b + 1) * group);
            Expect(At<T>(1024)[8 * step + b] == Tree(block), "vcgadd");
            Expect(At<T>(1280)[8 * step + b] == *std::max_element(block.begin(), block.end()), "vcgmax");
        }
        for (uint32_t i = 0; i < lanes / 2; ++i) {
            Expect(At<T>(1536)[step * lanes / 2 + i] == T(v[2 * i] + v[2 * i + 1]), "vcpadd");
        }
    }
    set_mask_count();
    set_vector_mask(0, 2 * lanes + 11);
    vcadd(At<T>(0), src, 1, 1, 1, 8, false);
    vcadd(At<T>(0), src, 1, 1, 1, 8, true);
    Expect(At<T>(0)[2] == Tree(row(2, 11)), "vcadd of a tail");
    const T total = T(T(Tree(row(0, lanes)) + Tree(row(1, lanes))) + Tree(row(2, 11)));
    const int64_t bits = get_acc_val();
    Expect(std::memcmp(&bits, &total, sizeof(T)) == 0, "accumulated sum");
    set_mask_norm();
    set_vector_mask(~uint64_t{0}, ~uint64_t{0});
}

template <typename T>
void TestCompareSelect()
{
    constexpr uint32_t lanes = 256 / sizeof(T);
    T* a = At<T>(4096);
    T* b = At<T>(8192);
    T* d = At<T>(12288);
    Fill(a, 2 * lanes, 1);
    Fill(b, 2 * lanes, 2);
    for (uint32_t i = 0; i < lanes; i += 3) b[i] = a[i];
    const auto bit = [](const uint8_t* bits, uint32_t i) { return (bits[i / 8] >> (i % 8) & 1) != 0; };
    vcmpv_lt(Ub(0), a, b, 2, 1, 1, 1, 8, 8, 8);
    vcmpvs_ge(Ub(64), a, T(2.5f), 2, 1, 1, 8, 8);
    for (uint32_t i = 0; i < 2 * lanes; ++i) {
        Expect(bit(Ub(0), i) == (a[i] < b[i]), "vcmpv_lt");
        Expect(bit(Ub(64), i) == (a[i] >= T(2.5f)), "vcmpvs_ge");
    }
    set_vector_mask(0, 0x5);  // no matter for a comparison to memory, but for one to the register
    vcmpv_gt(Ub(128), a, b, 2, 1, 1, 1, 8, 8, 8);
    vcmpvs_lt(Ub(192), a, T(-1), 2, 1, 1, 8, 8);
    std::memset(Ub(256), 0xFF, 32);
    set_cmpmask(Ub(256));
    vcmp_ne(a, a, 1, 1, 1, 1, 8, 8, 8);
    get_cmpmask(Ub(256));
    set_vector_mask(~uint64_t{0}, ~uint64_t{0});
    for (uint32_t i = 0; i < 2 * lanes; ++i) {
        Expect(bit(Ub(128), i) == (a[i] > b[i]), "vcmpv_gt under a mask");
        Expect(bit(Ub(192), i) == (a[i] < T(-1)), "vcmpvs_lt under a mask");
    }
    for (uint32_t i = 0; i < lanes; ++i) Expect(bit(Ub(256), i) == (i != 0 && i != 2), "vcmp_ne under a mask");
    set_mask_count();
    set_vector_mask(0, lanes + 8);
    std::memset(Ub(320), 0xFF, 32);
    vcmpvs_ne(Ub(320), a, a[0], 1, 1, 1, 8, 8);
    set_mask_norm();
    set_vector_mask(~uint64_t{0}, ~uint64_t{0});
    for (uint32_t i = 0; i < 2 * lanes; ++i) {
        Expect(bit(Ub(320), i) == (i >= lanes + 8 || a[i] != a[0]), "vcmpvs_ne by count");
    }
    vcmp_eq(a, b, 1, 1, 1, 1, 8, 8, 8);
    vsel(d, a, b, 2, 1, 1, 1, 8, 8, 8);
    for (uint32_t i = 0; i < 2 * lanes; ++i) Expect(d[i] == (a[i % lanes] == b[i % lanes] ? a[i] : b[i]), "vsel by register");
    uint64_t address = reinterpret_cast<uintptr_t>(Ub(0));
    std::memcpy(ascendsim::UbReserved(), &address, sizeof(address));
    set_cmpmask(ascendsim::UbReserved());
    vsel(d, a, b, 2, 1, 1, 1, 8, 8, 8, 2);
    for (uint32_t i = 0; i < 2 * lanes; ++i) Expect(d[i] == (a[i] < b[i] ? a[i] : b[i]), "vsel by memory");
    const T scalar(7);
    std::memcpy(ascendsim::UbReserved(), &scalar, sizeof(scalar));
    set_cmpmask(ascendsim::UbReserved());
    vsel(d, a, Ub(0), 2, 1, 1, 1, 8, 8, 8, 1);
    for (uint32_t i = 0; i < 2 * lanes; ++i) Expect(d[i] == (a[i] < b[i] ? a[i] : scalar), "vsel with a scalar");
}

template <typename T>
void TestMoving()
{
    constexpr uint32_t lanes = 256 / sizeof(T);
    T* src = At<T>(4096);
    T* dst = At<T>(16384);
    uint32_t* offsets = At<uint32_t>(32768);
    Random random(9);
    for (uint32_t i = 0; i < 1024; ++i) src[i] = static_cast<T>(random.Next());
    for (uint32_t i = 0; i < 2 * lanes; ++i) offsets[i] = random.Below(1024) * sizeof(T);
    vgather(dst, offsets, reinterpret_cast<uintptr_t>(src), 8, 2);
    for (uint32_t i = 0; i < 2 * lanes; ++i) Expect(dst[i] == src[offsets[i] / sizeof(T)], "vgather");
    for (uint32_t i = 0; i < 16; ++i) offsets[i] = (15 - i) * 64;
    vgatherb(dst, offsets, reinterpret_cast<uintptr_t>(src), 8, 1, 2);
    for (uint32_t i = 0; i < 16; ++i) Expect(std::memcmp(Ub(16384 + 32 * i), Ub(4096 + offsets[i]), 32) == 0, "vgatherb");
    vreducev2(dst, src, src, 2, 1, 2, 8, 0);
    Expect(get_rsvd_cnt() == lanes, "kept by pattern 2");
    for (uint32_t i = 0; i < lanes; ++i) Expect(dst[i] == src[2 * i + 1], "vreducev2 pattern 2");
    T* mask = At<T>(40960);
    for (uint32_t i = 0; i < 16; ++i) mask[i] = static_cast<T>(0x99999999u);
    set_mask_count();
    set_vector_mask(0, 35);
    vreducev2(dst, src, mask, 2, 1, 0, 8, 0);
    set_mask_norm();
    set_vector_mask(~uint64_t{0}, ~uint64_t{0});
    std::vector<T> want;
    for (uint32_t step = 0; step < 2; ++step) {
        for (uint32_t i = 0; i < 35; ++i) if (i % 4 == 0 || i % 4 == 3) want.push_back(src[step * lanes + i]);
    }
    Expect(get_rsvd_cnt() == static_cast<int64_t>(want.size()) && std::equal(want.begin(), want.end(), dst), "vreducev2 by bits");
    vbrcb(dst, src, 1, 8, 2);
    for (uint32_t i = 0; i < 16 * 32 / sizeof(T); ++i) Expect(dst[i] == src[i / (32 / sizeof(T))], "vbrcb");
}

void TestTranspose()
{
    uint16_t* src = At<uint16_t>(4096);
    uint16_t* dst = At<uint16_t>(8192);
    for (uint16_t i = 0; i < 512; ++i) src[i] = i;
    vtranspose(dst, src);
    for (uint32_t i = 0; i < 256; ++i) Expect(dst[i] == i % 16 * 16 + i / 16, "vtranspose");
    uint64_t list[16];
    const auto load = [&](ub_addr8_t low, ub_addr8_t high, size_t base) {
        for (uint32_t i = 0; i < 16; ++i) list[i] = reinterpret_cast<uintptr_t>(Ub(base + i * 32));
        set_va_reg_sb(low, list);
        set_va_reg_sb(high, list + 8);
    };
    load(VA0, VA1, 12288);
    load(VA2, VA3, 4096);
    scatter_vnchwconv_b16(VA0, VA2, 1, 0, 0);
    Expect(std::memcmp(Ub(12288), Ub(8192), 512) == 0, "scatter_vnchwconv_b16");
    scatter_vnchwconv_b32(VA0, VA2, 1, 0, 0);
    for (uint32_t row = 0; row < 16; ++row) {
        for (uint32_t column = 0; column < 8; ++column) {
            Expect(At<uint32_t>(12288)[column * 16 + row] == At<uint32_t>(4096)[row * 8 + column], "scatter_vnchwconv_b32");
        }
    }
    scatter_vnchwconv_b8(VA0, VA2, 1, 0, 0, true, false);
    for (uint32_t row = 0; row < 16; ++row) {
        for (uint32_t column = 0; column < 16; ++column) {
            Expect(Ub(12288)[column * 32 + 16 + row] == Ub(4096)[row * 32 + column], "scatter_vnchwconv_b8");
        }
    }
}

void TestSort()
{
    float* src = At<float>(4096);
    uint32_t* index = At<uint32_t>(8192);
    Fill(src, 128, 3);
    for (uint32_t i = 0; i < 128; ++i) index[i] = i;
    vbitsort(At<float>(0), src, index, 4);
    for (uint32_t i = 0; i < 128; ++i) {
        const float score = At<float>(0)[2 * i];
        Expect(score == src[At<uint32_t>(0)[2 * i + 1]] && (i % 32 == 0 || At<float>(0)[2 * i - 2] >= score), "vbitsort");
    }
    float* lists[4] = {At<float>(0), At<float>(256), At<float>(512), At<float>(768)};
    vmrgsort4(At<float>(16384), lists, 0x0020002000200020ull, 1 | 15 << 8);
    for (uint32_t i = 1; i < 128; ++i) Expect(At<float>(16384)[2 * i - 2] >= At<float>(16384)[2 * i], "vmrgsort4");
    Expect(get_vms4_sr() == 0x0020002000200020ll, "records consumed");
}

}  // namespace

int main()
{
    const auto result = OnCore([] {
        TestReductions<half>();
        TestReductions<float>();
        TestCompareSelect<half>();
        TestCompareSelect<float>();
        TestMoving<uint16_t>();
        TestMoving<uint32_t>();
        TestTranspose();
        TestSort();
    });
    Expect(result.faults == 0, result.first_fault);
    return Report("isa_rearrange");
}
