// A value of JSON: null, a truth value, a number, a text, an array or an object whose names are in order.
#ifndef ASCEND_SDK_NLOHMANN_JSON_VALUE_H
#define ASCEND_SDK_NLOHMANN_JSON_VALUE_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nlohmann/json_text.h"

namespace nlohmann {

class json;

namespace detail {

template <typename T, typename = void>
struct IsRange : std::false_type {};
template <typename T>
struct IsRange<T, std::void_t<decltype(std::declval<const T&>().begin()), decltype(std::declval<const T&>().end()),
                              typename T::value_type>> : std::true_type {};
template <typename T, typename = void>
struct IsMap : std::false_type {};
template <typename T>
struct IsMap<T, std::void_t<typename T::mapped_type, typename T::key_type>> : std::true_type {};
template <typename T, typename = void>
struct Grows : std::false_type {};
template <typename T>
struct Grows<T, std::void_t<decltype(std::declval<T&>().push_back(std::declval<typename T::value_type>()))>>
    : std::true_type {};

// Conversions that a type brings with it, in its namespace.
template <typename T, typename = void>
struct HasToJson : std::false_type {};
template <typename T>
struct HasToJson<T, std::void_t<decltype(to_json(std::declval<json&>(), std::declval<const T&>()))>> : std::true_type {};
template <typename T, typename = void>
struct HasFromJson : std::false_type {};
template <typename T>
struct HasFromJson<T, std::void_t<decltype(from_json(std::declval<const json&>(), std::declval<T&>()))>>
    : std::true_type {};

template <typename T>
constexpr bool kIsText = std::is_convertible_v<const T&, std::string>;

template <typename T, typename Base = std::decay_t<T>>
constexpr bool kIsValue = !std::is_same_v<Base, json> &&
                          (std::is_arithmetic_v<Base> || std::is_enum_v<Base> || kIsText<Base> ||
                           IsRange<Base>::value || HasToJson<Base>::value);

}  // namespace detail

class json {
public:
    enum class value_t : uint8_t {
        null,
        object,
        array,
        string,
        boolean,
        number_integer,
        number_unsigned,
        number_float,
        binary,
        discarded
    };
    using exception = detail::exception;
    using parse_error = detail::parse_error;
    using type_error = detail::type_error;
    using out_of_range = detail::out_of_range;
    using string_t = std::string;
    using object_t = std::map<std::string, json>;
    using array_t = std::vector<json>;
    using value_type = json;
    using size_type = std::size_t;

    /// Goes over the elements of an array or an object; over anything else it has one step, or none over null.
    template <typename Json>
    class Iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = json;
        using difference_type = std::ptrdiff_t;
        using pointer = Json*;
        using reference = Json&;

        Iterator(Json* whole, std::size_t at) : whole_(whole), at_(at) { Find(); }
        reference operator*() const { return value(); }
        pointer operator->() const { return &value(); }
        Iterator& operator++()
        {
            ++at_;
            if (whole_->is_object()) {
                ++member_;
            }
            return *this;
        }
        Iterator operator++(int)
        {
            Iterator before = *this;
            ++*this;
            return before;
        }
        bool operator==(const Iterator& other) const { return whole_ == other.whole_ && at_ == other.at_; }
        bool operator!=(const Iterator& other) const { return !(*this == other); }
        const std::string& key() const { return member_->first; }
        reference value() const
        {
            if (whole_->is_object()) {
                return member_->second;
            }
            return whole_->is_array() ? whole_->array_[at_] : *whole_;
        }

    private:
        using Members = std::conditional_t<std::is_const_v<Json>, object_t::const_iterator, object_t::iterator>;
        void Find()
        {
            if (whole_->is_object()) {
                member_ = std::next(whole_->object_.begin(), static_cast<std::ptrdiff_t>(at_));
            }
        }
        Json* whole_;
        std::size_t at_;
        Members member_{};
    };
    using iterator = Iterator<json>;
    using const_iterator = Iterator<const json>;

    json() = default;
    json(std::nullptr_t) {}
    json(value_t type) : type_(type) {}
    template <typename T, typename = std::enable_if_t<detail::kIsValue<T>>>
    json(const T& value)
    {
        Set(value);
    }
    /// Pairs that begin with a name are an object, anything else an array.
    json(std::initializer_list<json> values)
    {
        bool named = true;
        for (const json& value : values) {
            named = named && value.is_array() && value.size() == 2 && value.array_[0].is_string();
        }
        type_ = named ? value_t::object : value_t::array;
        for (const json& value : values) {
            if (named) {
                object_[value.array_[0].text_] = value.array_[1];
            } else {
                array_.push_back(value);
            }
        }
    }
    static json object() { return json(value_t::object); }
    static json array() { return json(value_t::array); }
    static json array(std::initializer_list<json> values)
    {
        json result(value_t::array);
        result.array_.assign(values.begin(), values.end());
        return result;
    }

