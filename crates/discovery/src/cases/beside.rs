//! Attributes of a case whose source says nothing about them, beside tensors whose shapes it gives.

use super::guess::{attribute_for, numbers};
use super::{DescribedAttribute, DescribedOp};
use manifest::{Attribute, TensorSpec};

/// The tensors of a case.
pub(super) struct Beside<'data> {
    op: &'data DescribedOp,
    /// Names and shapes; outputs only where the source has their shapes.
    inputs: Vec<(&'data str, &'data [u64])>,
    outputs: Vec<(&'data str, &'data [u64])>,
}

impl<'data> Beside<'data> {
    /// `output_shapes` is empty where the source has none.
    pub(super) fn new(
        op: &'data DescribedOp,
        inputs: &'data [TensorSpec],
        outputs: &'data [TensorSpec],
        output_shapes: &'data [Vec<u64>],
    ) -> Self {
        let inputs = inputs.iter().filter_map(|spec| Some((spec.name.as_str(), spec.shape.as_deref()?))).collect();
        let outputs = outputs.iter().zip(output_shapes);
        let outputs = outputs.map(|(spec, shape)| (spec.name.as_str(), shape.as_slice())).collect();
        Beside { op, inputs, outputs }
    }

    /// An attribute that must be given, and one that is a tensor's size by its name: what a kernel is told of no size, it
    /// does not write.
    pub(super) fn attribute(&self, found: &DescribedAttribute) -> Option<Attribute> {
        self.size(found).or_else(|| attribute_for(found, &[1, 1, 1, 1]))
    }

    /// An attribute that is a tensor's size by its name: that is known, where another value would be assumed.
    pub(super) fn size(&self, found: &DescribedAttribute) -> Option<Attribute> {
        let has_default = found.default.as_array().is_some_and(|items| !items.is_empty());
        let is_list = found.kind.eq_ignore_ascii_case("list_int");
        let shape = if is_list && !has_default { self.shape_named(&found.name) } else { None };
        shape.map(|shape| Attribute {
            name: found.name.clone(),
            kind: found.kind.to_ascii_lowercase(),
            value: numbers(&found.name, shape),
        })
    }

    /// Shape of the tensor that `output_size`, `input_size` or `y_grad_shape` names. Operators of the backward pass name
    /// tensors as the forward pass does.
    fn shape_named(&self, name: &str) -> Option<&'data [u64]> {
        let snake = project::snake_case(name);
        let words: Vec<&str> = snake.split('_').collect();
        let (last, which) = words.split_last()?;
        if !matches!(*last, "size" | "sizes" | "shape" | "shapes") {
            return None;
        }
        let which_name = which.join("_");
        let mut tensors = self.outputs.iter().chain(&self.inputs);
        if let Some((_, shape)) = tensors.find(|(tensor, _)| tensor.eq_ignore_ascii_case(&which_name)) {
            return Some(shape);
        }
        let all = |known: &[&str]| which.iter().all(|word| known.contains(word));
        let is_output = all(&["output", "out"]);
        if !is_output && !all(&["input", "orig", "ori", "original"]) {
            return None;
        }
        let is_backward = self.op.kind.contains("Grad") || self.op.kind.contains("Backward");
        let tensors = if is_output == is_backward { &self.inputs } else { &self.outputs };
        // Sizes of outputs are those of dimensions in space, behind batch and channels.
        let is_flat = |shape: &[u64]| is_output && last.starts_with("size") && shape.len() <= 2;
        tensors.first().map(|(_, shape)| *shape).filter(|shape| !is_flat(shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::guess::tensor;

    #[test]
    fn a_size_by_name_is_the_tensors() {
        let described = |name: &str| serde_json::json!({ "name": name, "param": "required", "dtypes": ["float32"] });
        let list = |name: &str| serde_json::json!({ "name": name, "type": "list_int" });
        let op = |kind: &str| -> DescribedOp {
            serde_json::from_value(serde_json::json!({
                "type": kind, "inputs": [described("x")], "outputs": [described("y")],
                "attrs": [list("output_size"), list("input_size"), list("y_shape"), list("kernel_size"), list("scales")],
            }))
            .unwrap()
        };
        let values = |kind: &str, outputs: &[Vec<u64>]| -> Vec<(String, String)> {
            let op = op(kind);
            let inputs = [TensorSpec { shape: Some(vec![2, 3, 4, 5]), ..tensor(&op.inputs[0], 0) }];
            let specs = [tensor(&op.outputs[0], 0)];
            let beside = Beside::new(&op, &inputs, &specs, outputs);
            let found = op.attrs.iter().filter_map(|found| beside.attribute(found));
            found.map(|attribute| (attribute.name, attribute.value)).collect()
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            values("Resize", &[vec![2, 3, 8, 9]]),
            [pair("output_size", "8,9"), pair("input_size", "2,3,4,5"), pair("y_shape", "2,3,8,9"),]
        );
        assert_eq!(
            values("ResizeGrad", &[vec![2, 3, 8, 9]])[..2],
            [pair("output_size", "4,5"), pair("input_size", "2,3,8,9"),]
        );
        assert_eq!(
            values("Resize", &[]),
            [pair("input_size", "2,3,4,5")],
            "nothing is made up for an output of no shape"
        );
    }
}
