//! Hazards of one launch: conflicting accesses without an order, reads of unwritten bytes, misuse of flags, faults.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::gm_hazard::{GmAccess, GmLog};
use super::ordering::{Instant, Ordering};
use super::pipe::{flag_slot, slot_destination, slot_id, slot_source};
use super::profile::{Hazard, HazardKind, Severity};
use super::segments::SegmentMap;
use super::timing::Stuck;
use super::trace::{
    FLAG_ATOMIC, Launch, LaunchStatus, NO_PIPE, OpKind, Operand, PIPE_COUNT, Record, S, Space, V, pipe_name,
};

/// Findings, one per kind and pair of sites, each with the number of those found before it.
#[derive(Default)]
pub(crate) struct Findings(BTreeMap<(HazardKind, u64, u64), (usize, Hazard)>);

impl Findings {
    pub(crate) fn add(
        &mut self,
        (kind, severity): (HazardKind, Severity),
        (site, other_site): (u64, u64),
        core: u32,
        message: impl FnOnce() -> String,
    ) {
        let order = self.0.len();
        self.0
            .entry((kind, site, other_site))
            .and_modify(|(_, hazard)| {
                hazard.count += 1;
                hazard.severity = hazard.severity.max(severity);
            })
            .or_insert_with(|| {
                (order, Hazard { kind, severity, site, other_site, core, count: 1, message: message() })
            });
    }

    /// Errors first; of one kind what goes wrong first, which often brings the rest about.
    fn into_sorted(self) -> Vec<Hazard> {
        let mut hazards: Vec<(usize, Hazard)> = self.0.into_values().collect();
        hazards.sort_by_key(|(order, hazard)| (Reverse(hazard.severity), hazard.kind, *order));
        hazards.into_iter().map(|(_, hazard)| hazard).collect()
    }
}

/// All hazards of a launch, errors first, then by kind, then in the order in which blocks run into them.
pub(crate) fn hazards(launch: &Launch<'_>, stuck: &[Stuck]) -> Vec<Hazard> {
    let mut findings = Findings::default();
    let mut gm = GmLog::default();
    for core in launch.cores.keys() {
        let mut judge = CoreJudge {
            core: *core,
            launch,
            ordering: Ordering::new(),
            ub: SegmentMap::default(),
            gm: SegmentMap::default(),
            written_regions: written_regions(launch, *core),
            set_sites: BTreeMap::new(),
            sets: 0,
            waits: 0,
            log: &mut gm,
            findings: &mut findings,
        };
        judge.run();
    }
    for block in stuck {
        findings.add((HazardKind::Deadlock, Severity::Error), (block.site, 0), block.core, || block.message.clone());
    }
    gm.cross_core(&mut findings);
    if launch.status == LaunchStatus::Ok {
        gm.coverage(&launch.regions, &mut findings);
    }
    findings.into_sorted()
}

/// Regions that a core writes: only there can its own reads conflict.
fn written_regions(launch: &Launch<'_>, core: u32) -> BTreeSet<u64> {
    let mut regions = BTreeSet::new();
    let Some(stream) = launch.cores.get(&core) else { return regions };
    for record in stream.cursor().with_messages(&launch.message_opcodes) {
        for operand in record.operands() {
            if operand.space == Space::Gm && operand.writes {
                regions.insert(operand.addr >> 40);
            }
        }
    }
    regions
}

#[derive(Clone, Copy, Default)]
struct Write {
    at: Instant,
    site: u64,
    atomic: bool,
}

/// Last accesses of a segment.
#[derive(Clone, Default)]
struct State {
    write: Option<Write>,
    reads: [(u32, u64); PIPE_COUNT],
}

/// An access that has no order with an earlier one.
#[derive(Clone, Copy)]
struct Conflict {
    earlier: Instant,
    earlier_writes: bool,
    earlier_site: u64,
    from: u64,
    to: u64,
}

#[derive(Clone, Copy)]
struct Access {
    at: Instant,
    site: u64,
    atomic: bool,
    space: Space,
    opcode: u16,
}

struct CoreJudge<'j, 'a> {
    core: u32,
    launch: &'j Launch<'a>,
    ordering: Ordering,
    ub: SegmentMap<State>,
    gm: SegmentMap<State>,
    written_regions: BTreeSet<u64>,
    set_sites: BTreeMap<u16, u64>,
    /// All-core synchronisations begun and passed.
    sets: u32,
    waits: u32,
    log: &'j mut GmLog,
    findings: &'j mut Findings,
}

