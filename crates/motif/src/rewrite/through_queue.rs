//! The tensor of a buffer that copies touch taken through a queue, and the other way round.

use std::ops::Range;

use crate::analysis::code::{block_of, words};
use crate::analysis::queue_run::leaves;
use crate::analysis::queue_uses::{calls_on, name_span, single_buffer};
use crate::analysis::taken_buffer::{Role, Taken};
use crate::context::Context;
use crate::rewrite::edits::{edit, insert_after};
use crate::rewrite::members::{retyped, unnumbered};
use source::Edit;
use source::facts::Kernel;
use source::lex::{PieceKind, pieces};
use source::parse::{Local, SyntaxFile};

/// A statement with the blocks around it: the one that stands directly in `block`.
pub(crate) fn statement_in(file: &SyntaxFile, block: &Range<usize>, span: &Range<usize>) -> Option<Range<usize>> {
    let mut node = file.node_at(span)?;
    loop {
        let parent = node.parent()?;
        if parent.kind() == "compound_statement" && parent.byte_range() == *block {
            return Some(node.byte_range());
        }
        node = parent;
    }
}

/// The innermost block around all of the spans.
pub(crate) fn block_around(file: &SyntaxFile, span: &Range<usize>) -> Option<Range<usize>> {
    let mut node = file.node_at(span)?;
    while node.kind() != "compound_statement" || node.byte_range().end < span.end || node.start_byte() > span.start {
        node = node.parent()?;
    }
    Some(node.byte_range())
}

impl Taken<'_> {
    fn line(&self) -> usize {
        self.file.line(self.call.span.start)
    }

    /// The declaration for another name, by another call.
    fn declared(&self, tensor: &str, by: &str) -> Result<String, String> {
        let text = self.file.slice(&self.local.span);
        let name = name_span(self.file, self.call).ok_or("the call is not understood")?;
        let (head, tail) = (&text[..name.start - self.local.span.start], &text[name.end - self.local.span.start..]);
        let (before, equals) = head.rsplit_once('=').ok_or("the declaration is not understood")?;
        let kind =
            before.trim_end().strip_suffix(self.local.name.as_str()).ok_or("the declaration is not understood")?;
        Ok(format!("{kind}{tensor} ={equals}{by}{tail}"))
    }

    /// Edits that take the tensor from a queue and hand it on.
    pub(crate) fn through_queue(&self, queue: &str, role: Role) -> Result<Vec<Edit>, String> {
        let tensor = self.local.name.as_str();
        let uses: Vec<&Range<usize>> = self.copied.iter().chain(&self.worked).collect();
        let start = uses.iter().map(|used| used.start).min().ok_or("nothing is done with it")?;
        let end = uses.iter().map(|used| used.end).max().ok_or("nothing is done with it")?;
        let home = block_around(self.file, &self.local.span).ok_or("the declaration stands in no block")?;
        let block = block_around(self.file, &(start..end)).ok_or("the uses stand in no block")?;
        if !(self.fills && self.empties) {
            let last = self.within(&home, end - 1..end)?;
            self.straight(self.local.span.end..last.end)?;
            let (by, then) = if self.fills { ("AllocTensor", "EnQue") } else { ("DeQue", "FreeTensor") };
            let name = name_span(self.file, self.call).ok_or("the call is not understood")?;
            return Ok(vec![edit(self.file, name, by), self.after(&last, &[format!("{queue}.{then}({tensor});")])?]);
        }
        let (first_side, second_side) = match role {
            Role::In => (&self.copied, &self.worked),
            Role::Out => (&self.worked, &self.copied),
        };
        let statements = |spans: &[Range<usize>]| -> Result<Vec<Range<usize>>, String> {
            spans.iter().map(|span| self.within(&block, span.clone())).collect()
        };
        let (filling, emptying) = (statements(first_side)?, statements(second_side)?);
        let handed = filling.iter().max_by_key(|statement| statement.end).ok_or("nothing fills it")?;
        if let Some(early) = emptying.iter().find(|statement| statement.start < handed.end) {
            let line = self.file.line(early.start);
            return Err(format!("line {line}: {tensor} is used before all of it is there"));
        }
        let last = emptying.iter().max_by_key(|statement| statement.end).ok_or("nothing uses it")?;
        let first = filling.iter().min_by_key(|statement| statement.start).ok_or("nothing fills it")?;
        self.straight(first.start..last.end)?;
        let beside = role.beside(tensor);
        if words(self.file.text()).contains(&beside.as_str()) {
            return Err(format!("{beside} is taken"));
        }
        let (allocated, taken) = match role {
            Role::In => (beside.as_str(), tensor),
            Role::Out => (tensor, beside.as_str()),
        };
        let mut edits: Vec<Edit> =
            self.copied.iter().map(|used| edit(self.file, used.clone(), beside.as_str())).collect();
        let allocation = self.declared(allocated, "AllocTensor")?;
        if home == block {
            self.straight(self.local.span.end..first.start)?;
            edits.push(edit(self.file, self.local.span.clone(), allocation));
        } else {
            // Declared outside of what repeats: taken in every round now.
            if !self.file.slice(&self.local.span).trim_end().ends_with(';') {
                return Err(format!("line {}: the declaration is not understood", self.line()));
            }
            edits.push(edit(self.file, self.file.removal_span(&self.local.span), ""));
            let line = self.file.whole_lines(first).ok_or("the first copy shares its line")?;
            let indentation = self.file.indentation(first.start);
            edits.push(edit(self.file, line.start..line.start, format!("{indentation}{allocation}\n")));
        }
        edits.push(self.after(handed, &[format!("{queue}.EnQue({allocated});"), self.declared(taken, "DeQue")?])?);
        edits.push(self.after(last, &[format!("{queue}.FreeTensor({taken});")])?);
        Ok(edits)
    }

    fn within(&self, block: &Range<usize>, span: Range<usize>) -> Result<Range<usize>, String> {
        let line = self.file.line(span.start);
        statement_in(self.file, block, &span)
            .ok_or_else(|| format!("line {line}: {} is used outside of its block", self.local.name))
    }

    fn after(&self, statement: &Range<usize>, lines: &[String]) -> Result<Edit, String> {
        insert_after(self.file, statement, lines)
            .ok_or_else(|| format!("line {}: the statement shares its lines", self.file.line(statement.start)))
    }

    /// Proves that nothing leaves the text and no directive cuts it.
    fn straight(&self, span: Range<usize>) -> Result<(), String> {
        let text = self.file.slice(&span);
        if let Some(word) = leaves(text, &["return", "break", "continue", "goto"]) {
            return Err(format!("line {}: {word} stands between filling and using", self.line()));
        }
        match pieces(text).into_iter().find(|token| token.kind == PieceKind::Directive) {
            Some(_) => Err(format!("line {}: a directive stands between filling and using", self.line())),
            None => Ok(()),
        }
    }
}

