//! Values that do not compile, learnt from what did not.
//!
//! A constant that is a template argument in one place may stand as a number in another, so that only the author's value builds.
//! Whether it does hardly ever depends on other constants: a value is believed to be at fault where it is the only one of a
//! configuration that has built nowhere.

use std::collections::BTreeSet;

use space::Point;

/// Values, each with its tunable's place in the space.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Unbuildable(BTreeSet<(usize, u32)>);

impl Unbuildable {
    /// What configurations that were built and such that could not be say together.
    pub fn of(built: &[&Point], failed: &[&Point]) -> Self {
        let has_built: BTreeSet<(usize, u32)> = built.iter().flat_map(|point| values(point)).collect();
        let only_suspect = |point: &&Point| {
            let mut suspects = values(point).filter(|value| !has_built.contains(value));
            suspects.next().filter(|_| suspects.next().is_none())
        };
        Self(failed.iter().filter_map(only_suspect).collect())
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
        let (built, failed) = ([vec![0, 0, 0], vec![1, 0, 2]], [vec![1, 3, 2]]);
        let rule = Unbuildable::of(&built.iter().collect::<Vec<_>>(), &failed.iter().collect::<Vec<_>>());
        assert!(rule.is_in(&[7, 3, 5]) && !rule.is_in(&[3, 0, 3]));
    }

    #[test]
    fn of_two_suspects_neither_is_blamed_and_what_builds_later_is_taken_back() {
        let failed = [vec![4, 3, 0]];
        let of =
            |built: &[Point]| Unbuildable::of(&built.iter().collect::<Vec<_>>(), &failed.iter().collect::<Vec<_>>());
        assert_eq!(of(&[vec![0, 0, 0]]), Unbuildable::default());
        assert!(of(&[vec![0, 0, 0], vec![4, 0, 0]]).is_in(&[0, 3, 0]));
        // Each has built beside something else: together they fail, and no single value says so.
        assert_eq!(of(&[vec![0, 3, 0], vec![4, 0, 0]]), Unbuildable::default());
    }
}
