//! The last step of a run: where sizes differ in what is fastest, the tiling function chooses between values of constants by size.
//!
//! A search ends with one value for all sizes, which is a compromise where small work wants few cores and short tiles, and large work
//! many and long ones. Cases say which sizes there are; what is best for each is looked for beside the one that was found, and where a
//! choice promises a hundredth or more in the objective, the code for it is written, tried as every candidate is, and held to sizes that no case has
//! on both sides of where a class ends.

use std::sync::Arc;

use super::by_size_held_out::HeldOut;
use super::by_size_values::{Seeker, Timed};
use super::candidate::Candidate;
use super::claim::{claimed, mean, only_the_cases_gain};
use super::classes::{Chosen, SizeClass, Table, size_classes};
use super::evaluation::Outcome;
use super::flattered::AtFirst;
use super::kernel_stage::context_of;
use super::probing::ProbeSet;
use super::progress::Attempt;
use super::round::{Field, Standing};
use super::run_options::RunOptions;
use super::searched::Searched;
use super::session::Judged;
use super::settle::WORTH_WRITING;
use super::taken_back::{TakenBack, said};
use super::{CaseTime, TunerError};
use backend::longest;
use discovery::init::Brought;
use events::{Event, Stage, Warning};
use source::Patch;
use source::tunable::{BY_SIZE, NotDispatched, Surroundings, ValuesBySize, WhyNot, by_size, dispatchable, of_choices};
use space::{Binding, NO_LIMIT, Tunable, Value};

/// What the step begins with.
pub(super) struct BySizeStep<'a> {
    /// The operator as it was.
    pub at_first: AtFirst<'a>,
    /// Probes of the run.
    pub probes: &'a ProbeSet,
}

/// Whether a choice by size may be looked for at all: times that are exact, a tiling function, sizes that differ, and probes.
pub(super) fn may_choose(options: &RunOptions, field: &Field) -> bool {
    let workspace = &field.workspace;
    let exact = field.noise == 0.0 && workspace.evaluator.backend.capabilities().exact;
    options.dispatch
        && options.stages.contains(&Stage::Host)
        && exact
        && !workspace.is_direct_launch()
        && workspace.manifest.probes > 0
        && classes_of(field).is_some_and(|classes| classes.len() > 1)
        && workspace.tunables().iter().any(|tunable| matches!(tunable.binding, Binding::Constant { .. }))
}

/// The classes of the timed cases; `None` where a case has no size.
fn classes_of(field: &Field) -> Option<Vec<SizeClass>> {
    let cases = &field.workspace.manifest.cases;
    let of = |time: &CaseTime| {
        let case = cases.iter().find(|case| case.name == time.name)?;
        Some((case.elements()?, case.stands_for))
    };
    Some(size_classes(&field.baseline_times.iter().map(of).collect::<Option<Vec<_>>>()?))
}

