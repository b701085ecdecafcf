//! What is not dealt to all cores where the rest is: the first core does it alone.

use crate::analysis::arms::{Chain, Decision, callers, chains, decision};
use crate::analysis::code::{scope, words};
use crate::analysis::entry::device_files;
use crate::context::Context;
use crate::rewrite::edits::edit;
use source::Edit;
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, SyntaxFile};

/// Why a function begins with a question.
pub(crate) const REST: &str = "// the first core does what is not dealt";

/// A function with its file.
pub(crate) type Place<'a> = (&'a SyntaxFile, &'a Function);

/// What is not dealt.
#[derive(Clone)]
pub(crate) struct Rest<'a> {
    pub(crate) function: Place<'a>,
    /// The call that is not, where it is not all of the function.
    pub(crate) call: Option<&'a Call>,
    pub(crate) reason: String,
}

/// How a launch gets to a function, or to a call in it.
pub(crate) fn ways<'a>(
    context: &'a Context,
    file: &'a SyntaxFile,
    function: &'a Function,
    call: Option<&'a Call>,
) -> Result<Vec<Chain<'a>>, String> {
    let mut found = chains(context, function)?;
    found.iter_mut().for_each(|chain| chain.extend(call.map(|call| (file, call))));
    Ok(found)
}

/// Edits that leave to the first core what is not dealt: in front of the decision for it, as no case may run what is behind that.
/// With each edit comes the condition for what is dealt, if it is one; there is one for every function that decides.
pub(crate) fn first_core_alone(
    context: &Context,
    dealt: &[Chain<'_>],
    rest: &[Rest<'_>],
) -> Result<Vec<(Edit, Option<String>)>, String> {
    let mut decisions: Vec<Decision<'_>> = Vec::new();
    for Rest { function: (file, function), call, reason } in rest {
        if call.is_none() && !may_run(context, function)? {
            continue;
        }
        for way in ways(context, file, function, *call)? {
            for dealt in dealt {
                let found = decision(&way, dealt)
                    .ok_or_else(|| format!("{reason}, and one launch may do that and what is dealt"))?;
                if !decisions.contains(&found) {
                    decisions.push(found);
                }
            }
        }
    }
    let mut edits = Vec::new();
    while let Some(first) = decisions.first().cloned() {
        let same = |other: &Decision<'_>| other.file == first.file && other.function == first.function;
        let (own, others) = decisions.into_iter().partition(same);
        decisions = others;
        edits.push(leaving(context, &own)?);
    }
    Ok(edits)
}

/// The edit by which all cores but the first leave a function that makes some decisions, where nothing of theirs comes.
fn leaving(context: &Context, decisions: &[Decision<'_>]) -> Result<(Edit, Option<String>), String> {
    let first = decisions.first().ok_or("nothing is decided")?;
    let earliest = decisions.iter().min_by_key(|decision| decision.statement.start).unwrap_or(first);
    let mut conditions: Vec<&str> = Vec::new();
    for decision in decisions {
        if decision.statement != earliest.statement && !decision.condition.starts_with("(TILING_KEY_IS(") {
            return Err("what is done is decided at several places".to_owned());
        }
        if !conditions.contains(&decision.condition.as_str()) {
            conditions.push(&decision.condition);
        }
    }
    let file = context.forest.get(earliest.file).ok_or("the decision is nowhere")?;
    let only = conditions.first().filter(|_| conditions.len() == 1).map(|one| (*one).to_owned());
    Ok((in_front(file, earliest, &conditions)?, only))
}

/// Lets all cores but the first leave a function where nothing of theirs comes.
fn in_front(file: &SyntaxFile, decision: &Decision<'_>, conditions: &[&str]) -> Result<Edit, String> {
    let mut functions = file.functions().iter();
    let function =
        functions.find(|function| function.span == decision.function).ok_or("the decision is in no function")?;
    let head = file.slice(&(function.span.start..function.body.start));
    let named =
        head.find(&format!("{}(", function.name)).ok_or_else(|| format!("{} is not understood", function.name))?;
    if !words(&head[..named]).contains(&"void") {
        return Err(format!("{} gives something back", function.name));
    }
    let line = file.line(decision.statement.start);
    let whole =
        file.whole_lines(&decision.statement).ok_or_else(|| format!("line {line}: the decision shares its lines"))?;
    let indentation = file.indentation(decision.statement.start);
    let api = scope(file);
    let own = match conditions {
        [one] if !one.contains("&&") => one.strip_prefix('!').map_or_else(|| format!("!{one}"), str::to_owned),
        [one] => format!("!({one})"),
        several => format!("!({})", several.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(" || ")),
    };
    let text = format!(
        "{indentation}if ({own} && {api}GetBlockIdx() != 0) {{\n{indentation}    return; {REST}\n{indentation}}}\n"
    );
    Ok(edit(file, whole.start..whole.start, text))
}

/// Whether anything names a function but its definition, and those of others of its name.
pub(crate) fn is_named(context: &Context, function: &Function) -> bool {
    mentions(context, function) > 0
}

/// Whether a function is called: by a call that is seen to mean it, or by anything that is no call of another of its name.
fn may_run(context: &Context, function: &Function) -> Result<bool, String> {
    let calls = device_files(context).flat_map(|file| file.calls_named(&function.name)).count();
    Ok(mentions(context, function) > calls || !callers(context, function)?.is_empty())
}

/// How often a function is named where none of its name is defined.
fn mentions(context: &Context, function: &Function) -> usize {
    let texts = device_files(context).map(SyntaxFile::text).chain(context.beside.iter().map(|(_, text)| text));
    let named: usize = texts.map(|text| occurrences(text, &function.name)).sum();
    let defined = device_files(context).flat_map(SyntaxFile::functions).filter(|other| other.name == function.name);
    named.saturating_sub(defined.count())
}

/// How often a text has a word, in directives too: a macro may call what no call names.
fn occurrences(text: &str, name: &str) -> usize {
    let of = |text: &str| words(text).into_iter().filter(|word| *word == name).count();
    let directives = pieces(text).into_iter().filter(|piece| piece.kind == PieceKind::Directive);
    of(text) + directives.map(|piece| of(text[piece.span].trim_start_matches('#'))).sum::<usize>()
}
