//! A case at another size: one axis gets another length, in every tensor that has the axis.

use crate::cases::loosen::loosened;
use crate::cases::{Candidate, elements};
use manifest::{Attribute, TensorSpec, ValueRange};
use verify::DType;

/// Shape of the tensor that gives a case its size: the first of the inputs with the most elements, or, where all inputs are
/// single numbers, of the outputs.
pub fn leading_shape(candidate: &Candidate) -> Option<Vec<u64>> {
    leading(&loosened(candidate)).map(<[u64]>::to_vec)
}

fn leading(candidate: &Candidate) -> Option<&[u64]> {
    let inputs = candidate.inputs.iter().filter(|input| input.values.is_empty());
    let input = largest(inputs.filter_map(|input| input.shape.as_deref()));
    if input.is_some_and(|shape| elements(shape) > 1) {
        return input;
    }
    let given = candidate.outputs.iter().filter_map(|output| output.shape.as_deref());
    largest(given.chain(candidate.output_shapes.iter().map(Vec::as_slice))).or(input)
}

fn largest<'a>(shapes: impl Iterator<Item = &'a [u64]>) -> Option<&'a [u64]> {
    let mut found: Option<&[u64]> = None;
    for shape in shapes {
        if found.is_none_or(|known| elements(shape) > elements(known)) {
            found = Some(shape);
        }
    }
    found
}

/// An attribute that equals the number of elements is taken for it from here on: a smaller number may name an axis or a mode.
const LEAST_COUNT: u64 = 16;

