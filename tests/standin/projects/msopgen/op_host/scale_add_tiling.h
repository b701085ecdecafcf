// Tiling data of ScaleAdd: what the host decides and every core reads.
#ifndef SCALE_ADD_TILING_H
#define SCALE_ADD_TILING_H

#include "register/tilingdata_base.h"

namespace optiling {

BEGIN_TILING_DATA_DEF(ScaleAddTilingData)
TILING_DATA_FIELD_DEF(uint32_t, coreLength); // elements of one core
TILING_DATA_FIELD_DEF(uint32_t, tileLength); // elements of one tile
TILING_DATA_FIELD_DEF(float, scale);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(ScaleAdd, ScaleAddTilingData)

} // namespace optiling

#endif // SCALE_ADD_TILING_H
