//! Which operators a command is about.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::changed::Changes;
use crate::cli::args::{Common, Operators, Selection};
use crate::cli::projects::below;
use manifest::FILE_NAME;
use tuner::TunerError;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Operator {
    /// Its directory.
    pub directory: PathBuf,
    /// The same for people, as seen from the working directory.
    pub name: String,
}

/// What was chosen.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Chosen {
    /// The operators, by directory.
    pub operators: Vec<Operator>,
    /// Whether several may be meant: then there is a summary, also of one.
    pub is_many: bool,
    /// How many were left out since nothing of theirs has changed.
    pub left_out: u64,
}

/// Operators that the arguments mean; `machine` is the description that the command was given, whose file counts as an input of all.
pub(in crate::cli) fn chosen(
    common: &Common,
    arguments: &Operators,
    machine: Option<&str>,
) -> Result<Chosen, TunerError> {
    let selection = &arguments.selection;
    let is_many = selection.is_many();
    let found = match (selection.workspace, selection.paths.is_empty()) {
        (true, _) => in_workspace(&common.project)?,
        (false, false) => named(&selection.paths)?,
        (false, true) => vec![common.project.clone()],
    };
    let mut operators: Vec<Operator> = found.into_iter().map(operator).collect();
    operators.retain(|operator| !is_excluded(operator, selection));
    if operators.is_empty() {
        return Err(nothing_left(selection));
    }
    let Some(revision) = &arguments.changed_since else { return Ok(Chosen { operators, is_many, left_out: 0 }) };
    let changes = Changes::since(&operators[0].directory, revision)?;
    let all = operators.len();
    let roots: Vec<PathBuf> = operators.iter().filter_map(|one| std::fs::canonicalize(&one.directory).ok()).collect();
    let operators: Vec<Operator> =
        operators.into_iter().filter(|operator| changes.touch(&operator.directory, machine, &roots)).collect();
    // One project, too, can have nothing that changed: there is a summary to say so.
    Ok(Chosen { left_out: (all - operators.len()) as u64, operators, is_many: true })
}

/// Whether `--exclude` names something in an operator's path.
pub(super) fn is_excluded(operator: &Operator, selection: &Selection) -> bool {
    selection.exclude.iter().any(|text| operator.name.contains(text.as_str()))
}

/// That `--exclude` leaves none.
pub(super) fn nothing_left(selection: &Selection) -> TunerError {
    TunerError::Usage(format!("--exclude {}: no operator is left", selection.exclude.join(", ")))
}

pub(super) fn operator(directory: PathBuf) -> Operator {
    let plain = directory.strip_prefix(".").unwrap_or(&directory);
    let name = if plain.as_os_str().is_empty() { ".".to_owned() } else { plain.display().to_string() };
    Operator { directory, name }
}

/// Every operator at or below a directory.
pub(in crate::cli) fn in_workspace(root: &Path) -> Result<Vec<PathBuf>, TunerError> {
    let found = without_ignored(root, below(root));
    match found.is_empty() {
        true => Err(TunerError::Usage(format!("{}: no {FILE_NAME} here or below; `init` writes one", root.display()))),
        false => Ok(found),
    }
}

/// Operators that paths and patterns lead to, each once.
fn named(paths: &[PathBuf]) -> Result<Vec<PathBuf>, TunerError> {
    let mut seen = BTreeSet::new();
    let mut operators = Vec::new();
    for path in paths {
        let mut found = Vec::new();
        for place in meant(path)? {
            found.extend(without_ignored(&place, below(&place)));
        }
        if found.is_empty() {
            let message = format!("{}: no {FILE_NAME} there or below; `init` writes one", path.display());
            return Err(TunerError::Usage(message));
        }
        operators
            .extend(found.into_iter().filter(|one| seen.insert(std::fs::canonicalize(one).unwrap_or(one.clone()))));
    }
    Ok(operators)
}

