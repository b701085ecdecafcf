//! Tests of discovery on the fixtures and on small texts.

use std::path::{Path, PathBuf};

use super::*;
use crate::cases::DescribedOps;
use manifest::Manifest;
use space::{Binding, Domain, Value};

/// The C++ and CMake files below a directory.
fn tree_of(root: &Path) -> SourceTree {
    let mut tree = SourceTree::new();
    for entry in walkdir::WalkDir::new(root).sort_by_file_name().into_iter().filter_map(Result::ok) {
        let file = entry.path();
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let wanted = matches!(ending, "cpp" | "h" | "asc") || file.ends_with("CMakeLists.txt");
        if wanted && let Ok(text) = std::fs::read_to_string(file) {
            let relative = file.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
            tree.insert(relative, text);
        }
    }
    tree
}

fn fixture(name: &str) -> SourceTree {
    tree_of(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name))
}

/// What init writes must parse, validate and say the same.
fn round_trip(discovery: &Discovery) -> Manifest {
    let text = render(discovery).expect("the template is sound");
    let manifest = Manifest::parse(&text, Path::new("ascend.toml"))
        .unwrap_or_else(|error| panic!("{}\n{text}", error.render(false)));
    let cases: Vec<_> = discovery.cases.iter().map(|found| found.case.clone()).collect();
    assert_eq!(manifest.cases, cases);
    let sorted = |tunables: &[space::Tunable]| {
        let mut tunables = tunables.to_vec();
        tunables.sort_by(|left, right| left.name.cmp(&right.name));
        tunables
    };
    assert_eq!(sorted(&manifest.tunables), sorted(&discovery.tunables));
    manifest
}

