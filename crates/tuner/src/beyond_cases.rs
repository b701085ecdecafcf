//! What no case runs, and probes do: when it is worth while to ask them, and what they say.

use super::TunerError;
use super::baseline::marked;
use super::candidate::Candidate;
use super::kernel_stage::context_of;
use super::probing::ProbeSet;
use super::round::Field;
use super::trialled::visit_also;
use backend::longest;
use motif::{Coverage, all};

/// Where a motif of at least this expected gain is kept back, probes are asked before anything is tried, and not when nothing else is left.
const MUCH: f64 = 2.0;

/// Whether only what no case runs keeps a motif back that promises much.
pub(super) fn much_is_withheld(field: &Field) -> bool {
    if field.coverage.silent().is_empty() {
        return false;
    }
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
