//! Larger cases from small ones: examples and tests are mostly too small to say anything about speed.

use super::Candidate;
use super::proportion::{in_proportion, ways_of_length};
use super::rescale::{leading_shape, traffic_bytes, with_length};

/// The candidate with one dimension made longer in every tensor that has it, so that all tensors together have about `wanted`
/// elements; one for each dimension that might be it. Whether the operator takes it is for the tiling function to say.
pub(super) fn larger(candidate: &Candidate, wanted: u64) -> Vec<Candidate> {
    let factor = wanted / candidate.elements().max(1);
    if factor < 2 {
        return Vec::new();
    }
    let leading = leading_shape(candidate).unwrap_or_default();
    let stretched = leading.iter().enumerate().take(2).filter_map(|(axis, &size)| {
        let mut larger = ways_of_length(candidate, axis, size.saturating_mul(factor)).into_iter().next()?;
        larger.place = format!("{}, dimension {axis} made {factor} times as long", candidate.place);
        Some(larger)
    });
    stretched.collect()
}

/// The candidate with round lengths: of its last dimension, and of its first as well. What has but one is a few thousand long.
pub(super) fn rounded(candidate: &Candidate) -> Vec<Candidate> {
    match leading_shape(candidate).map_or(0, |shape| shape.len()) {
        0 => Vec::new(),
        1 => with_length(candidate, 0, 4096).into_iter().collect(),
        rank => {
            let Some(wide) = with_length(candidate, rank - 1, 64) else { return Vec::new() };
            let both = with_length(&wide, 0, 32);
            std::iter::once(wide).chain(both).collect()
        }
    }
}

/// Length of rows below which those of a test are taken for what was quick to write, and the length that stands for a hidden size of use.
const SHORT_ROW: u64 = 64;
const ROW: u64 = 1024;
/// The same for the two sides of an image or plane, and for its channels.
const SIDE: u64 = 32;
const CHANNELS: u64 = 16;

/// The candidate with the lengths of use in place of those of a test: long rows where it has two or three axes, planes and channels where it
/// has more. What changes most comes first. Whether the operator's type has rows of such a length is for its definition to say.
pub fn wider(candidate: &Candidate) -> Vec<Candidate> {
    let shape = leading_shape(candidate).unwrap_or_default();
    let lengths: Vec<(usize, u64)> = match shape.len() {
        0 | 1 => return Vec::new(),
        rank @ (2 | 3) => vec![(rank - 1, ROW)],
        rank => vec![(rank - 1, SIDE), (rank - 2, SIDE), (1, CHANNELS)],
    };
    let is_short = |&(axis, length): &(usize, u64)| shape[axis] < SHORT_ROW.min(length);
    let mut found: Vec<Candidate> = Vec::new();
    for (axis, length) in lengths.into_iter().filter(is_short) {
        let Some(mut wider) = with_length(found.last().unwrap_or(candidate), axis, length) else { continue };
        wider.place = format!("{}, dimension {axis} made {length} long", candidate.place);
        found.extend(in_proportion(&wider, axis, shape[axis]));
        found.push(wider);
    }
    found.reverse();
    found
}

/// Ways to make a case have about `wanted` bytes of traffic: one axis longer or shorter by a whole factor, the first axis first.
/// Lengths stay what blocks and tiles like, as far as they are. Empty where it has about that size.
pub fn resized(candidate: &Candidate, wanted: u64) -> Vec<Candidate> {
    let present = traffic_bytes(candidate).max(1);
    let shape = leading_shape(candidate).unwrap_or_default();
    let mut ways = Vec::new();
    for (axis, &length) in shape.iter().enumerate() {
        let lengths = if wanted > present {
            let factor = (wanted as f64 / present as f64).round() as u64;
            vec![length.saturating_mul(factor)]
        } else {
            // Rounded down to a power of two: what divides the length mostly divides it by such a one.
            let factor = (present / wanted.max(1)).max(1);
            let power = if factor.is_power_of_two() { factor } else { factor.next_power_of_two() / 2 };
            vec![(length / power).max(1), (length / factor).max(1)]
        };
        for length in lengths {
            for way in ways_of_length(candidate, axis, length) {
                if !ways.contains(&way) {
                    ways.push(way);
                }
            }
        }
    }
    // An axis that is too short to be cut as far as that is no way to the size.
    ways.retain(|way| traffic_bytes(way) <= wanted.saturating_mul(2));
    ways
}

#[cfg(test)]
mod tests {
    use super::super::Origin;
    use super::super::rescale::tests::tensor as of_dtype;
    use super::*;
    use manifest::TensorSpec;

    fn tensor(shape: &[u64]) -> TensorSpec {
        of_dtype("float16", shape)
    }

    #[test]
    fn round_lengths_are_those_of_all_tensors_that_have_the_dimension() {
        let output_shapes = vec![vec![2, 5]];
        let candidate = Candidate::guessed(vec![tensor(&[2, 5]), tensor(&[5])], Vec::new(), output_shapes, Vec::new());
        let shapes = |found: &Candidate| {
            let given = found.inputs.iter().filter_map(|input| input.shape.clone());
            given.chain(found.output_shapes.clone()).collect::<Vec<_>>()
        };
        let found: Vec<_> = rounded(&candidate).iter().map(shapes).collect();
        assert_eq!(found, [[vec![2, 64], vec![64], vec![2, 64]], [vec![32, 64], vec![64], vec![32, 64]]]);
        let line = Candidate::guessed(vec![tensor(&[6])], Vec::new(), Vec::new(), Vec::new());
        assert_eq!(rounded(&line).iter().map(shapes).collect::<Vec<_>>(), [[vec![4096]]]);
    }

