//! Y07: full barriers inside a loop of vector work become one before the loop and one behind it.

use std::ops::Range;

use crate::analysis::code::{block_of, functions, scope};
use crate::analysis::loops::loops_around;
use crate::analysis::siblings::siblings;
use crate::rewrite::edits::{deleted, edit};
use crate::{Candidate, Combination, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::{Access, argument_access, is_copy};
use source::facts::{Kernel, TensorFacts, base_name};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, Loop, SyntaxFile};

/// The motif.
pub struct BarrierBehind;

const METADATA: Metadata = Metadata {
    id: Id::Y07,
    title: "full barriers out of a loop of vector work",
    family: Family::Synchronisation,
    precondition: "a loop whose body holds nothing but vector instructions and scalar accesses on local tensors of the function besides the barriers: what the compiler orders. \
     The barrier before the loop orders what came earlier, the one behind it what comes later",
    left_to_verifier: "automatic synchronisation is on",
    relieves: &[Counter::StallUs, Counter::ScalarUs],
    prior_gain: 1.10,
    cost: "nothing",
    tunables: "none; Y01 may remove what is left",
    undoing: "a barrier at the end of each round",
    rounding_changes: false,
    replaces_constants: false,
    company: Company {
        leads: &[
            Combination { rank: 12, motifs: &[Id::Y07, Id::Y01, Id::Y11, Id::V20] },
            Combination { rank: 13, motifs: &[Id::Y07, Id::Y01, Id::Y11, Id::V20, Id::D01] },
        ],
        ..Company::ANY
    },
};

impl Motif for BarrierBehind {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        each_loop(context, |place| {
            let barriers = place.barriers();
            if barriers.is_empty() || place.outer_qualifies() {
                return Vec::new();
            }
            vec![("barriers around the loop".to_owned(), place.hoisted(&barriers))]
        })
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        each_loop(context, |place| {
            if !place.barriers().is_empty() || place.only_vector_work().is_err() {
                return Vec::new();
            }
            place.sunk().map(|edits| ("barrier in each round".to_owned(), Ok(edits))).into_iter().collect()
        })
    }
}

type Moves = Vec<(String, Result<Vec<Edit>, String>)>;

struct Vicinity<'a> {
    file: &'a SyntaxFile,
    function: &'a Function,
    kernel: &'a Kernel,
    tensors: &'a TensorFacts,
    repetition: &'a Loop,
}

fn each_loop(context: &Context, judge: impl Fn(&Vicinity<'_>) -> Moves) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (file, function, kernel, tensors) in functions(context) {
        for repetition in file.loops().iter().filter(|repetition| function.body.contains(&repetition.span.start)) {
            let place = Vicinity { file, function, kernel, tensors: &tensors, repetition };
            for (note, edits) in judge(&place) {
                let candidate = Candidate::new(file, &repetition.span, note, edits);
                found.push(candidate.on_condition("the project does not switch automatic synchronisation off"));
            }
        }
    }
    found
}

fn is_barrier(call: &Call) -> bool {
    call.name == "PipeBarrier" && call.template_arguments.as_deref() == Some("PIPE_ALL")
}

