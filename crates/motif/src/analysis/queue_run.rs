//! Calls on the queues of a kernel in the order in which they run, with the loops and calls around them, and what they copy as
//! text that means the same wherever it stands.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::analysis::code::block_of;
use crate::analysis::flow::changes::{changed_names, changes_name};
use crate::context::Context;
use source::facts::api::{Access, argument_access};
use source::facts::{Callers, Kernel, base_name};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, Local, Loop, SyntaxFile};

/// Functions are followed to this depth.
const DEPTH: usize = 8;
/// Functions that are run, at most.
const FRAMES: usize = 400;

/// Marks a parameter of the outermost function: nothing outside of it knows the name.
const PARAMETER: char = '@';

/// One run of a function.
pub(crate) struct Frame<'a> {
    pub(crate) file: &'a SyntaxFile,
    pub(crate) function: &'a Function,
    /// The frame and the call that started it; `None` for the outermost.
    pub(crate) parent: Option<(usize, &'a Call)>,
}

/// `AllocTensor`, `EnQue`, `DeQue` or `FreeTensor`.
pub(crate) struct QueueStep<'a> {
    pub(crate) frame: usize,
    pub(crate) call: &'a Call,
    /// The queue as a member of the class.
    pub(crate) queue: String,
    /// Loops around it with the frames that they stand in, outermost first.
    pub(crate) loops: Vec<(usize, &'a Loop)>,
}

/// What a function does with queues, called functions of the class included.
pub(crate) struct QueueRun<'a> {
    pub(crate) context: &'a Context,
    pub(crate) kernel: &'a Kernel,
    pub(crate) frames: Vec<Frame<'a>>,
    pub(crate) steps: Vec<QueueStep<'a>>,
}

/// Runs of all functions that have loops, each as if it were the outermost.
pub(crate) fn runs<'a>(context: &'a Context, kernel: &'a Kernel) -> Vec<Result<QueueRun<'a>, String>> {
    let mut found = Vec::new();
    for (name, index) in &kernel.functions {
        let Some(file) = context.forest.get(name) else { continue };
        let Some(function) = file.functions().get(*index) else { continue };
        if file.loops().iter().any(|repetition| function.body.contains(&repetition.span.start)) {
            let frames = vec![Frame { file, function, parent: None }];
            let mut run = QueueRun { context, kernel, frames, steps: Vec::new() };
            found.push(run.expand(0, 0).map(|()| run));
        }
    }
    found
}

/// Loops of a function around a byte, outermost first.
pub(crate) fn loops_in<'a>(file: &'a SyntaxFile, function: &Function, byte: usize) -> Vec<&'a Loop> {
    let around = |repetition: &&Loop| function.body.contains(&repetition.span.start) && repetition.body.contains(&byte);
    file.loops().iter().filter(around).collect()
}

/// Name of the counter that a loop declares, and what it starts with.
pub(crate) fn counter<'a>(file: &'a SyntaxFile, repetition: &Loop) -> Option<(&'a str, &'a str)> {
    let (declared, start) = file.slice(repetition.initializer.as_ref()?).split_once('=')?;
    let name = declared.trim().rsplit([' ', '\t']).next()?;
    Some((name, start.trim().trim_end_matches(';').trim()))
}

/// The statement around a byte that stands directly in a block.
pub(crate) fn statement_at(file: &SyntaxFile, span: &Range<usize>) -> Option<Range<usize>> {
    let mut node = file.node_at(span)?;
    while node.parent().is_some_and(|parent| parent.kind() != "compound_statement") {
        node = node.parent()?;
    }
    node.parent().map(|_| node.byte_range())
}

