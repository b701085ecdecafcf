// All structures that library functions are tiled by, as one list with open macros. Who includes this says what
//
//     BEGIN_LIBRARY_TILING(name)
//     LIBRARY_TILING_FIELD(type, name)            one value
//     LIBRARY_TILING_ARRAY(type, count, name)     several
//     LIBRARY_TILING_PART(type, name)             a structure of this list
//     END_LIBRARY_TILING
//
// become: plain structures for kernels (kernel_tiling.h), classes with setters for tiling functions
// (tiling/library_tiling_classes.h). One list, so that both sides agree on names, order and layout.
#include "kernel_tiling/vector_fields.h"
#include "kernel_tiling/matmul_fields.h"
#include "kernel_tiling/convolution_fields.h"
#include "kernel_tiling/communication_fields.h"

#undef BEGIN_LIBRARY_TILING
#undef LIBRARY_TILING_FIELD
#undef LIBRARY_TILING_ARRAY
#undef LIBRARY_TILING_PART
#undef END_LIBRARY_TILING
