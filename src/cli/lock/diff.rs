//! `lock diff`.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::path_of;
use crate::cli::Exit;
use crate::cli::args::Common;
use crate::cli::output::Output;
use events::{Event, LockDiff};
use lock::{EntryName, LOCK_FILE, Lock};
use tuner::TunerError;

/// Executes the command.
pub(super) fn execute(
    common: &Common,
    before: &str,
    after: Option<&str>,
    soc: Option<&EntryName>,
    output: &mut Output,
) -> Result<Exit, TunerError> {
    let path = path_of(common)?;
    let (before_name, before) = named(before, &path)?;
    let (after_name, after) = match after {
        Some(after) => named(after, &path)?,
        None => (path.display().to_string(), lock::read(&path)?),
    };
    let (before, after) = match soc {
        Some(_) => (before.named(soc, Path::new(&before_name))?, after.named(soc, Path::new(&after_name))?),
        None => (before, after),
    };
    let differences = lock::differences(&before, &after);
    output.emit(&Event::LockDiff(LockDiff { before: before_name, after: after_name, differences }));
    Ok(Exit::Fine)
}

/// A lock by what the user calls it: a file, a directory with one, or a revision of git in which it has the path of the project's.
fn named(name: &str, path: &Path) -> Result<(String, Lock), TunerError> {
    let file = PathBuf::from(name);
    let file = if file.is_dir() { file.join(LOCK_FILE) } else { file };
    if file.is_file() {
        return Ok((file.display().to_string(), lock::read(&file)?));
    }
    let refuse =
        |message: String| TunerError::Usage(format!("{name}: no lock file, and no revision of git: {message}"));
    if name.is_empty() || name.starts_with('-') {
        return Err(refuse("not a name".to_owned()));
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let what = format!("{name}:./{LOCK_FILE}");
    let shown = Command::new("git").arg("-C").arg(directory).args(["show", &what]).output();
    let shown = shown.map_err(|error| refuse(format!("git cannot be run: {error}")))?;
    if !shown.status.success() {
        let said = String::from_utf8_lossy(&shown.stderr).into_owned();
        return Err(refuse(said.lines().next().unwrap_or("git fails without a word").to_owned()));
    }
    let text = String::from_utf8_lossy(&shown.stdout);
    Ok((what.clone(), Lock::parse(&text, Path::new(&what))?))
}
