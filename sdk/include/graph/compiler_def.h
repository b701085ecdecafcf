// Attributes that host code puts on registration objects.
#ifndef ASCEND_SDK_GRAPH_COMPILER_DEF_H
#define ASCEND_SDK_GRAPH_COMPILER_DEF_H

#ifndef VAR_UNUSED
#define VAR_UNUSED __attribute__((unused))
#endif

#endif
