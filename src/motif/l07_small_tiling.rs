//! L07: fields of the tiling data take 32 bits where their values need no more.

use std::ops::Range;

use super::code::edit;
use super::context::{Candidate, Context, Counter, Family, Motif};
use crate::source::Edit;
use crate::source::facts::is_host;
use crate::source::parse::{Call, SyntaxFile, TokenKind, lex};

const WIDE: [(&str, &str); 2] = [("int64_t", "int32_t"), ("uint64_t", "uint32_t")];

/// The motif.
pub struct SmallTiling;

impl Motif for SmallTiling {
    fn id(&self) -> &'static str {
        "L07"
    }
    fn title(&self) -> &'static str {
        "tiling fields of 32 bits"
    }
    fn family(&self) -> Family {
        Family::Launch
    }
    fn precondition(&self) -> &'static str {
        "fields of 64 bits of a tiling structure (macros, or a structure with a name of tiling data); the name is a field once; the host only sets it; the kernel only copies \
         it to a variable of a named type or hands it to Init, so that nothing is computed with fewer bits than before"
    }
    fn cost(&self) -> &'static str {
        "larger values no longer fit"
    }
    fn left_to_verifier(&self) -> &'static str {
        "values fit 32 bits, where they are not known"
    }
    fn undoing(&self) -> &'static str {
        "64 bits"
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
        structures(context)
            .into_iter()
            .filter_map(|structure| structure.changed(context, &WIDE, "32 bits", true))
            .collect()
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let narrow = WIDE.map(|(wide, narrow)| (narrow, wide));
        structures(context)
            .into_iter()
            .filter_map(|structure| structure.changed(context, &narrow, "64 bits", false))
            .collect()
    }
}

/// A field: its type's place and its name.
struct Field {
    type_span: Range<usize>,
    type_text: String,
    name: String,
}

/// A structure of tiling data.
struct Structure<'a> {
    file: &'a SyntaxFile,
    name: String,
    span: Range<usize>,
    fields: Vec<Field>,
}

fn structures(context: &Context) -> Vec<Structure<'_>> {
    let mut found = Vec::new();
    for file in context.forest.iter() {
        found.extend(by_macros(file));
        for class in file.classes().iter().filter(|class| class.name.contains("Tiling") && class.bases.is_empty()) {
            let fields: Vec<Field> = class
                .members
                .iter()
                .filter_map(|member| {
                    let text = file.slice(&member.span);
                    let start = text.find(member.type_text.as_str())?;
                    let declared = &text[start + member.type_text.len()..];
                    // An array is a field too, but not one of a single value.
                    let single = !declared.contains('[') && !declared.contains(',');
                    single.then(|| Field {
                        type_span: member.span.start + start..member.span.start + start + member.type_text.len(),
                        type_text: member.type_text.clone(),
                        name: member.name.clone(),
                    })
                })
                .collect();
            if !fields.is_empty() {
                found.push(Structure { file, name: class.name.clone(), span: class.span.clone(), fields });
            }
        }
    }
    found
}

/// Structures between `BEGIN_TILING_DATA_DEF` and `END_TILING_DATA_DEF`.
fn by_macros(file: &SyntaxFile) -> Vec<Structure<'_>> {
    let tokens: Vec<_> = lex(file.text()).into_iter().filter(|token| token.kind != TokenKind::Comment).collect();
    let text = |index: usize| tokens.get(index).map_or("", |token| file.slice(&token.span));
    let mut found: Vec<Structure<'_>> = Vec::new();
    let mut open = false;
    for index in 0..tokens.len() {
        match text(index) {
            "BEGIN_TILING_DATA_DEF" => {
                open = true;
                found.push(Structure {
                    file,
                    name: text(index + 2).to_owned(),
                    span: tokens[index].span.clone(),
                    fields: Vec::new(),
                });
            }
            "END_TILING_DATA_DEF" => open = false,
            "TILING_DATA_FIELD_DEF" if open && text(index + 1) == "(" && text(index + 3) == "," => {
                if let Some(structure) = found.last_mut() {
                    structure.fields.push(Field {
                        type_span: tokens[index + 2].span.clone(),
                        type_text: text(index + 2).to_owned(),
                        name: text(index + 4).to_owned(),
                    });
                }
            }
            _ => {}
        }
    }
    found
}

