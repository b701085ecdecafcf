//! Loops that fill global memory by scalars.

use super::dealing::context;
use super::{motif, patched};

/// Host code that says what the output's elements are.
const HOST: &str = "#include \"register/op_def_registry.h\"\nnamespace ops {\nclass Count : public OpDef {\n    explicit Count(const char *name) : OpDef(name)\n    {\n        this->Output(\"counts\").ParamType(REQUIRED).DataType({ge::DT_INT32, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});\n    }\n};\n}\n";

/// Counts how often each class is met.
const KERNEL: &str = r#"#include "kernel_operator.h"
template <typename T>
class Count {
public:
    __aicore__ inline void Init(GM_ADDR seen, GM_ADDR counts, int32_t places, int32_t classes)
    {
        this->places = places;
        this->classes = classes;
        seenGm.SetGlobalBuffer((__gm__ int32_t *)seen, places);
        countsGm.SetGlobalBuffer((__gm__ T *)counts, classes);
    }
    __aicore__ inline void Process()
    {
        for (int32_t one = 0; one < this->classes; one++) {
            countsGm.SetValue(one, (T)0);
        }
        for (int32_t place = 0; place < places; place++) {
            int32_t one = seenGm.GetValue(place);
            countsGm.SetValue(one, countsGm.GetValue(one) + (T)1);
        }
    }

private:
    AscendC::TPipe pipe;
    AscendC::GlobalTensor<int32_t> seenGm;
    AscendC::GlobalTensor<T> countsGm;
    int32_t places = 0;
    int32_t classes = 0;
};
extern "C" __global__ __aicore__ void k(GM_ADDR seen, GM_ADDR counts, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    Count<DTYPE_COUNTS> op;
    op.Init(seen, counts, data.places, data.classes);
    op.Process();
}
"#;

fn filled(host: &str, kernel: &str) -> Result<String, String> {
    let before = context(host, kernel);
    let findings = motif("V01").find(&before);
    let site = findings.sites.first().ok_or_else(|| format!("{:?}", findings.refused))?.clone();
    let after = patched(&before, &motif("V01").apply(&before, &site).unwrap());
    Ok(after.tree.text("op_kernel/k.cpp").unwrap().to_owned())
}

#[test]
fn v01_fills_global_memory_by_copies() {
    let kernel = filled(HOST, KERNEL).unwrap();
    let text = "        if (this->classes > 0) {
            AscendC::InitGlobalMemory(countsGm, static_cast<uint64_t>(this->classes), static_cast<T>((T)0));
            AscendC::PipeBarrier<PIPE_ALL>(); // before a scalar asks for it
        }
        for (int32_t place = 0;";
    assert!(kernel.contains(text), "{kernel}");
}

#[test]
fn v01_refuses_to_fill_what_scalars_may_have_touched() {
    let write = "            countsGm.SetValue(one, (T)0);\n";
    let head = "        for (int32_t one = 0; one < this->classes; one++) {\n";
    for (there, instead, why) in [
        (
            head,
            "        countsGm.SetValue(3, (T)1);\n        for (int32_t one = 0; one < this->classes; one++) {\n",
            "before the loop",
        ),
        (
            head,
            "        auto other = countsGm;\n        for (int32_t one = 0; one < this->classes; one++) {\n",
            "as a whole",
        ),
        (write, "            countsGm.SetValue(one + 1, (T)0);\n", "from its first element on"),
        (write, "            countsGm.SetValue(one, (T)one);\n", "other values"),
        (write, "            countsGm.SetValue(one, seenGm.GetValue(one));\n", "other values"),
        ("    op.Process();\n", "    op.Process();\n    op.Process();\n", "twice"),
        (
            "    op.Process();\n",
            "    for (int32_t again = 0; again < 2; again++) {\n        op.Process();\n    }\n",
            "loop",
        ),
        ("    AscendC::TPipe pipe;\n", "", "no pipe"),
        ("Count<DTYPE_COUNTS>", "Count<int64_t>", "int64_t"),
    ] {
        let kernel = KERNEL.replacen(there, instead, 1);
        assert_ne!(kernel, KERNEL, "{there}");
        let said = filled(HOST, &kernel).expect_err(instead);
        assert!(said.contains(why), "{why}: {said}");
    }
    let said = filled(&HOST.replace("DT_INT32", "DT_INT64"), KERNEL).expect_err("64 bits");
    assert!(said.contains("int64_t"), "{said}");
}
