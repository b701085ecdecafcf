//! The steps that lead from the operator as it was to a winner, so that one of them can be taken back and the others stay.
//!
//! A step is a rewrite or the value of one tunable. A candidate of some of the steps is made forward from the baseline: what a
//! rewrite changed is merged into the sources as they are then, and the values are set last. Where two rewrites touch the same
//! words, the later one cannot stand without the earlier one, and there is no such candidate.

use std::collections::BTreeSet;

use super::candidate::{AppliedPatch, Candidate};
use super::progress::Milestone;
use source::{SourceTree, merged_trees};
use space::{Configuration, Tunable};

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A rewrite.
    Rewrite {
        /// Sources before it.
        before: SourceTree,
        /// Sources after it.
        after: SourceTree,
        /// What it is.
        patch: AppliedPatch,
    },
    /// The value of a tunable.
    Value(String),
}

/// All steps of a winner.
#[derive(Clone, Debug)]
pub struct Steps<'a> {
    baseline: &'a Candidate,
    winner: &'a Candidate,
    tunables: &'a [Tunable],
    /// Values that the tunables begin with.
    at_first: Configuration,
    /// The steps in their order.
    pub list: Vec<Step>,
}

impl<'a> Steps<'a> {
    /// The steps from `baseline` to `winner`; `milestones` are those of the way that led there.
    pub fn of(
        baseline: &'a Candidate,
        winner: &'a Candidate,
        milestones: &[Milestone],
        tunables: &'a [Tunable],
    ) -> Self {
        let mut list = Vec::new();
        let at_first = baseline.at_first(tunables);
        let changed = |name: &str| {
            let (before, after) = (at_first.get(name), winner.configuration.get(name));
            before.is_some() && after.is_some() && before != after
        };
        let mut valued = BTreeSet::new();
        for milestone in milestones {
            let (before, after) = (&milestone.before, &milestone.after);
            match after.patches.last() {
                Some(patch) if after.patches.len() > before.patches.len() => {
                    let (before, after) = (before.sources.clone(), after.sources.clone());
                    list.push(Step::Rewrite { before, after, patch: patch.clone() });
                }
                // One that starts from the baseline anew takes the place of all rewrites before it.
                Some(patch) if after.patches != before.patches => {
                    list.retain(|step| matches!(step, Step::Value(_)));
                    let (before, after) = (baseline.sources.clone(), after.sources.clone());
                    list.push(Step::Rewrite { before, after, patch: patch.clone() });
                }
                _ => {}
            }
            for (name, value) in after.configuration.iter() {
                if before.configuration.get(name) != Some(value) && changed(name) && valued.insert(name.to_owned()) {
                    list.push(Step::Value(name.to_owned()));
                }
            }
        }
        let rest = winner.configuration.iter().filter(|(name, _)| changed(name) && !valued.contains(*name));
        list.extend(rest.map(|(name, _)| Step::Value(name.to_owned())));
        Self { baseline, winner, tunables, at_first, list }
    }

    /// The same where rewrites have the constants that they brought along at the values of the winner.
    pub fn with_constants(mut self) -> Self {
        let baseline = self.baseline;
        self.list.retain(|step| !matches!(step, Step::Value(name) if baseline.configuration.get(name).is_none()));
        self
    }

    /// What all steps lead to.
    pub fn winner(&self) -> &Candidate {
        self.winner
    }

    /// The candidate of the steps for which `keep` says yes; `None` where they do not stand without the others.
    pub fn only(&self, keep: impl Fn(usize) -> bool) -> Option<Candidate> {
        if (0..self.list.len()).all(&keep) {
            return Some(self.winner.clone());
        }
        let (candidate, lost) = self.standing(keep)?;
        lost.is_empty().then_some(candidate)
    }

    /// The candidate of those steps for which `keep` says yes that stand without the others, and those that do not.
    fn standing(&self, keep: impl Fn(usize) -> bool) -> Option<(Candidate, BTreeSet<usize>)> {
        let mut sources = self.baseline.sources.clone();
        let (mut patches, mut lost) = (Vec::new(), BTreeSet::new());
        for (place, step) in self.list.iter().enumerate() {
            if let Step::Rewrite { before, after, patch } = step
                && keep(place)
            {
                match merged_trees(&self.as_at_first(before)?, &sources, &self.as_at_first(after)?) {
                    Some(merged) => {
                        sources = merged;
                        patches.push(patch.clone());
                    }
                    None => drop(lost.insert(place)),
                }
            }
        }
        let mut values = self.at_first.clone();
        for (name, value) in self.winner.configuration.iter() {
            let step = self.list.iter().position(|step| matches!(step, Step::Value(of) if of == name));
            if step.is_none_or(&keep) {
                values.set(name, value.clone());
            }
        }
        let made = Candidate { patches, ..Candidate::baseline(sources, self.tunables) };
        // A rewrite that was taken back may take a place with it that a value stood at.
        let there = made.configuration.iter().map(|(name, value)| {
            let value = values.get(name).unwrap_or(value);
            (name.to_owned(), value.clone())
        });
        let configuration: Configuration = there.collect();
        Some((made.with_configuration(self.tunables, &configuration).ok()?, lost))
    }

