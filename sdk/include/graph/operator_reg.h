// Graph prototypes: REG_OP(Add).INPUT(x, ...).OUTPUT(y, ...).OP_END_FACTORY_REG(Add). Graphs are no part of this SDK, so
// a prototype is only read over; operator definitions (register/op_def.h) say the same.
#ifndef ASCEND_SDK_GRAPH_OPERATOR_REG_H
#define ASCEND_SDK_GRAPH_OPERATOR_REG_H

#include "graph/operator.h"

namespace ge {
class OperatorPrototype {
public:
    constexpr OperatorPrototype() = default;
    constexpr OperatorPrototype Part() const
    {
        return *this;
    }
};
} // namespace ge

#define REG_OP(op_type) [[maybe_unused]] static const ge::OperatorPrototype prototype_of_##op_type = ge::OperatorPrototype()
#define INPUT(...) Part()
#define OPTIONAL_INPUT(...) Part()
#define DYNAMIC_INPUT(...) Part()
#define OUTPUT(...) Part()
#define DYNAMIC_OUTPUT(...) Part()
#define ATTR(...) Part()
#define REQUIRED_ATTR(...) Part()
#define DATATYPE(...) Part()
#define GRAPH(...) Part()
#define DYNAMIC_GRAPH(...) Part()
#define INFER_SHAPE_AND_TYPE(...) Part()
#define OP_END() Part();
#define OP_END_FACTORY_REG(op_type) Part();

// Functions that graphs call; compiled, and called by nothing.
#define IMPLEMT_COMMON_INFERFUNC(name) [[maybe_unused]] static ge::graphStatus name(ge::Operator& op)
#define IMPLEMT_INFERFUNC(op_name, name) [[maybe_unused]] static ge::graphStatus name(ge::Operator& op)
#define IMPLEMT_VERIFIER(op_name, name) [[maybe_unused]] static ge::graphStatus name(ge::Operator& op)
#define COMMON_INFER_FUNC_REG(op_name, name) static_assert(true, "")
#define INFER_FUNC_REG(op_name, name) static_assert(true, "")
#define VERIFY_FUNC_REG(op_name, name) static_assert(true, "")

#endif
