//! Which sources of a repository define what an operator's host code uses, by the names that the linker misses.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use project::without_cmake_comments;
use project::{OperatorProject, RepositoryIndex, is_interface_code};
use source::arch::TARGET;
use source::lex::{Token, TokenKind, closing, tokens};

/// A symbol that nothing defines: its qualified name without parameters, such as `optiling::TilingBase::DoTiling`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Missing {
    name: String,
}

/// Symbols that a linker's output misses.
pub(super) fn unresolved(log: &str) -> BTreeSet<Missing> {
    let mut result = BTreeSet::new();
    for line in log.lines() {
        let Some((_, rest)) = line.split_once("undefined reference to ") else { continue };
        let symbol = rest.trim_matches(|letter| matches!(letter, '`' | '\'' | '"' | ' ' | '‘' | '’'));
        let symbol = ["vtable for ", "typeinfo for ", "VTT for ", "non-virtual thunk to ", "virtual thunk to "]
            .iter()
            .fold(symbol, |symbol, prefix| symbol.strip_prefix(prefix).unwrap_or(symbol));
        let name = without_arguments(symbol);
        if !name.is_empty() {
            result.insert(Missing { name });
        }
    }
    result
}

/// `ns::f<int>(char const*)[abi:cxx11]` to `ns::f`.
fn without_arguments(symbol: &str) -> String {
    let mut name = String::new();
    let mut depth = 0usize;
    // A return type comes first for instances of function templates.
    for letter in symbol.replace("(anonymous namespace)::", "").chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' | '[' if depth == 0 => break,
            ' ' if depth == 0 => name.clear(),
            _ if depth == 0 => name.push(letter),
            _ => {}
        }
    }
    name
}

/// Sources that may be taken, those nearest to the operator first.
pub(super) struct Candidates {
    left: Vec<PathBuf>,
    /// The operator's own sources for other architectures: code for all of them may ask a question that one of these answers.
    foreign: Vec<PathBuf>,
    /// Folders of the operators that the CMake file names as dependencies.
    dependencies: Vec<PathBuf>,
    /// Ends of the paths of sources outside the operator that its CMake file names.
    named: Vec<String>,
}

impl Candidates {
    /// Sources beside the headers that the operator reaches, below the repository's common folders, and of operators that
    /// its CMake file names as dependencies.
    pub(super) fn around(project: &OperatorProject, headers: &BTreeSet<PathBuf>) -> Candidates {
        let index = RepositoryIndex::of(&project.repository_root);
        let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
        let mut dependencies = Vec::new();
        for header in headers {
            // The whole op_host folder: declarations and definitions are not always in the same subfolder.
            let host = header.ancestors().find(|folder| folder.ends_with("op_host"));
            folders.extend(host.or_else(|| header.parent()).map(Path::to_owned));
        }
        for above in project.root.ancestors().skip(1).take_while(|above| above.starts_with(&project.repository_root)) {
            folders.extend(["common", "utils"].map(|name| above.join(name)).into_iter().filter(|path| path.is_dir()));
            for dependency in dependencies_in_cmake(&project.root) {
                let folder = above.join(dependency).join("op_host");
                if folder.is_dir() {
                    folders.insert(folder.clone());
                    dependencies.push(folder);
                }
            }
        }
        // Files of the operator itself that were left out may define something after all.
        folders.insert(project.root.join("op_host"));
        let mut left: BTreeSet<&Path> = BTreeSet::new();
        for folder in &folders {
            left.extend(index.sources_below(folder));
        }
        let own = project.root.join("op_host");
        let is_own_source = |path: &Path| {
            path.strip_prefix(&project.root)
                .is_ok_and(|inside| project.editable_files.iter().any(|file| Path::new(file) == inside))
        };
        let foreign = left
            .iter()
            .filter(|path| path.starts_with(&own) && TARGET.is_foreign(&path.to_string_lossy()))
            .map(|path| path.to_path_buf())
            .collect();
        let mut left: Vec<PathBuf> = left
            .into_iter()
            .filter(|path| {
                let name = path.to_string_lossy();
                !is_interface_code(&name)
                    && !TARGET.is_foreign(&name)
                    && !is_own_source(path)
                    && !name.contains("/op_kernel/")
            })
            .map(Path::to_owned)
            .collect();
        let shared = |path: &Path| path.components().zip(own.components()).take_while(|(one, two)| one == two).count();
        left.sort_by_key(|path| (std::cmp::Reverse(shared(path)), path.clone()));
        Candidates { left, foreign, dependencies, named: sources_in_cmake(&project.root) }
    }

    /// All that may be taken.
    pub(super) fn all(&self) -> &[PathBuf] {
        &self.left
    }

    /// Takes the sources of dependencies that register something for one of the operator types: functions that no symbol
    /// of the operator leads to.
    pub(super) fn registering(&mut self, types: &BTreeSet<String>) -> Vec<PathBuf> {
        let mut chosen = Vec::new();
        let (dependencies, named) = (&self.dependencies, &self.named);
        self.left.retain(|path| {
            let near = dependencies.iter().any(|folder| path.starts_with(folder))
                || named.iter().any(|end| path.ends_with(end));
            let takes = near
                && std::fs::read(path).is_ok_and(|bytes| {
                    let text = String::from_utf8_lossy(&bytes);
                    types.iter().any(|name| registers(&text, name))
                });
            if takes {
                chosen.push(path.clone());
            }
            !takes
        });
        chosen
    }

