//! How many cores work is divided among: finding the division, and a rule that gives every core a least share.
//!
//! A tiling function computes `work / cores` at some place. In front of that statement the number of cores can still be
//! lowered, and the work is known: `cores = max(1, min(cores, ceil(work / least)))` is right for every size, where a limit on
//! the cores is right for one. A number of cores that is raised is raised at once, where each of them gets the share: on the way up
//! work would be divided among any number, which few operators divide well.

mod of_constant;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::Range;

use super::lexer::{Kind, Scope, Tokens};
use super::literal::constant_expression;
use super::meaning::SETS_CORES;
use super::{Site, SiteForm, TunableError, line_of, words};
use space::Value;

/// Columns of a line that is written, and how much further a statement goes on in the next one.
const LONGEST_LINE: usize = 120;
const CONTINUED: &str = "    ";

/// Calls that ask the platform how many cores there are.
pub const ASKS_CORES: [&str; 4] = ["GetCoreNumAiv", "GetCoreNum", "GetVectorCoreNum", "GetCoreNumVector"];

/// What a maintainer reads above a rule.
const REASON: &str = "// Fewer cores are sooner done with little work: each gets at least this much.";
/// The same above one that raises a number of cores.
const REASON_TO_RAISE: &str =
    "// More cores pay where each gets at least this much; little work keeps as few as it had.";

/// The first statement of a function that divides work by the number of cores.
#[derive(Clone, Debug)]
pub struct Division {
    /// Variable that holds the number of cores, as written.
    pub cores: String,
    /// What is divided, as written.
    pub of: String,
    /// In front of the statement: nothing, or a rule that stands there already.
    pub site: Site,
    /// Where the number of cores is a constant: the places behind that take the variable of the rule in its stead.
    pub uses: Vec<Site>,
}

/// Text of the rule in front of a division.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareRule {
    /// Variable that holds the number of cores.
    pub cores: String,
    /// What is divided, in parentheses where it needs them.
    pub of: String,
    /// Name of the constant that holds the least share.
    pub constant: String,
    /// Type to compare in.
    pub kind: String,
    /// Line break and indentation of the statements around.
    pub line: String,
    /// Where the number of cores is a constant: the variable that the rule declares for those that take part.
    pub declared: Option<Declared>,
}

/// A variable that a rule declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its type.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Cores that take part at least, in a rule that stands there already.
    pub floor: Option<i64>,
}

impl ShareRule {
    /// The two statements under their reason, and what separates them from the division; nothing for no least share.
    pub fn text(&self, least: i64, floor: i64) -> String {
        if least <= 0 {
            return String::new();
        }
        let Self { constant, kind, line, .. } = self;
        let limit = self.limit(constant, floor);
        let indent = line.trim_start_matches(['\r', '\n']).len();
        let limit = if indent + limit.len() <= LONGEST_LINE { limit } else { self.in_lines(constant, floor) };
        let reason = if floor > 1 { REASON_TO_RAISE } else { REASON };
        format!("{reason}{line}constexpr {kind} {constant} = {least};{line}{limit}{line}")
    }

    /// Start of a rule that is there, with its reason where that still stands above the declaration at `at`.
    fn start_in(&self, text: &str, at: usize) -> usize {
        let reasons = [REASON, REASON_TO_RAISE].map(|reason| format!("{reason}{}", self.line));
        let there = reasons.iter().find(|reason| text[..at].ends_with(reason.as_str()));
        there.map_or(at, |reason| at - reason.len())
    }

    /// The statement that lowers the number of cores in two lines.
    fn in_lines(&self, least: &str, floor: i64) -> String {
        let statement = self.limit(least, floor);
        let (end, begin) = if floor > 1 { ("", "? ") } else { (",", "") };
        match statement.rsplit_once(&format!("{end} {begin}")) {
            Some((head, tail)) => format!("{head}{end}{}{CONTINUED}{begin}{tail}", self.line),
            None => statement,
        }
    }

