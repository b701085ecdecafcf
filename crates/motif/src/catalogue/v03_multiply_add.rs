//! V03: multiply and add of three tensors in one instruction.

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
pub struct MultiplyAdd;

const METADATA: Metadata = Metadata {
    id: Id::V03,
    title: "Mul and Add to MulAddDst or FusedMulAdd",
    family: Family::Vector,
    precondition: "Mul(t, a, b) then Add(y, y, t) with t not read afterwards, or Mul(d, d, a) then Add(d, d, b); same count, operands disjoint and unchanged, \
     half or float",
    left_to_verifier: "as V02",
    relieves: &[Counter::VecUs],
    prior_gain: 1.03,
    cost: "other rounding: multiply and add may be fused",
    tunables: "none",
    undoing: "split",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for MultiplyAdd {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        each_pair(context, "Mul", |pair| {
            let other = pair.other_operand()?;
            if pair.second.name != "Add" {
                return None;
            }
            let (target, temporary) = (pair.second.destination, pair.temporary());
            let accumulates = other == target && temporary != target;
            let in_place = temporary == target && pair.first.sources.contains(&target);
            if !accumulates && !in_place {
                return None;
            }
            let name = if accumulates { "MulAddDst" } else { "FusedMulAdd" };
            let edits = fused(pair, name, other);
            let candidate = Candidate::new(pair.file, &pair.second.call.span, format!("{name} into {target}"), edits)
                .with_rounding(true);
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
            for call in vector_calls(file, function, &tensors) {
                let (target, count) = (call.destination, call.count);
                let line_end = format!("\n{}", file.indentation(call.statement.start));
                let (multiply, add) = (renamed(file, &call, "Mul"), renamed(file, &call, "Add"));
                let candidates = match call.name {
                    "FusedMulAdd" => {
                        let text = format!(
                            "{multiply}({target}, {target}, {}, {count});{line_end}{add}({target}, {target}, {}, {count})",
                            call.sources[0], call.sources[1]
                        );
                        vec![Candidate::new(
                            file,
                            &call.call.span,
                            "FusedMulAdd to Mul and Add",
                            Ok(vec![edit(file, call.call.span.clone(), text)]),
                        )]
                    }
                    "MulAddDst" => with_each_scratch(file, &call, &tensors, "MulAddDst to Mul and Add", |scratch| {
                        format!(
                            "{multiply}({scratch}, {}, {}, {count});{line_end}{add}({target}, {target}, {scratch}, {count})",
                            call.sources[0], call.sources[1]
                        )
                    }),
                    _ => continue,
                };
                found.extend(candidates.into_iter().map(|candidate| candidate.with_rounding(true)));
            }
        }
        found
    }
}

fn fused(pair: &Pair<'_>, name: &str, other: &str) -> Result<Vec<Edit>, String> {
    pair.can_merge()?;
    let target = pair.second.destination;
    if is_float(pair.element()) == Some(false) {
        return Err(format!("{name} has no form for {}", pair.element()));
    }
    let operands: Vec<&str> = if name == "MulAddDst" {
        pair.first.sources.clone()
    } else {
        // d = d * a + b: the factor is what is not the destination.
        let factor = pair
            .first
            .sources
            .iter()
            .find(|source| **source != target)
            .ok_or("the destination is multiplied by itself")?;
        vec![factor, other]
    };
    for operand in &operands {
        if !pair.tensors.disjoint(operand, target) {
            return Err(format!("{operand} and {target} may share memory"));
        }
    }
    let same_type = operands
        .iter()
        .all(|operand| pair.tensors.tensors.get(*operand).is_some_and(|tensor| tensor.element == pair.element()));
    if !same_type {
        return Err("the operands have different element types".to_owned());
    }
    let call = format!(
        "{}({target}, {}, {}, {})",
        renamed(pair.file, pair.second, name),
        operands[0],
        operands[1],
        pair.second.count
    );
    Ok(vec![
        edit(pair.file, pair.file.removal_span(&pair.first.statement), ""),
        edit(pair.file, pair.second.call.span.clone(), call),
    ])
}
