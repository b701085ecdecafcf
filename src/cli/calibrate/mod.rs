//! `calibrate`: constants fitted to measured figures.

mod device;
mod journal;
mod measured;

use std::collections::BTreeMap;
use std::path::Path;

use super::Exit;
use super::args::{CalibrateArgs, Common};
use super::fidelity::{Prepared, read_table};
use super::output::{Output, write_whole};
use super::target::processors;
use aicore::Machine;
use events::{Event, Start, Warning};
use project::load_machine;
use studies::fidelity::{Case, Measured, Recorded, Task, calibrate, description};
use tuner::TunerError;

/// Rows to fit to, with all that their figures are modelled from.
struct Rows {
    cases: Vec<Case>,
    recorded: Recorded,
    machines: BTreeMap<String, Machine>,
    /// Digest of where they come from.
    digest: String,
    /// Constants to fit where none is asked for, of rows that one device gave; empty for all that the rows determine.
    constants: Vec<String>,
    /// Whether the rows were made for all of these, so that it is told which they do not determine.
    all_hoped_for: bool,
    /// What they were measured on, where that was done here.
    measured: Option<Measured>,
}

/// Executes the command.
pub fn execute(common: &Common, arguments: &CalibrateArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let base = load_machine(&arguments.machine, Path::new("."))?;
    let start = Start {
        backend: Some(if arguments.device && arguments.as_if.is_none() { "cann" } else { "sim" }.to_owned()),
        machine: Some(base.name.clone()),
        machine_version: Some(base.version.clone()),
        ..Start::new("calibrate")
    };
    output.emit(&Event::Start(start));
    // What is written extends an embedded description by its name.
    let Some(name) = Machine::names().into_iter().find(|name| name.eq_ignore_ascii_case(&arguments.machine)) else {
        let known = Machine::names().join(", ");
        return Err(TunerError::Usage(format!(
            "--machine {}: what is fitted must extend an embedded description; known: {known}",
            arguments.machine
        )));
    };
    let rows = match &arguments.cases {
        Some(cases) => of_table(cases, arguments, output)?,
        None if arguments.from_journal => journal::rows(common, arguments, &base, output)?,
        None => device::rows(arguments, &base, output)?,
    };
    let asked = &arguments.constants;
    let hoped_for = if rows.all_hoped_for { rows.constants.clone() } else { Vec::new() };
    let task = Task {
        cases: rows.cases,
        recorded: &rows.recorded,
        machines: &rows.machines,
        base: &base,
        among: rows.constants,
        constants: asked.clone(),
        jobs: arguments.jobs.map_or_else(processors, |jobs| jobs as usize),
    };
    let calibration = calibrate(&task, &rows.digest).map_err(|error| TunerError::Usage(error.to_string()))?;
    write_whole(&arguments.out, &description(&calibration, name, rows.measured.as_ref()))?;
    let moved = |name: &String| calibration.constants.iter().any(|constant| constant.name == *name);
    let open: Vec<String> = hoped_for.into_iter().filter(|name| asked.is_empty() && !moved(name)).collect();
    if !open.is_empty() {
        output.emit(&Event::Warning(Warning {
            code: "not-determined".to_owned(),
            message: format!("what was measured does not tell {}", open.join(", ")),
            help: Some(format!("they stay as {name} has them")),
        }));
    }
    output.emit(&Event::Calibration(Box::new(calibration)));
    Ok(Exit::Fine)
}

/// The rows of a table that somebody wrote.
fn of_table(path: &Path, arguments: &CalibrateArgs, output: &mut Output) -> Result<Rows, TunerError> {
    let mut table = read_table(path)?;
    table.cases.retain(|case| case.fit);
    let prepared = Prepared::new(&table, path, arguments.sources.as_deref(), output)?;
    Ok(Rows {
        cases: table.cases,
        recorded: prepared.recorded,
        machines: prepared.machines,
        digest: table.digest,
        constants: Vec::new(),
        all_hoped_for: false,
        measured: None,
    })
}
