//! What the runner says about compiled operators (mode `describe`).

use serde::Deserialize;

use crate::manifest::Attribute;

use super::FoundTensor;
use super::operator::Definition;

/// Operators of a host library.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct DescribedOps {
    /// The operators.
    #[serde(default)]
    pub ops: Vec<DescribedOp>,
}

/// One operator.
#[derive(Clone, Debug, PartialEq, Deserialize)]
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

impl DescribedOp {
    pub(super) fn definition(&self) -> Definition {
        let tensors = |list: &[DescribedTensor]| {
            let found = list.iter().map(|tensor| FoundTensor {
                name: tensor.name.clone(),
                dtypes: tensor.dtypes.clone(),
                optional: tensor.param.eq_ignore_ascii_case("optional"),
            });
            found.collect()
        };
        let attributes = self.attrs.iter().filter_map(|attribute| {
            let kind = attribute.kind.to_ascii_lowercase();
            let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let value = match &attribute.default {
                serde_json::Value::Null => return None,
                serde_json::Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
                value => text(value),
            };
            Some(Attribute { name: attribute.name.clone(), kind, value })
        });
        Definition { inputs: tensors(&self.inputs), outputs: tensors(&self.outputs), attributes: attributes.collect() }
    }
}