    static json parse(const std::string& text);
    template <typename Callback>
    static json parse(const std::string& text, const Callback&, bool exceptions = true);
    static bool accept(const std::string& text);
    std::string dump(int indent = -1) const;

    value_t type() const { return type_; }
    bool is_null() const { return type_ == value_t::null; }
    bool is_object() const { return type_ == value_t::object; }
    bool is_array() const { return type_ == value_t::array; }
    bool is_string() const { return type_ == value_t::string; }
    bool is_boolean() const { return type_ == value_t::boolean; }
    bool is_number() const { return is_number_integer() || is_number_float(); }
    bool is_number_integer() const { return type_ == value_t::number_integer || is_number_unsigned(); }
    bool is_number_unsigned() const { return type_ == value_t::number_unsigned; }
    bool is_number_float() const { return type_ == value_t::number_float; }
    bool is_discarded() const { return type_ == value_t::discarded; }
    bool is_structured() const { return is_object() || is_array(); }
    bool is_primitive() const { return !is_structured(); }
    const char* type_name() const
    {
        static const char* const kNames[] = {"null",   "object", "array",  "string", "boolean",
                                             "number", "number", "number", "binary", "discarded"};
        return kNames[static_cast<int>(type_)];
    }

    size_type size() const
    {
        return is_object() ? object_.size() : is_array() ? array_.size() : is_null() ? 0 : 1;
    }
    bool empty() const { return size() == 0; }
    iterator begin() { return {this, 0}; }
    iterator end() { return {this, size()}; }
    const_iterator begin() const { return {this, 0}; }
    const_iterator end() const { return {this, size()}; }
    const_iterator cbegin() const { return begin(); }
    const_iterator cend() const { return end(); }
    object_t items() const { return object_; }

    iterator find(const std::string& name) { return {this, Place(name)}; }
    const_iterator find(const std::string& name) const { return {this, Place(name)}; }
    bool contains(const std::string& name) const { return is_object() && object_.count(name) != 0; }
    size_type count(const std::string& name) const { return contains(name) ? 1 : 0; }

    json& operator[](const std::string& name)
    {
        Become(value_t::object);
        return object_[name];
    }
    json& operator[](const char* name) { return (*this)[std::string(name)]; }
    const json& operator[](const std::string& name) const { return at(name); }
    const json& operator[](const char* name) const { return at(std::string(name)); }
    template <typename Index, typename = std::enable_if_t<std::is_integral_v<Index>>>
    json& operator[](Index index)
    {
        Become(value_t::array);
        if (array_.size() <= static_cast<size_type>(index)) {
            array_.resize(static_cast<size_type>(index) + 1);
        }
        return array_[static_cast<size_type>(index)];
    }
    template <typename Index, typename = std::enable_if_t<std::is_integral_v<Index>>>
    const json& operator[](Index index) const
    {
        return at(static_cast<size_type>(index));
    }
    json& at(const std::string& name) { return const_cast<json&>(static_cast<const json&>(*this).at(name)); }
    const json& at(const std::string& name) const
    {
        Expect(value_t::object);
        const auto found = object_.find(name);
        if (found == object_.end()) {
            throw out_of_range("key '" + name + "' not found");
        }
        return found->second;
    }
    json& at(size_type index) { return const_cast<json&>(static_cast<const json&>(*this).at(index)); }
    const json& at(size_type index) const
    {
        Expect(value_t::array);
        if (index >= array_.size()) {
            throw out_of_range("array index " + std::to_string(index) + " is out of range");
        }
        return array_[index];
    }
    json& front() { return array_.front(); }
    const json& front() const { return array_.front(); }
    json& back() { return array_.back(); }
    const json& back() const { return array_.back(); }
    void push_back(json value)
    {
        Become(value_t::array);
        array_.push_back(std::move(value));
    }
    template <typename... Arguments>
    json& emplace_back(Arguments&&... arguments)
    {
        push_back(json(std::forward<Arguments>(arguments)...));
        return array_.back();
    }
    size_type erase(const std::string& name) { return object_.erase(name); }
    void clear() { *this = json(type_); }

    template <typename T>
    T value(const std::string& name, const T& otherwise) const
    {
        return contains(name) ? at(name).get<T>() : otherwise;
    }
    std::string value(const std::string& name, const char* otherwise) const
    {
        return value<std::string>(name, otherwise);
    }

