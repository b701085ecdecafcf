//! Finding the bytes that a binding means.

use std::ops::Range;

use crate::SourceTree;
use space::{Binding, Value};

use super::asked::asked_size;
use super::lexer::{Kind, Scope, Tokens};
use super::literal::constant_expression;
use super::portion::portions;
use super::share::shares;
use super::{Declaration, Site, SiteForm, TunableError};

/// All sites of a binding, in file order. A CMake entry has none in the sources.
pub fn locate(tree: &SourceTree, binding: &Binding) -> Result<Vec<Site>, TunableError> {
    match binding {
        Binding::Constant { file, name, also } => {
            let mut sites = Vec::new();
            for file in std::iter::once(file).chain(also) {
                sites.push(constant(file, text_of(tree, file)?, name)?);
            }
            Ok(sites)
        }
        Binding::Argument { file, call, first, index } => arguments(file, text_of(tree, file)?, call, first, *index),
        Binding::Cap { file, target } => caps(file, text_of(tree, file)?, target),
        Binding::Share { file, cores, of } => shares(file, text_of(tree, file)?, cores, of),
        Binding::Portion { file, target } => portions(file, text_of(tree, file)?, target),
        Binding::Cmake { .. } | Binding::Recorded => Ok(Vec::new()),
    }
}

fn text_of<'a>(tree: &'a SourceTree, file: &str) -> Result<&'a str, TunableError> {
    tree.text(file).ok_or_else(|| TunableError::UnknownFile { file: file.to_owned() })
}

/// A constant with an initialiser, found in a file.
#[derive(Clone, Debug)]
pub struct Constant {
    pub name: String,
    /// Class that it is a member of, empty for none.
    pub class: String,
    pub site: Site,
}

/// All constants of a file with their initialisers, in file order.
pub fn constants_in(file: &str, text: &str) -> Vec<Constant> {
    let tokens = Tokens::of(text);
    let mut found = Vec::new();
    for position in 0..tokens.tokens.len() {
        found.extend(declared(file, &tokens, position));
    }
    for define in &tokens.defines {
        if define.body.is_empty() {
            continue;
        }
        let body = Tokens::of(&text[define.body.clone()]);
        let words: Vec<&str> = (0..body.tokens.len()).map(|position| body.get(position)).collect();
        found.push(Constant {
            name: define.name.clone(),
            class: String::new(),
            site: Site::of(file, text, define.body.clone(), literal_value(&words), SiteForm::Define),
        });
    }
    found.sort_by_key(|constant| constant.site.span.start);
    found
}

fn literal_value(words: &[&str]) -> Option<Value> {
    match words {
        ["true"] => Some(Value::Bool(true)),
        ["false"] => Some(Value::Bool(false)),
        words => constant_expression(words).map(Value::Int),
    }
}

/// The constant whose name stands at `position`, if one is declared there.
fn declared(file: &str, tokens: &Tokens<'_>, position: usize) -> Option<Constant> {
    if tokens.kind(position) != Some(Kind::Identifier) || !matches!(tokens.get(position + 1), "=" | "{") {
        return None;
    }
    let scope = tokens.scope(position);
    let number = scope == Scope::Function && only_number_of_buffers(tokens, position);
    let mut start = tokens.statement_start(position);
    if number {
        // A macro before it may go without a semicolon.
        start = (start..position).rev().find(|&at| tokens.get(at) == ")").map_or(start, |close| close + 1);
    }
    let head: Vec<&str> = (start..position).map(|at| tokens.get(at)).collect();
    let class = if let Scope::Class(name) = &scope { name.clone() } else { String::new() };
    let braces = tokens.get(position + 1) == "{";
    if scope == Scope::Enumeration && !braces {
        // Enumerators have no semicolon between them: the head may be anything.
        let range = position + 2..tokens.expression_end(position + 2, true);
        return constant_at(file, tokens, position, class, range, SiteForm::Enumerator);
    }
    // A declaration of a constant: `const` or `constexpr`, a type, and no call or assignment before the name. What has no such
    // word but is only a number of buffers is one as well.
    let constant = head.iter().any(|word| matches!(*word, "const" | "constexpr"));
    let stray = head
        .iter()
        .any(|word| matches!(*word, "=" | "(" | ")" | "return" | "using" | "class" | "struct" | "enum" | "*"));
    if !(constant || number) || stray || head.is_empty() || constant && head.len() < 2 {
        return None;
    }
    let range = if braces {
        position + 2..tokens.closing(position + 1)?
    } else {
        position + 2..tokens.expression_end(position + 2, true)
    };
    let word_span = |word: &str| {
        head.iter().position(|candidate| *candidate == word).map(|at| tokens.tokens[start + at].span.clone())
    };
    let qualifiers = ["static", "inline", "const", "constexpr", "extern", "volatile"];
    let kind: Vec<&str> = head.iter().copied().filter(|word| !qualifiers.contains(word)).collect();
    let form = SiteForm::Declaration(Declaration {
        constexpr: word_span("constexpr"),
        storage: word_span("static").or_else(|| word_span("inline")),
        member: matches!(scope, Scope::Class(_)),
        kind: kind.join(" ").replace(" :: ", "::"),
        braces,
    });
    constant_at(file, tokens, position, class, range, form)
}

