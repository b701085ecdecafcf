//! The part of `ascend.lock` that builds need.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::Error;
use super::digest::{is_manifest, is_source};

/// Newest version of the format that is read.
const NEWEST: i64 = 3;

/// A lock.
#[derive(Clone, Debug, PartialEq)]
pub struct Locked {
    /// The file.
    pub path: PathBuf,
    /// Operator.
    pub operator: String,
    /// Values of the tunables: integers, booleans and texts.
    pub configuration: BTreeMap<String, Value>,
    /// CMake cache entries that are tunables, by their names.
    pub cmake: BTreeMap<String, String>,
    manifest: String,
    sources: BTreeMap<String, String>,
    included: BTreeMap<String, String>,
}

impl Locked {
    /// Reads the lock of an operator: the entry whose values the sources hold.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        Self::read_for(directory, None)
    }

    /// Reads the entry of a chip, called as `--soc` of `cargo ascend-tune` calls it: `ascend910b3`, or `ascend910b3:measured` where the lock
    /// has both.
    pub fn read_for(directory: &Path, soc: Option<&str>) -> Result<Self, Error> {
        let path = directory.join("ascend.lock");
        let text = std::fs::read_to_string(&path);
        let text = text.map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => Error::Content {
                path: path.clone(),
                line: 0,
                message: "no lock file; `cargo ascend-tune run` writes it".to_owned(),
            },
            _ => Error::File { path: path.clone(), source },
        })?;
        Self::parse(&text, soc, path)
    }

    fn parse(text: &str, soc: Option<&str>, path: PathBuf) -> Result<Self, Error> {
        let wrong =
            |line: usize, message: &str| Error::Content { path: path.clone(), line, message: message.to_owned() };
        if let Some(line) = text.lines().position(|line| line.starts_with("<<<<<<<")) {
            let message = "a merge left both sides in the lock; when the sources are merged, `cargo ascend-tune lock accept` locks them";
            return Err(wrong(line + 1, message));
        }
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text.as_bytes()[..before].iter().filter(|byte| **byte == b'\n').count() + 1;
            wrong(line, &format!("{}; restore the file from version control", error.message()))
        })?;
        match table.get("version").and_then(Value::as_integer) {
            Some(version) if version > NEWEST => {
                let message =
                    format!("lock format {version}, and this version of ascend-build reads up to {NEWEST}: update it");
                return Err(wrong(0, &message));
            }
            Some(1..) => {}
            _ => return Err(wrong(0, "no lock of cargo ascend-tune: it has no version")),
        }
        let operator = table.get("operator").and_then(Value::as_str).map(str::to_owned);
        let table = match soc {
            None => &table,
            Some(soc) => entry(&table, soc).ok_or_else(|| {
                let message = format!("there is no entry for {soc}; `cargo ascend-tune run --soc {soc}` makes one");
                wrong(0, &message)
            })?,
        };
        let said = |key: &str| table.get(key).and_then(Value::as_str).map(str::to_owned);
        let entries = |key: &str| -> BTreeMap<String, String> {
            let entries = table.get(key).and_then(Value::as_table).into_iter().flatten();
            entries.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
        };
        let configuration = table.get("configuration").and_then(Value::as_table).cloned().unwrap_or_default();
        Ok(Self {
            operator: operator.ok_or_else(|| wrong(0, "the lock names no operator"))?,
            configuration: configuration.into_iter().collect(),
            cmake: entries("cmake"),
            manifest: said("manifest").unwrap_or_default(),
            sources: entries("sources"),
            included: entries("included"),
            path: path.clone(),
        })
    }

    /// Files that were locked, relative to the operator's directory: manifest, sources, what they include.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        ["ascend.toml"].into_iter().chain(self.sources.keys().chain(self.included.keys()).map(String::as_str))
    }

    /// What is not as it was locked, one sentence each. Comments and white space do not count.
    pub fn differences(&self) -> Vec<String> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let text = |file: &str| {
            let bytes = std::fs::read(directory.join(file)).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let mut found = Vec::new();
        match text("ascend.toml") {
            None => found.push("ascend.toml is gone".to_owned()),
            Some(now) if !is_manifest(&now, &self.manifest) => found.push("ascend.toml was changed".to_owned()),
            Some(_) => {}
        }
        for (file, digest) in self.sources.iter().chain(&self.included) {
            match text(file) {
                None => found.push(format!("{file} is gone")),
                Some(now) if !is_source(file, &now, digest) => found.push(format!("{file} was changed")),
                Some(_) => {}
            }
        }
        found
    }

    /// Fails where something is not as it was locked.
    pub fn verify(&self) -> Result<(), Error> {
        let differences = self.differences();
        if differences.is_empty() { Ok(()) } else { Err(Error::Stale { lock: self.path.clone(), differences }) }
    }
}

