//! What no case runs, and probes do: when it is worth while to ask them, and what they say.

use super::TunerError;
use super::baseline::marked;
use super::candidate::Candidate;
use super::kernel_stage::context_of;
use super::probing::ProbeSet;
use super::round::{Field, Standing};
use super::run_options::RunOptions;
use super::trialled::visit_also;
use backend::longest;
use motif::{Coverage, all};

/// Where a motif of at least this expected gain is kept back, probes are asked before anything is tried, and not when nothing else is left.
const MUCH: f64 = 2.0;

/// Lets what probes run be changed before anything is tried, where it is worth while to draw them for that: patches of the user are refused
/// or taken once, and what promises much is tried first. Returns whether they have answered.
pub(super) async fn widen_at_first<'probes>(
    field: &mut Field,
    standing: &Standing,
    options: &RunOptions,
    baseline: &Candidate,
    drawn: impl Future<Output = Result<&'probes ProbeSet, TunerError>>,
) -> Result<bool, TunerError> {
    if field.coverage.silent().is_empty() {
        return Ok(false);
    }
    let probes = if options.patches.is_some() {
        Some(drawn.await?)
    } else if standing.rewrites && much_is_withheld(field) {
        // Else the time is up before anything was tried.
        standing.session.in_half_the_time(drawn).await.transpose()?
    } else {
        return Ok(false);
    };
    let Some(probes) = probes else { return Ok(false) };
    widen(field, probes, baseline).await?;
    Ok(true)
}

/// Whether only what no case runs keeps a motif back that promises much.
fn much_is_withheld(field: &Field) -> bool {
    let Field { workspace, beside, tiling, .. } = field;
    let launch = longest(field.baseline_profiles().values().flatten());
    let of = |coverage: &Coverage| context_of(&workspace.sources, launch, (coverage, beside, tiling));
    let (now, then) = (of(&field.coverage), of(&Coverage::default()));
    let mut promising = all().iter().filter(|motif| motif.metadata().prior_gain >= MUCH);
    promising.any(|motif| motif.find(&now).sites.is_empty() && !motif.find(&then).sites.is_empty())
}

/// Lets what probes run be changed as well. Returns whether that is more.
pub(super) async fn widen(field: &mut Field, probes: &ProbeSet, baseline: &Candidate) -> Result<bool, TunerError> {
    let mut visited = probes.visited();
    let more = field.widen(visited.clone(), baseline);
    let Some(plan) = marked(&field.workspace, baseline, &field.coverage) else { return Ok(more) };
    visit_also(&mut visited, &probes.lines_of(&plan).await?);
    Ok(field.widen(visited, baseline) || more)
}