/// The case with axis `axis` of the leading input made `length` long, and in every other tensor the axis that goes with it:
/// the one in the same place, counted from the front or from the back, if it has the same length now. `None` where nothing
/// changes.
///
/// Tensors whose values mean something (positions, paddings, sizes) stay as they are: whether they fit the new shapes is for
/// the tiling function to say.
pub(super) fn with_length(candidate: &Candidate, axis: usize, length: u64) -> Option<Candidate> {
    let given = candidate;
    let candidate = loosened(given);
    let leading = leading(&candidate)?.to_vec();
    let present = *leading.get(axis)?;
    if present == length || length == 0 {
        return None;
    }
    let stretch = |shape: &mut Vec<u64>| {
        let from_back = leading.len() - axis;
        let place = if shape.len() == leading.len() {
            Some(axis)
        } else if shape.len() == 1 {
            Some(0)
        } else {
            shape.len().checked_sub(from_back).filter(|place| shape[*place] == present).or(Some(axis))
        };
        if let Some(length_there) = place.and_then(|place| shape.get_mut(place))
            && *length_there == present
        {
            *length_there = length;
        }
    };
    let mut changed = candidate.clone().into_owned();
    // Where outputs alone have a size, inputs of one number each stay numbers, though an axis of theirs is as long as one of the outputs.
    let sized = elements(&leading) <= 1 || changed.has_sized_input();
    let tensors = longest_list(&changed.inputs);
    let is_of_list = |input: &TensorSpec| tensors > 1 && input.shape.as_deref() == Some(&[tensors]);
    let plain = changed.inputs.iter_mut().filter(|input| sized && input.values.is_empty() && !is_of_list(input));
    plain.filter_map(|input| input.shape.as_mut()).for_each(stretch);
    // Whole numbers up to the last place of the axis are places on it, and so is an axis of an output that has this length where no input does.
    let is_alone = present > 2 && leading.iter().filter(|other| **other == present).count() == 1;
    let others = |place: usize| candidate.inputs.iter().filter_map(move |input| input.shape.as_deref()?.get(place));
    let other_has_it = candidate
        .inputs
        .iter()
        .filter_map(|input| input.shape.as_deref())
        .any(|shape| shape != leading && shape.contains(&present));
    let stretch_output = |shape: &mut Vec<u64>| {
        let alike = shape.len() == leading.len();
        let is_second = |place: &usize| match alike {
            true => *place != axis && others(*place).all(|length| *length != present),
            false => !other_has_it,
        };
        let equal = (0..shape.len()).filter(|place| is_alone && shape[*place] == present);
        let seconds: Vec<usize> = equal.filter(is_second).collect();
        stretch(shape);
        seconds.into_iter().for_each(|place| shape[place] = length);
    };
    changed.outputs.iter_mut().filter_map(|output| output.shape.as_mut()).for_each(stretch_output);
    changed.output_shapes.iter_mut().for_each(stretch_output);
    let products = products_of_rows(&candidate.inputs, &changed.inputs);
    let follow = |shape: &mut Vec<u64>| {
        if let Some(axis) = shape.first_mut() {
            *axis = products.iter().find(|(before, _)| before == axis).map_or(*axis, |(_, after)| *after);
        }
    };
    changed.outputs.iter_mut().filter_map(|output| output.shape.as_mut()).for_each(follow);
    changed.output_shapes.iter_mut().for_each(follow);
    // What values named that were given, their length may be by chance.
    let drawn = changed.inputs.iter_mut().zip(&given.inputs).filter(|(_, given)| is_alone && given.values.is_empty());
    for (input, _) in drawn {
        let is_place =
            input.dtype.starts_with("int") && input.range.low == 0.0 && input.range.high == (present - 1) as f64;
        if is_place {
            input.range.high = (length - 1) as f64;
        }
    }
    if !sized {
        stretch_series(&mut changed.inputs, present, length);
    }
    // A list that repeats the end of the leading shape, such as the axes that are normalised, goes on repeating it; so does one that repeats
    // the begin, of several axes.
    let after = leading_shape(&changed)?;
    for attribute in changed.attributes.iter_mut().filter(|attribute| attribute.kind == "list_int") {
        let list: Vec<u64> = attribute.value.split(',').filter_map(|word| word.trim().parse().ok()).collect();
        let repeated = match after.len() == leading.len() {
            true if leading.ends_with(&list) => &after[after.len() - list.len()..],
            true if list.len() > 1 && leading.starts_with(&list) => &after[..list.len()],
            _ => continue,
        };
        attribute.value = repeated.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    }
    // So does a tensor that does, such as the dimensions that are to be filled.
    for input in changed.inputs.iter_mut().filter(|input| !input.values.is_empty() && input.dtype.starts_with("int")) {
        let list: Vec<u64> = input.values.iter().map(|value| *value as u64).collect();
        // Of an operator whose other inputs are numbers, also a small one: nothing else could say how large the output is.
        let tells = elements(&list) >= LEAST_COUNT || !sized && candidate.shape_in_values() == Some(&list);
        let is_shape = tells && leading.ends_with(&list) && after.len() == leading.len();
        if is_shape {
            input.values = after[after.len() - list.len()..].iter().map(|length| *length as f64).collect();
        }
    }
    let (count, count_after) = (elements(&leading), elements(&after));
    let of_axis = (!sized).then(|| number_of_axis(&changed.attributes, &leading, axis)).flatten();
    if let Some(place) = of_axis {
        changed.attributes[place].value = length.to_string();
    }
    for (place, attribute) in changed.attributes.iter_mut().enumerate().filter(|(_, attribute)| attribute.kind == "int")
    {
        let tells = count >= LEAST_COUNT || !sized && of_axis.is_none();
        if tells && Some(place) != of_axis && attribute.value == count.to_string() {
            attribute.value = count_after.to_string();
        }
    }
    changed.data = None;
    changed.resized = true;
    Some(changed)
}

/// How many elements inputs of places with several for each row had and have now, where no input has as many rows: an output with as many
/// has one for each of them, such as the rows that go to all experts of a token.
fn products_of_rows(before: &[TensorSpec], after: &[TensorSpec]) -> Vec<(u64, u64)> {
    let are_rows =
        |count: u64| before.iter().filter_map(|input| input.shape.as_ref()?.first()).any(|rows| *rows == count);
    let several = before.iter().zip(after).filter(|(input, _)| input.dtype.starts_with("int"));
    let shapes = several.filter_map(|(before, after)| Some((before.shape.as_deref()?, after.shape.as_deref()?)));
    let changed = shapes.filter(|(before, after)| before.len() > 1 && before[0] != after[0]);
    changed
        .map(|(before, after)| (elements(before), elements(after)))
        .filter(|(before, _)| !are_rows(*before))
        .collect()
}

