//! Loops of scalars dealt to cores whose index runs along, and that are one way of several.

use super::dealing::{HOST, context, dealt};
use super::motif;

/// Lower triangles, as somebody writes them first: an index that runs along, and other ways for what is easier.
const TRIANGLE: &str = r#"#include "kernel_operator.h"
using namespace AscendC;
class Lower {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t way, int32_t count, int32_t rows, int32_t columns, int32_t above)
    {
        this->way = way;
        this->count = count;
        this->rows = rows;
        this->columns = columns;
        this->above = above;
        source.SetGlobalBuffer((__gm__ DTYPE_X *)x, count * rows * columns);
        result.SetGlobalBuffer((__gm__ DTYPE_X *)y, count * rows * columns);
        pipe.InitBuffer(bound, 2, 1024 * sizeof(DTYPE_X));
    }
    __aicore__ inline void Process()
    {
        if (way == 1) {
            Triangle();
        } else if (way == 2) {
            Whole();
        }
    }

private:
    __aicore__ inline void Triangle()
    {
        int32_t at = 0;
        for (int32_t matrix = 0; matrix < this->count; matrix++) {
            for (int32_t row = 0; row < this->rows; row++) {
                int32_t column = 0;
                while (column < this->columns && column - row <= this->above) {
                    DTYPE_X value = source.GetValue(at);
                    result.SetValue(at, value);
                    column++;
                    at++;
                }
                while (column < this->columns) {
                    result.SetValue(at, (DTYPE_X)0);
                    column++;
                    at++;
                }
            }
        }
    }
    __aicore__ inline void Whole()
    {
        for (int32_t tile = 0; tile < count; tile++) {
            Move(tile * 1024);
        }
    }
    __aicore__ inline void Move(uint32_t at)
    {
        LocalTensor<DTYPE_X> local = bound.AllocTensor<DTYPE_X>();
        DataCopy(local, source[at], 1024);
        bound.EnQue(local);
        local = bound.DeQue<DTYPE_X>();
        DataCopy(result[at], local, 1024);
        bound.FreeTensor(local);
    }
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 2> bound;
    GlobalTensor<DTYPE_X> source, result;
    uint32_t way = 0;
    int32_t count = 0;
    int32_t rows = 0;
    int32_t columns = 0;
    int32_t above = 0;
};
extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    Lower op;
    op.Init(x, y, data.way, data.count, data.rows, data.columns, data.above);
    op.Process();
}
"#;

/// What becomes of the ways.
const DEALT_TRIANGLE: &str = r#"    __aicore__ inline void Triangle()
    {
        int32_t at = 0;
        const int64_t innerRounds = (this->rows) > 0 ? (this->rows) : 1;
        const int64_t rounds = (this->rows) > 0 ? static_cast<int64_t>(this->count) * innerRounds : 0;
        int64_t first = 0;
        int64_t last = rounds;
        if (GetBlockNum() > 1) {
            int64_t lineRounds = 1; // no line of the data cache is written by two cores
            while ((lineRounds * (static_cast<int64_t>(columns))) * sizeof(DTYPE_X) % 64 != 0) {
                lineRounds *= 2;
            }
            const int64_t share = (rounds + lineRounds * GetBlockNum() - 1) / (lineRounds * GetBlockNum()) * lineRounds;
            first = share * GetBlockIdx();
            last = first + share < rounds ? first + share : rounds;
        }
        for (int32_t matrix = first / innerRounds; matrix < (last + innerRounds - 1) / innerRounds; matrix++) {
            for (int32_t row = matrix * innerRounds < first ? first - matrix * innerRounds : 0; row < ((matrix + 1) * innerRounds < last ? innerRounds : last - matrix * innerRounds); row++) {
                at = static_cast<int64_t>(columns) * row + static_cast<int64_t>(columns) * matrix * rows;
                int32_t column = 0;
                while (column < this->columns && column - row <= this->above) {
                    DTYPE_X value = source.GetValue(at);
                    result.SetValue(at, value);
                    column++;
                    at++;
                }
                while (column < this->columns) {
                    result.SetValue(at, (DTYPE_X)0);
                    column++;
                    at++;
                }
            }
        }
    }
    __aicore__ inline void Whole()
    {
        for (int32_t tile = 0; tile < count; tile++) {
            Move(tile * 1024);
        }
    }
"#;

