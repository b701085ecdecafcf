//! V04: an addition or subtraction and the rectifier after it, in one instruction.

use crate::analysis::code::{functions, is_float, vector_calls};
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
pub struct FusedRelu;

const METADATA: Metadata = Metadata {
    id: Id::V04,
    title: "Add or Sub and Relu to AddRelu or SubRelu",
    family: Family::Vector,
    precondition: "Add(t, a, b) or Sub(t, a, b) then Relu(y, t) with the same count, t not read afterwards, a and b unchanged in between, half, float or int16_t",
    left_to_verifier: "element type, where it is a template parameter",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "nothing",
    tunables: "none",
    undoing: "split, in place",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for FusedRelu {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for name in ["Add", "Sub"] {
            found.extend(each_pair(context, name, |pair| {
                if pair.second.name != "Relu" {
                    return None;
                }
                let note = format!("{name}Relu into {}", pair.second.destination);
                let candidate = Candidate::new(pair.file, &pair.second.call.span, note, fused(pair, name));
                let known = is_float(pair.element()).is_some();
                Some(if known {
                    candidate
                } else {
                    candidate.on_condition("the element type is half, float or int16_t")
                })
            }));
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for call in vector_calls(file, function, &tensors) {
                let Some(name) = call.name.strip_suffix("Relu").filter(|name| matches!(*name, "Add" | "Sub")) else {
                    continue;
                };
                let (first, second) = (renamed(file, &call, name), renamed(file, &call, "Relu"));
                let (target, count) = (call.destination, call.count);
                let text = format!(
                    "{first}({target}, {}, {count});\n{}{second}({target}, {target}, {count})",
                    call.sources.join(", "),
                    file.indentation(call.statement.start)
                );
                let edits = Ok(vec![edit(file, call.call.span.clone(), text)]);
                found.push(Candidate::new(file, &call.call.span, format!("{name} and Relu"), edits));
            }
        }
        found
    }
}

fn fused(pair: &Pair<'_>, name: &str) -> Result<Vec<Edit>, String> {
    let element = pair.element();
    if is_float(element) == Some(false) && element != "int16_t" {
        return Err(format!("{name}Relu has no form for {element}"));
    }
    pair.can_merge()?;
    let text = format!(
        "{}({}, {}, {})",
        renamed(pair.file, pair.second, &format!("{name}Relu")),
        pair.second.destination,
        pair.first.sources.join(", "),
        pair.second.count
    );
    Ok(vec![
        edit(pair.file, pair.file.removal_span(&pair.first.statement), ""),
        edit(pair.file, pair.second.call.span.clone(), text),
    ])
}
