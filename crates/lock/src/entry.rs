//! The entries of a lock: one for each chip, and for times of the model and of devices apart.
//!
//! Sources can hold one set of constants. The entry at the top of the file is of the values that they hold; the others keep theirs in the
//! lock alone, with digests of what is built once these are put in.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::store::bytes_digest;
use super::{Lock, LockError, source_digests};
use aicore::Origin;
use source::SourceTree;

/// What an entry was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryKey {
    /// The chip, in small letters.
    pub soc: String,
    /// Where its times come from.
    pub origin: Origin,
}

impl fmt::Display for EntryKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.soc, self.origin.word())
    }
}

/// What somebody calls an entry: `ascend910b3`, or `ascend910b3:measured` where there are both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryName {
    /// The chip, as it was given.
    pub soc: String,
    /// Where its times come from, where that was said.
    pub origin: Option<Origin>,
}

impl EntryName {
    /// Whether it is the name of this entry.
    pub fn fits(&self, key: &EntryKey) -> bool {
        self.soc.eq_ignore_ascii_case(&key.soc) && self.origin.is_none_or(|origin| origin == key.origin)
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.origin {
            Some(origin) => write!(formatter, "{}:{}", self.soc, origin.word()),
            None => formatter.write_str(&self.soc),
        }
    }
}

impl FromStr for EntryName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (soc, origin) = match text.split_once(':') {
            None => (text, None),
            Some((soc, "modelled")) => (soc, Some(Origin::Modelled)),
            Some((soc, "measured")) => (soc, Some(Origin::Measured)),
            Some(_) => return Err(format!("`{text}`: after the chip's name comes `modelled` or `measured`")),
        };
        if soc.is_empty() {
            return Err("give the name of a chip, such as ascend910b2".to_owned());
        }
        Ok(Self { soc: soc.to_owned(), origin })
    }
}

impl Lock {
    /// What its entry at the top was made for.
    pub fn key(&self) -> EntryKey {
        let soc = self.device.as_ref().map_or(&self.machine.name, |device| &device.soc);
        EntryKey { soc: soc.to_ascii_lowercase(), origin: self.origin }
    }

    /// Its entries, each as a lock of its own; the one whose values the sources hold comes first.
    pub fn entries(&self) -> Vec<Lock> {
        let own = Lock { others: Vec::new(), ..self.clone() };
        let others = self.others.iter().map(|entry| Lock {
            version: self.version,
            operator: self.operator.clone(),
            ..entry.clone()
        });
        std::iter::once(own).chain(others).collect()
    }

    /// The entry of that key.
    pub fn entry(&self, key: &EntryKey) -> Option<Lock> {
        self.entries().into_iter().find(|entry| entry.key() == *key)
    }

    /// The entry of that name; the one whose values the sources hold, where no name is given. `path` is for messages.
    pub fn named(&self, name: Option<&EntryName>, path: &Path) -> Result<Lock, LockError> {
        let entries = self.entries();
        let known = entries.iter().map(|entry| entry.key().to_string()).collect::<Vec<_>>().join(", ");
        let fits = |entry: &Lock| name.is_none_or(|name| name.fits(&entry.key()));
        let none = || LockError::NoEntry {
            path: path.to_owned(),
            asked: name.map(ToString::to_string).unwrap_or_default(),
            known,
        };
        entries.into_iter().find(fits).ok_or_else(none)
    }

    /// The lock with an entry whose values the sources hold. The one that was at the top before stays among the others, unless it is the
    /// same.
    pub fn with_own(&self, entry: Lock) -> Lock {
        let key = entry.key();
        let others = self.entries().into_iter().filter(|other| other.key() != key).map(beside).collect();
        Lock { others, ..entry }.sorted()
    }

    /// The lock with an entry whose values are in the lock alone.
    pub fn with_beside(&self, entry: Lock) -> Lock {
        let key = entry.key();
        let mut lock = self.clone();
        lock.others.retain(|other| other.key() != key);
        lock.others.push(beside(entry));
        lock.sorted()
    }

    /// Digests of the sources with the entry's own values in them.
    pub fn built_sources(&self) -> BTreeMap<String, String> {
        let mut built = self.sources.clone();
        built.extend(self.applied.clone());
        built
    }

    /// The entry over sources that are `on_disk` now, and `built` with its values in them; `None` where these are no longer what it was
    /// made for.
    pub fn carried(&self, on_disk: &SourceTree, built: &SourceTree) -> Option<Lock> {
        let (sources, digests) = (source_digests(on_disk), source_digests(built));
        if digests != self.built_sources() {
            return None;
        }
        let mut entry = Lock { applied: applied(&sources, &digests), sources, ..self.clone() };
        for (file, text) in on_disk.iter() {
            if let Some(digest) = entry.files.get_mut(file) {
                *digest = bytes_digest(text.as_bytes());
            }
        }
        Some(entry)
    }

    pub(super) fn sorted(mut self) -> Lock {
        self.others.sort_by_key(|entry| (entry.key().soc, entry.key().origin == Origin::Measured));
        for cases in std::iter::once(&mut self.cases).chain(self.others.iter_mut().map(|entry| &mut entry.cases)) {
            cases.sort_by(|left, right| left.name.cmp(&right.name));
        }
        self
    }
}