impl BySizeStep<'_> {
    /// Makes the choice and takes it over, where that holds. Says why where it does not.
    pub async fn take(
        self,
        field: &mut Field,
        searched: &mut Searched,
        standing: &mut Standing,
        taken_back: &mut Vec<TakenBack>,
        emit: &mut dyn FnMut(Event),
    ) -> Result<(), TunerError> {
        let Some(classes) = classes_of(field).filter(|_| !standing.session.is_late()) else { return Ok(()) };
        let single = standing.progress.best.clone();
        let kernels = field.workspace.project.kernel_files.clone();
        let tunables = field.workspace.tunables().to_vec();
        let ruled: Vec<Tunable> = tunables.iter().filter(|tunable| is_in_force(tunable, &single)).cloned().collect();
        let beside = Arc::clone(&field.beside);
        let around = Surroundings { beside: &beside, kernels: &kernels, tunables: &ruled };
        let (may, refused) = sorted(&tunables, &single, around);
        let times = standing.progress.best_times.clone();
        emit_if(one_for_all(&classes, &times, &refused, &single, &standing.progress.attempts, &field.weights), emit);
        tracing::debug!(may = ?may.iter().map(|one| &one.name).collect::<Vec<_>>(), ?refused, ?classes, "values by size");
        if may.is_empty() || nothing_is_known(self.probes, &field.baseline_times) {
            return Ok(());
        }
        let space = searched.space.clone();
        let (best, best_times) = (&single, &times[..]);
        let seeker = Seeker { field, space: &space, tunables: may, classes: &classes, best, best_times };
        let pool = seeker.seek(&mut standing.session, &standing.progress).await?;
        let chosen = self.chosen(field, &classes, &pool);
        let tried = pool.iter().map(|timed| (timed.candidate.configuration.to_string(), &timed.us)).collect::<Vec<_>>();
        tracing::debug!(?tried, ?chosen, "candidates by size");
        let Some(chosen) = chosen else { return Ok(()) };

        // From the largest sizes to the smallest, each with as many values of the next larger ones as cost nothing.
        let starts: Vec<usize> = std::iter::once(0).chain(chosen.ends.iter().copied()).collect();
        let stops: Vec<usize> = chosen.ends.iter().copied().chain([classes.len()]).collect();
        let mut parts: Vec<Candidate> = Vec::new();
        for (part, candidate) in chosen.candidates.iter().enumerate().rev() {
            let cases: Vec<usize> =
                classes[starts[part]..stops[part]].iter().flat_map(|class| class.cases.iter().copied()).collect();
            let next = parts.last().unwrap_or(&single).clone();
            parts.push(seeker.closer(&mut standing.session, (&pool[*candidate].candidate, &next), &cases).await?);
        }
        parts.reverse();
        let held_out = HeldOut { field, baseline: self.at_first.baseline, probes: self.probes, times: &times };
        let mut boundaries = Vec::new();
        // What is best for the cases may be nothing between them; what there is holds there.
        let middle = Some(&single).filter(|_| parts.len() == 2 && !parts.contains(&single));
        for part in 1..parts.len() {
            let smaller = &classes[starts[part - 1]..stops[part - 1]];
            let larger = &classes[starts[part]..stops[part]];
            match held_out.boundary((&parts[part - 1], &parts[part]), middle, (smaller, larger)).await? {
                Ok(boundary) => boundaries.push(boundary),
                Err(why) => {
                    let step = format!("{BY_SIZE} ({})", names(&parts, &seeker.tunables).join(", "));
                    taken_back.push(said(TakenBack { step, why }, emit));
                    return Ok(());
                }
            }
        }
        let up_to: Vec<u64> = boundaries.iter().flat_map(|boundary| boundary.up_to.iter().copied()).collect();
        if up_to.len() == parts.len() {
            parts.insert(1, single.clone());
        }
        let (Some(last), differing) = (parts.last(), names(&parts, &seeker.tunables)) else { return Ok(()) };
        let mut values = Vec::new();
        for tunable in seeker.tunables.iter().copied().filter(|tunable| differing.contains(&tunable.name)) {
            let of = |part: &Candidate| part.configuration.get(&tunable.name)?.as_int();
            let each = parts.iter().map(of).collect::<Option<Vec<i64>>>();
            values.extend(each.map(|values| ValuesBySize { tunable, values }));
        }
        let patch = match by_size(&last.sources, &values, &up_to, around) {
            Ok(patch) if !patch.edits.is_empty() => patch,
            Ok(_) => return Ok(()),
            Err(refusal) => {
                emit(not_chosen(&refusal.to_string()));
                return Ok(());
            }
        };
        let step = format!("{BY_SIZE} ({})", patch.title);
        let (candidate, judged) = match self.tried(field, standing, &patch, (last, &chosen)).await? {
            Ok(tried) => tried,
            Err(why) => {
                taken_back.push(said(TakenBack { step, why }, emit));
                return Ok(());
            }
        };
        let refusal = match held_out.refusal((&candidate, &single), &boundaries).await? {
            Some(why) => Some(why),
            None => self.flattered(field, &candidate, &single, (&judged.evaluation.outcome, &times)).await?,
        };
        if let Some(why) = refusal {
            taken_back.push(said(TakenBack { step, why }, emit));
            return Ok(());
        }
        if let Some(patch) = candidate.patches.last() {
            standing.progress.record_beside(Stage::Host, &candidate, patch, &judged, emit);
        }
        let brought = Brought { tunables: of_choices(&candidate.sources, &tunables), constraints: Vec::new() };
        searched.take_along(&brought, (field, &mut standing.progress));
        Ok(())
    }

    /// The best choice among these candidates by what they take on the cases.
    fn chosen(&self, field: &Field, classes: &[SizeClass], pool: &[Timed]) -> Option<Chosen> {
        let times: Vec<Vec<f64>> = pool.iter().map(|timed| timed.us.clone()).collect();
        let before: Vec<f64> = field.baseline_times.iter().map(|time| time.task_us).collect();
        let (floors, weights) = (field.floors(), &field.weights);
        Table { times: &times, before: &before, floors: &floors, weights }.best(classes)
    }

    /// The candidate with the choice, tried in full on all cases; why it is none, otherwise.
    async fn tried(
        &self,
        field: &Field,
        standing: &mut Standing,
        patch: &Patch,
        (largest, chosen): (&Candidate, &Chosen),
    ) -> Result<Result<(Candidate, Judged), String>, TunerError> {
        let tunables = field.workspace.tunables();
        let launch = longest(field.baseline_profiles().values().flatten());
        let context = context_of(&largest.sources, launch, (&field.coverage, &field.beside, &field.tiling));
        if let Err(refusal) = context.admit(patch) {
            return Ok(Err(refusal.to_string()));
        }
        let why = format!(
            "sizes differ in what is fastest: {:.1} % off the objective of one value for all by the cases",
            (1.0 - 1.0 / chosen.gain) * 100.0
        );
        let candidate = match largest.with_patch(tunables, patch, &why) {
            Ok(candidate) => candidate,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let progress = &standing.progress;
        let (limit_us, floors) = (progress.best_us / WORTH_WRITING, field.floors());
        let champion = progress.champion(tunables);
        let plan = candidate.plain_plan(tunables);
        let judged = standing.session.evaluate_beyond(&plan, &champion, limit_us).await?;
        let progress = &standing.progress;
        let times = match &judged.evaluation.outcome {
            Outcome::Rejected(rejection) => return Ok(Err(rejection.to_string())),
            Outcome::Valid(times) => times,
        };
        let Some(us) = judged.objective_us.filter(|us| judged.evaluation.thorough && *us <= limit_us) else {
            let us = judged.objective_us.unwrap_or(progress.best_us);
            let gain = (progress.best_us / us - 1.0) * 100.0;
            return Ok(Err(format!("it gains {gain:.2} % over one value for all sizes, and a hundredth is the least")));
        };
        tracing::debug!(us, single_us = progress.best_us, "a choice by size");
        let most = progress.best_times.iter().zip(&field.baseline_times).zip(&floors);
        let most = most.map(|((single, before), floor)| single.task_us.min(before.task_us) * floor);
        let lost: Vec<&str> = times
            .iter()
            .zip(most)
            .filter(|(now, most)| now.task_us > *most)
            .map(|(now, _)| now.name.as_str())
            .collect();
        if !lost.is_empty() {
            return Ok(Err(format!("more than `case-floor` allows is lost on {}", lost.join(", "))));
        }
        Ok(Ok((candidate, judged)))
    }

    /// Why the choice may not be written though it holds: it gains at the sizes of the cases, and what may be claimed is no more or less
    /// than without it.
    async fn flattered(
        &self,
        field: &Field,
        candidate: &Candidate,
        single: &Candidate,
        (outcome, times): (&Outcome, &[CaseTime]),
    ) -> Result<Option<String>, TunerError> {
        let (workspace, Outcome::Valid(now)) = (&field.workspace, outcome) else { return Ok(None) };
        let sample = async |candidate: &Candidate| {
            let plan = candidate.plain_plan(workspace.tunables());
            let verdicts = self.probes.check(&plan, workspace.options.jobs, false).await?;
            Ok::<_, TunerError>(self.probes.of_the_sample(verdicts))
        };
        let (of_chosen, of_single) = (sample(candidate).await?, sample(single).await?);
        let (on_cases, before) = (self.at_first.speedup(now), self.at_first.speedup(times));
        if let Some(why) = only_the_cases_gain(on_cases, &of_chosen, field.noise) {
            return Ok(Some(why));
        }
        let (claim, claim_before) = (claimed(on_cases, mean(&of_chosen)), claimed(before, mean(&of_single)));
        Ok((claim < claim_before)
            .then(|| format!("{claim:.3}x could be claimed, where one value for all sizes has {claim_before:.3}x")))
    }
}

