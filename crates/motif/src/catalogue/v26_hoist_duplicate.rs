//! V26: a tensor filled with the same value in every round is filled once before the loop.
//!
//! The loop may stand in the same function, or around the only call of the function that fills.

use std::ops::Range;

use crate::analysis::code::{VectorCall, block_of, functions, vector_calls, words};
use crate::analysis::flow::effects::{own_functions, reached, steady};
use crate::analysis::loops::loops_around;
use crate::analysis::siblings::siblings;
use crate::rewrite::edits::edit;
use crate::rewrite::hoist::{self, before_loop};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::Access;
use source::facts::{Kernel, Origin, TensorFacts, base_name};
use source::parse::{Call, Function, Local, Loop, SyntaxFile};

/// The motif.
pub struct HoistDuplicate;

const METADATA: Metadata = Metadata {
    id: Id::V26,
    title: "hoist a constant fill out of its loop",
    family: Family::Vector,
    precondition: "Duplicate(t, s, n) or CreateVecIndex(t, s, n) directly in the loop's body, or in a function that is called at one place, in a loop; t a TBuf tensor taken at one place and \
     written nowhere else, no read of t before it, s and n the same in every round, also after every call in the loop",
    left_to_verifier: "nothing",
    relieves: &[Counter::VecUs],
    prior_gain: 1.03,
    cost: "nothing",
    tunables: "none",
    undoing: "into the loop, or back into the function",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for HoistDuplicate {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        each_fill(context, |fill| {
            let name = fill.call.destination;
            let around = loops_around(fill.file, fill.function, fill.call.statement.start);
            let edits = match around.first() {
                Some(repetition) if repetition.body.contains(&fill.tensors.tensors[name].declaration.start) => {
                    return Vec::new();
                }
                Some(repetition) => fill.hoisted(repetition),
                None => match fill.caller() {
                    Some(caller) => fill.hoisted_to(&caller),
                    None => return Vec::new(),
                },
            };
            vec![(format!("fill {name} before the loop"), edits)]
        })
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        each_fill(context, |fill| {
            let (file, call) = (fill.file, fill.call);
            let next = file.loops().iter().find(|repetition| {
                repetition.span.start >= call.statement.end
                    && file.slice(&(call.statement.end..repetition.span.start)).trim().is_empty()
            });
            let Some(repetition) = next.filter(|repetition| fill.function.body.contains(&repetition.span.start)) else {
                return Vec::new();
            };
            if fill.tensors.uses_of(call.destination).count() == 1 {
                return fill.given_back(repetition);
            }
            vec![(format!("fill {} in every round", call.destination), fill.sunk(repetition))]
        })
    }
}

type Moves = Vec<(String, Result<Vec<Edit>, String>)>;

/// A `Duplicate` with what is known around it.
struct Fill<'a> {
    context: &'a Context,
    file: &'a SyntaxFile,
    function: &'a Function,
    kernel: &'a Kernel,
    tensors: &'a TensorFacts,
    call: &'a VectorCall<'a>,
}

/// The only call of a function, which stands in a loop.
/// Instructions that fill a tensor from nothing but scalars.
const FILLS: [&str; 2] = ["Duplicate", "CreateVecIndex"];

struct Caller<'a> {
    file: &'a SyntaxFile,
    repetition: &'a Loop,
}

fn each_fill(context: &Context, judge: impl Fn(&Fill<'_>) -> Moves) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (file, function, kernel, tensors) in functions(context) {
        for call in vector_calls(file, function, &tensors).iter().filter(|call| FILLS.contains(&call.name)) {
            let fill = Fill { context, file, function, kernel, tensors: &tensors, call };
            for (note, edits) in judge(&fill) {
                found.push(Candidate::new(file, &call.call.span, note, edits));
            }
        }
    }
    found
}

impl<'a> Fill<'a> {
    fn expressions(&self) -> [&str; 2] {
        [self.call.scalar.unwrap_or_default(), self.call.count]
    }

    /// Proves that memory is not handed out anew while the loop runs.
    fn memory_stays(&self, file: &SyntaxFile, repetition: &Loop) -> Result<(), String> {
        let hands_out = |call: &&Call| matches!(call.name.as_str(), "InitBuffer" | "Reset" | "Destroy");
        let inner = reached(self.context, self.kernel, file, &repetition.span);
        let places = inner.into_iter().map(|(other, function)| (other, function.body.clone()));
        for (other, part) in places.chain([(file, repetition.span.clone())]) {
            if let Some(call) = other.calls_in(part).find(hands_out) {
                return Err(format!("{} at line {} stands in the loop", call.name, other.line(call.span.start)));
            }
        }
        Ok(())
    }

