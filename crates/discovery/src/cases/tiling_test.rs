//! Cases from the operator's own tiling tests: shapes, dtypes and attributes that its author holds for typical.

use super::{Candidate, DescribedOp, DescribedTensor, Origin, value_range};
use crate::oracle::{TensorExample, TilingExample};
use manifest::TensorSpec;
use source::arch::TARGET;
use verify::DType;

/// Candidates from calls that were accepted here, in the order of the tests.
pub(super) fn candidates(op: &DescribedOp, examples: &[TilingExample]) -> Vec<Candidate> {
    let accepted = |example: &&TilingExample| {
        example.operator == op.kind
            && example.expected.success != Some(false)
            && example.outcome.as_ref().is_some_and(|outcome| outcome.success)
            && example.platform.soc.as_ref().is_none_or(|soc| TARGET.has_chip(soc))
    };
    let mut cases: Vec<Candidate> = Vec::new();
    for case in examples.iter().filter(accepted).filter_map(|example| case(op, example)) {
        let same = |known: &Candidate| {
            (&known.inputs, &known.outputs, &known.attributes) == (&case.inputs, &case.outputs, &case.attributes)
        };
        if !cases.iter().any(same) {
            cases.push(case);
        }
    }
    cases
}

fn case(op: &DescribedOp, example: &TilingExample) -> Option<Candidate> {
    let mut inputs = Vec::new();
    for (found, tensor) in places(&op.inputs, &example.input_instances, &example.inputs) {
        let mut spec = spec(found, tensor)?;
        if let Some(digits) = &tensor.const_hex {
            let dtype = spec.dtype.parse::<DType>().ok()?;
            spec.values = dtype.elements(&bytes(digits)?);
        }
        inputs.push(spec);
    }
    let mut outputs = places(&op.outputs, &example.output_instances, &example.outputs)
        .map(|(found, tensor)| spec(found, tensor))
        .collect::<Option<Vec<_>>>()?;
    // Tests leave out the shapes of outputs that the tiling function does not ask for.
    if outputs.iter().all(|output| output.shape.as_ref().is_some_and(Vec::is_empty)) {
        outputs.iter_mut().for_each(|output| output.shape = None);
    }
    if inputs.is_empty() || outputs.is_empty() {
        return None;
    }
    as_defined(op, &inputs, &mut outputs);
    Some(Candidate {
        origin: Origin::TilingTest,
        place: format!("{}:{}", example.file, example.line),
        inputs,
        outputs,
        output_shapes: Vec::new(),
        attributes: example.attributes.clone(),
        data: None,
        resized: false,
        assumed: false,
    })
}

/// Gives outputs of dtypes that the definition does not have beside these inputs one that it has: a tiling function looks at none of it,
/// and neither did who wrote the test. The shapes of its outputs are then left to inference.
fn as_defined(op: &DescribedOp, inputs: &[TensorSpec], outputs: &mut [TensorSpec]) {
    let agrees = |column: &usize| {
        inputs.iter().all(|input| {
            let found = op.inputs.iter().find(|found| found.name == input.name);
            found.and_then(|found| found.dtypes.get(*column)).is_none_or(|dtype| *dtype == input.dtype)
        })
    };
    let columns = op.inputs.iter().map(|found| found.dtypes.len()).max().unwrap_or(0);
    let agreeing: Vec<usize> = (0..columns).filter(agrees).collect();
    let mut changed = false;
    for output in outputs.iter_mut() {
        let Some(found) = op.outputs.iter().find(|found| found.name == output.name) else { continue };
        let beside: Vec<&String> = agreeing.iter().filter_map(|column| found.dtypes.get(*column)).collect();
        let listed = if beside.is_empty() { found.dtypes.iter().collect() } else { beside };
        if let Some(first) = listed.first().filter(|_| !listed.contains(&&output.dtype)) {
            output.dtype.clone_from(first);
            changed = true;
        }
    }
    if changed {
        outputs.iter_mut().for_each(|output| output.shape = None);
    }
}

/// Tensors of a call with the parameters that they are passed for: as the call says; where it names more parameters than
/// the definition has, all that is too many belongs to the definition's dynamic parameter.
fn places<'data>(
    parameters: &'data [DescribedTensor],
    instances: &'data [u32],
    tensors: &'data [TensorExample],
) -> impl Iterator<Item = (&'data DescribedTensor, &'data TensorExample)> {
    let surplus = instances.len().saturating_sub(parameters.len());
    let dynamic = parameters.iter().position(|found| found.param == "dynamic").filter(|_| surplus > 0);
    let count = move |position: usize| match dynamic {
        Some(at) if position == at => 1 + surplus,
        Some(_) => 1,
        None => instances.get(position).map_or(1, |&count| count as usize),
    };
    parameters
        .iter()
        .enumerate()
        .flat_map(move |(position, found)| std::iter::repeat_n(found, count(position)))
        .zip(tensors)
}

