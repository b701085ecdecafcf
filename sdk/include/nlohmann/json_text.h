// JSON as text: reading and writing.
#ifndef ASCEND_SDK_NLOHMANN_JSON_TEXT_H
#define ASCEND_SDK_NLOHMANN_JSON_TEXT_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace nlohmann {
namespace detail {

/// What goes wrong with a value.
class exception : public std::runtime_error {
public:
    exception(int number, const std::string& text) : std::runtime_error(text), id(number) {}
    const int id;
};
class parse_error : public exception {
public:
    parse_error(std::size_t at, const std::string& what)
        : exception(101, "[json.exception.parse_error.101] parse error at byte " + std::to_string(at) + ": " + what),
          byte(at)
    {}
    const std::size_t byte;
};
class type_error : public exception {
public:
    explicit type_error(const std::string& what) : exception(302, "[json.exception.type_error.302] " + what) {}
};
class out_of_range : public exception {
public:
    explicit out_of_range(const std::string& what) : exception(403, "[json.exception.out_of_range.403] " + what) {}
};

/// Reads one value from a text.
template <typename Value>
class Reader {
public:
    explicit Reader(const std::string& text) : text_(text) {}

    Value Whole()
    {
        Value value = Next(0);
        Skip();
        if (at_ != text_.size()) {
            Fail("text behind the value");
        }
        return value;
    }

private:
    // Deeper than any file, and far from the end of the stack.
    static constexpr int kDepth = 512;

    [[noreturn]] void Fail(const char* what) const { throw parse_error(at_ + 1, what); }
    void Skip()
    {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
            ++at_;
        }
    }
    bool Take(char letter)
    {
        Skip();
        const bool there = at_ < text_.size() && text_[at_] == letter;
        at_ += there ? 1 : 0;
        return there;
    }
    bool Word(const char* word)
    {
        const std::string wanted(word);
        const bool there = text_.compare(at_, wanted.size(), wanted) == 0;
        at_ += there ? wanted.size() : 0;
        return there;
    }

    Value Next(int depth)
    {
        if (depth > kDepth) {
            Fail("values too deep in one another");
        }
        Skip();
        if (at_ >= text_.size()) {
            Fail("the text ends where a value should be");
        }
        switch (text_[at_]) {
            case '{': return Object(depth);
            case '[': return Array(depth);
            case '"': return Value(Quoted());
            default: break;
        }
        if (Word("true")) {
            return Value(true);
        }
        if (Word("false")) {
            return Value(false);
        }
        if (Word("null")) {
            return Value(nullptr);
        }
        return Number();
    }

    Value Object(int depth)
    {
        Value result = Value::object();
        ++at_;
        if (Take('}')) {
            return result;
        }
        do {
            Skip();
            if (at_ >= text_.size() || text_[at_] != '"') {
                Fail("a name in quotes should be here");
            }
            const std::string name = Quoted();
            if (!Take(':')) {
                Fail("':' should be here");
            }
            result[name] = Next(depth + 1);
        } while (Take(','));
        if (!Take('}')) {
            Fail("',' or '}' should be here");
        }
        return result;
    }

    Value Array(int depth)
    {
        Value result = Value::array();
        ++at_;
        if (Take(']')) {
            return result;
        }
        do {
            result.push_back(Next(depth + 1));
        } while (Take(','));
        if (!Take(']')) {
            Fail("',' or ']' should be here");
        }
        return result;
    }

    Value Number()
    {
        const std::size_t from = at_;
        bool whole = true;
        for (; at_ < text_.size(); ++at_) {
            const char letter = text_[at_];
            const bool digit = letter >= '0' && letter <= '9';
            if (!digit && letter != '-' && letter != '+' && letter != '.' && letter != 'e' && letter != 'E') {
                break;
            }
            whole = whole && (digit || at_ == from);
        }
        const std::string digits = text_.substr(from, at_ - from);
        char* end = nullptr;
        const double real = std::strtod(digits.c_str(), &end);
        const char last = digits.empty() ? '.' : digits.back();
        if (digits.empty() || *end != '\0' || digits[0] == '+' || digits[0] == '.' || last == '.') {
            at_ = from;
            Fail("no value");
        }
        if (!whole) {
            return Value(real);
        }
        return digits[0] == '-' ? Value(static_cast<int64_t>(std::strtoll(digits.c_str(), nullptr, 10)))
                                : Value(static_cast<uint64_t>(std::strtoull(digits.c_str(), nullptr, 10)));
    }

