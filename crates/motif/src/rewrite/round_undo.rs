//! Several rows a round taken back to one, where the code has the form that the motif gives it.

use crate::analysis::code::words;
use crate::analysis::round_names::{BETWEEN, COUNT, ROW, ROWS};
use crate::context::Context;
use crate::rewrite::edits::edit;
use crate::rewrite::round_buffers::narrowed;
use crate::rewrite::signature::{declared, list_of};
use crate::site::Candidate;
use source::Edit;
use source::facts::{Callers, Kernel};
use source::lex::{PieceKind, pieces};

/// One candidate for every constant of the motif's name.
pub(crate) fn single_rows(context: &Context) -> Vec<Candidate> {
    let mut found = Vec::new();
    for kernel in context.facts.kernels.values() {
        for file in context.forest.iter() {
            for class in file.classes().iter().filter(|class| class.name == kernel.name) {
                for member in class.members.iter().filter(|member| member.name.starts_with(ROWS)) {
                    let edits = undone(context, kernel, &member.name).map(|mut edits| {
                        edits.push(edit(file, file.removal_span(&member.span), ""));
                        edits
                    });
                    found.push(Candidate::new(file, &member.span, "one row a round", edits));
                }
            }
        }
    }
    found
}

fn undone(context: &Context, kernel: &Kernel, constant: &str) -> Result<Vec<Edit>, String> {
    let mut edits = Vec::new();
    let mut mentions = 1;
    for init in kernel.init_buffers.iter().filter(|init| words(&init.size).contains(&constant)) {
        let file = context.forest.get(&init.statement.file).ok_or("the initialisation is not parsed")?;
        let call =
            file.calls_in(init.statement.span()).find(|call| call.name == "InitBuffer").ok_or("no InitBuffer")?;
        let span = call.arguments.last().ok_or("InitBuffer without a size")?.clone();
        let size = narrowed(file.slice(&span), constant);
        edits.push(edit(file, span, size.ok_or_else(|| format!("the size of {} is written otherwise", init.target))?));
        mentions += 1;
    }
    let (mut loops, mut stages) = (0, Vec::new());
    for (name, index) in &kernel.functions {
        let Some(file) = context.forest.get(name) else { continue };
        let Some(function) = file.functions().get(*index) else { continue };
        if function.parameters.last().is_some_and(|last| last.name == COUNT) {
            stages.push((file, function));
            continue;
        }
        for repetition in file.loops().iter().filter(|repetition| function.body.contains(&repetition.span.start)) {
            let Some(update) = &repetition.update else { continue };
            let Some((first, step)) = file.slice(update).split_once(" += ") else { continue };
            if step.trim() != constant {
                continue;
            }
            let text = file.slice(&repetition.span);
            // The constant stands in the update and twice in the number of rows.
            mentions += 3;
            loops += 1;
            let (text, names) = single(text)?;
            let counter = names.iter().find(|(renamed, _)| renamed == first).map_or(first, |(_, name)| name.as_str());
            let text = renamed(&text, &names).replacen(&format!("{counter} += {constant}"), &format!("{counter}++"), 1);
            edits.push(edit(file, repetition.span.clone(), text));
        }
    }
    for (file, function) in &stages {
        let (text, names) = single(file.slice(&function.span))?;
        edits.push(edit(file, function.span.clone(), renamed(&text, &names)));
        for (file, list) in declared(context, function) {
            let text = without_count(file.slice(&list));
            edits.push(edit(file, list, text));
        }
        list_of(file, function).ok_or("the parameters are not understood")?;
        for site in Callers::new(kernel, &context.forest).sites(function) {
            let in_stage = stages.iter().any(|(_, stage)| stage.span == site.function.span);
            let arguments = site.call.callee.end..site.call.span.end;
            let text = site.file.slice(&arguments);
            let alone = text.strip_suffix(", 1)").map(|rest| format!("{rest})"));
            match alone.or_else(|| (text == "(1)").then(|| "()".to_owned())) {
                Some(text) if !in_stage => edits.push(edit(site.file, arguments, text)),
                _ if text.contains(COUNT) => {}
                _ => return Err(format!("{} is called for other numbers of rows", function.name)),
            }
        }
    }
    let all: usize =
        context.tree.iter().map(|(_, text)| words(text).into_iter().filter(|word| *word == constant).count()).sum();
    if loops != 1 || all != mentions {
        return Err(format!("{constant} is used otherwise too"));
    }
    Ok(edits)
}

