//! D07: several rows a round: a loop whose queues hold one short row at a time takes as many rows as a constant says.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::analysis::code::{block_of, is_name};
use crate::analysis::flow::effects::{reached, steady};
use crate::analysis::linear::{Linear, grouped};
use crate::analysis::loops::{counted, counter_type};
use crate::analysis::round_list::{List, touching_queues};
use crate::analysis::round_names::{CHOICES, COUNT, ROW};
use crate::rewrite::edits::edit;
use crate::rewrite::round_change::{Round, first_of};
use crate::rewrite::round_rows::other_rows;
use crate::rewrite::round_text::{block_lines, first_indentation};
use crate::rewrite::round_undo::single_rows;
use crate::{Candidate, Combination, Company, Context, Counter, Family, Id, Metadata, Motif, Turn};
use source::Edit;
use source::facts::{Kernel, base_name};
use source::lex::pieces;
use source::parse::{Call, Function, Loop, SyntaxFile};

/// The motif.
pub struct BatchRows;

const METADATA: Metadata = Metadata {
    id: Id::D07,
    title: "several rows a round",
    family: Family::DataMovement,
    precondition: "a loop from 0 in steps of 1 that takes tensors of queues, uses them and hands them on once a round, itself or in functions of the class whose arguments grow \
     in equal steps; buffers and members that keep something of a row are touched by one stage only; the sizes of the queues' buffers are fixed before they are made",
    left_to_verifier: "fits the unified buffer; rows do not read from global memory what earlier rows of the loop write",
    relieves: &[Counter::StallUs, Counter::ScalarUs, Counter::Mte2Us, Counter::Mte3Us],
    prior_gain: 1.5,
    cost: "as many times the bytes of every queue in the loop",
    tunables: "opens the number of rows of a round; closes what else needs bytes of the unified buffer",
    undoing: "one row a round",
    rounding_changes: false,
    replaces_constants: false,
    company: Company {
        leads: &[
            Combination { rank: 8, motifs: &[Id::D07, Id::D04] },
            Combination { rank: 9, motifs: &[Id::D07, Id::D04, Id::Y01, Id::V09] },
        ],
        turn: Turn::Late(0),
        ..Company::ANY
    },
};

impl Motif for BatchRows {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = other_rows(context, true);
        for own in context.facts.kernels.values() {
            let whole = match context.facts.with_bases(own) {
                Ok(whole) => Kernel { bases: BTreeSet::new(), ..whole },
                // Refused below, where a loop would be taken.
                Err(_) => own.clone(),
            };
            let kernel = &whole;
            if kernel.queues.is_empty() {
                continue;
            }
            let touching = touching_queues(context, kernel);
            for (name, index) in &own.functions {
                let Some(file) = context.forest.get(name) else { continue };
                let Some(function) = file.functions().get(*index) else { continue };
                let inside = |repetition: &&Loop| function.body.contains(&repetition.span.start);
                let takes: Vec<&Loop> = file
                    .loops()
                    .iter()
                    .filter(inside)
                    .filter(|repetition| takes_tensors(context, kernel, file, &repetition.body, &touching))
                    .collect();
                for repetition in &takes {
                    let inner =
                        |other: &&&Loop| other.span != repetition.span && repetition.body.contains(&other.span.start);
                    let Ok((counter, bound)) = counted(file, repetition) else { continue };
                    if takes.iter().any(|other| inner(&other)) {
                        continue;
                    }
                    let place = Vicinity {
                        context,
                        own,
                        kernel,
                        touching: &touching,
                        file,
                        function,
                        repetition,
                        counter,
                        bound,
                    };
                    found.extend(place.candidates());
                }
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = single_rows(context);
        found.extend(other_rows(context, false));
        found
    }
}

/// Whether tensors of queues are taken and handed on in a loop's body.
fn takes_tensors(
    context: &Context,
    kernel: &Kernel,
    file: &SyntaxFile,
    body: &Range<usize>,
    touching: &BTreeSet<String>,
) -> bool {
    let of_queue =
        |call: &Call| call.object.as_deref().is_some_and(|object| kernel.queues.contains_key(base_name(object)));
    let takes = |file: &SyntaxFile, span: &Range<usize>| {
        file.calls_in(span.clone()).any(|call| call.name == "AllocTensor" && of_queue(call))
    };
    takes(file, body)
        || (file.calls_in(body.clone()).any(|call| touching.contains(&call.name))
            && reached(context, kernel, file, body).iter().any(|(file, function)| takes(file, &function.body)))
}

struct Vicinity<'a> {
    context: &'a Context,
    /// The class alone.
    own: &'a Kernel,
    /// The class with its base classes.
    kernel: &'a Kernel,
    /// Functions that touch queues.
    touching: &'a BTreeSet<String>,
    file: &'a SyntaxFile,
    function: &'a Function,
    repetition: &'a Loop,
    counter: String,
    bound: String,
}

