//! S03: an element that is read anew in every round, and is the same each time, is read once before the loop.

use crate::analysis::code::{block_of, functions, words};
use crate::analysis::flow::changes::changes_name;
use crate::analysis::flow::effects::invariant;
use crate::analysis::global_memory;
use crate::analysis::loops::counted;
use crate::rewrite::edits::edit;
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::api::{Access, argument_access, is_copy};
use source::facts::{Kernel, TensorFacts, base_name};
use source::parse::{Call, Function, Local, Loop, SyntaxFile};

/// The motif.
pub struct HoistElement;

const METADATA: Metadata = Metadata {
    id: Id::S03,
    title: "hoist an element that does not change out of its loop",
    family: Family::Scalar,
    precondition: "a variable declared directly in the loop's body from GetValue of one tensor at an index that does not change, not assigned again; the tensor is \
     a global one that the kernel only reads, or a local one that the loop only reads; the name is used nowhere else in the function",
    left_to_verifier: "the loop runs at least once, where it is not known",
    relieves: &[Counter::ScalarUs, Counter::StallUs],
    prior_gain: 1.1,
    cost: "nothing",
    tunables: "none",
    undoing: "into the loop",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for HoistElement {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            for (local, tensor) in elements(file, function) {
                let Some(repetition) = file.loops().iter().rev().find(|around| {
                    function.body.contains(&around.span.start)
                        && block_of(file, &local.span).is_some_and(|block| block == around.body)
                }) else {
                    continue;
                };
                let place = Place { context, file, function, kernel, tensors: &tensors, repetition };
                let edits = place.same(local, tensor).and_then(|()| place.hoisted(local));
                let note = format!("read {} before the loop", local.name);
                found.push(place.conditions(Candidate::new(file, &local.span, note, edits), tensor, true));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            for (local, tensor) in elements(file, function) {
                let next = file.loops().iter().find(|repetition| {
                    repetition.span.start >= local.span.end
                        && function.body.contains(&repetition.span.start)
                        && file.slice(&(local.span.end..repetition.span.start)).trim().is_empty()
                });
                let Some(repetition) = next else { continue };
                let place = Place { context, file, function, kernel, tensors: &tensors, repetition };
                let edits = place.same(local, tensor).and_then(|()| place.sunk(local));
                let note = format!("read {} in every round", local.name);
                found.push(place.conditions(Candidate::new(file, &local.span, note, edits), tensor, false));
            }
        }
        found
    }
}

/// Variables of a function that hold an element of a tensor, with the tensor's name.
fn elements<'a>(file: &'a SyntaxFile, function: &Function) -> Vec<(&'a Local, &'a str)> {
    let inside = file.locals().iter().filter(|local| function.body.contains(&local.span.start) && local.alone);
    inside
        .filter_map(|local| {
            let value = local.value.clone()?;
            let mut reads = file.calls_in(value).filter(|call| call.name == "GetValue");
            let object = reads.next()?.object.as_deref()?;
            // Two elements in one expression are left alone.
            reads.next().is_none().then_some((local, base_name(object)))
        })
        .collect()
}

struct Place<'a> {
    context: &'a Context,
    file: &'a SyntaxFile,
    function: &'a Function,
    kernel: &'a Kernel,
    tensors: &'a TensorFacts,
    repetition: &'a Loop,
}

