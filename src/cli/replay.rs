//! `replay`: search strategies on recorded spaces.

use std::path::{Path, PathBuf};

use super::Exit;
use super::args::ReplayArgs;
use super::output::{Output, write_whole};
use super::target::processors;
use events::replay::ReplayReport;
use events::{Event, Start};
use search::ContestOptions;
use studies::replay::{
    Bench, LoadError, Noise, RecordedSpace, convergence, export, load, read_peers, render, replay, search_settings,
    write_rows,
};
use tuner::TunerError;

/// Executes the command.
pub fn execute(arguments: &ReplayArgs, output: &mut Output) -> Result<Exit, TunerError> {
    output.emit(&Event::Start(Start { backend: Some("replay".to_owned()), ..Start::new("replay") }));
    let spaces: Vec<RecordedSpace> =
        files(&arguments.space)?.iter().map(|path| load(path)).collect::<Result<_, _>>().map_err(usage)?;
    if let Some(folder) = &arguments.export {
        for space in &spaces {
            export(space, folder)?;
        }
    }
    let peers = arguments.peers.as_deref().map(read_peers).transpose().map_err(usage)?.unwrap_or_default();
    let mut budgets: Vec<usize> = arguments.budget.iter().map(|budget| *budget as usize).collect();
    budgets.sort_unstable();
    budgets.dedup();
    let bench = Bench {
        budget: budgets.last().copied().unwrap_or(1),
        batch: arguments.batch as usize,
        seeds: arguments.seeds,
        jobs: arguments.jobs.map_or_else(processors, |jobs| jobs as usize),
        noise: Noise {
            deviation: arguments.noise / 100.0,
            contest: if arguments.measure_once { ContestOptions::AT_FACE_VALUE } else { ContestOptions::default() },
        },
    };
    if let Some(trials) = arguments.search_settings {
        let report = search_settings(&spaces, &budgets, bench, trials as usize)
            .map_err(|error| TunerError::Internal(error.to_string()))?;
        output.emit(&Event::ReplaySettings(Box::new(report)));
        return Ok(Exit::Fine);
    }
    let report = replay(&spaces, &arguments.strategy, &budgets, bench, &peers, |space| {
        output.emit(&Event::ReplayedSpace(Box::new(space.clone())));
    })
    .map_err(|error| TunerError::Internal(error.to_string()))?;
    write(arguments, &report)?;
    output.emit(&Event::Replay(Box::new(report)));
    Ok(Exit::Fine)
}

fn write(arguments: &ReplayArgs, report: &ReplayReport) -> Result<(), TunerError> {
    if let Some(path) = &arguments.out {
        let rows = write_rows(&report.rows()).map_err(|error| TunerError::Internal(error.to_string()))?;
        write_whole(path, &rows)?;
    }
    if let Some(path) = &arguments.markdown {
        let plot = path.with_extension("svg");
        let name = plot.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        write_whole(&plot, &convergence(report))?;
        write_whole(path, &render(report, &command(arguments, path), &name))?;
    }
    Ok(())
}

/// The command that makes a page again, without the folders that only this machine has.
fn command(arguments: &ReplayArgs, page: &Path) -> String {
    let list = |values: &[u32]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let strategies: Vec<&str> = arguments.strategy.iter().map(|kind| kind.name()).collect();
    let mut noise = String::new();
    if arguments.noise > 0.0 {
        noise = format!(" --noise {}{}", arguments.noise, if arguments.measure_once { " --measure-once" } else { "" });
    }
    format!(
        "cargo ascend-tune replay --space SPACES --peers PEERS --strategy {} --budget {} --seeds {}{noise} --markdown {}",
        strategies.join(","),
        list(&arguments.budget),
        arguments.seeds,
        page.display()
    )
}

/// Files as named; of a folder every sidecar and every JSON file in it.
fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, TunerError> {
    let mut files = Vec::new();
    for path in named {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut found: Vec<PathBuf> = Vec::new();
        for entry in fs_err::read_dir(path)? {
            let path = entry?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if [".toml", ".json", ".json.gz"].iter().any(|end| name.ends_with(end)) {
                found.push(path);
            }
        }
        if found.is_empty() {
            let message =
                format!("{}: no recorded space here (.toml beside .csv or .csv.gz, or .json)", path.display());
            return Err(TunerError::Usage(message));
        }
        found.sort();
        files.extend(found);
    }
    Ok(files)
}

fn usage(error: LoadError) -> TunerError {
    TunerError::Usage(error.to_string())
}
