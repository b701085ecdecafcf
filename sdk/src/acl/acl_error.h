// Remembers why an AscendCL call failed.
#ifndef ASCEND_SDK_SRC_ACL_ERROR_H
#define ASCEND_SDK_SRC_ACL_ERROR_H

#include <string>

#include "acl/acl_base_rt.h"

namespace ascendsim {
namespace acl {
// Keeps code and text for aclrtGetLastError and aclGetRecentErrMsg, and prints the text to stderr: programs seldom look
// at return codes. Returns the code.
aclError Fail(aclError code, const std::string& message);
} // namespace acl
} // namespace ascendsim

#endif
