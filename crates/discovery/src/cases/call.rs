//! From a call that somebody wrote down - tensors, numbers, lists, in the order of its interface - to a candidate.
//!
//! The order of an interface is not always that of the operator's definition, so names count first and order second.
//! What is put together wrongly here does no harm: the tiling function refuses it.

use std::cmp::Reverse;

use super::beside::Beside;
use super::{
    Candidate, DescribedAttribute, DescribedOp, DescribedTensor, Origin, forms, is_dynamic, is_optional, loosen,
    value_range,
};
use manifest::{Attribute, TensorSpec, ValueRange};

/// A tensor of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CallTensor {
    /// Dtype name; empty where the call does not say.
    pub dtype: String,
    /// Dimensions.
    pub shape: Vec<u64>,
    /// Format name; empty where the call does not say.
    pub format: String,
    /// Its values, or one that all elements have; empty where unknown.
    pub values: Vec<f64>,
    /// Range of its values, where the call says.
    pub range: Option<ValueRange>,
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Argument {
    Tensor(CallTensor),
    Tensors(Vec<CallTensor>),
    Numbers(Vec<f64>),
    Number(f64),
    Bool(bool),
    Text(String),
    /// Left out.
    Nothing,
    Unknown,
}

/// A call: arguments with their names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub origin: Origin,
    pub place: String,
    pub arguments: Vec<(String, Argument)>,
    /// Outputs, where the source lists them apart.
    pub outputs: Option<Vec<CallTensor>>,
    /// Whether the last tensors among the arguments are outputs.
    pub outputs_last: bool,
}

/// The ways in which a call can be understood, likelier ones first.
pub(super) fn candidates(op: &DescribedOp, call: &Call) -> Vec<Candidate> {
    let is_tensor = |argument: &Argument| matches!(argument, Argument::Tensor(_) | Argument::Tensors(_));
    let mut inputs: Vec<(&str, &Argument)> =
        call.arguments.iter().map(|(name, argument)| (name.as_str(), argument)).collect();
    let mut outputs: Vec<CallTensor> = call.outputs.clone().unwrap_or_default();
    if call.outputs_last {
        let tensors = inputs.iter().filter(|(_, argument)| is_tensor(argument)).count();
        let required = op.inputs.iter().filter(|found| !is_optional(found)).count();
        // Where numbers are all that an operator needs, the only tensor is its output.
        let numbers =
            inputs.iter().filter(|(_, argument)| matches!(argument, Argument::Number(_) | Argument::Numbers(_)));
        let only_numbers = required > 1 && numbers.count() == required + op.attrs.len();
        let needed = if only_numbers { 0 } else { required.min(1) };
        let count = op.outputs.len().min(tensors.saturating_sub(needed));
        for _ in 0..count {
            let Some(last) = inputs.iter().rposition(|(_, argument)| is_tensor(argument)) else { break };
            match inputs.remove(last).1 {
                Argument::Tensor(tensor) => outputs.insert(0, tensor.clone()),
                Argument::Tensors(list) => outputs.splice(0..0, list.iter().cloned()).for_each(drop),
                _ => {}
            }
        }
    }
    let mut result: Vec<Candidate> = Vec::new();
    for chosen in [by_order(op, &inputs), by_name(op, &inputs, false), by_name(op, &inputs, true)].into_iter().flatten()
    {
        let candidate = assemble(op, call, &inputs, &chosen, &outputs);
        if let Some(candidate) = candidate.filter(|candidate| !result.contains(candidate)) {
            result.push(candidate);
        }
    }
    let formed: Vec<Candidate> = result.iter().flat_map(forms::forms).collect();
    result.extend(formed);
    result
}

/// For each input of the definition the position of its argument.
type Chosen = Vec<Option<usize>>;

/// As many tensors, or tensors left out, as there are inputs; or as many as there are required ones.
fn by_order(op: &DescribedOp, arguments: &[(&str, &Argument)]) -> Option<Chosen> {
    let positions = |with_nothing: bool| -> Vec<usize> {
        let wanted = |argument: &Argument| match argument {
            Argument::Tensor(_) | Argument::Tensors(_) => true,
            Argument::Nothing => with_nothing,
            _ => false,
        };
        (0..arguments.len()).filter(|&position| wanted(arguments[position].1)).collect()
    };
    for with_nothing in [true, false] {
        let given = positions(with_nothing);
        if given.len() == op.inputs.len() {
            let fits = given.iter().zip(&op.inputs).all(|(&position, found)| match arguments[position].1 {
                Argument::Nothing => is_optional(found),
                argument => kind_fits(op, found, argument),
            });
            if fits {
                return Some(given.into_iter().map(Some).collect());
            }
        }
    }
    let given = positions(false);
    let required = op.inputs.iter().filter(|found| !is_optional(found)).count();
    let fits = given
        .iter()
        .zip(op.inputs.iter().filter(|found| !is_optional(found)))
        .all(|(&position, found)| kind_fits(op, found, arguments[position].1));
    (given.len() == required && required > 0 && fits).then(|| {
        let mut given = given.into_iter();
        op.inputs.iter().map(|found| if is_optional(found) { None } else { given.next() }).collect()
    })
}

