//! Loops of scalars dealt to cores.

use super::*;

/// Host code of one core.
const HOST: &str = "#include \"register/op_def_registry.h\"\nnamespace optiling {\nstatic ge::graphStatus Tiling(gert::TilingContext *context)\n{\n    const auto shape = context->GetInputShape(0)->GetStorageShape();\n    tiling.set_pairs(shape.GetShapeSize() / 2);\n    context->SetBlockDim(1);\n    return ge::GRAPH_SUCCESS;\n}\n}\n";

/// Turns pairs of coordinates and measures them, element by element.
const KERNEL: &str = r#"#include "kernel_operator.h"
template <typename T>
class Turn {
public:
    __aicore__ inline void Init(GM_ADDR points, GM_ADDR turned, GM_ADDR lengths, uint32_t pairs)
    {
        this->pairs = pairs;
        pointsGm.SetGlobalBuffer((__gm__ T *)points, pairs * 2);
        turnedGm.SetGlobalBuffer((__gm__ T *)turned, pairs * 2);
        lengthsGm.SetGlobalBuffer((__gm__ T *)lengths, pairs);
    }
    __aicore__ inline void Process()
    {
        uint32_t at;
        for (uint32_t pair = 0; pair < pairs; ++pair) {
            at = Place(pair);
            T east = pointsGm.GetValue(at);
            T north = pointsGm.GetValue(at + 1);
            turnedGm.SetValue(at, -north);
            this->turnedGm.SetValue(at + 1, east);
        }
        for (uint32_t pair = 0; pair < pairs; pair++) {
            float sum = 0;
            for (uint32_t axis = 0; axis < 2; ++axis) {
                float along = pointsGm.GetValue(pair * 2 + axis);
                if (along == 0) {
                    continue;
                }
                sum += along * along;
            }
            lengthsGm.SetValue(pair, (T)sum);
        }
    }

private:
    __aicore__ inline uint32_t Place(uint32_t pair)
    {
        return pair * 2;
    }
    AscendC::GlobalTensor<T> pointsGm, turnedGm, lengthsGm;
    uint32_t pairs = 0;
};
extern "C" __global__ __aicore__ void k(GM_ADDR points, GM_ADDR turned, GM_ADDR lengths, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    Turn<DTYPE_POINTS> op;
    op.Init(points, turned, lengths, data.pairs);
    op.Process();
}
"#;

fn context(host: &str, kernel: &str) -> Context {
    let mut tree = SourceTree::new();
    tree.insert("op_host/k.cpp", host);
    tree.insert("op_kernel/k.cpp", kernel);
    Context::new(tree, KnownValues::default(), None)
}

fn dealt(before: &Context) -> Result<Context, String> {
    let findings = motif("L15").find(before);
    let site = findings.sites.first().ok_or_else(|| format!("{:?}", findings.refused))?.clone();
    Ok(patched(before, &motif("L15").apply(before, &site).unwrap()))
}