    /// The statement that lowers the number of cores, with the least share given by an expression.
    pub fn limit(&self, least: &str, floor: i64) -> String {
        format!("{} = {};", self.target(), self.lowered(least, floor))
    }

    /// Cores that take part at least, with the constant's value in the sources as they were and now. A constant that is raised
    /// gives little work as many as it had: more cores for much work are no reason to have less there be slower. One that is not
    /// lets little work do with fewer.
    pub fn floor(&self, was: Option<i64>, now: Option<i64>) -> i64 {
        let Some(declared) = &self.declared else { return 1 };
        let raised = was.filter(|was| now.is_some_and(|now| now > *was));
        declared.floor.or(raised).unwrap_or(1)
    }

    /// What is assigned: a variable that is there, or one that is declared.
    fn target(&self) -> String {
        match &self.declared {
            Some(Declared { kind, name, .. }) => format!("const {kind} {name}"),
            None => self.cores.clone(),
        }
    }

    fn lowered(&self, least: &str, floor: i64) -> String {
        let Self { cores, of, kind, .. } = self;
        if floor > 1 {
            return format!("{of} / {least} < {cores} ? {floor} : {cores}");
        }
        format!("std::max<{kind}>(1, std::min<{kind}>({cores}, ({of} + {least} - 1) / {least}))")
    }

    /// The statement for a least share that is only known at run time, with the constant's value in the sources as they were;
    /// nothing is lowered where it is none.
    pub fn knob(&self, least: &str, was: Option<i64>) -> String {
        match &self.declared {
            Some(Declared { floor, .. }) => {
                let cores = &self.cores;
                let lowered = match (*floor, was) {
                    (Some(floor), _) => self.lowered(least, floor),
                    (None, Some(was)) if was > 1 => {
                        format!("({cores} > {was} ? ({}) : {})", self.lowered(least, was), self.lowered(least, 1))
                    }
                    (None, _) => self.lowered(least, 1),
                };
                format!("{} = {least} > 0 ? ({lowered}) : {cores}; ", self.target())
            }
            None => format!("if ({least} > 0) {{ {} }} ", self.limit(least, 1)),
        }
    }
}

/// All divisions of a tiling function's file that a rule can stand in front of, at most one a function.
pub fn divisions(file: &str, text: &str) -> Vec<Division> {
    let tokens = Tokens::of(text);
    let names = core_counts(&tokens);
    let mut found: Vec<(Range<usize>, Quotient)> = Vec::new();
    for position in 0..tokens.tokens.len() {
        let Some(quotient) = quotient_at(&tokens, position, &names) else { continue };
        let Some(body) = function_body(&tokens, position) else { continue };
        found.push((body, quotient));
    }
    let mut divisions = Vec::new();
    let mut seen: Vec<(Range<usize>, String)> = Vec::new();
    for (body, quotient) in &found {
        let cores = tokens.compact(quotient.cores.clone());
        if seen.contains(&(body.clone(), cores.clone())) {
            continue;
        }
        seen.push((body.clone(), cores.clone()));
        let others = found.iter().filter(|(other, second)| {
            other == body && tokens.compact(second.cores.clone()) == cores && second.of != quotient.of
        });
        let others: Vec<usize> = others.map(|(_, second)| second.cores.start).collect();
        let found = division(file, &tokens, body, quotient, &others);
        divisions.extend(found.or_else(|| of_constant::division(file, &tokens, body, quotient)));
    }
    divisions.extend(of_constant::ruled(file, &tokens));
    divisions
}

/// The places of a rule: in front of every first division of this work by this variable.
pub(super) fn shares(file: &str, text: &str, cores: &str, of: &str) -> Result<Vec<Site>, TunableError> {
    let compact = |text: &str| Tokens::of(text).compact_all();
    let (cores, of) = (compact(cores), compact(of));
    let found = divisions(file, text).into_iter();
    let sites: Vec<Site> = found
        .filter(|found| compact(&found.cores) == cores && compact(&found.of) == of)
        .flat_map(|found| std::iter::once(found.site).chain(found.uses))
        .collect();
    if sites.is_empty() {
        let what = format!("place where `{of}` is divided by `{cores}` and that may still be lowered");
        return Err(TunableError::NotFound { file: file.to_owned(), what });
    }
    Ok(sites)
}

