//! A kernel run in the mind: which accesses nothing orders, and whether a queue's tensors are used in turns.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::flags::{FlagUnit, by_function, flag_units};
use super::operands::{Frame, Memory, Operands};
use super::state::{Access, EMPTY, FILLED, FREE, HELD, Phase, QUEUED, State};
use super::touches::{Touch, touches};
use super::{Pair, name_of, sides};
use crate::analysis::entry::device_files;
use crate::analysis::global_memory::different;
use crate::analysis::regions::is_full_barrier;
use crate::context::Context;
use source::facts::Kernel;
use source::facts::trace::{RunPart, roots};
use source::parse::{Call, SyntaxFile};

/// Rounds of the whole kernel until nothing more is learnt; it takes two or three.
const ROUNDS: usize = 40;

/// A place in words that stay the same when statements around it go or come: file, function, call, which of those.
pub(crate) type Place = (String, String, String, usize);

/// What a kernel leaves unordered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unordered {
    /// In the unified buffer, in words.
    pub(crate) local: Option<String>,
    /// Pairs of accesses of global memory.
    pub(crate) global: BTreeSet<(Place, Place)>,
    /// Stores that copies in of whatever runs next are not ordered behind.
    pub(crate) stores: BTreeSet<Place>,
}

/// What to look at, and what to leave out.
#[derive(Clone, Copy)]
pub(crate) struct Question<'q> {
    /// Units of [`flag_units`] that are gone, by their number.
    pub(crate) gone: &'q BTreeSet<usize>,
    /// Queues whose tensors have to be filled and emptied in turns.
    pub(crate) turns: &'q [String],
}

/// A kernel with everything that does not change from question to question.
pub(crate) struct Run<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    operands: Operands<'a>,
    roots: Vec<(&'a str, Vec<RunPart<'a>>)>,
    /// Its flags.
    pub(crate) units: Vec<FlagUnit<'a>>,
    apart: BTreeSet<(String, String)>,
    /// What calls touch, by the calls that led there: names are followed once.
    touched: RefCell<BTreeMap<Vec<usize>, Rc<[Touch]>>>,
    by_function: RefCell<BTreeMap<usize, Option<Vec<Pair>>>>,
}

/// An access in the order in which a function of the class that no other one calls makes them.
pub(crate) struct Logged<'a> {
    /// The calls of functions of the class that led there, outermost first, and the call itself.
    pub(crate) chain: Vec<Frame<'a>>,
    pub(crate) touch: Touch,
}

impl<'a> Run<'a> {
    /// The kernel, with its bases among it.
    pub(crate) fn new(context: &'a Context, kernel: &'a Kernel) -> Self {
        Self {
            context,
            kernel,
            operands: Operands { forest: &context.forest, kernel },
            roots: live(context, kernel, roots(&context.forest, kernel)),
            units: flag_units(context, kernel),
            apart: apart_pairs(context, kernel),
            touched: RefCell::default(),
            by_function: RefCell::default(),
        }
    }

    /// Runs all functions of the class that no other one calls, in any order.
    pub(crate) fn unordered(&self, question: Question<'_>) -> Result<Unordered, String> {
        let mut walk = Walk { run: self, question, places: Vec::new(), found: Unordered::default() };
        let mut open = State::default();
        for queue in question.turns {
            open.phases.insert(queue.clone(), FREE);
        }
        for _ in 0..ROUNDS {
            let mut after = open.clone();
            for (name, steps) in &self.roots {
                let end = walk.after(steps, open.clone(), &mut Vec::new())?;
                let mut state = end.through;
                if let Some(left) = &end.left {
                    state.join(left);
                }
                if let Some((queue, _)) = state.phases.iter().find(|(_, phase)| **phase != FREE) {
                    return Err(format!("{queue} may be in use at the end of {name}"));
                }
                let stores: Vec<Place> = state.written().map(|access| walk.place(access.place)).collect();
                walk.found.stores.extend(stores);
                after.join(&state);
            }
            if after == open {
                return Ok(walk.found);
            }
            open = after;
        }
        Err("the order of this kernel is too much to follow".to_owned())
    }

