/* Older name of acl/acl_base_rt.h. */
#ifndef ASCEND_SDK_ACL_BASE_H
#define ASCEND_SDK_ACL_BASE_H

#include "acl/acl_base_rt.h"

#endif
