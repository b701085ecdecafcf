/* All of AscendCL that this SDK has: the runtime. Models and single operators are no part of it. */
#ifndef ASCEND_SDK_ACL_ACL_H
#define ASCEND_SDK_ACL_ACL_H

#include "acl/acl_rt.h"

#endif
