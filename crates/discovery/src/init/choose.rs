//! A few cases of use for tuning out of the many that an operator takes.

use crate::cases::{Accepted, Candidate, DescribedOp, Origin, elements, shape_text};
use manifest::{Case, DTYPE_NAMES, TensorSpec, ValueRange};

use super::FoundCase;

/// Elements below which a case says nothing about speed next to a larger one; it is only checked then.
const WORTH_TIMING: u64 = 4096;
/// Values that a manifest lists; more are given as a range.
const MOST_VALUES: usize = 64;

/// The largest case of every dtype, then of every tiling key, at most `most`; with `usize::MAX` all of them. What the definition of the
/// operator's type holds for comes before what it does not: lists of tests have calls that nobody would make. Positions.
pub fn choose(accepted: &[Accepted], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..accepted.len()).collect();
    // Of the same size the first stands: sources come in the order of their worth.
    order.sort_by_key(|&found| (accepted[found].outside, std::cmp::Reverse(volume(&accepted[found].candidate))));
    let mut chosen: Vec<usize> = Vec::new();
    let alike: [Alike; 3] = [
        |known, found| leading_dtype(known) == leading_dtype(found),
        |known, found| known.tiling_key == found.tiling_key,
        |known, found| same_call(&known.candidate, &found.candidate),
    ];
    for same in alike.iter().take(if most == usize::MAX { 3 } else { 2 }) {
        for &found in &order {
            let is_new = || !chosen.iter().any(|&known| same(&accepted[known], &accepted[found]));
            if chosen.len() < most && is_new() {
                chosen.push(found);
            }
        }
    }
    chosen
}

/// Cases as they stand in a manifest; what is too small to be timed next to the others is only checked.
pub fn written<'cases>(chosen: impl Iterator<Item = &'cases Accepted> + Clone) -> Vec<FoundCase> {
    let largest = chosen.clone().map(|found| volume(&found.candidate)).max().unwrap_or(0);
    let mut result: Vec<FoundCase> = Vec::new();
    for found in chosen {
        let size = volume(&found.candidate);
        let mut case = case_of(found);
        case.verify_only = size < WORTH_TIMING && largest >= WORTH_TIMING;
        let taken = |name: &str| result.iter().any(|known| known.case.name == name);
        if taken(&case.name) {
            let free = (2..).map(|number| format!("{}-{number}", case.name)).find(|name| !taken(name));
            case.name = free.unwrap_or_default();
        }
        let candidate = &found.candidate;
        let source = if candidate.origin == Origin::Guess { "guessed" } else { candidate.place.as_str() };
        let source = if candidate.origin == Origin::Guess { source.to_owned() } else { format!("from {source}") };
        let source = format!("{source}; tiling key {}", found.tiling_key);
        result.push(FoundCase { case, source, doubt: candidate.doubt() });
    }
    result
}

/// Why a candidate cannot stand in a manifest.
pub fn unfit(candidate: &Candidate) -> Option<String> {
    let tensors = candidate.inputs.iter().chain(&candidate.outputs);
    let unknown = tensors.map(|spec| manifest_dtype(&spec.dtype)).find(|dtype| !DTYPE_NAMES.contains(dtype))?;
    Some(format!("dtype {unknown} is not possible in a manifest"))
}

