//! Global memory across cores: races, unwritten outputs, reads of bytes that nobody writes.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::alike::Shifts;
use super::findings::Findings;
use super::ordering::{Clock, join};
use super::profile::{HazardKind, Severity};
use super::trace::{Launch, Operand, Region, Role};

/// Pairs looked at per region; beyond that a kernel whose cores all overlap has long been reported.
const PAIR_LIMIT: u64 = 4_000_000;

/// Consecutive accesses of one core to global memory, merged.
#[derive(Clone, Debug)]
pub(crate) struct GmAccess {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Rows of `from..to`, and their distance.
    pub(crate) rows: u32,
    pub(crate) pitch: i64,
    /// Number in the trace.
    pub(crate) core: u32,
    pub(crate) pipe: u8,
    /// Its last instruction on that pipe.
    pub(crate) last: u32,
    /// What the core knew of other cores.
    pub(crate) known: Rc<Known>,
    /// Grows with every flag and barrier between cores that the core sets or passes.
    pub(crate) epoch: u32,
    pub(crate) write: bool,
    pub(crate) atomic: bool,
    pub(crate) site: u64,
}

/// What one core knows to be complete on others: per core, the last instruction on each pipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known(BTreeMap<u32, Clock>);

impl Known {
    /// With what `core` itself has completed.
    pub(crate) fn with(&self, core: u32, clock: Clock) -> Self {
        let mut known = self.clone();
        join(known.0.entry(core).or_default(), &clock);
        known
    }

    pub(crate) fn joined(mut self, other: &Self) -> Self {
        for (core, clock) in &other.0 {
            join(self.0.entry(*core).or_default(), clock);
        }
        self
    }

    pub(crate) fn of(&self, core: u32) -> Option<&Clock> {
        self.0.get(&core)
    }
}

impl GmAccess {
    fn before(&self, other: &Self) -> bool {
        other.known.of(self.core).is_some_and(|clock| clock[usize::from(self.pipe)] >= self.last)
    }

    fn ordered_with(&self, other: &Self) -> bool {
        self.before(other) || other.before(self)
    }
}

/// Region, core, pipe, direction, atomicity and site: accesses that streaming makes one.
type Key = (u64, u32, u8, bool, bool, u64);

/// All accesses of a launch by region. Rows stay together until somebody has to look at each.
#[derive(Default)]
pub(crate) struct GmLog {
    regions: BTreeMap<u64, Vec<GmAccess>>,
    /// Last entry of each key.
    open: BTreeMap<Key, usize>,
}

/// A part of the log: a range of each region's accesses.
pub(crate) struct LogMark(BTreeMap<u64, std::ops::Range<usize>>);

impl GmLog {
    /// What an instruction did to an operand; `access` is its first piece.
    pub(crate) fn push(&mut self, operand: &Operand, access: GmAccess) {
        // One region is what all pieces of nearly every operand lie in.
        let region = access.from >> 40;
        let (low, high) = operand.extent();
        let whole = low >> 40 == region && high.saturating_sub(1) >> 40 == region;
        if whole && operand.count1 <= 1 && operand.count0 > 1 && operand.stride0 != i64::from(operand.len) {
            let to = access.from.saturating_add(operand.len.into());
            self.extend(GmAccess { to, rows: operand.count0, pitch: operand.stride0, ..access });
            return;
        }
        for (from, len) in operand.pieces() {
            self.extend(GmAccess { from, to: from.saturating_add(len), ..access.clone() });
        }
    }

    fn extend(&mut self, access: GmAccess) {
        if access.from == access.to {
            return;
        }
        let region = access.from >> 40;
        let entries = self.regions.entry(region).or_default();
        add(region, entries, &mut self.open, access);
    }

    /// Makes every row of a region an access of its own where cores may meet.
    fn spread(entries: &mut Vec<GmAccess>) {
        if entries.iter().all(|access| access.rows == 1) {
            return;
        }
        let mut open = BTreeMap::new();
        for access in std::mem::take(entries) {
            let (rows, pitch) = (access.rows, access.pitch);
            for row in 0..i64::from(rows) {
                let at = |byte: u64| byte.wrapping_add_signed(row.wrapping_mul(pitch));
                let (from, to) = (at(access.from), at(access.to));
                add(0, entries, &mut open, GmAccess { from, to, rows: 1, pitch: 0, ..access.clone() });
            }
        }
    }

