// Host side of template tiling keys: packing as documented in template_argument.h.
#include <cstdio>

#include "ascendc/host_api/tiling/template_argument.h"

ASCENDC_TPL_ARGS_DECL(
    Example, ASCENDC_TPL_UINT_DECL(mode, 2, ASCENDC_TPL_UI_LIST, 10, 20, 30), ASCENDC_TPL_BOOL_DECL(flag, 0, 1),
    ASCENDC_TPL_UINT_DECL(size, ASCENDC_TPL_4_BW, ASCENDC_TPL_UI_MIX, 2, 1, 3, 8, 9, 100),
    ASCENDC_TPL_DTYPE_DECL(dtype, 0, 1, 27));

ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_UINT_SEL(mode, ASCENDC_TPL_UI_LIST, 10, 20)));

int main()
{
    struct Case {
        uint64_t got;
        uint64_t want;
    };
    const Case cases[] = {
        {GET_TPL_TILING_KEY(10, 0, 1, 0), 0},
        {GET_TPL_TILING_KEY(20, 1, 1, 0), 1 | 1 << 2},
        {GET_TPL_TILING_KEY(30, 0, 100, 27), 2 | 5 << 3 | 27 << 7},
        {GET_TPL_TILING_KEY(20), 1},
        {GET_TPL_TILING_KEY(11, 0, 1, 0), INVALID_TILING_KEY},
        {GET_TPL_TILING_KEY(10, 2, 1, 0), INVALID_TILING_KEY},
    };
    int failures = 0;
    for (const Case& item : cases) {
        if (item.got != item.want) {
            std::printf("FAILED: key %llu, expected %llu\n", static_cast<unsigned long long>(item.got),
                        static_cast<unsigned long long>(item.want));
            ++failures;
        }
    }
    std::printf("api_template_key: %s\n", failures == 0 ? "ok" : "failed");
    return failures == 0 ? 0 : 1;
}
