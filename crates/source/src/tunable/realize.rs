//! Writing values into the sources.

use crate::{Edit, Patch, SourceTree};
use space::{Binding, NO_LIMIT, Tunable, Value};

use super::literal::written_like;
use super::locate::locate;
use super::statement::{has_side_effects, limit_asked};
use super::{Site, SiteForm, TunableError};
use crate::constant::integer;

/// The value a tunable has in the sources: the literal, the limit of a cap (or [`NO_LIMIT`]), the name that stands there.
/// `None` for a CMake entry, whose value is not in the sources.
pub fn present_value(tree: &SourceTree, binding: &Binding) -> Result<Option<Value>, TunableError> {
    let sites = locate(tree, binding)?;
    Ok(sites.into_iter().next().map(|site| match (&site.value, &site.form) {
        (Some(value), _) => value.clone(),
        (None, SiteForm::Assigned { .. } | SiteForm::Asked { .. } | SiteForm::Share(_) | SiteForm::Portion(_)) => {
            NO_LIMIT
        }
        (None, _) => Value::Text(site.text),
    }))
}

/// The edits that put the values into the sources. A site that has its value already is left alone, byte for byte;
/// CMake entries need no edit.
pub fn realize(tree: &SourceTree, values: &[(Tunable, Value)]) -> Result<Patch, TunableError> {
    let mut patch = Patch::default();
    let mut wanting_algorithm: Vec<String> = Vec::new();
    let mut title = Vec::new();
    // What stands behind a limit stays behind it where both are new.
    let mut behind: Vec<Edit> = Vec::new();
    for (tunable, value) in values {
        let before = patch.edits.len() + behind.len();
        for site in locate(tree, &tunable.binding)? {
            let replacement = match &site.form {
                SiteForm::Assigned { inner, call, device } => {
                    let text = tree.text(&site.file).unwrap_or_default();
                    let expression = text.get(inner.clone()).unwrap_or_default();
                    let replacement = capped(tunable, value, &site, expression, (!device).then_some(call))?;
                    if replacement.starts_with("std::min") && !wanting_algorithm.contains(&site.file) {
                        wanting_algorithm.push(site.file.clone());
                    }
                    replacement
                }
                SiteForm::Share(rule) => {
                    let least = limit_of(tunable, value, &site)?;
                    let cores = values.iter().find(|(tunable, _)| is_constant(tunable, &site.file, &rule.cores));
                    let was = cores.and_then(|(tunable, _)| tunable.default.as_ref()?.as_int());
                    let now = cores.and_then(|(_, value)| value.as_int());
                    // What somebody has laid out otherwise stays as it is.
                    let there = site.value == Some(Value::Int(least));
                    let written = if there { site.text.clone() } else { rule.text(least, rule.floor(was, now)) };
                    if written.contains("std::min<") && !wanting_algorithm.contains(&site.file) {
                        wanting_algorithm.push(site.file.clone());
                    }
                    written
                }
                SiteForm::Shared { constant, variable } => {
                    let ruled = limit_of(tunable, value, &site)? > 0;
                    if ruled { variable.clone() } else { constant.clone() }
                }
                SiteForm::Portion(rule) => {
                    let bytes = limit_of(tunable, value, &site)?;
                    let there = site.value == Some(Value::Int(bytes));
                    let written = if there { site.text.clone() } else { rule.text(bytes) };
                    if written.contains("std::min<") && !wanting_algorithm.contains(&site.file) {
                        wanting_algorithm.push(site.file.clone());
                    }
                    if written != site.text {
                        behind.push(Edit { file: site.file.clone(), span: site.span.clone(), replacement: written });
                    }
                    continue;
                }
                SiteForm::Asked { variable, line } => limit_asked(variable, line, limit_of(tunable, value, &site)?),
                _ => literal(tunable, value, &site)?,
            };
            if replacement != site.text {
                patch.edits.push(Edit { file: site.file, span: site.span, replacement });
            }
        }
        if patch.edits.len() + behind.len() > before {
            title.push(format!("{}={value}", tunable.name));
        }
    }
    patch.edits.extend(behind);
    for file in wanting_algorithm {
        let text = tree.text(&file).unwrap_or_default();
        if patch.edits.iter().any(|edit| edit.file == file) && !includes(text, "algorithm") {
            let at = include_position(text);
            patch.edits.push(Edit { file, span: at..at, replacement: "#include <algorithm>\n".to_owned() });
        }
    }
    patch.title = title.join(" ");
    Ok(patch)
}

