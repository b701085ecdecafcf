//! A kernel's change to several rows a round: stages, buffers and the proof that the rows allow it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::analysis::code::{scope, words};
use crate::analysis::flow::effects::{own_functions, steady};
use crate::analysis::linear::{Linear, grouped, parted};
use crate::analysis::queue_uses::calls_on;
use crate::analysis::round_list::{Kind, List, Part, Touched};
use crate::analysis::round_names::{BETWEEN, COUNT, ROW, ROWS};
use crate::context::Context;
use crate::context::unified_buffer::UNIFIED_BUFFER_BYTES;
use crate::rewrite::buffers::{free_name, last_member};
use crate::rewrite::edits::{edit, insert_after};
use crate::rewrite::round_buffers::Room;
use crate::rewrite::round_text::{block_lines, chunks, is_field, line_end, line_start, sliced};
use crate::rewrite::signature::{appended, declared, list_of};
use source::Edit;
use source::facts::api::is_copy;
use source::facts::{Callers, InitBuffer, Kernel, KnownValues, base_name};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, SyntaxFile};

/// The kernel's change as it grows.
pub(crate) struct Round<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    touching: &'a BTreeSet<String>,
    span: &'a Range<usize>,
    pub(crate) constant: String,
    pub(crate) edits: Vec<Edit>,
    rooms: BTreeMap<String, Room>,
    /// Stages: file and start of the function.
    stages: BTreeSet<(String, usize)>,
    parts: Vec<Touched>,
    /// Queues that hold the same for all rows of a round.
    same: BTreeSet<String>,
    /// Queues that are known not to.
    pub(crate) varying: BTreeSet<String>,
    /// Queues that were taken for such and are written later.
    pub(crate) overwritten: BTreeSet<String>,
    /// What is done once a round.
    once: String,
    /// Blocks that the round consists of: file and span.
    blocks: Vec<(String, Range<usize>)>,
}

impl<'a> Round<'a> {
    pub(crate) fn new(
        context: &'a Context,
        kernel: &'a Kernel,
        touching: &'a BTreeSet<String>,
        span: &'a Range<usize>,
        varying: BTreeSet<String>,
    ) -> Self {
        Self {
            context,
            kernel,
            touching,
            span,
            constant: free_name(context, ROWS),
            edits: Vec::new(),
            rooms: BTreeMap::new(),
            stages: BTreeSet::new(),
            parts: Vec::new(),
            same: BTreeSet::new(),
            varying,
            overwritten: BTreeSet::new(),
            once: String::new(),
            blocks: Vec::new(),
        }
    }

    /// Finds the queues that hold the same for all rows.
    pub(crate) fn settle_same(&mut self, list: &mut List<'_>) -> Result<(), String> {
        let same = list.settle_same(&self.varying);
        for queue in list.written_queues() {
            if self.same.contains(&queue) {
                self.overwritten.insert(queue);
            }
        }
        if let Some(queue) = self.overwritten.first() {
            return Err(format!("{queue} is written for every row"));
        }
        self.same.extend(same);
        Ok(())
    }

    /// Room of a row in a queue's buffers.
    fn room(&mut self, queue: &str) -> Result<&Room, String> {
        if !self.rooms.contains_key(queue) {
            let init = self.kernel.init_of(queue);
            let init = init.ok_or_else(|| format!("{queue} is not initialised at exactly one place"))?;
            if init.number.is_none() {
                return Err(format!("{queue} has no number of buffers"));
            }
            self.rooms.insert(queue.to_owned(), Room::of(self.context, self.kernel, init)?);
        }
        Ok(&self.rooms[queue])
    }

