//! Buffers of queues: where one ends and the next begins, and which bytes have been given back and not been handed out again.

use super::operand::{Operand, Space};

/// What a `buffer` record says; its first number.
pub(crate) const BUFFER_CUT: u32 = 0;
const TAKEN: u32 = 1;
const FREED: u32 = 2;
const FORGOTTEN: u32 = 3;
/// The pipe is a member of the operator's object.
pub(crate) const PIPE_IN_OBJECT: u32 = 4;

#[derive(Clone, Copy)]
struct Stretch {
    space: Space,
    from: u64,
    to: u64,
    /// Where it was made or given back.
    site: u64,
}

impl Stretch {
    fn overlaps(&self, space: Space, from: u64, to: u64) -> bool {
        self.space == space && self.from < to && from < self.to
    }
}

/// An operand that goes on behind the buffer that it begins in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overrun {
    /// The first byte of it.
    pub(crate) at: u64,
    /// Where the buffer was made.
    pub(crate) made: u64,
    /// Another buffer lies there, rather than none.
    pub(crate) into_another: bool,
}

/// Stretches of on-chip memory of one core. There are as many as its queues have buffers.
#[derive(Default)]
pub(crate) struct Buffers {
    /// In the order of addresses.
    cut: Vec<Stretch>,
    /// Bytes that lie in more than one buffer, so that giving back one says nothing of them.
    shared: Vec<Stretch>,
    freed: Vec<Stretch>,
}

impl Buffers {
    /// A `buffer` record: what happened, and to which bytes.
    pub(crate) fn record(&mut self, what: u32, space: Space, from: u64, len: u64, site: u64) {
        let stretch = Stretch { space, from, to: from.saturating_add(len), site };
        let same = |other: &Stretch| other.overlaps(space, stretch.from, stretch.to);
        match what {
            BUFFER_CUT => {
                if self.cut.iter().any(same) {
                    self.shared.push(stretch);
                    self.freed.retain(|freed| !same(freed));
                } else {
                    let after = |other: &Stretch| (other.space, other.from) < (space, from);
                    let place = self.cut.partition_point(after);
                    self.cut.insert(place, stretch);
                }
            }
            TAKEN => self.freed.retain(|freed| !same(freed)),
            FREED if !self.shared.iter().any(same) => self.freed.push(stretch),
            FORGOTTEN => *self = Self::default(),
            _ => {}
        }
    }

    /// The first byte past the end of the buffer in which an operand begins. Nobody cuts two buffers to use them as one.
    pub(crate) fn overrun(&self, operand: &Operand) -> Option<Overrun> {
        let (low, high) = operand.extent();
        let place = self.cut.partition_point(|cut| (cut.space, cut.from) <= (operand.space, low)).checked_sub(1)?;
        let own = &self.cut[place];
        if high <= own.to || !own.overlaps(operand.space, low, low + 1) {
            return None;
        }
        let over_another = |cut: &Stretch| self.shared.iter().any(|other| other.overlaps(cut.space, cut.from, cut.to));
        if over_another(own) {
            return None;
        }
        let others = || self.cut[place + 1..].iter().take_while(|next| next.overlaps(operand.space, low, high));
        let reached = others().filter(|next| !over_another(next)).find_map(|next| {
            let mut pieces = operand.pieces().filter(|(at, len)| next.overlaps(operand.space, *at, at + len));
            pieces.next().map(|(at, _)| at.max(next.from))
        });
        let overrun = |at, into_another| Overrun { at, made: own.site, into_another };
        if let Some(at) = reached {
            return Some(overrun(at, true));
        }
        // Where nothing was cut, as behind the last one.
        let is_free = |from: u64, to: u64| !others().any(|next| next.overlaps(operand.space, from, to));
        let mut beyond = operand.pieces().map(|(at, len)| (at.max(own.to), at + len)).filter(|(from, to)| from < to);
        beyond.find(|(from, to)| is_free(*from, *to)).map(|(from, _)| overrun(from, false))
    }