/// Dtypes of a definition that no case can have, and so nobody can try.
pub fn dtypes_without_cases(op: &DescribedOp) -> Vec<String> {
    let all = op.inputs.iter().chain(&op.outputs).flat_map(|tensor| &tensor.dtypes);
    let mut found: Vec<String> = all.filter(|dtype| !DTYPE_NAMES.contains(&manifest_dtype(dtype))).cloned().collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a case adds nothing to one that is chosen.
type Alike = fn(&Accepted, &Accepted) -> bool;

fn leading_dtype(found: &Accepted) -> Option<&str> {
    found.candidate.inputs.first().map(|input| input.dtype.as_str())
}

fn same_call(left: &Candidate, right: &Candidate) -> bool {
    (&left.inputs, &left.attributes) == (&right.inputs, &right.attributes)
}

fn volume(candidate: &Candidate) -> u64 {
    candidate.inputs.iter().filter_map(|input| input.shape.as_ref()).map(|shape| elements(shape)).max().unwrap_or(0)
}

fn manifest_dtype(name: &str) -> &str {
    match name {
        "DT_INT4" => "int4",
        "DT_DOUBLE" | "double" => "float64",
        other => other,
    }
}

/// An accepted case as it stands in a manifest.
pub fn case_of(found: &Accepted) -> Case {
    let candidate = &found.candidate;
    let inputs: Vec<TensorSpec> = candidate.inputs.iter().map(in_manifest).collect();
    let outputs = candidate.outputs.iter().zip(&found.job.outputs).map(|(spec, used)| TensorSpec {
        // What shape inference decides, it decides again.
        shape: if found.inferred { None } else { used.shape.clone() },
        ..in_manifest(spec)
    });
    let name = inputs.first().map_or_else(
        || "default".to_owned(),
        |input| format!("{}-{}", input.dtype, shape_text(input.shape.as_deref().unwrap_or_default())),
    );
    // A number beyond the end of its range is a bad index, and the operator's authors never meant it.
    let has_indices = inputs.iter().any(|input| input.dtype.contains("int") && input.values.is_empty());
    Case {
        name,
        weight: 1.0,
        stands_for: None,
        outputs: outputs.collect(),
        attributes: candidate.attributes.clone(),
        hostile: !has_indices,
        verify_only: false,
        arguments: Vec::new(),
        inputs,
    }
}

fn in_manifest(spec: &TensorSpec) -> TensorSpec {
    let mut spec = TensorSpec { dtype: manifest_dtype(&spec.dtype).to_owned(), ..spec.clone() };
    if spec.values.len() > MOST_VALUES {
        let low = spec.values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = spec.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Whole numbers are drawn below the upper end.
        let high = if spec.dtype.contains("float") || spec.dtype == "complex64" { high } else { high + 1.0 };
        spec.range = ValueRange { low, high };
        spec.values.clear();
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend::{JobOutput, KernelJob};

    fn accepted(dtype: &str, shape: &[u64], tiling_key: u64) -> Accepted {
        let tensor = |shape: Option<&[u64]>| TensorSpec {
            name: "x".into(),
            dtype: dtype.into(),
            format: "ND".into(),
            shape: shape.map(<[u64]>::to_vec),
            range: ValueRange { low: 0.0, high: 1.0 },
            values: Vec::new(),
        };
        let output = JobOutput {
            name: "y".into(),
            dtype: dtype.into(),
            format: "ND".into(),
            shape: Some(vec![9]),
            initial: None,
        };
        Accepted {
            candidate: Candidate {
                origin: Origin::CaseList,
                place: "tests/list.csv:3".into(),
                inputs: vec![tensor(Some(shape))],
                outputs: vec![tensor(None)],
                output_shapes: Vec::new(),
                attributes: Vec::new(),
                data: None,
                resized: false,
                assumed: false,
            },
            job: KernelJob { outputs: vec![output], ..KernelJob::default() },
            tiling_key,
            block_dim: 1,
            inferred: true,
            outside: false,
        }
    }

    #[test]
    fn what_a_definition_holds_for_comes_before_what_is_larger() {
        let outside = |found: Accepted| Accepted { outside: true, ..found };
        let many = [
            outside(accepted("float16", &[64, 1024], 1)),
            accepted("float16", &[64, 64], 1),
            outside(accepted("float32", &[8, 8], 1)),
        ];
        assert_eq!(choose(&many, 4), [1, 2], "of a dtype that has no other it stays");
    }

    #[test]
    fn few_cases_cover_dtypes_and_tiling_keys() {
        let many = [
            accepted("float16", &[16], 1),
            accepted("float16", &[64, 1024], 1),
            accepted("DT_INT4", &[32, 64], 1),
            accepted("float16", &[8, 8], 7),
            accepted("float16", &[64, 512], 1),
        ];
        let chosen = written(choose(&many, 4).iter().map(|&found| &many[found]));
        let names: Vec<(&str, bool)> =
            chosen.iter().map(|found| (found.case.name.as_str(), found.case.verify_only)).collect();
        // The largest of each dtype, then of each key; what is too small to time is only checked.
        assert_eq!(names, [("float16-64x1024", false), ("int4-32x64", true), ("float16-8x8", true)]);
        assert_eq!(chosen[0].source, "from tests/list.csv:3; tiling key 1");
        assert_eq!(chosen[0].case.outputs[0].shape, None, "inference decides again");
        assert!(!chosen[1].case.hostile, "whole numbers may be indices");
        assert_eq!(choose(&many, usize::MAX).len(), 5);
        assert!(unfit(&accepted("complex128", &[4], 0).candidate).is_some());
    }

    #[test]
    fn what_no_case_can_have_is_known() {
        let tensor =
            |dtypes: &[&str]| serde_json::json!({ "name": "x", "param": "required", "dtypes": dtypes, "formats": [] });
        let op: DescribedOp = serde_json::from_value(serde_json::json!({
            "type": "Angle", "inputs": [tensor(&["float16", "complex128", "DT_INT4", "DT_DOUBLE"])],
            "outputs": [tensor(&["float16", "complex128", "int8", "float32"])], "attrs": [],
        }))
        .unwrap();
        assert_eq!(dtypes_without_cases(&op), ["complex128"]);
    }
}
