//! What made a moment as late as it is.
//!
//! The play computes every time as the latest of some earlier times plus a cost. A [`Moment`] is such a time. Most plays
//! use plain numbers; where somebody wants to know why, the same code is played with [`Traced`] moments, which also keep
//! the one earlier moment that decided and what the time after it was spent on. Going back from the end of the longest
//! core gives its critical path. Plain numbers pay nothing for this.

use std::collections::{BTreeMap, HashMap};

use super::key_hasher::ByKey;
use super::profile::{PathPart, PathStep};
use super::record::{S, pipe_name};
use super::trace::Opcode;

/// Moments kept of one block; 32 bytes each.
const NODE_LIMIT: usize = 1 << 23;
const NONE: u32 = u32::MAX;

/// What time is spent on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeSpent {
    pub(crate) part: PathPart,
    pub(crate) pipe: u8,
    pub(crate) opcode: u16,
    pub(crate) site: u64,
}

impl TimeSpent {
    pub(crate) fn new(part: PathPart, pipe: usize, (opcode, site): (u16, u64)) -> Self {
        Self { part, pipe: pipe as u8, opcode, site }
    }
}

/// A time in cycles.
pub(crate) trait Moment: Copy + Default {
    /// Where the history of a block's moments is kept.
    type Log: Clone;
    /// The log of a block; nothing is kept unless it is followed.
    fn log(block: usize, followed: bool) -> Self::Log;
    /// The time.
    fn at(self) -> f64;
    /// A time that is not known yet.
    fn unknown() -> Self;
    /// `at`, which `step` led to from here.
    fn until(self, at: f64, step: TimeSpent, log: &mut Self::Log) -> Self;
    /// `cycles` from here, spent on `step`.
    fn after(self, cycles: f64, step: TimeSpent, log: &mut Self::Log) -> Self {
        self.until(self.at() + cycles, step, log)
    }
    /// The later one; this one if both are alike.
    fn later(self, other: Self) -> Self {
        if other.at() > self.at() { other } else { self }
    }
}

impl Moment for f64 {
    type Log = ();
    fn log(_: usize, _: bool) {}
    fn at(self) -> f64 {
        self
    }
    fn unknown() -> Self {
        f64::INFINITY
    }
    fn until(self, at: f64, _: TimeSpent, (): &mut ()) -> Self {
        at
    }
}

/// A time that knows what led to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Traced {
    at: f64,
    block: u32,
    node: u32,
}

impl Default for Traced {
    fn default() -> Self {
        Self { at: 0.0, block: 0, node: NONE }
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    before: Traced,
    step: TimeSpent,
}

/// Moments of one block.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    block: u32,
    nodes: Option<Vec<Node>>,
}

impl Moment for Traced {
    type Log = Log;
    fn log(block: usize, followed: bool) -> Log {
        Log { block: block as u32, nodes: followed.then(Vec::new) }
    }
    fn at(self) -> f64 {
        self.at
    }
    fn unknown() -> Self {
        Self { at: f64::INFINITY, ..Self::default() }
    }
    fn until(self, at: f64, step: TimeSpent, log: &mut Log) -> Self {
        match &mut log.nodes {
            Some(nodes) if nodes.len() < NODE_LIMIT => {
                nodes.push(Node { before: self, step });
                Self { at, block: log.block, node: (nodes.len() - 1) as u32 }
            }
            _ => Self { at, ..Self::default() },
        }
    }
}

/// A stretch of the path, from its latest to its earliest.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    step: TimeSpent,
    block: u32,
    cycles: f64,
}

/// Stretches from `end` back to time 0. They add up to the time of `end`.
fn walk(end: Traced, logs: &[Option<&Log>]) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let mut now = end;
    loop {
        let nodes = logs.get(now.block as usize).copied().flatten().and_then(|log| log.nodes.as_ref());
        let Some(node) = nodes.and_then(|nodes| nodes.get(now.node as usize)).filter(|_| now.node != NONE) else {
            break;
        };
        stretches.push(Stretch { step: node.step, block: now.block, cycles: now.at - node.before.at });
        now = node.before;
    }
    if now.at > 0.0 {
        let step = TimeSpent::new(PathPart::Unfollowed, S, (u16::MAX, 0));
        stretches.push(Stretch { step, block: NONE, cycles: now.at });
    }
    stretches
}