#[test]
fn l15_refuses_indices_that_run_along_in_steps_of_their_own() {
    let refused = |kernel: &str| dealt(&context(HOST, kernel)).map(|_| ()).expect_err(kernel);
    let step = "                    column++;\n                    at++;\n                }\n            }\n";
    for (there, instead, why) in [
        // Steps that are not the same for all rounds.
        (
            "                    result.SetValue(at, (DTYPE_X)0);\n                    column++;\n",
            "                    result.SetValue(at, (DTYPE_X)0);\n                    column += 2;\n",
            "get at from",
        ),
        (
            step,
            "                    column++;\n                    if (row > 2) {\n                        at++;\n                    }\n                }\n            }\n",
            "get at from",
        ),
        ("while (column < this->columns) {", "while (column < this->rows) {", "get at from"),
        ("while (column < this->columns) {", "while (column <= this->columns) {", "get at from"),
        (
            "while (column < this->columns && column - row <= this->above)",
            "while (column - row <= this->above)",
            "get at from",
        ),
        ("while (column < this->columns && ", "while (column < this->columns || ", "get at from"),
        ("                int32_t column = 0;\n", "                int32_t column = row;\n", "get at from"),
        (
            "                int32_t column = 0;\n",
            "                int32_t column = 0;\n                at += row;\n",
            "get at from",
        ),
        (
            "                int32_t column = 0;\n",
            "                int32_t column = 0;\n                if (row == 3) {\n                    continue;\n                }\n",
            "get at from",
        ),
        (
            "                int32_t column = 0;\n",
            "                int32_t column = 0;\n                at--;\n",
            "get at from",
        ),
        // What another round writes too, and what is read beside the loops that move the index on.
        (
            "                    result.SetValue(at, value);\n                    column++;\n                    at++;\n",
            "                    column++;\n                    at++;\n                    result.SetValue(at, value);\n",
            "get at from",
        ),
        (
            "                int32_t column = 0;\n",
            "                int32_t column = 0;\n                result.SetValue(at, (DTYPE_X)1);\n",
            "get at from",
        ),
        ("        int32_t at = 0;\n", "        int32_t at = 0;\n        int32_t &other = at;\n", "get at from"),
        (
            "                int32_t column = 0;\n",
            "                int32_t column = 0;\n                Forward(at);\n",
            "get at from",
        ),
        (
            "                    DTYPE_X value = source.GetValue(at);\n",
            "                    DTYPE_X value = result.GetValue(at);\n",
            "read and written",
        ),
    ] {
        let kernel = TRIANGLE.replacen(there, instead, 1).replacen(
            "private:\n",
            "private:\n    __aicore__ inline void Forward(int32_t &at)\n    {\n        at += 1;\n    }\n",
            1,
        );
        assert!(kernel.contains(instead), "{instead}");
        let said = refused(&kernel);
        assert!(said.contains(why), "{why}: {said}\n{instead}");
    }
}

#[test]
fn l15_leaves_what_one_launch_does_beside_it_to_nobody() {
    let refused = |kernel: &str| dealt(&context(HOST, kernel)).map(|_| ()).expect_err(kernel);
    for (there, instead, why) in [
        // Both may run: what the one writes the other one may need, or write too.
        (
            "        } else if (way == 2) {\n            Whole();\n        }\n",
            "        }\n        Whole();\n",
            "may do that",
        ),
        ("            Triangle();\n", "            Whole();\n            Triangle();\n", "may do that"),
        ("        } else if (way == 2) {", "        }\n        if (way == 2) {", "may do that"),
        ("        source.SetGlobalBuffer(", "        Whole();\n        source.SetGlobalBuffer(", "may do that"),
        ("    op.Process();", "    op.Process();\n    op.Whole();", "may do that"),
        // Copies in the very function that deals.
        ("        int32_t at = 0;\n", "        int32_t at = 0;\n        Move(0);\n", "may do that"),
        (
            "        int32_t at = 0;\n",
            "        int32_t at = 0;\n        DataCopy(result[at], spare, 8);\n",
            "DataCopy is no scalar's",
        ),
        // Something that has to be given back.
        (
            "    __aicore__ inline void Process()\n    {\n",
            "    __aicore__ inline int Process()\n    {\n",
            "gives something back",
        ),
        // Two loops over one tensor in a launch.
        (
            "        int32_t at = 0;\n",
            "        for (int32_t row = 0; row < rows; row++) {\n            result.SetValue(row, (DTYPE_X)0);\n        }\n        int32_t at = 0;\n",
            "result is written by two loops",
        ),
    ] {
        let kernel = TRIANGLE.replacen(there, instead, 1);
        assert!(kernel.contains(instead), "{instead}");
        let said = refused(&kernel);
        assert!(said.contains(why), "{why}: {said}\n{instead}");
    }
    // An arm in a loop may come after the other one.
    let looped = TRIANGLE
        .replace(
            "        if (way == 1) {",
            "        for (int32_t pass = 0; pass < 2; ++pass) {\n        if (way == 1) {",
        )
        .replace("            Whole();\n        }\n    }", "            Whole();\n        }\n        }\n    }");
    assert!(refused(&looped).contains("called in a loop"));
}