    #[test]
    fn short_rows_become_those_of_use() {
        let of_shapes = |shapes: &[&[u64]]| {
            let tensors = shapes.iter().map(|shape| tensor(shape)).collect();
            let outputs = vec![shapes[0].to_vec()];
            wider(&Candidate::guessed(tensors, Vec::new(), outputs, Vec::new()))
        };
        let shapes = |found: &[Candidate]| {
            let of_one =
                |one: &Candidate| one.inputs.iter().filter_map(|input| input.shape.clone()).collect::<Vec<_>>();
            found.iter().map(of_one).collect::<Vec<_>>()
        };
        let rows = of_shapes(&[&[7, 3], &[3]]);
        assert_eq!(shapes(&rows), [[vec![7, 1024], vec![1024]]]);
        assert_eq!(rows[0].output_shapes, [[7, 1024]]);
        let planes = shapes(&of_shapes(&[&[5, 2, 4, 6]]));
        assert_eq!(planes, [[[5, 16, 32, 32]], [[5, 2, 32, 32]], [[5, 2, 4, 32]]], "what changes most comes first");
        let gate = Candidate::guessed(vec![tensor(&[7, 6])], Vec::new(), vec![vec![7, 3]], Vec::new());
        let outputs: Vec<_> = wider(&gate).iter().map(|found| found.output_shapes.clone()).collect();
        assert_eq!(outputs, [[[7, 3]], [[7, 512]]], "half of the axis, or something else");
        let tensors = vec![tensor(&[7, 3]), tensor(&[7, 6])];
        let gradient = Candidate::guessed(tensors, Vec::new(), vec![vec![7, 6]], Vec::new());
        let found = shapes(&wider(&gradient));
        assert_eq!(found, [[[7, 3], [7, 1024]], [[7, 512], [7, 1024]]], "a gradient of the half, or something else");
        assert!(of_shapes(&[&[7, 64]]).is_empty(), "long enough");
        assert!(of_shapes(&[&[7]]).is_empty(), "one axis is no row");
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
            resized: false,
            assumed: false,
        };
        let grown = larger(&small, 1 << 20);
        let shapes: Vec<_> = grown[0].inputs.iter().map(|input| input.shape.clone().unwrap()).collect();
        assert_eq!(shapes[1..], [vec![2 * 9362, 16], vec![16]]);
        assert_eq!(grown[0].output_shapes, [[2 * 9362, 16]]);
        assert!(grown[0].place.starts_with("examples/x.cpp:7, dimension 0 made"), "{}", grown[0].place);
    }

    #[test]
    fn what_belongs_to_rows_grows_with_them() {
        let tensors = |shapes: &[&[u64]]| shapes.iter().map(|shape| tensor(shape)).collect();
        let small = Candidate {
            origin: Origin::Example,
            place: "examples/x.cpp:7".into(),
            inputs: tensors(&[&[2, 4, 3, 5], &[2, 2], &[4]]),
            outputs: tensors(&[&[2, 4, 3, 5]]),
            output_shapes: Vec::new(),
            attributes: Vec::new(),
            data: None,
            resized: false,
            assumed: false,
        };
        let grown = larger(&small, 1 << 20);
        let shapes: Vec<_> = grown[0].inputs.iter().map(|input| input.shape.clone().unwrap()).collect();
        let rows = shapes[0][0];
        assert!(rows > 1000, "{shapes:?}");
        assert_eq!(shapes, [vec![rows, 4, 3, 5], vec![rows, 2], vec![4]], "a mean for every row and group");
        assert!(grown[0].title().ends_with("(its own example at another size)"), "{}", grown[0].title());
    }

    #[test]
    fn values_that_are_data_are_drawn_for_more_elements() {
        let mut small = Candidate {
            origin: Origin::Example,
            place: "examples/x.cpp:7".into(),
            inputs: vec![tensor(&[2, 2]), tensor(&[2, 2])],
            outputs: vec![tensor(&[2, 2])],
            output_shapes: Vec::new(),
            attributes: Vec::new(),
            data: None,
            resized: false,
            assumed: false,
        };
        small.inputs.iter_mut().for_each(|input| input.values = vec![1.0, 2.0, 3.0, 4.0]);
        let grown = &larger(&small, 1 << 20)[0];
        for input in &grown.inputs {
            assert_eq!((input.range.low, input.range.high, input.values.len()), (1.0, 4.0, 0));
            assert!(input.shape.as_ref().unwrap()[0] > 1000);
        }
    }

    #[test]
    fn a_size_is_reached_along_one_axis() {
        let case =
            |shape: &[u64]| Candidate::guessed(vec![tensor(shape)], Vec::new(), vec![shape.to_vec()], Vec::new());
        let shapes = |found: &Candidate| found.inputs[0].shape.clone().unwrap();
        let base = case(&[1024, 1024]);
        let bytes = traffic_bytes(&base);
        assert_eq!(shapes(&resized(&base, bytes * 16)[0]), [16 * 1024, 1024]);
        assert_eq!(shapes(&resized(&base, bytes * 16)[1]), [1024, 16 * 1024]);
        assert_eq!(shapes(&resized(&base, bytes / 64)[0]), [16, 1024]);
        let flat = case(&[4, 1 << 20]);
        assert_eq!(shapes(&resized(&flat, traffic_bytes(&flat) / 64)[0]), [4, 1 << 14], "four rows are too few to cut");
    }
}