/// Name and default of every tunable.
fn found(discovery: &Discovery) -> Vec<String> {
    let mut found: Vec<String> = discovery
        .tunables
        .iter()
        .map(|tunable| {
            format!("{}={}", tunable.name, tunable.default.as_ref().map_or("-".to_owned(), Value::to_string))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn msopgen_fixture() {
    let discovery = discover_sources(&fixture("add_custom"), Layout::Msopgen, None, None).expect("an operator");
    let names = (discovery.operator.as_str(), discovery.kernel.as_str(), discovery.tiling.as_str());
    assert_eq!(names, ("AddCustom", "add_custom", "AddCustomTiling"));
    assert_eq!(found(&discovery), ["BLOCK_DIM=8", "BUFFER_NUM=2", "TILE_NUM=8"]);
    let depth = discovery.tunables.iter().find(|tunable| tunable.name == "BUFFER_NUM").expect("there");
    assert!(matches!(&depth.binding, Binding::Constant { also, .. } if also.len() == 1), "host and kernel in step");
    assert_eq!(discovery.cases.len(), 1, "the tiling refuses remainders");
    let manifest = round_trip(&discovery);
    assert_eq!(manifest.cases[0].inputs[1].dtype, "float16");
}

#[test]
fn in_tree_fixture() {
    let discovery = discover_sources(&fixture("softmax_rows"), Layout::InTree, None, None).expect("an operator");
    assert_eq!(discovery.kernel, "softmax_rows");
    assert_eq!(discovery.tiling, "SoftmaxRowsTilingFunc");
    assert_eq!(found(&discovery), ["BUFFER_NUM=1", "COLUMN_FACTOR=512", "MAX_CORES=20", "available_limit=-"]);
    assert_eq!(discovery.cases[1].case.name, "odd-7x333");
    assert!(discovery.cases[1].case.verify_only);
    round_trip(&discovery);
}

#[test]
fn direct_launch_fixture() {
    let discovery = discover_sources(&fixture("add_ladder"), Layout::DirectLaunch, None, None).expect("a program");
    assert_eq!((discovery.operator.as_str(), discovery.kernel.as_str()), ("add_ladder", "add_ladder"));
    assert_eq!(found(&discovery), ["ALL_CORES=48", "LARGE_TILE=16384", "SMALL_TILE=4096", "STAGGERED_TILE=16256"]);
    assert!(discovery.cmake_notes.iter().any(|note| note.starts_with("LADDER_VARIANT = 7")));
    round_trip(&discovery);
}

#[test]
fn naive_fixture() {
    let discovery = discover_sources(&fixture("gelu_naive"), Layout::Msopgen, None, None).expect("an operator");
    assert_eq!(discovery.operator, "GeluNaive");
    assert!(found(&discovery).iter().any(|tunable| tunable == "BUFFER_NUM=1"), "{:?}", found(&discovery));
    round_trip(&discovery);
}

#[test]
fn definitions_give_tensors_and_attributes() {
    let mut tree = SourceTree::new();
    tree.insert(
        "op_host/norm_def.cpp",
        "class Norm : public OpDef { public: explicit Norm(const char* n) : OpDef(n) {\n\
         this->Input(\"x\").ParamType(REQUIRED).DataType({ge::DT_BF16, ge::DT_FLOAT});\n\
         this->Input(\"gamma\").ParamType(OPTIONAL).DataType({ge::DT_BF16, ge::DT_FLOAT});\n\
         this->Output(\"y\").ParamType(REQUIRED).DataType({ge::DT_BF16, ge::DT_FLOAT});\n\
         this->Attr(\"epsilon\").AttrType(OPTIONAL).Float(1e-5f);\n\
         this->Attr(\"axes\").AttrType(REQUIRED).ListInt({-1, 0});\n\
         this->Attr(\"mode\").AttrType(OPTIONAL).String(\"sum\");\n\
         this->AICore().SetTiling(optiling::NormTiling).AddConfig(\"ascend910b\"); } };\nOP_ADD(Norm);\n",
    );
    tree.insert(
        "op_host/norm_tiling.cpp",
        "constexpr size_t DIMS = 3;\nconstexpr float EPS = 1e-5f; constexpr int TILE_ALIGN = 32;\n\
         void NormTiling() { if (shape.GetDimNum() != DIMS) return; context->SetBlockDim(4);\n\
         const auto split_factor = attrs->GetAttrPointer<int32_t>(1); int32_t asked_factor = *(attrs->GetInt(2)) * 2;\n\
         coreNum = platform.GetCoreNumAiv(); tiling.set_ubFactor(FloorAlign(ub / 4, 32)); }",
    );
    tree.insert(
        "op_kernel/norm.cpp",
        "extern \"C\" __global__ __aicore__ void norm(GM_ADDR x) { int id = GetBlockIdx(); pipe.InitBuffer(inQueue, 1, n * 4); pipe.InitBuffer(tmp, 64); }",
    );
    let discovery = discover_sources(&tree, Layout::InTree, None, None).expect("an operator");
    assert_eq!(discovery.tiling, "NormTiling");
    // What is read from attributes is no choice of the tiling function.
    assert_eq!(found(&discovery), ["block_dim=4", "coreNum_limit=-", "inQueue_buffers=1", "ubFactor_limit=-"]);
    let manifest = round_trip(&discovery);
    let case = &manifest.cases[0];
    assert_eq!(case.inputs.len(), 1, "optional inputs are left out");
    assert_eq!(
        (case.inputs[0].dtype.as_str(), case.inputs[0].shape.as_deref()),
        ("bfloat16", Some(&[16, 256, 256][..]))
    );
    let values: Vec<&str> = case.attributes.iter().map(|attribute| attribute.value.as_str()).collect();
    assert_eq!(values, ["1e-5", "-1,0", "sum"]);

    let described: DescribedOps = serde_json::from_str(
        r#"{"ops":[{"type":"Norm","inputs":[{"name":"a","dtypes":["float16"],"formats":["ND"],"param":"required"}],
            "outputs":[{"name":"b","dtypes":["float16"]}],"attrs":[{"name":"k","type":"int","default":3}]}],"tiling_classes":[]}"#,
    )
    .expect("as the runner writes it");
    let discovery = discover_sources(&tree, Layout::InTree, Some("Norm"), Some(&described)).expect("an operator");
    assert_eq!(discovery.cases[0].case.inputs[0].name, "a");
    assert_eq!(discovery.cases[0].case.attributes[0].value, "3");
    round_trip(&discovery);
}

/// The dtypes of all tensors go together: one that no data can be made for takes the others with it.
#[test]
fn the_first_combination_of_dtypes_that_there_is_data_for_is_taken() {
    let described: DescribedOps = serde_json::from_str(
        r#"{"ops":[{"type":"AddCustom","inputs":[{"name":"x","dtypes":["complex128","int8","float32"],"formats":["ND","ND","ND"],
            "param":"required"}],"outputs":[{"name":"y","dtypes":["float16","complex128","bool"]}],"attrs":[]}],"tiling_classes":[]}"#,
    )
    .expect("as the runner writes it");
    let discovery = discover_sources(&fixture("add_custom"), Layout::Msopgen, Some("AddCustom"), Some(&described));
    let manifest = round_trip(&discovery.expect("an operator"));
    let case = &manifest.cases[0];
    assert_eq!((case.inputs[0].dtype.as_str(), case.outputs[0].dtype.as_str()), ("float32", "bool"));
}

