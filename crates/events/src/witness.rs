//! What references other than the operator itself say of its outputs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reference that is not the operator itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Witness {
    /// The authors' data script or golden function.
    Authors,
    /// A definition of ours.
    Definition,
}

/// What a witness says of outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    /// They agree with it.
    Right,
    /// They contradict it.
    Wrong,
    /// It cannot say.
    Nothing,
}

/// A witness and what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Testimony {
    /// Witness.
    pub witness: Witness,
    /// What it says.
    pub says: Says,
    /// What was compared, or why not.
    pub detail: String,
}

/// Operators by what witnesses say of their outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WitnessCounts {
    /// The authors' reference agrees.
    pub authors_right: u32,
    /// The authors' reference contradicts.
    pub authors_wrong: u32,
    /// A definition agrees.
    pub definition_right: u32,
    /// A definition contradicts.
    pub definition_wrong: u32,
    /// Both agree; counted above as well.
    pub both_right: u32,
    /// One agrees and the other contradicts; counted above as well.
    pub disagree: u32,
}

impl WitnessCounts {
    /// Whether no witness says anything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts an operator.
    pub fn add(&mut self, testimonies: &[Testimony]) {
        let says = |witness| {
            let found = testimonies.iter().find(|one| one.witness == witness);
            found.map_or(Says::Nothing, |one| one.says)
        };
        let (authors, definition) = (says(Witness::Authors), says(Witness::Definition));
        self.authors_right += u32::from(authors == Says::Right);
        self.authors_wrong += u32::from(authors == Says::Wrong);
        self.definition_right += u32::from(definition == Says::Right);
        self.definition_wrong += u32::from(definition == Says::Wrong);
        self.both_right += u32::from((authors, definition) == (Says::Right, Says::Right));
        let both_say = authors != Says::Nothing && definition != Says::Nothing;
        self.disagree += u32::from(both_say && authors != definition);
    }

    /// What every output heads the columns of [`WitnessCounts::cells`] with.
    pub const COLUMNS: [&'static str; 6] = [
        "right by authors",
        "wrong by authors",
        "right by definition",
        "wrong by definition",
        "right by both",
        "disagree",
    ];

    /// The figures, in the order of [`WitnessCounts::COLUMNS`].
    pub fn cells(&self) -> [String; 6] {
        let counts = [self.authors_right, self.authors_wrong, self.definition_right, self.definition_wrong];
        let [a, b, c, d] = counts.map(|count| count.to_string());
        [a, b, c, d, self.both_right.to_string(), self.disagree.to_string()]
    }
}
