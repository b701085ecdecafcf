//! `survey`: how far every operator of a tree gets.

use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use rand::SeedableRng;
use rand::seq::SliceRandom;

use super::Exit;
use super::args::SurveyArgs;
use super::output::{Output, write_whole};
use super::target::processors;
use super::target::runtime;
use build::Toolkit;
use build::sdk::{Sdk, SdkOptions};
use events::survey::{Class, Summary, Surveyed};
use events::{Event, Sdk as SdkEvent, SdkStatus, Start};
use project::load_machine;
use studies::survey::discover::{Found, discover};
use studies::survey::journal::{Journal, key};
use studies::survey::pool::{PoolOptions, run_all};
use studies::survey::summary::summarise;
use studies::survey::trial::{Task, try_operator};
use studies::survey::{Section, render_html, render_markdown};
use tuner::TunerError;

/// Memory limit of one run: large enough for every shape that the cases have.
const RUN_MEMORY_BYTES: u64 = 8 << 30;

/// Executes the command.
pub fn execute(arguments: &SurveyArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let machine = load_machine(&arguments.machine, Path::new("."))?;
    output.emit(&Event::Start(Start {
        backend: Some("sim".to_owned()),
        machine: Some(machine.name.clone()),
        machine_version: Some(machine.version.clone()),
        ..Start::new("survey")
    }));
    for directory in &arguments.directories {
        if !directory.is_dir() {
            return Err(TunerError::Usage(format!("{}: not a directory", directory.display())));
        }
    }
    let toolkit = arguments.sdk_headers.as_deref().map(Toolkit::find).transpose()?;
    let sdk = Sdk::prepare(&SdkOptions::from_environment())?;
    output.emit(&Event::Sdk(SdkEvent {
        status: if sdk.built { SdkStatus::Built } else { SdkStatus::Cached },
        path: sdk.root.display().to_string(),
        compiler: sdk.compiler.version.clone(),
        wall_s: sdk.prepare_s,
    }));
    let (chosen, left_out, other_chips) = operators(arguments)?;
    let work = std::path::absolute(&arguments.work)?;
    let journal_path = work.join("journal.jsonl");
    if arguments.resume && !journal_path.exists() {
        let message = format!("--resume: there is no journal {}", journal_path.display());
        return Err(TunerError::Usage(message));
    }
    let mut journal =
        Journal::open(&journal_path, !arguments.no_resume).map_err(|source| TunerError::Journal { source })?;
    let exe = std::env::current_exe()?;
    let surroundings = surroundings(arguments, &sdk, toolkit.as_ref(), &machine.version, &exe)?;
    let mut outcomes: Vec<Option<Surveyed>> = vec![None; chosen.len()];
    let mut trials = Vec::new();
    let mut positions = Vec::new();
    let mut keys = Vec::new();
    for (position, found) in chosen.into_iter().enumerate() {
        let key = key(&found, &surroundings);
        if let Some(known) = journal.get(&key) {
            output.emit(&Event::Surveyed(Box::new(known.clone())));
            outcomes[position] = Some(known.clone());
            continue;
        }
        let task = task(&found, arguments, &work, toolkit.as_ref());
        trials.push((found, task));
        positions.push(position);
        keys.push(key);
    }
    let options = PoolOptions {
        exe,
        words: vec!["__trial".to_owned()],
        jobs: arguments.jobs.map_or_else(processors, |jobs| jobs as usize),
        timeout: Duration::from_secs(arguments.timeout_s),
    };
    runtime()?.block_on(run_all(&options, trials, |index, outcome| {
        journal.append(&keys[index], &outcome).map_err(|source| TunerError::Journal { source })?;
        output.emit(&Event::Surveyed(Box::new(outcome.clone())));
        outcomes[positions[index]] = Some(outcome);
        Ok::<(), TunerError>(())
    }))?;

    let outcomes: Vec<Surveyed> = outcomes.into_iter().flatten().collect();
    let summary = Summary {
        other_chips,
        left_out,
        headers: if arguments.sdk_headers.is_some() { "the toolkit's" } else { "own" }.to_owned(),
        machine: machine.name.clone(),
        machine_version: machine.version.clone(),
        ..summarise(&outcomes)
    };
    if let Some(path) = &arguments.html {
        let text = render_html(&summary, &outcomes).map_err(|error| TunerError::Internal(error.to_string()))?;
        write_whole(path, &text)?;
    }
    if let Some(path) = &arguments.markdown {
        write_whole(path, &render_markdown(&[Section { summary: &summary, outcomes: &outcomes }]))?;
    }
    output.emit(&Event::Survey(summary));
    Ok(Exit::Fine)
}

/// The operators to survey, how many are left out by the options, and how many are for other chips.
fn operators(arguments: &SurveyArgs) -> Result<(Vec<Found>, u32, u32), TunerError> {
    let counted = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let census = discover(&arguments.directories);
    let all = census.operators.len();
    let chosen = choose(census.operators, arguments);
    if chosen.is_empty() {
        let names: Vec<String> = arguments.directories.iter().map(|path| path.display().to_string()).collect();
        return Err(TunerError::Usage(match all {
            0 => format!(
                "no operator for ascend910b in {}: looked for directories with op_kernel/ and for CMake projects that launch a kernel with <<<>>>",
                names.join(", ")
            ),
            count => format!("none of the {count} operators in {} fits the options", names.join(", ")),
        }));
    }
    let left_out = counted(all - chosen.len());
    Ok((chosen, left_out, counted(census.other_chips.len())))
}