    template <typename T>
    T get() const
    {
        T result{};
        get_to(result);
        return result;
    }
    template <typename T>
    T& get_to(T& result) const
    {
        if constexpr (std::is_same_v<T, json>) {
            result = *this;
        } else if constexpr (detail::HasFromJson<T>::value) {
            from_json(*this, result);
        } else if constexpr (std::is_same_v<T, bool>) {
            Expect(value_t::boolean);
            result = truth_;
        } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
            result = Number<T>();
        } else if constexpr (std::is_same_v<T, std::string>) {
            Expect(value_t::string);
            result = text_;
        } else if constexpr (detail::IsMap<T>::value) {
            Expect(value_t::object);
            result = T();
            for (const auto& [name, value] : object_) {
                result[name] = value.template get<typename T::mapped_type>();
            }
        } else if constexpr (detail::Grows<T>::value) {
            Expect(value_t::array);
            result = T();
            for (const json& value : array_) {
                result.push_back(value.get<typename T::value_type>());
            }
        } else {
            Expect(value_t::array);
            size_type index = 0;
            for (auto& place : result) {
                at(index++).get_to(place);
            }
        }
        return result;
    }
    template <typename T, typename = std::enable_if_t<!std::is_pointer_v<T> && !std::is_reference_v<T> &&
                                                      !std::is_same_v<T, json> && !std::is_same_v<T, char> &&
                                                      !std::is_same_v<T, std::initializer_list<char>>>>
    operator T() const
    {
        return get<T>();
    }

    bool operator==(const json& other) const
    {
        if (is_number() && other.is_number()) {
            return is_number_float() || other.is_number_float() ? Number<double>() == other.Number<double>()
                                                                : integer_ == other.integer_;
        }
        return type_ == other.type_ && truth_ == other.truth_ && text_ == other.text_ && array_ == other.array_ &&
               object_ == other.object_;
    }
    bool operator!=(const json& other) const { return !(*this == other); }
    template <typename T, typename = std::enable_if_t<detail::kIsValue<T>>>
    bool operator==(const T& other) const
    {
        return *this == json(other);
    }
    template <typename T, typename = std::enable_if_t<detail::kIsValue<T>>>
    bool operator!=(const T& other) const
    {
        return *this != json(other);
    }

private:
    template <typename T>
    void Set(const T& value)
    {
        if constexpr (detail::HasToJson<T>::value) {
            to_json(*this, value);
        } else if constexpr (std::is_same_v<T, bool>) {
            type_ = value_t::boolean;
            truth_ = value;
        } else if constexpr (std::is_floating_point_v<T>) {
            type_ = value_t::number_float;
            real_ = static_cast<double>(value);
        } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
            type_ = std::is_unsigned_v<T> ? value_t::number_unsigned : value_t::number_integer;
            integer_ = static_cast<int64_t>(value);
        } else if constexpr (detail::kIsText<T>) {
            type_ = value_t::string;
            text_ = value;
        } else if constexpr (detail::IsMap<T>::value) {
            type_ = value_t::object;
            for (const auto& [name, one] : value) {
                object_[name] = json(one);
            }
        } else {
            type_ = value_t::array;
            for (const auto& one : value) {
                array_.push_back(json(static_cast<typename T::value_type>(one)));
            }
        }
    }
    template <typename T>
    T Number() const
    {
        if (is_number_float()) {
            return static_cast<T>(real_);
        }
        if (is_boolean()) {
            return static_cast<T>(truth_);
        }
        if (!is_number()) {
            throw type_error(std::string("type must be number, but is ") + type_name());
        }
        return is_number_unsigned() ? static_cast<T>(static_cast<uint64_t>(integer_)) : static_cast<T>(integer_);
    }
    /// Null becomes what it is used as.
    void Become(value_t type)
    {
        if (is_null()) {
            type_ = type;
        }
        Expect(type);
    }
    void Expect(value_t type) const
    {
        if (type_ != type) {
            throw type_error(std::string("type must be ") + json(type).type_name() + ", but is " + type_name());
        }
    }
    size_type Place(const std::string& name) const
    {
        const auto found = is_object() ? object_.find(name) : object_.end();
        return found == object_.end() ? size() : static_cast<size_type>(std::distance(object_.begin(), found));
    }

    value_t type_ = value_t::null;
    bool truth_ = false;
    int64_t integer_ = 0;  // of unsigned numbers the bits
    double real_ = 0;
    std::string text_;
    array_t array_;
    object_t object_;
};

using ordered_json = json;

}  // namespace nlohmann

#endif
