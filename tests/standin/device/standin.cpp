// Knobs, devices, clocks, failures and times of the stand-in.
#include "standin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "machine/machine.h"

namespace standin {
namespace {

std::string FindOwn()
{
    Dl_info info;
    char path[PATH_MAX];
    if (dladdr(reinterpret_cast<void*>(&Hash), &info) == 0 || realpath(info.dli_fname, path) == nullptr) {
        return "standin";
    }
    std::string folder = path;
    while (!folder.empty()) {
        folder.erase(folder.find_last_of('/'));
        if (access((folder + "/standin/knobs").c_str(), F_OK) == 0) {
            return folder + "/standin";
        }
    }
    return "standin";
}

uint64_t Mix(uint64_t state)
{
    state += 0x9E3779B97F4A7C15ULL;
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ULL;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBULL;
    return state ^ (state >> 31);
}

double Uniform(uint64_t state)
{
    return (static_cast<double>(Mix(state) >> 11) + 0.5) / 9007199254740992.0;
}

double Gaussian(uint64_t state)
{
    constexpr double kTwoPi = 6.283185307179586;
    return std::sqrt(-2.0 * std::log(Uniform(state))) * std::cos(kTwoPi * Uniform(state ^ 0x5DEECE66DULL));
}

std::string Read(const std::string& file)
{
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

// Value of a line `name=value` of a text.
bool Line(const std::string& text, const std::string& name, std::string* value)
{
    std::istringstream lines(text);
    bool found = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.compare(0, name.size() + 1, name + "=") == 0) {
            *value = line.substr(name.size() + 1);
            found = true;
        }
    }
    return found;
}

// Asks the model for the time of the launch in a trace; the answer stays in `answer`.
void Model(const std::string& trace, const std::string& answer)
{
    const std::string command = "'" + Own("model") + "' '" + trace + "' '" + answer + "'";
    if (std::system(command.c_str()) != 0) {
        std::fprintf(stderr, "stand-in: the model has no time for %s\n", trace.c_str());
    }
}

const char* Environment(const char* name)
{
    const char* const text = std::getenv(name);
    return text == nullptr ? "" : text;
}

// What the profiler that started this program wants: which launches it looks at, and where it finds them.
struct Profiler {
    std::string folder = Environment("STANDIN_PROFILE");
    std::string kernels = Environment("STANDIN_PROFILE_KERNELS"); // patterns, or empty for the first operator
    long count = std::atol(Environment("STANDIN_PROFILE_COUNT"));
    long skip = std::atol(Environment("STANDIN_PROFILE_SKIP"));
    long warm_up = std::atol(Environment("STANDIN_PROFILE_WARM_UP"));
    bool kill = std::string(Environment("STANDIN_PROFILE_KILL")) == "on";

    static bool Fits(const std::string& pattern, const std::string& name, size_t p = 0, size_t n = 0)
    {
        if (p == pattern.size()) {
            return true; // a prefix is enough
        }
        if (pattern[p] == '*') {
            return Fits(pattern, name, p + 1, n) || (n < name.size() && Fits(pattern, name, p, n + 1));
        }
        return n < name.size() && pattern[p] == name[n] && Fits(pattern, name, p + 1, n + 1);
    }

    bool Wants(const std::string& kernel)
    {
        if (folder.empty() || count == 0) {
            return false;
        }
        if (kernels.empty()) {
            kernels = kernel; // only the first operator is taken
        }
        std::istringstream patterns(kernels);
        for (std::string pattern; std::getline(patterns, pattern, '|');) {
            if (Fits(pattern, kernel)) {
                return skip-- <= 0;
            }
        }
        return false;
    }
};

Profiler& TheProfiler()
{
    static Profiler profiler;
    return profiler;
}

// What the clock makes of a launch: the device idles slowly and is fast only after some work; and it may never be.
double ClockMhz(uint64_t launches_of_process, double rated_mhz)
{
    const double capped = Number("clock_mhz", rated_mhz);
    const bool cold = launches_of_process < static_cast<uint64_t>(Number("cold_launches", 3));
    return cold ? std::min(capped, Number("idle_mhz", 800)) : capped;
}

} // namespace

std::string Own(const std::string& path)
{
    static const std::string own = FindOwn();
    return own + "/" + path;
}

std::string Knob(const std::string& name, const std::string& fallback)
{
    std::string value;
    return Line(Read(Own("knobs")), name, &value) ? value : fallback;
}

double Number(const std::string& name, double fallback)
{
    const std::string text = Knob(name, "");
    return text.empty() ? fallback : std::atof(text.c_str());
}

uint32_t Devices()
{
    const char* const visible = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
    const auto all = static_cast<uint32_t>(Number("devices", 1));
    if (visible == nullptr) {
        return all;
    }
    std::istringstream list(visible);
    uint32_t count = 0;
    for (std::string one; std::getline(list, one, ',') && !one.empty() && std::atol(one.c_str()) < all;) {
        ++count;
    }
    return count;
}

