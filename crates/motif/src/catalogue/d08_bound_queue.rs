//! D08: where nothing is computed, what came in goes out of the same buffer: one bound queue instead of two and a copy.

use std::ops::Range;

use crate::analysis::code::{block_of, functions};
use crate::analysis::queue_uses::{QueueCall, calls_on};
use crate::rewrite::buffers::free_name;
use crate::rewrite::edits::{edit, insert_after};
use crate::{Candidate, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::{Kernel, Origin, TensorFacts, TensorUse};
use source::parse::{Call, SyntaxFile};

/// The motif.
pub struct BoundQueue;

const METADATA: Metadata = Metadata {
    id: Id::D08,
    title: "one bound queue for a pure copy",
    family: Family::DataMovement,
    precondition: "a tensor from a VECIN queue is copied by DataCopy in count form to one of a VECOUT queue, and neither is used otherwise in between: DeQue and FreeTensor of \
     the first queue, AllocTensor and EnQue of the second happen there alone; both queues are touched by their own calls and one InitBuffer each, \
     and their tensors by copies alone",
    left_to_verifier: "the next copy in waits for the copy out (hazard check)",
    relieves: &[Counter::VecUs, Counter::StallUs],
    prior_gain: 1.15,
    cost: "nothing; frees the second queue's buffers",
    tunables: "opens larger tiles: a queue less",
    undoing: "two queues and a copy behind the EnQue",
    rounding_changes: false,
    replaces_constants: false,
    company: Company::ANY,
};

impl Motif for BoundQueue {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (file, function, kernel, tensors) in functions(context) {
            for call in
                file.calls_in(function.body.clone()).filter(|call| call.name == "DataCopy" && call.object.is_none())
            {
                let Some(pass) = Pass::of(file, kernel, &tensors, call) else { continue };
                let note = format!("{} and {} as one queue", pass.from, pass.to);
                found.push(Candidate::new(file, &call.span, note, pass.bound(context)));
            }
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for kernel in context.facts.kernels.values() {
            for (name, queue) in kernel.queues.iter().filter(|(_, queue)| queue.position == "VECIN,VECOUT") {
                let Some(file) = context.forest.get(&queue.declaration.file) else { continue };
                let edits = parted(context, kernel, name);
                found.push(Candidate::new(file, &queue.declaration.span(), format!("two queues for {name}"), edits));
            }
        }
        found
    }
}

/// A copy from the tensor of one queue to that of another.
struct Pass<'a> {
    file: &'a SyntaxFile,
    kernel: &'a Kernel,
    tensors: &'a TensorFacts,
    call: &'a Call,
    source: &'a str,
    target: &'a str,
    from: String,
    to: String,
}

impl<'a> Pass<'a> {
    fn of(file: &'a SyntaxFile, kernel: &'a Kernel, tensors: &'a TensorFacts, call: &'a Call) -> Option<Self> {
        let (target, source) = (file.argument(call, 0)?.trim(), file.argument(call, 1)?.trim());
        let (Origin::Alloc(to), Origin::DeQue(from)) =
            (&tensors.tensors.get(target)?.origin, &tensors.tensors.get(source)?.origin)
        else {
            return None;
        };
        let position = |queue: &str| kernel.queues.get(queue).map(|queue| queue.position.as_str());
        (position(from) == Some("VECIN") && position(to) == Some("VECOUT")).then(|| Self {
            file,
            kernel,
            tensors,
            call,
            source,
            target,
            from: from.clone(),
            to: to.clone(),
        })
    }

