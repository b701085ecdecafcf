//! Values that a case writes out: those that any others would do for, and those that belong to the shapes as they are.

use std::borrow::Cow;

use super::{Candidate, elements, is_index, is_real, names_places, value_range};
use manifest::{TensorSpec, ValueRange};

/// The candidate with a range in place of values that are plain data, so that its shapes may change. Sizes, places and single
/// numbers stay.
pub(super) fn loosened(candidate: &Candidate) -> Cow<'_, Candidate> {
    let data: Vec<usize> = (0..candidate.inputs.len()).filter(|&position| is_plain_data(candidate, position)).collect();
    if data.is_empty() {
        return Cow::Borrowed(candidate);
    }
    let mut loose = candidate.clone();
    for position in data {
        let spec = &mut loose.inputs[position];
        spec.range = range_of(spec);
        spec.values.clear();
    }
    loose.data = None;
    Cow::Owned(loose)
}

/// Whether an input's values stand for nothing but themselves: real numbers, or whole ones of an input that by its name is no
/// list of places or sizes and that has the shape of another tensor.
fn is_plain_data(candidate: &Candidate, position: usize) -> bool {
    let spec = &candidate.inputs[position];
    let shape = spec.shape.as_deref().unwrap_or_default();
    if spec.values.is_empty() || elements(shape) < 2 {
        return false;
    }
    if is_real(&spec.dtype) {
        return true;
    }
    let others = candidate.inputs.iter().enumerate().filter(|(other, _)| *other != position);
    let mut shapes =
        others.filter_map(|(_, other)| other.shape.as_deref()).chain(candidate.output_shapes.iter().map(Vec::as_slice));
    let stand_for_themselves =
        !names_places(&spec.name) && (candidate.inputs.len() == 1 || shapes.any(|other| other == shape));
    stand_for_themselves || are_places_of_rows(candidate, position)
}

/// Whether an input names places for each of the rows of another, such as the experts of a token, and any others would do: it is called
/// after what has no order, such as classes, or some come more than once, and in no order. With more rows there are more of them; what they
/// name is as many as before.
fn are_places_of_rows(candidate: &Candidate, position: usize) -> bool {
    let spec = &candidate.inputs[position];
    let rows = spec.shape.as_deref().and_then(|shape| shape.first()).copied().unwrap_or_default();
    let mut others = candidate.inputs.iter().enumerate().filter(|(other, _)| *other != position);
    let has_rows = |shape: &[u64]| shape.len() > 1 && shape.first() == Some(&rows);
    let is_of_rows = rows > 1 && others.any(|(_, other)| other.shape.as_deref().is_some_and(has_rows));
    let name = spec.name.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let is_class = has(&["target", "label", "expert"]);
    let are_places = (is_class || is_index(&name)) && !has(&["len", "dim", "axis", "axes", "offset"]);
    let are_whole = spec.values.iter().all(|value| *value >= 0.0 && value.fract() == 0.0);
    let mut sorted = spec.values.clone();
    sorted.sort_by(f64::total_cmp);
    let has_no_order = sorted.windows(2).any(|pair| pair[0] == pair[1]) && sorted != spec.values;
    is_of_rows && are_places && are_whole && sorted.first() != sorted.last() && (is_class || has_no_order)
}

/// The tensor with a range where its source gives one real number to all of many elements: such data tell no two elements
/// apart, and a kernel that mixes them up would be right.
pub(super) fn unlike(spec: TensorSpec) -> TensorSpec {
    let many = elements(spec.shape.as_deref().unwrap_or_default()) > 1;
    let alike = spec.values.first().is_some_and(|first| spec.values.iter().all(|value| value == first));
    if !many || !alike || !is_real(&spec.dtype) {
        return spec;
    }
    TensorSpec { range: range_of(&spec), values: Vec::new(), ..spec }
}

/// From the smallest to the largest value; around the only one where all are the same, on its side of zero.
fn range_of(spec: &TensorSpec) -> ValueRange {
    let low = spec.values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = spec.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !low.is_finite() || !high.is_finite() {
        return value_range(&spec.name, &spec.dtype);
    }
    let (low, high) = match () {
        () if spec.dtype == "bool" || (low == high && low == 0.0) => return value_range(&spec.name, &spec.dtype),
        () if low < high => (low, high),
        () if is_real(&spec.dtype) && low > 0.0 => (low / 4.0, low * 4.0),
        () if is_real(&spec.dtype) => (low * 4.0, low / 4.0),
        () if low > 0.0 => (1.0, low.max(8.0)),
        () => (low.min(-8.0), -1.0),
    };
    // Whole numbers are drawn below the upper end.
    if is_real(&spec.dtype) { ValueRange { low, high } } else { ValueRange { low, high: high + 1.0 } }
}

#[cfg(test)]
mod tests {
    use super::super::Origin;
    use super::*;

    fn tensor(name: &str, dtype: &str, shape: &[u64], values: &[f64]) -> TensorSpec {
        TensorSpec {
            name: name.into(),
            dtype: dtype.into(),
            format: "ND".into(),
            shape: Some(shape.to_vec()),
            range: ValueRange { low: 0.0, high: 1.0 },
            values: values.to_vec(),
        }
    }

