//! One record: a motif, where it was tried, and what it did.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Features, Setting};
use aicore::Origin;

/// How the motif of a record begins that says what a language model did.
pub const OF_A_MODEL: &str = "model: ";
/// Letters of the motif in the name of a record.
const NAME_LETTERS: usize = 40;

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Faster, and the counter that the motif relieves went down.
    Kept,
    /// Right, and not faster.
    NoGain,
    /// Faster, but the counter did not move: something else was at work.
    EffectWithoutMechanism,
    /// It was edited in, and the verifier refused the result; the numbers say nothing.
    Rejected,
}

/// Where the code and the numbers come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Provenance {
    /// Project or repository.
    pub project: String,
    /// Operator.
    pub operator: String,
    /// Licence of the source the record was made from.
    pub licence: String,
    /// Machine description or device.
    pub machine: String,
    /// Version of the machine description or toolkit.
    pub machine_version: String,
}

/// A tried motif or setting. Written as one TOML file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Record {
    /// Catalogue id of the motif; of a setting its kind ([`super::SettingKind::id`]); of what a model did [`OF_A_MODEL`] and its words.
    pub motif: String,
    /// What became of it.
    pub verdict: Verdict,
    /// Where the numbers come from.
    pub origin: Origin,
    /// Latency without the motif, in microseconds.
    pub before_us: f64,
    /// Latency with it.
    pub after_us: f64,
    /// Digest of the sources without the motif.
    pub before_digest: String,
    /// Digest of the sources with it.
    pub after_digest: String,
    /// What the code was like, in words that other kernels share.
    pub symptoms: Vec<String>,
    /// When the motif should not be used, as seen here.
    #[serde(default)]
    pub avoid_when: Vec<String>,
    /// Conditions that had to hold.
    #[serde(default)]
    pub conditions: Vec<String>,
    /// Source of code and numbers.
    pub provenance: Provenance,
    /// Shape of the code.
    pub features: Features,
    /// Counters before and after, by name.
    #[serde(default)]
    pub counters: BTreeMap<String, [f64; 2]>,
    /// Values, where it was a setting that changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<Setting>,
    /// Change on normalised code, as a unified diff.
    pub diff: String,
}

impl Record {
    /// Speed-up that the motif brought; 1 where the numbers make no sense.
    pub fn gain(&self) -> f64 {
        if self.before_us > 0.0 && self.after_us > 0.0 { self.before_us / self.after_us } else { 1.0 }
    }

    /// The text of the record's file.
    pub fn to_text(&self) -> String {
        toml::to_string_pretty(self).unwrap_or_default()
    }

    /// Stable id: motif, normalised shape and provenance. The same experience gets the same id everywhere.
    pub fn id(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let provenance = &self.provenance;
        let texts = [
            &self.motif,
            &self.diff,
            &provenance.project,
            &provenance.operator,
            &provenance.machine,
            &provenance.machine_version,
        ];
        for text in texts {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        for (name, value) in self.features.tokens() {
            hasher.update(format!("{name}={value};").as_bytes());
        }
        // The name of a file: what a model called its rewrite may be anything.
        let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
        let name: String = self.motif.to_ascii_lowercase().chars().map(plain).take(NAME_LETTERS).collect();
        format!("{name}-{}", &hasher.finalize().to_hex().as_str()[..16])
    }
}
