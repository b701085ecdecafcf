//! Answers of a model as changes of the sources. Nothing in them is trusted: what is no exact change of files that may be changed is an
//! error that says where.

use std::collections::BTreeMap;
use std::ops::Range;

use source::SourceTree;
use source::parse::{SyntaxFile, SyntaxForest};

/// A change that an answer asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What it does, one line.
    pub title: String,
    /// Sources that it was written for.
    pub base: SourceTree,
    /// The sources with it.
    pub wanted: SourceTree,
}

/// Why an answer is no change. Lines are those of the answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The model has nothing to propose.
    #[error("the model has nothing to propose")]
    Nothing,
    /// There is no edit in it.
    #[error("the answer has no edit: none of its lines begins with `<<<<<<< SEARCH` or `<<<<<<< FUNCTION`")]
    NoEdit,
    /// There is no tiling function in it.
    #[error("the answer has no line `<<<<<<< TILING`, behind which the text between the markers would stand")]
    NoTiling,
    /// An edit does not end.
    #[error("line {line} of the answer: this edit has no `{missing}`")]
    Open {
        /// Where it begins.
        line: usize,
        /// What is not there.
        missing: &'static str,
    },
    /// An edit names no file.
    #[error("line {line} of the answer: `{head}` does not name {what}")]
    Head {
        /// Where.
        line: usize,
        /// The line.
        head: String,
        /// What is missing.
        what: &'static str,
    },
    /// The file is not one of the operator's sources.
    #[error("line {line} of the answer: {file} cannot be changed; the `sources` of ascend.toml are {sources}")]
    NotOurs {
        /// Where.
        line: usize,
        /// The file.
        file: String,
        /// What may be changed.
        sources: String,
    },
    /// What is to be replaced is not there, or more than once.
    #[error("line {line} of the answer: what is to be replaced occurs {times} times in {file}, not once: {first:?}")]
    Places {
        /// Where.
        line: usize,
        /// The file.
        file: String,
        /// How often.
        times: usize,
        /// Its first line.
        first: String,
    },
    /// Nothing is to be replaced.
    #[error("line {line} of the answer: nothing is to be replaced; to insert, repeat a line and add to it")]
    Empty {
        /// Where.
        line: usize,
    },
    /// There is no such function, or several.
    #[error("line {line} of the answer: {file} has {times} functions of the name {name}, not one")]
    Functions {
        /// Where.
        line: usize,
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// How many there are.
        times: usize,
    },
    /// What is to stand in for a function is not that function.
    #[error("line {line} of the answer: what is to stand in for {name} is not one definition of it")]
    NotFunction {
        /// Where.
        line: usize,
        /// The name.
        name: String,
    },
    /// The sources stay as they are.
    #[error("the edits of the answer change nothing")]
    Unchanged,
    /// No counter is named that should rise.
    #[error("the answer does not say what takes longer: behind COUNTER: stands {said:?}, and there are {known}")]
    Counter {
        /// What stands there.
        said: String,
        /// The counters.
        known: String,
    },
    /// It is too long to be looked at.
    #[error("the answer has {bytes} bytes; {most} are the most that is read")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
}

const SEARCH: &str = "<<<<<<< SEARCH";
const FUNCTION: &str = "<<<<<<< FUNCTION";
const BETWEEN: &str = "=======";
pub(super) const END: &str = ">>>>>>> REPLACE";
const TITLE: &str = "TITLE:";
const NOTHING: &str = "NOTHING";
/// Bytes of an answer that are read.
const MOST_BYTES: usize = 1 << 20;
/// Letters of a title.
const LONGEST_TITLE: usize = 100;

/// How an edit of lines in a file begins, with its line break.
pub(super) fn search_head(file: &str) -> String {
    format!("{SEARCH} {file}\n")
}

/// How an edit of a whole function begins.
pub(super) fn function_head(file: &str, name: &str) -> String {
    format!("{FUNCTION} {file} {name}\n")
}

/// Lines that are replaced, with what ends them.
pub(super) fn between(old: &str) -> String {
    format!("{old}{BETWEEN}\n")
}

/// One edit as it stands in an answer.
struct Edit<'a> {
    line: usize,
    file: &'a str,
    what: What<'a>,
}

enum What<'a> {
    Text { old: Vec<&'a str>, new: Vec<&'a str> },
    Function { name: &'a str, new: Vec<&'a str> },
}