/// Whether the sources hold a rule or limit of this tunable.
fn is_in_force(tunable: &Tunable, best: &Candidate) -> bool {
    best.configuration.get(&tunable.name).is_some_and(|value| *value != NO_LIMIT)
}

/// Tunables whose values can be chosen by size, and why the others cannot.
fn sorted<'a>(
    tunables: &'a [Tunable],
    best: &Candidate,
    around: Surroundings<'_>,
) -> (Vec<&'a Tunable>, Vec<NotDispatched>) {
    let (mut may, mut refused) = (Vec::new(), Vec::new());
    for tunable in tunables.iter().filter(|tunable| best.configuration.get(&tunable.name).is_some()) {
        match dispatchable(&best.sources, tunable, around) {
            Ok(()) => may.push(tunable),
            Err(refusal) => refused.push(refusal),
        }
    }
    (may, refused)
}

/// Whether probes say nothing of what values do at other sizes.
fn nothing_is_known(probes: &ProbeSet, times: &[CaseTime]) -> bool {
    probes.say_nothing_of_work(times)
        || !probes.untried_dtypes.is_empty()
        || probes.unreached_beyond.is_some()
        || probes.probes.iter().all(|probe| probe.kind.has_tensors_of_a_case())
}

/// Tunables in which the candidates for the classes differ.
fn names(parts: &[Candidate], tunables: &[&Tunable]) -> Vec<String> {
    let value = |part: &Candidate, name: &str| part.configuration.get(name).and_then(Value::as_int);
    let differs = |tunable: &&&Tunable| {
        parts.windows(2).any(|pair| value(&pair[0], &tunable.name) != value(&pair[1], &tunable.name))
    };
    tunables.iter().filter(differs).map(|tunable| tunable.name.clone()).collect()
}

