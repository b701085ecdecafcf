//! What a model is asked for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a model is asked for: one template, one kind of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// What limits the operator: a short statement.
    Diagnose,
    /// What to do about it: a list of ideas.
    Plan,
    /// One of the ideas as edits.
    Propose,
    /// Edits that mend a proposal which was refused.
    Repair,
    /// A tiling function that comes of another one.
    Evolve,
    /// What was learned, in words for a bank.
    Distil,
    /// A rewrite that was kept as a rule.
    Motif,
    /// An optimisation taken out of a strong kernel.
    Rewind,
}

impl Role {
    /// In the order in which they are asked.
    pub const ALL: [Self; 8] = [
        Self::Diagnose,
        Self::Plan,
        Self::Propose,
        Self::Repair,
        Self::Evolve,
        Self::Distil,
        Self::Motif,
        Self::Rewind,
    ];

    /// The word in manifests, on the command line, and in names of templates.
    pub fn name(self) -> &'static str {
        match self {
            Self::Diagnose => "diagnose",
            Self::Plan => "plan",
            Self::Propose => "propose",
            Self::Repair => "repair",
            Self::Evolve => "evolve",
            Self::Distil => "distil",
            Self::Motif => "motif",
            Self::Rewind => "rewind",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|role| role.name() == text);
        found.ok_or_else(|| format!("no role is called {text}: they are {}", Self::ALL.map(Self::name).join(", ")))
    }
}
