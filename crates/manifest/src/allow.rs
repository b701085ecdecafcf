//! Hazards that the author of an operator vouches for, with the reason.

use aicore::HazardKind;

/// A finding about the operator as it stands that is meant to be there. It gives candidates no right to more of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Kind of the hazard.
    pub hazard: HazardKind,
    /// File that it is in, relative to the operator's root; any without.
    pub file: Option<String>,
    /// Function that it is in, without class or namespace; any without.
    pub function: Option<String>,
    /// Why it is right.
    pub reason: String,
}

/// The kind of that name, or all names there are.
pub(super) fn hazard_kind(name: &str) -> Result<HazardKind, String> {
    use serde::Deserialize;
    use serde::de::IntoDeserializer;
    let deserializer: serde::de::value::StrDeserializer<'_, serde::de::value::Error> = name.into_deserializer();
    HazardKind::deserialize(deserializer).map_err(|error| error.to_string())
}
