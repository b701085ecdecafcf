// Stands before every source of a build with several faults in it: the one that FAULT_ON names acts, without it none does.
// With FAULTS_REACHED in the environment a file of that name gets a one for every fault that a program comes by.
#pragma once
#include <algorithm>
#include <initializer_list>
#include <type_traits>

extern "C" int fault_on;
extern "C" unsigned char* faults_reached;

namespace fault {

inline bool Acts(int number)
{
    if (faults_reached) {
        faults_reached[number] = 1;
    }
    return fault_on == number;
}

template <class T>
inline T Number(int number, T right, T wrong)
{
    return Acts(number) ? wrong : right;
}

inline bool Truth(int number, bool right) { return Acts(number) != right; }

// `a < b` is written `a < fault::Less{7} < b`: of the same precedence, so that nothing else of an expression changes.
#define FAULT_SWAP(NAME, RIGHT, WRONG)                                                                                      \
    struct NAME {                                                                                                           \
        int number;                                                                                                         \
    };                                                                                                                      \
    template <class A>                                                                                                      \
    struct NAME##Left {                                                                                                     \
        const A& left;                                                                                                      \
        int number;                                                                                                         \
    };                                                                                                                      \
    template <class A, class Decayed = std::decay_t<A>>                                                                     \
    inline NAME##Left<A> operator RIGHT(const A& left, NAME swap)                                                           \
    {                                                                                                                       \
        return {left, swap.number};                                                                                         \
    }                                                                                                                       \
    template <class A, class B>                                                                                             \
    inline auto operator RIGHT(NAME##Left<A> of, const B& right)->decltype(of.left RIGHT right)                             \
    {                                                                                                                       \
        return Acts(of.number) ? static_cast<decltype(of.left RIGHT right)>(of.left WRONG right) : (of.left RIGHT right);   \
    }

FAULT_SWAP(Less, <, <=)
FAULT_SWAP(LessEqual, <=, <)
FAULT_SWAP(Greater, >, >=)
FAULT_SWAP(GreaterEqual, >=, >)
FAULT_SWAP(Equal, ==, !=)
FAULT_SWAP(Unequal, !=, ==)
FAULT_SWAP(Plus, +, -)
FAULT_SWAP(Minus, -, +)
FAULT_SWAP(Times, *, +)
FAULT_SWAP(Divide, /, *)
FAULT_SWAP(Modulo, %, /)
FAULT_SWAP(ShiftLeft, <<, >>)
FAULT_SWAP(ShiftRight, >>, <<)
FAULT_SWAP(And, &, |)
FAULT_SWAP(Or, |, &)
#undef FAULT_SWAP

// `a += b` groups from the right: `a += (fault::Add{7} += b)`.
struct Add {
    int number;
};
template <class B>
struct AddRight {
    const B& right;
    int number;
};
template <class B>
inline AddRight<B> operator+=(Add swap, const B& right)
{
    return {right, swap.number};
}
template <class A, class B>
inline A& operator+=(A& left, AddRight<B> of)
{
    if (Acts(of.number)) {
        left -= of.right;
    } else {
        left += of.right;
    }
    return left;
}

template <int number, class T>
inline T Min(const T& a, const T& b)
{
    return Acts(number) ? std::max(a, b) : std::min(a, b);
}
template <int number, class T>
inline T Max(const T& a, const T& b)
{
    return Acts(number) ? std::min(a, b) : std::max(a, b);
}
template <int number, class T>
inline T Min(std::initializer_list<T> all)
{
    return Acts(number) ? std::max(all) : std::min(all);
}
template <int number, class T>
inline T Max(std::initializer_list<T> all)
{
    return Acts(number) ? std::min(all) : std::max(all);
}

} // namespace fault
