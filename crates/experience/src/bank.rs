//! The bank: a directory of records, one TOML file each.

use include_dir::{Dir, include_dir};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::shingles::Shingles;
use super::{Provenance, Record};

/// Why a bank could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BankError {
    /// Reading or writing failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// File or directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A record is not what it should be.
    #[error("{}: not a record, or no local motif: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        message: String,
    },
}

/// A record with what questions ask of it again and again.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) record: Record,
    slow_side: OnceLock<Shingles>,
}

impl Kept {
    fn of(record: Record) -> Self {
        Self { record, slow_side: OnceLock::new() }
    }

    /// Shingles of the slow form, made when they are asked for first.
    pub(super) fn slow_side(&self) -> &Shingles {
        self.slow_side.get_or_init(|| Shingles::of_slow_side(&self.record.diff))
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.record == other.record
    }
}

/// Records by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bank {
    records: BTreeMap<String, Kept>,
}

impl Bank {
    /// An empty bank.
    pub fn new() -> Self {
        Self::default()
    }

    /// The bank that ships with the tool: mined from its own fixtures.
    pub fn shipped() -> Self {
        static SHIPPED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../templates/bank");
        let mut bank = Self::new();
        let records = SHIPPED.files().filter(|file| file.path().extension().is_some_and(|kind| kind == "toml"));
        for file in records {
            // A test holds that every shipped file is a record.
            if let Some(record) = file.contents_utf8().and_then(|text| toml::from_str(text).ok()) {
                bank.insert(record);
            }
        }
        bank
    }

    /// Digest over the ids of all records.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for id in self.records.keys() {
            hasher.update(id.as_bytes());
            hasher.update(b"\n");
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Reads all `.toml` files of a directory. A directory that is not there is an empty bank.
    pub fn load(directory: &Path) -> Result<Self, BankError> {
        let mut bank = Self::new();
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| BankError::Io { path, source }
        };
        let entries = match std::fs::read_dir(directory) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(bank),
            entries => entries.map_err(io(directory))?,
        };
        for entry in entries {
            let path = entry.map_err(io(directory))?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let text = std::fs::read_to_string(&path).map_err(io(&path))?;
                let malformed = |message: String| BankError::Malformed { path: path.clone(), message };
                let record: Record = toml::from_str(&text).map_err(|error| malformed(error.to_string()))?;
                if !record.before_us.is_finite() || !record.after_us.is_finite() {
                    return Err(malformed("before-us and after-us have to be finite".to_owned()));
                }
                bank.insert(record);
            }
        }
        Ok(bank)
    }

    /// Adds a record; one with the same id is replaced. Returns the id.
    pub fn insert(&mut self, record: Record) -> String {
        let id = record.id();
        self.records.insert(id.clone(), Kept::of(record));
        id
    }

    /// Adds a record and writes it into the directory, atomically. Returns the id.
    pub fn add(&mut self, directory: &Path, record: Record) -> Result<String, BankError> {
        let path = directory.join(format!("{}.toml", record.id()));
        let io = |source| BankError::Io { path: path.clone(), source };
        let text = toml::to_string_pretty(&record)
            .map_err(|error| BankError::Malformed { path: path.clone(), message: error.to_string() })?;
        std::fs::create_dir_all(directory).map_err(io)?;
        let mut file = tempfile::NamedTempFile::new_in(directory).map_err(io)?;
        file.write_all(text.as_bytes()).map_err(io)?;
        file.persist(&path).map_err(|error| io(error.error))?;
        Ok(self.insert(record))
    }

    /// Takes a record out.
    pub fn take(&mut self, id: &str) -> Option<Record> {
        self.records.remove(id).map(|kept| kept.record)
    }

    /// Takes over the records of another bank; where both have an id, a measured record wins over a modelled one.
    pub fn merge(&mut self, other: Bank) {
        for (id, kept) in other.records {
            let stays = self.records.get(&id).is_some_and(|known| known.record.origin > kept.record.origin);
            if !stays {
                self.records.insert(id, kept);
            }
        }
    }

    /// A record by id.
    pub fn get(&self, id: &str) -> Option<&Record> {
        self.records.get(id).map(|kept| &kept.record)
    }

    /// All records by id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Record)> {
        self.kept().map(|(id, kept)| (id, &kept.record))
    }

    pub(super) fn kept(&self) -> impl Iterator<Item = (&str, &Kept)> {
        self.records.iter().map(|(id, kept)| (id.as_str(), kept))
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The bank without records whose operator or project contains the pattern, however it is spelled: `rms_norm` holds
    /// out `RmsNorm` and `rms_norm/careful`.
    pub fn without(&self, pattern: &str) -> Bank {
        let spelled = |name: &str| -> String {
            name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let pattern = spelled(pattern);
        let held_out = |record: &Record| {
            let Provenance { operator, project, .. } = &record.provenance;
            [operator, project].into_iter().any(|name| spelled(name).contains(&pattern))
        };
        let records = self
            .records
            .iter()
            .filter(|(_, kept)| !held_out(&kept.record))
            .map(|(id, kept)| (id.clone(), kept.clone()));
        Bank { records: records.collect() }
    }
}
