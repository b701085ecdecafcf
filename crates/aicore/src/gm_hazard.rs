//! Global memory across cores: races, unwritten outputs, reads of bytes that nobody writes.

use super::data_cache::CACHE_LINE;
use super::findings::Findings;
use super::gm_log::{GmAccess, GmLog, Row, Series, rows, sorted};
use super::profile::{HazardKind, Severity};
use super::record::{Combine, S};
use super::region::{Region, Role};
use super::trace::Launch;

/// Pairs looked at per region; beyond that a kernel whose cores all overlap has long been reported.
const PAIR_LIMIT: u64 = 4_000_000;

/// Writes of one line that are compared with each other.
const LINE_LIMIT: usize = 256;

/// One access with what it has in common with those of its series.
struct Seen<'l> {
    row: Row,
    access: &'l GmAccess,
}

impl Seen<'_> {
    fn before(&self, other: &Self) -> bool {
        let clock = other.access.known.of(self.access.core);
        clock.is_some_and(|clock| clock[usize::from(self.access.pipe)] >= self.row.last)
    }

    fn ordered_with(&self, other: &Self) -> bool {
        self.before(other) || other.before(self)
    }
}

/// How far the accesses of the core that gets farthest reach, and those of any other core.
#[derive(Default)]
struct Reach {
    core: u32,
    end: u64,
    other: u64,
}

impl Reach {
    fn beyond(&self, core: u32) -> u64 {
        if core == self.core { self.other } else { self.end }
    }

    fn add(&mut self, core: u32, end: u64) {
        if core == self.core {
            self.end = self.end.max(end);
        } else if end > self.end {
            *self = Self { core, end, other: self.end };
        } else {
            self.other = self.other.max(end);
        }
    }
}

/// Whether stretches of two cores overlap in which all of their accesses lie, one with writes. Mostly they do not, and nothing else
/// has to be looked at.
fn may_meet(list: &[Series]) -> bool {
    let stretch = |series: &Series| (series.extent(), series.first.core, series.first.write);
    let mut stretches: Vec<_> = list.iter().map(stretch).collect();
    stretches.sort_unstable();
    let (mut all, mut writes) = (Reach::default(), Reach::default());
    stretches.into_iter().any(|((from, to), core, write)| {
        let meets = writes.beyond(core) > from || (write && all.beyond(core) > from);
        all.add(core, to);
        if write {
            writes.add(core, to);
        }
        meets
    })
}

impl GmLog {
    /// Overlapping accesses of different cores, one a write, without flags or barriers between that order them. Bytes of a
    /// workspace that nobody reads are left out: cores clear it more than once, and no result depends on it.
    pub(crate) fn cross_core(&self, launch: &Launch<'_>, severity: Severity, findings: &mut Findings) {
        for (number, list) in &self.regions {
            if !may_meet(list) {
                continue;
            }
            // Nothing outlives the launch in a workspace: which of two writes comes last matters only to a reader.
            let scratch =
                launch.regions.iter().any(|region| region.base >> 40 == *number && region.role == Role::Workspace);
            let read = if scratch { union(list, |access| !access.write) } else { Vec::new() };
            let unread = |from: u64, to: u64| missing(&read, from, to).1 == to - from;
            let mut open: Vec<Seen<'_>> = Vec::new();
            let mut pairs = 0;
            for row in sorted(list, |_| true) {
                let seen = Seen { row, access: &list[row.series].first };
                open.retain(|earlier| earlier.row.to > row.from);
                pairs += open.len() as u64;
                if pairs > PAIR_LIMIT {
                    break;
                }
                for earlier in &open {
                    let (a, b) = (earlier.access, seen.access);
                    let harmless = a.core == b.core
                        || !(a.write || b.write)
                        || a.combine.commutes_with(b.combine)
                        || earlier.ordered_with(&seen)
                        || (scratch && unread(row.from.max(earlier.row.from), row.to.min(earlier.row.to)));
                    if harmless {
                        continue;
                    }
                    report_cross_core((earlier, &seen), launch, severity, findings);
                }
                open.push(seen);
            }
        }
    }

