// AscendC::Std: the parts of a standard library that kernels may use. Type traits are the compiler's own.
#ifndef ASCENDC_STANDARD_H
#define ASCENDC_STANDARD_H

#include "ascendsim/types.h"

namespace AscendC {
namespace Std {

// ---- type traits -------------------------------------------------------------------------------------
using std::add_const;
using std::add_const_t;
using std::add_cv;
using std::add_cv_t;
using std::add_lvalue_reference;
using std::add_lvalue_reference_t;
using std::add_pointer;
using std::add_pointer_t;
using std::add_rvalue_reference;
using std::add_rvalue_reference_t;
using std::add_volatile;
using std::add_volatile_t;
using std::bool_constant;
using std::conditional;
using std::conditional_t;
using std::decay;
using std::decay_t;
using std::enable_if;
using std::enable_if_t;
using std::false_type;
using std::integral_constant;
using std::is_array;
using std::is_array_v;
using std::is_base_of;
using std::is_base_of_v;
using std::is_class;
using std::is_class_v;
using std::is_const;
using std::is_const_v;
using std::is_convertible;
using std::is_convertible_v;
using std::is_function;
using std::is_function_v;
using std::is_integral;
using std::is_integral_v;
using std::is_lvalue_reference;
using std::is_lvalue_reference_v;
using std::is_pointer;
using std::is_pointer_v;
using std::is_reference;
using std::is_reference_v;
using std::is_rvalue_reference;
using std::is_rvalue_reference_v;
using std::is_same;
using std::is_same_v;
using std::is_union;
using std::is_union_v;
using std::is_void;
using std::is_void_v;
using std::remove_const;
using std::remove_const_t;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_extent;
using std::remove_extent_t;
using std::remove_pointer;
using std::remove_pointer_t;
using std::remove_reference;
using std::remove_reference_t;
using std::remove_volatile;
using std::remove_volatile_t;
using std::true_type;

template <typename T>
struct remove_cvref {
    using type = std::remove_cv_t<std::remove_reference_t<T>>;
};
template <typename T>
using remove_cvref_t = typename remove_cvref<T>::type;

/// half counts; bfloat16_t does not, as in the toolkit.
template <typename T>
struct is_floating_point
    : bool_constant<std::is_floating_point<T>::value || std::is_same<remove_cv_t<T>, half>::value> {};
template <typename T>
constexpr bool is_floating_point_v = is_floating_point<T>::value;

template <typename T, typename... Ts>
struct is_one_of : bool_constant<(std::is_same<T, Ts>::value || ...)> {};
template <typename T, typename... Ts>
constexpr bool is_one_of_v = is_one_of<T, Ts...>::value;
template <auto value, auto... values>
constexpr bool is_one_of_value_v = ((value == values) || ...);

/// For static_assert in the branch that must not be instantiated.
template <typename...>
constexpr bool always_false_v = false;

// ---- utility -----------------------------------------------------------------------------------------
template <typename T>
ASC_API constexpr std::remove_reference_t<T>&& move(T&& value) noexcept
{
    return static_cast<std::remove_reference_t<T>&&>(value);
}
template <typename T>
ASC_API constexpr T&& forward(std::remove_reference_t<T>& value) noexcept
{
    return static_cast<T&&>(value);
}
template <typename T>
ASC_API constexpr T&& forward(std::remove_reference_t<T>&& value) noexcept
{
    return static_cast<T&&>(value);
}
template <typename T>
std::add_rvalue_reference_t<T> declval() noexcept;

template <typename T, T... values>
struct integer_sequence {
    using value_type = T;
    static constexpr size_t size() { return sizeof...(values); }
};
template <size_t... values>
using index_sequence = integer_sequence<size_t, values...>;

namespace detail {
template <typename T, size_t count, T... values>
struct Counted : Counted<T, count - 1, static_cast<T>(count - 1), values...> {};
template <typename T, T... values>
struct Counted<T, 0, values...> {
    using type = integer_sequence<T, values...>;
};
}  // namespace detail
template <typename T, T count>
using make_integer_sequence = typename detail::Counted<T, static_cast<size_t>(count)>::type;
template <size_t count>
using make_index_sequence = make_integer_sequence<size_t, count>;
template <typename... Ts>
using index_sequence_for = make_index_sequence<sizeof...(Ts)>;

// ---- algorithm and cmath -----------------------------------------------------------------------------
template <typename T, typename U>
ASC_API constexpr T min(const T a, const U b)
{
    return static_cast<T>(b) < a ? static_cast<T>(b) : a;
}
template <typename T, typename U>
ASC_API constexpr T max(const T a, const U b)
{
    return a < static_cast<T>(b) ? static_cast<T>(b) : a;
}
template <typename T>
ASC_API constexpr T abs(const T value)
{
    return value < T(0) ? static_cast<T>(-value) : value;
}
template <typename T>
ASC_API T sqrt(const T value)
{
    return static_cast<T>(__builtin_sqrtf(static_cast<float>(value)));
}
template <typename T, typename U>
ASC_API constexpr auto divide(const T& a, const U& b)
{
    return a / b;
}
template <typename T, typename U>
ASC_API constexpr auto ceil_division(const T& a, const U& b)
{
    return (a + b - 1) / b;
}
template <typename T, typename U>
ASC_API constexpr auto ceil_align(const T& a, const U& b)
{
    return (a + b - 1) / b * b;
}

// ---- tuple -------------------------------------------------------------------------------------------
template <typename... Ts>
class tuple;

template <>
class tuple<> {
public:
    constexpr tuple() = default;
};

template <typename Head, typename... Tail>
class tuple<Head, Tail...> : public tuple<Tail...> {
public:
    constexpr tuple() = default;
    constexpr tuple(const Head& head, const Tail&... tail) : tuple<Tail...>(tail...), head_(head) {}
    template <
        typename H, typename... Ts,
        std::enable_if_t<
            sizeof...(Ts) == sizeof...(Tail) && std::is_convertible<H&&, Head>::value
                && !(sizeof...(Ts) == 0 && std::is_same<remove_cvref_t<H>, tuple>::value),
            int> = 0>
    constexpr tuple(H&& head, Ts&&... tail)
        : tuple<Tail...>(Std::forward<Ts>(tail)...), head_(Std::forward<H>(head))
    {}

