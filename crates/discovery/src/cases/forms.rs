//! Forms into which an interface's library puts a call before the operator sees it.
//!
//! Paddings: an interface lists the pairs of the last dimensions, the last one first; the operator has an input with a pair
//! for every dimension, the first one first, and tensors of four or five dimensions. Layout: an interface takes images with
//! their channels in front, some operators want them behind; operators on volumes serve images too, with a depth of one.

use super::Candidate;
use manifest::TensorSpec;

/// Most dimensions that an operator of images or volumes has.
const MOST_DIMENSIONS: usize = 5;

/// The forms in which an operator may want a case that is written as its interface takes it, nearer ones first.
pub(super) fn forms(candidate: &Candidate) -> Vec<Candidate> {
    let mut forms = padded(candidate);
    forms.extend(channels_last(candidate));
    forms.extend(with_depth(candidate));
    forms
}

/// Forms of a case whose paddings are an interface's list; none where it has no such list.
fn padded(candidate: &Candidate) -> Vec<Candidate> {
    let is_paddings = |spec: &TensorSpec| spec.name.to_ascii_lowercase().contains("padding");
    let Some(position) = candidate.inputs.iter().position(is_paddings) else { return Vec::new() };
    let pairs = &candidate.inputs[position].values;
    let data = candidate.inputs.iter().enumerate().find(|(other, _)| *other != position);
    let Some(rank) = data.and_then(|(_, spec)| spec.shape.as_ref()).map(Vec::len) else { return Vec::new() };
    let listed = candidate.inputs[position].shape.as_deref() == Some(&[pairs.len() as u64]);
    if pairs.is_empty() || !pairs.len().is_multiple_of(2) || pairs.len() > 2 * rank || !listed {
        return Vec::new();
    }
    (rank..=MOST_DIMENSIONS.max(rank)).map(|wanted| of_rank(candidate, position, rank, wanted)).collect()
}

/// The case with dimensions of size one before the others until tensors of `rank` dimensions have `wanted`.
fn of_rank(candidate: &Candidate, paddings: usize, rank: usize, wanted: usize) -> Candidate {
    let mut formed = candidate.clone();
    let longer = |shape: &mut Vec<u64>| {
        if shape.len() == rank {
            shape.splice(0..0, std::iter::repeat_n(1, wanted - rank));
        }
    };
    let others = formed.inputs.iter_mut().enumerate().filter(|(position, _)| *position != paddings);
    others.filter_map(|(_, spec)| spec.shape.as_mut()).for_each(longer);
    formed.output_shapes.iter_mut().for_each(longer);
    let spec = &mut formed.inputs[paddings];
    let mut values = vec![0.0; 2 * wanted - spec.values.len()];
    values.extend(spec.values.chunks(2).rev().flatten());
    spec.shape = Some(vec![values.len() as u64]);
    spec.values = values;
    formed
}

/// The case with the channels of images and volumes behind their other dimensions, where the definition says so.
fn channels_last(candidate: &Candidate) -> Option<Candidate> {
    reshaped(candidate, |format, shape| {
        if matches!((format, shape.len()), ("NHWC", 4) | ("NDHWC", 5)) {
            shape[1..].rotate_left(1);
        }
    })
}

/// The case with images as volumes of depth one, where the definition has volumes.
fn with_depth(candidate: &Candidate) -> Option<Candidate> {
    reshaped(candidate, |format, shape| {
        if (format, shape.len()) == ("NCDHW", 4) {
            shape.insert(2, 1);
        }
    })
}

/// The case with other shapes by the formats of the definition; `None` where that changes nothing.
fn reshaped(candidate: &Candidate, change: impl Fn(&str, &mut Vec<u64>)) -> Option<Candidate> {
    let mut formed = candidate.clone();
    for spec in &mut formed.inputs {
        if let Some(shape) = &mut spec.shape {
            change(&spec.format, shape);
        }
    }
    formed.outputs.iter().zip(&mut formed.output_shapes).for_each(|(spec, shape)| change(&spec.format, shape));
    (formed != *candidate).then_some(formed)
}

