//! Edits that keep the chunks of a load in a buffer of their own, as many as fit, and guard the loads that bring them again.

use std::collections::BTreeMap;
use std::ops::Range;

use super::buffers::{access, free_name, last_member};
use super::chunk_loads::{Load, Reuse};
use super::code::{assigns, block_of, counter_type, edit, insert_after, scope, squash, words};
use super::queue_run::{Frame, QueueRun, counter};
use super::signature::with_parameter;
use crate::source::Edit;
use crate::source::facts::{TensorFacts, fixed_type_bytes, parse_integer};
use crate::source::parse::{Loop, SyntaxFile};

/// Bytes of the unified buffer that all buffers together may take: 192 KiB less what the toolkit keeps for itself.
pub(super) const LIMIT_BYTES: u32 = 190 * 1024;
/// Ends of the generated names.
pub(super) const SLOTS: &str = "Slots";
pub(super) const LENGTH: &str = "Length";
pub(super) const BYTES: &str = "Bytes";
pub(super) const TAKEN: &str = "Taken";
pub(super) const ROUNDS: &str = "Rounds";
/// Start of the name of a parameter that an edit adds.
pub(super) const PARAMETER: &str = "keptRound";

/// Functions that take room in the unified buffer on their own if the call gives them none.
const HIDDEN_ROOM: &[&str] = &[
    "SoftMax",
    "SimpleSoftMax",
    "SoftmaxFlash",
    "SoftmaxFlashV2",
    "SoftmaxFlashV3",
    "SoftmaxGrad",
    "SoftmaxGradFront",
    "LogSoftMax",
    "LayerNorm",
    "LayerNormGrad",
    "LayerNormGradBeta",
    "RmsNorm",
    "BatchNorm",
    "DeepNorm",
    "GroupNorm",
    "Normalize",
    "WelfordUpdate",
    "WelfordFinalize",
    "Tanh",
    "Sigmoid",
    "Gelu",
    "FasterGelu",
    "FasterGeluV2",
    "SwiGLU",
    "Silu",
    "Swish",
    "GeGLU",
    "ReGlu",
    "Erf",
    "Erfc",
    "Power",
    "Sin",
    "Cos",
    "Tan",
    "Asin",
    "Acos",
    "Atan",
    "Sinh",
    "Cosh",
    "Asinh",
    "Acosh",
    "Atanh",
    "Log",
    "Log2",
    "Log10",
    "Broadcast",
    "BroadCast",
    "Sum",
    "Mean",
    "ReduceXorSum",
    "ReduceProd",
    "AscendQuant",
    "AscendDequant",
    "AscendAntiQuant",
    "TopK",
    "Xor",
    "Fmod",
    "Trunc",
    "Round",
    "Ceil",
    "Floor",
    "Frac",
    "Digamma",
    "Lgamma",
    "ClampMax",
    "ClampMin",
    "Sign",
    "Exp",
    "CumSum",
    "Hypot",
    "SelectWithBytesMask",
    "ConfusionTranspose",
    "Pad",
    "UnPad",
];

/// The pieces of one reuse.
pub(super) struct Keep<'a> {
    run: &'a QueueRun<'a>,
    whole: &'a [QueueRun<'a>],
    reuse: &'a Reuse<'a>,
    /// Name of the buffer; the others are this with an end.
    name: String,
    /// Parameters to add by frame: name, type and argument.
    added: BTreeMap<usize, Vec<(String, String, String)>>,
}

