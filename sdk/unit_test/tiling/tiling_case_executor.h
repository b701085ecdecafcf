// Runs a whole call and compares what comes out.
#ifndef ASCEND_SDK_UNIT_TEST_TILING_CASE_EXECUTOR_H
#define ASCEND_SDK_UNIT_TEST_TILING_CASE_EXECUTOR_H

#include <gtest/gtest.h>

#include "tiling_faker.h"

using namespace std;

const string EMPTY_EXPECT_TILING_DATA = "EMPTY_EXPECT_TILING_DATA";

struct TilingInfo {
    int64_t tilingKey = -1;
    std::vector<int64_t> workspaceSizes;
    std::unique_ptr<uint8_t[]> tilingData;
    size_t tilingDataSize = 0;
    size_t blockNum = 0;
};

void ExecuteTestCase(const gert::TilingContextPara& para, ge::graphStatus status = ge::GRAPH_FAILED, uint64_t key = 0,
                     const string& data = "", const std::vector<size_t>& workspaces = {});
void ExecuteTestCase(const gert::TilingContextPara& para, ge::graphStatus status, uint64_t key,
                     const std::vector<size_t>& workspaces);
void ExecuteTestCaseForEle(const gert::TilingContextPara& para, ge::graphStatus status, bool check_key, uint64_t key,
                           bool check_data, const string& data, const std::vector<size_t>& workspaces);
bool ExecuteTiling(const gert::TilingContextPara& para, TilingInfo& info);

#endif
