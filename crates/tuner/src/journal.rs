//! The journal: every evaluation of a run, appended as it ends, so that a killed run resumes.
//!
//! A run is a deterministic function of its inputs, so resuming is replaying: the loop starts over, and evaluations
//! that the journal holds are answered from it. At most the evaluations in flight are lost.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Evaluation;

/// Version of the line format. A journal of another version is put aside, never misread.
const FORMAT: u32 = 1;

/// First line: what the evaluations depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    format: u32,
    inputs: String,
}

/// A line of a journal.
pub trait Entry: Serialize + DeserializeOwned {
    /// What it is found by.
    fn key(&self) -> String;
}

impl Entry for Evaluation {
    fn key(&self) -> String {
        Evaluation::key(self)
    }
}

/// An append-only file of what was tried.
#[derive(Debug)]
pub struct Journal<T = Evaluation> {
    file: Mutex<fs_err::File>,
    known: BTreeMap<String, T>,
}

/// What was done with a journal that was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// There was none, or resuming was not wanted.
    Fresh,
    /// Evaluations taken over.
    Resumed(usize),
    /// It belongs to other inputs and was put aside.
    InputsChanged,
}

impl<T: Entry> Journal<T> {
    /// Opens the journal at `path` for a run on inputs with the digest `inputs`.
    ///
    /// A last line that was cut by a crash is dropped. A journal of other inputs is renamed to `*.old`.
    pub fn open(path: &Path, inputs: &str, resume: bool) -> std::io::Result<(Self, Opened)> {
        let header = Header { format: FORMAT, inputs: inputs.to_owned() };
        let mut known = BTreeMap::new();
        let mut opened = Opened::Fresh;
        let mut kept = String::new();
        if let Ok(text) = fs_err::read_to_string(path) {
            let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            let matches =
                lines.next().and_then(|line| serde_json::from_str::<Header>(line).ok()).as_ref() == Some(&header);
            if resume && matches {
                for line in lines {
                    let Ok(entry) = serde_json::from_str::<T>(line) else { break };
                    kept.push_str(line);
                    known.insert(entry.key(), entry);
                }
                opened = Opened::Resumed(known.len());
            } else {
                fs_err::rename(path, path.with_extension("jsonl.old"))?;
                opened = if matches { Opened::Fresh } else { Opened::InputsChanged };
            }
        }
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        // Written anew without the torn line, under a temporary name, so that a crash here loses nothing.
        let temporary = path.with_extension("jsonl.tmp");
        let mut text = to_line(&header)?;
        text.push_str(&kept);
        fs_err::write(&temporary, text)?;
        fs_err::rename(&temporary, path)?;
        let file = fs_err::OpenOptions::new().append(true).open(path)?;
        Ok((Self { file: Mutex::new(file), known }, opened))
    }

    /// What an earlier, interrupted run tried.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.known.get(key)
    }

    /// All that an earlier, interrupted run tried.
    pub fn entries(&self) -> impl Iterator<Item = &T> {
        self.known.values()
    }

    /// Appends what was tried.
    pub fn append(&self, evaluation: &T) -> std::io::Result<()> {
        let line = to_line(evaluation)?;
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.write_all(line.as_bytes())?;
        file.flush()
    }
}

fn to_line(value: &impl Serialize) -> std::io::Result<String> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use verify::{Reason, Rejection};

    fn evaluation(digest: &str) -> Evaluation {
        Evaluation {
            digest: digest.to_owned(),
            thorough: false,
            outcome: Outcome::Rejected(Rejection::new(Reason::BuildFailed, "", "no")),
            estimate_us: None,
            blocks: Vec::new(),
            round: 0,
            seconds: 0.0,
            error: None,
            other_data: BTreeMap::new(),
        }
    }

    #[test]
    fn a_torn_line_is_dropped_and_the_rest_is_resumed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal.jsonl");
        let (journal, opened) = Journal::<Evaluation>::open(&path, "inputs", true).unwrap();
        assert_eq!(opened, Opened::Fresh);
        journal.append(&evaluation("a")).unwrap();
        journal.append(&evaluation("b")).unwrap();
        let mut text = fs_err::read_to_string(&path).unwrap();
        text.truncate(text.len() - 5);
        fs_err::write(&path, text).unwrap();

        let (journal, opened) = Journal::<Evaluation>::open(&path, "inputs", true).unwrap();
        assert_eq!(opened, Opened::Resumed(1));
        assert_eq!(journal.get(&evaluation("a").key()), Some(&evaluation("a")));
        assert_eq!(journal.get(&evaluation("b").key()), None);
    }

    #[test]
    fn other_inputs_put_the_journal_aside() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal.jsonl");
        let (journal, _) = Journal::<Evaluation>::open(&path, "inputs", true).unwrap();
        journal.append(&evaluation("a")).unwrap();
        let (journal, opened) = Journal::<Evaluation>::open(&path, "changed", true).unwrap();
        assert_eq!(opened, Opened::InputsChanged);
        assert_eq!(journal.get(&evaluation("a").key()), None);
        assert!(path.with_extension("jsonl.old").exists());
    }
}