/// The statement around a byte that stands in the same block as another statement.
pub(crate) fn statement_within(file: &SyntaxFile, span: &Range<usize>, beside: &Range<usize>) -> Option<Range<usize>> {
    let block = block_of(file, beside)?;
    let mut statement = statement_at(file, span)?;
    while block_of(file, &statement)? != block {
        let outer = block_of(file, &statement)?;
        let mut node = file.node_at(&outer)?;
        while node.kind() != "compound_statement" || node.byte_range() != outer {
            node = node.parent()?;
        }
        statement = statement_at(file, &node.parent()?.byte_range())?;
    }
    block.contains(&statement.start).then_some(statement)
}

/// The first word of the text that leaves a function or a round.
pub(crate) fn leaves(text: &str, words: &[&str]) -> Option<String> {
    pieces(text)
        .into_iter()
        .filter(|token| token.kind == PieceKind::Word)
        .map(|token| &text[token.span])
        .find(|word| words.contains(word))
        .map(str::to_owned)
}

impl<'a> QueueRun<'a> {
    fn expand(&mut self, frame: usize, depth: usize) -> Result<(), String> {
        let (file, function) = (self.frames[frame].file, self.frames[frame].function);
        let callers = Callers::new(self.kernel, &self.context.forest);
        for call in file.calls_in(function.body.clone()) {
            if let Some(object) = &call.object {
                let queue = self.member(frame, base_name(object));
                if self.kernel.queues.contains_key(&queue) {
                    if !matches!(call.name.as_str(), "AllocTensor" | "EnQue" | "DeQue" | "FreeTensor") {
                        return Err(format!("{}.{} is not understood", queue, call.name));
                    }
                    let loops = self.loops(frame, call.span.start);
                    self.steps.push(QueueStep { frame, call, queue, loops });
                }
                if object != "this" {
                    continue;
                }
            }
            let callees = callers.callees(call);
            let handed = || {
                call.arguments
                    .iter()
                    .map(|argument| self.member(frame, base_name(file.slice(argument))))
                    .find(|name| self.kernel.queues.contains_key(name) && !matches!(call.name.as_str(), "InitBuffer"))
            };
            match callees.as_slice() {
                [] => {
                    if let Some(queue) = handed() {
                        return Err(format!("{queue} is handed to {}", call.name));
                    }
                }
                [(other, called)] => {
                    if depth == DEPTH || self.frames.len() == FRAMES {
                        return Err(format!("functions are nested too deep at {}", call.name));
                    }
                    self.frames.push(Frame { file: other, function: called, parent: Some((frame, call)) });
                    self.expand(self.frames.len() - 1, depth + 1)?;
                }
                several => {
                    let queues = ["AllocTensor", "EnQue", "DeQue", "FreeTensor"];
                    let touches = several.iter().any(|(other, called)| {
                        other.calls_in(called.body.clone()).any(|call| queues.contains(&call.name.as_str()))
                    });
                    if touches || handed().is_some() {
                        return Err(format!("there are {} functions {}", several.len(), call.name));
                    }
                }
            }
        }
        Ok(())
    }

    /// The member of the class that a name stands for in a frame.
    pub(crate) fn member(&self, frame: usize, name: &str) -> String {
        let Frame { function, parent, .. } = &self.frames[frame];
        let position = function.parameters.iter().position(|parameter| parameter.name == name);
        match (position, parent) {
            (Some(position), Some((outer, call))) => {
                let text = self.frames[*outer].file.argument(call, position).unwrap_or_default();
                self.member(*outer, base_name(text))
            }
            _ => name.to_owned(),
        }
    }

    fn loops(&self, frame: usize, byte: usize) -> Vec<(usize, &'a Loop)> {
        let Frame { file, function, parent } = &self.frames[frame];
        let mut found = parent.as_ref().map(|(outer, call)| self.loops(*outer, call.span.start)).unwrap_or_default();
        found.extend(loops_in(file, function, byte).into_iter().map(|repetition| (frame, repetition)));
        found
    }

    /// Whether the function of a frame and those between it and the outermost are each called at one place.
    pub(crate) fn once(&self, frame: usize) -> bool {
        let callers = Callers::new(self.kernel, &self.context.forest);
        self.chain(0, frame).iter().skip(1).all(|frame| callers.sites(self.frames[*frame].function).len() == 1)
    }

