// A tensor as host functions see it: shapes, formats, data type and, for value-dependent inputs, its data.
#ifndef ASCEND_SDK_EXE_GRAPH_RUNTIME_TENSOR_H
#define ASCEND_SDK_EXE_GRAPH_RUNTIME_TENSOR_H

#include "exe_graph/runtime/storage_format.h"
#include "exe_graph/runtime/storage_shape.h"
#include "exe_graph/runtime/tensor_data.h"
#include "graph/types.h"

namespace gert {
class Tensor {
public:
    Tensor() = default;
    Tensor(const StorageShape& shape, const StorageFormat& format, TensorPlacement placement, ge::DataType data_type,
           TensorAddress addr)
        : shape_(shape), format_(format), data_type_(data_type),
          data_(addr, static_cast<size_t>(ge::GetSizeInBytes(shape.GetStorageShape().GetShapeSize(), data_type)),
                placement)
    {}
    Tensor(const StorageShape& shape, const StorageFormat& format, ge::DataType data_type)
        : shape_(shape), format_(format), data_type_(data_type)
    {}

    int64_t GetShapeSize() const
    {
        return shape_.GetStorageShape().GetShapeSize();
    }
    // Null when the values are not known at tiling time.
    template <class T>
    const T* GetData() const
    {
        return static_cast<const T*>(data_.GetAddr());
    }
    template <class T>
    T* GetData()
    {
        return static_cast<T*>(data_.GetAddr());
    }
    void SetData(TensorData&& data)
    {
        data_ = data;
    }
    const void* GetAddr() const
    {
        return data_.GetAddr();
    }
    void* GetAddr()
    {
        return data_.GetAddr();
    }
    size_t GetSize() const
    {
        return data_.GetSize();
    }
    void SetSize(size_t size)
    {
        data_.SetSize(size);
    }
    ge::DataType GetDataType() const
    {
        return data_type_;
    }
    void SetDataType(ge::DataType data_type)
    {
        data_type_ = data_type;
    }
    const Shape& GetStorageShape() const
    {
        return shape_.GetStorageShape();
    }
    Shape& MutableStorageShape()
    {
        return shape_.MutableStorageShape();
    }
    const Shape& GetOriginShape() const
    {
        return shape_.GetOriginShape();
    }
    Shape& MutableOriginShape()
    {
        return shape_.MutableOriginShape();
    }
    const StorageShape& GetShape() const
    {
        return shape_;
    }
    StorageShape& GetShape()
    {
        return shape_;
    }
    ge::Format GetStorageFormat() const
    {
        return format_.GetStorageFormat();
    }
    void SetStorageFormat(ge::Format format)
    {
        format_.SetStorageFormat(format);
    }
    ge::Format GetOriginFormat() const
    {
        return format_.GetOriginFormat();
    }
    void SetOriginFormat(ge::Format format)
    {
        format_.SetOriginFormat(format);
    }
    const StorageFormat& GetFormat() const
    {
        return format_;
    }
    StorageFormat& MutableFormat()
    {
        return format_;
    }
    ExpandDimsType GetExpandDimsType() const
    {
        return format_.GetExpandDimsType();
    }
    TensorPlacement GetPlacement() const
    {
        return data_.GetPlacement();
    }
    void SetPlacement(TensorPlacement placement)
    {
        data_.SetPlacement(placement);
    }
    const TensorData& GetTensorData() const
    {
        return data_;
    }
    TensorData& MutableTensorData()
    {
        return data_;
    }

private:
    StorageShape shape_;
    StorageFormat format_;
    ge::DataType data_type_ = ge::DT_UNDEFINED;
    TensorData data_;
};
} // namespace gert

#endif
