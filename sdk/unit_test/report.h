// What a kernel test program tells the tool: its tests, and of the one that ran, what was checked and what failed.
#ifndef ASCEND_SDK_UNIT_TEST_REPORT_H
#define ASCEND_SDK_UNIT_TEST_REPORT_H

#include <functional>
#include <string>

namespace ascend_unit {

/// Adds a test under "suite.name".
bool AddTest(std::string name, std::function<void()> run);
/// Adds tests that are only known once all of the program's statics are there.
void AddSource(std::function<void()> add);

/// Counts an assertion.
void NoteCheck();
void NoteFailure(const char* file, int line, const std::string& what, const std::string& message, bool fatal);
void NoteSkip(const std::string& why);
/// Counts a kernel launch: what is checked later may have looked at its results.
void NoteLaunch();
bool CurrentFailed();
/// True after a fatal failure or a skip.
bool CurrentStopped();

}  // namespace ascend_unit

#endif
