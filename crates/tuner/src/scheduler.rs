//! Which stage gets the next turn: by what turns have brought, not by a fixed order.

use super::session::{Scarce, Spent};
use events::Stage;

/// Relative gain, as a logarithm, over what it cost.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rate {
    evaluation: f64,
    second: f64,
}

impl Rate {
    const NOTHING: Self = Self { evaluation: 0.0, second: 0.0 };

    /// The objective fell by the factor `gain` for what was spent.
    fn brought(gain: f64, spent: Spent) -> Self {
        let gain = gain.max(1.0).ln();
        Self { evaluation: gain / spent.evaluations.max(1) as f64, second: gain / spent.seconds.max(LEAST_SECONDS) }
    }

    fn of(self, scarce: Scarce) -> f64 {
        match scarce {
            Scarce::Evaluations => self.evaluation,
            Scarce::Time => self.second,
        }
    }
}

/// What is known of one stage.
#[derive(Clone, Copy, Debug)]
struct Evidence {
    stage: Stage,
    /// What the next turn promises; `None` before the first.
    promise: Option<Rate>,
    /// Number of the last turn, from 1; 0 before the first.
    last: usize,
    /// Turns it had.
    turns: u32,
}

/// A turn that a stage is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Whose turn it is.
    pub stage: Stage,
    /// Why.
    pub reason: String,
    /// Evaluations that it may take.
    pub evaluations: u64,
    /// What the best other stage promises.
    rival: Rate,
    scarce: Scarce,
}

impl Turn {
    /// Whether it is long enough for a stage that finds nothing in it to count as idle.
    pub fn is_long(&self) -> bool {
        self.evaluations >= LONG_TURN
    }

    /// A turn to try what is known before any search.
    pub fn of_known(stage: Stage, reason: &str, evaluations: u64) -> Self {
        Self { stage, reason: reason.to_owned(), evaluations, rival: Rate::NOTHING, scarce: Scarce::Evaluations }
    }

    /// What ends it: so many evaluations at most, and so many without improvement.
    pub fn limits(&self, evaluations: u64, patience: u64) -> Limits {
        let evaluations = self.evaluations.min(evaluations);
        Limits { evaluations, patience, rival: self.rival, scarce: self.scarce }
    }
}

/// What ends a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    evaluations: u64,
    patience: u64,
    rival: Rate,
    scarce: Scarce,
}

impl Limits {
    /// Nobody else waits: only so many evaluations without improvement end the turn.
    pub fn alone(patience: u64) -> Self {
        Self { evaluations: u64::MAX, patience, rival: Rate::NOTHING, scarce: Scarce::Evaluations }
    }

    /// Whether nobody else waits.
    pub fn is_alone(&self) -> bool {
        self.evaluations == u64::MAX
    }

    /// Whether the turn is over after what it has spent, with the last `idle` evaluations without improvement, the objective
    /// lower by the factor `gain` since its begin. It is where it has brought less for what is scarce than another stage promises,
    /// but not before it could have brought anything.
    pub fn reached(&self, spent: Spent, idle: u64, gain: f64) -> bool {
        let behind = || Rate::brought(gain, spent).of(self.scarce) < self.rival.of(self.scarce);
        spent.evaluations >= self.evaluations || idle >= self.patience || (spent.evaluations >= FIRST_TURN && behind())
    }

    /// Evaluations that are left of the turn.
    pub fn left(&self, spent: Spent) -> u64 {
        self.evaluations.saturating_sub(spent.evaluations)
    }
}

/// Gives turns to stages.
#[derive(Clone, Debug)]
pub struct Scheduler {
    stages: Vec<Evidence>,
    turns: usize,
}

/// A stage whose ground was shifted by the other one is expected to bring this share of what the other one brought.
const SHIFTED_GROUND: f64 = 0.5;

/// Evaluations of a stage's first turn. Each further turn of it may take twice as many: at first the other stage is likely to
/// have something better, later what is left is hard to find.
const FIRST_TURN: u64 = 4;
const LONG_TURN: u64 = 16;

