// How a job ends when it cannot be done.
#ifndef ASCEND_SDK_RUNNER_FAILURE_H
#define ASCEND_SDK_RUNNER_FAILURE_H

#include <stdexcept>
#include <string>

namespace runner {
enum ExitCode { kExitOk = 0, kExitBadJob = 2, kExitBadLibrary = 3, kExitMachine = 4 };

// The job is wrong (exit code 2), a library cannot be loaded (exit code 3), or files cannot be read or written (exit code 4): then
// nothing is said about the operator.
class Failure : public std::runtime_error {
public:
    Failure(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
    ExitCode Code() const
    {
        return code_;
    }

private:
    ExitCode code_;
};

// A job that says what cannot be, at this place of it.
[[noreturn]] inline void Bad(const std::string& where, const std::string& message)
{
    throw Failure(kExitBadJob, "job, " + where + ": " + message);
}

// What the process is doing, for the message of a crash. Must point to a text that stays.
void SetStage(const char* stage);
} // namespace runner

#endif
