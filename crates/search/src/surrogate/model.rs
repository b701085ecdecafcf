//! What the told points let one expect of the others, and which of those to ask next.

use std::collections::HashSet;

use rand_chacha::ChaCha8Rng;

use super::Coordinates;
use super::fit::fit;
use super::gaussian::Gaussian;
use super::numeric::expected_improvement;
use super::options::ModelOptions;
use super::pool::{Pool, Voter};
use super::scales::{Prior, Scales};
use super::targets::Targets;
use crate::archive::Archive;
use crate::feasibility::Feasibility;
use crate::neighbourhood::{differing_in_one, offspring};
use crate::{Observation, Prices};
use space::{Point, SearchSpace};

/// A point worth asking.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The point.
    pub point: Point,
    /// Relative gain over the best time that is expected of it, its chance of being infeasible taken into account.
    pub expected_gain: f64,
}

/// With fewer times there is nothing to model.
const FEWEST_TIMES: usize = 3;

/// The scales are fitted anew when the times have grown by this share.
const REFIT_SHARE: usize = 4;

/// Candidates with the highest scores that are also held against the rules of [`Feasibility`], unless these rule out all of them.
const EXAMINED: usize = 16;

/// Points that are drawn at most for one that may fit.
const DRAWS: usize = 8;

/// Times that the processes share: with n times there are as many processes as n goes into this. The more times, the
/// surer the scales, and the dearer every process.
const SHARED_TIMES: usize = 128;

/// A told or asked point.
struct Known<'a> {
    point: &'a Point,
    verdict: Verdict,
}

#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    InFlight,
    Infeasible,
    Time(f64),
}

impl Known<'_> {
    fn time(&self) -> Option<f64> {
        match self.verdict {
            Verdict::Time(time) => Some(time),
            Verdict::InFlight | Verdict::Infeasible => None,
        }
    }

    /// Whether the point takes part in the regression, or will.
    fn regresses(&self) -> bool {
        self.verdict != Verdict::Infeasible
    }
}

/// Processes over what is known, and the candidates. Built up with every question, so that none costs a new start.
#[derive(Clone, Debug)]
pub struct Model {
    options: ModelOptions,
    coordinates: Coordinates,
    /// Scales of each process; the first are the likeliest ones.
    scales: Vec<Scales>,
    /// At least one.
    processes: Vec<Gaussian>,
    targets: Targets,
    /// Points of the processes, in their order.
    order: Vec<Point>,
    /// Points that regress but were left out by the window.
    left_out: HashSet<Point>,
    /// Number of times at the last fit; 0 before it.
    fitted: usize,
    voters: Vec<Voter>,
    voted: HashSet<Point>,
    pool: Pool,
    /// The pool holds the whole space.
    whole: bool,
    /// Positions of the tunables that are compiled in, and what a rebuild costs over an evaluation without one.
    prices: Option<(Vec<usize>, f64)>,
}

/// What candidates cost.
struct PriceList<'a> {
    compiled_in: &'a [usize],
    rebuild: f64,
    /// Values of the tunables that are compiled in, where they were built already.
    built: HashSet<Vec<u32>>,
}

impl PriceList<'_> {
    fn of(&self, point: &[u32]) -> f64 {
        if self.built.contains(&part(point, self.compiled_in)) { 1.0 } else { self.rebuild }
    }
}

fn part(point: &[u32], dimensions: &[usize]) -> Vec<u32> {
    dimensions.iter().map(|dimension| point[*dimension]).collect()
}

impl Model {
    /// A model that knows nothing.
    pub fn new(space: &SearchSpace, options: ModelOptions) -> Self {
        let coordinates = Coordinates::new(space);
        let scales = Scales::initial(&Prior::new(coordinates.groups(), &options));
        let process = Gaussian::new(coordinates.owners(), &scales);
        Self {
            coordinates,
            processes: vec![process; options.processes.max(1)],
            scales: vec![scales; options.processes.max(1)],
            targets: Targets::default(),
            options,
            order: Vec::new(),
            left_out: HashSet::new(),
            fitted: 0,
            voters: Vec::new(),
            voted: HashSet::new(),
            pool: Pool::default(),
            whole: false,
            prices: None,
        }
    }

