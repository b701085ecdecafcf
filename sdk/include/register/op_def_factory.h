// Keeps the operator definitions of the loaded libraries.
#ifndef ASCEND_SDK_REGISTER_OP_DEF_FACTORY_H
#define ASCEND_SDK_REGISTER_OP_DEF_FACTORY_H

#include <functional>

#include "register/op_def.h"

namespace ops {
using OpDefCreator = std::function<OpDef(const char*)>;

class OpDefFactory {
public:
    // Builds the definition and registers it; returns 0, so that it can initialise a variable.
    static int OpDefRegister(const char* op_type, const OpDefCreator& creator);
    static int OpDefRegister(const char* op_type, OpDef (*creator)(const char*));
};
} // namespace ops

#endif
