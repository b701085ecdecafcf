//! The bank: a directory of records, one TOML file each.

use include_dir::{Dir, include_dir};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::{Features, Record, Verdict};

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
    #[error("{}: not a record: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        message: String,
    },
}

/// Records by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bank {
    records: BTreeMap<String, Record>,
}

/// A record with its likeness to what was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match<'a> {
    /// Id of the record.
    pub id: &'a str,
    /// The record.
    pub record: &'a Record,
    /// Likeness between 0 and 1.
    pub likeness: f64,
}

/// Gains that a motif brought in like code, failures included as 1 or less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GainQuantiles {
    /// Number of records.
    pub records: usize,
    /// A quarter of the records brought no more than this.
    pub lower: f64,
    /// Half of them.
    pub median: f64,
    /// Three quarters of them.
    pub upper: f64,
}

impl Bank {
    /// An empty bank.
    pub fn new() -> Self {
        Self::default()
    }

    /// The bank that ships with the tool: mined from its own fixtures.
    pub fn shipped() -> Self {
        static SHIPPED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates/bank");
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
        self.records.insert(id.clone(), record);
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

    /// Takes over the records of another bank; where both have an id, a measured record wins over a modelled one.
    pub fn merge(&mut self, other: Bank) {
        for (id, record) in other.records {
            let stays = self.records.get(&id).is_some_and(|known| known.origin > record.origin);
            if !stays {
                self.records.insert(id, record);
            }
        }
    }

    /// A record by id.
    pub fn get(&self, id: &str) -> Option<&Record> {
        self.records.get(id)
    }

    /// All records by id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Record)> {
        self.records.iter().map(|(id, record)| (id.as_str(), record))
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The bank without records whose operator or project contains the pattern.
    pub fn without(&self, pattern: &str) -> Bank {
        let held_out = |record: &Record| {
            record.provenance.operator.contains(pattern) || record.provenance.project.contains(pattern)
        };
        let records = self
            .records
            .iter()
            .filter(|(_, record)| !held_out(record))
            .map(|(id, record)| (id.clone(), record.clone()));
        Bank { records: records.collect() }
    }

    /// Records by likeness of symptoms and code shape, most alike first; ties by id.
    pub fn search(&self, symptoms: &[String], features: &Features) -> Vec<Match<'_>> {
        let mut found: Vec<Match<'_>> = self
            .records
            .iter()
            .map(|(id, record)| {
                let shared = record.symptoms.iter().filter(|symptom| symptoms.contains(symptom)).count();
                let all = record.symptoms.len() + symptoms.len() - shared;
                let by_symptom = if all == 0 { 0.0 } else { shared as f64 / all as f64 };
                Match { id, record, likeness: 0.5 * by_symptom + 0.5 * record.features.likeness(features) }
            })
            .collect();
        found.sort_by(|left, right| right.likeness.total_cmp(&left.likeness).then(left.id.cmp(right.id)));
        found
    }

    /// Quantiles of a motif's gain over the records that are at least half alike; over all of the motif's if none is.
    pub fn gain_quantiles(&self, motif: &str, symptoms: &[String], features: &Features) -> Option<GainQuantiles> {
        let of_motif: Vec<Match<'_>> =
            self.search(symptoms, features).into_iter().filter(|found| found.record.motif == motif).collect();
        let alike: Vec<&Match<'_>> = of_motif.iter().filter(|found| found.likeness >= 0.5).collect();
        let chosen = if alike.is_empty() { of_motif.iter().collect() } else { alike };
        let gain = |found: &&Match<'_>| match found.record.verdict {
            // What did not work through the motif's mechanism is no promise.
            Verdict::EffectWithoutMechanism => 1.0,
            _ => found.record.gain(),
        };
        let mut gains: Vec<f64> = chosen.iter().map(gain).collect();
        gains.sort_by(f64::total_cmp);
        let quantile = |share: f64| gains[((gains.len() - 1) as f64 * share).round() as usize];
        (!gains.is_empty()).then(|| GainQuantiles {
            records: gains.len(),
            lower: quantile(0.25),
            median: quantile(0.5),
            upper: quantile(0.75),
        })
    }
}