#[test]
fn l15_deals_an_index_that_runs_along_and_leaves_other_ways_to_the_first_core() {
    let before = context(HOST, TRIANGLE);
    let after = dealt(&before).unwrap();
    let kernel = after.tree.text("op_kernel/k.cpp").unwrap();
    let at = kernel.find("    __aicore__ inline void Triangle()").unwrap();
    let lines = &kernel[at..kernel.find("    __aicore__ inline void Move").unwrap()];
    assert_eq!(lines, DEALT_TRIANGLE, "{lines}");
    let decided = "        if (!(way == 1) && GetBlockIdx() != 0) {
            return; // the first core does what is not dealt
        }
        if (way == 1) {
            Triangle();
";
    assert!(kernel.contains(decided), "{kernel}");
    assert!(motif("L15").rewind_sites(&after).sites.is_empty());
    // Each way its kernel's, by the tiling key.
    let keyed = TRIANGLE
        .replace("if (way == 1) {", "if (TILING_KEY_IS(1)) {")
        .replace("} else if (way == 2) {", "}\n        if (TILING_KEY_IS(2)) {");
    assert!(dealt(&context(HOST, &keyed)).is_ok());
    assert!(dealt(&context(HOST, &keyed.replace("IS(2)", "IS(1)"))).is_err());
}

/// Host code of the triangles, which knows its numbers only behind the block dimension.
const HOST_OF_TRIANGLES: &str = "#include \"register/op_def_registry.h\"\nnamespace optiling {\nstatic ge::graphStatus Tiling(gert::TilingContext *context)\n{\n    const auto shape = context->GetInputShape(0)->GetStorageShape();\n    context->SetBlockDim(1);\n    int64_t height = shape.GetDim(1);\n    uint64_t way = height > 7 ? 1 : 2;\n    tiling.set_way(way);\n    tiling.set_count(matrices);\n    tiling.set_rows(height);\n    tiling.set_columns(width);\n    context->SetTilingKey(way);\n    return ge::GRAPH_SUCCESS;\n}\n}\n";

/// Triangles by tiling key.
fn keyed_triangle() -> String {
    TRIANGLE.replace(
        "    op.Init(x, y, data.way, data.count, data.rows, data.columns, data.above);\n",
        "    if (TILING_KEY_IS(1)) {\n        op.Init(x, y, 1, data.count, data.rows, data.columns, data.above);\n    } else if (TILING_KEY_IS(2)) {\n        op.Init(x, y, 2, data.count, data.rows, data.columns, data.above);\n    }\n",
    )
}

#[test]
fn l15_has_no_more_blocks_than_rounds_and_one_where_none_are_dealt() {
    let host = |host: &str, kernel: &str| {
        let after = dealt(&context(host, kernel)).unwrap();
        after.tree.text("op_host/k.cpp").unwrap().to_owned()
    };
    let cores = "std::min<uint32_t>(std::min<uint32_t>(platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv(), static_cast<uint32_t>(1 + context->GetInputShape(0)->GetStorageShape().GetShapeSize() / 128)), static_cast<uint32_t>(std::max<int64_t>(1, (rounds + lineRounds - 1) / lineRounds)))";
    let shares = "    const int64_t innerRounds = std::max<int64_t>(1, static_cast<int64_t>(height));
    const int64_t rounds = static_cast<int64_t>(height) * matrices;
    int64_t lineRounds = 1; // no line of the data cache is written by two cores
    while ((lineRounds * (static_cast<int64_t>(width))) * 2 % 64 != 0) {
        lineRounds *= 2;
    }
";
    let text = host(HOST_OF_TRIANGLES, &keyed_triangle());
    let behind = format!(
        "    context->SetTilingKey(way);\n{shares}    context->SetBlockDim(way == 1 ? {cores} : 1);\n    return"
    );
    assert!(text.contains("    context->SetBlockDim(1);\n") && text.contains(&behind), "{text}");
    // Which way it goes is not the tiling key's alone.
    let text = host(HOST_OF_TRIANGLES, TRIANGLE);
    let behind = format!(
        "    tiling.set_columns(width);\n{shares}    context->SetBlockDim(static_cast<int64_t>(way) == 1 ? {cores} : 1);\n    context->SetTilingKey"
    );
    assert!(text.contains("    context->SetBlockDim(1);\n") && text.contains(&behind), "{text}");
    // Known in time.
    let early = HOST_OF_TRIANGLES
        .replace("    context->SetBlockDim(1);\n", "")
        .replace("    context->SetTilingKey(way);\n", "    context->SetBlockDim(1);\n");
    let text = host(&early, TRIANGLE);
    assert!(
        text.contains(&format!(
            "{shares}    context->SetBlockDim(static_cast<int64_t>(way) == 1 ? {cores} : 1);\n    return"
        )),
        "{text}"
    );
    // Rounds alone, where the kernel mends what a share follows from.
    let mended = keyed_triangle().replace(
        "        this->columns = columns;\n",
        "        this->columns = columns;\n        this->columns += 1;\n",
    );
    let text = host(HOST_OF_TRIANGLES, &mended);
    let few = cores.replace("(rounds + lineRounds - 1) / lineRounds", "static_cast<int64_t>(height) * matrices");
    assert!(text.contains(&format!("SetBlockDim(way == 1 ? {few} : 1);")), "{text}");
    // Numbers that are not what the kernel gets, or not any more.
    let plain = "SetBlockDim(static_cast<int64_t>(way) == 1 ? std::min<uint32_t>(platform_ascendc";
    for (there, instead) in [
        ("    tiling.set_rows(height);\n", "    tiling.set_rows(height);\n    tiling.set_rows(height + 1);\n"),
        ("    tiling.set_rows(height);\n", "    if (height > 2) {\n        tiling.set_rows(height);\n    }\n"),
        ("    tiling.set_rows(height);\n", "    tiling.set_rows(Height(context));\n"),
        ("    tiling.set_count(matrices);\n", "    tiling.set_count(matrices);\n    matrices += 1;\n"),
        ("    tiling.set_count(matrices);\n", "    tiling.set_count(matrices);\n    Tiling(context);\n"),
    ] {
        let changed = HOST_OF_TRIANGLES.replacen(there, instead, 1);
        assert!(changed.contains(instead));
        let text = host(&changed, TRIANGLE);
        assert!(text.contains(plain) && !text.contains("std::max"), "{text}");
        assert!(
            host(&changed, &keyed_triangle()).contains("SetBlockDim(way == 1 ? std::min<uint32_t>(platform_ascendc")
        );
    }
    let kernel = TRIANGLE.replace("        this->rows = rows;\n", "        this->rows = rows + 1;\n");
    assert!(host(HOST_OF_TRIANGLES, &kernel).contains(plain));
    let kernel = TRIANGLE.replacen("data.rows, ", "data.rows * 2, ", 1);
    assert!(host(HOST_OF_TRIANGLES, &kernel).contains(plain));
}

