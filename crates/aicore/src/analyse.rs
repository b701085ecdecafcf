//! The one entry of the model.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::alike::Likeness;
use super::machine::Machine;
use super::options::{Options, Warmth};
use super::profile::{Hazard, Profile};
use super::region::{DataRegion, Region};
use super::sample::{BlockSample, NoSample};
use super::source::{Source, TraceSource};
use super::timing::{self, Manner};
use super::trace::{Launch, LaunchStatus, Trace};
use super::trace_error::TraceError;
use super::{hazard, l2::L2, summary, visited};

/// Everything about one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchReport {
    /// Modelled timing.
    pub profile: Profile,
    /// Hazards, errors first; empty if they were not asked for.
    pub hazards: Vec<Hazard>,
    /// Blocks that stand for all, or why all have to run; `None` if that was not asked for, or hazards and shortcuts were not.
    pub sample: Option<Result<BlockSample, NoSample>>,
    /// What the trace says of the launch: `kernel`, `block_dim`, `tiling_key`, ...
    pub info: BTreeMap<String, String>,
    /// How the launch ended.
    pub status: LaunchStatus,
    /// Lines `hexbase hexend path` of the process's modules, to symbolise sites.
    pub modules: String,
    /// Regions of global memory.
    pub regions: Vec<Region>,
    /// Content of live regions after a direct launch, if the trace has it.
    pub data: Vec<DataRegion>,
    /// Records played.
    pub records: u64,
    /// Sites of all records, where the critical path is followed.
    pub sites: Vec<(u64, u64)>,
}

/// Judge every launch of a trace.
pub fn analyse(trace: &[u8], machine: &Machine, options: &Options) -> Result<Vec<LaunchReport>, TraceError> {
    judge(&Arc::new(Source::from(trace)), machine, options)
}

/// The same for a trace that is not in memory; of each core that runs, a window of its records is.
pub fn analyse_source(
    trace: &dyn TraceSource,
    machine: &Machine,
    options: &Options,
) -> Result<Vec<LaunchReport>, TraceError> {
    judge(&Arc::new(Source::from(trace)), machine, options)
}

fn judge(source: &Arc<Source<'_>>, machine: &Machine, options: &Options) -> Result<Vec<LaunchReport>, TraceError> {
    let trace = Trace::parse(source)?;
    let mut reports = Vec::with_capacity(trace.launches.len());
    let mut left = None;
    for mut launch in trace.launches {
        let likeness = match options.shortcuts {
            true => Likeness::of(&launch, &machine.parameters),
            false => Likeness::none(launch.cores.len()),
        };
        let (before, warm) = start(&launch, machine, options.warmth, left.take(), &likeness);
        let again = options.critical_path.then(|| before.clone());
        let manner = Manner { followed: &|_| false, likeness: &likeness, shortcuts: options.shortcuts, warm };
        let played = timing::play::<f64>(&launch, machine, before, &manner);
        let mut profile = summary::profile(&launch, machine, &played);
        if let Some(again) = again {
            profile.critical_path = summary::critical_path(&launch, machine, again, warm, &likeness, &played);
        }
        let stuck = played.stuck;
        left = Some(played.l2);
        let hazards = match options.hazards {
            true => hazard::hazards(&launch, &stuck, &likeness, options),
            false => Vec::new(),
        };
        let asked = options.sample && options.hazards && options.shortcuts;
        let sample = asked.then(|| BlockSample::of(&launch, &likeness, &hazards));
        let sites = if options.critical_path { visited::sites(&launch) } else { Vec::new() };
        let records = launch.cores.values().map(|stream| stream.records).sum();
        reports.push(LaunchReport {
            profile,
            hazards,
            sample,
            info: std::mem::take(&mut launch.info),
            status: launch.status.clone(),
            modules: std::mem::take(&mut launch.modules),
            regions: std::mem::take(&mut launch.regions),
            data: std::mem::take(&mut launch.data),
            records,
            sites,
        });
        source.check()?;
    }
    Ok(reports)
}

/// The cache that a launch finds, and whether cores have its code. `left` is what the launch before it left.
pub(crate) fn start(
    launch: &Launch<'_>,
    machine: &Machine,
    warmth: Warmth,
    left: Option<L2>,
    likeness: &Likeness,
) -> (L2, bool) {
    match (warmth, left) {
        (Warmth::Cold, _) | (Warmth::Kept, None) => (L2::of(machine), false),
        (Warmth::Kept, Some(left)) => (left, true),
        (Warmth::Flushed, _) => (L2::of(machine), true),
        (Warmth::Repeated, _) => {
            let manner = Manner { followed: &|_| false, likeness, shortcuts: true, warm: false };
            (timing::play::<f64>(launch, machine, L2::of(machine), &manner).l2, true)
        }
    }
}
