// Sizes and names of data types and formats, and what texts, shapes and tensors of graphs do with their bytes.
#include <cstring>

#include "graph/ascend_string.h"
#include "graph/tensor.h"
#include "graph/types.h"
#include "graph/utils/type_utils.h"
#include "op_common/log/log.h"

namespace ge {
namespace {
struct TypeName {
    DataType type;
    const char* name;
};
struct FormatName {
    Format format;
    const char* name; // with the prefix FORMAT_
};

#define ASCEND_SDK_ROW(name, value) {name, #name},
const TypeName kTypeNames[] = {ASCEND_SDK_DATA_TYPES(ASCEND_SDK_ROW)};
const FormatName kFormatNames[] = {ASCEND_SDK_FORMATS(ASCEND_SDK_ROW)};
#undef ASCEND_SDK_ROW

constexpr size_t kFormatPrefix = 7; // "FORMAT_"

const char* NameOf(Format format)
{
    for (const FormatName& row : kFormatNames) {
        if (row.format == format) {
            return row.name + kFormatPrefix;
        }
    }
    return nullptr;
}
} // namespace

const std::vector<int64_t> UNKNOWN_SHAPE = {-1};
const std::vector<int64_t> UNKNOWN_RANK = {-2};
const std::vector<int64_t> DUMMY_SHAPE = {-3};

AscendString::AscendString(const char_t* name) : text_(name == nullptr ? "" : name) {}
AscendString::AscendString(const char_t* name, size_t length)
    : text_(name == nullptr ? std::string() : std::string(name, length))
{}

size_t AscendString::Find(const AscendString& other) const
{
    return text_.find(other.text_);
}

size_t AscendString::Hash() const
{
    return std::hash<std::string>()(text_);
}

bool AscendString::operator<(const AscendString& other) const
{
    return text_ < other.text_;
}

bool AscendString::operator>(const AscendString& other) const
{
    return text_ > other.text_;
}

bool AscendString::operator<=(const AscendString& other) const
{
    return text_ <= other.text_;
}

bool AscendString::operator>=(const AscendString& other) const
{
    return text_ >= other.text_;
}

bool AscendString::operator==(const AscendString& other) const
{
    return text_ == other.text_;
}

bool AscendString::operator!=(const AscendString& other) const
{
    return text_ != other.text_;
}

bool AscendString::operator==(const char_t* other) const
{
    return other != nullptr && text_ == other;
}

Shape::Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}

size_t Shape::GetDimNum() const
{
    return dims_.size();
}

int64_t Shape::GetDim(size_t index) const
{
    return index < dims_.size() ? dims_[index] : 0;
}

graphStatus Shape::SetDim(size_t index, int64_t value)
{
    if (index >= dims_.size()) {
        return GRAPH_FAILED;
    }
    dims_[index] = value;
    return GRAPH_SUCCESS;
}

std::vector<int64_t> Shape::GetDims() const
{
    return dims_;
}

int64_t Shape::GetShapeSize() const
{
    if (dims_.empty()) {
        return 0;
    }
    int64_t size = 1;
    for (const int64_t dim : dims_) {
        if (dim < 0) {
            return -1;
        }
        size *= dim;
    }
    return size;
}

graphStatus Tensor::SetData(const uint8_t* data, size_t size)
{
    if (data == nullptr && size > 0) {
        return GRAPH_FAILED;
    }
    data_.assign(data, data + size);
    return GRAPH_SUCCESS;
}

graphStatus Tensor::SetData(std::vector<uint8_t>&& data)
{
    data_ = std::move(data);
    return GRAPH_SUCCESS;
}

const uint8_t* Tensor::GetData() const
{
    return data_.data();
}

uint8_t* Tensor::GetData()
{
    return data_.data();
}

size_t Tensor::GetSize() const
{
    return data_.size();
}

int GetSizeByDataType(DataType data_type)
{
    switch (data_type) {
        case DT_BOOL:
        case DT_INT8:
        case DT_UINT8:
        case DT_QINT8:
        case DT_QUINT8:
        case DT_DUAL_SUB_INT8:
        case DT_DUAL_SUB_UINT8:
        case DT_HIFLOAT8:
        case DT_FLOAT8_E5M2:
        case DT_FLOAT8_E4M3FN:
        case DT_FLOAT8_E8M0:
            return 1;
        case DT_FLOAT16:
        case DT_BF16:
        case DT_INT16:
        case DT_UINT16:
        case DT_QINT16:
        case DT_QUINT16:
            return 2;
        case DT_FLOAT:
        case DT_INT32:
        case DT_UINT32:
        case DT_QINT32:
        case DT_COMPLEX32:
            return 4;
        case DT_DUAL: // an fp32 and an int8
            return 5;
        case DT_INT64:
        case DT_UINT64:
        case DT_DOUBLE:
        case DT_COMPLEX64:
        case DT_RESOURCE:
        case DT_VARIANT:
            return 8;
        case DT_COMPLEX128:
            return 16;
        case DT_UINT1:
            return kDataTypeSizeBitOffset + 1;
        case DT_INT2:
        case DT_UINT2:
            return kDataTypeSizeBitOffset + 2;
        case DT_INT4:
        case DT_FLOAT4_E2M1:
        case DT_FLOAT4_E1M2:
        case DT_HIFLOAT4:
            return kDataTypeSizeBitOffset + 4;
        case DT_FLOAT6_E3M2:
        case DT_FLOAT6_E2M3:
            return kDataTypeSizeBitOffset + 6;
        default:
            return -1;
    }
}

