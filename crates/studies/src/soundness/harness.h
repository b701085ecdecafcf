// The program around many variants of small kernels: runs the launches that a job file lists, one after the other, into one trace.
//
// A line of the job: number, variant, blocks, seed, hostile, poison, in place, element type, bytes of x, y, indices, z and extra,
// upper bound of the indices, then the fields of the tiling data. What ran is written before it runs, so that whoever started the
// program knows which launch killed it.
#ifndef ASCEND_TUNE_SOUNDNESS_HARNESS_H
#define ASCEND_TUNE_SOUNDNESS_HARNESS_H

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "machine/machine.h"

// Every kernel of this program has a structure of its own with this name.
#define GET_TILING_DATA(name, pointer) ASCENDSIM_GET_TILING(KernelTilingData, name, pointer)

namespace soundness {

using Entry = void (*)(GM_ADDR x, GM_ADDR y, GM_ADDR indices, GM_ADDR z, GM_ADDR extra, GM_ADDR workspace, GM_ADDR tiling);

struct Variant {
    Entry entry;
    void (*fill)(void* tiling, const std::vector<double>& values);
    size_t tiling_bytes;
};

/// The fields of a structure by their names, whatever their types and their order.
template <typename Tiling>
void Fill(void* to, const std::vector<double>& values)
{
    Tiling data{};
    size_t next = 0;
    const auto set = [&](auto& field) {
        if (next < values.size()) {
            field = static_cast<std::decay_t<decltype(field)>>(values[next]);
        }
        ++next;
    };
    set(data.length);
    set(data.tile);
    set(data.tiles);
    set(data.tail);
    set(data.mode);
    set(data.valid);
    set(data.rounds);
    set(data.divisor);
    set(data.scale);
    set(data.bias);
    std::memcpy(to, &data, sizeof(data));
}

/// Numbers that the seed alone decides.
class Numbers {
public:
    explicit Numbers(uint64_t seed) : state_(seed * 2654435769u + 88172645463325252u) {}
    uint32_t Next()
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<uint32_t>(state_ >> 24);
    }

private:
    uint64_t state_;
};

/// Mostly small numbers with ties, zeros of both signs and equal neighbours among them; hostile ones have no finite bound.
inline double Element(Numbers& numbers, bool hostile)
{
    const uint32_t draw = numbers.Next();
    const double small = (static_cast<double>(numbers.Next() % 2001) - 1000.0) / 256.0;
    if (hostile && draw % 7 == 0) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double values[] = {infinity, -infinity, std::nan(""), 65504.0, -65504.0, 1e-7, -1e-40, 3e38};
        return values[draw / 7 % 8];
    }
    switch (draw % 16) {
        case 0:
            return 0.0;
        case 1:
            return -0.0;
        case 2:
            return (static_cast<double>(numbers.Next() % 33) - 16.0) / 2.0;
        default:
            return small;
    }
}

template <typename T>
void FillWith(uint8_t* to, size_t bytes, uint64_t seed, bool hostile)
{
    Numbers numbers(seed);
    for (size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
        const double drawn = Element(numbers, hostile && !std::is_integral_v<T>);
        const T value = std::is_integral_v<T> ? static_cast<T>(drawn * 4.0) : static_cast<T>(static_cast<float>(drawn));
        std::memcpy(to + at, &value, sizeof(T));
    }
}

inline void FillElements(char type, uint8_t* to, size_t bytes, uint64_t seed, bool hostile)
{
    switch (type) {
        case 'h':
            return FillWith<half>(to, bytes, seed, hostile);
        case 'i':
            return FillWith<int32_t>(to, bytes, seed, hostile);
        case 's':
            return FillWith<int16_t>(to, bytes, seed, hostile);
        default:
            return FillWith<float>(to, bytes, seed, hostile);
    }
}

struct Bound {
    Entry entry;
    uint8_t* x;
    uint8_t* y;
    uint8_t* indices;
    uint8_t* z;
    uint8_t* extra;
    uint8_t* workspace;
    uint8_t* tiling;
};

inline void RunBlock(void* raw)
{
    const Bound bound = *static_cast<const Bound*>(raw);
    bound.entry(bound.x, bound.y, bound.indices, bound.z, bound.extra, bound.workspace, bound.tiling);
}

inline bool RunLine(const std::string& line, const Variant* variants, size_t count)
{
    std::istringstream words(line);
    size_t number = 0, variant = 0, bytes[5] = {};
    uint32_t blocks = 1, seed = 0, hostile = 0, poison = 0, in_place = 0, bound = 1;
    char type = 'f';
    words >> number >> variant >> blocks >> seed >> hostile >> poison >> in_place >> type;
    for (size_t& size : bytes) {
        words >> size;
    }
    if (!(words >> bound) || variant >= count) {
        return false;
    }
    std::vector<double> values;
    for (double value = 0; words >> value;) {
        values.push_back(value);
    }
    using ascendsim::AllocateRegion;
    using ascendsim::RegionRole;
    ascendsim::SetPoison(static_cast<uint8_t>(poison));
    const auto make = [](size_t size, RegionRole role, uint32_t index) {
        return static_cast<uint8_t*>(AllocateRegion(size, role, index));
    };
    Bound launched{};
    launched.entry = variants[variant].entry;
    launched.x = make(bytes[0], in_place ? RegionRole::kUpdated : RegionRole::kInput, 0);
    launched.y = make(bytes[1], RegionRole::kInput, 1);
    launched.indices = make(bytes[2], RegionRole::kInput, 2);
    launched.z = in_place ? launched.x : make(bytes[3], RegionRole::kOutput, 0);
    launched.extra = make(bytes[4], RegionRole::kOther, 1);
    launched.workspace = make(4096, RegionRole::kWorkspace, 0);
    launched.tiling = make(variants[variant].tiling_bytes, RegionRole::kTiling, 0);
    FillElements(type, launched.x, bytes[0], seed, hostile != 0);
    FillElements(type, launched.y, bytes[1], seed + 1000003, hostile != 0);
    FillElements(type, launched.extra, bytes[4], seed + 2000003, false);
    std::memset(launched.workspace, 0, 4096);
    Numbers numbers(seed + 3000017);
    for (size_t at = 0; at + 4 <= bytes[2]; at += 4) {
        const int32_t index = static_cast<int32_t>(numbers.Next() % bound);
        std::memcpy(launched.indices + at, &index, 4);
    }
    variants[variant].fill(launched.tiling, values);
    ascendsim::LaunchInfo info;
    info.kernel = std::to_string(number);
    info.block_dim = blocks;
    ascendsim::RunLaunch(info, &RunBlock, &launched);
    ascendsim::ClearRegions();
    return true;
}

inline int Main(int argc, char** argv, const Variant* variants, size_t count)
{
    // JOB TRACE PROGRESS
    if (argc != 4 || !ascendsim::OpenTrace(argv[2])) {
        return 2;
    }
    ascendsim::SetDumpRegions(true);
    std::ifstream job(argv[1]);
    std::FILE* progress = std::fopen(argv[3], "w");
    if (progress == nullptr) {
        return 2;
    }
    constexpr unsigned kSecondsOfALaunch = 5;
    std::string line;
    for (unsigned at = 0; std::getline(job, line); ++at) {
        std::rewind(progress);
        std::fprintf(progress, "%u\n", at);
        std::fflush(progress);
        (void)alarm(kSecondsOfALaunch);
        if (!RunLine(line, variants, count)) {
            return 2;
        }
    }
    (void)alarm(0);
    std::fclose(progress);
    return ascendsim::CloseTrace() ? 0 : 1;
}

}  // namespace soundness

#endif
