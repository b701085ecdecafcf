// What a job says about the machine reaches tiling functions as the tool means it; jobs of some blocks.
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

runner::Job JobWith(const std::string& lines)
{
    return runner::ParseJob("mode run\nhost \"host.so\"\nresult \"result.json\"\n" + lines);
}

bool IsRefused(const std::string& lines)
{
    try {
        (void)JobWith(lines);
        return false;
    } catch (const runner::Failure&) {
        return true;
    }
}
} // namespace

int main()
{
    CHECK(SeenByTiling("") == 196352);
    CHECK(SeenByTiling("ub_bytes 196352\n") == 196352);
    CHECK(SeenByTiling("ub_bytes 65536\n") == 65536);
    const runner::Job job = JobWith("blocks 0 3 47\nrange 1 64 32\nrange 0 0 8\n");
    CHECK((job.blocks == std::vector<uint32_t>{0, 3, 47}));
    CHECK(job.ranges.size() == 2 && job.ranges[0].output == 1 && job.ranges[0].from == 64 && job.ranges[1].bytes == 8);
    CHECK(JobWith("").blocks.empty());
    // Whatever a path or a value holds comes through: a line ends, quotes, what is no UTF-8.
    const runner::Job odd = JobWith("trace \"a\\x0ab \\\\x0a\\\"c\\\"\\xff\\xg1\\x\"\n");
    CHECK(odd.trace == "a\nb \\x0a\"c\"\xffxg1x");
    CHECK(IsRefused("trace \"a\\\"\n"));
    CHECK(IsRefused("blocks\n"));
    CHECK(IsRefused("blocks 3 3\n"));
    CHECK(IsRefused("blocks 4 3\n"));
    CHECK(IsRefused("range 0 8\n"));
    CHECK(IsRefused("range 0 8 0\n"));
    return CHECK_RESULT();
}
