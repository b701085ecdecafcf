#include "json.h"

#include <cmath>
#include <cstdio>

namespace runner {
namespace {
// Length of the valid UTF-8 sequence at `text[at]`, or 0.
size_t Utf8Length(const std::string& text, size_t at)
{
    const unsigned char first = static_cast<unsigned char>(text[at]);
    size_t length = first < 0x80 ? 1 : first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 :
                    first >= 0xF0 && first < 0xF5                    ? 4 :
                                                                       0;
    if (length == 0 || at + length > text.size()) {
        return 0;
    }
    for (size_t i = 1; i < length; ++i) {
        if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) {
            return 0;
        }
    }
    const unsigned char second = length > 1 ? static_cast<unsigned char>(text[at + 1]) : 0;
    const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    const bool outside = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
    return overlong || outside ? 0 : length;
}
} // namespace

void Json::Separate()
{
    if (need_comma_) {
        text_ += ',';
    }
    need_comma_ = true;
}

Json& Json::BeginObject()
{
    Separate();
    text_ += '{';
    need_comma_ = false;
    return *this;
}

Json& Json::EndObject()
{
    text_ += '}';
    need_comma_ = true;
    return *this;
}

Json& Json::BeginArray()
{
    Separate();
    text_ += '[';
    need_comma_ = false;
    return *this;
}

Json& Json::EndArray()
{
    text_ += ']';
    need_comma_ = true;
    return *this;
}

Json& Json::Key(const std::string& name)
{
    String(name);
    text_ += ':';
    need_comma_ = false;
    return *this;
}

Json& Json::String(const std::string& value)
{
    Separate();
    text_ += '"';
    for (size_t i = 0; i < value.size();) {
        const unsigned char c = static_cast<unsigned char>(value[i]);
        const size_t length = Utf8Length(value, i);
        if (length == 0) {
            text_ += "\\ufffd";
            ++i;
            continue;
        }
        if (c == '"' || c == '\\') {
            text_ += '\\';
            text_ += value[i];
        } else if (c < 0x20 || c == 0x7F) {
            char escape[8];
            (void)std::snprintf(escape, sizeof(escape), "\\u%04x", c);
            text_ += escape;
        } else {
            text_.append(value, i, length);
        }
        i += length;
    }
    text_ += '"';
    return *this;
}

Json& Json::Int(int64_t value)
{
    Separate();
    text_ += std::to_string(value);
    return *this;
}

Json& Json::Unsigned(uint64_t value)
{
    Separate();
    text_ += std::to_string(value);
    return *this;
}

Json& Json::Float(double value)
{
    if (!std::isfinite(value)) {
        return Null();
    }
    Separate();
    char digits[40];
    (void)std::snprintf(digits, sizeof(digits), "%.9g", value);
    text_ += digits;
    return *this;
}

Json& Json::Bool(bool value)
{
    Separate();
    text_ += value ? "true" : "false";
    return *this;
}

Json& Json::Null()
{
    Separate();
    text_ += "null";
    return *this;
}
} // namespace runner
