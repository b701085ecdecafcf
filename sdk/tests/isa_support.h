// Shared by the instruction tests: failure counting, random values, running code on a core, reading traces back.
#ifndef ISA_SUPPORT_H
#define ISA_SUPPORT_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ascendsim/isa.h"
#include "ascendsim/launch.h"
#include "machine/machine.h"
#include "machine/trace.h"

namespace isa_test {

/// What somebody calls, for as long as that is being called. With `std::function` in its place, a program of many small
/// checks takes up to twice as long to compile.
template <typename Signature>
class Callee;

template <typename Result, typename... Arguments>
class Callee<Result(Arguments...)> {
public:
    template <typename Callable>
    Callee(Callable&& callable)
        : object_(const_cast<void*>(static_cast<const void*>(&callable))),
          call_([](void* object, Arguments... arguments) -> Result {
              return (*static_cast<std::remove_reference_t<Callable>*>(object))(arguments...);
          })
    {}

    Callee(Result (*function)(Arguments...))
        : object_(reinterpret_cast<void*>(function)), call_([](void* object, Arguments... arguments) -> Result {
              return reinterpret_cast<Result (*)(Arguments...)>(object)(arguments...);
          })
    {}

    Result operator()(Arguments... arguments) const { return call_(object_, arguments...); }

private:
    void* object_;
    Result (*call_)(void*, Arguments...);
};

inline int& Failures()
{
    static int failures = 0;
    return failures;
}

inline void Fail(const std::string& what)
{
    if (++Failures() <= 20) {
        std::printf("FAILED: %s\n", what.c_str());
    }
}

inline void Expect(bool holds, const std::string& what)
{
    if (!holds) {
        Fail(what);
    }
}

inline int Report(const char* name)
{
    std::printf("%s: %s\n", name, Failures() == 0 ? "ok" : "failed");
    return Failures() == 0 ? 0 : 1;
}

/// Small generator with a fixed sequence on every platform.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed * 2654435761u + 88172645463325252ull) {}
    uint64_t Next()
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }
    uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(Next() >> 16) % limit; }
    double Real(double low, double high) { return low + (high - low) * static_cast<double>(Next() >> 11) / 9007199254740992.0; }

private:
    uint64_t state_;
};

/// Whether OnCore looks for instructions without operands, which move and compute nothing: a loop that runs once too often issues
/// them, and no result shows it.
inline bool& LooksForIdle()
{
    static bool looks = false;
    return looks;
}
inline void ExpectNoneIdle(const char* file);

/// Runs `body` as a kernel of `blocks` blocks.
inline ascendsim::LaunchResult OnCore(Callee<void()> body, uint32_t blocks = 1,
                                      ascendsim::KernelType type = ascendsim::LaunchInfo{}.type)
{
    ascendsim::LaunchInfo info;
    info.kernel = "test";
    info.type = type;
    info.block_dim = blocks;
    Callee<void()> copy = body;
    const bool looks = LooksForIdle() && std::getenv("ASCEND_SIM_TRACE") == nullptr && ascendsim::OpenTrace("idle.trace");
    const auto result = ascendsim::RunLaunch(info, [](void* arg) { (*static_cast<Callee<void()>*>(arg))(); }, &copy);
    if (looks) {
        ascendsim::CloseTrace();
        if (result.faults == 0) {
            ExpectNoneIdle("idle.trace");
        }
        std::remove("idle.trace");
    }
    return result;
}

/// A byte of one of the core's memories.
template <typename T>
T* On(uint32_t space, size_t byte = 0)
{
    return reinterpret_cast<T*>(ascendsim::OnChipBase(space) + byte);
}

inline bool Same(double a, double b) { return (a != a && b != b) || a == b; }

struct Record {
    ascendsim::RecordHead head;
    std::string name;
    std::string message;
    std::vector<ascendsim::RecordOperand> ops;
    uint32_t core;
};