#[cfg(test)]
mod tests {
    use super::super::call::{Argument, Call, CallTensor, candidates};
    use super::super::{DescribedOp, Origin};

    #[test]
    fn pairs_of_the_last_dimensions_become_pairs_of_all() {
        let tensor =
            |name: &str, dtype: &str| serde_json::json!({ "name": name, "param": "required", "dtypes": [dtype] });
        let op: DescribedOp = serde_json::from_value(serde_json::json!({
            "type": "PadGrad", "inputs": [tensor("x", "float32"), tensor("paddings", "int32")],
            "outputs": [tensor("y", "float32")], "attrs": [],
        }))
        .unwrap();
        let given = |shape: &[u64]| Argument::Tensor(CallTensor { shape: shape.to_vec(), ..CallTensor::default() });
        let call = Call {
            origin: Origin::Example,
            place: String::new(),
            arguments: vec![
                ("gradOutput".to_owned(), given(&[3, 6, 9])),
                ("padding".to_owned(), Argument::Numbers(vec![1.0, 2.0, 3.0, 4.0])),
                ("gradInput".to_owned(), given(&[3, 2, 6])),
            ],
            outputs: None,
            outputs_last: true,
        };
        let found = candidates(&op, &call);
        let shapes =
            |place: usize| found[place].inputs.iter().map(|spec| spec.shape.clone().unwrap()).collect::<Vec<_>>();
        assert_eq!(shapes(0), [vec![3, 6, 9], vec![4]], "as the call has it");
        assert_eq!(shapes(1), [vec![3, 6, 9], vec![6]]);
        assert_eq!(found[1].inputs[1].values, [0.0, 0.0, 3.0, 4.0, 1.0, 2.0]);
        assert_eq!(shapes(2), [vec![1, 3, 6, 9], vec![8]]);
        assert_eq!(found[2].inputs[1].values, [0.0, 0.0, 0.0, 0.0, 3.0, 4.0, 1.0, 2.0]);
        assert_eq!(found[2].output_shapes, [vec![1, 3, 2, 6]]);
    }
    /// Shapes of the inputs and of the output in the `place`-th form of a call with an image, a grid and an output.
    fn sampled(format: &str, place: usize) -> (Vec<Vec<u64>>, Vec<Vec<u64>>) {
        let tensor = |name: &str, format: &str| serde_json::json!({ "name": name, "param": "required", "dtypes": ["float32"], "formats": [format] });
        let op: DescribedOp = serde_json::from_value(serde_json::json!({
            "type": "Sample", "inputs": [tensor("x", format), tensor("grid", "ND")],
            "outputs": [tensor("y", format)], "attrs": [],
        }))
        .unwrap();
        let given = |shape: &[u64]| Argument::Tensor(CallTensor { shape: shape.to_vec(), ..CallTensor::default() });
        let call = Call {
            origin: Origin::Example,
            place: String::new(),
            arguments: vec![
                ("x".to_owned(), given(&[1, 3, 5, 8])),
                ("grid".to_owned(), given(&[1, 4, 6, 2])),
                ("out".to_owned(), given(&[1, 3, 4, 6])),
            ],
            outputs: None,
            outputs_last: true,
        };
        let found = candidates(&op, &call).swap_remove(place);
        (found.inputs.into_iter().filter_map(|spec| spec.shape).collect(), found.output_shapes)
    }

    #[test]
    fn images_take_the_layout_of_the_definition() {
        let grid = vec![1, 4, 6, 2];
        let as_called = (vec![vec![1, 3, 5, 8], grid.clone()], vec![vec![1, 3, 4, 6]]);
        assert_eq!(sampled("NHWC", 0), as_called);
        assert_eq!(sampled("NHWC", 1), (vec![vec![1, 5, 8, 3], grid.clone()], vec![vec![1, 4, 6, 3]]));
        assert_eq!(sampled("NCDHW", 0), as_called);
        assert_eq!(sampled("NCDHW", 1), (vec![vec![1, 3, 1, 5, 8], grid], vec![vec![1, 3, 1, 4, 6]]));
    }
}
