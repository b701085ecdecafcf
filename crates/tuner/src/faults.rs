//! All that is wrong with a version of an operator, and whether another version has less of it and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::TunerError;
use super::definition::{Definitions, definitions};
use super::evaluation::Outcome;
use super::evaluator::Evaluator;
use super::known::{KnownFinding, KnownFindings};
use super::plan::Plan;
use super::reference::golden_references;
use super::standard::LeansOnTensors;
use super::trial_error::Judgeable;
use super::trialled::{References, visit};
use super::workload::Trial;
use super::workspace::Workspace;
use manifest::{HazardPolicy, Manifest};
use motif::VisitedLines;
use source::SourceTree;
use verify::Rejection;

/// What is wrong with a version, as far as anybody can say.
pub(super) struct Faults {
    /// Its hazards.
    pub known: KnownFindings,
    /// Why cases do not count.
    rejected: BTreeMap<String, Rejection>,
    /// Outputs that are not what the definition gives, by trial and position.
    departures: BTreeSet<(usize, usize)>,
    /// Outputs of the trials of all other cases.
    outputs: References,
    /// Whether results hang on what tensors of queues are left with.
    leans_on_tensors: bool,
    sources: SourceTree,
    /// Lines that the trials came through, where they were followed.
    pub visited: VisitedLines,
}

impl Faults {
    /// How much it is: hazards that nobody allows, cases that do not count, outputs that are not as defined.
    pub fn count(&self) -> usize {
        self.hazards().count() + self.rejected.len() + self.departures.len()
    }

    /// Whether any result is wrong.
    pub fn has_wrong_results(&self) -> bool {
        !(self.rejected.is_empty() && self.departures.is_empty())
    }

    fn hazards(&self) -> impl Iterator<Item = &KnownFinding> {
        self.known.not_allowed()
    }
}

/// Tries versions of an operator by the right answers that do not depend on any of them.
pub(super) struct Judge<'workspace> {
    workspace: &'workspace Workspace,
    evaluator: Evaluator,
    golden: References,
    definitions: Option<Definitions>,
}

impl<'workspace> Judge<'workspace> {
    /// A judge on all trials of a workspace. No device is asked: it shows neither hazards nor what is unwritten.
    pub async fn of(workspace: &'workspace Workspace) -> Result<Self, TunerError> {
        let mut evaluator = workspace.evaluator.model_only().unwrap_or_else(|| workspace.evaluator.clone());
        // What the manifest refuses has to be seen all the same.
        evaluator.manifest = Arc::new(Manifest { hazards: HazardPolicy::Known, ..(*evaluator.manifest).clone() });
        let (golden, definitions) = (golden_references(workspace).await?, definitions(workspace).await?);
        Ok(Self { workspace, evaluator, golden, definitions })
    }

    /// Runs all trials of a version; `None` where it does not build.
    pub async fn faults(&self, sources: &SourceTree, following: bool) -> Result<Option<Faults>, TunerError> {
        let evaluator = self.evaluator.of_other_operator(sources).of_baseline();
        let evaluator = if following { evaluator.following() } else { evaluator };
        let plan = self.workspace.baseline_of(sources)?.plain_plan(self.workspace.tunables());
        let trialled = evaluator.try_each_case(&plan, &self.golden).await?;
        if matches!(trialled.evaluation.outcome, Outcome::Rejected(_)) {
            return Ok(None);
        }
        let mut visited = trialled.visited;
        if following {
            self.visit_rejected(&evaluator, &plan, &trialled.rejected, &mut visited).await?;
        }
        let departures = self.definitions.as_ref().map(|all| all.departures(&evaluator, &trialled.outputs));
        Ok(Some(Faults {
            departures: departures.unwrap_or_default(),
            known: trialled.known,
            rejected: trialled.rejected,
            outputs: trialled.outputs,
            leans_on_tensors: evaluator.leans_on_tensors.is_seen(),
            sources: plan.sources,
            visited,
        }))
    }