impl<'a> Vicinity<'a> {
    fn barriers(&self) -> Vec<&'a Call> {
        self.file.calls_in(self.repetition.span.clone()).filter(|call| is_barrier(call)).collect()
    }

    /// Whether the loop around this one is a loop of vector work as well: that one takes the barriers.
    fn outer_qualifies(&self) -> bool {
        let around = loops_around(self.file, self.function, self.repetition.span.start);
        around.get(1).is_some_and(|outer| Vicinity { repetition: outer, ..*self }.only_vector_work().is_ok())
    }

    /// Proves that the compiler orders everything in the loop.
    fn only_vector_work(&self) -> Result<(), String> {
        let (file, span) = (self.file, &self.repetition.span);
        let text = file.slice(span);
        for token in pieces(text) {
            let word = &text[token.span.clone()];
            if token.kind == PieceKind::Directive || matches!(word, "return" | "goto") {
                return Err(format!("{} stands in the loop", word.lines().next().unwrap_or_default()));
            }
        }
        let mut works = false;
        for call in file.calls_in(span.clone()) {
            let line = file.line(call.span.start);
            let object = call.object.as_deref().map(base_name);
            let known = match object {
                None if is_copy(&call.name) => false,
                None => {
                    let vector = argument_access(&call.name, 0) != Access::Escape;
                    let operands = vector && self.local_operands(call);
                    works |= operands;
                    operands
                        || matches!(
                            call.name.as_str(),
                            "PipeBarrier"
                                | "static_cast"
                                | "half"
                                | "float"
                                | "GetBlockIdx"
                                | "min"
                                | "max"
                                | "uint32_t"
                                | "int32_t"
                        )
                }
                Some(object) => match call.name.as_str() {
                    "GetValue" | "SetValue" | "GetSize" => self.tensors.tensors.contains_key(object),
                    "Get" => self.kernel.buffers.contains_key(object),
                    _ => false,
                },
            };
            if !known {
                return Err(format!("line {line}: {} is not vector work on local tensors", call.name));
            }
        }
        if works { Ok(()) } else { Err("the loop holds no vector work".to_owned()) }
    }

    fn local_operands(&self, call: &Call) -> bool {
        let count = call
            .arguments
            .iter()
            .enumerate()
            .filter(|(index, _)| !matches!(argument_access(&call.name, *index), Access::Escape | Access::None));
        let mut operands = count.map(|(_, span)| base_name(self.file.slice(span)));
        operands.all(|name| self.tensors.tensors.contains_key(name))
    }

    fn hoisted(&self, barriers: &[&Call]) -> Result<Vec<Edit>, String> {
        let (file, span) = (self.file, &self.repetition.span);
        self.only_vector_work()?;
        block_of(file, span).ok_or("the loop is the only statement of an if or a loop")?;
        let lines = file.whole_lines(span).ok_or("the loop shares its lines")?;
        let barrier = format!("{}{}PipeBarrier<PIPE_ALL>();\n", file.indentation(span.start), scope(file));
        let mut edits = Vec::new();
        for call in barriers {
            let statement = call.statement.as_ref().ok_or("a barrier is not a statement of its own")?;
            block_of(file, statement).ok_or("a barrier is the only statement of an if or a loop")?;
            file.whole_lines(statement).ok_or("a barrier shares its line")?;
            edits.push(deleted(file, statement));
        }
        // One that stands there already is enough.
        if self.neighbour(false).is_none() {
            edits.push(edit(file, lines.start..lines.start, barrier.as_str()));
        }
        if self.neighbour(true).is_none() {
            edits.push(edit(file, lines.end..lines.end, barrier));
        }
        Ok(edits)
    }

    /// The full barrier directly before or behind the loop.
    fn neighbour(&self, behind: bool) -> Option<Range<usize>> {
        let (file, span) = (self.file, &self.repetition.span);
        let all = siblings(file, span);
        let at = all.iter().position(|sibling| sibling == span)?;
        let next = if behind { all.get(at + 1)? } else { all.get(at.checked_sub(1)?)? };
        file.calls().iter().any(|call| is_barrier(call) && call.statement.as_ref() == Some(next)).then(|| next.clone())
    }

    fn sunk(&self) -> Option<Vec<Edit>> {
        let (file, repetition) = (self.file, self.repetition);
        let (before, behind) = (self.neighbour(false)?, self.neighbour(true)?);
        let end = repetition.body.end - 1;
        let line = file.text()[..end].rfind('\n').map(|at| at + 1)?;
        let last = file.text()[..line].trim_end();
        if !file.text()[line..end].trim().is_empty() || !file.slice(&repetition.body).starts_with('{') {
            return None;
        }
        let text = format!("{}{}PipeBarrier<PIPE_ALL>();\n", file.indentation(last.len() - 1), scope(file));
        Some(vec![
            edit(file, file.whole_lines(&before)?, ""),
            edit(file, line..line, text),
            edit(file, file.whole_lines(&behind)?, ""),
        ])
    }
}