/// Whether a name gets a literal, and every other place of it is the number of buffers in a call of `InitBuffer`: then nothing
/// changes it.
fn only_number_of_buffers(tokens: &Tokens<'_>, position: usize) -> bool {
    let name = tokens.get(position);
    let is_literal = tokens.get(position + 2).starts_with(|letter: char| letter.is_ascii_digit());
    if !is_literal || !matches!(tokens.get(position + 3), ";" | "}") {
        return false;
    }
    let mut places = (0..tokens.tokens.len()).filter(|&at| at != position && tokens.get(at) == name).peekable();
    let is_number = |at: usize| {
        tokens.get(at.wrapping_sub(1)) == "," && tokens.get(at + 1) == "," && {
            let open = (tokens.statement_start(at)..at).rev().find(|&open| tokens.get(open) == "(");
            open.is_some_and(|open| tokens.get(open.wrapping_sub(1)) == "InitBuffer")
        }
    };
    places.peek().is_some() && places.all(is_number)
}

fn constant_at(
    file: &str,
    tokens: &Tokens<'_>,
    position: usize,
    class: String,
    range: Range<usize>,
    form: SiteForm,
) -> Option<Constant> {
    if range.is_empty() {
        return None;
    }
    let words: Vec<&str> = range.clone().map(|at| tokens.get(at)).collect();
    let value = literal_value(&words);
    let site = Site::of(file, tokens.text, tokens.span(range), value, form);
    Some(Constant { name: tokens.get(position).to_owned(), class, site })
}

fn constant(file: &str, text: &str, name: &str) -> Result<Site, TunableError> {
    let (class, short) = name.rsplit_once("::").unwrap_or(("", name));
    let mut found: Vec<Constant> = constants_in(file, text)
        .into_iter()
        .filter(|constant| constant.name == short && (class.is_empty() || constant.class == class))
        .collect();
    let what = format!("constant `{name}`");
    if found.len() > 1 {
        return Err(TunableError::Ambiguous {
            file: file.to_owned(),
            what,
            lines: found.iter().map(|constant| constant.site.line).collect(),
            fix: "write `Class::NAME` where the classes differ, or tune it by -D".to_owned(),
        });
    }
    let Some(constant) = found.pop() else {
        return Err(TunableError::NotFound { file: file.to_owned(), what });
    };
    require_literal(constant.site, &what)
}

/// Literals and plain names can be replaced; expressions of other constants cannot without changing what they mean.
fn require_literal(site: Site, what: &str) -> Result<Site, TunableError> {
    let name = !site.text.is_empty()
        && !site.text.starts_with(|character: char| character.is_ascii_digit())
        && site.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'));
    if site.value.is_some() || name {
        return Ok(site);
    }
    Err(TunableError::NotLiteral { file: site.file, line: site.line, what: what.to_owned(), text: site.text })
}

