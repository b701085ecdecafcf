// Writes JSON text. The caller keeps objects and arrays balanced; commas come by themselves.
#ifndef ASCEND_SDK_RUNNER_JSON_H
#define ASCEND_SDK_RUNNER_JSON_H

#include <cstdint>
#include <string>

namespace runner {
class Json {
public:
    Json& BeginObject();
    Json& EndObject();
    Json& BeginArray();
    Json& EndArray();
    Json& Key(const std::string& name);
    // Invalid UTF-8 becomes the replacement character.
    Json& String(const std::string& value);
    Json& Int(int64_t value);
    Json& Unsigned(uint64_t value);
    Json& Float(double value); // null for infinities and NaN, which JSON lacks
    Json& Bool(bool value);
    Json& Null();

    const std::string& Text() const
    {
        return text_;
    }

private:
    void Separate();

    std::string text_;
    bool need_comma_ = false;
};
} // namespace runner

#endif
