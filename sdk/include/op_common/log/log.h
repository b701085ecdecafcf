// Log and check macros of host code.
//
// Lines of the kept levels (CheckLogLevel) go to a ring of the last lines, which the runner reports with the result:
// an operator that refuses a shape says why in its own words.
#ifndef ASCEND_SDK_OPBASE_LOG_H
#define ASCEND_SDK_OPBASE_LOG_H

#include <sys/syscall.h>
#include <unistd.h>

#include <cinttypes>
#include <mutex>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "base/err_msg.h"
#include "exe_graph/runtime/shape.h"
#include "graph/error_codes.h"
#include "graph/types.h"
#include "op_common/op_host/util/opbase_export.h"

constexpr int32_t OP_MODULE_ID = 63;

namespace ascendsim {
namespace host {
// One line of the ring: "file:line [op] text". `format` is that of printf.
void LogLine(int32_t level, const char* file, int line, const char* op, const char* format, ...);
// A line that is only the operator's text: macros may be called with nothing behind it.
void LogLine(int32_t level, const char* file, int line, const char* op);
} // namespace host
} // namespace ascendsim

namespace Ops {
namespace Base {
static inline uint64_t GetTid()
{
    return static_cast<uint64_t>(syscall(__NR_gettid));
}

inline const char* GetSafeStr(const char* text)
{
    return text == nullptr ? "nil" : text;
}
inline const char* GetSafeStr(const std::string& text)
{
    return text.c_str();
}

// "type:name" of a context; texts stay what they are.
inline std::string GetOpInfo(const std::string& name)
{
    return name;
}
inline std::string GetOpInfo(const char* name)
{
    return GetSafeStr(name);
}
template <class T>
typename std::enable_if<!std::is_convertible<T, std::string>::value, std::string>::type GetOpInfo(T context)
{
    if (context == nullptr) {
        return "nil:nil";
    }
    return std::string(GetSafeStr(context->GetNodeType())) + ":" + GetSafeStr(context->GetNodeName());
}

std::string ToString(ge::DataType type);
std::string ToString(ge::Format format);
std::string ToString(const gert::Shape& shape);
std::string ToString(const std::vector<const gert::Shape*>& shapes);

namespace Detail {
inline std::string Text(const std::string& value)
{
    return value;
}
inline std::string Text(const char* value)
{
    return GetSafeStr(value);
}
template <typename T>
typename std::enable_if<std::is_arithmetic<T>::value, std::string>::type Text(T value)
{
    return std::to_string(value);
}

// One error line "<what> of <param> is <wrong>: <right>".
template <typename Entity, typename Param, typename Wrong, typename Right>
void LogInvalid(const char* file, int line, const Entity& entity, const char* what, const Param& param,
                const Wrong& wrong, const char* relation, const Right& right)
{
    ascendsim::host::LogLine(DLOG_ERROR, file, line, Text(entity).c_str(), "%s of %s is %s, %s %s", what,
                             Text(param).c_str(), Text(wrong).c_str(), relation, Text(right).c_str());
}
} // namespace Detail
} // namespace Base
} // namespace Ops

#ifndef OP_SUBMOD_NAME
#define OP_SUBMOD_NAME "OPS_BASE"
#endif
#ifndef unlikely
#define unlikely(x) __builtin_expect((x), 0)
#endif
#ifndef likely
#define likely(x) __builtin_expect((x), 1)
#endif

