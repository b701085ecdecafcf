//! Hazards of one launch: conflicting accesses without an order, reads of unwritten bytes, misuse of flags, faults.

use std::collections::{BTreeMap, VecDeque};

use super::alike::{Likeness, Shifts};
use super::core_judge::CoreJudge;
use super::findings::Counts;
use super::gm_log::LogMark;
use super::options::Options;
use super::profile::{Hazard, HazardKind, Severity};
use super::shared::Shared;
use super::timing::Stuck;
use super::trace::{Launch, LaunchStatus};

/// All hazards of a launch, errors first, then by kind, then in the order in which blocks run into them.
pub(crate) fn hazards(launch: &Launch<'_>, stuck: &[Stuck], likeness: &Likeness, options: &Options) -> Vec<Hazard> {
    let names = launch.cores.keys().map(|core| launch.core_name(*core)).collect();
    let mut all = Shared::new(names);
    judge_cores(launch, likeness, options, &mut all);
    let Shared { mut findings, log, caches, cross, set_sites, polls, stuck: found_stuck } = all;
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
    let severity = if polls { Severity::Warning } else { Severity::Error };
    log.cross_core(launch, severity, &mut findings);
    log.shared_lines(launch, severity, &mut findings);
    caches.judge(&log, launch, severity, &mut findings);
    // A core that hangs writes nothing from there on.
    if launch.status == LaunchStatus::Ok && found_stuck.is_empty() && stuck.is_empty() {
        log.coverage(&launch.regions, &mut findings);
    }
    findings.into_sorted()
}

/// Judges every core as far as it gets before it waits for others, then those that can go on. Of a core's twins the same is
/// said again.
fn judge_cores(launch: &Launch<'_>, likeness: &Likeness, options: &Options, all: &mut Shared) {
    let has_twins = |index: usize| likeness.twins.iter().flatten().any(|(first, _)| *first == index);
    let mut verdicts: BTreeMap<usize, Verdict> = BTreeMap::new();
    let mut paused: VecDeque<CoreJudge<'_, '_>> = VecDeque::new();
    let mut fresh = launch.cores.keys().enumerate();
    let mut without_progress = 0;
    loop {
        let mut judge = match fresh.next() {
            Some((index, core)) => {
                // Cores with twins talk to nobody and are judged in one go.
                if let Some((first, shifts)) = &likeness.twins[index]
                    && let Some(verdict) = verdicts.get(first)
                {
                    verdict.repeat(*core, shifts, all);
                    continue;
                }
                let before = has_twins(index).then(|| Verdict::begin(all));
                let mut judge = CoreJudge::new(launch, index, *core, options);
                if let Some(before) = before
                    && judge.run(all)
                {
                    verdicts.insert(index, before.end(*core, all));
                    continue;
                }
                judge
            }
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

/// What a core has added to what all share.
struct Verdict {
    findings: Counts,
    log: LogMark,
    stuck: bool,
}

impl Verdict {
    /// Before the core is judged.
    fn begin(all: &Shared) -> Self {
        Self { findings: all.findings.counts(), log: all.log.mark(), stuck: false }
    }

    /// Of the core that has been judged since.
    fn end(self, core: u32, all: &Shared) -> Self {
        let stuck = all.stuck.contains(&core);
        Self { findings: all.findings.added(&self.findings), log: all.log.added(&self.log), stuck }
    }

    fn repeat(&self, core: u32, shifts: &Shifts, all: &mut Shared) {
        all.findings.repeat(&self.findings);
        all.log.repeat(&self.log, core, shifts);
        if self.stuck {
            all.stuck.insert(core);
        }
    }
}
