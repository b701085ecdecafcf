//! Tests of choices by size.

use super::*;
use crate::tunable::{instrument, present_value, realize};
use space::{Domain, Value};

const HEAD: &str = "#include \"gelu_tiling.h\"\n\
    namespace optiling {\n\n\
    constexpr uint32_t BLOCK_DIM = 40; // cores\n\
    constexpr uint32_t TILE_LENGTH = 4096;\n\n";
const BODY: &str = "static ge::graphStatus Tiling(gert::TilingContext *context)\n{\n    \
        const auto shape = context->GetInputShape(0)->GetStorageShape();\n    \
        const uint32_t totalLength = static_cast<uint32_t>(shape.GetShapeSize());\n    \
        if (totalLength == 0) {\n        return ge::GRAPH_FAILED;\n    }\n\n    \
        // Whole blocks for every core.\n    \
        const uint32_t blockLength = (totalLength + BLOCK_DIM - 1) / BLOCK_DIM;\n    \
        GeluTilingData tiling;\n    \
        tiling.set_tileLength(TILE_LENGTH);\n    \
        context->SetBlockDim((totalLength + blockLength - 1) / blockLength);\n    \
        return ge::GRAPH_SUCCESS;\n}\n";
const FILE: &str = "op_host/gelu.cpp";

fn tree(host: &str) -> SourceTree {
    [(FILE, host), ("op_kernel/gelu.cpp", "#include \"kernel_operator.h\"\nconstexpr uint32_t DEPTH = 2;\n")]
        .into_iter()
        .collect()
}

fn tunable(name: &str) -> Tunable {
    Tunable {
        name: name.to_owned(),
        domain: Domain::Range { min: 1, max: 8192, step: 1 },
        default: None,
        binding: Binding::Constant { file: FILE.to_owned(), name: name.to_owned(), also: Vec::new() },
        reason: String::new(),
        when: None,
    }
}