    /// Frames from one that stands further out to an inner one, both included.
    pub(crate) fn chain(&self, outer: usize, inner: usize) -> Vec<usize> {
        let mut found = vec![inner];
        let mut at = inner;
        while at != outer {
            let Some((parent, _)) = self.frames[at].parent else { break };
            at = parent;
            found.push(at);
        }
        found.reverse();
        found
    }

    /// Whether no function further in than the outermost holds both frames.
    pub(crate) fn meet(&self, left: usize, right: usize) -> bool {
        let (left, right) = (self.chain(0, left), self.chain(0, right));
        left.iter().zip(&right).take_while(|(left, right)| left == right).count() == 1
    }

    /// Proves that a statement of an inner frame runs in every round of the block in an outer one.
    pub(crate) fn always(
        &self,
        frame: usize,
        span: &Range<usize>,
        outer: usize,
        block: &Range<usize>,
    ) -> Result<(), String> {
        let (mut at, mut span) = (frame, span.clone());
        loop {
            let Frame { file, function, parent } = &self.frames[at];
            let until = if at == outer { block } else { &function.body };
            let line = file.line(span.start);
            let statement = statement_at(file, &span).ok_or_else(|| format!("line {line} is not in a block"))?;
            if block_of(file, &statement).as_ref() != Some(until) {
                return Err(format!("line {line} is not part of every round"));
            }
            let before = file.slice(&(until.start..statement.start));
            if let Some(word) = leaves(before, &["return", "goto", "break", "continue"]) {
                return Err(format!("{word} stands before line {line}"));
            }
            if at == outer {
                return Ok(());
            }
            let Some((next, call)) = parent else { return Err(format!("line {line} is not in the loop")) };
            (at, span) = (*next, call.span.clone());
        }
    }

    /// An expression in names of the outermost function and of the class, the counter of `pass` as `$`.
    pub(crate) fn reader(&'a self, pass: (usize, &'a Loop)) -> Reader<'a> {
        Reader { run: self, pass, words: BTreeSet::new(), counters: BTreeSet::new(), depth: 0 }
    }
}

/// Rewrites expressions; collects what their value rests on.
pub(crate) struct Reader<'a> {
    run: &'a QueueRun<'a>,
    pass: (usize, &'a Loop),
    /// Names that are neither locals nor parameters: members, constants, types and functions.
    pub(crate) words: BTreeSet<String>,
    /// Further loops around whose counters matter: frame and start.
    pub(crate) counters: BTreeSet<(usize, usize)>,
    depth: usize,
}

