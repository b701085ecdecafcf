//! A winner that gains at the sizes of its cases: what of it may be written, or what in its place.

use std::collections::BTreeSet;

use super::candidate::Candidate;
use super::claim::{claimed, mean, only_the_cases_gain};
use super::evaluation::speedup;
use super::probing::ProbeSet;
use super::round::{Field, Standing};
use super::settle::WORTH_WRITING;
use super::steps::{Step, Steps};
use super::taken_back::{TakenBack, said};
use super::{CaseTime, Outcome, TunerError};
use events::Event;
use space::{Tunable, Value, domain_values};

/// Values on either side of that of a winner which are tried in its place.
const VALUES_BESIDE: usize = 2;

/// The operator as it was on the cases of the manifest, with which a winner is compared.
#[derive(Clone, Copy)]
pub(super) struct AtFirst<'a> {
    /// It.
    pub baseline: &'a Candidate,
    /// Its times on those cases.
    pub times: &'a [CaseTime],
    /// Weights of those cases.
    pub weights: &'a [f64],
}

impl AtFirst<'_> {
    /// Speed-up of what takes these times, among them those on the cases of the manifest.
    pub fn speedup(&self, times: &[CaseTime]) -> f64 {
        speedup(self.times, times, self.weights)
    }
}

/// A candidate that may take the place of a winner which gains at the sizes of the cases.
struct Other {
    candidate: Candidate,
    /// The tunable in which it differs with its value; nothing where it has a step less.
    value: Option<(String, Value)>,
}

/// One that may be written if it holds at its edges too, and what is claimed of it.
struct Instead {
    other: Other,
    us: f64,
    times: Vec<CaseTime>,
    claim: f64,
}

impl AtFirst<'_> {
    /// The candidate as one that may be written: right, worth it, held by all probes, and no flattery.
    async fn instead(
        self,
        field: &Field,
        probes: &ProbeSet,
        standing: &mut Standing,
        other: Other,
    ) -> Result<Option<Instead>, TunerError> {
        let tunables = field.workspace.tunables();
        let plan = other.candidate.plain_plan(tunables);
        let champion = standing.progress.champion(tunables);
        let judged = standing.session.evaluate_beyond(&plan, &champion, field.baseline_us).await?;
        let (Outcome::Valid(times), Some(us)) = (judged.evaluation.outcome, judged.objective_us) else {
            return Ok(None);
        };
        let on_cases = self.speedup(&times);
        let is_right = judged.evaluation.thorough && standing.progress.beyond_floor(&times) <= 1.0;
        // A time that was not taken makes no number, which is no gain.
        if !is_right || on_cases.is_nan() || on_cases < WORTH_WRITING {
            return Ok(None);
        }
        let verdicts = probes.check(&plan, field.workspace.options.jobs, false).await?;
        let holds = verdicts.iter().all(|(_, verdict)| verdict.holds());
        let verdicts = probes.of_the_sample(verdicts);
        let is_one = holds && only_the_cases_gain(on_cases, &verdicts, field.noise).is_none();
        let claim = claimed(on_cases, mean(&verdicts));
        Ok(is_one.then_some(Instead { other, us, times, claim }))
    }
}

/// The winner with values of a tunable next to the one that it has, where these have an order.
fn beside(winner: &Candidate, name: &str, tunables: &[Tunable]) -> Vec<Other> {
    let Some(tunable) = tunables.iter().find(|tunable| tunable.name == name && tunable.domain.is_ordered()) else {
        return Vec::new();
    };
    let values = domain_values(tunable).unwrap_or_default();
    let Some(at) = winner.configuration.get(name).and_then(|value| values.iter().position(|known| known == value))
    else {
        return Vec::new();
    };
    let near = at.saturating_sub(VALUES_BESIDE)..(at + VALUES_BESIDE + 1).min(values.len());
    let other = |place: usize| {
        let mut configuration = winner.configuration.clone();
        configuration.set(name, values[place].clone());
        let candidate = winner.with_configuration(tunables, &configuration).ok()?;
        Some(Other { candidate, value: Some((name.to_owned(), values[place].clone())) })
    };
    near.filter(|place| *place != at).filter_map(other).collect()
}

/// Whether a candidate holds where its rules begin and end, which no drawn probe tells.
async fn holds_at_edges(
    field: &Field,
    baseline: &Candidate,
    probes: &ProbeSet,
    candidate: &Candidate,
) -> Result<bool, TunerError> {
    let edges = probes.at_edges(&field.workspace, &field.baseline_times, baseline, candidate).await?;
    let plan = candidate.plain_plan(field.workspace.tunables());
    let verdicts = edges.check(&plan, field.workspace.options.jobs, true).await?;
    Ok(verdicts.iter().all(|(_, verdict)| verdict.holds()))
}

