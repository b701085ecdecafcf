// Macros that give a structure its conversions, member by member.
#ifndef ASCEND_SDK_NLOHMANN_JSON_DEFINE_H
#define ASCEND_SDK_NLOHMANN_JSON_DEFINE_H

#include <type_traits>

// A macro applied to each of up to some three hundred members: every pass expands what the last one left.
#define ASCEND_JSON_PARENTHESES ()
#define ASCEND_JSON_PASS4(...) __VA_ARGS__
#define ASCEND_JSON_PASS3(...) ASCEND_JSON_PASS4(ASCEND_JSON_PASS4(ASCEND_JSON_PASS4(ASCEND_JSON_PASS4(__VA_ARGS__))))
#define ASCEND_JSON_PASS2(...) ASCEND_JSON_PASS3(ASCEND_JSON_PASS3(ASCEND_JSON_PASS3(ASCEND_JSON_PASS3(__VA_ARGS__))))
#define ASCEND_JSON_PASS1(...) ASCEND_JSON_PASS2(ASCEND_JSON_PASS2(ASCEND_JSON_PASS2(ASCEND_JSON_PASS2(__VA_ARGS__))))
#define ASCEND_JSON_PASSES(...) \
    ASCEND_JSON_PASS1(ASCEND_JSON_PASS1(ASCEND_JSON_PASS1(ASCEND_JSON_PASS1(__VA_ARGS__))))
#define ASCEND_JSON_EACH(macro, ...) __VA_OPT__(ASCEND_JSON_PASSES(ASCEND_JSON_FIRST(macro, __VA_ARGS__)))
#define ASCEND_JSON_FIRST(macro, first, ...) \
    macro(first) __VA_OPT__(ASCEND_JSON_AGAIN ASCEND_JSON_PARENTHESES(macro, __VA_ARGS__))
#define ASCEND_JSON_AGAIN() ASCEND_JSON_FIRST

#define ASCEND_JSON_PUT(member) result[#member] = value.member;
// Not by reference: the structure may be packed.
#define ASCEND_JSON_TAKE(member) value.member = source.at(#member).get<std::decay_t<decltype(value.member)>>();

#define ASCEND_JSON_CONVERSIONS(word, Type, ...)                                                              \
    word void to_json(nlohmann::json& result, const Type& value) { ASCEND_JSON_EACH(ASCEND_JSON_PUT, __VA_ARGS__) } \
    word void from_json(const nlohmann::json& source, Type& value) { ASCEND_JSON_EACH(ASCEND_JSON_TAKE, __VA_ARGS__) }
#define NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Type, ...) ASCEND_JSON_CONVERSIONS([[maybe_unused]] inline, Type, __VA_ARGS__)
#define NLOHMANN_DEFINE_TYPE_INTRUSIVE(Type, ...) ASCEND_JSON_CONVERSIONS(friend, Type, __VA_ARGS__)

#endif