#define ASCEND_SDK_LOG(level, opName, ...)                                                                         \
    do {                                                                                                           \
        if (CheckLogLevel(OP_MODULE_ID, (level)) == 1) {                                                           \
            ascendsim::host::LogLine((level), __FILE__, __LINE__, Ops::Base::GetOpInfo(opName).c_str(),            \
                                     ##__VA_ARGS__);                                                               \
        }                                                                                                          \
    } while (0)

#define OpLogSub(moduleId, level, opInfo, ...) ASCEND_SDK_LOG(level, opInfo, ##__VA_ARGS__)
#define OpLogErrSub(moduleId, level, opInfo, ...) ASCEND_SDK_LOG(level, opInfo, ##__VA_ARGS__)
#define D_OP_LOGI(opName, ...) ASCEND_SDK_LOG(DLOG_INFO, opName, ##__VA_ARGS__)
#define D_OP_LOGW(opName, ...) ASCEND_SDK_LOG(DLOG_WARN, opName, ##__VA_ARGS__)
#define D_OP_LOGE(opName, ...) ASCEND_SDK_LOG(DLOG_ERROR, opName, ##__VA_ARGS__)
#define D_OP_LOGD(opName, ...) ASCEND_SDK_LOG(DLOG_DEBUG, opName, ##__VA_ARGS__)
#define OP_LOGI(opName, ...) ASCEND_SDK_LOG(DLOG_INFO, opName, ##__VA_ARGS__)
#define OP_LOGW(opName, ...) ASCEND_SDK_LOG(DLOG_WARN, opName, ##__VA_ARGS__)
#define OP_LOGE(opName, ...) ASCEND_SDK_LOG(DLOG_ERROR, opName, ##__VA_ARGS__)
#define OP_LOGD(opName, ...) ASCEND_SDK_LOG(DLOG_DEBUG, opName, ##__VA_ARGS__)
#define OP_LOGE_WITHOUT_REPORT(opName, ...) ASCEND_SDK_LOG(DLOG_ERROR, opName, ##__VA_ARGS__)
#define OP_LOGE_LIBOPAPI_REPORT(opName, ...) ASCEND_SDK_LOG(DLOG_ERROR, opName, ##__VA_ARGS__)

// An error that ends the function. Operators that define it themselves have the same in mind.
#ifndef OP_LOGE_IF
#define OP_LOGE_IF(condition, return_value, opName, ...) \
    do {                                                 \
        if (condition) {                                 \
            OP_LOGE(opName, ##__VA_ARGS__);              \
            return return_value;                         \
        }                                                \
    } while (0)
#endif
#define OP_CHECK_IF(condition, log, return_expr) \
    do {                                         \
        if (unlikely(condition)) {               \
            log;                                 \
            return_expr;                         \
        }                                        \
    } while (0)

#define OP_CHECK_NULL_WITH_CONTEXT(context, ptr)                                                       \
    do {                                                                                               \
        if (unlikely((ptr) == nullptr)) {                                                              \
            OP_LOGE((context) == nullptr ? "nil" : (context)->GetNodeName(), "%s is nullptr!", #ptr);  \
            return ge::GRAPH_FAILED;                                                                   \
        }                                                                                              \
    } while (0)

// Reports of a wrong argument. The first argument is the operator's name.
#define ASCEND_SDK_INVALID(entity, what, param, wrong, relation, right) \
    Ops::Base::Detail::LogInvalid(__FILE__, __LINE__, entity, what, param, wrong, relation, right)
#define ASCEND_SDK_MUST_BE "it should be"
#define ASCEND_SDK_BECAUSE "reason:"

#define OP_LOGE_WITH_INVALID_INPUT_SHAPE(e, index, wrong, right) \
    ASCEND_SDK_INVALID(e, "shape", index, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_WITH_INVALID_ATTR(e, p, wrong, right) \
    ASCEND_SDK_INVALID(e, "attribute", p, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_WITH_INVALID_ATTR_SIZE(e, p, wrong, right) \
    ASCEND_SDK_INVALID(e, "attribute size", p, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_WITH_INVALID_INPUT(e, p) ASCEND_SDK_INVALID(e, "presence", p, "empty", ASCEND_SDK_MUST_BE, "given")
#define OP_LOGE_WITH_INVALID_INPUT_SHAPESIZE(e, index, wrong, right) \
    ASCEND_SDK_INVALID(e, "shape size", index, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_WITH_INVALID_INPUT_FORMAT(e, p, wrong, right) \
    ASCEND_SDK_INVALID(e, "format", p, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_WITH_INVALID_INPUT_DTYPE(e, p, wrong, right) \
    ASCEND_SDK_INVALID(e, "dtype", p, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_FOR_INVALID_SHAPE(e, p, wrong, right) \
    ASCEND_SDK_INVALID(e, "shape", p, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_FOR_INVALID_SHAPE_WITH_REASON(e, p, wrong, reason) \
    ASCEND_SDK_INVALID(e, "shape", p, wrong, ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_SHAPES_WITH_REASON(e, p, wrong, reason) \
    ASCEND_SDK_INVALID(e, "shapes", p, wrong, ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_SHAPEDIM(e, p, wrong, right) \
    ASCEND_SDK_INVALID(e, "rank", p, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_FOR_INVALID_SHAPEDIM_WITH_REASON(e, p, wrong, reason) \
    ASCEND_SDK_INVALID(e, "rank", p, wrong, ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_SHAPEDIMS_WITH_REASON(e, p, wrong, reason) \
    ASCEND_SDK_INVALID(e, "ranks", p, wrong, ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_SHAPESIZE(e, p, wrong, right) \
    ASCEND_SDK_INVALID(e, "shape size", p, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_FOR_INVALID_SHAPESIZE_WITH_REASON(e, p, wrong, reason) \
    ASCEND_SDK_INVALID(e, "shape size", p, wrong, ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_SHAPESIZES_WITH_REASON(e, p, wrong, reason) \
    ASCEND_SDK_INVALID(e, "shape sizes", p, wrong, ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_FORMAT(e, p, wrong, right) \
    ASCEND_SDK_INVALID(e, "format", p, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_FOR_INVALID_FORMAT_WITH_REASON(e, p, wrong, reason) \
    ASCEND_SDK_INVALID(e, "format", p, wrong, ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_FORMATS_WITH_REASON(e, p, wrong, reason) \
    ASCEND_SDK_INVALID(e, "formats", p, wrong, ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_DTYPE(e, p, wrong, right) \
    ASCEND_SDK_INVALID(e, "dtype", p, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_FOR_INVALID_DTYPE_WITH_REASON(e, p, wrong, reason) \
    ASCEND_SDK_INVALID(e, "dtype", p, wrong, ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_DTYPES_WITH_REASON(e, p, wrong, reason) \
    ASCEND_SDK_INVALID(e, "dtypes", p, wrong, ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_TENSORNUM(e, p, wrong, right) \
    ASCEND_SDK_INVALID(e, "number of tensors", p, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_FOR_INVALID_TENSORNUMS_WITH_REASON(e, p, wrong, reason) \
    ASCEND_SDK_INVALID(e, "numbers of tensors", p, wrong, ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_VALUE(e, p, wrong, right) \
    ASCEND_SDK_INVALID(e, "value", p, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_FOR_INVALID_VALUE_WITH_REASON(e, p, wrong, reason) \
    ASCEND_SDK_INVALID(e, "value", p, wrong, ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_VALUES_WITH_REASON(e, p, wrong, reason) \
    ASCEND_SDK_INVALID(e, "values", p, wrong, ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_LISTSIZE(e, p, wrong, right) \
    ASCEND_SDK_INVALID(e, "list size", p, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_FOR_INVALID_LISTSIZE_WITH_REASON(e, p, wrong, reason) \
    ASCEND_SDK_INVALID(e, "list size", p, wrong, ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_STRIDE(e, p, wrong, right) \
    ASCEND_SDK_INVALID(e, "stride", p, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_FOR_INVALID_ARGUMENT_WITH_REASON(e, p, reason) \
    ASCEND_SDK_INVALID(e, "argument", p, "invalid", ASCEND_SDK_BECAUSE, reason)
#define OP_LOGE_FOR_INVALID_CONFIG(e, file, item, wrong, right) \
    ASCEND_SDK_INVALID(e, "configuration", item, wrong, ASCEND_SDK_MUST_BE, right)
#define OP_LOGE_FOR_INVALID_CONFIG_WITH_REASON(e, file, item, wrong, reason) \
    ASCEND_SDK_INVALID(e, "configuration", item, wrong, ASCEND_SDK_BECAUSE, reason)

#endif
