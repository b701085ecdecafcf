//! The rule where the number of cores is a constant, as most first operators have it: `SetBlockDim(BLOCK_DIM)`, and work that is
//! divided by `BLOCK_DIM`. The rule declares a variable for the cores that take part, and what follows uses that.

use std::ops::Range;

use super::super::lexer::{Kind, Tokens};
use super::super::literal::constant_expression;
use super::super::meaning::SETS_CORES;
use super::super::{Site, SiteForm, line_of, words};
use super::{
    Declared, Division, Quotient, ShareRule, compared_in, constant_name, function_body, is_product, is_statement,
};
use space::Value;

/// The division by a constant that is launched in the same function, if all that uses the constant can use a variable instead.
pub(super) fn division(file: &str, tokens: &Tokens<'_>, body: &Range<usize>, quotient: &Quotient) -> Option<Division> {
    let constant = tokens.get(quotient.cores.start);
    let declaration = declaration(tokens, constant).filter(|_| quotient.cores.len() == 1)?;
    let uses = uses(tokens, constant, body, &declaration)?;
    let launched = |at: &usize| tokens.get(at - 1) == "(" && SETS_CORES.contains(&tokens.get(at - 2));
    if !uses.iter().any(|at| *at > 2 && launched(at) && tokens.get(at + 1) == ")") {
        return None;
    }
    let start = tokens.statement_start(*uses.first()?);
    if tokens.enclosing(start)? != body.start || !is_statement(tokens, start, body.start) {
        return None;
    }
    let work = work(tokens, quotient.of.clone(), constant);
    let divided_at = tokens.statement_start(quotient.of.start);
    if !is_known(tokens, work.clone(), body, start..divided_at) {
        return None;
    }
    let text = tokens.text;
    let at = tokens.tokens.get(start)?.span.start;
    let line_start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let of = &text[tokens.span(work.clone())];
    let unfit = of.contains('\n') || of.contains(constant) || super::super::statement::has_side_effects(of);
    if !text[line_start..at].trim().is_empty() || unfit {
        return None;
    }
    let rule = ShareRule {
        cores: constant.to_owned(),
        of: if is_product(tokens, work.clone()) { of.to_owned() } else { format!("({of})") },
        constant: constant_name(tokens, work.clone()),
        kind: compared_in(tokens, &Quotient { of: work, cores: quotient.cores.clone() }).to_owned(),
        line: super::super::statement::line_around(text, at),
        declared: Some(Declared { kind: declaration.kind, name: free_name(tokens, constant), floor: None }),
    };
    Some(found(file, tokens, rule, of, at..at, 0, &uses))
}

/// Rules that stand in a file already.
pub(super) fn ruled(file: &str, tokens: &Tokens<'_>) -> Vec<Division> {
    (0..tokens.tokens.len()).filter_map(|position| ruled_at(file, tokens, position)).collect()
}

/// Parts of a rule's expression: the number of cores, the least share, the work and the floor, as token ranges.
struct Written {
    cores: Range<usize>,
    least: usize,
    work: Range<usize>,
    floor: i64,
}

/// `std::max<kind>(1, std::min<kind>(CONSTANT, (of + LEAST - 1) / LEAST))` at `start`.
fn lowered(tokens: &Tokens<'_>, start: usize) -> Option<Written> {
    let head: Vec<&str> = (start..start + 4).map(|at| tokens.get(at)).collect();
    if head != ["std", "::", "max", "<"] {
        return None;
    }
    let open = tokens.closing_angle(start + 3)? + 1;
    let [floor, lowered] = <[Range<usize>; 2]>::try_from(tokens.arguments(open)?).ok()?;
    let inner = tokens.closing_angle(lowered.start + 3)? + 1;
    let [cores, quotient] = <[Range<usize>; 2]>::try_from(tokens.arguments(inner)?).ok()?;
    // ( of + LEAST - 1 ) / LEAST
    let work = quotient.start + 1..quotient.end.checked_sub(7)?;
    let floor = constant_expression(&floor.map(|at| tokens.get(at)).collect::<Vec<_>>())?;
    Some(Written { cores, least: quotient.end - 1, work, floor })
}

