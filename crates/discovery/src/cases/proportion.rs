//! Tensors that have a part of an axis, such as the half that a gate leaves: they get longer and shorter with it.
//!
//! Few tiling functions look whether they do. What one accepts that means nothing to the operator has results that depend on memory beside
//! its tensors.

use super::Candidate;
use super::rescale::{leading_shape, with_length};

/// Parts up to this one: halves, quarters, eighths. What is less is mostly a count of its own, such as that of chosen experts.
const SMALLEST_PART: u64 = 8;

/// Ways to make an axis of the leading tensor about `length` long, the likeliest first: with inputs that have a part of it, which stays that
/// part of a length that has one, and with these as they are.
pub(super) fn ways_of_length(candidate: &Candidate, axis: usize, length: u64) -> Vec<Candidate> {
    let plain = with_length(candidate, axis, length);
    let before = length_of(candidate, axis);
    let parts = parts_of_inputs(candidate, axis);
    let unit = parts.iter().flatten().fold(1, |unit, part| least_common_multiple(unit, *part));
    let near = length.next_multiple_of(unit);
    let length = if near == before { near + unit } else { near };
    let whole = if unit > 1 { with_length(candidate, axis, length) } else { None };
    let together = whole.map(|mut whole| {
        for (input, part) in whole.inputs.iter_mut().zip(&parts) {
            if let (Some(part), Some(shape)) = (part, input.shape.as_mut()) {
                shape[axis] = length / part;
            }
        }
        with_outputs_in_proportion(&whole, axis, (before, length))
    });
    together.into_iter().chain(plain).collect()
}

/// The case with an axis of a length, as the likeliest of the ways has it that keep its proportions, or the case as it is where there is none.
pub fn of_length(candidate: &Candidate, axis: usize, length: u64) -> Candidate {
    ways_of_length(candidate, axis, length).into_iter().next().unwrap_or_else(|| candidate.clone())
}

/// For each input as the how manieth part of the leading tensor's axis its own is, where it is one.
///
/// A length that another tensor has along another axis is that one's: the rows of a second factor are no part of its columns.
fn parts_of_inputs(candidate: &Candidate, axis: usize) -> Vec<Option<u64>> {
    let leading = leading_shape(candidate).unwrap_or_default();
    let shapes = || candidate.inputs.iter().filter_map(|input| input.shape.as_deref());
    let part = |shape: &[u64]| {
        let (whole, length) = (*leading.get(axis)?, *shape.get(axis)?);
        let is_part = shape.len() == leading.len() && length > 1 && length < whole && whole.is_multiple_of(length);
        let part = if is_part { whole / length } else { return None };
        let is_of_another_axis = |place: usize| {
            place != axis && shapes().any(|other| other.get(place) == Some(&length)) && shape[place] != length
        };
        (part <= SMALLEST_PART && !(0..leading.len()).any(is_of_another_axis)).then_some(part)
    };
    let inputs = candidate.inputs.iter();
    inputs.map(|input| input.shape.as_deref().filter(|_| input.values.is_empty()).and_then(part)).collect()
}

/// The same with outputs that have a part of the axis made longer with it, and with inputs that do, such as their gradients. `before` is how
/// long the axis of the leading tensor was.
pub(super) fn in_proportion(wider: &Candidate, axis: usize, before: u64) -> Vec<Candidate> {
    let lengths = (before, length_of(wider, axis));
    let rank = leading_shape(wider).map_or(0, |shape| shape.len());
    let outputs = with_outputs_in_proportion(wider, axis, lengths);
    let mut all = outputs.clone();
    let inputs = all.inputs.iter_mut().filter(|input| input.values.is_empty());
    inputs.filter_map(|input| input.shape.as_mut()).for_each(|shape| keep_part(shape, rank, axis, lengths));
    let mut found = vec![all, outputs];
    found.dedup();
    found.retain(|one| one != wider);
    found
}

