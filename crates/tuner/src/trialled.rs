//! What became of the trials of a candidate.

use std::collections::BTreeMap;

use super::evaluation::{CaseTime, Evaluation, Outcome};
use super::known::KnownFindings;
use super::known_data::OtherData;
use super::plan::Plan;
use backend::{Execution, LaunchProfile};
use motif::VisitedLines;
use verify::Rejection;

/// Which trials to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The timed cases with the first seed: enough to rank.
    Timed,
    /// All other seeds, hostile values and verify-only cases: what an improvement must pass as well.
    Checks,
    /// Everything.
    All,
}

/// Right answers by trial.
pub type References = BTreeMap<usize, Vec<Vec<u8>>>;

/// Takes note of the lines that a run came through; of how often it did so at most, where several runs come through one.
pub(super) fn visit(visited: &mut VisitedLines, execution: &Execution) {
    for (place, count) in execution.launches.iter().flat_map(|launch| &launch.visited) {
        visit_line(visited, (&place.file, place.line), *count);
    }
}

fn visit_line(visited: &mut VisitedLines, (file, line): (&str, u32), count: u64) {
    let known = visited.entry((file.to_owned(), line)).or_default();
    *known = count.max(*known);
}

/// The same of lines that other runs came through.
pub(super) fn visit_also(visited: &mut VisitedLines, others: &VisitedLines) {
    others.iter().for_each(|((file, line), count)| visit_line(visited, (file, *line), *count));
}

/// A trial's evaluation with what the reports want to see.
#[derive(Clone, Debug)]
pub struct Trialled {
    /// Evaluation for search and journal.
    pub evaluation: Evaluation,
    /// Launches of the timed cases, by case name, where they were run now and not taken from the journal.
    pub profiles: BTreeMap<String, Vec<LaunchProfile>>,
    /// Lines that the trials came through, where the critical path was followed.
    pub visited: VisitedLines,
    /// Outputs of every trial that was run, if they were asked for.
    pub outputs: References,
    /// Hazards that did not reject it, and bytes that a baseline leaves unwritten.
    pub known: KnownFindings,
    /// Why cases do not count, where each was tried for itself; they have no times and outputs.
    pub rejected: BTreeMap<String, Rejection>,
}

impl Trialled {
    /// Nothing yet of a plan.
    pub(super) fn of(plan: &Plan, scope: Scope) -> Self {
        let evaluation = Evaluation {
            digest: plan.digest.clone(),
            thorough: scope != Scope::Timed,
            outcome: Outcome::Valid(Vec::new()),
            estimate_us: None,
            blocks: Vec::new(),
            round: 0,
            seconds: 0.0,
            error: None,
            other_data: OtherData::new(),
        };
        Self {
            evaluation,
            profiles: BTreeMap::new(),
            visited: VisitedLines::new(),
            outputs: References::new(),
            known: KnownFindings::of(&plan.sources),
            rejected: BTreeMap::new(),
        }
    }

    /// The same with these times, and without what trials of rejected cases have left that came before the one that failed.
    pub(super) fn ended(mut self, mut times: Vec<CaseTime>, case_of: impl Fn(usize) -> String) -> Self {
        times.retain(|time| !self.rejected.contains_key(&time.name));
        self.profiles.retain(|case, _| !self.rejected.contains_key(case));
        self.outputs.retain(|index, _| !self.rejected.contains_key(&case_of(*index)));
        self.evaluation.outcome = Outcome::Valid(times);
        self
    }
}
