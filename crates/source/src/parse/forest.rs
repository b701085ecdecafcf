//! All parsed files of a source tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::blank::MacroNames;
use super::file::{ParseError, SyntaxFile};
use super::memory::parsed;
use crate::{Edit, Patch, SourceTree};

/// All C++ files of a source tree, parsed.
#[derive(Clone, Debug, Default)]
pub struct SyntaxForest {
    files: BTreeMap<String, Arc<SyntaxFile>>,
    macros: Arc<MacroNames>,
}

impl SyntaxForest {
    /// Parses every C++ file of the tree. Files that give no tree are left out.
    pub fn parse(tree: &SourceTree) -> Self {
        Self::parse_with(tree, MacroNames::default())
    }

    /// Like [`SyntaxForest::parse`], with names of qualifier macros known beforehand.
    pub fn parse_with(tree: &SourceTree, known: MacroNames) -> Self {
        let sources = || tree.iter().filter(|(file, _)| is_cpp(file));
        let mut macros = MacroNames::learn(sources().map(|(_, text)| text));
        macros.extend(known.iter().map(str::to_owned));
        let macros = Arc::new(macros);
        let files =
            sources().filter_map(|(file, text)| Some((file.to_owned(), parsed(file, text, &macros).ok()?))).collect();
        Self { files, macros }
    }

    /// A file by name.
    pub fn get(&self, file: &str) -> Option<&SyntaxFile> {
        self.files.get(file).map(AsRef::as_ref)
    }

    /// All files by name.
    pub fn iter(&self) -> impl Iterator<Item = &SyntaxFile> {
        self.files.values().map(AsRef::as_ref)
    }

    /// Names of qualifier macros that were hidden.
    pub fn macros(&self) -> &MacroNames {
        &self.macros
    }

    /// Refuses a patch that touches code that was not understood.
    pub fn check_edits(&self, edits: &[Edit]) -> Result<(), ParseError> {
        edits.iter().try_for_each(|edit| self.get(&edit.file).map_or(Ok(()), |file| file.check_span(&edit.span)))
    }

    /// Refuses a patch after which a file has more syntax errors than before.
    pub fn check_result(&self, patch: &Patch, patched: &SourceTree) -> Result<(), ParseError> {
        let mut files: Vec<&str> = patch.edits.iter().map(|edit| edit.file.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        for file in files {
            let (Some(before), Some(text)) = (self.get(file), patched.text(file)) else { continue };
            let after = parsed(file, text, &self.macros)?;
            if after.errors().len() > before.errors().len() {
                let at =
                    after.errors().iter().find(|error| !before.errors().contains(error)).map_or(0, |error| error.start);
                return Err(ParseError::Broken { file: file.to_owned(), line: after.line(at) });
            }
        }
        Ok(())
    }
}

/// Whether a file name is one of C++ or Ascend C.
fn is_cpp(file: &str) -> bool {
    matches!(
        file.rsplit_once('.').map(|(_, extension)| extension),
        Some("cpp" | "cc" | "cxx" | "h" | "hpp" | "asc" | "cce")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_that_breaks_the_syntax_is_noticed() {
        let mut tree = SourceTree::new();
        tree.insert("a.h", "void f() {\n    g(1);\n}\n");
        let forest = SyntaxForest::parse(&tree);
        let edit = Edit { file: "a.h".into(), span: 18..19, replacement: String::new() };
        let patch = Patch { title: String::new(), motif: String::new(), edits: vec![edit] };
        let patched = tree.apply(&patch).unwrap();
        assert!(
            matches!(forest.check_result(&patch, &patched), Err(ParseError::Broken { .. })),
            "{:?}",
            patched.text("a.h")
        );
    }
}