impl Reader<'_> {
    /// The text of a span; `own` is a name that stays open and becomes `%`.
    pub(crate) fn text(&mut self, frame: usize, span: &Range<usize>, own: Option<&str>) -> Result<String, String> {
        self.depth += 1;
        if self.depth > 60 {
            return Err("an expression is too deep".to_owned());
        }
        let file = self.run.frames[frame].file;
        let text = file.slice(span);
        let tokens: Vec<(PieceKind, Range<usize>)> = pieces(text)
            .into_iter()
            .filter(|token| token.kind != PieceKind::Comment)
            .map(|token| (token.kind, token.span))
            .collect();
        let word = |index: usize| tokens.get(index).map_or("", |(_, span)| &text[span.clone()]);
        let mut out = String::new();
        let mut index = 0;
        let mut end = 0;
        while let Some((kind, place)) = tokens.get(index) {
            if *kind == PieceKind::Directive {
                // The same in every run: what is compared is all of its branches.
                if own.is_none() {
                    return Err("a directive stands in an expression".to_owned());
                }
                out.push_str(&format!("\n{}\n", word(index).trim()));
                index += 1;
                continue;
            }
            if index > 0 && place.start > end && !out.is_empty() {
                out.push(' ');
            }
            end = place.end;
            let here = word(index);
            let skipped =
                matches!((here, word(index + 1), word(index + 2)), ("this", "-", ">") | ("AscendC", ":", ":"));
            if skipped {
                index += 3;
                end = tokens.get(index).map_or(end, |(_, next)| next.start);
                continue;
            }
            let before = |back: usize| index.checked_sub(back).map_or("", |at| word(at));
            let part = before(1) == "." || (before(1) == ">" && before(2) == "-" && before(3) != "this");
            let scoped = before(1) == ":" || (word(index + 1) == ":" && word(index + 2) == ":");
            if *kind != PieceKind::Word || part || scoped {
                out.push_str(here);
            } else if Some(here) == own {
                out.push('%');
            } else {
                let at = span.start + place.start;
                let value = self.name(frame, here, at, word(index + 1) == "(")?;
                out.push_str(&value);
            }
            index += 1;
        }
        self.depth -= 1;
        Ok(out)
    }

    fn name(&mut self, frame: usize, name: &str, at: usize, called: bool) -> Result<String, String> {
        let Frame { file, function, parent } = &self.run.frames[frame];
        let (file, function) = (*file, *function);
        let around = loops_in(file, function, at);
        let head = file.loops().iter().filter(|repetition| repetition.span.contains(&at));
        let mut counted = head.filter(|repetition| counter(file, repetition).is_some_and(|(found, _)| found == name));
        if let Some(repetition) = counted.next_back() {
            if changes_name(file, &repetition.body, name) {
                return Err(format!("{name} is changed in its loop"));
            }
            if (frame, repetition.span.start) == (self.pass.0, self.pass.1.span.start) {
                return Ok("$".to_owned());
            }
            self.counters.insert((frame, repetition.span.start));
            return Ok(format!("${frame}_{}", repetition.span.start));
        }
        let visible = |local: &&Local| {
            local.name == name
                && function.body.contains(&local.span.start)
                && local.span.end <= at
                && block_of(file, &local.span).is_some_and(|block| block.contains(&at))
        };
        let locals: Vec<&Local> = file.locals().iter().filter(visible).collect();
        if let Some(local) = locals.last() {
            if locals.len() > 1 {
                return Err(format!("{name} is declared twice"));
            }
            return self.local(frame, local, at, &around);
        }
        if let Some(position) = function.parameters.iter().position(|parameter| parameter.name == name) {
            if changes_name(file, &function.body, name) {
                return Err(format!("{name} is changed in {}", function.name));
            }
            // The outermost function's own parameters stay what they are.
            let Some((outer, call)) = parent else { return Ok(format!("{name}{PARAMETER}")) };
            let argument =
                call.arguments.get(position).ok_or_else(|| format!("{name} of {} has a default", function.name))?;
            let value = self.text(*outer, &argument.clone(), None)?;
            return Ok(wrapped(value));
        }
        if called {
            self.function(name)?;
        }
        self.words.insert(name.to_owned());
        Ok(name.to_owned())
    }

    /// What a local holds at a place: its initial value and the statements of its block that change it.
    fn local(&mut self, frame: usize, local: &Local, at: usize, around: &[&Loop]) -> Result<String, String> {
        let Frame { file, function, .. } = &self.run.frames[frame];
        let (file, name) = (*file, local.name.as_str());
        if !local.alone {
            return Err(format!("{name} shares its declaration"));
        }
        let block = block_of(file, &local.span).ok_or_else(|| format!("{name} is not in a block"))?;
        let written = self.writes(file, name, &(local.span.end..block.end));
        let inner = around.iter().any(|repetition| !repetition.body.contains(&local.span.start));
        let mut parts = Vec::new();
        for statement in written {
            if statement.start >= at || statement.contains(&at) {
                if inner || statement.contains(&at) {
                    return Err(format!("{name} changes from round to round"));
                }
                continue;
            }
            let same = block_of(file, &statement) == Some(block.clone());
            if !same || !function.body.contains(&statement.start) {
                return Err(format!("{name} is set under a condition or in a loop"));
            }
            parts.push(self.text(frame, &statement, Some(name))?);
        }
        let value = match &local.value {
            Some(value) => self.text(frame, &value.clone(), None)?,
            None if parts.is_empty() => return Err(format!("{name} has no value")),
            None => String::new(),
        };
        if parts.is_empty() { Ok(wrapped(value)) } else { Ok(format!("[{value};{}]", parts.join(""))) }
    }

    /// Statements of the span that write a local.
    fn writes(&self, file: &SyntaxFile, name: &str, span: &Range<usize>) -> Vec<Range<usize>> {
        let text = file.slice(span);
        let mut found: Vec<Range<usize>> = Vec::new();
        for token in
            pieces(text).iter().filter(|token| token.kind == PieceKind::Word && &text[token.span.clone()] == name)
        {
            let place = span.start + token.span.start..span.start + token.span.end;
            let Some(statement) = statement_at(file, &place) else { continue };
            let inside = file.slice(&statement);
            let field = inside.trim_start().strip_prefix(name).is_some_and(|rest| {
                rest.trim_start().starts_with(['.', '['])
                    && rest.split(['.', '[']).nth(1).is_some_and(|rest| rest.contains('='))
            });
            let handed = file.calls_in(statement.clone()).any(|call| {
                call.arguments
                    .iter()
                    .enumerate()
                    .any(|(index, argument)| file.slice(argument).trim() == name && self.by_reference(call, index))
            });
            if (field || handed || changes_name(file, &statement, name)) && !found.contains(&statement) {
                found.push(statement);
            }
        }
        found
    }

    fn by_reference(&self, call: &Call, index: usize) -> bool {
        if argument_access(&call.name, 0) != Access::Escape {
            return false;
        }
        self.run.context.forest.iter().flat_map(SyntaxFile::functions).any(|function| {
            function.name == call.name
                && function.parameters.get(index).is_some_and(|parameter| {
                    parameter.type_text.contains('&') && !parameter.type_text.contains("const")
                })
        })
    }

    /// A function whose result rests on nothing but its arguments and names that are noted.
    fn function(&mut self, name: &str) -> Result<(), String> {
        let run = self.run;
        let own = run.kernel.functions.iter().filter_map(|(file, index)| {
            let file = run.context.forest.get(file)?;
            Some((file, file.functions().get(*index)?)).filter(|(_, function)| function.name == name)
        });
        for (file, function) in own {
            self.depth += 1;
            if self.depth > 60 {
                return Err(format!("{name} is too deep"));
            }
            let body = file.slice(&function.body);
            let local = |word: &str| {
                function.parameters.iter().any(|parameter| parameter.name == word)
                    || file.locals().iter().any(|local| local.name == word && function.body.contains(&local.span.start))
            };
            let changed = changed_names(file, &function.body);
            for word in crate::analysis::code::words(body) {
                if local(word) || self.words.contains(word) {
                    continue;
                }
                if changed.contains(word) {
                    return Err(format!("{name} changes {word}"));
                }
                self.words.insert(word.to_owned());
            }
            for call in file.calls_in(function.body.clone()) {
                if call.object.as_deref().is_some_and(|object| object != "this") {
                    return Err(format!("{name} calls {}", call.name));
                }
                self.function(&call.name)?;
            }
            self.depth -= 1;
        }
        Ok(())
    }
}

fn wrapped(text: String) -> String {
    let one = pieces(&text).len() <= 1;
    let closed = text.starts_with(['(', '{', '[']) && {
        let mut depth = 0;
        text.char_indices().all(|(index, character)| {
            depth += i32::from(matches!(character, '(' | '{' | '[')) - i32::from(matches!(character, ')' | '}' | ']'));
            depth > 0 || index + 1 == text.len()
        })
    };
    if one || closed { text } else { format!("({text})") }
}