/// Ones in a band of a matrix, or in that of many, as somebody writes it who thinks of one first.
const BANDS: &str = r#"#include "kernel_operator.h"
using namespace AscendC;
class Bands {
public:
    __aicore__ inline void Init(GM_ADDR y, int32_t many, int32_t matrices, int32_t size, int32_t columns)
    {
        this->many = many;
        this->matrices = matrices;
        this->size = size;
        this->columns = columns;
        band.SetGlobalBuffer((__gm__ DTYPE_Y *)y);
    }
    __aicore__ inline void Process()
    {
        if (many == 0) {
            for (int32_t row = 0; row < size; row++) {
                band.SetValue(row * columns, 1);
            }
        } else {
            for (int32_t matrix = 0; matrix < matrices; matrix++) {
                for (int32_t line = 0; line < size; line++) {
                    band.SetValue(matrix * size * columns + line * columns, 1);
                }
            }
        }
    }

private:
    GlobalTensor<DTYPE_Y> band;
    int32_t many = 0;
    int32_t matrices = 0;
    int32_t size = 0;
    int32_t columns = 0;
};
extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    Bands op;
    op.Init(y, data.many, data.matrices, data.size, data.columns);
    op.Process();
}
"#;

#[test]
fn l15_counts_the_rounds_of_the_way_that_a_launch_goes() {
    let host = "#include \"register/op_def_registry.h\"\nnamespace optiling {\nstatic ge::graphStatus Tiling(gert::TilingContext *context)\n{\n    const auto shape = context->GetInputShape(0)->GetStorageShape();\n    tiling.set_many(many);\n    tiling.set_matrices(matrices);\n    tiling.set_size(size);\n    tiling.set_columns(columns);\n    context->SetBlockDim(1);\n    return ge::GRAPH_SUCCESS;\n}\n}\n";
    let after = dealt(&context(host, BANDS)).unwrap();
    let text = after.tree.text("op_host/k.cpp").unwrap();
    assert!(text.contains("(static_cast<int64_t>(many) == 0 ? (rounds + lineRounds - 1) / lineRounds : 1)"), "{text}");
    assert!(
        text.contains("(static_cast<int64_t>(many) != 0 ? (rounds2 + lineRounds2 - 1) / lineRounds2 : 1)"),
        "{text}"
    );
    // What the host sets to several values is asked nowhere.
    let other = host
        .replace("    tiling.set_size", "    if (size > 3) {\n        tiling.set_many(2);\n    }\n    tiling.set_size");
    let text = dealt(&context(&other, BANDS)).unwrap().tree.text("op_host/k.cpp").unwrap().to_owned();
    assert!(!text.contains("(many) ==") && text.contains("(rounds2 + lineRounds2 - 1)"), "{text}");
}
