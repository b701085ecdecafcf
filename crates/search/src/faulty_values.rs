//! Values that are at fault, learnt from what failed.
//!
//! A constant that is a template argument in one place may stand as a number in another, so that only the author's value builds; a
//! queue that is filled ahead needs its second buffer. Whether it does hardly ever depends on other constants: a value is believed to
//! be at fault where it is the only one of a configuration that has worked nowhere.

use std::collections::{BTreeMap, BTreeSet};

use space::Point;

/// Failures that blame one value for wrong results or hazards, which two values that each are right may have together, before it is
/// believed.
const WRONG_TWICE: usize = 2;

/// Values, each with its tunable's place in the space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultyValues(BTreeSet<(usize, u32)>);

impl FaultyValues {
    /// What configurations that were built and such that could not be say together.
    pub fn unbuildable<'p>(
        built: impl IntoIterator<Item = &'p Point>,
        failed: impl IntoIterator<Item = &'p Point>,
    ) -> Self {
        Self::blamed(built, failed, 1)
    }

    /// What configurations that were right and such that were not say together.
    pub fn wrong<'p>(right: impl IntoIterator<Item = &'p Point>, failed: impl IntoIterator<Item = &'p Point>) -> Self {
        Self::blamed(right, failed, WRONG_TWICE)
    }

    fn blamed<'p>(
        worked: impl IntoIterator<Item = &'p Point>,
        failed: impl IntoIterator<Item = &'p Point>,
        least: usize,
    ) -> Self {
        let has_worked: BTreeSet<(usize, u32)> = worked.into_iter().flat_map(|point| values(point)).collect();
        let mut blamed: BTreeMap<(usize, u32), usize> = BTreeMap::new();
        for point in failed {
            let mut suspects = values(point).filter(|value| !has_worked.contains(value));
            if let (Some(only), None) = (suspects.next(), suspects.next()) {
                *blamed.entry(only).or_default() += 1;
            }
        }
        Self(blamed.into_iter().filter(|(_, failures)| *failures >= least).map(|(value, _)| value).collect())
    }

    /// Whether a point has one of them.
    pub fn is_in(&self, point: &[u32]) -> bool {
        !self.0.is_empty() && values(point).any(|value| self.0.contains(&value))
    }
}

fn values(point: &[u32]) -> impl Iterator<Item = (usize, u32)> + '_ {
    point.iter().copied().enumerate()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_alone_has_never_built_is_at_fault_whatever_stands_beside_it() {
        let rule = FaultyValues::unbuildable(&[vec![0, 0, 0], vec![1, 0, 2]], &[vec![1, 3, 2]]);
        assert!(rule.is_in(&[7, 3, 5]) && !rule.is_in(&[3, 0, 3]));
    }

    #[test]
    fn of_two_suspects_neither_is_blamed_and_what_builds_later_is_taken_back() {
        let of = |built: &[Point]| FaultyValues::unbuildable(built, &[vec![4, 3, 0]]);
        assert_eq!(of(&[vec![0, 0, 0]]), FaultyValues::default());
        assert!(of(&[vec![0, 0, 0], vec![4, 0, 0]]).is_in(&[0, 3, 0]));
        // Each has built beside something else: together they fail, and no single value says so.
        assert_eq!(of(&[vec![0, 3, 0], vec![4, 0, 0]]), FaultyValues::default());
    }

    #[test]
    fn a_value_is_wrong_where_it_fails_beside_two_others_that_are_right() {
        let right = [vec![0, 0], vec![1, 0], vec![2, 0]];
        assert!(!FaultyValues::wrong(&right, &[vec![1, 3]]).is_in(&[2, 3]), "it may be the two together");
        let twice = [vec![1, 3], vec![2, 3]];
        assert!(FaultyValues::wrong(&right, &twice).is_in(&[7, 3]));
        let but_once = [vec![0, 0], vec![1, 0], vec![2, 0], vec![7, 3]];
        assert!(!FaultyValues::wrong(&but_once, &twice).is_in(&[0, 3]), "it is right beside something else");
    }
}
