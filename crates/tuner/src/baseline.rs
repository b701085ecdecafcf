//! The operator as it stands, run: what candidates are compared with.

use super::TunerError;
use super::candidate::Candidate;
use super::definition::definitions;
use super::evaluation::Outcome;
use super::evaluator::Evaluator;
use super::plan::Plan;
use super::reference::golden_references;
use super::trialled::{References, Scope, Trialled};
use super::workspace::Workspace;
use motif::{Coverage, VisitedLines};
use source::Patch;

/// Runs the operator as it stands over all trials. Its outputs are the reference, except where the user gave golden data.
pub async fn establish_baseline(
    workspace: &Workspace,
    baseline: &Candidate,
) -> Result<(Trialled, References), TunerError> {
    reference_run(workspace, &workspace.evaluator, baseline).await
}

/// Runs the operator as it stands over all trials, every case for itself: what does not count is in `rejected`, and only what does not
/// build ends it.
pub async fn try_baseline_by_case(workspace: &Workspace, baseline: &Candidate) -> Result<Trialled, TunerError> {
    let golden = golden_references(workspace).await?;
    let plan = baseline.plain_plan(workspace.tunables());
    let trialled = workspace.evaluator.of_baseline().try_each_case(&plan, &golden).await?;
    match trialled.evaluation.outcome {
        Outcome::Rejected(rejection) => Err(TunerError::Baseline(Box::new(rejection))),
        Outcome::Valid(_) => Ok(trialled),
    }
}

/// Like [`establish_baseline`], and follows the critical path: what the report shows and what is known of the code that runs.
pub async fn follow_baseline(
    workspace: &Workspace,
    baseline: &Candidate,
) -> Result<(Trialled, References), TunerError> {
    reference_run(workspace, &workspace.evaluator.following(), baseline).await
}

/// The operator as it stands, with something in every block of which nobody knows whether it runs that leaves a line; `None` where there are
/// no such blocks.
pub(super) fn marked(workspace: &Workspace, baseline: &Candidate, coverage: &Coverage) -> Option<Plan> {
    let marks = Patch { title: "marks".to_owned(), motif: String::new(), edits: coverage.marks() };
    let sources = baseline.sources.apply(&marks).ok().filter(|_| !marks.edits.is_empty())?;
    Some(Candidate { sources, ..baseline.clone() }.plain_plan(workspace.tunables()))
}

/// Lines of blocks of which nobody knows whether the timed cases run them, where these do: the operator as it stands is run once more, with
/// something in such blocks that leaves a line. Where it does not build with that, nothing is learned.
pub(super) async fn lines_of_marked(
    workspace: &Workspace,
    baseline: &Candidate,
    coverage: &Coverage,
) -> Result<VisitedLines, TunerError> {
    let Some(plan) = marked(workspace, baseline, coverage) else { return Ok(VisitedLines::new()) };
    let evaluator = workspace.evaluator.following().of_baseline();
    let trialled = evaluator.try_plan(&plan, &References::new(), Scope::Timed, false).await?;
    Ok(match trialled.evaluation.outcome {
        Outcome::Valid(_) => trialled.visited,
        Outcome::Rejected(_) => VisitedLines::new(),
    })
}

async fn reference_run(
    workspace: &Workspace,
    evaluator: &Evaluator,
    baseline: &Candidate,
) -> Result<(Trialled, References), TunerError> {
    let golden = golden_references(workspace).await?;
    let definitions = definitions(workspace).await?;
    let plan = baseline.plain_plan(workspace.tunables());
    let mut trialled = evaluator.of_baseline().try_plan(&plan, &golden, Scope::All, true).await?;
    if let Outcome::Rejected(rejection) = trialled.evaluation.outcome {
        return Err(TunerError::Baseline(Box::new(rejection)));
    }
    if let Some(definitions) = definitions {
        definitions.weigh(evaluator, &mut trialled);
    }
    let mut references = trialled.outputs.clone();
    references.extend(golden);
    Ok((trialled, references))
}