impl Structure<'_> {
    /// All fields of certain types with the other type, if any may change.
    fn changed(&self, context: &Context, types: &[(&str, &str)], note: &str, narrows: bool) -> Option<Candidate> {
        let (mut edits, mut names, mut refused) = (Vec::new(), Vec::new(), None);
        let mut unknown = Vec::new();
        for field in &self.fields {
            let Some((_, to)) = types.iter().find(|(from, _)| *from == field.type_text) else { continue };
            match usable(context, &field.name).and_then(|()| fits(context, &field.name, to, narrows)) {
                Ok(known) => {
                    edits.push(edit(self.file, field.type_span.clone(), *to));
                    names.push(field.name.as_str());
                    unknown.extend((!known).then_some(field.name.as_str()));
                }
                Err(reason) => {
                    refused.get_or_insert(reason);
                }
            }
        }
        if edits.is_empty() && refused.is_none() {
            return None;
        }
        let count = names.len();
        let result: Result<Vec<Edit>, String> =
            if edits.is_empty() { Err(refused.unwrap_or_default()) } else { Ok(edits) };
        let note = format!("{}: {note} for {count} fields", self.name);
        let mut candidate = Candidate::new(self.file, &self.span, note, result);
        if narrows && !unknown.is_empty() {
            candidate = candidate.on_condition(format!("{} fit 32 bits in every case", unknown.join(", ")));
        }
        Some(candidate)
    }
}

/// Whether all values of the field are known to fit; an error if one does not.
fn fits(context: &Context, name: &str, to: &str, narrows: bool) -> Result<bool, String> {
    let Some(values) = context.known.values.get(name).filter(|_| narrows) else { return Ok(false) };
    let range = if to == "int32_t" { i64::from(i32::MIN)..=i64::from(i32::MAX) } else { 0..=i64::from(u32::MAX) };
    match values.iter().find(|value| !range.contains(value)) {
        Some(value) => Err(format!("{name} is {value} in a case")),
        None => Ok(!values.is_empty()),
    }
}

/// Proves that nothing depends on the field's width.
fn usable(context: &Context, name: &str) -> Result<(), String> {
    let all = structures(context);
    if all.iter().flat_map(|structure| &structure.fields).filter(|field| field.name == name).count() > 1 {
        return Err(format!("{name} is a field of several structures"));
    }
    for file in context.forest.iter() {
        if file.text().contains(&format!("get_{name}")) {
            return Err(format!("{}: get_{name} is used", file.name()));
        }
        let tokens: Vec<_> = lex(file.text()).into_iter().filter(|token| token.kind != TokenKind::Comment).collect();
        let text = |index: usize| tokens.get(index).map_or("", |token| file.slice(&token.span));
        for (index, token) in tokens.iter().enumerate() {
            if token.kind == TokenKind::Directive && lex(text(index).trim_start_matches('#')).len() > 1 {
                let words = super::code::words(text(index).trim_start_matches('#'));
                if words.contains(&name) {
                    return Err(format!("{}: a directive mentions {name}", file.name()));
                }
            }
            let member = index > 0 && matches!(text(index - 1), "." | ">") && text(index) == name;
            if !member || token.kind != TokenKind::Word {
                continue;
            }
            // `this->name` and `op.name` of another class read something else of the same name.
            let arrow = text(index - 1) == ">";
            let object = index.checked_sub(if arrow { 3 } else { 2 }).map_or("", text);
            if object == "this" {
                continue;
            }
            let at = format!("{}:{}", file.name(), file.line(token.span.start));
            let set = text(index + 1) == "=" && text(index + 2) != "=";
            if is_host(file.name()) {
                if set {
                    continue;
                }
                return Err(format!("{at}: the host reads {name}"));
            }
            copied(file, &token.span).map_err(|reason| format!("{at}: {reason}"))?;
        }
    }
    Ok(())
}

/// Proves that a mention only copies the field to something with a type of its own.
fn copied(file: &SyntaxFile, span: &Range<usize>) -> Result<(), String> {
    let mut node = file.node_at(span).ok_or("a mention is not understood")?;
    while node.parent().is_some_and(|parent| parent.kind() == "field_expression") {
        node = node.parent().ok_or("a mention is not understood")?;
    }
    let parent = node.parent().ok_or("a mention is not understood")?;
    let whole = node.byte_range();
    match parent.kind() {
        "assignment_expression"
            if parent.child_by_field_name("right").is_some_and(|right| right.byte_range() == whole) =>
        {
            let operator = parent.child_by_field_name("operator").map(|operator| operator.byte_range());
            if operator.is_some_and(|operator| file.slice(&operator) == "=") {
                Ok(())
            } else {
                Err("the field is computed with".to_owned())
            }
        }
        "init_declarator" => {
            let local = file.locals().iter().find(|local| local.value.as_ref() == Some(&whole));
            match local {
                Some(local) if !local.type_text.contains("auto") && !local.type_text.contains('&') => Ok(()),
                _ => Err("a variable takes the field's type".to_owned()),
            }
        }
        "argument_list" => {
            let call = file.calls().iter().find(|call: &&Call| call.arguments.contains(&whole));
            match call {
                Some(call) if call.name == "Init" && call.object.is_some() => Ok(()),
                _ => Err("the field goes to a call".to_owned()),
            }
        }
        _ => Err("the field is computed with".to_owned()),
    }
}