/// A quotient: token ranges of both sides.
struct Quotient {
    of: Range<usize>,
    cores: Range<usize>,
}

/// `work / cores`, `work % cores` or `CeilDiv(work, cores)` at `position`.
fn quotient_at(tokens: &Tokens<'_>, position: usize, names: &BTreeSet<String>) -> Option<Quotient> {
    let word = tokens.get(position);
    let (of, cores) = if matches!(word, "/" | "%") {
        (operand_before(tokens, position)?, path_at(tokens, position + 1)?)
    } else {
        let divides = tokens.kind(position) == Some(Kind::Identifier)
            && words(word).iter().any(|part| matches!(part.as_str(), "div" | "ceil"));
        let mut open = position + 1;
        if divides && tokens.get(open) == "<" {
            open = tokens.closing_angle(open)? + 1;
        }
        if !divides || tokens.get(open) != "(" {
            return None;
        }
        let [of, cores] = <[Range<usize>; 2]>::try_from(tokens.arguments(open)?).ok()?;
        (path_at(tokens, cores.start)? == cores).then_some((of, cores))?
    };
    let name = tokens.get(cores.end.checked_sub(1)?);
    let is_count = names.contains(plain(name)) && !of.is_empty();
    is_count.then_some(Quotient { of, cores })
}

/// Names without the underscore of a member.
fn plain(name: &str) -> &str {
    name.trim_end_matches('_')
}

/// A variable, member or field that begins at `position` and is not called or indexed.
fn path_at(tokens: &Tokens<'_>, position: usize) -> Option<Range<usize>> {
    let mut end = position;
    loop {
        if tokens.kind(end) != Some(Kind::Identifier) {
            return None;
        }
        end += 1;
        match tokens.get(end) {
            "." | "->" => end += 1,
            "(" | "[" | "::" | "{" => return None,
            _ => return Some(position..end),
        }
    }
}

/// The product that ends before `position`.
fn operand_before(tokens: &Tokens<'_>, position: usize) -> Option<Range<usize>> {
    let mut start = position;
    loop {
        start = factor_before(tokens, start)?;
        if !matches!(tokens.get(start.wrapping_sub(1)), "*" | "/" | "%") {
            return Some(start..position);
        }
        start -= 1;
    }
}

/// Start of the factor that ends before `position`: a number, a path, a group or a call.
fn factor_before(tokens: &Tokens<'_>, position: usize) -> Option<usize> {
    let mut start = position.checked_sub(1)?;
    if tokens.get(start) == ")" {
        start = opening(tokens, start)?;
        let before = start.checked_sub(1)?;
        if tokens.get(before) == ">" {
            let from = before.saturating_sub(12);
            start = (from..before).rev().find(|at| tokens.closing_angle(*at) == Some(before))?;
        }
    }
    let last = start;
    let names = matches!(tokens.kind(start), Some(Kind::Identifier | Kind::Number));
    if !names && !matches!(tokens.get(start), "(" | "<") {
        return None;
    }
    if matches!(tokens.get(start), "(" | "<") {
        let named = start.checked_sub(1).is_some_and(|at| {
            tokens.kind(at) == Some(Kind::Identifier) && !matches!(tokens.get(at), "return" | "if" | "while" | "case")
        });
        if !named {
            return (tokens.get(last) == "(").then_some(start);
        }
        start -= 1;
    }
    while start >= 2
        && matches!(tokens.get(start - 1), "." | "->" | "::")
        && (tokens.kind(start - 2) == Some(Kind::Identifier) || tokens.get(start - 2) == ")")
    {
        start -= 2;
        if tokens.get(start) == ")" {
            start = opening(tokens, start)?;
            start = start.checked_sub(1).filter(|at| tokens.kind(*at) == Some(Kind::Identifier))?;
        }
    }
    Some(start)
}

