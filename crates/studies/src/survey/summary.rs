//! Counting: how far operators got, and what stopped them.

use std::collections::BTreeMap;

use events::survey::{Cause, Class, Group, Row, State, Summary, SurveyStep, Surveyed};

/// Counts and groups.
pub fn summarise(outcomes: &[Surveyed]) -> Summary {
    Summary { rows: rows(outcomes), groups: groups(outcomes), ..Summary::default() }
}

fn count(row: &mut Row, outcome: &Surveyed) {
    row.operators += 1;
    for step in SurveyStep::ALL {
        if outcome.passed(step) {
            *row.passed.entry(step.word().to_owned()).or_default() += 1;
        }
    }
    match outcome.state(SurveyStep::Verify) {
        Some(State::Passed) => row.right += 1,
        Some(State::Failed) if outcome.stopped_by_unwritten_bytes() => row.unwritten += 1,
        Some(State::Failed) if outcome.contradicts_reference() => row.wrong += 1,
        // Without a reference, or out of time before its verdict.
        Some(State::Failed | State::Unknown) => row.unknown += 1,
        None => {}
    }
    row.clean += u32::from(outcome.passed(SurveyStep::Hazards));
    row.witnesses.add(&outcome.witnesses);
    row.tests.add(outcome);
}

fn rows(outcomes: &[Surveyed]) -> Vec<Row> {
    let mut rows = Vec::new();
    for class in [Class::Vector, Class::Mix] {
        let mut by_repository: BTreeMap<&str, Row> = BTreeMap::new();
        let mut sum = Row { class: class.word().to_owned(), ..Row::default() };
        for outcome in outcomes.iter().filter(|outcome| outcome.class == class) {
            let row = by_repository.entry(outcome.repository.as_str()).or_insert_with(|| Row {
                repository: outcome.repository.clone(),
                class: class.word().to_owned(),
                ..Row::default()
            });
            count(row, outcome);
            count(&mut sum, outcome);
        }
        let several = by_repository.len() > 1;
        rows.extend(by_repository.into_values());
        if several {
            rows.push(sum);
        }
    }
    rows
}

fn groups(outcomes: &[Surveyed]) -> Vec<Group> {
    let mut groups: BTreeMap<(SurveyStep, bool, Cause), Group> = BTreeMap::new();
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