    /// The candidate without the steps in `left_out`.
    pub fn without(&self, left_out: &BTreeSet<usize>) -> Option<Candidate> {
        self.only(|place| !left_out.contains(&place))
    }

    /// The candidate without the steps in `left_out` and without those that do not stand without them, and the latter: none of the steps is
    /// left where there is no such candidate.
    pub fn most_without(&self, left_out: &BTreeSet<usize>) -> (Candidate, BTreeSet<usize>) {
        let kept = |place: &usize| !left_out.contains(place);
        let all = || (self.baseline.clone(), (0..self.list.len()).filter(kept).collect());
        self.standing(|place| kept(&place)).unwrap_or_else(all)
    }

    /// One line for a step, as a refusal names it.
    pub fn title(&self, place: usize) -> String {
        match self.list.get(place) {
            Some(Step::Rewrite { patch, .. }) => format!("{} ({})", patch.motif, patch.title),
            Some(Step::Value(name)) => {
                let value = |values: &Configuration| values.get(name).map(ToString::to_string);
                let (before, after) = (value(&self.at_first), value(&self.winner.configuration));
                format!("{name} {} -> {}", before.unwrap_or_default(), after.unwrap_or_default())
            }
            None => String::new(),
        }
    }

    /// Sources with every tunable that they have at its value in the baseline.
    fn as_at_first(&self, sources: &SourceTree) -> Option<SourceTree> {
        let candidate = Candidate::baseline(sources.clone(), self.tunables);
        let values = candidate.configuration.iter().map(|(name, value)| {
            let value = self.at_first.get(name).unwrap_or(value);
            (name.to_owned(), value.clone())
        });
        let values: Configuration = values.collect();
        candidate.with_configuration(self.tunables, &values).ok().map(|candidate| candidate.sources)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use events::Stage;
    use space::{Binding, Domain, Value};

    const BEFORE: &str =
        "constexpr int TILE = 64;\n\nvoid Copy() {\n    Load();\n    Wait();\n}\n\nvoid Add() {\n    Slow();\n}\n";

    fn tunables() -> Vec<Tunable> {
        vec![Tunable {
            name: "TILE".to_owned(),
            domain: Domain::PowerOfTwo { min: 16, max: 1024 },
            default: Some(Value::Int(64)),
            binding: Binding::Constant { file: "k.h".to_owned(), name: "TILE".to_owned(), also: Vec::new() },
            reason: String::new(),
            when: None,
        }]
    }

    fn candidate(text: &str, motifs: &[&str]) -> Candidate {
        let mut sources = SourceTree::new();
        sources.insert("k.h", text);
        let patch = |motif: &&str| AppliedPatch {
            motif: (*motif).to_owned(),
            title: (*motif).to_owned(),
            why: String::new(),
            gain: 1.0,
            parts: Vec::new(),
        };
        Candidate { patches: motifs.iter().map(patch).collect(), ..Candidate::baseline(sources, &tunables()) }
    }

    fn milestone(before: &Candidate, after: &Candidate) -> Milestone {
        Milestone {
            stage: Stage::Kernel,
            motif: String::new(),
            title: String::new(),
            why: String::new(),
            gain: 1.0,
            before: before.clone(),
            before_times: Vec::new(),
            after: after.clone(),
            part_of: None,
        }
    }

    /// A rewrite, a value, and another rewrite, each changing the text that the one before has left.
    fn way() -> [Candidate; 4] {
        let first = BEFORE.replace("    Wait();\n", "");
        let second = first.replace("64", "256");
        let third = second.replace("Slow", "Quick");
        [
            candidate(BEFORE, &[]),
            candidate(&first, &["Y01"]),
            candidate(&second, &["Y01"]),
            candidate(&third, &["Y01", "V01"]),
        ]
    }

    #[test]
    fn any_step_can_be_taken_back_alone() {
        let way = way();
        let milestones: Vec<Milestone> = way.windows(2).map(|pair| milestone(&pair[0], &pair[1])).collect();
        let tunables = tunables();
        let steps = Steps::of(&way[0], &way[3], &milestones, &tunables);
        let titles: Vec<String> = (0..steps.list.len()).map(|place| steps.title(place)).collect();
        assert_eq!(titles, ["Y01 (Y01)", "TILE 64 -> 256", "V01 (V01)"]);
        let text = |left_out: &[usize]| {
            let candidate = steps.without(&left_out.iter().copied().collect()).unwrap();
            (candidate.sources.text("k.h").unwrap().to_owned(), candidate.patches.len())
        };
        let (with, without) =
            (BEFORE.replace("64", "256").replace("Slow", "Quick"), BEFORE.replace("    Wait();\n", ""));
        assert_eq!(text(&[0]), (with, 1));
        assert_eq!(text(&[1]), (without.replace("Slow", "Quick"), 2));
        assert_eq!(text(&[2]), (without.replace("64", "256"), 1));
        assert_eq!(text(&[0, 1, 2]), (BEFORE.to_owned(), 0));
        assert_eq!(steps.without(&BTreeSet::new()).unwrap(), way[3]);
    }

    #[test]
    fn a_constant_that_a_rewrite_brought_along_goes_back_to_its_value_and_goes_with_it() {
        let (with, wide) = ("constexpr int TILE = 64;\nconstexpr int WIDE = 256;\n", |name: &str| Tunable {
            name: name.to_owned(),
            default: Some(Value::Int(256)),
            binding: Binding::Constant { file: "k.h".to_owned(), name: name.to_owned(), also: Vec::new() },
            ..tunables().remove(0)
        });
        let mut tunables = tunables();
        tunables.push(wide("WIDE"));
        let made = |text: &str, motifs: &[&str]| {
            let mut made = candidate(text, motifs);
            made.read_again(&tunables);
            made
        };
        let brought = BEFORE.replace("constexpr int TILE = 64;\n", with);
        let way = [made(BEFORE, &[]), made(&brought, &["model-1"]), made(&brought.replace("256", "512"), &["model-1"])];
        let milestones: Vec<Milestone> = way.windows(2).map(|pair| milestone(&pair[0], &pair[1])).collect();
        let steps = Steps::of(&way[0], &way[2], &milestones, &tunables);
        let titles: Vec<String> = (0..steps.list.len()).map(|place| steps.title(place)).collect();
        assert_eq!(titles, ["model-1 (model-1)", "WIDE 256 -> 512"]);
        let text = |steps: &Steps<'_>, kept: &[usize]| {
            let made = steps.only(|place| kept.contains(&place)).unwrap();
            made.sources.text("k.h").unwrap().to_owned()
        };
        assert_eq!(text(&steps, &[0]), brought);
        assert_eq!(text(&steps, &[1]), BEFORE, "there is nothing that it would be a value of");
        // Who applies steps of a record one by one gets the rewrite as it was tuned.
        let steps = steps.with_constants();
        assert_eq!(steps.list.len(), 1);
        assert_eq!(text(&steps, &[0]), brought.replace("256", "512"));
        assert_eq!(text(&steps, &[]), BEFORE);
    }

