//! Integer expressions that grow by the same step from row to row.

use std::collections::BTreeMap;

use crate::analysis::code::{is_name, words};

/// `start + row * step` as text: an empty start is 0, an empty step means that the value stays the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    pub(crate) start: String,
    pub(crate) step: String,
}

impl Linear {
    /// A value that begins with `start`.
    pub(crate) fn new(start: impl Into<String>, step: impl Into<String>) -> Self {
        Self { start: start.into(), step: step.into() }
    }
}

/// Takes an expression apart, given how the names in it grow; `None` if it does not grow in equal steps.
pub(crate) fn linear(text: &str, names: &BTreeMap<String, Linear>) -> Option<Linear> {
    let text = text.trim();
    if let Some(known) = names.get(text) {
        return Some(known.clone());
    }
    if words(text).iter().all(|word| !names.contains_key(*word)) {
        return Some(Linear::new(text, ""));
    }
    let terms = parted(text, &['+', '-'])?;
    if terms.len() > 1 {
        let (mut start, mut steps) = (String::new(), Vec::new());
        for (operator, term) in terms {
            let part = linear(term, names)?;
            if operator == '-' && (!part.step.is_empty() || start.is_empty()) {
                return None;
            }
            if !part.start.is_empty() {
                let sign = if start.is_empty() { String::new() } else { format!(" {operator} ") };
                start = format!("{start}{sign}{}", part.start);
            }
            steps.extend((!part.step.is_empty()).then_some(part.step));
        }
        return Some(Linear::new(start, steps.join(" + ")));
    }
    let factors = parted(text, &['*', '/', '%'])?;
    if factors.len() > 1 {
        let grows = |factor: &str| words(factor).iter().any(|word| names.contains_key(*word));
        if factors.iter().any(|(operator, _)| *operator != '*') || factors.iter().filter(|(_, f)| grows(f)).count() != 1
        {
            return None;
        }
        let (mut start, mut step) = (Vec::new(), Vec::new());
        let mut zero = false;
        for (_, factor) in factors {
            let part = linear(factor, names)?;
            if part.step.is_empty() {
                start.push(factor.trim().to_owned());
                step.push(factor.trim().to_owned());
                continue;
            }
            zero = part.start.is_empty();
            start.push(grouped(&part.start));
            step.extend((part.step != "1").then(|| grouped(&part.step)));
        }
        let start = if zero { String::new() } else { start.join(" * ") };
        return Some(Linear::new(start, step.join(" * ")));
    }
    // A cast: the start keeps it, the steps are as many as rows and small.
    if let Some(rest) = text.strip_prefix("static_cast<") {
        let end = rest.find('>')?;
        let inner = enclosed(rest[end + 1..].trim())?;
        let part = linear(inner, names)?;
        let start = if part.start.is_empty() {
            String::new()
        } else {
            format!("static_cast<{}>({})", &rest[..end], part.start)
        };
        return Some(Linear::new(start, part.step));
    }
    if let Some(inner) = enclosed(text) {
        let part = linear(inner, names)?;
        return Some(Linear::new(grouped(&part.start), part.step));
    }
    // A cast of C.
    let close = text.strip_prefix('(').and_then(|rest| rest.find(')'))?;
    let (kind, rest) = (&text[1..=close], text[close + 2..].trim());
    if !matches!(kind.trim(), "uint64_t" | "int64_t" | "uint32_t" | "int32_t" | "size_t" | "int") {
        return None;
    }
    let part = linear(rest, names)?;
    let start = if part.start.is_empty() { String::new() } else { format!("({kind}){}", grouped(&part.start)) };
    Some(Linear::new(start, part.step))
}

/// What stands between parentheses that enclose all of it.
pub(crate) fn enclosed(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut depth = 0i32;
    for character in inner.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    Some(inner.trim())
}

/// In parentheses unless it is a name, a call or in parentheses already.
pub(crate) fn grouped(text: &str) -> String {
    let whole = text.is_empty() || is_name(text) || enclosed(text).is_some();
    let cast = text.starts_with("static_cast<")
        && text.find('>').is_some_and(|end| enclosed(text[end + 1..].trim()).is_some());
    if whole || cast { text.to_owned() } else { format!("({text})") }
}

/// In parentheses where it would not stay one operand of `<`.
pub(crate) fn bound(text: &str) -> String {
    let holds = is_name(text) || parted(text, &['+', '-']).is_some();
    if holds { text.to_owned() } else { format!("({text})") }
}

/// Parts at the top level of some operators, each with the operator before it; `None` where a weaker one than `+` stands there.
pub(crate) fn parted<'a>(text: &'a str, operators: &[char]) -> Option<Vec<(char, &'a str)>> {
    let (mut depth, mut from, mut sign) = (0i32, 0, '+');
    let (mut before, mut cast) = (' ', false);
    let mut parts = Vec::new();
    if operators.contains(&'*') {
        sign = '*';
    }
    for (at, character) in text.char_indices() {
        let arrow = std::mem::replace(&mut before, character) == '-' && character == '>';
        match character {
            '<' if text[..at].ends_with("_cast") => cast = true,
            '>' if cast => cast = false,
            _ if cast || arrow => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ if depth > 0 => {}
            '<' | '>' | '?' | '&' | '|' | '^' | '~' | '!' | '=' | ',' | ';' => return None,
            '-' if text[at..].starts_with("->") => {}
            _ if operators.contains(&character) => {
                parts.push((sign, text[from..at].trim()));
                (sign, from) = (character, at + 1);
            }
            _ => {}
        }
    }
    parts.push((sign, text[from..].trim()));
    (depth == 0 && parts.iter().all(|(_, part)| !part.is_empty())).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> Option<(String, String)> {
        let names = BTreeMap::from([
            ("row".to_owned(), Linear::new("first", "1")),
            ("r".to_owned(), Linear::new("", "1")),
            ("at".to_owned(), Linear::new("at", "columns_")),
        ]);
        linear(text, &names).map(|part| (part.start, part.step))
    }

    #[test]
    fn sums_and_products_grow_in_steps() {
        let pair = |start: &str, step: &str| Some((start.to_owned(), step.to_owned()));
        assert_eq!(taken("this->first + row"), pair("this->first + first", "1"));
        assert_eq!(taken("r * n + 4"), pair("4", "n"));
        assert_eq!(taken("at - 2"), pair("at - 2", "columns_"));
        assert_eq!(
            taken("(static_cast<uint64_t>(token) * heads + row) * this->size"),
            pair("(static_cast<uint64_t>(token) * heads + first) * this->size", "this->size")
        );
        assert_eq!(taken("(uint64_t)(row + 1) * n + k % 3"), pair("((uint64_t)(first + 1)) * n + k % 3", "n"));
        assert_eq!(taken("n / 2"), pair("n / 2", ""));
    }

    #[test]
    fn a_bound_is_in_parentheses_where_it_would_fall_apart() {
        for text in ["n", "64", "this->rows", "static_cast<int32_t>(n)", "n / 2 + 1", "rows * width", "Rows(a, b)"] {
            assert_eq!(bound(text), text);
        }
        for text in ["n > 8 ? 8 : n", "n & 7", "a || b", "a, b", "n == 3"] {
            assert_eq!(bound(text), format!("({text})"));
        }
    }

    #[test]
    fn other_expressions_do_not() {
        for text in ["row / 2", "row % n", "row * row", "n - row", "f(row)", "row < n ? row : n", "row << 2"] {
            assert_eq!(taken(text), None, "{text}");
        }
    }
}
