//! The manifest as it is written: names and types of the keys, nothing else. Values keep their bytes for messages.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use space::Value;

use super::cann::DeviceSettings;
use super::model::{ModelSettings, ProposerSettings};
use super::valid::{HazardPolicy, Layout};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireManifest {
    pub operator: Spanned<WireOperator>,
    #[serde(default)]
    pub machine: WireMachine,
    #[serde(default)]
    pub cmake: WireCmake,
    #[serde(default)]
    pub direct: WireDirect,
    #[serde(default)]
    pub case: Vec<Spanned<WireCase>>,
    #[serde(default)]
    pub tunable: BTreeMap<String, Spanned<WireTunable>>,
    #[serde(default)]
    pub space: WireSpace,
    #[serde(default)]
    pub verify: WireVerify,
    #[serde(default)]
    pub allow: Vec<Spanned<WireAllow>>,
    #[serde(default)]
    pub check: WireCheck,
    #[serde(default)]
    pub limits: WireLimits,
    #[serde(default)]
    pub sdk: WireSdk,
    pub cann: Option<Spanned<DeviceSettings>>,
    pub model: Option<Spanned<ModelSettings>>,
    pub proposer: Option<Spanned<ProposerSettings>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireSdk {
    #[serde(default)]
    pub headers: WireHeaders,
    pub toolkit: Option<Spanned<String>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WireHeaders {
    #[default]
    Own,
    Toolkit,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireOperator {
    pub name: Spanned<String>,
    pub layout: Layout,
    pub kernel: Spanned<String>,
    #[serde(default)]
    pub tiling: String,
    pub sources: Spanned<Vec<Spanned<String>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireMachine {
    pub name: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireCmake {
    #[serde(default)]
    pub entries: BTreeMap<String, WireScalar>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireDirect {
    #[serde(default)]
    pub prepare: Vec<String>,
    #[serde(default)]
    pub arguments: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireCase {
    pub name: Spanned<String>,
    pub weight: Option<Spanned<f64>>,
    pub hostile: Option<bool>,
    #[serde(default)]
    pub verify_only: bool,
    pub arguments: Option<Vec<String>>,
    #[serde(default)]
    pub inputs: Vec<Spanned<WireTensor>>,
    #[serde(default)]
    pub outputs: Vec<Spanned<WireTensor>>,
    #[serde(default)]
    pub attributes: Vec<Spanned<WireAttribute>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireTensor {
    pub name: Spanned<String>,
    pub dtype: Spanned<String>,
    pub format: Option<Spanned<String>>,
    pub shape: Option<Spanned<Vec<i64>>>,
    pub range: Option<Spanned<Vec<f64>>>,
    pub values: Option<Spanned<Vec<f64>>>,
    pub optional: Option<Spanned<bool>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireAttribute {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: Spanned<String>,
    pub value: Spanned<WireScalar>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireTunable {
    pub file: Option<Spanned<String>>,
    pub constant: Option<Spanned<String>>,
    #[serde(default)]
    pub also: Vec<Spanned<String>>,
    pub call: Option<Spanned<String>>,
    pub first: Option<Spanned<String>>,
    pub index: Option<Spanned<u32>>,
    pub cap: Option<Spanned<String>>,
    pub share: Option<Spanned<String>>,
    pub portion: Option<Spanned<String>>,
    pub of: Option<Spanned<String>>,
    pub cmake: Option<Spanned<String>>,
    pub domain: Spanned<WireDomain>,
    pub default: Option<Spanned<Value>>,
    pub when: Option<Spanned<String>>,
    #[serde(default)]
    pub reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireDomain {
    pub range: Option<Vec<i64>>,
    pub power_of_two: Option<Vec<i64>>,
    pub values: Option<Vec<Value>>,
    pub ordered: Option<bool>,
    #[serde(rename = "bool")]
    pub boolean: Option<bool>,
    pub multiple_of: Option<Vec<i64>>,
    pub permutation: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireSpace {
    #[serde(default)]
    pub constraints: Vec<Spanned<String>>,
    pub case_floor: Option<Spanned<f64>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireVerify {
    pub seeds: Option<Spanned<u32>>,
    pub probes: Option<Spanned<u32>>,
    pub sample_blocks_from_mib: Option<Spanned<u64>>,
    pub reference: Option<Spanned<String>>,
    #[serde(default)]
    pub command: Vec<String>,
    pub golden: Option<Spanned<String>>,
    pub script: Option<Spanned<String>>,
    pub python: Option<String>,
    #[serde(default)]
    pub hazards: HazardPolicy,
    #[serde(default)]
    pub rounding_changes: bool,
    #[serde(default)]
    pub tolerance: BTreeMap<String, Spanned<WireTolerance>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireTolerance {
    #[serde(default)]
    pub absolute: f64,
    #[serde(default)]
    pub relative: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireAllow {
    pub hazard: Spanned<String>,
    pub file: Option<Spanned<String>>,
    pub function: Option<Spanned<String>>,
    pub reason: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireCheck {
    pub tolerance: Option<Spanned<f64>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WireLimits {
    pub run_timeout_s: Option<Spanned<f64>>,
    pub run_memory_mib: Option<Spanned<u64>>,
    pub compile_timeout_s: Option<Spanned<f64>>,
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