/// A part of the code for one row, and the names of a round with those of a row.
fn single(text: &str) -> Result<(String, Vec<(String, String)>), String> {
    let head = format!("for (uint32_t {ROW} = 0; {ROW} < {COUNT}; {ROW}++) {{");
    let mut names: Vec<(String, String)> = Vec::new();
    let mut kept = String::new();
    let mut open: Option<String> = None;
    for line in text.split_inclusive('\n') {
        let code = line.trim();
        match &open {
            None if code == head => open = Some(line[..line.len() - line.trim_start().len()].to_owned()),
            None if code.starts_with(&format!("const uint32_t {COUNT} = ")) => {}
            None => kept.push_str(line),
            Some(indentation) if line.trim_end() == format!("{indentation}}}") => open = None,
            Some(_) if code.ends_with(BETWEEN.trim()) => {}
            Some(_) => match row_of(code) {
                Some(pair) => {
                    if !names.contains(&pair) {
                        names.push(pair);
                    }
                }
                None => kept.push_str(line.strip_prefix("    ").unwrap_or(line)),
            },
        }
    }
    let text = without_count(&without_slices(&kept)?);
    match words(&text).into_iter().find(|word| *word == ROW || *word == COUNT) {
        Some(word) => Err(format!("{word} is used otherwise too")),
        None => Ok((text, names)),
    }
}

/// `firstX` and `x` of `const T x = firstX + roundRow..;`.
fn row_of(line: &str) -> Option<(String, String)> {
    let (declared, value) = line.strip_prefix("const ")?.split_once(" = ")?;
    let name = declared.rsplit_once(' ')?.1;
    let (first, rest) = value.split_once(" + ")?;
    let mut letters = name.chars();
    let wanted: String = letters.next()?.to_uppercase().collect();
    (first == format!("first{wanted}{}", letters.as_str()) && words(rest).contains(&ROW))
        .then(|| (first.to_owned(), name.to_owned()))
}

fn renamed(text: &str, names: &[(String, String)]) -> String {
    let (mut out, mut done) = (String::new(), 0);
    for token in pieces(text).into_iter().filter(|token| token.kind == PieceKind::Word) {
        if let Some((_, name)) = names.iter().find(|(first, _)| *first == text[token.span.clone()]) {
            out.push_str(&text[done..token.span.start]);
            out.push_str(name);
            done = token.span.end;
        }
    }
    out.push_str(&text[done..]);
    out
}

fn without_count(text: &str) -> String {
    text.replace(&format!(", uint32_t {COUNT})"), ")")
        .replace(&format!("(uint32_t {COUNT})"), "()")
        .replace(&format!(", {COUNT})"), ")")
        .replace(&format!("({COUNT})"), "()")
}

/// The text without the row's part of tensors: `x[roundRow * pitch + 3]` is `x[3]`.
fn without_slices(text: &str) -> Result<String, String> {
    let start = format!("{ROW} * ");
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(&start) {
        let open = rest[..at].chars().next_back();
        let (mut depth, mut end, mut stop) = (0, None, ' ');
        for (offset, character) in rest[at..].char_indices() {
            match character {
                '(' | '[' => depth += 1,
                ')' | ']' | ',' | '+' | ';' if depth == 0 => {
                    (end, stop) = (Some(at + offset), character);
                    break;
                }
                ')' | ']' => depth -= 1,
                _ => {}
            }
        }
        let end = end.filter(|_| matches!(open, Some('[' | '('))).ok_or("a row's part is written otherwise")?;
        match (open, stop) {
            (Some('['), ']') => {
                out.push_str(&rest[..at - 1]);
                rest = &rest[end + 1..];
            }
            (_, '+') => {
                out.push_str(&rest[..at]);
                rest = rest[end + 1..].trim_start();
            }
            (Some('('), ')' | ',') => {
                out.push_str(&rest[..at]);
                out.push('0');
                rest = &rest[end..];
            }
            _ => return Err("a row's part is written otherwise".to_owned()),
        }
    }
    out.push_str(rest);
    Ok(out)
}
