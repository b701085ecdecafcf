//! Many operators under one limit of jobs: their events come in the order of the operators, whoever is done first.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

use super::{Memory, Several, asked, drift, failed};
use crate::cli::args::{CheckArgs, Common, Target};
use crate::cli::entries::not_checked;
use crate::cli::operators::Operator;
use crate::cli::output::Output;
use build::sdk::{Sdk, SdkOptions};
use events::{CheckedOperator, Event, Progress};

/// What one thread says of an operator: its place in the list, its events, and what became of it, for each chip that is asked about.
type Said = (usize, Vec<Event>, Vec<CheckedOperator>);

/// Checks all of them.
pub(super) fn check(
    common: &Common,
    arguments: &CheckArgs,
    operators: &[Operator],
    jobs: usize,
    output: &mut Output,
) -> Vec<CheckedOperator> {
    let at_once = jobs.min(operators.len()).max(1);
    // What an operator does at the same time and how many operators there are at the same time come out of one number.
    let each = u32::try_from((jobs / at_once).max(1)).unwrap_or(u32::MAX);
    let arguments = CheckArgs { target: Target { jobs: Some(each), ..arguments.target.clone() }, ..arguments.clone() };
    let remembers = !arguments.fresh && !arguments.drift;
    let memory = remembers.then(|| Memory::open(&arguments.target, arguments.tolerance)).flatten();
    let shared = Shared { common, arguments: &arguments, memory: memory.as_ref(), jobs, sdk: Mutex::new(false) };
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            let (sender, shared, next) = (sender.clone(), &shared, &next);
            scope.spawn(move || {
                while let Some((at, operator)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    operators.get(at).map(|operator| (at, operator))
                } {
                    send(&sender, shared.one(at, operator));
                }
            });
        }
        drop(sender);
        let mut waiting: Vec<Option<Said>> = operators.iter().map(|_| None).collect();
        let (mut next, mut done) = (0, Vec::with_capacity(operators.len()));
        for said in receiver {
            let at = said.0;
            for one in said.2.iter().filter(|one| one.check.as_ref().is_none_or(|check| !check.remembered)) {
                if !arguments.drift {
                    let step = format!("{}: {}", one.name(), one.verdict.word());
                    output.emit(&Event::Progress(Progress { step }));
                }
            }
            waiting[at] = Some(said);
            while let Some(said) = waiting.get_mut(next).and_then(Option::take) {
                let (_, events, operators) = said;
                // People see what needs them; programs see everything.
                if output.json || operators.iter().any(|operator| !operator.verdict.passes()) {
                    events.iter().for_each(|event| output.emit(event));
                }
                next += 1;
                done.extend(operators);
            }
        }
        done
    })
}

/// Nobody listens any more only where this very function has ended.
fn send(sender: &Sender<Said>, said: Said) {
    let _ = sender.send(said);
}

/// What the threads have in common.
struct Shared<'a> {
    common: &'a Common,
    arguments: &'a CheckArgs,
    memory: Option<&'a Memory>,
    jobs: usize,
    /// Whether the SDK was made ready: once, and with all jobs.
    sdk: Mutex<bool>,
}

impl Shared<'_> {
    fn one(&self, at: usize, operator: &Operator) -> Said {
        let started = Instant::now();
        let common = Common { project: operator.directory.clone(), ..self.common.clone() };
        if self.arguments.drift {
            let Target { soc, machine, .. } = &self.arguments.target;
            let named = drift::Named { soc: soc.as_ref(), machine: machine.as_deref() };
            let compared = drift::compare(&operator.directory, &named);
            let wall_s = started.elapsed().as_secs_f64();
            let checked = match compared {
                Ok(compared) => compared.into_iter().map(|one| one.checked(&operator.name, wall_s)).collect(),
                Err(error) => vec![failed(&operator.name, &error, wall_s)],
            };
            return (at, Vec::new(), checked);
        }
        let (mut output, events) = Output::collecting("check", &common);
        let asked = asked(&operator.directory, &self.arguments.target);
        let of =
            Several { common: &common, arguments: self.arguments, memory: self.memory, prepare: &|| self.prepare() };
        let checked = of.entries(&asked, &operator.name, &mut output);
        not_checked(&asked.left_out).iter().for_each(|warning| output.emit(warning));
        drop(output);
        (at, events.into_iter().collect(), checked)
    }

    /// Several operators would all begin by making the SDK ready. What goes wrong there each of them says for itself.
    fn prepare(&self) {
        if let Ok(mut ready) = self.sdk.lock()
            && !*ready
        {
            let _ = Sdk::prepare(&SdkOptions { jobs: self.jobs, ..SdkOptions::from_environment() });
            *ready = true;
        }
    }
}
