//! S12: the number of the core or of all cores is asked for before a loop, not in it.

use super::code::{block_of, edit, functions, words};
use super::context::{Candidate, Context, Counter, Family, Motif};
use crate::source::Edit;
use crate::source::parse::{Call, Function, Loop, SyntaxFile};

/// The motif.
pub struct CoreNumber;

impl Motif for CoreNumber {
    fn id(&self) -> &'static str {
        "S12"
    }
    fn title(&self) -> &'static str {
        "number of the core out of the loop"
    }
    fn family(&self) -> Family {
        Family::Scalar
    }
    fn precondition(&self) -> &'static str {
        "GetBlockIdx, GetBlockNum, GetSubBlockIdx or GetTaskRation without arguments in a loop: their values do not change"
    }
    fn cost(&self) -> &'static str {
        "nothing"
    }
    fn undoing(&self) -> &'static str {
        "asked for in every round"
    }
    fn seen_by_model(&self) -> bool {
        false
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::ScalarUs]
    }
    fn prior_gain(&self) -> f64 {
        1.01
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, _) in functions(context) {
            for (name, _) in QUERIES {
                for repetition in
                    file.loops().iter().filter(|repetition| function.body.contains(&repetition.span.start))
                {
                    let around = file.loops().iter().any(|other| {
                        other.span != repetition.span
                            && function.body.contains(&other.span.start)
                            && other.span.contains(&repetition.span.start)
                    });
                    let asked = asked_in(file, repetition, name);
                    if around || asked.is_empty() {
                        continue;
                    }
                    let edits = before(file, function, repetition, &asked);
                    found.push(Candidate::new(file, &repetition.span, format!("{name} before the loop"), edits));
                }
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, _) in functions(context) {
            for local in file.locals().iter().filter(|local| function.body.contains(&local.span.start) && local.alone) {
                let value = local.value.as_ref().map(|value| file.slice(value)).unwrap_or_default();
                let query = value.trim_end_matches("()").rsplit("::").next().unwrap_or_default();
                if !QUERIES.iter().any(|(name, variable)| *name == query && *variable == local.name) {
                    continue;
                }
                let next = file.loops().iter().find(|repetition| {
                    repetition.span.start >= local.span.end
                        && file.slice(&(local.span.end..repetition.span.start)).trim().is_empty()
                });
                let Some(repetition) = next else { continue };
                let text = file.slice(&repetition.span);
                let tokens = crate::source::parse::lex(text);
                let uses: Vec<Edit> = tokens
                    .into_iter()
                    .filter(|token| text[token.span.clone()] == local.name)
                    .map(|token| {
                        let start = repetition.span.start;
                        edit(file, start + token.span.start..start + token.span.end, value)
                    })
                    .collect();
                let all = words(file.slice(&function.body)).into_iter().filter(|word| *word == local.name).count();
                let edits = if all == uses.len() + 1 {
                    Ok(uses.into_iter().chain([edit(file, file.removal_span(&local.span), "")]).collect())
                } else {
                    Err(format!("{} is used outside the loop", local.name))
                };
                found.push(Candidate::new(file, &repetition.span, format!("{query} in the loop"), edits));
            }
        }
        found
    }
}

/// What may be asked for, and the variable that keeps the answer.
const QUERIES: &[(&str, &str)] = &[
    ("GetBlockIdx", "blockIndex"),
    ("GetBlockNum", "blockCount"),
    ("GetSubBlockIdx", "subBlockIndex"),
    ("GetTaskRation", "taskRatio"),
];

fn asked_in<'a>(file: &'a SyntaxFile, repetition: &Loop, name: &str) -> Vec<&'a Call> {
    // The first part of a loop's head runs once.
    let once = repetition.initializer.clone().unwrap_or(0..0);
    file.calls_in(repetition.span.clone())
        .filter(|call| {
            call.name == name && call.object.is_none() && call.arguments.is_empty() && !once.contains(&call.span.start)
        })
        .collect()
}

fn before(file: &SyntaxFile, function: &Function, repetition: &Loop, asked: &[&Call]) -> Result<Vec<Edit>, String> {
    let text = file.slice(&asked[0].span);
    let variable = QUERIES.iter().find(|(name, _)| *name == asked[0].name).map_or("", |(_, variable)| *variable);
    if words(file.slice(&function.span)).contains(&variable) {
        return Err(format!("the name {variable} is taken in the function"));
    }
    if asked.iter().any(|call| file.slice(&call.span) != text) {
        return Err(format!("{} is written in several ways", asked[0].name));
    }
    block_of(file, &repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
    let start = repetition.span.start;
    let line = file.text()[..start].rfind('\n').map_or(0, |end| end + 1);
    if !file.text()[line..start].trim().is_empty() {
        return Err("the loop shares its line".to_owned());
    }
    let declaration = format!("{}const auto {variable} = {text};\n", file.indentation(start));
    let mut edits = vec![edit(file, line..line, declaration)];
    edits.extend(asked.iter().map(|call| edit(file, call.span.clone(), variable)));
    Ok(edits)
}