impl CoreJudge<'_, '_> {
    fn run(&mut self) {
        let launch = self.launch;
        let Some(stream) = launch.cores.get(&self.core) else { return };
        for record in stream.cursor().with_messages(&launch.message_opcodes) {
            self.record(&record);
        }
        let left: Vec<u16> = self.ordering.left_set().collect();
        for slot in left {
            let site = self.set_sites.get(&slot).copied().unwrap_or(0);
            self.findings.add((HazardKind::FlagMisuse, Severity::Warning), (site, 0), self.core, || {
                format!("flag {} is still set when the block ends: a wait is missing", flag_name(slot))
            });
        }
    }

    fn record(&mut self, record: &Record<'_>) {
        let [aux0, aux1, aux2] = record.aux;
        match self.launch.opcodes[usize::from(record.opcode)].kind {
            OpKind::SetFlag => {
                let slot = flag_slot(aux1, aux2, aux0);
                if !self.ordering.set_flag(slot) {
                    let earlier = self.set_sites.get(&slot).copied().unwrap_or(0);
                    self.findings.add(
                        (HazardKind::FlagMisuse, Severity::Error),
                        (record.site, earlier),
                        self.core,
                        || format!("flag {} is set again before anything waited for it", flag_name(slot)),
                    );
                }
                self.set_sites.insert(slot, record.site);
            }
            OpKind::WaitFlag => self.ordering.wait_flag(flag_slot(aux1, aux2, aux0)),
            OpKind::Barrier if record.pipe == NO_PIPE => self.ordering.barrier_all(),
            OpKind::Barrier => self.ordering.barrier(usize::from(record.pipe)),
            OpKind::SyncAll => {
                self.ordering.barrier_all();
                self.sets += 1;
                self.waits += 1;
            }
            OpKind::SetCross => self.sets += 1,
            OpKind::WaitCross => {
                self.ordering.barrier_all();
                self.waits += 1;
            }
            OpKind::Fault => self.fault(record),
            OpKind::Note | OpKind::EndOfBlock => {}
            OpKind::Scalar => self.access(record, S),
            // A register may be loaded from the unified buffer (compare mask); one without operands touches nothing.
            OpKind::Copy | OpKind::Compute | OpKind::Register => {
                let pipe = if record.pipe == NO_PIPE { V } else { usize::from(record.pipe) };
                self.access(record, pipe);
            }
        }
    }

    fn fault(&mut self, record: &Record<'_>) {
        let kind = match record.aux[0] {
            1 => HazardKind::OutOfBoundsGm,
            2 => HazardKind::OutOfBoundsUb,
            3 => HazardKind::Misaligned,
            4 => HazardKind::UbOverflow,
            5 => HazardKind::QueueMisuse,
            6 => HazardKind::RepeatOverflow,
            7 => HazardKind::Deadlock,
            9 => HazardKind::OperandOverlap,
            10 | 13 => HazardKind::FlagMisuse,
            11 => HazardKind::BadArgument,
            14 => HazardKind::OutOfBoundsOnChip,
            _ => HazardKind::Unsupported,
        };
        let message = || record.message().into_owned();
        self.findings.add((kind, Severity::Error), (record.site, 0), self.core, message);
    }

    fn access(&mut self, record: &Record<'_>, pipe: usize) {
        let at = self.ordering.issue(pipe);
        let atomic = record.flags & FLAG_ATOMIC != 0;
        let part =
            |operand: &Operand| Access { at, site: record.site, atomic, space: operand.space, opcode: record.opcode };
        // A scalar record holds reads and writes of which the order is not known: writes first means that reading back
        // what was just written counts as initialised. An instruction reads before it writes.
        let order = if pipe == S { [true, false] } else { [false, true] };
        for writing in order {
            for operand in record.operands() {
                let applies = if writing { operand.writes } else { operand.reads && !operand.writes };
                if applies {
                    self.operand(&operand, part(&operand), writing);
                }
            }
        }
    }

