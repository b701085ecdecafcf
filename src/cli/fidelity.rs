//! `fidelity`: the model beside published figures.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Exit;
use super::args::FidelityArgs;
use super::output::{Output, write_whole};
use super::target::{processors, runtime, worker_exe};
use aicore::Machine;
use build::sdk::{Sdk, SdkOptions};
use events::{Event, Sdk as SdkEvent, SdkStatus, Start};
use project::load_machine;
use studies::fidelity::{Recorded, Recordings, Run, Table, Traces, model, render, report, runs};
use tuner::TunerError;

/// Executes the command.
pub fn execute(arguments: &FidelityArgs, output: &mut Output) -> Result<Exit, TunerError> {
    output.emit(&Event::Start(Start { backend: Some("sim".to_owned()), ..Start::new("fidelity") }));
    let mut table = read_table(&arguments.cases)?;
    if !arguments.only.is_empty() {
        table.cases.retain(|case| arguments.only.iter().any(|text| case.case.contains(text)));
    }
    let prepared = Prepared::new(&table, &arguments.cases, arguments.sources.as_deref(), output)?;
    let jobs = arguments.jobs.map_or_else(processors, |jobs| jobs as usize);
    let modelled = model(&table.cases, &Recordings::of(&prepared.recorded), &prepared.machines, jobs);
    let report = report(&table, &modelled, &prepared.machines);
    if let Some(path) = &arguments.markdown {
        let command =
            format!("cargo ascend-tune fidelity --cases {} --markdown {}", arguments.cases.display(), path.display());
        write_whole(path, &render(&report, &command))?;
    }
    let failed = report.rows.iter().any(|row| row.modelled.is_none());
    output.emit(&Event::Fidelity(Box::new(report)));
    Ok(if failed { Exit::NothingValid } else { Exit::Fine })
}

/// Reads the table of cases.
pub fn read_table(path: &Path) -> Result<Table, TunerError> {
    let table = Table::load(path).map_err(|error| TunerError::Usage(error.to_string()))?;
    if table.cases.is_empty() {
        return Err(TunerError::Usage(format!("{}: no case has a program", path.display())));
    }
    Ok(table)
}

/// What a table needs before its cases can be modelled.
pub struct Prepared {
    /// Machines by the names that the table has for them.
    pub machines: BTreeMap<String, Machine>,
    /// Traces of all its runs.
    pub recorded: Recorded,
}

impl Prepared {
    /// Makes the SDK ready and records every run of a table that is not in the cache.
    pub fn new(table: &Table, path: &Path, sources: Option<&Path>, output: &mut Output) -> Result<Self, TunerError> {
        let beside = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut machines = BTreeMap::new();
        for case in &table.cases {
            if !machines.contains_key(&case.machine) {
                machines.insert(case.machine.clone(), load_machine(&case.machine, beside)?);
            }
        }
        Self::on(machines, &runs(&table.cases), sources.unwrap_or(beside), output)
    }

    /// The same with machines that are known.
    pub fn on(
        machines: BTreeMap<String, Machine>,
        runs: &BTreeSet<Run>,
        sources: &Path,
        output: &mut Output,
    ) -> Result<Self, TunerError> {
        let options = SdkOptions::from_environment();
        let sdk = Sdk::prepare(&options)?;
        output.emit(&Event::Sdk(SdkEvent {
            status: if sdk.built { SdkStatus::Built } else { SdkStatus::Cached },
            path: sdk.root.display().to_string(),
            compiler: sdk.compiler.version.clone(),
            wall_s: sdk.prepare_s,
        }));
        let sources: PathBuf = std::path::absolute(sources)?;
        let traces = Traces::new(sdk, &sources, &options.cache_directory()?, worker_exe()?);
        let runtime = runtime()?;
        let mut recorded = Recorded::new();
        for run in runs {
            let machine = &machines[&run.machine];
            let trace = runtime.block_on(traces.trace(run, machine)).map_err(|error| error.to_string());
            recorded.insert(run.clone(), trace);
        }
        Ok(Self { machines, recorded })
    }
}
