//! Proposals from patches that somebody wrote: a colleague's idea, a script's or a model's output, as unified diffs.

use std::collections::BTreeSet;

use diffy::patch_set::{FileOperation, ParseOptions, PatchSet};

use super::seam::{Asked, Proposer};
use super::{History, Proposal};
use motif::Context;
use source::{SourceTree, merged_trees};

/// Somebody who went to the trouble of writing a patch expects more of it than the catalogue promises.
const EXPECTED_GAIN: f64 = 2.0;
/// A gain above this may be had again on other sources.
const WORTH_AGAIN: f64 = 1.005;

/// Why a patch cannot be tried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchFileError {
    /// Its text is no unified diff.
    #[error("{patch}: not a unified diff ({message})")]
    NoDiff {
        /// The patch.
        patch: String,
        /// What is wrong with it.
        message: String,
    },
    /// It makes, removes, copies or renames a file.
    #[error("{patch}: {file} would be made or removed; a patch may change only what is there")]
    NoChange {
        /// The patch.
        patch: String,
        /// The file.
        file: String,
    },
    /// It changes a file that is not one of the operator's.
    #[error("{patch}: {file} is not among the `sources` of ascend.toml: {sources}")]
    NotOurs {
        /// The patch.
        patch: String,
        /// The file.
        file: String,
        /// What may be changed.
        sources: String,
    },
    /// The lines that it names are not there.
    #[error("{patch}: {file}: {message}: its lines are not in this file as it stands")]
    Elsewhere {
        /// The patch.
        patch: String,
        /// The file.
        file: String,
        /// Which hunk.
        message: String,
    },
}

/// Patches against the operator as it stands.
#[derive(Clone, Debug)]
pub struct PatchFiles {
    original: SourceTree,
    patches: Vec<Written>,
}

/// A patch, applied.
#[derive(Clone, Debug)]
struct Written {
    name: String,
    patched: SourceTree,
}

impl PatchFiles {
    /// Reads patches, given as name and text, for these sources.
    pub fn new(original: &SourceTree, patches: &[(String, String)]) -> Result<Self, PatchFileError> {
        let mut read = Vec::new();
        let mut names = BTreeSet::new();
        for (name, text) in patches {
            let patched = applied(original, name, text)?;
            // `+` stands between the names of steps that were taken together.
            let mut name = name.replace('+', "_");
            while !names.insert(name.clone()) {
                name.push('\'');
            }
            read.push(Written { name, patched });
        }
        Ok(Self { original: original.clone(), patches: read })
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.patches.iter().map(|written| written.name.as_str())
    }

    /// What a run depends on of them.
    pub fn digest(&self) -> String {
        let parts = self.patches.iter().map(|written| format!("{} {}", written.name, written.patched.digest()));
        parts.collect::<Vec<_>>().join(", ")
    }

    /// A patch on sources that may have been rewritten since.
    fn on(&self, written: &Written, context: &Context) -> Option<Proposal> {
        let tree = carried_over(&self.original, &written.patched, &context.tree)?;
        let title = format!("the change of {}", written.name);
        let why = format!("{} was given", written.name);
        let proposal = Proposal::written(context, &tree, (&written.name, &title), why, EXPECTED_GAIN)?;
        Some(Proposal { given: true, ..proposal })
    }
}

/// What leads from `original` to `wanted`, done to sources that may have been rewritten since; `None` where the same words were.
pub fn carried_over(original: &SourceTree, wanted: &SourceTree, now: &SourceTree) -> Option<SourceTree> {
    let is_there = |(file, _): (&str, &str)| original.text(file).is_some() && now.text(file).is_some();
    wanted.iter().all(is_there).then(|| merged_trees(original, now, wanted))?
}

impl Proposer for PatchFiles {
    fn propose(&self, asked: &Asked<'_>) -> Vec<Proposal> {
        let wanted = |name: &str| is_wanted(name, asked.history, asked.unlikely);
        let proposals = self.patches.iter().filter(|written| wanted(&written.name));
        let proposals = proposals.filter_map(|written| self.on(written, asked.context));
        proposals.filter(|proposal| !asked.history.contains(&proposal.key)).collect()
    }
}

/// A patch is tried once; again on other sources where it has brought something, and where nothing better is left.
fn is_wanted(name: &str, history: &History, unlikely: bool) -> bool {
    history.seen(name).is_none_or(|seen| {
        let brought = seen.gains.last().is_some_and(|gain| *gain > WORTH_AGAIN);
        seen.rejected == 0 && (brought || unlikely)
    })
}