/// `of / LEAST < CONSTANT ? floor : CONSTANT` at `start`.
fn raised(tokens: &Tokens<'_>, start: usize, end: usize) -> Option<Written> {
    let asked = (start..end).find(|at| tokens.get(*at) == "?")?;
    let otherwise = (asked..end).find(|at| tokens.get(*at) == ":")?;
    let less = (start..asked).rev().find(|at| tokens.get(*at) == "<")?;
    let floor = constant_expression(&(asked + 1..otherwise).map(|at| tokens.get(at)).collect::<Vec<_>>())?;
    let least = less.checked_sub(1).filter(|least| *least > start + 1)?;
    Some(Written { cores: less + 1..asked, least, work: start..least - 1, floor })
}

/// `constexpr kind LEAST = n; const type name = ..;` with the second `const` at `position`.
fn ruled_at(file: &str, tokens: &Tokens<'_>, position: usize) -> Option<Division> {
    if tokens.get(position) != "const" || tokens.get(position + 3) != "=" {
        return None;
    }
    let body = function_body(tokens, position)?;
    let end = tokens.expression_end(position, false) + 1;
    let Written { cores, least, work, floor } =
        lowered(tokens, position + 4).or_else(|| raised(tokens, position + 4, end))?;
    let least = tokens.get(least);
    let constant = tokens.statement_start(position.checked_sub(1)?);
    let literal: Vec<&str> = (constant + 4..position.checked_sub(1)?).map(|at| tokens.get(at)).collect();
    let name = tokens.get(position + 2).to_owned();
    let rule = ShareRule {
        cores: tokens.text.get(tokens.span(cores))?.to_owned(),
        of: tokens.text.get(tokens.span(work))?.to_owned(),
        constant: least.to_owned(),
        kind: tokens.get(constant + 1).to_owned(),
        line: super::super::statement::line_around(tokens.text, tokens.tokens[position].span.start),
        declared: Some(Declared { kind: tokens.get(position + 1).to_owned(), name: name.clone(), floor: Some(floor) }),
    };
    let written = Tokens::of(&rule.limit(least, floor)).compact_all();
    if tokens.compact(position..end) != written
        || tokens.get(constant) != "constexpr"
        || tokens.get(constant + 2) != least
    {
        return None;
    }
    let value = constant_expression(&literal)?;
    let uses: Vec<usize> = (end..body.end).filter(|at| tokens.get(*at) == name).collect();
    let after = tokens.tokens.get(end)?.span.start;
    let of = without_parentheses(&rule.of).to_owned();
    let from = rule.start_in(tokens.text, tokens.tokens[constant].span.start);
    Some(found(file, tokens, rule, &of, from..after, value, &uses))
}

fn found(
    file: &str,
    tokens: &Tokens<'_>,
    rule: ShareRule,
    of: &str,
    span: Range<usize>,
    least: i64,
    uses: &[usize],
) -> Division {
    let site = |span: Range<usize>, value: Option<Value>, form: SiteForm| Site {
        file: file.to_owned(),
        text: tokens.text[span.clone()].to_owned(),
        line: line_of(tokens.text, span.start),
        span,
        value,
        form,
    };
    let variable = rule.declared.as_ref().map(|declared| declared.name.clone()).unwrap_or_default();
    let shared = || SiteForm::Shared { constant: rule.cores.clone(), variable: variable.clone() };
    let uses = uses.iter().map(|at| site(tokens.span(*at..at + 1), None, shared())).collect();
    let (cores, of) = (rule.cores.clone(), of.to_owned());
    Division { cores, of, site: site(span, Some(Value::Int(least)), SiteForm::Share(rule)), uses }
}

fn without_parentheses(of: &str) -> &str {
    let tokens = Tokens::of(of);
    let whole = tokens.get(0) == "(" && tokens.closing(0) == Some(tokens.tokens.len() - 1);
    if whole { of[1..of.len() - 1].trim() } else { of }
}

/// Where a constant is declared, and its type.
struct Declaration {
    at: usize,
    kind: String,
}

