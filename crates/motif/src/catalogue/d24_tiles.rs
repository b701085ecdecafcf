//! D24: a loop that takes elements of global memory one by one works on tiles in the unified buffer.
//!
//! The work stays scalar, with full barriers around it: what that leaves to do is V01's and Y01's, for which there was nothing before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use crate::analysis::code::{block_of, functions_of, object_name, scope, squash, words};
use crate::analysis::entry::device_files;
use crate::analysis::flow::changes::changes_name;
use crate::analysis::flow::effects::{is_plain, steady};
use crate::analysis::loops::{Ranged, ranged};
use crate::rewrite::buffers::free_name;
use crate::rewrite::edits::{edit, insert_after};
use crate::rewrite::tile_names::Tensors;
use crate::{Candidate, Combination, Company, Context, Counter, Family, Id, Metadata, Motif};
use source::Edit;
use source::facts::{FileSpan, Kernel};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, Local, Loop, SyntaxFile};

/// Elements of a tile: 16 KiB of the widest numbers, so that ten tiles leave room for what a vector form needs beside them.
const TILE: usize = 2048;

/// The motif.
pub struct Tiles;

const METADATA: Metadata = Metadata {
    id: Id::D24,
    title: "elements of global memory moved in tiles",
    family: Family::DataMovement,
    precondition: "a class that uses no unified buffer yet; an innermost loop in steps of 1 whose rounds, every one of them, read and write global tensors at start + counter alone, \
     each at one start, and write each of them once; starts and range stay the same while the loop runs",
    left_to_verifier: "no two global tensors of the loop are the same memory at different places",
    relieves: &[Counter::ScalarUs],
    prior_gain: 1.5,
    cost: "a tile of the unified buffer for every global tensor of the loop, and two barriers for every tile",
    tunables: "takes bytes of the unified buffer",
    undoing: "element by element from global memory",
    rounding_changes: false,
    replaces_constants: false,
    company: Company {
        leads: &[
            Combination { rank: 15, motifs: &[Id::D24, Id::V01] },
            Combination { rank: 16, motifs: &[Id::D24, Id::V01, Id::Y01, Id::D01] },
        ],
        ..Company::ANY
    },
};

impl Motif for Tiles {
    fn metadata(&self) -> &'static Metadata {
        &METADATA
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let walks = walks(context).into_iter().filter(|walk| walk.accesses().next().is_some() && !walk.is_nest());
        walks
            .map(|walk| {
                let note = format!("tiles of {TILE} elements");
                Candidate::new(walk.file, &walk.repetition.span, note, walk.tiled())
                    .on_condition("no two global tensors of the loop are the same memory at different places")
            })
            .collect()
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let untiled = |walk: Walk<'_>| {
            let edits = walk.untiled()?;
            Some(Candidate::new(walk.file, &walk.repetition.span, "element by element", Ok(edits)))
        };
        walks(context).into_iter().filter_map(untiled).collect()
    }
}

/// All loops of kernels with global tensors.
fn walks(context: &Context) -> Vec<Walk<'_>> {
    let mut found = Vec::new();
    for kernel in context.facts.kernels.values().filter(|kernel| !kernel.globals.is_empty()) {
        for (file, function) in functions_of(context, kernel) {
            let own = file.loops().iter().filter(|repetition| function.body.contains(&repetition.span.start));
            found.extend(own.map(|repetition| Walk { context, kernel, file, function, repetition }));
        }
    }
    found
}

/// A loop that may walk through global memory.
struct Walk<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    file: &'a SyntaxFile,
    function: &'a Function,
    repetition: &'a Loop,
}

/// A global tensor as the rounds use it.
struct Stream<'a> {
    element: &'a str,
    /// What is added to the counter, as text; empty for nothing.
    start: String,
    is_read: bool,
    is_written: bool,
}

