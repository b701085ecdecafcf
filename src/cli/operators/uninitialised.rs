//! Operators of a repository that have no manifest yet.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::select::{Operator, is_excluded, meant, nothing_left, operator, without_ignored};
use crate::cli::args::{Common, InitArgs};
use crate::cli::projects::{below, is_built};
use manifest::FILE_NAME;
use studies::survey::discover::discover;
use tuner::TunerError;

/// What `init` is to look at.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Uninitialised {
    /// Operators to make a manifest of.
    pub operators: Vec<Operator>,
    /// Operators that have one, which stays.
    pub left_alone: Vec<Operator>,
    /// Operators that exist only for other chips: of these nothing can be said here.
    pub other_chips: Vec<String>,
}

/// Operators at and below the places that the arguments mean, by directory.
pub(in crate::cli) fn uninitialised(common: &Common, arguments: &InitArgs) -> Result<Uninitialised, TunerError> {
    let selection = &arguments.selection;
    let paths = if selection.workspace { std::slice::from_ref(&common.project) } else { &selection.paths[..] };
    let (mut seen, mut all) = (BTreeSet::new(), Uninitialised::default());
    for path in paths {
        let places = meant(path)?;
        let is_pattern = places.as_slice() != [path.clone()];
        let (mut found, mut others) = (0, 0);
        for place in places {
            let mut directories = without_ignored(&place, below(&place));
            let census = discover(std::slice::from_ref(&place));
            others += census.other_chips.len();
            all.other_chips.extend(census.other_chips);
            let seen_from_here = census.operators.iter().filter_map(|found| as_named(&place, &found.directory));
            let unbuilt = seen_from_here.filter(|directory| !lies_in_what_was_built(&place, directory));
            directories.extend(without_ignored(&place, unbuilt.collect()));
            found += directories.len();
            for directory in directories {
                // One operator can be reached in several ways.
                if seen.insert(std::fs::canonicalize(&directory).unwrap_or_else(|_| directory.clone())) {
                    let is_left = directory.join(FILE_NAME).exists() && !arguments.force;
                    let list = if is_left { &mut all.left_alone } else { &mut all.operators };
                    list.push(operator(directory));
                }
            }
        }
        if found == 0 {
            // What is named alone may be an operator in a way that only a closer look finds out; it says what is missing, too.
            if selection.workspace || is_pattern || others > 0 {
                return Err(nothing(path, others));
            }
            all.operators.push(operator(path.clone()));
        }
    }
    for list in [&mut all.operators, &mut all.left_alone] {
        list.retain(|operator| !is_excluded(operator, selection));
        list.sort_by(|one, other| one.name.cmp(&other.name));
    }
    if all.operators.is_empty() && all.left_alone.is_empty() {
        return Err(nothing_left(selection));
    }
    all.other_chips.sort();
    all.other_chips.dedup();
    Ok(all)
}

fn nothing(path: &Path, others: usize) -> TunerError {
    let others = match others {
        0 => String::new(),
        count => format!("; those for other chips only: {count}"),
    };
    TunerError::Usage(format!(
        "{}: no operator for ascend910b there or below: looked for directories with op_kernel/ and for CMake projects that launch a kernel \
         with <<<>>>{others}",
        path.display()
    ))
}

/// A directory that was found below the place as people have named that.
fn as_named(place: &Path, found: &Path) -> Option<PathBuf> {
    let whole = std::fs::canonicalize(place).ok()?;
    let inside = found.strip_prefix(whole).ok()?;
    Some(if inside.as_os_str().is_empty() { place.to_owned() } else { place.join(inside) })
}

/// Copies that a build has made are no operators of the repository.
fn lies_in_what_was_built(place: &Path, directory: &Path) -> bool {
    directory.ancestors().take_while(|folder| folder.starts_with(place) && *folder != place).any(is_built)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{Cli, Command};
    use clap::Parser;

    fn make(root: &Path, operator: &str) {
        let kernel = root.join(operator).join("op_kernel");
        fs_err::create_dir_all(&kernel).unwrap();
        fs_err::write(kernel.join("k.cpp"), "extern \"C\" __global__ __aicore__ void k(GM_ADDR x) {}\n").unwrap();
    }

    fn look(root: &Path, words: &[&str]) -> Result<(Vec<String>, Vec<String>), String> {
        let project = root.display().to_string();
        let cli = Cli::parse_from(["cargo-ascend-tune", "--project", &project, "init"].iter().chain(words));
        let Command::Init(arguments) = &cli.command else { panic!("not init") };
        let names = |list: Vec<Operator>| {
            let inside = |one: Operator| one.directory.strip_prefix(root).unwrap().display().to_string();
            list.into_iter().map(inside).collect::<Vec<_>>()
        };
        let found = uninitialised(&cli.common, arguments).map_err(|error| error.to_string())?;
        Ok((names(found.operators), names(found.left_alone)))
    }

    #[test]
    fn operators_without_a_manifest_are_found_and_those_with_one_stay() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for operator in ["math/abs", "math/add", "nn/gelu", "out/math/abs"] {
            make(root, operator);
        }
        fs_err::write(root.join("out/CMakeCache.txt"), "").unwrap();
        fs_err::write(root.join("math/add").join(FILE_NAME), "").unwrap();
        let words = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let all = Ok((words(&["math/abs", "nn/gelu"]), words(&["math/add"])));
        assert_eq!(look(root, &["--workspace"]), all);
        let all = Ok((words(&["math/abs", "math/add", "nn/gelu"]), words(&[])));
        assert_eq!(look(root, &["--workspace", "--force"]), all);
        assert_eq!(look(root, &["--workspace", "--exclude", "math"]), Ok((words(&["nn/gelu"]), words(&[]))));
        let pattern = root.join("*/a*").display().to_string();
        let [abs, nn] = ["math/abs", "nn"].map(|path| root.join(path).display().to_string());
        let named = Ok((words(&["math/abs", "nn/gelu"]), words(&["math/add"])));
        assert_eq!(look(root, &[&pattern, &abs, &nn]), named);
        fs_err::create_dir_all(root.join("empty")).unwrap();
        let empty = root.join("empty");
        assert!(look(&empty, &["--workspace"]).unwrap_err().contains("no operator for ascend910b"));
        // It is for a closer look to say what is missing there.
        let found = look(root, &[&empty.display().to_string()]);
        assert_eq!(found, Ok((words(&["empty"]), words(&[]))));
        assert!(look(root, &["nowhere"]).unwrap_err().contains("nowhere: not there"));
    }
}