fn arguments(file: &str, text: &str, call: &str, first: &str, index: usize) -> Result<Vec<Site>, TunableError> {
    let tokens = Tokens::of(text);
    let wanted = Tokens::of(first);
    let wanted = wanted.compact(0..wanted.tokens.len());
    let what = if first.is_empty() {
        format!("call `{call}(..)` with an argument {index}")
    } else {
        format!("call `{call}({first}, ..)` with an argument {index}")
    };
    let mut found = Vec::new();
    for position in 0..tokens.tokens.len() {
        if tokens.get(position) != call {
            continue;
        }
        let mut open = position + 1;
        if tokens.get(open) == "<" {
            open = tokens.closing_angle(open).map_or(open, |close| close + 1);
        }
        if tokens.get(open) != "(" {
            continue;
        }
        let Some(arguments) = tokens.arguments(open) else { continue };
        let Some(argument) = arguments.get(index).filter(|argument| !argument.is_empty()) else { continue };
        if !wanted.is_empty() && arguments.first().is_none_or(|argument| tokens.compact(argument.clone()) != wanted) {
            continue;
        }
        let words: Vec<&str> = argument.clone().map(|at| tokens.get(at)).collect();
        found.push(Site::of(file, text, tokens.span(argument.clone()), literal_value(&words), SiteForm::Argument));
    }
    if found.is_empty() {
        return Err(TunableError::NotFound { file: file.to_owned(), what });
    }
    if found.iter().any(|site| site.value != found[0].value) {
        return Err(TunableError::Ambiguous {
            file: file.to_owned(),
            what,
            lines: found.iter().map(|site| site.line).collect(),
            fix: "set `first` to the text of the first argument of the one that is meant".to_owned(),
        });
    }
    found.into_iter().map(|site| require_literal(site, &what)).collect()
}

/// The limit and the tokens of the uncapped expression, if `range` has the form that a cap is written in.
pub fn cap_of(tokens: &Tokens<'_>, range: Range<usize>) -> Option<(i64, Range<usize>)> {
    let word = |offset: usize| tokens.get(range.start + offset);
    // std::min<TYPE>(EXPRESSION, LIMIT)
    if (0..4).map(word).eq(["std", "::", "min", "<"]) {
        let is_last =
            |at: &usize| tokens.get(*at) == "(" && tokens.closing(*at).is_some_and(|end| end + 1 == range.end);
        let open = range.clone().skip(5).find(|at| tokens.get(at - 1) == ">" && is_last(at))?;
        let [inner, limit] = <[Range<usize>; 2]>::try_from(tokens.arguments(open)?).ok()?;
        let words: Vec<&str> = limit.map(|at| tokens.get(at)).collect();
        return Some((constant_expression(&words)?, inner));
    }
    // ((EXPRESSION) < (LIMIT) ? (EXPRESSION) : (LIMIT))
    if word(0) == "(" && word(1) == "(" && tokens.closing(range.start)? + 1 == range.end {
        let close = tokens.closing(range.start + 1)?;
        let inner = range.start + 2..close;
        if tokens.get(close + 1) != "<" || tokens.get(close + 2) != "(" {
            return None;
        }
        let limit_close = tokens.closing(close + 2)?;
        let limit: Vec<&str> = (close + 3..limit_close).map(|at| tokens.get(at)).collect();
        let again = format!("?({}):({}))", tokens.compact(inner.clone()), limit.concat());
        if tokens.compact(limit_close + 1..range.end) == again {
            return Some((constant_expression(&limit)?, inner));
        }
    }
    None
}

/// An assignment that a limit can be written into.
struct Assignment {
    position: usize,
    range: Range<usize>,
    /// Whether the new value is made of the old one.
    updates: bool,
}

