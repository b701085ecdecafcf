//! Whether the project is still what was locked.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::{LOCK_FILE, Lock, LockedMachine};
use ascend_build::digest::{is_manifest, is_source, manifest_digest, source_digest};
use source::SourceTree;
use space::{Configuration, Value};

/// What happened to a file since the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileChange {
    /// Other content.
    Changed,
    /// Not in the lock.
    Added,
    /// Only in the lock.
    Removed,
}

/// One difference between the project and its lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drift {
    /// A source file.
    Source {
        /// Path relative to the operator's root.
        file: String,
        /// What happened to it.
        change: FileChange,
    },
    /// The manifest says something else.
    Manifest,
    /// Another machine description.
    Machine {
        /// Name and version in the lock.
        locked: String,
        /// Name and version now.
        now: String,
    },
    /// Another operator.
    Operator {
        /// Operator in the lock.
        locked: String,
        /// Operator now.
        now: String,
    },
    /// Another version of the tool, whose model and judge may say something else.
    Tool {
        /// Version that wrote the lock.
        locked: String,
        /// Version that compares.
        now: String,
    },
    /// A tunable has another value in the sources than in the lock.
    Tunable {
        /// Name of the tunable.
        name: String,
        /// Value in the lock, nothing if it is not there.
        locked: Option<String>,
        /// Value now, nothing if it is not there.
        now: Option<String>,
    },
}

impl fmt::Display for Drift {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Drift::Source { file, change: FileChange::Changed } => write!(formatter, "{file} was changed"),
            Drift::Source { file, change: FileChange::Added } => write!(formatter, "{file} is new"),
            Drift::Source { file, change: FileChange::Removed } => write!(formatter, "{file} is gone"),
            Drift::Manifest => formatter.write_str("ascend.toml was changed"),
            Drift::Machine { locked, now } => {
                write!(formatter, "the machine description was {locked} and is now {now}")
            }
            Drift::Operator { locked, now } => write!(formatter, "the operator was {locked} and is now {now}"),
            Drift::Tool { locked, now } => {
                write!(formatter, "ascend.lock was written by version {locked} of cargo-ascend-tune, and this is {now}")
            }
            Drift::Tunable { name, locked: Some(locked), now: Some(now) } => {
                write!(formatter, "tunable {name} was {locked} and is now {now}")
            }
            Drift::Tunable { name, locked: Some(locked), now: None } => {
                write!(formatter, "tunable {name} was {locked} and is no longer there")
            }
            Drift::Tunable { name, now, .. } => {
                write!(formatter, "tunable {name} = {} is not in the lock", now.as_deref().unwrap_or("?"))
            }
        }
    }
}

impl Drift {
    /// The file that shows it, relative to the operator's root.
    pub fn file(&self) -> &str {
        match self {
            Drift::Source { file, .. } => file,
            Drift::Manifest | Drift::Operator { .. } => "ascend.toml",
            Drift::Machine { .. } | Drift::Tool { .. } | Drift::Tunable { .. } => LOCK_FILE,
        }
    }
}

/// The project as it is now.
#[derive(Clone, Copy, Debug)]
pub struct Current<'a> {
    /// Operator.
    pub operator: &'a str,
    /// Source files; with the values of the entry in them, where the sources hold those of another.
    pub sources: &'a SourceTree,
    /// Files that these include beside themselves.
    pub included: &'a SourceTree,
    /// Text of the manifest.
    pub manifest: &'a str,
    /// Machine description in use.
    pub machine: &'a LockedMachine,
    /// Version of the tool, where that counts.
    pub tool: Option<&'a str>,
    /// Values of the tunables as the sources have them, to name what changed; nothing if they could not be read.
    pub configuration: Option<&'a Configuration>,
}

/// Digest of every file of a source tree. Comments and white space of C++ do not count.
pub fn source_digests(tree: &SourceTree) -> BTreeMap<String, String> {
    tree.iter().map(|(file, text)| (file.to_owned(), source_digest(file, text))).collect()
}

/// What is as it was locked, in digests of today.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renewed {
    /// Digests of sources, by name.
    pub sources: BTreeMap<String, String>,
    /// Digest of the manifest.
    pub manifest: Option<String>,
    /// Names of all of these.
    pub unchanged: Vec<String>,
}

/// Digests of today for those files below a directory that are as they were locked, of bytes or of content.
pub fn renewed_digests(lock: &Lock, root: &Path, manifest: &str) -> Renewed {
    let text = |file: &str| Some(String::from_utf8_lossy(&fs_err::read(root.join(file)).ok()?).into_owned());
    let mut renewed = Renewed::default();
    for (file, digest) in lock.sources.iter().chain(lock.included.iter().flatten()) {
        if let Some(now) = text(file).filter(|now| is_source(file, now, digest)) {
            if lock.sources.contains_key(file) {
                renewed.sources.insert(file.clone(), source_digest(file, &now));
            }
            renewed.unchanged.push(file.clone());
        }
    }
    if let Some(now) = text(manifest).filter(|now| is_manifest(now, &lock.manifest)) {
        renewed.manifest = Some(manifest_digest(&now));
        renewed.unchanged.push(manifest.to_owned());
    }
    renewed
}