#[test]
fn l15_gives_every_core_a_range_of_scalar_rounds() {
    let before = context(HOST, KERNEL);
    let after = dealt(&before).unwrap();
    let host = after.tree.text("op_host/k.cpp").unwrap();
    assert!(host.contains("GetCoreNumAiv(), static_cast<uint32_t>(1 + context->GetInputShape(0)->GetStorageShape().GetShapeSize() / 128)))"), "{host}");
    let kernel = after.tree.text("op_kernel/k.cpp").unwrap();
    let ranges = "        const int64_t rounds = pairs;
        const int64_t lineRounds = 64 / sizeof(T); // no line of the data cache is written by two cores
        const int64_t share = (rounds + lineRounds * AscendC::GetBlockNum() - 1) / (lineRounds * AscendC::GetBlockNum()) * lineRounds;
        const int64_t first = share * AscendC::GetBlockIdx();
        const int64_t last = first + share < rounds ? first + share : rounds;
        for (uint32_t pair = first; pair < last; ++pair) {
            at = Place(pair);
";
    assert!(kernel.contains(ranges), "{kernel}");
    assert!(kernel.contains("        for (uint32_t pair = first2; pair < last2; pair++) {\n"), "{kernel}");
    let back = motif("L15").rewind_sites(&after).sites;
    let restored = patched(&after, &motif("L15").rewind(&after, back.first().expect("a way back")).unwrap());
    assert_eq!(restored.tree.text("op_kernel/k.cpp"), before.tree.text("op_kernel/k.cpp"));
    assert!(restored.tree.text("op_host/k.cpp").unwrap().contains("SetBlockDim(1);"));
}

#[test]
fn l15_refuses_rounds_that_depend_on_each_other() {
    let refused = |kernel: &str| dealt(&context(HOST, kernel)).map(|_| ()).expect_err("refused");
    let body = "            turnedGm.SetValue(at, -north);\n";
    let helpers = "private:
    __aicore__ inline void Keep(T value)
    {
        seen = value;
    }
    __aicore__ inline void Raise(T &sum, T value)
    {
        sum += value;
    }
";
    let base = KERNEL
        .replace("        uint32_t at;\n", "        uint32_t at;\n        T total = 0;\n")
        .replace("    uint32_t pairs = 0;\n", "    uint32_t pairs = 0;\n    uint32_t seen = 0;\n")
        .replace("private:\n", helpers);
    assert!(dealt(&context(HOST, &base)).is_ok());
    for (there, instead, why) in [
        // What is carried from round to round.
        (body, "            total += east;\n            turnedGm.SetValue(at, total);\n", "a round may get total"),
        (body, "            this->seen = at;\n            turnedGm.SetValue(at, -north);\n", "a round may get seen"),
        (body, "            Keep(east);\n            turnedGm.SetValue(at, -north);\n", "a round may get seen"),
        (body, "            Raise(total, east);\n            turnedGm.SetValue(at, total);\n", "a round may get total"),
        (
            "            at = Place(pair);\n",
            "            if (pair > 0) {\n                at = Place(pair);\n            }\n",
            "a round may get at",
        ),
        ("            at = Place(pair);\n", "            at = at + 2;\n", "a round may get at"),
        // What is asked for behind the loop.
        (
            "        for (uint32_t pair = 0; pair < pairs; pair++) {\n",
            "        seen = at;\n        for (uint32_t pair = 0; pair < pairs; pair++) {\n",
            "a round may get at",
        ),
        // Places that memory says, or that are no element's.
        (
            "            at = Place(pair);\n",
            "            at = (uint32_t)pointsGm.GetValue(pair) + pair;\n",
            "follows GetValue",
        ),
        ("        return pair * 2;", "        return pair * (uint32_t)pointsGm.GetValue(0);", "follows GetValue"),
        (
            "            turnedGm.SetValue(at, -north);\n",
            "            turnedGm.SetValue(0, -north);\n",
            "does not follow pair",
        ),
        (
            "            T north = pointsGm.GetValue(at + 1);\n",
            "            T north = turnedGm.GetValue(at + 1);\n",
            "read and written",
        ),
        ("        uint32_t at;\n", "        uint32_t at;\n        turnedGm.SetValue(0, 0);\n", "written in no loop"),
        ("        uint32_t at;\n", "        uint32_t at;\n        auto other = turnedGm[1];\n", "used as a whole"),
        (
            "        uint32_t at;\n",
            "        uint32_t at;\n        __gm__ T *other = nullptr;\n",
            "a pointer to global memory",
        ),
        (
            "        uint32_t at;\n",
            "        uint32_t at;\n        AscendC::DataCopy(first, second, 8);\n",
            "DataCopy is no scalar's",
        ),
        // Rounds that not every core would do, or that are done more than once.
        (
            body,
            "            if (east == 0) {\n                break;\n            }\n            turnedGm.SetValue(at, -north);\n",
            "break leaves the loop",
        ),
        (
            body,
            "            if (east == 0) {\n                return;\n            }\n            turnedGm.SetValue(at, -north);\n",
            "return leaves the loop",
        ),
        (body, "#ifdef WAY\n            turnedGm.SetValue(at, -north);\n#endif\n", "a directive"),
        (body, "            pairs = pairs - 1;\n            turnedGm.SetValue(at, -north);\n", "pairs may change"),
        (
            "for (uint32_t pair = 0; pair < pairs; ++pair)",
            "for (uint32_t pair = 1; pair < pairs; ++pair)",
            "counts from 0",
        ),
        (
            "    op.Process();",
            "    for (int i = 0; i < 2; ++i) {\n        op.Process();\n    }",
            "Process is called in a loop",
        ),
        ("class Turn {", "class Turn : public Base {", "base class"),
        (
            "        uint32_t at;\n",
            "        uint32_t at;\n        AscendC::SyncAll();\n",
            "SyncAll ties cores together",
        ),
    ] {
        let kernel = base.replacen(there, instead, 1);
        assert!(kernel.contains(instead), "{instead}");
        let said = refused(&kernel);
        assert!(said.contains(why), "{why}: {said}\n{kernel}");
    }
    // One core by a variable that stays one.
    let named = HOST
        .replace("    context->SetBlockDim(1)", "    uint32_t tiles, blocks = 1;\n    context->SetBlockDim(blocks)");
    assert!(dealt(&context(&named, KERNEL)).is_ok());
    let grows = named.replace("blocks = 1;\n", "blocks = 1;\n    blocks += shape.GetDim(0) > 7;\n");
    assert_eq!(dealt(&context(&grows, KERNEL)).err().unwrap(), "[]");
    let two = HOST.replace("SetBlockDim(1)", "SetBlockDim(2)");
    assert_eq!(dealt(&context(&two, KERNEL)).err().unwrap(), "[]");
}

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
        int64_t lineRounds = 1; // no line of the data cache is written by two cores
        while ((lineRounds * (static_cast<int64_t>(columns))) * sizeof(DTYPE_X) % 64 != 0) {
            lineRounds *= 2;
        }
        const int64_t share = (rounds + lineRounds * GetBlockNum() - 1) / (lineRounds * GetBlockNum()) * lineRounds;
        const int64_t first = share * GetBlockIdx();
        const int64_t last = first + share < rounds ? first + share : rounds;
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
    let lines = "        int64_t lineRounds = 1; // no line of the data cache is written by two cores
        while ((lineRounds * (1)) * sizeof(float) % 64 != 0) {
            lineRounds *= 2;
        }
        if (innerRounds % lineRounds != 0 || (static_cast<int64_t>(columns)) * sizeof(float) % 64 != 0 || (static_cast<int64_t>(classes) * columns) * sizeof(float) % 64 != 0) {
            lineRounds = innerRounds;
            while ((lineRounds / innerRounds * (static_cast<int64_t>(classes) * columns)) * sizeof(float) % 64 != 0) {
                lineRounds += innerRounds;
            }
        }
";
    let from = kernel.find("        int64_t lineRounds").unwrap();
    assert_eq!(&kernel[from..kernel.find("        const int64_t share").unwrap()], lines, "{kernel}");
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
        "    tiling.set_columns(width);\n{shares}    context->SetBlockDim({cores});\n    context->SetTilingKey"
    );
    assert!(text.contains("    context->SetBlockDim(1);\n") && text.contains(&behind), "{text}");
    // Known in time.
    let early = HOST_OF_TRIANGLES
        .replace("    context->SetBlockDim(1);\n", "")
        .replace("    context->SetTilingKey(way);\n", "    context->SetBlockDim(1);\n");
    let text = host(&early, TRIANGLE);
    assert!(text.contains(&format!("{shares}    context->SetBlockDim({cores});\n    return")), "{text}");
    // Numbers that are not what the kernel gets, or not any more.
    let plain = "    context->SetBlockDim(std::min<uint32_t>(platform_ascendc";
    for (there, instead) in [
        ("    tiling.set_rows(height);\n", "    tiling.set_rows(height);\n    tiling.set_rows(height + 1);\n"),
        ("    tiling.set_rows(height);\n", "    if (height > 2) {\n        tiling.set_rows(height);\n    }\n"),
        ("    tiling.set_rows(height);\n", "    tiling.set_rows(Height(context));\n"),
        ("    tiling.set_count(matrices);\n", "    tiling.set_count(matrices);\n    matrices += 1;\n"),
        ("    tiling.set_count(matrices);\n", "    tiling.set_count(matrices);\n    Tiling(context);\n"),
    ] {
        let changed = HOST_OF_TRIANGLES.replacen(there, instead, 1);
        assert!(changed.contains(instead));
        let text = host(&changed, &keyed_triangle());
        assert!(text.contains(plain) && !text.contains("std::max"), "{text}");
    }
    let kernel = keyed_triangle().replace("        this->rows = rows;\n", "        this->rows = rows + 1;\n");
    assert!(host(HOST_OF_TRIANGLES, &kernel).contains(plain));
    let kernel = keyed_triangle().replacen("data.rows, ", "data.rows * 2, ", 1);
    assert!(host(HOST_OF_TRIANGLES, &kernel).contains(plain));
}
