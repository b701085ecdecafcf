// The kernel-side API of Ascend C for vector cores of NPU architecture 2201.
#ifndef KERNEL_OPERATOR_H
#define KERNEL_OPERATOR_H

#include "ascendc/adv/activation.h"
#include "ascendc/adv/math.h"
#include "ascendc/atomic.h"
#include "ascendc/block_info.h"
#include "ascendc/data_copy.h"
#include "ascendc/debug.h"
#include "ascendc/dtype_ids.h"
#include "ascendc/gather.h"
#include "ascendc/list_tensor.h"
#include "ascendc/mask.h"
#include "ascendc/operators.h"
#include "ascendc/scalar.h"
#include "ascendc/sort.h"
#include "ascendc/sync.h"
#include "ascendc/tensor.h"
#include "ascendc/tiling.h"
#include "ascendc/tpipe.h"
#include "ascendc/tque.h"
#include "ascendc/transpose.h"
#include "ascendc/vec_binary.h"
#include "ascendc/vec_cast.h"
#include "ascendc/vec_compare_select.h"
#include "ascendc/vec_duplicate.h"
#include "ascendc/vec_reduce.h"
#include "ascendc/vec_scalar.h"
#include "ascendc/vec_unary.h"
#include "ascendc/workspace.h"
#include "ascendsim/knob.h"

#endif
