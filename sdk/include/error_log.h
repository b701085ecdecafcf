// Check macros that operator sources bring along themselves or take from a toolkit; a definition of their own wins.
#ifndef ASCEND_SDK_ERROR_LOG_H
#define ASCEND_SDK_ERROR_LOG_H

#include "op_common/log/log.h"

#ifndef OP_CHECK
#define OP_CHECK(condition, log, return_expr) OP_CHECK_IF(condition, log, return_expr)
#endif
#ifndef OP_TILING_CHECK
#define OP_TILING_CHECK(condition, log, return_expr) OP_CHECK_IF(condition, log, return_expr)
#endif
#ifndef OP_LOGE_IF
#define OP_LOGE_IF(condition, return_value, op_name, ...) \
    do {                                                  \
        if (condition) {                                  \
            OP_LOGE(op_name, __VA_ARGS__);                \
            return return_value;                          \
        }                                                 \
    } while (0)
#endif
#ifndef OP_LOGW_IF
#define OP_LOGW_IF(condition, op_name, ...) \
    do {                                    \
        if (condition) {                    \
            OP_LOGW(op_name, __VA_ARGS__);  \
        }                                   \
    } while (0)
#endif
#ifndef VECTOR_INNER_ERR_REPORT_TILIING
#define VECTOR_INNER_ERR_REPORT_TILIING(op_name, ...) OP_LOGE(op_name, __VA_ARGS__)
#endif
#ifndef CUBE_INNER_ERR_REPORT
#define CUBE_INNER_ERR_REPORT(op_name, ...) OP_LOGE(op_name, __VA_ARGS__)
#endif
#ifndef OPS_LOG_E
#define OPS_LOG_E(op_name, ...) OP_LOGE(op_name, __VA_ARGS__)
#define OPS_LOG_W(op_name, ...) OP_LOGW(op_name, __VA_ARGS__)
#define OPS_LOG_I(op_name, ...) OP_LOGI(op_name, __VA_ARGS__)
#define OPS_LOG_D(op_name, ...) OP_LOGD(op_name, __VA_ARGS__)
#endif
#ifndef OPS_ERR_IF
#define OPS_ERR_IF(condition, log, return_expr) OP_CHECK_IF(condition, log, return_expr)
#endif
#ifndef OPS_REPORT_VECTOR_INNER_ERR
#define OPS_REPORT_VECTOR_INNER_ERR(op_name, ...) OP_LOGE(op_name, __VA_ARGS__)
#endif

#endif
