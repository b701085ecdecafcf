//! Kernels that a program compiles while it runs (`aclrtcCompileProg`): their texts are found in its sources and compiled with it, each
//! as a translation unit of its own that says what it has. The SDK's AscendCL then looks a text up where a toolkit compiles it, so
//! nothing needs a compiler while a candidate runs, and lines, knobs and hazards are those of any other kernel.

use std::collections::BTreeSet;
use std::fmt::Write;

use project::{KernelEntry, kernel_entries};
use source::SourceTree;
use source::lex::{Token, TokenKind, closing, embedded_kernels, tokens};

/// A translation unit of the kernels in one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunTimeUnit {
    /// The file that it is compiled as; there is none of that name.
    pub file: String,
    /// The file whose flags and folders are its own.
    pub of: String,
    /// Its text.
    pub text: String,
}

/// Units of the kernels in raw literals of a program's sources, and of those in files that the program reads: kernel files that no
/// target compiles, which `of_target` tells. `on_disk` gives a file's text as the program finds it.
pub(crate) fn run_time_units(
    tree: &SourceTree,
    compiled: &[String],
    of_target: &dyn Fn(&str) -> bool,
    on_disk: &dyn Fn(&str) -> Option<String>,
) -> Vec<RunTimeUnit> {
    let names: BTreeSet<String> =
        compiled.iter().flat_map(|file| literals(tree.text(file).unwrap_or_default())).collect();
    let mut units = Vec::new();
    for of in compiled {
        let text = tree.text(of).unwrap_or_default();
        for (number, kernel) in embedded_kernels(text).into_iter().enumerate() {
            let line = line_of(text, kernel.body.start);
            let code = &text[kernel.body];
            let unit = unit(of, line, code, code, &names);
            units.push(RunTimeUnit { file: format!("{of}.kernel{number}.cpp"), of: of.clone(), text: unit });
        }
    }
    let Some(main) = compiled.first() else { return units };
    for (file, code) in tree.iter().filter(|(file, _)| !compiled.iter().any(|known| known == file)) {
        let is_header = [".h", ".hpp", ".hh"].iter().any(|end| file.ends_with(end));
        if is_header || of_target(file) || kernel_entries(file, code).is_empty() {
            continue;
        }
        let known_as = on_disk(file).unwrap_or_else(|| code.to_owned());
        let text = unit(file, 1, code, &known_as, &names);
        units.push(RunTimeUnit { file: format!("{file}.kernel.cpp"), of: main.clone(), text });
    }
    units
}

/// The line that a byte has in messages: counted from the last `#line 1` in front of it, which instrumented texts begin with.
fn line_of(text: &str, at: usize) -> usize {
    let before = &text[..at];
    let from = before.rfind("\n#line 1\n").map_or(0, |found| found + "\n#line 1\n".len());
    1 + before[from..].matches('\n').count()
}

fn unit(file: &str, line: usize, code: &str, known_as: &str, names: &BTreeSet<String>) -> String {
    let (hash, bytes) = digest(known_as);
    let escaped = file.replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = format!("#include \"ascendsim/run_time_kernel.h\"\n#line {line} \"{escaped}\"\n{code}\n");
    // What is made here is in no file: messages of it are not those of a line of the program's.
    text.push_str("#line 1 \"(kernels compiled at run time)\"\nnamespace {\n");
    let entries = kernel_entries(file, code);
    for (number, (entry, expression)) in entries.iter().flat_map(|entry| expressions(code, entry, names)).enumerate() {
        let _ = writeln!(
            text,
            "const ::ascendsim::RunTimeKernel ascend_tune_kernel_{number}{{{{0x{:016x}ULL, {}}}, {expression:?}, \"{entry}\", &{expression}}};",
            hash, bytes
        );
    }
    text.push_str("}\n");
    text
}

/// An entry with each of the names by which the program means it: its own where nothing stands around it, and literals of the program
/// that end with it, with or without template arguments.
fn expressions<'entry>(code: &str, entry: &'entry KernelEntry, names: &BTreeSet<String>) -> Vec<(&'entry str, String)> {
    let function = entry.function.as_str();
    let is_scoped = stands_in_a_namespace(code, entry);
    // Other texts of a program may be a kernel's bare name.
    let can_mean = |name: &str| {
        (!is_scoped || name.contains("::")) && (!entry.is_template || name.contains('<')) && is_name_of(name, function)
    };
    let mut found: BTreeSet<String> = names.iter().filter(|name| can_mean(name)).cloned().collect();
    if !entry.is_template && !is_scoped {
        found.insert(function.to_owned());
    }
    found.into_iter().map(|expression| (function, expression)).collect()
}

/// Whether a text is a name expression of a function: scopes, its name, and template arguments to the end.
fn is_name_of(text: &str, function: &str) -> bool {
    let all = tokens(text);
    let mut at = 0;
    while all.get(at).is_some_and(|token| token.kind == TokenKind::Scope)
        || all.get(at + 1).is_some_and(|token| token.kind == TokenKind::Scope)
    {
        at += 1;
    }
    let is = |at: usize, word: &str| all.get(at).is_some_and(|token| token.is(text, word));
    let scopes = all[..at].iter().all(|token| matches!(token.kind, TokenKind::Scope | TokenKind::Identifier));
    let ends =
        all.len() == at + 1 || (is(at + 1, "<") && all.last().is_some_and(|last| last.kind == TokenKind::Angles));
    scopes && is(at, function) && ends
}

