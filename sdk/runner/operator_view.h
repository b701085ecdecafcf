// An operator as it is on one machine: its definition with the changes for the compute unit.
#ifndef ASCEND_SDK_RUNNER_OPERATOR_VIEW_H
#define ASCEND_SDK_RUNNER_OPERATOR_VIEW_H

#include <string>
#include <vector>

#include "host/registry.h"
#include "job.h"

namespace runner {
struct OperatorView {
    std::string type;
    const ascendsim::host::OpEntry* entry = nullptr;
    bool defined = false; // false: only functions were registered, the job's tensors are all that is known
    std::vector<ops::OpParamDef::Spec> inputs;
    std::vector<ops::OpParamDef::Spec> outputs;
    std::vector<ops::OpAttrDef::Spec> attrs; // private ones last
};

// Whether the shape of some output is known only when the kernel has computed it: then the kernel has one more parameter, behind its
// outputs, for a tensor that it writes these shapes into.
bool WritesShapes(const OperatorView& view);
// Numbers of 64 bits that an output has in that tensor: its rank, and eight dimensions.
constexpr size_t kShapeNumbers = 9;

// "Ascend910B2" -> "ascend910b".
std::string ComputeUnit(const std::string& soc);
OperatorView ViewOperator(const std::string& type, const ascendsim::host::OpEntry& entry, const std::string& soc);

// Loads the host library of the job; its static objects register the operators. Throws Failure (bad library).
void LoadHostLibrary(const std::string& path);

// While it lives, code and data of the host library are out of reach: a kernel that calls or reads what the tiling function passed the
// address of crashes, as it would on a device. Constants stay readable.
class HostSeal {
public:
    HostSeal();
    ~HostSeal();
    HostSeal(const HostSeal&) = delete;
    HostSeal& operator=(const HostSeal&) = delete;

private:
    struct Segment {
        void* from;
        size_t bytes;
        int allowed;
        int sealed;
    };
    std::vector<Segment> segments_;
};

// The operator that the job names, or the only one. Throws Failure (bad job).
OperatorView SelectOperator(const Job& job);
// Bytes of the largest tiling class where classes of several tiling keys are registered: the device's copy has room for any
// of them, and GET_TILING_DATA reads the class of the type whatever the key. Else 0.
size_t LargestTilingBytes(const std::string& type);
// The JSON of mode describe.
std::string DescribeLibrary(const Job& job);
} // namespace runner

#endif
