//! The manifest as it is written: names and types of the keys, nothing else. Values keep their bytes for messages.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use space::Value;

use super::cann::DeviceSettings;
use super::model::{ModelSettings, ProposerSettings};
use super::spanned::Spanned;
use super::valid::{HazardPolicy, Layout};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireManifest {
    /// The operator and its sources.
    pub operator: Spanned<WireOperator>,
    /// What times are modelled for.
    #[serde(default)]
    pub machine: WireMachine,
    /// What CMake is told.
    #[serde(default)]
    pub cmake: WireCmake,
    /// For programs that launch their kernel themselves.
    #[serde(default)]
    pub direct: WireDirect,
    /// Workloads, each timed and verified.
    #[serde(default)]
    pub case: Vec<Spanned<WireCase>>,
    /// Places in the sources whose values are searched, by name.
    #[serde(default)]
    pub tunable: BTreeMap<String, Spanned<WireTunable>>,
    /// What holds between tunables, and what no case may lose.
    #[serde(default)]
    pub space: WireSpace,
    /// What counts as right.
    #[serde(default)]
    pub verify: WireVerify,
    /// Hazards of the operator as it stands that are meant to be there.
    #[serde(default)]
    pub allow: Vec<Spanned<WireAllow>>,
    /// What `check` accepts.
    #[serde(default)]
    pub check: WireCheck,
    /// Limits of compilers and runs.
    #[serde(default)]
    pub limits: WireLimits,
    /// Headers that kernels are built against.
    #[serde(default)]
    pub sdk: WireSdk,
    /// A toolkit, its devices, and how times are taken on them.
    pub cann: Option<Spanned<DeviceSettings>>,
    pub model: Option<Spanned<ModelSettings>>,
    pub proposer: Option<Spanned<ProposerSettings>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireSdk {
    /// Whose headers: the embedded ones or a toolkit's.
    #[serde(default)]
    pub headers: WireHeaders,
    /// The toolkit's folder, or a checkout of the open device library.
    pub toolkit: Option<Spanned<String>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WireHeaders {
    #[default]
    Own,
    Toolkit,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireOperator {
    /// Operator type, such as `AddCustom`.
    pub name: Spanned<String>,
    /// Shape of the project.
    pub layout: Layout,
    /// Kernel entry function.
    pub kernel: Spanned<String>,
    /// Tiling function; empty where there is none.
    #[serde(default)]
    pub tiling: String,
    /// Files that tuning may edit, relative to the manifest.
    pub sources: Spanned<Vec<Spanned<String>>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireMachine {
    /// Machine description: a name, or the path of a TOML file.
    pub name: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireCmake {
    /// Cache entries, as `-D` would pass them.
    #[serde(default)]
    pub entries: BTreeMap<String, WireScalar>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireDirect {
    /// Command that runs before the program, for instance to make its input files.
    #[serde(default)]
    pub prepare: Vec<String>,
    /// Arguments of the program.
    #[serde(default)]
    pub arguments: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireCase {
    /// Unique name.
    pub name: Spanned<String>,
    /// Weight in the geometric mean over cases; 1 if not given.
    pub weight: Option<Spanned<f64>>,
    /// Whether it is verified on zeros, denormals, infinities and NaN, too; yes, but for direct-launch programs.
    pub hostile: Option<bool>,
    /// Whether it must be right and is not timed.
    #[serde(default)]
    pub verify_only: bool,
    /// Sizes that it stands for; those nearest to its own if not given.
    pub stands_for: Option<Spanned<WireStandsFor>>,
    /// Arguments of a direct-launch program.
    pub arguments: Option<Vec<String>>,
    /// Inputs, in the operator's order.
    #[serde(default)]
    pub inputs: Vec<Spanned<WireTensor>>,
    /// Outputs, in the operator's order.
    #[serde(default)]
    pub outputs: Vec<Spanned<WireTensor>>,
    /// Attributes of the operator.
    #[serde(default)]
    pub attributes: Vec<Spanned<WireAttribute>>,
}

/// Sizes that a case stands for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireStandsFor {
    /// Least and most elements of the first input, both included.
    pub elements: Spanned<Vec<i64>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireTensor {
    /// Name in the operator definition.
    pub name: Spanned<String>,
    /// Data type, such as `float16`.
    pub dtype: Spanned<String>,
    /// Format; `ND` if not given.
    pub format: Option<Spanned<String>>,
    /// Dimensions; of an output, left out where shape inference decides.
    pub shape: Option<Spanned<Vec<i64>>>,
    /// Lowest and highest value.
    pub range: Option<Spanned<Vec<f64>>>,
    /// The values themselves.
    pub values: Option<Spanned<Vec<f64>>>,
    /// Of an output: whether it may stay unwritten.
    pub optional: Option<Spanned<bool>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireAttribute {
    /// Name in the operator definition.
    pub name: String,
    /// Type: int, float, bool, string, list_int, list_float, list_bool, list_list_int.
    #[serde(rename = "type")]
    pub kind: Spanned<String>,
    /// Value.
    pub value: Spanned<WireScalar>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireTunable {
    /// File that the place is in.
    pub file: Option<Spanned<String>>,
    /// Name of a constant.
    pub constant: Option<Spanned<String>>,
    /// Files whose constant of that name keeps the same value.
    #[serde(default)]
    pub also: Vec<Spanned<String>>,
    /// A function that takes the value as a literal argument.
    pub call: Option<Spanned<String>>,
    /// First argument of that call.
    pub first: Option<Spanned<String>>,
    /// Which argument, from 0.
    pub index: Option<Spanned<u32>>,
    /// Variable or tiling field whose expression, or size of the unified buffer, is limited to the value; without `default` there is no limit at first.
    pub cap: Option<Spanned<String>>,
    /// A number of cores: no more take part than get the value of `of` each; 0 means no such rule.
    pub share: Option<Spanned<String>>,
    /// A size of the unified buffer: no more is planned with than the value, in bytes, for every element that a core gets; 0 means no such rule.
    pub portion: Option<Spanned<String>>,
    /// The work that the cores of `share` divide.
    pub of: Option<Spanned<String>>,
    /// Name of a CMake cache entry.
    pub cmake: Option<Spanned<String>>,
    /// Values that it may have.
    pub domain: Spanned<WireDomain>,
    /// The value in the sources.
    pub default: Option<Spanned<Value>>,
    /// Where it matters, such as `OTHER > 1`; elsewhere it keeps its default.
    pub when: Option<Spanned<String>>,
    /// Why it is there, for people.
    #[serde(default)]
    pub reason: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireDomain {
    /// Least and most, and a step.
    pub range: Option<Vec<i64>>,
    /// Least and most power of two.
    pub power_of_two: Option<Vec<i64>>,
    /// The values one by one.
    pub values: Option<Vec<Value>>,
    /// Whether neighbours in `values` are alike.
    pub ordered: Option<bool>,
    /// True and false.
    #[serde(rename = "bool")]
    pub boolean: Option<bool>,
    /// A step, least and most.
    pub multiple_of: Option<Vec<i64>>,
    /// Words whose orders are the values, as `j,i`.
    pub permutation: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireSpace {
    /// Conditions over tunables and facts of a case.
    #[serde(default)]
    pub constraints: Vec<Spanned<String>>,
    /// Ratio by which no case may end slower than it began, such as 1.02.
    pub case_floor: Option<Spanned<f64>>,
    /// Whether the tiling function may be made to choose values by size; yes if not given.
    pub dispatch: Option<bool>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireVerify {
    /// Seeds of input data per case; 3 if not given.
    pub seeds: Option<Spanned<u32>>,
    /// Cases that the search does not see and that a winner must hold on, at most; 0 for none.
    pub probes: Option<Spanned<u32>>,
    /// MiB of tensors from which a case is ranked by blocks that stand for all others; 0 for never.
    pub sample_blocks_from_mib: Option<Spanned<u64>>,
    /// Source of right answers: `baseline`, `definition`, `command`, `npy` or `script`.
    pub reference: Option<Spanned<String>>,
    /// Command that computes outputs; `{input:NAME}`, `{output:NAME}` and `{case}` are put in.
    #[serde(default)]
    pub command: Vec<String>,
    /// Directory with `<case>/<tensor>.npy`, for `npy`.
    pub golden: Option<Spanned<String>>,
    /// Python file with a function that computes the outputs.
    pub script: Option<Spanned<String>>,
    /// Python that runs script or definition.
    pub python: Option<String>,
    /// Hazards that reject.
    #[serde(default)]
    pub hazards: HazardPolicy,
    /// Whether rewrites may change rounding or the order of summation, within the tolerance.
    #[serde(default)]
    pub rounding_changes: bool,
    /// How far outputs may be off, by data type.
    #[serde(default)]
    pub tolerance: BTreeMap<String, Spanned<WireTolerance>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireTolerance {
    /// Absolute difference.
    #[serde(default)]
    pub absolute: f64,
    /// Difference as a share of the right value.
    #[serde(default)]
    pub relative: f64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireAllow {
    /// Kind of hazard.
    pub hazard: Spanned<String>,
    /// File that shows it.
    pub file: Option<Spanned<String>>,
    /// Function that shows it.
    pub function: Option<Spanned<String>>,
    /// Why it is meant to be there.
    pub reason: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireCheck {
    /// Ratio up to which a case is not slower, such as 1.03.
    pub tolerance: Option<Spanned<f64>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireLimits {
    /// Seconds that one kernel run may take.
    pub run_timeout_s: Option<Spanned<f64>>,
    /// Memory that a run may have, in MiB.
    pub run_memory_mib: Option<Spanned<u64>>,
    /// Seconds that a compilation may take.
    pub compile_timeout_s: Option<Spanned<f64>>,
    /// Memory that a compilation may have, in MiB.
    pub compile_memory_mib: Option<Spanned<u64>>,
}

/// A scalar or a list of scalars, kept with the kind it was written as.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum WireScalar {
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    List(Vec<WireScalar>),
}

impl fmt::Display for WireScalar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireScalar::Int(value) => write!(formatter, "{value}"),
            WireScalar::Float(value) => write!(formatter, "{value:?}"),
            WireScalar::Bool(value) => write!(formatter, "{value}"),
            WireScalar::Text(value) => formatter.write_str(value),
            WireScalar::List(values) => {
                let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
                formatter.write_str(&texts.join(","))
            }
        }
    }
}

impl<'de> Deserialize<'de> for WireScalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ScalarVisitor;
        impl<'de> Visitor<'de> for ScalarVisitor {
            type Value = WireScalar;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number, true or false, a string, or a list of them")
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<WireScalar, E> {
                Ok(WireScalar::Int(value))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<WireScalar, E> {
                i64::try_from(value).map(WireScalar::Int).map_err(|_| E::custom("integer is too large"))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<WireScalar, E> {
                Ok(WireScalar::Float(value))
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<WireScalar, E> {
                Ok(WireScalar::Bool(value))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<WireScalar, E> {
                Ok(WireScalar::Text(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<WireScalar, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = sequence.next_element()? {
                    values.push(value);
                }
                Ok(WireScalar::List(values))
            }
        }
        deserializer.deserialize_any(ScalarVisitor)
    }
}

impl JsonSchema for WireScalar {
    fn schema_name() -> Cow<'static, str> {
        "Scalar".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let again = generator.subschema_for::<Self>();
        json_schema!({
            "description": "A number, true or false, a string, or a list of them",
            "anyOf": [{ "type": ["number", "boolean", "string"] }, { "type": "array", "items": again }]
        })
    }
}
