//! Telling from the text that a constant must stay a constant expression.

use crate::SourceTree;
use space::{Binding, Domain, Tunable, Value};

use super::lexer::{Kind, Tokens};
use super::locate::{constants_in, locate};
use super::{SiteForm, line_of};

/// Why a tunable cannot be injected at run time, or `None` when nothing speaks against it. Only what the text shows is
/// found; compiling the instrumented sources is the final word.
pub fn looks_compile_time(tree: &SourceTree, tunable: &Tunable) -> Option<String> {
    let names = match &tunable.domain {
        Domain::List { values, .. } => values.iter().any(|value| matches!(value, Value::Text(_))),
        Domain::Permutation { .. } => true,
        Domain::Range { .. } | Domain::PowerOfTwo { .. } | Domain::Bool => false,
    };
    if names {
        return Some(format!("the values of `{}` are names, which only the compiler understands", tunable.name));
    }
    let (files, name) = match &tunable.binding {
        Binding::Cmake { variable } => {
            return Some(format!("`{variable}` is a CMake entry, fixed when the project is configured"));
        }
        Binding::Recorded => return Some(format!("`{}` is of a recorded space, not of sources", tunable.name)),
        Binding::Argument { .. } | Binding::Cap { .. } | Binding::Share { .. } | Binding::Portion { .. } => {
            return None;
        }
        Binding::Constant { file, name, also } => {
            let files: Vec<&str> = std::iter::once(file).chain(also).map(String::as_str).collect();
            (files, name)
        }
    };
    if let Ok(sites) = locate(tree, &tunable.binding)
        && sites.iter().any(|site| site.form == SiteForm::Enumerator)
    {
        return Some(format!("`{name}` is an enumerator"));
    }
    let short = name.rsplit("::").next().unwrap_or(name);
    for (file, text) in tree.iter() {
        // Another file with a constant of its own by this name does not mean ours.
        let own = !files.contains(&file) && constants_in(file, text).iter().any(|constant| constant.name == short);
        if own || !text.contains(short) {
            continue;
        }
        let tokens = Tokens::of(text);
        for position in 0..tokens.tokens.len() {
            if tokens.get(position) == short
                && tokens.kind(position) == Some(Kind::Identifier)
                && let Some(use_) = constant_use(&tokens, position)
            {
                let line = line_of(text, tokens.tokens[position].span.start);
                return Some(format!("`{name}` is {use_} at {file}:{line}"));
            }
        }
    }
    None
}

/// The way a name is used that needs a constant expression.
fn constant_use(tokens: &Tokens<'_>, position: usize) -> Option<&'static str> {
    let start = tokens.statement_start(position);
    let head: Vec<&str> = (start..position).map(|at| tokens.get(at)).collect();
    if head.contains(&"static_assert") {
        return Some("used in a static_assert");
    }
    if head.first() == Some(&"case") {
        return Some("a case label");
    }
    if head.starts_with(&["if", "constexpr"]) {
        return Some("used in an `if constexpr`");
    }
    if head.contains(&"constexpr") && head.contains(&"=") {
        return Some("part of a constexpr initialiser");
    }
    // `constexpr Plan plans[] = { {1, TILE}, ..}`: the brace hides the head; look before each enclosing brace.
    let mut open = tokens.enclosing(position);
    while let Some(brace) = open {
        if matches!(tokens.get(brace.wrapping_sub(1)), "=" | "," | "{") {
            let before = tokens.statement_start(brace);
            if (before..brace).any(|at| tokens.get(at) == "constexpr") {
                return Some("part of a constexpr initialiser");
            }
        }
        open = tokens.enclosing(brace);
    }
    if in_template_arguments(tokens, position) {
        return Some("a template argument");
    }
    // `half buffer[LENGTH]` declares, `buffer[LENGTH]` indexes.
    if let Some(bracket) = (start..position).rev().find(|at| tokens.get(*at) == "[")
        && tokens.closing(bracket).is_some_and(|close| close > position)
        && bracket >= start + 2
        && tokens.kind(bracket - 1) == Some(Kind::Identifier)
        && (tokens.kind(bracket - 2) == Some(Kind::Identifier) || matches!(tokens.get(bracket - 2), ">" | "*"))
        && !matches!(tokens.get(bracket - 2), "return" | "else" | "case")
    {
        return Some("an array bound");
    }
    None
}

fn in_template_arguments(tokens: &Tokens<'_>, position: usize) -> bool {
    let mut depth = 0usize;
    for open in (position.saturating_sub(100)..position).rev() {
        match tokens.get(open) {
            ";" | "{" | "}" | "(" | ")" => return false,
            ">" => depth += 1,
            "<" if depth > 0 => depth -= 1,
            "<" => {
                let named = open > 0 && tokens.kind(open - 1) == Some(Kind::Identifier);
                let close = tokens.closing_angle(open).filter(|close| *close > position);
                // After template arguments comes a call, a name or the end of a type; after a comparison a value.
                return named
                    && close.is_some_and(|close| {
                        matches!(tokens.get(close + 1), "(" | "::" | ">" | "{" | ";" | "," | "&" | "*" | ")" | "<")
                            || tokens.kind(close + 1) == Some(Kind::Identifier)
                    });
            }
            _ => {}
        }
    }
    false
}
