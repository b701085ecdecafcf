//! S08: a member that a loop reads again and again is read once into a local variable.

use super::code::{assigns, block_of, edit, functions, words};
use super::context::{Candidate, Context, Counter, Family, Motif};
use crate::source::Edit;
use crate::source::facts::Kernel;
use crate::source::parse::{Function, Loop, Member, SyntaxFile, TokenKind, lex};

/// The motif.
pub struct LocalMember;

impl Motif for LocalMember {
    fn id(&self) -> &'static str {
        "S08"
    }
    fn title(&self) -> &'static str {
        "members of a hot loop in local variables"
    }
    fn family(&self) -> Family {
        Family::Scalar
    }
    fn precondition(&self) -> &'static str {
        "an outermost loop that reads a member of an integer or floating-point type at least twice; only functions that make the buffers, or constructors, \
         set the member; its address is not taken"
    }
    fn cost(&self) -> &'static str {
        "nothing"
    }
    fn undoing(&self) -> &'static str {
        "the member in the loop"
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
        for (file, function, kernel, _) in functions(context) {
            for repetition in outermost(file, function) {
                for member in members(context, kernel) {
                    let uses = uses_of(file, repetition, &member.name);
                    if uses.len() < 2 || !settled(context, kernel, function, &member.name) {
                        continue;
                    }
                    let edits = local(file, function, repetition, member, &uses);
                    let note = format!("{} in a local variable", member.name);
                    found.push(Candidate::new(file, &repetition.span, note, edits));
                }
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, _) in functions(context) {
            for variable in
                file.locals().iter().filter(|local| function.body.contains(&local.span.start) && local.alone)
            {
                let value = variable.value.as_ref().map(|value| file.slice(value)).unwrap_or_default();
                let name = value.strip_prefix("this->").unwrap_or(value);
                if variable.name != format!("{}{SUFFIX}", name.trim_end_matches('_'))
                    || !members(context, kernel).any(|member| member.name == name)
                {
                    continue;
                }
                let Some(repetition) = outermost(file, function).into_iter().find(|repetition| {
                    repetition.span.start >= variable.span.end
                        && file.slice(&(variable.span.end..repetition.span.start)).trim().is_empty()
                }) else {
                    continue;
                };
                let uses = uses_of(file, repetition, &variable.name);
                let all = words(file.slice(&function.body)).into_iter().filter(|word| *word == variable.name).count();
                let edits = if all == uses.len() + 1 {
                    let back = uses.iter().map(|(span, _)| edit(file, span.clone(), value));
                    Ok(back.chain([edit(file, file.removal_span(&variable.span), "")]).collect())
                } else {
                    Err(format!("{} is used outside the loop", variable.name))
                };
                found.push(Candidate::new(file, &repetition.span, format!("{name} from the object"), edits));
            }
        }
        found
    }
}

/// What the local variable's name has more.
const SUFFIX: &str = "Local";

/// Loops of a function that stand in no other loop.
fn outermost<'a>(file: &'a SyntaxFile, function: &Function) -> Vec<&'a Loop> {
    let inside = |span: &std::ops::Range<usize>| function.body.contains(&span.start);
    let loops = file.loops().iter().filter(|repetition| inside(&repetition.span));
    loops
        .filter(|repetition| {
            let around = |other: &Loop| {
                other.span != repetition.span
                    && inside(&other.span)
                    && other.span.start <= repetition.span.start
                    && repetition.span.end <= other.span.end
            };
            !file.loops().iter().any(around)
        })
        .collect()
}

/// Members of plain number types.
fn members<'a>(context: &'a Context, kernel: &'a Kernel) -> impl Iterator<Item = &'a Member> {
    let classes = context
        .forest
        .iter()
        .filter(|file| !crate::source::facts::is_host(file.name()))
        .flat_map(|file| file.classes());
    let number = |type_text: &str| {
        matches!(
            type_text.trim(),
            "int32_t"
                | "uint32_t"
                | "int64_t"
                | "uint64_t"
                | "int16_t"
                | "uint16_t"
                | "uint8_t"
                | "int8_t"
                | "int"
                | "size_t"
                | "float"
                | "bool"
        )
    };
    classes
        .filter(|class| class.name == kernel.name)
        .flat_map(|class| &class.members)
        .filter(move |member| number(&member.type_text))
}