    /// What points cost from now on.
    pub fn set_prices(&mut self, space: &SearchSpace, prices: Option<Prices>) {
        self.prices = prices.map(|prices| {
            let named = space.tunables().enumerate().filter(|(_, tunable)| prices.compiled_in.contains(&tunable.name));
            (named.map(|(dimension, _)| dimension).collect(), prices.rebuild)
        });
    }

    /// The coordinates of the space.
    pub fn coordinates(&self) -> &Coordinates {
        &self.coordinates
    }

    /// The point that promises most, or `None` while too few times are known or no candidate is left.
    pub fn suggest(&mut self, space: &SearchSpace, archive: &Archive, random: &mut ChaCha8Rng) -> Option<Suggestion> {
        let known = in_order(archive);
        let times: Vec<f64> = known.iter().filter_map(Known::time).collect();
        if times.len() < FEWEST_TIMES {
            return None;
        }
        self.catch_up(&known, &times, random);
        let feasibility = Feasibility::fit(space, archive);
        self.refresh_pool(space, archive, &feasibility, random);
        let failures = known.iter().filter(|known| known.verdict == Verdict::Infeasible).count();
        let share = failures as f64 / known.len() as f64;
        let best = times.iter().copied().fold(f64::INFINITY, f64::min);
        let prices = self.prices.clone();
        let prices = prices.as_ref().map(|(compiled_in, rebuild)| PriceList {
            compiled_in,
            rebuild: *rebuild,
            built: known.iter().map(|known| part(known.point, compiled_in)).collect(),
        });
        let scores = self.scores(self.targets.of(best), (failures > 0).then_some(share), prices.as_ref());
        let risk = |at: usize| if failures > 0 { feasibility.rule_risk(self.pool.point(at)) } else { 0.0 };
        // Where the rules speak against all that promises most, the others are held against them as well.
        let spared = scores.iter().take(EXAMINED).any(|(_, at)| risk(*at) == 0.0);
        let examined = scores.iter().take(if spared { EXAMINED } else { scores.len() });
        let weighed: Vec<(f64, usize)> = examined.map(|(score, at)| (score * (1.0 - risk(*at)), *at)).collect();
        let better =
            |left: &&(f64, usize), right: &&(f64, usize)| left.0.total_cmp(&right.0).then(right.1.cmp(&left.1));
        let may_work = |(_, at): &&(f64, usize)| !feasibility.cannot_work(self.pool.point(*at));
        let chosen = weighed.iter().filter(may_work).max_by(better).or_else(|| weighed.iter().max_by(better)).copied();
        let suggestion = chosen.map(|(score, at)| Suggestion {
            point: self.pool.candidates()[at].point.clone(),
            expected_gain: score
                * self.targets.deviation()
                * prices.map_or(1.0, |prices| prices.of(self.pool.point(at))),
        });
        if !self.whole && scores.len() > self.options.pool {
            self.pool.drop_at(scores[self.options.pool..].iter().map(|(_, at)| *at).collect());
        }
        suggestion
    }