impl<'a> Walk<'a> {
    /// Accesses of elements of global tensors in the loop.
    fn accesses(&self) -> impl Iterator<Item = &'a Call> {
        let globals = &self.kernel.globals;
        self.file.calls_in(self.repetition.body.clone()).filter(move |call| {
            matches!(call.name.as_str(), "GetValue" | "SetValue") && globals.contains_key(object_name(call))
        })
    }

    /// Whether another loop stands in this one.
    fn is_nest(&self) -> bool {
        let mut loops = self.file.loops().iter();
        loops.any(|other| other.span != self.repetition.span && self.repetition.body.contains(&other.span.start))
    }

    fn line(&self, byte: usize) -> usize {
        self.file.line(byte)
    }

    fn tiled(&self) -> Result<Vec<Edit>, String> {
        let (file, body) = (self.file, &self.repetition.body);
        let range = ranged(file, self.repetition)?;
        self.has_room()?;
        self.is_straight()?;
        for bound in [&range.first, &range.end] {
            steady(self.context, file, self.kernel, bound, body)?;
        }
        steady(self.context, file, self.kernel, &range.counter, body)?;
        let places = self.places(&range)?;
        let streams = self.streams(&range, &places)?;
        let whole = file.whole_lines(&self.repetition.span).ok_or("the loop shares its lines")?;
        let names = Tensors::of(self.context, streams.keys().copied());
        let mut edits = self.members(&streams, &names)?;
        edits.push(edit(file, whole, self.text(&range, &places, &streams, &names)));
        Ok(edits)
    }

    /// Proves that the class leaves the unified buffer to this.
    fn has_room(&self) -> Result<(), String> {
        let kernel = self.kernel;
        if kernel.has_base() || !self.context.facts.derived(&kernel.name).is_empty() {
            return Err(format!("{} has a base class or is one", kernel.name));
        }
        if !self.kernel.init_buffers.is_empty() || !kernel.queues.is_empty() || !kernel.buffers.is_empty() {
            return Err(format!("{} has buffers of its own", kernel.name));
        }
        Ok(())
    }

    /// Proves that every round is done to its end.
    fn is_straight(&self) -> Result<(), String> {
        let body = &self.repetition.body;
        let text = self.file.slice(body);
        for token in pieces(text) {
            let line = self.line(body.start + token.span.start);
            match (token.kind, &text[token.span.clone()]) {
                (PieceKind::Directive, _) => return Err(format!("line {line}: a directive stands in the loop")),
                (PieceKind::Word, word @ ("return" | "goto" | "break" | "continue")) => {
                    return Err(format!("line {line}: {word} ends a round"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Numbers that the body declares for nothing but to say where an element is.
    fn places(&self, range: &Ranged) -> Result<BTreeMap<&'a str, &'a Local>, String> {
        let (file, body) = (self.file, &self.repetition.body);
        let within = |span: &Range<usize>| body.start <= span.start && span.end <= body.end;
        let mut found = BTreeMap::new();
        for local in file.locals().iter().filter(|local| within(&local.span)) {
            let Some(value) = &local.value else { continue };
            if !words(file.slice(value)).contains(&range.counter.as_str()) || self.accesses_in(value) {
                continue;
            }
            let mentions = words(file.slice(body)).into_iter().filter(|word| *word == local.name).count();
            let as_index = self
                .accesses()
                .filter(|call| call.arguments.first().is_some_and(|index| squash(file.slice(index)) == local.name));
            let line = self.line(local.span.start);
            if mentions != 1 + as_index.count() || changes_name(file, &(local.span.end..body.end), &local.name) {
                return Err(format!("line {line}: {} is more than the place of an element", local.name));
            }
            if !local.alone || file.whole_lines(&local.span).is_none() {
                return Err(format!("line {line}: {} is not declared alone", local.name));
            }
            found.insert(local.name.as_str(), local);
        }
        Ok(found)
    }

    /// Whether an expression reads elements.
    fn accesses_in(&self, span: &Range<usize>) -> bool {
        self.accesses().any(|call| span.contains(&call.span.start))
    }

    /// What is added to the counter where an element is.
    fn start_of(&self, index: &str, range: &Ranged, places: &BTreeMap<&str, &Local>) -> Result<String, String> {
        let text = match places.get(squash(index).as_str()) {
            Some(local) => local.value.as_ref().map_or("", |value| self.file.slice(value)),
            None => index,
        };
        let unclear = || format!("{} is not a start and the counter", text.trim());
        let terms = summands(text).ok_or_else(unclear)?;
        let (counters, rest): (Vec<&str>, Vec<&str>) = terms.into_iter().partition(|term| *term == range.counter);
        let start = rest.join(" + ");
        if counters.len() != 1 || words(&start).contains(&range.counter.as_str()) {
            return Err(unclear());
        }
        if !start.is_empty() {
            if !is_plain(&start) {
                return Err(unclear());
            }
            steady(self.context, self.file, self.kernel, &start, &self.repetition.body)?;
        }
        Ok(start)
    }

    /// The global tensors of the loop.
    fn streams(
        &self,
        range: &Ranged,
        places: &BTreeMap<&'a str, &'a Local>,
    ) -> Result<BTreeMap<&'a str, Stream<'a>>, String> {
        let (file, body) = (self.file, &self.repetition.body);
        let mut streams: BTreeMap<&str, Stream<'a>> = BTreeMap::new();
        let mut counters = places.values().filter_map(|local| local.value.as_ref()).count();
        for call in self.accesses() {
            let Some((global, (element, _))) = self.kernel.globals.get_key_value(object_name(call)) else { continue };
            let line = self.line(call.span.start);
            let index = call.arguments.first().ok_or_else(|| format!("line {line}: {} without a place", call.name))?;
            let start =
                self.start_of(file.slice(index), range, places).map_err(|reason| format!("line {line}: {reason}"))?;
            counters += words(file.slice(index)).into_iter().filter(|word| *word == range.counter).count();
            let is_write = call.name == "SetValue";
            self.in_every_round(call, is_write)?;
            let stream = streams.entry(global).or_insert_with(|| Stream {
                element: element.as_str(),
                start: start.clone(),
                is_read: false,
                is_written: false,
            });
            if squash(&stream.start) != squash(&start) {
                return Err(format!("line {line}: {global} is used at two places"));
            }
            if is_write && stream.is_written {
                return Err(format!("line {line}: {global} is written twice"));
            }
            // A round that reads what it wrote would need the tile that it writes.
            if stream.is_written && !is_write {
                return Err(format!("line {line}: {global} is read behind its write"));
            }
            stream.is_read |= !is_write;
            stream.is_written |= is_write;
        }
        if !streams.values().any(|stream| stream.is_written) {
            return Err("nothing is written to global memory".to_owned());
        }
        let text = file.slice(body);
        if words(text).into_iter().filter(|word| **word == *range.counter).count() != counters {
            return Err(format!("{} is more than the place of an element", range.counter));
        }
        let named = words(text);
        let mentions = |name: &str| named.iter().filter(|word| **word == name).count();
        let as_object = |name: &str| self.accesses().filter(|call| object_name(call) == name).count();
        match self.kernel.globals.keys().find(|name| mentions(name) != as_object(name)) {
            Some(name) => Err(format!("{name} is used as a whole in the loop")),
            None => Ok(streams),
        }
    }

    /// Proves that an access is part of every round.
    fn in_every_round(&self, call: &Call, is_write: bool) -> Result<(), String> {
        let (file, body) = (self.file, &self.repetition.body);
        let unsure = || format!("line {}: not every round does this {}", self.line(call.span.start), call.name);
        if is_write {
            let statement = call.statement.as_ref().ok_or_else(unsure)?;
            return if block_of(file, statement).as_ref() == Some(body) { Ok(()) } else { Err(unsure()) };
        }
        let mut node = file.node_at(&call.span).ok_or_else(unsure)?;
        while let Some(parent) = node.parent() {
            match parent.kind() {
                "compound_statement" if parent.byte_range() == *body => return Ok(()),
                "if_statement" | "conditional_expression" | "switch_statement" | "lambda_expression" => {
                    return Err(unsure());
                }
                "binary_expression"
                    if ["&&", "||"].iter().any(|sign| file.slice(&parent.byte_range()).contains(sign)) =>
                {
                    return Err(unsure());
                }
                _ => node = parent,
            }
        }
        Err(unsure())
    }

    /// Members, and their room behind where the last global tensor is bound.
    fn members(&self, streams: &BTreeMap<&str, Stream<'_>>, names: &Tensors) -> Result<Vec<Edit>, String> {
        let mut classes =
            self.context.forest.iter().flat_map(|file| file.classes().iter().map(move |class| (file, class)));
        let (home, class) = classes
            .find(|(_, class)| class.name == self.kernel.name)
            .ok_or_else(|| format!("{} is no class", self.kernel.name))?;
        let last = class.members.last().ok_or("the class has no members")?;
        let bound = self.kernel.calls(&self.context.forest).filter(|(_, _, call)| call.name == "SetGlobalBuffer");
        let (file, _, call) = bound.last().ok_or("no global tensor is bound")?;
        let statement = call.statement.as_ref().ok_or("a global tensor is bound inside of a statement")?;
        let function = file.enclosing_function(call.span.start).ok_or("a global tensor is bound nowhere")?;
        if block_of(file, statement).as_ref() != Some(&function.body) || function.name == self.function.name {
            return Err(format!("{} does not bind its tensors once for all", function.name));
        }
        let api = scope(home);
        let mut declared = Vec::new();
        let member = |name: &str| class.members.iter().find(|member| member.name == name);
        let (pipe, is_pointer) = match self.kernel.pipes.keys().find_map(|name| member(name)) {
            Some(pipe) => (pipe.name.clone(), home.slice(&pipe.span).contains('*')),
            None => {
                // A core has one pipe.
                if let Some(file) = device_files(self.context).find(|file| words(file.text()).contains(&"TPipe")) {
                    return Err(format!("{} has a pipe that is no member of {}", file.name(), class.name));
                }
                let pipe = free_name(self.context, "pipe");
                declared.push(format!("{api}TPipe {pipe};"));
                (pipe, false)
            }
        };
        let access = if is_pointer { "->" } else { "." };
        let mut initialised = Vec::new();
        for (global, stream) in streams {
            let mut add = |queue: String, position: &str| {
                declared.push(format!("{api}TQue<{api}TPosition::{position}, 1> {queue};"));
                initialised.push(format!("{pipe}{access}InitBuffer({queue}, 1, {TILE} * sizeof({}));", stream.element));
            };
            if stream.is_read {
                add(names.queue_in(global), "VECIN");
            }
            if stream.is_written {
                add(names.queue_out(global), "VECOUT");
            }
        }
        let shared = "a declaration shares its line";
        Ok(vec![
            insert_after(home, &last.span, &declared).ok_or(shared)?,
            insert_after(file, statement, &initialised).ok_or(shared)?,
        ])
    }

    /// The loop over tiles.
    fn text(
        &self,
        range: &Ranged,
        places: &BTreeMap<&str, &Local>,
        streams: &BTreeMap<&str, Stream<'_>>,
        names: &Tensors,
    ) -> String {
        let file = self.file;
        let api = scope(file);
        let outer = file.indentation(self.repetition.span.start);
        let inner = format!("{outer}    ");
        let (tile, count) = (names.tile(), names.count());
        let at = |start: &str| if start.is_empty() { tile.clone() } else { format!("{start} + {tile}") };
        let copied = |element: &str| {
            format!("{api}DataCopyExtParams{{1, static_cast<uint32_t>({count} * sizeof({element})), 0, 0, 0}}")
        };
        let mut text =
            format!("{outer}for (int64_t {tile} = {}; {tile} < {}; {tile} += {TILE}) {{\n", range.first, range.end);
        let mut line = |line: String| {
            let _ = writeln!(text, "{inner}{line}");
        };
        line(format!(
            "const uint32_t {count} = {0} - {tile} < {TILE} ? {0} - {tile} : {TILE};",
            parenthesised(&range.end)
        ));
        for (global, Stream { element, start, .. }) in streams.iter().filter(|(_, stream)| stream.is_read) {
            let (queue, filled, read) = (names.queue_in(global), names.filled(global), names.read(global));
            line(format!("{api}LocalTensor<{element}> {filled} = {queue}.AllocTensor<{element}>();"));
            let padding = format!("{api}DataCopyPadExtParams<{element}>{{false, 0, 0, 0}}");
            line(format!("{api}DataCopyPad({filled}, {global}[{}], {}, {padding});", at(start), copied(element)));
            line(format!("{queue}.EnQue({filled});"));
            line(format!("{api}LocalTensor<{element}> {read} = {queue}.DeQue<{element}>();"));
        }
        for (global, Stream { element, .. }) in streams.iter().filter(|(_, stream)| stream.is_written) {
            let written = names.written(global);
            line(format!(
                "{api}LocalTensor<{element}> {written} = {}.AllocTensor<{element}>();",
                names.queue_out(global)
            ));
        }
        line(format!("{api}PipeBarrier<PIPE_ALL>();"));
        let Ranged { type_text, counter, update, .. } = range;
        let body = self.body(range, places, names);
        line(format!("for ({type_text} {counter} = 0; {counter} < {count}; {update}) {body}"));
        line(format!("{api}PipeBarrier<PIPE_ALL>();"));
        for (global, Stream { element, start, .. }) in streams.iter().filter(|(_, stream)| stream.is_written) {
            let (queue, written, done) = (names.queue_out(global), names.written(global), names.done(global));
            line(format!("{queue}.EnQue({written});"));
            line(format!("{api}LocalTensor<{element}> {done} = {queue}.DeQue<{element}>();"));
            line(format!("{api}DataCopyPad({global}[{}], {done}, {});", at(start), copied(element)));
            line(format!("{queue}.FreeTensor({done});"));
        }
        for global in streams.iter().filter(|(_, stream)| stream.is_read).map(|(global, _)| global) {
            line(format!("{}.FreeTensor({});", names.queue_in(global), names.read(global)));
        }
        line(format!("{api}PipeBarrier<PIPE_ALL>();"));
        let _ = writeln!(text, "{outer}}}");
        text
    }

    /// The body with tiles in place of global tensors, one step further in.
    fn body(&self, range: &Ranged, places: &BTreeMap<&str, &Local>, names: &Tensors) -> String {
        let (file, body) = (self.file, &self.repetition.body);
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for call in self.accesses() {
            let global = object_name(call);
            let tensor = if call.name == "SetValue" { names.written(global) } else { names.read(global) };
            let object = call.callee.start..call.callee.start + call.object.as_deref().map_or(0, str::len);
            edits.push((object, tensor));
            edits.extend(call.arguments.first().map(|index| (index.clone(), range.counter.clone())));
        }
        edits.extend(places.values().filter_map(|local| Some((file.whole_lines(&local.span)?, String::new()))));
        edits.sort_by_key(|(span, _)| span.start);
        let mut text = file.slice(body).to_owned();
        for (span, replacement) in edits.into_iter().rev() {
            text.replace_range(span.start - body.start..span.end - body.start, &replacement);
        }
        // The first line follows the head of the loop.
        let lines = text.split('\n').enumerate();
        let further = |(number, line): (usize, &str)| match number {
            0 => line.to_owned(),
            _ if line.trim().is_empty() => line.to_owned(),
            _ => format!("    {line}"),
        };
        lines.map(further).collect::<Vec<_>>().join("\n")
    }
}

impl<'a> Walk<'a> {
    /// The loop over elements that a loop over tiles was made of, if it was.
    fn untiled(&self) -> Option<Vec<Edit>> {
        let (file, outer) = (self.file, self.repetition);
        let (initializer, condition) = (file.slice(outer.initializer.as_ref()?), file.slice(outer.condition.as_ref()?));
        let (tile, first) = initializer.strip_prefix("int64_t ")?.trim_end_matches(';').split_once(" = ")?;
        let end = condition.strip_prefix(&format!("{tile} < "))?;
        if file.slice(outer.update.as_ref()?) != format!("{tile} += {TILE}") {
            return None;
        }
        let mut inner = file.loops().iter().filter(|other| outer.body.contains(&other.span.start));
        let (element_loop, None) = (inner.next()?, inner.next()) else { return None };
        let range = ranged(file, element_loop).ok().filter(|range| range.first == "0")?;
        // Where the tiles lie.
        let mut starts: BTreeMap<&str, String> = BTreeMap::new();
        for call in file.calls_in(outer.body.clone()).filter(|call| call.name == "DataCopyPad") {
            for argument in call.arguments.iter().take(2).map(|argument| file.slice(argument)) {
                let Some((global, at)) = argument.split_once('[') else { continue };
                let at = at.strip_suffix(&format!("{tile}]"))?;
                starts.insert(self.kernel.globals.get_key_value(global)?.0, at.to_owned());
            }
        }
        let names = Tensors::plain();
        let mut text = file.slice(&element_loop.body).replace("\n    ", "\n");
        for (global, start) in &starts {
            for (access, tensor) in [("GetValue", names.read(global)), ("SetValue", names.written(global))] {
                let counter = &range.counter;
                text = text
                    .replace(&format!("{tensor}.{access}({counter}"), &format!("{global}.{access}({start}{counter}"));
            }
        }
        let head = format!(
            "for ({} {} = {first}; {} < {end}; {}) ",
            range.type_text, range.counter, range.counter, range.update
        );
        let mut edits = vec![edit(file, outer.span.clone(), head + &text)];
        edits.extend(self.members_gone(starts.keys().copied(), &names)?);
        Some(edits)
    }

    /// Takes the queues of the tiles away, and a pipe that was for nothing else.
    fn members_gone<'b>(&self, globals: impl Iterator<Item = &'b str>, names: &Tensors) -> Option<Vec<Edit>> {
        let queues: BTreeSet<String> =
            globals.flat_map(|global| [names.queue_in(global), names.queue_out(global)]).collect();
        let mut edits = Vec::new();
        let mut pipes = BTreeSet::new();
        for init in self.kernel.init_buffers.iter().filter(|init| queues.contains(&init.target)) {
            let file = self.context.forest.get(&init.statement.file)?;
            let call = file.calls_named("InitBuffer").find(|call| init.statement.span().contains(&call.span.start))?;
            pipes.extend(call.object.as_deref());
            edits.push(edit(file, file.whole_lines(&init.statement.span())?, ""));
        }
        let others = self.kernel.init_buffers.iter().any(|init| !queues.contains(&init.target));
        let mut members: Vec<&FileSpan> =
            queues.iter().filter_map(|queue| self.kernel.queues.get(queue)).map(|queue| &queue.declaration).collect();
        members.extend(pipes.into_iter().filter(|_| !others).filter_map(|pipe| self.kernel.pipes.get(pipe)));
        for member in members {
            let file = self.context.forest.get(&member.file)?;
            edits.push(edit(file, file.whole_lines(&member.span())?, ""));
        }
        Some(edits)
    }
}

/// An expression from which something is taken away.
fn parenthesised(text: &str) -> String {
    if words(text).len() == 1 && !text.contains(['+', '-', '?']) { text.to_owned() } else { format!("({text})") }
}

/// The terms of a sum; `None` where it is something else.
fn summands(text: &str) -> Option<Vec<&str>> {
    let (mut depth, mut start, mut found) = (0_i32, 0, Vec::new());
    for token in pieces(text) {
        match &text[token.span.clone()] {
            "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            "+" if depth == 0 => {
                found.push(text[start..token.span.start].trim());
                start = token.span.end;
            }
            "-" | "?" | "," | "<" | ">" | "&" | "|" | "^" | "%" if depth == 0 => return None,
            _ => {}
        }
    }
    found.push(text[start..].trim());
    found.iter().all(|term| !term.is_empty()).then_some(found)
}