/// Where three inputs of one number each are the begin, the end and the step of a series of `present` elements: another end, for one of
/// `length`. As it is where their dtype cannot say it.
fn stretch_series(inputs: &mut [TensorSpec], present: u64, length: u64) {
    let numbers: Vec<(usize, f64)> =
        inputs.iter().enumerate().filter_map(|(place, input)| Some((place, only_number(input)?))).collect();
    let [(_, begin), (place, end), (_, step)] = numbers[..] else { return };
    if step == 0.0 || ((end - begin) / step).ceil() != present as f64 {
        return;
    }
    let input = &mut inputs[place];
    // Half a step short of what a series of one more element needs: where numbers are rounded it has its length all the same.
    let short = if input.dtype.contains("float") { 0.5 } else { 0.0 };
    let Ok(dtype) = input.dtype.parse::<DType>() else { return };
    let mut bytes = Vec::new();
    dtype.encode(begin + step * (length as f64 - short), &mut bytes);
    let end = dtype.decode(&bytes);
    if ((end - begin) / step).ceil() != length as f64 {
        return;
    }
    input.range = ValueRange { low: end, high: end };
    input.values.iter_mut().for_each(|value| *value = end);
}

/// The number that an input is, where it is one and known.
fn only_number(input: &TensorSpec) -> Option<f64> {
    if elements(input.shape.as_deref()?) != 1 {
        return None;
    }
    match input.values[..] {
        [value] => Some(value),
        _ => (input.range.low == input.range.high).then_some(input.range.low),
    }
}

/// The attribute that says how long an axis of the output is where no input does: a whole number that equals its length, and of several
/// such numbers the one whose place among them is the axis's among those of this length. Whether it is one is for shape inference to say.
fn number_of_axis(attributes: &[Attribute], leading: &[u64], axis: usize) -> Option<usize> {
    let present = leading[axis].to_string();
    let equal = attributes.iter().enumerate().filter(|(_, found)| found.kind == "int" && found.value == present);
    let places: Vec<usize> = equal.map(|(place, _)| place).collect();
    let before = leading[..axis].iter().filter(|length| **length == leading[axis]).count();
    places.get(before).or(places.last()).copied()
}

/// Tensors of the longest list among the inputs: a tensor of so many numbers has one for each of them.
fn longest_list(inputs: &[TensorSpec]) -> u64 {
    let tensors = |of: &TensorSpec| inputs.iter().filter(|other| other.name == of.name).count() as u64;
    inputs.iter().map(tensors).max().unwrap_or(0)
}

/// Bytes of all inputs and outputs; outputs without a shape count as the leading input does.
pub fn traffic_bytes(candidate: &Candidate) -> u64 {
    let leading = leading_shape(candidate).unwrap_or_default();
    let inputs = candidate.inputs.iter().map(|input| bytes_of(&input.dtype, input.shape.as_deref()));
    let outputs = candidate.outputs.iter().enumerate().map(|(place, output)| {
        let known = output.shape.as_deref().or_else(|| candidate.output_shapes.get(place).map(Vec::as_slice));
        bytes_of(&output.dtype, Some(known.unwrap_or(&leading)))
    });
    inputs.chain(outputs).fold(0, u64::saturating_add)
}