/// Inputs whose names agree with an argument's, or mean the same where `roles` count; then tensors, then lists of numbers, in
/// order.
fn by_name(op: &DescribedOp, arguments: &[(&str, &Argument)], roles: bool) -> Option<Chosen> {
    let mut used = vec![false; arguments.len()];
    let mut chosen: Chosen = vec![None; op.inputs.len()];
    for (place, found) in chosen.iter_mut().zip(&op.inputs) {
        let wanted = plain(&found.name);
        let position = (0..arguments.len()).find(|&position| {
            !used[position] && plain(arguments[position].0) == wanted && can_be_input(arguments[position].1)
        });
        if let Some(position) = position {
            (used[position], *place) = (true, Some(position));
        }
    }
    // `gradOutput` and `self` of an interface are `grads` and `x` of the definition.
    for (place, found) in chosen.iter_mut().zip(&op.inputs) {
        let Some(wanted) = role(&found.name).filter(|_| roles && place.is_none() && !is_optional(found)) else {
            continue;
        };
        let position = (0..arguments.len()).find(|&position| {
            let (name, argument) = arguments[position];
            !used[position]
                && role(name) == Some(wanted)
                && matches!(argument, Argument::Tensor(_) | Argument::Tensors(_))
                && kind_fits(op, found, argument)
        });
        if let Some(position) = position {
            (used[position], *place) = (true, Some(position));
        }
    }
    let kinds: [fn(&Argument) -> bool; 2] = [
        |argument| matches!(argument, Argument::Tensor(_) | Argument::Tensors(_)),
        |argument| matches!(argument, Argument::Numbers(_) | Argument::Number(_)),
    ];
    for kind in kinds {
        for (place, found) in chosen.iter_mut().zip(&op.inputs) {
            if place.is_some() || is_optional(found) {
                continue;
            }
            // A number that an attribute is named after is that attribute.
            let is_attribute = |position: usize| {
                !matches!(arguments[position].1, Argument::Tensor(_) | Argument::Tensors(_))
                    && op.attrs.iter().any(|attribute| plain(&attribute.name) == plain(arguments[position].0))
            };
            let position = (0..arguments.len()).find(|&position| {
                !used[position]
                    && kind(arguments[position].1)
                    && !is_attribute(position)
                    && (kind_fits(op, found, arguments[position].1)
                        || roles && gives_shape(found, arguments[position].1))
            });
            if let Some(position) = position {
                (used[position], *place) = (true, Some(position));
            }
        }
    }
    let complete = chosen.iter().zip(&op.inputs).all(|(place, found)| place.is_some() || is_optional(found));
    complete.then_some(chosen)
}

/// Whether whole numbers stand where whole numbers are wanted, and lists of tensors where there may be several; another
/// width or precision is a matter of conversion, and an epsilon is no list of axes.
fn kind_fits(op: &DescribedOp, found: &DescribedTensor, argument: &Argument) -> bool {
    let is_whole = |dtype: &str| dtype.contains("int") || dtype.contains("INT") || dtype == "bool";
    let fits = |value: &f64| value.fract() == 0.0 || !found.dtypes.iter().all(|dtype| is_whole(dtype));
    match argument {
        Argument::Tensors(_) => is_dynamic(found) || !op.inputs.iter().any(is_dynamic),
        Argument::Number(value) => !is_dynamic(found) && fits(value) && !is_named_shape(found),
        Argument::Numbers(values) => !is_dynamic(found) && values.iter().all(fits),
        Argument::Tensor(tensor) if !tensor.dtype.is_empty() && !found.dtypes.is_empty() => {
            found.dtypes.iter().any(|dtype| *dtype == tensor.dtype || is_whole(dtype) == is_whole(&tensor.dtype))
        }
        _ => true,
    }
}

/// What a tensor is to an operator, where its name says so.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Gradient of the forward pass's output.
    Gradient,
    /// The tensor that the operator works on.
    Subject,
    /// Positions.
    Positions,
}

