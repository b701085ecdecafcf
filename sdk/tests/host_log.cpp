// Log lines keep their arguments, errors survive chatter, and quiet levels are not formatted.
#include <string>

#include "host/log_ring.h"
#include "host_check.h"
#include "log/log.h"

namespace {
int g_evaluated = 0;

int Evaluated()
{
    return ++g_evaluated;
}

bool Contains(const std::vector<std::string>& lines, const std::string& text)
{
    for (const std::string& line : lines) {
        if (line.find(text) != std::string::npos) {
            return true;
        }
    }
    return false;
}

ge::graphStatus NullCheck(const int* pointer)
{
    struct Context {
        const char* GetNodeName() const
        {
            return "node";
        }
        const char* GetNodeType() const
        {
            return "Type";
        }
    } context;
    OP_LOGE(&context, "context line %d", 5);
    OP_CHECK_NULL_WITH_CONTEXT(&context, pointer);
    return ge::GRAPH_SUCCESS;
}

int Refused(int value)
{
    OP_LOGE_IF(value < 0, 7, "node", "%d is negative", value);
    return 0;
}
} // namespace

int main()
{
    OP_LOGE("Add", "shape %ld is not %s", 7L, "even");
    OP_LOGD(std::string("Add"), "never formatted %d", Evaluated());
    CHECK(g_evaluated == 0);
    for (int i = 0; i < 100; ++i) {
        OP_LOGW("Add", "chatter %d", i);
    }
    OP_LOGE_FOR_INVALID_DTYPE("Add", "x", "DT_BOOL", std::string("DT_FLOAT"));
    REPORT_INNER_ERR_MSG("EZ9999", "code %d", 42);
    OP_LOGE("only a text");
    CHECK(NullCheck(nullptr) == ge::GRAPH_FAILED);
    CHECK(Refused(-3) == 7 && Refused(3) == 0);

    const std::vector<std::string> lines = ascendsim::host::RecentLogLines();
    CHECK(Contains(lines, "[Add] shape 7 is not even"));
    CHECK(Contains(lines, "chatter 99") && !Contains(lines, "chatter 3 "));
    CHECK(Contains(lines, "dtype of x is DT_BOOL, it should be DT_FLOAT"));
    CHECK(Contains(lines, "EZ9999: code 42"));
    CHECK(Contains(lines, "[node] -3 is negative") && !Contains(lines, "] 3 is negative"));
    CHECK(Contains(lines, "[Type:node] context line 5") && Contains(lines, "pointer is nullptr!"));
    CHECK(Contains(lines, " only a text") && !Contains(lines, "never formatted"));
    CHECK(lines.size() <= 2 * ascendsim::host::kLogRingLines);
    CHECK(!lines.empty() && lines.front().compare(0, 5, "ERROR") == 0);
    ascendsim::host::ClearLogLines();
    CHECK(ascendsim::host::RecentLogLines().empty());
    return CHECK_RESULT();
}
