//! All parsed files of a source tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::blank::MacroNames;
use super::file::{ParseError, SyntaxFile};
use super::items::Unread;
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

    /// Refuses a patch after which a file has syntax errors that it had not before. Of a macro's arguments (`return FAILED`) that are
    /// none to the grammar there may be more; anything else is the same as often, wherever it is now.
    pub fn check_result(&self, patch: &Patch, patched: &SourceTree) -> Result<(), ParseError> {
        let mut files: Vec<&str> = patch.edits.iter().map(|edit| edit.file.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        for file in files {
            let (Some(before), Some(text)) = (self.get(file), patched.text(file)) else { continue };
            let after = parsed(file, text, &self.macros)?;
            let mut known: Vec<&Unread> = before.errors().iter().collect();
            for error in after.errors() {
                let same = |known: &&Unread| known.what == error.what && known.within == error.within;
                let Some(place) = known.iter().position(same) else {
                    return Err(ParseError::Broken { file: file.to_owned(), line: after.line(error.span.start) });
                };
                if !error.in_macro() {
                    known.remove(place);
                }
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

    /// Whether the file may become what an edit of all of it says.
    #[track_caller]
    fn changes(before: &str, old: &str, new: &str) -> Result<(), ParseError> {
        assert!(before.contains(old), "{old}");
        let tree: SourceTree = [("a.cpp", before)].into_iter().collect();
        let forest = SyntaxForest::parse(&tree);
        let edit = Edit { file: "a.cpp".into(), span: 0..before.len(), replacement: before.replace(old, new) };
        let patch = Patch { edits: vec![edit], ..Patch::default() };
        forest.check_result(&patch, &tree.apply(&patch).unwrap())
    }

    const CHECKED: &str = "static ge::graphStatus Tiling(gert::TilingContext *context)
{
    OP_CHECK_IF(rows != 3, , return ge::GRAPH_FAILED);
    OP_TILING_CHECK(rows != 9, OP_LOGE(context, \"rows\"), return false)
    OP_CHECK_IF(rows == 5, OP_LOGE(context, \"rows\"), throw x);
    uint32_t tile = 128;
    return ge::GRAPH_SUCCESS;
}
";

    #[test]
    fn a_patch_may_leave_the_errors_that_there_were() {
        let checked = SyntaxForest::parse(&[("a.cpp", CHECKED)].into_iter().collect());
        assert_eq!(checked.get("a.cpp").unwrap().errors().len(), 3, "macros that are no C++ to the grammar");
        for (old, new) in [
            // In the line of a macro, right behind one, and in its arguments.
            ("rows != 3,", "rows != 4 && rows != 5,"),
            ("    uint32_t tile", "    uint32_t more = 1;\n    uint32_t tile"),
            ("rows != 9", "rows > 9"),
            ("(context, \"rows\"), throw", "(context, \"%u rows\", rows), throw"),
            // One more of them, and one less; one that stands elsewhere.
            ("    uint32_t tile", "    OP_CHECK_IF(rows == 7, , return ge::GRAPH_FAILED);\n    uint32_t tile"),
            (
                "    uint32_t tile",
                "    OP_TILING_CHECK(Odd(rows), OP_LOGE(context, \"odd\"), return false)\n    uint32_t tile",
            ),
            ("    OP_CHECK_IF(rows != 3, , return ge::GRAPH_FAILED);\n", ""),
            (
                ", throw x);\n    uint32_t tile = 128;",
                ", return);\n    uint32_t tile = 128;\n    OP_CHECK_IF(tile == 5, OP_LOGE(context, \"tile\"), throw x);",
            ),
        ] {
            assert_eq!(changes(CHECKED, old, new), Ok(()), "{new}");
        }
    }

    #[test]
    fn an_error_that_there_was_does_not_stand_for_another() {
        for (old, new) in [
            ("tile = 128;", "tile = ;"),
            ("rows == 5,", "rows = (,"),
            ("uint32_t tile = 128;", "uint32_t tile = 128"),
            ("    return ge::GRAPH_SUCCESS;\n}", "    return ge::GRAPH_SUCCESS;\n"),
            // What a macro takes, a function does not.
            ("uint32_t tile = 128;", "uint32_t tile = Longest(rows, throw x);"),
            ("uint32_t tile = 128;", "uint32_t tile = Longest(rows, , 128);"),
            // An error goes and another one comes: as many as before.
            ("OP_CHECK_IF(rows == 5, OP_LOGE(context, \"rows\"), throw x);", "Check(rows, +);"),
        ] {
            assert!(matches!(changes(CHECKED, old, new), Err(ParseError::Broken { .. })), "{new}");
        }
        let broken = "void f() { g(; }\nvoid h() { k(1); }\n";
        assert_eq!(changes(broken, "k(1)", "k(2)"), Ok(()));
        assert!(changes(broken, "k(1);", "g(; ").is_err(), "one more of them");
    }

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
