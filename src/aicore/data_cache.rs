//! The data cache of a core's scalar unit. It holds lines of global memory, and nothing but the kernel keeps the two alike:
//! what the scalar unit writes stays in the cache until `DataCacheCleanAndInvalid`, and a line once fetched stays as it was, whatever
//! pipes and other cores write to memory since.
//!
//! A core's own pipes are judged here as it runs. What other cores have to do with it is kept in a [`CacheLog`] and judged when all
//! of them have run.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::findings::Findings;
use super::gm_log::{GmAccess, GmLog, Known, rows};
use super::profile::{HazardKind, Severity};
use super::trace::{Launch, Operand, S};

/// Bytes of a line (`DataCacheCleanAndInvalid`, `CacheLine::SINGLE_CACHE_LINE`).
pub(crate) const CACHE_LINE: u64 = 64;
/// Pairs of accesses that are compared; a kernel that has more has been reported long before.
const PAIR_LIMIT: u64 = 4_000_000;

/// What a core does about a line, and what it knows of other cores then.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    /// Number of the instruction on the scalar pipe.
    pub(crate) index: u32,
    pub(crate) known: Rc<Known>,
    pub(crate) epoch: u32,
    pub(crate) site: u64,
}

/// Bytes from, to, and where they were written.
type Written = (u64, u64, u64);

#[derive(Debug)]
struct Line {
    fetched: Moment,
    /// What memory does not have yet, with the first instruction that wrote it.
    unsaved: Option<(Written, u32)>,
    /// What the core's own pipes have written to memory since it was fetched.
    overwritten: Option<Written>,
}

/// Lines of one core.
#[derive(Debug, Default)]
pub(crate) struct DataCache {
    lines: BTreeMap<u64, Line>,
    unsaved: usize,
}

impl DataCache {
    /// The scalar unit reads. What it finds may be older than what memory has: returns where a pipe of its own wrote that, and
    /// keeps for later what another core may have written.
    pub(crate) fn read(&mut self, core: u32, operand: &Operand, now: &Moment, log: &mut CacheLog) -> Option<u64> {
        let mut overwritten = None;
        for (from, to) in pieces(operand) {
            for number in lines_of(from, to) {
                let Some(line) = self.lines.get(&number) else {
                    let fetched = now.clone();
                    self.lines.insert(number, Line { fetched, unsaved: None, overwritten: None });
                    continue;
                };
                let meets = |written: &&Written| written.0 < to && written.1 > from;
                overwritten = overwritten.or(line.overwritten.as_ref().filter(meets).map(|written| written.2));
                if line.fetched.epoch != now.epoch {
                    let (first, last) = within(number, from, to);
                    let (fetched, read) = (Rc::clone(&line.fetched.known), Rc::clone(&now.known));
                    log.add_old(OldRead { from: first, to: last, core, fetched, read, site: now.site });
                }
            }
        }
        overwritten
    }

    /// The scalar unit writes: its line is fetched and keeps the bytes.
    pub(crate) fn write(&mut self, operand: &Operand, now: &Moment) {
        for (from, to) in pieces(operand) {
            for number in lines_of(from, to) {
                let (first, last) = within(number, from, to);
                let fetch = || Line { fetched: now.clone(), unsaved: None, overwritten: None };
                let line = self.lines.entry(number).or_insert_with(fetch);
                match &mut line.unsaved {
                    Some((written, _)) => {
                        (written.0, written.1, written.2) = (written.0.min(first), written.1.max(last), now.site);
                    }
                    None => {
                        line.unsaved = Some(((first, last, now.site), now.index));
                        self.unsaved += 1;
                    }
                }
            }
        }
    }

    /// `DataCacheCleanAndInvalid` of the line of an address, or of all.
    pub(crate) fn clean(&mut self, core: u32, address: Option<u64>, index: u32, log: &mut CacheLog) {
        let cleaned: Vec<u64> = match address {
            Some(address) => vec![address / CACHE_LINE],
            None => self.lines.keys().copied().collect(),
        };
        for number in cleaned {
            let Some(line) = self.lines.remove(&number) else { continue };
            if let Some((written, first)) = line.unsaved {
                self.unsaved -= 1;
                log.add_unsaved(Unsaved::of(core, written, first, index));
            }
        }
    }

    /// The core has done all it does. What it has not saved nobody else ever saw while the launch ran.
    pub(crate) fn end(&mut self, core: u32, log: &mut CacheLog) {
        for line in std::mem::take(&mut self.lines).into_values() {
            if let Some((written, first)) = line.unsaved {
                log.add_unsaved(Unsaved::of(core, written, first, u32::MAX));
            }
        }
        self.unsaved = 0;
    }

    /// Where the scalar unit wrote bytes that a pipe now reads from memory, which does not have them.
    pub(crate) fn unsaved(&self, operand: &Operand) -> Option<u64> {
        if self.unsaved == 0 {
            return None;
        }
        self.met(operand).find_map(|(number, from, to)| {
            let (written, _) = self.lines.get(&number)?.unsaved.as_ref()?;
            (written.0 < to && written.1 > from).then_some(written.2)
        })
    }

    /// A pipe writes to memory what the cache may hold.
    pub(crate) fn overwrite(&mut self, operand: &Operand, site: u64) {
        let met: Vec<_> = self.met(operand).collect();
        for (number, from, to) in met {
            if let Some(line) = self.lines.get_mut(&number) {
                let (first, last) = within(number, from, to);
                let before = line.overwritten.map_or((first, last), |written| (written.0, written.1));
                line.overwritten = Some((before.0.min(first), before.1.max(last), site));
            }
        }
    }