    /// Whether there is none.
    pub(crate) fn are_none(&self) -> bool {
        self.cut.is_empty()
    }

    /// Whether every buffer is in use.
    pub(crate) fn none_freed(&self) -> bool {
        self.freed.is_empty()
    }

    /// The first byte that an operand touches of a buffer that was given back, and where it was.
    pub(crate) fn freed(&self, operand: &Operand) -> Option<(u64, u64)> {
        if operand.space == Space::Gm {
            return None;
        }
        let (low, high) = operand.extent();
        let touched = self.freed.iter().filter(|freed| freed.overlaps(operand.space, low, high));
        touched
            .filter_map(|freed| {
                let piece = operand.pieces().find(|(at, len)| freed.overlaps(operand.space, *at, at + len));
                piece.map(|(at, _)| (at.max(freed.from), freed.site))
            })
            .next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operand(addr: u64, len: u32, count: u32, stride: i64) -> Operand {
        Operand::rows(Space::Ub, addr, len, count, stride)
    }

    #[test]
    fn bytes_are_free_until_they_are_handed_out_again() {
        let mut buffers = Buffers::default();
        let read = operand(100, 8, 1, 0);
        buffers.record(BUFFER_CUT, Space::Ub, 64, 64, 1);
        buffers.record(TAKEN, Space::Ub, 64, 64, 2);
        assert_eq!(buffers.freed(&read), None);
        buffers.record(FREED, Space::Ub, 64, 64, 3);
        assert_eq!(buffers.freed(&read), Some((100, 3)));
        assert_eq!(buffers.freed(&operand(0, 32, 3, 128)), None, "rows on both sides of it");
        assert_eq!(buffers.freed(&operand(32, 64, 1, 0)), Some((64, 3)));
        buffers.record(TAKEN, Space::Ub, 64, 64, 4);
        assert_eq!(buffers.freed(&read), None);
    }

    #[test]
    fn what_begins_in_a_buffer_does_not_reach_the_next() {
        let mut buffers = Buffers::default();
        buffers.record(BUFFER_CUT, Space::Ub, 128, 64, 2);
        buffers.record(BUFFER_CUT, Space::Ub, 64, 64, 1);
        assert_eq!(buffers.overrun(&operand(64, 64, 1, 0)), None);
        let reaches = |at, made, into_another| Some(Overrun { at, made, into_another });
        assert_eq!(buffers.overrun(&operand(96, 64, 1, 0)), reaches(128, 1, true));
        assert_eq!(buffers.overrun(&operand(64, 8, 3, 40)), reaches(144, 1, true));
        assert_eq!(
            buffers.overrun(&operand(160, 64, 1, 0)),
            reaches(192, 2, false),
            "nothing lies behind the last one"
        );
        assert_eq!(buffers.overrun(&operand(64, 8, 2, 192)), reaches(256, 1, false), "beyond both");
        assert_eq!(buffers.overrun(&operand(192, 64, 1, 0)), None, "nobody's memory");
        assert_eq!(buffers.overrun(&operand(0, 96, 1, 0)), None, "an address of the kernel's own");
        buffers.record(BUFFER_CUT, Space::Ub, 64, 128, 3);
        assert_eq!(buffers.overrun(&operand(96, 64, 1, 0)), None, "one that holds both");
    }

    #[test]
    fn buffers_over_one_another_are_left_alone() {
        let mut buffers = Buffers::default();
        buffers.record(BUFFER_CUT, Space::Ub, 0, 64, 1);
        buffers.record(BUFFER_CUT, Space::Ub, 32, 64, 2);
        buffers.record(FREED, Space::Ub, 0, 64, 3);
        assert_eq!(buffers.freed(&operand(40, 8, 1, 0)), None);
        buffers.record(FORGOTTEN, Space::Ub, 0, 0, 4);
        buffers.record(BUFFER_CUT, Space::Ub, 0, 64, 5);
        buffers.record(FREED, Space::Ub, 0, 64, 6);
        assert_eq!(buffers.freed(&operand(40, 8, 1, 0)), Some((40, 6)));
    }
}
