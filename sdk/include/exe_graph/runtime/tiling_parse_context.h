// Context of the function that turns platform information into an operator's compile info.
#ifndef ASCEND_SDK_EXE_GRAPH_TILING_PARSE_CONTEXT_H
#define ASCEND_SDK_EXE_GRAPH_TILING_PARSE_CONTEXT_H

#include "exe_graph/runtime/extended_kernel_context.h"

namespace fe {
class PlatFormInfos;
}

namespace gert {
class TilingParseContext : public ExtendedKernelContext {
public:
    TilingParseContext(const ComputeNodeInfo& node, void* compile_info, fe::PlatFormInfos* platform,
                       const ge::char_t* compiled_json = "{}")
        : ExtendedKernelContext(node), compile_info_(compile_info), platform_(platform), compiled_json_(compiled_json)
    {}

    // Compile-time JSON of the operator; Ascend C operators have none.
    const ge::char_t* GetCompiledJson() const
    {
        return compiled_json_;
    }
    template <typename T>
    T* GetCompiledInfo()
    {
        return static_cast<T*>(compile_info_);
    }
    fe::PlatFormInfos* GetPlatformInfo() const
    {
        return platform_;
    }

private:
    void* compile_info_;
    fe::PlatFormInfos* platform_;
    const ge::char_t* compiled_json_;
};
} // namespace gert

#endif