fn spec(found: &DescribedTensor, tensor: &TensorExample) -> Option<TensorSpec> {
    let dimensions = if tensor.storage_shape.is_empty() { &tensor.shape } else { &tensor.storage_shape };
    let shape = dimensions.iter().map(|&size| u64::try_from(size).ok()).collect::<Option<Vec<u64>>>()?;
    shape.iter().try_fold(1_u64, |product, &size| product.checked_mul(size)).filter(|&elements| elements > 0)?;
    let range = value_range(&found.name, &tensor.dtype);
    Some(TensorSpec {
        name: found.name.clone(),
        dtype: tensor.dtype.clone(),
        format: tensor.format.clone(),
        shape: Some(shape),
        range,
        values: Vec::new(),
    })
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pair = |at: usize| digits.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    (0..digits.len()).step_by(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{ExamplePlatform, Expected, TilingOutcome};

    fn op() -> DescribedOp {
        let tensor = |name: &str| serde_json::json!({ "name": name, "param": "required", "dtypes": [], "formats": [] });
        serde_json::from_value(serde_json::json!({
            "type": "Gather", "inputs": [tensor("x"), tensor("indices")], "outputs": [tensor("y")], "attrs": []
        }))
        .unwrap()
    }

    fn example(rows: i64) -> TilingExample {
        let tensor = |dtype: &str, shape: &[i64]| TensorExample {
            dtype: dtype.into(),
            format: "ND".into(),
            shape: shape.to_vec(),
            ..TensorExample::default()
        };
        let indices = TensorExample { const_hex: Some("0100000002000000".into()), ..tensor("int32", &[2]) };
        TilingExample {
            operator: "Gather".into(),
            inputs: vec![tensor("float32", &[rows, 8]), indices],
            outputs: vec![tensor("float32", &[2, 8])],
            outcome: Some(TilingOutcome { success: true, ..TilingOutcome::default() }),
            ..TilingExample::default()
        }
    }

    #[test]
    fn accepted_calls_of_this_machine_become_cases() {
        let refused = TilingExample { outcome: Some(TilingOutcome::default()), ..example(1) };
        let expected = Expected { success: Some(false), ..Expected::default() };
        let failing = TilingExample { expected, ..example(2) };
        let other = ExamplePlatform { soc: Some("Ascend950".into()), ..ExamplePlatform::default() };
        let elsewhere = TilingExample { platform: other, ..example(3) };
        let cases = candidates(&op(), &[example(64), example(4), example(4), refused, failing, elsewhere, example(-1)]);
        let rows: Vec<u64> = cases.iter().map(|case| case.inputs[0].shape.as_ref().unwrap()[0]).collect();
        assert_eq!(rows, [64, 4]);
        assert_eq!(cases[0].inputs[1].values, [1.0, 2.0]);
        assert_eq!(cases[0].outputs[0].shape.as_deref(), Some([2, 8].as_slice()));
    }

    #[test]
    fn outputs_that_a_test_gives_no_shape_are_inferred() {
        let mut without = example(4);
        without.outputs[0].shape.clear();
        assert_eq!(candidates(&op(), &[without]).remove(0).outputs[0].shape, None);
    }

    /// Tests of tiling functions that look at no output give each the dtype and shape of the input.
    #[test]
    fn outputs_are_of_dtypes_that_the_definition_has() {
        let mut op = op();
        op.inputs[0].dtypes = vec!["float16".into(), "float32".into()];
        op.outputs[0].dtypes = vec!["int8".into(), "uint8".into()];
        let found = candidates(&op, &[example(4)]).remove(0);
        assert_eq!((found.outputs[0].dtype.as_str(), &found.outputs[0].shape), ("uint8", &None));
        op.outputs[0].dtypes = vec!["float32".into(), "float16".into()];
        assert_eq!(candidates(&op, &[example(4)]).remove(0).outputs[0].dtype, "float16", "that of another input");
        op.outputs[0].dtypes = vec!["float16".into(), "float32".into()];
        let found = candidates(&op, &[example(4)]).remove(0);
        assert_eq!((found.outputs[0].dtype.as_str(), found.outputs[0].shape.is_some()), ("float32", true));
    }

    #[test]
    fn what_shows_at_a_case_is_the_operators_fault_only_where_somebody_calls_it_so() {
        let mut case = candidates(&op(), &[example(4)]).remove(0);
        let mut doubt = |origin: Origin, resized: bool| {
            (case.origin, case.resized) = (origin, resized);
            case.doubt().map(|why| why.split(' ').next().unwrap_or_default())
        };
        assert_eq!(doubt(Origin::Definition, false), None);
        assert_eq!(doubt(Origin::CaseList, false), None, "its whole numbers are given");
        assert_eq!(doubt(Origin::TilingTest, false), Some("a"));
        assert_eq!(doubt(Origin::Example, true), Some("nobody"));
        assert_eq!(doubt(Origin::Guess, false), Some("nobody"));
        case.inputs[1].values.clear();
        case.origin = Origin::CaseList;
        case.resized = false;
        assert!(case.doubt().is_some_and(|why| why.starts_with("its whole numbers are drawn")));
    }

    #[test]
    fn tensors_without_a_parameter_of_their_own_belong_to_the_dynamic_one() {
        let mut op = op();
        op.outputs[0].param = "dynamic".into();
        let mut split = example(4);
        split.outputs = vec![split.outputs[0].clone(), split.outputs[0].clone(), split.outputs[0].clone()];
        split.output_instances = vec![1, 1, 1];
        let names: Vec<String> =
            candidates(&op, &[split]).remove(0).outputs.into_iter().map(|output| output.name).collect();
        assert_eq!(names, ["y", "y", "y"]);
    }
}
