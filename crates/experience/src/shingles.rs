//! What pieces of code have in common whatever their names are.

use std::collections::BTreeSet;

use source::lex::pieces;

/// Runs of three tokens, own names blotted out: what two pieces of code have in common whatever their names are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shingles(BTreeSet<[String; 3]>);

impl Shingles {
    /// Of code as written.
    pub fn of(code: &str) -> Self {
        let tokens: Vec<String> = pieces(code).into_iter().map(|token| blotted(&code[token.span])).collect();
        Self(tokens.windows(3).map(|three| [three[0].clone(), three[1].clone(), three[2].clone()]).collect())
    }

    /// Of the lines that a record's change takes away: the slow form.
    pub fn of_slow_side(diff: &str) -> Self {
        let removed = diff.lines().filter_map(|line| line.strip_prefix('-')).filter(|line| !line.starts_with("--"));
        Self::of(&removed.collect::<Vec<_>>().join("\n"))
    }

    /// Whether there is nothing to compare.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Share of these shingles that the other code has too.
    pub fn found_in(&self, other: &Shingles) -> f64 {
        if self.0.is_empty() { 0.0 } else { self.0.intersection(&other.0).count() as f64 / self.0.len() as f64 }
    }
}

/// Names of the API stay: they begin with a capital and go on with small letters. Everything else that is a word is some name.
fn blotted(token: &str) -> String {
    let word = token.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let api = token.starts_with(|first: char| first.is_ascii_uppercase()) && token.contains(char::is_lowercase);
    let kept = matches!(token, "for" | "if" | "else" | "float" | "half" | "PIPE_ALL" | "PIPE_V");
    if word && !api && !kept { "v".to_owned() } else { token.to_owned() }
}
