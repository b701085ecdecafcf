//! V28: a division by one value, held in a filled tensor, becomes a multiplication by its reciprocal.

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
pub struct ScalarReciprocal;

const METADATA: Metadata = Metadata {
    id: Id::V28,
    title: "division by a filled tensor to Muls with the reciprocal",
    family: Family::Vector,
    precondition: "Duplicate(t, s) then Div(y, x, t), same count, t not read afterwards, float",
    left_to_verifier: "nothing",
    relieves: &[Counter::VecUs],
    prior_gain: 1.1,
    cost: "other rounding: the reciprocal is rounded, then the product; a divisor below the normal range has no finite reciprocal",
    tunables: "may leave a buffer unused: opens larger tiles",
    undoing: "fill an unused scratch tensor and divide",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for ScalarReciprocal {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        each_pair(context, "Duplicate", |pair| {
            let other = pair.other_operand()?;
            let divides = pair.second.name == "Div" && pair.second.sources.get(1) == Some(&pair.temporary());
            divides.then(|| {
                let note = format!("multiply {other} by a reciprocal");
                Candidate::new(pair.file, &pair.second.call.span, note, multiplied(pair, other)).with_rounding(true)
            })
        })
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            for call in vector_calls(file, function, &tensors).iter().filter(|call| call.name == "Muls") {
                let Some(divisor) = call.scalar.and_then(reciprocal_of) else { continue };
                let indentation = file.indentation(call.statement.start);
                let text = |scratch: &str| {
                    let (fill, divide) = (renamed(file, call, "Duplicate"), renamed(file, call, "Div"));
                    let (target, source, count) = (call.destination, call.sources[0], call.count);
                    format!(
                        "{fill}({scratch}, {divisor}, {count});\n{indentation}{divide}({target}, {source}, {scratch}, {count})"
                    )
                };
                let candidates = with_each_scratch(file, call, &tensors, "Div by a filled tensor", text);
                found.extend(candidates.into_iter().map(|candidate| candidate.with_rounding(true)));
            }
        }
        found
    }
}

/// `s` of `1.0f / s` and `1.0f / (s)`.
fn reciprocal_of(scalar: &str) -> Option<&str> {
    let rest = scalar.strip_prefix("1.0f")?.trim_start().strip_prefix('/')?.trim();
    let name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
    };
    let inner = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    match inner {
        Some(inner) if !inner.contains(['(', ')']) => Some(inner),
        _ => name(rest).then_some(rest),
    }
}

fn multiplied(pair: &Pair<'_>, other: &str) -> Result<Vec<Edit>, String> {
    let element = pair.element();
    if element != "float" && element != "float32_t" {
        let kind =
            if is_float(element) == Some(false) { "integer division" } else { "the reciprocal of a short float" };
        return Err(format!("{kind} is not a multiplication ({element})"));
    }
    pair.same_count()?;
    pair.inputs_unchanged()?;
    if pair.temporary() != pair.second.destination {
        pair.dead()?;
    }
    let scalar = pair.first.scalar.unwrap_or_default();
    if scalar.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("{scalar} is an integer constant: its reciprocal is left to the writer"));
    }
    let plain = scalar.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    let divisor = if plain { scalar.to_owned() } else { format!("({scalar})") };
    let text = format!(
        "{}({}, {other}, 1.0f / {divisor}, {})",
        renamed(pair.file, pair.second, "Muls"),
        pair.second.destination,
        pair.second.count
    );
    Ok(vec![
        edit(pair.file, pair.file.removal_span(&pair.first.statement), ""),
        edit(pair.file, pair.second.call.span.clone(), text),
    ])
}
