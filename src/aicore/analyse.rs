//! The one entry of the model.

use std::collections::BTreeMap;

use super::machine::Machine;
use super::profile::{Hazard, Profile};
use super::trace::{DataRegion, LaunchStatus, Region, Trace, TraceError};
use super::{hazard, summary, timing};

/// What to find out besides timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Look for hazards.
    pub hazards: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { hazards: true }
    }
}

/// Everything about one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchReport {
    /// Modelled timing.
    pub profile: Profile,
    /// Hazards, errors first; empty if they were not asked for.
    pub hazards: Vec<Hazard>,
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
}

/// Judge every launch of a trace.
pub fn analyse(trace: &[u8], machine: &Machine, options: &Options) -> Result<Vec<LaunchReport>, TraceError> {
    let trace = Trace::parse(trace)?;
    let mut reports = Vec::with_capacity(trace.launches.len());
    for mut launch in trace.launches {
        let played = timing::play(&launch, machine);
        let profile = summary::profile(&launch, machine, &played);
        let stuck = played.stuck;
        let hazards = if options.hazards { hazard::hazards(&launch, &stuck) } else { Vec::new() };
        let records = launch.cores.values().map(|stream| stream.records).sum();
        reports.push(LaunchReport {
            profile,
            hazards,
            info: std::mem::take(&mut launch.info),
            status: launch.status.clone(),
            modules: std::mem::take(&mut launch.modules),
            regions: std::mem::take(&mut launch.regions),
            data: std::mem::take(&mut launch.data),
            records,
        });
    }
    Ok(reports)
}