fn opening(tokens: &Tokens<'_>, close: usize) -> Option<usize> {
    let mut depth = 0usize;
    for position in (0..=close).rev() {
        match tokens.get(position) {
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" => {
                depth -= 1;
                if depth == 0 {
                    return Some(position);
                }
            }
            _ => {}
        }
    }
    None
}

/// Names that hold numbers of cores: what the platform answers, what is launched, and copies of both, also as parameters.
fn core_counts(tokens: &Tokens<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut copies: Vec<(String, String)> = Vec::new();
    for position in 0..tokens.tokens.len() {
        let word = tokens.get(position);
        if SETS_CORES.contains(&word) && tokens.get(position + 1) == "(" {
            let launched =
                tokens.arguments(position + 1).and_then(|arguments| value_of(tokens, arguments.first()?.clone()));
            names.extend(launched);
        }
        if tokens.kind(position) != Some(Kind::Identifier) {
            continue;
        }
        let target = plain(word).to_owned();
        if tokens.get(position + 1) == "=" {
            let range = position + 2..tokens.expression_end(position + 2, true);
            if asks(tokens, range.clone()) {
                names.insert(target);
            } else if let Some(source) = value_of(tokens, range) {
                copies.push((target, source));
            }
        } else if let Some(field) = word.strip_prefix("set_")
            && let Some(close) = tokens.closing(position + 1).filter(|_| tokens.get(position + 1) == "(")
        {
            let range = position + 2..close;
            if asks(tokens, range.clone()) {
                names.insert(field.to_owned());
            }
        } else if tokens.get(position + 1) == "(" {
            copies.extend(passed(tokens, position));
        }
    }
    loop {
        let before = names.len();
        for (target, source) in &copies {
            if names.contains(source) {
                names.insert(target.clone());
            }
        }
        if names.len() == before {
            return names;
        }
    }
}

/// Whether an expression is the platform's answer itself, possibly handed through a function that picks a smaller number.
fn asks(tokens: &Tokens<'_>, range: Range<usize>) -> bool {
    let has = |marks: &[&str]| range.clone().any(|at| marks.contains(&tokens.get(at)));
    has(&ASKS_CORES) && !has(&["*", "/", "%", "+", "-", "==", "!=", "?"])
}

/// The name whose value an expression copies: a path, a getter, or either behind a cast.
fn value_of(tokens: &Tokens<'_>, mut range: Range<usize>) -> Option<String> {
    if tokens.get(range.start) == "static_cast" {
        let close = tokens.closing_angle(range.start + 1)?;
        range = close + 2..range.end.checked_sub(1)?;
    } else if tokens.get(range.start) == "(" && tokens.get(range.start + 2) == ")" && range.len() > 3 {
        range.start += 3;
    }
    if path_at(tokens, range.start).is_some_and(|path| path == range) {
        return Some(plain(tokens.get(range.end - 1)).to_owned());
    }
    let getter = range.end.checked_sub(3).map(|at| tokens.get(at)).and_then(|name| name.strip_prefix("get_"));
    let called = range.len() <= 5 && tokens.get(range.end - 2) == "(";
    getter.filter(|_| called).map(str::to_owned)
}

