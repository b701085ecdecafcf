// What the environment says about the machine, and the knobs.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>

#include "ascendsim/knob.h"
#include "machine/core_state.h"
#include "machine/launch_trace.h"

namespace ascendsim {

namespace machine {

namespace {

bool ReadInteger(const char* name, long long low, long long high, long long* value)
{
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') {
        return false;
    }
    char* end = nullptr;
    errno = 0;
    const long long parsed = std::strtoll(text, &end, 0);
    if (errno != 0 || end == text || *end != '\0' || parsed < low || parsed > high) {
        return false;
    }
    *value = parsed;
    return true;
}

struct Knob {
    bool set = false;
    bool read = false;
    long long value = 0;
};

std::map<std::string, Knob> ReadKnobs()
{
    std::map<std::string, Knob> knobs;
    const char* text = std::getenv("ASCEND_SIM_KNOBS");
    while (text != nullptr && *text != '\0') {
        const char* stop = std::strchr(text, ';');
        const std::string item = stop != nullptr ? std::string(text, stop) : std::string(text);
        const size_t equals = item.find('=');
        if (equals != std::string::npos) {
            const std::string digits = item.substr(equals + 1);
            char* end = nullptr;
            errno = 0;
            const long long value = std::strtoll(digits.c_str(), &end, 0);
            if (errno == 0 && end != digits.c_str() && *end == '\0') {
                knobs[item.substr(0, equals)] = {true, false, value};
            }
        }
        text = stop != nullptr ? stop + 1 : nullptr;
    }
    return knobs;
}

std::map<std::string, Knob>& Knobs()
{
    static std::map<std::string, Knob> knobs = ReadKnobs();
    return knobs;
}

}  // namespace

void ReadEnvironment()
{
    static bool done = false;
    if (done) {
        return;
    }
    done = true;
    long long value = 0;
    if (ReadInteger("ASCEND_SIM_POISON", 0, 255, &value)) {
        g_state.poison = static_cast<uint8_t>(value);
    }
    if (ReadInteger("ASCEND_SIM_BLOCKS_REVERSED", 0, 1, &value)) {
        g_state.blocks_reversed = value != 0;
    }
    if (ReadInteger("ASCEND_SIM_CORES", 1, 1 << 16, &value)) {
        g_state.core_count = static_cast<uint32_t>(value);
    }
    if (ReadInteger("ASCEND_SIM_CORES_AIC", 0, 1 << 16, &value)) {
        g_state.cube_count = static_cast<uint32_t>(value);
    }
    if (ReadInteger("ASCEND_SIM_UB", 32, 64 << 20, &value)) {
        g_state.ub_size = static_cast<size_t>(value);
    }
    if (ReadInteger("ASCEND_SIM_DUMP", 0, 1, &value)) {
        g_state.dump = value == 1;
    }
    if (const char* soc = std::getenv("ASCEND_SIM_SOC"); soc != nullptr && *soc != '\0') {
        g_state.soc = soc;
    }
    if (const char* path = std::getenv("ASCEND_SIM_TRACE"); path != nullptr && *path != '\0') {
        if (!g_state.writer.Active()) {
            WatchTraceLimit();
            g_state.writer.Open(path);
        }
    }
}

}  // namespace machine

using machine::g_state;
using machine::ReadEnvironment;

bool OpenTrace(const std::string& path)
{
    ReadEnvironment();
    machine::WatchTraceLimit();
    return g_state.writer.Open(path);
}
bool CloseTrace() { return g_state.writer.Close(); }
void SetDumpRegions(bool dump)
{
    ReadEnvironment();
    g_state.dump = dump;
}
void SetPoison(uint8_t value)
{
    ReadEnvironment();
    g_state.poison = value;
}
void SetFreshTensors(bool fresh)
{
    ReadEnvironment();
    g_state.fresh_tensors = fresh;
}
void SetChosenBlocks(std::vector<uint32_t> blocks)
{
    ReadEnvironment();
    g_state.chosen = std::move(blocks);
}
void SetBlocksReversed(bool reversed)
{
    ReadEnvironment();
    g_state.blocks_reversed = reversed;
}
uint8_t Poison()
{
    ReadEnvironment();
    return g_state.poison;
}
void SetUbSize(size_t bytes)
{
    ReadEnvironment();
    g_state.ub_size = bytes;
}
void SetCoreCount(uint32_t cores)
{
    ReadEnvironment();
    g_state.core_count = cores;
}
void SetCubeCoreCount(uint32_t cores)
{
    ReadEnvironment();
    g_state.cube_count = cores;
}
int64_t CoreCount()
{
    ReadEnvironment();
    return g_state.core_count;
}
const std::string& SocName()
{
    ReadEnvironment();
    return g_state.soc;
}
void SetSocName(const std::string& name)
{
    ReadEnvironment();
    g_state.soc = name;
}
std::vector<std::string> KnobsRead()
{
    std::vector<std::string> names;
    for (const auto& [name, knob] : machine::Knobs()) {
        if (knob.read) {
            names.push_back(name);
        }
    }
    return names;
}

}  // namespace ascendsim

extern "C" long long ascend_tune_knob(const char* name, long long fallback)
{
    auto& knob = ascendsim::machine::Knobs()[name];
    knob.read = true;
    return knob.set ? knob.value : fallback;
}
