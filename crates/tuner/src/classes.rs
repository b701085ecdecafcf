//! Classes of sizes: which cases go together, and which candidate is best for each class.

use manifest::SizeRange;

/// Cases that are of one size or stand for the same sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SizeClass {
    /// Places of the cases.
    pub cases: Vec<usize>,
    /// The least elements that belong to it for certain: of a case, or what one stands for.
    pub least: u64,
    /// The most.
    pub most: u64,
}

/// The classes in the order of their sizes, out of each case's own size and what it stands for.
pub(super) fn size_classes(cases: &[(u64, Option<SizeRange>)]) -> Vec<SizeClass> {
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|place| cases[*place].0);
    let mut classes: Vec<SizeClass> = Vec::new();
    for place in order {
        let (own, range) = cases[place];
        let (least, most) = range.map_or((own, own), |range| (range.least, range.most));
        // Sizes that somebody stands for are of its class, also those of cases that say nothing.
        match classes.last_mut().filter(|last| least <= last.most) {
            Some(last) => {
                last.cases.push(place);
                last.least = last.least.min(least);
                last.most = last.most.max(most);
            }
            None => classes.push(SizeClass { cases: vec![place], least, most }),
        }
    }
    classes
}

/// A candidate for each class, such that neighbouring classes may share one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    /// The candidates from the smallest sizes to the largest, each another than the one before.
    pub candidates: Vec<usize>,
    /// How many classes each candidate but the last ends behind.
    pub ends: Vec<usize>,
    /// Objective of the single candidate over that of these.
    pub gain: f64,
}

/// What candidates take, and what they may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    /// Times by candidate and case; the first candidate is the single one.
    pub times: &'a [Vec<f64>],
    /// Times of the operator as it was.
    pub before: &'a [f64],
    /// Ratios by which the cases may be slower than the operator as it was, and than the single candidate.
    pub floors: &'a [f64],
    /// Weights of the cases.
    pub weights: &'a [f64],
}

/// What a further candidate has to gain over fewer of them.
const WORTH_ANOTHER: f64 = 1.01;
/// What one has to gain over the single one on its classes, in logarithms of the whole objective.
const WORTH_A_LINE: f64 = 0.005;

impl Table<'_> {
    /// Two or three candidates that are faster together than the single one, or than two; none where they gain less than a hundredth or
    /// a case would lose more than its floor.
    pub fn best(&self, classes: &[SizeClass]) -> Option<Chosen> {
        let all = classes.len();
        let two = (1..all).filter_map(|end| self.of(classes, &[end]));
        let two = fastest(two).filter(|two| two.gain >= WORTH_ANOTHER);
        let ends = (1..all).flat_map(|first| (first + 1..all).map(move |second| [first, second]));
        let three = fastest(ends.filter_map(|ends| self.of(classes, &ends)));
        let most = two.as_ref().map_or(1.0, |two| two.gain) * WORTH_ANOTHER;
        three.filter(|three| three.candidates.len() == 3 && three.gain >= most).or(two)
    }

    /// The best candidates where each ends behind so many classes.
    fn of(&self, classes: &[SizeClass], ends: &[usize]) -> Option<Chosen> {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let stops = ends.iter().copied().chain([classes.len()]);
        let (mut chosen, mut gained, mut weighed) =
            (Chosen { candidates: Vec::new(), ends: Vec::new(), gain: 1.0 }, 0.0, 0.0);
        for (start, stop) in starts.zip(stops) {
            let cases: Vec<usize> = classes[start..stop].iter().flat_map(|class| class.cases.iter().copied()).collect();
            let (candidate, gain) = self.fastest_on(&cases)?;
            gained += gain;
            weighed += cases.iter().map(|case| self.weights[*case]).sum::<f64>();
            if chosen.candidates.last() == Some(&candidate) {
                chosen.ends.pop();
            } else {
                chosen.candidates.push(candidate);
            }
            chosen.ends.push(stop);
        }
        chosen.ends.pop();
        chosen.gain = (gained / weighed).exp();
        (chosen.candidates.len() > 1).then_some(chosen)
    }

    /// The candidate that is fastest on these cases and too slow on none, and what it gains there over the single one: a sum of weighted
    /// logarithms.
    fn fastest_on(&self, cases: &[usize]) -> Option<(usize, f64)> {
        let may =
            |times: &[f64], case: usize| times[case] <= self.before[case].min(self.times[0][case]) * self.floors[case];
        let gain = |times: &[f64]| -> f64 {
            cases.iter().map(|case| self.weights[*case] * (self.times[0][*case] / times[*case]).ln()).sum()
        };
        let fitting = self.times.iter().enumerate().filter(|(_, times)| cases.iter().all(|case| may(times, *case)));
        // Of equals the first, which is the single one where it is among them.
        let gains = fitting.map(|(candidate, times)| (candidate, gain(times)));
        // What is worth less than half a per cent of the objective is worth no line.
        let least = WORTH_A_LINE * self.weights.iter().sum::<f64>();
        let gains = gains.filter(|(candidate, gain)| *candidate == 0 || *gain >= least);
        gains.fold(None, |best: Option<(usize, f64)>, next| match best {
            Some(best) if next.1 <= best.1 + 1e-9 => Some(best),
            _ => Some(next),
        })
    }
}

