//! Outcomes of a survey as they come, so that one that was stopped goes on: one JSON object a line.
//!
//! A line belongs to a key: the operator, and a digest of everything that could make its outcome another one (its files,
//! the SDK, the machine, the options). A line that was cut off by a kill is dropped when the journal is opened.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use super::discover::Found;
use events::survey::{CauseKind, Surveyed};

/// Version of the steps: outcomes of another are not taken over.
const VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    outcome: Surveyed,
}

/// Outcomes on disk.
#[derive(Debug)]
pub struct Journal {
    file: File,
    known: BTreeMap<String, Surveyed>,
}

impl Journal {
    /// Opens the journal, or makes one. `resume` keeps what is there.
    pub fn open(path: &Path, resume: bool) -> std::io::Result<Self> {
        let mut known = BTreeMap::new();
        let mut kept = Vec::new();
        if resume && let Ok(bytes) = std::fs::read(path) {
            for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
                let Ok(parsed) = serde_json::from_slice::<Line>(line) else { continue };
                kept.extend_from_slice(line);
                known.insert(parsed.key, parsed.outcome);
            }
        }
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        // By rename: a kill in between leaves the old journal or the new one.
        let temporary = path.with_extension("tmp");
        fs_err::write(&temporary, &kept)?;
        fs_err::rename(&temporary, path)?;
        let file = File::options().append(true).open(path)?;
        Ok(Self { file, known })
    }

    /// What an earlier survey found.
    pub fn get(&self, key: &str) -> Option<&Surveyed> {
        self.known.get(key)
    }

    /// Adds an outcome, in one write. What this machine lacked says nothing of the operator, and may be there the next time.
    pub fn append(&mut self, key: &str, outcome: &Surveyed) -> std::io::Result<()> {
        let causes = || outcome.steps.iter().filter_map(|step| step.cause.as_ref());
        if causes().any(|cause| cause.kind == CauseKind::Machine) {
            return Ok(());
        }
        let mut line = serde_json::to_vec(&Line { key: key.to_owned(), outcome: outcome.clone() })?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.file.flush()
    }
}

/// Key of an operator's outcome. `surroundings` says what is the same for all: SDK, machine, options.
pub fn key(found: &Found, surroundings: &str) -> String {
    let mut digest = blake3::Hasher::new();
    let mut text = |text: &str| {
        digest.update(&(text.len() as u64).to_le_bytes());
        digest.update(text.as_bytes());
    };
    text(&VERSION.to_string());
    text(surroundings);
    text(&found.operator);
    let mut files: Vec<PathBuf> = WalkDir::new(&found.directory)
        .into_iter()
        .filter_entry(|entry| !matches!(entry.file_name().to_str(), Some("target" | "build" | "docs" | ".git")))
        .flatten()
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect();
    files.sort();
    for file in files {
        // Size and time would do for one machine; content holds on another as well.
        let content = std::fs::read(&file).unwrap_or_default();
        text(&file.strip_prefix(&found.directory).unwrap_or(&file).to_string_lossy());
        text(blake3::hash(&content).to_hex().as_str());
    }
    format!("{}/{} {}", found.repository, found.operator, &digest.finalize().to_hex()[..32])
}