/// Places in a loop that name something, with `this->` before it if it is there.
fn uses_of(file: &SyntaxFile, repetition: &Loop, name: &str) -> Vec<(std::ops::Range<usize>, bool)> {
    let text = file.slice(&repetition.span);
    let tokens: Vec<_> = lex(text).into_iter().filter(|token| token.kind != TokenKind::Comment).collect();
    let word = |index: usize| tokens.get(index).map_or("", |token| &text[token.span.clone()]);
    let mut found = Vec::new();
    for index in (0..tokens.len()).filter(|index| word(*index) == name) {
        let back = |count: usize| index.checked_sub(count).map_or("", word);
        let own = (back(3), back(2), back(1)) == ("this", "-", ">");
        if !own && matches!(back(1), "." | ">" | ":") && (back(1) == "." || matches!(back(2), "-" | ":")) {
            continue;
        }
        let start = if own { tokens[index - 3].span.start } else { tokens[index].span.start };
        let offset = repetition.span.start;
        found.push((offset + start..offset + tokens[index].span.end, own));
    }
    found
}

/// Whether the member is set in the initialisation alone.
fn settled(context: &Context, kernel: &Kernel, function: &Function, name: &str) -> bool {
    let known = |(file, index): &(String, usize)| {
        Some((context.forest.get(file)?, context.forest.get(file)?.functions().get(*index)?))
    };
    !kernel.has_base()
        && kernel.functions.iter().filter_map(known).all(|(file, other)| {
            let makes = file.calls_in(other.body.clone()).any(|call| call.name == "InitBuffer");
            let starts = makes || other.name == kernel.name || other.name.starts_with("Init");
            let text = file.slice(&other.body);
            let own = other.span == function.span && other.name == function.name;
            // What sets it must not run again, from a loop for instance.
            let again = || kernel.calls(&context.forest).any(|(_, _, call)| call.name == other.name);
            (starts && !own && !(assigns(text, name) && again()))
                || !(assigns(text, name)
                    || text.contains(&format!("&{name}"))
                    || text.contains(&format!("&this->{name}")))
        })
}

fn local(
    file: &SyntaxFile,
    function: &Function,
    repetition: &Loop,
    member: &Member,
    uses: &[(std::ops::Range<usize>, bool)],
) -> Result<Vec<Edit>, String> {
    let name = &member.name;
    let wanted = format!("{}{SUFFIX}", name.trim_end_matches('_'));
    if words(file.text()).contains(&wanted.as_str()) {
        return Err(format!("the name {wanted} is taken"));
    }
    let hidden = file.locals().iter().any(|local| local.name == *name && function.body.contains(&local.span.start))
        || function.parameters.iter().any(|parameter| parameter.name == *name);
    if hidden && uses.iter().any(|(_, own)| !own) {
        return Err(format!("a variable hides {name}"));
    }
    if file.slice(&repetition.span).lines().any(|line| line.trim_start().starts_with('#')) {
        return Err("a directive stands in the loop".to_owned());
    }
    let text = file.slice(&uses[0].0);
    if uses.iter().any(|(span, _)| file.slice(span) != text) {
        return Err(format!("{name} is written in several ways"));
    }
    block_of(file, &repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
    let start = repetition.span.start;
    let line = file.text()[..start].rfind('\n').map_or(0, |end| end + 1);
    if !file.text()[line..start].trim().is_empty() {
        return Err("the loop shares its line".to_owned());
    }
    let declaration = format!("{}const {} {wanted} = {text};\n", file.indentation(start), member.type_text.trim());
    let mut edits = vec![edit(file, line..line, declaration)];
    edits.extend(uses.iter().map(|(span, _)| edit(file, span.clone(), wanted.as_str())));
    Ok(edits)
}