fn fastest(all: impl Iterator<Item = Chosen>) -> Option<Chosen> {
    all.fold(None, |best: Option<Chosen>, next| match best {
        Some(best) if next.gain <= best.gain + 1e-9 => Some(best),
        _ => Some(next),
    })
}

/// Sizes between two classes, each the same factor from the next; fewer where there is no room.
pub(super) fn sizes_between(below: u64, above: u64, count: u32) -> Vec<u64> {
    let factor = above as f64 / below.max(1) as f64;
    let at = |step: u32| (below as f64 * factor.powf(f64::from(step) / f64::from(count + 1))).round() as u64;
    let mut sizes: Vec<u64> = (1..=count).map(at).filter(|size| below < *size && *size < above).collect();
    sizes.dedup();
    sizes
}

/// The largest size of the class below, of those from `least` to `most`: a power of two where one is among them, as somebody would write
/// it, or what lies in the middle.
pub(super) fn threshold(least: u64, most: u64) -> u64 {
    let power = most.checked_ilog2().map_or(0, |log| 1u64 << log);
    if power >= least {
        return power;
    }
    ((least as f64 * most as f64).sqrt().round() as u64).clamp(least, most)
}

/// Gains of candidates at a held-out size, in logarithms; `None` for one that does not hold there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Gains {
    /// Of the candidate for the class below.
    pub below: Option<f64>,
    /// Of the single candidate.
    pub single: Option<f64>,
    /// Of the one for the class above.
    pub above: Option<f64>,
}

/// Where two classes meet: how many of the held-out sizes, from the smallest on, belong to the one below, and from which one on they
/// belong to the one above. Those between keep the single candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meeting {
    /// Sizes of the class below.
    pub below: usize,
    /// Sizes of the class below, and those between.
    pub between: usize,
}

/// What keeping the single candidate in between has to gain at each size, in logarithms, where the others hold there.
const WORTH_A_MIDDLE: f64 = 0.01;

