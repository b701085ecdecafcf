//! Learning what will not work from what did not.
//!
//! Two views, both over what was told only. *Monotone*: larger tiles, more buffers and more cores overflow; so a point
//! that is at least as large as an infeasible one in every ordered tunable is expected to fail too, as long as no
//! feasible point contradicts that rule. The same is tried downwards (too small a tile is also refused). What did not fit into
//! memory is believed on its own, whatever other failures say: what is at least as large everywhere will not fit either, nor what
//! differs in least shares only, nor what is on the wrong side of all that fitted and did not (`MemoryFit`). Values that alone keep configurations from compiling,
//! or from being right, are out as well (`FaultyValues`).
//! *Neighbours*: the nearest known points vote.

use space::{Point, SearchSpace};

use super::archive::Archive;
use super::faulty_values::FaultyValues;
use super::memory_fit::MemoryFit;
use super::{InfeasibleClass, Observation};

/// Chance of failure beyond a known failure.
const RULED_OUT: f64 = 0.95;

/// Nearest points that vote.
const VOTERS: usize = 5;

/// Model of feasibility, fitted anew at each ask.
pub(super) struct Feasibility<'a> {
    space: &'a SearchSpace,
    feasible: Vec<&'a Point>,
    infeasible: Vec<&'a Point>,
    /// Those that did not fit into memory, unless something larger did.
    too_large: Vec<&'a Point>,
    /// Those that did not fit into memory, unless the same plan did with another share.
    without_room: Vec<&'a Point>,
    /// What memory depends on, as far as failures show it.
    memory: Option<MemoryFit>,
    unbuildable: FaultyValues,
    wrong: FaultyValues,
    upward: bool,
    downward: bool,
}