/// Digests of the files that an entry's values change.
pub fn applied(sources: &BTreeMap<String, String>, built: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let differing = built.iter().filter(|(file, digest)| sources.get(*file) != Some(digest));
    differing.map(|(file, digest)| (file.clone(), digest.clone())).collect()
}

/// An entry as it stands among the others, which have format and operator in common.
fn beside(entry: Lock) -> Lock {
    Lock { version: 0, operator: String::new(), others: Vec::new(), ..entry }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LOCK_FILE;
    use crate::testing::{other, sample};
    use space::Value;

    fn tree(tile: i64, body: &str) -> SourceTree {
        let text = format!("int tile = {tile};\n{body}\n");
        [("op_kernel/gelu.cpp", text.as_str()), ("op_host/gelu.cpp", "host")].into_iter().collect()
    }

    #[test]
    fn entries_are_added_replaced_and_found_by_their_names() {
        let both = sample().with_beside(other());
        let text = both.to_text().unwrap();
        let again = Lock::parse(&text, Path::new(LOCK_FILE)).unwrap();
        assert_eq!(again.to_text().unwrap(), text);
        assert_eq!((again.version, again.entries().len()), (3, 2));
        assert!(text.contains("\n[[other]]\ntool = "), "{text}");
        let named = |name: &str| again.named(Some(&name.parse().unwrap()), Path::new(LOCK_FILE));
        let found = named("Ascend910_93").unwrap();
        assert_eq!(
            (found.operator.as_str(), found.configuration.get("TILE_LENGTH")),
            ("GeluNaive", Some(&Value::Int(64)))
        );
        assert_eq!(again.named(None, Path::new(LOCK_FILE)).unwrap().key().to_string(), "ascend910b2:modelled");
        insta::assert_snapshot!(named("ascend910_93:measured").unwrap_err(), @"ascend.lock: there is no entry for ascend910_93:measured, only for ascend910b2:modelled, ascend910_93:modelled; `cargo ascend-tune run --soc ascend910_93:measured` makes one");
        assert!("ascend910b2:guessed".parse::<EntryName>().is_err() && ":measured".parse::<EntryName>().is_err());
        // One of the same key takes its place; the other chip's becomes the sources' own.
        let faster = Lock { seed: 7, ..other() };
        let replaced = again.with_beside(faster.clone());
        assert_eq!((replaced.others.len(), replaced.others[0].seed), (1, 7));
        let own = replaced.with_own(faster);
        assert_eq!(
            (own.key().soc.as_str(), own.others.len(), own.others[0].key().soc.as_str()),
            ("ascend910_93", 1, "ascend910b2")
        );
        // A lock of one chip is written as before.
        assert!(sample().with_own(sample()).to_text().unwrap().contains("version = 2\n"));
    }

    #[test]
    fn another_chip_is_carried_over_a_change_of_constants_and_not_over_one_of_code() {
        let (before, built) = (tree(256, "load();"), tree(64, "load();"));
        let (sources, digests) = (source_digests(&before), source_digests(&built));
        let files = BTreeMap::from([("op_kernel/gelu.cpp".to_owned(), "old".to_owned())]);
        let entry = Lock { applied: applied(&sources, &digests), sources, files, ..other() };
        assert_eq!(entry.applied.len(), 1);
        let retuned = tree(512, "load();");
        let carried = entry.carried(&retuned, &built).unwrap();
        assert_eq!((&carried.sources, carried.built_sources()), (&source_digests(&retuned), digests));
        assert_ne!(carried.files, entry.files);
        // Once the sources hold the same values there is nothing to be put in.
        assert!(entry.carried(&built, &built).unwrap().applied.is_empty());
        assert_eq!(entry.carried(&tree(512, "load2();"), &tree(64, "load2();")), None);
    }

    #[test]
    fn what_is_no_list_of_entries_is_refused() {
        let text = sample().with_beside(other()).to_text().unwrap();
        let said = |text: &str| Lock::parse(text, Path::new(LOCK_FILE)).unwrap_err().to_string();

        let texts = [
            text.replace("operator = \"GeluNaive\"\n", ""),
            text.replace("[[other]]\n", "[[other]]\noperator = \"Add\"\n"),
            text.replace("[[other]]\n", "[[other]]\nversion = 3\n"),
            sample()
                .with_beside(other())
                .with_beside(other())
                .to_text()
                .unwrap()
                .replace("ascend910_93", "ascend910b2"),
        ];
        insta::assert_snapshot!(texts.map(|text| said(&text)).join("\n"), @"
        ascend.lock:1:1: missing field `operator`; restore the file from version control or run `cargo ascend-tune run` again
        ascend.lock:52:1: a further entry has the version and the operator of the lock, and no entries of its own; restore the file from version control or run `cargo ascend-tune run` again
        ascend.lock:52:1: a further entry has the version and the operator of the lock, and no entries of its own; restore the file from version control or run `cargo ascend-tune run` again
        ascend.lock:52:1: there are two entries for ascend910b2:modelled; restore the file from version control or run `cargo ascend-tune run` again
        ");
    }
}
