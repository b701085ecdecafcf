//! Kernels that each violate one precondition of one motif, which must refuse them; without the violation it must not.

mod kernels;
mod movement;
mod names;
mod order;
mod scalar;
mod vector;

use motif::{Context, Id, by_id};
use source::facts::KnownValues;

use super::pair::tree_of;

/// A kernel that a motif takes, and a change of it that the motif must not take.
#[derive(Clone, Copy, Debug)]
pub struct Violation {
    /// The motif.
    pub motif: Id,
    /// The precondition that is violated.
    pub precondition: &'static str,
    /// The kernel that it takes.
    pub kernel: fn() -> String,
    /// Changes to the kernel, each of a text that it has.
    pub change: &'static [(&'static str, &'static str)],
    /// Words that the refusal has to have. Empty where the place does not even resemble the pattern any more.
    pub because: &'static str,
}

const fn of(
    motif: Id,
    precondition: &'static str,
    kernel: fn() -> String,
    change: &'static [(&'static str, &'static str)],
    because: &'static str,
) -> Violation {
    Violation { motif, precondition, kernel, change, because }
}

/// How a motif answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It takes the kernel and refuses the change for the right reason.
    Right,
    /// The corpus is wrong: a change does not fit its kernel, or the motif does not take the kernel.
    NoTwin(String),
    /// It takes the changed kernel.
    Taken(String),
    /// It refuses, but names another cause.
    OtherReason(String),
}

/// All of them.
pub fn all() -> Vec<Violation> {
    [movement::VIOLATIONS, names::VIOLATIONS, order::VIOLATIONS, scalar::VIOLATIONS, vector::VIOLATIONS].concat()
}

/// Asks the motif.
pub fn ask(violation: &Violation) -> Answer {
    let motif = by_id(violation.motif);
    let find = |text: &str| motif.find(&Context::new(tree_of(text), KnownValues::default(), None));
    let kernel = (violation.kernel)();
    let twin = find(&kernel);
    if twin.sites.is_empty() {
        return Answer::NoTwin(format!("the kernel without the violation is refused: {:?}", twin.refused));
    }
    let mut changed = kernel;
    for (from, to) in violation.change {
        if !changed.contains(from) {
            return Answer::NoTwin(format!("the kernel has no `{from}`"));
        }
        changed = changed.replace(from, to);
    }
    let found = find(&changed);
    if found.sites.len() >= twin.sites.len() {
        return Answer::Taken(format!("{:?}", found.sites));
    }
    let named =
        violation.because.is_empty() && found.sites.len() + found.refused.len() < twin.sites.len() + twin.refused.len();
    if named
        || found
            .refused
            .iter()
            .any(|refused| !violation.because.is_empty() && refused.reason.contains(violation.because))
    {
        return Answer::Right;
    }
    Answer::OtherReason(format!("{:?}", found.refused))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_violation_is_refused_for_its_reason() {
        let wrong: Vec<String> = all()
            .iter()
            .map(|violation| (violation, ask(violation)))
            .filter(|(_, answer)| *answer != Answer::Right)
            .map(|(violation, answer)| format!("{}, {}: {answer:?}", violation.motif, violation.precondition))
            .collect();
        assert!(wrong.is_empty(), "{} of {} answers are wrong:\n{}", wrong.len(), all().len(), wrong.join("\n"));
    }

    #[test]
    fn without_its_change_every_kernel_is_taken() {
        for violation in all() {
            let answer = ask(&Violation { change: &[], ..violation });
            assert!(matches!(answer, Answer::Taken(_)), "{}, {}: {answer:?}", violation.motif, violation.precondition);
        }
    }

    #[test]
    fn another_reason_is_told_from_the_right_one() {
        let named = |violation: &&Violation| !violation.because.is_empty();
        for violation in all().iter().filter(named) {
            let answer = ask(&Violation { because: "the moon is full", ..*violation });
            assert!(matches!(answer, Answer::OtherReason(_)), "{}: {answer:?}", violation.motif);
        }
    }
}
