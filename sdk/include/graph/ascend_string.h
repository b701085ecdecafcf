// String type of the host interfaces. It has an "unset" state, in which GetString() is the empty text.
#ifndef ASCEND_SDK_GRAPH_ASCEND_STRING_H
#define ASCEND_SDK_GRAPH_ASCEND_STRING_H

#include <cstddef>
#include <functional>
#include <string>

#include "graph/types.h"

namespace ge {
class AscendString {
public:
    AscendString() = default;
    AscendString(const char_t* name);
    AscendString(const char_t* name, size_t length);

    const char_t* GetString() const
    {
        return text_.c_str();
    }
    size_t GetLength() const
    {
        return text_.size();
    }
    size_t Find(const AscendString& other) const;
    size_t Hash() const;

    bool operator<(const AscendString& other) const;
    bool operator>(const AscendString& other) const;
    bool operator<=(const AscendString& other) const;
    bool operator>=(const AscendString& other) const;
    bool operator==(const AscendString& other) const;
    bool operator!=(const AscendString& other) const;
    bool operator==(const char_t* other) const;
    bool operator!=(const char_t* other) const
    {
        return !(*this == other);
    }

private:
    std::string text_;
};
} // namespace ge

namespace std {
template <>
struct hash<ge::AscendString> {
    size_t operator()(const ge::AscendString& name) const
    {
        return name.Hash();
    }
};
} // namespace std

#endif
