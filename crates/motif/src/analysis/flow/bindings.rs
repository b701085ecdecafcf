//! Other names of variables in a function: references, pointers, and parameters that stand for what callers hand over.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::changes::{declared, is_reference, path};
use crate::context::Context;
use source::facts::{Callers, Kernel, element_type};
use source::parse::{Function, SyntaxFile};

/// Names that may stand for the same variables as some, each with the one of those that it was found by.
pub(crate) fn other_names<'a>(
    context: &Context,
    kernel: &Kernel,
    file: &SyntaxFile,
    function: &Function,
    names: impl Iterator<Item = &'a String>,
) -> BTreeMap<String, String> {
    let mut pairs = bound(file, function);
    pairs.extend(handed_over(context, kernel, function));
    let mut known: BTreeMap<String, String> = names.map(|name| (name.clone(), name.clone())).collect();
    let given = known.len();
    loop {
        let before = known.len();
        for (left, right) in &pairs {
            for (name, other) in [(left, right), (right, left)] {
                if let Some(origin) = known.get(name).cloned() {
                    known.entry(other.clone()).or_insert(origin);
                }
            }
        }
        if known.len() == before {
            break;
        }
    }
    if known.len() == given {
        return BTreeMap::new();
    }
    known.retain(|name, origin| name != origin);
    known
}

/// Pairs of names of which the first was made a reference or a pointer to the second.
fn bound(file: &SyntaxFile, function: &Function) -> Vec<(String, String)> {
    let text = |node: Node<'_>| file.slice(&node.byte_range()).to_owned();
    let mut found: Vec<(String, String)> = Vec::new();
    let mut pointers: BTreeSet<String> = BTreeSet::new();
    let mut open: Vec<Node<'_>> = file.node_at(&function.body).into_iter().collect();
    // In text order, so that a pointer is known before it is copied.
    open.reverse();
    while let Some(node) = open.pop() {
        let field = |name: &str| node.child_by_field_name(name);
        let parts = match node.kind() {
            "init_declarator" => field("declarator").zip(field("value")),
            "for_range_loop" => field("declarator").zip(field("right")),
            "assignment_expression" => field("left").zip(field("right")),
            _ => None,
        };
        if let Some((left, right)) = parts {
            let names = if node.kind() == "assignment_expression" { path(left) } else { declared(left) };
            let address = address_in(right);
            let copied = || right.kind() == "identifier" && pointers.contains(&text(right));
            let targets = match address {
                Some(address) => path(address),
                None if is_reference(left) || copied() => path(right),
                None => Vec::new(),
            };
            for name in &names {
                found.extend(targets.iter().map(|target| (text(*name), text(*target))));
            }
            if !targets.is_empty() && !is_reference(left) {
                pointers.extend(names.iter().map(|name| text(*name)));
            }
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        open.extend(children.into_iter().rev());
    }
    found
}

/// What an expression takes the address of.
fn address_in(node: Node<'_>) -> Option<Node<'_>> {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        match node.kind() {
            "pointer_expression" if node.child(0).is_some_and(|sign| sign.kind() == "&") => {
                return node.child_by_field_name("argument");
            }
            "call_expression" | "lambda_expression" | "subscript_expression" => {}
            _ => {
                let mut cursor = node.walk();
                open.extend(node.named_children(&mut cursor));
            }
        }
    }
    None
}

/// Parameters that are references or pointers to plain values, with what callers in the kernel hand over.
fn handed_over(context: &Context, kernel: &Kernel, function: &Function) -> Vec<(String, String)> {
    let is_plain = |type_text: &str| {
        let object =
            ["Tensor", "TQue", "TBuf", "TPipe", "__gm__", "GM_ADDR"].iter().any(|word| type_text.contains(word));
        type_text.contains(['&', '*']) && !object && element_type(type_text).is_none()
    };
    let parameters = function.parameters.iter().filter(|parameter| is_plain(&parameter.type_text));
    let callers = Callers::new(kernel, &context.forest);
    parameters
        .flat_map(|parameter| {
            let members = callers.members(function, &parameter.name).into_iter();
            members.filter(|member| !member.is_empty()).map(|member| (parameter.name.clone(), member))
        })
        .filter(|(parameter, member)| parameter != member)
        .collect()
}
