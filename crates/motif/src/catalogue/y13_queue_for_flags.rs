//! Y13: queues instead of buffers that flags order by hand, so that a round need not wait for the last one.

use std::collections::BTreeSet;

use crate::analysis::code::{block_of, words};
use crate::analysis::entry::objects_in_a_row;
use crate::analysis::pipes::flags::{FlagUnit, event_of, event_pipes, flag_units};
use crate::analysis::pipes::order::{Question, Run, Unordered, with_helpers};
use crate::analysis::pipes::rounds::written_alike;
use crate::analysis::pipes::{COPY_IN, COPY_OUT, Pipes, VECTOR, name_of, sides};
use crate::analysis::taken_buffer::taken;
use crate::rewrite::edits::deleted;
use crate::rewrite::flags_again::as_buffer_with_flags;
use crate::rewrite::queued::{event_ids, queued};
use crate::rewrite::turns::{repositioned, turned};
use crate::{Candidate, Combination, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::facts::{Kernel, base_name};
use source::parse::{Call, SyntaxFile};
use source::{Edit, Patch};

/// The motif.
pub struct QueueForFlags;

const METADATA: Metadata = Metadata {
    id: Id::Y13,
    title: "queues instead of buffers that flags order by hand",
    family: Family::Synchronisation,
    precondition: "a class, part of no other and inherited by none, with flags of its own that are set and awaited at once, by two calls beside each other or by a function of their own; a TBuf with one InitBuffer that copies \
     touch, filled, used and emptied in one block, or in functions called from it, filled before it is read in every round, and used nowhere else; or a VECIN queue whose tensors \
     are copied out. Every call that touches a tensor of the class is understood, all accesses are ordered without the flags that go, on every path, and at least one goes \
     for which a round waited; global memory is no less ordered than before; ids of the flags that stay are asked for, where a queue has flags of the same pipes",
    left_to_verifier: "nothing",
    relieves: &[Counter::StallUs, Counter::Mte2Us, Counter::Mte3Us],
    prior_gain: 1.10,
    cost: "an event id for each queue",
    tunables: "opens D01: the queues may have two buffers",
    undoing: "a buffer with flags set and awaited at once, for a bound queue in one block",
    rounding_changes: false,
    replaces_constants: false,
    company: Company { leads: &[Combination { rank: 19, motifs: &[Id::Y13, Id::D01] }], ..Company::ANY },
};

impl Motif for QueueForFlags {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        let named =
            |text: &str| ["MTE3_MTE2", "MTE3_V", "V_MTE2", "PIPE_MTE3"].iter().any(|event| text.contains(event));
        if !context.forest.iter().any(|file| named(file.text())) {
            return found;
        }
        let own = |kernel: &&Kernel| !kernel.buffers.is_empty() || !kernel.queues.is_empty();
        for kernel in context.facts.kernels.values().filter(own) {
            let backward = |unit: &FlagUnit<'_>| is_backward(unit) && is_in(unit, kernel);
            let Ok(with_bases) = context.facts.with_bases(kernel) else { continue };
            let units = flag_units(context, &with_bases);
            let Some(first) = units.iter().find(|unit| backward(unit)) else { continue };
            let Ok(whole) = with_helpers(context, kernel) else { continue };
            let run = Run::new(context, &whole);
            let change = Change { context, kernel, run: &run };
            let (note, edits) = match change.made() {
                Ok((names, edits)) if names.is_empty() => (format!("fewer flags in {}", kernel.name), Ok(edits)),
                Ok((names, edits)) => (format!("{} as queues", names.join(", ")), Ok(edits)),
                Err(reason) => (format!("queues in {}", kernel.name), Err(reason)),
            };
            found.push(Candidate::new(first.file, &first.call.span, note, edits));
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for kernel in context.facts.kernels.values() {
            for (name, queue) in kernel.queues.iter().filter(|(_, queue)| queue.position == "VECIN,VECOUT") {
                let Some(file) = context.forest.get(&queue.declaration.file) else { continue };
                let edits = as_buffer_with_flags(context, kernel, name);
                let note = format!("{name} as a buffer with flags");
                found.push(Candidate::new(file, &queue.declaration.span(), note, edits));
            }
        }
        found
    }
}

/// Whether a round waits by these flags for what an earlier one did.
fn is_backward(unit: &FlagUnit<'_>) -> bool {
    unit.pairs.iter().any(|pair| matches!(*pair, (COPY_OUT, COPY_IN | VECTOR) | (VECTOR, COPY_IN)))
}

/// Whether a unit stands in a function of the class itself: one of a base class or outside may order other classes too.
fn is_in(unit: &FlagUnit<'_>, kernel: &Kernel) -> bool {
    let function = unit.file.enclosing_function(unit.call.span.start);
    function.is_some_and(|function| *function.class.as_ref().unwrap_or(&function.name) == kernel.name)
}

/// Only these are a queue's business; what the scalar unit waits for stays.
fn is_of_queues(unit: &FlagUnit<'_>) -> bool {
    let of_queues = |pipe: Pipes| matches!(pipe, COPY_IN | COPY_OUT | VECTOR);
    unit.pairs.iter().all(|(from, to)| of_queues(*from) && of_queues(*to))
}

/// A buffer or queue with what makes it another one, or the reason why nothing does.
type Single = (String, Result<Vec<Edit>, String>);

/// The rewrite of one class.
struct Change<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    /// The class as it is, with its bases.
    run: &'a Run<'a>,
}

