// main() of kernel test programs: `--list` prints the names of the tests, `--run NAME` runs one and writes what happened
// to the file named by ASCEND_UNIT_RESULT, as JSON. One process a test, so that a crash costs one result only.
#include "report.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include <sys/wait.h>

namespace ascend_unit {
namespace {

struct Entry {
    std::string name;
    std::function<void()> run;
};

struct Script {
    std::string command;
    int status;
    bool after_launch;
    std::string output;
};

struct Failure {
    std::string file;
    int line;
    std::string text;
};

struct Program {
    std::vector<Entry> tests;
    std::vector<std::function<void()>> sources;
    std::vector<Failure> failures;
    std::vector<Script> scripts;
    std::string skipped;
    bool is_skipped = false;
    bool stopped = false;
    unsigned launches = 0;
    unsigned checks = 0;
    unsigned checks_after_launch = 0;
};

Program& The()
{
    static Program* const program = new Program();
    return *program;
}

std::string Quoted(const std::string& text)
{
    std::string out = "\"";
    for (const char each : text) {
        const unsigned char byte = static_cast<unsigned char>(each);
        if (each == '"' || each == '\\') {
            out += '\\';
            out += each;
        } else if (each == '\n') {
            out += "\\n";
        } else if (byte < 0x20 || byte >= 0x7F) {
            char code[8];
            (void)std::snprintf(code, sizeof(code), "\\u%04x", byte);
            out += code;
        } else {
            out += each;
        }
    }
    return out + "\"";
}

void WriteResult(bool finished)
{
    const char* const path = std::getenv("ASCEND_UNIT_RESULT");
    if (path == nullptr) {
        return;
    }
    const Program& program = The();
    std::ostringstream json;
    json << "{\"finished\":" << (finished ? "true" : "false") << ",\"launches\":" << program.launches
         << ",\"checks\":" << program.checks << ",\"checks_after_launch\":" << program.checks_after_launch;
    if (program.is_skipped) {
        json << ",\"skipped\":" << Quoted(program.skipped);
    }
    json << ",\"failures\":[";
    for (size_t index = 0; index < program.failures.size(); ++index) {
        const Failure& failure = program.failures[index];
        json << (index > 0 ? "," : "") << "{\"file\":" << Quoted(failure.file) << ",\"line\":" << failure.line
             << ",\"text\":" << Quoted(failure.text) << "}";
    }
    json << "],\"scripts\":[";
    for (size_t index = 0; index < program.scripts.size(); ++index) {
        const Script& script = program.scripts[index];
        json << (index > 0 ? "," : "") << "{\"command\":" << Quoted(script.command) << ",\"status\":" << script.status
             << ",\"after_launch\":" << (script.after_launch ? "true" : "false")
             << ",\"output\":" << Quoted(script.output) << "}";
    }
    json << "]}\n";
    std::ofstream(path) << json.str();
}

}  // namespace

bool AddTest(std::string name, std::function<void()> run)
{
    The().tests.push_back({std::move(name), std::move(run)});
    return true;
}

void AddSource(std::function<void()> add) { The().sources.push_back(std::move(add)); }

void NoteCheck()
{
    Program& program = The();
    ++program.checks;
    if (program.launches > 0) {
        ++program.checks_after_launch;
    }
}

void NoteFailure(const char* file, int line, const std::string& what, const std::string& message, bool fatal)
{
    Program& program = The();
    program.stopped = program.stopped || fatal;
    constexpr size_t kept = 20;
    if (program.failures.size() < kept) {
        program.failures.push_back({file, line, message.empty() ? what : what + ": " + message});
    }
    WriteResult(false);
}

void NoteSkip(const std::string& why)
{
    The().is_skipped = true;
    The().skipped = why;
    The().stopped = true;
}

void NoteLaunch()
{
    ++The().launches;
    WriteResult(false);
}

bool CurrentFailed() { return !The().failures.empty(); }
bool CurrentStopped() { return The().stopped; }

}  // namespace ascend_unit

/// Stands before the C library's: tests make data and compare results by scripts whose status they rarely look at.
extern "C" int system(const char* command)
{
    using namespace ascend_unit;
    if (command == nullptr) {
        return 1;
    }
    const bool after = The().launches > 0;
    std::FILE* const pipe = ::popen((std::string("{ ") + command + "\n} 2>&1").c_str(), "r");
    if (pipe == nullptr) {
        return -1;
    }
    std::string output;
    char part[512];
    constexpr size_t kept = 2000;
    while (const size_t count = std::fread(part, 1, sizeof(part), pipe)) {
        output.append(part, count);
        if (output.size() > 2 * kept) {
            output.erase(0, output.size() - kept);
        }
    }
    const int ended = ::pclose(pipe);
    if (output.size() > kept) {
        output.erase(0, output.size() - kept);
    }
    const int status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128;
    The().scripts.push_back({command, status, after, output});
    WriteResult(false);
    return ended;
}

int main(int count, char** words)
{
    using namespace ascend_unit;
    Program& program = The();
    for (const auto& source : program.sources) {
        source();
    }
    const std::string action = count > 1 ? words[1] : "";
    if (action == "--list") {
        // Output may be cut by whoever reads it; a file is whole.
        const char* const path = std::getenv("ASCEND_UNIT_LIST");
        std::ofstream list(path == nullptr ? "/dev/stdout" : path);
        for (const Entry& test : program.tests) {
            list << test.name << "\n";
        }
        return 0;
    }
    if (action == "--run" && count > 2) {
        for (const Entry& test : program.tests) {
            if (test.name == words[2]) {
                WriteResult(false);
                test.run();
                WriteResult(true);
                return program.failures.empty() ? 0 : 1;
            }
        }
    }
    std::fprintf(stderr, "usage: %s --list | --run TEST\n", words[0]);
    return 2;
}
