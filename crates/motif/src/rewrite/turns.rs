//! A buffer that is filled and emptied in turns, as a queue: taken before it is filled, handed over behind that, given back behind the
//! last use.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::analysis::pipes::operands::{Frame, Memory, Operands, assigned, is_operand};
use crate::analysis::pipes::order::Logged;
use crate::analysis::pipes::{COPY_IN, COPY_OUT, Pipes};
use crate::analysis::queue_uses::{QueueCall, calls_on, name_span};
use crate::context::Context;
use crate::rewrite::edits::{edit, insert_after};
use crate::rewrite::members::{numbered, retyped};
use crate::rewrite::through_queue::{block_around, statement_in};
use source::Edit;
use source::facts::{Kernel, base_name};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Local, SyntaxFile};

/// A buffer as a queue.
pub(crate) struct Turned {
    /// What the queue is between: as in [`source::facts::Queue::position`].
    pub(crate) position: &'static str,
    pub(crate) edits: Vec<Edit>,
}

/// The tensor that stands for a buffer.
struct Tensor<'a> {
    file: &'a SyntaxFile,
    call: &'a Call,
    /// Its name where it is used.
    name: String,
    /// The declaration that takes it, or the assignment to a member.
    statement: Range<usize>,
    local: Option<&'a Local>,
}

/// The statements of one block that use a tensor, in text order, each with the pipes that touch it there.
struct Turn<'a> {
    file: &'a SyntaxFile,
    block: Range<usize>,
    statements: Vec<(Range<usize>, Pipes)>,
}