    /// The block as it is done for a round.
    pub(crate) fn emitted(
        &mut self,
        list: &List<'_>,
        types: &BTreeMap<String, String>,
        block: &Range<usize>,
    ) -> Result<String, String> {
        let file = list.file;
        self.blocks.push((file.name().to_owned(), block.clone()));
        let tensors: BTreeMap<String, (String, String)> = list
            .queue_tensors()
            .into_iter()
            .map(|(name, (queue, element))| (name.to_owned(), (queue.to_owned(), element.to_owned())))
            .collect();
        let mut pitches: BTreeMap<String, String> = BTreeMap::new();
        for (name, (queue, element)) in &tensors {
            if element.is_empty() {
                return Err(format!("the element type of {name} is not known"));
            }
            if self.same.contains(queue) {
                continue;
            }
            pitches.insert(name.clone(), self.room(queue)?.pitch(element));
        }
        let chunks = chunks(file, &list.statements, &block_lines(file, block)?)?;
        let mut text = String::new();
        for part in &list.parts {
            match part {
                Part::Kept(index) => text.push_str(&self.once_a_round(list, &chunks, *index)?),
                Part::Rows { begins, rows, ends } => {
                    for index in begins {
                        text.push_str(&self.once_a_round(list, &chunks, *index)?);
                    }
                    // Copies that share nothing get a loop each: one strided copy may take its place.
                    if rows.len() > 1 && rows.iter().all(|index| is_lone_copy(list, *index)) {
                        for index in rows {
                            text.push_str(&self.rows(list, types, &chunks, &[*index], &pitches)?);
                        }
                    } else if !rows.is_empty() {
                        text.push_str(&self.rows(list, types, &chunks, rows, &pitches)?);
                    }
                    for index in ends {
                        text.push_str(&self.once_a_round(list, &chunks, *index)?);
                    }
                }
            }
        }
        let end = list.statements.last().map_or(block.start, |last| line_end(file, last.end));
        text.push_str(file.slice(&(end..block_lines(file, block)?.end)));
        Ok(text)
    }

    /// A statement that is done once a round.
    fn once_a_round(&mut self, list: &List<'_>, chunks: &[Range<usize>], index: usize) -> Result<String, String> {
        let (file, chunk) = (list.file, &chunks[index]);
        let mut inserted: Vec<(usize, String)> = Vec::new();
        if let Kind::Stage(call) = &list.kinds[index] {
            let call = &file.calls()[*call];
            self.stage(list, call)?;
            let close = call.span.end - 1;
            inserted.push((close, if call.arguments.is_empty() { COUNT.to_owned() } else { format!(", {COUNT}") }));
        } else {
            self.once.push_str(list.text(index));
            self.once.push('\n');
        }
        if let Kind::Number(name) = &list.kinds[index]
            && list.names.get(name).is_some_and(Option::is_none)
        {
            return Err(format!("{name} differs from row to row in no equal steps"));
        }
        let (mut text, mut done) = (String::new(), chunk.start);
        for token in pieces(file.slice(chunk)) {
            let span = chunk.start + token.span.start..chunk.start + token.span.end;
            let word = file.slice(&span);
            while let Some((at, more)) = inserted.first().filter(|(at, _)| *at <= span.start).cloned() {
                text.push_str(file.slice(&(done..at)));
                text.push_str(&more);
                done = at;
                inserted.remove(0);
            }
            if token.kind == PieceKind::Word && list.renamed.contains(word) && !is_field(file, span.start) {
                text.push_str(file.slice(&(done..span.start)));
                text.push_str(&first_of(word));
                done = span.end;
            }
        }
        text.push_str(file.slice(&(done..chunk.end)));
        Ok(text)
    }

