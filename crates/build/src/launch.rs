//! Rewriting of kernel launches: `k<T><<<blocks, ubuf, stream>>>(args)` becomes a call that every C++ compiler knows,
//! `::ascendsim::Launch("k", blocks, ubuf, stream).Run([&](auto... p) { k<T>(p...); }, args)`.
//! The number of lines never changes, so diagnostics and debug information keep the lines of the original.

use source::lex::{Token, TokenKind, closing, tokens};

/// Header that defines what launches are rewritten to.
pub const LAUNCH_HEADER: &str = "ascendsim/launch.h";

/// Why a launch could not be rewritten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct LaunchError {
    /// Line of the launch, from 1.
    pub line: usize,
    /// Column of the launch, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// A text with its launches rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The new text, with as many lines as the old one.
    pub text: String,
    /// Names of the launched kernels in order, without template arguments and namespaces.
    pub kernels: Vec<String>,
}

/// Rewrites every launch of a text.
pub fn rewrite_launches(source: &str) -> Result<Rewritten, LaunchError> {
    replace_launches(source, &|launch| launch.render(source))
}

/// Takes every launch out of a text: what is left in its place does nothing. For the kernels of framework operators, whose
/// files may hold launches for programs that nobody builds there.
pub fn remove_launches(source: &str) -> Result<Rewritten, LaunchError> {
    replace_launches(source, &|launch| format!("((void)0{})", line_ends(&source[launch.start..launch.end])))
}

fn replace_launches(source: &str, render: &dyn Fn(&Launch) -> String) -> Result<Rewritten, LaunchError> {
    let all = tokens(source);
    let mut text = String::with_capacity(source.len() + 256);
    let mut kernels = Vec::new();
    let mut done = 0;
    let mut index = 0;
    while index < all.len() {
        if all[index].kind != TokenKind::LaunchOpen {
            index += 1;
            continue;
        }
        let launch = Launch::parse(source, &all, index)?;
        if launch.start < done {
            return Err(error_at(
                source,
                launch.start,
                "a launch inside the arguments of another launch is not supported",
            ));
        }
        text.push_str(&source[done..launch.start]);
        text.push_str(&render(&launch));
        kernels.push(launch.name.clone());
        done = launch.end;
        index = launch.last_token + 1;
    }
    text.push_str(&source[done..]);
    Ok(Rewritten { text, kernels })
}

struct Launch {
    /// First byte of the callee and one past the closing parenthesis.
    start: usize,
    end: usize,
    last_token: usize,
    name: String,
    callee: std::ops::Range<usize>,
    open: std::ops::Range<usize>,
    configuration: std::ops::Range<usize>,
    arguments: std::ops::Range<usize>,
}

impl Launch {
    fn parse(source: &str, all: &[Token], open: usize) -> Result<Launch, LaunchError> {
        let at = all[open].span.start;
        let (first, name_token) = callee_start(source, all, open)
            .ok_or_else(|| error_at(source, at, "no kernel name stands before `<<<`"))?;
        let close =
            configuration_end(source, all, open).ok_or_else(|| error_at(source, at, "`<<<` has no matching `>>>`"))?;
        let configuration = all[open].span.end..all[close].span.end - 3;
        match count_arguments(source, &all[open + 1..close]) {
            1..=3 => {}
            4 => {
                return Err(error_at(
                    source,
                    at,
                    "a SIMT launch with four values needs an NPU arch that this SDK does not model",
                ));
            }
            count => {
                return Err(error_at(
                    source,
                    at,
                    &format!("a launch takes blocks, dynamic UB size and stream; {count} values stand here"),
                ));
            }
        }
        let parenthesis = close + 1;
        if !all.get(parenthesis).is_some_and(|token| token.is(source, "(")) {
            return Err(error_at(source, at, "`>>>` is not followed by the kernel's arguments"));
        }
        let last = closing(source, all, parenthesis)
            .ok_or_else(|| error_at(source, at, "the kernel's arguments have no closing parenthesis"))?;
        Ok(Launch {
            start: all[first].span.start,
            end: all[last].span.end,
            last_token: last,
            name: all[name_token].text(source).to_owned(),
            callee: all[first].span.start..all[open - 1].span.end,
            open: all[open].span.clone(),
            configuration,
            arguments: all[parenthesis].span.end..all[last].span.start,
        })
    }

