//! What the runner says about compiled operators (mode `describe`): the definitions that cases must fit.

use std::collections::BTreeMap;

use serde::Deserialize;

use backend::{JobInput, JobOutput, KernelJob};
use build::{KernelVariant, TensorBinding, TilingClass};
use project::{KernelEntry, OperatorProject};
use source::arch::Arch;

/// Operators of a host library.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct DescribedOps {
    /// The operators.
    #[serde(default)]
    pub ops: Vec<DescribedOp>,
}

/// One operator.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct DescribedOp {
    /// Operator type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Inputs in order.
    #[serde(default)]
    pub inputs: Vec<DescribedTensor>,
    /// Outputs in order.
    #[serde(default)]
    pub outputs: Vec<DescribedTensor>,
    /// Attributes in order.
    #[serde(default)]
    pub attrs: Vec<DescribedAttribute>,
    /// Whether a tiling function is registered; `None` where nobody said.
    #[serde(default)]
    pub has_tiling: Option<bool>,
    /// Chips that the definition is for, with their settings.
    #[serde(default)]
    pub configs: BTreeMap<String, serde_json::Value>,
    /// Everything that definition and registration say, a line each.
    #[serde(default)]
    pub interface: Vec<String>,
}

/// An input or output.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct DescribedTensor {
    /// Name.
    pub name: String,
    /// Dtype names.
    #[serde(default)]
    pub dtypes: Vec<String>,
    /// Format names, position by position with the dtypes.
    #[serde(default)]
    pub formats: Vec<String>,
    /// `required`, `optional` or `dynamic`.
    #[serde(default)]
    pub param: String,
}

/// An attribute.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct DescribedAttribute {
    /// Name.
    pub name: String,
    /// Type name.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it must be given.
    #[serde(default)]
    pub required: bool,
    /// Default value, if it has one.
    #[serde(default)]
    pub default: serde_json::Value,
}

impl DescribedTensor {
    /// Whether it is a list of any number of tensors.
    pub fn is_list(&self) -> bool {
        self.param == "dynamic"
    }
}

impl DescribedOps {
    /// From what the runner wrote; empty where that is something else.
    pub fn of(ops: &serde_json::Value) -> Self {
        serde_json::from_value(serde_json::json!({ "ops": ops })).unwrap_or_default()
    }

    /// The operator that a project's directory is about, with its kernel entry: the one with an entry of its name.
    pub fn about(&self, project: &OperatorProject) -> Option<(DescribedOp, KernelEntry)> {
        // What is registered without a definition has only a name; there are operators with nothing but attributes.
        let is_defined = |op: &&DescribedOp| !(op.inputs.is_empty() && op.outputs.is_empty() && op.attrs.is_empty());
        let defined = || self.ops.iter().filter(is_defined);
        let named = defined().find_map(|op| Some((op.clone(), project.entry_named(&op.kind)?.clone())));
        named.or_else(|| Some((defined().next()?.clone(), project.kernel_entry()?.clone())))
    }
}

impl DescribedOp {
    /// The chips of the definition, if none of them is one of this family.
    pub fn only_for_others(&self, arch: &Arch) -> Option<Vec<&str>> {
        let chips: Vec<&str> = self.configs.keys().map(String::as_str).collect();
        (!chips.is_empty() && !chips.iter().any(|chip| arch.is_of_family(chip))).then_some(chips)
    }

    /// Inputs and outputs whose format at a position of the lists is one that only the device uses (`FRACTAL_NZ`, `NC1HWC0`):
    /// shapes that people write down are not in it.
    pub(super) fn private_formats(&self, position: usize) -> usize {
        let is_private = |format: &str| format.starts_with("FRACTAL") || format.contains("C0");
        let tensors = self.inputs.iter().chain(&self.outputs);
        tensors.filter(|found| found.formats.get(position).is_some_and(|format| is_private(format))).count()
    }

    /// The kernel that a job needs for its tiling key.
    pub fn variant(
        &self,
        entry: KernelEntry,
        job: &KernelJob,
        tiling_key: u64,
        tiling_classes: Vec<TilingClass>,
    ) -> KernelVariant {
        let (inputs, outputs) = self.bindings(&job.inputs, &job.outputs);
        KernelVariant { op_type: self.kind.clone(), entry, inputs, outputs, tiling_key, tiling_classes }
    }

    /// What the compiler binds to the kernel's parameters: every input once, those that a call leaves out too, in the dtype
    /// and format of the combination; then every output once.
    pub fn bindings(&self, inputs: &[JobInput], outputs: &[JobOutput]) -> (Vec<TensorBinding>, Vec<TensorBinding>) {
        let binding = |name: &str, dtype: &str, format: &str| TensorBinding {
            name: name.to_owned(),
            dtype: dtype.to_owned(),
            format: format.to_owned(),
        };
        let position = inputs
            .first()
            .and_then(|input| self.inputs.iter().find(|found| found.name == input.name).map(|found| (found, input)))
            .and_then(|(found, input)| found.dtypes.iter().position(|dtype| *dtype == input.dtype))
            .unwrap_or(0);
        let pick = |list: &[String], other: &str| {
            list.get(position).or_else(|| list.first()).cloned().unwrap_or_else(|| other.to_owned())
        };
        let bound_inputs = self.inputs.iter().map(|found| match inputs.iter().find(|input| input.name == found.name) {
            Some(input) => binding(&input.name, &input.dtype, &input.format),
            None => binding(&found.name, &pick(&found.dtypes, "float16"), &pick(&found.formats, "ND")),
        });
        let mut bound_outputs: Vec<TensorBinding> = Vec::new();
        // Of an operator that defines inputs alone they are some of these.
        let changed_inputs = self.outputs.is_empty() && !self.inputs.is_empty();
        for output in outputs.iter().filter(|_| !changed_inputs) {
            if !bound_outputs.iter().any(|known| known.name == output.name) {
                bound_outputs.push(binding(&output.name, &output.dtype, &output.format));
            }
        }
        (bound_inputs.collect(), bound_outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_an_operator_changes_are_no_parameters_twice() {
        let tensor = |name: &str| serde_json::json!({ "name": name, "param": "required", "dtypes": ["float16"] });
        let output = |name: &str| JobOutput {
            name: name.to_owned(),
            dtype: "float16".to_owned(),
            format: "ND".to_owned(),
            shape: Some(vec![4]),
            initial: None,
        };
        let outputs_of = |described: &[&str]| {
            let outputs: Vec<_> = described.iter().map(|name| tensor(name)).collect();
            let op =
                serde_json::json!({ "type": "Store", "inputs": [tensor("x"), tensor("cache")], "outputs": outputs });
            let op: DescribedOp = serde_json::from_value(op).unwrap();
            op.bindings(&[], &[output("cache")]).1.len()
        };
        assert_eq!((outputs_of(&[]), outputs_of(&["cache"])), (0, 1));
    }
}