fn with_outputs_in_proportion(wider: &Candidate, axis: usize, lengths: (u64, u64)) -> Candidate {
    let rank = leading_shape(wider).map_or(0, |shape| shape.len());
    let mut changed = wider.clone();
    let given = changed.outputs.iter_mut().filter_map(|output| output.shape.as_mut());
    given.chain(&mut changed.output_shapes).for_each(|shape| keep_part(shape, rank, axis, lengths));
    changed
}

/// What had a part of an axis that was `before` long has the same part of one that is `length` long.
fn keep_part(shape: &mut [u64], rank: usize, axis: usize, (before, length): (u64, u64)) {
    if shape.len() == rank && shape[axis] < before && shape[axis] > 0 && before.is_multiple_of(shape[axis]) {
        shape[axis] = length / (before / shape[axis]);
    }
}

fn length_of(candidate: &Candidate, axis: usize) -> u64 {
    leading_shape(candidate).and_then(|shape| shape.get(axis).copied()).unwrap_or(1)
}

fn least_common_multiple(one: u64, other: u64) -> u64 {
    let (mut divisor, mut rest) = (one, other);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    one / divisor.max(1) * other
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::rescale::tests::tensor;

    fn case(shapes: &[&[u64]], output: &[u64]) -> Candidate {
        Candidate::guessed(
            shapes.iter().map(|shape| tensor("float16", shape)).collect(),
            Vec::new(),
            vec![output.to_vec()],
            Vec::new(),
        )
    }

    fn shapes(ways: &[Candidate]) -> Vec<Vec<Vec<u64>>> {
        let of_one = |one: &Candidate| one.inputs.iter().filter_map(|input| input.shape.clone()).collect();
        ways.iter().map(of_one).collect()
    }

    #[test]
    fn a_gradient_of_half_the_length_stays_half() {
        let gate = case(&[&[64, 512], &[64, 1024]], &[64, 1024]);
        let columns = ways_of_length(&gate, 1, 1021);
        assert_eq!(shapes(&columns), [[[64, 511], [64, 1022]], [[64, 512], [64, 1021]]]);
        assert_eq!(columns[0].output_shapes, [[64, 1022]]);
        assert_eq!(shapes(&[of_length(&gate, 1, 1023)]), [[[64, 513], [64, 1026]]], "another length than there is");
        assert_eq!(shapes(&ways_of_length(&gate, 0, 7)), [[[7, 512], [7, 1024]]], "rows are the same in both");
        assert_eq!(shapes(&[of_length(&gate, 1, 2)]), [[[64, 1], [64, 2]]], "as short as there is a half");
        let square = case(&[&[512, 512], &[512, 1024]], &[512, 1024]);
        assert_eq!(shapes(&ways_of_length(&square, 1, 64))[0], [[512, 32], [512, 64]]);
    }

    #[test]
    fn what_is_no_part_of_an_axis_stays() {
        let product = case(&[&[64, 256], &[256, 512]], &[64, 512]);
        assert_eq!(shapes(&ways_of_length(&product, 1, 100)), [[[64, 256], [256, 100]]], "rows of the other factor");
        let chosen = case(&[&[32, 4096], &[32, 8]], &[32, 4096]);
        assert_eq!(shapes(&ways_of_length(&chosen, 1, 100)), [[[32, 100], [32, 8]]], "a count of its own");
        let row = case(&[&[32, 64], &[1, 64], &[32, 1]], &[32, 64]);
        assert_eq!(shapes(&ways_of_length(&row, 1, 9)), [[[32, 9], [1, 9], [32, 1]]], "one is broadcast");
        let same = case(&[&[32, 64]], &[32, 64]);
        assert!(ways_of_length(&same, 1, 64).is_empty() && of_length(&same, 1, 64) == same);
    }

    #[test]
    fn an_output_of_half_the_length_stays_half_where_inputs_do() {
        let gate = case(&[&[8, 64], &[8, 128]], &[8, 64]);
        assert_eq!(ways_of_length(&gate, 1, 32)[0].output_shapes, [[8, 16]]);
    }
}
