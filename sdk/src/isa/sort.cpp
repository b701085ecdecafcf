// Sorting networks: 32 elements at a time, and the four-way merge of sorted lists.
#include <algorithm>

#include "isa/elementwise.h"

#include "ascendsim/isa.h"

namespace ascendsim {
namespace isa {
namespace {

constexpr uint32_t kRecordBytes = 8;
constexpr uint32_t kSortLanes = 32;

Active Shape(uint32_t lanes, uint32_t repeat)
{
    Active active;
    active.per_repeat = lanes;
    active.lanes = lanes;
    active.repeats = repeat;
    return active;
}

template <typename T>
void BitSort(uint64_t site, T* dst, T* src, uint32_t* index, uint32_t repeat)
{
    Core& core = Current();
    Recorder recorder(core, kOp_vbitsort, site);
    if (repeat == 0) {
        recorder.Write(DtypeOf<T>::value, Shape(kSortLanes, 0));
        return;
    }
    if (!recorder.Aligned(dst, kBlock) || !recorder.Aligned(src, kBlock) || !recorder.Aligned(index, kBlock)) {
        return;
    }
    recorder.AddPieces(dst, repeat * kSortLanes * kRecordBytes, kWrite);
    recorder.AddPieces(src, static_cast<uint32_t>(repeat * kSortLanes * sizeof(T)), kRead);
    recorder.AddPieces(index, repeat * kSortLanes * 4, kRead);
    if (!recorder.InBounds()) {
        return;
    }
    if (!recorder.Write(DtypeOf<T>::value, Shape(kSortLanes, repeat))) {
        return;
    }
    struct Entry {
        float score;
        T value;
        uint32_t index;
    };
    for (uint32_t step = 0; step < repeat; ++step) {
        Entry entries[kSortLanes];
        for (uint32_t i = 0; i < kSortLanes; ++i) {
            const T value = src[step * kSortLanes + i];
            entries[i] = {static_cast<float>(value), value, index[step * kSortLanes + i]};
        }
        std::stable_sort(entries, entries + kSortLanes,
                         [](const Entry& a, const Entry& b) { return a.score > b.score; });
        for (uint32_t i = 0; i < kSortLanes; ++i) {
            uint8_t* out = reinterpret_cast<uint8_t*>(dst) + (size_t{step} * kSortLanes + i) * kRecordBytes;
            std::memset(out, 0, 4);
            Store(out, entries[i].value);
            Store(out + 4, entries[i].index);
        }
    }
}

template <typename T>
void Merge(uint64_t site, T* dst, T** src, uint64_t lengths, uint64_t config)
{
    Core& core = Current();
    Recorder recorder(core, kOp_vmrgsort4, site);
    NoteValue(core, lengths);
    NoteValue(core, config);
    const auto repeat = static_cast<uint32_t>(config & 0xFF);
    const auto valid = static_cast<uint32_t>(config >> 8 & 0xF);
    const bool stop_on_empty = (config >> 12 & 1) != 0;
    uint32_t length[4];
    uint32_t total = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        length[i] = (valid >> i & 1) != 0 ? static_cast<uint32_t>(lengths >> (16 * i) & 0xFFFF) : 0;
        total += length[i];
    }
    if (repeat == 0 || total == 0) {
        recorder.Write(DtypeOf<T>::value, Shape(0, 0));
        return;
    }
    if (!recorder.Aligned(dst, kBlock)) {
        return;
    }
    // Repeats take four adjoining lists further on each time.
    const uint64_t span = uint64_t{total} * kRecordBytes;
    recorder.AddPieces(dst, static_cast<uint32_t>(span), kWrite, repeat, static_cast<int64_t>(span));
    for (uint32_t i = 0; i < 4; ++i) {
        if (length[i] == 0) {
            continue;
        }
        // Unlike the destination: a list may begin with any record.
        if (!recorder.Aligned(src[i], FormOf(kOp_vmrgsort4).operand[1].alignment)) {
            return;
        }
        recorder.AddPieces(src[i], length[i] * kRecordBytes, kRead, repeat, static_cast<int64_t>(span));
    }
    if (!recorder.InBounds()) {
        return;
    }
    if (!recorder.Write(DtypeOf<T>::value, Shape(total, repeat))) {
        return;
    }
    for (uint32_t step = 0; step < repeat; ++step) {
        uint32_t at[4] = {};
        uint8_t* out = reinterpret_cast<uint8_t*>(dst) + step * span;
        const auto record = [&](uint32_t list) {
            return reinterpret_cast<const uint8_t*>(src[list]) + step * span + size_t{at[list]} * kRecordBytes;
        };
        for (uint32_t done = 0; done < total; ++done) {
            int best = -1;
            for (uint32_t i = 0; i < 4; ++i) {
                // Equal scores: the earlier list goes first.
                if (at[i] < length[i] && (best < 0 || static_cast<float>(Load<T>(record(i))) >
                                                          static_cast<float>(Load<T>(record(static_cast<uint32_t>(best)))))) {
                    best = static_cast<int>(i);
                }
            }
            std::memcpy(out, record(static_cast<uint32_t>(best)), kRecordBytes);
            out += kRecordBytes;
            if (++at[best] == length[best] && stop_on_empty) {
                break;
            }
        }
        core.merge_status = 0;
        for (uint32_t i = 0; i < 4; ++i) {
            core.merge_status |= static_cast<int64_t>(uint64_t{at[i]} << (16 * i));
        }
    }
}

}  // namespace
}  // namespace isa
}  // namespace ascendsim

using namespace ascendsim::isa;

#define BODY(T)                                                                                                     \
    void vbitsort(T* dst, T* src, uint32_t* index, uint8_t repeat) { BitSort<T>(ASCENDSIM_SITE(), dst, src, index, repeat); } \
    void vmrgsort4(T* dst, T* src[4], uint64_t lengths, uint64_t config)                                            \
    {                                                                                                               \
        Merge<T>(ASCENDSIM_SITE(), dst, src, lengths, config);                                                      \
    }
BODY(half)
BODY(float)
#undef BODY

int64_t get_vms4_sr()
{
    ascendsim::machine::NeedsData(Current(), ASCENDSIM_SITE(), "the scalar unit reads how far a vmrgsort4 came");
    return Current().merge_status;
}
