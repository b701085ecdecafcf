//! V14: no way to another type and back: half between floats loses bits for nothing, and integers between floats are there
//! for their rounding, which a cast from float to float does at once.

use crate::analysis::code::{VectorCall, functions, unused_scratch, vector_calls};
use crate::rewrite::edits::edit;
use crate::rewrite::pairs::{Pair, each_pair, renamed};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::TensorFacts;
use source::parse::SyntaxFile;

/// The motif.
pub struct CastBack;

const METADATA: Metadata = Metadata {
    id: Id::V14,
    title: "no way to another type and back",
    family: Family::Vector,
    precondition: "Cast of float to half or bfloat16_t, or with a rounding mode to int32_t, and Cast of all of that back to float, which nobody else reads",
    left_to_verifier: "with half in between: that nobody wants what the rounding leaves over; with integers: that the values fit int32_t, and that the sign of zeros does not matter",
    relieves: &[Counter::VecUs],
    prior_gain: 1.05,
    cost: "nothing; with half in between: other rounding, the result is the more exact one",
    tunables: "may leave a buffer unused: opens larger tiles",
    undoing: "through an unused tensor of the other type",
    rounding_changes: true,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for CastBack {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        each_pair(context, &["Cast"], |pair| {
            let element = |name: &str| pair.tensors.tensors.get(name).map(|tensor| tensor.element.as_str());
            let (source, target) = (pair.first.sources[0], pair.second.destination);
            let there_and_back =
                pair.second.name == "Cast" && element(source) == Some("float") && pair.element() == "float";
            let between = Between::of(element(pair.temporary())?).filter(|_| there_and_back)?;
            let note = format!("{target} without {}", pair.temporary());
            let candidate = Candidate::new(pair.file, &pair.second.call.span, note, shortened(pair, between));
            Some(match between {
                Between::Narrow => {
                    candidate.with_rounding(true).on_condition("nobody wants what the rounding leaves over")
                }
                Between::Integer => candidate.on_condition("the values fit int32_t; the sign of zeros does not matter"),
            })
        })
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, _, tensors) in functions(context) {
            let is_float = |name: &str| tensors.tensors.get(name).is_some_and(|tensor| tensor.element == "float");
            for call in vector_calls(file, function, &tensors) {
                let plain = call.sources.len() == 1 && is_float(call.sources[0]) && is_float(call.destination);
                match (call.name, call.scalar) {
                    ("Cast", Some(mode)) if plain => {
                        found.extend(through(file, &call, &tensors, "int32_t", |casts, between| {
                            edit(file, call.call.span.clone(), casts.both(call.sources[0], between, mode))
                        }));
                    }
                    ("Muls", Some("1.0f")) if plain => {
                        found.extend(through(file, &call, &tensors, "half", |casts, between| {
                            edit(file, call.call.span.clone(), casts.both(call.sources[0], between, &casts.rint()))
                        }));
                    }
                    _ if is_float(call.destination) => {
                        found.extend(through(file, &call, &tensors, "half", |casts, between| {
                            let text = casts.both(call.destination, between, &casts.rint());
                            let end = call.statement.end;
                            edit(file, end..end, format!("\n{}{text};", file.indentation(call.statement.start)))
                        }));
                    }
                    _ => {}
                }
            }
        }
        found
    }
}

/// What stands between two floats.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    /// Fewer bits.
    Narrow,
    /// An integer.
    Integer,
}

impl Between {
    fn of(element: &str) -> Option<Self> {
        match element {
            "half" | "bfloat16_t" => Some(Self::Narrow),
            "int32_t" => Some(Self::Integer),
            _ => None,
        }
    }
}

fn shortened(pair: &Pair<'_>, between: Between) -> Result<Vec<Edit>, String> {
    pair.can_merge()?;
    let (file, source, target) = (pair.file, pair.first.sources[0], pair.second.destination);
    if source != target && !pair.tensors.disjoint(source, target) {
        return Err(format!("{source} and {target} may share memory"));
    }
    let first = edit(file, file.removal_span(&pair.first.statement), "");
    let count = pair.second.count;
    let mode = pair.first.scalar.unwrap_or_default();
    let second = match between {
        Between::Narrow if source == target => edit(file, file.removal_span(&pair.second.statement), ""),
        Between::Narrow => {
            let copy = renamed(file, pair.second, "Muls");
            edit(file, pair.second.call.span.clone(), format!("{copy}({target}, {source}, 1.0f, {count})"))
        }
        Between::Integer => {
            if !["CAST_FLOOR", "CAST_CEIL", "CAST_RINT", "CAST_ROUND", "CAST_TRUNC"]
                .iter()
                .any(|known| mode.ends_with(known))
            {
                return Err(format!("{mode} does not say how to round"));
            }
            let cast = renamed(file, pair.second, "Cast");
            edit(file, pair.second.call.span.clone(), format!("{cast}({target}, {source}, {mode}, {count})"))
        }
    };
    Ok(vec![first, second])
}

/// A pair of casts in the place of, or behind, a call.
struct Casts<'a> {
    file: &'a SyntaxFile,
    call: &'a VectorCall<'a>,
    cast: String,
}

impl Casts<'_> {
    fn scope(&self) -> &str {
        self.cast.strip_suffix("Cast").unwrap_or_default()
    }

    fn rint(&self) -> String {
        format!("{}RoundMode::CAST_RINT", self.scope())
    }

    /// `source` to `between` and on to the call's destination; without the last semicolon.
    fn both(&self, source: &str, between: &str, mode: &str) -> String {
        let Self { file, call, cast } = self;
        let (count, indentation) = (call.count, file.indentation(call.statement.start));
        let none = format!("{}RoundMode::CAST_NONE", self.scope());
        format!(
            "{cast}({between}, {source}, {mode}, {count});\n{indentation}{cast}({}, {between}, {none}, {count})",
            call.destination
        )
    }
}

/// One candidate for every unused tensor of the type.
fn through<'a>(
    file: &'a SyntaxFile,
    call: &'a VectorCall<'a>,
    tensors: &TensorFacts,
    element: &str,
    change: impl Fn(&Casts<'a>, &str) -> Edit,
) -> Vec<Candidate> {
    let casts = Casts { file, call, cast: renamed(file, call, "Cast") };
    let candidate = |between: &str| {
        let note = format!("{} through {between}", call.destination);
        Candidate::new(file, &call.call.span, note, Ok(vec![change(&casts, between)])).with_rounding(element == "half")
    };
    unused_scratch(tensors, element).into_iter().map(candidate).collect()
}
