//! Tests of finding, writing and instrumenting tunables.

use proptest::prelude::*;

use super::*;
use crate::SourceTree;
use space::{Binding, Domain, NO_LIMIT, Tunable};

const HOST: &str = r#"#include "tiling.h"
namespace optiling {
constexpr uint32_t BLOCK_DIM = 8U;  // cores
constexpr int64_t TILE{8 * 1024};
const int LIMIT = TILE / 2;
static ge::graphStatus Tiling(gert::TilingContext *context)
{
    uint32_t factor = 0;
    TilingData tiling;
    factor = CeilDiv(total, BLOCK_DIM);
    tiling.set_tileNum(total / TILE);
    data->ubFactor = FloorAlign(ub / 4, block);
    context->SetBlockDim(1);
    return ge::GRAPH_SUCCESS;
}
}
"#;

const KERNEL: &str = r#"#include "kernel_operator.h"
#define DEPTH 2
enum Mode { FAST = 1, SLOW = 2 };
constexpr int32_t BUFFER_NUM = 2;
constexpr int32_t LANES = 64;
constexpr Plan PLANS[] = {{1, LANES}};
class K {
    static constexpr uint32_t TILE = 0x100;
#if __NPU_ARCH__ == 3510
    static constexpr uint32_t MOST = 99;
#else
    static constexpr uint32_t MOST = 77;
#endif
    __aicore__ inline void Init(uint32_t tileLength)
    {
        pipe.InitBuffer(inQueueX, 1, tileLength * sizeof(half));
        pipe.InitBuffer(outQueueY, BUFFER_NUM, MOST);
        this->step = tileLength / DEPTH;
    }
    TQue<QuePosition::VECIN, BUFFER_NUM> inQueueX;
};
class L {
    static constexpr uint32_t TILE = 512;
};
"#;

fn tree() -> SourceTree {
    let mut tree = SourceTree::new();
    tree.insert("op_host/a.cpp", HOST);
    tree.insert("op_kernel/a.cpp", KERNEL);
    tree
}

fn tunable(name: &str, binding: Binding) -> Tunable {
    let domain = Domain::Range { min: 1, max: 64, step: 1 };
    Tunable { name: name.to_owned(), domain, default: None, binding, reason: String::new(), when: None }
}

fn constant(file: &str, name: &str) -> Tunable {
    tunable(name, Binding::Constant { file: file.to_owned(), name: name.to_owned(), also: Vec::new() })
}

fn argument(call: &str, first: &str, index: usize, file: &str) -> Tunable {
    tunable(call, Binding::Argument { file: file.to_owned(), call: call.to_owned(), first: first.to_owned(), index })
}

fn cap(target: &str, file: &str) -> Tunable {
    tunable(target, Binding::Cap { file: file.to_owned(), target: target.to_owned() })
}

fn written(tree: &SourceTree, tunable: &Tunable, value: impl Into<Value>) -> SourceTree {
    let patch = realize(tree, &[(tunable.clone(), value.into())]).expect("can be written");
    tree.apply(&patch).expect("applies")
}

/// Lines that differ after a value is written.
fn changed(tunable: &Tunable, value: i64) -> Vec<String> {
    let after = written(&tree(), tunable, value);
    let lines = |tree: &SourceTree| -> Vec<String> {
        tree.iter().flat_map(|(_, text)| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>()).collect()
    };
    let before = lines(&tree());
    lines(&after).into_iter().filter(|line| !before.contains(line)).collect()
}

#[test]
fn literals_are_replaced_in_place() {
    let host = "op_host/a.cpp";
    let kernel = "op_kernel/a.cpp";
    assert_eq!(changed(&constant(host, "BLOCK_DIM"), 48), ["constexpr uint32_t BLOCK_DIM = 48U;  // cores"]);
    assert_eq!(changed(&constant(host, "TILE"), 4096), ["constexpr int64_t TILE{4096};"]);
    assert_eq!(changed(&constant(kernel, "DEPTH"), 3), ["#define DEPTH 3"]);
    assert_eq!(changed(&constant(kernel, "FAST"), 4), ["enum Mode { FAST = 4, SLOW = 2 };"]);
    assert_eq!(changed(&constant(kernel, "K::TILE"), 512), ["static constexpr uint32_t TILE = 0x200;"]);
    assert_eq!(changed(&constant(kernel, "MOST"), 78), ["static constexpr uint32_t MOST = 78;"], "the live branch");
    assert_eq!(changed(&argument("SetBlockDim", "", 0, host), 20), ["context->SetBlockDim(20);"]);
    let depth = argument("InitBuffer", "inQueueX", 1, kernel);
    assert_eq!(changed(&depth, 2), ["pipe.InitBuffer(inQueueX, 2, tileLength * sizeof(half));"]);
}