/// Parameters of a function of the file with the names that a call passes for them.
fn passed(tokens: &Tokens<'_>, position: usize) -> Vec<(String, String)> {
    // What helpers of arithmetic call their operands says nothing.
    let arithmetic =
        words(tokens.get(position)).iter().any(|word| matches!(word.as_str(), "div" | "ceil" | "floor" | "align"));
    let Some(arguments) = tokens.arguments(position + 1).filter(|_| !arithmetic) else { return Vec::new() };
    let given: Vec<Option<String>> = arguments.iter().map(|argument| value_of(tokens, argument.clone())).collect();
    if given.iter().all(Option::is_none) {
        return Vec::new();
    }
    let name = tokens.get(position);
    let mut found = Vec::new();
    for other in 0..tokens.tokens.len() {
        if other == position || tokens.get(other) != name || tokens.get(other + 1) != "(" {
            continue;
        }
        let Some(close) = tokens.closing(other + 1) else { continue };
        if !matches!(tokens.get(close + 1), "{" | "const") {
            continue;
        }
        let Some(parameters) = tokens.arguments(other + 1).filter(|list| list.len() == given.len()) else { continue };
        for (parameter, source) in parameters.iter().zip(&given) {
            if let Some(source) = source
                && parameter.len() > 1
            {
                found.push((plain(tokens.get(parameter.end - 1)).to_owned(), source.clone()));
            }
        }
    }
    found
}

/// Braces of the function around a token, as positions of `{` and `}`.
pub(super) fn function_body(tokens: &Tokens<'_>, position: usize) -> Option<Range<usize>> {
    let mut open = tokens.enclosing(position)?;
    while let Some(outer) = tokens.enclosing(open) {
        if matches!(tokens.scope_at(outer), Scope::Namespace | Scope::Class(_)) {
            break;
        }
        open = outer;
    }
    (tokens.scope_at(open) == Scope::Function).then_some(())?;
    Some(open..tokens.closing(open)?)
}

fn division(
    file: &str,
    tokens: &Tokens<'_>,
    body: &Range<usize>,
    quotient: &Quotient,
    others: &[usize],
) -> Option<Division> {
    let start = tokens.statement_start(quotient.of.start);
    let block = tokens.enclosing(start)?;
    let inside = block..tokens.closing(block)?;
    let cores = tokens.compact(quotient.cores.clone());
    let dominated = others.iter().all(|other| inside.contains(other));
    if !dominated || !is_statement(tokens, start, block) || in_loop(tokens, block, body.start) {
        return None;
    }
    if !may_be_lowered(tokens, body, quotient, start, &cores) {
        return None;
    }
    let text = tokens.text;
    let cores_text = &text[tokens.span(quotient.cores.clone())];
    let of = &text[tokens.span(quotient.of.clone())];
    let at = tokens.tokens.get(start)?.span.start;
    let line_start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let indent = &text[line_start..at];
    if !indent.trim().is_empty() || of.contains('\n') || super::statement::has_side_effects(of) {
        return None;
    }
    let rule = ShareRule {
        cores: cores_text.to_owned(),
        of: if is_product(tokens, quotient.of.clone()) { of.to_owned() } else { format!("({of})") },
        constant: constant_name(tokens, quotient.of.clone()),
        kind: compared_in(tokens, quotient).to_owned(),
        line: super::statement::line_around(text, at),
        declared: None,
    };
    let written = present(tokens, start, &rule);
    let place = above_comment(text, at);
    let span = written.as_ref().map_or(place, |(from, _)| *from)..place;
    let value = Some(Value::Int(written.map_or(0, |(_, least)| least)));
    let site = Site {
        file: file.to_owned(),
        text: text[span.clone()].to_owned(),
        line: line_of(text, span.start),
        span,
        value,
        form: SiteForm::Share(rule),
    };
    Some(Division { cores: cores_text.to_owned(), of: of.to_owned(), site, uses: Vec::new() })
}

/// Where a line is put in front of the statement at `at`: above the comment lines that stand right over it and describe it.
pub(super) fn above_comment(text: &str, at: usize) -> usize {
    let line_start = |place: usize| text[..place].rfind('\n').map_or(0, |newline| newline + 1);
    let indent = &text[line_start(at)..at];
    let mut place = at;
    while let Some(end) = line_start(place).checked_sub(1) {
        let start = line_start(end);
        if !text[start..end].strip_prefix(indent).is_some_and(|rest| rest.starts_with("//")) {
            break;
        }
        place = start + indent.len();
    }
    place
}

