#include "tile.h"

#include <memory>

#include "exe_graph/runtime/tiling_parse_context.h"
#include "failure.h"
#include "platform/platform_info.h"

namespace runner {
namespace {
// More than any operator's parameters: the device takes what the compiler measured, which is not known here.
constexpr size_t kTilingCapacityBytes = 64 * 1024;
constexpr uint32_t kMaxBlocks = 65535;
} // namespace

Tiling RunTiling(const Job& job, const Call& call)
{
    Tiling tiling;
    const ascendsim::host::OpEntry& entry = *call.view.entry;
    if (entry.tiling == nullptr) {
        tiling.error = call.view.type + " registers no tiling function";
        return tiling;
    }
    fe::PlatFormInfos& platform = fe::PlatformInfoManager::Instance().Machine();
    platform.SetNumbers(job.machine);

    std::unique_ptr<void, void (*)(void*)> compile_info(nullptr, +[](void*) {});
    if (entry.create_compile_info != nullptr) {
        compile_info = {entry.create_compile_info(), entry.delete_compile_info};
    }
    if (entry.tiling_parse != nullptr) {
        SetStage("running the tiling parse function");
        gert::TilingParseContext parse(call.node, compile_info.get(), &platform);
        const ge::graphStatus status = entry.tiling_parse(&parse);
        if (status != ge::GRAPH_SUCCESS) {
            tiling.error = "the tiling parse function of " + call.view.type + " returned " + std::to_string(status);
            return tiling;
        }
    }

    const auto block = gert::TilingData::CreateCap(kTilingCapacityBytes);
    if (block == nullptr) {
        tiling.error = "out of memory";
        return tiling;
    }
    gert::TilingContext::Question question;
    question.inputs = call.input_tensors;
    question.outputs = call.output_tensors;
    question.compile_info = compile_info.get();
    question.platform = &platform;
    question.tiling_data = reinterpret_cast<gert::TilingData*>(block.get());
    gert::TilingContext context(call.node, question);
    SetStage("running the tiling function");
    const ge::graphStatus status = entry.tiling(&context);
    SetStage("collecting the tiling");
    tiling.decision = context.GetDecision();
    const gert::TilingData& data = *question.tiling_data;
    if (data.GetDataSize() > data.GetCapacity()) {
        tiling.error = "the tiling data size " + std::to_string(data.GetDataSize()) + " is above the capacity of " +
                       std::to_string(data.GetCapacity()) + " bytes";
        return tiling;
    }
    const uint8_t* const bytes = static_cast<const uint8_t*>(data.GetData());
    tiling.data.assign(bytes, bytes + data.GetDataSize());
    if (status != ge::GRAPH_SUCCESS) {
        tiling.error = "the tiling function of " + call.view.type + " returned " +
                       (status == ge::GRAPH_FAILED ? "GRAPH_FAILED" : std::to_string(status));
    } else if (tiling.decision.block_dim == 0 || tiling.decision.block_dim > kMaxBlocks) {
        tiling.error = "the tiling function asks for " + std::to_string(tiling.decision.block_dim) +
                       " blocks; a launch takes 1 to " + std::to_string(kMaxBlocks);
    }
    return tiling;
}
} // namespace runner