fn with<Answer>(tunables: &[Tunable], ask: impl FnOnce(Surroundings<'_>) -> Answer) -> Answer {
    let kernels = ["op_kernel/gelu.cpp".to_owned()];
    ask(Surroundings { beside: &SourceTree::new(), kernels: &kernels, tunables })
}

/// The host file with values by class.
fn chosen(host: &str, values: &[(&str, &[i64])], up_to: &[u64]) -> String {
    let tunables: Vec<Tunable> = values.iter().map(|(name, _)| tunable(name)).collect();
    let of = |(tunable, (_, values)): (_, &(&str, &[i64]))| ValuesBySize { tunable, values: values.to_vec() };
    let by: Vec<ValuesBySize<'_>> = tunables.iter().zip(values).map(of).collect();
    let tree = tree(host);
    let patch = with(&tunables, |around| by_size(&tree, &by, up_to, around)).expect("a choice");
    assert_eq!(patch.motif, BY_SIZE);
    tree.apply(&patch).expect("fits").text(FILE).unwrap().to_owned()
}

fn why_not(host: &str, name: &str) -> String {
    let tunables = [tunable(name)];
    with(&tunables, |around| dispatchable(&tree(host), &tunables[0], around)).expect_err("no choice").why.to_string()
}

#[test]
fn constants_become_variables_at_their_first_use() {
    let host = format!("{HEAD}{BODY}}}\n");
    let written = chosen(&host, &[("BLOCK_DIM", &[1, 40]), ("TILE_LENGTH", &[512, 4096])], &[65_536]);
    let expected = host
        .replace(
            "    // Whole blocks",
            "    // What is fastest for small inputs is not for large ones: chosen by cargo ascend-tune, see ascend.lock.\n    \
             constexpr uint32_t BLOCK_DIM_SMALL = 1;\n    \
             const uint32_t blockDim = totalLength <= 65536 ? BLOCK_DIM_SMALL : BLOCK_DIM;\n    \
             constexpr uint32_t TILE_LENGTH_SMALL = 512;\n    \
             const uint32_t tileLength = totalLength <= 65536 ? TILE_LENGTH_SMALL : TILE_LENGTH;\n    \
             // Whole blocks",
        )
        .replace("(totalLength + BLOCK_DIM - 1) / BLOCK_DIM;", "(totalLength + blockDim - 1) / blockDim;")
        .replace("set_tileLength(TILE_LENGTH)", "set_tileLength(tileLength)");
    assert_eq!(written, expected);
}

#[test]
fn classes_of_one_value_are_one_and_a_function_that_has_not_asked_for_the_size_asks() {
    let host = "#define TILE 4096U\n\
        ge::graphStatus Tiling(gert::TilingContext* context) {\n  \
          auto tensor = context->GetInputTensor(0);\n  \
          OP_CHECK_NULL(context, tensor)\n  \
          if (Is310(context)) {\n    tiling.tile = TILE / 2;\n  } else {\n    tiling.tile = TILE;\n  }\n  \
          return 0;\n}\n";
    let written = chosen(host, &[("TILE", &[64, 512, 4096])], &[100, 3_000_000_000]);
    assert!(
        written.contains(
            "const int64_t inputElements = context->GetInputTensor(0)->GetShapeSize();\n  \
             constexpr uint32_t TILE_SMALL = 64U;\n  \
             constexpr uint32_t TILE_MEDIUM = 512U;\n  \
             const uint32_t tileBySize =\n      \
                 inputElements <= 100 ? TILE_SMALL :\n      \
                 inputElements <= 3000000000 ? TILE_MEDIUM :\n      \
                 TILE;\n  \
             if (Is310(context)) {\n    tiling.tile = tileBySize / 2;"
        ) || written.contains(
            "const uint32_t tileBySize = inputElements <= 100 ? TILE_SMALL : inputElements <= 3000000000 ? TILE_MEDIUM : TILE;\n"
        ),
        "{written}"
    );
    let written = chosen(host, &[("TILE", &[64, 4096, 4096])], &[100, 200]);
    assert!(written.contains("inputElements <= 100 ? TILE_SMALL : TILE;") && !written.contains("MEDIUM"), "{written}");
    assert!(written.contains("} else {\n    tiling.tile = tileBySize;"), "{written}");
}

#[test]
fn what_is_written_is_found_and_searched_again_and_not_written_twice() {
    let host = format!("{HEAD}{BODY}}}\n");
    let written = tree(&chosen(&host, &[("TILE_LENGTH", &[512, 4096])], &[65_536]));
    let [there] = &chosen_by_size(&written)[..] else { panic!("one choice") };
    assert_eq!((there.constant.as_str(), there.smaller.as_str()), ("TILE_LENGTH", "TILE_LENGTH_SMALL"));
    let large = tunable("TILE_LENGTH");
    let [small] = &of_choices(&written, std::slice::from_ref(&large))[..] else { panic!("one tunable") };
    assert_eq!((small.name.as_str(), &small.default), ("TILE_LENGTH_SMALL", &Some(Value::Int(512))));
    assert_eq!((&small.domain, small.reason.as_str()), (&large.domain, "TILE_LENGTH for smaller inputs"));
    assert_eq!(of_choices(&written, &[large.clone(), small.clone()]), [], "it is one already");
    assert_eq!(of_choices(&written, &[tunable("BLOCK_DIM")]), [], "nobody tunes what it is about");
    assert_eq!(present_value(&written, &large.binding).unwrap(), Some(Value::Int(4096)));
    let both = [(small.clone(), Value::Int(256)), (large.clone(), Value::Int(8192))];
    let changed = written.apply(&realize(&written, &both).unwrap()).unwrap();
    let text = changed.text(FILE).unwrap();
    assert!(text.contains("TILE_LENGTH = 8192;") && text.contains("TILE_LENGTH_SMALL = 256;"), "{text}");
    assert!(instrument(&written, &[small.clone(), large.clone()], &[]).is_ok());
    let refused = with(&[], |around| dispatchable(&written, &large, around)).unwrap_err();
    assert!(matches!(refused.why, WhyNot::There { .. }), "{refused}");
    assert_eq!(
        refused.to_string(),
        "TILE_LENGTH has one value for all sizes: op_host/gelu.cpp:20: it is chosen by size already"
    );
    assert_eq!(chosen_by_size(&tree(&host)), []);
    // A ternary of somebody else's is none.
    let other = host.replace("set_tileLength(TILE_LENGTH)", "set_tileLength(wide ? TILE_SMALL : TILE_LENGTH)");
    assert_eq!(chosen_by_size(&tree(&other)), []);
}

#[test]
fn names_in_small_letters_and_members_keep_their_style() {
    let host = "class Tiler {\npublic:\n    static constexpr int64_t kTileLength = 4096;\n    \
        void Do(gert::TilingContext *context)\n    {\n        \
        auto shape = context->GetInputShape(0);\n        \
        int64_t n = shape->GetOriginShape().GetShapeSize();\n        \
        tile_ = std::min(n, Tiler::kTileLength);\n    }\n};\n";
    let tunables = [Tunable {
        binding: Binding::Constant { file: FILE.to_owned(), name: "Tiler::kTileLength".to_owned(), also: Vec::new() },
        ..tunable("kTileLength")
    }];
    let tree = tree(host);
    let by = [ValuesBySize { tunable: &tunables[0], values: vec![512, 4096] }];
    let patch = with(&tunables, |around| by_size(&tree, &by, &[65_536], around)).unwrap();
    let written = tree.apply(&patch).unwrap();
    let text = written.text(FILE).unwrap();
    assert!(
        text.contains(
            "        constexpr int64_t kTileLengthSmall = 512;\n        \
             const int64_t tileLength = n <= 65536 ? kTileLengthSmall : kTileLength;\n        \
             tile_ = std::min(n, tileLength);"
        ),
        "{text}"
    );
    assert_eq!(chosen_by_size(&written).len(), 1);
}

/// A body with a statement in the place of `tiling.set_tileLength(TILE_LENGTH);`.
fn instead(statement: &str) -> String {
    format!("{HEAD}{}}}\n", BODY.replace("tiling.set_tileLength(TILE_LENGTH);", statement))
}

#[test]
fn what_has_to_be_constant_stays_constant() {
    for (statement, why) in [
        (
            "static_assert(TILE_LENGTH % 8 == 0, \"whole blocks\");",
            "it is used in a static_assert at op_host/gelu.cpp:18",
        ),
        ("uint8_t buffer[TILE_LENGTH];", "it is an array bound at op_host/gelu.cpp:18"),
        ("Plan<TILE_LENGTH> plan;", "it is a template argument at op_host/gelu.cpp:18"),
        ("constexpr uint32_t BYTES = TILE_LENGTH * 4;", "it is part of a constexpr initialiser at op_host/gelu.cpp:18"),
        (
            "static uint32_t tile = TILE_LENGTH;",
            "op_host/gelu.cpp:18: what is made of it there is kept from one call to the next",
        ),
        ("", "no host code uses it"),
    ] {
        assert_eq!(why_not(&instead(statement), "TILE_LENGTH"), why, "{statement}");
    }
}

#[test]
fn what_others_read_stays_as_it_is() {
    let host = format!("{HEAD}{BODY}}}\n");
    let with_kernel =
        |kernel: &str| -> SourceTree { [(FILE, host.as_str()), ("op_kernel/gelu.cpp", kernel)].into_iter().collect() };
    let tunables = [tunable("TILE_LENGTH")];
    let ask = |tree: &SourceTree, beside: &SourceTree, tunables: &[Tunable]| {
        let kernels = ["op_kernel/gelu.cpp".to_owned()];
        let around = Surroundings { beside, kernels: &kernels, tunables };
        dispatchable(tree, &tunables[0], around).map_err(|refusal| refusal.why)
    };
    let nothing = SourceTree::new();
    let read = ask(&with_kernel("void Copy() { DataCopy(x, y, TILE_LENGTH); }\n"), &nothing, &tunables);
    assert_eq!(read, Err(WhyNot::InKernel { file: "op_kernel/gelu.cpp".to_owned(), line: 1 }));
    let own = ask(&with_kernel("constexpr uint32_t TILE_LENGTH = 1;\nint x = TILE_LENGTH;\n"), &nothing, &tunables);
    assert_eq!(own, Ok(()), "a constant of its own");
    let beside: SourceTree =
        [("common.h", "inline int Tiles(int n) { return n / TILE_LENGTH; }\n")].into_iter().collect();
    let read = ask(&with_kernel(""), &beside, &tunables);
    assert_eq!(read, Err(WhyNot::Beside { file: "common.h".to_owned() }));
    let rule = Tunable {
        name: "blocks_share".to_owned(),
        binding: Binding::Share { file: FILE.to_owned(), cores: "TILE_LENGTH".to_owned(), of: "n".to_owned() },
        ..tunable("TILE_LENGTH")
    };
    let ruled = ask(&with_kernel(""), &nothing, &[tunable("TILE_LENGTH"), rule]);
    assert_eq!(ruled, Err(WhyNot::Ruled("blocks_share".to_owned())));
    let mut in_step = tunable("TILE_LENGTH");
    in_step.binding = Binding::Constant {
        file: FILE.to_owned(),
        name: "TILE_LENGTH".to_owned(),
        also: vec!["op_kernel/gelu.cpp".to_owned()],
    };
    assert_eq!(ask(&with_kernel(""), &nothing, &[in_step]), Err(WhyNot::InStep));
    let cap = Tunable {
        binding: Binding::Cap { file: FILE.to_owned(), target: "blockLength".to_owned() },
        ..tunable("blockLength")
    };
    assert_eq!(ask(&with_kernel(""), &nothing, &[cap]), Err(WhyNot::NoConstant));
}

#[test]
fn where_the_size_is_not_known_nothing_is_chosen() {
    let line = "op_host/gelu.cpp:";
    let no_size = "the size of the first input is not known in the function that uses it";
    // A helper that is told a part of the size only, and a size that is no longer that.
    let helper = instead("tiling.set_tileLength(Tile(totalLength));").replace(
        "static ge::",
        "static uint32_t Tile(uint32_t n)\n{\n    return n < TILE_LENGTH ? n : TILE_LENGTH;\n}\n\nstatic ge::",
    );
    assert_eq!(why_not(&helper, "TILE_LENGTH"), format!("{line}9: {no_size}"));
    let second = format!("{HEAD}{}}}\n", BODY.replace("GetInputShape(0)", "GetInputShape(1)"));
    assert_eq!(why_not(&second, "TILE_LENGTH"), format!("{line}18: {no_size}"));
    let padded = format!("{HEAD}{}}}\n", BODY.replace("shape.GetShapeSize())", "shape.GetShapeSize() + 7)"));
    let written = chosen(&padded, &[("TILE_LENGTH", &[512, 4096])], &[65_536]);
    assert!(written.contains("inputElements <= 65536"), "what is asked is the size: {written}");
    let changed = format!("{HEAD}{}}}\n", BODY.replace("const uint32_t totalLength", "uint32_t totalLength"))
        .replace("    GeluTilingData", "    totalLength = blockLength;\n    GeluTilingData");
    let written = chosen(&changed, &[("TILE_LENGTH", &[512, 4096])], &[65_536]);
    assert!(written.contains("inputElements <= 65536"), "{written}");
    // Nobody looks whether an input is there before asking in a branch.
    let branch = format!("{HEAD}{}}}\n", BODY).replace(
        "    const auto shape = context->GetInputShape(0)->GetStorageShape();\n    const uint32_t totalLength = static_cast<uint32_t>(shape.GetShapeSize());\n",
        "    uint32_t totalLength = 0;\n    if (HasInput(context)) {\n        totalLength = context->GetInputShape(0)->GetStorageShape().GetShapeSize();\n    }\n",
    );
    assert!(why_not(&branch, "TILE_LENGTH").ends_with(no_size));
}

#[test]
fn other_builds_and_taken_names_are_left_alone() {
    let conditional = instead("#if ASCEND_310\n    Old();\n#endif\n    tiling.set_tileLength(TILE_LENGTH);");
    let why = why_not(&conditional, "TILE_LENGTH");
    assert!(why.ends_with("it is used under conditions of the preprocessor"), "{why}");
    let taken = instead("uint32_t tileLength = 1, tileLengthBySize = 2;\n    tiling.set_tileLength(TILE_LENGTH);");
    assert_eq!(
        why_not(&taken, "TILE_LENGTH"),
        "op_host/gelu.cpp: the names that it would get, such as `tileLength`, are taken"
    );
    let taken = instead("uint32_t TILE_LENGTH_SMALL = 1;\n    tiling.set_tileLength(TILE_LENGTH);");
    assert!(why_not(&taken, "TILE_LENGTH").contains("`TILE_LENGTH_SMALL`"));
    let once = instead("tiling.tileLength = TILE_LENGTH;");
    assert!(chosen(&once, &[("TILE_LENGTH", &[512, 4096])], &[8]).contains("tiling.tileLength = tileLengthBySize;"));
    let in_macro = format!("#define TILES(n) ((n) / TILE_LENGTH)\n{}", instead("tiling.set_tileLength(TILE_LENGTH);"));
    assert_eq!(why_not(&in_macro, "TILE_LENGTH"), "op_host/gelu.cpp:1: it is used outside of a function");
    let switch = "constexpr bool TILE_LENGTH = true;\nvoid F() { Use(TILE_LENGTH); }\n";
    assert_eq!(why_not(switch, "TILE_LENGTH"), "op_host/gelu.cpp:1: it is no number with an integer type");
}

#[test]
fn loops_blocks_and_lists_are_left_whole() {
    let host = instead(
        "for (uint32_t at = 0; at < TILE_LENGTH; at += 8) {\n        Fill(at);\n    }\n    \
         do {\n        Step();\n    } while (Left() > TILE_LENGTH);\n    Plan plan = {TILE_LENGTH, 2};\n    tiling.set_plan(plan);",
    );
    let written = chosen(&host, &[("TILE_LENGTH", &[512, 4096])], &[65_536]);
    let first = "const uint32_t tileLength = totalLength <= 65536 ? TILE_LENGTH_SMALL : TILE_LENGTH;\n    for (uint32_t at = 0; at < tileLength;";
    assert!(
        written.contains(first) && written.contains("{tileLength, 2}") && written.contains("Left() > tileLength)"),
        "{written}"
    );
    let only_last = instead("do {\n        Step();\n    } while (Left() > TILE_LENGTH);");
    let written = chosen(&only_last, &[("TILE_LENGTH", &[512, 4096])], &[65_536]);
    assert!(written.contains("TILE_LENGTH;\n    do {"), "{written}");
}