#[test]
fn the_present_value_changes_nothing() {
    let all = [
        constant("op_host/a.cpp", "BLOCK_DIM"),
        constant("op_host/a.cpp", "TILE"),
        constant("op_kernel/a.cpp", "K::TILE"),
        argument("SetBlockDim", "", 0, "op_host/a.cpp"),
        cap("ubFactor", "op_host/a.cpp"),
    ];
    for tunable in all {
        let value = present_value(&tree(), &tunable.binding).expect("found").expect("in the sources");
        assert_eq!(written(&tree(), &tunable, value), tree(), "{}", tunable.name);
    }
}

#[test]
fn caps_wrap_replace_and_go() {
    let cap = cap("ubFactor", "op_host/a.cpp");
    let capped = written(&tree(), &cap, 4096);
    let text = capped.text("op_host/a.cpp").expect("there");
    assert!(text.starts_with("#include <algorithm>\n#include \"tiling.h\""), "{text}");
    assert!(text.contains("data->ubFactor = std::min<int64_t>(FloorAlign(ub / 4, block), 4096);"), "{text}");
    let again = written(&capped, &cap, 64);
    let text = again.text("op_host/a.cpp").expect("there");
    assert!(text.contains("data->ubFactor = std::min<int64_t>(FloorAlign(ub / 4, block), 64);"), "{text}");
    assert_eq!(text.matches("<algorithm>").count(), 1);
    assert_eq!(present_value(&again, &cap.binding), Ok(Some(Value::Int(64))));
    let free = written(&again, &cap, NO_LIMIT);
    assert_eq!(
        free.text("op_host/a.cpp").map(|text| text.replace("#include <algorithm>\n", "")),
        Some(HOST.to_owned())
    );
}

#[test]
fn caps_on_setters_locals_and_in_kernels() {
    assert_eq!(
        changed(&cap("tileNum", "op_host/a.cpp"), 9)[1],
        "tiling.set_tileNum(std::min<int64_t>(total / TILE, 9));"
    );
    assert_eq!(
        changed(&cap("factor", "op_host/a.cpp"), 9)[1],
        "factor = std::min<uint32_t>(CeilDiv(total, BLOCK_DIM), 9);"
    );
    let step = cap("step", "op_kernel/a.cpp");
    let once = written(&tree(), &step, 9);
    let expected = "this->step = ((tileLength / DEPTH) < (9) ? (tileLength / DEPTH) : (9));";
    assert!(once.text("op_kernel/a.cpp").is_some_and(|text| text.contains(expected)));
    let twice = written(&once, &step, 5);
    assert!(twice.text("op_kernel/a.cpp").is_some_and(|text| text.contains(&expected.replace('9', "5"))));
    assert_eq!(written(&twice, &step, NO_LIMIT), tree());
}

#[test]
fn what_cannot_be_tuned_is_explained() {
    let message = |tunable: Tunable| locate(&tree(), &tunable.binding).expect_err("no site").to_string();
    assert!(message(constant("op_host/b.cpp", "TILE")).contains("not one of the operator's source files"));
    assert!(message(constant("op_host/a.cpp", "TILES")).contains("no constant `TILES`"));
    assert!(message(constant("op_host/a.cpp", "LIMIT")).starts_with("op_host/a.cpp:5: constant `LIMIT` is `TILE / 2`"));
    assert!(message(constant("op_kernel/a.cpp", "TILE")).contains("fits lines 8, 23"));
    assert!(message(argument("InitBuffer", "", 1, "op_kernel/a.cpp")).contains("set `first`"));
    assert!(message(argument("InitBuffer", "inQueueX", 2, "op_kernel/a.cpp")).contains("not a literal"));
    assert!(message(cap("nothing", "op_host/a.cpp")).contains("no assignment to `nothing`"));
}

