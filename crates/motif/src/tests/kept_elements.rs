//! Loops of scalars dealt to cores that keep something in a buffer.

use super::dealing::{HOST, context, dealt};

/// Sums by class along the first axis, one column after the other, with sums that the scalar unit keeps in a buffer; few classes go
/// another way, which has its own number of blocks.
const SUMS: &str = r#"#include "kernel_operator.h"
using namespace AscendC;
class Sums {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR kinds, GM_ADDR y, int32_t groups, int32_t rows, int32_t classes, int32_t columns)
    {
        this->groups = groups;
        this->rows = rows;
        this->classes = classes;
        this->columns = columns;
        source.SetGlobalBuffer((__gm__ float *)x);
        kind.SetGlobalBuffer((__gm__ int32_t *)kinds);
        result.SetGlobalBuffer((__gm__ float *)y);
        pipe.InitBuffer(sumBuffer, classes * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        auto sums = sumBuffer.Get<float>();
        int32_t before;
        for (int32_t group = 0; group < groups; group++) {
            before = group * classes * columns;
            for (int32_t column = 0; column < columns; column++) {
                if (groups > 1) {
                    for (int32_t i = 0; i < classes; i++) {
                        sums.SetValue(i, 0.0f);
                    }
                } else {
                    for (int32_t i = 0; i < classes; i++) {
                        sums.SetValue(i, 1.0f);
                    }
                }
                for (int32_t row = 0; row < rows; row++) {
                    int32_t at = (group * rows + row) * columns + column;
                    int32_t to = kind.GetValue(at);
                    sums.SetValue(to, sums.GetValue(to) + source.GetValue(at));
                }
                for (int32_t i = 0; i < classes; i++) {
                    result.SetValue(before + i * columns + column, sums.GetValue(i));
                }
            }
        }
    }

private:
    TPipe pipe;
    TBuf<TPosition::VECCALC> sumBuffer;
    GlobalTensor<float> source, result;
    GlobalTensor<int32_t> kind;
    int32_t groups = 0;
    int32_t rows = 0;
    int32_t classes = 0;
    int32_t columns = 0;
};
class Copies {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, int32_t rows)
    {
        this->part = rows / GetBlockNum();
        source.SetGlobalBuffer((__gm__ float *)x + part * GetBlockIdx());
        result.SetGlobalBuffer((__gm__ float *)y + part * GetBlockIdx());
        pipe.InitBuffer(bound, 1, 1024);
    }
    __aicore__ inline void Process()
    {
        LocalTensor<float> local = bound.AllocTensor<float>();
        DataCopy(local, source, part);
        bound.EnQue(local);
        local = bound.DeQue<float>();
        DataCopy(result, local, part);
        bound.FreeTensor(local);
    }

private:
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> bound;
    GlobalTensor<float> source, result;
    int32_t part = 0;
};
extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR kinds, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    if (TILING_KEY_IS(1)) {
        Copies copies;
        copies.Init(x, y, data.rows);
        copies.Process();
    } else if (TILING_KEY_IS(2)) {
        Sums sums;
        sums.Init(x, kinds, y, data.groups, data.rows, data.classes, data.columns);
        sums.Process();
    }
}
"#;

/// Its host code.
fn host_of_sums() -> String {
    HOST.replace(
        "    context->SetBlockDim(1);\n",
        "    constexpr uint32_t CORES = 1;\n    const uint32_t classes = shape.GetDim(0);\n    if (classes < 2) {\n        uint32_t cores = classes < CORES ? classes : CORES;\n        context->SetBlockDim(cores);\n    } else {\n        context->SetBlockDim(1);\n    }\n",
    )
}

