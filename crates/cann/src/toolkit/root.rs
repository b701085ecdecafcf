//! The root of a toolkit: the order of places, and what makes a folder one.

use std::fmt;
use std::path::{Path, PathBuf};

use super::super::environment::Environment;
use super::super::version::Version;
use super::{Looked, ToolkitError};

/// What led to a toolkit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// Somebody named it for this command.
    Named,
    /// A variable.
    Variable(&'static str),
    /// It is where installers put it.
    Default,
}

impl fmt::Display for FoundBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            FoundBy::Named => "the folder that was named",
            FoundBy::Variable(name) => name,
            FoundBy::Default => "its usual place",
        })
    }
}

/// Variables that name the root, in their order.
const ROOTS: [&str; 3] = ["ASCEND_CANN_PACKAGE_PATH", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"];
/// The variable that names a folder in it.
const OPP: &str = "ASCEND_OPP_PATH";
/// Processors that toolkits are made for.
const PROCESSORS: [&str; 2] = ["aarch64", "x86_64"];
/// Folders that a root has some of, in one layout or another.
const MARKS: [&str; 6] = ["opp", "compiler", "runtime", "toolkit", "tools", "lib64"];

pub(super) struct Found {
    pub(super) home: PathBuf,
    pub(super) by: FoundBy,
}

pub(super) fn find(explicit: Option<&Path>, environment: &Environment) -> Result<Found, ToolkitError> {
    if let Some(folder) = explicit {
        return match root_at(folder) {
            Ok(home) => Ok(Found { home, by: FoundBy::Named }),
            Err(outcome) => Err(ToolkitError::Named { folder: folder.to_owned(), outcome }),
        };
    }
    let mut looked = Vec::new();
    for (name, folder) in named(environment) {
        let Some(folder) = folder else {
            looked.push(Looked { because: name.to_owned(), folder: None, outcome: "not set".to_owned() });
            continue;
        };
        match root_at(&folder) {
            Ok(home) => return Ok(Found { home, by: FoundBy::Variable(name) }),
            Err(outcome) => looked.push(Looked { because: name.to_owned(), folder: Some(folder), outcome }),
        }
    }
    let whose = if environment.uid == 0 { "where root installs it" } else { "where this user installs it" };
    for folder in defaults(environment, environment.uid == 0) {
        match root_at(&folder) {
            Ok(home) => return Ok(Found { home, by: FoundBy::Default }),
            Err(outcome) => looked.push(Looked { because: whose.to_owned(), folder: Some(folder), outcome }),
        }
    }
    let elsewhere = defaults(environment, environment.uid != 0).iter().find_map(|folder| root_at(folder).ok());
    Err(ToolkitError::NotFound { looked, elsewhere })
}

fn named(environment: &Environment) -> Vec<(&'static str, Option<PathBuf>)> {
    let mut named: Vec<_> =
        ROOTS.into_iter().map(|name| (name, environment.variable(name).map(PathBuf::from))).collect();
    let above = |opp: &str| Path::new(opp).parent().map(Path::to_owned);
    named.push((OPP, environment.variable(OPP).and_then(above)));
    named
}

/// Usual places, those without a version in their name first, then the newest of the others. Root's and users' are different lists.
fn defaults(environment: &Environment, of_root: bool) -> Vec<PathBuf> {
    let (above, plain): (PathBuf, &[&str]) = if of_root {
        (environment.system.clone(), &["ascend-toolkit/latest", "cann"])
    } else {
        let Some(home) = &environment.home else { return Vec::new() };
        (home.join("Ascend"), &["ascend-toolkit/latest", "cann", "latest"])
    };
    let mut folders: Vec<PathBuf> = plain.iter().map(|folder| above.join(folder)).collect();
    folders.extend(versioned(&above, "cann-"));
    folders.extend(versioned(&above.join("ascend-toolkit"), ""));
    folders
}

fn versioned(above: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(above) else { return Vec::new() };
    let mut found: Vec<(Version, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name.strip_prefix(prefix)?;
            let is_version = version.starts_with(|one: char| one.is_ascii_digit()) && entry.path().is_dir();
            is_version.then(|| (Version(version.to_owned()), entry.path()))
        })
        .collect();
    found.sort_by(|(one, _), (other, _)| other.order(one));
    found.into_iter().map(|(_, path)| path).collect()
}

/// The root that a folder is, or that it holds as an installation folder holds it.
fn root_at(folder: &Path) -> Result<PathBuf, String> {
    if folder.as_os_str().is_empty() || !folder.is_dir() {
        return Err(if folder.exists() { "not a folder" } else { "not there" }.to_owned());
    }
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    if is_root(&folder) {
        return Ok(folder);
    }
    ["latest", "ascend-toolkit/latest", "cann"]
        .iter()
        .map(|below| folder.join(below))
        .find(|below| is_root(below))
        .ok_or_else(|| {
            "it has neither a folder for a processor nor two of opp/, compiler/, runtime/, tools/, lib64/".to_owned()
        })
}

fn is_root(folder: &Path) -> bool {
    let has_processor = PROCESSORS.iter().any(|processor| folder.join(format!("{processor}-linux")).is_dir());
    let marks = MARKS.iter().filter(|mark| folder.join(mark).is_dir()).count();
    marks >= 2 || has_processor && marks >= 1
}

/// The processor that a toolkit is for: this machine's where it has both.
pub(super) fn processor_of(home: &Path) -> String {
    let there = |processor: &&str| home.join(format!("{processor}-linux")).is_dir();
    let own = std::env::consts::ARCH;
    let found = PROCESSORS.into_iter().filter(|processor| *processor == own).chain(PROCESSORS).find(there);
    found.unwrap_or(own).to_owned()
}