impl<'a> Keep<'a> {
    pub(super) fn new(run: &'a QueueRun<'a>, whole: &'a [QueueRun<'a>], reuse: &'a Reuse<'a>) -> Option<Self> {
        let tensor = &reuse.first.taken.name;
        let mut letters = tensor.chars();
        let first = letters.next()?.to_ascii_uppercase();
        let name = free_name(run.context, &format!("keep{first}{}", letters.as_str()));
        Some(Self { run, whole, reuse, name, added: BTreeMap::new() })
    }

    pub(super) fn edits(mut self) -> Result<Vec<Edit>, String> {
        let first = self.reuse.first;
        let mut edits = self.initialised()?;
        let mut kept = self.stored(first)?;
        for load in self.reuse.later.clone() {
            self.guarded(load, &mut edits, &mut kept)?;
        }
        let Frame { file, .. } = &self.run.frames[first.to];
        if !kept.is_empty() {
            let shared = || format!("line {} is shared", file.line(first.taken.span.start));
            edits.push(insert_after(file, &first.taken.span, &kept).ok_or_else(shared)?);
        }
        for (frame, parameters) in &self.added {
            let Frame { file, function, parent } = &self.run.frames[*frame];
            let (outer, call) = parent.as_ref().ok_or("the outermost function has no caller")?;
            let list: Vec<String> = parameters.iter().map(|(name, kind, _)| format!("{kind} {name}")).collect();
            let arguments: Vec<&str> = parameters.iter().map(|(_, _, argument)| argument.as_str()).collect();
            let (list, arguments) = (list.join(", "), arguments.join(", "));
            let caller = self.run.frames[*outer].file;
            edits.extend(with_parameter(self.run.context, file, function, &list, (caller, call), &arguments)?);
        }
        Ok(edits)
    }

    fn once(&self, frame: usize) -> bool {
        let span = &self.run.frames[frame].function.span;
        let file = self.run.frames[frame].file.name();
        let frames = self.whole.iter().flat_map(|run| &run.frames);
        frames.filter(|other| other.function.span == *span && other.file.name() == file).count() == 1
    }

    /// The counter of a loop as an expression of a frame.
    fn index(&mut self, frame: usize, wanted: (usize, &'a Loop)) -> Result<String, String> {
        let Frame { file, function, parent } = &self.run.frames[frame];
        let home = self.run.frames[wanted.0].file;
        let (name, _) = counter(home, wanted.1).ok_or("a loop has no counter")?;
        if frame == wanted.0 {
            let shadowed =
                file.locals().iter().any(|local| local.name == name && wanted.1.body.contains(&local.span.start));
            return if shadowed { Err(format!("{name} is declared again in its loop")) } else { Ok(name.to_owned()) };
        }
        let (outer, call) = parent.as_ref().ok_or_else(|| format!("{} is not called from the loop", function.name))?;
        // What another buffer's edit added goes with it.
        let own = |parameter: &&crate::source::parse::Parameter| !parameter.name.starts_with(PARAMETER);
        for (position, parameter) in function.parameters.iter().enumerate().filter(|(_, parameter)| own(parameter)) {
            let Some(argument) = call.arguments.get(position) else { continue };
            let same = self.run.reader(wanted).text(*outer, &argument.clone(), None).is_ok_and(|text| text == "$");
            if same && !assigns(file.slice(&function.body), &parameter.name) {
                return Ok(parameter.name.clone());
            }
        }
        let outer_name = self.index(*outer, wanted)?;
        if let Some((known, ..)) =
            self.added.get(&frame).and_then(|list| list.iter().find(|(_, _, argument)| *argument == outer_name))
        {
            return Ok(known.clone());
        }
        if !self.once(frame) {
            return Err(format!("{} is called at more than one place and has no {name}", function.name));
        }
        let number = self.added.values().map(Vec::len).sum::<usize>();
        let end = if number == 0 { String::new() } else { number.to_string() };
        let parameter = format!("{PARAMETER}{end}{}", self.name.trim_start_matches("keep"));
        let kind = counter_type(home, wanted.1).trim_start_matches("const ").to_owned();
        self.added.entry(frame).or_default().push((parameter.clone(), kind, outer_name));
        Ok(parameter)
    }

    fn unsigned(&self, expression: &str, of: (usize, &'a Loop)) -> String {
        let kind = counter_type(self.run.frames[of.0].file, of.1);
        let plain = kind.contains("uint") || kind.contains("size_t") || kind.contains("unsigned");
        if plain { expression.to_owned() } else { format!("static_cast<uint32_t>({expression})") }
    }

    /// Conditions in a frame: that the chunk is found in the buffer, and that it is not.
    fn conditions(&mut self, load: &Load<'a>, frame: usize) -> Result<(String, String), String> {
        let pass = pass(load)?;
        let index = self.index(frame, pass)?;
        let index = self.unsigned(&index, pass);
        let slots = format!("{}{SLOTS}", self.name);
        Ok(match self.reuse.around {
            None => (format!("{index} < {slots}"), format!("{index} >= {slots}")),
            Some(around) => {
                let round = self.index(frame, around)?;
                (format!("{round} > 0 && {index} < {slots}"), format!("{round} == 0 || {index} >= {slots}"))
            }
        })
    }

    fn slot(&mut self, load: &Load<'a>) -> Result<String, String> {
        let index = self.index(load.to, pass(load)?)?;
        let file = self.run.frames[load.to].file;
        let call = file.calls().iter().find(|call| load.taken.value.as_ref() == Some(&call.span));
        let element = call.and_then(|call| call.template_arguments.clone()).unwrap_or_default();
        let name = &self.name;
        Ok(format!("{name}.Get<{element}>()[{index} * {name}{LENGTH}]"))
    }

    /// What the first load does with its tensor: a copy for later.
    fn stored(&mut self, load: &'a Load<'a>) -> Result<Vec<String>, String> {
        let slot = self.slot(load)?;
        let index = self.index(load.to, pass(load)?)?;
        let index = self.unsigned(&index, pass(load)?);
        let mut condition = format!("{index} < {}{SLOTS}", self.name);
        if let Some(around) = self.reuse.around {
            condition = format!("{} == 0 && {condition}", self.index(load.to, around)?);
        }
        let prefix = scope(self.run.frames[load.to].file);
        let count = self.count(load).unwrap_or_else(|| format!("{}{LENGTH}", self.name));
        let copy = format!("    {prefix}DataCopy({slot}, {}, {count});", load.taken.name);
        Ok(vec![format!("if ({condition}) {{"), copy, "}".to_owned()])
    }

    /// Whole blocks of what the copy brings, in elements, where the function that takes the tensor names it.
    fn count(&self, load: &Load<'a>) -> Option<String> {
        let [copy] = load.copies[..] else { return None };
        let last = copy.arguments.get(2)?;
        let brought = squash(&self.run.reader(pass(load).ok()?).text(load.from, last, None).ok()?);
        let elements = match copy.name.as_str() {
            "DataCopy" if copy.arguments.len() == 3 && !brought.contains('{') => brought,
            "DataCopyPad" => {
                let inner = brought.trim_start_matches(['(', '{']);
                let bytes = inner
                    .strip_prefix("1,")?
                    .strip_suffix(",0,0,0}")
                    .or_else(|| inner.strip_prefix("1,")?.trim_end_matches(')').strip_suffix(",0,0}"))?;
                let bytes = bytes.strip_prefix("static_cast<uint32_t>(").or_else(|| bytes.strip_prefix("(uint32_t)("));
                let bytes = bytes?.strip_suffix(')')?;
                bytes.rsplit_once("*sizeof(").map(|(count, _)| count.to_owned())?
            }
            _ => return None,
        };
        let Frame { file, function, .. } = &self.run.frames[load.to];
        let tensors = TensorFacts::of(file, function);
        let bytes = fixed_type_bytes(&tensors.tensors.get(&load.taken.name)?.element)?;
        let block = 32 / bytes;
        for used in tensors.uses_of(&load.taken.name) {
            let Some(span) = used.call.and_then(|index| file.calls().get(index)?.arguments.last()) else { continue };
            let text = file.slice(span).trim();
            let declared_later = file.locals().iter().any(|local| {
                function.body.contains(&local.span.start)
                    && local.span.start > load.taken.span.start
                    && words(text).contains(&local.name.as_str())
            });
            let Ok(value) = self.run.reader(pass(load).ok()?).text(load.to, span, None) else { continue };
            if !declared_later && bare(&squash(&value)) == bare(&elements) {
                return Some(format!("({text} + {}) / {block} * {block}", block - 1));
            }
        }
        None
    }

    /// The load, done only where the chunk is not kept.
    fn guarded(&mut self, load: &'a Load<'a>, edits: &mut Vec<Edit>, kept: &mut Vec<String>) -> Result<(), String> {
        let Frame { file, function, .. } = &self.run.frames[load.to];
        let (found, missing) = self.conditions(load, load.to)?;
        let slot = self.slot(load)?;
        let take = load.taken.value.clone().ok_or("the tensor has no value")?;
        if block_of(file, &load.free).is_none() {
            return Err(format!("line {} is the only statement of an if", file.line(load.free.start)));
        }
        if let Some((frame, statement)) = self.fill(load) {
            let fill_file = self.run.frames[frame].file;
            let (_, absent) = self.conditions(load, frame)?;
            let barrier = self.barrier(load, frame);
            edits.push(guard(fill_file, &statement, &absent, barrier)?);
            edits.push(edit(file, take.clone(), format!("{found} ? {slot} : {}", file.slice(&take))));
            edits.push(guard(file, &load.free, &missing, false)?);
            return Ok(());
        }
        // The tensor is taken and given back as before; only the copy is left out.
        if !self.once(load.from) {
            let name = &self.run.frames[load.from].function.name;
            return Err(format!("{name} fills more than {} and is called at more than one place", load.queue));
        }
        let from = self.run.frames[load.from].file;
        let (_, absent) = self.conditions(load, load.from)?;
        for copy in &load.copies {
            let statement = copy.statement.clone().ok_or("a copy is not a statement of its own")?;
            edits.push(guard(from, &statement, &absent, false)?);
        }
        let name = &load.taken.name;
        let whole = format!("{name}Taken");
        if words(file.slice(&function.body)).contains(&whole.as_str()) {
            return Err(format!("{whole} is a name of {} already", function.name));
        }
        let kind = &load.taken.type_text;
        let declared = file.slice(&load.taken.span).replacen(&format!("{name} "), &format!("{whole} "), 1);
        if !declared.contains(&format!("{whole} =")) {
            return Err(format!("the declaration of {name} is not understood"));
        }
        edits.push(edit(file, load.taken.span.clone(), declared));
        let line = format!("{kind} {name} = {found} ? {slot} : {whole};");
        if self.reuse.around.is_some() {
            kept.insert(0, line);
        } else {
            let shared = || format!("line {} is shared", file.line(load.taken.span.start));
            edits.push(insert_after(file, &load.taken.span, &[line]).ok_or_else(shared)?);
        }
        let call = file.calls_in(load.free.clone()).next().and_then(|call| call.arguments.first());
        edits.push(edit(file, call.ok_or("FreeTensor names no tensor")?.clone(), whole));
        Ok(())
    }

    /// A statement that does nothing but fill the tensor, in a function that runs at one place.
    fn fill(&self, load: &'a Load<'a>) -> Option<(usize, Range<usize>)> {
        let chain = self.run.chain(self.pass_frame(load), load.from);
        for pair in chain.windows(2) {
            let (_, call) = self.run.frames[pair[1]].parent.as_ref()?;
            let file = self.run.frames[pair[0]].file;
            let statement = call.statement.clone().filter(|statement| block_of(file, statement).is_some());
            if let Some(statement) = statement.filter(|_| self.only_fills(load, pair[1]) && self.once(pair[0])) {
                return Some((pair[0], statement));
            }
        }
        // Alloc, copies and EnQue one behind the other.
        let Frame { file, .. } = &self.run.frames[load.from];
        let all = super::siblings::siblings(file, &load.alloc.span);
        let from = all.iter().position(|span| *span == load.alloc.span)?;
        let to = all.iter().position(|span| *span == load.enque)?;
        let block = block_of(file, &load.alloc.span)?;
        let own = |span: &Range<usize>| {
            let copies = load.copies.iter().any(|copy| copy.statement.as_ref() == Some(span));
            let local = file.locals().iter().find(|local| local.span == *span);
            let later = &all.get(to + 1).map(|next| file.slice(&(next.start..block.end))).unwrap_or_default();
            copies || local.is_some_and(|local| local.alone && !words(later).contains(&local.name.as_str()))
        };
        let alone = all
            .get(from..=to)?
            .iter()
            .all(|span| *span == load.alloc.span && own(span) || *span == load.enque || own(span));
        (alone && self.once(load.from)).then(|| (load.from, load.alloc.span.start..load.enque.end))
    }

    fn pass_frame(&self, load: &Load<'_>) -> usize {
        load.loops.last().map_or(0, |(frame, _)| *frame)
    }

    /// Whether a function does nothing but fill the tensor.
    fn only_fills(&self, load: &Load<'_>, frame: usize) -> bool {
        let Frame { file, function, .. } = &self.run.frames[frame];
        let body = file.slice(&function.body);
        let local = |word: &str| {
            function.parameters.iter().any(|parameter| parameter.name == word && !parameter.type_text.contains('&'))
                || file.locals().iter().any(|local| local.name == word && function.body.contains(&local.span.start))
        };
        if words(body).iter().any(|word| !local(word) && assigns(body, word)) || body.contains('#') {
            return false;
        }
        file.calls_in(function.body.clone()).all(|call| {
            let own = call
                .object
                .as_deref()
                .filter(|object| *object != "this")
                .map(|object| self.run.member(frame, crate::source::facts::base_name(object)) == load.queue);
            let inner = self.run.frames.iter().position(|inner| {
                inner.parent.as_ref().is_some_and(|(outer, by)| *outer == frame && by.span == call.span)
            });
            let fills = inner
                .is_some_and(|inner| self.run.chain(frame, load.from).contains(&inner) && self.only_fills(load, inner));
            let copies = frame == load.from && load.copies.iter().any(|copy| copy.span == call.span);
            own.unwrap_or(false)
                || (own.is_none() && (fills || copies || call.name == "PipeBarrier" || call.statement.is_none()))
        })
    }

    /// Whether a barrier goes with the fill.
    fn barrier(&self, load: &Load<'_>, from: usize) -> bool {
        self.run.chain(from, load.from).iter().skip(1).any(|frame| {
            let Frame { file, function, .. } = &self.run.frames[*frame];
            file.calls_in(function.body.clone()).any(|call| call.name == "PipeBarrier")
        })
    }

    /// Members and `InitBuffer`.
    fn initialised(&self) -> Result<Vec<Edit>, String> {
        let Self { run, name, .. } = self;
        let (context, kernel) = (run.context, run.kernel);
        let queue = &self.reuse.first.queue;
        let own = kernel.init_of(queue).ok_or_else(|| format!("{queue} is not initialised at exactly one place"))?;
        for (file, _, call) in kernel.calls(&context.forest) {
            let form = call.name == "Exp" && call.template_arguments.is_none();
            if call.object.is_none() && HIDDEN_ROOM.contains(&call.name.as_str()) && !form {
                let line = file.line(call.span.start);
                return Err(format!("{} at line {line} may take room in the unified buffer on its own", call.name));
            }
        }
        let file = context.forest.get(&own.statement.file).ok_or("the initialisation is not parsed")?;
        let function = file.enclosing_function(own.statement.start).ok_or("InitBuffer stands in no function")?;
        let (mut taken, mut end) = (Vec::new(), 0);
        for init in &kernel.init_buffers {
            let here = init.statement.file == file.name() && function.body.contains(&init.statement.start);
            if !here {
                return Err(format!("{} is initialised in another function than {queue}", init.target));
            }
            if !super::queue_run::loops_in(file, function, init.statement.start).is_empty() {
                return Err(format!("{} is initialised in a loop", init.target));
            }
            let mut statement = init.statement.span();
            while block_of(file, &statement).is_some_and(|block| block != function.body)
                || block_of(file, &statement).is_none()
            {
                let node = file.node_at(&statement).and_then(|mut node| {
                    while node.byte_range().len() <= statement.len() {
                        node = node.parent()?;
                    }
                    Some(node.byte_range())
                });
                statement =
                    node.filter(|span| function.body.contains(&span.start)).ok_or("InitBuffer is not in the block")?;
            }
            end = end.max(statement.end);
            let number = init.number.as_ref().map(|place| file.slice(&place.span()).trim());
            let size = init.size.trim();
            let bytes = padded(size);
            taken.push((init, number.map_or(bytes.clone(), |number| format!("{number} * {}", closed(&bytes)))));
        }
        let whole = self.statement_ending(file, end).ok_or("the last InitBuffer shares its line")?;
        for (init, text) in &taken {
            let between = file.slice(&(init.statement.end..end));
            for word in words(text) {
                if assigns(between, word) {
                    return Err(format!("{word} changes behind the InitBuffer of {}", init.target));
                }
                let hidden = file.locals().iter().any(|local| {
                    local.name == word
                        && function.body.contains(&local.span.start)
                        && block_of(file, &local.span).as_ref() != Some(&function.body)
                });
                if hidden {
                    return Err(format!("{word} is not known at the end of the InitBuffer calls"));
                }
            }
        }
        let element = self.element()?;
        let mut lines = vec![
            format!("const uint32_t {name}{BYTES} = {};", padded(&own.size)),
            format!("uint32_t {name}{TAKEN} = 0;"),
        ];
        lines.extend(taken.iter().map(|(init, text)| term(&format!("{name}{TAKEN}"), &init.target, text)));
        lines.push(format!("{name}{LENGTH} = {name}{BYTES} / sizeof({element});"));
        lines.push(format!(
            "{name}{SLOTS} = {name}{TAKEN} < {LIMIT_BYTES} ? ({LIMIT_BYTES} - {name}{TAKEN}) / {name}{BYTES} : 0;"
        ));
        let rounds = &self.reuse.first.rounds;
        let known = words(rounds).iter().all(|word| {
            let hidden = function.parameters.iter().any(|parameter| parameter.name == *word)
                || file.locals().iter().any(|local| local.name == *word && function.body.contains(&local.span.start));
            !hidden && !assigns(file.slice(&(end..function.body.end)), word)
        });
        if known && !rounds.contains(['$', '[', '%']) {
            lines.push(format!("const uint32_t {name}{ROUNDS} = static_cast<uint32_t>({});", bare(rounds)));
            lines.push(format!("{name}{SLOTS} = {name}{SLOTS} < {name}{ROUNDS} ? {name}{SLOTS} : {name}{ROUNDS};"));
        }
        lines.push(format!("if ({name}{SLOTS} > 0) {{"));
        lines.push(format!("    {}InitBuffer({name}, {name}{SLOTS} * {name}{BYTES});", access(context, own)));
        lines.push("}".to_owned());
        let declaration = last_member(context, kernel).ok_or("the class has no buffer member to put another beside")?;
        let header = context.forest.get(&declaration.file).ok_or("the class is not parsed")?;
        let prefix = scope(header);
        let members = [
            format!("{prefix}TBuf<{prefix}TPosition::VECCALC> {name};"),
            format!("uint32_t {name}{SLOTS} = 0;"),
            format!("uint32_t {name}{LENGTH} = 0;"),
        ];
        let shared = || "a declaration shares its line".to_owned();
        Ok(vec![
            insert_after(header, &declaration.span(), &members).ok_or_else(shared)?,
            insert_after(file, &whole, &lines).ok_or_else(shared)?,
        ])
    }

    fn statement_ending(&self, file: &SyntaxFile, end: usize) -> Option<Range<usize>> {
        let last = super::queue_run::statement_at(file, &(end - 1..end));
        last.filter(|span| span.end == end && file.whole_lines(span).is_some())
    }

    fn element(&self) -> Result<String, String> {
        let load = self.reuse.first;
        let file = self.run.frames[load.to].file;
        let call = file.calls().iter().find(|call| load.taken.value.as_ref() == Some(&call.span));
        call.and_then(|call| call.template_arguments.clone())
            .ok_or_else(|| "the element type is not written".to_owned())
    }
}

/// The loop that counts the chunks.
fn pass<'a>(load: &Load<'a>) -> Result<(usize, &'a Loop), String> {
    load.loops.last().copied().ok_or_else(|| "no loop".to_owned())
}