/// Whether a tunable is this constant of a file.
pub(super) fn is_constant(tunable: &Tunable, file: &str, constant: &str) -> bool {
    matches!(&tunable.binding, Binding::Constant { file: own, name, .. } if own == file && name == constant)
}

fn literal(tunable: &Tunable, value: &Value, site: &Site) -> Result<String, TunableError> {
    if site.value.as_ref() == Some(value)
        || site.value.as_ref().and_then(Value::as_int) == value.as_int() && value.as_int().is_some()
    {
        return Ok(site.text.clone());
    }
    let bad = |message: &str| bad_value(tunable, value, site, message);
    let written = match value {
        Value::Int(number) => {
            // A single literal gives its base and suffix; of an expression the last literal's suffix is kept.
            let like = if integer(&site.text).is_some() { site.text.as_str() } else { last_number(&site.text) };
            match &site.value {
                Some(Value::Bool(_)) if matches!(number, 0 | 1) => (*number == 1).to_string(),
                Some(Value::Bool(_)) => return Err(bad("the site holds true or false")),
                _ => written_like(*number, like),
            }
        }
        Value::Bool(switch) => match &site.value {
            Some(Value::Int(_)) => written_like(i64::from(*switch), &site.text),
            _ => switch.to_string(),
        },
        Value::Text(name) => {
            let valid = !name.is_empty()
                && !name.starts_with(|character: char| character.is_ascii_digit())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'));
            if !valid {
                return Err(bad("a text must be a C++ name, possibly qualified"));
            }
            name.clone()
        }
    };
    // In a macro body a sign could join with what stands around the macro's use.
    Ok(if site.form == SiteForm::Define && written.starts_with('-') { format!("({written})") } else { written })
}

fn last_number(text: &str) -> &str {
    let mut words = text.split(|character: char| !(character.is_ascii_alphanumeric() || character == '\''));
    let last = words.rfind(|word| integer(word).is_some());
    last.filter(|word| !word.starts_with("0x")).unwrap_or("0")
}

fn bad_value(tunable: &Tunable, value: &Value, site: &Site, message: &str) -> TunableError {
    TunableError::BadValue {
        file: site.file.clone(),
        line: site.line,
        name: tunable.name.clone(),
        value: value.clone(),
        message: message.to_owned(),
    }
}

fn limit_of(tunable: &Tunable, value: &Value, site: &Site) -> Result<i64, TunableError> {
    match value {
        Value::Int(limit) => Ok(*limit),
        _ => Err(bad_value(tunable, value, site, "a limit is an integer")),
    }
}

fn capped(
    tunable: &Tunable,
    value: &Value,
    site: &Site,
    expression: &str,
    call: Option<&String>,
) -> Result<String, TunableError> {
    let limit = limit_of(tunable, value, site)?;
    if limit <= 0 {
        return Ok(expression.to_owned());
    }
    if site.value == Some(Value::Int(limit)) {
        return Ok(site.text.clone());
    }
    if let Some(call) = call {
        return Ok(format!("{call}({expression}, {limit})"));
    }
    if has_side_effects(expression) {
        let message = "the expression is evaluated twice here and changes something; compute it into a variable first";
        return Err(bad_value(tunable, value, site, message));
    }
    Ok(format!("(({expression}) < ({limit}) ? ({expression}) : ({limit}))"))
}

pub(super) fn includes(text: &str, header: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with('#') && line.contains("include") && line.contains(&format!("<{header}>"))
    })
}

/// Start of the line of the first `#include` that is not inside a condition, else the start of the file.
fn include_position(text: &str) -> usize {
    let mut at = 0;
    let mut depth = 0usize;
    let mut guard = None;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let word = trimmed.strip_prefix('#').map(str::trim_start).unwrap_or_default();
        if word.starts_with("ifndef") && depth == 0 && guard.is_none() {
            // An include guard encloses the whole file.
            guard = Some(());
        } else if word.starts_with("if") {
            depth += 1;
        } else if word.starts_with("endif") {
            depth = depth.saturating_sub(1);
        } else if word.starts_with("include") && depth == 0 {
            return at;
        }
        at += line.len();
    }
    0
}