/// Evaluations answered by the journal of an earlier version have no seconds; nothing is free for that.
const LEAST_SECONDS: f64 = 1e-3;

impl Scheduler {
    /// Stages in the order of their first turns.
    pub fn new(stages: &[Stage]) -> Self {
        let stages = stages.iter().map(|&stage| Evidence { stage, promise: None, last: 0, turns: 0 }).collect();
        Self { stages, turns: 0 }
    }

    /// A turn for the stage with the best promise for what is scarce. Who had no turn yet comes first; equals take turns.
    /// `None` without stages.
    pub fn next(&mut self, scarce: Scarce) -> Option<Turn> {
        // With a single stage there is nobody to hand over to.
        let alone = self.stages.len() == 1;
        self.turns += 1;
        let turns = self.turns;
        let order = |left: &Evidence, right: &Evidence| {
            let promise = |evidence: &Evidence| evidence.promise.map_or(f64::INFINITY, |rate| rate.of(scarce));
            promise(right).total_cmp(&promise(left)).then(left.last.cmp(&right.last))
        };
        let at = (0..self.stages.len()).min_by(|left, right| order(&self.stages[*left], &self.stages[*right]))?;
        let others = self.stages.iter().enumerate().filter(|(other, _)| *other != at);
        let promises = others.filter_map(|(_, evidence)| evidence.promise);
        let rival = promises.max_by(|left, right| left.of(scarce).total_cmp(&right.of(scarce)));
        let chosen = &mut self.stages[at];
        chosen.last = turns;
        chosen.turns += 1;
        let grown = FIRST_TURN << (chosen.turns - 1).min(u64::BITS / 2);
        let evaluations = if alone { u64::MAX } else { grown };
        let what = match scarce {
            Scarce::Evaluations => "an evaluation",
            Scarce::Time => "a second",
        };
        let reason = match chosen.promise.map(|rate| rate.of(scarce)) {
            None => "its first turn".to_owned(),
            Some(rate) if rate > 0.0 => format!("it promises {:.2} % {what}", rate.exp_m1() * 100.0),
            Some(_) => "no stage promises anything; they take turns".to_owned(),
        };
        Some(Turn { stage: chosen.stage, reason, evaluations, rival: rival.unwrap_or(Rate::NOTHING), scarce })
    }

    /// Whether a stage had a turn.
    pub fn had_turn(&self, stage: Stage) -> bool {
        self.stages.iter().any(|evidence| evidence.stage == stage && evidence.turns > 0)
    }

