//! Guesses at random, for tiling functions that refuse the orderly ones: ranks, shapes of the other inputs, which optional
//! inputs are given, and numbers for attributes. The same operator gets the same guesses every time.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::guess::{attribute_for, by_name_shape, combinations, tensor};
use super::{Candidate, DescribedAttribute, DescribedOp, is_dynamic, is_optional};
use manifest::{Attribute, TensorSpec};

/// Sizes of dimensions: mostly what blocks and tiles like.
const SIZES: [u64; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// This many candidates.
pub(super) fn candidates(op: &DescribedOp, count: usize) -> Vec<Candidate> {
    let seed = blake3::hash(op.kind.as_bytes());
    let mut rng = ChaCha8Rng::from_seed(*seed.as_bytes());
    let combinations = combinations(op);
    (0..count).map(|_| candidate(op, &combinations, &mut rng)).collect()
}

fn pick<T: Clone>(list: &[T], rng: &mut ChaCha8Rng) -> T {
    list[rng.random_range(0..list.len())].clone()
}

fn candidate(op: &DescribedOp, combinations: &[usize], rng: &mut ChaCha8Rng) -> Candidate {
    let combination = combinations.get(rng.random_range(0..combinations.len().min(4))).copied().unwrap_or(0);
    let rank = pick(&[1, 2, 2, 3, 3, 3, 4, 4, 4, 5], rng);
    let leading: Vec<u64> = (0..rank)
        .map(|axis| {
            let sizes = if axis + 1 == rank { &SIZES[3..] } else { &SIZES[..7] };
            pick(sizes, rng)
        })
        .collect();
    let mut inputs: Vec<TensorSpec> = Vec::new();
    for input in &op.inputs {
        if is_optional(input) && rng.random_range(0..3) > 0 {
            continue;
        }
        let spec = tensor(input, combination);
        let own = if inputs.is_empty() { leading.clone() } else { other(&leading, &inputs, &input.name, &spec, rng) };
        for _ in 0..if is_dynamic(input) { pick(&[1, 2], rng) } else { 1 } {
            inputs.push(TensorSpec { shape: Some(own.clone()), ..spec.clone() });
        }
    }
    let outputs: Vec<TensorSpec> = op.outputs.iter().map(|output| tensor(output, combination)).collect();
    let output_shapes = outputs.iter().map(|_| leading.clone()).collect();
    let attributes = op.attrs.iter().filter_map(|found| varied(found, &leading, rng)).collect();
    Candidate::guessed(inputs, outputs, output_shapes, attributes)
}

/// A shape made of the dimensions of the leading input, or that of another input.
fn other(leading: &[u64], before: &[TensorSpec], name: &str, spec: &TensorSpec, rng: &mut ChaCha8Rng) -> Vec<u64> {
    let (first, last) = (leading[0], leading[leading.len() - 1]);
    match rng.random_range(0..14) {
        0..4 => by_name_shape(leading, name, &spec.dtype),
        4 => leading.to_vec(),
        5 => vec![last],
        6 => vec![first],
        7 => leading[..leading.len().saturating_sub(1).max(1)].to_vec(),
        8 => leading[leading.len().min(2) - 1..].to_vec(),
        9 => vec![first, last],
        10 => {
            let known = before[rng.random_range(0..before.len())].shape.clone();
            known.unwrap_or_else(|| leading.to_vec())
        }
        11 => leading
            .iter()
            .enumerate()
            .map(|(axis, &size)| if axis + 1 == leading.len() { pick(&SIZES, rng) } else { size })
            .collect(),
        12 => leading
            .iter()
            .enumerate()
            .map(|(axis, &size)| if axis + 2 == leading.len() { pick(&SIZES[..5], rng) } else { size })
            .collect(),
        _ => {
            // Any rank, from dimensions that stand somewhere in the leading input.
            let rank = rng.random_range(1..=4);
            (0..rank).map(|_| pick(leading, rng)).collect()
        }
    }
}

/// An attribute that must be given, or may be: its default, or a small number.
fn varied(found: &DescribedAttribute, shape: &[u64], rng: &mut ChaCha8Rng) -> Option<Attribute> {
    let kind = found.kind.to_ascii_lowercase();
    if !found.required && rng.random_range(0..3) > 0 {
        return None;
    }
    let value = match kind.as_str() {
        "int" if rng.random_range(0..3) > 0 => pick(&[0, 1, 2, 3, 4, 8, 16, 64, 128, -1], rng).to_string(),
        "bool" => pick(&["true", "false"], rng).to_owned(),
        "list_int" if rng.random_range(0..2) > 0 => {
            let (length, value) = (pick(&[1, 2, 3, 4, 6], rng), pick(&[0_u64, 1, 1, 2, shape[0]], rng));
            vec![value.to_string(); length].join(",")
        }
        _ => return attribute_for(found, shape),
    };
    Some(Attribute { name: found.name.clone(), kind, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_operator_gets_the_same_guesses() {
        let op: DescribedOp = serde_json::from_value(serde_json::json!({
            "type": "Op",
            "inputs": [
                { "name": "x", "param": "required", "dtypes": ["float16"], "formats": ["ND"] },
                { "name": "mask", "param": "optional", "dtypes": ["bool"], "formats": ["ND"] },
            ],
            "outputs": [{ "name": "y", "param": "required", "dtypes": ["float16"], "formats": ["ND"] }],
            "attrs": [{ "name": "k", "type": "Int", "required": true }],
        }))
        .unwrap();
        let found = candidates(&op, 40);
        assert_eq!(found, candidates(&op, 40));
        let ranks: std::collections::BTreeSet<usize> =
            found.iter().map(|case| case.inputs[0].shape.as_ref().unwrap().len()).collect();
        assert!(ranks.len() >= 3, "{ranks:?}");
        assert!(found.iter().all(|case| !case.attributes.is_empty()), "a required attribute is always given");
    }
}