#[test]
fn coupled_constants_move_together() {
    let mut tree = tree();
    tree.insert("op_host/b.cpp", "constexpr uint32_t BUFFER_NUM = 2;\n");
    let binding = Binding::Constant {
        file: "op_kernel/a.cpp".to_owned(),
        name: "BUFFER_NUM".to_owned(),
        also: vec!["op_host/b.cpp".to_owned()],
    };
    let after = written(&tree, &tunable("BUFFER_NUM", binding), 1);
    assert_eq!(after.text("op_host/b.cpp"), Some("constexpr uint32_t BUFFER_NUM = 1;\n"));
    assert!(after.text("op_kernel/a.cpp").is_some_and(|text| text.contains("constexpr int32_t BUFFER_NUM = 1;")));
}

#[test]
fn knobs_replace_literals() {
    let all = [
        constant("op_host/a.cpp", "BLOCK_DIM"),
        constant("op_host/a.cpp", "TILE"),
        constant("op_kernel/a.cpp", "K::TILE"),
        constant("op_kernel/a.cpp", "DEPTH"),
        argument("SetBlockDim", "", 0, "op_host/a.cpp"),
        cap("ubFactor", "op_host/a.cpp"),
        cap("step", "op_kernel/a.cpp"),
    ];
    let after = tree().apply(&instrument(&tree(), &all, &all).expect("sites")).expect("applies");
    let host = after.text("op_host/a.cpp").expect("there");
    assert!(host.starts_with("#include \"ascendsim/knob.h\"\n#include <algorithm>\n#line 1\n#include \"tiling.h\""));
    for expected in [
        "const uint32_t BLOCK_DIM = static_cast<uint32_t>(ascend_tune_knob(\"BLOCK_DIM\", 8U));  // cores",
        "const int64_t TILE{static_cast<int64_t>(ascend_tune_knob(\"TILE\", 8 * 1024))};",
        "SetBlockDim(static_cast<decltype(1)>(ascend_tune_knob(\"SetBlockDim\", 1)));",
        "data->ubFactor = std::min<int64_t>(FloorAlign(ub / 4, block), (ascend_tune_knob(\"ubFactor\", 0) > 0 ?",
    ] {
        assert!(host.contains(expected), "{expected}\n{host}");
    }
    let kernel = after.text("op_kernel/a.cpp").expect("there");
    for expected in [
        "#define DEPTH (static_cast<decltype(2)>(ascend_tune_knob(\"DEPTH\", 2)))",
        "inline static const uint32_t TILE = static_cast<uint32_t>(ascend_tune_knob(\"K::TILE\", 0x100));",
        "this->step = (static_cast<long long>(tileLength / DEPTH) < (",
    ] {
        assert!(kernel.contains(expected), "{expected}\n{kernel}");
    }
}

#[test]
fn uses_that_need_constants_are_seen() {
    let kernel = "op_kernel/a.cpp";
    let reason = |name: &str| looks_compile_time(&tree(), &constant(kernel, name));
    assert_eq!(reason("BUFFER_NUM").as_deref(), Some("`BUFFER_NUM` is a template argument at op_kernel/a.cpp:20"));
    assert_eq!(reason("LANES").as_deref(), Some("`LANES` is part of a constexpr initialiser at op_kernel/a.cpp:6"));
    assert_eq!(reason("FAST").as_deref(), Some("`FAST` is an enumerator"));
    assert_eq!(reason("DEPTH"), None);
    assert_eq!(looks_compile_time(&tree(), &constant("op_host/a.cpp", "BLOCK_DIM")), None);
    let mut tree = SourceTree::new();
    tree.insert(
        "k.h",
        "constexpr int A = 1, B2 = 0; constexpr int B = 2; constexpr int C = 3; constexpr int D = 4;\n\
         void f() { half buffer[A * 2]; x = y[B]; if (B < z) {} static_assert(C > 1, \"\"); switch (q) { case D: break; } }",
    );
    let reason = |name: &str| looks_compile_time(&tree, &constant("k.h", name));
    assert!(reason("A").is_some_and(|text| text.contains("array bound")), "{:?}", reason("A"));
    assert_eq!(reason("B"), None);
    assert!(reason("C").is_some_and(|text| text.contains("static_assert")));
    assert!(reason("D").is_some_and(|text| text.contains("case label")));
}

