//! Of an array in a tiling structure, which elements the kernel asks for: those that a loop goes through between two other fields' elements of
//! the block.

use super::tiling_tokens::{Tokens, in_macros};

/// Words in front of a block that is no function's own.
const OF_STATEMENTS: [&str; 3] = ["if", "while", "switch"];

/// What makes references of its arguments.
const OF_REFERENCES: [&str; 3] = ["addressof", "ref", "tie"];

/// The fields, by their places, whose elements of the block are the first and the last index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub first: usize,
    pub last: usize,
    /// Whether the last one is read, too.
    pub through: bool,
}

/// What is compiled for the device.
type Files<'t, 'a> = [&'t Tokens<'a>];

/// A use of the array, or of a pointer to it, with an index: the file, and where its bracket opens.
type Site<'t, 'a> = (&'t Tokens<'a>, usize);

/// Names that a loop runs between, and whether it takes the last one, too.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Between<'a> {
    first: &'a str,
    last: &'a str,
    through: bool,
}

/// The elements of an array that the kernel asks for, where every use of it is at the variable of such a loop. `place_of` is the place of the
/// field whose element of the block a name has, and nothing else.
pub(super) fn range<'a>(
    files: &Files<'_, 'a>,
    field: &'a str,
    place_of: &dyn Fn(&str) -> Option<usize>,
) -> Option<Range> {
    let sites = sites(files, field)?;
    let mut found: Vec<Between<'_>> = Vec::new();
    for (tokens, open) in sites {
        if !tokens.is_word(open + 1) || tokens.text(open + 2) != "]" {
            return None;
        }
        found.push(between(files, tokens, open, tokens.text(open + 1))?);
    }
    found.dedup();
    let [Between { first, last, through }] = found.as_slice() else { return None };
    Some(Range { first: place_of(first)?, last: place_of(last)?, through: *through })
}

/// All uses with an index; `None` where it is used in any other way.
fn sites<'t, 'a>(files: &Files<'t, 'a>, field: &'a str) -> Option<Vec<Site<'t, 'a>>> {
    if in_macros(files, field) {
        return None;
    }
    let mut sites = Vec::new();
    let mut pointers: Vec<&'a str> = Vec::new();
    for tokens in files.iter().copied() {
        for index in tokens.positions(field) {
            let Some(object) = tokens.object(index).filter(|object| tokens.text(*object) != "this") else { continue };
            match tokens.text(index + 1) {
                "[" => sites.push((tokens, index + 1)),
                ";" if tokens.before(object, 1) == "=" && tokens.is_word(object.checked_sub(2)?) => {
                    pointers.push(tokens.before(object, 2));
                }
                _ => return None,
            }
        }
    }
    pointers.sort_unstable();
    pointers.dedup();
    for pointer in pointers {
        if in_macros(files, pointer) {
            return None;
        }
        for tokens in files.iter().copied() {
            for index in tokens.positions(pointer) {
                let object = tokens.object(index).filter(|object| tokens.text(*object) != "this");
                match (object, tokens.text(index + 1)) {
                    // The field itself, where they have the same name.
                    (Some(_), _) if pointer == field => {}
                    (Some(_), _) => return None,
                    (None, "[") => sites.push((tokens, index + 1)),
                    (None, "=") if tokens.text(index + 2) == "nullptr" && tokens.text(index + 3) == ";" => {}
                    (None, "=") if is_field(tokens, index + 2, field) => {}
                    // Its declaration.
                    (None, ";") if tokens.before(index, 1) == "*" => {}
                    _ => return None,
                }
            }
        }
    }
    Some(sites)
}

/// Whether the tokens from `at` on are the field of something, and no more.
fn is_field(tokens: &Tokens<'_>, at: usize, field: &str) -> bool {
    let member = (at..at + 4).find(|member| tokens.text(*member) == field && tokens.object(*member) == Some(at));
    member.is_some_and(|member| tokens.text(member + 1) == ";")
}

/// What the loop around a token runs between whose variable this is.
fn between<'a>(files: &Files<'_, 'a>, tokens: &Tokens<'a>, site: usize, variable: &str) -> Option<Between<'a>> {
    let mut depth = 0_usize;
    for at in (0..site).rev() {
        match tokens.text(at) {
            "}" => depth += 1,
            "{" if depth > 0 => depth -= 1,
            "{" if tokens.before(at, 1) == ")" => {
                let open = opening(tokens, at - 1)?;
                let word = tokens.before(open, 1);
                if word == "for" {
                    if let Some(found) = header(tokens, open, at - 1, variable) {
                        let end = closing(tokens, at)?;
                        return stays(files, tokens, at..end, variable).then_some(found);
                    }
                } else if !OF_STATEMENTS.contains(&word) {
                    return None;
                }
            }
            "{" if ["else", "do", ";", "{", "}"].contains(&tokens.before(at, 1)) => {}
            "{" => return None,
            _ => {}
        }
    }
    None
}

