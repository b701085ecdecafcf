//! Tests of least shares.

use super::*;
use crate::SourceTree;
use crate::tunable::{instrument, present_value, realize};
use space::{Binding, Domain, Tunable};

const TILING: &str = "#include \"scale_tiling.h\"\n\
    namespace optiling {\n\
    const uint64_t BLOCK = 32;\n\
    static ge::graphStatus Tiling(gert::TilingContext* context)\n{\n    \
        auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());\n    \
        auto coreNum = platform.GetCoreNum();\n    \
        if (coreNum == 0) {\n        return ge::GRAPH_FAILED;\n    }\n    \
        uint64_t bytes = context->GetInputShape(0)->GetStorageShape().GetShapeSize() * 4;\n    \
        if (tile >= bytes) {\n        coreNum = 1;\n    } else {\n        \
            coreNum = coreNum < bytes / BLOCK ? coreNum : bytes / BLOCK;\n    }\n    \
        uint64_t blocks = bytes / BLOCK / coreNum;\n    \
        uint64_t rest = (bytes / BLOCK) % coreNum;\n    \
        context->SetBlockDim(coreNum);\n    return ge::GRAPH_SUCCESS;\n}\n}\n";

fn tree(text: &str) -> SourceTree {
    let mut tree = SourceTree::new();
    tree.insert("op_host/scale.cpp", text);
    tree
}

fn share(cores: &str, of: &str) -> Tunable {
    let binding = Binding::Share { file: "op_host/scale.cpp".to_owned(), cores: cores.to_owned(), of: of.to_owned() };
    let domain = Domain::PowerOfTwo { min: 1, max: 1024 };
    Tunable { name: "share".to_owned(), domain, default: None, binding, reason: String::new(), when: None }
}

fn written(tree: &SourceTree, tunable: &Tunable, least: i64) -> SourceTree {
    tree.apply(&realize(tree, &[(tunable.clone(), Value::Int(least))]).unwrap()).unwrap()
}

fn found(text: &str) -> Vec<(String, String)> {
    divisions("op_host/scale.cpp", text).into_iter().map(|found| (found.cores, found.of)).collect()
}

#[test]
fn a_least_share_is_written_once_where_the_work_is_divided() {
    assert_eq!(found(TILING), [("coreNum".to_owned(), "bytes / BLOCK".to_owned())]);
    let tree = tree(TILING);
    let share = share("coreNum", "bytes / BLOCK");
    assert_eq!(present_value(&tree, &share.binding), Ok(Some(Value::Int(0))));
    assert_eq!(written(&tree, &share, 0), tree);
    let ruled = written(&tree, &share, 512);
    let text = ruled.text("op_host/scale.cpp").unwrap();
    let wanted = "    }\n    // Fewer cores are sooner done with little work: each gets at least this much.\n    \
        constexpr uint64_t MIN_BLOCKS_PER_CORE = 512;\n    \
        coreNum = std::max<uint64_t>(1, std::min<uint64_t>(coreNum,\n        \
        (bytes / BLOCK + MIN_BLOCKS_PER_CORE - 1) / MIN_BLOCKS_PER_CORE));\n    \
        uint64_t blocks = bytes / BLOCK / coreNum;\n";
    assert!(text.contains(wanted) && text.starts_with("#include <algorithm>\n"), "{text}");
    assert!(text.lines().all(|line| line.trim_end() == line));
    assert_eq!(present_value(&ruled, &share.binding), Ok(Some(Value::Int(512))));
    assert_eq!(written(&ruled, &share, 512), ruled);
    let other = written(&ruled, &share, 64);
    let bare = self::tree(&text.replace(&format!("{REASON}\n    "), ""));
    assert_eq!(written(&bare, &share, 64), other, "a reason that somebody deleted comes back with the next value");
    assert_eq!(other.text("op_host/scale.cpp").unwrap(), text.replace("512", "64"));
    let gone = written(&other, &share, 0);
    assert_eq!(gone.text("op_host/scale.cpp").unwrap().replace("#include <algorithm>\n", ""), TILING);
}

#[test]
fn a_knob_of_nothing_leaves_the_cores_alone() {
    let tree = tree(TILING);
    let knobs = tree.apply(&instrument(&tree, &[share("coreNum", "bytes / BLOCK")], &[]).unwrap()).unwrap();
    let text = knobs.text("op_host/scale.cpp").unwrap();
    assert!(text.contains("if (static_cast<uint64_t>(ascend_tune_knob(\"share\", 0)) > 0) { coreNum = "), "{text}");
    assert!(text.contains("} uint64_t blocks = bytes / BLOCK / coreNum;\n"), "{text}");
}