    /// Lines that pieces of an operand touch, with the pieces.
    fn met(&self, operand: &Operand) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let (low, high) = operand.extent();
        let any = high > low && self.lines.range(low / CACHE_LINE..=(high - 1) / CACHE_LINE).next().is_some();
        let all = any.then(|| pieces(operand)).into_iter().flatten();
        all.flat_map(|(from, to)| {
            let range = self.lines.range(from / CACHE_LINE..=(to - 1) / CACHE_LINE);
            range.map(move |(number, _)| (*number, from, to))
        })
    }
}

fn pieces(operand: &Operand) -> impl Iterator<Item = (u64, u64)> + use<> {
    operand.pieces().map(|(from, len)| (from, from.saturating_add(len)))
}

fn lines_of(from: u64, to: u64) -> std::ops::RangeInclusive<u64> {
    from / CACHE_LINE..=(to - 1) / CACHE_LINE
}

/// The part of some bytes that lies in a line.
fn within(line: u64, from: u64, to: u64) -> (u64, u64) {
    (from.max(line * CACHE_LINE), to.min((line + 1) * CACHE_LINE))
}

/// Bytes that a scalar unit wrote and memory had only from an instruction on.
#[derive(Clone, Copy, Debug)]
struct Unsaved {
    from: u64,
    to: u64,
    core: u32,
    /// First and last instruction of the scalar pipe between which they were in the cache alone.
    written: u32,
    cleaned: u32,
    site: u64,
}

impl Unsaved {
    fn of(core: u32, (from, to, site): Written, written: u32, cleaned: u32) -> Self {
        Self { from, to, core, written, cleaned, site }
    }
}

/// A read of a line that was fetched before the core learnt of others.
#[derive(Clone, Debug)]
struct OldRead {
    from: u64,
    to: u64,
    core: u32,
    fetched: Rc<Known>,
    read: Rc<Known>,
    site: u64,
}

/// What all cores' caches had to do with each other.
#[derive(Debug, Default)]
pub(crate) struct CacheLog {
    unsaved: Vec<Unsaved>,
    old: Vec<OldRead>,
}

impl CacheLog {
    fn add_unsaved(&mut self, new: Unsaved) {
        if let Some(last) = self.unsaved.last_mut()
            && last.to == new.from
            && (last.core, last.cleaned, last.site) == (new.core, new.cleaned, new.site)
        {
            (last.to, last.written) = (new.to, last.written.min(new.written));
            return;
        }
        self.unsaved.push(new);
    }

    fn add_old(&mut self, new: OldRead) {
        if let Some(last) = self.old.last_mut()
            && last.to == new.from
            && (last.core, last.site) == (new.core, new.site)
            && Rc::ptr_eq(&last.fetched, &new.fetched)
            && Rc::ptr_eq(&last.read, &new.read)
        {
            last.to = new.to;
            return;
        }
        self.old.push(new);
    }

    /// Reads of other cores before what they want is in memory, and reads of lines that are older than what others wrote.
    pub(crate) fn judge(&self, log: &GmLog, launch: &Launch<'_>, severity: Severity, findings: &mut Findings) {
        let what = (HazardKind::StaleCacheLine, severity);
        let complete = |known: &Known, access: &GmAccess, last: u32| {
            known.of(access.core).is_some_and(|clock| clock[usize::from(access.pipe)] >= last)
        };
        let mut pairs = 0;
        for unsaved in &self.unsaved {
            let list = log.regions.get(&(unsaved.from >> 40)).map_or(&[][..], Vec::as_slice);
            for row in rows(list) {
                let access = &list[row.series].first;
                pairs += 1;
                let known = || access.known.of(unsaved.core).map_or(0, |clock| clock[S]);
                if access.write || access.core == unsaved.core || row.from >= unsaved.to || row.to <= unsaved.from {
                    continue;
                }
                if (unsaved.written..unsaved.cleaned).contains(&known()) {
                    findings.add(what, (access.site, unsaved.site), access.core, || {
                        format!(
                            "{} reads bytes that the scalar unit of {} has written and still keeps in its data cache; \
                             DataCacheCleanAndInvalid belongs between that write and what orders the two",
                            launch.core_text(access.core),
                            launch.core_text(unsaved.core)
                        )
                    });
                }
            }
            if pairs > PAIR_LIMIT {
                return;
            }
        }
        for old in &self.old {
            let list = log.regions.get(&(old.from >> 40)).map_or(&[][..], Vec::as_slice);
            for row in rows(list) {
                let access = &list[row.series].first;
                pairs += 1;
                if !access.write || access.core == old.core || row.from >= old.to || row.to <= old.from {
                    continue;
                }
                if complete(&old.read, access, row.last) && !complete(&old.fetched, access, row.last) {
                    findings.add(what, (old.site, access.site), old.core, || {
                        format!(
                            "the scalar unit of {} reads a line that its data cache fetched before {} wrote these bytes; \
                             DataCacheCleanAndInvalid belongs in front of the read",
                            launch.core_text(old.core),
                            launch.core_text(access.core)
                        )
                    });
                }
            }
            if pairs > PAIR_LIMIT {
                return;
            }
        }
    }
}
