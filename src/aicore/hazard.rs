//! Hazards of one launch: conflicting accesses without an order, reads of unwritten bytes, misuse of flags, faults.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use super::core_judge::CoreJudge;
use super::cross::CrossFlags;
use super::findings::Findings;
use super::gm_hazard::{GmLog, Known};
use super::profile::{Hazard, HazardKind, Severity};
use super::timing::Stuck;
use super::trace::{Launch, LaunchStatus};

/// All hazards of a launch, errors first, then by kind, then in the order in which blocks run into them.
pub(crate) fn hazards(launch: &Launch<'_>, stuck: &[Stuck]) -> Vec<Hazard> {
    let names = launch.cores.keys().map(|core| launch.core_name(*core)).collect();
    let mut all = Shared {
        findings: Findings::default(),
        log: GmLog::default(),
        cross: CrossFlags::new(names),
        set_sites: BTreeMap::new(),
        polls: false,
        stuck: BTreeSet::new(),
    };
    judge_cores(launch, &mut all);
    let Shared { mut findings, mut log, cross, set_sites, polls, stuck: found_stuck } = all;
    for (index, id) in cross.left() {
        let Some(core) = launch.cores.keys().nth(index) else { continue };
        let site = set_sites.get(&id).copied().unwrap_or(0);
        findings.add((HazardKind::FlagMisuse, Severity::Warning), (site, 0), *core, || {
            let name = launch.core_text(*core);
            format!("cross-core flag {id} is still set for {name} when the launch ends: a wait is missing")
        });
    }
    // What the pipes of one core do to each other has been told with its reason.
    for block in stuck.iter().filter(|block| !found_stuck.contains(&block.core)) {
        findings.add((HazardKind::Deadlock, Severity::Error), (block.site, 0), block.core, || block.message.clone());
    }
    // What cores tell each other through polled memory is an order too, but one that cannot be seen here.
    log.cross_core(launch, if polls { Severity::Warning } else { Severity::Error }, &mut findings);
    // A core that hangs writes nothing from there on.
    if launch.status == LaunchStatus::Ok && found_stuck.is_empty() && stuck.is_empty() {
        log.coverage(&launch.regions, &mut findings);
    }
    findings.into_sorted()
}

/// Judges every core as far as it gets before it waits for others, then those that can go on.
fn judge_cores(launch: &Launch<'_>, all: &mut Shared) {
    let mut paused: VecDeque<CoreJudge<'_, '_>> = VecDeque::new();
    let mut fresh = launch.cores.keys().enumerate();
    let mut without_progress = 0;
    loop {
        let mut judge = match fresh.next() {
            Some((index, core)) => CoreJudge::new(launch, index, *core),
            None => match paused.pop_front() {
                Some(judge) => judge,
                None => return,
            },
        };
        let before = judge.records;
        // When nobody gets on, the wait that the kernel hangs in has been reported; what follows it is judged without.
        judge.forced = without_progress > paused.len();
        let done = judge.run(all);
        without_progress = if judge.records > before { 0 } else { without_progress + 1 };
        if !done {
            paused.push_back(judge);
        }
    }
}

/// What the judges of all cores share.
pub(crate) struct Shared {
    pub(crate) findings: Findings,
    pub(crate) log: GmLog,
    pub(crate) cross: CrossFlags<Rc<Known>>,
    /// Last set of each cross-core flag.
    pub(crate) set_sites: BTreeMap<u32, u64>,
    /// Some core polls global memory.
    pub(crate) polls: bool,
    /// Cores whose own pipes wait for each other for ever.
    pub(crate) stuck: BTreeSet<u32>,
}
