//! A case at which something is wrong, and whose fault that is.

use discovery::cases::Accepted;

/// A case that is not written because of what shows when it is run.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultyCase {
    /// Its tensors, where it comes from, and what is wrong.
    pub text: String,
    /// Why the case may be at fault and not the operator; `None` where nothing speaks for that.
    pub doubt: Option<&'static str>,
}

impl FaultyCase {
    pub(crate) fn new(accepted: &Accepted, reason: &str) -> Self {
        let candidate = &accepted.candidate;
        Self { text: format!("{}: {reason}", candidate.title()), doubt: candidate.doubt() }
    }

    /// As a comment of a manifest has it.
    pub(crate) fn note(&self) -> String {
        match self.doubt {
            None => format!("The operator is at fault: {}", self.text),
            Some(why) => format!("Left out, since it or the operator is at fault ({why}): {}", self.text),
        }
    }
}
