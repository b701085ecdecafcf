//! What is printed for other programs, and no event: completions of shells, and manual pages.

use std::io::{self, Write};

use clap::CommandFactory;

use super::args::{Cli, Command, CompletionsArgs, ManArgs};
use tuner::TunerError;

/// Name of the program, as shells and `man` know it.
const PROGRAM: &str = "cargo-ascend-tune";

/// Prints what a command is for, if it is for nothing else.
pub(super) fn print(command: &Command, output: &mut dyn Write) -> Option<Result<(), TunerError>> {
    let printed = match command {
        Command::Completions(arguments) => completions(arguments, output),
        Command::Man(arguments) => man(arguments, output),
        _ => return None,
    };
    // A reader that has seen enough is content.
    Some(match printed {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(TunerError::Io),
    })
}

fn completions(arguments: &CompletionsArgs, output: &mut dyn Write) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), PROGRAM, &mut script);
    output.write_all(&script)
}

fn man(arguments: &ManArgs, output: &mut dyn Write) -> io::Result<()> {
    let program = Cli::command().name(PROGRAM);
    match &arguments.out {
        Some(folder) => {
            fs_err::create_dir_all(folder)?;
            clap_mangen::generate_to(program, folder)
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(program).render(&mut page)?;
            output.write_all(&page)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;
    use clap_complete::Shell;

    #[test]
    fn every_shell_completes_every_command() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            completions(&CompletionsArgs { shell: *shell }, &mut script).unwrap();
            let script = String::from_utf8(script).unwrap();
            for word in ["check", "changed-since", "doctor"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }

    #[test]
    fn there_is_a_page_for_each_command_that_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let mut page = Vec::new();
        man(&ManArgs { out: None }, &mut page).unwrap();
        assert!(String::from_utf8(page).unwrap().contains("Exit status"));
        man(&ManArgs { out: Some(folder.path().to_owned()) }, &mut Vec::new()).unwrap();
        let page = |name: &str| fs_err::read_to_string(folder.path().join(name)).unwrap();
        assert!(page("cargo-ascend-tune.1").starts_with(".ie"));
        assert!(page("cargo-ascend-tune-check.1").contains("changed\\-since"));
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            assert!(
                folder.path().join(format!("{PROGRAM}-{}.1", command.get_name())).exists(),
                "{}",
                command.get_name()
            );
        }
    }
}
