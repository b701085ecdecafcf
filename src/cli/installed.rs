//! `init --cmake` and `init --hook`: files of ours that others read.

use std::path::PathBuf;

use super::Exit;
use super::args::{Common, InitArgs};
use super::check::top_of_checkout;
use super::output::{Output, start_event, write_whole};
use super::presets::{Presets, presets};
use events::{Event, Written};
use tuner::TunerError;

const MODULE: &str = include_str!("../../templates/cmake/FindAscendTune.cmake");
const HOOK: &str = include_str!("../../templates/ci/pre-commit.sh");

/// Writes the module by which CMake reads a lock, below the project, and a preset that uses it, where there is a project of CMake.
pub(super) fn cmake_module(common: &Common, arguments: &InitArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let project = directory(common)?;
    let module =
        (project.join("cmake").join("FindAscendTune.cmake"), MODULE.replace("@VERSION@", env!("CARGO_PKG_VERSION")));
    if !project.join("CMakeLists.txt").exists() {
        let next = "list(APPEND CMAKE_MODULE_PATH \"${CMAKE_CURRENT_SOURCE_DIR}/cmake\"), find_package(AscendTune REQUIRED), \
                    ascend_tune_apply(<target> LOCK ascend.lock)";
        return put(&[module], None, common, arguments, Some(next.to_owned()), output);
    }
    let Presets { files, first, next } = presets(&project)?;
    let files: Vec<(PathBuf, String)> = std::iter::once(module).chain(files).collect();
    put(&files, first, common, arguments, next, output)
}

/// Writes the hook that git runs before a commit.
pub(super) fn hook(common: &Common, arguments: &InitArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let top = top_of_checkout(&directory(common)?);
    let asked =
        std::process::Command::new("git").arg("-C").arg(&top).args(["rev-parse", "--git-path", "hooks"]).output();
    let folder = asked.ok().filter(|ran| ran.status.success());
    let folder = folder.map(|ran| String::from_utf8_lossy(&ran.stdout).trim_end_matches('\n').to_owned());
    let folder =
        folder.ok_or_else(|| TunerError::Usage(format!("{}: no checkout of git, and so no hooks", top.display())))?;
    let file = top.join(folder).join("pre-commit");
    put(&[(file.clone(), HOOK.to_owned())], None, common, arguments, None, output)?;
    #[cfg(unix)]
    if !arguments.dry_run {
        use std::os::unix::fs::PermissionsExt;
        fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(Exit::Fine)
}

fn directory(common: &Common) -> Result<PathBuf, TunerError> {
    let project = std::path::absolute(&common.project)?;
    match project.is_dir() {
        true => Ok(project),
        false => Err(TunerError::Usage(format!("{}: not a directory", common.project.display()))),
    }
}

/// Writes files of ours, or shows what they would be. What somebody else has written there stays; `first` is a file that nobody has written.
fn put(
    ours: &[(PathBuf, String)],
    first: Option<(PathBuf, String)>,
    common: &Common,
    arguments: &InitArgs,
    next: Option<String>,
    output: &mut Output,
) -> Result<Exit, TunerError> {
    output.emit(&Event::Start(start_event("init", common)));
    let all = || ours.iter().chain(&first);
    let files = all().map(|(file, _)| file.display().to_string()).collect();
    if arguments.dry_run {
        if !output.json {
            use std::io::Write as _;
            all().try_for_each(|(_, text)| std::io::stdout().write_all(text.as_bytes()))?;
        }
        output.emit(&Event::Written(Written { files, written: false, next: None }));
        return Ok(Exit::Fine);
    }
    for (file, text) in ours {
        let there = fs_err::read_to_string(file).ok();
        if !arguments.force && there.is_some_and(|there| there != *text) || file.is_dir() {
            let message = format!(
                "{} is there already and says something else; give --force to replace it, or --dry-run to see what it would be",
                file.display()
            );
            return Err(TunerError::Usage(message));
        }
    }
    all().try_for_each(|(file, text)| write_whole(file, text))?;
    output.emit(&Event::Written(Written { files, written: true, next }));
    Ok(Exit::Fine)
}
