//! `build`: builds the project through its own CMake flow, with the values of the lock.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::Exit;
use super::args::{BuildArgs, Common};
use super::entries::{candidate_of, entry_for};
use super::locked::drift_of;
use super::output::{Output, start_event};
use super::target::{open, runtime};
use build::artifact_name;
use events::{Build, Event, Warning};
use lock::{self, LOCK_FILE, LockError};
use tuner::{TrialError, TunerError};

/// Executes the command.
pub fn execute(common: &Common, arguments: &BuildArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let started = Instant::now();
    let workspace = open(start_event("build", common), common, &arguments.target, true, output)?;
    let mut candidate = workspace.baseline()?;
    let lock_path = workspace.project.root.join(LOCK_FILE);
    let whole = match lock::read(&lock_path) {
        Ok(whole) => Some(whole),
        Err(LockError::Absent { .. }) if !arguments.locked => None,
        Err(error) => return Err(error.into()),
    };
    let locked = match &whole {
        Some(whole) => match entry_for(whole, &arguments.target, &lock_path) {
            Err(LockError::NoEntry { .. }) if !arguments.locked => Some((whole, whole.clone())),
            found => Some((whole, found?)),
        },
        None => None,
    };
    if let Some((whole, locked)) = &locked {
        let drifted = drift_of(&workspace, (whole, locked), &candidate_of(&workspace, whole, locked)?);
        for difference in &drifted {
            output.emit(&Event::Warning(Warning {
                code: "drift".to_owned(),
                message: difference.to_string(),
                help: Some("run `cargo ascend-tune run` to tune and lock the sources as they are".to_owned()),
            }));
        }
        if arguments.locked && !drifted.is_empty() {
            let differences = drifted.iter().map(ToString::to_string).collect();
            return Err(TunerError::Stale { path: lock_path, differences });
        }
        // Values given on the command line win over the lock's.
        let mut configuration = locked.configuration.clone();
        for (name, value) in workspace.options.fixed.iter() {
            configuration.set(name, value.clone());
        }
        candidate = candidate.with_configuration(workspace.tunables(), &configuration)?;
    }
    let builder = &workspace.evaluator.builder;
    let artifacts = if arguments.dry_run {
        vec![builder.project_build_command()?]
    } else {
        let paths = if let Some(attached) = &workspace.attached {
            let cmake = candidate.plain_plan(workspace.tunables()).cmake;
            let cmake = workspace.manifest.cmake.clone().into_iter().chain(cmake).collect();
            attached.build(&candidate.sources, &cmake, &workspace.manifest.operator)?
        } else {
            // A program that compiles its kernel while it runs cannot be linked by its own flow: the simulator has no compiler to link.
            let is_program = workspace.is_direct_launch();
            let is_linked_here = is_program && builder.compiles_at_run_time(&candidate.sources);
            let (tool, jobs) = (&workspace.options.worker_exe, workspace.options.jobs);
            let mut paths = match is_linked_here {
                true => Vec::new(),
                false => builder.build_project(&candidate.sources, tool, jobs)?,
            };
            // The project's flow only compiles an operator; what loads it is packaged by the real toolkit. Here it is the
            // libraries that every other command runs.
            if !is_program || is_linked_here {
                let plan = candidate.plain_plan(workspace.tunables());
                let libraries = runtime()?.block_on(workspace.evaluator.artifacts(&plan));
                let libraries = libraries.map_err(TrialError::of_baseline)?;
                paths.extend(kept_libraries(&libraries, &workspace.work_directory.join("libraries"))?);
            }
            paths
        };
        paths.iter().map(|path| path.display().to_string()).collect()
    };
    output.emit(&Event::Build(Build {
        operator: workspace.manifest.operator.clone(),
        artifacts,
        configuration: candidate.configuration,
        locked: locked.is_some(),
        wall_s: started.elapsed().as_secs_f64(),
    }));
    Ok(Exit::Fine)
}

/// Copies of libraries in the project: those in the cache go when nobody has used them for long.
fn kept_libraries(libraries: &[PathBuf], folder: &Path) -> Result<Vec<PathBuf>, TunerError> {
    if folder.exists() {
        fs_err::remove_dir_all(folder)?;
    }
    let mut kept = Vec::new();
    for library in libraries {
        // A kernel for two tiling keys is two files of one name, in folders named by what went into them.
        let copy = folder.join(artifact_name(library));
        fs_err::create_dir_all(copy.parent().unwrap_or(folder))?;
        fs_err::copy(library, &copy)?;
        kept.push(copy);
    }
    Ok(kept)
}
