//! A buffer that copies touch as a queue, where its tensors are taken in functions or blocks that fill it or empty it.

use crate::analysis::machine::EVENT_IDS;
use crate::analysis::taken_buffer::{Role, Taken};
use crate::context::Context;
use crate::rewrite::members::{numbered, retyped};
use source::Edit;
use source::facts::trace::{RunPart, roots};
use source::facts::{InitBuffer, Kernel};
use source::parse::{Call, SyntaxFile};

/// Edits that make a queue of a buffer which its tensors fill and empty in turns.
pub(crate) fn queued(
    context: &Context,
    kernel: &Kernel,
    name: &str,
    role: Role,
    all: &[Taken<'_>],
) -> Result<Vec<Edit>, String> {
    let init = kernel.init_of(name).ok_or_else(|| format!("{name} is not initialised at exactly one place"))?;
    if init.number.is_some() {
        return Err(format!("{name} is initialised like a queue"));
    }
    let turns = Turns { name, all };
    for (root, steps) in roots(&context.forest, kernel) {
        if turns.after(&steps, (0, 0))? != (0, 0) {
            return Err(format!("{name} may be full at the end of {root}"));
        }
    }
    let declaration = &kernel.buffers[name];
    let header = context.forest.get(&declaration.file).ok_or("the class is not parsed")?;
    let position = role.position();
    let mut edits = vec![retyped(header, declaration, name, |scope, of| format!("{scope}TQue<{of}::{position}, 1>"))?];
    edits.push(numbered(context, init)?);
    for taken in all {
        edits.extend(taken.through_queue(name, role)?);
    }
    Ok(edits)
}

/// Proves that there are event ids for one more queue of a position.
pub(crate) fn event_ids(context: &Context, kernel: &Kernel, position: &str) -> Result<(), String> {
    for side in position.split(',') {
        let of_side = |init: &&InitBuffer| {
            kernel.queues.get(&init.target).is_some_and(|queue| queue.position.split(',').any(|at| at == side))
        };
        let number = |init: &InitBuffer| {
            let place = init.number.as_ref()?;
            context.facts.known.value(context.text_of(place)?)
        };
        let buffers: i64 = kernel.init_buffers.iter().filter(of_side).map(|init| number(init).unwrap_or(1)).sum();
        if buffers >= EVENT_IDS {
            return Err(format!("{buffers} buffers over all {side} queues take all {EVENT_IDS} event ids"));
        }
    }
    Ok(())
}

/// Filling and emptying of a buffer in the order in which they run.
struct Turns<'a> {
    name: &'a str,
    all: &'a [Taken<'a>],
}

impl Turns<'_> {
    /// Fewest and most fillings that wait after the steps.
    fn after(&self, steps: &[RunPart<'_>], start: (u32, u32)) -> Result<(u32, u32), String> {
        let mut held = start;
        for step in steps {
            held = match step {
                RunPart::Call(file, call) => self.taken(file, call, held)?,
                RunPart::Own(_, _, inner) => self.after(inner, held)?,
                RunPart::Loop(inner) => {
                    if self.after(inner, held)? != held {
                        return Err(format!("a round may leave {} otherwise than it found it", self.name));
                    }
                    held
                }
                RunPart::Branch(arms) => {
                    let mut either: Option<(u32, u32)> = None;
                    for arm in arms {
                        let after = self.after(arm, held)?;
                        either = Some(either.map_or(after, |(low, high)| (low.min(after.0), high.max(after.1))));
                    }
                    either.unwrap_or(held)
                }
                RunPart::Leave if held.1 > 0 => {
                    return Err(format!("a function is left early while {} may be full", self.name));
                }
                RunPart::Leave => held,
                RunPart::Unknown(file, span) => {
                    return Err(format!("line {}: code that is not understood", file.line(span.start)));
                }
            };
        }
        Ok(held)
    }

    fn taken(&self, file: &SyntaxFile, call: &Call, held: (u32, u32)) -> Result<(u32, u32), String> {
        let same = |taken: &&Taken<'_>| taken.file.name() == file.name() && taken.call.span == call.span;
        let Some(taken) = self.all.iter().find(same) else { return Ok(held) };
        let line = file.line(call.span.start);
        match (taken.fills, taken.empties) {
            (true, _) if held.1 > 0 => Err(format!("line {line}: {} may be full already", self.name)),
            (true, false) => Ok((1, 1)),
            (false, true) if held.0 == 0 => Err(format!("line {line}: {} may not be filled anew", self.name)),
            (false, true) => Ok((0, 0)),
            _ => Ok(held),
        }
    }
}
