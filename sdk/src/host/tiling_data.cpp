// Layout and bytes of tiling data classes.
#include <cstring>

#include "register/tilingdata_base.h"

namespace optiling {
namespace {
constexpr size_t kStructAlignment = 8;

size_t AlignUp(size_t value, size_t alignment)
{
    return alignment == 0 ? value : (value + alignment - 1) / alignment * alignment;
}
} // namespace

TilingDef::~TilingDef() = default;

size_t TilingDef::Append(const TilingField& field, size_t alignment, size_t bytes)
{
    fields_.push_back(field);
    fields_.back().offset = AlignUp(size_, alignment);
    size_ = fields_.back().offset + bytes;
    return fields_.back().offset;
}

size_t TilingDef::AddField(const char* type, const char* name, size_t element_bytes)
{
    TilingField field;
    field.type = type;
    field.name = name;
    field.element_bytes = element_bytes;
    return Append(field, element_bytes, element_bytes);
}

size_t TilingDef::AddArray(const char* type, const char* name, size_t element_bytes, size_t count)
{
    TilingField field;
    field.type = type;
    field.name = name;
    field.element_bytes = element_bytes;
    field.count = count;
    field.is_array = true;
    return Append(field, element_bytes, element_bytes * count);
}

size_t TilingDef::AddStruct(const char* name, TilingDef* part)
{
    TilingField field;
    // Not as written: a source may qualify the name, and the class on the device is found by its own.
    field.type = part->GetTilingClassName();
    field.name = name;
    field.element_bytes = part->GetDataSize();
    field.is_struct = true;
    const size_t offset = Append(field, kStructAlignment, part->GetDataSize());
    nested_.push_back({reinterpret_cast<char*>(part) - reinterpret_cast<char*>(this), offset});
    return offset;
}

void TilingDef::Finish(const char* class_name)
{
    class_name_ = class_name;
    size_ = AlignUp(size_, kStructAlignment);
    own_.assign(size_, 0);
}

void TilingDef::SetDataPtr(void* memory)
{
    memory_ = static_cast<uint8_t*>(memory);
    for (const Nested& nested : nested_) {
        const_cast<TilingDef*>(At(nested))->SetDataPtr(memory_ == nullptr ? nullptr : memory_ + nested.offset);
    }
}

void TilingDef::SaveToBuffer(void* buffer, size_t capacity) const
{
    if (buffer == nullptr || capacity < size_) {
        return;
    }
    uint8_t* const out = static_cast<uint8_t*>(buffer);
    const uint8_t* const bytes = memory_ != nullptr ? memory_ : own_.data();
    if (out != bytes) {
        (void)std::memmove(out, bytes, size_);
    }
    for (const Nested& nested : nested_) {
        const TilingDef* const part = At(nested);
        part->SaveToBuffer(out + nested.offset, part->GetDataSize());
    }
}

CTilingDataClassFactory& CTilingDataClassFactory::GetInstance()
{
    static CTilingDataClassFactory* const factory = new CTilingDataClassFactory();
    return *factory;
}

void CTilingDataClassFactory::RegisterTilingData(const char* op_type, TilingDataConstructor constructor)
{
    entries_.push_back({op_type, constructor});
}

std::shared_ptr<TilingDef> CTilingDataClassFactory::CreateTilingDataInstance(const char* op_type) const
{
    for (const Entry& entry : entries_) {
        if (entry.op_type == op_type) {
            return entry.constructor();
        }
    }
    return nullptr;
}
} // namespace optiling