/// What a trial of an operator is to do.
fn task(found: &Found, arguments: &SurveyArgs, work: &Path, toolkit: Option<&Toolkit>) -> Task {
    Task {
        directory: found.directory.clone(),
        shape: found.shape,
        // A tree that is one operator has no name in itself.
        work_directory: match found.operator.as_str() {
            "." => work.join(&found.repository).join("all"),
            operator => work.join(&found.repository).join(operator.replace('/', "+")),
        },
        last_step: arguments.steps,
        machine: arguments.machine.clone(),
        run_timeout_s: arguments.run_timeout_s as f64,
        run_memory_bytes: RUN_MEMORY_BYTES,
        python: arguments.python.clone(),
        toolkit: toolkit.map(|toolkit| toolkit.root.clone()),
        tests: arguments.tests,
    }
}

/// `__trial`: reads a task from standard input, writes its progress to standard output.
pub fn trial() -> Exit {
    // A survey that is killed must not leave trials running; what they started ends with their process group or soon after.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let mut text = String::new();
    let task: Task = match std::io::stdin().read_to_string(&mut text).map(|_| serde_json::from_str(&text)) {
        Ok(Ok(task)) => task,
        _ => {
            eprintln!("__trial is started by cargo-ascend-tune itself");
            return Exit::Usage;
        }
    };
    let mut out = std::io::stdout();
    let mut report = |progress| {
        if let Ok(mut line) = serde_json::to_vec(&progress) {
            line.push(b'\n');
            // Nobody listens any more: then this process is about to be ended anyway.
            let _ = out.write_all(&line).and_then(|()| out.flush());
        }
    };
    match runtime() {
        Ok(runtime) => {
            runtime.block_on(try_operator(&task, &mut report));
            Exit::Fine
        }
        Err(error) => {
            eprintln!("{error}");
            Exit::Environment
        }
    }
}

/// The operators that the options ask for, in the order of the census.
fn choose(mut all: Vec<Found>, arguments: &SurveyArgs) -> Vec<Found> {
    all.retain(|found| {
        let name = format!("{}/{}", found.repository, found.operator);
        let class = match found.class {
            Class::Vector => !arguments.mix_only,
            Class::Mix => !arguments.vector_only,
        };
        class && (arguments.only.is_empty() || arguments.only.iter().any(|pattern| fits(pattern, &name)))
    });
    let Some(count) = arguments.sample else { return all };
    let mut indices: Vec<usize> = (0..all.len()).collect();
    indices.shuffle(&mut rand_chacha::ChaCha8Rng::seed_from_u64(arguments.seed));
    indices.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    indices.sort_unstable();
    indices.into_iter().map(|index| all[index].clone()).collect()
}

/// Whether a name contains a text, or fits it as a whole where it has a `*`.
fn fits(pattern: &str, name: &str) -> bool {
    if !pattern.contains('*') {
        return name.contains(pattern);
    }
    let parts: Vec<&str> = pattern.split('*').collect();
    let (first, last) = (parts[0], parts[parts.len() - 1]);
    // A pattern need not begin with the repository.
    let starts: Vec<&str> =
        std::iter::once(name).chain(name.match_indices('/').map(|(at, _)| &name[at + 1..])).collect();
    starts.into_iter().any(|name| {
        if !name.starts_with(first) || !name.ends_with(last) || name.len() < first.len() + last.len() {
            return false;
        }
        let mut rest = &name[first.len()..name.len() - last.len()];
        parts[1..parts.len() - 1].iter().all(|part| match rest.find(part) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        })
    })
}

/// What is the same for all operators and decides about outcomes.
fn surroundings(
    arguments: &SurveyArgs,
    sdk: &Sdk,
    toolkit: Option<&Toolkit>,
    machine: &str,
    exe: &Path,
) -> Result<String, TunerError> {
    let tool = blake3::hash(&fs_err::read(exe)?).to_hex();
    Ok(format!(
        "{tool} {} {} {} {} {machine} {} {} {} {:?}",
        sdk.digest,
        toolkit.map_or("own", |toolkit| &toolkit.digest),
        sdk.compiler.identity,
        arguments.machine,
        arguments.steps,
        arguments.timeout_s,
        arguments.run_timeout_s,
        arguments.tests
    ))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_fit_parts_or_the_whole() {
        assert!(fits("math/add", "ops-math/math/add_n"));
        assert!(fits("math/*", "ops-math/math/add"));
        assert!(fits("*/add", "ops-math/math/add"));
        assert!(!fits("*/add", "ops-math/math/add_n"));
        assert!(fits("ops-*/*/a*d", "ops-math/math/add"));
        assert!(!fits("nn/*", "ops-math/math/add"));
    }
}