    #[test]
    fn a_step_on_the_same_words_does_not_stand_alone_and_others_do() {
        let first = BEFORE.replace("Slow()", "Quick(1)");
        let second = first.replace("Quick(1)", "Quick(2)");
        let third = second.replace("    Wait();\n", "");
        let way = [
            candidate(BEFORE, &[]),
            candidate(&first, &["A"]),
            candidate(&second, &["A", "B"]),
            candidate(&third, &["A", "B", "C"]),
        ];
        let milestones: Vec<Milestone> = way.windows(2).map(|pair| milestone(&pair[0], &pair[1])).collect();
        let tunables = tunables();
        let steps = Steps::of(&way[0], &way[3], &milestones, &tunables);
        assert!(steps.without(&BTreeSet::from([0])).is_none());
        assert!(steps.without(&BTreeSet::from([1])).is_some());
        let (left, lost) = steps.most_without(&BTreeSet::from([0]));
        assert_eq!(lost, BTreeSet::from([1]));
        assert_eq!(left.sources.text("k.h"), Some(BEFORE.replace("    Wait();\n", "").as_str()));
        assert_eq!(left.patches.iter().map(|patch| patch.motif.as_str()).collect::<Vec<_>>(), ["C"]);
    }

    #[test]
    fn a_rewrite_of_everything_takes_the_place_of_those_before() {
        let way = way();
        let anew = candidate(&BEFORE.replace("Slow", "Quickest"), &["V01+V02"]);
        let milestones = [milestone(&way[0], &way[1]), milestone(&way[1], &anew)];
        let tunables = tunables();
        let steps = Steps::of(&way[0], &anew, &milestones, &tunables);
        assert_eq!(steps.list.len(), 1);
        assert_eq!(steps.title(0), "V01+V02 (V01+V02)");
        assert_eq!(steps.without(&BTreeSet::from([0])).unwrap().sources, way[0].sources);
    }
}