    /// Takes the sources that define one of the symbols, one source a symbol. One for other architectures is taken where no other
    /// does, and if it registers nothing, so that what the operator does on this one stays what it is.
    pub(super) fn defining(&mut self, missing: &BTreeSet<Missing>) -> Vec<PathBuf> {
        let mut open: BTreeSet<&Missing> = missing.iter().collect();
        let mut chosen = take_defining(&mut self.left, &mut open, |_| true);
        chosen.extend(take_defining(&mut self.foreign, &mut open, |text| {
            !text.contains("REGISTER_") && !text.contains("IMPL_OP")
        }));
        chosen
    }
}

/// Takes the sources that define one of the symbols that are still open.
fn take_defining(
    sources: &mut Vec<PathBuf>,
    open: &mut BTreeSet<&Missing>,
    may_be_taken: impl Fn(&str) -> bool,
) -> Vec<PathBuf> {
    let mut chosen = Vec::new();
    sources.retain(|path| {
        if open.is_empty() {
            return true;
        }
        let Ok(bytes) = std::fs::read(path) else { return false };
        let text = String::from_utf8_lossy(&bytes);
        let before = open.len();
        if may_be_taken(&text) {
            open.retain(|symbol| !defines(&text, &symbol.name));
        }
        if open.len() < before {
            chosen.push(path.clone());
        }
        open.len() == before
    });
    chosen
}

/// Operator types that a text defines: `OP_ADD(Add)`.
pub(super) fn defined_types(text: &str) -> Vec<String> {
    if !text.contains("OP_ADD") {
        return Vec::new();
    }
    let all = tokens(text);
    let added = all.windows(3).filter(|window| window[0].is(text, "OP_ADD") && window[1].is(text, "("));
    added.map(|window| window[2].text(text).to_owned()).collect()
}

/// Whether a text calls a macro with an operator type as its first argument: `IMPL_OP_OPTILING(Add)`, or a family's own.
fn registers(text: &str, operator: &str) -> bool {
    if !text.contains(operator) {
        return false;
    }
    let all = tokens(text);
    all.windows(4).any(|window| {
        let is_macro = window[0].kind == TokenKind::Identifier
            && window[0].text(text).chars().all(|letter| !letter.is_ascii_lowercase());
        let closes = window[3].is(text, ",") || window[3].is(text, ")");
        is_macro && window[1].is(text, "(") && window[2].is(text, operator) && closes
    })
}

/// Whether a text holds a definition of a qualified name: `Class::function(` for members, `function(...) {` for others;
/// for a class (whose table of virtual functions is missing) any of its members.
fn defines(text: &str, name: &str) -> bool {
    let parts: Vec<&str> = name.split("::").collect();
    let Some(last) = parts.last() else { return false };
    if !text.contains(last) {
        return false;
    }
    let all = tokens(text);
    let is = |index: usize, word: &str| all.get(index).is_some_and(|token| token.is(text, word));
    // The lexer gives punctuation letter by letter.
    let scope = |index: usize| is(index, ":") && is(index + 1, ":") || is(index, "::");
    let after_scope = |index: usize| if is(index, "::") { index + 1 } else { index + 2 };
    let holder = parts.len().checked_sub(2).map(|at| parts[at]);
    for (index, token) in all.iter().enumerate() {
        if token.kind != TokenKind::Identifier || !token.is(text, last) {
            continue;
        }
        // Member of the class of this name.
        if scope(index + 1) && all.get(after_scope(index + 1)).is_some() && has_body_after(text, &all, index) {
            return true;
        }
        if !is(index + 1, "(") {
            // A variable: `type Class::name = ...` or `type name = ...` outside of a function.
            let defined = is(index + 1, "=") || is(index + 1, "{");
            if defined && holder.is_some_and(|holder| index >= 2 && qualified_by(text, &all, index, holder)) {
                return true;
            }
            continue;
        }
        let qualified = index >= 2 && (is(index - 1, "::") || is(index - 1, ":") && is(index - 2, ":"));
        let fits = match holder {
            Some(holder) if qualified => qualified_by(text, &all, index, holder),
            _ => !qualified,
        };
        if fits && has_body_after(text, &all, index) {
            return true;
        }
    }
    false
}

fn qualified_by(text: &str, all: &[Token], index: usize, holder: &str) -> bool {
    let back = if all[index - 1].is(text, "::") { 2 } else { 3 };
    index >= back && (all[index - back].is(text, holder) || all[index - back].is(text, ">"))
}

/// Whether the next parameter list is followed by a body before a `;`.
fn has_body_after(text: &str, all: &[Token], from: usize) -> bool {
    let Some(open) = (from..all.len().min(from + 12)).find(|index| all[*index].is(text, "(")) else { return false };
    let Some(close) = closing(text, all, open) else { return false };
    for token in all.iter().skip(close + 1).take(24) {
        match token.text(text) {
            "{" => return true,
            ";" | "}" | ")" | "," => return false,
            _ => {}
        }
    }
    false
}