    unsigned Hex()
    {
        unsigned code = 0;
        for (int digit = 0; digit < 4; ++digit, ++at_) {
            const char letter = at_ < text_.size() ? text_[at_] : '\0';
            const bool number = letter >= '0' && letter <= '9';
            const char lower = static_cast<char>(letter | 0x20);
            if (!number && (lower < 'a' || lower > 'f')) {
                Fail("four hexadecimal digits should be here");
            }
            code = code * 16 + static_cast<unsigned>(number ? letter - '0' : lower - 'a' + 10);
        }
        return code;
    }

    void Encode(unsigned code, std::string& result) const
    {
        const auto put = [&result](unsigned byte) { result += static_cast<char>(byte); };
        if (code < 0x80) {
            put(code);
        } else if (code < 0x800) {
            put(0xC0 | code >> 6);
            put(0x80 | (code & 0x3F));
        } else if (code < 0x10000) {
            put(0xE0 | code >> 12);
            put(0x80 | (code >> 6 & 0x3F));
            put(0x80 | (code & 0x3F));
        } else {
            put(0xF0 | code >> 18);
            put(0x80 | (code >> 12 & 0x3F));
            put(0x80 | (code >> 6 & 0x3F));
            put(0x80 | (code & 0x3F));
        }
    }

    std::string Quoted()
    {
        std::string result;
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] != '\\') {
                result += text_[at_];
                continue;
            }
            ++at_;
            const char letter = at_ < text_.size() ? text_[at_] : '\0';
            static const char kEscapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
            const char* found = nullptr;
            for (const char* pair = kEscapes; *pair != '\0'; pair += 2) {
                found = *pair == letter ? pair + 1 : found;
            }
            if (found != nullptr) {
                result += *found;
            } else if (letter == 'u') {
                ++at_;
                unsigned code = Hex();
                if (code >= 0xD800 && code < 0xDC00 && Word("\\u")) {
                    code = 0x10000 + ((code - 0xD800) << 10) + (Hex() - 0xDC00);
                }
                Encode(code, result);
                --at_;
            } else {
                Fail("no such escape");
            }
        }
        if (at_ >= text_.size()) {
            Fail("the text ends in quotes");
        }
        ++at_;
        return result;
    }

    const std::string& text_;
    std::size_t at_ = 0;
};

inline void WriteQuoted(const std::string& value, std::string& text)
{
    text += '"';
    for (const char letter : value) {
        const char* const kLetters = "\"\\\b\f\n\r\t";
        const char* const kNames = "\"\\bfnrt";
        bool named = false;
        for (int index = 0; kLetters[index] != '\0' && !named; ++index) {
            if (kLetters[index] == letter) {
                text += '\\';
                text += kNames[index];
                named = true;
            }
        }
        if (named) {
            continue;
        }
        if (static_cast<unsigned char>(letter) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(letter));
            text += code;
        } else {
            text += letter;
        }
    }
    text += '"';
}

/// The shortest digits that read back as the number.
inline void WriteReal(double value, std::string& text)
{
    if (!std::isfinite(value)) {
        text += "null";
        return;
    }
    char digits[40];
    for (int precision = 1; precision <= 17; ++precision) {
        std::snprintf(digits, sizeof(digits), "%.*g", precision, value);
        if (std::strtod(digits, nullptr) == value) {
            break;
        }
    }
    const std::string written(digits);
    text += written;
    if (written.find_first_of(".e") == std::string::npos) {
        text += ".0";
    }
}

/// Appends a value. A negative indent writes it in one line.
template <typename Value>
void Write(const Value& value, int indent, int level, std::string& text)
{
    const auto line = [&](int deeper) {
        if (indent >= 0) {
            text += '\n';
            text.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(deeper), ' ');
        }
    };
    if (value.is_object() || value.is_array()) {
        const bool named = value.is_object();
        text += named ? '{' : '[';
        bool first = true;
        for (auto it = value.begin(); it != value.end(); ++it) {
            text += first ? "" : ",";
            first = false;
            line(level + 1);
            if (named) {
                WriteQuoted(it.key(), text);
                text += indent >= 0 ? ": " : ":";
            }
            Write(*it, indent, level + 1, text);
        }
        if (!first) {
            line(level);
        }
        text += named ? '}' : ']';
    } else if (value.is_string()) {
        WriteQuoted(value.template get<std::string>(), text);
    } else if (value.is_boolean()) {
        text += value.template get<bool>() ? "true" : "false";
    } else if (value.is_number_float()) {
        WriteReal(value.template get<double>(), text);
    } else if (value.is_number_unsigned()) {
        text += std::to_string(value.template get<uint64_t>());
    } else if (value.is_number_integer()) {
        text += std::to_string(value.template get<int64_t>());
    } else {
        text += "null";
    }
}

}  // namespace detail
}  // namespace nlohmann

#endif