/// The entry of a lock that has this name: a chip, and where its times come from, if that is said.
fn entry<'lock>(lock: &'lock Table, name: &str) -> Option<&'lock Table> {
    let (soc, origin) = name.split_once(':').map_or((name, None), |(soc, origin)| (soc, Some(origin)));
    let others = lock.get("other").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table);
    let text = |entry: &Table, table: &str, key: &str| Some(entry.get(table)?.get(key)?.as_str()?.to_owned());
    let fits = |entry: &&Table| {
        let chip = text(entry, "device", "soc").or_else(|| text(entry, "machine", "name")).unwrap_or_default();
        chip.eq_ignore_ascii_case(soc)
            && origin.is_none_or(|origin| entry.get("origin").and_then(Value::as_str) == Some(origin))
    };
    std::iter::once(lock).chain(others).find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::{manifest_digest, source_digest};

    #[test]
    fn a_lock_is_compared_with_what_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| std::fs::write(directory.path().join(file), text).unwrap();
        let lock = format!(
            "version = 2\ntool = \"0.1.0\"\noperator = \"Add\"\nmanifest = \"{}\"\n[sources]\n\"k.cpp\" = \"{}\"\n[included]\n\"../h.h\" = \"x\"\n\
             [configuration]\nTILE = 64\nwide = true\n[cmake]\nLADDER = \"TILE\"\n",
            manifest_digest("[check]\n"),
            source_digest("k.cpp", "int a;")
        );
        write("ascend.lock", &lock);
        write("ascend.toml", "# ours\n[check]\n");
        write("k.cpp", "// why\nint  a;\n");
        let locked = Locked::read(directory.path()).unwrap();
        assert_eq!((locked.operator.as_str(), &locked.configuration["TILE"]), ("Add", &Value::Integer(64)));
        assert_eq!(locked.cmake["LADDER"], "TILE");
        assert_eq!(locked.differences(), ["../h.h is gone"]);
        assert_eq!(locked.files().collect::<Vec<_>>(), ["ascend.toml", "k.cpp", "../h.h"]);
        let other = "[[other]]\norigin = \"modelled\"\nmanifest = \"\"\n[other.machine]\nname = \"ascend910_93\"\n[other.configuration]\nTILE = 8\n";
        write("ascend.lock", &format!("{}{other}", lock.replace("version = 2", "version = 3")));
        let for_chip = |name: &str| Locked::read_for(directory.path(), Some(name));
        assert_eq!(for_chip("Ascend910_93:modelled").unwrap().configuration["TILE"], Value::Integer(8));
        assert_eq!(Locked::read(directory.path()).unwrap().configuration["TILE"], Value::Integer(64));
        assert!(
            for_chip("ascend910_93:measured").unwrap_err().to_string().contains("no entry for ascend910_93:measured")
        );
        write("k.cpp", "int b;");
        write("ascend.toml", "[check]\ntolerance = 1.1\n");
        let said = locked.verify().unwrap_err().to_string();
        assert!(said.contains("is stale: ascend.toml was changed; k.cpp was changed; ../h.h is gone; tune"), "{said}");
    }

    #[test]
    fn what_is_no_lock_is_refused_with_its_line() {
        let said = |text: &str| Locked::parse(text, None, PathBuf::from("ascend.lock")).unwrap_err().to_string();
        let texts = [
            "version = 9\n",
            "operator = \"Add\"\n",
            "version = 2\n",
            "version = 2\nsurprise\n",
            "version = 2\n<<<<<<< HEAD\n=======\n>>>>>>> b\n",
        ];
        insta::assert_snapshot!(texts.map(said).join("\n"), @"
        ascend.lock: lock format 9, and this version of ascend-build reads up to 3: update it
        ascend.lock: no lock of cargo ascend-tune: it has no version
        ascend.lock: the lock names no operator
        ascend.lock:2: key with no value, expected `=`; restore the file from version control
        ascend.lock:2: a merge left both sides in the lock; when the sources are merged, `cargo ascend-tune lock accept` locks them
        ");
        let nowhere = Locked::read(Path::new("nowhere")).unwrap_err().to_string();
        assert_eq!(nowhere, "nowhere/ascend.lock: no lock file; `cargo ascend-tune run` writes it");
    }
}
