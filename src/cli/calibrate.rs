//! `calibrate`: constants fitted to measured figures.

use std::path::Path;

use super::Exit;
use super::args::CalibrateArgs;
use super::fidelity::{Prepared, read_table};
use super::output::{Output, write_whole};
use super::target::processors;
use aicore::Machine;
use events::{Event, Start};
use project::load_machine;
use studies::fidelity::{Task, calibrate, description};
use tuner::TunerError;

/// Executes the command.
pub fn execute(arguments: &CalibrateArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let base = load_machine(&arguments.machine, Path::new("."))?;
    output.emit(&Event::Start(Start {
        backend: Some("sim".to_owned()),
        machine: Some(base.name.clone()),
        machine_version: Some(base.version.clone()),
        ..Start::new("calibrate")
    }));
    // What is written extends an embedded description by its name.
    let Some(name) = Machine::names().into_iter().find(|name| name.eq_ignore_ascii_case(&arguments.machine)) else {
        let known = Machine::names().join(", ");
        return Err(TunerError::Usage(format!(
            "--machine {}: what is fitted must extend an embedded description; known: {known}",
            arguments.machine
        )));
    };
    let mut table = read_table(&arguments.cases)?;
    table.cases.retain(|case| case.fit);
    let prepared = Prepared::new(&table, &arguments.cases, arguments.sources.as_deref(), output)?;
    let task = Task {
        cases: table.cases.clone(),
        recorded: &prepared.recorded,
        machines: &prepared.machines,
        base: &base,
        constants: arguments.constants.clone(),
        jobs: arguments.jobs.map_or_else(processors, |jobs| jobs as usize),
    };
    let calibration = calibrate(&task, &table.digest).map_err(|error| TunerError::Usage(error.to_string()))?;
    write_whole(&arguments.out, &description(&calibration, name))?;
    output.emit(&Event::Calibration(Box::new(calibration)));
    Ok(Exit::Fine)
}
