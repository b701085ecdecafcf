//! All valid points of a space, by depth-first search with constraints checked as soon as their tunables are set.

use super::{Constraint, Point, SearchSpace};

/// More valid points than this are not kept: strategies then sample.
const MOST_POINTS: usize = 1 << 17;

/// Partial assignments looked at before the space counts as too large: a second, or a few where there are many constraints and cases.
const MOST_STEPS: usize = 1 << 20;

/// All valid points in order, or `None` where there are too many to find or to keep.
pub(super) fn valid_points(space: &SearchSpace) -> Option<Vec<Point>> {
    if let Some(listed) = &space.listed {
        let mut points: Vec<Point> = listed.iter().filter(|point| space.allows(point)).cloned().collect();
        points.sort_unstable();
        return Some(points);
    }
    // The constraints that can be decided once the tunable at a depth has its value.
    let mut decided: Vec<Vec<&Constraint>> = vec![Vec::new(); space.dimensions()];
    for constraint in &space.constraints {
        match constraint.tunables.last() {
            Some(last) => decided[*last].push(constraint),
            None if !space.satisfied(constraint, &[]) => return Some(Vec::new()),
            None => {}
        }
    }
    let mut search = Search { space, decided, steps: 0, points: Vec::new() };
    let mut point: Point = vec![0; space.dimensions()];
    search.descend(&mut point, 0).then_some(search.points)
}

struct Search<'a> {
    space: &'a SearchSpace,
    decided: Vec<Vec<&'a Constraint>>,
    steps: usize,
    points: Vec<Point>,
}

impl Search<'_> {
    /// Visits all valid completions of the first `depth` positions; `false` when a limit was met.
    fn descend(&mut self, point: &mut Point, depth: usize) -> bool {
        if depth == point.len() {
            if !self.space.allows(point) {
                return true;
            }
            self.points.push(point.clone());
            return self.points.len() <= MOST_POINTS;
        }
        for index in 0..self.space.domain_len(depth) {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return false;
            }
            point[depth] = index;
            let holds = self.decided[depth].iter().all(|constraint| self.space.satisfied(constraint, point));
            if holds && !self.descend(point, depth + 1) {
                return false;
            }
        }
        true
    }
}
