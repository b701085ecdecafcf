//! Many operators under one limit of jobs: their events come in the order of the operators, whoever is done first.

use std::cell::RefCell;
use std::sync::Mutex;
use std::time::Instant;

use super::{Memory, Several, asked, drift, failed};
use crate::cli::args::{CheckArgs, Common, Target};
use crate::cli::entries::not_checked;
use crate::cli::operators::{Operator, in_order};
use crate::cli::output::Output;
use build::sdk::{Sdk, SdkOptions};
use events::{CheckedOperator, Event, Progress};

/// What one thread says of an operator: its events and what became of it, for each chip that is asked about.
type Said = (Vec<Event>, Vec<CheckedOperator>);

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
        |(_, checked): &Said| {
            let looked_at = |one: &&CheckedOperator| one.check.as_ref().is_none_or(|check| !check.remembered);
            for one in checked.iter().filter(|one| !arguments.drift && looked_at(one)) {
                let step = format!("{}: {}", one.name(), one.verdict.word());
                output.borrow_mut().emit(&Event::Progress(Progress { step }));
            }
        },
        |(events, checked)| {
            // People see what needs them; programs see everything.
            let mut output = output.borrow_mut();
            if output.json || checked.iter().any(|operator| !operator.verdict.passes()) {
                events.iter().for_each(|event| output.emit(event));
            }
            done.extend(checked);
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
            let Target { soc, machine, .. } = &self.arguments.target;
            let named = drift::Named { soc: soc.as_ref(), machine: machine.as_deref() };
            let compared = drift::compare(&operator.directory, &named);
            let wall_s = started.elapsed().as_secs_f64();
            let checked = match compared {
                Ok(compared) => compared.into_iter().map(|one| one.checked(&operator.name, wall_s)).collect(),
                Err(error) => vec![failed(&operator.name, &error, wall_s)],
            };
            return (Vec::new(), checked);
        }
        let (mut output, events) = Output::collecting("check", &common);
        let asked = asked(&operator.directory, &self.arguments.target);
        let of =
            Several { common: &common, arguments: self.arguments, memory: self.memory, prepare: &|| self.prepare() };
        let checked = of.entries(&asked, &operator.name, &mut output);
        not_checked(&asked.left_out).iter().for_each(|warning| output.emit(warning));
        drop(output);
        (events.into_iter().collect(), checked)
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