/// Reads an answer as a change of these sources.
pub fn change(answer: &str, sources: &SourceTree) -> Result<Change, AnswerError> {
    if answer.len() > MOST_BYTES {
        return Err(AnswerError::TooLong { bytes: answer.len(), most: MOST_BYTES });
    }
    if answer.trim().trim_matches(['`', '.', '"']) == NOTHING {
        return Err(AnswerError::Nothing);
    }
    let edits = edits(answer)?;
    let mut wanted = sources.clone();
    for edit in &edits {
        let Some(text) = wanted.text(edit.file) else {
            let known: Vec<&str> = sources.iter().map(|(file, _)| file).collect();
            let sources = known.join(", ");
            return Err(AnswerError::NotOurs { line: edit.line, file: one_line(edit.file), sources });
        };
        let changed = match &edit.what {
            What::Text { old, new } => replaced(text, edit, old, new)?,
            What::Function { name, new } => with_function(&wanted, text, edit, name, new)?,
        };
        wanted.insert(edit.file, changed);
    }
    if wanted == *sources {
        return Err(AnswerError::Unchanged);
    }
    Ok(Change { title: title(answer), base: sources.clone(), wanted })
}

/// Whole files as a change of these sources.
pub(super) fn change_of_files(files: &BTreeMap<String, String>, sources: &SourceTree) -> Result<Change, AnswerError> {
    let mut wanted = sources.clone();
    for (file, text) in files {
        if sources.text(file).is_none() {
            let known: Vec<&str> = sources.iter().map(|(file, _)| file).collect();
            return Err(AnswerError::NotOurs { line: 1, file: one_line(file), sources: known.join(", ") });
        }
        wanted.insert(file.as_str(), text.as_str());
    }
    let change = Change { title: String::new(), base: sources.clone(), wanted };
    if change.wanted == change.base { Err(AnswerError::Unchanged) } else { Ok(change) }
}

/// Ideas of a plan: one a line, each behind a dash.
pub fn ideas(answer: &str, most: usize) -> Vec<String> {
    let behind_dash = |line: &str| line.trim().strip_prefix("- ").map(|idea| one_line(idea.trim()));
    answer.lines().filter_map(behind_dash).filter(|idea| !idea.is_empty()).take(most).collect()
}

/// A text as part of a line, without what a terminal or a report could take for something else.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(300).collect()
}

/// What an answer calls its change, one line.
pub(super) fn title(answer: &str) -> String {
    let written = answer.lines().find_map(|line| line.trim().strip_prefix(TITLE));
    let title: String = one_line(written.unwrap_or_default().trim()).chars().take(LONGEST_TITLE).collect();
    if title.is_empty() { "a change without a title".to_owned() } else { title }
}

fn edits(answer: &str) -> Result<Vec<Edit<'_>>, AnswerError> {
    let mut lines = answer.lines().enumerate().map(|(place, text)| (place + 1, text));
    let mut edits = Vec::new();
    while let Some((line, text)) = lines.next() {
        let head = text.trim();
        let missing = |what| AnswerError::Head { line, head: one_line(head), what };
        let mut until = |end: &'static str| {
            let mut part = Vec::new();
            for (_, text) in lines.by_ref() {
                if text.trim_end() == end {
                    return Ok(part);
                }
                part.push(text);
            }
            Err(AnswerError::Open { line, missing: end })
        };
        if let Some(file) = head.strip_prefix(SEARCH) {
            let file = file.trim();
            if file.is_empty() {
                return Err(missing("a file"));
            }
            let (old, new) = (until(BETWEEN)?, until(END)?);
            edits.push(Edit { line, file, what: What::Text { old, new } });
        } else if let Some(place) = head.strip_prefix(FUNCTION) {
            let Some((file, name)) = place.trim().rsplit_once(char::is_whitespace) else {
                return Err(missing("a file and a function"));
            };
            let new = until(END)?;
            edits.push(Edit { line, file: file.trim(), what: What::Function { name, new } });
        }
    }
    if edits.is_empty() { Err(AnswerError::NoEdit) } else { Ok(edits) }
}

