//! The last accesses to every byte of one core's memories, and what a new one finds unordered there.
//!
//! On-chip memories are kept by classes of bytes, or row by row, which says the same and takes longer; global memory, whose
//! addresses hardly come back, always row by row.

use super::byte_classes::ByteClasses;
use super::operand::{Operand, Space};
use super::ordering::{Instant, Ordering};
use super::record::{Combine, PIPE_COUNT, S};
use super::segments::SegmentMap;

/// One instruction's way of touching an operand.
#[derive(Clone, Copy)]
pub(crate) struct Access {
    pub(crate) at: Instant,
    pub(crate) site: u64,
    pub(crate) combine: Combine,
    /// A scalar access that the compiler announced.
    pub(crate) plain: bool,
    /// Uses the unit flag.
    pub(crate) unit: bool,
    pub(crate) space: Space,
    pub(crate) opcode: u16,
    pub(crate) writes: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Write {
    at: Instant,
    site: u64,
    combine: Combine,
    unit: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Read {
    site: u64,
    index: u32,
    unit: bool,
}

/// Last accesses of some bytes: the write, and the reads since by pipe.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct State {
    write: Option<Write>,
    reads: [Read; PIPE_COUNT],
    /// One bit for each pipe that has read.
    readers: u8,
}

/// An earlier access that has no order with a new one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Earlier {
    pub(crate) at: Instant,
    pub(crate) writes: bool,
    pub(crate) site: u64,
}

/// Bytes of one piece of an operand on which two accesses have no order: the first that are met.
#[derive(Clone, Copy)]
pub(crate) struct Conflict {
    pub(crate) earlier: Earlier,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl Conflict {
    /// The first conflict of a piece, the bytes behind it with the same added.
    fn note(first: &mut Option<Self>, earlier: Earlier, from: u64, to: u64) {
        match first {
            None => *first = Some(Self { earlier, from, to }),
            Some(conflict) if conflict.earlier == earlier && conflict.to == from => conflict.to = to,
            Some(_) => {}
        }
    }
}

/// What is wrong with an access, by pieces.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) conflicts: Vec<Conflict>,
    /// First byte and number of bytes that were read and never written.
    pub(crate) unwritten: Vec<(u64, u64)>,
    /// What the compiler makes the scalar unit wait for.
    waits: Vec<Instant>,
}

impl State {
    /// Tells of accesses that have no order with a new one.
    #[inline]
    fn unordered(&self, access: &Access, ordering: &Ordering, mut tell: impl FnMut(Earlier)) {
        let pipe = usize::from(access.at.pipe);
        let mut check = |at: Instant, writes: bool, site: u64, unit: bool| {
            let by_unit_flag = access.space == Space::L0c && access.unit && unit;
            if !by_unit_flag && !ordering.ordered(at, pipe) {
                tell(Earlier { at, writes, site });
            }
        };
        if let Some(write) = &self.write
            && !write.combine.commutes_with(access.combine)
        {
            check(write.at, true, write.site, write.unit);
        }
        if access.writes {
            // The value that the scalar unit has read is in a register when it issues anything.
            let mut others = self.readers & !(1 << pipe) & !(1 << S);
            while others != 0 {
                let reader = others.trailing_zeros() as u8;
                others &= others - 1;
                let read = self.reads[usize::from(reader)];
                check(Instant { pipe: reader, index: read.index }, false, read.site, read.unit);
            }
        }
    }

    #[inline]
    fn note(&mut self, access: &Access) {
        if access.writes {
            let write = Write { at: access.at, site: access.site, combine: access.combine, unit: access.unit };
            if self.readers != 0 {
                self.reads = [Read::default(); PIPE_COUNT];
                self.readers = 0;
            }
            self.write = Some(write);
        } else {
            let pipe = usize::from(access.at.pipe);
            self.reads[pipe] = Read { site: access.site, index: access.at.index, unit: access.unit };
            self.readers |= 1 << pipe;
        }
    }
}

/// All memories of one core.
pub(crate) struct Accesses {
    /// Where classes are not used.
    rows: [SegmentMap<State>; Space::COUNT],
    classes: Option<[ByteClasses<State>; Space::COUNT]>,
    found: Found,
}