fn caps(file: &str, text: &str, target: &str) -> Result<Vec<Site>, TunableError> {
    let tokens = Tokens::of(text);
    let setter = format!("set_{target}");
    let device = text.contains("__aicore__") || text.contains("kernel_operator.h");
    let mut found = Vec::new();
    let mut assignments: Vec<Assignment> = Vec::new();
    for position in 0..tokens.tokens.len() {
        let word = tokens.get(position);
        if let Some(asked) = asked_size(file, &tokens, position).filter(|asked| asked.name == target) {
            found.push(asked.site);
            continue;
        }
        // The limit behind a size that was asked for is that place's own.
        if found.last().is_some_and(|asked: &Site| tokens.tokens[position].span.start < asked.span.end) {
            continue;
        }
        let range = if word == target && tokens.get(position + 1) == "=" {
            let start = tokens.statement_start(position);
            // A type's member with a default, a constant or a parameter's default is not an assignment.
            let constant = (start..position).any(|at| matches!(tokens.get(at), "constexpr" | "using"));
            if constant || matches!(tokens.scope(position), Scope::Class(_) | Scope::Enumeration | Scope::Namespace) {
                continue;
            }
            position + 2..tokens.expression_end(position + 2, true)
        } else if word == setter && tokens.get(position + 1) == "(" {
            match tokens.closing(position + 1) {
                Some(close) => position + 2..close,
                None => continue,
            }
        } else {
            continue;
        };
        // Clearing a field before it is computed, or setting it to what is known, is no place for a limit.
        let words: Vec<&str> = range.clone().map(|at| tokens.get(at)).collect();
        if range.is_empty() || constant_expression(&words).is_some() || is_constant_name(&words) {
            continue;
        }
        // Of `a.x = b.x = value` only the inner assignment is limited; a lambda's body is no expression.
        if words.iter().any(|word| matches!(*word, "=" | ";")) {
            continue;
        }
        if assignments.last().is_some_and(|outer| range.start < outer.range.end) {
            continue;
        }
        let updates = words.iter().any(|word| word.trim_end_matches('_') == target.trim_end_matches('_'));
        assignments.push(Assignment { position, range, updates });
    }
    let asked = !found.is_empty();
    for Assignment { position, range, updates } in &assignments {
        // What is limited where it is defined stays limited.
        let here = tokens.enclosing(*position);
        let defined = |other: &Assignment| {
            let inside = tokens.enclosing(other.position).is_none_or(|open| here.is_some_and(|here| here >= open));
            !other.updates && other.position < *position && inside && same_function(&tokens, other.position, *position)
        };
        // A field that takes over the variable of its name is not where it is defined.
        let compact = tokens.compact(range.clone());
        let handed_on = compact.trim_end_matches('_') == target.trim_end_matches('_');
        if *updates && (asked || assignments.iter().any(defined))
            || handed_on && assignments.iter().any(|other| !other.updates)
        {
            continue;
        }
        let (value, inner, call) = match cap_of(&tokens, range.clone()) {
            Some((limit, inner)) => {
                let call = text[tokens.span(range.clone()).start..tokens.span(inner.clone()).start].trim_end();
                (Some(Value::Int(limit)), inner, call.trim_end_matches('(').to_owned())
            }
            None => (None, range.clone(), format!("std::min<{}>", kind_of(&tokens, target, *position, range.clone()))),
        };
        let form = SiteForm::Assigned { inner: tokens.span(inner), call, device };
        found.push(Site::of(file, text, tokens.span(range.clone()), value, form));
    }
    if found.is_empty() {
        let what = format!("assignment to `{target}` and no call of `{setter}`");
        return Err(TunableError::NotFound { file: file.to_owned(), what });
    }
    found.sort_by_key(|site| site.span.start);
    Ok(found)
}

fn same_function(tokens: &Tokens<'_>, one: usize, other: usize) -> bool {
    let body = super::share::function_body(tokens, one);
    body.is_some() && body == super::share::function_body(tokens, other)
}

/// Whether an expression is the name of a constant alone.
fn is_constant_name(words: &[&str]) -> bool {
    words.len() == 1 && words[0].bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The type of a variable or field, as far as the file shows it; of `auto` the type of what it is made from.
fn kind_of(tokens: &Tokens<'_>, target: &str, at: usize, range: Range<usize>) -> String {
    let mut inferred = false;
    // A declaration here says more than one elsewhere.
    for position in std::iter::once(at).chain(1..tokens.tokens.len()).filter(|position| *position > 0) {
        if tokens.get(position) != target {
            continue;
        }
        let before = tokens.get(position - 1);
        // TILING_DATA_FIELD_DEF(TYPE, NAME)
        let field = before == "," && tokens.get(position + 1) == ")" && tokens.get(position.wrapping_sub(3)) == "(";
        let kind = if field { tokens.get(position.wrapping_sub(2)) } else { before };
        inferred |= kind == "auto";
        if matches!(kind, "int" | "long" | "size_t")
            || kind.ends_with("_t") && (kind.contains("int") || kind == "size_t")
        {
            return kind.to_owned();
        }
    }
    if range.clone().any(|at| super::share::ASKS_CORES.contains(&tokens.get(at))) {
        return "uint32_t".to_owned();
    }
    if inferred {
        return format!("decltype({})", &tokens.text[tokens.span(range)]);
    }
    "int64_t".to_owned()
}
