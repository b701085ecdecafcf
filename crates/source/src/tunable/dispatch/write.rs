//! Writing a choice by size into a tiling function.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::lexer::Tokens;
use super::super::line_of;
use super::super::literal::written_like;
use super::super::share::above_comment;
use super::super::statement::line_around;
use super::super::words::words;
use super::size::{Size, known_size};
use super::there::{MIDDLE, SMALL};
use super::uses::{InFunction, Uses};
use super::{BY_SIZE, NotDispatched, Surroundings, ValuesBySize, WhyNot};
use crate::{Edit, Patch, SourceTree};

/// For the maintainer who meets it.
const REASON: &str =
    "// What is fastest for small inputs is not for large ones: chosen by cargo ascend-tune, see ascend.lock.";
/// The variable for a size that the function has not asked for.
const ELEMENTS: &str = "inputElements";
/// Columns of a line that is written.
const LONGEST_LINE: usize = 120;

/// Where a variable is declared and what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    /// Byte in front of which it is declared.
    at: usize,
    /// Line break and indentation there.
    line: String,
    /// Name.
    name: String,
    /// The number of elements to decide by.
    size: Size,
}

/// The variable that takes a constant's place in a function.
pub(super) fn variable(
    tree: &SourceTree,
    uses: &Uses,
    function: &InFunction,
    around: Surroundings<'_>,
) -> Result<Variable, NotDispatched> {
    placed(tree, uses, function, around).map_err(|why| why.of(&uses.tunable))
}

fn placed(tree: &SourceTree, uses: &Uses, function: &InFunction, around: Surroundings<'_>) -> Result<Variable, WhyNot> {
    let file = &function.file;
    let text = tree.text(file).unwrap_or_default();
    let tokens = Tokens::of(text);
    let body = &function.body;
    let first = function.at.first().copied().unwrap_or(body.start);
    let place = |offset: usize| (file.clone(), line_of(text, offset));
    let used = tokens.tokens[first].span.start;
    let statement = statement_at_top(&tokens, body, first).ok_or_else(|| {
        let (file, line) = place(used);
        WhyNot::OutsideFunction { file, line }
    })?;
    let start = tokens.tokens[statement].span.start;
    let last = function.uses.last().map_or(start, |span| span.end);
    if under_conditions(&text[tokens.tokens[body.start].span.start..last]) {
        let (file, line) = place(used);
        return Err(WhyNot::Conditional { file, line });
    }
    let size = known_size(&tokens, body, statement).ok_or_else(|| {
        let (file, line) = place(used);
        WhyNot::NoSize { file, line }
    })?;
    let taken = |name: &str| in_text(text, name) || around.beside.iter().any(|(_, text)| in_text(text, name));
    let camel = camel(&uses.constant);
    let names = [camel.clone(), format!("{camel}BySize")];
    let name = names.into_iter().find(|name| !taken(name)).filter(|name| *name != uses.constant);
    let in_way = SMALL.iter().chain(&MIDDLE).map(|end| format!("{}{end}", uses.constant)).find(|name| taken(name));
    let (Some(name), None) = (name, &in_way) else {
        let taken = in_way.unwrap_or(camel);
        return Err(WhyNot::NameTaken { file: file.clone(), taken });
    };
    if matches!(size, Size::Asked(_)) && taken(ELEMENTS) {
        return Err(WhyNot::NameTaken { file: file.clone(), taken: ELEMENTS.to_owned() });
    }
    Ok(Variable { at: above_comment(text, start), line: line_around(text, start), name, size })
}

fn in_text(text: &str, name: &str) -> bool {
    text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).any(|word| word == name)
}

/// The statement of the function's own block that a token is in.
fn statement_at_top(tokens: &Tokens<'_>, body: &Range<usize>, position: usize) -> Option<usize> {
    let mut start = body.start + 1;
    let mut at = start;
    while at < body.end {
        let (first, ended) = (
            start,
            match tokens.get(at) {
                "(" | "[" => {
                    at = tokens.closing(at)?;
                    false
                }
                "{" => {
                    at = tokens.closing(at)?;
                    let goes_on = |word: &str| {
                        matches!(word, "else" | "catch" | ";" | "," | ")" | "." | "->" | "(" | "[" | "?" | ":")
                    };
                    let loops = tokens.get(start) == "do" && tokens.get(at + 1) == "while";
                    !goes_on(tokens.get(at + 1)) && !loops
                }
                word => word == ";",
            },
        );
        if at >= position {
            return Some(first);
        }
        at += 1;
        if ended {
            start = at;
        }
    }
    None
}

/// Whether some of this code is there under conditions only.
fn under_conditions(text: &str) -> bool {
    let directive = |line: &str| {
        let word = line.trim_start().strip_prefix('#').map(str::trim_start).unwrap_or_default();
        ["if", "el", "endif"].iter().any(|start| word.starts_with(start))
    };
    text.lines().any(directive)
}