impl Change<'_> {
    /// Names of the queues, and all edits.
    fn made(&self) -> Result<(Vec<String>, Vec<Edit>), String> {
        if !self.context.facts.derived(&self.kernel.name).is_empty() {
            return Err(format!("other classes inherit {}", self.kernel.name));
        }
        let part_of = |class: &&source::parse::Class| {
            class.name != self.kernel.name
                && class.members.iter().any(|member| words(&member.type_text).contains(&self.kernel.name.as_str()))
        };
        if let Some(other) = self.context.forest.iter().flat_map(SyntaxFile::classes).find(part_of) {
            return Err(format!("{} has an object of {}, and may rest on its flags", other.name, self.kernel.name));
        }
        let before = self.run.unordered(Question { gone: &BTreeSet::new(), turns: &[] })?;
        let (mut names, mut edits) = (Vec::new(), Vec::new());
        let mut refused = None;
        for (name, own) in self.single()? {
            let tried = own.and_then(|own| {
                let all = [edits.clone(), own].concat();
                let with: Vec<String> = names.iter().cloned().chain([name.clone()]).collect();
                self.after(&all, |changed, kernel| self.holds(changed, kernel, &with, &before))?;
                Ok((with, all))
            });
            match tried {
                Ok((with, all)) => (names, edits) = (with, all),
                Err(reason) => refused = Some(refused.unwrap_or(reason)),
            }
        }
        // Where queues do it all already, flags stand beside them that only delay.
        let gone = self.after(&edits, |changed, kernel| self.needless(changed, kernel, &names, &before));
        let gone = match (gone, refused) {
            (Err(_), Some(reason)) if names.is_empty() => return Err(reason),
            (gone, _) => gone?,
        };
        let statements = gone.iter().flat_map(|number| {
            let unit = &self.run.units[*number];
            unit.statements.iter().map(|statement| deleted(unit.file, statement))
        });
        edits.extend(statements);
        Ok((names, edits))
    }

    /// Edits for each buffer or queue that is one by itself.
    fn single(&self) -> Result<Vec<Single>, String> {
        let log = self.run.log()?;
        let mut found = Vec::new();
        for name in self.kernel.buffers.keys() {
            let in_block = turned(self.context, self.kernel, &log, name).transpose();
            let Some(in_block) = in_block else { continue };
            let own = in_block.map(|turned| (turned.position, turned.edits)).or_else(|reason| {
                // A function for each step takes the tensor for itself.
                let (role, all) =
                    taken(self.context, self.kernel, name, "Get").ok().flatten().ok_or_else(|| reason.clone())?;
                let edits = queued(self.context, self.kernel, name, role, &all).map_err(|_| reason)?;
                Ok((role.position(), edits))
            });
            let own = own.and_then(|(position, edits)| {
                event_ids(self.context, self.kernel, position)?;
                Ok(edits)
            });
            found.push((name.clone(), own));
        }
        for name in self.kernel.queues.keys() {
            if let Some(own) = repositioned(self.context, self.kernel, &log, name).transpose() {
                found.push((name.clone(), own));
            }
        }
        Ok(found)
    }

    /// Asks something of the class once edits are made.
    fn after<R>(&self, edits: &[Edit], ask: impl FnOnce(&Context, &Run<'_>) -> Result<R, String>) -> Result<R, String> {
        let patch = Patch { title: String::new(), motif: METADATA.id.to_string(), edits: edits.to_vec() };
        self.context.verifiable(edits)?;
        let tree = self.context.tree.apply(&patch).map_err(|error| error.to_string())?;
        let changed = self.context.after(tree);
        let kernel = changed.facts.kernels.get(&self.kernel.name).ok_or("the class is not understood any more")?;
        let whole = with_helpers(&changed, kernel).map_err(|base| format!("the base class {base} is not known"))?;
        let run = Run::new(&changed, &whole);
        if run.units.len() != self.run.units.len() {
            return Err("its flags are not found again".to_owned());
        }
        ask(&changed, &run)
    }

    /// Proves that queues and all flags together order the class as it was ordered before.
    fn holds(&self, changed: &Context, run: &Run<'_>, names: &[String], before: &Unordered) -> Result<(), String> {
        let log = run.log()?;
        let kernel = changed.facts.kernels.get(&self.kernel.name).ok_or("the class is not understood any more")?;
        for name in names.iter().filter(|name| self.kernel.buffers.contains_key(*name)) {
            let takes = |call: &Call| {
                call.name == "AllocTensor" && call.object.as_deref().map(base_name) == Some(name.as_str())
            };
            let taken: Vec<(&SyntaxFile, &Call)> = kernel
                .calls(&changed.forest)
                .filter(|(_, _, call)| takes(call))
                .map(|(file, _, call)| (file, call))
                .collect();
            written_alike(&log, name, &taken)?;
        }
        self.ordered(run, names, &BTreeSet::new(), before)
    }

    fn ordered(
        &self,
        run: &Run<'_>,
        names: &[String],
        gone: &BTreeSet<usize>,
        before: &Unordered,
    ) -> Result<(), String> {
        let turns: Vec<String> = names.iter().filter(|name| self.kernel.buffers.contains_key(*name)).cloned().collect();
        let after = run.unordered(Question { gone, turns: &turns })?;
        if let Some(reason) = after.local {
            return Err(reason);
        }
        if let Some((first, second)) = after.global.difference(&before.global).next() {
            let (from, to) = (&first.2, &second.2);
            return Err(format!("{from} in {} before {to} in {} may be the same global memory", first.1, second.1));
        }
        let unread = objects_in_a_row(self.context, &self.kernel.name);
        if let Some(store) = after.stores.difference(&before.stores).next().filter(|_| unread) {
            return Err(format!("what {} in {} writes may be read by the object that runs next", store.2, store.1));
        }
        Ok(())
    }

    /// Flags that queues make needless, by number.
    fn needless(
        &self,
        changed: &Context,
        run: &Run<'_>,
        names: &[String],
        before: &Unordered,
    ) -> Result<BTreeSet<usize>, String> {
        let mut gone = BTreeSet::new();
        let mut kept = None;
        for backward in [true, false] {
            for (number, unit) in self.run.units.iter().enumerate() {
                if is_backward(unit) != backward || !self.may_go(unit) {
                    continue;
                }
                let with: BTreeSet<usize> = gone.iter().copied().chain([number]).collect();
                match self.ordered(run, names, &with, before) {
                    Ok(()) => gone = with,
                    Err(reason) if backward => kept = Some(kept.unwrap_or(reason)),
                    Err(_) => {}
                }
            }
            if backward && gone.is_empty() {
                return Err(kept.unwrap_or_else(|| "no flag that a round waits for may go".to_owned()));
            }
        }
        ids_are_apart(changed, run, names, &gone)?;
        Ok(gone)
    }

    /// Whether a unit is the class's own and a queue's business, runs, and stands in a block that cases run.
    fn may_go(&self, unit: &FlagUnit<'_>) -> bool {
        is_of_queues(unit)
            && is_in(unit, self.kernel)
            && self.run.reaches(unit.file, unit.call)
            && self.stands_alone(unit)
    }

    fn stands_alone(&self, unit: &FlagUnit<'_>) -> bool {
        unit.statements.iter().all(|statement| {
            let edit = deleted(unit.file, statement);
            block_of(unit.file, statement).is_some() && self.context.verifiable(&[edit]).is_ok()
        })
    }
}

