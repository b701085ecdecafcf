// Operators on tensors: `dst = a + b` is Add over all elements of dst.
#ifndef ASCENDC_OPERATORS_H
#define ASCENDC_OPERATORS_H

#include "ascendc/vec_binary.h"
#include "ascendc/vec_compare_select.h"

namespace AscendC {
namespace detail {

#define ASCENDC_EXPRESSION(Name)                                                   \
    template <typename T>                                                          \
    struct Name##Expression {                                                      \
        using Operand = LocalTensor<T>;                                            \
        const LocalTensor<T>& left;                                                \
        const LocalTensor<T>& right;                                               \
        ASC_API void AssignTo(const LocalTensor<T>& dst) const                     \
        {                                                                          \
            Name(dst, left, right, static_cast<int32_t>(dst.GetSize()));           \
        }                                                                          \
    };
ASCENDC_EXPRESSION(Add)
ASCENDC_EXPRESSION(Sub)
ASCENDC_EXPRESSION(Mul)
ASCENDC_EXPRESSION(Div)
ASCENDC_EXPRESSION(And)
ASCENDC_EXPRESSION(Or)
#undef ASCENDC_EXPRESSION

template <typename T>
struct CompareExpression {
    using Operand = LocalTensor<T>;
    const LocalTensor<T>& left;
    const LocalTensor<T>& right;
    CMPMODE mode;
    template <typename U>
    ASC_API void AssignTo(const LocalTensor<U>& dst) const
    {
        Compare(dst, left, right, mode, left.GetSize());
    }
};

}  // namespace detail

#define ASCENDC_OPERATOR(op, Name)                                                                            \
    template <typename T>                                                                                     \
    ASC_API detail::Name##Expression<T> operator op(const LocalTensor<T>& left, const LocalTensor<T>& right)  \
    {                                                                                                         \
        return {left, right};                                                                                 \
    }
ASCENDC_OPERATOR(+, Add)
ASCENDC_OPERATOR(-, Sub)
ASCENDC_OPERATOR(*, Mul)
ASCENDC_OPERATOR(/, Div)
ASCENDC_OPERATOR(&, And)
ASCENDC_OPERATOR(|, Or)
#undef ASCENDC_OPERATOR

#define ASCENDC_OPERATOR(op, mode)                                                                             \
    template <typename T>                                                                                      \
    ASC_API detail::CompareExpression<T> operator op(const LocalTensor<T>& left, const LocalTensor<T>& right)  \
    {                                                                                                          \
        return {left, right, mode};                                                                            \
    }
ASCENDC_OPERATOR(<, CMPMODE::LT)
ASCENDC_OPERATOR(>, CMPMODE::GT)
ASCENDC_OPERATOR(==, CMPMODE::EQ)
ASCENDC_OPERATOR(<=, CMPMODE::LE)
ASCENDC_OPERATOR(>=, CMPMODE::GE)
ASCENDC_OPERATOR(!=, CMPMODE::NE)
#undef ASCENDC_OPERATOR

}  // namespace AscendC

#endif