    /// Statements that are done for every row.
    fn rows(
        &mut self,
        list: &List<'_>,
        types: &BTreeMap<String, String>,
        chunks: &[Range<usize>],
        rows: &[usize],
        pitches: &BTreeMap<String, String>,
    ) -> Result<String, String> {
        let file = list.file;
        let touched = list.touched(rows)?;
        let first = &list.statements[rows[0]];
        let indentation = file.indentation(first.start);
        let mut text = String::new();
        // Blank lines and comments of the first row's statement stay before the loop.
        let lead = file.slice(&(chunks[rows[0]].start..line_start(file, first.start)));
        let blank = lead.len() - lead.trim_start_matches(['\n', '\r', ' ', '\t']).len();
        let blank = lead[..blank].rfind('\n').map_or(0, |end| end + 1);
        text.push_str(&lead[..blank]);
        text.push_str(&format!("{indentation}for (uint32_t {ROW} = 0; {ROW} < {COUNT}; {ROW}++) {{\n"));
        let mut named: BTreeSet<&str> = BTreeSet::new();
        for index in rows {
            named.extend(words(list.text(*index)));
        }
        for name in list.renamed.iter().filter(|name| named.contains(name.as_str())) {
            let type_text = types.get(name).map(String::as_str).unwrap_or_default();
            let type_text = by_value(type_text).ok_or_else(|| format!("{name} is a {type_text}"))?;
            let step = list.names.get(name).cloned().flatten().map(|grows| grows.step).unwrap_or_default();
            let wide = type_text.contains("64") || type_text == "size_t";
            let row = if wide && step != "1" { format!("static_cast<{type_text}>({ROW})") } else { ROW.to_owned() };
            let row = if step == "1" { row } else { format!("{row} * {}", grouped_product(&step)) };
            text.push_str(&format!("{indentation}    const {type_text} {name} = {} + {row};\n", first_of(name)));
        }
        self.taken_by_value(list, rows, pitches)?;
        let local_names: Vec<&str> = file
            .locals()
            .iter()
            .filter(|local| rows.iter().any(|index| list.statements[*index].contains(&local.span.start)))
            .map(|local| local.name.as_str())
            .collect();
        for (index, _) in list.statements.iter().enumerate().filter(|(index, _)| !rows.contains(index)) {
            if let Some(name) = words(list.text(index)).into_iter().find(|word| local_names.contains(word)) {
                let declared_again = file
                    .locals()
                    .iter()
                    .any(|local| local.name == name && list.statements[index].contains(&local.span.start));
                if !declared_again {
                    return Err(format!(
                        "{name} of one row is used at line {} too",
                        file.line(list.statements[index].start)
                    ));
                }
            }
        }
        // A barrier at the end orders pipes for what comes next, not rows that share nothing.
        let is_barrier = |index: &usize| list.text(*index).contains("PipeBarrier<") && list.kinds[*index] == Kind::Mode;
        let behind = match rows {
            [.., last] if rows.len() > 1 && is_barrier(last) && !touched.writes_buffers() => Some(*last),
            _ => None,
        };
        let inside = if behind.is_some() { &rows[..rows.len() - 1] } else { rows };
        for (position, index) in inside.iter().enumerate() {
            let start = if position == 0 { chunks[*index].start + blank } else { chunks[*index].start };
            let sliced = sliced(list, &(start..chunks[*index].end), pitches)?;
            for line in sliced.split_inclusive('\n') {
                if !line.trim().is_empty() {
                    text.push_str("    ");
                }
                text.push_str(line);
            }
        }
        if let Some(pipe) = list.barrier(rows, &touched) {
            text.push_str(&format!("{indentation}    {}PipeBarrier<{pipe}>();{BETWEEN}\n", scope(file)));
        }
        text.push_str(&format!("{indentation}}}\n"));
        if let Some(index) = behind {
            text.push_str(file.slice(&chunks[index]));
        }
        self.parts.push(touched);
        Ok(text)
    }

    /// Proves that functions take a part of a tensor where they took a tensor: not by a reference that could be another's.
    fn taken_by_value(
        &self,
        list: &List<'_>,
        rows: &[usize],
        pitches: &BTreeMap<String, String>,
    ) -> Result<(), String> {
        let functions: Vec<&Function> = self.context.forest.iter().flat_map(|file| file.functions()).collect();
        for call in rows.iter().flat_map(|index| list.file.calls_in(list.statements[*index].clone())) {
            for (position, argument) in call.arguments.iter().enumerate() {
                let tensor = list.file.slice(argument).trim();
                let by_reference = |function: &&&Function| {
                    let parameter = function.parameters.get(position).filter(|_| function.name == call.name);
                    parameter.is_some_and(|parameter| {
                        parameter.type_text.contains('&') && !parameter.type_text.contains("const")
                    })
                };
                if pitches.contains_key(tensor) && functions.iter().any(|function| by_reference(&function)) {
                    return Err(format!("{} takes {tensor} by reference", call.name));
                }
            }
        }
        Ok(())
    }

