//! The command line: arguments, exit statuses, and one file per subcommand.

mod ablation;
pub mod alone;
mod args;
mod bank;
mod bench;
mod bisheng;
mod build;
mod calibrate;
mod check;
mod ci;
mod compare;
mod corpus;
pub mod doctor;
mod doors;
mod entries;
mod exit;
mod fidelity;
mod init;
mod installed;
mod lock;
mod locked;
mod mcp;
mod model;
mod operators;
mod output;
mod page;
mod patches;
mod presets;
mod printed;
mod profile;
mod projects;
mod record;
mod repair;
mod replay;
mod report;
mod restore;
mod rewind;
mod rewinder;
mod run;
mod soundness;
mod survey;
mod target;
mod test;
mod value;
mod worker;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

pub use exit::Exit;

use args::{Cli, Command};
use output::Output;

use crate::doctor::SystemEnvironment;
use ::backend::worker::WORKER;
use ::build::sdk::{Sdk, SdkOptions};
use tuner::TunerError;

/// `doctor` on this machine. Places that cannot even be named are reported as missing by the checks themselves.
fn examine(output: &mut Output) -> Result<Exit, TunerError> {
    let options = SdkOptions::from_environment();
    let cache = options.cache_directory().unwrap_or_default();
    let library = Sdk::expected_library(&options).unwrap_or_else(|_| cache.join("libascend_sim.so"));
    Ok(doctor::execute(&SystemEnvironment::new(cache, library), &mut *output.sink)?)
}

/// What this program starts itself as, hundreds of times in a run: before anything is made ready for its users.
fn play_a_part(arguments: &[OsString]) -> Option<ExitCode> {
    match arguments.get(1)?.to_str()? {
        WORKER => Some(worker::execute(&arguments[2..])),
        bisheng::NAME => Some(bisheng::execute(&arguments[2..])),
        _ => None,
    }
}

/// Runs the program: parses, dispatches, renders the error, and says how it ended.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = args::normalise(arguments);
    if let Some(exit) = play_a_part(&arguments) {
        return exit;
    }
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; clap prints both kinds to the right stream.
            let _ = error.print();
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Fine };
            return exit.into();
        }
    };
    if let Command::Trial(_) = &cli.command {
        return survey::trial().into();
    }
    output::start_log(cli.common.verbose);
    if let Some(printed) = printed::print(&cli.command, &mut std::io::stdout().lock()) {
        return match printed {
            Ok(()) => Exit::Fine.into(),
            Err(error) => Output::new(&cli.common, cli.command.name()).fail(&error).into(),
        };
    }
    let mut output = Output::new(&cli.common, cli.command.name());
    let result = match &cli.command {
        Command::Init(arguments) => init::execute(&cli.common, arguments, &mut output),
        Command::Run(arguments) => run::forget_markdown(arguments).map_err(TunerError::from).and_then(|()| {
            operators::each(&cli.common, &arguments.operators, &arguments.target, &mut output, |common, output| {
                run::execute(common, arguments, output)
            })
        }),
        Command::Check(arguments) => check::execute(&cli.common, arguments, &mut output),
        Command::Compare(arguments) => compare::execute(&cli.common, arguments, &mut output),
        Command::Report(arguments) => report::execute(&cli.common, arguments, &mut output),
        Command::Lock(arguments) => lock::execute(&cli.common, arguments, &mut output),
        Command::Undo(arguments) => restore::undo(&cli.common, arguments, &mut output),
        Command::Apply(arguments) => restore::apply(&cli.common, arguments, &mut output),
        Command::Build(arguments) => {
            operators::each(&cli.common, &arguments.operators, &arguments.target, &mut output, |common, output| {
                build::execute(common, arguments, output)
            })
        }
        Command::Profile(arguments) => {
            operators::each(&cli.common, &arguments.operators, &arguments.target, &mut output, |common, output| {
                profile::execute(common, arguments, output)
            })
        }
        Command::Test(arguments) => test::execute(&cli.common, arguments, &mut output),
        Command::Doctor(_) => examine(&mut output),
        Command::Rewind(arguments) => rewind::execute(&cli.common, arguments, &mut output),
        Command::Bank(arguments) => bank::execute(&cli.common, arguments, &mut output),
        Command::Mcp(arguments) => mcp::execute(&cli.common, arguments),
        Command::Doors(arguments) => doors::execute(&cli.common, arguments, &mut output),
        Command::Calibrate(arguments) => calibrate::execute(&cli.common, arguments, &mut output),
        Command::Fidelity(arguments) => fidelity::execute(arguments, &mut output),
        Command::Replay(arguments) => replay::execute(arguments, &mut output),
        Command::Ablation(arguments) => ablation::execute(arguments, &mut output),
        Command::Survey(arguments) => survey::execute(arguments, &mut output),
        Command::Soundness(arguments) => soundness::execute(arguments, &mut output),
        Command::Completions(_) | Command::Man(_) | Command::Schema(_) | Command::Trial(_) => Ok(Exit::Fine),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => output.fail(&error).into(),
    }
}