/// Pieces that C++ files are made of, in any order: no text may bring the scanner down.
fn scraps() -> impl Strategy<Value = String> {
    let pieces = [
        "constexpr int N = 4;",
        "#define N 8 // é\n",
        "#if 0\n",
        "#else\n",
        "#endif\n",
        "#ifdef X\\\n",
        "{",
        "}",
        "(",
        ")",
        "<",
        ">",
        "[",
        "]",
        "\"é\\",
        "'",
        "/*",
        "*/",
        "// 核\n",
        "class K : A",
        "enum E { N = 1,",
        "N",
        "=",
        ",",
        ";",
        "set_N(",
        "x->N = f(1, 2);",
        "SetBlockDim(8)",
        "0x",
        "1e+",
        "std::min<int64_t>(",
        "static_cast<",
        "::",
        "case N:",
        "\\",
        "\n",
        "#",
        "\r\n",
        "InitBuffer(q, 2, n)",
    ];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..40).prop_map(|parts| parts.join(" "))
}

proptest! {
    #[test]
    fn any_text_is_survived(text in prop_oneof![scraps(), any::<String>()], value in 1i64..100) {
        let mut tree = SourceTree::new();
        tree.insert("a.cpp", text.as_str());
        let all = [constant("a.cpp", "N"), argument("SetBlockDim", "", 0, "a.cpp"), argument("InitBuffer", "q", 1, "a.cpp"), cap("N", "a.cpp")];
        for tunable in all {
            looks_compile_time(&tree, &tunable);
            let Ok(patch) = realize(&tree, &[(tunable.clone(), Value::Int(value))]) else { continue };
            let after = tree.apply(&patch).expect("edits fit the text that they were made for");
            // A literal that was written is found again; a cap needs an expression, which scraps rarely are.
            if !matches!(tunable.binding, Binding::Cap { .. })
                && let Ok(Some(found)) = present_value(&after, &tunable.binding)
            {
                prop_assert_eq!(found, Value::Int(value));
            }
            if let Ok(patch) = instrument(&tree, &[tunable], &[]) {
                prop_assert!(tree.apply(&patch).is_ok());
            }
        }
    }
}

#[test]
fn the_size_asked_of_the_platform_takes_a_limit_behind_the_call() {
    let text = "static void Parse() {\n    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, info->ubSize);\n    \
                platform.GetCoreMemSize(platform_ascendc::CoreMemType::L1, info->ubSize);\n    \
                if (wide)\n        platform.GetCoreMemSize(CoreMemType::UB, info->ubSize);\n    tile = info->ubSize / 4;\n}\n";
    let mut tree = SourceTree::new();
    tree.insert("op_host/a.cpp", text);
    let size = cap("ubSize", "op_host/a.cpp");
    assert_eq!(locate(&tree, &size.binding).unwrap().len(), 1, "not of L1, and not what a condition holds alone");
    assert_eq!(present_value(&tree, &size.binding).unwrap(), Some(NO_LIMIT));
    assert_eq!(written(&tree, &size, 0), tree);

    let limited = written(&tree, &size, 98_304);
    let changed = limited.text("op_host/a.cpp").unwrap();
    let wanted = "UB, info->ubSize);\n    // Plans with less than there is: shorter tiles, and room for more buffers.\n    info->ubSize = info->ubSize < 98304 ? info->ubSize : 98304;\n";
    assert!(changed.contains(wanted), "{changed}");
    assert_eq!(present_value(&limited, &size.binding).unwrap(), Some(Value::Int(98_304)));
    assert_eq!(written(&limited, &size, 98_304), limited);
    let other = written(&limited, &size, 65_536);
    assert_eq!(other.text("op_host/a.cpp").unwrap(), changed.replace("98304", "65536"));
    assert_eq!(written(&limited, &size, 0), tree);

    let knobs = limited.apply(&instrument(&limited, &[size], &[]).unwrap()).unwrap();
    let knobs = knobs.text("op_host/a.cpp").unwrap();
    let knob = "static_cast<uint64_t>(ascend_tune_knob(\"ubSize\", 98304))";
    let wanted = format!("info->ubSize); if ({knob} > 0 && info->ubSize > {knob}) {{ info->ubSize = {knob}; }}\n");
    assert!(knobs.contains(&wanted), "{knobs}");
}