    /// Changes a function that is called once a round.
    fn stage(&mut self, list: &List<'_>, call: &Call) -> Result<(), String> {
        let (context, kernel) = (self.context, self.kernel);
        let mut functions = own_functions(context, kernel, &call.name);
        let (Some((file, function)), None) = (functions.next(), functions.next()) else {
            return Err(format!("{} has several definitions", call.name));
        };
        if !self.stages.insert((file.name().to_owned(), function.span.start)) {
            return Err(format!("{} is called twice for a row", call.name));
        }
        if file.name() == list.file.name() && function.body.contains(&list.function.body.start) {
            return Err(format!("{} calls itself", call.name));
        }
        if file.slice(&function.span).contains(ROW) {
            return Err(format!("{} takes several rows already", call.name));
        }
        if call.arguments.len() != function.parameters.len() {
            return Err(format!("{} has arguments by default", call.name));
        }
        let (mut names, mut types) = (BTreeMap::new(), BTreeMap::new());
        for (parameter, argument) in function.parameters.iter().zip(&call.arguments) {
            let argument = list.file.slice(argument).trim();
            let tensor = list.queue_tensors().keys().any(|name| words(argument).contains(name));
            if tensor {
                return Err(format!("{} gets a tensor of a queue", call.name));
            }
            let grows = list.growth(argument);
            let grows = grows.ok_or_else(|| format!("{argument} differs from row to row in no equal steps"))?;
            if grows.step.is_empty() {
                continue;
            }
            if by_value(&parameter.type_text).is_none() {
                return Err(format!("{} is a {}", parameter.name, parameter.type_text));
            }
            self.spelled_everywhere(list, function, &grows.step)?;
            names.insert(parameter.name.clone(), Linear::new(parameter.name.clone(), grows.step));
            types.insert(parameter.name.clone(), parameter.type_text.clone());
        }
        let mut stage = List::of(context, kernel, file, function, &function.body, (&names, self.touching))?;
        self.settle_same(&mut stage)?;
        let text = self.emitted(&stage, &types, &function.body)?;
        self.edits.push(edit(file, block_lines(file, &function.body)?, text));
        let parameters =
            list_of(file, function).ok_or_else(|| format!("the parameters of {} are not understood", function.name))?;
        self.edits.push(appended(file, &parameters, &format!("uint32_t {COUNT}")));
        for token in pieces(file.slice(&parameters)) {
            let span = parameters.start + token.span.start..parameters.start + token.span.end;
            let word = file.slice(&span);
            if token.kind == PieceKind::Word && stage.renamed.contains(word) {
                self.edits.push(edit(file, span.clone(), first_of(word)));
            }
        }
        let declarations = declared(context, function);
        if declarations.len() > 1 {
            return Err(format!("{} is declared more than once", function.name));
        }
        self.edits.extend(declarations.iter().map(|(file, list)| appended(file, list, &format!("uint32_t {COUNT}"))));
        // Elsewhere it goes on taking one row.
        for site in Callers::new(kernel, &context.forest).sites(function) {
            let here = site.file.name() == list.file.name() && site.call.span == call.span;
            if !here {
                self.edits.push(appended(site.file, &(site.call.callee.end..site.call.span.end), "1"));
            }
        }
        Ok(())
    }

    /// Proves that a step can be written in a stage as it is written in the caller.
    fn spelled_everywhere(&self, list: &List<'_>, stage: &Function, step: &str) -> Result<(), String> {
        for word in words(step) {
            let is_local = |file: &SyntaxFile, function: &Function| {
                function.parameters.iter().any(|parameter| parameter.name == word)
                    || file.locals().iter().any(|local| local.name == word && function.body.contains(&local.span.start))
            };
            let hidden = stage.parameters.iter().any(|parameter| parameter.name == word) && !step.contains("this->");
            if hidden || (is_local(list.file, list.function) && !step.contains(&format!("this->{word}"))) {
                return Err(format!("the step {step} is known to {} only", list.function.name));
            }
        }
        steady(self.context, list.file, self.kernel, step, self.span)
    }

    /// Proves that all rows can go through one part after the other.
    pub(crate) fn judged(&self) -> Result<(), String> {
        if self.parts.is_empty() {
            return Err("nothing is done for a row".to_owned());
        }
        for (index, part) in self.parts.iter().enumerate() {
            part.apart_from(&self.once)?;
            for (_, other) in self.parts.iter().enumerate().filter(|(other, _)| *other != index) {
                part.apart(other)?;
            }
        }
        // A queue is used in the round alone, or its tensors would hold different numbers of rows.
        for queue in self.rooms.keys().chain(&self.same) {
            for used in calls_on(self.context, self.kernel, queue)? {
                let in_round = self
                    .blocks
                    .iter()
                    .any(|(file, block)| file == used.file.name() && block.contains(&used.call.span.start));
                if !in_round {
                    return Err(format!("{queue} is used at line {} too", used.file.line(used.call.span.start)));
                }
            }
        }
        Ok(())
    }

