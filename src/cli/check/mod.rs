//! `check`: compares what is there with `ascend.lock`, for one operator or for many: [`one`] builds and runs, [`drift`] compares digests,
//! [`remembered`] knows what passed before.

pub(super) mod drift;
mod findings;
mod many;
mod one;
mod remembered;
mod reports;

use std::time::Instant;

use super::Exit;
use super::args::{CheckArgs, Common};
use super::operators;
use super::output::{Output, exit_of};
use super::target::processors;
use events::{CheckSummary, CheckedOperator, Event};
use remembered::Memory;
pub use reports::ReportTo;
pub(super) use reports::top_of_checkout;
use tuner::TunerError;

/// Executes the command.
pub fn execute(common: &Common, arguments: &CheckArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let started = Instant::now();
    reports::refuse_two_on_one_stream(common, arguments)?;
    let chosen = operators::chosen(common, &arguments.operators, arguments.target.machine.as_deref())?;
    let jobs = arguments.target.jobs.map_or_else(processors, |jobs| jobs as usize);
    let summary = |operators: Vec<CheckedOperator>| CheckSummary {
        operators,
        drift_only: arguments.drift,
        left_out: chosen.left_out,
        wall_s: started.elapsed().as_secs_f64(),
    };
    if chosen.is_many || arguments.drift {
        let operators = many::check(common, arguments, &chosen.operators, jobs, output);
        let exit = Exit::highest(operators.iter().map(|operator| operator.exit));
        let summary = summary(operators);
        output.emit(&Event::Checks(summary.clone()));
        reports::write(&summary, arguments, &mut std::io::stdout().lock())?;
        return Ok(exit);
    }
    let memory = (!arguments.fresh).then(|| Memory::open(&arguments.target, arguments.tolerance)).flatten();
    let outcome = one::check(common, arguments, memory.as_ref(), output);
    let operator = checked(&common.project.display().to_string(), &outcome, started);
    reports::write(&summary(vec![operator]), arguments, &mut std::io::stdout().lock())?;
    outcome.map(|done| done.exit)
}

/// What became of an operator, as the summary has it.
fn checked(project: &str, outcome: &Result<one::Done, TunerError>, started: Instant) -> CheckedOperator {
    let wall_s = started.elapsed().as_secs_f64();
    match outcome {
        Ok(done) => CheckedOperator {
            project: project.to_owned(),
            operator: done.operator.clone(),
            verdict: done.check.outcome(),
            findings: done.check.findings.clone(),
            check: Some(done.check.clone()),
            exit: done.exit.code(),
            wall_s,
        },
        Err(error) => failed(project, error, wall_s),
    }
}

/// An operator of which nothing can be said.
fn failed(project: &str, error: &TunerError, wall_s: f64) -> CheckedOperator {
    CheckedOperator {
        project: project.to_owned(),
        operator: String::new(),
        verdict: events::Verdict::CannotTell,
        findings: vec![findings::of_error(error)],
        check: None,
        exit: exit_of(error).code(),
        wall_s,
    }
}