fn role(name: &str) -> Option<Role> {
    let name = plain(name);
    let is_gradient = name.contains("grad") && !name.contains("input") && !name.ends_with('x');
    match name.as_str() {
        "self" | "x" | "input" | "inputx" | "data" => Some(Role::Subject),
        "indice" | "index" | "argmax" | "indices" => Some(Role::Positions),
        "dy" | "dout" => Some(Role::Gradient),
        _ if is_gradient => Some(Role::Gradient),
        _ => None,
    }
}

/// Whether an input is the shape of a tensor that the interface has instead.
fn gives_shape(found: &DescribedTensor, argument: &Argument) -> bool {
    let is_whole = |dtype: &str| dtype.contains("int");
    let whole = is_named_shape(found) && found.dtypes.iter().all(|dtype| is_whole(dtype));
    whole && matches!(argument, Argument::Tensor(tensor) if !tensor.shape.is_empty() && !is_whole(&tensor.dtype))
}

/// Whether an input's name says that it has a length for each of some axes.
fn is_named_shape(found: &DescribedTensor) -> bool {
    found.name.to_ascii_lowercase().ends_with("shape")
}

fn can_be_input(argument: &Argument) -> bool {
    !matches!(argument, Argument::Text(_) | Argument::Bool(_) | Argument::Unknown | Argument::Nothing)
}

/// `x1DeviceAddr`, `X1_ref` and `x1Optional` are `x1`, and `scalesH` is `scale_h`.
fn plain(name: &str) -> String {
    let singular = |word: &str| word.strip_suffix('s').filter(|shorter| shorter.len() > 2).unwrap_or(word).to_owned();
    let mut name: String = project::snake_case(name).split('_').map(singular).collect();
    name.retain(|letter| letter.is_ascii_alphanumeric());
    for ending in ["deviceaddr", "optional", "tensorlist", "tensor", "ref", "arr", "array", "value", "scalar"] {
        if let Some(shorter) = name.strip_suffix(ending).filter(|shorter| !shorter.is_empty()) {
            name.truncate(shorter.len());
        }
    }
    name
}

fn assemble(
    op: &DescribedOp,
    call: &Call,
    arguments: &[(&str, &Argument)],
    chosen: &[Option<usize>],
    outputs: &[CallTensor],
) -> Option<Candidate> {
    let given: Vec<(usize, Vec<CallTensor>)> = chosen
        .iter()
        .enumerate()
        .filter_map(|(index, position)| Some((index, tensors(arguments[(*position)?].1, &op.inputs[index]))))
        .filter(|(_, tensors)| !tensors.is_empty())
        .collect();
    let combination = combination(op, &given)?;
    let mut inputs = Vec::new();
    for (index, list) in &given {
        let found = &op.inputs[*index];
        inputs.extend(list.iter().map(|tensor| spec(found, tensor, combination)));
    }
    let instances = |found: &DescribedTensor| match is_dynamic(found) && op.outputs.len() == 1 {
        // A list as the only output is as long as the list that is given, or as the first list among the inputs.
        true if outputs.len() > 1 => outputs.len(),
        true => given.iter().map(|(_, list)| list.len()).max().unwrap_or(1),
        false => 1,
    };
    let outputs_of: Vec<TensorSpec> = op
        .outputs
        .iter()
        .flat_map(|found| {
            let spec = spec(found, &CallTensor::default(), combination);
            std::iter::repeat_n(TensorSpec { shape: None, ..spec }, instances(found))
        })
        .collect();
    let output_shapes = match outputs.len() == outputs_of.len() {
        true => outputs.iter().map(|tensor| tensor.shape.clone()).collect(),
        false => Vec::new(),
    };
    let rest: Vec<(&str, &Argument)> = (0..arguments.len())
        .filter(|position| !chosen.contains(&Some(*position)))
        .map(|position| arguments[position])
        .collect();
    let beside = Beside::new(op, &inputs, &outputs_of, &output_shapes);
    let (attributes, assumed) = attributes(op, &rest, call.origin, &beside);
    Some(Candidate {
        origin: call.origin,
        place: call.place.clone(),
        inputs,
        outputs: outputs_of,
        output_shapes,
        attributes,
        data: None,
        resized: false,
        assumed,
    })
}