int64_t GetSizeInBytes(int64_t element_count, DataType data_type)
{
    const int size = GetSizeByDataType(data_type);
    if (size < 0 || element_count < 0) {
        return -1;
    }
    int64_t total = 0;
    if (size > kDataTypeSizeBitOffset) {
        return __builtin_mul_overflow(element_count, int64_t(size - kDataTypeSizeBitOffset), &total) ? -1 :
                                                                                                      (total + 7) / 8;
    }
    return __builtin_mul_overflow(element_count, int64_t(size), &total) ? -1 : total;
}

const char_t* GetFormatName(Format format)
{
    const char* const name = NameOf(format);
    return name == nullptr ? "RESERVED" : name;
}

std::string TypeUtils::DataTypeToSerialString(DataType data_type)
{
    for (const TypeName& row : kTypeNames) {
        if (row.type == data_type) {
            return row.name;
        }
    }
    return "UNDEFINED";
}

DataType TypeUtils::SerialStringToDataType(const std::string& text)
{
    for (const TypeName& row : kTypeNames) {
        if (text == row.name) {
            return row.type;
        }
    }
    return DT_UNDEFINED;
}

std::string TypeUtils::FormatToSerialString(Format format)
{
    const char* const name = NameOf(static_cast<Format>(GetPrimaryFormat(static_cast<int32_t>(format))));
    if (name == nullptr) {
        return "RESERVED";
    }
    std::string text = name;
    if (HasSubFormat(static_cast<int32_t>(format))) {
        text += ":" + std::to_string(GetSubFormat(static_cast<int32_t>(format)));
    }
    return text;
}

Format TypeUtils::SerialStringToFormat(const std::string& text)
{
    for (const FormatName& row : kFormatNames) {
        if (text == row.name + kFormatPrefix) {
            return row.format;
        }
    }
    return FORMAT_RESERVED;
}

Format TypeUtils::DataFormatToFormat(const std::string& text)
{
    return SerialStringToFormat(text);
}

bool TypeUtils::GetDataTypeLength(DataType data_type, uint32_t& length)
{
    const int size = GetSizeByDataType(data_type);
    if (size <= 0) {
        return false;
    }
    length = static_cast<uint32_t>(size);
    return true;
}

AscendString TypeUtils::DataTypeToAscendString(const DataType& data_type)
{
    return AscendString(DataTypeToSerialString(data_type).c_str());
}

DataType TypeUtils::AscendStringToDataType(const AscendString& text)
{
    return SerialStringToDataType(text.GetString());
}

AscendString TypeUtils::FormatToAscendString(const Format& format)
{
    return AscendString(FormatToSerialString(format).c_str());
}

Format TypeUtils::AscendStringToFormat(const AscendString& text)
{
    return SerialStringToFormat(text.GetString());
}

Format TypeUtils::DataFormatToFormat(const AscendString& text)
{
    return SerialStringToFormat(text.GetString());
}
} // namespace ge

namespace Ops {
namespace Base {
std::string ToString(ge::DataType type)
{
    return ge::TypeUtils::DataTypeToSerialString(type);
}

std::string ToString(ge::Format format)
{
    return ge::TypeUtils::FormatToSerialString(format);
}

std::string ToString(const gert::Shape& shape)
{
    std::string text = "[";
    for (size_t i = 0; i < shape.GetDimNum(); ++i) {
        text += (i == 0 ? "" : ",") + std::to_string(shape.GetDim(i));
    }
    return text + "]";
}

std::string ToString(const std::vector<const gert::Shape*>& shapes)
{
    std::string text;
    for (const gert::Shape* const shape : shapes) {
        text += (text.empty() ? "" : ", ") + (shape == nullptr ? std::string("nil") : ToString(*shape));
    }
    return text;
}
} // namespace Base
} // namespace Ops

// Operators that declare these themselves expect them in the library.
namespace ops {
std::string ToString(const gert::Shape& shape);
std::string ToString(const gert::Shape* shape);

std::string ToString(const gert::Shape& shape)
{
    return Ops::Base::ToString(shape);
}

std::string ToString(const gert::Shape* shape)
{
    return shape == nullptr ? "nil" : Ops::Base::ToString(*shape);
}
} // namespace ops