impl Accesses {
    pub(crate) fn new(by_classes: bool) -> Self {
        Self { rows: Default::default(), classes: by_classes.then(Default::default), found: Found::default() }
    }

    /// An operand is touched; false if something is wrong with that. The scalar unit waits for what it meets.
    pub(crate) fn touch(&mut self, operand: &Operand, access: &Access, ordering: &mut Ordering) -> bool {
        self.found.conflicts.clear();
        self.found.unwritten.clear();
        match &mut self.classes {
            Some(classes) if access.space != Space::Gm => {
                by_classes(&mut classes[access.space as usize], operand, access, ordering, &mut self.found);
            }
            _ => {
                for (from, len) in operand.pieces() {
                    let map = &mut self.rows[access.space as usize];
                    by_rows(map, (from, from.saturating_add(len)), access, ordering, &mut self.found);
                }
            }
        }
        self.found.conflicts.is_empty() && self.found.unwritten.is_empty()
    }

    /// What was wrong with the last operand.
    pub(crate) fn found(&self) -> &Found {
        &self.found
    }
}

fn by_classes(
    classes: &mut ByteClasses<State>,
    operand: &Operand,
    access: &Access,
    ordering: &mut Ordering,
    found: &mut Found,
) {
    let pipe = usize::from(access.at.pipe);
    let handle = classes.find(operand);
    let folded = access.writes && classes.is_folded(handle);
    // A piece that writes what the one before has written needs an order between them.
    let mut clean = !folded || ordering.keeps_own_order(pipe);
    if clean {
        classes.visit(handle, |state| {
            state.unordered(access, ordering, |earlier| {
                if pipe == S && ordering.scalar_waits() {
                    found.waits.push(earlier.at);
                } else {
                    clean = false;
                }
            });
            clean &= access.writes || state.write.is_some();
        });
    }
    if clean {
        classes.visit(handle, |state| state.note(access));
    } else if folded {
        for (from, len) in operand.pieces() {
            let len = u32::try_from(len).unwrap_or(u32::MAX);
            let piece = Operand { addr: from, len, count0: 1, count1: 1, stride0: 0, stride1: 0, ..*operand };
            by_classes(classes, &piece, access, ordering, found);
        }
    } else {
        for (from, len) in operand.pieces() {
            let (mut conflict, mut unwritten) = (None, None);
            classes.walk(from, from.saturating_add(len), |start, end, state| {
                look(state, (start, end), access, ordering, (&mut conflict, &mut unwritten), &mut Vec::new());
            });
            found.conflicts.extend(conflict);
            found.unwritten.extend(unwritten);
        }
        classes.visit(handle, |state| state.note(access));
    }
    wait(found, ordering);
}

fn by_rows(
    map: &mut SegmentMap<State>,
    (from, to): (u64, u64),
    access: &Access,
    ordering: &mut Ordering,
    found: &mut Found,
) {
    let (mut conflict, mut unwritten) = (None, None);
    map.visit(from, to, |start, end, state| {
        look(state, (start, end), access, ordering, (&mut conflict, &mut unwritten), &mut found.waits);
        if !access.writes {
            state.note(access);
        }
    });
    if access.writes {
        let mut state = State::default();
        state.note(access);
        map.replace(from, to, state);
    }
    found.conflicts.extend(conflict);
    found.unwritten.extend(unwritten);
    wait(found, ordering);
}

/// What an access meets on bytes of one state.
fn look(
    state: &State,
    (from, to): (u64, u64),
    access: &Access,
    ordering: &Ordering,
    (conflict, unwritten): (&mut Option<Conflict>, &mut Option<(u64, u64)>),
    waits: &mut Vec<Instant>,
) {
    let mut first = true;
    state.unordered(access, ordering, |earlier| {
        if usize::from(access.at.pipe) == S && ordering.scalar_waits() {
            waits.push(earlier.at);
        } else if std::mem::take(&mut first) {
            Conflict::note(conflict, earlier, from, to);
        }
    });
    if state.write.is_none() && !access.writes && access.space != Space::Gm {
        let (start, bytes) = unwritten.unwrap_or((from, 0));
        *unwritten = Some((start.min(from), bytes + (to - from)));
    }
}

fn wait(found: &mut Found, ordering: &mut Ordering) {
    for earlier in found.waits.drain(..) {
        ordering.scalar_waits_for(earlier);
    }
}
