//! Y06: a queue that never holds two tensors has depth 1, whatever the number of its buffers.

use super::code::edit;
use super::context::{Candidate, Context, Counter, Family, Motif};
use super::queue_uses::calls_on;
use crate::source::Edit;
use crate::source::facts::trace::{Step, roots};
use crate::source::facts::{Kernel, Queue, base_name};
use crate::source::parse::SyntaxFile;

/// The motif.
pub struct QueueDepth;

impl Motif for QueueDepth {
    fn id(&self) -> &'static str {
        "Y06"
    }
    fn title(&self) -> &'static str {
        "queue depth 1"
    }
    fn family(&self) -> Family {
        Family::Synchronisation
    }
    fn precondition(&self) -> &'static str {
        "a queue member whose depth is known to be 2 or more; on every path of every function that nobody in the class calls, each EnQue is followed \
         by a DeQue before the next EnQue, and the queue is empty at the end; nothing but its own calls and InitBuffer touches the queue"
    }
    fn cost(&self) -> &'static str {
        "nothing: the number of buffers is that of InitBuffer"
    }
    fn undoing(&self) -> &'static str {
        "depth as many as buffers, or 2"
    }
    fn seen_by_model(&self) -> bool {
        false
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::ScalarUs]
    }
    fn prior_gain(&self) -> f64 {
        1.01
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        each_queue(context, |kernel, name, queue, file| {
            let depth = context.facts.known.value(&queue.depth).filter(|depth| *depth > 1)?;
            let edits = one_at_a_time(context, kernel, name).and_then(|()| depth_set(file, queue, "1"));
            Some(vec![(format!("{name}: depth 1 instead of {depth}"), edits)])
        })
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        each_queue(context, |kernel, name, queue, file| {
            if queue.depth != "1" {
                return None;
            }
            let number = kernel.init_of(name).and_then(|init| init.number.as_ref());
            let number = number.and_then(|place| Some(context.forest.get(&place.file)?.slice(&place.span())));
            let mut depths = vec!["2"];
            depths.extend(number.filter(|number| context.facts.known.value(number).is_some_and(|value| value > 1)));
            depths.dedup();
            Some(depths.iter().map(|depth| (format!("{name}: depth {depth}"), depth_set(file, queue, depth))).collect())
        })
    }
}

type Changes = Vec<(String, Result<Vec<Edit>, String>)>;

fn each_queue(
    context: &Context,
    judge: impl Fn(&Kernel, &str, &Queue, &SyntaxFile) -> Option<Changes>,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    for kernel in context.facts.kernels.values() {
        for (name, queue) in &kernel.queues {
            let Some(file) = context.forest.get(&queue.declaration.file) else { continue };
            for (note, edits) in judge(kernel, name, queue, file).unwrap_or_default() {
                found.push(Candidate::new(file, &queue.declaration.span(), note, edits));
            }
        }
    }
    found
}

/// Replaces the depth in the declaration.
pub(super) fn depth_set(file: &SyntaxFile, queue: &Queue, depth: &str) -> Result<Vec<Edit>, String> {
    let text = file.slice(&queue.declaration.span());
    let end = text.rfind('>').ok_or("the declaration has no template arguments")?;
    let start = text[..end].rfind(&queue.depth).ok_or("the depth is not written in the declaration")?;
    if !text[start + queue.depth.len()..end].trim().is_empty() || text[..end].contains("//") {
        return Err("the depth is not the last template argument".to_owned());
    }
    let start = queue.declaration.start + start;
    Ok(vec![edit(file, start..start + queue.depth.len(), depth)])
}

/// Proves that the queue never holds two tensors.
fn one_at_a_time(context: &Context, kernel: &Kernel, queue: &str) -> Result<(), String> {
    if calls_on(context, kernel, queue)?.is_empty() {
        return Err(format!("nothing here uses {queue}"));
    }
    for (root, steps) in roots(&context.forest, kernel) {
        let held = Holding { queue }.after(&steps, (0, 0))?;
        if held != (0, 0) {
            return Err(format!("{queue} may hold a tensor at the end of {root}"));
        }
    }
    Ok(())
}

struct Holding<'a> {
    queue: &'a str,
}

impl Holding<'_> {
    /// Fewest and most tensors that the queue holds after the steps.
    fn after(&self, steps: &[Step<'_>], start: (u32, u32)) -> Result<(u32, u32), String> {
        let mut held = start;
        for step in steps {
            held = match step {
                Step::Call(file, call) if call.object.as_deref().map(base_name) == Some(self.queue) => {
                    match call.name.as_str() {
                        "EnQue" if held.1 > 0 => {
                            return Err(format!(
                                "line {}: {} may hold a tensor already",
                                file.line(call.span.start),
                                self.queue
                            ));
                        }
                        "EnQue" => (held.0 + 1, held.1 + 1),
                        "DeQue" => (held.0.saturating_sub(1), held.1.saturating_sub(1)),
                        _ => held,
                    }
                }
                Step::Call(..) => held,
                Step::Own(_, _, inner) => self.after(inner, held)?,
                Step::Loop(inner) => {
                    let once = self.after(inner, held)?;
                    let either = (held.0.min(once.0), held.1.max(once.1));
                    let twice = self.after(inner, either)?;
                    (either.0.min(twice.0), either.1.max(twice.1))
                }
                Step::Branch(arms) => {
                    let mut either: Option<(u32, u32)> = None;
                    for arm in arms {
                        let after = self.after(arm, held)?;
                        either = Some(either.map_or(after, |(low, high)| (low.min(after.0), high.max(after.1))));
                    }
                    either.unwrap_or(held)
                }
                Step::Leave if held.1 > 0 => {
                    return Err(format!("a function is left early while {} may hold a tensor", self.queue));
                }
                Step::Leave => held,
                Step::Unknown(file, span) => {
                    return Err(format!("line {}: code that is not understood", file.line(span.start)));
                }
            };
        }
        Ok(held)
    }
}
