//! Judges one core: its records in an order in which the pipes can execute them.
//!
//! The scalar unit issues in program order. A pipe that stands at a flag keeps what is issued to it until the flag is set;
//! what is never set free never runs, and has no races.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use super::accesses::{Access, Accesses, Conflict};
use super::buffers::{Buffers, Overrun};
use super::cross::Awaited;
use super::data_cache::{DataCache, Met, Moment};
use super::deadlock::{Blocked, reports};
use super::gm_log::{GmAccess, Known};
use super::held::Held;
use super::operand::{Operand, Space};
use super::options::Options;
use super::ordering::{Clock, Instant, Ordering};
use super::pipe::{flag_name, flag_slot, slot_destination, slot_source};
use super::profile::{HazardKind, Severity};
use super::record::{Combine, FLAG_PLAIN, NO_PIPE, PIPE_COUNT, Record, S, V, pipe_name};
use super::region::Role;
use super::shared::Shared;
use super::stream::Cursor;
use super::trace::{Launch, OpKind};

/// How the note begins that a core which polls global memory leaves.
const POLLS: &str = "polls global memory";

pub(crate) struct CoreJudge<'j, 'a> {
    core: u32,
    index: usize,
    launch: &'j Launch<'a>,
    cursor: Option<Cursor<'j>>,
    ordering: Ordering,
    accesses: Accesses,
    written_regions: &'j [u64],
    set_sites: BTreeMap<u16, u64>,
    /// What is known of other cores, and a count of the changes to that.
    known: Rc<Known>,
    epoch: u32,
    /// The barrier that the core stands at knows of its arrival.
    arrived: bool,
    /// Waits for other cores are taken for granted.
    pub(crate) forced: bool,
    pub(crate) records: u64,
    /// Per pipe what it holds behind a flag that is not set; the first of them is the wait.
    held: [VecDeque<Held>; PIPE_COUNT],
    /// The record that the scalar unit cannot get past.
    halted: Option<Held>,
    buffers: Buffers,
    cache: DataCache,
    /// Regions of global memory that nobody writes.
    constant_regions: Vec<u64>,
    /// Regions that are inputs and no outputs.
    input_regions: Vec<u64>,
    /// Whether the record at hand has one operand only.
    lone_operand: bool,
    /// Instructions that ran over the end of a buffer, with where it was made.
    overran: BTreeMap<u64, u64>,
    /// The core has polled global memory: what it learned there may order its own pipes by way of other cores.
    polls: bool,
}

impl<'j, 'a> CoreJudge<'j, 'a> {
    pub(crate) fn new(launch: &'j Launch<'a>, index: usize, core: u32, options: &Options) -> Self {
        let stream = launch.cores.get(&core);
        Self {
            core,
            index,
            launch,
            cursor: stream.map(|stream| stream.cursor(&launch.message_opcodes)),
            ordering: Ordering::new(options.auto_sync),
            accesses: Accesses::new(options.shortcuts),
            written_regions: stream.map_or(&[], |stream| &stream.written_regions),
            set_sites: BTreeMap::new(),
            known: Rc::default(),
            epoch: 0,
            arrived: false,
            forced: false,
            records: 0,
            held: Default::default(),
            halted: None,
            buffers: Buffers::default(),
            cache: DataCache::default(),
            constant_regions: constant_regions(launch),
            input_regions: regions_of(launch, |role| matches!(role, Role::Input)).collect(),
            lone_operand: false,
            overran: BTreeMap::new(),
            polls: false,
        }
    }

    /// False when the core has to wait for others.
    pub(crate) fn run(&mut self, all: &mut Shared) -> bool {
        let Some(mut cursor) = self.cursor.take() else { return true };
        while let Some(record) = cursor.next() {
            if !self.may_pass(&record, all) {
                cursor.step_back();
                self.cursor = Some(cursor);
                return false;
            }
            self.issue(&record, all);
            self.records += 1;
            if self.halted.is_some() {
                break;
            }
        }
        if self.halted.is_some() || self.held.iter().any(|held| !held.is_empty()) {
            self.deadlock(cursor, all);
            return true;
        }
        self.cache.end(self.core, self.epoch, &mut all.caches);
        let left: Vec<u16> = self.ordering.left_set().collect();
        for slot in left {
            let site = self.set_sites.get(&slot).copied().unwrap_or(0);
            all.findings.add((HazardKind::FlagMisuse, Severity::Warning), (site, 0), self.core, || {
                format!("flag {} is still set when the block ends: a wait is missing", flag_name(slot))
            });
        }
        true
    }