struct Trace {
    std::vector<Record> records;
    std::string launch;
    std::string end;
    std::string modules;
    std::vector<uint8_t> regions;
    std::vector<uint8_t> data;
    std::vector<std::pair<uint32_t, uint64_t>> chunks;  // core and bytes of each chunk of records
    bool Has(const std::string& name) const
    {
        for (const Record& record : records) {
            if (record.name == name) {
                return true;
            }
        }
        return false;
    }
    const Record* First(const std::string& name) const
    {
        for (const Record& record : records) {
            if (record.name == name) {
                return &record;
            }
        }
        return nullptr;
    }
};

inline Trace ReadTrace(const std::string& path)
{
    Trace trace;
    FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) {
        Fail("cannot open " + path);
        return trace;
    }
    std::vector<uint8_t> bytes;
    uint8_t block[65536];
    for (size_t got; (got = std::fread(block, 1, sizeof(block), file)) > 0;) {
        bytes.insert(bytes.end(), block, block + got);
    }
    std::fclose(file);
    if (bytes.size() < 8 || std::memcmp(bytes.data(), "ASCTRC02", 8) != 0) {
        Fail("no trace header");
        return trace;
    }
    std::vector<std::string> names;
    for (size_t at = 8; at + 16 <= bytes.size();) {
        uint32_t kind = 0;
        uint32_t core = 0;
        uint64_t size = 0;
        std::memcpy(&kind, &bytes[at], 4);
        std::memcpy(&core, &bytes[at + 4], 4);
        std::memcpy(&size, &bytes[at + 8], 8);
        at += 16;
        const uint8_t* payload = bytes.data() + at;
        const std::string text(reinterpret_cast<const char*>(payload), size);
        if (kind == 1) {
            for (size_t from = 0; from < text.size();) {
                const size_t stop = text.find('\n', from);
                names.push_back(text.substr(from, stop - from));
                from = stop + 1;
            }
        } else if (kind == 2) {
            trace.modules = text;
        } else if (kind == 3) {
            trace.launch = text;
        } else if (kind == 4) {
            trace.regions.assign(payload, payload + size);
        } else if (kind == 6) {
            trace.end = text;
        } else if (kind == 7) {
            trace.data.insert(trace.data.end(), payload, payload + size);
        } else if (kind == 5) {
            trace.chunks.emplace_back(core, size);
            for (size_t p = 0; p < size;) {
                Record record;
                std::memcpy(&record.head, payload + p, sizeof(record.head));
                record.core = core;
                record.name = names.at(record.head.opcode);
                p += sizeof(record.head);
                if (record.name == "fault" || record.name == "note") {
                    record.message.assign(reinterpret_cast<const char*>(payload + p), record.head.aux1);
                    p += (record.head.aux1 + 7) / 8 * 8;
                }
                for (int i = 0; i < record.head.nops; ++i) {
                    ascendsim::RecordOperand op;
                    std::memcpy(&op, payload + p, sizeof(op));
                    record.ops.push_back(op);
                    p += sizeof(op);
                }
                trace.records.push_back(record);
            }
        }
        at += size;
    }
    return trace;
}

inline void ExpectNoneIdle(const char* file)
{
    for (const Record& record : ReadTrace(file).records) {
        // vreducev2 may find nothing to keep.
        const bool instruction = (record.name[0] == 'v' && record.name != "vreducev2") || record.name.rfind("copy_", 0) == 0 || record.name.rfind("scatter", 0) == 0;
        Expect(!instruction || !record.ops.empty(), record.name + " is issued for nothing");
    }
}

/// Marks the bytes that a record says it writes (or reads) in the Unified Buffer.
inline std::vector<bool> Touched(const Record& record, uint8_t access, size_t ub_size)
{
    std::vector<bool> bytes(ub_size, false);
    for (const auto& op : record.ops) {
        if (op.space != 0 || (op.access & access) == 0) {
            continue;
        }
        for (uint32_t i = 0; i < op.count1; ++i) {
            for (uint32_t j = 0; j < op.count0; ++j) {
                for (uint32_t k = 0; k < op.len; ++k) {
                    bytes.at(op.addr + static_cast<uint64_t>(i * op.stride1 + j * op.stride0) + k) = true;
                }
            }
        }
    }
    return bytes;
}

}  // namespace isa_test

#endif
