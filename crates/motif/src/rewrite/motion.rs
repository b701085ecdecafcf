//! A statement that stands at one of two places: past its neighbours, or in a loop and before it. Both directions of a motif are the
//! same motion, each the other's way back.

use std::ops::Range;

use crate::analysis::code::{Surroundings, block_of, functions};
use crate::analysis::loops::loops_around;
use crate::analysis::siblings::{siblings, works};
use crate::context::Context;
use crate::rewrite::edits::{edit, insert_after};
use crate::rewrite::hoist::{hoisted, sunk};
use crate::site::Candidate;
use source::Edit;
use source::parse::{Local, Loop};

/// A statement that a motion may move, with the name that it is about.
pub(crate) struct Mover {
    /// The statement.
    pub(crate) statement: Range<usize>,
    /// What the site shows.
    pub(crate) shown: Range<usize>,
    /// The tensor or variable.
    pub(crate) name: String,
    /// What it belongs to: a queue, or the tensor that is read.
    pub(crate) of: String,
}

impl Mover {
    /// Variables that the function declares alone and with a value.
    pub(crate) fn locals<'a>(around: &Surroundings<'a>) -> impl Iterator<Item = (&'a Local, Range<usize>)> {
        let body = around.function.body.clone();
        let locals = around.file.locals().iter();
        locals.filter_map(move |local| {
            let inside = body.contains(&local.span.start) && local.alone;
            local.value.clone().filter(|_| inside).map(|value| (local, value))
        })
    }

    /// The declaration of a variable.
    pub(crate) fn of_local(local: &Local, of: &str) -> Self {
        let (statement, name) = (local.span.clone(), local.name.clone());
        Self { shown: statement.clone(), statement, name, of: of.to_owned() }
    }
}

/// A statement that goes past others of its block: as far as its tensor allows when the motif is made, anywhere that it might as
/// well stand when it is unmade.
pub(crate) struct Shift {
    /// What is done, such as `free`.
    pub(crate) verb: &'static str,
    /// The statements.
    pub(crate) movers: fn(&Surroundings<'_>) -> Vec<Mover>,
    /// Where it goes when the motif is made.
    pub(crate) towards: Towards,
    /// Proves that it may stand at either end of a text.
    pub(crate) passes: fn(&Surroundings<'_>, &Mover, &Range<usize>) -> Result<(), String>,
}

/// A direction, with the use of the tensor that ends it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Towards {
    /// Up, to right behind the last use before it.
    LastUse,
    /// Down, to right before the first use behind it.
    FirstUse,
}

impl Shift {
    /// Places where the motif can be made.
    pub(crate) fn made(&self, context: &Context) -> Vec<Candidate> {
        self.each(context, |around, mover| {
            let (at, uses) = (mover.statement.start, around.tensors.uses_of(&mover.name));
            let used = match self.towards {
                Towards::LastUse => uses.filter(|used| used.span.start < at).last(),
                Towards::FirstUse => uses.into_iter().find(|used| used.span.start >= mover.statement.end),
            };
            let all = siblings(around.file, &mover.statement);
            let target = used.and_then(|used| all.into_iter().find(|other| other.contains(&used.span.start)));
            let Some((target, between)) = target.and_then(|target| {
                let between = self.between(mover, &target, true);
                (between.start <= between.end).then_some((target, between))
            }) else {
                return Vec::new();
            };
            if !works(around.file, &between) {
                return Vec::new();
            }
            let edits = (self.passes)(around, mover, &between).and_then(|()| self.moved(around, mover, &target));
            vec![(target, edits)]
        })
    }

    /// Places where it can be unmade.
    pub(crate) fn unmade(&self, context: &Context) -> Vec<Candidate> {
        self.each(context, |around, mover| {
            let mut others = siblings(around.file, &mover.statement);
            match self.towards {
                Towards::LastUse => others.retain(|other| other.start > mover.statement.start),
                Towards::FirstUse => {
                    others.retain(|other| other.end <= mover.statement.start);
                    others.reverse();
                }
            }
            let mut found = Vec::new();
            for target in others {
                let between = self.between(mover, &target, false);
                // What stops it here stops it further on too.
                if (self.passes)(around, mover, &between).is_err() {
                    break;
                }
                if works(around.file, &between) {
                    let edits = self.moved(around, mover, &target);
                    found.push((target, edits));
                }
            }
            found
        })
    }

