//! Commands on many operators: which those are ([`select`], [`changed`], [`uninitialised`](mod@uninitialised)), one after the other, and several at the same
//! time ([`in_order`](mod@in_order)).

mod changed;
mod in_order;
mod select;
mod uninitialised;

use std::time::Instant;

pub(super) use in_order::in_order;
pub(super) use select::{Operator, chosen, in_workspace};
pub(super) use uninitialised::{Uninitialised, uninitialised};

use super::Exit;
use super::args::{Common, Operators, Target};
use super::output::{Output, exit_of};
use events::{Event, OperatorEnd, OperatorsDone, Progress};
use tuner::TunerError;

/// Does what `one` does: to the project of the common options, or to each operator that is named. What goes wrong with one keeps none of the
/// others from its turn, and the highest exit status counts. Each has all jobs while it has its turn: what a run measures should not
/// depend on what runs beside it.
///
/// # Errors
/// Where operators cannot be chosen; for a single operator also what `one` says.
pub(super) fn each(
    common: &Common,
    operators: &Operators,
    target: &Target,
    output: &mut Output,
    one: impl Fn(&Common, &mut Output) -> Result<Exit, TunerError>,
) -> Result<Exit, TunerError> {
    let started = Instant::now();
    let chosen = chosen(common, operators, target.machine.as_deref())?;
    if !chosen.is_many {
        return one(common, output);
    }
    let count = chosen.operators.len();
    let mut done: Vec<OperatorEnd> = Vec::with_capacity(count);
    for (at, operator) in chosen.operators.iter().enumerate() {
        let began = Instant::now();
        output.emit(&Event::Progress(Progress { step: format!("{} of {count}: {}", at + 1, operator.name) }));
        let common = Common { project: operator.directory.clone(), ..common.clone() };
        let ended = one(&common, output);
        let (exit, reason) = match ended {
            Ok(exit) => (exit, None),
            Err(error) => {
                output.fail(&error);
                (exit_of(&error), error.to_string().lines().next().map(str::to_owned))
            }
        };
        let (project, exit, wall_s) = (operator.name.clone(), exit.code(), began.elapsed().as_secs_f64());
        done.push(OperatorEnd { project, exit, reason, claimed: output.take_claimed(), wall_s });
    }
    let exit = Exit::highest(done.iter().map(|end| end.exit));
    output.emit(&Event::OperatorsDone(OperatorsDone {
        operators: done,
        left_out: chosen.left_out,
        wall_s: started.elapsed().as_secs_f64(),
    }));
    Ok(exit)
}
