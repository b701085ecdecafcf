//! Counting: how far operators got, and what stopped them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::outcome::{Cause, Class, Outcome, State, Step};
use super::own_tests::TestTotals;

/// Counts of one repository and class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Repository; empty for the sum over all.
    pub repository: String,
    /// `vector`, `mix`, or empty for both.
    pub class: String,
    /// Operators tried.
    pub operators: u32,
    /// Operators that passed each step, by its name.
    pub passed: BTreeMap<String, u32>,
    /// Outputs that a reference confirms.
    pub right: u32,
    /// Outputs that contradict a reference.
    pub wrong: u32,
    /// Outputs with bytes that stay unwritten or that depend on unwritten memory: a defect, or a case whose data the operator
    /// was not made for.
    #[serde(default)]
    pub unwritten: u32,
    /// Operators that ran and whose outputs nothing confirmed or contradicted.
    pub unknown: u32,
    /// Operators that ran and have no hazard.
    pub clean: u32,
    /// The operators' own unit tests; all zero where they were not run.
    #[serde(default)]
    pub tests: TestTotals,
}

impl Row {
    /// Operators that passed a step.
    pub fn passed(&self, step: Step) -> u32 {
        self.passed.get(step.word()).copied().unwrap_or(0)
    }

    fn add(&mut self, outcome: &Outcome) {
        self.operators += 1;
        for step in Step::ALL {
            if outcome.passed(step) {
                *self.passed.entry(step.word().to_owned()).or_default() += 1;
            }
        }
        match outcome.state(Step::Verify) {
            Some(State::Passed) => self.right += 1,
            Some(State::Failed) if outcome.stopped_by_unwritten_bytes() => self.unwritten += 1,
            Some(State::Failed) if outcome.contradicts_reference() => self.wrong += 1,
            // Without a reference, or out of time before its verdict.
            Some(State::Failed | State::Unknown) => self.unknown += 1,
            None => {}
        }
        self.clean += u32::from(outcome.passed(Step::Hazards));
        self.tests.add(outcome);
    }
}

/// Operators that were stopped by the same thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Step that failed.
    pub step: Step,
    /// Why.
    pub cause: Cause,
    /// Whether the step passed at a second try: on a chip with fewer cores, or with another case.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub passed_then: bool,
    /// The message of the first operator, with its particulars.
    pub example: String,
    /// Operators, with their repositories.
    pub operators: Vec<String>,
}

impl Group {
    /// The cause, and whether it was in the way at the first try only.
    pub fn cause_text(&self) -> String {
        let then = if self.passed_then { " (ran at the second try)" } else { "" };
        format!("{}{then}", self.cause)
    }
}

/// A survey in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Counts by repository and class; the last row of each class is the sum where there are several repositories.
    pub rows: Vec<Row>,
    /// Causes, the commonest first.
    pub groups: Vec<Group>,
    /// Operators that exist only for other chips and were not tried.
    pub other_chips: u32,
    /// Operators that a sample or `--only` left out.
    pub left_out: u32,
    /// Which headers the kernels were compiled against.
    pub headers: String,
    /// Machine description by name.
    pub machine: String,
    /// Version of the machine description.
    pub machine_version: String,
}

impl Summary {
    /// Counts and groups.
    pub fn of(outcomes: &[Outcome]) -> Self {
        Self { rows: rows(outcomes), groups: groups(outcomes), ..Self::default() }
    }
}

fn rows(outcomes: &[Outcome]) -> Vec<Row> {
    let mut rows = Vec::new();
    for class in [Class::Vector, Class::Mix] {
        let mut by_repository: BTreeMap<&str, Row> = BTreeMap::new();
        let mut sum = Row { class: class.word().to_owned(), ..Row::default() };
        for outcome in outcomes.iter().filter(|outcome| outcome.class == class) {
            by_repository
                .entry(outcome.repository.as_str())
                .or_insert_with(|| Row {
                    repository: outcome.repository.clone(),
                    class: class.word().to_owned(),
                    ..Row::default()
                })
                .add(outcome);
            sum.add(outcome);
        }
        let several = by_repository.len() > 1;
        rows.extend(by_repository.into_values());
        if several {
            rows.push(sum);
        }
    }
    rows
}

fn groups(outcomes: &[Outcome]) -> Vec<Group> {
    let mut groups: BTreeMap<(Step, bool, Cause), Group> = BTreeMap::new();
    for outcome in outcomes {
        // An operator may give a wrong result and show a hazard: both are told.
        let is_told = |state: State| matches!(state, State::Failed | State::Passed);
        for failed in outcome.steps.iter().filter(|step| is_told(step.state)) {
            let Some(cause) = failed.cause.clone() else { continue };
            let passed_then = failed.state == State::Passed;
            let group = groups.entry((failed.step, passed_then, cause.clone())).or_insert_with(|| Group {
                step: failed.step,
                cause,
                passed_then,
                example: failed.detail.clone(),
                operators: Vec::new(),
            });
            group.operators.push(format!("{}/{}", outcome.repository, outcome.operator));
        }
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by(|left, right| {
        let count = right.operators.len().cmp(&left.operators.len());
        count.then(left.step.cmp(&right.step)).then(left.cause.cmp(&right.cause))
    });
    groups
}