/// Sources outside the operator that its CMake files name: `${OP_COMMON_DIR}/src/family/tiling.cpp` as `src/family/tiling.cpp`, for every source so named.
fn sources_in_cmake(root: &Path) -> Vec<String> {
    let mut result = Vec::new();
    for file in [root.join("CMakeLists.txt"), root.join("op_host/CMakeLists.txt")] {
        let Ok(bytes) = std::fs::read(&file) else { continue };
        let text = without_cmake_comments(&String::from_utf8_lossy(&bytes));
        for word in text.split(|letter: char| letter.is_whitespace() || "()\"".contains(letter)) {
            let Some((_, end)) = word.rsplit_once("}/") else { continue };
            if (end.ends_with(".cpp") || end.ends_with(".cc")) && !end.split('/').any(|part| part == "..") {
                result.push(end.to_owned());
            }
        }
    }
    result
}

/// Operators that the CMake file of an operator depends on.
fn dependencies_in_cmake(root: &Path) -> Vec<String> {
    let mut result = Vec::new();
    for file in [root.join("CMakeLists.txt"), root.join("op_host/CMakeLists.txt")] {
        let Ok(bytes) = std::fs::read(&file) else { continue };
        let text =
            without_cmake_comments(&String::from_utf8_lossy(&bytes)).replace(['(', '"'], " ").replace(')', " ) ");
        let mut after = false;
        for word in text.split_whitespace() {
            if word == "DEPENDENCIES" || word == "add_dependent_ops" {
                after = true;
            } else if word
                .chars()
                .any(|letter| !letter.is_ascii_lowercase() && !letter.is_ascii_digit() && letter != '_')
            {
                after = false;
            } else if after {
                result.push(word.to_owned());
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_the_linkers_words() {
        let log = "/usr/bin/ld: a.o: in function `f':\nx.cpp:3: undefined reference to `optiling::Base::Run(gert::TilingContext*)'\n\
                   ld: a.o: undefined reference to `vtable for optiling::Other'\nld: undefined reference to `int Pick<float>(long)'\n";
        let names: Vec<String> = unresolved(log).into_iter().map(|missing| missing.name).collect();
        assert_eq!(names, ["Pick", "optiling::Base::Run", "optiling::Other"]);
    }

    #[test]
    fn definitions_are_told_from_declarations_and_calls() {
        assert!(defines("int Base::Run(int a) const { return a; }", "ns::Base::Run"));
        assert!(!defines("int Next::Run(int a) { return a; }", "ns::Base::Run"));
        assert!(!defines("int x = f(Run(1));", "ns::Run"));
        assert!(!defines("int Run(int a);", "ns::Run"));
        assert!(defines("namespace ns { int Run(int a)\n{ return a; } }", "ns::Run"));
        assert!(defines("void Other::Anything() {}", "ns::Other"));
        assert!(defines("const int Table::kSize = 3;", "Table::kSize"));
    }

    #[test]
    fn a_question_that_another_architecture_answers_is_answered_where_nothing_registers_with_it() {
        let temporary = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = temporary.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let near = file("near.cpp", "int Near() { return 1; }");
        let asked = file("arch20.cpp", "bool IsOld() { return false; }\nint Near() { return 2; }");
        let other = file("arch35.cpp", "REGISTER_TILING(Add, Late, 1);\nint Late() { return 3; }");
        let foreign = vec![asked.clone(), other];
        let mut candidates = Candidates { left: vec![near.clone()], foreign, dependencies: vec![], named: vec![] };
        let mut taken = |names: &[&str]| {
            let missing = names.iter().map(|name| Missing { name: (*name).to_owned() }).collect();
            candidates.defining(&missing)
        };
        assert_eq!(taken(&["Near", "Late"]), [near]);
        assert_eq!(taken(&["optiling::IsOld", "Late"]), [asked]);
        assert!(taken(&["optiling::IsOld"]).is_empty(), "once");
    }

    #[test]
    fn registrations_by_any_macro_count() {
        assert_eq!(defined_types("class Add {}; OP_ADD(Add);"), ["Add"]);
        assert!(registers("IMPL_OP_OPTILING(Add).Tiling(f);", "Add"));
        assert!(registers("FAMILY_TILING(Add, 3);", "Add"));
        assert!(!registers("namespace Add { int Call(Add, 3); FAMILY(AddMore, 1) }", "Add"));
    }

    #[test]
    fn dependencies_stand_after_their_word() {
        let temporary = tempfile::tempdir().unwrap();
        std::fs::write(
            temporary.path().join("CMakeLists.txt"),
            "add_all_modules_sources(OPTYPE norm DEPENDENCIES norm_common batch_norm\n  ACLNNTYPE aclnn) # DEPENDENCIES no\n\
             add_dependent_ops(layer_norm)\nendif()\n",
        )
        .unwrap();
        assert_eq!(dependencies_in_cmake(temporary.path()), ["norm_common", "batch_norm", "layer_norm"]);
    }
}
