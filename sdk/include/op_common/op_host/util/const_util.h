// Reads the values of inputs that must be known at tiling time.
#ifndef ASCEND_SDK_OPBASE_CONST_UTIL_H
#define ASCEND_SDK_OPBASE_CONST_UTIL_H

#include <cstdint>

#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "op_common/log/log.h"

namespace Ops {
namespace Base {
// Callers of this header rely on unqualified ge names inside the namespace.
using namespace ge;

namespace Detail {
// Element `index` of an integer tensor; false for other types.
inline bool IntegerAt(const gert::Tensor& tensor, size_t index, int64_t& value)
{
    switch (tensor.GetDataType()) {
        case ge::DT_INT32:
            value = tensor.GetData<int32_t>()[index];
            return true;
        case ge::DT_UINT32:
            value = tensor.GetData<uint32_t>()[index];
            return true;
        case ge::DT_INT64:
            value = tensor.GetData<int64_t>()[index];
            return true;
        case ge::DT_UINT64:
            value = static_cast<int64_t>(tensor.GetData<uint64_t>()[index]);
            return true;
        default:
            return false;
    }
}

// The tensor when its values are known, else null and a line that says why.
template <typename ContextType>
const gert::Tensor* KnownInput(const ContextType* context, int64_t input_index, const char* caller)
{
    const gert::Tensor* const tensor = context == nullptr ? nullptr : context->GetInputTensor(input_index);
    if (tensor == nullptr || tensor->GetAddr() == nullptr) {
        OP_LOGE(caller, "the values of input %ld are not known", static_cast<long>(input_index));
        return nullptr;
    }
    return tensor;
}
} // namespace Detail

template <typename ContextType, typename T>
bool GetConstInt(const ContextType* context, int64_t inputIdx, T& value)
{
    const gert::Tensor* const tensor = Detail::KnownInput(context, inputIdx, "GetConstInt");
    int64_t number = 0;
    if (tensor == nullptr || tensor->GetSize() == 0 || !Detail::IntegerAt(*tensor, 0, number)) {
        return false;
    }
    value = static_cast<T>(number);
    return true;
}

template <typename ContextType>
bool GetConstIntToShape(const ContextType* context, int64_t inputIdx, gert::Shape& shape)
{
    const gert::Tensor* const tensor = Detail::KnownInput(context, inputIdx, "GetConstIntToShape");
    if (tensor == nullptr) {
        return false;
    }
    const int64_t count = tensor->GetShapeSize();
    shape.SetDimNum(0);
    for (int64_t i = 0; i < count; ++i) {
        int64_t dim = 0;
        if (!Detail::IntegerAt(*tensor, static_cast<size_t>(i), dim)) {
            return false;
        }
        shape.AppendDim(dim);
    }
    return true;
}
} // namespace Base
} // namespace Ops

#endif