    fn bound(&self, context: &Context) -> Result<Vec<Edit>, String> {
        let Self { file, kernel, tensors, call, source, target, from, to } = self;
        if call.arguments.len() != 3 || file.argument(call, 2).is_some_and(|count| count.contains(['{', '?'])) {
            return Err("the copy is not in count form".to_owned());
        }
        let parameters =
            |count: &str| file.locals().iter().any(|local| local.name == count && local.type_text.contains("Params"));
        if file.argument(call, 2).is_some_and(|count| parameters(count.trim())) {
            return Err("the copy is not in count form".to_owned());
        }
        for tensor in [source, target] {
            let other = |used: &&TensorUse| {
                let of = used.call.and_then(|index| file.calls().get(index));
                !of.is_some_and(|of| of.span == call.span || matches!(of.name.as_str(), "EnQue" | "FreeTensor"))
            };
            if let Some(other) = tensors.uses_of(tensor).find(other) {
                return Err(format!("{tensor} is used at line {} too", file.line(other.span.start)));
            }
        }
        only_copied(context, kernel, [from, to])?;
        if tensors.tensors[*source].element != tensors.tensors[*target].element {
            return Err("the tensors have elements of different types".to_owned());
        }
        let mut edits =
            vec![self.gone(&tensors.tensors[*source].declaration)?, self.gone(&tensors.tensors[*target].declaration)?];
        edits.push(self.gone(call.statement.as_ref().ok_or("the copy is not a statement of its own")?)?);
        for used in calls_on(context, kernel, from)? {
            edits.extend(self.own_call(&used, &["DeQue", "FreeTensor"])?);
        }
        for used in calls_on(context, kernel, to)? {
            if let Some(gone) = self.own_call(&used, &["AllocTensor", "EnQue"])? {
                edits.push(gone);
            } else {
                let object = used.call.span.start + used.file.slice(&used.call.callee).find(to.as_str()).unwrap_or(0);
                edits.push(edit(used.file, object..object + to.len(), from.as_str()));
            }
        }
        edits.sort_by_key(|edit| (edit.file.clone(), edit.span.start));
        edits.dedup();
        let out = kernel.init_of(to).ok_or_else(|| format!("{to} is not initialised at exactly one place"))?;
        kernel.init_of(from).ok_or_else(|| format!("{from} is not initialised at exactly one place"))?;
        for place in [&out.statement, &kernel.queues[to].declaration] {
            let other = context.forest.get(&place.file).ok_or("a file of the class is not parsed")?;
            edits.push(edit(other, other.whole_lines(&place.span()).ok_or("a declaration shares its line")?, ""));
        }
        edits.push(type_edit(context, kernel, from, "TQue<", |arguments| {
            let (position, depth) = arguments.split_once(',')?;
            let scope = position.trim().strip_suffix("VECIN")?;
            Some(format!("TQueBind<{scope}VECIN, {scope}VECOUT,{depth}>"))
        })?);
        Ok(edits)
    }

    /// The removal of a call that belongs to this copy; `None` for one of the other half, which stays.
    fn own_call(&self, used: &QueueCall<'_>, here: &[&str]) -> Result<Option<Edit>, String> {
        let line = used.file.line(used.call.span.start);
        let ours = used.file.name() == self.file.name()
            && self
                .file
                .enclosing_function(self.call.span.start)
                .is_some_and(|function| function.span == used.function.span);
        match (here.contains(&used.call.name.as_str()), ours) {
            (true, true) => {
                let declared = [self.source, self.target]
                    .iter()
                    .any(|tensor| self.tensors.tensors[*tensor].declaration.contains(&used.call.span.start));
                match &used.call.statement {
                    Some(statement) => self.gone(statement).map(Some),
                    None if declared => {
                        let declaration = if used.call.name == "DeQue" { self.source } else { self.target };
                        self.gone(&self.tensors.tensors[declaration].declaration).map(Some)
                    }
                    None => Err(format!("line {line}: {} is not a statement of its own", used.call.name)),
                }
            }
            (true, false) => Err(format!("line {line}: {} happens elsewhere too", used.call.name)),
            (false, _) if matches!(used.call.name.as_str(), "AllocTensor" | "EnQue" | "DeQue" | "FreeTensor") => {
                Ok(None)
            }
            (false, _) => Err(format!("line {line}: {} is not understood", used.call.name)),
        }
    }

    fn gone(&self, statement: &Range<usize>) -> Result<Edit, String> {
        block_of(self.file, statement).ok_or("a statement is the only one of an if or a loop")?;
        let lines = self.file.whole_lines(statement);
        Ok(edit(self.file, lines.ok_or_else(|| format!("line {}: shared", self.file.line(statement.start)))?, ""))
    }
}

/// A bound queue orders copies in and copies out, and nothing else: what else touches its tensors would have no order.
fn only_copied(context: &Context, kernel: &Kernel, queues: [&String; 2]) -> Result<(), String> {
    const COPIES: [&str; 6] = ["DataCopy", "DataCopyPad", "AllocTensor", "DeQue", "EnQue", "FreeTensor"];
    for (file, _, owner, tensors) in functions(context) {
        let of_queues = tensors.tensors.iter().filter(|(_, tensor)| match &tensor.origin {
            Origin::Alloc(queue) | Origin::DeQue(queue) => queues.contains(&queue),
            _ => false,
        });
        for (name, _) in of_queues.filter(|_| std::ptr::eq(owner, kernel)) {
            let copies = |used: &TensorUse| {
                let of = used.call.and_then(|index| file.calls().get(index));
                of.is_some_and(|of| COPIES.contains(&of.name.as_str()))
            };
            if let Some(other) = tensors.uses_of(name).find(|used| !copies(used)) {
                return Err(format!("{name} is not only copied: line {}", file.line(other.span.start)));
            }
        }
    }
    Ok(())
}

