//! Ways that a kernel may take: which calls lead to a function, and whether two functions never run in one launch.

use tree_sitter::Node;

use crate::analysis::code::{block_of, words};
use crate::analysis::entry::device_files;
use crate::analysis::loops::loops_around;
use crate::context::Context;
use source::parse::{Call, Function, SyntaxFile};

/// Calls from a kernel down to a function, the outermost first.
pub(crate) type Chain<'a> = Vec<(&'a SyntaxFile, &'a Call)>;

/// Calls are followed so deep.
const DEPTH_MAX: usize = 6;
/// A function is looked at with so many chains that lead to it.
const CHAINS_MAX: usize = 32;

/// Functions that call one, with the calls.
pub(crate) fn callers<'a>(
    context: &'a Context,
    function: &Function,
) -> Result<Vec<(&'a SyntaxFile, &'a Function, &'a Call)>, String> {
    let mut found = Vec::new();
    for file in device_files(context) {
        for call in file.calls().iter().filter(|call| call.name == function.name) {
            let Some(caller) = file.enclosing_function(call.span.start) else { continue };
            let is_it = match &function.class {
                None => call.is_own(),
                Some(class) if call.is_own() => caller.class.as_ref() == Some(class),
                Some(class) => is_object_of(file, caller, call, class)?,
            };
            if is_it {
                found.push((file, caller, call));
            }
        }
    }
    Ok(found)
}

/// Whether the object of a call is one of a class.
fn is_object_of(file: &SyntaxFile, caller: &Function, call: &Call, class: &str) -> Result<bool, String> {
    let object = call.object.as_deref().unwrap_or_default();
    // Of several of one name the last one whose block the call stands in.
    let reaches = |local: &&source::parse::Local| {
        local.name == object
            && caller.body.contains(&local.span.start)
            && local.span.end <= call.span.start
            && block_of(file, &local.span).is_none_or(|block| block.contains(&call.span.start))
    };
    let local = file.locals().iter().filter(reaches).max_by_key(|local| local.span.start);
    let parameter = || caller.parameters.iter().find(|parameter| parameter.name == object);
    let type_text = local.map(|local| &local.type_text).or_else(|| parameter().map(|parameter| &parameter.type_text));
    let is_of = type_text.map(|text| words(text)).filter(|words| !words.contains(&"auto"));
    if let Some(words) = is_of {
        return Ok(words.contains(&class));
    }
    let member = object.strip_prefix("this->").unwrap_or(object);
    let mut members = file
        .classes()
        .iter()
        .filter(|other| caller.class.as_ref() == Some(&other.name))
        .flat_map(|other| &other.members);
    match members.find(|other| other.name == member) {
        Some(member) => Ok(words(&member.type_text).contains(&class)),
        None => Err(format!("{}:{}: what {object} is, is not known", file.name(), file.line(call.span.start))),
    }
}

/// All chains of calls that lead to a function.
pub(crate) fn chains<'a>(context: &'a Context, function: &'a Function) -> Result<Vec<Chain<'a>>, String> {
    let mut found = Vec::new();
    let mut open: Vec<(&Function, Chain<'a>)> = vec![(function, Vec::new())];
    while let Some((callee, chain)) = open.pop() {
        let callers = callers(context, callee)?;
        if callers.is_empty() {
            if callee.class.is_some() {
                return Err(format!("nothing is seen to call {}", callee.name));
            }
            found.push(chain);
            continue;
        }
        for (file, caller, call) in callers {
            let mut longer = vec![(file, call)];
            longer.extend(chain.iter().copied());
            open.push((caller, longer));
        }
        if open.len() + found.len() > CHAINS_MAX || open.iter().any(|(_, chain)| chain.len() > DEPTH_MAX) {
            return Err(format!("too many ways lead to {}", function.name));
        }
    }
    Ok(found)
}

/// Proves that no launch calls a function more than once.
pub(crate) fn called_once(context: &Context, function: &Function) -> Result<(), String> {
    let ways = chains(context, function)?;
    for (at, way) in ways.iter().enumerate() {
        for (file, call) in way {
            let caller = file.enclosing_function(call.span.start);
            if caller.is_none_or(|caller| !loops_around(file, caller, call.span.start).is_empty()) {
                let line = file.line(call.span.start);
                return Err(format!("{}:{line}: {} is called in a loop", file.name(), call.name));
            }
        }
        if ways[at + 1..].iter().any(|other| decision(way, other).is_none()) {
            return Err(format!("one launch may call {} twice", function.name));
        }
    }
    Ok(())
}

/// Where a launch decides between two ways, and for which of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision<'a> {
    pub(crate) file: &'a str,
    /// Function that decides.
    pub(crate) function: std::ops::Range<usize>,
    /// The first statement of the decision: `if`, with all that follows an `else`.
    pub(crate) statement: std::ops::Range<usize>,
    /// What holds where the launch goes the second way, as an expression.
    pub(crate) condition: String,
}