/// Start and least share of the rule in front of the statement at `start`.
fn present(tokens: &Tokens<'_>, start: usize, rule: &ShareRule) -> Option<(usize, i64)> {
    let limit = tokens.statement_start(start.checked_sub(1)?);
    let constant = tokens.statement_start(limit.checked_sub(1)?);
    let wanted = Tokens::of(&rule.limit(&rule.constant, 1)).compact_all();
    if tokens.compact(limit..start) != wanted || tokens.get(constant + 2) != rule.constant {
        return None;
    }
    let literal: Vec<&str> = (constant + 4..limit - 1).map(|at| tokens.get(at)).collect();
    let head = [tokens.get(constant), tokens.get(constant + 1), tokens.get(constant + 3)];
    let least = constant_expression(&literal)?;
    let from = rule.start_in(tokens.text, tokens.tokens[constant].span.start);
    (head == ["constexpr", rule.kind.as_str(), "="]).then_some((from, least))
}

/// Whether a statement begins at `start` that another may stand in front of.
fn is_statement(tokens: &Tokens<'_>, start: usize, block: usize) -> bool {
    let holds = block.checked_sub(1).map_or("", |before| tokens.get(before));
    let is_block = matches!(holds, ")" | "else" | "do" | "try" | "const" | "override" | "noexcept" | ";" | "{" | "}");
    let first = tokens.get(start);
    let dependent = matches!(first, "else" | "case" | "default" | "for" | "while" | "do" | "catch");
    let mut depth = 0i64;
    for at in block + 1..start {
        depth += i64::from(tokens.get(at) == "(") - i64::from(tokens.get(at) == ")");
    }
    is_block && !dependent && depth == 0
}

fn in_loop(tokens: &Tokens<'_>, block: usize, body: usize) -> bool {
    let mut open = block;
    while open != body {
        let before = open.saturating_sub(1);
        let word = if tokens.get(before) == ")" {
            opening(tokens, before).and_then(|head| head.checked_sub(1)).map_or("", |at| tokens.get(at))
        } else {
            tokens.get(before)
        };
        if matches!(word, "for" | "while" | "do") {
            return true;
        }
        let Some(outer) = tokens.enclosing(open) else { return true };
        open = outer;
    }
    false
}

/// Whether the number of cores is a variable of this call that nothing has been derived from before the division.
fn may_be_lowered(tokens: &Tokens<'_>, body: &Range<usize>, quotient: &Quotient, start: usize, cores: &str) -> bool {
    let path = quotient.cores.clone();
    let root = tokens.get(path.start);
    let name = tokens.get(path.end - 1);
    // What the platform said once for all calls is not for one call to change.
    if words(root).iter().any(|word| word == "compile") || root.starts_with("g_") {
        return false;
    }
    let head: Vec<&str> = (tokens.statement_start(body.start)..body.start).map(|at| tokens.get(at)).collect();
    let local = (body.start + 1..start).find(|at| {
        tokens.get(*at) == root && matches!(tokens.get(at + 1), "=" | ";" | "{" | "(") && declares(tokens, *at)
    });
    if let Some(declared) = local {
        if (tokens.statement_start(declared)..declared).any(|at| matches!(tokens.get(at), "const" | "constexpr")) {
            return false;
        }
    } else if let Some(parameter) = head.iter().position(|word| *word == root) {
        let from = head[..parameter].iter().rposition(|word| matches!(*word, "," | "(")).unwrap_or(0);
        let by_reference = head[from..parameter].contains(&"&");
        // A copy is worth changing where the function's result says how many cores are launched.
        let function = head.iter().position(|word| *word == "(").and_then(|open| head.get(open.checked_sub(1)?));
        let counted = function.is_some_and(|function| gives_count(tokens, function));
        if head[from..parameter].contains(&"const") || !(by_reference || counted) {
            return false;
        }
    } else {
        // A member, unless the function may not change it; not what stands outside all classes.
        let outside = (0..tokens.tokens.len())
            .any(|at| tokens.get(at) == root && tokens.scope(at) == Scope::Namespace && declares(tokens, at));
        if outside || head.last() == Some(&"const") {
            return false;
        }
    }
    (body.start + 1..start).filter(|at| tokens.get(*at) == name).all(|at| {
        let from = (at + 1).saturating_sub(path.len());
        if tokens.compact(from..at + 1) != cores {
            return true;
        }
        let statement = tokens.statement_start(at);
        let first = tokens.get(statement);
        let looked_at = first == "if" || first.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
        let assigned = (statement..=at)
            .any(|other| tokens.get(other) == name && (tokens.get(other + 1) == "=" || tokens.get(other + 1) == ";"));
        looked_at || assigned || first.starts_with("OP_") || first.starts_with("OPS_")
    })
}

