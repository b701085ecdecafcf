//! Digests of what is locked. They stay where only comments and white space change: of C++ over its tokens, of TOML over what it says.

use std::fmt::Write;

/// A digest over content and not over bytes begins with this. Locks of before have bare digests of bytes.
const CONTENT: &str = "content:";

/// Endings of files that are C++.
const CPP: [&str; 9] = [".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".hh", ".asc", ".cce"];

/// Digest of a source file.
pub fn source_digest(file: &str, text: &str) -> String {
    match CPP.iter().any(|ending| file.ends_with(ending)) {
        true => format!("{CONTENT}{}", hex(tokens(text).as_bytes())),
        false => hex(text.as_bytes()),
    }
}

/// Whether a source file is what was locked under this digest.
pub fn is_source(file: &str, text: &str, locked: &str) -> bool {
    locked == source_digest(file, text) || locked == hex(text.as_bytes())
}

/// Tables that say who proposes changes, and nothing of the operator or of what it is held to.
const OF_PROPOSERS: [&str; 2] = ["model", "proposer"];

/// Digest of a manifest's text. A text that is no TOML is taken as it is.
pub fn manifest_digest(text: &str) -> String {
    match toml::from_str::<toml::Table>(text) {
        Ok(mut table) => {
            OF_PROPOSERS.into_iter().for_each(|name| drop(table.remove(name)));
            let mut said = String::new();
            say(&toml::Value::Table(table), &mut said);
            format!("{CONTENT}{}", hex(said.as_bytes()))
        }
        Err(_) => hex(text.as_bytes()),
    }
}

/// Whether a manifest is what was locked under this digest.
pub fn is_manifest(text: &str, locked: &str) -> bool {
    locked == manifest_digest(text) || locked == hex(text.as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// A value in a form where the order of keys, notation and blanks do not show.
fn say(value: &toml::Value, into: &mut String) {
    match value {
        toml::Value::Table(table) => {
            let mut keys: Vec<&String> = table.keys().collect();
            keys.sort();
            into.push('{');
            for key in keys {
                let _ = write!(into, "{key:?}:");
                say(&table[key], into);
                into.push(',');
            }
            into.push('}');
        }
        toml::Value::Array(items) => {
            into.push('[');
            for item in items {
                say(item, into);
                into.push(',');
            }
            into.push(']');
        }
        toml::Value::String(text) => {
            let _ = write!(into, "{text:?}");
        }
        toml::Value::Float(number) => {
            let _ = write!(into, "{number:?}");
        }
        other => {
            let _ = write!(into, "{other}");
        }
    }
}

/// The text without comments and without blanks that mean nothing. Directives keep their lines, and a blank where they had one:
/// there it can decide whether a macro has parameters.
fn tokens(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let (mut directive, mut blank, mut line_start) = (false, false, true);
    while let Some(next) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.find('\n').map_or("", |end| &comment[end..]);
            blank = true;
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.find("*/").map_or("", |end| &comment[end + 2..]);
            blank = true;
            continue;
        }
        if let Some(continued) = rest.strip_prefix("\\\n").or_else(|| rest.strip_prefix("\\\r\n")) {
            rest = continued;
            blank = true;
            continue;
        }
        if next == '\n' {
            if directive {
                out.push('\n');
                directive = false;
            }
            (blank, line_start) = (true, true);
            rest = &rest[1..];
            continue;
        }
        if next.is_whitespace() {
            blank = true;
            rest = &rest[next.len_utf8()..];
            continue;
        }
        if line_start && next == '#' {
            directive = true;
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
        }
        if std::mem::take(&mut blank) && !out.is_empty() && !out.ends_with('\n') && (directive || parts(&out, next)) {
            out.push(' ');
        }
        line_start = false;
        let length = match next {
            '"' if out.ends_with('R') => raw_string(rest),
            '"' | '\'' if !(next == '\'' && out.ends_with(|digit: char| digit.is_ascii_hexdigit())) => {
                quoted(rest, next)
            }
            _ => next.len_utf8(),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// Whether a blank between what is written and the next character keeps two tokens apart.
fn parts(before: &str, next: char) -> bool {
    let word = |at: char| at.is_alphanumeric() || at == '_' || at == '"' || at == '\'';
    let operator = |at: char| "+-*/%&|^<>=!:.#~?".contains(at);
    before.chars().next_back().is_some_and(|last| (word(last) && word(next)) || (operator(last) && operator(next)))
}

/// Length of a string or character literal at the start of a text.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return at,
            end if end == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of `"delimiter(..)delimiter"` at the start of a text.
fn raw_string(text: &str) -> usize {
    let Some(open) = text.find('(') else { return quoted(text, '"') };
    let end = format!("){}\"", &text[1..open]);
    text[open..].find(&end).map_or(text.len(), |at| open + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(left: &str, right: &str) -> bool {
        source_digest("k.cpp", left) == source_digest("k.cpp", right)
    }

    #[test]
    fn comments_and_layout_are_no_change() {
        let text = "#include \"a.h\"\nint f(int a, int b) { return a + b; }\n";
        assert!(same(
            text,
            "// why\n#include \"a.h\"   // that\n\nint f( int a,int b )\n{\n    return a+b; /* sum */\n}\n"
        ));
        assert!(same("a = \"// no comment\";", "a  =  \"// no comment\" ;"));
        assert!(same("x = 1'000;", "x = 1'000 ;"));
    }

    #[test]
    fn what_means_something_is_a_change() {
        assert!(!same("return a + b;", "return a - b;"));
        assert!(!same("a = \"x y\";", "a = \"x  y\";"));
        assert!(!same("int x;", "intx;"));
        assert!(!same("a + +b;", "a ++b;"));
        assert!(!same("#define F(x) x\n", "#define F (x) x\n"));
        assert!(!same("#define A 1\nint b;", "#define A 1 int b;"));
        assert!(!same("s = R\"(a // b)\";", "s = R\"(a)\";"));
        assert!(!same("x = 'a'; // b", "x = 'b'; // b"));
    }

    #[test]
    fn other_files_are_compared_byte_by_byte() {
        assert_ne!(source_digest("CMakeLists.txt", "a b"), source_digest("CMakeLists.txt", "a  b"));
        assert!(is_source("k.cpp", "int a;", blake3::hash(b"int a;").to_hex().as_str()), "locks of before");
    }

    #[test]
    fn a_manifest_is_what_it_says() {
        let text = "[verify]\nseeds = 3\ntolerance.float16 = { absolute = 1e-3, relative = 0.001 }\n";
        let other = "# why\n[verify]\ntolerance.float16 = { relative = 1.0e-3, absolute = 0.001 }   # half\nseeds=3\n";
        assert_eq!(manifest_digest(text), manifest_digest(other));
        assert_ne!(manifest_digest(text), manifest_digest(&text.replace('3', "4")));
        let with_model =
            format!("{text}[model]\nendpoint = \"http://localhost\"\nname = \"m\"\n[proposer]\ncommand = [\"p\"]\n");
        assert_eq!(manifest_digest(text), manifest_digest(&with_model), "another proposer is no drift");
        assert!(is_manifest(text, blake3::hash(text.as_bytes()).to_hex().as_str()), "locks of before");
    }
}