/// Edits that make a queue of a buffer that copies touch; `None` if none does.
pub(crate) fn turned(
    context: &Context,
    kernel: &Kernel,
    log: &[Logged<'_>],
    name: &str,
) -> Result<Option<Turned>, String> {
    let of_buffer = |logged: &&Logged<'_>| logged.touch.memory == Memory::Local(name.to_owned());
    let uses: Vec<&Logged<'_>> = log.iter().filter(of_buffer).collect();
    let touched = uses.iter().fold(0, |pipes, logged| pipes | logged.touch.pipe);
    let position = match (touched & COPY_IN != 0, touched & COPY_OUT != 0) {
        (true, true) => "VECIN,VECOUT",
        (true, false) => "VECIN",
        (false, true) => "VECOUT",
        (false, false) => return Ok(None),
    };
    let init = kernel.init_of(name).ok_or_else(|| format!("{name} is not initialised at exactly one place"))?;
    if init.number.is_some() {
        return Err(format!("{name} is initialised like a queue"));
    }
    let declaration = &kernel.buffers[name];
    let header = context.forest.get(&declaration.file).ok_or("the class is not parsed")?;
    let mut edits = vec![retyped(header, declaration, name, |scope, of| match position {
        "VECIN,VECOUT" => format!("{scope}TQueBind<{of}::VECIN, {of}::VECOUT, 1>"),
        position => format!("{scope}TQue<{of}::{position}, 1>"),
    })?];
    edits.push(numbered(context, init)?);
    let alone = Kernel { bases: BTreeSet::new(), ..kernel.clone() };
    let calls = calls_on(context, &alone, name)?;
    if calls.is_empty() {
        return Err(format!("no tensor is taken from {name}"));
    }
    let mut accounted = 0;
    for call in &calls {
        let tensor = Tensor::of(call, name)?;
        tensor.alone(kernel, context)?;
        let turn = tensor.turn(&uses, &mut accounted)?;
        edits.extend(tensor.through(&turn, position)?);
    }
    if accounted < uses.len() {
        return Err(format!("{name} is used by other names than those that it is taken by"));
    }
    Ok(Some(Turned { position, edits }))
}

/// Edits that give a queue of copies in the position that its tensors are used by: bound to copies out, or one of copies out alone;
/// `None` where it has it.
pub(crate) fn repositioned(
    context: &Context,
    kernel: &Kernel,
    log: &[Logged<'_>],
    name: &str,
) -> Result<Option<Vec<Edit>>, String> {
    let queue = &kernel.queues[name];
    let of_queue = |logged: &&Logged<'_>| logged.touch.memory == Memory::Local(name.to_owned());
    let touched = log.iter().filter(of_queue).fold(0, |pipes, logged| pipes | logged.touch.pipe);
    if queue.position != "VECIN" || touched & COPY_OUT == 0 {
        return Ok(None);
    }
    let header = context.forest.get(&queue.declaration.file).ok_or("the class is not parsed")?;
    let depth = queue.depth.trim();
    let made = |scope: &str, of: &str| match touched & COPY_IN {
        0 => format!("{scope}TQue<{of}::VECOUT, {depth}>"),
        _ => format!("{scope}TQueBind<{of}::VECIN, {of}::VECOUT, {depth}>"),
    };
    Ok(Some(vec![retyped(header, &queue.declaration, name, made)?]))
}

impl<'a> Tensor<'a> {
    fn of(taken: &QueueCall<'a>, buffer: &str) -> Result<Self, String> {
        let QueueCall { file, call, .. } = *taken;
        let line = file.line(call.span.start);
        if call.name != "Get" || !call.arguments.is_empty() || call.template_arguments.is_none() {
            return Err(format!("line {line}: {} is not all of {buffer}", call.name));
        }
        let declares = |local: &&Local| local.value.as_ref() == Some(&call.span);
        if let Some(local) = file.locals().iter().find(declares) {
            let kind = &local.type_text;
            if !local.alone || kind.contains(['&', '*']) || kind.contains("const") {
                return Err(format!("line {line}: {} can't be taken anew", local.name));
            }
            let statement = local.span.clone();
            return Ok(Self { file, call, name: local.name.clone(), statement, local: Some(local) });
        }
        // `member = buffer.Get<T>();`
        let node = file.node_at(&call.span).and_then(|node| {
            let mut node = node;
            while node.kind() != "assignment_expression" {
                node = node.parent().filter(|parent| parent.kind() != "compound_statement")?;
            }
            node.parent().filter(|parent| parent.kind() == "expression_statement")
        });
        let statement =
            node.map(|node| node.byte_range()).ok_or_else(|| format!("line {line}: no tensor is declared"))?;
        let (left, right) = file.slice(&statement).split_once('=').ok_or("the assignment is not understood")?;
        if right.trim().trim_end_matches(';').trim_end() != file.slice(&call.span) {
            return Err(format!("line {line}: the assignment is not understood"));
        }
        Ok(Self { file, call, name: left.trim().to_owned(), statement, local: None })
    }

    fn line(&self) -> usize {
        self.file.line(self.call.span.start)
    }

    /// Proves that nothing else is made of the tensor, which would stand for another buffer in the next round, and nothing else
    /// becomes it.
    fn alone(&self, kernel: &Kernel, context: &Context) -> Result<(), String> {
        let name = base_name(&self.name);
        let own = |value: &Range<usize>| *value == self.call.span;
        let operands = Operands { forest: &context.forest, kernel };
        for (file, function) in operands.functions() {
            let here = file.name() == self.file.name() && function.body.contains(&self.call.span.start);
            if self.local.is_some() && !here {
                continue;
            }
            if assigned(file, &function.body, name).iter().any(|value| !(here && own(value))) {
                return Err(format!("{name} becomes something else in {}", function.name));
            }
            let inside = |local: &&Local| function.body.contains(&local.span.start) && local.name != name;
            let made = |local: &&Local| {
                let value = local.value.as_ref().map(|value| file.slice(value)).unwrap_or_default();
                base_name(value) == name && is_operand(value)
            };
            if let Some(view) = file.locals().iter().filter(inside).find(made) {
                return Err(format!("line {}: {} is made of {name}", file.line(view.span.start), view.name));
            }
            let members = kernel.tensor_members.iter().filter(|member| *member != name);
            for member in members {
                let of_it =
                    |value: &Range<usize>| base_name(file.slice(value)) == name && is_operand(file.slice(value));
                if assigned(file, &function.body, member).iter().any(of_it) {
                    return Err(format!("{member} is made of {name} in {}", function.name));
                }
            }
        }
        Ok(())
    }

    /// Where the tensor is used: in the innermost block that all uses run through.
    fn turn(&self, uses: &[&Logged<'a>], accounted: &mut usize) -> Result<Turn<'a>, String> {
        let own: Vec<(Frame<'a>, Pipes)> = match self.local {
            Some(local) => {
                let block = block_around(self.file, &local.span).ok_or("the declaration stands in no block")?;
                let inside =
                    |frame: &&Frame<'a>| frame.0.name() == self.file.name() && block.contains(&frame.1.span.start);
                let through = uses.iter().filter_map(|used| Some((*used.chain.iter().find(inside)?, used.touch.pipe)));
                through.filter(|((file, call), _)| self.stands_for(file, call)).collect()
            }
            None => through_one_function(uses).ok_or_else(|| format!("{} is used all over the class", self.name))?,
        };
        *accounted += own.len();
        let (first, _) =
            own.first().ok_or_else(|| format!("line {}: nothing is done with {}", self.line(), self.name))?;
        let file = first.0;
        let start = own.iter().map(|((_, call), _)| call.span.start).min().unwrap_or_default();
        let end = own.iter().map(|((_, call), _)| call.span.end).max().unwrap_or_default();
        let block = block_around(file, &(start..end)).ok_or("the uses stand in no block")?;
        let mut statements: Vec<(Range<usize>, Pipes)> = Vec::new();
        for ((_, call), pipe) in &own {
            let statement = statement_in(file, &block, &call.span).ok_or_else(|| {
                format!("line {}: {} is used outside of its block", file.line(call.span.start), self.name)
            })?;
            match statements.iter_mut().find(|(known, _)| *known == statement) {
                Some((_, pipes)) => *pipes |= pipe,
                None => statements.push((statement, *pipe)),
            }
        }
        statements.sort_by_key(|(statement, _)| statement.start);
        Ok(Turn { file, block, statements })
    }

    /// Whether the tensor itself is what a call in its scope gets; another of the same buffer may be there too.
    fn stands_for(&self, file: &SyntaxFile, call: &Call) -> bool {
        crate::analysis::code::words(file.slice(&call.span)).contains(&base_name(&self.name))
    }

    /// The call on the buffer with the name of one on a queue.
    fn called(&self, by: &str) -> Result<String, String> {
        let name = name_span(self.file, self.call).ok_or("the call is not understood")?;
        let before = self.file.slice(&(self.call.span.start..name.start));
        Ok(format!("{before}{by}{}", self.file.slice(&(name.end..self.call.span.end))))
    }

    fn through(&self, turn: &Turn<'a>, position: &str) -> Result<Vec<Edit>, String> {
        let file = turn.file;
        let queue = self.call.object.as_deref().unwrap_or_default();
        let (first, _) = turn.statements.first().ok_or("nothing is done with it")?;
        let (last, _) = turn.statements.last().ok_or("nothing is done with it")?;
        let line = |at: &Range<usize>| file.line(at.start);
        let by = |pipe: Pipes| turn.statements.iter().filter(move |(_, pipes)| pipes & pipe != 0).map(|(span, _)| span);
        let handed = match (by(COPY_IN).next_back(), by(COPY_OUT).next()) {
            (Some(fill), Some(out)) if out.start < fill.end => {
                return Err(format!("line {}: {} is filled again behind a copy out", line(fill), self.name));
            }
            (Some(fill), _) => fill,
            (None, Some(out)) => {
                let before = |(span, _): &&(Range<usize>, Pipes)| span.end <= out.start;
                let work = turn.statements.iter().rfind(before);
                work.map(|(span, _)| span)
                    .ok_or_else(|| format!("line {}: nothing fills {} in this block", line(out), self.name))?
            }
            (None, None) => return Err(format!("line {}: no copy touches {} here", self.line(), self.name)),
        };
        if position == "VECIN" && last == handed {
            return Err(format!("line {}: nothing uses {} in this block", line(last), self.name));
        }
        let text = file.slice(&(first.start..last.end));
        if pieces(text).iter().any(|token| token.kind == PieceKind::Directive) {
            return Err(format!("line {}: a directive stands between filling and using", line(first)));
        }
        let after = |statement: &Range<usize>, lines: &[String]| {
            insert_after(file, statement, lines)
                .ok_or_else(|| format!("line {}: the statement shares its lines", line(statement)))
        };
        let allocation = self.called("AllocTensor")?;
        let mut edits = Vec::new();
        let home = self.local.and_then(|local| block_around(self.file, &local.span));
        let in_place = home == Some(turn.block.clone()) && {
            let between = file.slice(&(self.statement.end..first.start));
            !pieces(between).iter().any(|token| token.kind == PieceKind::Directive)
        };
        if in_place {
            edits.push(edit(file, self.call.span.clone(), allocation));
        } else {
            let whole = self
                .file
                .whole_lines(&self.statement)
                .ok_or_else(|| format!("line {}: the declaration shares its line", self.line()))?;
            edits.push(edit(self.file, whole, ""));
            let place = file
                .whole_lines(first)
                .ok_or_else(|| format!("line {}: the statement shares its lines", line(first)))?;
            let taken = self.file.slice(&(self.statement.start..self.call.span.start));
            edits.push(edit(
                file,
                place.start..place.start,
                format!("{}{taken}{allocation};\n", file.indentation(first.start)),
            ));
        }
        let name = &self.name;
        edits
            .push(after(handed, &[format!("{queue}.EnQue({name});"), format!("{name} = {};", self.called("DeQue")?)])?);
        edits.push(after(last, &[format!("{queue}.FreeTensor({name});")])?);
        Ok(edits)
    }
}

/// The calls in one function that all uses run through, once each: in the innermost such function.
fn through_one_function<'a>(uses: &[&Logged<'a>]) -> Option<Vec<(Frame<'a>, Pipes)>> {
    let function = |frame: &Frame<'a>| {
        let function = frame.0.enclosing_function(frame.1.span.start)?;
        Some((frame.0.name(), function.span.start))
    };
    let candidates = uses.first()?.chain.iter().rev();
    candidates
        .filter_map(|candidate| {
            let wanted = function(candidate)?;
            uses.iter()
                .map(|used| {
                    let mut inside = used.chain.iter().filter(|frame| function(frame) == Some(wanted));
                    let frame = inside.next()?;
                    inside.next().is_none().then_some((*frame, used.touch.pipe))
                })
                .collect::<Option<Vec<_>>>()
        })
        .next()
}