    /// Lines that cases come through which do not count: what is wrong with them lies there.
    async fn visit_rejected(
        &self,
        evaluator: &Evaluator,
        plan: &Plan,
        rejected: &BTreeMap<String, Rejection>,
        visited: &mut VisitedLines,
    ) -> Result<(), TunerError> {
        let of_rejected = |trial: &&Trial| rejected.contains_key(&evaluator.manifest.cases[trial.case].name);
        for trial in evaluator.workload.trials.iter().filter(of_rejected) {
            let Ok(execution) = evaluator.run_trial(plan, trial, false).await.judged()? else { continue };
            visit(visited, &execution);
        }
        Ok(())
    }

    /// Whether something but the operator itself says what an output has to be. Of a case that did not count before, right answers for
    /// some of its data are enough: there is nothing else that the others could be compared with.
    pub fn is_told(&self, (trial, output): (usize, usize), did_not_count: bool) -> bool {
        let trials = &self.evaluator.workload.trials;
        let is_given = |index: &usize| {
            *index == trial
                || did_not_count && trials.get(*index).map(|one| one.case) == trials.get(trial).map(|one| one.case)
        };
        let mut given = self.golden.iter().filter(|(index, _)| is_given(index));
        let defined = self.definitions.as_ref().is_some_and(|all| all.defines(trial, output));
        defined || given.any(|(_, outputs)| output < outputs.len())
    }
}

/// Whether less is wrong with a version than with one before it, and nothing that was right or that nobody knows the right answer
/// of is other than it was. Results may differ only where something says what they have to be, and where an order is put between
/// accesses not even there, unless what was wrong is right now.
pub(super) fn is_less(
    before: &Faults,
    after: &Faults,
    may_change_results: bool,
    is_told: &dyn Fn((usize, usize), bool) -> bool,
) -> bool {
    let rejected_alike = after.rejected.iter().all(|(case, now)| {
        before.rejected.get(case).is_some_and(|was| {
            (was.reason, was.hazard) == (now.reason, now.hazard) && (may_change_results || was.detail == now.detail)
        })
    });
    let mut origins = before.known.origins(&after.sources);
    let hazards_known =
        after.known.findings.iter().all(|one| before.known.covers(&one.case, &mut origins, &one.hazard));
    let no_more = hazards_known
        && after.hazards().count() <= before.hazards().count()
        && after.known.kinds.is_subset(&before.known.kinds)
        && after.departures.is_subset(&before.departures)
        && (before.leans_on_tensors || !after.leans_on_tensors);
    let results_hold = after.outputs.iter().all(|(trial, outputs)| {
        let was = before.outputs.get(trial);
        outputs.iter().enumerate().all(|(position, now)| {
            let place = (*trial, position);
            let unchanged = was.and_then(|was| was.get(position)) == Some(now);
            let was_wrong = was.is_none() || before.departures.contains(&place);
            let told = is_told(place, was.is_none()) && (may_change_results || was_wrong);
            unchanged || told && (!after.departures.contains(&place) || may_change_results)
        }) && was.is_none_or(|was| was.len() == outputs.len())
    });
    rejected_alike && no_more && results_hold && after.count() < before.count()
}