/// What a maintainer may want to know: that sizes differ in what is fastest, and which tunables have one value for all sizes anyway. What is
/// better for all sizes and was refused is no matter of sizes, so all is held against what is fastest for them together.
fn one_for_all(
    classes: &[SizeClass],
    single: &[CaseTime],
    refused: &[NotDispatched],
    best: &Candidate,
    attempts: &[Attempt],
    weights: &[f64],
) -> Option<Event> {
    let rewrites = best.rewrites();
    let time_of = |attempt: &Attempt, place: usize| {
        attempt.times.iter().find(|time| time.name == single[place].name).map(|time| time.task_us)
    };
    let sum = |of: &dyn Fn(usize) -> Option<f64>| -> Option<f64> {
        weights.iter().enumerate().map(|(place, weight)| Some(weight * of(place)?.ln())).sum()
    };
    let right = || attempts.iter().filter(|attempt| attempt.rejection.is_none() && attempt.rewrites == rewrites);
    let of_single = sum(&|place| Some(single[place].task_us))?;
    let (mut common, mut least) = (None, of_single);
    for attempt in right() {
        if let Some(objective) = sum(&|place| time_of(attempt, place)).filter(|objective| *objective < least) {
            (common, least) = (Some(attempt), objective);
        }
    }
    let common_us = |place: usize| common.map_or(Some(single[place].task_us), |common| time_of(common, place));
    let common_values = common.map_or(&best.configuration, |common| &common.configuration);
    let (mut gained, mut named) = (0.0, Vec::new());
    for place in classes.iter().flat_map(|class| &class.cases).copied() {
        let of_case = right().filter_map(|attempt| Some((time_of(attempt, place)?, attempt)));
        let (Some((us, attempt)), Some(before)) =
            (of_case.min_by(|left, right| left.0.total_cmp(&right.0)), common_us(place))
        else {
            continue;
        };
        gained += weights[place] * (before / us).ln().max(0.0);
        let differs = |refusal: &&NotDispatched| {
            let there = matches!(refusal.why, WhyNot::There { .. });
            let other = attempt.configuration.get(&refusal.name) != common_values.get(&refusal.name);
            !there && other && us < before / WORTH_WRITING
        };
        named.extend(refused.iter().filter(differs));
    }
    named.sort_by(|left, right| left.name.cmp(&right.name));
    named.dedup_by(|left, right| left.name == right.name);
    let gain = (gained / weights.iter().sum::<f64>()).exp();
    if gain < WORTH_WRITING || named.is_empty() {
        return None;
    }
    let each: Vec<String> = named.iter().map(|refusal| refusal.to_string()).collect();
    let percent = (gain - 1.0) * 100.0;
    let message =
        format!("sizes differ in what is fastest, by {percent:.1} % of the objective, and {}", each.join("; "));
    Some(not_chosen(&message))
}