/// What no manifest can say is told of the operator, and not of a line that nobody wrote.
#[test]
fn operators_that_no_manifest_can_state_are_explained() {
    let discovery = |inputs: &str, outputs: &str| {
        let text = format!(
            r#"{{"ops":[{{"type":"AddCustom","inputs":[{inputs}],"outputs":[{outputs}],"attrs":[]}}],"tiling_classes":[]}}"#
        );
        let described: DescribedOps = serde_json::from_str(&text).expect("as the runner writes it");
        let found = discover_sources(&fixture("add_custom"), Layout::Msopgen, Some("AddCustom"), Some(&described));
        found.expect("an operator")
    };
    let message = |inputs: &str, outputs: &str| {
        render(&discovery(inputs, outputs)).expect_err("there is nothing to compare").to_string()
    };
    let x = r#"{"name":"x","dtypes":["float16"],"formats":["ND"],"param":"required"}"#;
    let neither = message("", "");
    assert!(neither.starts_with("`AddCustom` defines neither an input nor an output"), "{neither}");
    // What an operator without outputs does, it does to its inputs.
    let manifest = round_trip(&discovery(x, ""));
    assert!(manifest.cases.iter().all(|case| case.outputs == case.inputs && case.outputs.len() == 1));
    let small = message(x, r#"{"name":"y","dtypes":["DT_FLOAT8_E4M3FN"]}"#);
    assert!(small.starts_with("`AddCustom` takes or gives `y` as DT_FLOAT8_E4M3FN only; there is data of"), "{small}");
}

#[test]
fn awkward_sources_are_explained() {
    let mut tree = SourceTree::new();
    assert_eq!(discover_sources(&tree, Layout::InTree, None, None), Err(InitError::NoOperator { files: 0 }));
    tree.insert("op_host/a.cpp", "IMPL_OP_OPTILING(Thing).Tiling(ThingTiling);");
    let message = discover_sources(&tree, Layout::InTree, None, None).expect_err("no kernel").to_string();
    assert!(message.contains("no kernel entry"), "{message}");
    let message = discover_sources(&tree, Layout::InTree, Some("Other"), None).expect_err("unknown").to_string();
    assert_eq!(message, "no operator `Other` here, only Thing");
}

#[test]
fn cmake_amounts_are_tunables() {
    let mut tree = SourceTree::new();
    tree.insert("CMakeLists.txt", "add_executable(demo a.asc)\nset(TILE_NUM 8 CACHE STRING \"Tiles (1-32)\")\n");
    tree.insert("a.asc", "__global__ __vector__ void k(GM_ADDR x) {} int main() { k<<<1, 0, s>>>(x); }");
    let discovery = discover_sources(&tree, Layout::DirectLaunch, None, None).expect("a program");
    assert_eq!(discovery.tunables[0].domain, Domain::Range { min: 1, max: 32, step: 1 });
    round_trip(&discovery);
}

/// A number in the template that is no choice of the finder is the default.
#[test]
fn what_only_a_name_tells_is_a_hint_and_tried_to_its_safe_side() {
    let host = "class Sum : public OpDef {};\nconst uint32_t TILE_LENGTH = 2048;\nstatic ge::graphStatus Tiling(gert::TilingContext *context)\n{\n    \
        uint32_t total = 1;\n    uint32_t each = total / TILE_LENGTH;\n    tiling.set_each(each);\n    return ge::GRAPH_SUCCESS;\n}\n";
    let tree: SourceTree = [("op_host/sum.cpp", host), ("op_kernel/sum.cpp", "extern \"C\" __global__ void sum() {}")]
        .into_iter()
        .collect();
    let discovery = discover_sources(&tree, Layout::Msopgen, None, None).expect("an operator");
    let tile = discovery.tunables.iter().find(|tunable| tunable.name == "TILE_LENGTH").expect("a tunable");
    assert!(tile.reason.starts_with("a hint: only its name says so"), "{tile:?}");
    assert_eq!(tile.domain, Domain::PowerOfTwo { min: 64, max: 2048 });
}

#[test]
fn the_template_has_as_many_probes_as_a_manifest_without_the_key() {
    let manifest = Manifest::parse(manifest::testing::SMALLEST, Path::new("ascend.toml")).expect("a manifest");
    assert!(render::TEMPLATE.contains(&format!("\nprobes = {}\n", manifest.probes)));
}

#[test]
fn the_template_states_every_key() {
    for key in manifest::testing::all_keys() {
        assert!(render::TEMPLATE.contains(key), "the template does not mention `{key}`");
    }
}