/// What an argument is as an input.
fn tensors(argument: &Argument, found: &DescribedTensor) -> Vec<CallTensor> {
    match argument {
        Argument::Tensor(tensor) if gives_shape(found, argument) => vec![CallTensor {
            shape: vec![tensor.shape.len() as u64],
            values: tensor.shape.iter().map(|&size| size as f64).collect(),
            ..CallTensor::default()
        }],
        Argument::Tensor(tensor) => vec![tensor.clone()],
        Argument::Tensors(list) if is_dynamic(found) => list.clone(),
        Argument::Tensors(list) => list.first().cloned().into_iter().collect(),
        Argument::Numbers(values) => {
            vec![CallTensor { shape: vec![values.len() as u64], values: values.clone(), ..CallTensor::default() }]
        }
        Argument::Number(value) => vec![CallTensor { shape: vec![1], values: vec![*value], ..CallTensor::default() }],
        _ => Vec::new(),
    }
}

/// The position in the dtype lists that most of the given tensors agree with.
fn combination(op: &DescribedOp, given: &[(usize, Vec<CallTensor>)]) -> Option<usize> {
    if given.is_empty() && !op.inputs.is_empty() {
        return None;
    }
    let length = op.inputs.iter().chain(&op.outputs).map(|found| found.dtypes.len()).max().unwrap_or(0).max(1);
    let agreeing = |position: usize| {
        given
            .iter()
            .filter(|(index, list)| {
                let dtype = op.inputs[*index].dtypes.get(position);
                list.iter().all(|tensor| dtype.is_none_or(|dtype| *dtype == tensor.dtype))
            })
            .count()
    };
    // Of equals the first: `max_by_key` gives the last.
    (0..length).rev().max_by_key(|&position| (agreeing(position), Reverse(op.private_formats(position))))
}

fn spec(found: &DescribedTensor, tensor: &CallTensor, combination: usize) -> TensorSpec {
    let pick = |list: &[String]| list.get(combination).or_else(|| list.first()).cloned();
    let dtype = pick(&found.dtypes).or_else(|| Some(tensor.dtype.clone()).filter(|dtype| !dtype.is_empty()));
    let dtype = dtype.unwrap_or_else(|| "float16".to_owned());
    let listed = pick(&found.formats).unwrap_or_else(|| "ND".to_owned());
    let format = match found.formats.contains(&tensor.format) {
        true => tensor.format.clone(),
        false => listed,
    };
    let range = tensor.range.unwrap_or_else(|| value_range(&found.name, &dtype));
    let spec = TensorSpec {
        name: found.name.clone(),
        dtype,
        format,
        shape: Some(tensor.shape.clone()),
        range,
        values: tensor.values.clone(),
    };
    loosen::unlike(spec)
}

/// Attributes by name. Those left over are the values left over, in order, if there are as many: where no name agrees, and
/// in a program that calls the interface where all of them fit. Also whether one that must be given is not among them: interfaces work
/// some out of the shapes, and nobody tells how.
fn attributes(
    op: &DescribedOp,
    rest: &[(&str, &Argument)],
    origin: Origin,
    beside: &Beside<'_>,
) -> (Vec<Attribute>, bool) {
    let mut values: Vec<&(&str, &Argument)> = rest
        .iter()
        .filter(|(_, argument)| {
            !matches!(argument, Argument::Tensor(_) | Argument::Tensors(_) | Argument::Nothing | Argument::Unknown)
        })
        .collect();
    let mut given: Vec<Option<&Argument>> = Vec::new();
    for found in &op.attrs {
        let named = values.iter().position(|(name, _)| plain(name) == plain(&found.name));
        given.push(named.map(|position| values.remove(position).1));
    }
    let left: Vec<usize> = (0..given.len()).filter(|&index| given[index].is_none()).collect();
    if left.len() == values.len() {
        let fits = |(&index, (_, argument)): (&usize, &&(&str, &Argument))| {
            attribute_text(&op.attrs[index].kind.to_ascii_lowercase(), argument).is_some()
        };
        let all_fit = || origin == Origin::Example && left.iter().zip(&values).all(fits);
        if left.len() == given.len() || all_fit() {
            left.iter().zip(&values).for_each(|(&index, (_, argument))| given[index] = Some(argument));
        }
    }
    let mut assumed = false;
    let mut text = |found: &DescribedAttribute, argument: Option<&Argument>| {
        let kind = found.kind.to_ascii_lowercase();
        match argument.and_then(|argument| attribute_text(&kind, argument)) {
            Some(value) => Some(Attribute { name: found.name.clone(), kind, value }),
            None => {
                assumed |= found.required && beside.size(found).is_none();
                beside.attribute(found)
            }
        }
    };
    let attributes = op.attrs.iter().zip(given).filter_map(|(found, argument)| text(found, argument)).collect();
    (attributes, assumed)
}