    /// Edits that make the buffers larger, and the constant.
    pub(crate) fn buffers(&self) -> Result<Vec<Edit>, String> {
        let mut edits = Vec::new();
        for (queue, room) in &self.rooms {
            let init = self.kernel.init_of(queue).ok_or("a queue is not initialised")?;
            edits.push(room.widened(self.context, init, &self.constant)?);
        }
        let last = last_member(self.context, self.kernel);
        let last = last.ok_or("the class has no member to put the constant beside")?;
        let header = self.context.forest.get(&last.file).ok_or("the class is not parsed")?;
        let line = format!("static constexpr uint32_t {} = 0;", self.constant);
        edits.push(insert_after(header, &last.span(), &[line]).ok_or("a declaration shares its line")?);
        Ok(edits)
    }

    /// Refuses what is known not to fit the unified buffer.
    pub(crate) fn fits(&self, rows: i64) -> Result<(), String> {
        let known: &KnownValues = &self.context.facts.known;
        let bytes = self.kernel.init_buffers.iter().try_fold(0, |sum: i64, init| {
            let number = match &init.number {
                Some(place) => known.value(self.context.forest.get(&place.file)?.slice(&place.span()))?,
                None => 1,
            };
            let size = match self.rooms.get(&init.target) {
                Some(room) => known.value(&room.rounded())?.checked_mul(rows)?,
                None => known.value(&init.size)?,
            };
            sum.checked_add(number.checked_mul(size)?)
        });
        let measured = || {
            let widened: Vec<&InitBuffer> = self.rooms.keys().filter_map(|queue| self.kernel.init_of(queue)).collect();
            self.context.unified_buffer.with_numbers(self.kernel, &widened, 1, rows)
        };
        match bytes.or_else(measured) {
            Some(bytes) if bytes > UNIFIED_BUFFER_BYTES => {
                Err(format!("{bytes} bytes of buffers, and the unified buffer has {UNIFIED_BUFFER_BYTES}"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a statement is a copy between global memory and a tensor of a queue.
fn is_lone_copy(list: &List<'_>, index: usize) -> bool {
    let file = list.file;
    let call = file.calls().iter().find(|call| call.statement.as_ref() == Some(&list.statements[index]));
    let tensors = list.queue_tensors();
    call.is_some_and(|call| {
        let operand = |position: usize| file.argument(call, position).map(base_name).unwrap_or_default();
        let global = |position: usize| list.kernel.globals.contains_key(operand(position));
        let local = |position: usize| tensors.contains_key(operand(position));
        is_copy(&call.name) && ((global(0) && local(1)) || (local(0) && global(1)))
    })
}

/// Name of what a round starts with.
pub(crate) fn first_of(name: &str) -> String {
    let mut letters = name.chars();
    let head: String = letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
    format!("first{head}{}", letters.as_str())
}

/// Factors of a product stay as they are, a sum goes into parentheses.
fn grouped_product(step: &str) -> String {
    let plain = parted(step, &['+', '-', '/', '%']).is_some_and(|parts| parts.len() == 1);
    if plain { step.to_owned() } else { grouped(step) }
}

/// The integer type of a parameter that is taken as a copy or as a constant.
fn by_value(type_text: &str) -> Option<&str> {
    let plain = type_text.trim().trim_end_matches('&').trim();
    let constant = plain.strip_prefix("const ").or_else(|| plain.strip_suffix(" const"));
    let by_reference = type_text.contains('&');
    let plain = constant.unwrap_or(plain).trim();
    (is_integer(plain) && (!by_reference || constant.is_some())).then_some(plain)
}

fn is_integer(type_text: &str) -> bool {
    matches!(
        type_text.trim(),
        "int"
            | "unsigned"
            | "unsigned int"
            | "size_t"
            | "int32_t"
            | "uint32_t"
            | "int64_t"
            | "uint64_t"
            | "int16_t"
            | "uint16_t"
            | "long"
            | "unsigned long"
    )
}
