//! A local motif tried on another operator than the one that it comes from.

use super::TunerError;
use super::evaluation::Outcome;
use super::kernel_stage::context_of;
use super::round::Field;
use super::trialled::Scope;
use super::workspace::Workspace;
use backend::longest;
use motif::{Context, LocalMotif};
use source::facts::KnownValues;

/// What became of a local motif on an operator.
#[derive(Clone, Debug, PartialEq)]
pub enum Elsewhere {
    /// No case runs what it would change.
    Unreached,
    /// It is right there.
    Held {
        /// Time before over time with it, over the timed cases.
        gain: f64,
    },
    /// It is not, although its guards hold.
    Broken(String),
}

/// Whether the text of an operator has the slow form with its guards: nothing is built to know that.
pub fn has_place(workspace: &Workspace, motif: &LocalMotif) -> bool {
    motif.applied(&Context::new(workspace.sources.clone(), KnownValues::default(), None)).is_some()
}

/// Runs an operator as it stands, and with a local motif at every place that some case runs: with all seeds, values and cases, as what
/// would be written back. Two evaluations.
///
/// # Errors
/// Where the operator cannot be built or is not right as it stands: that says nothing about the motif.
pub async fn try_elsewhere(workspace: &Workspace, motif: &LocalMotif) -> Result<Elsewhere, TunerError> {
    let baseline = workspace.baseline()?;
    let field = Field::survey(workspace.clone(), &baseline).await?;
    let launch = longest(field.baseline_profiles().values().flatten());
    let context = context_of(&baseline.sources, launch, (&field.coverage, &field.beside, &field.tiling));
    let Some((wanted, _)) = motif.applied(&context) else { return Ok(Elsewhere::Unreached) };
    let tunables = workspace.tunables();
    let plan = baseline.with_sources(tunables, wanted, Vec::new()).plain_plan(tunables);
    let evaluator = workspace.evaluator.against(&field.reference);
    let tried = evaluator.try_plan(&plan, &field.references, Scope::All, false).await?;
    Ok(match &tried.evaluation.outcome {
        Outcome::Rejected(rejection) => Elsewhere::Broken(rejection.to_string()),
        Outcome::Valid(_) => {
            let us = tried.evaluation.objective(&field.weights).unwrap_or(field.baseline_us);
            Elsewhere::Held { gain: field.baseline_us / us }
        }
    })
}
