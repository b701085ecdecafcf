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
use super::operand::Operand;
use super::profile::{HazardKind, Severity};
use super::record::S;
use super::trace::Launch;

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

/// Bytes of a line, a bit each.
type Bytes = u64;

/// What a write has in common with what a cache keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Met {
    /// A line.
    Line,
    /// Bytes of it.
    Bytes,
}

#[derive(Debug)]
struct Line {
    /// What the core knew of others when it was fetched, and in which epoch that was.
    known: Rc<Known>,
    epoch: u32,
    /// What memory does not have yet.
    unsaved: Bytes,
    /// First instruction that wrote such bytes, its epoch, and the site of the last one.
    written: (u32, u32, u64),
    /// What the core's own pipes have written to memory since, and where they did last.
    overwritten: Bytes,
    overwriter: u64,
}

impl Line {
    fn fetched(now: &Moment) -> Self {
        let (known, epoch) = (Rc::clone(&now.known), now.epoch);
        Self { known, epoch, unsaved: 0, written: (0, 0, 0), overwritten: 0, overwriter: 0 }
    }
}

/// Lines of one core.
#[derive(Debug, Default)]
pub(crate) struct DataCache {
    lines: BTreeMap<u64, Line>,
    /// Number of lines with bytes that memory does not have.
    unsaved: usize,
}

impl DataCache {
    /// Lines are fetched that are not there yet.
    pub(crate) fn preload(&mut self, operand: &Operand, now: &Moment) {
        for (number, _) in touched(operand) {
            self.lines.entry(number).or_insert_with(|| Line::fetched(now));
        }
    }

    /// The scalar unit reads. What it finds may be older than what memory has: returns where a pipe of its own wrote that, and
    /// keeps for later what another core may have written.
    pub(crate) fn read(&mut self, core: u32, operand: &Operand, now: &Moment, log: &mut CacheLog) -> Option<u64> {
        let mut overwriter = None;
        for (number, bytes) in touched(operand) {
            let Some(line) = self.lines.get(&number) else {
                self.lines.insert(number, Line::fetched(now));
                continue;
            };
            if line.overwritten & bytes != 0 {
                overwriter = overwriter.or(Some(line.overwriter));
            }
            if line.epoch != now.epoch {
                // Its own bytes are the newest that it can know of.
                for (from, to) in runs(number, bytes & !line.unsaved) {
                    let (fetched, read) = (Rc::clone(&line.known), Rc::clone(&now.known));
                    log.add_old(OldRead { from, to, core, fetched, read, site: now.site });
                }
            }
        }
        overwriter
    }

    /// The scalar unit writes: its line is fetched and keeps the bytes.
    pub(crate) fn write(&mut self, operand: &Operand, now: &Moment) {
        for (number, bytes) in touched(operand) {
            let line = self.lines.entry(number).or_insert_with(|| Line::fetched(now));
            if line.unsaved == 0 {
                self.unsaved += 1;
                (line.written.0, line.written.1) = (now.index, now.epoch);
            }
            line.written.2 = now.site;
            line.unsaved |= bytes;
            line.overwritten &= !bytes;
        }
    }

    /// `DataCacheCleanAndInvalid` of the line of an address, or of all.
    pub(crate) fn clean(&mut self, core: u32, address: Option<u64>, now: (u32, u32), log: &mut CacheLog) {
        let cleaned: Vec<u64> = match address {
            Some(address) => vec![address / CACHE_LINE],
            None => self.lines.keys().copied().collect(),
        };
        for number in cleaned {
            let Some(line) = self.lines.remove(&number).filter(|line| line.unsaved != 0) else { continue };
            self.unsaved -= 1;
            let (written, epoch, site) = line.written;
            let (cleaned, epoch_now) = now;
            // Without a flag or barrier in between nobody can have been told of the bytes.
            if epoch == epoch_now {
                continue;
            }
            for (from, to) in runs(number, line.unsaved) {
                log.add_unsaved(Unsaved { from, to, core, written, cleaned, site });
            }
        }
    }

    /// The core has done all it does. What it has not saved nobody else ever saw while the launch ran.
    pub(crate) fn end(&mut self, core: u32, epoch: u32, log: &mut CacheLog) {
        self.clean(core, None, (u32::MAX, epoch), log);
    }

    /// Where the scalar unit wrote bytes that a pipe now reads from memory, which does not have them.
    pub(crate) fn unsaved(&self, operand: &Operand) -> Option<u64> {
        if self.unsaved == 0 || !self.meets(operand) {
            return None;
        }
        touched(operand).find_map(|(number, bytes)| {
            let line = self.lines.get(&number)?;
            (line.unsaved & bytes != 0).then_some(line.written.2)
        })
    }

    /// A pipe writes to memory what the cache may hold. Returns where the scalar unit wrote such bytes, or others of their lines,
    /// if memory does not have those yet: the older ones come later.
    pub(crate) fn overwrite(&mut self, operand: &Operand, site: u64) -> Option<(u64, Met)> {
        if !self.meets(operand) {
            return None;
        }
        let mut unsaved = None;
        for (number, bytes) in touched(operand) {
            if let Some(line) = self.lines.get_mut(&number) {
                line.overwritten |= bytes;
                line.overwriter = site;
                let met = if line.unsaved & bytes != 0 { Met::Bytes } else { Met::Line };
                if line.unsaved != 0 && unsaved.is_none_or(|(_, before)| before < met) {
                    unsaved = Some((line.written.2, met));
                }
            }
        }
        unsaved
    }

    /// Whether there is a line between the first and the last byte of an operand.
    fn meets(&self, operand: &Operand) -> bool {
        let (low, high) = operand.extent();
        high > low && self.lines.range(low / CACHE_LINE..=(high - 1) / CACHE_LINE).next().is_some()
    }
}

/// Lines that an operand touches, with its bytes in each.
fn touched(operand: &Operand) -> impl Iterator<Item = (u64, Bytes)> + use<> {
    operand.pieces().flat_map(|(from, len)| {
        let to = from.saturating_add(len);
        (from / CACHE_LINE..=(to - 1) / CACHE_LINE).map(move |line| {
            let first = from.max(line * CACHE_LINE) - line * CACHE_LINE;
            let last = to.min((line + 1) * CACHE_LINE) - line * CACHE_LINE;
            (line, (Bytes::MAX >> (CACHE_LINE - (last - first))) << first)
        })
    })
}

/// Addresses of bytes of a line that follow each other.
fn runs(line: u64, mut bytes: Bytes) -> impl Iterator<Item = (u64, u64)> {
    std::iter::from_fn(move || {
        let first = bytes.trailing_zeros();
        let length = bytes.checked_shr(first)?.trailing_ones();
        bytes &= !((Bytes::MAX >> (CACHE_LINE as u32 - length)) << first);
        let from = line * CACHE_LINE + u64::from(first);
        Some((from, from + u64::from(length)))
    })
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

    /// Reads and writes of other cores before bytes are in memory, and reads of lines that are older than what others wrote.
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
                if access.core == unsaved.core || row.from >= unsaved.to || row.to <= unsaved.from {
                    continue;
                }
                if (unsaved.written..unsaved.cleaned).contains(&known()) {
                    findings.add(what, (access.site, unsaved.site), access.core, || {
                        format!(
                            "{} {} bytes that the scalar unit of {} has written and still keeps in its data cache{}; \
                             DataCacheCleanAndInvalid belongs between that write and what orders the two",
                            launch.core_text(access.core),
                            if access.write { "writes" } else { "reads" },
                            launch.core_text(unsaved.core),
                            if access.write { ", whose line may be written back over them" } else { "" },
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