    /// The class, with its bases among it.
    pub(crate) fn kernel(&self) -> &'a Kernel {
        self.kernel
    }

    /// Whether some run of the class comes to a call.
    pub(crate) fn reaches(&self, file: &SyntaxFile, call: &Call) -> bool {
        fn within(steps: &[RunPart<'_>], file: &SyntaxFile, call: &Call) -> bool {
            let here = |of: &SyntaxFile, other: &Call| of.name() == file.name() && other.span == call.span;
            steps.iter().any(|step| match step {
                RunPart::Call(of, other) => here(of, other),
                RunPart::Own(of, other, inner) => here(of, other) || within(inner, file, call),
                RunPart::Loop(inner) => within(inner, file, call),
                RunPart::Branch(arms) => arms.iter().any(|arm| within(arm, file, call)),
                RunPart::Leave | RunPart::Unknown(..) => false,
            })
        }
        self.roots.iter().any(|(_, steps)| within(steps, file, call))
    }

    /// All accesses, loops once and branches one arm after the other.
    pub(crate) fn log(&self) -> Result<Vec<Logged<'a>>, String> {
        let mut found = Vec::new();
        for (_, steps) in &self.roots {
            self.log_steps(steps, &mut Vec::new(), &mut found)?;
        }
        Ok(found)
    }

    fn log_steps(
        &self,
        steps: &[RunPart<'a>],
        frames: &mut Vec<Frame<'a>>,
        found: &mut Vec<Logged<'a>>,
    ) -> Result<(), String> {
        for step in steps {
            match step {
                RunPart::Call(file, call) => {
                    for touch in self.touches(file, call, frames)?.iter() {
                        let mut chain = frames.clone();
                        chain.push((file, call));
                        found.push(Logged { chain, touch: touch.clone() });
                    }
                }
                RunPart::Own(file, call, inner) => {
                    frames.push((file, call));
                    let inner = self.log_steps(inner, frames, found);
                    frames.pop();
                    inner?;
                }
                RunPart::Loop(inner) => self.log_steps(inner, frames, found)?,
                RunPart::Branch(arms) => {
                    arms.iter().try_for_each(|arm| self.log_steps(arm, frames, found))?;
                }
                RunPart::Leave | RunPart::Unknown(..) => {}
            }
        }
        Ok(())
    }

    fn touches(&self, file: &'a SyntaxFile, call: &'a Call, frames: &[Frame<'a>]) -> Result<Rc<[Touch]>, String> {
        let key: Vec<usize> =
            frames.iter().map(|(_, call)| *call).chain([call]).map(|call| std::ptr::from_ref(call) as usize).collect();
        if let Some(known) = self.touched.borrow().get(&key) {
            return Ok(Rc::clone(known));
        }
        let touched: Rc<[Touch]> = touches(self.operands, file, call, frames)?.into();
        self.touched.borrow_mut().insert(key, Rc::clone(&touched));
        Ok(touched)
    }

    /// Pipes that a call of a function that only sets and awaits flags orders.
    fn flags_of(&self, file: &'a SyntaxFile, call: &'a Call) -> Option<Vec<Pair>> {
        let key = std::ptr::from_ref(call) as usize;
        let mut known = self.by_function.borrow_mut();
        known
            .entry(key)
            .or_insert_with(|| by_function(self.context, self.kernel, file, call).map(|unit| unit.pairs))
            .clone()
    }
}

/// The roots that somebody runs on an object of the class: what a base class has for others is none of its business.
fn live<'a>(
    context: &Context,
    kernel: &Kernel,
    roots: Vec<(&'a str, Vec<RunPart<'a>>)>,
) -> Vec<(&'a str, Vec<RunPart<'a>>)> {
    let called = |name: &str| {
        name == kernel.name
            || context.forest.iter().any(|file| {
                [".", "->"].iter().any(|member| {
                    let wanted = format!("{member}{name}");
                    file.text().match_indices(&wanted).any(|(at, _)| {
                        let behind = file.text()[at + wanted.len()..].trim_start();
                        behind.starts_with(['(', '<']) && !file.text()[..at].ends_with("this")
                    })
                })
            })
    };
    let found: Vec<_> = roots.iter().filter(|(name, _)| called(name)).cloned().collect();
    if found.is_empty() { roots } else { found }
}

/// A class with its bases, and with the free functions that it calls among its functions.
pub(crate) fn with_helpers(context: &Context, kernel: &Kernel) -> Result<Kernel, String> {
    let mut whole = context.facts.with_bases(kernel)?;
    let mut open: Vec<(String, usize)> = whole.functions.clone();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    while let Some((name, index)) = open.pop() {
        let Some(file) = context.forest.get(&name) else { continue };
        let Some(function) = file.functions().get(index) else { continue };
        for call in file.calls_in(function.body.clone()).filter(|call| call.is_own()) {
            if !seen.insert(call.name.clone()) {
                continue;
            }
            for other in device_files(context) {
                for (index, function) in other.functions().iter().enumerate() {
                    let place = (other.name().to_owned(), index);
                    if function.class.is_none() && function.name == call.name && !whole.functions.contains(&place) {
                        whole.functions.push(place.clone());
                        open.push(place);
                    }
                }
            }
        }
    }
    Ok(whole)
}

