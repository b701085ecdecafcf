//! Whether full barriers alone order all accesses of a queue's tensors, so that the queue may go.

use std::collections::BTreeMap;

use crate::analysis::regions::is_full_barrier;
use crate::analysis::taken_buffer::{Role, Touched, touched};
use crate::context::Context;
use source::facts::trace::{RunPart, roots};
use source::facts::{Kernel, Origin, base_name};

/// Pipes as bits: those that may have touched the buffer since the last full barrier.
type Pipes = u8;

const COPIES_IN: Pipes = 1;
const COPIES_OUT: Pipes = 2;
/// The vector and the scalar unit, which the compiler orders.
const WORK: Pipes = 4;

/// Proves that on every path a full barrier stands between accesses of the queue's tensors by different pipes.
pub(crate) fn barriers_order(context: &Context, kernel: &Kernel, queue: &str) -> Result<(), String> {
    let accesses = accesses(context, kernel, queue)?;
    let walk = Walk { queue, accesses };
    let roots = roots(&context.forest, kernel);
    // Who calls these functions may do so in any order.
    let mut open = 0;
    loop {
        let mut after = open;
        for (_, steps) in &roots {
            let end = walk.after(steps, open)?;
            after |= end.through | end.left;
        }
        if after == open {
            return Ok(());
        }
        open = after;
    }
}

/// Pipes that touch the queue's tensors, by file and start of the call.
fn accesses<'a>(
    context: &'a Context,
    kernel: &'a Kernel,
    queue: &str,
) -> Result<BTreeMap<(&'a str, usize), Pipes>, String> {
    let mut found = BTreeMap::new();
    for (file, tensors) in kernel.tensors(&context.forest) {
        let of_queue = |origin: &Origin| matches!(origin, Origin::Alloc(from) | Origin::DeQue(from) if from == queue);
        for name in tensors.tensors.iter().filter(|(_, tensor)| of_queue(&tensor.origin)).map(|(name, _)| name) {
            for used in tensors.uses_of(name) {
                let call = used.call.and_then(|index| file.calls().get(index));
                let object = call.and_then(|call| call.object.as_deref()).map(base_name);
                let hands_on = call.is_some_and(|call| matches!(call.name.as_str(), "EnQue" | "FreeTensor"));
                if hands_on && object == Some(queue) {
                    continue;
                }
                let pipe = match touched(kernel, file, used)? {
                    Touched::Nothing => continue,
                    Touched::ByCopy(Role::In) => COPIES_IN,
                    Touched::ByCopy(Role::Out) => COPIES_OUT,
                    Touched::ByWork => WORK,
                };
                let call = call.ok_or_else(|| format!("line {}: not a call", file.line(used.span.start)))?;
                *found.entry((file.name(), call.span.start)).or_default() |= pipe;
            }
        }
    }
    Ok(found)
}

/// What may be open behind some steps: where they run to the end, and where something leaves them.
#[derive(Clone, Copy)]
struct End {
    through: Pipes,
    left: Pipes,
}

struct Walk<'a> {
    queue: &'a str,
    accesses: BTreeMap<(&'a str, usize), Pipes>,
}

impl Walk<'_> {
    fn after(&self, steps: &[RunPart<'_>], open: Pipes) -> Result<End, String> {
        let mut end = End { through: open, left: 0 };
        for step in steps {
            match step {
                RunPart::Call(_, call) if is_full_barrier(call) => end.through = 0,
                RunPart::Call(file, call) => {
                    let Some(pipes) = self.accesses.get(&(file.name(), call.span.start)) else { continue };
                    if (end.through | pipes).count_ones() > 1 {
                        let line = file.line(call.span.start);
                        return Err(format!("line {line}: only {} orders {} here", self.queue, call.name));
                    }
                    end.through |= pipes;
                }
                RunPart::Own(_, _, inner) => {
                    let inner = self.after(inner, end.through)?;
                    end.through = inner.through | inner.left;
                }
                RunPart::Loop(inner) => loop {
                    let round = self.after(inner, end.through)?;
                    end.left |= round.left;
                    let after = end.through | round.through | round.left;
                    if std::mem::replace(&mut end.through, after) == after {
                        break;
                    }
                },
                RunPart::Branch(arms) => {
                    let mut through = 0;
                    for arm in arms {
                        let arm = self.after(arm, end.through)?;
                        through |= arm.through;
                        end.left |= arm.left;
                    }
                    end.through = through;
                }
                RunPart::Leave => end.left |= end.through,
                RunPart::Unknown(file, span) => {
                    return Err(format!("line {}: code that is not understood", file.line(span.start)));
                }
            }
        }
        Ok(end)
    }
}
