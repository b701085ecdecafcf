// Structures that library functions (softmax, matrix multiplication, ...) are tiled by, as kernels see them: plain
// structures of the layout that the classes of the same name have in tiling functions. For both sides, and without
// anything but fixed-width integers, so that any header set can include it.
#ifndef KERNEL_TILING_KERNEL_TILING_H
#define KERNEL_TILING_KERNEL_TILING_H

#include <cstdint>

namespace AscendC {
namespace tiling {
#define BEGIN_LIBRARY_TILING(name) struct name {
#define LIBRARY_TILING_FIELD(type, name) type name = 0;
#define LIBRARY_TILING_ARRAY(type, count, name) type name[count] = {};
#define LIBRARY_TILING_PART(type, name) type name;
#define END_LIBRARY_TILING \
    }                      \
    ;
#include "kernel_tiling/library_tilings.h"
} // namespace tiling
} // namespace AscendC

using AscendC::tiling::Mc2ServerCfg;
using AscendC::tiling::Mc2HcommCfg;
using AscendC::tiling::Mc2InitTiling;
using AscendC::tiling::Mc2CcTiling;
using AscendC::tiling::TConv3DApiTiling;
using AscendC::tiling::TConv3DBpFilterTiling;
using AscendC::tiling::Conv3DBpFilterParams;
using AscendC::tiling::TConv3DBpFilterBasicBlockTiling;
using AscendC::tiling::Conv3DBackpropFilterTilingData;
using AscendC::tiling::TConv3DBackpropInputTiling;
using AscendC::tiling::Conv3DBackpropInputTilingData;
using AscendC::tiling::TCubeTiling;
using AscendC::tiling::SoftMaxTiling;
using AscendC::tiling::LogSoftMaxTiling;
using AscendC::tiling::LayerNormTiling;
using AscendC::tiling::LayerNormSeparateTiling;
using AscendC::tiling::LayerNormGradTiling;
using AscendC::tiling::LayerNormGradBetaTiling;
using AscendC::tiling::RmsNormTiling;
using AscendC::tiling::BatchNormTiling;
using AscendC::tiling::DeepNormTiling;
using AscendC::tiling::GroupNormTiling;
using AscendC::tiling::UnPadTiling;
using AscendC::tiling::PadTiling;
using AscendC::tiling::TopkTiling;
using AscendC::tiling::ConfusionTransposeTiling;

#endif
