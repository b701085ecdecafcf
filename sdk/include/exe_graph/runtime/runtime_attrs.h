// Attribute values of a node, in the order of the operator definition.
#ifndef ASCEND_SDK_EXE_GRAPH_RUNTIME_ATTRS_H
#define ASCEND_SDK_EXE_GRAPH_RUNTIME_ATTRS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exe_graph/runtime/continuous_vector.h"
#include "exe_graph/runtime/runtime_tensor.h"

namespace gert {
class RuntimeAttrs {
public:
    // The value itself for numbers, the text for strings, a (Typed)ContinuousVector for lists;
    // null when there is no attribute of that index. T is not checked, as in the toolkit.
    template <typename T>
    const T* GetAttrPointer(size_t index) const
    {
        return static_cast<const T*>(PointerAt(index));
    }
    const int64_t* GetInt(size_t index) const
    {
        return GetAttrPointer<int64_t>(index);
    }
    const float* GetFloat(size_t index) const
    {
        return GetAttrPointer<float>(index);
    }
    const bool* GetBool(size_t index) const
    {
        return GetAttrPointer<bool>(index);
    }
    const char* GetStr(size_t index) const
    {
        return GetAttrPointer<char>(index);
    }
    const Tensor* GetTensor(size_t index) const
    {
        return GetAttrPointer<Tensor>(index);
    }
    const TypedContinuousVector<int64_t>* GetListInt(size_t index) const
    {
        return GetAttrPointer<TypedContinuousVector<int64_t>>(index);
    }
    const TypedContinuousVector<float>* GetListFloat(size_t index) const
    {
        return GetAttrPointer<TypedContinuousVector<float>>(index);
    }
    const ContinuousVectorVector* GetListListInt(size_t index) const
    {
        return GetAttrPointer<ContinuousVectorVector>(index);
    }
    size_t GetAttrNum() const;

    // For the builder of the context: appends the value that starts with these bytes (8-byte aligned storage).
    void AppendValue(const void* bytes, size_t size);

private:
    const void* PointerAt(size_t index) const;

    std::vector<std::vector<uint64_t>> values_;
};
} // namespace gert

#endif
