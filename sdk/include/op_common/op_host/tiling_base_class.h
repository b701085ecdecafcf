// Base of tilings that are written as a class: DoTiling() calls the steps in order, each step may stop it.
#ifndef ASCEND_SDK_OPBASE_TILING_BASE_CLASS_H
#define ASCEND_SDK_OPBASE_TILING_BASE_CLASS_H

#include <cstdint>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include "exe_graph/runtime/tiling_context.h"
#include "graph/utils/type_utils.h"
#include "op_common/log/log.h"
#include "platform/soc_spec.h"
#include "tiling/platform/platform_ascendc.h"

namespace Ops {
namespace Base {
struct AiCoreParams {
    uint64_t ubSize = 0;
    union {
        uint64_t numBlocks = 0;
        uint64_t blockDim; // older name
    };
    uint64_t aicNum = 0;
    uint64_t l1Size = 0;
    uint64_t l0aSize = 0;
    uint64_t l0bSize = 0;
    uint64_t l0cSize = 0;
};

struct CompileInfoCommon {
    uint32_t aivNum;
    uint32_t aicNum;
    uint64_t ubSize;
    uint64_t l1Size;
    uint64_t l0aSize;
    uint64_t l0bSize;
    uint64_t l0cSize;
    uint64_t l2CacheSize;
    int64_t coreNum;
    int32_t socVersion;
    uint32_t rsvd;
};

class TilingBaseClass {
public:
    explicit TilingBaseClass(gert::TilingContext* context) : context_(context) {}
    virtual ~TilingBaseClass() = default;

    // GRAPH_PARAM_INVALID means that this class does not apply and the next one may be tried.
    ge::graphStatus DoTiling();

    virtual void Reset(gert::TilingContext* context)
    {
        context_ = context;
    }

protected:
    virtual bool IsCapable() = 0;
    virtual ge::graphStatus GetPlatformInfo() = 0;
    virtual ge::graphStatus GetShapeAttrsInfo() = 0;
    virtual ge::graphStatus DoOpTiling() = 0;
    virtual ge::graphStatus DoLibApiTiling() = 0;
    virtual uint64_t GetTilingKey() const = 0;
    virtual ge::graphStatus GetWorkspaceSize() = 0;
    virtual ge::graphStatus PostTiling() = 0;
    virtual void DumpTilingInfo() {}

    // Blocks to launch when every cube core brings aiv/aic vector cores.
    static uint32_t CalcTschBlockDim(uint32_t sliceNum, uint32_t aicCoreNum, uint32_t aivCoreNum);

    template <typename T>
    std::string GetShapeDebugStr(const T& shape) const
    {
        std::ostringstream text;
        text << "[";
        for (size_t i = 0; i < shape.GetDimNum(); ++i) {
            text << (i == 0 ? "" : ", ") << shape.GetDim(i);
        }
        text << "]";
        return text.str();
    }
    std::string GetTensorDebugStr(const gert::StorageShape* shape, const gert::CompileTimeTensorDesc* tensor);
    std::string GetTilingContextDebugStr();
    std::string GetTilingDataDebugStr() const;

    gert::TilingContext* context_ = nullptr;
    std::unique_ptr<platform_ascendc::PlatformAscendC> ascendcPlatform_{nullptr};
    uint32_t blockDim_{0};
    uint64_t workspaceSize_{0};
    uint64_t tilingKey_{0};
    AiCoreParams aicoreParams_;
};
} // namespace Base
} // namespace Ops

#endif
