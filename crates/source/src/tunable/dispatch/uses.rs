//! Where a constant of host code is used.

use std::ops::Range;

use super::super::lexer::{Kind, Tokens};
use super::super::locate::{constants_in, locate};
use super::super::share::function_body;
use super::super::{Site, SiteForm, line_of, looks_compile_time};
use super::there::chosen_by_size;
use super::{NotDispatched, Surroundings, WhyNot, constant_of};
use crate::SourceTree;
use space::{Binding, Tunable};

/// Integer types that a value is chosen in.
const INTEGERS: [&str; 14] = [
    "int8_t",
    "uint8_t",
    "int16_t",
    "uint16_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
    "size_t",
    "int",
    "unsigned",
    "long",
    "unsigned int",
    "unsigned long",
];

/// The uses of a constant in one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InFunction {
    /// File.
    pub file: String,
    /// Braces of the function, as token positions.
    pub body: Range<usize>,
    /// Bytes of each use, with what qualifies the name.
    pub uses: Vec<Range<usize>>,
    /// Token positions of the names.
    pub at: Vec<usize>,
}

/// A constant and its uses.
#[derive(Clone, Debug)]
pub(super) struct Uses {
    /// Name of the tunable.
    pub tunable: String,
    /// Name of the constant, without its class.
    pub constant: String,
    /// Its place.
    pub site: Site,
    /// Type of a value.
    pub kind: String,
    /// All functions that use it.
    pub functions: Vec<InFunction>,
}

impl Uses {
    pub fn of(tree: &SourceTree, tunable: &Tunable, around: Surroundings<'_>) -> Result<Self, NotDispatched> {
        found(tree, tunable, around).map_err(|why| why.of(&tunable.name))
    }
}

fn found(tree: &SourceTree, tunable: &Tunable, around: Surroundings<'_>) -> Result<Uses, WhyNot> {
    let (file, name) = constant_of(tunable)?;
    let constant = name.rsplit("::").next().unwrap_or(name);
    let sites = locate(tree, &tunable.binding).map_err(|error| WhyNot::NotFound(error.to_string()))?;
    let site = sites.into_iter().next().ok_or(WhyNot::Unused)?;
    let kind = integer_type(&site).ok_or_else(|| WhyNot::NoInteger { file: file.to_owned(), line: site.line })?;
    if let Some(reason) = looks_compile_time(tree, tunable) {
        return Err(WhyNot::CompileTime(reason.split_once("` is ").map_or(reason.clone(), |(_, is)| is.to_owned())));
    }
    let on_it = |other: &&Tunable| matches!(&other.binding, Binding::Share { cores, .. } if cores == constant);
    if let Some(rule) = around.tunables.iter().find(on_it) {
        return Err(WhyNot::Ruled(rule.name.clone()));
    }
    if let Some(there) = chosen_by_size(tree).into_iter().find(|there| there.file == file && there.constant == constant)
    {
        return Err(WhyNot::There { file: there.file, line: there.line });
    }
    for (other, text) in around.beside.iter() {
        let tokens = Tokens::of(text);
        let own = constants_in(other, text).iter().any(|found| found.name == constant);
        if text.contains(constant) && !own && named(&tokens, constant).next().is_some() {
            return Err(WhyNot::Beside { file: other.to_owned() });
        }
    }
    let mut functions = Vec::new();
    for (other, text) in tree.iter() {
        let own = other != file && constants_in(other, text).iter().any(|found| found.name == constant);
        if own || !text.contains(constant) {
            continue;
        }
        functions.extend(in_file(other, text, (constant, &site), around)?);
    }
    if functions.is_empty() {
        return Err(WhyNot::Unused);
    }
    Ok(Uses { tunable: tunable.name.clone(), constant: constant.to_owned(), site, kind, functions })
}

/// Positions at which a name stands.
pub(super) fn named<'a>(tokens: &'a Tokens<'_>, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    (0..tokens.tokens.len()).filter(move |at| tokens.kind(*at) == Some(Kind::Identifier) && tokens.get(*at) == name)
}

fn in_file(
    file: &str,
    text: &str,
    (constant, site): (&str, &Site),
    around: Surroundings<'_>,
) -> Result<Vec<InFunction>, WhyNot> {
    let tokens = Tokens::of(text);
    let place = |offset: usize| (file.to_owned(), line_of(text, offset));
    if let Some(offset) = in_macro(text, constant, (file == site.file).then_some(site)) {
        let (file, line) = place(offset);
        return Err(WhyNot::OutsideFunction { file, line });
    }
    let mut functions: Vec<InFunction> = Vec::new();
    for at in named(&tokens, constant) {
        let offset = tokens.tokens[at].span.start;
        let declares = tokens.tokens.get(at + 2).is_some_and(|value| value.span.start == site.span.start);
        if file == site.file && declares {
            continue;
        }
        let ((file, line), before) = (place(offset), tokens.get(at.wrapping_sub(1)));
        // A member or a call of that name is something else.
        if matches!(before, "." | "->") || tokens.get(at + 1) == "(" {
            continue;
        }
        if around.kernels.contains(&file) || ["kernel_operator.h", "__aicore__"].iter().any(|word| text.contains(word))
        {
            return Err(WhyNot::InKernel { file, line });
        }
        let Some(body) = function_body(&tokens, at) else { return Err(WhyNot::OutsideFunction { file, line }) };
        let start = tokens.statement_start(at);
        if (start..at).any(|word| matches!(tokens.get(word), "static" | "thread_local")) {
            return Err(WhyNot::Kept { file, line });
        }
        let mut first = at;
        while tokens.get(first.wrapping_sub(1)) == "::" {
            first -= 1;
            if tokens.kind(first.wrapping_sub(1)) == Some(Kind::Identifier) {
                first -= 1;
            }
        }
        let span = tokens.span(first..at + 1);
        match functions.iter_mut().find(|function| function.body == body) {
            Some(function) => {
                function.uses.push(span);
                function.at.push(at);
            }
            None => functions.push(InFunction { file, body, uses: vec![span], at: vec![at] }),
        }
    }
    Ok(functions)
}

/// Where a macro other than the constant itself has its name.
fn in_macro(text: &str, constant: &str, own: Option<&Site>) -> Option<usize> {
    let mut at = 0;
    let mut continued = false;
    for line in text.split_inclusive('\n') {
        let directive = continued || line.trim_start().starts_with('#');
        let is_own = own.is_some_and(|site| (at..at + line.len()).contains(&site.span.start));
        let has = |code: &str| {
            code.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).any(|word| word == constant)
        };
        if directive && !is_own && has(line.split("//").next().unwrap_or_default()) {
            return Some(at);
        }
        continued = directive && line.trim_end().ends_with('\\');
        at += line.len();
    }
    None
}

/// The type in which a variable takes the value's place.
fn integer_type(site: &Site) -> Option<String> {
    site.value.as_ref()?.as_int()?;
    let of_literal = || {
        let suffix = super::super::literal::suffix(&site.text).to_ascii_lowercase();
        let kind = match suffix.as_str() {
            "" => "int32_t",
            "u" => "uint32_t",
            "l" | "ll" => "int64_t",
            _ => "uint64_t",
        };
        kind.to_owned()
    };
    match &site.form {
        SiteForm::Define => Some(of_literal()),
        SiteForm::Declaration(declaration) if declaration.kind == "auto" => Some(of_literal()),
        SiteForm::Declaration(declaration) => {
            let bare = declaration.kind.strip_prefix("std::").unwrap_or(&declaration.kind);
            INTEGERS.contains(&bare).then(|| declaration.kind.clone())
        }
        _ => None,
    }
}