    /// Brings the processes and the voters up to date.
    fn catch_up(&mut self, known: &[Known<'_>], times: &[f64], random: &mut ChaCha8Rng) {
        let extends = {
            let mut regressing = known.iter().filter(|known| known.regresses() && !self.left_out.contains(known.point));
            self.order.iter().all(|point| regressing.next().is_some_and(|known| known.point == point))
        };
        let refit = self.fitted == 0 || times.len() >= self.fitted + (self.fitted / REFIT_SHARE).max(2);
        if refit || !extends {
            if refit {
                self.fit(known, times, random);
            }
            self.start_over();
        }
        // What the processes have is where the list begins.
        let regressing = known.iter().filter(|known| known.regresses() && !self.left_out.contains(known.point));
        for known in regressing.skip(self.order.len()) {
            let vector = self.coordinates.of(known.point);
            self.processes.iter_mut().for_each(|process| process.append(&vector));
            self.order.push(known.point.clone());
        }
        let regressing = known.iter().filter(|known| known.regresses() && !self.left_out.contains(known.point));
        let targets: Vec<Option<f64>> =
            regressing.map(|known| known.time().map(|time| self.targets.of(time))).collect();
        self.processes.iter_mut().for_each(|process| process.set_targets(targets.iter().copied()));
        self.pool.remove(known.iter().map(|known| known.point));
        if known.iter().any(|known| known.verdict == Verdict::Infeasible) {
            for known in known.iter().filter(|known| known.verdict != Verdict::InFlight) {
                if self.voted.insert(known.point.clone()) {
                    let watched = self.processes[0].watch(&self.coordinates.of(known.point));
                    self.voters.push(Voter { watched, failed: known.verdict == Verdict::Infeasible });
                }
            }
        }
    }

    /// Fits the targets and the scales to the times. The first process takes the likeliest scales. Few times leave many
    /// scales likely, and the likeliest may be blind to a tunable that has not been seen to matter yet; so each further
    /// process draws an expectation from the prior and is fitted to that: where the times decide it comes out like the
    /// first one, elsewhere it remains a guess.
    fn fit(&mut self, known: &[Known<'_>], times: &[f64], random: &mut ChaCha8Rng) {
        self.targets = Targets::new(times, self.options.cap);
        self.left_out = left_out(known, self.options.window);
        let kept = known.iter().filter(|known| !self.left_out.contains(known.point));
        let (inputs, targets): (Vec<Vec<f64>>, Vec<f64>) =
            kept.filter_map(|known| Some((self.coordinates.of(known.point), self.targets.of(known.time()?)))).unzip();
        let prior = Prior::new(self.coordinates.groups(), &self.options);
        let (owners, steps) = (self.coordinates.owners(), self.options.fit_steps);
        self.scales.truncate((SHARED_TIMES / times.len()).max(1));
        for (member, scales) in self.scales.iter_mut().enumerate() {
            let expected = if member == 0 { prior.clone() } else { prior.drawn(random) };
            *scales = fit(owners, &inputs, &targets, &expected, scales, steps);
        }
        self.fitted = times.len();
    }

    /// Empties the processes, which take on the present scales.
    fn start_over(&mut self) {
        let owners = self.coordinates.owners();
        self.processes = self.scales.iter().map(|scales| Gaussian::new(owners, scales)).collect();
        self.order.clear();
        self.voters.clear();
        self.voted.clear();
        self.pool.watch_anew(&self.processes, &self.coordinates);
    }

    /// Lets new candidates in.
    fn refresh_pool(
        &mut self,
        space: &SearchSpace,
        archive: &Archive,
        feasibility: &Feasibility<'_>,
        random: &mut ChaCha8Rng,
    ) {
        if self.whole {
            return;
        }
        let mut coming: Vec<Point> = Vec::new();
        if let Some(all) = space.enumerate().filter(|all| all.len() <= self.options.pool) {
            self.whole = true;
            coming.extend(all.iter().cloned());
        } else {
            let ranked = archive.ranked(0);
            let elite: Vec<&Point> = ranked.iter().take(self.options.elite).map(|(point, _, _)| *point).collect();
            if let Some(best) = elite.first() {
                coming.extend(differing_in_one(space, best));
            }
            coming.extend(elite.iter().skip(1).flat_map(|point| space.neighbours(point)));
            coming.extend((0..self.options.offspring).filter_map(|_| offspring(space, &elite, random)));
            let missing = self.options.pool.saturating_sub(self.pool.len() + coming.len()).max(self.options.fresh);
            let drawn = (0..missing * DRAWS).filter_map(|_| space.sample(random));
            coming.extend(drawn.filter(|point| !feasibility.cannot_work(point)).take(missing));
        }
        for point in coming {
            if !archive.contains(&point) {
                self.pool.add(point, &self.processes, &self.coordinates);
            }
        }
    }

    /// Scores with positions in the pool: the best [`EXAMINED`] in order, then what has room in the pool, then the others. `share` is the share of failures, where there are any.
    fn scores(&mut self, target: f64, share: Option<f64>, prices: Option<&PriceList<'_>>) -> Vec<(f64, usize)> {
        /// Decides between candidates of which no improvement is expected.
        const TIE: f64 = 1e-9;
        let (processes, voters) = (&self.processes, &self.voters);
        let signals: Vec<f64> = processes.iter().map(Gaussian::signal_variance).collect();
        let weight = 1.0 / processes.len() as f64;
        let score = |(at, candidate): (usize, &mut super::pool::Candidate)| {
            let (mut mean, mut gain) = (0.0, 0.0);
            for ((process, signal), watched) in processes.iter().zip(&signals).zip(&mut candidate.watched) {
                let (expected, variance) = process.predict(watched);
                mean += weight * expected;
                gain += weight * expected_improvement(target, expected, libm::sqrt(signal * variance));
            }
            let tie = TIE / (10.0 + mean.max(-9.0));
            let feasible = share.map_or(1.0, |share| 1.0 - candidate.risk(voters, share));
            // With prices, what is expected of a unit of time.
            ((gain + tie) * feasible / prices.map_or(1.0, |prices| prices.of(&candidate.point)), at)
        };
        let mut scores: Vec<(f64, usize)> = self.pool.candidates().iter_mut().enumerate().map(score).collect();
        let better = |left: &(f64, usize), right: &(f64, usize)| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1));
        let room = self.options.pool;
        if scores.len() > room {
            scores.select_nth_unstable_by(room, better);
        }
        let kept = scores.len().min(room);
        if kept > EXAMINED {
            scores[..kept].select_nth_unstable_by(EXAMINED, better);
        }
        scores[..kept.min(EXAMINED)].sort_unstable_by(better);
        scores
    }
}

