//! V02: multiply by a scalar and add into the destination, in one instruction.

use crate::analysis::code::{functions, is_float, vector_calls};
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
pub struct Axpy;

const METADATA: Metadata = Metadata {
    id: Id::V02,
    title: "Muls and Add to Axpy",
    family: Family::Vector,
    precondition: "Muls(t, x, s) then Add(y, y, t) with the same count, t not read afterwards, x unchanged in between, half or float",
    left_to_verifier: "element type, where it is a template parameter",
    relieves: &[Counter::VecUs],
    prior_gain: 1.03,
    cost: "other rounding: multiply and add may be fused",
    tunables: "none",
    undoing: "split, through an unused scratch tensor",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for Axpy {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        each_pair(context, "Muls", |pair| {
            let other = pair.other_operand()?;
            if pair.second.name != "Add" || other != pair.second.destination {
                return None;
            }
            let note = format!("Axpy into {}", pair.second.destination);
            let candidate = Candidate::new(pair.file, &pair.second.call.span, note, fused(pair)).with_rounding(true);
            Some(if is_float(pair.element()).is_none() {
                candidate.on_condition("the element type is half or float")
            } else {
                candidate
            })
        })
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for call in vector_calls(file, function, &tensors).iter().filter(|call| call.name == "Axpy") {
                let (target, count, indentation) =
                    (call.destination, call.count, file.indentation(call.statement.start));
                let text = |scratch: &str| {
                    let (multiply, add) = (renamed(file, call, "Muls"), renamed(file, call, "Add"));
                    let (source, scalar) = (call.sources[0], call.scalar.unwrap_or_default());
                    format!(
                        "{multiply}({scratch}, {source}, {scalar}, {count});\n{indentation}{add}({target}, {target}, {scratch}, {count})"
                    )
                };
                let candidates = with_each_scratch(file, call, &tensors, "Axpy to Muls and Add", text);
                found.extend(candidates.into_iter().map(|candidate| candidate.with_rounding(true)));
            }
        }
        found
    }
}

fn fused(pair: &Pair<'_>) -> Result<Vec<Edit>, String> {
    pair.can_merge()?;
    let source = pair.first.sources[0];
    let target = pair.second.destination;
    if is_float(pair.element()) == Some(false) {
        return Err(format!("Axpy has no form for {}", pair.element()));
    }
    if !pair.tensors.disjoint(source, target) {
        return Err(format!("{source} and {target} may share memory"));
    }
    let call = format!(
        "{}({target}, {source}, {}, {})",
        renamed(pair.file, pair.second, "Axpy"),
        pair.first.scalar.unwrap_or_default(),
        pair.second.count
    );
    Ok(vec![
        edit(pair.file, pair.file.removal_span(&pair.first.statement), ""),
        edit(pair.file, pair.second.call.span.clone(), call),
    ])
}