/// The only declaration of a constant in the file, as a macro or a variable.
fn declaration(tokens: &Tokens<'_>, constant: &str) -> Option<Declaration> {
    let declared = |at: &usize| {
        tokens.get(*at) == constant && tokens.get(at + 1) == "=" && {
            let start = tokens.statement_start(*at);
            (start..*at).any(|before| matches!(tokens.get(before), "const" | "constexpr"))
        }
    };
    let mut all = (1..tokens.tokens.len()).filter(declared);
    let at = all.next()?;
    let kind = tokens.get(at - 1);
    let whole = matches!(kind, "int" | "int32_t" | "int64_t" | "uint32_t" | "uint64_t" | "size_t");
    (all.next().is_none() && whole).then(|| Declaration { at, kind: kind.to_owned() })
}

/// Uses of the constant; `None` where one of them stands outside of the function or where only a constant may stand.
fn uses(tokens: &Tokens<'_>, constant: &str, body: &Range<usize>, declaration: &Declaration) -> Option<Vec<usize>> {
    let all: Vec<usize> =
        (0..tokens.tokens.len()).filter(|at| tokens.get(*at) == constant && *at != declaration.at).collect();
    let needs_constant = |at: usize| {
        let start = tokens.statement_start(at);
        let in_angles = tokens.get(at.wrapping_sub(1)) == "<" && tokens.closing_angle(at - 1).is_some();
        // What a condition asks of the constant, as that it divides the length, is what the operator takes.
        in_angles
            || tokens.get(start) == "if"
            || matches!(tokens.get(at.wrapping_sub(1)), "[" | "case")
            || (start..at).any(|before| matches!(tokens.get(before), "constexpr" | "static_assert" | "static"))
    };
    let fits = |at: &usize| {
        body.contains(at) && tokens.kind(*at) == Some(Kind::Identifier) && !needs_constant(*at) && *at > body.start
    };
    all.iter().all(fits).then_some(all)
}

/// What is divided, without `+ CONSTANT - 1`.
fn work(tokens: &Tokens<'_>, mut of: Range<usize>, constant: &str) -> Range<usize> {
    if tokens.get(of.start) == "(" && tokens.closing(of.start) == Some(of.end - 1) {
        of = of.start + 1..of.end - 1;
    }
    let tail: Vec<&str> = (of.end.saturating_sub(4)..of.end).map(|at| tokens.get(at)).collect();
    if of.len() > 4 && tail == ["+", constant, "-", "1"] { of.start..of.end - 4 } else { of }
}

/// Whether all names of an expression have their values in front of `between.start`, and keep them up to its end.
fn is_known(tokens: &Tokens<'_>, of: Range<usize>, body: &Range<usize>, between: Range<usize>) -> bool {
    let head = tokens.statement_start(body.start);
    of.clone().filter(|at| tokens.kind(*at) == Some(Kind::Identifier)).all(|at| {
        let name = tokens.get(at);
        let there = (head..between.start).any(|before| tokens.get(before) == name);
        let outside = (0..head).any(|before| tokens.get(before) == name);
        let changed = between.clone().any(|inside| {
            tokens.get(inside) == name
                && (matches!(tokens.get(inside + 1), "++" | "--")
                    || tokens.get(inside + 1).ends_with('=')
                        && !matches!(tokens.get(inside + 1), "==" | "<=" | ">=" | "!="))
        });
        (there || outside) && !changed
    })
}

/// The constant's words as a variable, or another name for cores where that is taken.
fn free_name(tokens: &Tokens<'_>, constant: &str) -> String {
    let camel: String = words(constant)
        .iter()
        .enumerate()
        .map(|(place, word)| {
            let mut letters = word.chars();
            let first = letters.next().map(|letter| if place > 0 { letter.to_ascii_uppercase() } else { letter });
            first.into_iter().chain(letters).collect::<String>()
        })
        .collect();
    let taken = |name: &str| (0..tokens.tokens.len()).any(|at| tokens.get(at) == name);
    let names = [camel, "coreNum".to_owned(), "usedCoreNum".to_owned(), "coresThatTakePart".to_owned()];
    names.into_iter().find(|name| !taken(name)).unwrap_or_default()
}
