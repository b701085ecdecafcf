//! Manifests for many operators: several at the same time, told in the order of the operators.

use std::io::Write as _;
use std::time::Instant;

use super::one;
use crate::cli::Exit;
use crate::cli::args::{Common, InitArgs};
use crate::cli::operators::{Operator, Uninitialised, in_order, uninitialised};
use crate::cli::output::{Output, exit_of, start_event};
use build::BuildError;
use build::sdk::{Sdk, SdkOptions};
use events::{Event, InitEnd, InitOutcome, InitsDone, Progress};
use toolchain::Cmake;
use tuner::TunerError;

/// What one thread says of an operator: its events, what became of it, and the manifest.
struct Said {
    events: Vec<Event>,
    end: InitEnd,
    text: Option<String>,
}

/// Makes the manifests of all operators that the arguments mean. What goes wrong with one keeps none of the others from its turn, and
/// the highest exit status counts.
///
/// # Errors
/// Where operators cannot be chosen, or what all of them need is not there: then no manifest is written.
pub(super) fn make(
    common: &Common,
    arguments: &InitArgs,
    jobs: usize,
    output: &mut Output,
) -> Result<Exit, TunerError> {
    let started = Instant::now();
    let Uninitialised { operators, left_alone, other_chips } = uninitialised(common, arguments)?;
    output.emit(&Event::Start(start_event("init", common)));
    let (count, at_once) = (operators.len(), jobs.min(operators.len()).max(1));
    if count > 0 {
        output.emit(&Event::Progress(Progress { step: format!("at {}, {at_once} at a time", counted(count)) }));
        // Without these each of them would be a guess, or fail.
        Sdk::prepare(&SdkOptions { jobs, ..SdkOptions::from_environment() })?;
        Cmake::find().map_err(BuildError::from)?;
    }
    let each = (jobs / at_once).max(1);
    let is_json = output.json;
    let mut done: Vec<InitEnd> = Vec::with_capacity(count + left_alone.len());
    let (mut finished, output) = (0, std::cell::RefCell::new(output));
    in_order(
        count,
        at_once,
        |at| said(common, arguments, &operators[at], each),
        |said| {
            finished += 1;
            let step = format!("{finished} of {count}, {}: {}", said.end.project, words(&said.end));
            output.borrow_mut().emit(&Event::Progress(Progress { step }));
        },
        |said| {
            // People see what needs them; programs see everything.
            if is_json || common.verbose > 0 || said.end.outcome == InitOutcome::Failed {
                said.events.iter().for_each(|event| output.borrow_mut().emit(event));
            }
            if let Some(text) = said.text.filter(|_| arguments.dry_run && !is_json) {
                // Nobody reads any more: what is not written there is not missed.
                let _ = writeln!(std::io::stdout(), "# {}/ascend.toml\n{text}", said.end.project);
            }
            done.push(said.end);
        },
    );
    done.extend(left_alone.into_iter().map(|operator| InitEnd { project: operator.name, ..InitEnd::default() }));
    done.sort_by(|one, other| one.project.cmp(&other.project));
    let exit = Exit::highest(done.iter().map(|end| end.exit));
    let wall_s = started.elapsed().as_secs_f64();
    output.into_inner().emit(&Event::Inits(InitsDone { operators: done, other_chips, wall_s }));
    Ok(exit)
}

fn said(common: &Common, arguments: &InitArgs, operator: &Operator, jobs: usize) -> Said {
    let began = Instant::now();
    let common = Common { project: operator.directory.clone(), ..common.clone() };
    let (mut output, events) = Output::collecting("init", &common);
    let project = operator.name.clone();
    let (end, text) = match one::make(&common, arguments, jobs, &mut output) {
        Ok(made) => {
            let end = InitEnd {
                project,
                outcome: if made.init.written { InitOutcome::Written } else { InitOutcome::Shown },
                operator: made.init.operator,
                cases: made.init.cases.len() as u64,
                tunables: made.init.tunables.len() as u64,
                remarks: made.remarks,
                ..InitEnd::default()
            };
            (end, Some(made.text))
        }
        Err(error) => {
            output.fail(&error);
            let reason = error.to_string().lines().next().map(str::to_owned);
            let (outcome, exit) = (InitOutcome::Failed, exit_of(&error).code());
            (InitEnd { project, outcome, reason, exit, ..InitEnd::default() }, None)
        }
    };
    drop(output);
    Said { events: events.into_iter().collect(), end: InitEnd { wall_s: began.elapsed().as_secs_f64(), ..end }, text }
}

fn words(end: &InitEnd) -> String {
    match end.outcome {
        InitOutcome::Failed => "no manifest".to_owned(),
        _ => format!("{}, cases: {}, tunables: {}", end.operator, end.cases, end.tunables),
    }
}

fn counted(operators: usize) -> String {
    format!("{operators} {}", if operators == 1 { "operator" } else { "operators" })
}
