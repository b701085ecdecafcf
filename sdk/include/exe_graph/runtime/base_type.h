// Return type of registered host functions.
#ifndef ASCEND_SDK_EXE_GRAPH_BASE_TYPE_H
#define ASCEND_SDK_EXE_GRAPH_BASE_TYPE_H

typedef unsigned int UINT32;
typedef UINT32 KernelStatus;

#endif