/// Bytes of a tensor; one without a shape is a single number.
pub(super) fn bytes_of(dtype: &str, shape: Option<&[u64]>) -> u64 {
    let size = dtype.parse::<DType>().map_or(8, |dtype| dtype.size_bytes() as u64);
    elements(shape.unwrap_or_default()).saturating_mul(size)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::cases::Origin;

    pub(in crate::cases) fn tensor(dtype: &str, shape: &[u64]) -> TensorSpec {
        TensorSpec {
            name: "x".into(),
            dtype: dtype.into(),
            format: "ND".into(),
            shape: Some(shape.to_vec()),
            range: ValueRange { low: 0.0, high: 1.0 },
            values: Vec::new(),
        }
    }

    fn case(inputs: &[&[u64]]) -> Candidate {
        Candidate {
            origin: Origin::Guess,
            place: String::new(),
            inputs: inputs.iter().map(|shape| tensor("float16", shape)).collect(),
            outputs: vec![TensorSpec { shape: None, ..tensor("float32", &[]) }],
            output_shapes: vec![inputs[0].to_vec()],
            attributes: vec![Attribute {
                name: "normalized_shape".into(),
                kind: "list_int".into(),
                value: "64".into(),
            }],
            data: None,
            resized: false,
            assumed: false,
        }
    }

    fn shapes(case: &Candidate) -> Vec<Vec<u64>> {
        case.inputs.iter().filter_map(|input| input.shape.clone()).collect()
    }

    #[test]
    fn an_axis_is_changed_in_every_tensor_that_has_it() {
        let norm = case(&[&[32, 64], &[64], &[32]]);
        let rows = with_length(&norm, 0, 7).unwrap();
        assert_eq!(shapes(&rows), [vec![7, 64], vec![64], vec![7]]);
        assert_eq!(rows.output_shapes, [[7, 64]]);
        assert_eq!(rows.attributes[0].value, "64");
        let columns = with_length(&norm, 1, 100).unwrap();
        assert_eq!(shapes(&columns), [vec![32, 100], vec![100], vec![32]]);
        assert_eq!(columns.attributes[0].value, "100", "the normalised axes are named by their lengths");
        assert_eq!(with_length(&norm, 0, 32), None);
    }

    fn number(name: &str, value: u64) -> Attribute {
        Attribute { name: name.into(), kind: "int".into(), value: value.to_string() }
    }

    #[test]
    fn attributes_that_count_elements_go_with_them() {
        let counted = |shape: &[u64], attributes: &[Attribute], length| {
            let sum = Candidate { attributes: attributes.to_vec(), ..case(&[shape]) };
            with_length(&sum, 0, length).unwrap().attributes.iter().map(|found| found.value.clone()).collect::<Vec<_>>()
        };
        assert_eq!(counted(&[2043], &[number("n", 2043), number("incx", 1)], 4086), ["4086", "1"]);
        let of_rows = counted(&[32, 64], &[number("count", 2048), number("groups", 32)], 64);
        assert_eq!(of_rows, ["4096", "32"], "the length of one axis may be that of groups, which stay");
        assert_eq!(counted(&[2], &[number("axis", 2)], 8), ["2"], "two tells nothing");
    }

    #[test]
    fn an_output_that_has_an_axis_twice_gets_both() {
        let mut pairs = case(&[&[8, 1, 1, 5]]);
        pairs.output_shapes = vec![vec![8, 1, 5, 5]];
        assert_eq!(with_length(&pairs, 3, 700).unwrap().output_shapes, [[8, 1, 700, 700]]);
        assert_eq!(with_length(&pairs, 0, 3).unwrap().output_shapes, [[3, 1, 5, 5]]);
        pairs.output_shapes = vec![vec![1, 8, 1, 5, 5]];
        assert_eq!(with_length(&pairs, 3, 700).unwrap().output_shapes, [[1, 8, 1, 700, 700]]);
        // Here another input has it.
        let mut spread = case(&[&[8, 1, 5], &[1, 5, 1]]);
        spread.output_shapes = vec![vec![8, 5, 5]];
        assert_eq!(with_length(&spread, 2, 700).unwrap().output_shapes, [[8, 5, 700]]);
    }

    #[test]
    fn the_end_of_a_series_goes_with_its_length() {
        let ends = |dtype: &str, numbers: [f64; 3], present: u64, length| {
            let fixed = |name: &str, value: f64| TensorSpec {
                range: ValueRange { low: value, high: value },
                name: name.into(),
                ..tensor(dtype, &[1])
            };
            let inputs = ["start", "end", "step"].iter().zip(numbers).map(|(name, value)| fixed(name, value)).collect();
            let series = Candidate { inputs, output_shapes: vec![vec![present]], ..case(&[&[1]]) };
            with_length(&series, 0, length).unwrap().inputs[1].range.low
        };
        assert_eq!(ends("int32", [1.0, -1113.0, -2.0], 557, 8000), 1.0 - 16000.0);
        assert_eq!(ends("float32", [0.0, 10.0, 1.0], 10, 100), 99.5);
        assert_eq!(ends("int8", [0.0, 10.0, 1.0], 10, 1000), 10.0, "no int8 is as large");
        assert_eq!(ends("int32", [0.0, 10.0, 1.0], 64, 1000), 10.0, "these are not of this series");
    }

    #[test]
    fn numbers_say_how_large_an_output_without_sized_inputs_is() {
        let made = |shape: &[u64], attributes: &[Attribute], axis, length| {
            let of_numbers = Candidate {
                inputs: Vec::new(),
                output_shapes: vec![shape.to_vec()],
                attributes: attributes.to_vec(),
                ..case(&[&[1]])
            };
            let made = with_length(&of_numbers, axis, length).unwrap();
            (made.output_shapes[0].clone(), made.attributes.into_iter().map(|found| found.value).collect::<Vec<_>>())
        };
        let steps = [number("start", 0), number("steps", 6), number("base", 2)];
        assert_eq!(made(&[6], &steps, 0, 4000), (vec![4000], vec!["0".into(), "4000".into(), "2".into()]));
        let eye = [number("rows", 3), number("columns", 3)];
        assert_eq!(made(&[3, 3], &eye, 0, 500), (vec![500, 3], vec!["500".into(), "3".into()]));
        assert_eq!(made(&[3, 3], &eye, 1, 500), (vec![3, 500], vec!["3".into(), "500".into()]));
        let batch = |axes: &str| Attribute { name: "batch".into(), kind: "list_int".into(), value: axes.into() };
        let of_batches = |axes| made(&[2, 4, 9, 7], &[batch(axes)], 0, 30).1;
        assert_eq!((of_batches("2,4"), of_batches("2")), (vec!["30,4".to_owned()], vec!["2".to_owned()]));
        assert_eq!(made(&[2, 4], &[number("count", 8)], 0, 3), (vec![3, 4], vec!["12".into()]), "elements of all axes");
    }

    #[test]
    fn a_tensor_of_dimensions_goes_with_what_they_are_of() {
        let dims = |values: &[f64]| TensorSpec {
            name: "dims".into(),
            values: values.to_vec(),
            ..tensor("int64", &[values.len() as u64])
        };
        let mut fill = case(&[&[1]]);
        fill.inputs.insert(0, dims(&[32.0, 64.0]));
        fill.output_shapes = vec![vec![32, 64]];
        fill.attributes.clear();
        let larger = with_length(&fill, 0, 512).unwrap();
        assert_eq!((&larger.output_shapes, &larger.inputs[0].values), (&vec![vec![512, 64]], &vec![512.0, 64.0]));
        assert_eq!(shapes(&larger), [vec![2], vec![1]]);
        let mut flat = fill.clone();
        flat.inputs[0] = dims(&[1.0, 64.0]);
        flat.output_shapes = vec![vec![1, 64]];
        let larger = with_length(&flat, 0, 512).unwrap();
        assert_eq!((&larger.output_shapes, &larger.inputs[0].values), (&vec![vec![512, 64]], &vec![512.0, 64.0]));
        assert_eq!(shapes(&larger), [vec![2], vec![1]], "the number that fills is no row");
        let mut counted = case(&[&[1]]);
        counted.inputs[0] = dims(&[8.0]);
        counted.output_shapes = vec![vec![8]];
        counted.attributes.clear();
        let larger = with_length(&counted, 0, 512).unwrap();
        assert_eq!((&larger.output_shapes, &larger.inputs[0].values), (&vec![vec![512]], &vec![512.0]));
        fill.inputs[0] = dims(&[2.0, 64.0]);
        let other = with_length(&fill, 0, 512).unwrap();
        assert_eq!(other.inputs[0].values, [2.0, 64.0], "it is of something else");
    }

    #[test]
    fn a_shape_that_an_input_has_as_values_is_the_outputs() {
        let spec = |dtype: &str, shape: &[u64], values: &[f64]| TensorSpec {
            name: "dims".into(),
            dtype: dtype.into(),
            format: "ND".into(),
            shape: Some(shape.to_vec()),
            range: ValueRange { low: 0.0, high: 1.0 },
            values: values.to_vec(),
        };
        let told = |input: TensorSpec, output: &[u64]| {
            let candidate = Candidate::guessed(vec![input], Vec::new(), vec![output.to_vec()], Vec::new());
            candidate.shape_in_values().map(<[u64]>::to_vec)
        };
        assert_eq!(told(spec("int64", &[2], &[3.0, 4.0]), &[3, 4]), Some(vec![3, 4]));
        assert_eq!(told(spec("int64", &[2], &[3.0, 4.0]), &[4, 3]), None);
        assert_eq!(told(spec("float32", &[2], &[3.0, 4.0]), &[3, 4]), None, "numbers, not lengths");
        assert_eq!(told(spec("int64", &[1], &[1.0]), &[1]), None, "one is the length of much");
    }

    #[test]
    fn a_number_for_each_tensor_of_a_list_is_no_row() {
        let mut lists = case(&[&[2, 3], &[1, 3], &[2]]);
        lists.inputs[2].name = "scalars".into();
        assert_eq!(shapes(&with_length(&lists, 0, 500).unwrap()), [vec![500, 3], vec![1, 3], vec![2]]);
    }

    #[test]
    fn broadcast_tensors_follow_from_either_end() {
        let mixed = case(&[&[8, 16, 32], &[16, 32], &[8, 16]]);
        assert_eq!(shapes(&with_length(&mixed, 2, 5).unwrap()), [vec![8, 16, 5], vec![16, 5], vec![8, 16]]);
        assert_eq!(shapes(&with_length(&mixed, 0, 5).unwrap()), [vec![5, 16, 32], vec![16, 32], vec![5, 16]]);
    }

    #[test]
    fn an_operator_of_single_numbers_has_the_size_of_its_output() {
        let mut range = case(&[&[], &[]]);
        range.output_shapes = vec![vec![557]];
        assert_eq!(with_length(&range, 0, 5000).unwrap().output_shapes, [[5000]]);
        assert_eq!(traffic_bytes(&range), 2 + 2 + 4 * 557);
    }

    #[test]
    fn places_on_an_axis_go_with_its_length() {
        let mut gather = case(&[&[64, 8], &[100]]);
        gather.inputs[1] = TensorSpec {
            name: "indices".into(),
            range: ValueRange { low: 0.0, high: 63.0 },
            ..tensor("int32", &[100])
        };
        let high = |found: Option<Candidate>| found.unwrap().inputs[1].range.high;
        assert_eq!(high(with_length(&gather, 0, 640)), 639.0);
        assert_eq!(high(with_length(&gather, 0, 16)), 15.0);
        assert_eq!(high(with_length(&gather, 1, 16)), 63.0, "places on another axis");
        gather.inputs[0].shape = Some(vec![64, 64]);
        assert_eq!(high(with_length(&gather, 0, 16)), 63.0, "nobody knows on which");
    }

    #[test]
    fn experts_of_tokens_grow_with_these_and_so_does_what_goes_to_them() {
        let mut route = case(&[&[4, 64], &[4, 2]]);
        let values = [2.0, 0.0, 0.0, 1.0, 2.0, 1.0, 0.0, 2.0].to_vec();
        route.inputs[1] = TensorSpec { name: "expert_idx".into(), values, ..tensor("int32", &[4, 2]) };
        route.output_shapes = vec![vec![8, 64], vec![8], vec![3]];
        let grown = with_length(&route, 0, 100).unwrap();
        assert_eq!(shapes(&grown), [vec![100, 64], vec![100, 2]]);
        assert_eq!(grown.output_shapes, [vec![200, 64], vec![200], vec![3]]);
        let range = &grown.inputs[1].range;
        assert_eq!((range.low, range.high), (0.0, 3.0), "no expert that there was not");
        assert_eq!(with_length(&route, 1, 128).unwrap().output_shapes, [vec![8, 128], vec![8], vec![3]]);
        let square = with_length(&route, 0, 32).unwrap();
        let output_shapes = with_length(&square, 0, 1000).unwrap().output_shapes;
        assert_eq!(output_shapes, [vec![2000, 64], vec![2000], vec![3]], "as wide as there were rows");
    }

    #[test]
    fn positions_stay_where_they_are() {
        let mut gather = case(&[&[64, 8], &[64]]);
        gather.inputs[1] = TensorSpec { name: "indices".into(), values: vec![3.0], ..tensor("int32", &[64]) };
        assert_eq!(shapes(&with_length(&gather, 0, 640).unwrap()), [vec![640, 8], vec![64]]);
    }

    #[test]
    fn traffic_counts_outputs_of_inferred_shape() {
        let mut plain = case(&[&[100]]);
        assert_eq!(traffic_bytes(&plain), 200 + 400);
        plain.output_shapes.clear();
        assert_eq!(traffic_bytes(&plain), 200 + 400, "it is taken to look like the leading input");
    }
}