/// Size in whole blocks of 32 bytes.
fn padded(size: &str) -> String {
    let whole = parse_integer(size).is_some_and(|bytes| bytes % 32 == 0);
    if whole || (size.contains(SLOTS) && size.ends_with(BYTES)) {
        return size.to_owned();
    }
    let simple = !size.contains(['+', '-', '?', '|', '&', '<', '>']);
    if simple { format!("({size} + 31) / 32 * 32") } else { format!("(({size}) + 31) / 32 * 32") }
}

/// One buffer in the sum of the bytes that are taken.
fn term(sum: &str, buffer: &str, bytes: &str) -> String {
    format!("{sum} += {bytes}; // {buffer}")
}

/// Places of the number of buffers of a queue in sums of taken bytes, where it is written as this number.
pub(super) fn counted(file: &SyntaxFile, queue: &str, number: i64) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (line, text) in terms_of(file, queue) {
        let Some((before, after)) = text.split_once(" += ") else { continue };
        let literal = number.to_string();
        if after.strip_prefix(&literal).is_some_and(|rest| rest.starts_with(" * ")) {
            let start = line.start + before.len() + " += ".len();
            found.push(start..start + literal.len());
        }
    }
    found
}

/// Edits that add a buffer to the sums of taken bytes of a file.
pub(super) fn counted_in(file: &SyntaxFile, buffers: &[(String, String)]) -> Vec<Edit> {
    let sums = file.locals().iter().filter(|local| local.name.starts_with("keep") && local.name.ends_with(TAKEN));
    sums.filter_map(|local| {
        let lines: Vec<String> = buffers.iter().map(|(name, size)| term(&local.name, name, &padded(size))).collect();
        insert_after(file, &local.span, &lines)
    })
    .collect()
}