impl Vicinity<'_> {
    /// One candidate for every number of rows.
    fn candidates(&self) -> Vec<Candidate> {
        let mut round = Round::new(self.context, self.kernel, self.touching, &self.repetition.span, BTreeSet::new());
        let mut edits = self.batched(&mut round);
        // What turned out to be written after it was brought is not the same for all rows.
        while edits.is_err() && !round.overwritten.is_empty() {
            let varying = round.varying.union(&round.overwritten).cloned().collect();
            round = Round::new(self.context, self.kernel, self.touching, &self.repetition.span, varying);
            edits = self.batched(&mut round);
        }
        let over = format!("{} < {}", self.counter, self.bound);
        let edits = match edits {
            Ok(edits) => edits,
            Err(reason) => {
                return vec![Candidate::new(self.file, &self.repetition.span, over, Err(reason))];
            }
        };
        CHOICES
            .iter()
            .map(|(rows, word)| {
                let fits = round.fits(*rows).map(|()| {
                    let mut edits = edits.clone();
                    for edit in &mut edits {
                        edit.replacement = edit
                            .replacement
                            .replace(&format!("{} = 0;", round.constant), &format!("{} = {rows};", round.constant));
                    }
                    edits
                });
                Candidate::new(self.file, &self.repetition.span, format!("{word} rows a round: {over}"), fits)
                    .on_condition("the buffers fit the unified buffer")
                    .on_condition("rows do not read from global memory what earlier rows of the loop write")
            })
            .collect()
    }

    /// Proves that no other class uses what changes in a base class.
    fn alone(&self, edits: &[Edit]) -> Result<(), String> {
        for edit in edits {
            let Some(file) = self.context.forest.get(&edit.file) else { continue };
            let function = file.enclosing_function(edit.span.start).and_then(|function| function.class.clone());
            let class = function.or_else(|| file.enclosing_class(edit.span.start).map(|class| class.name.clone()));
            let Some(class) = class.filter(|class| *class != self.own.name) else { continue };
            if let Some(other) = self.context.facts.derived(&class).iter().find(|other| other.name != self.own.name) {
                return Err(format!("{} uses {class} too", other.name));
            }
        }
        Ok(())
    }

    fn batched(&self, round: &mut Round<'_>) -> Result<Vec<Edit>, String> {
        let Self { context, kernel, file, function, repetition, .. } = *self;
        let (counter, bound) = (&self.counter, &self.bound);
        if kernel.has_base() {
            return Err(format!("{} has a base class that these sources do not define", kernel.name));
        }
        if let Some(derived) = context.facts.derived(&kernel.name).first() {
            return Err(format!("{} inherits from {}", derived.name, kernel.name));
        }
        if file.slice(&repetition.body).contains(ROW) {
            return Err("the loop takes several rows a round already".to_owned());
        }
        if !file.slice(&repetition.body).starts_with('{') {
            return Err("the loop has no block".to_owned());
        }
        block_of(file, &repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
        steady(context, file, kernel, bound, &repetition.span)?;
        let type_text = counter_type(file, repetition);
        let names = BTreeMap::from([(counter.clone(), Linear::new(counter.clone(), "1"))]);
        let mut list = List::of(context, kernel, file, function, &repetition.body, (&names, self.touching))?;
        round.settle_same(&mut list)?;
        let first = if list.renamed.contains(counter) { first_of(counter) } else { counter.clone() };
        let types = BTreeMap::from([(counter.clone(), type_text.to_owned())]);
        let text = round.emitted(&list, &types, &repetition.body)?;
        round.judged()?;
        let left = format!("{} - {first}", if is_name(bound) { bound.clone() } else { grouped(bound) });
        let left = if matches!(type_text, "uint32_t" | "unsigned" | "unsigned int") {
            left
        } else {
            format!("static_cast<uint32_t>({left})")
        };
        let indentation = first_indentation(file, &list);
        let rows = format!("{indentation}const uint32_t {COUNT} = {left} < {0} ? {left} : {0};\n", round.constant);
        let head = repetition.span.start..repetition.body.start;
        let update = repetition.update.clone().ok_or("the loop has no update")?;
        let mut edits = vec![edit(file, block_lines(file, &repetition.body)?, format!("{rows}{text}"))];
        edits.push(edit(file, update.clone(), format!("{first} += {}", round.constant)));
        if first != *counter {
            let before = head.start..update.start;
            for token in pieces(file.slice(&before)) {
                if &file.slice(&before)[token.span.clone()] == counter {
                    edits.push(edit(
                        file,
                        before.start + token.span.start..before.start + token.span.end,
                        first.as_str(),
                    ));
                }
            }
        }
        edits.extend(round.edits.clone());
        edits.extend(round.buffers()?);
        self.alone(&edits)?;
        Ok(edits)
    }
}
