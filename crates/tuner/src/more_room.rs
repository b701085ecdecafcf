//! More buffers or rows than some size has room for: where the kernel asks whether there is room, the winner holds there and keeps what it
//! gains elsewhere.

use super::TunerError;
use super::candidate::Candidate;
use super::kernel_stage::context_of;
use super::probing::{ProbeSet, ProbeVerdict};
use super::round::Field;
use aicore::HazardKind;
use events::{self, Event};
use manifest::Case;
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
    let why = format!("probe {} has no room for them", probes.probes[place].case.name);
    let Some(candidate) = asking_for_room(field, baseline, winner, &why) else { return Ok(None) };
    let verdict = probes.check_one(&candidate.plain_plan(field.workspace.tunables()), place).await?;
    Ok(verdict.is_some_and(|verdict| verdict.holds()).then_some(candidate))
}

/// How some of a winner's steps do on a probe, with as many buffers and rows as there is room for, as the winner has: the rewrite that asks for
/// room is the last one, and those before it do not stand for themselves.
pub(super) async fn verdict_with_room(
    (field, baseline, winner): (&Field, &Candidate, &Candidate),
    candidate: &Candidate,
    probes: &ProbeSet,
    place: usize,
) -> Result<Option<ProbeVerdict>, TunerError> {
    let tunables = field.workspace.tunables();
    let verdict = probes.check_one(&candidate.plain_plan(tunables), place).await?;
    let asks = winner.patches.iter().any(|patch| patch.motif == BY_ROOM);
    if !asks || !verdict.as_ref().is_some_and(is_without_room) {
        return Ok(verdict);
    }
    match asking_for_room(field, baseline, candidate, "") {
        Some(candidate) => probes.check_one(&candidate.plain_plan(tunables), place).await,
        None => Ok(verdict),
    }
}

/// Says that the winner asks from now on.
pub(super) fn say_that_it_asks(case: &Case, emit: &mut dyn FnMut(Event)) {
    let message = format!("the kernel asks for room from now on, and the best candidate holds on probe {}", case.name);
    emit(Event::Warning(events::Warning { code: "by-room".to_owned(), message, help: None }));
}

fn asking_for_room(field: &Field, baseline: &Candidate, winner: &Candidate, why: &str) -> Option<Candidate> {
    if winner.patches.iter().any(|patch| patch.motif == BY_ROOM) {
        return None;
    }
    let context = |sources: &SourceTree| context_of(sources, None, (&field.coverage, &field.beside, &field.tiling));
    let now = context(&winner.sources);
    let patch = by_room(&context(&baseline.sources), &now)?;
    now.admit(&patch).ok()?;
    winner.with_patch(field.workspace.tunables(), &patch, why).ok()
}
