//! Which steps of a winner are to blame where it does not hold on a probe, and what is left without them.

use std::collections::BTreeSet;

use super::TunerError;
use super::candidate::Candidate;
use super::more_room::{is_without_room, say_that_it_asks, verdict_with_room, with_room};
use super::probing::{ProbeSet, ProbeVerdict};
use super::round::Field;
use super::steps::{Step, Steps};
use super::taken_back::{TakenBack, reason_of, said};
use events::Event;

/// What is left of a winner.
pub(super) struct Left {
    /// The candidate; the operator as it was, where nothing is left.
    pub candidate: Candidate,
    /// The same before it asked for room, where it does so now.
    pub before_room: Option<Candidate>,
    /// Places of the steps that are gone.
    pub gone: BTreeSet<usize>,
    /// Those of them that are to blame; the others only went with them.
    pub to_blame: BTreeSet<usize>,
}

/// Takes back the steps that are to blame for what a winner does on a probe, until what is left holds there.
pub(super) async fn without_those_to_blame(
    (field, baseline): (&Field, &Candidate),
    steps: &Steps<'_>,
    (probes, place, verdict): (&ProbeSet, usize, ProbeVerdict),
    rewrites: bool,
    taken_back: &mut Vec<TakenBack>,
    emit: &mut dyn FnMut(Event),
) -> Result<Left, TunerError> {
    let tunables = field.workspace.tunables();
    let case = &probes.probes[place].case;
    let (mut gone, mut to_blame) = (BTreeSet::new(), BTreeSet::new());
    let mut verdict = verdict;
    // Each turn takes at least one step back; without any of them the operator is as it was, and holds.
    while gone.len() < steps.list.len() {
        let too_large = match is_without_room(&verdict) {
            true => value_without_room(steps, &gone, probes, place, tunables).await?,
            false => None,
        };
        let blamed = match too_large {
            Some(value) => value,
            None => first_to_break((field, baseline), steps, &gone, probes, place).await?,
        };
        gone.insert(blamed);
        to_blame.insert(blamed);
        let why = format!("probe {}: {}", case.name, reason_of(&verdict));
        taken_back.push(said(TakenBack { step: steps.title(blamed), why }, emit));
        let (left, lost) = steps.most_without(&gone);
        for step in lost {
            gone.insert(step);
            let why = format!("it does not stand without {}", steps.title(blamed));
            taken_back.push(said(TakenBack { step: steps.title(step), why }, emit));
        }
        match probes.check_one(&left.plain_plan(tunables), place).await?.filter(|verdict| !verdict.holds()) {
            None => return Ok(Left { candidate: left, before_room: None, gone, to_blame }),
            Some(now) => verdict = now,
        }
        if rewrites
            && is_without_room(&verdict)
            && let Some(candidate) = with_room(field, baseline, &left, probes, place).await?
        {
            say_that_it_asks(case, emit);
            return Ok(Left { candidate, before_room: Some(left), gone, to_blame });
        }
    }
    Ok(Left { candidate: baseline.clone(), before_room: None, gone, to_blame })
}

/// The value without which a candidate holds on a probe that it had no room on; where there is none, the first one without which it has
/// room and is slow. Rewrites that ask for room come after others, and the first step to break may be one that they mend.
async fn value_without_room(
    steps: &Steps<'_>,
    gone: &BTreeSet<usize>,
    probes: &ProbeSet,
    probe: usize,
    tunables: &[space::Tunable],
) -> Result<Option<usize>, TunerError> {
    let mut with_room = None;
    let is_value = |place: &usize| matches!(steps.list[*place], Step::Value(_)) && !gone.contains(place);
    for place in (0..steps.list.len()).rev().filter(is_value) {
        let left_out = gone.iter().copied().chain([place]).collect();
        let Some(candidate) = steps.without(&left_out) else { continue };
        match probes.check_one(&candidate.plain_plan(tunables), probe).await? {
            Some(verdict) if verdict.holds() => return Ok(Some(place)),
            Some(ProbeVerdict::Slower { .. }) => with_room = with_room.or(Some(place)),
            _ => {}
        }
    }
    // Once there is room, one that changes nothing is not to blame.
    Ok(with_room.filter(|_| gone.is_empty()))
}

/// The first step, in their order, with which a candidate of the steps up to it does not hold on a probe: found by halving.
async fn first_to_break(
    (field, baseline): (&Field, &Candidate),
    steps: &Steps<'_>,
    gone: &BTreeSet<usize>,
    probes: &ProbeSet,
    probe: usize,
) -> Result<usize, TunerError> {
    let there: Vec<usize> = (0..steps.list.len()).filter(|step| !gone.contains(step)).collect();
    // With `good` of them it holds, with `bad` of them it does not.
    let (mut good, mut bad) = (0, there.len());
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        let candidate = steps.only(|step| there[..middle].contains(&step));
        let verdict = match candidate {
            Some(candidate) => verdict_with_room((field, baseline, steps.winner()), &candidate, probes, probe).await?,
            None => None,
        };
        if verdict.is_none_or(|verdict| verdict.holds()) { good = middle } else { bad = middle }
    }
    Ok(there[bad - 1])
}