/// The sources as they were locked: files that still are what the digests say, and of the others what `earlier` has, where that is it.
/// `None` where a file is not to be had.
pub fn locked_sources(
    entry: &Lock,
    current: &SourceTree,
    mut earlier: impl FnMut(&str) -> Option<String>,
) -> Option<SourceTree> {
    let mut tree = SourceTree::new();
    for (file, digest) in &entry.sources {
        let is_it = |text: &String| is_source(file, text, digest);
        let text = current.text(file).map(str::to_owned).filter(is_it).or_else(|| earlier(file).filter(is_it))?;
        tree.insert(file.clone(), text);
    }
    Some(tree)
}

/// All differences: operator, machine, manifest, files by name, then the tunables that explain them. Empty means none.
pub fn drift(lock: &Lock, current: &Current<'_>) -> Vec<Drift> {
    let mut found = Vec::new();
    if lock.operator != current.operator {
        found.push(Drift::Operator { locked: lock.operator.clone(), now: current.operator.to_owned() });
    }
    if lock.machine != *current.machine {
        let (locked, now) = machine_names(&lock.machine, current.machine);
        found.push(Drift::Machine { locked, now });
    }
    if !is_manifest(current.manifest, &lock.manifest) {
        found.push(Drift::Manifest);
    }
    if let Some(now) = current.tool.filter(|now| *now != lock.tool) {
        found.push(Drift::Tool { locked: lock.tool.clone(), now: now.to_owned() });
    }
    let mut changes = changes(&lock.built_sources(), current.sources);
    if let Some(included) = &lock.included {
        changes.extend(self::changes(included, current.included));
    }
    found.extend(changes.into_iter().map(|(file, change)| Drift::Source { file, change }));
    if let Some(configuration) = current.configuration {
        // A rewrite may leave a tunable without its constant, and the lock has its default: in the sources as they were locked that is
        // no change.
        let edited = found.iter().any(|drift| matches!(drift, Drift::Source { .. }));
        let known = |drift: &Drift| matches!(drift, Drift::Tunable { now: None, .. }) && !edited;
        // What was brought along is a tunable where the tool finds it in the sources again.
        let mut locked = lock.configuration.clone();
        for (name, value) in lock.brought.iter().filter(|(name, _)| configuration.get(name).is_some()) {
            locked.set(name, value.clone());
        }
        found.extend(tunables(&locked, configuration).into_iter().filter(|drift| !known(drift)));
    }
    found
}

fn changes(locked: &BTreeMap<String, String>, now: &SourceTree) -> BTreeMap<String, FileChange> {
    let mut changes = BTreeMap::new();
    for (file, digest) in locked {
        match now.text(file) {
            None => changes.insert(file.clone(), FileChange::Removed),
            Some(now) if !is_source(file, now, digest) => changes.insert(file.clone(), FileChange::Changed),
            Some(_) => None,
        };
    }
    for (file, _) in now.iter().filter(|(file, _)| !locked.contains_key(*file)) {
        changes.insert(file.to_owned(), FileChange::Added);
    }
    changes
}

fn tunables(locked: &Configuration, now: &Configuration) -> Vec<Drift> {
    let mut values: BTreeMap<&str, (Option<String>, Option<String>)> = BTreeMap::new();
    // A text is no number, however it reads.
    let said = |value: &Value| if let Value::Text(text) = value { format!("{text:?}") } else { value.to_string() };
    for (name, value) in locked.iter() {
        values.entry(name).or_default().0 = Some(said(value));
    }
    for (name, value) in now.iter() {
        values.entry(name).or_default().1 = Some(said(value));
    }
    values
        .into_iter()
        .filter(|(_, (locked, now))| locked != now)
        .map(|(name, (locked, now))| Drift::Tunable { name: name.to_owned(), locked, now })
        .collect()
}

/// Name and version of both; the digests too where those do not tell them apart.
fn machine_names(locked: &LockedMachine, now: &LockedMachine) -> (String, String) {
    let short = |machine: &LockedMachine| format!("{} version {}", machine.name, machine.version);
    if short(locked) != short(now) {
        return (short(locked), short(now));
    }
    let long = |machine: &LockedMachine| {
        format!("{} ({})", short(machine), machine.digest.chars().take(12).collect::<String>())
    };
    (long(locked), long(now))
}
