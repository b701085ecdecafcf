//! Many kernels, every motif on each of them, both versions run and compared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::bench::{Bench, FILE, Job, Observed, Ran, Wanted};
use super::draw::Draw;
use super::error::SoundnessError;
use super::generator::{Kernel, kernel};
use super::judge::{Difference, Failure, Verdict, difference};
use super::launch::Launch;
use super::pair::{Pair, pairs, tree_of};
use super::tally::{Miss, Tally};
use aicore::HazardKind;
use motif::{Context, Coverage, Id, VisitedLines, by_id};
use source::facts::KnownValues;

/// Kernels that are generated, built and judged together: as many as make their changed versions a few programs' worth.
const KERNELS_OF_A_GROUP: u64 = 6;
/// Kernels drawn for a group of those in which the motifs that are asked for have something to do.
const DRAWN_FOR_A_GROUP: u64 = 60;
/// Changed kernels in one program.
const VARIANTS_OF_A_BATCH: usize = 128;
/// Stream of draws that decides about sites, beside those of the kernels.
const SITES_STREAM: u64 = 1 << 40;

/// What a campaign is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Pairs to run, at least.
    pub pairs: usize,
    /// Seed of everything.
    pub seed: u64,
    /// Only these motifs; all where there are none.
    pub motifs: Vec<Id>,
    /// Sites taken of one motif, one direction and one kernel.
    pub sites: usize,
    /// Groups of kernels at the same time.
    pub jobs: usize,
}