/// The declaration with another template; `made` gets the text between the angle brackets.
fn type_edit(
    context: &Context,
    kernel: &Kernel,
    queue: &str,
    template: &str,
    made: impl Fn(&str) -> Option<String>,
) -> Result<Edit, String> {
    let declaration = &kernel.queues[queue].declaration;
    let file = context.forest.get(&declaration.file).ok_or("the class is not parsed")?;
    let text = file.slice(&declaration.span());
    let unclear = || format!("{queue} is not declared alone");
    let start = text.find(template).ok_or_else(unclear)?;
    let end = text.rfind('>').ok_or_else(unclear)?;
    if text[end + 1..].trim_end_matches(';').trim() != queue {
        return Err(unclear());
    }
    let replacement = made(&text[start + template.len()..end]).ok_or_else(unclear)?;
    Ok(edit(file, declaration.start + start..declaration.start + end + 1, replacement))
}

/// A bound queue as two with a copy behind each EnQue.
fn parted(context: &Context, kernel: &Kernel, queue: &str) -> Result<Vec<Edit>, String> {
    let out = free_name(context, "outQueueCopy");
    let declaration = &kernel.queues[queue].declaration;
    let header = context.forest.get(&declaration.file).ok_or("the class is not parsed")?;
    let init = kernel.init_of(queue).ok_or_else(|| format!("{queue} is not initialised at exactly one place"))?;
    let init_file = context.forest.get(&init.statement.file).ok_or("the initialisation is not parsed")?;
    let shared = || "a declaration shares its line".to_owned();
    let mut position = String::new();
    let mut edits = vec![type_edit(context, kernel, queue, "TQueBind<", |arguments| {
        let parts: Vec<&str> = arguments.split(',').collect();
        let [from, _, depth] = parts.as_slice() else { return None };
        Some(format!("TQue<{},{depth}>", from.trim()))
    })?];
    let text = header.slice(&declaration.span());
    if let (Some(start), Some(end)) = (text.find("TQueBind<"), text.rfind('>')) {
        let parts: Vec<&str> = text[start + 9..end].split(',').collect();
        position = format!("{}TQue<{},{}>", &text[..start], parts[1].trim(), parts[2]);
    }
    edits.push(insert_after(header, &declaration.span(), &[format!("{position} {out};")]).ok_or_else(shared)?);
    let statement = init_file.slice(&init.statement.span()).replacen(queue, &out, 1);
    edits.push(insert_after(init_file, &init.statement.span(), &[statement]).ok_or_else(shared)?);
    let (mut brought, mut last) = (0, None);
    for used in calls_on(context, kernel, queue)? {
        match used.call.name.as_str() {
            "EnQue" => {
                brought += 1;
                edits.push(copied(context, kernel, queue, &out, &used)?);
            }
            "DeQue" => last = Some(used.function.span.clone()),
            _ => {}
        }
        if matches!(used.call.name.as_str(), "DeQue" | "FreeTensor") {
            let object = used.call.span.start + used.file.slice(&used.call.callee).find(queue).unwrap_or(0);
            edits.push(edit(used.file, object..object + queue.len(), out.as_str()));
        }
    }
    if brought != 1 || last.is_none() { Err(format!("{queue} is not filled at one place")) } else { Ok(edits) }
}

/// The copy behind `EnQue`: as many elements as the copy in brought.
fn copied(context: &Context, kernel: &Kernel, queue: &str, out: &str, used: &QueueCall<'_>) -> Result<Edit, String> {
    let (file, function) = (used.file, used.function);
    let tensors = TensorFacts::of(file, function);
    let tensor = file.argument(used.call, 0).unwrap_or_default().trim();
    let known = tensors.tensors.get(tensor).filter(|known| known.origin == Origin::Alloc(queue.to_owned()));
    let element = &known.ok_or_else(|| format!("{tensor} is not taken from {queue} here"))?.element;
    let mut copies = tensors.uses_of(tensor).filter_map(|place| {
        let call = file.calls().get(place.call?)?;
        (call.name == "DataCopy" && place.argument == Some(0) && call.arguments.len() == 3).then_some(call)
    });
    let copy = copies.next().filter(|_| copies.next().is_none()).ok_or("the copy in is not one in count form")?;
    let count = file.argument(copy, 2).unwrap_or_default();
    if kernel.has_base() || context.forest.get(file.name()).is_none() {
        return Err("a base class may use the queue".to_owned());
    }
    let statement = used.call.statement.as_ref().ok_or("EnQue is not a statement of its own")?;
    let scope = crate::analysis::code::scope(file);
    let copied = format!("{tensor}Copy");
    let came = format!("{tensor}In");
    let lines = [
        format!("{scope}LocalTensor<{element}> {came} = {queue}.DeQue<{element}>();"),
        format!("{scope}LocalTensor<{element}> {copied} = {out}.AllocTensor<{element}>();"),
        format!("{scope}DataCopy({copied}, {came}, {count});"),
        format!("{out}.EnQue({copied});"),
        format!("{queue}.FreeTensor({came});"),
    ];
    insert_after(file, statement, &lines).ok_or_else(|| "EnQue shares its line".to_owned())
}
