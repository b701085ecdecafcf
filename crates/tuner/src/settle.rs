//! From the best candidate of a search to one that may be written back: what is worth nothing is taken back, and what does not
//! hold on the probes too.

use std::collections::{BTreeMap, BTreeSet};

use super::blame::{Left, without_those_to_blame};
use super::candidate::Candidate;
use super::evaluation::{CaseTime, Champion, Outcome};
use super::larger_share::with_larger_share;
use super::more_room::{is_without_room, say_that_it_asks, with_room};
use super::parts::{credit, put_together, take_apart};
use super::probe_sizes::case_bytes;
use super::probing::{MUST_HAVE_DATA_BYTES, ProbeSet, ProbeVerdict};
use super::round::{Field, Standing};
use super::steps::{Step, Steps};
use super::taken_back::{TakenBack, reason_of, said};
use super::{TunerError, Workspace};
use events::{self, Event};
use manifest::Case;
use proposer::History;

/// A step whose loss costs less than this ratio is not worth a line of somebody's sources. Far above what the model cannot
/// tell apart: its times have no noise, and their last digits no meaning.
pub(super) const WORTH_A_STEP: f64 = 1.005;
/// A winner that gains less than this in all leaves the sources as they were.
pub(super) const WORTH_WRITING: f64 = 1.01;

/// A winner that does not hold on a probe, without the steps that are to blame.
pub(super) struct Broken {
    /// The probe as a case for the rounds that follow.
    pub case: Case,
    /// Whether it is wrong there, or only slower.
    pub wrong: bool,
    /// Tunables whose values are to blame.
    pub tunables: Vec<String>,
    /// Motifs that are to blame.
    pub motifs: Vec<String>,
}

/// Probes on which the values of a tunable did not hold, for it to be left alone: the first ones may have shown the search the way.
const GIVEN_UP_AFTER: usize = 3;

/// Tunables whose values did not hold, with the probes that said so.
///
/// What a tile length gains depends on how full the last tile is, and so on the size: the next value gains elsewhere and loses
/// elsewhere, and two dozen probes do not see all of it.
#[derive(Debug, Default)]
pub(super) struct Doubted(BTreeMap<String, BTreeSet<String>>);

impl Doubted {
    /// Takes note of what did not hold. Returns the tunables that are given up with it; motifs that were wrong where no case can show it
    /// are given up in `history`: the same ones would win again and again, and be taken back.
    pub fn note(&mut self, broken: &Broken, history: &mut History) -> Vec<String> {
        if broken.wrong && case_bytes(&broken.case) > MUST_HAVE_DATA_BYTES {
            broken.motifs.iter().for_each(|motif| history.give_up(motif));
        }
        let mut given_up = Vec::new();
        for tunable in &broken.tunables {
            let probes = self.0.entry(tunable.clone()).or_default();
            if probes.insert(broken.case.name.clone()) && probes.len() == GIVEN_UP_AFTER {
                given_up.push(tunable.clone());
            }
        }
        given_up
    }
}

/// Takes back every step, and of steps of several motifs every motif, that is worth less than [`WORTH_A_STEP`], the last ones first.
pub(super) async fn simplify(
    workspace: &Workspace,
    baseline: &Candidate,
    standing: &mut Standing,
    emit: &mut dyn FnMut(Event),
) -> Result<Vec<TakenBack>, TunerError> {
    let Standing { session, progress, .. } = standing;
    take_apart(progress, workspace.tunables());
    let winner = progress.best.clone();
    let milestones = progress.milestones.clone();
    let steps = Steps::of(baseline, &winner, &milestones, workspace.tunables());
    let mut left_out = BTreeSet::new();
    let mut taken_back = Vec::new();
    for place in (0..steps.list.len()).rev() {
        if session.is_very_late() {
            emit(Event::Warning(events::Warning {
                code: "not-tried-without".to_owned(),
                message: format!("the time is up: the winner was not tried without {} of its steps", place + 1),
                help: Some("give more time (--time-limit) to have what is worth nothing taken back".to_owned()),
            }));
            break;
        }
        let mut tried = left_out.clone();
        tried.insert(place);
        let Some(candidate) = steps.without(&tried) else { continue };
        let plan = candidate.plain_plan(workspace.tunables());
        let limit_us = progress.best_us * WORTH_A_STEP;
        let judged = session.evaluate_beyond(&plan, &progress.champion(workspace.tunables()), limit_us).await?;
        let Outcome::Valid(times) = judged.evaluation.outcome else { continue };
        let Some(us) = judged.objective_us.filter(|us| *us <= limit_us) else { continue };
        if progress.beyond_floor(&times) > 1.0 || !judged.evaluation.thorough {
            continue;
        }
        let worth = us / progress.best_us;
        let why =
            if worth > 1.0 { format!("worth {:.2} %", (worth - 1.0) * 100.0) } else { "worth nothing".to_owned() };
        taken_back.push(said(TakenBack { step: steps.title(place), why }, emit));
        let (before, gain) = (progress.milestones.clone(), progress.best_us / us);
        progress.settle(candidate, us, times);
        credit(progress, &before, gain);
        left_out = tried;
    }
    put_together(progress, workspace.tunables());
    Ok(taken_back)
}

