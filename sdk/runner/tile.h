// Runs the tiling function of an operator.
#ifndef ASCEND_SDK_RUNNER_TILE_H
#define ASCEND_SDK_RUNNER_TILE_H

#include <cstdint>
#include <string>
#include <vector>

#include "call.h"
#include "exe_graph/runtime/tiling_context.h"

namespace runner {
struct Tiling {
    std::string error; // empty: the tiling function succeeded
    gert::TilingContext::Decision decision;
    std::vector<uint8_t> data;
};

Tiling RunTiling(const Job& job, const Call& call);
} // namespace runner

#endif