/// Directories that a path means: itself, or what a pattern fits. A manifest means its directory.
pub(super) fn meant(path: &Path) -> Result<Vec<PathBuf>, TunerError> {
    let places = if path.exists() {
        vec![path.to_owned()]
    } else {
        let refuse = |message: String| TunerError::Usage(format!("{}: {message}", path.display()));
        let text = path.to_string_lossy();
        if !text.contains(['*', '?', '[']) {
            return Err(refuse("not there".to_owned()));
        }
        let found = glob::glob(&text).map_err(|error| refuse(error.to_string()))?;
        found.filter_map(Result::ok).collect()
    };
    let directory = |place: PathBuf| match place.file_name().is_some_and(|name| name == FILE_NAME) {
        true => place.parent().map_or_else(|| PathBuf::from("."), Path::to_owned),
        false => place,
    };
    Ok(places.into_iter().map(directory).filter(|place| place.as_os_str().is_empty() || place.is_dir()).collect())
}

/// Those whose manifest git does not ignore; all of them where git knows nothing of the place.
pub(super) fn without_ignored(root: &Path, operators: Vec<PathBuf>) -> Vec<PathBuf> {
    let ask = || -> std::io::Result<BTreeSet<PathBuf>> {
        let mut git = Command::new("git");
        git.arg("-C").arg(if root.as_os_str().is_empty() { Path::new(".") } else { root });
        git.args(["check-ignore", "-z", "--stdin"]);
        let mut git = git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut manifests = Vec::new();
        for one in &operators {
            let manifest = std::path::absolute(one)?.join(FILE_NAME);
            manifests.extend(manifest.as_os_str().as_encoded_bytes());
            manifests.push(0);
        }
        // Git may answer before all has been asked.
        let mut input = git.stdin.take().ok_or_else(|| std::io::Error::other("no input"))?;
        let asking = std::thread::spawn(move || input.write_all(&manifests));
        let answer = git.wait_with_output()?;
        // Where there is no repository, git ends before it has read.
        let _ = asking.join();
        let ignored = answer.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let ignored = ignored.map(|path| PathBuf::from(String::from_utf8_lossy(path).into_owned()));
        Ok(ignored.filter_map(|path| path.parent().map(Path::to_owned)).collect())
    };
    let ignored = ask().unwrap_or_default();
    let is_ignored = |one: &PathBuf| std::path::absolute(one).is_ok_and(|whole| ignored.contains(&whole));
    operators.into_iter().filter(|one| !is_ignored(one)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(root: &Path, directory: &str) {
        fs_err::create_dir_all(root.join(directory)).unwrap();
        fs_err::write(root.join(directory).join(FILE_NAME), "").unwrap();
    }

    fn names(root: &Path, found: &[PathBuf]) -> Vec<String> {
        found.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn a_workspace_is_everything_below_but_what_was_built_or_is_ignored() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for operator in ["ops/gelu", "ops/add", "ops/add/target/copy", "out/add", "ignored/add", ".hidden/add"] {
            make(root, operator);
        }
        fs_err::write(root.join("out/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55\n").unwrap();
        assert_eq!(names(root, &in_workspace(root).unwrap()), ["ignored/add", "ops/add", "ops/gelu"]);
        let git = Command::new("git").arg("-C").arg(root).args(["init", "-q"]).status();
        if git.is_ok_and(|status| status.success()) {
            fs_err::write(root.join(".gitignore"), "/ignored\n").unwrap();
            assert_eq!(names(root, &in_workspace(root).unwrap()), ["ops/add", "ops/gelu"]);
        }
    }

    #[test]
    fn paths_and_patterns_lead_to_each_operator_once() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for operator in ["ops/gelu", "ops/add", "other/softmax"] {
            make(root, operator);
        }
        fs_err::create_dir_all(root.join("empty")).unwrap();
        let found = |paths: &[&str]| {
            let paths: Vec<PathBuf> = paths.iter().map(|path| root.join(path)).collect();
            named(&paths).map(|found| names(root, &found)).map_err(|error| error.to_string())
        };
        assert_eq!(found(&["ops/*"]).unwrap(), ["ops/add", "ops/gelu"]);
        assert_eq!(
            found(&["other", "ops/gelu/ascend.toml", "*/[ag]*"]).unwrap(),
            ["other/softmax", "ops/gelu", "ops/add"]
        );
        assert!(found(&["nowhere"]).unwrap_err().contains("nowhere: not there"));
        assert!(found(&["empty"]).unwrap_err().contains("no ascend.toml there or below"));
        assert!(found(&["none*"]).unwrap_err().contains("no ascend.toml there or below"));
    }
}