/// Whether braces that are no `extern "C"` are open where an entry stands.
fn stands_in_a_namespace(code: &str, entry: &KernelEntry) -> bool {
    let all = tokens(code);
    let line = |token: &Token| 1 + code[..token.span.start].matches('\n').count();
    let Some(place) = all.iter().position(|token| line(token) == entry.line && token.is(code, &entry.function)) else {
        return true;
    };
    (0..place).any(|open| {
        let is_linkage = open >= 2 && all[open - 2].is(code, "extern") && all[open - 1].kind == TokenKind::Literal;
        all[open].is(code, "{") && !is_linkage && closing(code, &all, open).is_none_or(|close| close > place)
    })
}

/// Contents of plain string literals.
fn literals(text: &str) -> Vec<String> {
    let all = tokens(text);
    let plain = all.iter().filter(|token| token.kind == TokenKind::Literal).map(|token| token.text(text));
    plain
        .filter_map(|literal| literal.strip_prefix('"')?.strip_suffix('"'))
        .filter(|content| !content.is_empty() && !content.contains(['\\', '\n']))
        .map(str::to_owned)
        .collect()
}

/// FNV-1a over a text without carriage returns, and how many bytes these are; as `DigestOf` of `sdk/src/acl/acl_rtc.cpp` has it.
fn digest(text: &str) -> (u64, usize) {
    text.bytes().filter(|byte| *byte != b'\r').fold((0xCBF2_9CE4_8422_2325, 0), |(hash, bytes), byte| {
        ((hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3), bytes + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: &str = "#include \"acl/acl_rt_compile.h\"\nconst char* src = R\"--(\n#include \"kernel_operator.h\"\nnamespace n {\n\
        template <typename T> __global__ __vector__ void add(GM_ADDR x) {}\n__global__ void inner(GM_ADDR x) {}\n}\n\
        extern \"C\" {\n__global__ void plain(GM_ADDR x) {}\n}\n)--\";\nint main() { aclrtcAddNameExpr(p, \"n::add<half>\"); log(\"n::add: failed\", \"add\", \"inner\"); }\n";

    fn units(files: &[(&str, &str)], compiled: &[&str]) -> Vec<RunTimeUnit> {
        let mut tree = SourceTree::new();
        for (file, text) in files {
            tree.insert((*file).to_owned(), (*text).to_owned());
        }
        let compiled: Vec<String> = compiled.iter().map(|file| (*file).to_owned()).collect();
        run_time_units(&tree, &compiled, &|file| file == "other.cpp", &|_| Some("as it was".to_owned()))
    }

    #[test]
    fn a_literal_becomes_a_unit_with_its_lines_and_names() {
        let found = units(&[("main.cpp", MAIN)], &["main.cpp"]);
        let [unit] = &found[..] else { panic!("{found:?}") };
        assert_eq!((unit.file.as_str(), unit.of.as_str()), ("main.cpp.kernel0.cpp", "main.cpp"));
        assert!(unit.text.contains("#line 2 \"main.cpp\"\n\n#include \"kernel_operator.h\"\n"), "{}", unit.text);
        let registered: Vec<&str> = unit.text.lines().filter(|line| line.contains("RunTimeKernel ")).collect();
        assert_eq!(registered.len(), 2, "one in a namespace that nobody names is left out: {registered:?}");
        assert!(registered[0].contains("\"n::add<half>\", \"add\", &n::add<half>}"), "{registered:?}");
        assert!(registered[1].contains("\"plain\", \"plain\", &plain}"), "{registered:?}");
    }

    #[test]
    fn lines_of_instrumented_texts_are_those_of_the_original() {
        let text = format!("#include \"ascendsim/knob.h\"\n#line 1\n{MAIN}");
        let found = units(&[("main.cpp", &text)], &["main.cpp"]);
        assert!(found[0].text.contains("#line 2 \"main.cpp\"\n"), "{}", found[0].text);
    }

    #[test]
    fn a_file_that_the_program_reads_is_known_by_its_text_on_the_disk() {
        let kernel = "extern \"C\" __global__ void k(GM_ADDR x) {}\n";
        let files = [
            ("k.cce", kernel),
            ("k.h", kernel),
            ("other.cpp", kernel),
            ("main.cpp", "int main() { aclrtcCompileProg(p, 0, o); }\n"),
        ];
        let found = units(&files, &["main.cpp"]);
        let [unit] = &found[..] else { panic!("{found:?}") };
        assert_eq!((unit.file.as_str(), unit.of.as_str()), ("k.cce.kernel.cpp", "main.cpp"));
        assert!(unit.text.contains(&format!("{{0x{:016x}ULL, 9}}", digest("as it was").0)), "{}", unit.text);
    }

    #[test]
    fn how_lines_end_makes_no_other_text() {
        assert_eq!(digest("a\r\nb\r\n"), digest("a\nb\n"));
        assert_ne!(digest("a\nb"), digest("a\nc"));
    }

    #[test]
    fn name_expressions_are_told_from_other_texts() {
        for (text, is_one) in [
            ("k", true),
            ("n::k", true),
            ("::n::k<half, 3>", true),
            ("k<A<B>>", true),
            ("k failed", false),
            ("nk", false),
            ("n::k::f", false),
            ("k<half> x", false),
        ] {
            assert_eq!(is_name_of(text, "k"), is_one, "{text}");
        }
    }
}
