// The log calls that macros end in. Lines go to a ring that the runner reports (see log/log.h).
#ifndef ASCEND_SDK_BASE_ALOG_PUB_H
#define ASCEND_SDK_BASE_ALOG_PUB_H

#include <cstdint>

#include "toolchain/log_types.h"

#ifndef DLOG_DEBUG
#define DLOG_DEBUG 0
#endif
#ifndef DLOG_INFO
#define DLOG_INFO 1
#endif
#ifndef DLOG_WARN
#define DLOG_WARN 2
#endif
#ifndef DLOG_ERROR
#define DLOG_ERROR 3
#endif
#ifndef DLOG_TYPE_DEBUG
#define DLOG_TYPE_DEBUG 0
#define DLOG_TYPE_RUN 1
#endif

// Words that repositories' own log macros put into a line; their build files may say something else.
#ifndef OPS_UTILS_LOG_SUB_MOD_NAME
#define OPS_UTILS_LOG_SUB_MOD_NAME "OP_TILING"
#endif
#ifndef OPS_UTILS_LOG_PACKAGE_TYPE
#define OPS_UTILS_LOG_PACKAGE_TYPE ""
#endif

// The parameters are not checked against the format: operators' own lines are not ours to judge.
extern "C" {
// 1 when lines of the level are kept: warnings and errors, or what ASCEND_GLOBAL_LOG_LEVEL (0-3) says.
int32_t CheckLogLevel(int32_t module_id, int32_t level);
int32_t AlogCheckDebugLevel(uint32_t module_id, int32_t level);
void DlogRecord(int32_t module_id, int32_t level, const char* format, ...);
int32_t AlogRecord(uint32_t module_id, uint32_t type, int32_t level, const char* format, ...);
}

#endif
