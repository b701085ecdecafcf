//! S03: an element that is read anew in every round, and is the same each time, is read once before the loop.

use crate::analysis::code::{Surroundings, words};
use crate::analysis::flow::changes::changes_name;
use crate::analysis::flow::effects::invariant;
use crate::analysis::global_memory;
use crate::analysis::loops::counted;
use crate::rewrite::declared::{Declared, Rules};
use crate::rewrite::motion::{Hoist, Mover};
use crate::{Company, Counter, Family, Id, Metadata};
use source::facts::api::{Access, argument_access, is_copy};
use source::facts::base_name;
use source::parse::{Call, Local, Loop};

/// The motif.
pub const HOIST_ELEMENT: Declared = Declared { metadata: &METADATA, rules: Rules::Hoist(&ELEMENT) };

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

const ELEMENT: Hoist = Hoist {
    movers: elements,
    same: |around, mover, repetition| Vicinity { around, repetition }.same(mover),
    conditions: |around, mover, repetition, make| {
        let mut conditions = Vec::new();
        let rounds = counted(around.file, repetition).ok().and_then(|(_, n)| around.context.facts.known.value(&n));
        if make && rounds.is_none_or(|rounds| rounds < 1) {
            conditions.push("the loop runs at least once".to_owned());
        }
        if !around.tensors.tensors.contains_key(&mover.of) {
            conditions.push(format!("no other tensor writes the memory of {}", mover.of));
        }
        conditions
    },
    between: |text| text.trim().is_empty(),
    conditional: None,
};

/// Variables of a function that hold an element of a tensor, with the tensor's name.
fn elements(around: &Surroundings<'_>) -> Vec<Mover> {
    let element = |value: std::ops::Range<usize>| {
        let mut reads = around.file.calls_in(value).filter(|call| call.name == "GetValue");
        let object = reads.next()?.object.as_deref()?;
        // Two elements in one expression are left alone.
        reads.next().is_none().then(|| base_name(object))
    };
    Mover::locals(around).filter_map(|(local, value)| Some(Mover::of_local(local, element(value)?))).collect()
}

struct Vicinity<'a> {
    around: &'a Surroundings<'a>,
    repetition: &'a Loop,
}

impl Vicinity<'_> {
    /// Proves that the variable has the same value in every round.
    fn same(&self, mover: &Mover) -> Result<(), String> {
        let (tensor, file) = (mover.of.as_str(), self.around.file);
        let local = file.locals().iter().find(|local| local.span == mover.statement && local.name == mover.name);
        let local = local.ok_or("the declaration is not understood")?;
        let value = local.value.as_ref().map(|value| file.slice(value)).unwrap_or_default();
        let whole = self.around.file.slice(&self.repetition.span);
        // The read itself is looked at apart: the rest must be plain.
        let plain = value.replacen(".GetValue(", " + (", 1);
        let declared_inside = words(&plain).into_iter().find(|word| {
            let inside = |other: &Local| other.name == *word && self.repetition.span.contains(&other.span.start);
            self.around.file.locals().iter().any(inside)
        });
        if let Some(word) = declared_inside {
            return Err(format!("{word} is declared in the loop"));
        }
        if !invariant(&plain, self.around.file, &self.repetition.span) {
            return Err(format!("{value} may change from round to round"));
        }
        // A call of the class may change members, arguments and tensors that the loop does not show.
        let fixed =
            |word: &&str| *word != tensor && !matches!(*word, "GetValue" | "static_cast" | "float" | "half" | "this");
        let rests = self.around.tensors.tensors.contains_key(tensor) || words(&plain).iter().any(fixed);
        if let Some(call) = self.helper().filter(|_| rests) {
            return Err(format!("{} may change {value}", call.name));
        }
        let body = &self.around.function.body;
        let mut beside = [body.start..local.span.start, local.span.end..body.end].into_iter();
        if beside.any(|span| changes_name(self.around.file, &span, &local.name)) {
            return Err(format!("{} is assigned again", local.name));
        }
        let same_name =
            |other: &&Local| other.name == local.name && self.around.function.body.contains(&other.span.start);
        if self.around.file.locals().iter().filter(same_name).count() > 1 {
            return Err(format!("{} is declared more than once", local.name));
        }
        let mentions = |text: &str| words(text).into_iter().filter(|word| *word == local.name).count();
        // In broken text the loop may not lie in the function.
        let elsewhere = mentions(self.around.file.slice(&self.around.function.body)).checked_sub(mentions(whole));
        let elsewhere = elsewhere.ok_or("the loop and its function are not understood")?;
        let own = usize::from(!self.repetition.span.contains(&local.span.start));
        if elsewhere > own {
            return Err(format!("{} is used outside the loop", local.name));
        }
        if self.around.tensors.tensors.contains_key(tensor) {
            self.local_unchanged(tensor)
        } else {
            self.global_read_only(tensor)
        }
    }

    /// A call in the loop of something that is not known to leave everything else alone.
    fn helper(&self) -> Option<&Call> {
        self.around.file.calls_in(self.repetition.span.clone()).find(|call| {
            call.object.is_none()
                && !is_copy(&call.name)
                && argument_access(&call.name, 0) == Access::Escape
                && !matches!(call.name.as_str(), "static_cast" | "PipeBarrier" | "min" | "max" | "Min" | "Max")
        })
    }

    fn local_unchanged(&self, tensor: &str) -> Result<(), String> {
        for used in self.around.tensors.uses.iter().filter(|used| self.repetition.span.contains(&used.span.start)) {
            let writes = !matches!(used.access, Access::Read | Access::None);
            if writes && (used.tensor == tensor || !self.around.tensors.disjoint(&used.tensor, tensor)) {
                let line = self.around.file.line(used.span.start);
                return Err(format!("{tensor} may be changed through {} at line {line}", used.tensor));
            }
        }
        if self.repetition.body.contains(&self.around.tensors.tensors[tensor].declaration.start) {
            return Err(format!("{tensor} is taken anew in every round"));
        }
        Ok(())
    }

    fn global_read_only(&self, tensor: &str) -> Result<(), String> {
        if !self.around.kernel.globals.contains_key(tensor) {
            return Err(format!("{tensor} is neither a local tensor nor a global one of the class"));
        }
        if self.around.kernel.has_base() {
            return Err("a base class may write the tensor".to_owned());
        }
        let (mut mentions, mut reads) = (0, 0);
        for (name, index) in &self.around.kernel.functions {
            let Some(file) = self.around.context.forest.get(name) else { continue };
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
        global_memory::never_written(self.around.context, self.around.kernel, tensor)
    }
}
