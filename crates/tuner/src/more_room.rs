//! More buffers or rows than some size has room for: where the kernel asks whether there is room, the winner holds there and keeps what it
//! gains elsewhere.

use super::TunerError;
use super::candidate::Candidate;
use super::kernel_stage::context_of;
use super::probing::{ProbeSet, ProbeVerdict};
use super::round::Field;
use aicore::HazardKind;
use motif::{BY_ROOM, by_room};
use source::SourceTree;

/// Whether a candidate asks for more unified buffer than there is.
pub(super) fn is_without_room(verdict: &ProbeVerdict) -> bool {
    matches!(verdict, ProbeVerdict::Wrong(rejection) if rejection.hazard == Some(HazardKind::UbOverflow))
}

/// The winner with as many buffers and rows a round as there is room for, where that is all that it takes to hold on a probe.
pub(super) async fn with_room(
    field: &Field,
    baseline: &Candidate,
    winner: &Candidate,
    probes: &ProbeSet,
    place: usize,
) -> Result<Option<Candidate>, TunerError> {
    if winner.patches.iter().any(|patch| patch.motif == BY_ROOM) {
        return Ok(None);
    }
    let tunables = field.workspace.tunables();
    let context = |sources: &SourceTree| context_of(sources, None, (&field.coverage, &field.beside, &field.tiling));
    let now = context(&winner.sources);
    let Some(patch) = by_room(&context(&baseline.sources), &now) else { return Ok(None) };
    if now.admit(&patch).is_err() {
        return Ok(None);
    }
    let why = format!("probe {} has no room for them", probes.probes[place].case.name);
    let Ok(candidate) = winner.with_patch(tunables, &patch, &why) else { return Ok(None) };
    let verdict = probes.check_one(&candidate.plain_plan(tunables), place).await?;
    Ok(verdict.is_some_and(|verdict| verdict.holds()).then_some(candidate))
}
