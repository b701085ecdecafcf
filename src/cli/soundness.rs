//! `soundness`: every motif on generated kernels, both versions run and compared.

use std::io::{IsTerminal, Write};

use super::Exit;
use super::args::SoundnessArgs;
use super::output::{Output, write_whole};
use super::target::{processors, worker_exe};
use build::sdk::{Sdk, SdkOptions};
use events::{Event, Sdk as SdkEvent, SdkStatus, Start};
use project::load_machine;
use studies::soundness::refusals::{self, Answer, Violation};
use studies::soundness::{Bench, Plan, SoundnessError, report, run};
use tuner::TunerError;

/// Machine that hazards are judged for.
const MACHINE: &str = source::arch::TARGET.machine;

/// Executes the command.
pub fn execute(arguments: &SoundnessArgs, output: &mut Output) -> Result<Exit, TunerError> {
    output.emit(&Event::Start(Start {
        backend: Some("sim".to_owned()),
        seed: Some(arguments.seed),
        ..Start::new("soundness")
    }));
    let machine = load_machine(MACHINE, std::path::Path::new("."))?;
    let sdk = Sdk::prepare(&SdkOptions::from_environment())?;
    output.emit(&Event::Sdk(SdkEvent {
        status: if sdk.built { SdkStatus::Built } else { SdkStatus::Cached },
        path: sdk.root.display().to_string(),
        compiler: sdk.compiler.version.clone(),
        wall_s: sdk.prepare_s,
    }));
    let work = std::path::absolute(&arguments.work)?;
    fs_err::create_dir_all(&work)?;
    let bench = Bench::new(sdk, machine, worker_exe()?, work.clone());
    let plan = Plan {
        pairs: usize::try_from(arguments.pairs).unwrap_or(usize::MAX),
        seed: arguments.seed,
        motifs: arguments.motif.clone(),
        sites: arguments.sites as usize,
        jobs: arguments.jobs.map_or_else(processors, |jobs| jobs as usize),
    };
    let answers: Vec<(Violation, Answer)> =
        refusals::all().into_iter().map(|asked| (asked, refusals::ask(&asked))).collect();
    let refused = report::refusals(&answers);
    let watched = std::io::stderr().is_terminal();
    let page = work.join("soundness.md");
    let tally = run(&bench, &plan, &|tally| {
        // A run that is stopped leaves its figures so far.
        let _ = write_whole(&page, &report::render(tally));
        if watched {
            // Nobody looks any more: the figures matter, not their progress.
            let _ = write!(std::io::stderr(), "\r{} pairs, {} wrong ", tally.pairs(), tally.wrong());
        }
    })
    .map_err(failure)?;
    let text = format!("{}\n{refused}", report::render(&tally));
    write_whole(&page, &text)?;
    for (number, miss) in tally.misses.iter().enumerate() {
        let name = format!("wrong-{}-{}-{number}.txt", miss.motif, miss.direction.name());
        write_whole(&work.join(name), &report::describe(miss))?;
    }
    for (number, miss) in tally.conditional.iter().enumerate() {
        let name = format!("condition-{}-{}-{number}.txt", miss.motif, miss.direction.name());
        write_whole(&work.join(name), &report::describe(miss))?;
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    let all_refused = answers.iter().all(|(_, answer)| *answer == Answer::Right);
    Ok(if tally.wrong() > 0 || !all_refused { Exit::CheckFailed } else { Exit::Fine })
}

fn failure(error: SoundnessError) -> TunerError {
    match error {
        SoundnessError::Build(error) => error.into(),
        SoundnessError::Io(error) => error.into(),
        other => TunerError::Internal(other.to_string()),
    }
}