impl Evaluator {
    /// The same for an operator that was written like this: nothing is taken over of what was seen of another.
    pub(super) fn of_other_operator(&self, sources: &SourceTree) -> Self {
        let mut other = self.clone().with_pristine(sources);
        (other.faithful, other.leans_on_tensors) = (Arc::default(), LeansOnTensors::default());
        other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aicore::{HazardKind, Severity};
    use backend::{LocatedHazard, Place};
    use verify::Reason;

    const KERNEL: &str = "void Run() {\n    Add(y, y, x, n);\n    Abs(y, y, n);\n}\n";

    /// A version with these hazards by line, and an output by trial.
    fn faults(lines: &[u32], outputs: &[u8], departures: &[usize]) -> Faults {
        let sources: SourceTree = [("k.cpp", KERNEL)].into_iter().collect();
        let place = |line| Place { file: "k.cpp".to_owned(), line };
        let finding = |line: &u32| KnownFinding {
            case: "small".to_owned(),
            hazard: LocatedHazard {
                kind: HazardKind::Race,
                severity: Severity::Error,
                place: place(*line),
                other: place(2),
                count: 1,
                message: "two pipes".to_owned(),
                reach: None,
                output: None,
            },
            statement: String::new(),
            allowed: None,
        };
        let mut known = KnownFindings::of(&sources);
        known.findings = lines.iter().map(finding).collect();
        known.kinds = known.findings.iter().map(|finding| finding.hazard.kind).collect();
        Faults {
            known,
            rejected: BTreeMap::new(),
            departures: departures.iter().map(|trial| (*trial, 0)).collect(),
            outputs: outputs.iter().enumerate().map(|(trial, byte)| (trial, vec![vec![*byte]])).collect(),
            leans_on_tensors: false,
            sources,
            visited: VisitedLines::new(),
        }
    }

    fn ordered(before: &Faults, after: &Faults) -> bool {
        is_less(before, after, false, &|_, _| false)
    }

    #[test]
    fn a_hazard_less_counts_only_with_the_same_results() {
        let before = faults(&[2, 3], &[7, 8], &[]);
        assert!(ordered(&before, &faults(&[3], &[7, 8], &[])));
        assert!(!ordered(&before, &before), "nothing is mended");
        assert!(!ordered(&before, &faults(&[], &[7, 9], &[])), "another result");
        assert!(!ordered(&before, &faults(&[4], &[7, 8], &[])), "another hazard in their place");
        let told = |_, _| true;
        assert!(!is_less(&before, &faults(&[], &[7, 9], &[]), false, &told), "another result, though it is right");
        let mut longer = faults(&[], &[7, 8], &[]);
        longer.outputs.insert(0, vec![vec![7], vec![1]]);
        assert!(!ordered(&before, &longer), "another output");
    }

    #[test]
    fn what_was_wrong_may_become_right() {
        let (before, after) = (faults(&[], &[7, 8], &[0, 1]), faults(&[], &[1, 8], &[1]));
        let told = |_, _| true;
        assert!(is_less(&before, &after, false, &told));
        assert!(!is_less(&before, &after, false, &|_, _| false), "nobody says that it is right");
        assert!(!is_less(&faults(&[], &[7, 8], &[1]), &faults(&[], &[8, 8], &[0]), true, &told), "another is wrong");
        let elsewhere = faults(&[], &[1, 9], &[1]);
        assert!(!is_less(&before, &elsewhere, false, &told), "still wrong, and otherwise than it was");
        assert!(is_less(&before, &elsewhere, true, &told), "of a number of elements that is to be expected");
        assert!(
            !is_less(&before, &elsewhere, true, &|(trial, _), _| trial == 0),
            "but not where nothing says what is right"
        );
    }

    #[test]
    fn a_case_that_does_not_count_may_count_where_all_of_it_is_told() {
        let rejected = |detail: &str| {
            let mut faults = faults(&[], &[], &[]);
            let rejection = Rejection::new(Reason::WrongResult, "small", detail.to_owned());
            faults.rejected.insert("small".to_owned(), rejection);
            faults
        };
        let right = faults(&[], &[1], &[]);
        assert!(is_less(&rejected("1 element differs"), &right, true, &|_, _| true));
        assert!(!is_less(&rejected("1 element differs"), &right, true, &|_, _| false), "nobody says what is right");
        assert!(!is_less(&right, &rejected("1 element differs"), true, &|_, _| true));
        let (mut two, one) = (rejected("1 element differs"), rejected("2 elements differ"));
        two.known = faults(&[2], &[], &[]).known;
        assert!(!is_less(&two, &one, false, &|_, _| true), "wrong in another way");
        assert!(is_less(&two, &rejected("1 element differs"), false, &|_, _| true));
    }

    #[test]
    fn risks_that_are_no_errors_are_no_fewer_faults() {
        let before = faults(&[2], &[7], &[]);
        let mut padded = faults(&[], &[7], &[]);
        padded.known.kinds.insert(HazardKind::WriteInPadding);
        assert!(!ordered(&before, &padded));
        let leaning = Faults { leans_on_tensors: true, ..faults(&[], &[7], &[]) };
        assert!(!ordered(&before, &leaning));
        let mut allowed = faults(&[2], &[7], &[]);
        allowed.known.findings[0].allowed = Some("meant".to_owned());
        assert_eq!((before.count(), allowed.count()), (1, 0), "what the manifest allows is no fault");
    }
}
