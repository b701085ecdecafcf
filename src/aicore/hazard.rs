//! Hazards of one launch: conflicting accesses without an order, reads of unwritten bytes, misuse of flags, faults.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::iter::Peekable;
use std::rc::Rc;

use super::cross::{Awaited, CrossFlags};
use super::gm_hazard::{GmAccess, GmLog, Known};
use super::ordering::{Instant, Ordering};
use super::pipe::{flag_slot, slot_destination, slot_id, slot_source};
use super::profile::{Hazard, HazardKind, Severity};
use super::segments::SegmentMap;
use super::timing::Stuck;
use super::trace::{
    Cursor, FLAG_ATOMIC, Launch, LaunchStatus, NO_PIPE, OpKind, Operand, PIPE_COUNT, Record, S, Space, V, pipe_name,
};

/// How the note begins that a core which polls global memory leaves.
const POLLS: &str = "polls global memory";

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
    let names = launch.cores.keys().map(|core| launch.core_name(*core)).collect();
    let mut all = Shared {
        findings: Findings::default(),
        log: GmLog::default(),
        cross: CrossFlags::new(names),
        set_sites: BTreeMap::new(),
        polls: false,
    };
    judge_cores(launch, &mut all);
    let Shared { mut findings, mut log, cross, set_sites, polls } = all;
    for (index, id) in cross.left() {
        let Some(core) = launch.cores.keys().nth(index) else { continue };
        let site = set_sites.get(&id).copied().unwrap_or(0);
        findings.add((HazardKind::FlagMisuse, Severity::Warning), (site, 0), *core, || {
            let name = launch.core_text(*core);
            format!("cross-core flag {id} is still set for {name} when the launch ends: a wait is missing")
        });
    }
    for block in stuck {
        findings.add((HazardKind::Deadlock, Severity::Error), (block.site, 0), block.core, || block.message.clone());
    }
    // What cores tell each other through polled memory is an order too, but one that cannot be seen here.
    log.cross_core(launch, if polls { Severity::Warning } else { Severity::Error }, &mut findings);
    if launch.status == LaunchStatus::Ok {
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
struct Shared {
    findings: Findings,
    log: GmLog,
    cross: CrossFlags<Rc<Known>>,
    /// Last set of each cross-core flag.
    set_sites: BTreeMap<u32, u64>,
    /// Some core polls global memory.
    polls: bool,
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
    unit: bool,
}

/// Last accesses of a segment.
#[derive(Clone, Default)]
struct State {
    write: Option<Write>,
    reads: [(u32, u64, bool); PIPE_COUNT],
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
    /// Uses the unit flag.
    unit: bool,
    space: Space,
    opcode: u16,
}

struct CoreJudge<'j, 'a> {
    core: u32,
    index: usize,
    launch: &'j Launch<'a>,
    cursor: Option<Peekable<Cursor<'j>>>,
    ordering: Ordering,
    maps: [SegmentMap<State>; Space::COUNT],
    written_regions: BTreeSet<u64>,
    set_sites: BTreeMap<u16, u64>,
    /// What is known of other cores, and a count of the changes to that.
    known: Rc<Known>,
    epoch: u32,
    /// The barrier that the core stands at knows of its arrival.
    arrived: bool,
    /// Waits are taken for granted.
    forced: bool,
    records: u64,
}

impl<'j, 'a> CoreJudge<'j, 'a> {
    fn new(launch: &'j Launch<'a>, index: usize, core: u32) -> Self {
        let stream = launch.cores.get(&core);
        Self {
            core,
            index,
            launch,
            cursor: stream.map(|stream| stream.cursor().with_messages(&launch.message_opcodes).peekable()),
            ordering: Ordering::new(),
            maps: Default::default(),
            written_regions: written_regions(launch, core),
            set_sites: BTreeMap::new(),
            known: Rc::default(),
            epoch: 0,
            arrived: false,
            forced: false,
            records: 0,
        }
    }

    /// False when the core has to wait for others.
    fn run(&mut self, all: &mut Shared) -> bool {
        let Some(mut cursor) = self.cursor.take() else { return true };
        while let Some(record) = cursor.peek() {
            if !self.may_pass(record, all) {
                self.cursor = Some(cursor);
                return false;
            }
            self.record(record, all);
            self.records += 1;
            cursor.next();
        }
        let left: Vec<u16> = self.ordering.left_set().collect();
        for slot in left {
            let site = self.set_sites.get(&slot).copied().unwrap_or(0);
            all.findings.add((HazardKind::FlagMisuse, Severity::Warning), (site, 0), self.core, || {
                format!("flag {} is still set when the block ends: a wait is missing", flag_name(slot))
            });
        }
        true
    }

    /// Whether a wait for other cores is over; what it brings is learnt.
    fn may_pass(&mut self, record: &Record<'_>, all: &mut Shared) -> bool {
        let join = |a: Rc<Known>, b: Rc<Known>| Rc::new(Rc::unwrap_or_clone(a).joined(&b));
        let awaited = match self.launch.opcodes[usize::from(record.opcode)].kind {
            OpKind::WaitCross => Awaited::Flag(record.aux[0]),
            OpKind::SyncAll => {
                let everybody = record.aux[1] != 0;
                if !self.arrived {
                    self.arrived = true;
                    self.ordering.barrier_all();
                    let payload = Rc::new(self.known.with(self.core, self.ordering.released_by(S)));
                    all.cross.arrive(self.index, everybody, payload, join);
                }
                if everybody { Awaited::Everybody } else { Awaited::OwnKind }
            }
            _ => return true,
        };
        match all.cross.take(self.index, awaited) {
            Some(known) => {
                if let Some(own) = known.of(self.core) {
                    self.ordering.learn(own);
                }
                self.known = join(known, Rc::clone(&self.known));
            }
            None if !self.forced => return false,
            None => {}
        }
        self.forced = false;
        self.arrived = false;
        self.epoch += 1;
        true
    }

    fn record(&mut self, record: &Record<'_>, all: &mut Shared) {
        let [aux0, aux1, aux2] = record.aux;
        match self.launch.opcodes[usize::from(record.opcode)].kind {
            OpKind::SetFlag => {
                let slot = flag_slot(aux1, aux2, aux0);
                if !self.ordering.set_flag(slot) {
                    let earlier = self.set_sites.get(&slot).copied().unwrap_or(0);
                    all.findings.add(
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
            OpKind::SyncAll | OpKind::WaitCross => {}
            OpKind::SetCross => {
                let pipe = if record.pipe == NO_PIPE { S } else { usize::from(record.pipe) };
                let payload = Rc::new(self.known.with(self.core, self.ordering.released_by(pipe)));
                all.set_sites.insert(aux0, record.site);
                all.cross.set(self.index, aux0, aux1, payload, |a, b| Rc::new(Rc::unwrap_or_clone(a).joined(&b)));
                self.epoch += 1;
            }
            OpKind::Fault => self.fault(record, all),
            OpKind::Note => all.polls |= record.message().starts_with(POLLS),
            OpKind::EndOfBlock => {}
            OpKind::Scalar => self.access(record, S, all),
            // A register may be loaded from the unified buffer (compare mask); one without operands touches nothing.
            OpKind::Copy | OpKind::Compute | OpKind::Register => {
                let pipe = if record.pipe == NO_PIPE { V } else { usize::from(record.pipe) };
                self.access(record, pipe, all);
            }
        }
    }

    fn fault(&self, record: &Record<'_>, all: &mut Shared) {
        let kind = match record.aux[0] {
            1 | 15 => HazardKind::OutOfBoundsGm,
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
        // 15 reads behind a tensor what its allocation still has: nothing breaks, and a result that depends on it differs
        // between the two runs of the verifier.
        let severity = if record.aux[0] == 15 { Severity::Warning } else { Severity::Error };
        all.findings.add((kind, severity), (record.site, 0), self.core, message);
    }

    fn access(&mut self, record: &Record<'_>, pipe: usize, all: &mut Shared) {
        let at = self.ordering.issue(pipe);
        let atomic = record.flags & FLAG_ATOMIC != 0;
        let unit = record.has_unit_flag();
        let part = |operand: &Operand| Access {
            at,
            site: record.site,
            atomic,
            unit,
            space: operand.space,
            opcode: record.opcode,
        };
        // A scalar record holds reads and writes of which the order is not known: writes first means that reading back
        // what was just written counts as initialised. An instruction reads before it writes.
        let order = if pipe == S { [true, false] } else { [false, true] };
        for writing in order {
            for operand in record.operands() {
                // Accumulators are read before they are written; elsewhere the write says all that matters.
                let reads = operand.reads && (!operand.writes || operand.space == Space::L0c);
                let applies = if writing { operand.writes } else { reads };
                if applies {
                    self.operand(&operand, part(&operand), writing, all);
                }
            }
        }
    }

    fn operand(&mut self, operand: &Operand, access: Access, writing: bool, all: &mut Shared) {
        for (address, len) in operand.pieces() {
            let (from, to) = (address, address.saturating_add(len));
            if operand.space != Space::Gm {
                self.bytes(from, to, access, writing, all);
                continue;
            }
            all.log.push(GmAccess {
                from,
                to,
                core: self.core,
                pipe: access.at.pipe,
                last: access.at.index,
                known: Rc::clone(&self.known),
                epoch: self.epoch,
                write: writing,
                atomic: access.atomic || (operand.reads && operand.writes),
                site: access.site,
            });
            if self.written_regions.contains(&(from >> 40)) {
                self.bytes(from, to, access, writing, all);
            }
        }
    }

    fn bytes(&mut self, from: u64, to: u64, access: Access, writing: bool, all: &mut Shared) {
        let pipe = usize::from(access.at.pipe);
        let space = access.space;
        let on_chip = space != Space::Gm;
        let mut conflict: Option<Conflict> = None;
        let mut unwritten: Option<(u64, u64)> = None;
        let mut scalar_waits: Vec<Instant> = Vec::new();
        let ordering = &self.ordering;
        let map = &mut self.maps[space as usize];
        map.visit(from, to, |start, end, state| {
            let mut check = |earlier: Instant, earlier_writes: bool, earlier_site: u64, earlier_unit: bool| {
                let by_unit_flag = space == Space::L0c && access.unit && earlier_unit;
                if by_unit_flag || ordering.ordered(earlier, pipe) {
                    return;
                }
                if pipe == S {
                    scalar_waits.push(earlier);
                } else if conflict.is_none() {
                    conflict = Some(Conflict { earlier, earlier_writes, earlier_site, from: start, to: end });
                }
            };
            match state.write {
                Some(write) if !(write.atomic && access.atomic) => check(write.at, true, write.site, write.unit),
                Some(_) => {}
                None if !writing && on_chip => {
                    let first = unwritten.map_or(start, |(first, _)| first.min(start));
                    unwritten = Some((first, unwritten.map_or(0, |(_, bytes)| bytes) + end - start));
                }
                None => {}
            }
            if writing {
                for (reader, (index, site, unit)) in state.reads.iter().enumerate() {
                    if *index > 0 && reader != pipe {
                        check(Instant { pipe: reader as u8, index: *index }, false, *site, *unit);
                    }
                }
            } else {
                state.reads[pipe] = (access.at.index, access.site, access.unit);
            }
        });
        if writing {
            let write = Write { at: access.at, site: access.site, atomic: access.atomic, unit: access.unit };
            map.replace(from, to, State { write: Some(write), ..State::default() });
        }
        for earlier in scalar_waits {
            self.ordering.scalar_waits_for(earlier);
        }
        if let Some(conflict) = conflict {
            self.race(&conflict, access, writing, all);
        }
        if let Some((first, bytes)) = unwritten {
            // Whole fractals are loaded and multiplied whatever their last rows and columns hold.
            let severity = if pipe == V || space != Space::Ub { Severity::Warning } else { Severity::Error };
            let opcode = &self.launch.opcodes[usize::from(access.opcode)].name;
            all.findings.add((HazardKind::UninitialisedRead, severity), (access.site, 0), self.core, || {
                format!(
                    "{opcode} on {} reads {bytes} bytes of {} from {first:#x} that nothing has written",
                    pipe_name(pipe),
                    space.name()
                )
            });
        }
    }

    fn race(&self, conflict: &Conflict, access: Access, writing: bool, all: &mut Shared) {
        let earlier = usize::from(conflict.earlier.pipe);
        let later = usize::from(access.at.pipe);
        let verb = |writes: bool| if writes { "writes" } else { "reads" };
        let memory = access.space.name();
        let upper = |pipe: usize| pipe_name(pipe).to_uppercase();
        let (earlier_verb, later_verb) = (verb(conflict.earlier_writes), verb(writing));
        let remedy = if earlier == later {
            format!("PipeBarrier<PIPE_{}>", upper(earlier))
        } else {
            format!("flag {}_{}", upper(earlier), upper(later))
        };
        let opcode = &self.launch.opcodes[usize::from(access.opcode)].name;
        let sites = (access.site, conflict.earlier_site);
        all.findings.add((HazardKind::Race, Severity::Error), sites, self.core, || {
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