    fn each(
        &self,
        context: &Context,
        judge: impl Fn(&Surroundings<'_>, &Mover) -> Vec<(Range<usize>, Result<Vec<Edit>, String>)>,
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            let around = Surroundings { context, file, function, kernel, tensors: &tensors };
            for mover in (self.movers)(&around) {
                for (target, edits) in judge(&around, &mover) {
                    let place = match self.towards {
                        Towards::LastUse => format!("after line {}", file.line(target.end)),
                        Towards::FirstUse => format!("before line {}", file.line(target.start)),
                    };
                    let note = format!("{} {} {place}", self.verb, mover.name);
                    found.push(Candidate::new(file, &mover.shown, note, edits));
                }
            }
        }
        found
    }

    /// What is passed on the way to a statement, which is passed too when the motif is unmade.
    fn between(&self, mover: &Mover, target: &Range<usize>, make: bool) -> Range<usize> {
        match (self.towards, make) {
            (Towards::LastUse, true) => target.end..mover.statement.start,
            (Towards::LastUse, false) => mover.statement.end..target.end,
            (Towards::FirstUse, true) => mover.statement.end..target.start,
            (Towards::FirstUse, false) => target.start..mover.statement.start,
        }
    }

    /// Takes the statement out and puts it beside another one.
    fn moved(&self, around: &Surroundings<'_>, mover: &Mover, target: &Range<usize>) -> Result<Vec<Edit>, String> {
        let file = around.file;
        let whole = file.whole_lines(&mover.statement).ok_or("the statement shares its line")?;
        let shared = || format!("the statement at line {} shares its line", file.line(target.start));
        let text = file.slice(&mover.statement).to_owned();
        let inserted = match self.towards {
            Towards::LastUse => insert_after(file, target, &[text]).ok_or_else(shared)?,
            Towards::FirstUse => {
                let line = file.whole_lines(target).ok_or_else(shared)?.start;
                edit(file, line..line, format!("{}{text}\n", file.indentation(target.start)))
            }
        };
        Ok(vec![edit(file, whole, ""), inserted])
    }
}

/// A declaration that stands in a loop, or once before it.
pub(crate) struct Hoist {
    /// The declarations.
    pub(crate) movers: fn(&Surroundings<'_>) -> Vec<Mover>,
    /// Proves that it has the same meaning before the loop and in every round.
    pub(crate) same: fn(&Surroundings<'_>, &Mover, &Loop) -> Result<(), String>,
    /// What is left to the verifier, also whether the loop runs where the motif is made.
    pub(crate) conditions: fn(&Surroundings<'_>, &Mover, &Loop, bool) -> Vec<String>,
    /// What may stand between the declaration and its loop.
    pub(crate) between: fn(&str) -> bool,
    /// Why one under a condition stays, where such are looked at.
    pub(crate) conditional: Option<&'static str>,
}

impl Hoist {
    /// Places where the motif can be made.
    pub(crate) fn made(&self, context: &Context) -> Vec<Candidate> {
        self.each(context, true, |around, mover| {
            let file = around.file;
            let repetition = *loops_around(file, around.function, mover.statement.start).first()?;
            let direct = block_of(file, &mover.statement).as_ref() == Some(&repetition.body);
            if !direct && self.conditional.is_none() {
                return None;
            }
            let edits = (self.same)(around, mover, repetition).and_then(|()| match self.conditional {
                Some(reason) if !direct => Err(reason.to_owned()),
                _ => hoisted(file, repetition, &mover.statement),
            });
            Some((repetition, edits))
        })
    }

    /// Places where it can be unmade.
    pub(crate) fn unmade(&self, context: &Context) -> Vec<Candidate> {
        self.each(context, false, |around, mover| {
            let file = around.file;
            let next = file.loops().iter().find(|repetition| repetition.span.start >= mover.statement.end)?;
            let near = around.function.body.contains(&next.span.start)
                && (self.between)(file.slice(&(mover.statement.end..next.span.start)));
            let edits = || (self.same)(around, mover, next).and_then(|()| sunk(file, next, &mover.statement));
            near.then(|| (next, edits()))
        })
    }

    fn each(
        &self,
        context: &Context,
        make: bool,
        judge: impl for<'a> Fn(&Surroundings<'a>, &Mover) -> Option<(&'a Loop, Result<Vec<Edit>, String>)>,
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            let around = Surroundings { context, file, function, kernel, tensors: &tensors };
            for mover in (self.movers)(&around) {
                let Some((repetition, edits)) = judge(&around, &mover) else { continue };
                let place = if make { "before the loop" } else { "in every round" };
                let mut candidate = Candidate::new(file, &mover.shown, format!("read {} {place}", mover.name), edits);
                candidate.site.conditions = (self.conditions)(&around, &mover, repetition, make);
                found.push(candidate);
            }
        }
        found
    }
}