#[test]
fn a_local_that_is_only_a_number_of_buffers_is_a_constant() {
    let kernel = |rest: &str| {
        format!(
            "class K {{ void Init(uint32_t tile) {{\n uint32_t BUFFER_NUM = 1;\n pipe.InitBuffer(q, BUFFER_NUM, tile * sizeof(half));\n {rest} }} }};"
        )
    };
    let names = |text: &str| constants_in("k.h", text).into_iter().map(|found| found.name).collect::<Vec<_>>();
    assert_eq!(names(&kernel("pipe.InitBuffer(r, BUFFER_NUM, tile);")), ["BUFFER_NUM"]);
    for other in
        ["BUFFER_NUM = 2;", "BUFFER_NUM++;", "Change(BUFFER_NUM);", "Use(a, BUFFER_NUM, b);", "tile /= BUFFER_NUM;"]
    {
        assert_eq!(names(&kernel(other)), [""; 0], "{other}");
    }
    assert_eq!(names(&kernel("").replace("uint32_t BUFFER", "ASSERT(tile != 0) uint32_t BUFFER")), ["BUFFER_NUM"]);
    assert_eq!(names("void F() { uint32_t count = 1; }"), [""; 0], "what goes nowhere");
}

/// A tiling function that plans with all of the unified buffer.
const PLANNED: &str = "static ge::graphStatus Tiling(gert::TilingContext *context)\n{\n    uint64_t ubSize;\n    \
                       auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());\n    \
                       platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubSize);\n    \
                       auto total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();\n    \
                       tiling.set_tile(ubSize / 4);\n}\n";

#[test]
fn a_plan_grows_with_what_a_core_gets() {
    let file = "op_host/p.cpp";
    let mut tree = SourceTree::new();
    tree.insert(file, PLANNED);
    let binding = || Binding::Portion { file: file.to_owned(), target: "ubSize".to_owned() };
    let (portion, limit) = (tunable("portion", binding()), cap("ubSize", file));
    assert_eq!(present_value(&tree, &binding()).unwrap(), Some(NO_LIMIT));
    let ruled = written(&tree, &portion, 4);
    let text = ruled.text(file).unwrap();
    let rule = "UB, ubSize);\n    // Short work in several tiles, so that copies overlap with computing: the plan grows with what a core gets.\n    \
                ubSize = std::min<uint64_t>(ubSize,\n        std::max<uint64_t>(49152, 4 * (context->GetInputShape(0)->GetStorageShape().GetShapeSize() / platform.GetCoreNumAiv())));\n    auto total";
    assert!(text.contains(rule) && text.contains("#include <algorithm>\n"), "{text}");
    // Found again, changed, and taken away.
    assert_eq!(present_value(&ruled, &binding()).unwrap(), Some(Value::Int(4)));
    assert_eq!(realize(&ruled, &[(portion.clone(), Value::Int(4))]).unwrap().edits, []);
    assert!(written(&ruled, &portion, 8).text(file).unwrap().contains("49152, 8 * (context"));
    assert!(written(&ruled, &portion, 0).text(file).unwrap().ends_with(PLANNED));
    // Behind a limit, whoever comes first.
    let both = realize(&tree, &[(portion.clone(), Value::Int(2)), (limit.clone(), Value::Int(65536))]).unwrap();
    let both = tree.apply(&both).unwrap();
    assert_eq!(
        both,
        written(&ruled, &limit, 65536)
            .apply(&realize(&written(&ruled, &limit, 65536), &[(portion.clone(), Value::Int(2))]).unwrap())
            .unwrap()
    );
    for (binding, value) in [(binding(), 2), (limit.binding.clone(), 65536)] {
        assert_eq!(present_value(&both, &binding).unwrap(), Some(Value::Int(value)));
    }
    // At run time.
    let knobs = instrument(&tree, std::slice::from_ref(&portion), &[]).unwrap();
    let knobs = tree.apply(&knobs).unwrap();
    let knob = "ubSize); if (static_cast<uint64_t>(ascend_tune_knob(\"portion\", 0)) > 0) { ubSize = std::min<uint64_t>(ubSize,";
    assert!(knobs.text(file).unwrap().contains(knob), "{}", knobs.text(file).unwrap());
    // Where nobody asks for the first input, or the function has no context of a tiling, there is no place for it.
    for (there, instead) in [
        ("GetInputShape(0)", "GetInputShape(1)"),
        ("TilingContext", "TilingParseContext"),
        ("platform.Get", "Platform(context).Get"),
    ] {
        let mut other = SourceTree::new();
        other.insert(file, PLANNED.replace(there, instead));
        assert!(present_value(&other, &binding()).is_err(), "{instead}");
    }
}
