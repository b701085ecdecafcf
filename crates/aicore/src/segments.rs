//! A map from byte intervals to states: exact to the byte, small when accesses are large.

use std::collections::BTreeMap;

/// Disjoint intervals with a state each. Bytes never visited have no interval.
#[derive(Clone, Debug)]
pub(crate) struct SegmentMap<T> {
    segments: BTreeMap<u64, (u64, T)>,
}

impl<T> Default for SegmentMap<T> {
    fn default() -> Self {
        Self { segments: BTreeMap::new() }
    }
}

impl<T: Clone + Default> SegmentMap<T> {
    /// Visit every segment of `from..to`, made where there is none, cut at the ends.
    pub(crate) fn visit(&mut self, from: u64, to: u64, mut visit: impl FnMut(u64, u64, &mut T)) {
        if from >= to {
            return;
        }
        // The common case: the same bytes as before.
        if let Some((end, state)) = self.segments.get_mut(&from)
            && *end == to
        {
            visit(from, to, state);
            return;
        }
        self.cut(from);
        self.cut(to);
        let mut gaps = Vec::new();
        let mut at = from;
        for (start, (end, state)) in self.segments.range_mut(from..to) {
            if at < *start {
                gaps.push((at, *start));
            }
            visit(*start, *end, state);
            at = *end;
        }
        if at < to {
            gaps.push((at, to));
        }
        for (start, end) in gaps {
            let mut state = T::default();
            visit(start, end, &mut state);
            self.segments.insert(start, (end, state));
        }
    }

    /// Make `from..to` one segment.
    pub(crate) fn replace(&mut self, from: u64, to: u64, state: T) {
        if from >= to {
            return;
        }
        // The common case: the same buffer is filled again.
        if let Some((end, old)) = self.segments.get_mut(&from)
            && *end == to
        {
            *old = state;
            return;
        }
        self.cut(from);
        self.cut(to);
        let inside: Vec<u64> = self.segments.range(from..to).map(|(start, _)| *start).collect();
        for start in inside {
            self.segments.remove(&start);
        }
        self.segments.insert(from, (to, state));
    }

    fn cut(&mut self, at: u64) {
        let Some((start, (end, state))) = self.segments.range_mut(..at).next_back() else { return };
        if *start < at && at < *end {
            let tail = (*end, state.clone());
            *end = at;
            self.segments.insert(at, tail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_cut_and_filled() {
        let mut map: SegmentMap<u32> = SegmentMap::default();
        map.replace(10, 20, 1);
        let mut seen = Vec::new();
        map.visit(5, 15, |from, to, state| {
            seen.push((from, to, *state));
            *state += 10;
        });
        assert_eq!(seen, [(10, 15, 1), (5, 10, 0)]);
        seen.clear();
        map.visit(0, 30, |from, to, state| seen.push((from, to, *state)));
        seen.sort_unstable();
        assert_eq!(seen, [(0, 5, 0), (5, 10, 10), (10, 15, 11), (15, 20, 1), (20, 30, 0)]);
    }
}