    /// How much there is of each region.
    pub(crate) fn mark(&self) -> LogMark {
        LogMark(self.regions.iter().map(|(region, entries)| (*region, 0..entries.len())).collect())
    }

    /// What came since `before`, all of it from one core.
    pub(crate) fn added(&self, LogMark(before): &LogMark) -> LogMark {
        let from = |region: &u64| before.get(region).map_or(0, |range| range.end);
        LogMark(self.regions.iter().map(|(region, entries)| (*region, from(region)..entries.len())).collect())
    }

    /// Another core that talks to nobody does the same, at other addresses.
    pub(crate) fn repeat(&mut self, LogMark(part): &LogMark, core: u32, shifts: &Shifts) {
        for (region, range) in part {
            let shift = shifts.of(*region);
            let Some(entries) = self.regions.get_mut(region) else { continue };
            entries.reserve(range.len());
            for at in range.clone() {
                let known = Rc::clone(&entries[at].known);
                let access = &entries[at];
                let (from, to) = (access.from.wrapping_add(shift), access.to.wrapping_add(shift));
                entries.push(GmAccess { from, to, core, known, ..*access });
            }
        }
    }

    /// Overlapping accesses of different cores, one a write, without flags or barriers between that order them. Bytes of a
    /// workspace that nobody reads are left out: cores clear it more than once, and no result depends on it.
    pub(crate) fn cross_core(&mut self, launch: &Launch<'_>, severity: Severity, findings: &mut Findings) {
        for (number, entries) in &mut self.regions {
            if !entries.iter().any(|access| access.write) {
                continue;
            }
            Self::spread(entries);
            // Nothing outlives the launch in a workspace: which of two writes comes last matters only to a reader.
            let scratch =
                launch.regions.iter().any(|region| region.base >> 40 == *number && region.role == Role::Workspace);
            let read = union(entries.iter().filter(|access| !access.write).map(|access| (access.from, access.to)));
            let unread = |from: u64, to: u64| missing(&read, from, to).1 == to - from;
            entries.sort_by_key(|access| (access.from, access.to, access.core, access.write, access.site));
            let mut open: Vec<&GmAccess> = Vec::new();
            let mut pairs = 0;
            for access in entries.iter() {
                open.retain(|earlier| earlier.to > access.from);
                pairs += open.len() as u64;
                if pairs > PAIR_LIMIT {
                    break;
                }
                for earlier in &open {
                    let harmless = earlier.core == access.core
                        || !(earlier.write || access.write)
                        || (earlier.atomic && access.atomic)
                        || earlier.ordered_with(access)
                        || (scratch && unread(access.from.max(earlier.from), access.to.min(earlier.to)));
                    if harmless {
                        continue;
                    }
                    report_cross_core(earlier, access, launch, severity, findings);
                }
                open.push(access);
            }
        }
    }

