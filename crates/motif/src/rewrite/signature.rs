//! Parameters and arguments of a kernel's functions, changed at every place at once.

use std::ops::Range;

use tree_sitter::Node;

use crate::context::Context;
use crate::rewrite::edits::edit;
use source::Edit;
use source::parse::{Call, Function, SyntaxFile};

/// The parameter list of a function with its parentheses.
pub(crate) fn list_of(file: &SyntaxFile, function: &Function) -> Option<Range<usize>> {
    let mut node = file.node_at(&function.body)?;
    while node.kind() != "function_definition" {
        node = node.parent()?;
    }
    parameters(node)
}

fn parameters(node: Node<'_>) -> Option<Range<usize>> {
    let mut declarator = node.child_by_field_name("declarator")?;
    while declarator.kind() != "function_declarator" {
        declarator = declarator.child_by_field_name("declarator").or_else(|| declarator.named_child(0))?;
    }
    declarator.child_by_field_name("parameters").map(|list| list.byte_range())
}

/// Parameter lists of declarations without a body in the class of a function.
pub(crate) fn declared<'a>(context: &'a Context, function: &Function) -> Vec<(&'a SyntaxFile, Range<usize>)> {
    let mut found = Vec::new();
    for file in context.forest.iter() {
        for class in file.classes().iter().filter(|class| Some(&class.name) == function.class.as_ref()) {
            let Some(body) = file.node_at(&class.body) else { continue };
            let mut cursor = body.walk();
            let members: Vec<Node<'_>> = body.named_children(&mut cursor).collect();
            for mut member in members {
                if member.kind() == "template_declaration" {
                    let Some(inner) = member.named_child(member.named_child_count().saturating_sub(1) as u32) else {
                        continue;
                    };
                    member = inner;
                }
                if !matches!(member.kind(), "field_declaration" | "declaration") {
                    continue;
                }
                let Some(list) = parameters(member) else { continue };
                let before = file.slice(&(member.start_byte()..list.start));
                if before.trim_end().rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next()
                    == Some(function.name.as_str())
                {
                    found.push((file, list));
                }
            }
        }
    }
    found
}

pub(crate) fn appended(file: &SyntaxFile, list: &Range<usize>, text: &str) -> Edit {
    let empty = file.slice(list).trim_start_matches('(').trim_end_matches(')').trim().is_empty();
    let text = if empty { text.to_owned() } else { format!(", {text}") };
    edit(file, list.end - 1..list.end - 1, text)
}

/// Edits that append a parameter to a function and an argument to its only call.
pub(crate) fn with_parameter(
    context: &Context,
    file: &SyntaxFile,
    function: &Function,
    parameter: &str,
    (caller, call): (&SyntaxFile, &Call),
    argument: &str,
) -> Result<Vec<Edit>, String> {
    let list =
        list_of(file, function).ok_or_else(|| format!("the parameters of {} are not understood", function.name))?;
    let mut edits = vec![appended(file, &list, parameter)];
    let declarations = declared(context, function);
    if declarations.len() > 1 {
        return Err(format!("{} is declared more than once", function.name));
    }
    edits.extend(declarations.iter().map(|(file, list)| appended(file, list, parameter)));
    edits.push(appended(caller, &(call.callee.end..call.span.end), argument));
    Ok(edits)
}

/// The edit that appends an argument to another call.
pub(crate) fn with_argument(caller: &SyntaxFile, call: &Call, argument: &str) -> Edit {
    appended(caller, &(call.callee.end..call.span.end), argument)
}

/// Whether a function is declared apart from its body too.
pub(crate) fn declared_apart(context: &Context, function: &Function) -> bool {
    !declared(context, function).is_empty()
}

/// Edits that take away what [`with_parameter`] appended; `None` if the last parameter is another one.
pub(crate) fn without_parameter(
    context: &Context,
    file: &SyntaxFile,
    function: &Function,
    parameter: &str,
    (caller, call): (&SyntaxFile, &Call),
    argument: &str,
) -> Option<Vec<Edit>> {
    let mut places = vec![(file, list_of(file, function)?, parameter)];
    places.extend(declared(context, function).into_iter().map(|(file, list)| (file, list, parameter)));
    places.push((caller, call.callee.end..call.span.end, argument));
    places
        .into_iter()
        .map(|(file, list, text)| {
            let inner = file.slice(&list).strip_suffix(')')?.strip_suffix(text)?;
            let kept = inner.strip_suffix(", ").or_else(|| (inner == "(").then_some(inner))?;
            Some(edit(file, list.start + kept.len()..list.end - 1, ""))
        })
        .collect()
}