/// Runs a campaign. `progress` hears of the tally so far.
pub fn run(bench: &Bench, plan: &Plan, progress: &(dyn Fn(&Tally) + Sync)) -> Result<Tally, SoundnessError> {
    bench.check()?;
    let (next, enough) = (AtomicU64::new(0), AtomicBool::new(false));
    // Groups count in their order, so that the number of jobs changes nothing but time.
    let finished: Mutex<(BTreeMap<u64, Tally>, Tally, u64)> = Mutex::new((BTreeMap::new(), Tally::new(), 0));
    let failure: Mutex<Option<SoundnessError>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs.max(1) {
            scope.spawn(|| {
                while !enough.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    match group(bench, plan, number) {
                        Ok(tally) => {
                            let Ok(mut finished) = finished.lock() else { return };
                            let (waiting, total, wanted) = &mut *finished;
                            waiting.insert(number, tally);
                            while let Some(tally) = waiting.remove(wanted).filter(|_| total.pairs() < plan.pairs) {
                                total.add(tally);
                                *wanted += 1;
                                progress(total);
                            }
                            if total.pairs() >= plan.pairs {
                                enough.store(true, Ordering::Relaxed);
                            }
                        }
                        Err(error) => {
                            if let Ok(mut failure) = failure.lock() {
                                failure.get_or_insert(error);
                            }
                            enough.store(true, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    if let Some(error) = failure.into_inner().ok().flatten() {
        return Err(error);
    }
    Ok(finished.into_inner().map(|(_, total, _)| total).unwrap_or_else(|poisoned| poisoned.into_inner().1))
}

/// A kernel that runs without faults, with what its launches did.
struct Sound {
    kernel: Kernel,
    context: Context,
    cases: Vec<(Launch, Observed)>,
    probes: Vec<(Launch, Observed)>,
}

fn group(bench: &Bench, plan: &Plan, number: u64) -> Result<Tally, SoundnessError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut tally = Tally::new();
    let drawn = if plan.motifs.is_empty() { KERNELS_OF_A_GROUP } else { DRAWN_FOR_A_GROUP };
    let kernels = (0..drawn).map(|at| kernel(plan.seed, number * drawn + at));
    let kernels: Vec<Kernel> =
        kernels.filter(|kernel| is_asked_for(plan, kernel)).take(KERNELS_OF_A_GROUP as usize).collect();
    if kernels.is_empty() {
        return Ok(tally);
    }
    let sound = runtime.block_on(sound(bench, kernels, &mut tally))?;
    let mut all: Vec<(usize, Pair)> = Vec::new();
    for (index, sound) in sound.iter().enumerate() {
        let mut draw = Draw::new(plan.seed, SITES_STREAM + sound.kernel.number);
        let mut texts = BTreeSet::from([sound.kernel.text.clone()]);
        for (motif, direction, offered) in pairs(&sound.context, &plan.motifs, plan.sites, &mut draw) {
            tally.offered(motif, direction, &offered);
            // What two motifs make alike is one pair.
            all.extend(
                offered.pairs.into_iter().filter(|pair| texts.insert(pair.text.clone())).map(|pair| (index, pair)),
            );
        }
    }
    for batch in all.chunks(VARIANTS_OF_A_BATCH) {
        let launches: Vec<Vec<Launch>> = batch.iter().map(|(index, pair)| launches(&sound[*index], pair)).collect();
        let jobs: Vec<Job<'_>> = batch
            .iter()
            .zip(&launches)
            .map(|((index, pair), launches)| Job { text: &pair.text, element: sound[*index].kernel.element, launches })
            .collect();
        let ran = runtime.block_on(bench.run(&jobs, Wanted::Results))?;
        for (((index, pair), launches), ran) in batch.iter().zip(&launches).zip(ran) {
            let sound = &sound[*index];
            let verdict = judge(sound, pair, launches, ran);
            let miss = |failure: &Failure| Miss {
                motif: pair.motif,
                direction: pair.direction,
                kernel: sound.kernel.number,
                line: pair.site.line,
                note: pair.site.note.clone(),
                conditions: pair.site.conditions.clone(),
                failure: failure.clone(),
                before: sound.kernel.text.clone(),
                after: pair.text.clone(),
            };
            tally.judged(pair, launches.len(), &verdict, miss);
        }
    }
    Ok(tally)
}

/// Whether a motif of the plan has anything to do in a kernel: running it takes a thousand times as long as asking.
fn is_asked_for(plan: &Plan, kernel: &Kernel) -> bool {
    let context = Context::new(tree_of(&kernel.text), KnownValues::default(), None);
    let has_sites = |id: &Id| {
        let motif = by_id(*id);
        !motif.find(&context).sites.is_empty() || !motif.rewind_sites(&context).sites.is_empty()
    };
    plan.motifs.is_empty() || plan.motifs.iter().any(has_sites)
}

/// The kernels that run without faults, with the launches on which they do.
async fn sound(bench: &Bench, kernels: Vec<Kernel>, tally: &mut Tally) -> Result<Vec<Sound>, SoundnessError> {
    let launches: Vec<Vec<Launch>> =
        kernels.iter().map(|kernel| kernel.cases.iter().chain(&kernel.probes).cloned().collect()).collect();
    let jobs: Vec<Job<'_>> = kernels
        .iter()
        .zip(&launches)
        .map(|(kernel, launches)| Job { text: &kernel.text, element: kernel.element, launches })
        .collect();
    let ran = bench.run(&jobs, Wanted::Lines).await?;
    let mut sound = Vec::new();
    for (kernel, ran) in kernels.into_iter().zip(ran) {
        let observed = match ran {
            Ran::NotCompiled(log) => {
                let error = log.lines().find(|line| line.contains("error")).unwrap_or_default();
                tally.discard(&kernel, error);
                continue;
            }
            Ran::Launched(observed) => observed,
        };
        let number = kernel.cases.len();
        let is_sound = |observed: &Observed| {
            // Ways out leave results unwritten, before and after.
            observed.fault.is_none() && observed.hazards.keys().all(|kind| *kind == HazardKind::UnwrittenOutput)
        };
        let mut paired = kernel.cases.iter().chain(&kernel.probes).cloned().zip(observed);
        let cases: Vec<_> = paired.by_ref().take(number).collect();
        if let Some((launch, bad)) = cases.iter().find(|(_, observed)| !is_sound(observed)) {
            let hazard = bad.hazards.iter().next().map(|(kind, message)| format!("{kind:?}: {message}"));
            let what = bad.fault.clone().or(hazard).unwrap_or_default();
            tally.discard(&kernel, &format!("{what} ({})", launch.describe()));
            continue;
        }
        // A probe on which the kernel itself is at fault tells nothing.
        let (probes, faulty): (Vec<_>, Vec<_>) = paired.partition(|(_, observed)| is_sound(observed));
        tally.kernel(probes.len(), faulty.len());
        let context = context(&kernel.text, &cases);
        sound.push(Sound { kernel, context, cases, probes });
    }
    Ok(sound)
}

/// What motifs see: the source with the coverage and the buffers that the cases alone show.
fn context(text: &str, cases: &[(Launch, Observed)]) -> Context {
    let context = Context::new(tree_of(text), KnownValues::default(), None);
    let mut visited = VisitedLines::new();
    for (&line, &records) in cases.iter().flat_map(|(_, seen)| &seen.lines) {
        let most = visited.entry((FILE.to_owned(), line)).or_default();
        *most = records.max(*most);
    }
    let coverage = Coverage::of(&context.forest, &visited);
    let context = context.with_coverage(&coverage);
    match cases.iter().max_by_key(|(_, seen)| seen.buffers_end_bytes) {
        Some((_, seen)) => context.with_buffers(&seen.buffers, seen.buffers_end_bytes),
        None => context,
    }
}

/// The launches that judge a pair: all, but without numbers that have no bound where rounding may differ.
fn launches(sound: &Sound, pair: &Pair) -> Vec<Launch> {
    let all = sound.cases.iter().chain(&sound.probes).map(|(launch, _)| launch);
    all.filter(|launch| !(pair.site.rounding && launch.hostile)).cloned().collect()
}

fn judge(sound: &Sound, pair: &Pair, launches: &[Launch], ran: Ran) -> Verdict {
    let after = match ran {
        Ran::NotCompiled(log) => {
            let failure = Failure { launch: String::new(), what: Difference::NotCompiled(log) };
            // What does not compile no case has to be run for.
            let wrong = pair.site.conditions.is_empty();
            return if wrong { Verdict::Wrong(failure) } else { Verdict::Stopped(failure) };
        }
        Ran::Launched(after) => after,
    };
    let mut first = None;
    for (launch, after) in launches.iter().zip(&after) {
        let known = sound.cases.iter().chain(&sound.probes).find(|(known, _)| known == launch);
        let Some((_, before)) = known else { continue };
        if let Some(what) = difference(before, after, sound.kernel.element, pair.site.rounding) {
            let on_a_case = sound.cases.iter().any(|(case, _)| case == launch);
            first = Some((on_a_case, Failure { launch: launch.describe(), what }));
            break;
        }
    }
    match first {
        None => Verdict::Right,
        Some((_, failure)) if pair.site.conditions.is_empty() => Verdict::Wrong(failure),
        Some((true, failure)) => Verdict::Stopped(failure),
        Some((false, failure)) => Verdict::Escaped(failure),
    }
}