    /// A scalar write of one core and another core's write into the same line of data caches, without an order: the line is written
    /// back whole, and takes the other's bytes along as they were. Where they touch the same bytes they are a race of another kind.
    pub(crate) fn shared_lines(&self, launch: &Launch<'_>, severity: Severity, findings: &mut Findings) {
        for (number, list) in &self.regions {
            let is_scalar = |access: &GmAccess| {
                access.write && !access.combine.is_atomic() && !access.uncached && usize::from(access.pipe) == S
            };
            let is_write = |access: &GmAccess| access.write && !access.combine.is_atomic() && !access.uncached;
            let mut cores = list.iter().filter(|series| is_write(&series.first)).map(|series| series.first.core);
            let first = cores.next();
            if cores.all(|core| Some(core) == first) || !list.iter().any(|series| is_scalar(&series.first)) {
                continue;
            }
            let scratch =
                launch.regions.iter().any(|region| region.base >> 40 == *number && region.role == Role::Workspace);
            let read = if scratch { union(list, |access| !access.write) } else { Vec::new() };
            let mut open: Vec<Seen<'_>> = Vec::new();
            for row in sorted(list, is_write) {
                let seen = Seen { row, access: &list[row.series].first };
                let line = row.from / CACHE_LINE;
                open.retain(|earlier| (earlier.row.to - 1) / CACHE_LINE >= line);
                let shares = |earlier: &&Seen<'_>| {
                    earlier.access.core != seen.access.core
                        && (is_scalar(earlier.access) || is_scalar(seen.access))
                        && earlier.row.to <= row.from
                        && !earlier.ordered_with(&seen)
                        // Nobody asks what becomes of bytes that are never read.
                        && (!scratch || missing(&read, earlier.row.from, row.to).1 < row.to - earlier.row.from)
                };
                if let Some(earlier) = open.iter().find(shares) {
                    let (a, b) = (seen.access, earlier.access);
                    let both = is_scalar(a) && is_scalar(b);
                    let ((a, from), b) = match is_scalar(a) {
                        true => ((a, row.from), b),
                        false => ((b, earlier.row.from), a),
                    };
                    findings.add((HazardKind::CrossCoreRace, severity), (a.site, b.site), a.core, || {
                        format!(
                            "{} writes byte {:#x} of region {} with its scalar unit, and {} {} of the same line of {CACHE_LINE}: {}",
                            launch.core_text(a.core),
                            from & 0xff_ffff_ffff,
                            (from >> 40).saturating_sub(1),
                            launch.core_text(b.core),
                            if both { "another byte" } else { "copies to other bytes" },
                            match both {
                                true => "each data cache writes the whole line back",
                                false => "its data cache writes the whole line back, with these as they were",
                            },
                        )
                    });
                }
                open.push(seen);
                if open.len() > LINE_LIMIT {
                    open.remove(0);
                }
            }
        }
    }

    /// Bytes of outputs that nobody writes, and reads of outputs or workspace that nobody writes.
    pub(crate) fn coverage(&self, regions: &[Region], findings: &mut Findings) {
        for region in regions.iter().filter(|region| matches!(region.role, Role::Output | Role::Workspace)) {
            let list = self.regions.get(&(region.base >> 40)).map_or(&[][..], Vec::as_slice);
            let has = |what: fn(&GmAccess) -> bool| list.iter().any(|series| what(&series.first));
            let written = union(list, |access| access.write);
            // In the order of addresses where somebody writes, else in that of the program.
            let accesses = |what: fn(&GmAccess) -> bool| {
                let (by_address, as_told) = match has(|access| access.write) {
                    true => (Some(sorted(list, what)), None),
                    false => (None, Some(rows(list).filter(move |row| what(&list[row.series].first)))),
                };
                let rows = by_address.into_iter().flatten().chain(as_told.into_iter().flatten());
                rows.map(|row| Seen { row, access: &list[row.series].first })
            };
            let name = if region.role == Role::Output { "output" } else { "workspace" };
            if region.role == Role::Output {
                let end = region.base.saturating_add(region.size_bytes);
                let (first, missing) = missing(&written, region.base, end);
                if missing > 0 {
                    // The write that stopped short, or the nearest one behind a gap at the front.
                    let writes = || accesses(|access| access.write);
                    let before = writes().filter(|seen| seen.row.to <= first).max_by_key(|seen| seen.row.to);
                    let nearest = before.or_else(|| writes().min_by_key(|seen| seen.row.from));
                    let (site, core) = nearest.map_or((0, 0), |seen| (seen.access.site, seen.access.core));
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
            if has(|access| access.write && access.combine.is_atomic()) {
                let plain = union(list, |access| access.write && !access.combine.is_atomic());
                for added in accesses(|access| access.write && access.combine.is_atomic()) {
                    let (first, missing) = missing(&plain, added.row.from, added.row.to);
                    if missing > 0 {
                        let kind = (HazardKind::UninitialisedRead, Severity::Warning);
                        findings.add(kind, (added.access.site, 0), added.access.core, || {
                            format!(
                                "adds to {missing} bytes of {name} {} that no core has cleared, the first at byte {}: what was there before the launch is part of the result",
                                region.index,
                                first - region.base.min(first)
                            )
                        });
                    }
                }
            }
            if !has(|access| !access.write) {
                continue;
            }
            for read in accesses(|access| !access.write) {
                let (first, missing) = missing(&written, read.row.from, read.row.to);
                if missing > 0 {
                    let kind = (HazardKind::UninitialisedRead, Severity::Warning);
                    findings.add(kind, (read.access.site, 0), read.access.core, || {
                        format!(
                            "reads {missing} bytes of {name} {} that no core writes, the first at byte {}",
                            region.index,
                            first - region.base.min(first)
                        )
                    });
                }
            }
        }
    }
}

fn report_cross_core(
    (earlier, access): (&Seen<'_>, &Seen<'_>),
    launch: &Launch<'_>,
    severity: Severity,
    findings: &mut Findings,
) {
    // Reported from the writer's side so that the pair has one name whatever the order of addresses.
    let rank = |seen: &Seen<'_>| (seen.access.write, seen.access.site);
    let (a, b) = if rank(access) >= rank(earlier) { (access, earlier) } else { (earlier, access) };
    let verb = |access: &GmAccess| match (access.combine, access.write) {
        (Combine::Added, _) => "adds to",
        (Combine::Maximum, _) => "takes the maximum with",
        (Combine::Minimum, _) => "takes the minimum with",
        (Combine::Replaced, true) => "writes",
        (Combine::Replaced, false) => "reads",
    };
    let (from, to) = (a.row.from.max(b.row.from), a.row.to.min(b.row.to));
    let (a, b) = (a.access, b.access);
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

/// Bytes that some accesses touch.
fn union(list: &[Series], what: impl Fn(&GmAccess) -> bool) -> Vec<(u64, u64)> {
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for Row { from, to, .. } in sorted(list, what) {
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
