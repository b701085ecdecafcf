//! Many operators under one limit of jobs: their events come in the order of the operators, whoever is done first.

use std::cell::RefCell;
use std::sync::Mutex;
use std::time::Instant;

use super::{Memory, checked, drift, failed, one};
use crate::cli::args::{CheckArgs, Common, Target};
use crate::cli::operators::{Operator, in_order};
use crate::cli::output::Output;
use build::sdk::{Sdk, SdkOptions};
use events::{CheckedOperator, Event, Progress};

/// What one thread says of an operator: its events and what became of it.
type Said = (Vec<Event>, CheckedOperator);

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
    let mut done = Vec::with_capacity(operators.len());
    let output = RefCell::new(output);
    in_order(
        operators.len(),
        at_once,
        |at| shared.one(&operators[at]),
        |(_, operator): &Said| {
            if !arguments.drift && operator.check.as_ref().is_none_or(|check| !check.remembered) {
                let step = format!("{}: {}", operator.project, operator.verdict.word());
                output.borrow_mut().emit(&Event::Progress(Progress { step }));
            }
        },
        |(events, operator)| {
            // People see what needs them; programs see everything.
            let mut output = output.borrow_mut();
            if output.json || !operator.verdict.passes() {
                events.iter().for_each(|event| output.emit(event));
            }
            done.push(operator);
        },
    );
    done
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
    fn one(&self, operator: &Operator) -> Said {
        let started = Instant::now();
        let common = Common { project: operator.directory.clone(), ..self.common.clone() };
        if self.arguments.drift {
            let compared = drift::compare(&operator.directory, self.arguments.target.machine.as_deref());
            let wall_s = started.elapsed().as_secs_f64();
            let checked = match compared {
                Ok(compared) => compared.checked(&operator.name, wall_s),
                Err(error) => failed(&operator.name, &error, wall_s),
            };
            return (Vec::new(), checked);
        }
        let (mut output, events) = Output::collecting("check", &common);
        let known = self.memory.and_then(|memory| memory.recall(&operator.directory));
        let outcome = match known {
            Some(known) => Ok(one::tell(known, &common, &mut output)),
            None => {
                self.prepare();
                one::check(&common, self.arguments, self.memory, &mut output)
            }
        };
        drop(output);
        (events.into_iter().collect(), checked(&operator.name, &outcome, started))
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
