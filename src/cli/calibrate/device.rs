//! Rows that are measured here: micro-kernels on a device, or played with a description that stands for one.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::args::CalibrateArgs;
use super::super::fidelity::Prepared;
use super::super::output::Output;
use super::super::target::{processors, runtime, worker_exe};
use super::Rows;
use aicore::Machine;
use backend::DeviceTime;
use build::sdk::SdkOptions;
use events::{Event, Warning};
use manifest::DeviceSettings;
use project::load_machine;
use studies::fidelity::{
    Case, Measured, MicroRow, MicroTime, Recordings, micro_cases, micro_constants, micro_programs, micro_rows,
    micro_table, model, runs, write_micro_project, write_micro_sources,
};
use tuner::{BackendKind, DeviceChoice, InputData, Opening, TrialError, TunerError, Workspace, WorkspaceOptions};

/// Times of launches by program and place.
type Times = BTreeMap<(String, usize), MicroTime>;

/// Measures all micro-kernels.
pub fn rows(arguments: &CalibrateArgs, base: &Machine, output: &mut Output) -> Result<Rows, TunerError> {
    let scratch = tempfile::Builder::new().prefix("ascend-tune-calibrate-").tempdir()?;
    let sources = arguments.keep.clone().unwrap_or_else(|| scratch.path().join("sources"));
    write_micro_sources(&sources)?;
    // Whatever the times are, the runs are the same.
    let nothing = MicroTime { task_us: 1.0, spread: 0.0, count: 0 };
    let chosen = chosen(arguments);
    let all: Times = chosen.iter().map(|row| ((row.program.clone(), row.launch()), nothing)).collect();
    let cases = micro_cases(base, &all);
    let machines: BTreeMap<String, Machine> = cases.iter().map(|case| (case.machine.clone(), base.clone())).collect();
    let prepared = Prepared::on(machines, &runs(&cases), &sources, output)?;
    let (times, measured) = match &arguments.as_if {
        Some(name) => {
            let played = load_machine(name, Path::new("."))?;
            let on = Measured {
                on: format!("Micro-kernels played with the description of {}, nothing was measured", played.name),
                ..Measured::default()
            };
            for (run, trace) in &prepared.recorded {
                if let Err(reason) = trace {
                    return Err(TunerError::Usage(format!(
                        "the micro-kernels of {} do not run: {reason}",
                        run.program
                    )));
                }
            }
            (played_times(&prepared, base, &played, &all), on)
        }
        None => measured_times(arguments, base, scratch.path(), output)?,
    };
    for (program, launch) in all.keys().filter(|row| !times.contains_key(*row)) {
        output.emit(&Event::Warning(Warning {
            code: "not-measured".to_owned(),
            message: format!("launch {launch} of the micro-kernels in {program}.asc has no time"),
            help: None,
        }));
    }
    let cases = micro_cases(base, &times);
    let table = micro_table(&cases);
    if let Some(folder) = &arguments.keep {
        fs_err::write(folder.join("rows.csv"), &table)?;
    }
    Ok(Rows {
        digest: blake3::hash(table.as_bytes()).to_hex()[..16].to_owned(),
        cases,
        recorded: prepared.recorded,
        machines: prepared.machines,
        constants: micro_constants(base, &chosen),
        all_hoped_for: true,
        measured: Some(measured),
    })
}

/// Rows of the programs that were asked for.
fn chosen(arguments: &CalibrateArgs) -> Vec<MicroRow> {
    let wanted = |row: &MicroRow| arguments.only.is_empty() || arguments.only.contains(&row.program);
    micro_rows().into_iter().filter(wanted).collect()
}

/// What the micro-kernels would take on a machine with this description.
fn played_times(prepared: &Prepared, base: &Machine, played: &Machine, all: &Times) -> Times {
    let cases = micro_cases(base, all);
    let machines = prepared.machines.keys().map(|name| (name.clone(), played.clone())).collect();
    let modelled = model(&cases, &Recordings::of(&prepared.recorded), &machines, processors());
    let exact = |task_us: f64| MicroTime { task_us, spread: 0.0, count: 0 };
    // Cases stand in the order of the table, and so does what is modelled of them.
    cases.iter().zip(modelled).filter_map(|(case, figure)| Some((row_of(case)?, exact(figure.ok()?)))).collect()
}

/// Program and place of the launch of a case.
fn row_of(case: &Case) -> Option<(String, usize)> {
    Some((case.category.clone(), case.launch?))
}

/// What they take on a device.
fn measured_times(
    arguments: &CalibrateArgs,
    base: &Machine,
    scratch: &Path,
    output: &mut Output,
) -> Result<(Times, Measured), TunerError> {
    let settings = DeviceSettings { toolkit: arguments.toolkit.clone(), ..DeviceSettings::default() };
    let runtime = runtime()?;
    let mut times = Times::new();
    let mut measured = Measured {
        date: Some(humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()),
        ..Measured::default()
    };
    for program in
        micro_programs().filter(|name| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name))
    {
        let folder = scratch.join(program);
        write_micro_project(program, base, &folder)?;
        let options = WorkspaceOptions {
            directory: folder,
            machine: Some(arguments.machine.clone()),
            jobs: 1,
            worker_exe: worker_exe()?,
            sdk: SdkOptions::from_environment(),
            data: InputData::Made,
            backend: BackendKind::Cann(DeviceChoice { settings: settings.clone() }),
            ..WorkspaceOptions::default()
        };
        let workspace = Workspace::open(options, &mut |step| {
            if let Opening::Attached(attached) = step {
                output.emit(&attached.event());
                measured.on = format!("Micro-kernels measured on {} with toolkit {}", attached.soc, attached.toolkit);
            }
        })?;
        let candidate = workspace.baseline()?;
        let plan = candidate.plain_plan(workspace.tunables());
        let trial = workspace.evaluator.workload.trials[0].clone();
        let ran = runtime.block_on(workspace.evaluator.run_trial(&plan, &trial, false));
        let launches = ran.map_err(TrialError::of_baseline)?.launches;
        for (place, launch) in launches.iter().enumerate() {
            if let Some(DeviceTime { task_us, spread, count, .. }) = launch.device {
                times.insert((program.to_owned(), place), MicroTime { task_us, spread, count });
            }
        }
    }
    let spreads: Vec<f64> = times.values().map(|time| time.spread).collect();
    measured.spread = studies::fidelity::quantile(&spreads, 0.5);
    Ok((times, measured))
}
