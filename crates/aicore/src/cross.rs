//! Flags and barriers between cores, as the hardware delivers them: a set reaches its receivers once every member of
//! the setting side has made it, and each receiver counts what it got.
//!
//! The timing model and the hazard search follow the same rules with different payloads: points in time, or clocks.

use std::collections::{BTreeMap, VecDeque};

use super::kernel_type::{CoreName, Unit};

/// What a core waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Awaited {
    /// A cross-core flag.
    Flag(u32),
    /// SyncAll of its own kind of cores.
    OwnKind,
    /// SyncAll of all cores.
    Everybody,
}

/// Who takes part in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Everybody,
    Kind(Unit),
    Group(Unit, u32),
}

type Delivery = (Side, Side, Awaited);

/// Sets on their way and delivered ones.
pub(crate) struct CrossFlags<T> {
    names: Vec<CoreName>,
    members: BTreeMap<Side, Vec<usize>>,
    made: BTreeMap<Delivery, Vec<VecDeque<T>>>,
    delivered: BTreeMap<(usize, Awaited), VecDeque<T>>,
    /// Flags in global memory, for the next core that passes them.
    passed: BTreeMap<u32, T>,
}

/// The mode of a set that the next core to wait gets, whichever it is.
const TO_WHOEVER_PASSES: u32 = 3;

impl<T: Clone> CrossFlags<T> {
    /// For cores by index.
    pub(crate) fn new(names: Vec<CoreName>) -> Self {
        let mut members: BTreeMap<Side, Vec<usize>> = BTreeMap::new();
        for (index, name) in names.iter().enumerate() {
            for side in [Side::Everybody, Side::Kind(name.unit), Side::Group(name.unit, name.group)] {
                members.entry(side).or_default().push(index);
            }
        }
        Self { names, members, made: BTreeMap::new(), delivered: BTreeMap::new(), passed: BTreeMap::new() }
    }

    /// `set_cross_flag`. Modes: 0 all cores of the kind, 1 the vector cores of the group, 2 the cube core to its vector
    /// cores or these to it, 3 whoever waits next. Returns the cores that may have got something.
    pub(crate) fn set(&mut self, from: usize, id: u32, mode: u32, payload: T, join: impl Fn(T, T) -> T) -> Vec<usize> {
        if mode == TO_WHOEVER_PASSES {
            self.passed.insert(id, payload);
            return (0..self.names.len()).collect();
        }
        let CoreName { unit, group } = self.names[from];
        let other = if unit == Unit::Cube { Unit::Vector } else { Unit::Cube };
        let (senders, receivers) = match mode {
            0 => (Side::Kind(unit), Side::Kind(unit)),
            1 => (Side::Group(unit, group), Side::Group(unit, group)),
            _ => (Side::Group(unit, group), Side::Group(other, group)),
        };
        self.make((senders, receivers, Awaited::Flag(id)), from, payload, join)
    }

    /// A core reaches its next SyncAll. Returns the cores that may go on.
    pub(crate) fn arrive(&mut self, core: usize, everybody: bool, payload: T, join: impl Fn(T, T) -> T) -> Vec<usize> {
        let (side, awaited) = if everybody {
            (Side::Everybody, Awaited::Everybody)
        } else {
            (Side::Kind(self.names[core].unit), Awaited::OwnKind)
        };
        self.make((side, side, awaited), core, payload, join)
    }

    fn make(&mut self, delivery: Delivery, from: usize, payload: T, join: impl Fn(T, T) -> T) -> Vec<usize> {
        let none = Vec::new();
        let senders = self.members.get(&delivery.0).unwrap_or(&none);
        let receivers = self.members.get(&delivery.1).unwrap_or(&none);
        let queues = self.made.entry(delivery).or_insert_with(|| vec![VecDeque::new(); senders.len()]);
        if let Some(position) = senders.iter().position(|sender| *sender == from) {
            queues[position].push_back(payload);
        }
        if queues.iter().any(VecDeque::is_empty) {
            return Vec::new();
        }
        let Some(joined) = queues.iter_mut().filter_map(VecDeque::pop_front).reduce(join) else { return Vec::new() };
        for receiver in receivers {
            self.delivered.entry((*receiver, delivery.2)).or_default().push_back(joined.clone());
        }
        receivers.clone()
    }

    /// What a waiting core gets, if it has been delivered.
    pub(crate) fn take(&mut self, core: usize, awaited: Awaited) -> Option<T> {
        if let Awaited::Flag(id) = awaited
            && let Some(passed) = self.passed.remove(&id)
        {
            return Some(passed);
        }
        self.delivered.get_mut(&(core, awaited))?.pop_front()
    }

    /// Flags that were delivered and never waited for: core and id.
    pub(crate) fn left(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.delivered.iter().filter(|(_, queue)| !queue.is_empty()).filter_map(|((core, awaited), _)| match awaited {
            Awaited::Flag(id) => Some((*core, *id)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_passes_a_flag_comes_after_who_passed_it_before() {
        let name = |group| CoreName { unit: Unit::Vector, group };
        let mut flags = CrossFlags::new(vec![name(0), name(1), name(2)]);
        assert_eq!(flags.take(2, Awaited::Flag(16)), None);
        assert_eq!(flags.set(0, 16, 3, 1.0, f64::max), [0, 1, 2], "any of them may wait for it");
        assert_eq!(flags.take(2, Awaited::Flag(16)), Some(1.0));
        assert_eq!(flags.take(1, Awaited::Flag(16)), None, "only one gets past");
        assert_eq!(flags.set(2, 16, 3, 2.0, f64::max), [0, 1, 2]);
        assert_eq!(flags.left().count(), 0, "nobody has to pass it once more");
    }

    #[test]
    fn a_set_arrives_when_the_last_member_has_made_it() {
        let name = |unit, group| CoreName { unit, group };
        let group = |group| [name(Unit::Cube, group), name(Unit::Vector, group), name(Unit::Vector, group)];
        let mut flags = CrossFlags::new([group(0), group(1)].concat());
        assert_eq!(flags.set(0, 3, 2, 1.0, f64::max), [1, 2], "a cube core reaches both vector cores of its group");
        assert_eq!(flags.take(1, Awaited::Flag(3)), Some(1.0));
        assert_eq!(flags.take(4, Awaited::Flag(3)), None);
        assert_eq!(flags.set(1, 4, 2, 2.0, f64::max), [0; 0], "one vector core alone is not enough");
        assert_eq!(flags.set(1, 4, 2, 9.0, f64::max), [0; 0], "twice the same one neither");
        assert_eq!(flags.set(2, 4, 2, 5.0, f64::max), [0]);
        assert_eq!(flags.take(0, Awaited::Flag(4)), Some(5.0), "the later of the two");
        assert_eq!(flags.set(0, 1, 0, 1.0, f64::max), [0; 0]);
        assert_eq!(flags.set(3, 1, 0, 2.0, f64::max), [0, 3], "all cube cores");
        assert_eq!(flags.arrive(1, false, 1.0, f64::max), [0; 0]);
        assert_eq!(flags.left().collect::<Vec<_>>(), [(0, 1), (2, 3), (3, 1)]);
    }
}