/// Where two classes meet best; `None` where nothing holds at some size. Of equals that in the middle, as if nothing was known. A single
/// candidate in between is a further class, which is there only where it has to be or is worth it.
pub(super) fn meeting(gains: &[Gains], may_have_middle: bool) -> Option<Meeting> {
    let score = |at: Meeting| -> Option<f64> {
        let each = gains.iter().enumerate().map(|(place, gains)| match place {
            place if place < at.below => gains.below,
            place if place < at.between => gains.single,
            _ => gains.above,
        });
        each.sum()
    };
    let all = 0..=gains.len();
    let direct = best_meeting(all.clone().map(|below| Meeting { below, between: below }), score, gains.len());
    if !may_have_middle {
        return direct.map(|(at, _)| at);
    }
    let apart = all.clone().flat_map(|below| (below + 1..=gains.len()).map(move |between| Meeting { below, between }));
    let apart = best_meeting(apart, score, gains.len());
    let least = direct.map_or(f64::NEG_INFINITY, |(_, score)| score + WORTH_A_MIDDLE * gains.len() as f64);
    apart.filter(|(_, score)| *score >= least).or(direct).map(|(at, _)| at)
}

fn best_meeting(
    all: impl Iterator<Item = Meeting>,
    score: impl Fn(Meeting) -> Option<f64>,
    sizes: usize,
) -> Option<(Meeting, f64)> {
    let from_middle = |at: Meeting| (at.below + at.between).abs_diff(sizes);
    let mut best: Option<(Meeting, f64)> = None;
    for at in all {
        let Some(score) = score(at) else { continue };
        let better = best.is_none_or(|(known, most)| {
            score > most + 1e-6 || score > most - 1e-6 && from_middle(at) < from_middle(known)
        });
        if better {
            best = Some((at, score));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(sizes: &[u64]) -> Vec<SizeClass> {
        size_classes(&sizes.iter().map(|size| (*size, None)).collect::<Vec<_>>())
    }

    fn best(times: &[&[f64]], before: &[f64]) -> Option<Chosen> {
        let times: Vec<Vec<f64>> = times.iter().map(|times| times.to_vec()).collect();
        let (floors, weights) = (vec![1.02; before.len()], vec![1.0; before.len()]);
        let sizes: Vec<u64> = (0..before.len() as u32).map(|place| 64 << (4 * place)).collect();
        Table { times: &times, before, floors: &floors, weights: &weights }.best(&classes(&sizes))
    }

    #[test]
    fn cases_of_one_size_and_of_one_range_are_one_class() {
        let found = size_classes(&[
            (4096, None),
            (64, Some(SizeRange { least: 1, most: 100 })),
            (90, None),
            (64, None),
            (4096, None),
        ]);
        let class = |cases: &[usize], least, most| SizeClass { cases: cases.to_vec(), least, most };
        assert_eq!(found, [class(&[1, 3, 2], 1, 100), class(&[0, 4], 4096, 4096)]);
        assert_eq!(size_classes(&[]), []);
    }

    #[test]
    fn each_class_gets_what_is_fastest_for_it() {
        // The first is right for the middle, the second for small ones.
        let found = best(&[&[10.0, 20.0, 80.0], &[5.0, 20.0, 160.0]], &[10.0, 30.0, 90.0]).unwrap();
        assert_eq!((found.candidates, found.ends), (vec![1, 0], vec![1]));
        assert!((found.gain - 2f64.powf(1.0 / 3.0)).abs() < 1e-9);
        let found =
            best(&[&[10.0, 20.0, 80.0], &[5.0, 40.0, 160.0], &[10.0, 20.0, 40.0]], &[10.0, 30.0, 90.0]).unwrap();
        assert_eq!(
            (found.candidates.clone(), found.ends.clone()),
            (vec![1, 2], vec![1]),
            "the single one is no third: {found:?}"
        );
        let three =
            best(&[&[9.0, 9.0, 9.0], &[5.0, 8.0, 20.0], &[8.0, 5.0, 20.0], &[8.0, 8.0, 5.0]], &[10.0, 10.0, 10.0])
                .unwrap();
        assert_eq!((three.candidates, three.ends), (vec![1, 2, 3], vec![1, 2]));
    }

    #[test]
    fn little_gain_and_a_class_that_loses_are_refused() {
        assert_eq!(best(&[&[10.0, 20.0], &[9.9, 40.0]], &[10.0, 20.0]), None, "half a per cent in all");
        assert_eq!(best(&[&[10.0, 20.0]], &[10.0, 20.0]), None);
        assert_eq!(best(&[&[10.0], &[5.0]], &[10.0]), None, "one class");
        let found = best(&[&[10.0, 20.0], &[9.95, 40.0], &[10.1, 10.0]], &[10.0, 20.0]).unwrap();
        assert_eq!(found.candidates, [0, 2], "the second one is worth no line");
        // Two cases of one size: what one gains the other must not pay for.
        let table = |other: f64| {
            let times = [vec![10.0, 10.0, 80.0], vec![5.0, other, 160.0]];
            let cases = size_classes(&[(64, None), (64, None), (4096, None)]);
            let (before, floors, weights) = ([10.0, 10.0, 90.0], [1.02; 3], [1.0; 3]);
            Table { times: &times, before: &before, floors: &floors, weights: &weights }.best(&cases)
        };
        assert!(table(10.1).is_some() && table(10.3).is_none());
        // Slower than the operator as it was is no matter of the single candidate.
        assert_eq!(best(&[&[10.2, 20.0], &[10.0, 40.0]], &[8.0, 20.0]), None);
    }

    #[test]
    fn weights_decide_whether_it_is_worth_it() {
        let gain = |weight: f64| {
            let times = [vec![10.0, 20.0], vec![9.0, 40.0]];
            let (before, floors) = ([10.0, 20.0], [1.02; 2]);
            Table { times: &times, before: &before, floors: &floors, weights: &[weight, 1.0] }.best(&classes(&[1, 2]))
        };
        assert!(gain(1.0).is_some() && gain(0.05).is_none());
    }

    #[test]
    fn held_out_sizes_decide_where_a_class_ends() {
        let gain = |below: f64, above: f64| Gains { below: Some(below), single: Some(0.0), above: Some(above) };
        let met = |gains: &[Gains]| meeting(gains, true).map(|at| (at.below, at.between));
        assert_eq!(met(&[gain(0.2, 0.0), gain(0.1, 0.0), gain(0.0, 0.1), gain(0.0, 0.3)]), Some((2, 2)));
        assert_eq!(met(&[gain(0.2, 0.0), gain(0.1, 0.0)]), Some((2, 2)));
        assert_eq!(met(&[gain(0.0, 0.0); 4]), Some((2, 2)), "in the middle where nothing tells");
        assert_eq!(met(&[]), Some((0, 0)));
        let only = |below: Option<f64>, above: Option<f64>| Gains { below, single: Some(0.0), above };
        assert_eq!(met(&[only(Some(0.2), None), gain(0.0, 0.3)]), Some((1, 1)));
        let apart = [only(Some(0.2), None), only(None, None), only(None, Some(0.3))];
        assert_eq!(met(&apart), Some((1, 2)), "neither holds in the middle");
        assert_eq!(meeting(&apart, false), None);
        assert_eq!(met(&[gain(0.2, -0.2), gain(-0.1, -0.1), gain(-0.3, 0.2)]), Some((1, 2)), "nor is worth it");
        assert_eq!(met(&[gain(0.2, -0.2), gain(-0.01, -0.01), gain(-0.3, 0.2)]), Some((1, 1)), "hardly");
        let nothing = Gains::default();
        assert_eq!(met(&[gain(0.2, 0.0), nothing]), None);
    }

    #[test]
    fn thresholds_are_numbers_that_somebody_would_write() {
        assert_eq!(
            [threshold(1000, 5000), threshold(600, 1000), threshold(64, 64), threshold(65, 65)],
            [4096, 775, 64, 65]
        );
        assert_eq!(sizes_between(1024, 65_536, 5), [2048, 4096, 8192, 16_384, 32_768]);
        assert_eq!(sizes_between(4, 6, 5), [5]);
        assert!(sizes_between(4, 5, 5).is_empty() && sizes_between(9, 4, 5).is_empty());
    }
}