    fn declaration(&self) -> Option<&'a Local> {
        let tensor = self.tensors.tensors.get(self.call.destination)?;
        self.file.locals().iter().find(|local| local.span == tensor.declaration && local.alone)
    }

    fn buffer(&self) -> Option<&str> {
        match &self.tensors.tensors.get(self.call.destination)?.origin {
            Origin::Buffer(buffer) => Some(buffer),
            _ => None,
        }
    }

    /// Places where the buffer is handed out.
    fn gets(&self) -> usize {
        let buffer = self.buffer();
        let gets = |call: &Call| call.object.as_deref().map(base_name) == buffer;
        self.kernel.calls(&self.context.forest).filter(|(_, _, call)| gets(call)).count()
    }

    fn only_write(&self) -> Result<(), String> {
        let (name, tensors) = (self.call.destination, self.tensors);
        let buffer = self.buffer().ok_or_else(|| format!("{name} does not come from a TBuf"))?;
        let other = tensors.uses_of(name).find(|used| {
            !self.call.statement.contains(&used.span.start) && !matches!(used.access, Access::Read | Access::None)
        });
        if other.is_some() {
            return Err(format!("{name} is written elsewhere too"));
        }
        if !self.kernel.buffers.contains_key(buffer) {
            return Err(format!("{buffer} is not a buffer of {}", self.kernel.name));
        }
        let shared = tensors.tensors.iter().any(|(other, tensor)| {
            other != name
                && (!tensors.disjoint(other, name) || tensor.origin == Origin::Unknown)
                && tensors.uses_of(other).next().is_some()
        });
        if shared { Err(format!("another tensor may share memory with {name}")) } else { Ok(()) }
    }

    fn not_read_before(&self) -> Result<(), String> {
        match self.tensors.uses_of(self.call.destination).find(|used| used.span.start < self.call.statement.start) {
            Some(early) => Err(format!(
                "{} is read at line {} before it is filled",
                self.call.destination,
                self.file.line(early.span.start)
            )),
            None => Ok(()),
        }
    }

    fn hoisted(&self, repetition: &Loop) -> Result<Vec<Edit>, String> {
        let (file, call) = (self.file, self.call);
        self.only_write()?;
        if self.gets() > 1 {
            return Err(format!("{} is taken elsewhere too", self.buffer().unwrap_or_default()));
        }
        if block_of(file, &call.statement).as_ref() != Some(&repetition.body) {
            return Err("the fill is conditional".to_owned());
        }
        self.memory_stays(file, repetition)?;
        for expression in self.expressions() {
            steady(self.context, file, self.kernel, expression, &repetition.span)?;
        }
        self.not_read_before()?;
        let outer = repetition.span.start.saturating_sub(1);
        if !loops_around(file, self.function, outer).is_empty() && file.slice(&repetition.span).contains("break") {
            return Err("the loop may be left early".to_owned());
        }
        hoist::hoisted(file, repetition, &call.statement)
    }

    fn sunk(&self, repetition: &Loop) -> Result<Vec<Edit>, String> {
        let (file, call) = (self.file, self.call);
        self.only_write()?;
        let read_elsewhere = self
            .tensors
            .uses_of(call.destination)
            .any(|used| !call.statement.contains(&used.span.start) && !repetition.body.contains(&used.span.start));
        if read_elsewhere {
            return Err(format!("{} is read outside the loop", call.destination));
        }
        for expression in self.expressions() {
            steady(self.context, file, self.kernel, expression, &repetition.span)?;
        }
        hoist::sunk(file, repetition, &call.statement)
    }

    /// The loop around the only call of this function.
    fn caller(&self) -> Option<Caller<'a>> {
        let mut calls = self
            .kernel
            .calls(&self.context.forest)
            .filter(|(_, _, call)| call.is_own() && call.name == self.function.name);
        let (file, _, call) = calls.next().filter(|_| calls.next().is_none())?;
        let function = file.enclosing_function(call.span.start)?;
        let repetition = loops_around(file, function, call.span.start).last().copied()?;
        Some(Caller { file, repetition })
    }

    /// Moves the fill before the outermost loop around the call of this function.
    fn hoisted_to(&self, caller: &Caller<'_>) -> Result<Vec<Edit>, String> {
        let (file, name) = (self.file, self.call.destination);
        self.only_write()?;
        self.not_read_before()?;
        if self.gets() > 1 {
            return Err(format!("{} is taken elsewhere too", self.buffer().unwrap_or_default()));
        }
        if own_functions(self.context, self.kernel, &self.function.name).count() > 1 || self.kernel.has_base() {
            return Err(format!("{} is not the only function of its name", self.function.name));
        }
        if block_of(file, &self.call.statement).as_ref() != Some(&self.function.body) {
            return Err("the fill is conditional".to_owned());
        }
        let declaration = self.declaration().ok_or_else(|| format!("{name} is not declared alone"))?;
        self.memory_stays(caller.file, caller.repetition)?;
        self.of_class()?;
        for expression in self.expressions() {
            steady(self.context, caller.file, self.kernel, expression, &caller.repetition.span)?;
        }
        let start = caller.repetition.span.start;
        let enclosing = caller.file.enclosing_function(start).ok_or("the loop stands in no function")?;
        if words(caller.file.slice(&enclosing.span)).contains(&name) {
            return Err(format!("{name} means something else in {}", enclosing.name));
        }
        let whole = file.whole_lines(&self.call.statement).ok_or("the fill shares its line")?;
        let before = before_loop(caller.file, caller.repetition)?;
        let indentation = caller.file.indentation(start);
        let lines = format!(
            "{indentation}{}\n{indentation}{}\n",
            file.slice(&declaration.span),
            file.slice(&self.call.statement)
        );
        Ok(vec![edit(caller.file, before..before, lines), edit(file, whole, "")])
    }

    /// Proves that the expressions hold nothing but members and constants, and so mean the same in another function.
    fn of_class(&self) -> Result<(), String> {
        for word in self.expressions().into_iter().flat_map(words) {
            let parameter = self.function.parameters.iter().any(|parameter| parameter.name == word);
            let local = self
                .file
                .locals()
                .iter()
                .any(|local| local.name == word && self.function.body.contains(&local.span.start));
            if parameter || local {
                return Err(format!("{word} is known in {} alone", self.function.name));
            }
        }
        Ok(())
    }

    /// Back into the function that reads the tensor, before any statement up to the first use.
    fn given_back(&self, repetition: &Loop) -> Moves {
        let name = self.call.destination;
        let text = self.declaration().map(|local| self.file.slice(&local.span));
        let mut found = Vec::new();
        for (other, function) in reached(self.context, self.kernel, self.file, &repetition.span) {
            let tensors = TensorFacts::of(other, function);
            let Some(tensor) = tensors.tensors.get(name) else { continue };
            if Some(other.slice(&tensor.declaration)) != text {
                continue;
            }
            let Some(first) = tensors.uses_of(name).next() else { continue };
            for before in siblings(other, &tensor.declaration) {
                if before.start < tensor.declaration.end || before.start > first.span.start {
                    continue;
                }
                let note = format!("fill {name} in {} before line {}", function.name, other.line(before.start));
                found.push((note, self.moved_into(other, &tensors, &before, repetition)));
            }
        }
        found
    }

    fn moved_into(
        &self,
        other: &SyntaxFile,
        tensors: &TensorFacts,
        before: &Range<usize>,
        repetition: &Loop,
    ) -> Result<Vec<Edit>, String> {
        let name = self.call.destination;
        if self.gets() > 2 {
            return Err(format!("{} is taken elsewhere too", self.buffer().unwrap_or_default()));
        }
        if tensors.uses_of(name).any(|used| !matches!(used.access, Access::Read | Access::None)) {
            return Err(format!("{name} is written elsewhere too"));
        }
        self.of_class()?;
        for expression in self.expressions() {
            steady(self.context, self.file, self.kernel, expression, &repetition.span)?;
        }
        let declaration = self.declaration().ok_or_else(|| format!("{name} is not declared alone"))?;
        let taken = self.file.whole_lines(&declaration.span).ok_or("the declaration shares its line")?;
        let filled = self.file.whole_lines(&self.call.statement).ok_or("the fill shares its line")?;
        let target = other.whole_lines(before).ok_or("the statement shares its line")?;
        let line = format!("{}{}\n", other.indentation(before.start), self.file.slice(&self.call.statement));
        Ok(vec![edit(self.file, taken, ""), edit(self.file, filled, ""), edit(other, target.start..target.start, line)])
    }
}