/// Takes back all values where larger tensors are no more work than the cases: the fewest cores win where there is next to
/// nothing to do, and what decides on the work of some operators, the values of their inputs and attributes, no probe changes. And
/// where the operator as it was is at fault at every probe, and where they are for a dtype that nobody can try: cores too few for it, or buffers that do not fit.
pub(super) async fn drop_values_that_nothing_tells_of(
    field: &Field,
    baseline: &Candidate,
    probes: &ProbeSet,
    case_times: &[CaseTime],
    standing: &mut Standing,
    taken_back: &mut Vec<TakenBack>,
    emit: &mut dyn FnMut(Event),
) -> Result<(), TunerError> {
    if probes.say_nothing_of_work(case_times) {
        let why = "larger tensors are no more work: nothing is known of what would be";
        return drop_values(field, baseline, (&|_| true, why), standing, taken_back, emit).await;
    }
    let nothing_is_known = probes.probes.iter().all(|probe| probe.kind.has_tensors_of_a_case());
    if let (true, Some((first, _))) = (nothing_is_known, probes.faulty.first()) {
        let count = probes.faulty.len();
        let why = format!(
            "the operator as it was is not right at any of {count} probes, first at {first}: nothing is known of other sizes"
        );
        return drop_values(field, baseline, (&|_| true, &why), standing, taken_back, emit).await;
    }
    if !probes.untried_dtypes.is_empty() {
        let untried = probes.untried_dtypes.join(", ");
        let why = format!("it is for {untried} too, of which no case or probe can be made");
        return drop_values(field, baseline, (&|_| true, &why), standing, taken_back, emit).await;
    }
    let Some(bytes) = probes.unreached_beyond else { return Ok(()) };
    let why = format!(
        "no case or probe that ends moves more than {bytes} bytes, which one tile may hold: what it does to a second one nobody knows"
    );
    // A least share leaves work that is large as it was, whatever its number.
    let is_share = |tunable: &space::Tunable| matches!(tunable.binding, space::Binding::Share { .. });
    let tunables = field.workspace.tunables();
    let which = |name: &str| !tunables.iter().any(|tunable| tunable.name == name && is_share(tunable));
    drop_values(field, baseline, (&which, &why), standing, taken_back, emit).await
}

/// Takes back the values of tunables that are given up.
pub(super) async fn drop_given_up(
    field: &Field,
    baseline: &Candidate,
    given_up: &[String],
    standing: &mut Standing,
    taken_back: &mut Vec<TakenBack>,
    emit: &mut dyn FnMut(Event),
) -> Result<(), TunerError> {
    let why = "its values did not hold on three probes: what it gains comes and goes with the size";
    let which = |name: &str| given_up.iter().any(|given_up| given_up == name);
    drop_values(field, baseline, (&which, why), standing, taken_back, emit).await
}

/// Takes back the values of some tunables, for a reason.
async fn drop_values(
    field: &Field,
    baseline: &Candidate,
    (which, why): (&dyn Fn(&str) -> bool, &str),
    standing: &mut Standing,
    taken_back: &mut Vec<TakenBack>,
    emit: &mut dyn FnMut(Event),
) -> Result<(), TunerError> {
    let winner = standing.progress.best.clone();
    let milestones = standing.progress.milestones.clone();
    let steps = Steps::of(baseline, &winner, &milestones, field.workspace.tunables());
    let is_meant = |place: &usize| matches!(&steps.list[*place], Step::Value(name) if which(name));
    let values: BTreeSet<usize> = (0..steps.list.len()).filter(is_meant).collect();
    if values.is_empty() {
        return Ok(());
    }
    for place in &values {
        taken_back.push(said(TakenBack { step: steps.title(*place), why: why.to_owned() }, emit));
    }
    let left = steps.without(&values).unwrap_or_else(|| baseline.clone());
    let (left, us, times) = timed(field, baseline, left, standing, taken_back, emit).await?;
    standing.progress.settle(left, us, times);
    Ok(())
}