/// Pairs of global tensors that are different memory.
fn apart_pairs(context: &Context, kernel: &Kernel) -> BTreeSet<(String, String)> {
    let names: Vec<&String> = kernel.globals.keys().collect();
    let mut found = BTreeSet::new();
    for left in &names {
        for right in names.iter().filter(|right| left < right) {
            if different(context, kernel, left, right) {
                found.insert(((*left).clone(), (*right).clone()));
                found.insert(((*right).clone(), (*left).clone()));
            }
        }
    }
    found
}

/// What holds behind some steps: where they run to the end, and where something leaves them.
struct End {
    through: State,
    left: Option<State>,
}

impl End {
    fn leave(&mut self, state: &State) {
        match &mut self.left {
            Some(left) => left.join(state),
            None => self.left = Some(state.clone()),
        }
    }
}

struct Walk<'a, 'q> {
    run: &'q Run<'a>,
    question: Question<'q>,
    places: Vec<(&'a SyntaxFile, &'a Call)>,
    found: Unordered,
}

impl<'a> Walk<'a, '_> {
    fn after(&mut self, steps: &[RunPart<'a>], state: State, frames: &mut Vec<Frame<'a>>) -> Result<End, String> {
        let mut end = End { through: state, left: None };
        for step in steps {
            match step {
                RunPart::Call(file, call) => self.call(file, call, frames, &mut end.through)?,
                RunPart::Own(file, call, inner) => {
                    if self.flags(file, call, &mut end.through) {
                        continue;
                    }
                    frames.push((file, call));
                    let inner = self.after(inner, end.through.clone(), frames);
                    frames.pop();
                    let inner = inner?;
                    end.through = inner.through;
                    if let Some(left) = &inner.left {
                        end.through.join(left);
                    }
                }
                RunPart::Loop(inner) => self.repeated(inner, frames, &mut end)?,
                RunPart::Branch(arms) => {
                    let mut through: Option<State> = None;
                    for arm in arms {
                        let arm = self.after(arm, end.through.clone(), frames)?;
                        match &mut through {
                            Some(through) => through.join(&arm.through),
                            None => through = Some(arm.through),
                        }
                        if let Some(left) = &arm.left {
                            end.leave(left);
                        }
                    }
                    if let Some(through) = through {
                        end.through = through;
                    }
                }
                RunPart::Leave => {
                    let state = end.through.clone();
                    end.leave(&state);
                }
                RunPart::Unknown(file, span) => {
                    return Err(format!("line {}: code that is not understood", file.line(span.start)));
                }
            }
        }
        Ok(end)
    }

    fn repeated(&mut self, inner: &[RunPart<'a>], frames: &mut Vec<Frame<'a>>, end: &mut End) -> Result<(), String> {
        let before = end.through.clone();
        let mut last = None;
        for _ in 0..ROUNDS {
            let round = self.after(inner, end.through.clone(), frames)?;
            let mut after = end.through.clone();
            after.join(&round.through);
            if let Some(left) = &round.left {
                after.join(left);
                end.leave(left);
            }
            last = Some(round);
            if after == end.through {
                break;
            }
            end.through = after;
        }
        // What fills a tensor piece by piece has filled it: whoever uses it runs as many rounds.
        if let Some(round) = last.filter(|round| round.left.is_none()) {
            for (queue, phase) in &mut end.through.phases {
                let once = round.through.phases.get(queue).copied().unwrap_or_default();
                if before.phases.get(queue) == Some(&EMPTY) && once & EMPTY == 0 {
                    *phase &= !EMPTY;
                }
            }
        }
        Ok(())
    }

    /// Whether a call is that of a function that only sets and awaits flags.
    fn flags(&self, file: &'a SyntaxFile, call: &'a Call, state: &mut State) -> bool {
        let here = |unit: &&FlagUnit<'a>| unit.file.name() == file.name() && unit.call.span == call.span;
        let known = self.run.units.iter().position(|unit| here(&unit));
        let pairs = match known {
            Some(number) if self.question.gone.contains(&number) => return true,
            Some(number) => self.run.units[number].pairs.clone(),
            None => match self.run.flags_of(file, call) {
                Some(pairs) => pairs,
                None => return false,
            },
        };
        for (from, to) in pairs {
            state.order(from, to);
        }
        true
    }

    fn call(
        &mut self,
        file: &'a SyntaxFile,
        call: &'a Call,
        frames: &[Frame<'a>],
        state: &mut State,
    ) -> Result<(), String> {
        if self.flags(file, call, state) {
            return Ok(());
        }
        if is_full_barrier(call) || (call.name == "pipe_barrier" && file.argument(call, 0) == Some("PIPE_ALL")) {
            state.order_all();
            return Ok(());
        }
        if matches!(call.name.as_str(), "AllocTensor" | "EnQue" | "DeQue" | "FreeTensor")
            && let Some(object) = &call.object
        {
            let memory = self.run.operands.memory(file, call.span.start, object, frames)?;
            if let Some(Memory::Local(queue)) = memory {
                return self.queue(file, call, &queue, state);
            }
        }
        for touch in self.run.touches(file, call, frames)?.iter() {
            self.touch(file, call, touch, state)?;
        }
        Ok(())
    }

    fn queue(&self, file: &SyntaxFile, call: &Call, queue: &str, state: &mut State) -> Result<(), String> {
        let line = file.line(call.span.start);
        let known = self.run.kernel.queues.get(queue).and_then(|known| sides(&known.position));
        let sides = known.ok_or_else(|| format!("line {line}: the position of {queue} is not understood"))?;
        state.queue(queue, &call.name, sides);
        let Some(phase) = state.phases.get_mut(queue) else { return Ok(()) };
        let (expected, next): (Phase, Phase) = match call.name.as_str() {
            "AllocTensor" => (FREE, EMPTY),
            "EnQue" => (FILLED, QUEUED),
            "DeQue" => (QUEUED, HELD),
            _ => (HELD, FREE),
        };
        if *phase & !expected != 0 {
            return Err(format!("line {line}: filling and emptying of {queue} may not take turns"));
        }
        *phase = next;
        Ok(())
    }

    fn touch(&mut self, file: &'a SyntaxFile, call: &'a Call, touch: &Touch, state: &mut State) -> Result<(), String> {
        let line = file.line(call.span.start);
        if let Memory::Local(name) = &touch.memory
            && let Some(phase) = state.phases.get_mut(name)
        {
            if *phase & (FREE | QUEUED) != 0 {
                return Err(format!("line {line}: {name} may be used outside of its turn"));
            }
            if touch.reads && *phase & EMPTY != 0 {
                return Err(format!("line {line}: {name} may be read before this round fills it"));
            }
            if touch.writes && *phase & EMPTY != 0 {
                *phase = *phase & !EMPTY | FILLED;
            }
        }
        let place = self.number(file, call);
        for writes in [false, true] {
            if if writes { touch.writes } else { touch.reads } {
                let access = Access { memory: touch.memory.clone(), pipe: touch.pipe, writes, place };
                self.conflicts(&access, state);
                state.add(access);
            }
        }
        Ok(())
    }

    fn conflicts(&mut self, access: &Access, state: &State) {
        let may_be = |other: &Memory| match (&access.memory, other) {
            (Memory::Global(own), Memory::Global(other)) => !self.run.apart.contains(&(own.clone(), other.clone())),
            (own, other) => own == other,
        };
        let open: Vec<Access> = state.open(access, may_be).cloned().collect();
        for earlier in open {
            match &access.memory {
                Memory::Local(name) => {
                    let line = |place: usize| self.places[place].0.line(self.places[place].1.span.start);
                    let said = format!(
                        "nothing orders {} at line {} before {} at line {}, both on {name}",
                        name_of(earlier.pipe),
                        line(earlier.place),
                        name_of(access.pipe),
                        line(access.place)
                    );
                    self.found.local.get_or_insert(said);
                }
                Memory::Global(_) => {
                    let pair = (self.place(earlier.place), self.place(access.place));
                    self.found.global.insert(pair);
                }
            }
        }
    }

    fn number(&mut self, file: &'a SyntaxFile, call: &'a Call) -> usize {
        let same = |known: &(&SyntaxFile, &Call)| known.0.name() == file.name() && known.1.span == call.span;
        self.places.iter().position(same).unwrap_or_else(|| {
            self.places.push((file, call));
            self.places.len() - 1
        })
    }

    fn place(&self, number: usize) -> Place {
        let (file, call) = self.places[number];
        let Some(function) = file.enclosing_function(call.span.start) else { return Place::default() };
        let before = function.body.start..call.span.start;
        let which = file.calls_in(before).filter(|other| other.name == call.name).count();
        let head: BTreeMap<&str, ()> = function.parameters.iter().map(|known| (known.type_text.as_str(), ())).collect();
        let head: Vec<&str> = head.into_keys().collect();
        (file.name().to_owned(), format!("{}({})", function.name, head.join(",")), call.name.clone(), which)
    }
}
