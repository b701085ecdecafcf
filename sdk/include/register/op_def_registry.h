// Registration of operator definitions: OP_ADD(Op) after a class `Op` that derives from ops::OpDef.
// The toolkit compiles this file three times with different meanings of OP_ADD; here one library serves all, so
// OP_ADD registers the definition and the functions that it names.
#ifndef ASCEND_SDK_REGISTER_OP_DEF_REGISTRY_H
#define ASCEND_SDK_REGISTER_OP_DEF_REGISTRY_H

#include "register/op_def.h"
#include "register/op_def_factory.h"

// The sign makes the lambda a plain function: wrapping it took longer to compile than the definition.
#define OP_ADD(op_type, ...)                                          \
    static const int VAR_UNUSED g_##op_type##_added =                 \
        ops::OpDefFactory::OpDefRegister(#op_type, +[](const char* name) -> ops::OpDef { return op_type(name); })

#endif