impl Place<'_> {
    fn conditions(&self, candidate: Candidate, tensor: &str, hoists: bool) -> Candidate {
        let mut candidate = candidate;
        let rounds = counted(self.file, self.repetition).ok().and_then(|(_, n)| self.context.facts.known.value(&n));
        if hoists && rounds.is_none_or(|rounds| rounds < 1) {
            candidate = candidate.on_condition("the loop runs at least once");
        }
        if !self.tensors.tensors.contains_key(tensor) {
            candidate = candidate.on_condition(format!("no other tensor writes the memory of {tensor}"));
        }
        candidate
    }

    /// Proves that the variable has the same value in every round.
    fn same(&self, local: &Local, tensor: &str) -> Result<(), String> {
        let value = local.value.as_ref().map(|value| self.file.slice(value)).unwrap_or_default();
        let whole = self.file.slice(&self.repetition.span);
        // The read itself is looked at apart: the rest must be plain.
        let plain = value.replacen(".GetValue(", " + (", 1);
        let declared_inside = words(&plain).into_iter().find(|word| {
            let inside = |other: &Local| other.name == *word && self.repetition.span.contains(&other.span.start);
            self.file.locals().iter().any(inside)
        });
        if let Some(word) = declared_inside {
            return Err(format!("{word} is declared in the loop"));
        }
        if !invariant(&plain, self.file, &self.repetition.span) {
            return Err(format!("{value} may change from round to round"));
        }
        // A call of the class may change members, arguments and tensors that the loop does not show.
        let fixed =
            |word: &&str| *word != tensor && !matches!(*word, "GetValue" | "static_cast" | "float" | "half" | "this");
        let rests = self.tensors.tensors.contains_key(tensor) || words(&plain).iter().any(fixed);
        if let Some(call) = self.helper().filter(|_| rests) {
            return Err(format!("{} may change {value}", call.name));
        }
        let body = &self.function.body;
        let mut beside = [body.start..local.span.start, local.span.end..body.end].into_iter();
        if beside.any(|span| changes_name(self.file, &span, &local.name)) {
            return Err(format!("{} is assigned again", local.name));
        }
        let same_name = |other: &&Local| other.name == local.name && self.function.body.contains(&other.span.start);
        if self.file.locals().iter().filter(same_name).count() > 1 {
            return Err(format!("{} is declared more than once", local.name));
        }
        let mentions = |text: &str| words(text).into_iter().filter(|word| *word == local.name).count();
        // In broken text the loop may not lie in the function.
        let elsewhere = mentions(self.file.slice(&self.function.body)).checked_sub(mentions(whole));
        let elsewhere = elsewhere.ok_or("the loop and its function are not understood")?;
        let own = usize::from(!self.repetition.span.contains(&local.span.start));
        if elsewhere > own {
            return Err(format!("{} is used outside the loop", local.name));
        }
        if self.tensors.tensors.contains_key(tensor) {
            self.local_unchanged(tensor)
        } else {
            self.global_read_only(tensor)
        }
    }

    /// A call in the loop of something that is not known to leave everything else alone.
    fn helper(&self) -> Option<&Call> {
        self.file.calls_in(self.repetition.span.clone()).find(|call| {
            call.object.is_none()
                && !is_copy(&call.name)
                && argument_access(&call.name, 0) == Access::Escape
                && !matches!(call.name.as_str(), "static_cast" | "PipeBarrier" | "min" | "max" | "Min" | "Max")
        })
    }

    fn local_unchanged(&self, tensor: &str) -> Result<(), String> {
        for used in self.tensors.uses.iter().filter(|used| self.repetition.span.contains(&used.span.start)) {
            let writes = !matches!(used.access, Access::Read | Access::None);
            if writes && (used.tensor == tensor || !self.tensors.disjoint(&used.tensor, tensor)) {
                let line = self.file.line(used.span.start);
                return Err(format!("{tensor} may be changed through {} at line {line}", used.tensor));
            }
        }
        if self.repetition.body.contains(&self.tensors.tensors[tensor].declaration.start) {
            return Err(format!("{tensor} is taken anew in every round"));
        }
        Ok(())
    }

    fn global_read_only(&self, tensor: &str) -> Result<(), String> {
        if !self.kernel.globals.contains_key(tensor) {
            return Err(format!("{tensor} is neither a local tensor nor a global one of the class"));
        }
        if self.kernel.has_base() {
            return Err("a base class may write the tensor".to_owned());
        }
        let (mut mentions, mut reads) = (0, 0);
        for (name, index) in &self.kernel.functions {
            let Some(file) = self.context.forest.get(name) else { continue };
            let Some(function) = file.functions().get(*index) else { continue };
            mentions += words(file.slice(&function.body)).into_iter().filter(|word| *word == tensor).count();
            for call in file.calls_in(function.body.clone()) {
                let object = call.object.as_deref().map(base_name) == Some(tensor);
                let reading = matches!(call.name.as_str(), "GetValue" | "SetGlobalBuffer" | "SetL2CacheHint");
                let source = is_copy(&call.name)
                    && call.object.is_none()
                    && file.argument(call, 1).map(base_name) == Some(tensor);
                reads += usize::from(object && reading) + usize::from(source);
            }
        }
        if mentions != reads {
            return Err(format!("{tensor} is not only read by the kernel"));
        }
        global_memory::never_written(self.context, self.kernel, tensor)
    }

    fn hoisted(&self, local: &Local) -> Result<Vec<Edit>, String> {
        let file = self.file;
        let whole = file.whole_lines(&local.span).ok_or("the declaration shares its line")?;
        block_of(file, &self.repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
        let start = self.repetition.span.start;
        let before = file.text()[..start].rfind('\n').map_or(0, |end| end + 1);
        if !file.text()[before..start].trim().is_empty() {
            return Err("the loop shares its line".to_owned());
        }
        let line = format!("{}{}\n", file.indentation(start), file.slice(&local.span));
        Ok(vec![edit(file, before..before, line), edit(file, whole, "")])
    }

    fn sunk(&self, local: &Local) -> Result<Vec<Edit>, String> {
        let file = self.file;
        let body = file.slice(&self.repetition.body);
        let rest = body.strip_prefix("{\n").ok_or("the loop's body does not start on a line of its own")?;
        let whole = file.whole_lines(&local.span).ok_or("the declaration shares its line")?;
        let inside = self.repetition.body.start + 2;
        let indentation = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
        let line = format!("{indentation}{}\n", file.slice(&local.span));
        Ok(vec![edit(file, whole, ""), edit(file, inside..inside, line)])
    }
}
