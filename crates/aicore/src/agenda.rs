//! What comes next: a short sorted list to which mostly something later than all else is added.

use std::collections::VecDeque;

/// Entries in order. Taking the first costs nothing, adding one behind all others neither; others are moved aside. At most a
/// few entries for each core that runs are ever in one.
#[derive(Clone, Debug)]
pub(crate) struct Agenda<T>(VecDeque<T>);

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T: Ord> Agenda<T> {
    #[inline]
    pub(crate) fn add(&mut self, entry: T) {
        if self.0.back().is_none_or(|last| *last <= entry) {
            self.0.push_back(entry);
        } else {
            let at = self.0.partition_point(|known| *known <= entry);
            self.0.insert(at, entry);
        }
    }

    pub(crate) fn first(&self) -> Option<&T> {
        self.0.front()
    }

    pub(crate) fn take_first(&mut self) -> Option<T> {
        self.0.pop_front()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_out_in_order() {
        let mut agenda = Agenda::default();
        for entry in [5, 9, 7, 1, 9, 3] {
            agenda.add(entry);
        }
        assert_eq!((agenda.len(), agenda.first()), (6, Some(&1)));
        let taken: Vec<i32> = std::iter::from_fn(|| agenda.take_first()).collect();
        assert_eq!(taken, [1, 3, 5, 7, 9, 9]);
        assert!(agenda.is_empty());
    }
}
