/* Kernels compiled while a program runs. Here nothing is compiled then: the tool that builds a program finds the texts of its kernels
   and compiles them with it (ascendsim/run_time_kernel.h), and a text that it did not find is refused. */
#ifndef ASCEND_SDK_ACL_RT_COMPILE_H
#define ASCEND_SDK_ACL_RT_COMPILE_H

#include <stddef.h>

#include "acl/acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void* aclrtcProg;

enum {
    ACL_ERROR_RTC_INVALID_PROG = 176000,
    ACL_ERROR_RTC_INVALID_INPUT = 176001,
    ACL_ERROR_RTC_INVALID_OPTION = 176002,
    ACL_ERROR_RTC_COMPILATION = 176003,
    ACL_ERROR_RTC_LINKING = 176004,
    ACL_ERROR_RTC_NO_NAME_EXPR_AFTER_COMPILATION = 176005,
    ACL_ERROR_RTC_NO_LOWERED_NAMES_BEFORE_COMPILATION = 176006,
    ACL_ERROR_RTC_NAME_EXPR_NOT_VALID = 176007,
    ACL_ERROR_RTC_PROG_CREATION_FAILURE = 276000,
    ACL_ERROR_RTC_OUT_OF_MEMORY = 276001,
    ACL_ERROR_RTC_FAILURE = 576000
};

/* Headers given as texts are not known to the tool: a program that has any is refused. */
aclError aclrtcCreateProg(aclrtcProg* prog, const char* src, const char* name, int numHeaders, const char** headers,
                          const char** includeNames);
aclError aclrtcCompileProg(aclrtcProg prog, int numOptions, const char** options);
aclError aclrtcAddNameExpr(aclrtcProg prog, const char* const nameExpression);
/* The name lives as long as the program does. */
aclError aclrtcGetLoweredName(aclrtcProg prog, const char* nameExpression, const char** loweredName);
aclError aclrtcDestroyProg(aclrtcProg* prog);
aclError aclrtcGetBinData(aclrtcProg prog, char* binData);
aclError aclrtcGetBinDataSize(aclrtcProg prog, size_t* binDataSizeRet);
/* With the null byte at the end of the log. */
aclError aclrtcGetCompileLogSize(aclrtcProg prog, size_t* logSizeRet);
aclError aclrtcGetCompileLog(aclrtcProg prog, char* log);

#ifdef __cplusplus
}
#endif

#endif