/// The text with the only run of lines like `old` made `new`. Blanks at the ends of lines do not matter.
fn replaced(text: &str, edit: &Edit<'_>, old: &[&str], new: &[&str]) -> Result<String, AnswerError> {
    if old.iter().all(|line| line.trim().is_empty()) {
        return Err(AnswerError::Empty { line: edit.line });
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let alike = |window: &[&str]| window.iter().zip(old).all(|(line, wanted)| line.trim_end() == wanted.trim_end());
    let places: Vec<usize> =
        lines.windows(old.len()).enumerate().filter(|(_, window)| alike(window)).map(|(place, _)| place).collect();
    let [place] = places[..] else {
        let first = one_line(old.iter().find(|line| !line.trim().is_empty()).copied().unwrap_or_default());
        let (file, times) = (edit.file.to_owned(), places.len());
        return Err(AnswerError::Places { line: edit.line, file, times, first });
    };
    let behind = place + old.len();
    let mut result: String = lines[..place].concat();
    for line in new {
        result.push_str(line.trim_end_matches('\r'));
        result.push('\n');
    }
    // A file that ends without a line break stays like that.
    if behind == lines.len() && !text.ends_with('\n') && result.ends_with('\n') {
        result.pop();
    }
    result.push_str(&lines[behind..].concat());
    Ok(result)
}

/// The text with a function's definition replaced. A method may be named with its class: `KernelAdd::Process`.
fn with_function(
    tree: &SourceTree,
    text: &str,
    edit: &Edit<'_>,
    name: &str,
    new: &[&str],
) -> Result<String, AnswerError> {
    let (class, plain) = name.rsplit_once("::").map_or((None, name), |(class, plain)| (Some(class), plain));
    let spans = |tree: &SourceTree| {
        let forest = SyntaxForest::parse(tree);
        let Some(file) = forest.get(edit.file) else { return Vec::new() };
        let meant = file.functions().iter().filter(|function| {
            function.name == plain && class.is_none_or(|class| function.class.as_deref() == Some(class))
        });
        meant.map(|function| with_head(file, &function.span)).collect::<Vec<_>>()
    };
    let found = spans(tree);
    let [span] = &found[..] else {
        let (file, times) = (edit.file.to_owned(), found.len());
        return Err(AnswerError::Functions { line: edit.line, file, name: one_line(name), times });
    };
    let (Some(before), Some(behind)) = (text.get(..span.start), text.get(span.end..)) else {
        return Err(AnswerError::NotFunction { line: edit.line, name: one_line(name) });
    };
    let written = new.join("\n");
    let result = format!("{before}{}{behind}", written.trim());
    let mut changed = tree.clone();
    changed.insert(edit.file, result.as_str());
    // It is there once, and takes all of the place: what else was written along belongs into an edit of its own.
    let now = spans(&changed);
    let is_it = matches!(&now[..], [now] if now.start == span.start && now.len() == written.trim().len());
    if is_it { Ok(result) } else { Err(AnswerError::NotFunction { line: edit.line, name: one_line(name) }) }
}

/// A definition with what stands before it on its line and is blank to the parser: `__aicore__`, `extern "C" __global__`.
fn with_head(file: &SyntaxFile, span: &Range<usize>) -> Range<usize> {
    let (text, blanked) = (file.text(), file.blanked());
    let line = text.get(..span.start).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    // What names the linkage is C++, and stands outside of the function.
    let seen = blanked.get(line..span.start).map_or("", str::trim_end);
    let seen = seen.strip_suffix("extern \"C\"").map_or(seen, str::trim_end).len();
    let head = text.get(line + seen..span.start).unwrap_or_default();
    span.start - head.trim_start().len()..span.end
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "class K {\n    void Load() {\n        Copy(1);\n        Wait();\n    }\n    void Store() {\n        \
                          Copy(2);\n        Wait();\n    }\n};\n\nvoid Load() {\n    Copy(3);\n}\n";

    fn sources() -> SourceTree {
        [("op_kernel/k.cpp", KERNEL), ("op_host/t.cpp", "int tile = 8;")].into_iter().collect()
    }

    fn read(answer: &str) -> Result<Change, AnswerError> {
        change(answer, &sources())
    }

    fn edit(file: &str, old: &str, new: &str) -> String {
        format!("<<<<<<< SEARCH {file}\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n")
    }

    #[test]
    fn edits_are_made_one_after_the_other_and_talk_around_them_does_not_matter() {
        let answer = format!(
            "Sure.\nTITLE: no wait\x1b in \"Load\"\n```\n{}{}```\nDone.",
            edit("op_kernel/k.cpp", "        Copy(1);  \n        Wait();", "        Copy(1);"),
            edit("op_host/t.cpp", "int tile = 8;", "int tile = 16;"),
        );
        let change = read(&answer).unwrap();
        assert_eq!(change.title, "no wait  in \"Load\"");
        assert_eq!(change.wanted.text("op_kernel/k.cpp").unwrap(), KERNEL.replacen("        Wait();\n", "", 1));
        assert_eq!(change.wanted.text("op_host/t.cpp").unwrap(), "int tile = 16;");
        assert_eq!(change.base, sources());
    }

    #[test]
    fn lines_can_be_removed_or_inserted() {
        let removed = read("<<<<<<< SEARCH op_kernel/k.cpp\n        Copy(2);\n=======\n>>>>>>> REPLACE").unwrap();
        assert_eq!(removed.wanted.text("op_kernel/k.cpp").unwrap(), KERNEL.replace("        Copy(2);\n", ""));
        let inserted =
            read(&edit("op_kernel/k.cpp", "        Copy(2);", "        Copy(2);\n        Copy(4);")).unwrap();
        assert!(
            inserted.wanted.text("op_kernel/k.cpp").unwrap().contains("Copy(2);\n        Copy(4);\n        Wait();")
        );
    }

    #[test]
    fn a_whole_function_takes_the_place_of_its_definition() {
        let answer =
            |name: &str, text: &str| format!("<<<<<<< FUNCTION op_kernel/k.cpp {name}\n{text}\n>>>>>>> REPLACE");
        let change = read(&answer("Store", "    void Store() {\n        Copy(9);\n    }")).unwrap();
        assert_eq!(
            change.wanted.text("op_kernel/k.cpp").unwrap(),
            KERNEL.replace("Copy(2);\n        Wait();", "Copy(9);")
        );
        // As they stand in kernels: what is no C++ belongs to the head, and is written along.
        let kernel = "class K {\n    __aicore__ inline void Store()\n    {\n        Copy(2);\n    }\n};\n\n\
                      extern \"C\" __global__ __aicore__ void k(GM_ADDR x)\n{\n    K op;\n}\n";
        let sources: SourceTree = [("op_kernel/k.cpp", kernel)].into_iter().collect();
        for (name, old, new) in [("Store", "Copy(2)", "Copy(9)"), ("k", "K op;", "K op(x);")] {
            let whole = kernel.split("\n\n").next().unwrap_or_default();
            let store = &whole[whole.find("__aicore__").unwrap()..whole.find("};").unwrap()];
            let entry = &kernel[kernel.find("extern").unwrap()..];
            let text = if name == "k" { entry } else { store };
            let made = super::change(&answer(name, &text.replace(old, new)), &sources).unwrap();
            assert_eq!(made.wanted.text("op_kernel/k.cpp").unwrap(), kernel.replace(old, new));
        }
        let several = read(&answer("Load", "void Load() {}")).unwrap_err();
        assert!(several.to_string().contains("has 2 functions of the name Load"), "{several}");
        assert!(read(&answer("K::Load", "void Load() {}")).is_ok());
        let none = read(&answer("Compute", "void Compute() {}")).unwrap_err();
        assert!(none.to_string().contains("has 0 functions"), "{none}");
        for other in ["void Compute() {}", "void Store() {}\nint more;", "", "void Store() {"] {
            let refused = read(&answer("Store", other)).unwrap_err();
            assert!(matches!(refused, AnswerError::NotFunction { .. }), "{other}: {refused}");
        }
    }

    #[test]
    fn what_is_no_change_says_where_and_why() {
        assert_eq!(read("NOTHING").unwrap_err(), AnswerError::Nothing);
        assert_eq!(read("I would widen the tile.").unwrap_err(), AnswerError::NoEdit);
        let open = read("x\n<<<<<<< SEARCH op_kernel/k.cpp\n        Copy(1);").unwrap_err();
        assert_eq!(open.to_string(), "line 2 of the answer: this edit has no `=======`");
        let open = read("<<<<<<< SEARCH op_kernel/k.cpp\n        Copy(1);\n=======\n").unwrap_err();
        assert!(open.to_string().contains("`>>>>>>> REPLACE`"));
        assert!(read("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE").unwrap_err().to_string().contains("a file"));
        let places = |old: &str| read(&edit("op_kernel/k.cpp", old, "x")).unwrap_err().to_string();
        assert!(places("        Wait();").contains("occurs 2 times in op_kernel/k.cpp, not once: \"        Wait();\""));
        assert!(places("Copy(1)").contains("occurs 0 times"), "part of a line is none");
        assert!(places("").contains("nothing is to be replaced"));
        assert_eq!(read(&edit("op_host/t.cpp", "int tile = 8;", "int tile = 8;")).unwrap_err(), AnswerError::Unchanged);
        assert!(matches!(read(&"x".repeat(MOST_BYTES + 1)).unwrap_err(), AnswerError::TooLong { .. }));
    }

    #[test]
    fn only_sources_of_the_manifest_can_be_changed() {
        let others = [
            "ascend.toml",
            "ascend.lock",
            "golden.py",
            "golden/large/y.npy",
            "tests/test_k.cpp",
            "CMakeLists.txt",
            "op_kernel/new.h",
            "./op_kernel/k.cpp",
            "op_kernel/../ascend.toml",
            "/etc/passwd",
            "../../.bashrc",
            "OP_KERNEL/K.CPP",
            "op_kernel/k.cpp\t",
        ];
        for file in others {
            match read(&edit(file, "class K {", "class L {")) {
                Err(AnswerError::NotOurs { sources, .. }) => assert_eq!(sources, "op_host/t.cpp, op_kernel/k.cpp"),
                // Blanks around a name are no part of it.
                Ok(change) => assert_eq!((file, change.wanted.len()), ("op_kernel/k.cpp\t", 2)),
                Err(other) => panic!("{file}: {other}"),
            }
        }
    }

    #[test]
    fn a_plan_is_lines_behind_dashes() {
        assert_eq!(ideas("Here:\n- widen\n  - narrow \n* no\n-\n- third", 2), ["widen", "narrow"]);
        assert!(ideas("NOTHING", 3).is_empty());
    }
}