/// What the archive knows in the order of asking; what was told without having been asked comes first.
fn in_order(archive: &Archive) -> Vec<Known<'_>> {
    let mut entries: Vec<(u64, Known<'_>)> = archive
        .iter()
        .map(|(point, entry)| {
            let verdict = match &entry.outcome {
                None => Verdict::InFlight,
                Some(Observation::Objective(time)) if time.is_finite() => Verdict::Time(*time),
                Some(_) => Verdict::Infeasible,
            };
            (entry.asked, Known { point, verdict })
        })
        .collect();
    entries.sort_by(|left, right| left.0.cmp(&right.0).then_with(|| left.1.point.cmp(right.1.point)));
    entries.into_iter().map(|(_, known)| known).collect()
}

/// Timed points that a process of at most `window` observations does without.
fn left_out(known: &[Known<'_>], window: usize) -> HashSet<Point> {
    let mut timed: Vec<(f64, &Point)> = known.iter().filter_map(|known| Some((known.time()?, known.point))).collect();
    if timed.len() <= window {
        return HashSet::new();
    }
    timed.sort_by(|left, right| left.0.total_cmp(&right.0).then_with(|| left.1.cmp(right.1)));
    let others = &timed[window / 2..];
    let kept = window - window / 2;
    // Evenly over the ranks: position i is kept when the running share passes a whole number.
    let keeps = |i: usize| (i + 1) * kept / others.len() > i * kept / others.len();
    (0..others.len()).filter(|i| !keeps(*i)).map(|i| others[i].1.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_keeps_the_best_and_a_choice_of_the_rest() {
        let points: Vec<Point> = (0..100).map(|i| vec![i]).collect();
        let known: Vec<Known<'_>> =
            points.iter().map(|point| Known { point, verdict: Verdict::Time(f64::from(point[0]) + 1.0) }).collect();
        let gone = left_out(&known, 20);
        assert_eq!(gone.len(), 80);
        assert!((0..10).all(|i| !gone.contains(&vec![i])), "the best half stays");
        assert!(!gone.contains(&vec![99]), "and the far end is still known");
        assert!(left_out(&known, 100).is_empty());
    }
}
