#include "initial_values.h"

#include <cstring>

#include "ascendsim/types.h"
#include "failure.h"

namespace runner {
namespace {
template <typename T>
void Fill(double value, uint8_t* base, size_t bytes)
{
    const T element = static_cast<T>(value);
    for (size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
        (void)std::memcpy(base + at, static_cast<const void*>(&element), sizeof(T));
    }
}

// The values of a list stand for the data types of the definition, in order.
double ValueFor(const ops::OpParamDef::Spec& spec, ge::DataType type)
{
    if (spec.initial_values.empty()) {
        return 0;
    }
    for (size_t k = 0; k < spec.data_types.size() && k < spec.initial_values.size(); ++k) {
        if (spec.data_types[k] == type) {
            return spec.initial_values[k].value;
        }
    }
    return spec.initial_values[0].value;
}
} // namespace

std::optional<double> InitialValue(const std::vector<ops::OpParamDef::Spec>& outputs, const JobTensor& given)
{
    if (given.initial) {
        return given.initial;
    }
    for (const ops::OpParamDef::Spec& spec : outputs) {
        if (spec.name == given.name && spec.has_init_value) {
            return ValueFor(spec, given.data_type);
        }
    }
    return std::nullopt;
}

void FillInitialValue(double value, const JobTensor& given, uint8_t* base)
{
    const size_t bytes = static_cast<size_t>(given.Bytes());
    if (value == 0) {
        if (bytes > 0) {
            (void)std::memset(base, 0, bytes);
        }
        return;
    }
    switch (given.data_type) {
        case ge::DT_FLOAT: return Fill<float>(value, base, bytes);
        case ge::DT_FLOAT16: return Fill<half>(value, base, bytes);
        case ge::DT_BF16: return Fill<bfloat16_t>(value, base, bytes);
        case ge::DT_INT8: return Fill<int8_t>(value, base, bytes);
        case ge::DT_UINT8: return Fill<uint8_t>(value, base, bytes);
        case ge::DT_BOOL: return Fill<uint8_t>(value, base, bytes);
        case ge::DT_INT16: return Fill<int16_t>(value, base, bytes);
        case ge::DT_UINT16: return Fill<uint16_t>(value, base, bytes);
        case ge::DT_INT32: return Fill<int32_t>(value, base, bytes);
        case ge::DT_UINT32: return Fill<uint32_t>(value, base, bytes);
        case ge::DT_INT64: return Fill<int64_t>(value, base, bytes);
        case ge::DT_UINT64: return Fill<uint64_t>(value, base, bytes);
        default:
            throw Failure(kExitBadLibrary, "output " + given.name + " has an initial value other than zero and a data "
                                           "type for which InitValue has none");
    }
}
} // namespace runner