/// Edits that take a buffer out of the sums of taken bytes.
pub(super) fn counted_out(file: &SyntaxFile, buffer: &str) -> Vec<Edit> {
    terms_of(file, buffer).into_iter().map(|(line, _)| edit(file, line, "")).collect()
}

fn terms_of<'a>(file: &'a SyntaxFile, buffer: &str) -> Vec<(Range<usize>, &'a str)> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in file.text().split_inclusive('\n') {
        let text = line.trim();
        let sum = text.split(' ').next().unwrap_or_default();
        if sum.starts_with("keep") && sum.ends_with(TAKEN) && text.ends_with(&format!("; // {buffer}")) {
            found.push((start..start + line.len(), line));
        }
        start += line.len();
    }
    found
}

/// In parentheses unless it is one word.
fn closed(text: &str) -> String {
    if text.contains(' ') { format!("({text})") } else { text.to_owned() }
}

/// Without parentheses around the whole.
fn bare(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        let mut depth = 0i32;
        let balanced = inner.chars().all(|character| {
            depth += i32::from(character == '(') - i32::from(character == ')');
            depth >= 0
        });
        if !balanced {
            break;
        }
        text = inner.trim();
    }
    text
}

/// Statements under a condition.
fn guard(file: &SyntaxFile, span: &Range<usize>, condition: &str, barrier: bool) -> Result<Edit, String> {
    let lines = file.whole_lines(span).ok_or_else(|| format!("line {} is shared", file.line(span.start)))?;
    let indentation = file.indentation(span.start);
    let text = file.slice(&lines);
    if text.lines().any(|line| line.trim_start().starts_with('#')) {
        return Err(format!("a directive stands near line {}", file.line(span.start)));
    }
    let inner: String = text
        .lines()
        .map(|line| if line.trim().is_empty() { "\n".to_owned() } else { format!("    {line}\n") })
        .collect();
    let otherwise = if barrier {
        format!("{indentation}}} else {{\n{indentation}    {}PipeBarrier<PIPE_ALL>();\n", scope(file))
    } else {
        String::new()
    };
    Ok(edit(file, lines, format!("{indentation}if ({condition}) {{\n{inner}{otherwise}{indentation}}}\n")))
}