/// The sources with a patch.
fn applied(sources: &SourceTree, name: &str, text: &str) -> Result<SourceTree, PatchFileError> {
    let patch = || name.to_owned();
    let mut tree = sources.clone();
    for part in PatchSet::parse(text, ParseOptions::unidiff()) {
        let part = part.map_err(|error| PatchFileError::NoDiff { patch: patch(), message: error.to_string() })?;
        let path = match part.operation() {
            FileOperation::Modify { modified, .. } => modified.as_ref(),
            FileOperation::Rename { from, to } if from.rsplit('/').next() == to.rsplit('/').next() => to.as_ref(),
            FileOperation::Create(path)
            | FileOperation::Delete(path)
            | FileOperation::Rename { to: path, .. }
            | FileOperation::Copy { to: path, .. } => {
                return Err(PatchFileError::NoChange { patch: patch(), file: path.to_string() });
            }
        };
        let Some(file) = file_of(sources, path) else {
            let known: Vec<&str> = sources.iter().map(|(file, _)| file).collect();
            return Err(PatchFileError::NotOurs { patch: patch(), file: path.to_owned(), sources: known.join(", ") });
        };
        let Some(change) = part.patch().as_text() else {
            return Err(PatchFileError::NoDiff { patch: patch(), message: "it is binary".to_owned() });
        };
        let text = diffy::apply(tree.text(file).unwrap_or_default(), change).map_err(|error| {
            PatchFileError::Elsewhere { patch: patch(), file: file.to_owned(), message: error.to_string() }
        })?;
        tree.insert(file, text);
    }
    Ok(tree)
}

/// The operator's file that a path of a patch means: patches are made in the operator's folder or above it, with `a/` and `b/` or not.
fn file_of<'a>(sources: &'a SourceTree, path: &str) -> Option<&'a str> {
    let mut rest = path;
    loop {
        if let Some((file, _)) = sources.iter().find(|(file, _)| *file == rest) {
            return Some(file);
        }
        rest = rest.split_once('/')?.1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Effect, Standing};
    use super::*;
    use experience::Bank;
    use source::facts::KnownValues;

    const KERNEL: &str = "void Copy() {\n    Load();\n    Wait();\n}\n\nvoid Add() {\n    Slow();\n}\n";
    const PATCH: &str = "diff --git a/ops/x/k.h b/ops/x/k.h\nindex 1..2 100644\n--- a/ops/x/k.h\n+++ b/ops/x/k.h\n\
                         @@ -5,4 +5,4 @@\n \n void Add() {\n-    Slow();\n+    Quick();\n }\n";

    fn sources(text: &str) -> SourceTree {
        let mut tree = SourceTree::new();
        tree.insert("k.h", text);
        tree
    }

    fn files(text: &str) -> Result<PatchFiles, PatchFileError> {
        PatchFiles::new(&sources(KERNEL), &[("idea.patch".to_owned(), text.to_owned())])
    }

    fn proposed(files: &PatchFiles, text: &str, history: &History, unlikely: bool) -> Vec<Proposal> {
        let context = Context::new(sources(text), KnownValues::default(), None);
        let bank = Bank::new();
        let asked = Asked {
            context: &context,
            profile: None,
            bank: &bank,
            history,
            keep_constants: false,
            unlikely,
            standing: Standing::default(),
        };
        files.propose(&asked)
    }

    #[test]
    fn a_patch_is_proposed_on_sources_that_were_rewritten_since() {
        let files = files(PATCH).unwrap();
        let rewritten = KERNEL.replace("    Wait();\n", "");
        let proposals = proposed(&files, &rewritten, &History::default(), false);
        let patched = sources(&rewritten).apply(&proposals[0].patch).unwrap();
        assert_eq!(patched.text("k.h").unwrap(), rewritten.replace("Slow", "Quick"));
        assert!(
            proposed(&files, &KERNEL.replace("Slow", "Quick"), &History::default(), false).is_empty(),
            "it is there"
        );
        assert!(
            proposed(&files, &KERNEL.replace("Slow", "Other"), &History::default(), false).is_empty(),
            "a conflict"
        );
    }

    #[test]
    fn a_patch_that_was_refused_is_left_alone_and_one_that_brought_nothing_waits() {
        let files = files(PATCH).unwrap();
        let first = proposed(&files, KERNEL, &History::default(), false).remove(0);
        let elsewhere = KERNEL.replace("    Wait();\n", "");
        let after = |outcome, unlikely| {
            let mut history = History::default();
            history.learn(&first, outcome);
            assert!(proposed(&files, KERNEL, &history, true).is_empty(), "not twice on the same sources");
            proposed(&files, &elsewhere, &history, unlikely).len()
        };
        assert_eq!(after(Effect::Rejected, true), 0);
        assert_eq!((after(Effect::Gain(1.0), false), after(Effect::Gain(1.0), true)), (0, 1));
        assert_eq!(after(Effect::Gain(1.3), false), 1);
    }

    #[test]
    fn what_is_no_change_of_these_sources_is_an_error_that_says_why() {
        let message = |text: &str| files(text).unwrap_err().to_string();
        assert!(message("nothing").contains("idea.patch: not a unified diff"), "{}", message("nothing"));
        let other = PATCH.replace("k.h", "CMakeLists.txt");
        assert!(message(&other).contains("is not among the `sources` of ascend.toml: k.h"), "{}", message(&other));
        let gone = PATCH.replace("Slow", "Gone");
        assert!(message(&gone).contains("k.h: error applying hunk #1"), "{}", message(&gone));
        let new = "--- /dev/null\n+++ b/new.h\n@@ -0,0 +1 @@\n+int x;\n";
        assert!(message(new).contains("new.h would be made or removed"), "{}", message(new));
    }
}
