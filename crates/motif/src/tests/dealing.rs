//! Loops of scalars dealt to cores.

use super::*;

/// Host code of one core.
pub(super) const HOST: &str = "#include \"register/op_def_registry.h\"\nnamespace optiling {\nstatic ge::graphStatus Tiling(gert::TilingContext *context)\n{\n    const auto shape = context->GetInputShape(0)->GetStorageShape();\n    tiling.set_pairs(shape.GetShapeSize() / 2);\n    context->SetBlockDim(1);\n    return ge::GRAPH_SUCCESS;\n}\n}\n";

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

pub(super) fn context(host: &str, kernel: &str) -> Context {
    let mut tree = SourceTree::new();
    tree.insert("op_host/k.cpp", host);
    tree.insert("op_kernel/k.cpp", kernel);
    Context::new(tree, KnownValues::default(), None)
}

pub(super) fn dealt(before: &Context) -> Result<Context, String> {
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
        int64_t first = 0;
        int64_t last = rounds;
        if (AscendC::GetBlockNum() > 1) {
            const int64_t lineRounds = 64 / sizeof(T); // no line of the data cache is written by two cores
            const int64_t share = (rounds + lineRounds * AscendC::GetBlockNum() - 1) / (lineRounds * AscendC::GetBlockNum()) * lineRounds;
            first = share * AscendC::GetBlockIdx();
            last = first + share < rounds ? first + share : rounds;
        }
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