    fn case(inputs: Vec<TensorSpec>) -> Candidate {
        Candidate {
            origin: Origin::Example,
            place: String::new(),
            inputs,
            outputs: Vec::new(),
            output_shapes: Vec::new(),
            attributes: Vec::new(),
            data: None,
            resized: false,
            assumed: false,
        }
    }

    fn loose(inputs: Vec<TensorSpec>) -> Vec<bool> {
        loosened(&case(inputs)).inputs.iter().map(|spec| spec.values.is_empty()).collect()
    }

    fn range(dtype: &str, values: &[f64]) -> (f64, f64) {
        let range = range_of(&tensor("x", dtype, &[4], values));
        (range.low, range.high)
    }

    #[test]
    fn data_are_drawn_and_what_they_mean_stays() {
        let four = [0.0, 1.0, 2.0, 3.0];
        assert_eq!(
            loose(vec![tensor("x", "float32", &[4], &four), tensor("alpha", "float32", &[1], &[2.0])]),
            [true, false]
        );
        assert_eq!(
            loose(vec![tensor("x1", "int32", &[2, 2], &four), tensor("x2", "int32", &[2, 2], &four)]),
            [true, true]
        );
        assert_eq!(loose(vec![tensor("x", "bool", &[4], &[1.0])]), [true]);
        // Indices, sizes and whole numbers of a shape of their own mean something.
        let x = || tensor("x", "float16", &[4], &[]);
        assert_eq!(loose(vec![x(), tensor("indices", "int32", &[4], &four)]), [true, false]);
        assert_eq!(loose(vec![x(), tensor("paddings", "int64", &[2], &[1.0, 1.0])]), [true, false]);
        assert_eq!(loose(vec![x(), tensor("out_size", "int64", &[4], &four)]), [true, false]);
    }

    #[test]
    fn places_of_rows_are_drawn_and_lists_in_an_order_stay() {
        let with = |name: &str, shape: &[u64], values: &[f64]| {
            loose(vec![tensor("x", "float16", &[4, 64], &[]), tensor(name, "int32", shape, values)])[1]
        };
        assert!(with("expert_idx", &[4, 2], &[2.0, 0.0, 0.0, 1.0, 2.0, 1.0, 0.0, 2.0]));
        assert!(with("index", &[4], &[2.0, 0.0, 2.0, 1.0]));
        assert!(with("target", &[4], &[0.0, 1.0, 2.0, 3.0]), "classes have no order");
        assert!(!with("target", &[4], &[1.0, 1.0, 1.0, 1.0]), "nothing is known of others");
        assert!(!with("index", &[3], &[2.0, 0.0, 2.0]), "of no rows");
        assert!(!with("index", &[4], &[3.0, 0.0, 2.0, 1.0]), "each once: it may be a permutation");
        assert!(!with("index", &[4], &[0.0, 1.0, 1.0, 2.0]), "in order: they may be ends of groups");
        assert!(!with("index", &[4], &[0.0, 0.0, 0.0, 0.0]), "all the same: nothing is known of others");
        assert!(!with("index", &[4], &[2.0, -1.0, 2.0, 1.0]), "no places");
        assert!(!with("seq_len", &[4], &[2.0, 0.0, 2.0, 1.0]), "sizes");
    }

    #[test]
    fn elements_can_be_told_apart() {
        let given = |dtype: &str, shape: &[u64], values: &[f64]| unlike(tensor("x", dtype, shape, values)).values;
        assert_eq!(given("float16", &[4], &[1.0, 1.0, 1.0, 1.0]), [0.0; 0]);
        assert_eq!(given("float16", &[4], &[1.0]), [0.0; 0]);
        assert_eq!(given("float16", &[1], &[1.0]), [1.0], "a number is no data");
        assert_eq!(given("int32", &[2], &[1.0, 1.0]), [1.0, 1.0], "strides, say");
        assert_eq!(given("float32", &[2], &[1.0, 2.0]), [1.0, 2.0]);
    }

    #[test]
    fn ranges_have_the_signs_of_what_was_given() {
        assert_eq!(range("float32", &[-1.0, 2.0]), (-1.0, 2.0));
        assert_eq!(range("int32", &[1.0, 5.0]), (1.0, 6.0), "whole numbers are drawn below the end");
        // All the same tells no two elements apart.
        assert_eq!(range("float32", &[1.0]), (0.25, 4.0));
        assert_eq!(range("float32", &[-1.0]), (-4.0, -0.25));
        assert_eq!(range("int32", &[2.0]), (1.0, 9.0), "zero is no divisor");
        assert_eq!(range("int32", &[-2.0]), (-8.0, 0.0));
        assert_eq!(range("bool", &[1.0]), (0.0, 2.0));
        assert_eq!(range("float16", &[0.0]), (-2.0, 2.0));
        assert_eq!(range("float16", &[f64::INFINITY, 1.0]), (-2.0, 2.0));
    }
}
