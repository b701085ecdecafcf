// Registration of an additional compute unit for an operator outside its definition.
#ifndef ASCEND_SDK_REGISTER_OP_CONFIG_REGISTRY_H
#define ASCEND_SDK_REGISTER_OP_CONFIG_REGISTRY_H

#include "register/op_def.h"

namespace ops {
using OpAICoreConfigFunc = OpAICoreConfig (*)();

class OpConfigRegistry {
public:
    void RegisterOpAICoreConfig(const char* op_type, const char* compute_unit, OpAICoreConfigFunc function);
};
} // namespace ops

#define ASCEND_SDK_AICORE_CONFIG(op_type, unit, function, counter)                          \
    static const int VAR_UNUSED g_##op_type##Op##unit##Config##counter = []() {             \
        ops::OpConfigRegistry().RegisterOpAICoreConfig(#op_type, #unit, function);          \
        return 0;                                                                           \
    }()
#define ASCEND_SDK_AICORE_CONFIG_COUNTED(op_type, unit, function, counter) \
    ASCEND_SDK_AICORE_CONFIG(op_type, unit, function, counter)
#define REGISTER_OP_AICORE_CONFIG(op_type, unit, function) \
    ASCEND_SDK_AICORE_CONFIG_COUNTED(op_type, unit, function, __COUNTER__)

#endif
