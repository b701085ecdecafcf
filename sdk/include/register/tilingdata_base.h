// Tiling data as a class with setters:
//
//     BEGIN_TILING_DATA_DEF(MyTiling)
//     TILING_DATA_FIELD_DEF(uint32_t, tileLength);
//     END_TILING_DATA_DEF;
//     REGISTER_TILING_DATA_CLASS(MyOp, MyTiling)
//
// The bytes are those of a C struct with the same members in the same order: every member at a multiple of its own
// size, nested classes at a multiple of 8, the whole padded to a multiple of 8.
//
// A class keeps its bytes itself. A nested class is a member with bytes of its own, and the outer one remembers where
// in itself that member lies (a distance, not an address, so copies work); SaveToBuffer puts the parts together.
#ifndef ASCEND_SDK_REGISTER_TILINGDATA_BASE_H
#define ASCEND_SDK_REGISTER_TILINGDATA_BASE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <securec.h>

#include "graph/ascend_string.h"

namespace optiling {
// One field of a tiling data class.
struct TilingField {
    std::string type; // as written in the source; the class name for a nested class
    std::string name;
    size_t offset = 0;
    size_t element_bytes = 0;
    size_t count = 1; // elements of an array
    bool is_array = false;
    bool is_struct = false;
};

class TilingDef {
public:
    virtual ~TilingDef();

    // Writes the bytes to `buffer`; writes nothing when `capacity` is too small.
    void SaveToBuffer(void* buffer, size_t capacity) const;
    size_t GetDataSize() const
    {
        return size_;
    }
    const char* GetTilingClassName() const
    {
        return class_name_.c_str();
    }
    const std::vector<TilingField>& GetFields() const
    {
        return fields_;
    }
    // From here on the setters write to memory of the caller (GetDataSize() bytes).
    void SetDataPtr(void* memory);

    // Calls visit(nested class) for every nested class, innermost first.
    template <typename Visitor>
    void VisitNested(const Visitor& visit) const
    {
        for (const Nested& nested : nested_) {
            const TilingDef* const part = At(nested);
            part->VisitNested(visit);
            visit(*part);
        }
    }

protected:
    TilingDef() = default;

    // Called by the member initialisers in order of declaration; they return the offset of the field.
    size_t AddField(const char* type, const char* name, size_t element_bytes);
    size_t AddArray(const char* type, const char* name, size_t element_bytes, size_t count);
    size_t AddStruct(const char* name, TilingDef* part);
    // Called by the constructor, after the fields.
    void Finish(const char* class_name);

    uint8_t* Data(size_t offset)
    {
        return (memory_ != nullptr ? memory_ : own_.data()) + offset;
    }

private:
    struct Nested {
        ptrdiff_t distance; // from this object to the member
        size_t offset;      // of its bytes
    };
    size_t Append(const TilingField& field, size_t alignment, size_t bytes);
    const TilingDef* At(const Nested& nested) const
    {
        return reinterpret_cast<const TilingDef*>(reinterpret_cast<const char*>(this) + nested.distance);
    }

    std::string class_name_;
    std::vector<TilingField> fields_;
    std::vector<Nested> nested_;
    std::vector<uint8_t> own_;
    uint8_t* memory_ = nullptr;
    size_t size_ = 0;
};

using TilingDataConstructor = std::shared_ptr<TilingDef> (*)();

class CTilingDataClassFactory {
public:
    struct Entry {
        std::string op_type;
        TilingDataConstructor constructor;
    };
    static CTilingDataClassFactory& GetInstance();
    void RegisterTilingData(const char* op_type, TilingDataConstructor constructor);
    // Null when nothing is registered for the type.
    std::shared_ptr<TilingDef> CreateTilingDataInstance(const char* op_type) const;
    // In order of registration.
    const std::vector<Entry>& GetEntries() const
    {
        return entries_;
    }

private:
    CTilingDataClassFactory() = default;

    std::vector<Entry> entries_;
};
} // namespace optiling

#define BEGIN_TILING_DATA_DEF(class_name)           \
    class class_name : public optiling::TilingDef { \
    public:                                         \
        class_name()                                \
        {                                           \
            Finish(#class_name);                    \
        }                                           \
        explicit class_name(void* memory)           \
        {                                           \
            Finish(#class_name);                    \
            if (memory != nullptr) {                \
                SetDataPtr(memory);                 \
            }                                       \
        }

#define TILING_DATA_FIELD_DEF(data_type, field_name)                                               \
public:                                                                                            \
    void set_##field_name(data_type field_name)                                                    \
    {                                                                                              \
        (void)std::memcpy(Data(field_name##_offset_), &field_name, sizeof(data_type));             \
    }                                                                                              \
    data_type get_##field_name()                                                                   \
    {                                                                                              \
        data_type value;                                                                           \
        (void)std::memcpy(&value, Data(field_name##_offset_), sizeof(data_type));                  \
        return value;                                                                              \
    }                                                                                              \
                                                                                                   \
private:                                                                                           \
    size_t field_name##_offset_ = AddField(#data_type, #field_name, sizeof(data_type));

#define TILING_DATA_FIELD_DEF_ARR(arr_type, arr_size, field_name)                                           \
public:                                                                                                     \
    void set_##field_name(const arr_type* field_name)                                                       \
    {                                                                                                       \
        if (field_name != nullptr) {                                                                        \
            (void)std::memmove(Data(field_name##_offset_), field_name, sizeof(arr_type) * (arr_size));      \
        }                                                                                                   \
    }                                                                                                       \
    arr_type* get_##field_name()                                                                            \
    {                                                                                                       \
        return reinterpret_cast<arr_type*>(Data(field_name##_offset_));                                     \
    }                                                                                                       \
                                                                                                            \
private:                                                                                                    \
    size_t field_name##_offset_ = AddArray(#arr_type, #field_name, sizeof(arr_type), (arr_size));

#define TILING_DATA_FIELD_DEF_STRUCT(struct_type, field_name) \
public:                                                       \
    struct_type field_name;                                   \
                                                              \
private:                                                      \
    size_t field_name##_offset_ = AddStruct(#field_name, &field_name);

#define END_TILING_DATA_DEF \
    }                       \
    ;

// `op_type` is an operator type, an operator type with a tiling key, or a label for a class used inside others.
#define REGISTER_TILING_DATA_CLASS(op_type, class_name)                                             \
    namespace {                                                                                     \
    struct op_type##class_name##Registration {                                                      \
        op_type##class_name##Registration()                                                         \
        {                                                                                           \
            optiling::CTilingDataClassFactory::GetInstance().RegisterTilingData(#op_type, &Create); \
        }                                                                                           \
        static std::shared_ptr<optiling::TilingDef> Create()                                        \
        {                                                                                           \
            return std::make_shared<class_name>();                                                  \
        }                                                                                           \
    };                                                                                              \
    static const op_type##class_name##Registration g_##op_type##class_name##_registration;          \
    }

#endif
