// Values that outputs have before the launch: with `InitValue` in the definition the framework fills them first, and some operators
// add to outputs that whoever calls them has to clear, which the job says.
#ifndef ASCEND_SDK_RUNNER_INITIAL_VALUES_H
#define ASCEND_SDK_RUNNER_INITIAL_VALUES_H

#include <cstdint>
#include <optional>
#include <vector>

#include "job.h"
#include "register/op_def_registry.h"

namespace runner {
// What every element of an output is before the launch, by the job or by the operator's definition of it; none where neither says.
std::optional<double> InitialValue(const std::vector<ops::OpParamDef::Spec>& outputs, const JobTensor& given);

// Fills a tensor with a value. Throws Failure (bad library) where that is not zero and the tensor's type has no numbers.
void FillInitialValue(double value, const JobTensor& given, uint8_t* base);
} // namespace runner

#endif