/// Tries the best candidate on all probes that were drawn, and then at the edges of its rules.
pub(super) async fn settle(
    field: &Field,
    baseline: &Candidate,
    probes: &ProbeSet,
    standing: &mut Standing,
    taken_back: &mut Vec<TakenBack>,
    emit: &mut dyn FnMut(Event),
) -> Result<Option<Broken>, TunerError> {
    if let Some(broken) = settle_on_probes(field, baseline, probes, standing, taken_back, emit).await? {
        return Ok(Some(broken));
    }
    let edges = probes.at_edges(&field.workspace, &field.baseline_times, baseline, &standing.progress.best).await?;
    settle_on_probes(field, baseline, &edges, standing, taken_back, emit).await
}

/// Tries the best candidate on all probes. Where it does not hold, the steps that are to blame are taken back until what is left
/// holds on the first such probe, and that probe is returned.
async fn settle_on_probes(
    field: &Field,
    baseline: &Candidate,
    probes: &ProbeSet,
    standing: &mut Standing,
    taken_back: &mut Vec<TakenBack>,
    emit: &mut dyn FnMut(Event),
) -> Result<Option<Broken>, TunerError> {
    let workspace = &field.workspace;
    let tunables = workspace.tunables();
    let jobs = workspace.options.jobs;
    let winner = standing.progress.best.clone();
    if winner.digest(tunables) == baseline.digest(tunables) {
        return Ok(None);
    }
    let verdicts = probes.check(&winner.plain_plan(tunables), jobs, true).await?;
    let Some((place, verdict)) = verdicts.into_iter().find(|(_, verdict)| !verdict.holds()) else { return Ok(None) };
    let probe = &probes.probes[place];
    let reason = reason_of(&verdict);
    emit(Event::Warning(events::Warning {
        code: "does-not-hold".to_owned(),
        message: format!("the best candidate does not hold on probe {}: {reason}", probe.case.name),
        help: None,
    }));
    let wrong = matches!(verdict, ProbeVerdict::Wrong(_));
    // What is wrong at a size is not mended by moving the rule beyond it.
    if !wrong
        && let Some(found) = with_larger_share(&winner, probes, place, tunables).await?
        && let Ok((us, times)) = faster(field, baseline, &found.candidate, standing).await?
    {
        let why = format!("probe {}: {reason}", probe.case.name);
        taken_back.push(said(TakenBack { step: found.step, why }, emit));
        standing.progress.settle_value(&found.tunable, found.candidate, us, times);
        return Ok(Some(Broken { case: probe.case.clone(), wrong, tunables: vec![found.tunable], motifs: Vec::new() }));
    }
    if standing.rewrites
        && is_without_room(&verdict)
        && let Some(found) = with_room(field, baseline, &winner, probes, place).await?
        && let Ok((us, times)) = faster(field, baseline, &found, standing).await?
    {
        say_that_it_asks(&probe.case, emit);
        standing.progress.settle_rewrite(found, us, times);
        return Ok(Some(Broken { case: probe.case.clone(), wrong, tunables: Vec::new(), motifs: Vec::new() }));
    }
    take_apart(&mut standing.progress, tunables);
    let winner = standing.progress.best.clone();
    let milestones = standing.progress.milestones.clone();
    let steps = Steps::of(baseline, &winner, &milestones, tunables);
    let Left { candidate, before_room, gone, to_blame } = without_those_to_blame(
        (field, baseline),
        &steps,
        (probes, place, verdict),
        standing.rewrites,
        taken_back,
        emit,
    )
    .await?;
    let (left, us, times) = timed(field, baseline, candidate, standing, taken_back, emit).await?;
    let gain = standing.progress.best_us / us;
    match before_room.filter(|_| left.digest(tunables) != baseline.digest(tunables)) {
        Some(before) => {
            standing.progress.settle(before, us, times.clone());
            standing.progress.settle_rewrite(left, us, times);
        }
        None => standing.progress.settle(left, us, times),
    }
    credit(&mut standing.progress, &milestones, gain);
    put_together(&mut standing.progress, tunables);
    // It held on those that were drawn, and this one may be an edge.
    let held = standing.progress.held().map(|held| held.plain_plan(tunables));
    let holds_here = match held {
        Some(plan) => probes.check_one(&plan, place).await?.is_none_or(|verdict| verdict.holds()),
        None => false,
    };
    if holds_here && standing.progress.take_up_held() {
        let why = "the best candidate before them held on all probes and is faster than what is left".to_owned();
        taken_back.push(said(TakenBack { step: "the latest steps".to_owned(), why }, emit));
    }
    let value = |place: &usize| match &steps.list[*place] {
        Step::Value(name) => Some(name.clone()),
        Step::Rewrite { .. } => None,
    };
    let motifs = |place: &usize| match &steps.list[*place] {
        Step::Rewrite { patch, .. } => patch.motif.split('+').map(str::to_owned).collect(),
        Step::Value(_) => Vec::new(),
    };
    let tunables = gone.iter().filter_map(value).collect();
    // Those that only went with it did nothing wrong.
    let motifs = to_blame.iter().flat_map(motifs).collect();
    Ok(Some(Broken { case: probe.case.clone(), wrong, tunables, motifs }))
}

