#include "log_ring.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "op_common/log/log.h"

namespace ascendsim {
namespace host {
namespace {
constexpr size_t kMaxLineBytes = 1024;

struct Ring {
    std::mutex mutex;
    unsigned long next = 0;
    std::deque<std::pair<unsigned long, std::string>> errors;
    std::deque<std::pair<unsigned long, std::string>> others;
};

// Never destroyed: operators may log while static objects go away.
Ring& TheRing()
{
    static Ring* const ring = new Ring();
    return *ring;
}

// The lowest level that is kept. Below warnings nothing is formatted by default: on a device those levels are off
// too, and a line that nobody ever formatted may well have a wrong format.
int KeptLevel()
{
    static const int level = [] {
        const char* const text = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
        return text != nullptr && text[0] >= '0' && text[0] <= '3' && text[1] == '\0' ? text[0] - '0' : DLOG_WARN;
    }();
    return level;
}

const char* LevelName(int level)
{
    static const char* const names[] = {"DEBUG", "INFO", "WARN", "ERROR"};
    return level >= DLOG_DEBUG && level <= DLOG_ERROR ? names[level] : "LOG";
}

const char* FileName(const char* path)
{
    const char* const slash = std::strrchr(path, '/');
    return slash == nullptr ? path : slash + 1;
}

std::string Formatted(const char* format, va_list arguments)
{
    char text[kMaxLineBytes];
    const int length = std::vsnprintf(text, sizeof(text), format, arguments);
    if (length < 0) {
        return format;
    }
    std::string line(text);
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) {
        line.pop_back();
    }
    return line;
}
} // namespace

void AppendLogLine(int level, std::string line)
{
    Ring& ring = TheRing();
    const std::lock_guard<std::mutex> lock(ring.mutex);
    auto& lines = level >= DLOG_ERROR ? ring.errors : ring.others;
    if (lines.size() == kLogRingLines) {
        lines.pop_front();
    }
    lines.emplace_back(ring.next++, std::string(LevelName(level)) + " " + line);
}

std::vector<std::string> RecentLogLines()
{
    Ring& ring = TheRing();
    const std::lock_guard<std::mutex> lock(ring.mutex);
    std::vector<std::pair<unsigned long, std::string>> all(ring.errors.begin(), ring.errors.end());
    all.insert(all.end(), ring.others.begin(), ring.others.end());
    std::sort(all.begin(), all.end());
    std::vector<std::string> lines;
    lines.reserve(all.size());
    for (auto& entry : all) {
        lines.push_back(std::move(entry.second));
    }
    return lines;
}

void ClearLogLines()
{
    Ring& ring = TheRing();
    const std::lock_guard<std::mutex> lock(ring.mutex);
    ring.errors.clear();
    ring.others.clear();
}

void LogLine(int32_t level, const char* file, int line, const char* op, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const std::string text = Formatted(format, arguments);
    va_end(arguments);
    AppendLogLine(level, std::string(FileName(file)) + ":" + std::to_string(line) + " [" + op + "] " + text);
}

void LogLine(int32_t level, const char* file, int line, const char* op)
{
    AppendLogLine(level, std::string(FileName(file)) + ":" + std::to_string(line) + " " + op);
}

namespace {
template <typename Text>
void Report(const char* code, const std::vector<Text>& keys, const std::vector<Text>& values)
{
    std::string line = code;
    for (size_t i = 0; i < keys.size() && i < values.size(); ++i) {
        line += i == 0 ? ": " : ", ";
        line += keys[i];
        line += "=";
        line += values[i];
    }
    AppendLogLine(DLOG_ERROR, std::move(line));
}
} // namespace

void ReportKeyed(const char* code, const std::vector<const char*>& keys, const std::vector<const char*>& values)
{
    Report(code, keys, values);
}

void ReportKeyed(const char* code, const std::vector<std::string>& keys, const std::vector<std::string>& values)
{
    Report(code, keys, values);
}
} // namespace host
} // namespace ascendsim

extern "C" {
int32_t CheckLogLevel(int32_t, int32_t level)
{
    return level >= ascendsim::host::KeptLevel() ? 1 : 0;
}

int32_t AlogCheckDebugLevel(uint32_t, int32_t level)
{
    return CheckLogLevel(0, level);
}

void DlogRecord(int32_t, int32_t level, const char* format, ...)
{
    if (CheckLogLevel(0, level) == 0) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    ascendsim::host::AppendLogLine(level, ascendsim::host::Formatted(format, arguments));
    va_end(arguments);
}

int32_t AlogRecord(uint32_t, uint32_t, int32_t level, const char* format, ...)
{
    if (CheckLogLevel(0, level) == 0) {
        return 0;
    }
    va_list arguments;
    va_start(arguments, format);
    ascendsim::host::AppendLogLine(level, ascendsim::host::Formatted(format, arguments));
    va_end(arguments);
    return 0;
}
}
