//! From traces and machines to figures that can stand beside the published ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cases::{Case, Unit};
use super::traces::Run;
use aicore::{Machine, Profile, Recording, Warmth};
use events::fidelity::Metric;

/// Ticks of the in-kernel counter in a microsecond: 50 MHz.
const TICKS_PER_US: f64 = 50.0;

/// The traces of all runs that a table needs, or why there is none.
pub type Recorded = BTreeMap<Run, Result<Vec<u8>, String>>;

/// The same, read: for whoever models them many times.
pub struct Recordings<'r>(BTreeMap<&'r Run, Result<Recording<'r>, String>>);

impl<'r> Recordings<'r> {
    /// Reads all traces.
    pub fn of(recorded: &'r Recorded) -> Self {
        let read = |trace: &'r Result<Vec<u8>, String>| match trace {
            Ok(trace) => Recording::of(trace).map_err(|error| error.to_string()),
            Err(reason) => Err(reason.clone()),
        };
        Self(recorded.iter().map(|(run, trace)| (run, read(trace))).collect())
    }
}

/// Runs that a table needs.
pub fn runs(cases: &[Case]) -> BTreeSet<Run> {
    cases.iter().flat_map(|case| [Some(Run::of(case)), Run::subtracted(case)]).flatten().collect()
}

/// One play of a trace: which run, and what its launches find in caches.
type Play<'r> = (&'r Run, Warmth);

/// Models every case; the answer has the order of the cases. `machines` has every machine that they name.
pub fn model(
    cases: &[Case],
    recordings: &Recordings<'_>,
    machines: &BTreeMap<String, Machine>,
    jobs: usize,
) -> Vec<Result<f64, String>> {
    let mut plays: BTreeMap<(Run, Warmth), BTreeSet<Option<usize>>> = BTreeMap::new();
    for case in cases {
        for run in [Some(Run::of(case)), Run::subtracted(case)].into_iter().flatten() {
            plays.entry((run, case.warmth)).or_default().insert(case.launch);
        }
    }
    let work: Vec<_> = plays.iter().map(|((run, warmth), wanted)| ((run, *warmth), wanted)).collect();
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, work.len().max(1)) {
            scope.spawn(|| {
                while let Some((play, wanted)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = play_one(*play, wanted, recordings, machines);
                    results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(*play, result);
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    cases.iter().map(|case| figure_of(case, &results, machines)).collect()
}

type Played = Result<BTreeMap<Option<usize>, Profile>, String>;

fn play_one(
    (run, warmth): Play<'_>,
    wanted: &BTreeSet<Option<usize>>,
    recordings: &Recordings<'_>,
    machines: &BTreeMap<String, Machine>,
) -> Played {
    let recording = match recordings.0.get(run) {
        Some(Ok(recording)) => recording,
        Some(Err(reason)) => return Err(reason.clone()),
        None => return Err("was not run".to_owned()),
    };
    let machine = machines.get(&run.machine).ok_or_else(|| format!("no machine `{}`", run.machine))?;
    let last = recording.launches().saturating_sub(1);
    let numbers: Vec<usize> = wanted.iter().map(|launch| launch.unwrap_or(last)).collect();
    let found = recording.profiles(machine, &numbers, warmth);
    let mut profiles = BTreeMap::new();
    for launch in wanted {
        let number = launch.unwrap_or(last);
        let profile = found.get(&number).cloned().ok_or_else(|| format!("the program made no launch {number}"))?;
        profiles.insert(*launch, profile);
    }
    Ok(profiles)
}

fn figure_of(
    case: &Case,
    results: &BTreeMap<Play<'_>, Played>,
    machines: &BTreeMap<String, Machine>,
) -> Result<f64, String> {
    let take = |run: &Run| -> Result<f64, String> {
        let played = results.get(&(run, case.warmth)).ok_or("was not played")?.as_ref().map_err(Clone::clone)?;
        let profile = played.get(&case.launch).ok_or("was not played")?;
        let machine = machines.get(&case.machine).ok_or_else(|| format!("no machine `{}`", case.machine))?;
        Ok(figure(case, profile, machine))
    };
    let own = take(&Run::of(case))?;
    let other = Run::subtracted(case).map_or(Ok(0.0), |run| take(&run))?;
    Ok((own - other) * case.scale)
}

/// The figure of one launch in the unit of the case.
fn figure(case: &Case, profile: &Profile, machine: &Machine) -> f64 {
    let imbalance = profile.counters.get("core_imbalance").copied().unwrap_or(0.0);
    let mean_us = profile.longest_core_us / (1.0 + imbalance);
    let us = match case.metric {
        Metric::Task => profile.task_us,
        Metric::CoreLongest => profile.longest_core_us,
        Metric::CoreMean => mean_us,
        Metric::Vec => profile.pipes.vec_us,
        Metric::Scalar => profile.pipes.scalar_us,
        Metric::Mte2 => profile.pipes.mte2_us,
        Metric::Mte3 => profile.pipes.mte3_us,
        Metric::Bandwidth => {
            let bytes = (profile.gm_read_bytes + profile.gm_write_bytes) as f64 / f64::from(profile.cores.max(1));
            return bytes / profile.longest_core_us.max(f64::MIN_POSITIVE) / 1e3;
        }
    };
    match case.unit {
        Unit::Microseconds | Unit::GigabytesPerSecond => us,
        Unit::Cycles => us * machine.parameters.clock_mhz,
        Unit::Ticks => us * TICKS_PER_US,
        Unit::Percent => 100.0 * us / mean_us.max(f64::MIN_POSITIVE),
    }
}