/// Leaves the sources as they were where a winner gains nothing on the probes and is slower somewhere, or gains little there and
/// more on the cases: it would be a change for the sake of its cases. Where another value or one step less is enough, what then may
/// be claimed most of takes its place.
pub(super) async fn drop_what_only_the_cases_gain(
    field: &Field,
    at_first: AtFirst<'_>,
    probes: &ProbeSet,
    standing: &mut Standing,
    taken_back: &mut Vec<TakenBack>,
    emit: &mut dyn FnMut(Event),
) -> Result<(), TunerError> {
    let tunables = field.workspace.tunables();
    let jobs = field.workspace.options.jobs;
    let best = &standing.progress.best;
    if best.digest(tunables) == at_first.baseline.digest(tunables) {
        return Ok(());
    }
    let verdicts = probes.of_the_sample(probes.check(&best.plain_plan(tunables), jobs, false).await?);
    let on_cases = at_first.speedup(&standing.progress.best_times);
    let Some(why) = only_the_cases_gain(on_cases, &verdicts, field.noise) else { return Ok(()) };

    let (winner, milestones) = (best.clone(), standing.progress.milestones.clone());
    let steps = Steps::of(at_first.baseline, &winner, &milestones, tunables);
    let in_place = |place: usize| match &steps.list[place] {
        Step::Value(name) => beside(&winner, name, tunables),
        Step::Rewrite { .. } => Vec::new(),
    };
    let others = (0..steps.list.len()).flat_map(|place| in_place(place).into_iter().map(move |other| (place, other)));
    let fewer = (0..steps.list.len()).rev().filter_map(|place| {
        steps.without(&BTreeSet::from([place])).map(|candidate| (place, Other { candidate, value: None }))
    });
    let mut found = Vec::new();
    for (place, other) in others.chain(fewer) {
        found.extend(at_first.instead(field, probes, standing, other).await?.map(|instead| (place, instead)));
    }
    // Of equals the first one: a step that stays with another value rather than one that goes.
    found.sort_by(|(_, left), (_, right)| right.claim.total_cmp(&left.claim));
    for (place, Instead { other: Other { candidate, value }, us, times, .. }) in found {
        if !holds_at_edges(field, at_first.baseline, probes, &candidate).await? {
            continue;
        }
        let now = value.as_ref().map(|(_, value)| format!(" (now {value})")).unwrap_or_default();
        taken_back.push(said(TakenBack { step: format!("{}{now}", steps.title(place)), why }, emit));
        match value {
            Some((name, _)) => standing.progress.settle_value(&name, candidate, us, times),
            None => standing.progress.settle(candidate, us, times),
        }
        return Ok(());
    }
    taken_back.push(said(TakenBack { step: "everything".to_owned(), why }, emit));
    let (us, times) = (field.baseline_us, field.baseline_times.clone());
    standing.progress.settle(at_first.baseline.clone(), us, times);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::SourceTree;
    use space::{Binding, Configuration, Domain};

    #[test]
    fn values_beside_are_those_next_in_an_order() {
        let tunable = |name: &str, ordered: bool| Tunable {
            name: name.to_owned(),
            binding: Binding::Cmake { variable: name.to_owned() },
            domain: Domain::List { values: [0, 64, 128, 256, 512, 1024].map(Value::Int).to_vec(), ordered },
            default: None,
            reason: String::new(),
            when: None,
        };
        let tunables = [tunable("share", true), tunable("mode", false)];
        let of = |share: i64, name: &str| {
            let values = ["share", "mode"].map(|name| (name.to_owned(), Value::Int(share)));
            let configuration: Configuration = values.into_iter().collect();
            let winner = Candidate { sources: SourceTree::new(), configuration, patches: Vec::new() };
            let others = beside(&winner, name, &tunables);
            let value = |other: Other| other.value.map(|(_, value)| value.to_string());
            others.into_iter().filter_map(value).collect::<Vec<_>>()
        };
        assert_eq!(of(512, "share"), ["128", "256", "1024"]);
        assert_eq!(of(0, "share"), ["64", "128"]);
        assert!(of(512, "mode").is_empty(), "nothing is next to it");
        assert!(of(7, "share").is_empty(), "no value of its");
    }
}