    fn operand(&mut self, operand: &Operand, access: Access, writing: bool) {
        for (address, len) in operand.pieces() {
            let (from, to) = (address, address.saturating_add(len));
            match operand.space {
                Space::Ub => self.bytes(from, to, access, writing),
                Space::Gm => {
                    self.log.push(GmAccess {
                        from,
                        to,
                        core: self.core,
                        sets: self.sets,
                        waits: self.waits,
                        write: writing,
                        atomic: access.atomic || (operand.reads && operand.writes),
                        site: access.site,
                    });
                    if self.written_regions.contains(&(from >> 40)) {
                        self.bytes(from, to, access, writing);
                    }
                }
                Space::Other(_) => {}
            }
        }
    }

    fn bytes(&mut self, from: u64, to: u64, access: Access, writing: bool) {
        let pipe = usize::from(access.at.pipe);
        let in_ub = access.space == Space::Ub;
        let mut conflict: Option<Conflict> = None;
        let mut unwritten: Option<(u64, u64)> = None;
        let mut scalar_waits: Vec<Instant> = Vec::new();
        let ordering = &self.ordering;
        let map = if in_ub { &mut self.ub } else { &mut self.gm };
        map.visit(from, to, |start, end, state| {
            let mut check = |earlier: Instant, earlier_writes: bool, earlier_site: u64| {
                if ordering.ordered(earlier, pipe) {
                    return;
                }
                if pipe == S {
                    scalar_waits.push(earlier);
                } else if conflict.is_none() {
                    conflict = Some(Conflict { earlier, earlier_writes, earlier_site, from: start, to: end });
                }
            };
            match state.write {
                Some(write) if !(write.atomic && access.atomic) => check(write.at, true, write.site),
                Some(_) => {}
                None if !writing && in_ub => {
                    let first = unwritten.map_or(start, |(first, _)| first.min(start));
                    unwritten = Some((first, unwritten.map_or(0, |(_, bytes)| bytes) + end - start));
                }
                None => {}
            }
            if writing {
                for (reader, (index, site)) in state.reads.iter().enumerate() {
                    if *index > 0 && reader != pipe {
                        check(Instant { pipe: reader as u8, index: *index }, false, *site);
                    }
                }
            } else {
                state.reads[pipe] = (access.at.index, access.site);
            }
        });
        if writing {
            let write = Write { at: access.at, site: access.site, atomic: access.atomic };
            map.replace(from, to, State { write: Some(write), ..State::default() });
        }
        for earlier in scalar_waits {
            self.ordering.scalar_waits_for(earlier);
        }
        if let Some(conflict) = conflict {
            self.race(&conflict, access, writing);
        }
        if let Some((first, bytes)) = unwritten {
            let severity = if pipe == V { Severity::Warning } else { Severity::Error };
            let opcode = &self.launch.opcodes[usize::from(access.opcode)].name;
            self.findings.add((HazardKind::UninitialisedRead, severity), (access.site, 0), self.core, || {
                format!(
                    "{opcode} on {} reads {bytes} bytes of the unified buffer from {first:#x} that nothing has written",
                    pipe_name(pipe)
                )
            });
        }
    }

    fn race(&mut self, conflict: &Conflict, access: Access, writing: bool) {
        let earlier = usize::from(conflict.earlier.pipe);
        let later = usize::from(access.at.pipe);
        let verb = |writes: bool| if writes { "writes" } else { "reads" };
        let memory = if access.space == Space::Ub { "the unified buffer" } else { "global memory" };
        let upper = |pipe: usize| pipe_name(pipe).to_uppercase();
        let (earlier_verb, later_verb) = (verb(conflict.earlier_writes), verb(writing));
        let remedy = if earlier == later {
            format!("PipeBarrier<PIPE_{}>", upper(earlier))
        } else {
            format!("flag {}_{}", upper(earlier), upper(later))
        };
        let opcode = &self.launch.opcodes[usize::from(access.opcode)].name;
        let sites = (access.site, conflict.earlier_site);
        self.findings.add((HazardKind::Race, Severity::Error), sites, self.core, || {
            format!(
                "{opcode} on {} {later_verb} bytes {:#x}..{:#x} of {memory} that {} {earlier_verb} before, without an order between them; {remedy} would order them",
                pipe_name(later),
                conflict.from,
                conflict.to,
                pipe_name(earlier),
            )
        });
    }
}

fn flag_name(slot: u16) -> String {
    let upper = |pipe: usize| pipe_name(pipe).to_uppercase();
    format!("{}_{} id {}", upper(slot_source(slot)), upper(slot_destination(slot)), slot_id(slot))
}
