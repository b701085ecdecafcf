// What a job says about the machine reaches tiling functions as the tool means it; jobs of some blocks; what is no job.
#include "../runner/job.cpp"
#include "host_check.h"
#include "platform/platform_info.h"
#include "tiling/platform/platform_ascendc.h"

namespace {
// A job with these members beside those that it must have.
runner::Job JobWith(const std::string& members)
{
    const std::string more = members.empty() ? "" : ", " + members;
    return runner::ParseJob(R"({"mode": "run", "host": "host.so", "operator": "Add", "result": "result.json")" + more + "}");
}

// Bytes of the unified buffer that a tiling function sees.
uint64_t SeenByTiling(const std::string& members)
{
    fe::PlatFormInfos infos;
    infos.SetNumbers(JobWith(members).machine);
    uint64_t bytes = 0;
    platform_ascendc::PlatformAscendC(&infos).GetCoreMemSize(platform_ascendc::CoreMemType::UB, bytes);
    return bytes;
}

// Why a job is refused; empty if it isn't.
std::string Refusal(const std::string& members)
{
    try {
        (void)JobWith(members);
        return {};
    } catch (const runner::Failure& failure) {
        return failure.what();
    }
}
} // namespace

int main()
{
    CHECK(SeenByTiling("") == 196352);
    CHECK(SeenByTiling(R"("machine": {"ub_bytes": 196352})") == 196352);
    CHECK(SeenByTiling(R"("machine": {"ub_bytes": 65536})") == 65536);
    const runner::Job job = JobWith(R"("sample": {"blocks": [0, 3, 47], "ranges": [{"output": 1, "from": 64, "bytes": 32},
                                       {"output": 0, "from": 0, "bytes": 8}]})");
    CHECK((job.blocks == std::vector<uint32_t>{0, 3, 47}));
    CHECK(job.ranges.size() == 2 && job.ranges[0].output == 1 && job.ranges[0].from == 64 && job.ranges[1].bytes == 8);
    CHECK(JobWith("").blocks.empty());
    // Whatever a path holds comes through, also what is no UTF-8.
    CHECK(JobWith(R"("trace": "a\nb \\x0a\"c\" \u00e9")").trace == "a\nb \\x0a\"c\" \xc3\xa9");
    CHECK(JobWith(R"("trace": [97, 255])").trace == "a\xff");
    const runner::Job kernels = JobWith(R"("kernels": [{"vector": "v.so"}, {"key": 7, "cube": "c.so", "type": "mix_1_2"}])");
    CHECK(kernels.kernels.at("*") == "v.so" && kernels.cube_kernels.at("7") == "c.so" && kernels.kernel_types.count("7") == 1);
    const runner::Job tensors = JobWith(R"("outputs": [{"name": "y", "dtype": "float16", "format": "ND", "file": "y.bin"}])");
    CHECK(tensors.outputs.size() == 1 && tensors.outputs[0].infer && !tensors.outputs[0].absent);
    CHECK(Refusal(R"("trace": [97, 256])") == "job, trace: must be a whole number from 0 to 255, not 256");
    CHECK(Refusal(R"("traces": "a")") == "job, traces: unknown name");
    CHECK(Refusal(R"("inputs": [{"name": "x"}])") == "job, inputs[0]: an input needs a shape");
    CHECK(Refusal(R"("sample": {"blocks": []})") == "job, sample.blocks: needs block numbers in increasing order");
    CHECK(!Refusal(R"("sample": {"blocks": [3, 3]})").empty());
    CHECK(!Refusal(R"("sample": {"blocks": [4, 3]})").empty());
    CHECK(!Refusal(R"("sample": {"ranges": [{"output": 0, "from": 8}]})").empty());
    CHECK(!Refusal(R"("sample": {"ranges": [{"output": 0, "from": 8, "bytes": 0}]})").empty());
    CHECK(Refusal(R"("inputs": 3)") == "job, inputs: must be a list, not 3");
    CHECK(runner::FindResultPath("mode run") == "" && runner::FindResultPath(R"({"result": "r", "mode": 3})") == "r");
    return CHECK_RESULT();
}