    /// Assigns element by element, so that a tuple of references (tie) can take values apart.
    template <typename... Us>
    constexpr tuple& operator=(const tuple<Us...>& other)
    {
        head_ = other.First();
        if constexpr (sizeof...(Tail) > 0) {
            static_cast<tuple<Tail...>&>(*this) = other.Rest();
        }
        return *this;
    }

    constexpr Head& First() { return head_; }
    constexpr const Head& First() const { return head_; }
    constexpr tuple<Tail...>& Rest() { return *this; }
    constexpr const tuple<Tail...>& Rest() const { return *this; }

private:
    Head head_{};
};

template <typename T, typename... Ts>
class tuple<T&, Ts...> : public tuple<Ts...> {
public:
    constexpr tuple(T& head, Ts... tail) : tuple<Ts...>(static_cast<Ts>(tail)...), head_(head) {}
    template <typename... Us>
    constexpr tuple& operator=(const tuple<Us...>& other)
    {
        head_ = other.First();
        if constexpr (sizeof...(Ts) > 0) {
            static_cast<tuple<Ts...>&>(*this) = other.Rest();
        }
        return *this;
    }
    constexpr T& First() const { return head_; }
    constexpr tuple<Ts...>& Rest() { return *this; }
    constexpr const tuple<Ts...>& Rest() const { return *this; }

private:
    T& head_;
};

template <typename... Ts>
tuple(Ts...) -> tuple<Ts...>;

template <typename T>
struct tuple_size;
template <typename... Ts>
struct tuple_size<tuple<Ts...>> : std::integral_constant<size_t, sizeof...(Ts)> {};
template <typename... Ts>
struct tuple_size<const tuple<Ts...>> : std::integral_constant<size_t, sizeof...(Ts)> {};
template <typename T>
constexpr size_t tuple_size_v = tuple_size<T>::value;

template <size_t index, typename T>
struct tuple_element;
template <typename Head, typename... Tail>
struct tuple_element<0, tuple<Head, Tail...>> {
    using type = Head;
};
template <size_t index, typename Head, typename... Tail>
struct tuple_element<index, tuple<Head, Tail...>> : tuple_element<index - 1, tuple<Tail...>> {};
template <size_t index, typename T>
struct tuple_element<index, const T> {
    using type = const typename tuple_element<index, T>::type;
};
template <size_t index, typename T>
using tuple_element_t = typename tuple_element<index, T>::type;

template <typename T>
struct is_tuple : false_type {};
template <typename... Ts>
struct is_tuple<tuple<Ts...>> : true_type {};
template <typename T>
constexpr bool is_tuple_v = is_tuple<remove_cvref_t<T>>::value;

template <size_t index, typename... Ts>
ASC_API constexpr decltype(auto) get(tuple<Ts...>& t) noexcept
{
    if constexpr (index == 0) {
        return (t.First());
    } else {
        return get<index - 1>(t.Rest());
    }
}
template <size_t index, typename... Ts>
ASC_API constexpr decltype(auto) get(const tuple<Ts...>& t) noexcept
{
    if constexpr (index == 0) {
        return (t.First());
    } else {
        return get<index - 1>(t.Rest());
    }
}
template <size_t index, typename... Ts>
ASC_API constexpr tuple_element_t<index, tuple<Ts...>>&& get(tuple<Ts...>&& t) noexcept
{
    return static_cast<tuple_element_t<index, tuple<Ts...>>&&>(get<index>(t));
}

template <typename... Ts>
ASC_API constexpr tuple<decay_t<Ts>...> make_tuple(Ts&&... values)
{
    return tuple<decay_t<Ts>...>(Std::forward<Ts>(values)...);
}
template <typename... Ts>
ASC_API constexpr tuple<Ts&...> tie(Ts&... values) noexcept
{
    return tuple<Ts&...>(values...);
}

struct ignore_t {
    template <typename T>
    constexpr const ignore_t& operator=(T&&) const
    {
        return *this;
    }
};
constexpr ignore_t ignore{};

}  // namespace Std
}  // namespace AscendC

#endif