#[test]
fn members_parameters_and_helpers_are_followed() {
    let class = "class T {\n  void Init() {\n    need_ = Pick(platform.GetCoreNumAiv());\n    Split();\n    \
                 context->SetBlockDim(need_);\n  }\n  void Split() {\n    each_ = total_ / need_;\n  }\n  \
                 int64_t total_;\n  uint32_t need_;\n};\n";
    assert_eq!(found(class), [("need_".to_owned(), "total_".to_owned())]);
    let ruled = written(&tree(class), &share("need_", "total_"), 64);
    let wanted = "    // Fewer cores are sooner done with little work: each gets at least this much.\n    \
        constexpr int64_t MIN_WORK_PER_CORE = 64;\n    need_ = std::max<int64_t>(1, \
                  std::min<int64_t>(need_, (total_ + MIN_WORK_PER_CORE - 1) / MIN_WORK_PER_CORE));\n";
    assert!(ruled.text("op_host/scale.cpp").unwrap().contains(wanted));

    let helper = "uint32_t Cores(int64_t factor, int64_t cores) {\n  auto each = Ops::CeilDiv(factor, cores);\n  \
                  return CeilDiv(factor, each);\n}\nvoid Tiling() {\n  uint32_t all = platform.GetCoreNumAiv();\n  \
                  context->SetBlockDim(Cores(n, all));\n}\n";
    assert_eq!(found(helper), [("cores".to_owned(), "factor".to_owned())]);
}

#[test]
fn what_is_no_free_choice_is_left_alone() {
    let around = |head: &str, body: &str| {
        format!(
            "void Tiling() {{\n  {head} cores = platform.GetCoreNumAiv();\n  {body}\n  context->SetBlockDim(cores);\n}}\n"
        )
    };
    for (why, text) in [
        ("slots of the unified buffer", around("auto", "x = ubSize / SLOTS;")),
        ("a constant", around("const auto", "x = total / cores;")),
        ("something was derived before", around("auto", "tiling.set_cores(cores);\n  x = total / cores;")),
        ("in a loop", around("auto", "for (int i = 0; i < 3; i++) {\n    x = total / cores;\n  }")),
        ("head of a loop", around("auto", "for (int i = total / cores; i < 3; i++) {}")),
        ("no braces", around("auto", "if (a) {\n  } else\n    x = total / cores;")),
        ("two branches", around("auto", "if (a) {\n    x = m / cores;\n  } else {\n    x = n / cores;\n  }")),
        (
            "shared by all calls",
            around("auto", "").replace("cores", "compileInfo->cores") + "void F() { x = n / compileInfo->cores; }",
        ),
        ("an initialiser", around("auto", "Plan plan{\n    total / cores,\n  };")),
    ] {
        assert_eq!(found(&text), [], "{why}: {text}");
    }
}

const CONSTANT: &str = "#include <algorithm>\n#include \"scale_tiling.h\"\nnamespace optiling {\nconst uint32_t BLOCK_DIM = 8;\n\
    static ge::graphStatus Tiling(gert::TilingContext* context)\n{\n  uint32_t totalLength = 1;\n  \
    for (int i = 0; i < rank; i++) {\n    totalLength *= Dim(i);\n  }\n  context->SetBlockDim(BLOCK_DIM);\n  \
    uint32_t each = (totalLength + BLOCK_DIM - 1) / BLOCK_DIM;\n  tiling.set_each(each);\n  \
    return ge::GRAPH_SUCCESS;\n}\n}\n";

#[test]
fn a_constant_number_of_cores_becomes_a_variable_of_the_rule() {
    assert_eq!(found(CONSTANT), [("BLOCK_DIM".to_owned(), "totalLength".to_owned())]);
    let tree = tree(CONSTANT);
    let share = share("BLOCK_DIM", "totalLength");
    assert_eq!(present_value(&tree, &share.binding), Ok(Some(Value::Int(0))));
    assert_eq!(written(&tree, &share, 0), tree);
    let ruled = written(&tree, &share, 512);
    let text = ruled.text("op_host/scale.cpp").unwrap();
    let wanted = "  }\n  // Fewer cores are sooner done with little work: each gets at least this much.\n  \
        constexpr uint64_t MIN_LENGTH_PER_CORE = 512;\n  \
        const uint32_t blockDim = std::max<uint64_t>(1, std::min<uint64_t>(BLOCK_DIM,\n      \
        (totalLength + MIN_LENGTH_PER_CORE - 1) / MIN_LENGTH_PER_CORE));\n  context->SetBlockDim(blockDim);\n  \
        uint32_t each = (totalLength + blockDim - 1) / blockDim;\n";
    assert!(text.contains(wanted), "{text}");
    assert_eq!(present_value(&ruled, &share.binding), Ok(Some(Value::Int(512))));
    assert_eq!(written(&ruled, &share, 512), ruled);
    assert_eq!(written(&ruled, &share, 64).text("op_host/scale.cpp").unwrap(), text.replace("512", "64"));
    assert_eq!(written(&ruled, &share, 0), tree);

    let knobs = tree.apply(&instrument(&tree, &[share], &[block_dim()]).unwrap()).unwrap();
    let text = knobs.text("op_host/scale.cpp").unwrap();
    let least = "static_cast<uint64_t>(ascend_tune_knob(\"share\", 0))";
    let knob = format!(
        "const uint32_t blockDim = {least} > 0 ? ((BLOCK_DIM > 8 ? (totalLength / {least} < BLOCK_DIM ? 8 : BLOCK_DIM) : \
         std::max<uint64_t>(1, "
    );
    assert!(text.contains(&knob) && text.contains(") : BLOCK_DIM; context->SetBlockDim(blockDim);\n"), "{text}");
}