/// Proves that no flag that stays has an id which a queue may have for the same pipes.
fn ids_are_apart(context: &Context, run: &Run<'_>, names: &[String], gone: &BTreeSet<usize>) -> Result<(), String> {
    let queues = names.iter().filter_map(|name| Some((name, sides(&run.kernel().queues.get(name)?.position)?)));
    let queues: Vec<(&String, (Pipes, Pipes))> = queues.collect();
    for (file, _, call) in run.kernel().calls(&context.forest) {
        let Some((event, id)) = event_of(file, call) else { continue };
        let unit = |unit: &&FlagUnit<'_>| {
            let own = unit.statements.iter().any(|statement| statement.contains(&call.span.start));
            own && unit.file.name() == file.name()
        };
        let of_unit = run.units.iter().position(|known| unit(&known));
        if of_unit.is_some_and(|number| gone.contains(&number)) || asked_for(file, call, &id) {
            continue;
        }
        // A function of its own for flags of any pipes may be called for these.
        let Some((from, to)) = event_pipes(&event) else {
            return Err(format!("line {}: a queue may have the id {id} too", file.line(call.span.start)));
        };
        // What is handed over is mostly taken at once, and an id is free again then.
        let pending = |queue: &String, first: Pipes, second: Pipes| {
            (from, to) == (second, first)
                || ((from, to) == (first, second)
                    && (of_unit.is_none() || !taken_at_once(context, run.kernel(), queue)))
        };
        let clash = queues.iter().any(|(queue, (first, second))| pending(queue, *first, *second));
        if clash {
            let (from, to, line) = (name_of(from), name_of(to), file.line(call.span.start));
            return Err(format!("line {line}: a queue may have the id {id} of {from}_{to} too"));
        }
    }
    Ok(())
}

/// Whether nothing but an assignment stands between handing a queue's tensors over and taking them.
fn taken_at_once(context: &Context, kernel: &Kernel, queue: &str) -> bool {
    let on_queue = |call: &Call, name: &str| call.name == name && call.object.as_deref().map(base_name) == Some(queue);
    kernel.calls(&context.forest).filter(|(_, _, call)| on_queue(call, "EnQue")).all(|(file, _, call)| {
        let end = call.statement.as_ref().map_or(call.span.end, |statement| statement.end);
        let taken = file.calls().iter().find(|other| other.span.start > end && on_queue(other, "DeQue"));
        taken.is_some_and(|taken| !file.slice(&(end..taken.span.start)).contains([';', '}']))
    })
}

/// Whether an id is asked for and not chosen by hand.
fn asked_for(file: &SyntaxFile, call: &Call, id: &str) -> bool {
    let Some(function) = file.enclosing_function(call.span.start) else { return false };
    let asks = |text: &str| text.contains("FetchEventID") || text.contains("AllocEventID");
    let mut locals = file.locals().iter().filter(|local| local.name == id && function.body.contains(&local.span.start));
    asks(id) || locals.any(|local| local.value.as_ref().is_some_and(|value| asks(file.slice(value))))
}