/// An argument as the value of an attribute of a type.
fn attribute_text(kind: &str, argument: &Argument) -> Option<String> {
    let whole = |value: &f64| format!("{}", value.trunc());
    Some(match (kind, argument) {
        ("int", Argument::Number(value)) => whole(value),
        ("int", Argument::Bool(value)) => u8::from(*value).to_string(),
        ("float", Argument::Number(value)) => format!("{value:?}"),
        ("bool", Argument::Bool(value)) => value.to_string(),
        ("bool", Argument::Number(value)) => (*value != 0.0).to_string(),
        ("string", Argument::Text(value)) => value.clone(),
        ("list_int", Argument::Numbers(values)) => values.iter().map(whole).collect::<Vec<_>>().join(","),
        ("list_int", Argument::Number(value)) => whole(value),
        ("list_float", Argument::Numbers(values)) => {
            values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(",")
        }
        ("list_bool", Argument::Numbers(values)) => {
            values.iter().map(|value| (*value != 0.0).to_string()).collect::<Vec<_>>().join(",")
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(inputs: &[(&str, &str)]) -> DescribedOp {
        let tensor = |(name, dtype): &(&str, &str)| serde_json::json!({ "name": name, "param": "required", "dtypes": [dtype], "formats": [] });
        let inputs: Vec<_> = inputs.iter().map(tensor).collect();
        let outputs = [tensor(&("y", "float32"))];
        let op = serde_json::json!({ "type": "PoolGrad", "inputs": inputs, "outputs": outputs, "attrs": [] });
        serde_json::from_value(op).unwrap()
    }

    fn given(name: &str, dtype: &str, shape: &[u64]) -> (String, Argument) {
        let tensor = CallTensor { dtype: dtype.to_owned(), shape: shape.to_vec(), ..CallTensor::default() };
        (name.to_owned(), Argument::Tensor(tensor))
    }

    /// Name, shape and values of an input.
    type Input = (String, Vec<u64>, Vec<f64>);

    fn inputs_of(op: &DescribedOp, arguments: Vec<(String, Argument)>) -> Vec<Vec<Input>> {
        let call = Call { origin: Origin::Example, place: String::new(), arguments, outputs: None, outputs_last: true };
        let inputs = |candidate: Candidate| {
            let inputs = candidate.inputs.into_iter();
            inputs.map(|spec| (spec.name, spec.shape.unwrap_or_default(), spec.values)).collect()
        };
        candidates(op, &call).into_iter().map(inputs).collect()
    }

    #[test]
    fn an_interface_has_other_names_for_the_same_and_another_order() {
        let op = op(&[("x", "float32"), ("grad", "float32"), ("argmax", "int32")]);
        let call = vec![
            given("gradOutput", "float32", &[1, 2]),
            given("self", "float32", &[1, 8]),
            given("indices", "int32", &[1, 2]),
            given("gradInput", "float32", &[1, 8]),
        ];
        let found = inputs_of(&op, call);
        let of = |place: usize| found[place].iter().map(|(_, shape, _)| shape.clone()).collect::<Vec<_>>();
        assert_eq!(of(0), [[1, 2], [1, 8], [1, 2]], "by order");
        assert_eq!(of(1), [[1, 8], [1, 2], [1, 2]], "by what they are");
    }

    #[test]
    fn of_an_operator_of_numbers_the_tensor_is_the_output() {
        let op = op(&[("start", "float32"), ("stop", "float32"), ("num", "int64")]);
        let number = |name: &str, value: f64| (name.to_owned(), Argument::Number(value));
        let out = given("out", "float32", &[8]);
        let call = vec![number("start", 0.0), number("end", 1.0), number("steps", 8.0), out];
        let values: Vec<Vec<f64>> = inputs_of(&op, call)[0].iter().map(|(_, _, values)| values.clone()).collect();
        assert_eq!(values, [[0.0], [1.0], [8.0]]);
    }

    #[test]
    fn a_shape_that_is_an_input_is_the_shape_of_a_tensor_that_only_the_interface_has() {
        let op = op(&[("orig_input_shape", "int32"), ("grads", "float32")]);
        let call = vec![
            given("gradOutput", "float32", &[1, 4, 2, 2]),
            given("self", "float32", &[1, 4, 8, 6]),
            given("gradInput", "float32", &[1, 4, 8, 6]),
        ];
        let found = inputs_of(&op, call);
        assert_eq!(
            found,
            [vec![
                ("orig_input_shape".to_owned(), vec![4], vec![1.0, 4.0, 8.0, 6.0]),
                ("grads".to_owned(), vec![1, 4, 2, 2], vec![]),
            ]]
        );
    }
}