fn not_chosen(message: &str) -> Event {
    Event::Warning(Warning { code: "one-value-for-all-sizes".to_owned(), message: message.to_owned(), help: None })
}

fn emit_if(event: Option<Event>, emit: &mut dyn FnMut(Event)) {
    if let Some(event) = event {
        emit(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::SourceTree;
    use space::Configuration;

    #[test]
    fn what_has_one_value_for_all_sizes_is_told_where_sizes_differ_by_it() {
        let time = |name: &str, us: f64| CaseTime {
            name: name.to_owned(),
            task_us: us,
            bound_us: 0.0,
            bound_by_work: false,
            measured: None,
        };
        let depth = |value: i64| -> Configuration { [("DEPTH".to_owned(), Value::Int(value))].into_iter().collect() };
        let attempt = |value: i64, small: f64, large: f64| Attempt {
            index: 1,
            stage: Stage::Host,
            digest: String::new(),
            configuration: depth(value),
            rewrites: Vec::new(),
            motif: String::new(),
            title: String::new(),
            objective_us: Some(1.0),
            times: vec![time("small", small), time("large", large)],
            rejection: None,
            improved: false,
        };
        let best = Candidate { sources: SourceTree::new(), configuration: depth(1), patches: Vec::new() };
        let refused = [NotDispatched { name: "DEPTH".to_owned(), why: WhyNot::InStep }];
        let (single, classes) = ([time("small", 10.0), time("large", 80.0)], size_classes(&[(64, None), (4096, None)]));
        let told = |attempts: &[Attempt]| match one_for_all(&classes, &single, &refused, &best, attempts, &[1.0, 1.0]) {
            Some(Event::Warning(warning)) => warning.message,
            _ => String::new(),
        };
        assert_eq!(
            told(&[attempt(2, 5.0, 160.0)]),
            "sizes differ in what is fastest, by 41.4 % of the objective, and DEPTH has one value for all sizes: host and kernel keep it in step"
        );
        assert_eq!(
            told(&[attempt(2, 5.0, 40.0)]),
            "",
            "that is better for all of them, and was refused for something else"
        );
        assert_eq!(told(&[attempt(2, 9.95, 160.0)]), "", "hardly");
        assert_eq!(told(&[attempt(1, 5.0, 160.0)]), "", "not by this one");
    }
}
