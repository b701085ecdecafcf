// JSON as far as requests have it: read into values, written into lines.
#ifndef ASCEND_TUNE_LAUNCHER_JSON_H
#define ASCEND_TUNE_LAUNCHER_JSON_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// A value of JSON, as far as requests have them.
struct Value {
    enum Kind { kNull, kBool, kNumber, kString, kArray, kObject } kind = kNull;
    bool truth = false;
    std::string text;
    std::vector<Value> items;
    std::map<std::string, Value> fields;

    const Value& operator[](const std::string& name) const
    {
        static const Value nothing;
        const auto found = fields.find(name);
        return found == fields.end() ? nothing : found->second;
    }
    uint64_t Unsigned(uint64_t otherwise = 0) const
    {
        return kind == kNumber ? std::strtoull(text.c_str(), nullptr, 10) : otherwise;
    }
    int64_t Signed(int64_t otherwise = 0) const
    {
        return kind == kNumber ? std::strtoll(text.c_str(), nullptr, 10) : otherwise;
    }
};

class Parser {
public:
    explicit Parser(const std::string& text) : text_(text) {}
    Value Parse()
    {
        Value value = Any();
        Space();
        if (at_ != text_.size()) {
            Fail();
        }
        return value;
    }

private:
    [[noreturn]] void Fail() const
    {
        throw std::runtime_error("a request is no JSON at character " + std::to_string(at_));
    }
    void Space()
    {
        while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) != nullptr) {
            ++at_;
        }
    }
    bool Take(char wanted)
    {
        Space();
        if (at_ < text_.size() && text_[at_] == wanted) {
            ++at_;
            return true;
        }
        return false;
    }
    bool Word(const char* word)
    {
        const size_t length = std::strlen(word);
        if (text_.compare(at_, length, word) != 0) {
            return false;
        }
        at_ += length;
        return true;
    }
    std::string Quoted()
    {
        std::string read;
        while (at_ < text_.size() && text_[at_] != '"') {
            char next = text_[at_++];
            if (next == '\\') {
                if (at_ == text_.size()) {
                    Fail();
                }
                next = text_[at_++];
                if (next == 'u') {
                    // Only control characters are written so.
                    if (at_ + 4 > text_.size()) {
                        Fail();
                    }
                    next = static_cast<char>(std::strtoul(text_.substr(at_, 4).c_str(), nullptr, 16));
                    at_ += 4;
                } else if (next == 'n') {
                    next = '\n';
                } else if (next == 't') {
                    next = '\t';
                } else if (next == 'r') {
                    next = '\r';
                }
            }
            read += next;
        }
        if (at_ == text_.size()) {
            Fail();
        }
        ++at_;
        return read;
    }
    Value Any()
    {
        Value value;
        Space();
        if (Take('{')) {
            value.kind = Value::kObject;
            while (!Take('}')) {
                Take(',');
                if (!Take('"')) {
                    Fail();
                }
                const std::string name = Quoted();
                if (!Take(':')) {
                    Fail();
                }
                value.fields[name] = Any();
            }
        } else if (Take('[')) {
            value.kind = Value::kArray;
            while (!Take(']')) {
                Take(',');
                value.items.push_back(Any());
            }
        } else if (Take('"')) {
            value.kind = Value::kString;
            value.text = Quoted();
        } else if (Word("true") || Word("false")) {
            value.kind = Value::kBool;
            value.truth = text_[at_ - 2] == 'u';
        } else if (!Word("null")) {
            const size_t from = at_;
            while (at_ < text_.size() && std::strchr("+-.0123456789eE", text_[at_]) != nullptr) {
                ++at_;
            }
            if (from == at_) {
                Fail();
            }
            value.kind = Value::kNumber;
            value.text = text_.substr(from, at_ - from);
        }
        return value;
    }
    const std::string& text_;
    size_t at_ = 0;
};

std::string Escaped(const std::string& text)
{
    std::string escaped;
    for (const char next : text) {
        if (next == '"' || next == '\\') {
            escaped += '\\';
            escaped += next;
        } else if (static_cast<unsigned char>(next) < 0x20) {
            escaped += ' ';
        } else {
            escaped += next;
        }
    }
    return escaped;
}

}  // namespace

#endif
