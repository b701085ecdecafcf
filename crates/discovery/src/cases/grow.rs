//! Larger cases from small ones: examples and tests are mostly too small to say anything about speed.

use super::Candidate;

/// The candidate with one dimension that several tensors share made longer, so that all tensors together have about
/// `wanted` elements; one for each dimension that might be it. Whether the operator takes it is for the tiling function
/// to say.
pub(super) fn larger(candidate: &Candidate, wanted: u64) -> Vec<Candidate> {
    let present = candidate.elements().max(1);
    let factor = wanted / present;
    // Values that mean sizes or positions belong to the shapes as they are.
    if factor < 2 || candidate.inputs.iter().any(|input| !input.values.is_empty()) {
        return Vec::new();
    }
    let Some(leading) = candidate.inputs.first().and_then(|input| input.shape.clone()) else { return Vec::new() };
    let mut grown: Vec<Candidate> = Vec::new();
    for (axis, &size) in leading.iter().enumerate().take(2) {
        if size == 0 {
            continue;
        }
        let stretch = |shape: &mut Vec<u64>| {
            // Only where the dimension stands in the same place; elsewhere the same number is a coincidence.
            if shape.get(axis) == Some(&size) && (shape.len() == leading.len() || shape.len() == 1) {
                shape[axis] = size * factor;
            }
        };
        let mut larger = candidate.clone();
        larger.inputs.iter_mut().filter_map(|input| input.shape.as_mut()).for_each(stretch);
        larger.outputs.iter_mut().filter_map(|output| output.shape.as_mut()).for_each(stretch);
        larger.output_shapes.iter_mut().for_each(stretch);
        larger.data = None;
        larger.place = format!("{}, dimension {axis} made {factor} times as long", candidate.place);
        grown.push(larger);
    }
    grown
}

#[cfg(test)]
mod tests {
    use super::super::Origin;
    use super::*;
    use manifest::{TensorSpec, ValueRange};

    fn tensor(shape: &[u64]) -> TensorSpec {
        TensorSpec {
            name: "x".into(),
            dtype: "float16".into(),
            format: "ND".into(),
            shape: Some(shape.to_vec()),
            range: ValueRange { low: 0.0, high: 1.0 },
            values: Vec::new(),
        }
    }

    #[test]
    fn rows_grow_and_weights_stay() {
        let small = Candidate {
            origin: Origin::Example,
            place: "examples/x.cpp:7".into(),
            inputs: vec![tensor(&[2, 16]), tensor(&[2, 16]), tensor(&[16])],
            outputs: vec![TensorSpec { shape: None, ..tensor(&[]) }],
            output_shapes: vec![vec![2, 16]],
            attributes: Vec::new(),
            data: None,
        };
        let grown = larger(&small, 1 << 20);
        let shapes: Vec<_> = grown[0].inputs.iter().map(|input| input.shape.clone().unwrap()).collect();
        assert_eq!(shapes[1..], [vec![2 * 9362, 16], vec![16]]);
        assert_eq!(grown[0].output_shapes, [[2 * 9362, 16]]);
        assert!(grown[0].place.starts_with("examples/x.cpp:7, dimension 0 made"), "{}", grown[0].place);
        let mut fixed = small;
        fixed.inputs[2].values = vec![1.0];
        assert!(larger(&fixed, 1 << 20).is_empty());
    }
}