/// The decision that keeps a launch from going both ways; `None` where there is none, or one for every round of a loop.
pub(crate) fn decision<'a>(left: &Chain<'a>, right: &Chain<'a>) -> Option<Decision<'a>> {
    let same = |(first, second): (&(&SyntaxFile, &Call), &(&SyntaxFile, &Call))| {
        first.0.name() == second.0.name() && first.1.span == second.1.span
    };
    let shared = left.iter().zip(right).take_while(|pair| same(*pair)).count();
    let ((file, first), (other, second)) = (*left.get(shared)?, *right.get(shared)?);
    let place = file.enclosing_function(first.span.start)?;
    if file.name() != other.name() || !place.body.contains(&second.span.start) {
        return None;
    }
    let mut node = file.node_at(&first.span)?;
    let holds = |node: Node<'_>, call: &Call| node.start_byte() <= call.span.start && call.span.end <= node.end_byte();
    while !holds(node, second) {
        node = node.parent()?;
    }
    let (statement, condition) = if node.kind() == "if_statement" {
        let arm = |field: &str, call: &Call| node.child_by_field_name(field).is_some_and(|arm| holds(arm, call));
        let apart = arm("consequence", first) && arm("alternative", second)
            || arm("consequence", second) && arm("alternative", first);
        let top = top_of(node);
        (top, condition_of(file, top, second).filter(|_| apart)?)
    } else {
        // Two questions about the tiling key, one behind the other.
        let child = |call: &Call| {
            let mut child = file.node_at(&call.span)?;
            while child.parent()? != node {
                child = child.parent()?;
            }
            Some(child)
        };
        let (left, right) = (child(first)?, child(second)?);
        let keys = (key_of(file, left, first)?, key_of(file, right, second)?);
        let statement = if left.start_byte() < right.start_byte() { left } else { right };
        (statement, condition_of(file, right, second).filter(|_| keys.0 != keys.1)?)
    };
    loops_around(file, place, statement.start_byte()).is_empty().then(|| Decision {
        file: file.name(),
        function: place.span.clone(),
        statement: statement.byte_range(),
        condition,
    })
}

/// The first `if` of those that follow each other by `else`.
fn top_of(mut node: Node<'_>) -> Node<'_> {
    while let Some(parent) = node.parent() {
        let above = if parent.kind() == "else_clause" { parent.parent() } else { Some(parent) };
        match above.filter(|above| {
            above.kind() == "if_statement"
                && above.child_by_field_name("alternative").is_some_and(|arm| arm.start_byte() <= node.start_byte())
        }) {
            Some(above) => node = above,
            None => break,
        }
    }
    node
}

/// What holds where an `if` with all that follows an `else` gets to a call.
fn condition_of(file: &SyntaxFile, mut node: Node<'_>, call: &Call) -> Option<String> {
    let holds = |node: Node<'_>| node.start_byte() <= call.span.start && call.span.end <= node.end_byte();
    let mut parts = Vec::new();
    loop {
        let condition = file.slice(&node.child_by_field_name("condition")?.byte_range());
        let asked = condition.trim();
        let calls = |call: &Call| condition_call(call);
        let inside = node.child_by_field_name("condition")?.byte_range();
        let is_pure = !asked.contains("++") && !asked.contains("--") && file.calls_in(inside.clone()).all(calls);
        if !asked.starts_with('(')
            || !is_pure
            || !crate::analysis::flow::changes::changed_names(file, &inside).is_empty()
        {
            return None;
        }
        if node.child_by_field_name("consequence").is_some_and(holds) {
            parts.push(asked.to_owned());
            return Some(parts.join(" && "));
        }
        parts.push(format!("!{asked}"));
        let otherwise = node.child_by_field_name("alternative").filter(|arm| holds(*arm))?;
        let next = if otherwise.kind() == "else_clause" { otherwise.named_child(0)? } else { otherwise };
        if next.kind() != "if_statement" {
            return Some(parts.join(" && "));
        }
        node = next;
    }
}

/// Whether a call in a condition asks for what stays the same.
fn condition_call(call: &Call) -> bool {
    matches!(call.name.as_str(), "TILING_KEY_IS" | "static_cast" | "sizeof")
}
/// The number that the tiling key has where a statement does a call.
fn key_of<'a>(file: &'a SyntaxFile, statement: Node<'a>, call: &Call) -> Option<&'a str> {
    let arm = statement.child_by_field_name("consequence").filter(|_| statement.kind() == "if_statement")?;
    let inside = arm.start_byte() <= call.span.start && call.span.end <= arm.end_byte();
    let condition = file.slice(&statement.child_by_field_name("condition")?.byte_range()).trim();
    let asked = condition.strip_prefix('(')?.strip_suffix(')')?.trim();
    let key = asked.strip_prefix("TILING_KEY_IS(")?.strip_suffix(')')?.trim();
    (inside && !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit())).then_some(key)
}
