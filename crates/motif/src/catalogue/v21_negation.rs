//! V21: a negation that only serves another instruction goes into that instruction.

use crate::analysis::code::{functions, is_float, squash, vector_calls};
use crate::context::Context;
use crate::counter::Counter;
use crate::id::Id;
use crate::metadata::{Company, Family, Metadata};
use crate::motif::Motif;
use crate::rewrite::edits::{edit, with_each_scratch};
use crate::rewrite::pairs::{Pair, each_pair, renamed};
use crate::site::Candidate;
use source::Edit;

/// The motif.
pub struct Negation;

const METADATA: Metadata = Metadata {
    id: Id::V21,
    title: "negation inside another instruction",
    family: Family::Vector,
    precondition: "Muls by -1 whose result only one instruction reads: Add of it becomes Sub, Sub of it becomes Add, Max with the value itself becomes Abs",
    left_to_verifier: "the sign of a zero and NaN, where Abs replaces Max",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "nothing",
    tunables: "none",
    undoing: "a negation of its own",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for Negation {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        each_pair(context, "Muls", |pair| {
            let other = pair.other_operand()?;
            let negated = squash(pair.first.scalar?);
            let minus_one = ["-1", "-1.0", "-1.0f", "-1.f", "-1.0F"];
            let plain = negated.rsplit_once('(').map_or(negated.as_str(), |(_, inner)| inner.trim_end_matches(')'));
            if !minus_one.contains(&plain) {
                return None;
            }
            let source = pair.first.sources[0];
            let subtrahend = pair.second.sources.get(1) == Some(&pair.temporary());
            let (name, operands) = match pair.second.name {
                "Add" => ("Sub", format!("{other}, {source}")),
                "Sub" if subtrahend => ("Add", format!("{other}, {source}")),
                "Max" if other == source => ("Abs", source.to_owned()),
                _ => return None,
            };
            let note = format!("{name} for {}", pair.second.name);
            let candidate = Candidate::new(pair.file, &pair.second.call.span, note, merged(pair, name, &operands));
            Some(if name == "Abs" {
                candidate.on_condition("zeros may have either sign, and NaN is NaN")
            } else {
                candidate
            })
        })
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for call in vector_calls(file, function, &tensors) {
                let name = match call.name {
                    "Sub" => "Add",
                    "Add" => "Sub",
                    "Abs" => "Max",
                    _ => continue,
                };
                let element = tensors.tensors.get(call.destination).map_or("", |tensor| tensor.element.as_str());
                let one = if element == "float" { "-1.0f".to_owned() } else { format!("static_cast<{element}>(-1)") };
                let text = |scratch: &str| {
                    let (negate, operation) = (renamed(file, &call, "Muls"), renamed(file, &call, name));
                    format!(
                        "{negate}({scratch}, {}, {one}, {count});\n{}{operation}({}, {}, {scratch}, {count})",
                        call.sources.last().copied().unwrap_or_default(),
                        file.indentation(call.statement.start),
                        call.destination,
                        call.sources[0],
                        count = call.count,
                    )
                };
                let note = format!("{} with a negated operand", call.name);
                found.extend(with_each_scratch(file, &call, &tensors, &note, text));
            }
        }
        found
    }
}

fn merged(pair: &Pair<'_>, name: &str, operands: &str) -> Result<Vec<Edit>, String> {
    let element = pair.element();
    if is_float(element) != Some(true) && (name == "Abs" || element != "int32_t") {
        return Err(format!("{name} is not known to be the same for {element}"));
    }
    pair.can_merge()?;
    let call = format!(
        "{}({}, {operands}, {})",
        renamed(pair.file, pair.second, name),
        pair.second.destination,
        pair.second.count
    );
    Ok(vec![
        edit(pair.file, pair.file.removal_span(&pair.first.statement), ""),
        edit(pair.file, pair.second.call.span.clone(), call),
    ])
}
