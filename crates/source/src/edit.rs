//! Edits as data: byte spans and replacement text, computed apart from being applied.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Replacement of a byte span of one file. An empty span is an insertion.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Edit {
    /// File, relative to the operator's root, with `/`.
    pub file: String,
    /// Bytes replaced, in the text that the edit was computed for.
    pub span: Range<usize>,
    /// Text that stands there afterwards.
    pub replacement: String,
}

/// A set of edits that belong together: all are applied or none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// What the patch does, one line.
    pub title: String,
    /// Catalogue id of the motif behind it, such as `D01`; empty for a configuration.
    pub motif: String,
    /// The edits, in any order, not overlapping.
    pub edits: Vec<Edit>,
}

/// Why edits could not be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The file is not part of the operator's sources.
    #[error("{file}: not one of the operator's source files")]
    UnknownFile {
        /// The file named by the edit.
        file: String,
    },
    /// The span is outside the file or cuts a character.
    #[error("{file}: bytes {start}..{end} are not a span of this file")]
    BadSpan {
        /// The file.
        file: String,
        /// First byte.
        start: usize,
        /// One past the last byte.
        end: usize,
    },
    /// Two edits of the patch touch the same bytes.
    #[error("{file}: two edits overlap at byte {at}")]
    Overlap {
        /// The file.
        file: String,
        /// Where they meet.
        at: usize,
    },
}

/// The operator's editable sources at one moment: relative path to text. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceTree {
    files: BTreeMap<String, Arc<str>>,
}

impl<File: Into<String>, Text: Into<Arc<str>>> FromIterator<(File, Text)> for SourceTree {
    fn from_iter<Files: IntoIterator<Item = (File, Text)>>(files: Files) -> Self {
        Self { files: files.into_iter().map(|(file, text)| (file.into(), text.into())).collect() }
    }
}

impl SourceTree {
    /// An empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a file.
    pub fn insert(&mut self, file: impl Into<String>, text: impl Into<Arc<str>>) {
        self.files.insert(file.into(), text.into());
    }

    /// Text of a file.
    pub fn text(&self, file: &str) -> Option<&str> {
        self.files.get(file).map(AsRef::as_ref)
    }

    /// All files by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(file, text)| (file.as_str(), text.as_ref()))
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Digest over names and texts, in hexadecimal.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (file, text) in self.iter() {
            hasher.update(&(file.len() as u64).to_le_bytes());
            hasher.update(file.as_bytes());
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The tree with all edits of the patch applied, or the reason why none was.
    pub fn apply(&self, patch: &Patch) -> Result<SourceTree, EditError> {
        let mut by_file: BTreeMap<&str, Vec<&Edit>> = BTreeMap::new();
        for edit in &patch.edits {
            by_file.entry(&edit.file).or_default().push(edit);
        }
        let mut result = self.clone();
        for (file, mut edits) in by_file {
            let text = self.text(file).ok_or_else(|| EditError::UnknownFile { file: file.to_owned() })?;
            edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
            let mut rewritten = String::with_capacity(text.len());
            let mut position = 0;
            for edit in edits {
                let span = edit.span.clone();
                if span.start < position {
                    return Err(EditError::Overlap { file: file.to_owned(), at: span.start });
                }
                let untouched = text.get(position..span.start);
                if untouched.is_none() || text.get(span.clone()).is_none() {
                    return Err(EditError::BadSpan { file: file.to_owned(), start: span.start, end: span.end });
                }
                rewritten.push_str(untouched.unwrap_or_default());
                rewritten.push_str(&edit.replacement);
                position = span.end;
            }
            rewritten.push_str(&text[position..]);
            result.insert(file, rewritten);
        }
        Ok(result)
    }
}
