// Attribute values as tiling tests write them down, under the names that the repositories' test helpers have.
#ifndef ASCEND_SDK_UNIT_TEST_ANY_VALUE_H
#define ASCEND_SDK_UNIT_TEST_ANY_VALUE_H

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "graph/ascend_string.h"

namespace ascend_unit {
class AnyValue {
public:
    enum ValueType {
        VT_NONE = 0,
        VT_STRING = 1,
        VT_FLOAT = 2,
        VT_BOOL = 3,
        VT_INT = 4,
        VT_LIST_LIST_INT = 10,
        VT_LIST_BASE = 1000,
        VT_LIST_STRING = VT_LIST_BASE + VT_STRING,
        VT_LIST_FLOAT = VT_LIST_BASE + VT_FLOAT,
        VT_LIST_BOOL = VT_LIST_BASE + VT_BOOL,
        VT_LIST_INT = VT_LIST_BASE + VT_INT,
    };

    AnyValue() = default;
    template <typename T>
    static AnyValue CreateFrom(const T& value)
    {
        AnyValue any;
        any.Take(value);
        any.valuePtr_ = std::make_shared<std::decay_t<T>>(value);
        return any;
    }

    ValueType type_ = VT_NONE;
    // The value as it was given, for tests that look inside.
    std::shared_ptr<void> valuePtr_;
    // One of them holds the value, by the type.
    int64_t number_ = 0;
    double real_ = 0;
    std::string text_;
    std::vector<int64_t> numbers_;
    std::vector<float> reals_;
    std::vector<std::string> texts_;
    std::vector<std::vector<int64_t>> lists_;

private:
    void Take(bool value)
    {
        type_ = VT_BOOL;
        number_ = value ? 1 : 0;
    }
    template <typename T>
    std::enable_if_t<std::is_integral<T>::value || std::is_enum<T>::value> Take(T value)
    {
        type_ = VT_INT;
        number_ = static_cast<int64_t>(value);
    }
    template <typename T>
    std::enable_if_t<std::is_floating_point<T>::value> Take(T value)
    {
        type_ = VT_FLOAT;
        real_ = static_cast<double>(value);
    }
    void Take(const std::string& value)
    {
        type_ = VT_STRING;
        text_ = value;
    }
    void Take(const char* value) { Take(std::string(value)); }
    void Take(const ge::AscendString& value) { Take(std::string(value.GetString())); }
    void Take(const std::vector<bool>& value)
    {
        type_ = VT_LIST_BOOL;
        numbers_.assign(value.begin(), value.end());
    }
    void Take(const std::vector<float>& value)
    {
        type_ = VT_LIST_FLOAT;
        reals_ = value;
    }
    void Take(const std::vector<std::string>& value)
    {
        type_ = VT_LIST_STRING;
        texts_ = value;
    }
    void Take(const std::vector<std::vector<int64_t>>& value)
    {
        type_ = VT_LIST_LIST_INT;
        lists_ = value;
    }
    template <typename T>
    std::enable_if_t<std::is_integral<T>::value && !std::is_same<T, bool>::value> Take(const std::vector<T>& value)
    {
        type_ = VT_LIST_INT;
        numbers_.assign(value.begin(), value.end());
    }
};
} // namespace ascend_unit

namespace Ops {
namespace Base {
using AnyValue = ascend_unit::AnyValue;
}
namespace Math {
using AnyValue = ascend_unit::AnyValue;
}
namespace NN {
using AnyValue = ascend_unit::AnyValue;
}
namespace Cv {
using AnyValue = ascend_unit::AnyValue;
}
namespace Transformer {
using AnyValue = ascend_unit::AnyValue;
}
} // namespace Ops
namespace ge {
using AnyValue = ascend_unit::AnyValue;
}

#endif