#[test]
fn a_constant_that_something_else_needs_is_left_alone() {
    for (why, from, to) in [
        ("an array's length", "  tiling.set_each(each);\n", "  int parts[BLOCK_DIM];\n"),
        (
            "what the operator takes",
            "  context->",
            "  if (totalLength % BLOCK_DIM != 0) {\n    return 1;\n  }\n  context->",
        ),
        ("another function", "namespace optiling {\n", "namespace optiling {\nint F() { return BLOCK_DIM; }\n"),
        ("not launched", "SetBlockDim(BLOCK_DIM)", "SetBlockDim(8)"),
        (
            "launched before the work is known",
            "  uint32_t totalLength = 1;\n",
            "  tiling.set_cores(BLOCK_DIM);\n  uint32_t totalLength = 1;\n",
        ),
        ("the work changes afterwards", "SetBlockDim(BLOCK_DIM);\n", "SetBlockDim(BLOCK_DIM);\n  totalLength += 32;\n"),
        ("a loop", "SetBlockDim(BLOCK_DIM);\n", "SetBlockDim(BLOCK_DIM);\n  for (int i = 0; i < BLOCK_DIM; i++) {}\n"),
    ] {
        let text = CONSTANT.replace(from, to);
        assert_ne!(text, CONSTANT, "{why}");
        assert_eq!(found(&text).len(), usize::from(why == "a loop"), "{why}: {text}");
    }
}

#[test]
fn a_comment_stays_with_the_line_that_it_describes() {
    let line = "    uint64_t blocks = bytes / BLOCK / coreNum;\n";
    let comment = "    // what every core does,\n    // in blocks\n";
    let commented = TILING.replace(line, &format!("{comment}{line}"));
    let share = share("coreNum", "bytes / BLOCK");
    let ruled = written(&tree(&commented), &share, 512);
    let text = ruled.text("op_host/scale.cpp").unwrap();
    assert!(text.contains(&format!("MIN_BLOCKS_PER_CORE));\n{comment}{line}")), "{text}");
    assert_eq!(present_value(&ruled, &share.binding), Ok(Some(Value::Int(512))));
    let other = written(&ruled, &share, 64);
    assert_eq!(other.text("op_host/scale.cpp").unwrap(), text.replace("512", "64"));
    let gone = written(&other, &share, 0);
    assert_eq!(gone.text("op_host/scale.cpp").unwrap().replace("#include <algorithm>\n", ""), commented);
}

/// The constant of [`CONSTANT`] as a tunable.
fn block_dim() -> Tunable {
    let file = "op_host/scale.cpp".to_owned();
    Tunable {
        name: "cores".to_owned(),
        default: Some(Value::Int(8)),
        binding: Binding::Constant { file, name: "BLOCK_DIM".to_owned(), also: Vec::new() },
        ..share("", "")
    }
}

/// More cores for much work are no reason for little work to be slower: it keeps as many as it had.
#[test]
fn a_constant_that_is_raised_stays_the_least_number_of_cores() {
    let tree = tree(CONSTANT);
    let share = share("BLOCK_DIM", "totalLength");
    let cores = block_dim();
    let with = |tree: &SourceTree, number: i64, least: i64| {
        let values = [(cores.clone(), Value::Int(number)), (share.clone(), Value::Int(least))];
        tree.apply(&realize(tree, &values).unwrap()).unwrap()
    };
    let text = |tree: &SourceTree| tree.text("op_host/scale.cpp").unwrap().to_owned();
    let raised = with(&tree, 48, 4096);
    let rule = "  // More cores pay where each gets at least this much; little work keeps as few as it had.\n  \
        constexpr uint64_t MIN_LENGTH_PER_CORE = 4096;\n  \
        const uint32_t blockDim = totalLength / MIN_LENGTH_PER_CORE < BLOCK_DIM ? 8 : BLOCK_DIM;\n  \
        context->SetBlockDim(blockDim);\n";
    assert!(text(&raised).contains("BLOCK_DIM = 48;") && text(&raised).contains(rule), "{}", text(&raised));
    assert!(text(&with(&tree, 8, 4096)).contains("std::max<uint64_t>(1, "));
    assert!(text(&with(&tree, 4, 4096)).contains("std::max<uint64_t>(1, "));
    // It is the sources as they were that count, not what a candidate made of them.
    assert!(text(&with(&with(&tree, 48, 0), 48, 4096)).contains(rule));
    // The rule that stands there keeps what it says, whatever the constant is next.
    assert_eq!(present_value(&raised, &share.binding), Ok(Some(Value::Int(4096))));
    assert_eq!(text(&with(&raised, 48, 512)), text(&raised).replace("4096", "512"));
    assert!(text(&with(&raised, 16, 512)).contains("? 8 : BLOCK_DIM;"));
    assert_eq!(text(&with(&raised, 48, 0)), text(&with(&tree, 48, 0)));
}
