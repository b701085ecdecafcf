// Error reports to the framework. They are log lines here.
#ifndef ASCEND_SDK_BASE_ERR_MSG_H
#define ASCEND_SDK_BASE_ERR_MSG_H

#include <string>
#include <vector>

#include "base/alog_pub.h"

namespace ascendsim {
namespace host {
// Keeps one error line "code: key=value, ...".
void ReportKeyed(const char* code, const std::vector<const char*>& keys, const std::vector<const char*>& values);
// The same for callers with strings.
void ReportKeyed(const char* code, const std::vector<std::string>& keys, const std::vector<std::string>& values);
} // namespace host
} // namespace ascendsim

#define REPORT_INNER_ERR_MSG(code, ...) DlogRecord(0, DLOG_ERROR, code ": " __VA_ARGS__)
#define REPORT_USER_ERR_MSG(code, ...) DlogRecord(0, DLOG_ERROR, code ": " __VA_ARGS__)
#define REPORT_PREDEFINED_ERR_MSG(code, ...) ascendsim::host::ReportKeyed(code, ##__VA_ARGS__)
#define REPORT_INNER_ERROR(code, ...) DlogRecord(0, DLOG_ERROR, code ": " __VA_ARGS__)
#define REPORT_CALL_ERROR(code, ...) DlogRecord(0, DLOG_ERROR, code ": " __VA_ARGS__)
#define REPORT_INPUT_ERROR(code, ...) ascendsim::host::ReportKeyed(code, ##__VA_ARGS__)

#endif