    fn deadlock(&self, mut rest: Cursor<'_>, all: &mut Shared) {
        all.stuck.insert(self.core);
        let kind = |record: &Record<'_>| self.launch.opcodes[usize::from(record.opcode)].kind;
        let blocked = Blocked { held: &self.held, halted: self.halted.as_ref() };
        // What the scalar unit has not come to.
        let mut later = Vec::new();
        while self.halted.is_some()
            && let Some(record) = rest.next()
        {
            if kind(&record) == OpKind::SetFlag {
                later.push((slot_of(&record), record.site));
            }
        }
        for report in reports(&blocked, &later, kind) {
            let what = (HazardKind::Deadlock, Severity::Error);
            all.findings.add(what, (report.site, report.other_site), self.core, || report.message);
        }
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

    fn kind(&self, record: &Record<'_>) -> OpKind {
        self.launch.opcodes[usize::from(record.opcode)].kind
    }

    /// The scalar unit comes to a record: it does it, or hands it to a pipe.
    fn issue(&mut self, record: &Record<'_>, all: &mut Shared) {
        self.used_after_free(record, all);
        self.overrun(record, all);
        let kind = self.kind(record);
        let pipe = pipe_of(kind, record);
        let waits_for_all = (kind == OpKind::Barrier && record.pipe == NO_PIPE) || kind == OpKind::SyncAll;
        if waits_for_all && self.held.iter().any(|held| !held.is_empty()) {
            self.halted = Some(self.hold(record));
            return;
        }
        if !self.held[pipe].is_empty() {
            let held = self.hold(record);
            self.held[pipe].push_back(held);
            return;
        }
        let scalar = self.ordering.scalar();
        if self.perform(record, &scalar, all) {
            if kind == OpKind::SetFlag {
                self.set_free(record, all);
            }
        } else if pipe == S {
            self.halted = Some(self.hold(record));
        } else {
            let held = self.hold(record);
            self.held[pipe].push_back(held);
        }
    }

    fn hold(&self, record: &Record<'_>) -> Held {
        Held::new(record, self.records, self.ordering.scalar())
    }

    /// Whoever stood at a flag that has been set goes on, which may set others.
    fn set_free(&mut self, set: &Record<'_>, all: &mut Shared) {
        let mut pipes = vec![slot_destination(slot_of(set))];
        while let Some(pipe) = pipes.pop() {
            while let Some(held) = self.held[pipe].pop_front() {
                let record = held.record();
                if !self.perform(&record, &held.scalar, all) {
                    self.held[pipe].push_front(held);
                    break;
                }
                if self.kind(&record) == OpKind::SetFlag {
                    pipes.push(slot_destination(slot_of(&record)));
                }
            }
        }
    }

    /// False for a wait whose flag is not set.
    fn perform(&mut self, record: &Record<'_>, scalar: &Clock, all: &mut Shared) -> bool {
        let [aux0, aux1, _] = record.aux;
        let kind = self.kind(record);
        match kind {
            OpKind::SetFlag => {
                let slot = slot_of(record);
                if !self.ordering.set_flag(slot, scalar) {
                    let earlier = self.set_sites.get(&slot).copied().unwrap_or(0);
                    let what = (HazardKind::FlagMisuse, Severity::Error);
                    let message = || format!("flag {} is set again before anything waited for it", flag_name(slot));
                    // One statement in a loop that no wait belongs to is where to look first. Of two statements either may be the wrong
                    // one, and what they let through says more.
                    if earlier == record.site {
                        all.findings.add_cause(what, (record.site, earlier), self.core, message);
                    } else {
                        all.findings.add(what, (record.site, earlier), self.core, message);
                    }
                }
                self.set_sites.insert(slot, record.site);
            }
            OpKind::WaitFlag => return self.ordering.wait_flag(slot_of(record)),
            OpKind::Barrier if record.pipe == NO_PIPE => self.ordering.barrier_all(),
            OpKind::Barrier => self.ordering.barrier(usize::from(record.pipe)),
            OpKind::SyncAll | OpKind::WaitCross => {}
            OpKind::SetCross => {
                let pipe = pipe_of(kind, record);
                let payload = Rc::new(self.known.with(self.core, self.ordering.released_by(pipe)));
                all.set_sites.insert(aux0, record.site);
                all.cross.set(self.index, aux0, aux1, payload, |a, b| Rc::new(Rc::unwrap_or_clone(a).joined(&b)));
                self.epoch += 1;
            }
            OpKind::Fault => self.fault(record, all),
            OpKind::Note => {
                self.polls |= record.message().starts_with(POLLS);
                all.polls |= self.polls;
            }
            OpKind::Buffer => {
                let [what, from, len] = record.aux;
                let space = Space::of(u8::try_from(record.repeat).unwrap_or_default());
                self.buffers.record(what, space, from.into(), len.into(), record.site);
            }
            OpKind::EndOfBlock => {}
            OpKind::CleanCache => {
                let now = (self.ordering.issue(S, scalar).index, self.epoch);
                let address = u64::from(aux1) | u64::from(record.aux[2]) << 32;
                self.cache.clean(self.core, (aux0 == 0).then_some(address), now, &mut all.caches);
            }
            OpKind::Scalar | OpKind::Copy | OpKind::Compute | OpKind::Register => {
                self.access(record, pipe_of(kind, record), scalar, all);
            }
        }
        true
    }

    /// Bytes of a buffer that FreeTensor has given back, in the order of the program: the queue may hand them out again.
    fn used_after_free(&self, record: &Record<'_>, all: &mut Shared) {
        if self.buffers.none_freed() {
            return;
        }
        let kind = self.kind(record);
        if !matches!(kind, OpKind::Scalar | OpKind::Copy | OpKind::Compute | OpKind::Register) {
            return;
        }
        for operand in record.operands() {
            let Some((byte, freed)) = self.buffers.freed(&operand) else { continue };
            // Whoever runs over the end of a buffer of its own meets its neighbour by accident.
            if self.buffers.overrun(&operand).is_some_and(|overrun| overrun.into_another) {
                continue;
            }
            let opcode = &self.launch.opcodes[usize::from(record.opcode)].name;
            let verb = if operand.writes { "writes to" } else { "reads" };
            let what = (HazardKind::QueueMisuse, Severity::Error);
            all.findings.add_cause(what, (record.site, freed), self.core, || {
                format!(
                    "{opcode} {verb} a tensor of a queue, at {byte:#x} of {}, after FreeTensor has given it back; FreeTensor belongs behind its last use",
                    operand.space.name()
                )
            });
        }
    }

    /// Accesses that begin in a buffer and end behind it. What the vector unit reads there may be of lanes that nobody uses; what a
    /// copy reads goes somewhere.
    fn overrun(&mut self, record: &Record<'_>, all: &mut Shared) {
        // Accesses of the scalar unit that follow each other are one record, also where the last of one buffer and the first of
        // the next are neighbours. None of them is longer than an element.
        if self.buffers.are_none() || self.kind(record) == OpKind::Scalar {
            return;
        }
        for operand in record.operands().filter(|operand| operand.space != Space::Gm) {
            let Some(Overrun { at, made, into_another }) = self.buffers.overrun(&operand) else { continue };
            self.overran.insert(record.site, made);
            let opcode = &self.launch.opcodes[usize::from(record.opcode)].name;
            let verb = if operand.writes { "writes" } else { "reads" };
            let may_not_matter = !operand.writes && usize::from(record.pipe) == V;
            let severity = if may_not_matter { Severity::Warning } else { Severity::Error };
            let what = (HazardKind::OutOfBoundsUb, severity);
            all.findings.add_cause(what, (record.site, made), self.core, || {
                format!(
                    "{opcode} {verb} past the end of the buffer that it begins in, at {at:#x} of {}, where {} buffer lies",
                    operand.space.name(),
                    if into_another { "another" } else { "no" }
                )
            });
        }
    }

    fn fault(&self, record: &Record<'_>, all: &mut Shared) {
        let kind = match record.aux[0] {
            1 | 15 => HazardKind::OutOfBoundsGm,
            2 => HazardKind::OutOfBoundsUb,
            3 | 18 => HazardKind::Misaligned,
            4 => HazardKind::UbOverflow,
            5 | 16 => HazardKind::QueueMisuse,
            6 => HazardKind::RepeatOverflow,
            7 => HazardKind::Deadlock,
            9 => HazardKind::OperandOverlap,
            10 | 13 => HazardKind::FlagMisuse,
            11 => HazardKind::BadArgument,
            14 => HazardKind::OutOfBoundsOnChip,
            17 => HazardKind::WriteInPadding,
            19 => HazardKind::DivisionByZero,
            _ => HazardKind::Unsupported,
        };
        let message = || record.message().into_owned();
        // 15 reads behind a tensor what its allocation still has: nothing breaks, and a result that depends on it differs
        // between the two runs of the verifier. 17 writes there. 18 is a scalar access of which no public source says what
        // the scalar unit makes of it. 16 is a tensor that no queue gets back while nobody waits for it.
        let severity = if matches!(record.aux[0], 15..=18) { Severity::Warning } else { Severity::Error };
        let causes = [
            HazardKind::FlagMisuse,
            HazardKind::QueueMisuse,
            HazardKind::UbOverflow,
            HazardKind::BadArgument,
            HazardKind::DivisionByZero,
        ];
        // A tensor that ends behind its buffer was a mistake before anything was done to it.
        let is_of_a_tensor = kind == HazardKind::OutOfBoundsUb && record.message().starts_with("TBuf");
        if causes.contains(&kind) || is_of_a_tensor {
            all.findings.add_cause((kind, severity), (record.site, 0), self.core, message);
        } else if kind == HazardKind::OutOfBoundsGm {
            all.findings.add_reaching((kind, severity), record.site, self.core, message());
        } else {
            all.findings.add((kind, severity), (record.site, 0), self.core, message);
        }
    }

    fn access(&mut self, record: &Record<'_>, pipe: usize, scalar: &Clock, all: &mut Shared) {
        // What touches nothing has no order to keep: mask registers and the like, of which there are many.
        if record.operand_bytes().is_empty() {
            return;
        }
        self.lone_operand = record.operands().nth(1).is_none();
        let at = self.ordering.issue(pipe, scalar);
        let combine = Combine::of(record.flags);
        let plain = record.flags & FLAG_PLAIN != 0;
        let unit = record.has_unit_flag();
        // A scalar record holds reads and writes of which the order is not known: writes first means that reading back
        // what was just written counts as initialised. An instruction reads before it writes.
        let order = if pipe == S { [true, false] } else { [false, true] };
        if pipe == S {
            for operand in record.operands().filter(|operand| operand.preloaded) {
                self.preload(&operand, at, record.site);
            }
        }
        for writes in order {
            for operand in record.operands() {
                // Accumulators are read before they are written, in L0C and by the vector unit; elsewhere the write says all that matters.
                let accumulates = operand.space == Space::L0c || (pipe == V && operand.space == Space::Ub);
                let reads = operand.reads && (!operand.writes || accumulates);
                let applies = if writes { operand.writes } else { reads };
                if applies {
                    let (site, opcode, space) = (record.site, record.opcode, operand.space);
                    self.operand(&operand, &Access { at, site, combine, plain, unit, space, opcode, writes }, all);
                }
            }
        }
    }

    fn operand(&mut self, operand: &Operand, access: &Access, all: &mut Shared) {
        if operand.space == Space::Gm {
            self.global(operand, access, all);
            self.cached(operand, access, all);
            if !self.written_regions.contains(&(operand.addr >> 40)) {
                return;
            }
        }
        if self.accesses.touch(operand, access, &mut self.ordering) {
            return;
        }
        let found = self.accesses.found();
        for conflict in &found.conflicts {
            self.race(conflict, access, all);
        }
        for (first, bytes) in &found.unwritten {
            self.unwritten(*first, *bytes, access, all);
        }
    }

    /// What other cores may have to do with.
    fn global(&self, operand: &Operand, access: &Access, all: &mut Shared) {
        if access.writes && self.input_regions.contains(&(operand.addr >> 40)) {
            let what = (HazardKind::InputOverwritten, Severity::Warning);
            all.findings.add(what, (access.site, 0), self.core, || {
                let opcode = &self.launch.opcodes[usize::from(access.opcode)].name;
                format!("{opcode} writes to an input, whose values the caller may still need")
            });
        }
        // The scalar unit's own instruction for it.
        let adds = !access.combine.is_atomic() && operand.reads && operand.writes;
        let access = GmAccess {
            from: operand.addr,
            to: operand.addr,
            core: self.core,
            pipe: access.at.pipe,
            last: access.at.index,
            known: Rc::clone(&self.known),
            epoch: self.epoch,
            write: access.writes,
            combine: if adds { Combine::Added } else { access.combine },
            uncached: operand.uncached,
            site: access.site,
        };
        all.log.push(operand, access);
    }

    /// Lines that the data cache fetches before anybody asks for them.
    fn preload(&mut self, operand: &Operand, at: Instant, site: u64) {
        if !self.constant_regions.contains(&(operand.addr >> 40)) {
            let now = Moment { index: at.index, known: Rc::clone(&self.known), epoch: self.epoch, site };
            self.cache.preload(operand, &now);
        }
    }

    /// The data cache between scalar unit and global memory.
    fn cached(&mut self, operand: &Operand, access: &Access, all: &mut Shared) {
        if operand.uncached || self.constant_regions.contains(&(operand.addr >> 40)) {
            return;
        }
        let now =
            || Moment { index: access.at.index, known: Rc::clone(&self.known), epoch: self.epoch, site: access.site };
        let scalar = usize::from(access.at.pipe) == S;
        let (found, message) = match (scalar, access.writes) {
            (true, true) => {
                self.cache.write(operand, &now());
                return;
            }
            (false, true) => match self.cache.overwrite(operand, access.site) {
                Some((other, Met::Bytes)) => (
                    Some(other),
                    "bytes are written to global memory that the scalar unit has written before and still keeps in its data \
                     cache: whenever that line is written back, they are lost; DataCacheCleanAndInvalid belongs between the two",
                ),
                Some((other, Met::Line)) => {
                    let what = (HazardKind::StaleCacheLine, Severity::Warning);
                    all.findings.add(what, (access.site, other), self.core, || {
                        "bytes are written to a line of global memory that the scalar unit has written to and still keeps in \
                         its data cache; DataCacheCleanAndInvalid belongs between the two"
                            .to_owned()
                    });
                    return;
                }
                None => return,
            },
            (true, false) => (
                self.cache.read(self.core, operand, &now(), &mut all.caches),
                "the scalar unit reads a line that its data cache fetched before these bytes were written; \
                 DataCacheCleanAndInvalid belongs in front of the read",
            ),
            (false, false) => (
                self.cache.unsaved(operand),
                "bytes are copied from global memory that the scalar unit has written and still keeps in its data cache; \
                 DataCacheCleanAndInvalid belongs between the two",
            ),
        };
        if let Some(other) = found {
            let severity = if self.polls { Severity::Warning } else { Severity::Error };
            all.findings
                .add((HazardKind::StaleCacheLine, severity), (access.site, other), self.core, || message.to_owned());
        }
    }

    fn unwritten(&self, first: u64, bytes: u64, access: &Access, all: &mut Shared) {
        let pipe = usize::from(access.at.pipe);
        // Whole fractals are loaded and multiplied whatever their last rows and columns hold. A plain read may be of a value
        // that nobody uses, which a device's compiler leaves out.
        let opcode = &self.launch.opcodes[usize::from(access.opcode)].name;
        // Of a gather that could not be carried out there are the offsets alone: addresses, and no lanes that nobody uses.
        let is_address = self.lone_operand && opcode.starts_with("vgather");
        // Accumulators that leave the core are results.
        let is_result = access.space == Space::L0c && opcode == "copy_matrix_cc_to_gm";
        let may_not_matter = (pipe == V && !is_address) || (access.space != Space::Ub && !is_result) || access.plain;
        let severity = if may_not_matter { Severity::Warning } else { Severity::Error };
        let message = || {
            format!(
                "{opcode} on {} reads {bytes} bytes of {} from {first:#x} that nothing has written",
                pipe_name(pipe),
                access.space.name()
            )
        };
        let what = (HazardKind::UninitialisedRead, severity);
        if is_address {
            all.findings.add_cause(what, (access.site, 0), self.core, message);
        } else {
            all.findings.add(what, (access.site, 0), self.core, message);
        }
    }

    fn race(&self, conflict: &Conflict, access: &Access, all: &mut Shared) {
        // Whoever runs over the end of a buffer meets its neighbour without an order: no flag would mend it.
        let ends = [conflict.earlier.site, access.site];
        if let Some((site, made)) = ends.into_iter().find_map(|site| self.overran.get_key_value(&site)) {
            all.findings.add_cause((HazardKind::OutOfBoundsUb, Severity::Error), (*site, *made), self.core, || {
                format!(
                    "an access past the end of the buffer that it begins in meets others of {} there",
                    access.space.name()
                )
            });
            return;
        }
        let earlier = usize::from(conflict.earlier.at.pipe);
        let later = usize::from(access.at.pipe);
        let verb = |writes: bool| if writes { "writes" } else { "reads" };
        let memory = access.space.name();
        let upper = |pipe: usize| pipe_name(pipe).to_uppercase();
        let (earlier_verb, later_verb) = (verb(conflict.earlier.writes), verb(access.writes));
        let remedy = if earlier == later {
            format!("PipeBarrier<PIPE_{}>", upper(earlier))
        } else {
            format!("flag {}_{}", upper(earlier), upper(later))
        };
        let opcode = &self.launch.opcodes[usize::from(access.opcode)].name;
        let sites = (access.site, conflict.earlier.site);
        let by_message = self.polls && access.space == Space::Gm && earlier != later;
        let severity = if by_message { Severity::Warning } else { Severity::Error };
        all.findings.add((HazardKind::Race, severity), sites, self.core, || {
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

/// Regions that nobody writes while the kernel runs.
fn constant_regions(launch: &Launch<'_>) -> Vec<u64> {
    let written = |region: &u64| launch.cores.values().any(|core| core.written_regions.contains(region));
    regions_of(launch, |role| matches!(role, Role::Input | Role::Tiling)).filter(|region| !written(region)).collect()
}

/// Numbers of the regions with such a role.
fn regions_of(launch: &Launch<'_>, is: impl Fn(Role) -> bool) -> impl Iterator<Item = u64> {
    launch.regions.iter().filter(move |region| is(region.role)).map(|region| region.base >> 40)
}

fn slot_of(record: &Record<'_>) -> u16 {
    let [id, source, destination] = record.aux;
    flag_slot(source, destination, id)
}

/// The unit that executes a record.
fn pipe_of(kind: OpKind, record: &Record<'_>) -> usize {
    let named = usize::from(record.pipe);
    match kind {
        OpKind::SetFlag => slot_source(slot_of(record)),
        OpKind::WaitFlag => slot_destination(slot_of(record)),
        OpKind::Barrier | OpKind::SetCross if record.pipe != NO_PIPE => named,
        // A register may be loaded from the unified buffer (compare mask); one without operands touches nothing.
        OpKind::Copy | OpKind::Compute | OpKind::Register => {
            if record.pipe == NO_PIPE {
                V
            } else {
                named
            }
        }
        _ => S,
    }
}