impl<'a> Feasibility<'a> {
    pub fn fit(space: &'a SearchSpace, archive: &'a Archive) -> Self {
        let mut feasible = Vec::new();
        let mut infeasible = Vec::new();
        let mut too_large = Vec::new();
        // What ran, whatever came of it. What was refused before says nothing about memory.
        let mut fitted = Vec::new();
        let (mut built, mut unbuilt, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
        for (point, entry) in archive.iter() {
            match entry.outcome {
                Some(Observation::Objective(_)) => {
                    feasible.push(point);
                    fitted.push(point);
                    built.push(point);
                }
                Some(Observation::Infeasible { class }) => {
                    infeasible.push(point);
                    if class == InfeasibleClass::Build {
                        unbuilt.push(point)
                    } else {
                        built.push(point)
                    }
                    match class {
                        InfeasibleClass::Resource => too_large.push(point),
                        InfeasibleClass::Wrong => {
                            fitted.push(point);
                            wrong.push(point);
                        }
                        _ => {}
                    }
                }
                None => {}
            }
        }
        let memory = MemoryFit::of(space, &fitted, &too_large);
        let unbuildable = FaultyValues::unbuildable(built, unbuilt);
        let wrong = FaultyValues::wrong(feasible.iter().copied(), wrong);
        let (upward, downward) = (false, false);
        let without_room = Vec::new();
        let mut model =
            Self { space, feasible, infeasible, too_large, without_room, memory, unbuildable, wrong, upward, downward };
        // A rule is believed when it explains more than one failure, or one, and no success contradicts it.
        let contradicted = |up: bool| {
            model.infeasible.iter().any(|bad| model.feasible.iter().any(|good| space.is_beyond(good, bad, up)))
        };
        let upward = !contradicted(true);
        let downward = !contradicted(false);
        model.upward = upward;
        // With few data both directions are uncontradicted; overflow is by far the more common reason.
        model.downward = downward && !upward;
        let fits = |bad: &Point| model.feasible.iter().any(|good| space.is_beyond(good, bad, true));
        let has_room = |bad: &Point| model.feasible.iter().any(|good| space.plans_alike(good, bad));
        model.without_room = model.too_large.iter().copied().filter(|bad| !has_room(bad)).collect();
        let too_large: Vec<&Point> = model.too_large.iter().copied().filter(|bad| !fits(bad)).collect();
        model.too_large = too_large;
        model
    }

    fn distance(&self, point: &[u32], other: &[u32]) -> f64 {
        let mut sum = 0.0;
        for (dimension, (here, there)) in point.iter().zip(other).enumerate() {
            let extent = f64::from(self.space.domain_len(dimension).saturating_sub(1).max(1));
            sum += if self.space.is_ordered(dimension) {
                f64::from(here.abs_diff(*there)) / extent
            } else {
                f64::from(u8::from(here != there))
            };
        }
        sum
    }

    /// Whether something smaller everywhere, or of the same plan for other shares, did not fit into memory: then there is no chance
    /// to speak of.
    pub fn cannot_fit(&self, point: &[u32]) -> bool {
        self.too_large.iter().any(|bad| self.space.is_beyond(point, bad, true))
            || self.without_room.iter().any(|bad| self.space.plans_alike(point, bad))
    }

    /// Whether there is no chance to speak of: it cannot fit, or has a value that is wrong beside whatever else.
    pub fn cannot_work(&self, point: &[u32]) -> bool {
        self.cannot_fit(point) || self.wrong.is_in(point)
    }

    /// Chance of failure as the monotone rules have it: high beyond a known failure, otherwise none.
    pub fn rule_risk(&self, point: &[u32]) -> f64 {
        let dominated = |up: bool| self.infeasible.iter().any(|bad| self.space.is_beyond(point, bad, up));
        let ruled_out = (self.upward && dominated(true))
            || (self.downward && dominated(false))
            || self.cannot_fit(point)
            || self.unbuildable.is_in(point)
            || self.wrong.is_in(point)
            || self.memory.as_ref().is_some_and(|memory| memory.is_too_large(self.space, point));
        if ruled_out { RULED_OUT } else { 0.0 }
    }

    /// Expected chance of failure, 0 to 1.
    pub fn risk(&self, point: &[u32]) -> f64 {
        if self.infeasible.is_empty() {
            return 0.0;
        }
        let ruled = self.rule_risk(point);
        if ruled > 0.0 {
            return ruled;
        }
        let mut known: Vec<(f64, bool)> = Vec::with_capacity(self.feasible.len() + self.infeasible.len());
        known.extend(self.feasible.iter().map(|other| (self.distance(point, other), false)));
        known.extend(self.infeasible.iter().map(|other| (self.distance(point, other), true)));
        if known.len() > VOTERS {
            known.select_nth_unstable_by(VOTERS - 1, |left, right| {
                left.0.total_cmp(&right.0).then(left.1.cmp(&right.1))
            });
            known.truncate(VOTERS);
        }
        let (mut failing, mut all) = (0.0, 0.25);
        for (distance, failed) in known {
            let weight = 1.0 / (0.05 + distance);
            all += weight;
            failing += if failed { weight } else { 0.0 };
        }
        failing / all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::{Binding, Domain, Tunable, Value};

    fn space() -> SearchSpace {
        let tunable = |name: &str| Tunable {
            name: name.to_owned(),
            domain: Domain::Range { min: 1, max: 8, step: 1 },
            default: Some(Value::Int(1)),
            binding: Binding::Recorded,
            reason: String::new(),
            when: None,
        };
        SearchSpace::new(&[tunable("A"), tunable("B"), tunable("C")], &[], &[]).unwrap()
    }

    fn known(points: &[([u32; 3], Observation)]) -> Archive {
        let mut archive = Archive::default();
        for (point, outcome) in points {
            archive.tell(point.to_vec(), outcome);
        }
        archive
    }

    const TOO_LARGE: Observation = Observation::Infeasible { class: InfeasibleClass::Resource };
    const WRONG: Observation = Observation::Infeasible { class: InfeasibleClass::Wrong };
    const FINE: Observation = Observation::Objective(1.0);

    /// Fewer buffers with a longer tile each, as some operators plan: what overflows is small in one tunable, large in another,
    /// and anything in the third.
    #[test]
    fn overflows_that_no_single_direction_explains_are_learnt() {
        let space = space();
        let overflows = |point: &[u32]| point[0] == 0 && point[2] > 5;
        let mut archive = Archive::default();
        for index in 0..48_u32 {
            let point = [index % 3, (index * 5 + index / 24) % 8, index / 3 % 8];
            archive.tell(point.to_vec(), &if overflows(&point) { TOO_LARGE } else { FINE });
        }
        let model = Feasibility::fit(&space, &archive);
        assert!(model.memory.is_some());
        for share in [0, 3, 7] {
            assert_eq!(model.rule_risk(&[0, share, 7]), RULED_OUT, "share {share}");
            assert!(model.rule_risk(&[0, share, 1]) + model.rule_risk(&[2, share, 7]) < RULED_OUT, "share {share}");
        }
    }

    #[test]
    fn a_value_that_does_not_compile_is_ruled_out_beside_everything() {
        const UNBUILT: Observation = Observation::Infeasible { class: InfeasibleClass::Build };
        let space = space();
        // Values around it build, so that no direction explains it.
        let archive = known(&[([1, 1, 1], FINE), ([1, 4, 1], UNBUILT), ([1, 7, 1], FINE), ([6, 1, 1], WRONG)]);
        let model = Feasibility::fit(&space, &archive);
        assert_eq!(model.rule_risk(&[5, 4, 0]), RULED_OUT);
        assert_eq!(model.rule_risk(&[5, 5, 0]), 0.0);
    }

    /// One buffer in place of two makes tiles longer, and temporaries with them; how many cores there are says nothing.
    #[test]
    fn an_overflow_is_one_for_every_least_share() {
        let tunable = |name: &str, binding: Binding| Tunable {
            name: name.to_owned(),
            domain: Domain::Range { min: 1, max: 8, step: 1 },
            default: Some(Value::Int(1)),
            binding,
            reason: String::new(),
            when: None,
        };
        let word = str::to_owned;
        let share = Binding::Share { file: word("a.cpp"), cores: word("cores"), of: word("work") };
        let tunables = [tunable("BUFFERS", Binding::Recorded), tunable("share", share)];
        let space = SearchSpace::new(&tunables, &[], &[]).unwrap();
        let mut archive = Archive::default();
        for (point, outcome) in [([1, 3], FINE), ([0, 3], TOO_LARGE)] {
            archive.tell(point.to_vec(), &outcome);
        }
        let model = Feasibility::fit(&space, &archive);
        assert!(model.cannot_fit(&[0, 0]) && model.cannot_fit(&[0, 7]));
        assert!(!model.cannot_fit(&[1, 0]), "another plan");
        archive.tell(vec![0, 1], &FINE);
        assert!(!Feasibility::fit(&space, &archive).cannot_fit(&[0, 0]), "it fits with another share after all");
    }

    #[test]
    fn a_value_that_is_wrong_beside_two_that_are_right_has_no_chance() {
        let space = space();
        let mut told = vec![([1, 1, 1], FINE), ([2, 1, 1], FINE), ([1, 4, 1], WRONG), ([1, 7, 1], FINE)];
        assert!(!Feasibility::fit(&space, &known(&told)).cannot_work(&[3, 4, 1]), "once is not enough");
        told.push(([2, 4, 1], WRONG));
        let archive = known(&told);
        let model = Feasibility::fit(&space, &archive);
        assert!(model.cannot_work(&[3, 4, 6]) && !model.cannot_work(&[3, 5, 6]) && !model.cannot_fit(&[3, 4, 6]));
    }

    #[test]
    fn one_overflow_rules_out_all_that_is_larger_whatever_else_failed() {
        let space = space();
        // The wrong result contradicts the common rule in both directions, the overflow stands.
        let archive = known(&[
            ([2, 2, 2], FINE),
            ([1, 1, 1], WRONG),
            ([3, 3, 3], WRONG),
            ([4, 4, 4], FINE),
            ([0, 6, 0], TOO_LARGE),
        ]);
        let model = Feasibility::fit(&space, &archive);
        assert_eq!(model.rule_risk(&[0, 7, 0]), RULED_OUT);
        assert_eq!(model.rule_risk(&[5, 5, 5]), 0.0);
        // Something larger that fits takes it back.
        let archive = known(&[([2, 2, 2], FINE), ([1, 1, 1], WRONG), ([0, 6, 0], TOO_LARGE), ([4, 7, 4], FINE)]);
        assert_eq!(Feasibility::fit(&space, &archive).rule_risk(&[0, 7, 0]), 0.0);
    }
}
