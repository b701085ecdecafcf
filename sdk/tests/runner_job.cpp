// What a job says about the machine reaches tiling functions as the tool means it.
#include "../runner/job.cpp"
#include "host_check.h"
#include "platform/platform_info.h"
#include "tiling/platform/platform_ascendc.h"

namespace {
// Bytes of the unified buffer that a tiling function sees.
uint64_t SeenByTiling(const std::string& line)
{
    const runner::Job job = runner::ParseJob("mode run\nhost \"host.so\"\nop Add\nresult \"result.json\"\n" + line);
    fe::PlatFormInfos infos;
    infos.SetNumbers(job.machine);
    uint64_t bytes = 0;
    platform_ascendc::PlatformAscendC(&infos).GetCoreMemSize(platform_ascendc::CoreMemType::UB, bytes);
    return bytes;
}
} // namespace

int main()
{
    CHECK(SeenByTiling("") == 196352);
    CHECK(SeenByTiling("ub_bytes 196352\n") == 196352);
    CHECK(SeenByTiling("ub_bytes 65536\n") == 65536);
    return CHECK_RESULT();
}