/// `type variable = first; variable < last; variable++`, between these parentheses.
fn header<'a>(tokens: &Tokens<'a>, open: usize, close: usize, variable: &str) -> Option<Between<'a>> {
    let begin = (open..close).find(|at| tokens.text(*at) == "=")?;
    if tokens.before(begin, 1) != variable || !tokens.is_word(begin.checked_sub(2)?) {
        return None;
    }
    let first = (begin..close).find(|at| tokens.text(*at) == ";")?;
    let second = (first + 1..close).find(|at| tokens.text(*at) == ";")?;
    if tokens.text(first + 1) != variable || tokens.text(first + 2) != "<" {
        return None;
    }
    let through = tokens.text(first + 3) == "=";
    let step: Vec<&str> = (second + 1..close).map(|at| tokens.text(at)).collect();
    if step != [variable, "+", "+"] && step != ["+", "+", variable] {
        return None;
    }
    Some(Between {
        first: name(tokens, begin + 1, first)?,
        last: name(tokens, if through { first + 4 } else { first + 3 }, second)?,
        through,
    })
}

/// The name that these tokens are, without what it may be qualified by.
fn name<'a>(tokens: &Tokens<'a>, from: usize, end: usize) -> Option<&'a str> {
    let last = end.checked_sub(1)?;
    (tokens.is_word(last) && tokens.unqualified(last) == from).then(|| tokens.text(last))
}

/// Whether a loop's body leaves its variable alone: neither changes it, nor declares another of that name, nor hands it to a function that may.
fn stays(files: &Files<'_, '_>, tokens: &Tokens<'_>, body: std::ops::Range<usize>, variable: &str) -> bool {
    body.filter(|at| tokens.text(*at) == variable && tokens.is_word(*at) && tokens.object(*at).is_none()).all(|at| {
        let (before, after) = (tokens.before(at, 1), tokens.text(at + 1));
        let declared = tokens.is_word(at.wrapping_sub(1)) && !["return", "case"].contains(&before);
        let handed = ["(", ","].contains(&before) && [",", ")"].contains(&after);
        // Another name for it: `auto &other = variable;`, `auto &other{variable};`.
        let named = before == "=" && tokens.before(at, 3) == "&" || before == "{" && after == "}";
        !declared && !named && !tokens.is_changed(at) && (!handed || taken_by_value(files, tokens, at))
    })
}

/// Whether the function that is called takes this argument by its value, as far as the sources have it.
fn taken_by_value(files: &Files<'_, '_>, tokens: &Tokens<'_>, at: usize) -> bool {
    let callee = tokens.caller(at);
    if OF_STATEMENTS.contains(&callee) {
        return true;
    }
    let is_name = callee.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    if !is_name || OF_REFERENCES.contains(&callee) {
        return false;
    }
    let (mut place, mut depth) = (0, 0_usize);
    for before in (0..at).rev() {
        match tokens.text(before) {
            ")" | "]" | "}" => depth += 1,
            // A reference that is begun with it.
            "(" if depth == 0 && tokens.before(before, 2) == "&" => return false,
            "(" if depth == 0 => break,
            "(" | "[" | "{" => depth = depth.saturating_sub(1),
            "," if depth == 0 => place += 1,
            _ => {}
        }
    }
    files.iter().all(|file| {
        let named = (0..file.of.len()).filter(|index| file.text(*index) == callee && file.text(*index + 1) == "(");
        named.into_iter().all(|index| file.arguments(index).get(place).is_none_or(|argument| !argument.contains('&')))
    })
}

/// Where the parentheses open that close at `close`.
fn opening(tokens: &Tokens<'_>, close: usize) -> Option<usize> {
    let mut depth = 0_usize;
    (0..=close).rev().find(|at| {
        match tokens.text(*at) {
            ")" => depth += 1,
            "(" => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

/// Where the block closes that opens at `open`.
fn closing(tokens: &Tokens<'_>, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    (open..tokens.of.len()).find(|at| {
        match tokens.text(*at) {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}