    /// Takes note of a turn: the objective fell by the factor `gain` (1 for nothing) for what was spent.
    pub fn learn(&mut self, stage: Stage, gain: f64, spent: Spent) {
        let rate = Rate::brought(gain, spent);
        for evidence in &mut self.stages {
            if evidence.stage == stage {
                evidence.promise = Some(rate);
            } else if let Some(promise) = &mut evidence.promise {
                promise.evaluation = promise.evaluation.max(rate.evaluation * SHIFTED_GROUND);
                promise.second = promise.second.max(rate.second * SHIFTED_GROUND);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(scheduler: &mut Scheduler, gains: &[(f64, f64)]) -> Vec<Stage> {
        order_of(scheduler, gains, Scarce::Evaluations, 1.0)
    }

    /// Turns of ten evaluations; one of the kernel stage takes `dearer` times the seconds.
    fn order_of(scheduler: &mut Scheduler, gains: &[(f64, f64)], scarce: Scarce, dearer: f64) -> Vec<Stage> {
        // Gain of a turn by stage: host, kernel.
        let turn = |&(host, kernel): &(f64, f64)| {
            let stage = scheduler.next(scarce).unwrap().stage;
            let (gain, seconds) = if stage == Stage::Host { (host, 1.0) } else { (kernel, dearer) };
            scheduler.learn(stage, gain, Spent { evaluations: 10, seconds });
            stage
        };
        gains.iter().map(turn).collect()
    }

    #[test]
    fn everyone_has_a_first_turn_and_then_evidence_decides() {
        let (host, kernel) = (Stage::Host, Stage::Kernel);
        let mut scheduler = Scheduler::new(&[host, kernel]);
        // The host stage brought 5 %, the kernel stage twice the speed: it goes on, until it brings nothing any more.
        let turns = order(&mut scheduler, &[(1.05, 1.0), (1.0, 2.0), (1.0, 1.5), (1.0, 1.0), (1.0, 1.0), (1.0, 1.0)]);
        assert_eq!(turns, [host, kernel, kernel, kernel, host, kernel]);
    }

    #[test]
    fn a_rewrite_opens_the_tunables_again() {
        let (host, kernel) = (Stage::Host, Stage::Kernel);
        let mut scheduler = Scheduler::new(&[host, kernel]);
        let turns = order(&mut scheduler, &[(1.0, 1.0), (1.0, 2.0), (1.0, 1.2), (1.1, 1.0)]);
        assert_eq!(
            turns,
            [host, kernel, kernel, host],
            "half of what the first rewrites brought is more than the second's"
        );
    }

    #[test]
    fn where_time_is_scarce_a_dear_stage_has_to_bring_more() {
        let (host, kernel) = (Stage::Host, Stage::Kernel);
        let gains = [(1.05, 1.0), (1.0, 1.2), (1.03, 1.2)];
        let turns = |scarce| order_of(&mut Scheduler::new(&[host, kernel]), &gains, scarce, 20.0);
        assert_eq!(turns(Scarce::Evaluations), [host, kernel, kernel], "20 % for as many evaluations");
        assert_eq!(turns(Scarce::Time), [host, kernel, host], "but a second of it brings less");
    }

    #[test]
    fn first_turns_are_short() {
        let mut scheduler = Scheduler::new(&[Stage::Kernel, Stage::Host]);
        let mut next = |_| scheduler.next(Scarce::Evaluations).map(|turn| (turn.evaluations, turn.is_long()));
        let turns: Vec<_> = (0..6).filter_map(&mut next).collect();
        assert!(scheduler.had_turn(Stage::Host) && !Scheduler::new(&[Stage::Host]).had_turn(Stage::Host));
        assert_eq!(turns, [(4, false), (4, false), (8, false), (8, false), (16, true), (16, true)]);
    }

    #[test]
    fn a_turn_ends_where_another_stage_promises_more_than_it_has_brought() {
        let mut scheduler = Scheduler::new(&[Stage::Kernel, Stage::Host]);
        let spent = |evaluations| Spent { evaluations, seconds: 1.0 };
        for gain in [2.0, 1.5] {
            let turn = scheduler.next(Scarce::Evaluations).unwrap();
            assert!(!turn.limits(100, 100).reached(spent(3), 3, 1.0), "nobody has promised anything");
            scheduler.learn(turn.stage, gain, spent(4));
        }
        // The kernel stage goes on; the host stage promises 1.5x in four evaluations.
        let turn = scheduler.next(Scarce::Evaluations).unwrap();
        let limits = turn.limits(100, 100);
        assert_eq!(turn.stage, Stage::Kernel);
        assert!(!limits.reached(spent(3), 3, 1.0), "not before a first turn's length");
        assert!(limits.reached(spent(4), 4, 1.0) && !limits.reached(spent(4), 0, 1.6));
        assert!(limits.reached(spent(7), 3, 1.6), "1.6x in seven evaluations is less");
        assert!(limits.reached(spent(8), 0, 9.0), "it has eight");
        assert!(Limits::alone(16).reached(spent(16), 16, 1.0) && !Limits::alone(16).reached(spent(99), 15, 1.0));
    }

    #[test]
    fn a_single_stage_has_every_turn() {
        let mut scheduler = Scheduler::new(&[Stage::Kernel]);
        assert_eq!(scheduler.next(Scarce::Evaluations).map(|turn| turn.evaluations), Some(u64::MAX));
        assert_eq!(order(&mut scheduler, &[(1.0, 1.0); 3]), [Stage::Kernel; 3]);
        assert!(Scheduler::new(&[]).next(Scarce::Evaluations).is_none());
    }
}