int Physical(int32_t logical)
{
    if (logical < 0 || static_cast<uint32_t>(logical) >= Devices()) {
        return -1;
    }
    const char* const visible = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
    if (visible == nullptr) {
        return logical;
    }
    std::istringstream list(visible);
    std::string one;
    for (int32_t i = 0; i <= logical; ++i) {
        std::getline(list, one, ',');
    }
    return std::atoi(one.c_str());
}

bool Dead(int physical)
{
    return access(Own("state/dead." + std::to_string(physical)).c_str(), F_OK) == 0;
}

uint64_t Count(const std::string& file)
{
    const int fd = open(Own("state/" + file).c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        return 0;
    }
    const bool written = write(fd, ".", 1) == 1;
    const off_t at = lseek(fd, 0, SEEK_CUR);
    (void)close(fd);
    return written && at > 0 ? static_cast<uint64_t>(at) - 1 : 0;
}

uint64_t Hash(const void* data, size_t bytes, uint64_t seed)
{
    const auto* at = static_cast<const uint8_t*>(data);
    for (size_t i = 0; i < bytes; ++i) {
        seed = (seed ^ at[i]) * 0x100000001B3ULL;
    }
    return seed;
}

Outcome Perform(int physical, const Launched& launched, bool timed, void (*run)(void*), void* argument)
{
    static uint64_t launches_of_process = 0;
    const std::string device = std::to_string(physical);
    Outcome outcome;
    usleep(static_cast<useconds_t>(Number("launch_delay_us", 0)));
    const uint64_t number = Count("launches." + device);
    const auto limit = [&](const char* what) {
        const std::string text = Knob("device." + device + "." + what, "");
        return !text.empty() && number >= std::strtoull(text.c_str(), nullptr, 10);
    };
    if (limit("hangs_after")) {
        outcome.hangs = true;
        return outcome;
    }
    if (limit("dies_after") || Dead(physical)) {
        std::ofstream(Own("state/dead." + device)) << number << "\n";
        outcome.error = 507015;
        return outcome;
    }
    Profiler& profiler = TheProfiler();
    const bool profiled = profiler.Wants(launched.kernel);
    const std::string memo = launched.digest.empty() ? "" : Own("state/model." + launched.digest);
    std::string answer = memo.empty() ? "" : Read(memo);
    if (answer.empty() && (profiled || timed)) {
        const std::string base = Own("state/launch." + std::to_string(getpid()));
        const bool traced = ascendsim::OpenTrace(base + ".trace");
        run(argument);
        if (traced && ascendsim::CloseTrace()) {
            Model(base + ".trace", base + ".model");
            answer = Read(base + ".model");
        }
        (void)unlink((base + ".trace").c_str());
        if (!memo.empty() && !answer.empty()) {
            (void)rename((base + ".model").c_str(), memo.c_str());
        } else {
            (void)unlink((base + ".model").c_str());
        }
    } else {
        run(argument);
    }
    const ascendsim::LaunchResult& launch = ascendsim::LastLaunch();
    const std::string& fault = launch.first_fault;
    if (!launch.completed || fault.compare(0, 17, "out_of_bounds_gm:") == 0 || fault.compare(0, 11, "ub_overflow") == 0) {
        outcome.error = fault.compare(0, 8, "deadlock") == 0 ? 507014 : 507015;
        // What a device's own log would say.
        std::ofstream(Own("state/faults"), std::ios::app) << launched.kernel << ": " << fault << "\n";
        return outcome;
    }
    if (profiled) {
        // Not all counters fit in one pass: the kernel runs again, on what it left.
        const char* const passes = std::getenv("STANDIN_PROFILE_PASSES");
        for (double pass = 1; pass < (passes != nullptr ? std::atof(passes) : Number("replay_passes", 2)); ++pass) {
            run(argument);
        }
        launches_of_process += static_cast<uint64_t>(profiler.warm_up);
    }
    std::string text;
    if (Line(answer, "task_us", &text)) {
        const double rated = Number("rated_mhz", 1800);
        const double clock = ClockMhz(launches_of_process, rated);
        const uint64_t draw = Mix(static_cast<uint64_t>(Number("seed", 1)) * 1000003 + static_cast<uint64_t>(physical)) + number * 7919;
        double factor = 1.0 + Number("noise", 0) * Gaussian(draw);
        if (Uniform(draw ^ 0xABCDEFULL) < Number("spike_share", 0)) {
            factor *= Number("spike_factor", 3);
        }
        factor = std::max(factor, 0.05) * rated / clock;
        outcome.us = std::atof(text.c_str()) * factor;
        if (profiled) {
            const std::string file = profiler.folder + "/" + std::to_string(getpid()) + "." + std::to_string(number);
            std::ofstream stream(file + ".part");
            stream << "kernel=" << launched.kernel << "\nblocks=" << launched.blocks << "\nkind=" << launched.kind
                   << "\ndevice=" << physical << "\npid=" << getpid() << "\nnumber=" << number << "\nfactor=" << factor
                   << "\nclock_mhz=" << clock << "\nrated_mhz=" << rated << "\n" << answer;
            stream.close();
            (void)rename((file + ".part").c_str(), file.c_str());
        }
    }
    ++launches_of_process;
    if (profiled && --profiler.count == 0 && profiler.kill) {
        _exit(0);
    }
    return outcome;
}

} // namespace standin
