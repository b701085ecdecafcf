//! Candidates that a model keeps an eye on.

use std::collections::{HashMap, HashSet};

use super::Coordinates;
use super::gaussian::{Gaussian, Watched};
use space::Point;

/// A point that could be asked, with what the model makes of it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The point.
    pub point: Point,
    /// Its prediction by each process.
    pub watched: Vec<Watched>,
    votes: Votes,
}

/// What points near a candidate say about its feasibility.
#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    failing: f64,
    all: f64,
    /// Voters heard so far.
    heard: usize,
}

/// A told point that says whether its neighbourhood is feasible.
#[derive(Clone, Debug)]
pub struct Voter {
    /// Where it is, in the scales of the first process.
    pub watched: Watched,
    /// Whether it was infeasible.
    pub failed: bool,
}

/// Weight of the overall share of failures against the votes of neighbours.
const PRIOR_VOTES: f64 = 0.1;

impl Candidate {
    /// Starts the predictions anew for these processes.
    fn watch_anew(&mut self, processes: &[Gaussian], coordinates: &Coordinates) {
        let vector = coordinates.of(&self.point);
        self.watched.resize_with(processes.len(), Watched::default);
        for (watched, process) in self.watched.iter_mut().zip(processes) {
            process.watch_anew(watched, &vector);
        }
        self.votes = Votes::default();
    }

    /// Expected chance that the candidate is infeasible: nearer points count more. `share` is the share of failures
    /// among all told points.
    pub fn risk(&mut self, voters: &[Voter], share: f64) -> f64 {
        for voter in &voters[self.votes.heard..] {
            let likeness = self.watched[0].likeness(&voter.watched);
            // Sharper than the kernel of times: feasibility ends at edges.
            let weight = likeness * likeness * likeness * likeness;
            self.votes.all += weight;
            self.votes.failing += if voter.failed { weight } else { 0.0 };
        }
        self.votes.heard = voters.len();
        (self.votes.failing + PRIOR_VOTES * share) / (self.votes.all + PRIOR_VOTES)
    }
}

/// The candidates, each point once.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    candidates: Vec<Candidate>,
    members: HashSet<Point>,
    /// Candidates that were let go, with what was made of them: neighbours of the best points come back with every question.
    dropped: HashMap<Point, Candidate>,
    /// Memory of candidates that were forgotten, for others.
    spare: Vec<Vec<Watched>>,
}

/// Dropped candidates that are remembered.
const REMEMBERED: usize = 2048;

impl Pool {
    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.candidates.len()
    }

    /// The point of a candidate.
    pub fn point(&self, at: usize) -> &Point {
        &self.candidates[at].point
    }

    /// The candidates.
    pub fn candidates(&mut self) -> &mut [Candidate] {
        &mut self.candidates
    }

    /// Adds a point that is not there yet.
    pub fn add(&mut self, point: Point, processes: &[Gaussian], coordinates: &Coordinates) {
        if self.members.insert(point.clone()) {
            let candidate = self.dropped.remove(&point).unwrap_or_else(|| {
                let mut candidate =
                    Candidate { point, watched: self.spare.pop().unwrap_or_default(), votes: Votes::default() };
                candidate.watch_anew(processes, coordinates);
                candidate
            });
            self.candidates.push(candidate);
        }
    }

    /// Takes out points that were asked or told meanwhile.
    pub fn remove<'a>(&mut self, points: impl IntoIterator<Item = &'a Point>) {
        let gone: HashSet<&Point> = points.into_iter().filter(|point| self.members.contains(*point)).collect();
        if gone.is_empty() {
            return;
        }
        for at in (0..self.candidates.len()).rev() {
            if gone.contains(&self.candidates[at].point) {
                self.candidates.swap_remove(at);
            }
        }
        for point in gone {
            self.members.remove(point);
        }
    }

    /// Takes out the candidates at these positions.
    pub fn drop_at(&mut self, mut positions: Vec<usize>) {
        positions.sort_unstable_by(|left, right| right.cmp(left));
        if self.dropped.len() + positions.len() > REMEMBERED {
            self.forget_dropped();
        }
        for at in positions {
            let gone = self.candidates.swap_remove(at);
            self.members.remove(&gone.point);
            self.dropped.insert(gone.point.clone(), gone);
        }
    }

    /// Starts all predictions anew for other processes, at least one.
    pub fn watch_anew(&mut self, processes: &[Gaussian], coordinates: &Coordinates) {
        self.forget_dropped();
        self.candidates.iter_mut().for_each(|candidate| candidate.watch_anew(processes, coordinates));
    }

    fn forget_dropped(&mut self) {
        let forgotten = self.dropped.drain().map(|(_, candidate)| candidate.watched);
        self.spare.extend(forgotten);
        self.spare.truncate(REMEMBERED);
    }
}
