// Helpers of the operator base library and storage of attribute values.
#include <cstring>
#include <sstream>

#include "ascendsim/types.h"
#include "op_common/op_host/infershape_broadcast_util.h"
#include "op_common/op_host/infershape_elewise_util.h"
#include "op_common/op_host/infershape_reduce_util.h"
#include "op_common/op_host/tiling_base_class.h"
#include "op_common/op_host/tiling_base_util.h"
#include "op_common/op_host/util/bfloat16.h"
#include "op_common/op_host/util/const_util.h"
#include "op_common/op_host/util/fp16.h"
#include "op_common/op_host/util/math_util.h"
#include "op_common/op_host/util/shape_util.h"

namespace gert {
void RuntimeAttrs::AppendValue(const void* bytes, size_t size)
{
    // One word more than needed: an empty value still has an address, and a text an end.
    values_.emplace_back(size / sizeof(uint64_t) + 1, 0);
    if (size > 0) {
        (void)std::memcpy(values_.back().data(), bytes, size);
    }
}
} // namespace gert

namespace Ops {
namespace Base {
fp16_t::fp16_t(float value)
{
    uint32_t bits = 0;
    (void)std::memcpy(&bits, &value, sizeof(bits));
    val = ascendsim::HalfBitsFromFloatBits(bits);
}

fp16_t::operator float() const
{
    half number;
    (void)std::memcpy(static_cast<void*>(&number), &val, sizeof(val));
    return static_cast<float>(number);
}

bfloat16::bfloat16(float number)
{
    const bfloat16_t rounded = static_cast<bfloat16_t>(number);
    (void)std::memcpy(&value, static_cast<const void*>(&rounded), sizeof(value));
}

bfloat16::operator float() const
{
    bfloat16_t number;
    (void)std::memcpy(static_cast<void*>(&number), &value, sizeof(value));
    return static_cast<float>(number);
}

uint64_t LastPow2(uint64_t n)
{
    return n == 0 ? 0 : uint64_t(1) << (63 - __builtin_clzll(n));
}

void SetUnknownRank(gert::Shape& shape)
{
    shape.SetDimNum(0);
    shape.AppendDim(ge::UNKNOWN_DIM_NUM);
}

bool IsUnknownRank(const gert::Shape& shape)
{
    return shape.GetDimNum() == 1 && shape.GetDim(0) == ge::UNKNOWN_DIM_NUM;
}

void SetUnknownShape(int64_t rank, gert::Shape& shape)
{
    shape.SetDimNum(0);
    for (int64_t i = 0; i < rank; ++i) {
        shape.AppendDim(ge::UNKNOWN_DIM);
    }
}

bool IsUnknownShape(const gert::Shape& shape)
{
    for (size_t i = 0; i < shape.GetDimNum(); ++i) {
        if (shape.GetDim(i) == ge::UNKNOWN_DIM) {
            return true;
        }
    }
    return false;
}

bool IsRegbaseSocVersion(const gert::TilingParseContext* context)
{
    return context != nullptr &&
           platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCurNpuArch() == NpuArch::DAV_3510;
}

bool IsRegbaseSocVersion(const gert::TilingContext* context)
{
    return context != nullptr &&
           platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCurNpuArch() == NpuArch::DAV_3510;
}

const gert::Shape& EnsureNotScalar(const gert::Shape& shape)
{
    static const gert::Shape one = {1};
    return shape.IsScalar() ? one : shape;
}

ge::graphStatus InferShape4Elewise(gert::InferShapeContext* context)
{
    const gert::Shape* const input = context->GetInputShape(0);
    gert::Shape* const output = context->GetOutputShape(0);
    if (input == nullptr || output == nullptr) {
        return ge::GRAPH_FAILED;
    }
    *output = *input;
    return ge::GRAPH_SUCCESS;
}

bool BroadcastShape(const gert::Shape* in1Shape, const gert::Shape* in2Shape, gert::Shape* outShape)
{
    if (IsUnknownRank(*in1Shape) || IsUnknownRank(*in2Shape)) {
        SetUnknownRank(*outShape);
        return true;
    }
    const size_t rank1 = in1Shape->GetDimNum();
    const size_t rank2 = in2Shape->GetDimNum();
    const size_t rank = rank1 > rank2 ? rank1 : rank2;
    gert::Shape result;
    for (size_t i = 0; i < rank; ++i) {
        const int64_t a = i + rank1 < rank ? 1 : in1Shape->GetDim(i + rank1 - rank);
        const int64_t b = i + rank2 < rank ? 1 : in2Shape->GetDim(i + rank2 - rank);
        if (a != b && a != 1 && b != 1 && a != ge::UNKNOWN_DIM && b != ge::UNKNOWN_DIM) {
            return false;
        }
        // An unknown dimension meets a known one: the known one decides unless it is 1.
        result.AppendDim(a == 1 || (a == ge::UNKNOWN_DIM && b != 1) ? b : a);
    }
    *outShape = result;
    return true;
}

bool BroadcastShape(const std::vector<const gert::Shape*>& inShapes, gert::Shape* outShape)
{
    gert::Shape result;
    for (size_t i = 0; i < inShapes.size(); ++i) {
        if (inShapes[i] == nullptr) {
            return false;
        }
        if (i == 0) {
            result = *inShapes[i];
        } else if (!BroadcastShape(&result, inShapes[i], &result)) {
            return false;
        }
    }
    *outShape = result;
    return !inShapes.empty();
}

ge::graphStatus InferShape4Broadcast(gert::InferShapeContext* context)
{
    return InferShape4Broadcast(context, 2);
}

ge::graphStatus InferShape4Broadcast(gert::InferShapeContext* context, size_t inputNum)
{
    std::vector<const gert::Shape*> shapes;
    for (size_t i = 0; i < inputNum; ++i) {
        shapes.push_back(context->GetInputShape(i));
    }
    gert::Shape* const output = context->GetOutputShape(0);
    return output != nullptr && BroadcastShape(shapes, output) ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
}

namespace Detail {
bool ReduceAxes(const gert::Shape& input, const int64_t* axes, size_t count, bool keep_dims, gert::Shape& output)
{
    if (IsUnknownRank(input)) {
        SetUnknownRank(output);
        return true;
    }
    const size_t rank = input.GetDimNum();
    std::vector<bool> reduced(rank, false);
    for (size_t i = 0; i < count; ++i) {
        if (!CheckAxisBounds(rank, axes[i])) {
            return false;
        }
        if (rank > 0) {
            reduced[static_cast<size_t>(axes[i] < 0 ? axes[i] + static_cast<int64_t>(rank) : axes[i])] = true;
        }
    }
    gert::Shape result;
    for (size_t i = 0; i < rank; ++i) {
        if (!reduced[i]) {
            result.AppendDim(input.GetDim(i));
        } else if (keep_dims) {
            result.AppendDim(1);
        }
    }
    output = result;
    return true;
}
} // namespace Detail

ge::graphStatus InferShape4Reduce(gert::InferShapeContext* context)
{
    const gert::Shape* const input = context->GetInputShape(0);
    const gert::Tensor* const axes = context->GetInputTensor(1);
    gert::Shape* const output = context->GetOutputShape(0);
    const bool* const keep_dims = context->GetAttrs()->GetBool(0);
    if (input == nullptr || axes == nullptr || output == nullptr || keep_dims == nullptr) {
        return ge::GRAPH_FAILED;
    }
    const int32_t count = static_cast<int32_t>(axes->GetShapeSize());
    return axes->GetDataType() == ge::DT_INT64 ? ReduceDims<int64_t>(input, axes, count, *keep_dims, output) :
                                                 ReduceDims<int32_t>(input, axes, count, *keep_dims, output);
}

ge::graphStatus TilingBaseClass::DoTiling()
{
    if (context_ == nullptr) {
        return ge::GRAPH_FAILED;
    }
    ge::graphStatus status = GetShapeAttrsInfo();
    if (status == ge::GRAPH_SUCCESS) {
        status = GetPlatformInfo();
    }
    if (status != ge::GRAPH_SUCCESS) {
        return status;
    }
    if (!IsCapable()) {
        return ge::GRAPH_PARAM_INVALID;
    }
    using Step = ge::graphStatus (TilingBaseClass::*)();
    const Step steps[] = {&TilingBaseClass::DoOpTiling, &TilingBaseClass::DoLibApiTiling,
                          &TilingBaseClass::GetWorkspaceSize, &TilingBaseClass::PostTiling};
    for (const Step step : steps) {
        status = (this->*step)();
        if (status != ge::GRAPH_SUCCESS) {
            return status;
        }
    }
    (void)context_->SetTilingKey(GetTilingKey());
    DumpTilingInfo();
    return ge::GRAPH_SUCCESS;
}

uint32_t TilingBaseClass::CalcTschBlockDim(uint32_t sliceNum, uint32_t aicCoreNum, uint32_t aivCoreNum)
{
    return platform_ascendc::PlatformAscendC(nullptr).CalcTschBlockDim(sliceNum, aicCoreNum, aivCoreNum);
}

std::string TilingBaseClass::GetTensorDebugStr(const gert::StorageShape* shape,
                                               const gert::CompileTimeTensorDesc* tensor)
{
    if (shape == nullptr || tensor == nullptr) {
        return "nil ";
    }
    return ToString(tensor->GetDataType()) + " " + GetShapeDebugStr(shape->GetStorageShape()) + " " +
           ToString(tensor->GetStorageFormat()) + " ";
}

std::string TilingBaseClass::GetTilingContextDebugStr()
{
    std::string text;
    for (size_t i = 0; i < context_->GetComputeNodeInputNum(); ++i) {
        text += "input" + std::to_string(i) + ": " +
                GetTensorDebugStr(context_->GetInputShape(i), context_->GetInputDesc(i));
    }
    for (size_t i = 0; i < context_->GetComputeNodeOutputNum(); ++i) {
        text += "output" + std::to_string(i) + ": " +
                GetTensorDebugStr(context_->GetOutputShape(i), context_->GetOutputDesc(i));
    }
    return text;
}

std::string TilingBaseClass::GetTilingDataDebugStr() const
{
    const gert::TilingData* const data = context_->GetRawTilingData();
    std::ostringstream text;
    for (size_t i = 0; data != nullptr && i + sizeof(int32_t) <= data->GetDataSize(); i += sizeof(int32_t)) {
        int32_t word = 0;
        (void)std::memcpy(&word, static_cast<const char*>(data->GetData()) + i, sizeof(word));
        text << word << ", ";
    }
    return text.str();
}
} // namespace Base
} // namespace Ops
