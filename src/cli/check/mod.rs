//! `check`: compares what is there with `ascend.lock`, for one operator or for many: [`one`] builds and runs, [`drift`] compares digests,
//! [`remembered`] knows what passed before.

pub(super) mod drift;
mod findings;
mod many;
mod one;
mod remembered;
mod reports;
mod timed;

use std::path::Path;
use std::time::Instant;

use super::Exit;
use super::args::{CheckArgs, Common, Target};
use super::entries::{Asked, not_checked, to_be_checked};
use super::operators;
use super::output::{Output, exit_of};
use super::target::processors;
use events::{CheckSummary, CheckedOperator, Event};
use lock::{EntryName, LOCK_FILE};
use project::OperatorProject;
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
    let asked = asked(&common.project, &arguments.target);
    let project = common.project.display().to_string();
    if let [_] = asked.names.as_slice() {
        let outcome = one::check(common, arguments, memory.as_ref(), &|| {}, output);
        not_checked(&asked.left_out).iter().for_each(|warning| output.emit(warning));
        let operator = checked(&project, "", &outcome, started);
        reports::write(&summary(vec![operator]), arguments, &mut std::io::stdout().lock())?;
        return outcome.map(|done| done.exit);
    }
    // A lock for several chips is as several operators.
    let several = Several { common, arguments, memory: memory.as_ref(), prepare: &|| {} };
    let each = several.entries(&asked, &project, output);
    not_checked(&asked.left_out).iter().for_each(|warning| output.emit(warning));
    let exit = Exit::highest(each.iter().map(|entry| entry.exit));
    let summary = summary(each);
    output.emit(&Event::Checks(summary.clone()));
    reports::write(&summary, arguments, &mut std::io::stdout().lock())?;
    Ok(exit)
}

/// The entries of an operator's lock that a check is about.
fn asked(directory: &Path, target: &Target) -> Asked {
    let here = directory.join(LOCK_FILE);
    let path = if here.exists() {
        Some(here)
    } else {
        OperatorProject::find(directory).ok().map(|found| found.root.join(LOCK_FILE))
    };
    to_be_checked(path.and_then(|path| lock::read(&path).ok()).as_ref(), target)
}

/// Checks what a lock holds for each of several chips.
struct Several<'a> {
    common: &'a Common,
    arguments: &'a CheckArgs,
    memory: Option<&'a Memory>,
    /// What is done before the first that is not remembered.
    prepare: &'a dyn Fn(),
}

impl Several<'_> {
    fn entries(&self, asked: &Asked, project: &str, output: &mut Output) -> Vec<CheckedOperator> {
        let one = |name: &Option<EntryName>| {
            let started = Instant::now();
            let memory = self.memory.map(|memory| memory.of(name.as_ref()));
            let target = Target { soc: name.clone(), ..self.arguments.target.clone() };
            let arguments = CheckArgs { target, ..self.arguments.clone() };
            let outcome = one::check(self.common, &arguments, memory.as_ref(), self.prepare, output);
            let soc = match (name, &outcome, asked.names.len()) {
                (_, _, 1) => String::new(),
                (Some(name), ..) => name.to_string(),
                (None, Ok(done), _) => {
                    format!("{}:{}", done.check.machine.to_ascii_lowercase(), done.check.origin.word())
                }
                (None, Err(_), _) => String::new(),
            };
            checked(project, &soc, &outcome, started)
        };
        asked.names.iter().map(one).collect()
    }
}

/// What became of an operator, as the summary has it. `soc` names the entry of a lock of several.
fn checked(project: &str, soc: &str, outcome: &Result<one::Done, TunerError>, started: Instant) -> CheckedOperator {
    let wall_s = started.elapsed().as_secs_f64();
    match outcome {
        Ok(done) => CheckedOperator {
            project: project.to_owned(),
            soc: soc.to_owned(),
            operator: done.operator.clone(),
            verdict: done.check.outcome(),
            findings: done.check.findings.clone(),
            check: Some(done.check.clone()),
            exit: done.exit.code(),
            wall_s,
        },
        Err(error) => CheckedOperator { soc: soc.to_owned(), ..failed(project, error, wall_s) },
    }
}

/// An operator of which nothing can be said.
fn failed(project: &str, error: &TunerError, wall_s: f64) -> CheckedOperator {
    CheckedOperator {
        project: project.to_owned(),
        soc: String::new(),
        operator: String::new(),
        verdict: events::Verdict::CannotTell,
        findings: vec![findings::of_error(error)],
        check: None,
        exit: exit_of(error).code(),
        wall_s,
    }
}