    fn render(&self, source: &str) -> String {
        let callee = flatten(&source[self.callee.clone()]);
        let mut configuration = source[self.configuration.clone()].to_owned();
        for _ in count_arguments(&configuration, &tokens(&configuration))..3 {
            configuration.push_str(", nullptr");
        }
        let arguments = &source[self.arguments.clone()];
        let separator = if tokens(arguments).is_empty() { "" } else { ", " };
        // Line ends of the callee and of the gap before `<<<` go behind the configuration; inside a macro's body they
        // stay continued lines.
        let moved: String = line_ends(&source[self.callee.start..self.open.start]);
        format!(
            "::ascendsim::Launch(\"{}\", {configuration}){moved}.Run([&](auto... ascend_tune_args) {{ {callee}(ascend_tune_args...); }}{separator}{arguments})",
            self.name
        )
    }
}

/// First token of the callee and the token with its name, walking back from `<<<` over template arguments and scopes.
fn callee_start(source: &str, all: &[Token], open: usize) -> Option<(usize, usize)> {
    let mut name = open.checked_sub(1)?;
    if all[name].kind == TokenKind::Angles {
        name = template_open(source, all, name)?.checked_sub(1)?;
    }
    if all[name].kind != TokenKind::Identifier {
        return None;
    }
    let mut first = name;
    loop {
        match first.checked_sub(1) {
            Some(scope) if all[scope].kind == TokenKind::Scope => match scope.checked_sub(1) {
                Some(outer) if all[outer].kind == TokenKind::Identifier && !all[outer].is(source, "return") => {
                    first = outer
                }
                Some(outer) if all[outer].kind == TokenKind::Angles => {
                    first = template_open(source, all, outer)?.checked_sub(1)?;
                }
                _ => return Some((scope, name)),
            },
            _ => return Some((first, name)),
        }
    }
}

/// Index of the `<` that the run of `>` at `close` closes.
fn template_open(source: &str, all: &[Token], close: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut brackets = 0usize;
    for index in (0..=close).rev() {
        let token = &all[index];
        match token.text(source) {
            ")" | "]" | "}" => brackets += 1,
            "(" | "[" | "{" => brackets = brackets.checked_sub(1)?,
            ";" => return None,
            "<" if brackets == 0 => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ if token.kind == TokenKind::Angles && brackets == 0 => depth += token.span.len(),
            _ => {}
        }
    }
    None
}

/// Index of the run of `>` that ends the configuration. A run may first close template arguments (`f<int>>>>`), and `<`
/// may be a comparison (`n < 4 ? n : 4>>>`).
fn configuration_end(source: &str, all: &[Token], open: usize) -> Option<usize> {
    let mut brackets = 0usize;
    let mut angles = 0usize;
    for (index, token) in all.iter().enumerate().skip(open + 1) {
        match token.text(source) {
            "(" | "[" | "{" => brackets += 1,
            ")" | "]" | "}" => brackets = brackets.checked_sub(1)?,
            ";" if brackets == 0 => return None,
            "<" if brackets == 0 => angles += 1,
            _ if token.kind == TokenKind::Angles && brackets == 0 => {
                let run = token.span.len();
                if run == 3 && angles >= 3 {
                    angles -= 3;
                } else if run >= 3 {
                    return Some(index);
                } else {
                    angles = angles.saturating_sub(run);
                }
            }
            _ => {}
        }
    }
    None
}

/// Number of values separated by commas outside of brackets and template arguments.
fn count_arguments(source: &str, tokens: &[Token]) -> usize {
    let mut brackets = 0usize;
    let mut angles = 0usize;
    let mut count = usize::from(!tokens.is_empty());
    for (index, token) in tokens.iter().enumerate() {
        match token.text(source) {
            "(" | "[" | "{" => brackets += 1,
            ")" | "]" | "}" => brackets = brackets.saturating_sub(1),
            // `a < b` is rare in a launch and harmless unless a `>` follows; `A<b, c>` must not split.
            "<" if brackets == 0 && closes_angle(source, &tokens[index + 1..]) => angles += 1,
            "," if brackets == 0 && angles == 0 => count += 1,
            _ if token.kind == TokenKind::Angles => angles = angles.saturating_sub(token.span.len()),
            _ => {}
        }
    }
    count
}

fn closes_angle(source: &str, rest: &[Token]) -> bool {
    rest.iter().take_while(|token| !token.is(source, ";")).any(|token| token.kind == TokenKind::Angles)
}

/// Text on one line without comments.
fn flatten(text: &str) -> String {
    let mut result = String::new();
    let mut previous_word = false;
    for token in tokens(text) {
        let word = matches!(token.kind, TokenKind::Identifier | TokenKind::Number);
        if word && previous_word {
            result.push(' ');
        }
        result.push_str(token.text(text));
        previous_word = word;
    }
    result
}

fn line_ends(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut result = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' {
            let continued = text[..index].trim_end_matches([' ', '\t', '\r']).ends_with('\\');
            result.push_str(if continued { " \\\n" } else { "\n" });
        }
    }
    result
}

