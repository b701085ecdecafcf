// The part of ge::Operator that operator sources need: its name and type.
// Graph building itself is no part of this SDK; a source that uses more does not compile here.
#ifndef ASCEND_SDK_GRAPH_OPERATOR_H
#define ASCEND_SDK_GRAPH_OPERATOR_H

#include <string>

#include "graph/ascend_string.h"
#include "graph/tensor.h"
#include "graph/types.h"

namespace ge {
class Operator {
public:
    Operator() = default;
    Operator(const char_t* name, const char_t* type) : name_(name), type_(type) {}

    bool IsEmpty() const
    {
        return type_.GetLength() == 0;
    }
    graphStatus GetName(AscendString& name) const
    {
        name = name_;
        return GRAPH_SUCCESS;
    }
    graphStatus GetOpType(AscendString& type) const
    {
        type = type_;
        return GRAPH_SUCCESS;
    }

private:
    AscendString name_;
    AscendString type_;
};
} // namespace ge

#endif
