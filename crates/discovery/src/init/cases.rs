//! Cases to start from: one that is large enough to be worth tuning, one of an awkward length.

use manifest::{Case, DTYPE_NAMES, TensorSpec, ValueRange};
use source::SourceTree;
use source::constant::integer;
use source::tunable::constants_in;
use source::tunable::lexer::Tokens;
use space::Value;

use super::FoundTensor;
use super::operator::Definition;

/// The only case of a direct launch: the program brings its own data.
pub(super) fn program() -> Case {
    Case {
        name: "default".to_owned(),
        weight: 1.0,
        stands_for: None,
        inputs: Vec::new(),
        outputs: Vec::new(),
        attributes: Vec::new(),
        hostile: false,
        verify_only: false,
        arguments: Vec::new(),
    }
}

/// Cases of an operator, and remarks for the manifest's comments.
pub(super) fn for_operator(tree: &SourceTree, sources: &[String], definition: &Definition) -> (Vec<Case>, Vec<String>) {
    let host: Vec<(&str, &str)> = sources
        .iter()
        .filter(|file| !file.contains("op_kernel/"))
        .filter_map(|file| Some((file.as_str(), tree.text(file)?)))
        .collect();
    let mut notes = Vec::new();
    let rank = host.iter().find_map(|(file, text)| required_rank(file, text));
    if let Some(rank) = rank {
        notes.push(format!("The tiling function asks for {rank} dimensions."));
    }
    let optional: Vec<&str> =
        definition.inputs.iter().filter(|tensor| tensor.optional).map(|tensor| tensor.name.as_str()).collect();
    if !optional.is_empty() {
        notes.push(format!("Optional inputs are left out: {}.", optional.join(", ")));
    }
    if definition.inputs.iter().filter(|tensor| !tensor.optional).count() > 1 {
        notes.push("All inputs have one shape here; correct it where the operator wants otherwise.".to_owned());
    }
    let large: &[u64] = match rank {
        Some(1) => &[1_048_576],
        Some(3) => &[16, 256, 256],
        Some(4) => &[16, 64, 32, 32],
        Some(5) => &[4, 16, 16, 32, 32],
        _ => &[1024, 1024],
    };
    let mut cases = vec![case(definition, large, false)];
    if host.iter().any(|(_, text)| refuses_remainders(text)) {
        notes.push(
            "The tiling function refuses lengths with a remainder, so there is no case of an odd length.".to_owned(),
        );
    } else {
        let mut odd = vec![3; large.len()];
        odd[0] = 7;
        odd[large.len() - 1] = if large.len() == 1 { 2357 } else { 333 };
        cases.push(case(definition, &odd, true));
    }
    (cases, notes)
}

fn case(definition: &Definition, shape: &[u64], verify_only: bool) -> Case {
    let dimensions: Vec<String> = shape.iter().map(u64::to_string).collect();
    // Dtype lists of all tensors go together position by position; the first is the first compiled for the 910B.
    let all = || definition.inputs.iter().chain(&definition.outputs);
    let positions = 0..all().map(|found| found.dtypes.len()).max().unwrap_or(0);
    let known = |found: &FoundTensor, position: usize| {
        found.dtypes.get(position).is_none_or(|dtype| DTYPE_NAMES.contains(&dtype.as_str()))
    };
    let position = positions.into_iter().find(|&position| all().all(|found| known(found, position))).unwrap_or(0);
    let tensor = |found: &FoundTensor, shape: Option<&[u64]>| {
        let dtype = found.dtypes.get(position).cloned().unwrap_or_else(|| "float16".to_owned());
        let range = match dtype.as_str() {
            "bool" => ValueRange { low: 0.0, high: 1.0 },
            name if name.starts_with("uint") => ValueRange { low: 0.0, high: 100.0 },
            name if name.starts_with("int") => ValueRange { low: -100.0, high: 100.0 },
            _ => ValueRange { low: -1.0, high: 1.0 },
        };
        let shape = shape.map(<[u64]>::to_vec);
        TensorSpec { name: found.name.clone(), dtype, format: "ND".to_owned(), shape, range, values: Vec::new() }
    };
    let prefix = if verify_only { "odd-" } else { "" };
    let given = definition.inputs.iter().filter(|found| !found.optional);
    let inputs: Vec<TensorSpec> = given.map(|found| tensor(found, Some(shape))).collect();
    // What an operator that defines no output does, it does to its inputs.
    let outputs = match definition.outputs.is_empty() {
        true => inputs.clone(),
        false => definition.outputs.iter().map(|found| tensor(found, None)).collect(),
    };
    Case {
        name: format!("{prefix}{}", dimensions.join("x")),
        weight: 1.0,
        stands_for: None,
        inputs,
        outputs,
        attributes: definition.attributes.clone(),
        hostile: true,
        verify_only,
        arguments: Vec::new(),
    }
}

/// The number in a check like `shape.GetDimNum() != 4`, written out or as a constant of the file.
fn required_rank(file: &str, text: &str) -> Option<u64> {
    let tokens = Tokens::of(text);
    let at = (0..tokens.tokens.len())
        .find(|at| tokens.get(*at) == "GetDimNum" && tokens.get(at + 1) == "(" && tokens.get(at + 3) == "!=")?;
    let word = tokens.get(at + 4);
    let value = integer(word).or_else(|| {
        let constants = constants_in(file, text);
        constants.into_iter().find(|constant| constant.name == word).and_then(|constant| match constant.site.value {
            Some(Value::Int(value)) => Some(value),
            _ => None,
        })
    })?;
    u64::try_from(value).ok().filter(|rank| (1..=5).contains(rank))
}

/// Whether a condition with a remainder leads to refusal: `if (.. % .. != 0) { return ge::GRAPH_FAILED; }`.
fn refuses_remainders(text: &str) -> bool {
    let tokens = Tokens::of(text);
    (0..tokens.tokens.len()).any(|at| {
        if !matches!(tokens.get(at), "if" | "OP_CHECK_IF" | "OP_TILING_CHECK") || tokens.get(at + 1) != "(" {
            return false;
        }
        let Some(close) = tokens.closing(at + 1) else { return false };
        let has =
            |range: std::ops::Range<usize>, word: &str| range.clone().any(|position| tokens.get(position) == word);
        has(at..close, "%") && has(at..close, "!=") && has(at..close + 8, "GRAPH_FAILED")
    })
}