/// How the path goes on from one stretch to a later one of another pipe: what the later one is spent on, and both pipes.
#[derive(Clone, Copy, PartialEq)]
struct Way {
    part: PathPart,
    from: u8,
    to: u8,
}

impl Way {
    fn between(from: &Stretch, to: &Stretch) -> Self {
        Self { part: to.step.part, from: from.step.pipe, to: to.step.pipe }
    }

    fn name(self) -> String {
        let from = pipe_name(usize::from(self.from));
        let to = pipe_name(usize::from(self.to));
        match self.part {
            PathPart::Cores => "other cores".to_owned(),
            PathPart::Start => "next block of the core".to_owned(),
            PathPart::Flag => format!("flag {from}->{to}"),
            PathPart::BarrierAll => "barrier all".to_owned(),
            PathPart::Issue => format!("queue of {from} full"),
            PathPart::Scalar => format!("{from}->s access order"),
            _ if usize::from(self.from) == S => format!("issue to {to}"),
            _ => format!("{from}->{to}"),
        }
    }
}

/// The time that the path spends on one kind of step, and the ways it leaves by; `None` is the path's end.
#[derive(Default)]
struct Sum {
    cycles: f64,
    count: u64,
    ways: Vec<(Option<Way>, f64)>,
}

impl Sum {
    fn add(&mut self, cycles: f64, way: Option<Way>) {
        self.cycles += cycles;
        self.count += 1;
        match self.ways.iter_mut().find(|(known, _)| *known == way) {
            Some((_, sum)) => *sum += cycles,
            None => self.ways.push((way, cycles)),
        }
    }

    /// The way of most of the time; of several of one name, as one.
    fn main_way(&self) -> String {
        let mut names: BTreeMap<String, f64> = BTreeMap::new();
        for (way, cycles) in &self.ways {
            *names.entry(way.map_or_else(String::new, Way::name)).or_default() += cycles;
        }
        let most = names.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        most.map_or_else(String::new, |(name, _)| name)
    }
}

/// The path to `end`, gathered by what the time is spent on and where; largest first.
///
/// Each step says by which edge the path mostly leaves its pipe.
pub(crate) fn steps(end: Traced, logs: &[Option<&Log>], opcodes: &[Opcode], us: impl Fn(f64) -> f64) -> Vec<PathStep> {
    let mut sums: HashMap<(PathPart, u8, u16, u64), Sum, ByKey> = HashMap::default();
    let mut way = None;
    let mut later: Option<Stretch> = None;
    for stretch in walk(end, logs) {
        if let Some(later) = later.filter(|later| (later.block, later.step.pipe) != (stretch.block, stretch.step.pipe))
        {
            way = Some(Way::between(&stretch, &later));
        }
        later = Some(stretch);
        let step = stretch.step;
        sums.entry((step.part, step.pipe, step.opcode, step.site)).or_default().add(stretch.cycles, way);
    }
    let mut steps: Vec<PathStep> = sums
        .into_iter()
        .map(|((part, pipe, opcode, site), sum)| PathStep {
            pipe: pipe_name(usize::from(pipe)).to_owned(),
            part,
            opcode: opcodes.get(usize::from(opcode)).map_or_else(String::new, |opcode| opcode.name.clone()),
            time_us: us(sum.cycles),
            count: sum.count,
            via: sum.main_way(),
            site,
        })
        .collect();
    let key = |step: &PathStep| (step.pipe.clone(), step.part, step.opcode.clone(), step.site);
    steps.sort_by(|a, b| b.time_us.total_cmp(&a.time_us).then_with(|| key(a).cmp(&key(b))));
    steps
}
