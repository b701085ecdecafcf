// What an instruction's record says that it reads and writes, against bytes that a test lists.
#ifndef ISA_SPANS_H
#define ISA_SPANS_H

#include <set>

#include "isa_support.h"

namespace isa_test {

constexpr uint8_t kReads = 1;
constexpr uint8_t kWrites = 2;

/// `count` pieces of `len` bytes that begin `step` bytes apart, from byte `at` of a memory on. Global memory is that of one region.
struct Span {
    uint32_t space;
    uint8_t access;
    int64_t at;
    int64_t len;
    int64_t count = 1;
    int64_t step = 0;
};

/// Space, access and byte.
using Bytes = std::set<std::pair<uint32_t, int64_t>>;

inline void Add(Bytes& bytes, const Span& span)
{
    for (uint8_t access : {kReads, kWrites}) {
        for (int64_t i = 0; (span.access & access) != 0 && i < span.count; ++i) {
            for (int64_t k = 0; k < span.len; ++k) {
                bytes.insert({span.space * 4 + access, span.at + i * span.step + k});
            }
        }
    }
}

inline Bytes BytesOf(const Record& record)
{
    constexpr uint64_t kRegion = (uint64_t{1} << 40) - 1;
    Bytes bytes;
    for (const auto& op : record.ops) {
        const auto at = static_cast<int64_t>(op.space == 1 ? op.addr & kRegion : op.addr);
        for (uint32_t i = 0; i < op.count1; ++i) {
            Add(bytes, {op.space, op.access, at + int64_t{i} * op.stride1, op.len, op.count0, op.stride0});
        }
    }
    return bytes;
}

inline std::string Difference(const Bytes& got, const Bytes& want)
{
    const auto text = [](const std::pair<uint32_t, int64_t>& byte) {
        return std::string((byte.first & 3) == kReads ? "reads" : "writes") + " byte " + std::to_string(byte.second) + " of memory " +
               std::to_string(byte.first / 4);
    };
    for (const auto& byte : got) {
        if (want.count(byte) == 0) return text(byte) + " by mistake";
    }
    for (const auto& byte : want) {
        if (got.count(byte) == 0) return text(byte) + ", but says it does not";
    }
    return "";
}

/// Runs `body` on a core of a kind with its trace.
inline Trace Traced(const char* file, Callee<void()> body, ascendsim::KernelType type)
{
    ascendsim::OpenTrace(file);
    const auto result = OnCore(body, 1, type);
    Expect(ascendsim::CloseTrace(), "closing the trace");
    Expect(result.faults == 0, result.first_fault);
    Trace trace = ReadTrace(file);
    std::remove(file);
    return trace;
}

/// The records of `name` that `body` makes say together exactly these bytes, and in their heads `repeat` and, where given, `numbers`.
inline void CheckRecord(const std::string& name, uint32_t repeat, const std::vector<Span>& spans, Callee<void()> body,
                        ascendsim::KernelType type = ascendsim::KernelType::kAiv, const std::vector<uint32_t>& numbers = {})
{
    Bytes want;
    for (const Span& span : spans) {
        Add(want, span);
    }
    const Trace trace = Traced((name + ".trace").c_str(), body, type);
    Bytes got;
    bool found = false;
    for (const Record& record : trace.records) {
        if (record.name != name) continue;
        for (const auto& op : record.ops) {
            Expect((op.count0 > 1 || op.stride0 == 0) && (op.count1 > 1 || op.stride1 == 0), name + ": a stride without a second piece");
        }
        Expect(!spans.empty() || record.ops.empty(), name + ": operands of nothing");
        const Bytes more = BytesOf(record);
        got.insert(more.begin(), more.end());
        Expect(record.head.repeat == repeat, name + ": repeat " + std::to_string(record.head.repeat));
        const std::vector<uint32_t> says = {record.head.aux0, record.head.aux1, record.head.aux2};
        Expect(numbers.empty() || (says == numbers && record.head.flags == 0),
               name + ": numbers " + std::to_string(says[0]) + " " + std::to_string(says[1]) + " " + std::to_string(says[2]) + ", flags " +
                   std::to_string(record.head.flags));
        found = true;
    }
    const std::string difference = Difference(got, want);
    Expect(found && difference.empty(), name + ": " + (found ? difference : "no record"));
}

}  // namespace isa_test

#endif