#[test]
fn l15_refuses_what_a_buffer_keeps_from_round_to_round() {
    let refused = |kernel: &str| dealt(&context(&host_of_sums(), kernel)).map(|_| ()).expect_err(kernel);
    let fill = "for (int32_t i = 0; i < classes; i++) {\n                        sums.SetValue(i, 1.0f);";
    for (there, instead, why) in [
        // Not all elements are set, or not in every round, or only behind the first question.
        (
            fill,
            "for (int32_t i = 0; i < classes - 1; i++) {\n                        sums.SetValue(i, 1.0f);",
            "elements of sums",
        ),
        (
            fill,
            "for (int32_t i = 0; i < rows; i++) {\n                        sums.SetValue(i, 1.0f);",
            "elements of sums",
        ),
        (
            fill,
            "for (int32_t i = 0; i < classes; i++) {\n                        sums.SetValue(0, 1.0f);",
            "elements of sums",
        ),
        (
            fill,
            "for (int32_t i = 0; i < classes; i++) {\n                        if (i == 2) {\n                            continue;\n                        }\n                        sums.SetValue(i, 1.0f);",
            "elements of sums",
        ),
        (
            fill,
            "for (int32_t i = 0; i < classes; i++) {\n                        if (i != 2)\n                            sums.SetValue(i, 1.0f);",
            "elements of sums",
        ),
        (
            fill,
            "for (int32_t i = 0; i < classes; i++) {\n                        sums.SetValue(i, sums.GetValue(0));",
            "elements of sums",
        ),
        (
            "                } else {\n                    for",
            "                } else if (rows > 1) {\n                    for",
            "elements of sums",
        ),
        (
            "                if (groups > 1) {\n",
            "                float kept = sums.GetValue(0);\n                if (groups > 1) {\n",
            "elements of sums",
        ),
        ("classes * sizeof(float)", "1024 * sizeof(float)", "elements of sums"),
        ("classes * sizeof(float)", "classes * sizeof(half)", "elements of sums"),
        ("        this->classes = classes;\n", "        this->classes = classes + 1;\n", "elements of sums"),
        ("        int32_t before;\n", "        int32_t before;\n        classes = rows;\n", "elements of sums"),
        // The buffer has another name, or is somebody else's too.
        (
            "        int32_t before;\n",
            "        int32_t before;\n        auto others = sumBuffer.Get<float>();\n",
            "taken at two places",
        ),
        (
            "        int32_t before;\n",
            "        int32_t before;\n        LocalTensor<float> &other = sums;\n",
            "takes a tensor of the unified buffer",
        ),
        (
            "        int32_t before;\n",
            "        int32_t before;\n        Adds(sums, sums, 1.0f, 8);\n",
            "takes a tensor of the unified buffer",
        ),
        // Places that memory says.
        (
            "result.SetValue(before + i * columns + column,",
            "result.SetValue(before + kind.GetValue(i) + column,",
            "follows GetValue",
        ),
        ("    } else if (TILING_KEY_IS(2)) {", "    }\n    if (data.rows > 3) {", "may do that"),
    ] {
        let kernel = SUMS.replacen(there, instead, 1);
        assert!(kernel.contains(instead), "{instead}");
        let said = refused(&kernel);
        assert!(said.contains(why), "{why}: {said}\n{instead}");
    }
    // Other launches may have several blocks: nothing says that they never get to what is dealt.
    for (there, instead) in [
        ("CORES = 1", "CORES = 2"),
        ("? classes : CORES", "? CORES : classes"),
        ("classes < CORES ?", "classes > CORES ?"),
        ("        context->SetBlockDim(cores);", "        cores += 2;\n        context->SetBlockDim(cores);"),
    ] {
        let host = host_of_sums().replacen(there, instead, 1);
        assert!(host.contains(instead));
        let said = dealt(&context(&host, SUMS)).map(|_| ()).expect_err(&host);
        assert!(said.contains("is set at 2 places"), "{said}");
    }
}

#[test]
fn l15_deals_columns_whose_sums_a_buffer_keeps() {
    let after = dealt(&context(&host_of_sums(), SUMS)).unwrap();
    let kernel = after.tree.text("op_kernel/k.cpp").unwrap();
    let lines = "            int64_t lineRounds = 1; // no line of the data cache is written by two cores
            while ((lineRounds * (1)) * sizeof(float) % 64 != 0) {
                lineRounds *= 2;
            }
            if (innerRounds % lineRounds != 0 || (static_cast<int64_t>(columns)) * sizeof(float) % 64 != 0 || (static_cast<int64_t>(classes) * columns) * sizeof(float) % 64 != 0) {
                lineRounds = innerRounds;
                while ((lineRounds / innerRounds * (static_cast<int64_t>(classes) * columns)) * sizeof(float) % 64 != 0) {
                    lineRounds *= 2;
                }
            }
";
    let from = kernel.find("            int64_t lineRounds").unwrap();
    assert_eq!(&kernel[from..kernel.find("            const int64_t share").unwrap()], lines, "{kernel}");
    let decided = "    if (!(!(TILING_KEY_IS(1)) && (TILING_KEY_IS(2))) && GetBlockIdx() != 0) {
        return; // the first core does what is not dealt
    }
    if (TILING_KEY_IS(1)) {
";
    assert!(kernel.contains(decided), "{kernel}");
    assert!(kernel.contains("        this->part = rows / 1;\n"), "{kernel}");
    let host = after.tree.text("op_host/k.cpp").unwrap();
    assert!(host.contains("context->SetBlockDim(cores);") && !host.contains("SetBlockDim(1)"), "{host}");
}

#[test]
fn l15_may_begin_anywhere_in_a_round_of_the_outer_loop() {
    let shifted = |start: &str| {
        let kernel = SUMS.replace("before + i * columns + column", &format!("before + {start} + column"));
        dealt(&context(&host_of_sums(), &kernel)).unwrap().tree.text("op_kernel/k.cpp").unwrap().to_owned()
    };
    let one_core = "lineRounds = rounds > 0 ? rounds : 1;";
    // Within a group, and beyond what is known to be one.
    let within = SUMS
        .replace("group * classes * columns", "group * 3 * columns")
        .replace("before + i * columns + column", "before + 2 * columns + column");
    let kernel = dealt(&context(&host_of_sums(), &within)).unwrap().tree.text("op_kernel/k.cpp").unwrap().to_owned();
    assert!(!kernel.contains(one_core) && kernel.contains("(columns) * 2) * sizeof(float) % 64 != 0"), "{kernel}");
    assert!(shifted("rows").contains(one_core));
    assert!(shifted("columns").contains(one_core));
}
