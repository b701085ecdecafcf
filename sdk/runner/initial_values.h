// Values that outputs have before the launch: with `InitValue` in the definition, the framework fills them first.
#ifndef ASCEND_SDK_RUNNER_INITIAL_VALUES_H
#define ASCEND_SDK_RUNNER_INITIAL_VALUES_H

#include <cstdint>
#include <string>
#include <vector>

#include "job.h"
#include "register/op_def_registry.h"

namespace runner {
// The definition of an output by its name; null where the operator has none or gives it no initial value.
const ops::OpParamDef::Spec* Initialised(const std::vector<ops::OpParamDef::Spec>& outputs, const std::string& name);

// Fills a tensor with the value that its definition has for its data type. Throws Failure (bad library) where that is a
// number for a type without one.
void FillInitialValue(const ops::OpParamDef::Spec& spec, const JobTensor& given, uint8_t* base);
} // namespace runner

#endif
