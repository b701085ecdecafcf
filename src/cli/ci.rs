//! `init --ci`: a workflow that checks every operator of a repository, or one that tunes them and proposes what was gained.

use std::path::{Path, PathBuf};

use super::Exit;
use super::args::{CiSystem, Common, InitArgs};
use super::check::top_of_checkout;
use super::output::{Output, start_event, write_whole};
use events::{Event, Written};
use tuner::TunerError;

const GITHUB: &str = include_str!("../../templates/ci/github.yml");
const GITHUB_RUN: &str = include_str!("../../templates/ci/github-run.yml");
const GITLAB: &str = include_str!("../../templates/ci/gitlab.yml");
const GITLAB_RUN: &str = include_str!("../../templates/ci/gitlab-run.yml");
/// The branch on which a workflow proposes what was gained: its own, and nobody else's.
const TUNED: &str = "ascend-tune/tuned";
/// Image of the job for GitLab: Rust to install the tool with, and the compiler of its distribution.
const IMAGE: &str = "rust:1-bookworm";
/// The pipeline that GitLab reads, where there is none yet.
fn pipeline(file: &str) -> String {
    format!("include:\n  - local: {file}\n")
}

/// Writes the workflow, at the top of the checkout.
pub(super) fn execute(
    common: &Common,
    arguments: &InitArgs,
    system: CiSystem,
    output: &mut Output,
) -> Result<Exit, TunerError> {
    output.emit(&Event::Start(start_event("init", common)));
    let project = std::path::absolute(&common.project)?;
    if !project.is_dir() {
        return Err(TunerError::Usage(format!("{}: not a directory", common.project.display())));
    }
    if arguments.install.as_ref().is_some_and(|command| command.contains('\n')) {
        return Err(TunerError::Usage("--install: give one line".to_owned()));
    }
    let top = top_of_checkout(&project);
    let install = arguments.install.as_deref();
    let name = system.file(arguments.tune);
    let (file, text) = (top.join(name), workflow((system, arguments.tune), &branch(&top), install));
    if arguments.dry_run {
        if !output.json {
            use std::io::Write as _;
            std::io::stdout().write_all(text.as_bytes())?;
        }
        output.emit(&Event::Written(Written { files: vec![file.display().to_string()], written: false, next: None }));
        return Ok(Exit::Fine);
    }
    if file.exists() && !arguments.force {
        let message = format!(
            "{} is there already; give --force to replace it, or --dry-run to see what it would be",
            file.display()
        );
        return Err(TunerError::Usage(message));
    }
    write_whole(&file, &text)?;
    let mut files = vec![file];
    let mut next = None;
    if system == CiSystem::Gitlab {
        let (pipeline, include) = (top.join(".gitlab-ci.yml"), pipeline(name));
        match pipeline.exists() {
            false => {
                write_whole(&pipeline, &include)?;
                files.push(pipeline);
            }
            // What somebody has written there is theirs to change.
            true if fs_err::read_to_string(&pipeline).is_ok_and(|text| text.contains(name)) => {}
            true => next = Some(format!("include it in .gitlab-ci.yml: {}", include.replace("\n  ", " ").trim_end())),
        }
    }
    let files = files.iter().map(|file: &PathBuf| file.display().to_string()).collect();
    output.emit(&Event::Written(Written { files, written: true, next }));
    Ok(Exit::Fine)
}

/// The text of the workflow.
fn workflow(what: (CiSystem, bool), branch: &str, install: Option<&str>) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let from_registry = format!("cargo install --locked cargo-ascend-tune --version {version}");
    let key: String = IMAGE.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let template = match what {
        (CiSystem::Github, false) => GITHUB,
        (CiSystem::Github, true) => GITHUB_RUN,
        (CiSystem::Gitlab, false) => GITLAB,
        (CiSystem::Gitlab, true) => GITLAB_RUN,
    };
    let words = [
        ("@BRANCH@", branch),
        ("@TUNED@", TUNED),
        ("@VERSION@", version),
        ("@IMAGE@", IMAGE),
        ("@IMAGE_KEY@", &key),
        // Last, so that nothing in it is taken for a place.
        ("@INSTALL@", install.unwrap_or(&from_registry)),
    ];
    words.into_iter().fold(template.to_owned(), |text, (place, word)| text.replace(place, word))
}

/// The branch that others are merged into: what the remote calls so, or the one that is checked out.
fn branch(top: &Path) -> String {
    let git = |arguments: &[&str]| {
        let ran = std::process::Command::new("git").arg("-C").arg(top).args(arguments).output().ok()?;
        let said = String::from_utf8_lossy(&ran.stdout).trim().to_owned();
        (ran.status.success() && !said.is_empty()).then_some(said)
    };
    let remote = git(&["symbolic-ref", "--short", "refs/remotes/origin/HEAD"]);
    let remote = remote.and_then(|name| name.strip_prefix("origin/").map(str::to_owned));
    let name = remote.or_else(|| git(&["symbolic-ref", "--short", "HEAD"])).unwrap_or_else(|| "main".to_owned());
    // It stands between quotation marks.
    name.replace(['"', '\\', '\n'], "")
}