/// Times the best candidate on the cases of a new round.
pub(super) async fn restand(
    field: &Field,
    baseline: &Candidate,
    standing: &mut Standing,
    taken_back: &mut Vec<TakenBack>,
    emit: &mut dyn FnMut(Event),
) -> Result<(), TunerError> {
    standing.progress.rebase(field.baseline_us, field.baseline_times.clone(), field.floors());
    let best = standing.progress.best.clone();
    let (best, us, times) = timed(field, baseline, best, standing, taken_back, emit).await?;
    standing.progress.settle(best, us, times);
    Ok(())
}

/// Times of what is left; the operator as it was, where that is not right or no faster.
async fn timed(
    field: &Field,
    baseline: &Candidate,
    left: Candidate,
    standing: &mut Standing,
    taken_back: &mut Vec<TakenBack>,
    emit: &mut dyn FnMut(Event),
) -> Result<(Candidate, f64, Vec<CaseTime>), TunerError> {
    let nothing = (baseline.clone(), field.baseline_us, field.baseline_times.clone());
    let tunables = field.workspace.tunables();
    if left.digest(tunables) == baseline.digest(tunables) {
        return Ok(nothing);
    }
    match faster(field, baseline, &left, standing).await? {
        Ok((us, times)) => Ok((left, us, times)),
        Err(why) => {
            taken_back.push(said(TakenBack { step: "all other steps".to_owned(), why }, emit));
            Ok(nothing)
        }
    }
}

/// Times of a candidate that is right and faster than the operator as it was; why it is not, otherwise.
async fn faster(
    field: &Field,
    baseline: &Candidate,
    candidate: &Candidate,
    standing: &mut Standing,
) -> Result<Result<(f64, Vec<CaseTime>), String>, TunerError> {
    let tunables = field.workspace.tunables();
    // It may be the best candidate itself.
    let champion =
        Champion { times: field.baseline_times.clone(), us: field.baseline_us, plan: baseline.plain_plan(tunables) };
    let plan = candidate.plain_plan(tunables);
    let judged = standing.session.evaluate_beyond(&plan, &champion, field.baseline_us).await?;
    Ok(match (judged.evaluation.outcome, judged.objective_us) {
        (Outcome::Valid(times), Some(us))
            if judged.evaluation.thorough
                && judged.evaluation.estimate_us.is_none()
                && us < field.baseline_us
                && standing.progress.beyond_floor(&times) <= 1.0 =>
        {
            Ok((us, times))
        }
        (Outcome::Rejected(rejection), _) => Err(format!("what is left is not right: {rejection}")),
        (Outcome::Valid(_), _) => Err("what is left is no faster than the operator as it was".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use manifest::Manifest;
    use manifest::testing::SMALLEST;

    fn broken(probe: &str, tunables: &[&str]) -> Broken {
        let manifest = Manifest::parse(SMALLEST, Path::new("ascend.toml")).expect("a manifest");
        let case = Case { name: probe.to_owned(), ..manifest.cases[0].clone() };
        let tunables = tunables.iter().map(|name| (*name).to_owned()).collect();
        Broken { case, wrong: false, tunables, motifs: Vec::new() }
    }

    #[test]
    fn a_tunable_is_given_up_when_three_probes_refused_its_values() {
        let mut doubted = Doubted::default();
        let mut note = |broken: Broken| doubted.note(&broken, &mut History::default());
        assert_eq!(note(broken("larger", &["TILE", "CORES"])), [""; 0]);
        assert_eq!(note(broken("larger", &["TILE"])), [""; 0], "the same probe says nothing new");
        assert_eq!(note(broken("between", &["TILE"])), [""; 0]);
        assert_eq!(note(broken("ragged", &["TILE"])), ["TILE"]);
        assert_eq!(note(broken("boundary", &["TILE"])), [""; 0], "once");
    }

    #[test]
    fn a_motif_is_given_up_that_was_wrong_where_no_case_can_show_it() {
        let given_up = |wrong: bool, elements: u64| {
            let mut broken = Broken { wrong, motifs: vec!["V12".to_owned()], ..broken("larger", &[]) };
            for tensor in &mut broken.case.inputs {
                tensor.shape = Some(vec![elements]);
            }
            let mut history = History::default();
            Doubted::default().note(&broken, &mut history);
            history.refused("V12", "anywhere")
        };
        assert!(given_up(true, MUST_HAVE_DATA_BYTES));
        assert!(!given_up(false, MUST_HAVE_DATA_BYTES), "what is only slower is timed as a case");
        assert!(!given_up(true, 64), "what is small is a case with data");
    }
}
