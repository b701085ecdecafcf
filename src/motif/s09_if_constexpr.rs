//! S09: a branch whose condition is known when the kernel is compiled is decided then.

use tree_sitter::Node;

use super::code::{edit, functions, words};
use super::context::{Candidate, Context, Counter, Family, Motif};
use crate::source::parse::{Function, SyntaxFile};

/// The motif.
pub struct ConstantBranch;

impl Motif for ConstantBranch {
    fn id(&self) -> &'static str {
        "S09"
    }
    fn title(&self) -> &'static str {
        "if constexpr for what is known at compile time"
    }
    fn family(&self) -> Family {
        Family::Scalar
    }
    fn precondition(&self) -> &'static str {
        "the condition of an if is made of constants, template parameters, sizes and types alone, none of which a variable hides, and is a comparison or a bool"
    }
    fn cost(&self) -> &'static str {
        "nothing"
    }
    fn undoing(&self) -> &'static str {
        "an if at run time"
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
            for node in branches(file, function) {
                let Some((word, condition, parameters)) = parts(file, node) else { continue };
                if condition.trim_start().starts_with("constexpr")
                    || !known(context, file, function, &condition, &parameters)
                {
                    continue;
                }
                let edits = Ok(vec![edit(file, word..word, " constexpr")]);
                found.push(Candidate::new(file, &node.byte_range(), format!("if constexpr {condition}"), edits));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, _) in functions(context) {
            for node in branches(file, function) {
                let text = file.slice(&node.byte_range());
                let Some(rest) = text.strip_prefix("if constexpr") else { continue };
                let start = node.start_byte() + "if".len();
                let condition = rest.split_once('{').map_or(rest, |(condition, _)| condition).trim();
                let edits = Ok(vec![edit(file, start..start + " constexpr".len(), "")]);
                found.push(
                    Candidate::new(file, &node.byte_range(), format!("if {condition} at run time"), edits)
                        .on_condition("both branches compile for every set of parameters"),
                );
            }
        }
        found
    }
}

/// All `if` statements of a function.
fn branches<'a>(file: &'a SyntaxFile, function: &Function) -> Vec<Node<'a>> {
    let (mut found, mut pending) = (Vec::new(), Vec::new());
    pending.extend(file.node_at(&function.body));
    while let Some(node) = pending.pop() {
        if node.kind() == "if_statement" && function.body.contains(&node.start_byte()) {
            found.push(node);
        }
        let mut cursor = node.walk();
        pending.extend(node.named_children(&mut cursor));
    }
    found
}

/// Name of a template parameter, and whether it is a bool.
type Parameter = (String, bool);

/// Where the word `if` ends, the condition as written, and the template parameters around.
fn parts(file: &SyntaxFile, node: Node<'_>) -> Option<(usize, String, Vec<Parameter>)> {
    let condition = node.child_by_field_name("condition")?;
    // With `constexpr` the condition starts behind it.
    if !file.slice(&(node.start_byte()..condition.start_byte())).trim_start_matches("if").trim().is_empty() {
        return None;
    }
    let mut parameters = Vec::new();
    let mut around = node.parent();
    while let Some(node) = around {
        if node.kind() == "template_declaration"
            && let Some(list) = node.child_by_field_name("parameters")
        {
            let text = file.slice(&list.byte_range());
            let inner = text.trim_start_matches('<').trim_end_matches('>');
            for parameter in inner.split(',') {
                let declared = parameter.split('=').next().unwrap_or_default();
                if let Some(name) = words(declared).last() {
                    parameters.push(((*name).to_owned(), words(declared).contains(&"bool")));
                }
            }
        }
        around = node.parent();
    }
    Some((node.start_byte() + "if".len(), file.slice(&condition.byte_range()).to_owned(), parameters))
}

/// Words that mean the same at compile time.
const FIXED: &[&str] = &[
    "sizeof",
    "std",
    "AscendC",
    "is_same",
    "is_same_v",
    "IsSameType",
    "value",
    "true",
    "false",
    "half",
    "float",
    "bfloat16_t",
    "bool",
    "int",
    "int8_t",
    "uint8_t",
    "int16_t",
    "uint16_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
    "static_cast",
];

fn known(context: &Context, file: &SyntaxFile, function: &Function, condition: &str, parameters: &[Parameter]) -> bool {
    let parameter = |word: &str| parameters.iter().find(|(name, _)| name == word);
    let constant = |word: &str| {
        let mut definitions = context.facts.definitions(word);
        definitions.next().is_some() && definitions.next().is_none()
    };
    let hidden = |word: &str| {
        let local =
            |local: &crate::source::parse::Local| local.name == word && function.body.contains(&local.span.start);
        let member = |class: &crate::source::parse::Class| {
            class.members.iter().any(|member| member.name == word && !member.type_text.contains("constexpr"))
        };
        function.parameters.iter().any(|parameter| parameter.name == word)
            || file.locals().iter().any(local)
            || context.forest.iter().flat_map(|file| file.classes()).any(member)
    };
    let named = words(condition);
    let all = named
        .iter()
        .all(|word| FIXED.contains(word) || ((parameter(word).is_some() || constant(word)) && !hidden(word)));
    let some = named.iter().any(|word| parameter(word).is_some() || constant(word));
    // Other conditions would be numbers, which a constant condition must not be.
    let inner = condition.trim().trim_start_matches('(').trim_end_matches(')').trim();
    let boolean = ["==", "!=", "<", ">", "!", "&&", "||"].iter().any(|operator| condition.contains(operator))
        || parameter(inner).is_some_and(|(_, bool)| *bool);
    let pure =
        !condition.contains("++") && !condition.contains("--") && !condition.contains('[') && !condition.contains('.');
    all && some && boolean && pure
}