    /// Bytes of outputs that nobody writes, and reads of outputs or workspace that nobody writes.
    pub(crate) fn coverage(&mut self, regions: &[Region], findings: &mut Findings) {
        for region in regions.iter().filter(|region| matches!(region.role, Role::Output | Role::Workspace)) {
            let entries = self.regions.entry(region.base >> 40).or_default();
            Self::spread(entries);
            let accesses = entries.as_slice();
            let written = union(accesses.iter().filter(|access| access.write).map(|access| (access.from, access.to)));
            let end = region.base.saturating_add(region.size_bytes);
            if region.role == Role::Output {
                let (first, missing) = missing(&written, region.base, end);
                if missing > 0 {
                    // The write that stopped short, or the nearest one behind a gap at the front.
                    let writes = || accesses.iter().filter(|access| access.write);
                    let before = writes().filter(|access| access.to <= first).max_by_key(|access| access.to);
                    let nearest = before.or_else(|| writes().min_by_key(|access| access.from));
                    let (site, core) = nearest.map_or((0, 0), |access| (access.site, access.core));
                    findings.add(
                        (HazardKind::UnwrittenOutput, Severity::Error),
                        (site, u64::from(region.index)),
                        core,
                        || {
                            format!(
                                "{missing} of {} bytes of output {} are never written, the first at byte {}",
                                region.size_bytes,
                                region.index,
                                first - region.base
                            )
                        },
                    );
                }
            }
            let mut plain = None;
            for added in accesses.iter().filter(|access| access.write && access.atomic) {
                let plain = plain.get_or_insert_with(|| {
                    let writes = accesses.iter().filter(|access| access.write && !access.atomic);
                    union(writes.map(|access| (access.from, access.to)))
                });
                let (first, missing) = missing(plain, added.from, added.to);
                if missing > 0 {
                    let what = if region.role == Role::Output { "output" } else { "workspace" };
                    let kind = (HazardKind::UninitialisedRead, Severity::Warning);
                    findings.add(kind, (added.site, 0), added.core, || {
                        format!(
                            "adds to {missing} bytes of {what} {} that no core has cleared, the first at byte {}: what was there before the launch is part of the result",
                            region.index,
                            first - region.base.min(first)
                        )
                    });
                }
            }
            for read in accesses.iter().filter(|access| !access.write) {
                let (first, missing) = missing(&written, read.from, read.to);
                if missing > 0 {
                    let what = if region.role == Role::Output { "output" } else { "workspace" };
                    let kind = (HazardKind::UninitialisedRead, Severity::Warning);
                    findings.add(kind, (read.site, 0), read.core, || {
                        format!(
                            "reads {missing} bytes of {what} {} that no core writes, the first at byte {}",
                            region.index,
                            first - region.base.min(first)
                        )
                    });
                }
            }
        }
    }
}

/// Adds an access to those of its region, or to the last of its key if it goes on from there.
fn add(region: u64, entries: &mut Vec<GmAccess>, open: &mut BTreeMap<Key, usize>, access: GmAccess) {
    let key = (region, access.core, access.pipe, access.write, access.atomic, access.site);
    if let Some(last) = open.get(&key).and_then(|index| entries.get_mut(*index))
        && last.epoch == access.epoch
        && (last.rows, access.rows) == (1, 1)
        && access.from >= last.from
        && access.from <= last.to
    {
        last.to = last.to.max(access.to);
        last.last = access.last;
        return;
    }
    open.insert(key, entries.len());
    entries.push(access);
}

fn report_cross_core(
    earlier: &GmAccess,
    access: &GmAccess,
    launch: &Launch<'_>,
    severity: Severity,
    findings: &mut Findings,
) {
    // Reported from the writer's side so that the pair has one name whatever the order of addresses.
    let (a, b) = if (access.write, access.site) >= (earlier.write, earlier.site) {
        (access, earlier)
    } else {
        (earlier, access)
    };
    let verb = |access: &GmAccess| match (access.atomic, access.write) {
        (true, _) => "adds to",
        (false, true) => "writes",
        (false, false) => "reads",
    };
    let (from, to) = (a.from.max(b.from), a.to.min(b.to));
    let mixed = launch.kernel_type().is_mixed();
    let remedy = if mixed { "a cross-core flag" } else { "SyncAll" };
    findings.add((HazardKind::CrossCoreRace, severity), (a.site, b.site), a.core, || {
        format!(
            "{} {} bytes {:#x}..{:#x} of region {} that {} {} too, without {remedy} between them",
            launch.core_text(a.core),
            verb(a),
            from & 0xff_ffff_ffff,
            to & 0xff_ffff_ffff,
            (from >> 40).saturating_sub(1),
            launch.core_text(b.core),
            verb(b),
        )
    });
}

fn union(intervals: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut sorted: Vec<_> = intervals.collect();
    sorted.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (from, to) in sorted {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

/// First byte and number of bytes of `from..to` outside the intervals.
fn missing(intervals: &[(u64, u64)], from: u64, to: u64) -> (u64, u64) {
    let (mut at, mut first, mut bytes) = (from, to, 0);
    let start = intervals.partition_point(|(_, end)| *end <= from);
    for (begin, end) in &intervals[start..] {
        if *begin >= to {
            break;
        }
        if *begin > at {
            first = first.min(at);
            bytes += begin - at;
        }
        at = at.max(*end);
    }
    if at < to {
        first = first.min(at);
        bytes += to - at;
    }
    (first, bytes)
}
