// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef SHAPE_TRAPS_TILING_H
#define SHAPE_TRAPS_TILING_H

#include "register/tilingdata_base.h"

namespace optiling {

BEGIN_TILING_DATA_DEF(ShapeTrapsTilingData)
TILING_DATA_FIELD_DEF(uint32_t, total);      // elements
TILING_DATA_FIELD_DEF(uint32_t, share);      // elements of one core, the last one may have fewer
TILING_DATA_FIELD_DEF(uint32_t, slots);      // places of the unified buffer that tiles take in turn
TILING_DATA_FIELD_DEF(uint32_t, slotLength); // elements of one of them
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(ShapeTraps, ShapeTrapsTilingData)

} // namespace optiling

#endif // SHAPE_TRAPS_TILING_H