/// `TILE_LENGTH` and `kTileLength` as a variable: `tileLength`.
fn camel(constant: &str) -> String {
    let mut parts = words(constant);
    if parts.len() > 1 && parts[0] == "k" {
        parts.remove(0);
    }
    let joined = parts.iter().enumerate().map(|(place, word)| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| if place > 0 { letter.to_ascii_uppercase() } else { letter });
        first.into_iter().chain(letters).collect::<String>()
    });
    joined.collect()
}

/// One value up to a size.
struct Piece {
    value: i64,
    up_to: Option<u64>,
}

/// A variable with what it is chosen from.
type Choice<'a> = (Variable, &'a Uses, Vec<Piece>);

/// Neighbouring classes of one value are one.
fn pieces(values: &[i64], up_to: &[u64]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (class, value) in values.iter().enumerate() {
        let limit = up_to.get(class).copied();
        match pieces.last_mut() {
            Some(last) if last.value == *value => last.up_to = limit,
            _ => pieces.push(Piece { value: *value, up_to: limit }),
        }
    }
    pieces
}

/// The patch that makes all choices.
pub(super) fn patch(
    tree: &SourceTree,
    found: &[(Uses, &ValuesBySize<'_>)],
    up_to: &[u64],
    around: Surroundings<'_>,
) -> Result<Patch, NotDispatched> {
    // Of each function what is declared there.
    let mut blocks: BTreeMap<(String, usize), Vec<Choice<'_>>> = BTreeMap::new();
    let (mut edits, mut titles) = (Vec::new(), Vec::new());
    for (uses, by_size) in found {
        let pieces_of = || pieces(&by_size.values, up_to);
        if pieces_of().len() < 2 {
            continue;
        }
        titles.push(title(&uses.tunable, &pieces_of()));
        for function in &uses.functions {
            let variable = variable(tree, uses, function, around)?;
            for span in &function.uses {
                let (file, span) = (function.file.clone(), span.clone());
                edits.push(Edit { file, span, replacement: variable.name.clone() });
            }
            let block = blocks.entry((function.file.clone(), function.body.start)).or_default();
            block.push((variable, uses, pieces_of()));
        }
    }
    for ((file, _), mut block) in blocks {
        block.sort_by_key(|(variable, ..)| variable.at);
        let Some((first, ..)) = block.first() else { continue };
        // What is known at the first use is known at the others too.
        let (at, line, size) = (first.at, first.line.clone(), first.size.clone());
        let mut text = format!("{REASON}{line}");
        let elements = match &size {
            Size::Variable(name) => name.clone(),
            Size::Asked(question) => {
                text.push_str(&format!("const int64_t {ELEMENTS} = {question};{line}"));
                ELEMENTS.to_owned()
            }
        };
        for (variable, uses, pieces) in &block {
            text.push_str(&declarations(variable, uses, pieces, (&elements, &line)));
        }
        edits.push(Edit { file, span: at..at, replacement: text });
    }
    Ok(Patch { title: titles.join(", "), motif: BY_SIZE.to_owned(), edits })
}

/// `TILE by size: 512 up to 65536 elements, 4096`.
fn title(name: &str, pieces: &[Piece]) -> String {
    let each = pieces.iter().map(|piece| match piece.up_to {
        Some(up_to) => format!("{} up to {up_to} elements", piece.value),
        None => format!("{} beyond", piece.value),
    });
    format!("{name} by size: {}", each.collect::<Vec<_>>().join(", "))
}

/// The constants for smaller inputs and the variable, each on a line.
fn declarations(variable: &Variable, uses: &Uses, pieces: &[Piece], (elements, line): (&str, &str)) -> String {
    let Uses { constant, kind, site, .. } = uses;
    let style = usize::from(constant.chars().any(|letter| letter.is_ascii_lowercase()));
    let like = if site.text.bytes().all(|byte| byte.is_ascii_alphanumeric()) { site.text.as_str() } else { "0" };
    let (mut text, mut choice) = (String::new(), Vec::new());
    for (place, piece) in pieces.iter().enumerate() {
        let Some(up_to) = piece.up_to else { break };
        let ending = if place == 0 { SMALL[style] } else { MIDDLE[style] };
        let value = written_like(piece.value, like);
        text.push_str(&format!("constexpr {kind} {constant}{ending} = {value};{line}"));
        choice.push(format!("{elements} <= {up_to} ? {constant}{ending} :"));
    }
    let head = format!("const {kind} {} =", variable.name);
    let indent = line.trim_start_matches(['\r', '\n']).len();
    let whole = format!("{head} {} {constant};", choice.join(" "));
    if indent + whole.len() <= LONGEST_LINE {
        return format!("{text}{whole}{line}");
    }
    let broken = choice.iter().map(String::as_str).chain([constant.as_str()]);
    let broken: Vec<&str> = broken.collect();
    format!("{text}{head}{line}    {};{line}", broken.join(&format!("{line}    ")))
}