fn error_at(source: &str, at: usize, message: &str) -> LaunchError {
    let before = &source[..at];
    let line = before.matches('\n').count() + 1;
    let column = at - before.rfind('\n').map_or(0, |end| end + 1) + 1;
    LaunchError { line, column, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(source: &str) -> String {
        rewrite_launches(source).unwrap().text
    }

    #[test]
    fn removed_launches_leave_their_lines() {
        let text = "void f()\n{\n    k<T><<<8, nullptr,\n        s>>>(x,\n        y);\n}\n";
        let removed = remove_launches(text).unwrap();
        assert_eq!(removed.text, "void f()\n{\n    ((void)0\n\n);\n}\n");
        assert_eq!(removed.kernels, ["k"]);
    }

    #[test]
    fn launches_become_calls() {
        let run = |callee: &str| format!(".Run([&](auto... ascend_tune_args) {{ {callee}(ascend_tune_args...); }}");
        for (source, expected) in [
            ("k<<<8, nullptr, s>>>(x, y);", format!("::ascendsim::Launch(\"k\", 8, nullptr, s){}, x, y);", run("k"))),
            ("k<<<n, 0, s>>>();", format!("::ascendsim::Launch(\"k\", n, 0, s){});", run("k"))),
            ("k<<<n>>>(x);", format!("::ascendsim::Launch(\"k\", n, nullptr, nullptr){}, x);", run("k"))),
            ("k<half, 3><<<n, 0, s>>>(x);", format!("::ascendsim::Launch(\"k\", n, 0, s){}, x);", run("k<half,3>"))),
            (
                "a::b<T>::k<A<B<int>>><<<n, 0, s>>>(x);",
                format!("::ascendsim::Launch(\"k\", n, 0, s){}, x);", run("a::b<T>::k<A<B<int>>>")),
            ),
            (
                "::k<<<f<A<int>>(n), 0, s>>>(x);",
                format!("::ascendsim::Launch(\"k\", f<A<int>>(n), 0, s){}, x);", run("::k")),
            ),
            (
                "k<<<f<int>(a, b), 0, c[1]>>>(g(x, 1), y);",
                format!("::ascendsim::Launch(\"k\", f<int>(a, b), 0, c[1]){}, g(x, 1), y);", run("k")),
            ),
            (
                "k<<<n < 4 ? n : 4, 0, s>>>(x);",
                format!("::ascendsim::Launch(\"k\", n < 4 ? n : 4, 0, s){}, x);", run("k")),
            ),
            ("k<(1 > 2)><<<n, 0, s>>>(x);", format!("::ascendsim::Launch(\"k\", n, 0, s){}, x);", run("k<(1>2)>"))),
        ] {
            assert_eq!(rewritten(source), expected);
        }
    }

    #[test]
    fn comments_and_strings_stay() {
        let source = "// k<<<1, 0, s>>>(x);\nconst char* t = \"k<<<1>>>(x)\"; /* k<<<1>>>(x) */\n";
        assert_eq!(rewritten(source), source);
        assert!(!source::lex::has_launch(source));
    }

    #[test]
    fn lines_are_kept_in_code_and_in_macros() {
        for source in [
            "f();\nadd<a, b,\n    c>\n    <<<n, 0,\n       s>>>(x,\n   y);\ng();\n",
            "#define RUN(T) \\\n  k<T> \\\n    <<<n, 0, s>>>(x)\nint a;\n",
        ] {
            let result = rewritten(source);
            assert_eq!(result.matches('\n').count(), source.matches('\n').count(), "{result}");
            assert_eq!(result.matches("\\\n").count(), source.matches("\\\n").count(), "{result}");
            assert_eq!(result.lines().last(), source.lines().last());
        }
    }

    #[test]
    fn wrong_launches_are_named_with_their_line() {
        for (source, line, part) in [
            ("\nk<<<b, t, 0, s>>>(x);", 2, "SIMT"),
            ("k<<<b, 0, s>>>;", 1, "arguments"),
            ("\n\nk<<<b, 0, s;", 3, "matching"),
            ("(f)<<<b, 0, s>>>(x);", 1, "name"),
        ] {
            let error = rewrite_launches(source).unwrap_err();
            assert_eq!(error.line, line, "{source}");
            assert!(error.message.contains(part), "{error}");
        }
    }

    #[test]
    fn kernels_are_listed_in_order() {
        let source = "a<<<1, 0, s>>>(x); n::b<int><<<1, 0, s>>>(x);";
        assert_eq!(rewrite_launches(source).unwrap().kernels, ["a", "b"]);
    }
}
