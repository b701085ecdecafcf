//! V06: a tensor filled with one value, used as an operand, becomes a scalar operand.

use crate::analysis::code::{functions, is_float, vector_calls};
use crate::context::Context;
use crate::counter::Counter;
use crate::id::Id;
use crate::metadata::{Combination, Company, Family, Metadata};
use crate::motif::Motif;
use crate::rewrite::edits::{edit, with_each_scratch};
use crate::rewrite::pairs::{Pair, each_pair, renamed};
use crate::site::Candidate;
use source::Edit;

/// The motif.
pub struct ScalarOperand;

const METADATA: Metadata = Metadata {
    id: Id::V06,
    title: "Duplicate and binary instruction to its scalar form",
    family: Family::Vector,
    precondition: "Duplicate(t, s) then Add, Sub (as subtrahend), Mul, Max or Min with t, same count, t not read afterwards; division is left alone because \
     multiplying by the reciprocal rounds differently",
    left_to_verifier: "nothing",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "nothing; frees the filled tensor",
    tunables: "may leave a buffer unused: opens larger tiles",
    undoing: "fill an unused scratch tensor",
    rounding_changes: false,
    replaces_constants: false,
    company: Company {
        leads: &[Combination { rank: 14, motifs: &[Id::V06, Id::D07, Id::D04, Id::V37, Id::D01] }],
        ..Company::ANY
    },
};

impl Motif for ScalarOperand {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        each_pair(context, "Duplicate", |pair| {
            let edits = scalar_form(pair).transpose()?;
            Some(Candidate::new(
                pair.file,
                &pair.second.call.span,
                format!("{} with a scalar", pair.second.name),
                edits,
            ))
        })
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for call in vector_calls(file, function, &tensors) {
                let name = match call.name {
                    "Adds" => "Add",
                    "Muls" => "Mul",
                    "Maxs" => "Max",
                    "Mins" => "Min",
                    _ => continue,
                };
                let indentation = file.indentation(call.statement.start);
                let text = |scratch: &str| {
                    let (fill, binary) = (renamed(file, &call, "Duplicate"), renamed(file, &call, name));
                    let (target, source, count) = (call.destination, call.sources[0], call.count);
                    let scalar = call.scalar.unwrap_or_default();
                    format!(
                        "{fill}({scratch}, {scalar}, {count});\n{indentation}{binary}({target}, {source}, {scratch}, {count})"
                    )
                };
                found.extend(with_each_scratch(
                    file,
                    &call,
                    &tensors,
                    &format!("{} with a filled tensor", call.name),
                    text,
                ));
            }
        }
        found
    }
}

/// `Ok(None)` where the pattern is not there at all.
fn scalar_form(pair: &Pair<'_>) -> Result<Option<Vec<Edit>>, String> {
    let Some(other) = pair.other_operand() else { return Ok(None) };
    let scalar = pair.first.scalar.unwrap_or_default();
    let subtrahend = pair.second.sources.get(1) == Some(&pair.temporary());
    let (name, operand) = match pair.second.name {
        "Add" => ("Adds", scalar.to_owned()),
        "Mul" => ("Muls", scalar.to_owned()),
        "Max" => ("Maxs", scalar.to_owned()),
        "Min" => ("Mins", scalar.to_owned()),
        "Sub" if subtrahend => {
            let element = pair.element();
            if is_float(element) != Some(true) {
                return Err(format!("a - s as a + (-s) is exact for half and float, not known for {element}"));
            }
            ("Adds", format!("static_cast<{element}>(-({scalar}))"))
        }
        "Sub" => return Err("s - a has no scalar form".to_owned()),
        "Div" => return Err("a / s as a * (1 / s) rounds differently".to_owned()),
        _ => return Ok(None),
    };
    pair.same_count()?;
    pair.inputs_unchanged()?;
    if pair.temporary() != pair.second.destination {
        pair.dead()?;
    }
    let text = format!(
        "{}({}, {other}, {operand}, {})",
        renamed(pair.file, pair.second, name),
        pair.second.destination,
        pair.second.count
    );
    Ok(Some(vec![
        edit(pair.file, pair.file.removal_span(&pair.first.statement), ""),
        edit(pair.file, pair.second.call.span.clone(), text),
    ]))
}