/// Whether a number of cores is what a function returns.
fn gives_count(tokens: &Tokens<'_>, function: &str) -> bool {
    let names = core_counts(tokens);
    (2..tokens.tokens.len()).any(|at| {
        let assigned = tokens.get(at - 1) == "=" && names.contains(plain(tokens.get(at - 2)));
        let launched = tokens.get(at - 1) == "(" && SETS_CORES.contains(&tokens.get(at - 2));
        tokens.get(at) == function && (assigned || launched)
    })
}

/// Whether the name at `at` stands behind a type.
pub(super) fn declares(tokens: &Tokens<'_>, at: usize) -> bool {
    let before = at.wrapping_sub(1);
    let typed = tokens.kind(before) == Some(Kind::Identifier) && !matches!(tokens.get(before), "return" | "else")
        || matches!(tokens.get(before), ">" | "&" | "*");
    typed && tokens.statement_start(at) < at
}

/// Whether an expression can be added to as it stands.
fn is_product(tokens: &Tokens<'_>, range: Range<usize>) -> bool {
    let mut at = range.start;
    while at < range.end {
        if tokens.get(at) == "("
            && let Some(close) = tokens.closing(at)
        {
            at = close;
        } else if matches!(tokens.get(at), "+" | "-" | "?" | ":" | "&" | "|" | "^" | "<<" | "&&" | "||" | "==" | "!=") {
            return false;
        }
        at += 1;
    }
    true
}

/// A name for the least share, after what is divided.
fn constant_name(tokens: &Tokens<'_>, of: Range<usize>) -> String {
    let divisor = (of.start + 1..of.end).rev().find(|at| tokens.get(at - 1) == "/").map(|at| words(tokens.get(at)));
    if divisor.is_some_and(|divisor| divisor.iter().any(|word| word == "block")) {
        return "MIN_BLOCKS_PER_CORE".to_owned();
    }
    let named = of.rev().find(|at| {
        tokens.kind(*at) == Some(Kind::Identifier) && !matches!(tokens.get(*at), "static_cast" | "int64_t" | "uint64_t")
    });
    let parts = named.map(|at| words(tokens.get(at))).unwrap_or_default();
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|part| {
            part.len() > 1 && !matches!(part.as_str(), "get" | "total" | "input" | "all" | "align" | "aligned")
        })
        .map(|part| part.to_ascii_uppercase())
        .collect();
    if parts.is_empty() { "MIN_WORK_PER_CORE".to_owned() } else { format!("MIN_{}_PER_CORE", parts.join("_")) }
}

/// The type that both numbers fit: signed where one of them is.
fn compared_in(tokens: &Tokens<'_>, quotient: &Quotient) -> &'static str {
    let names: BTreeSet<&str> =
        quotient.of.clone().chain(quotient.cores.clone()).map(|position| tokens.get(position)).collect();
    let signed = (1..tokens.tokens.len()).any(|at| {
        names.contains(tokens.get(at))
            && tokens.kind(at) == Some(Kind::Identifier)
            && matches!(tokens.get(at - 1), "int" | "int32_t" | "int64_t" | "int16_t")
    });
    if signed { "int64_t" } else { "uint64_t" }
}