/// Edits that make a buffer of a queue with one buffer: every tensor is taken from the buffer, and nothing is handed on.
pub(crate) fn as_buffer(context: &Context, kernel: &Kernel, name: &str) -> Result<Vec<Edit>, String> {
    let init = single_buffer(context, kernel, name)?;
    let queue = &kernel.queues[name];
    let header = context.forest.get(&queue.declaration.file).ok_or("the class is not parsed")?;
    let buffer = retyped(header, &queue.declaration, name, |scope, of| format!("{scope}TBuf<{of}::VECCALC>"))?;
    let mut edits = vec![buffer, unnumbered(context, init)?];
    let calls = calls_on(context, kernel, name)?;
    let mut allocated: Option<&Local> = None;
    let (mut gone, mut beside) = (Vec::new(), Vec::new());
    for used in &calls {
        let (file, call, line) = (used.file, used.call, used.file.line(used.call.span.start));
        match call.name.as_str() {
            "AllocTensor" | "DeQue" => {
                let declared = |local: &&Local| local.value.as_ref() == Some(&call.span) && local.alone;
                let local = file.locals().iter().find(declared);
                let local = local.ok_or_else(|| format!("line {line}: no tensor is declared"))?;
                let other =
                    allocated.filter(|other| call.name == "DeQue" && used.function.body.contains(&other.span.start));
                if let Some(names) = other.and_then(|other| two_sides(&other.name, &local.name)) {
                    // One tensor under two names: the first declaration stays.
                    gone.push((file.name(), file.removal_span(&local.span)));
                    beside.push((used, names));
                } else {
                    let span = name_span(file, call).ok_or("a call is not understood")?;
                    edits.push(edit(file, span, "Get"));
                }
                allocated = (call.name == "AllocTensor").then_some(local);
            }
            "EnQue" | "FreeTensor" => {
                let statement = call.statement.as_ref().ok_or_else(|| format!("line {line}: not a statement"))?;
                block_of(file, statement)
                    .ok_or_else(|| format!("line {line}: the only statement of an if or a loop"))?;
                gone.push((file.name(), file.removal_span(statement)));
            }
            other => return Err(format!("line {line}: {other} needs a queue")),
        }
    }
    for (used, (name, kept)) in beside {
        let (file, body) = (used.file, &used.function.body);
        for token in pieces(file.slice(body)).into_iter().filter(|token| token.kind == PieceKind::Word) {
            let at = body.start + token.span.start..body.start + token.span.end;
            let removed = gone.iter().any(|(of, span)| *of == file.name() && span.contains(&at.start));
            if file.slice(&at) == name && !removed {
                edits.push(edit(file, at, kept.as_str()));
            }
        }
    }
    edits.extend(gone.into_iter().filter_map(|(of, span)| Some(edit(context.forest.get(of)?, span, ""))));
    Ok(edits)
}

/// The name on the copies' side and the tensor's own, where these two are what [`Taken::through_queue`] makes of one.
fn two_sides(allocated: &str, taken: &str) -> Option<(String, String)> {
    if allocated == Role::In.beside(taken) {
        return Some((allocated.to_owned(), taken.to_owned()));
    }
    (taken == Role::Out.beside(allocated)).then(|| (taken.to_owned(), allocated.to_owned()))
}
