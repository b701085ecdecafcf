//! V33: two multiplications by scalars, or two additions of scalars, in one instruction.

use crate::analysis::code::{functions, is_float, is_name, vector_calls};
use crate::context::Context;
use crate::counter::Counter;
use crate::id::Id;
use crate::metadata::{Company, Family, Metadata};
use crate::motif::Motif;
use crate::rewrite::edits::edit;
use crate::rewrite::pairs::{Pair, each_pair, renamed};
use crate::site::Candidate;
use source::Edit;

/// The motif.
pub struct ScalarChain;

const METADATA: Metadata = Metadata {
    id: Id::V33,
    title: "two scalar instructions of a kind in one",
    family: Family::Vector,
    precondition: "Muls(t, x, a) then Muls(y, t, b), or Adds and Adds, with the same count, t not read afterwards, x unchanged in between, float",
    left_to_verifier: "nothing",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "other rounding: the scalars are combined first, which may overflow where the steps do not",
    tunables: "none",
    undoing: "split a scalar that is a product or a sum of two names, in place",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for ScalarChain {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (name, operator) in KINDS {
            found.extend(each_pair(context, name, |pair| {
                (pair.second.name == *name).then(|| {
                    let note = format!("one {name} into {}", pair.second.destination);
                    let edits = combined(pair, name, operator);
                    Candidate::new(pair.file, &pair.second.call.span, note, edits).with_rounding(true)
                })
            }));
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for call in vector_calls(file, function, &tensors) {
                let Some((_, operator)) = KINDS.iter().find(|(name, _)| *name == call.name) else { continue };
                let Some((first, second)) = call.scalar.and_then(|scalar| scalar.split_once(&format!(" {operator} ")))
                else {
                    continue;
                };
                let element = tensors.tensors.get(call.destination).map_or("", |tensor| tensor.element.as_str());
                if !is_name(first) || !is_name(second) || element != "float" {
                    continue;
                }
                let (callee, target, count) = (file.slice(&call.call.callee), call.destination, call.count);
                let text = format!(
                    "{callee}({target}, {}, {first}, {count});\n{}{callee}({target}, {target}, {second}, {count})",
                    call.sources[0],
                    file.indentation(call.statement.start)
                );
                let edits = Ok(vec![edit(file, call.call.span.clone(), text)]);
                let note = format!("two {} in place of one", call.name);
                found.push(Candidate::new(file, &call.call.span, note, edits).with_rounding(true));
            }
        }
        found
    }
}

/// Instructions and what combines their scalars.
const KINDS: &[(&str, &str)] = &[("Muls", "*"), ("Adds", "+")];

fn combined(pair: &Pair<'_>, name: &str, operator: &str) -> Result<Vec<Edit>, String> {
    let element = pair.element();
    if !matches!(element, "float" | "float32_t") {
        let kind = if is_float(element) == Some(true) { "short floats round each step" } else { "not a float" };
        return Err(format!("{kind} ({element})"));
    }
    pair.can_merge()?;
    let (first, second) = (pair.first.scalar.unwrap_or_default(), pair.second.scalar.unwrap_or_default());
    let whole = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if whole(first) && whole(second) {
        return Err("two integer constants are left to the writer".to_owned());
    }
    let part = |text: &str| if is_name(text) { text.to_owned() } else { format!("({text})") };
    let text = format!(
        "{}({}, {}, {} {operator} {}, {})",
        renamed(pair.file, pair.second, name),
        pair.second.destination,
        pair.first.sources[0],
        part(first),
        part(second),
        pair.second.count
    );
    Ok(vec![
        edit(pair.file, pair.file.removal_span(&pair.first.statement), ""),
        edit(pair.file, pair.second.call.span.clone(), text),
    ])
}
