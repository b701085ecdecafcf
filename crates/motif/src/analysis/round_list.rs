//! The statements of a round, told apart: what is done once for all rows of it and what is done for every row.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::analysis::code::words;
use crate::analysis::flow::changes::{changed_names, changes_name};
use crate::analysis::flow::effects::is_plain;
use crate::analysis::flow::effects::{own_functions, reached};
use crate::analysis::linear::{Linear, linear};
use crate::context::Context;
use source::facts::api::{Access, is_copy};
use source::facts::{Kernel, Origin, TensorFacts, base_name};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, SyntaxFile};

/// Orders cores or hands data to them: as often as there are rows.
const COUNTED: &[&str] =
    &["SyncAll", "CrossCoreSetFlag", "CrossCoreWaitFlag", "NotifyEvent", "WaitEvent", "IBSet", "IBWait"];
/// Set what holds until it is set again, or order pipes: once a round is as good as once a row.
const MODES: &[&str] =
    &["PipeBarrier", "SetFlag", "WaitFlag", "SetAtomicAdd", "SetAtomicNone", "SetAtomicMax", "SetAtomicMin"];

/// What a statement is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Takes a tensor of a queue or the memory of a buffer.
    Begin,
    /// Hands a tensor on.
    End,
    /// Calls a function that does either: the index of the call.
    Stage(usize),
    /// A barrier, a flag, a mode.
    Mode,
    /// Declares a number.
    Number(String),
    /// Brings the same for all rows.
    Same,
    /// Anything else.
    Row,
}

/// Statements in the order in which the round does them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A statement that stays what it is, by index.
    Kept(usize),
    /// Taken first, done for each row, handed on last.
    Rows { begins: Vec<usize>, rows: Vec<usize>, ends: Vec<usize> },
}

/// What the rows of one part touch apart from their own tensors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched {
    /// Buffers and tensors of the class, and whether they are written.
    buffers: BTreeMap<String, bool>,
    /// Numbers that are assigned and live longer than a row.
    assigned: BTreeSet<String>,
    /// Every word.
    words: BTreeSet<String>,
    /// Line of the first statement.
    line: usize,
}

impl Touched {
    /// Whether the next row may find what this one left in a buffer.
    pub(crate) fn writes_buffers(&self) -> bool {
        self.buffers.values().any(|written| *written)
    }

    /// Proves that two parts may each do all rows of a round.
    pub(crate) fn apart(&self, other: &Touched) -> Result<(), String> {
        for (buffer, written) in &self.buffers {
            if let Some(again) = other.buffers.get(buffer)
                && (*written || *again)
            {
                return Err(format!("{buffer} carries data of a row from line {} to {}", self.line, other.line));
            }
        }
        let named = |name: &&String| other.words.contains(*name);
        match self.assigned.iter().find(named) {
            Some(name) => Err(format!("{name} is set at line {} for every row and used at {}", self.line, other.line)),
            None => Ok(()),
        }
    }

    /// Proves that what the rows set is not asked for once a round.
    pub(crate) fn apart_from(&self, text: &str) -> Result<(), String> {
        match words(text).into_iter().find(|word| self.assigned.contains(*word)) {
            Some(name) => Err(format!("{name} is set for every row and used once a round")),
            None => Ok(()),
        }
    }
}

/// A block of statements that a round goes through.
pub(crate) struct List<'a> {
    pub(crate) context: &'a Context,
    pub(crate) kernel: &'a Kernel,
    pub(crate) file: &'a SyntaxFile,
    pub(crate) function: &'a Function,
    pub(crate) tensors: TensorFacts,
    /// Functions that touch queues, themselves or through others.
    touching: &'a BTreeSet<String>,
    pub(crate) statements: Vec<Range<usize>>,
    pub(crate) kinds: Vec<Kind>,
    /// How names grow from row to row; `None` for those that do so in no equal steps.
    pub(crate) names: BTreeMap<String, Option<Linear>>,
    pub(crate) parts: Vec<Part>,
    /// Names that the block gets from outside and whose value for a row its rows need.
    pub(crate) renamed: BTreeSet<String>,
}

impl<'a> List<'a> {
    /// Tells the statements of a block apart. `names` come from outside and grow.
    pub(crate) fn of(
        context: &'a Context,
        kernel: &'a Kernel,
        file: &'a SyntaxFile,
        function: &'a Function,
        block: &Range<usize>,
        (names, touching): (&BTreeMap<String, Linear>, &'a BTreeSet<String>),
    ) -> Result<Self, String> {
        let statements = statements_of(file, block)?;
        let tensors = TensorFacts::of(file, function);
        let outside: BTreeSet<String> = names.keys().cloned().collect();
        let names = names.iter().map(|(name, grows)| (name.clone(), Some(grows.clone()))).collect();
        let mut list = Self {
            context,
            kernel,
            file,
            function,
            tensors,
            touching,
            statements,
            kinds: Vec::new(),
            names,
            parts: Vec::new(),
            renamed: BTreeSet::new(),
        };
        list.kinds = list.statements.iter().map(|statement| list.kind(statement, block)).collect::<Result<_, _>>()?;
        list.arrange();
        list.settle_numbers()?;
        list.arrange();
        list.renamed = list.words_of_rows().intersection(&outside).cloned().collect();
        if let Some(changed) = outside.iter().find(|name| changes_name(file, block, name)) {
            return Err(format!("{changed} changes in {}", function.name));
        }
        Ok(list)
    }

    pub(crate) fn text(&self, index: usize) -> &'a str {
        self.file.slice(&self.statements[index])
    }

    /// The local variable that a statement declares, and nothing else.
    fn declared(&self, statement: &Range<usize>) -> Option<&'a source::parse::Local> {
        self.file.locals().iter().find(|local| local.span == *statement && local.alone)
    }

    fn line(&self, statement: &Range<usize>) -> usize {
        self.file.line(statement.start)
    }

    fn kind(&self, statement: &Range<usize>, block: &Range<usize>) -> Result<Kind, String> {
        let (file, kernel) = (self.file, self.kernel);
        let text = file.slice(statement);
        let line = self.line(statement);
        let queue_named = words(text).into_iter().find(|word| kernel.queues.contains_key(*word));
        if let Some(local) = self.declared(statement) {
            match self.tensors.tensors.get(&local.name).map(|tensor| (&tensor.origin, &tensor.declaration)) {
                Some((Origin::Alloc(queue) | Origin::DeQue(queue), declaration)) if declaration == statement => {
                    return if kernel.queues.contains_key(queue) {
                        Ok(Kind::Begin)
                    } else {
                        Err(format!("line {line}: {queue} is not a queue of the class"))
                    };
                }
                Some((Origin::Buffer(_), declaration)) if declaration == statement => return Ok(Kind::Begin),
                _ => {}
            }
            let value = local.value.as_ref().map(|value| file.slice(value).trim()).unwrap_or_default();
            let number = !local.type_text.contains(['*', '&']) && !local.type_text.contains("Tensor");
            let kept = !changes_name(file, &(local.span.end..block.end), &local.name);
            let constant = kept && self.keeps_value(value, block);
            if number && !value.is_empty() && queue_named.is_none() && constant {
                return Ok(Kind::Number(local.name.clone()));
            }
        }
        if let Some((index, call)) =
            file.calls().iter().enumerate().find(|(_, call)| call.statement.as_ref() == Some(statement))
        {
            let object = call.object.as_deref().map(base_name);
            if object.is_some_and(|object| kernel.queues.contains_key(object)) {
                return match call.name.as_str() {
                    "EnQue" | "FreeTensor" => Ok(Kind::End),
                    name => Err(format!("line {line}: {name} is not understood")),
                };
            }
            if MODES.contains(&call.name.as_str()) && call.object.is_none() {
                return Ok(Kind::Mode);
            }
            if call.is_own() && own_functions(self.context, kernel, &call.name).next().is_some() {
                let inner = call
                    .arguments
                    .iter()
                    .any(|argument| file.calls_in(argument.clone()).any(|inner| self.touches_queue(inner)));
                if inner {
                    return Err(format!("line {line}: a queue is used in an argument"));
                }
                if self.touches_queue(call) {
                    return Ok(Kind::Stage(index));
                }
            }
        }
        if let Some(queue) = queue_named {
            return Err(format!("line {line}: {queue} is used inside of a statement"));
        }
        if let Some(call) = file.calls_in(statement.clone()).find(|call| self.touches_queue(call)) {
            return Err(format!("line {line}: {} uses a queue inside of a statement", call.name));
        }
        self.straight(statement)?;
        Ok(Kind::Row)
    }

    /// Whether an expression means the same wherever it stands behind the declarations of its names.
    fn keeps_value(&self, value: &str, block: &Range<usize>) -> bool {
        let from = |word: &str| {
            let mut locals = self.file.locals().iter();
            let own = locals.find(|local| local.name == word && block.contains(&local.span.start) && local.alone);
            own.map_or(block.start, |local| local.span.end)
        };
        let value = braceless(value);
        is_plain(&value)
            && words(&value).into_iter().all(|word| !changes_name(self.file, &(from(word)..block.end), word))
    }

    /// Whether a call reaches a function of the class that takes tensors of queues or hands them on.
    fn touches_queue(&self, call: &Call) -> bool {
        call.is_own() && self.touching.contains(&call.name)
    }

    /// Proves that a statement does not leave the block and is done as often by every core.
    fn straight(&self, statement: &Range<usize>) -> Result<(), String> {
        let text = self.file.slice(statement);
        for token in pieces(text) {
            let word = &text[token.span.clone()];
            let at = statement.start + token.span.start;
            let line = self.file.line(at);
            let inner = || {
                self.file
                    .loops()
                    .iter()
                    .any(|repetition| statement.start <= repetition.span.start && repetition.body.contains(&at))
            };
            match (token.kind, word) {
                (PieceKind::Directive, _) => return Err(format!("line {line}: a directive stands in the round")),
                (PieceKind::Word, "return" | "goto") => return Err(format!("line {line}: {word} leaves the round")),
                (PieceKind::Word, "break" | "continue") if !inner() => {
                    return Err(format!("line {line}: {word} leaves the round"));
                }
                (PieceKind::Word, word) if COUNTED.contains(&word) => {
                    return Err(format!("line {line}: {word} is done once for every row"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Puts the statements in the order of a round.
    fn arrange(&mut self) {
        let mut parts: Vec<Part> = Vec::new();
        let mut open: Option<(Vec<usize>, Vec<usize>, Vec<usize>)> = None;
        let close = |open: &mut Option<(Vec<usize>, Vec<usize>, Vec<usize>)>, parts: &mut Vec<Part>| {
            if let Some((begins, rows, ends)) = open.take() {
                parts.push(Part::Rows { begins, rows, ends });
            }
        };
        for (index, kind) in self.kinds.iter().enumerate() {
            let ended = open.as_ref().is_some_and(|(_, _, ends)| !ends.is_empty());
            match kind {
                Kind::Stage(_) => {
                    close(&mut open, &mut parts);
                    parts.push(Part::Kept(index));
                }
                Kind::Mode if ended || open.is_none() => {
                    close(&mut open, &mut parts);
                    parts.push(Part::Kept(index));
                }
                Kind::Mode => {
                    if let Some((begins, rows, _)) = &mut open {
                        if rows.is_empty() { begins.push(index) } else { rows.push(index) }
                    }
                }
                Kind::Number(_) if open.is_none() || ended => {
                    close(&mut open, &mut parts);
                    parts.push(Part::Kept(index));
                }
                Kind::Begin | Kind::Same | Kind::Number(_) => {
                    if ended {
                        close(&mut open, &mut parts);
                    }
                    open.get_or_insert_default().0.push(index);
                }
                Kind::Row => open.get_or_insert_default().1.push(index),
                Kind::End => open.get_or_insert_default().2.push(index),
            }
        }
        close(&mut open, &mut parts);
        self.parts = parts;
    }

    /// Words of all statements that are done for every row.
    fn words_of_rows(&self) -> BTreeSet<String> {
        let rows = self.parts.iter().flat_map(|part| match part {
            Part::Kept(_) => Vec::new(),
            Part::Rows { rows, .. } => rows.clone(),
        });
        rows.flat_map(|index| words(self.text(index)).into_iter().map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    /// Decides for each declared number whether it belongs to the round or to a row.
    fn settle_numbers(&mut self) -> Result<(), String> {
        // What rows declare is theirs.
        let mut of_rows: BTreeSet<String> = BTreeSet::new();
        for part in &self.parts {
            let Part::Rows { rows, .. } = part else { continue };
            for index in rows {
                let inside = |local: &&source::parse::Local| {
                    self.statements[*index].start <= local.span.start && local.span.end <= self.statements[*index].end
                };
                of_rows.extend(self.file.locals().iter().filter(inside).map(|local| local.name.clone()));
            }
        }
        for index in 0..self.kinds.len() {
            let Kind::Number(name) = &self.kinds[index] else { continue };
            let name = name.clone();
            let value = self.declared(&self.statements[index]).and_then(|local| local.value.clone());
            let value = value.map(|value| self.file.slice(&value)).unwrap_or_default();
            let named = words(value);
            if named.iter().any(|word| of_rows.contains(*word)) {
                self.kinds[index] = Kind::Row;
                of_rows.insert(name);
                continue;
            }
            if named.iter().any(|word| self.names.contains_key(*word)) {
                let grows = self.growth(value).map(|grows| Linear::new(name.clone(), grows.step));
                self.names.insert(name, grows);
            }
        }
        // A number that grows and that rows use is made for every row.
        loop {
            let used = self.words_of_rows();
            let theirs = self.kinds.iter().position(
                |kind| matches!(kind, Kind::Number(name) if self.names.contains_key(name) && used.contains(name)),
            );
            let Some(index) = theirs else { return Ok(()) };
            if let Kind::Number(name) = std::mem::replace(&mut self.kinds[index], Kind::Row) {
                self.names.remove(&name);
            }
            self.arrange();
        }
    }

    /// Queues whose tensors get the same for every row by one copy; that copy is done once then. Not those that `varying` names.
    pub(crate) fn settle_same(&mut self, varying: &BTreeSet<String>) -> BTreeSet<String> {
        let mut same = BTreeSet::new();
        let of_rows: Vec<usize> = self
            .parts
            .iter()
            .flat_map(|part| match part {
                Part::Kept(_) => Vec::new(),
                Part::Rows { rows, .. } => rows.clone(),
            })
            .collect();
        for (name, tensor) in &self.tensors.tensors {
            let Origin::Alloc(queue) = &tensor.origin else { continue };
            if varying.contains(queue) || !self.statements.contains(&tensor.declaration) {
                continue;
            }
            let mut uses = self.tensors.uses_of(name).filter(|used| used.access != Access::Release);
            let (Some(used), None) = (uses.next(), uses.next()) else { continue };
            let call = used.call.and_then(|index| self.file.calls().get(index));
            let Some(call) = call.filter(|call| is_copy(&call.name) && used.argument == Some(0) && used.whole) else {
                continue;
            };
            let Some(index) = of_rows.iter().find(|index| call.statement.as_ref() == Some(&self.statements[**index]))
            else {
                continue;
            };
            let source = self.file.argument(call, 1).map(base_name).unwrap_or_default();
            let plain = call.arguments[1..].iter().all(|argument| {
                let inner = self.file.slice(argument);
                let index = inner.split_once('[').map_or(inner, |(_, index)| index.trim_end_matches(']'));
                is_plain(&braceless(index))
            });
            let varies = words(self.text(*index)).into_iter().any(|word| {
                self.names.contains_key(word)
                    || of_rows.iter().any(|row| {
                        let declares = |local: &source::parse::Local| {
                            local.name == word && self.statements[*row].contains(&local.span.start)
                        };
                        self.file.locals().iter().any(declares) || changes_name(self.file, &self.statements[*row], word)
                    })
            });
            if self.kernel.globals.contains_key(source) && plain && !varies {
                self.kinds[*index] = Kind::Same;
                same.insert(queue.clone());
            }
        }
        self.arrange();
        let used = self.words_of_rows();
        self.renamed.retain(|name| used.contains(name));
        same
    }

    /// Queues whose tensors some statement may write.
    pub(crate) fn written_queues(&self) -> BTreeSet<String> {
        let writes = |access: Access| !matches!(access, Access::Read | Access::None | Access::Release);
        let mut queues = BTreeSet::new();
        for (name, (queue, _)) in self.queue_tensors() {
            if self.tensors.uses_of(name).any(|used| writes(used.access)) {
                queues.insert(queue.to_owned());
            }
        }
        queues
    }

    /// How an expression grows from row to row; `None` where it does so in no equal steps.
    pub(crate) fn growth(&self, expression: &str) -> Option<Linear> {
        let known: BTreeMap<String, Linear> =
            self.names.iter().filter_map(|(name, grows)| Some((name.clone(), grows.clone()?))).collect();
        let unknown = words(expression).into_iter().any(|word| self.names.get(word).is_some_and(Option::is_none));
        if unknown { None } else { linear(expression, &known) }
    }

    /// Tensors of queues with their queues and element types.
    pub(crate) fn queue_tensors(&self) -> BTreeMap<&str, (&str, &str)> {
        let of_queue = |tensor: &'_ source::facts::Tensor| match &tensor.origin {
            Origin::Alloc(_) | Origin::DeQue(_) => true,
            _ => tensor.declaration.is_empty(),
        };
        let inside = |declaration: &Range<usize>| self.statements.contains(declaration);
        self.tensors
            .tensors
            .iter()
            .filter(|(_, tensor)| of_queue(tensor) && inside(&tensor.declaration))
            .filter_map(|(name, tensor)| match &tensor.origin {
                Origin::Alloc(queue) | Origin::DeQue(queue) => {
                    Some((name.as_str(), (queue.as_str(), tensor.element.as_str())))
                }
                _ => None,
            })
            .collect()
    }

    /// What the rows of a part touch, and the proof that they can be done one after the other.
    pub(crate) fn touched(&self, rows: &[usize]) -> Result<Touched, String> {
        let mut touched = Touched::default();
        let Some(first) = rows.first() else { return Ok(touched) };
        touched.line = self.line(&self.statements[*first]);
        let spans: Vec<Range<usize>> = rows.iter().map(|index| self.statements[*index].clone()).collect();
        let within = |byte: usize| spans.iter().any(|span| span.contains(&byte));
        let mut places: Vec<(&SyntaxFile, Range<usize>)> = spans.iter().map(|span| (self.file, span.clone())).collect();
        for span in &spans {
            let functions = reached(self.context, self.kernel, self.file, span).into_iter();
            places.extend(functions.map(|(file, function)| (file, function.body.clone())));
        }
        for (name, tensor) in &self.tensors.tensors {
            let Origin::Buffer(buffer) = &tensor.origin else { continue };
            for used in self.tensors.uses_of(name).filter(|used| within(used.span.start)) {
                let reads = matches!(used.access, Access::Read | Access::None);
                *touched.buffers.entry(buffer.clone()).or_default() |= !reads;
            }
        }
        let (mut set, mut waited) = (0, 0);
        for (file, span) in &places {
            let text = file.slice(span);
            for token in pieces(text).into_iter().filter(|token| token.kind == PieceKind::Word) {
                let word = &text[token.span.clone()];
                touched.words.insert(word.to_owned());
                set += usize::from(word == "SetFlag");
                waited += usize::from(word == "WaitFlag");
                if self.kernel.buffers.contains_key(word) || self.kernel.tensor_members.contains(word) {
                    let rest: String = text[token.span.end..].chars().take(80).filter(|c| !c.is_whitespace()).collect();
                    let element =
                        rest.starts_with(".GetValue(") || (rest.starts_with(".Get<") && rest.contains(">().GetValue("));
                    *touched.buffers.entry(word.to_owned()).or_default() |= !element;
                }
            }
            let changed = changed_names(file, span);
            for word in words(text) {
                let theirs = |local: &source::parse::Local| local.name == word && span.contains(&local.span.start);
                if !touched.assigned.contains(word) && changed.contains(word) {
                    let declared = file.locals().iter().any(theirs)
                        || spans.iter().any(|span| {
                            self.file
                                .locals()
                                .iter()
                                .any(|local| local.name == word && span.contains(&local.span.start))
                        });
                    if !declared {
                        touched.assigned.insert(word.to_owned());
                    }
                }
            }
        }
        if set != waited {
            return Err(format!("line {}: {set} flags are set in a row and {waited} waited for", touched.line));
        }
        Ok(touched)
    }

    /// Whether calls of the rows match, those of the class's functions that they reach included.
    pub(crate) fn any_call(&self, rows: &[usize], wanted: impl Fn(&Call) -> bool) -> bool {
        rows.iter().any(|index| {
            let span = &self.statements[*index];
            let direct = self.file.calls_in(span.clone()).any(&wanted);
            direct
                || reached(self.context, self.kernel, self.file, span)
                    .iter()
                    .any(|(file, function)| file.calls_in(function.body.clone()).any(&wanted))
        })
    }

    /// The barrier that must stand between two rows, if the rows don't have one at their end.
    pub(crate) fn barrier(&self, rows: &[usize], touched: &Touched) -> Option<&'static str> {
        if !touched.writes_buffers() {
            return None;
        }
        let last = rows.last().map(|index| self.text(*index)).unwrap_or_default();
        let behind = |pipe: &str| last.contains("PipeBarrier<") && last.contains(pipe);
        let elements = |call: &Call| matches!(call.name.as_str(), "GetValue" | "SetValue");
        let copies = |call: &Call| is_copy(&call.name);
        if self.any_call(rows, |call| elements(call) || copies(call)) {
            return (!behind("PIPE_ALL")).then_some("PIPE_ALL");
        }
        (!behind("PIPE_ALL") && !behind("PIPE_V")).then_some("PIPE_V")
    }
}

/// Names of the functions of a class that touch its queues, themselves or through others.
pub(crate) fn touching_queues(context: &Context, kernel: &Kernel) -> BTreeSet<String> {
    let (mut found, mut calls) = (BTreeSet::new(), Vec::new());
    for (name, index) in &kernel.functions {
        let Some(file) = context.forest.get(name) else { continue };
        let Some(function) = file.functions().get(*index) else { continue };
        if words(file.slice(&function.body)).into_iter().any(|word| kernel.queues.contains_key(word)) {
            found.insert(function.name.clone());
        }
        let own = file.calls_in(function.body.clone()).filter(|call| call.is_own());
        calls.extend(own.map(|call| (function.name.as_str(), call.name.as_str())));
    }
    loop {
        let before = found.len();
        found.extend(
            calls
                .iter()
                .filter(|(_, called)| found.contains(*called))
                .map(|(caller, _)| (*caller).to_owned())
                .collect::<Vec<_>>(),
        );
        if found.len() == before {
            return found;
        }
    }
}

/// A list of fields as an expression.
fn braceless(value: &str) -> String {
    value.replace(['{', '}'], " ")
}

/// The statements that stand directly in a block, each on lines of its own.
pub(crate) fn statements_of(file: &SyntaxFile, block: &Range<usize>) -> Result<Vec<Range<usize>>, String> {
    let mut node = file.node_at(block).ok_or("a block is not understood")?;
    while node.kind() != "compound_statement" {
        node = node.parent().ok_or("a block is not understood")?;
    }
    let mut cursor = node.walk();
    let statements: Vec<Range<usize>> = node
        .named_children(&mut cursor)
        .filter(|child| child.kind() != "comment")
        .map(|child| child.byte_range())
        .collect();
    if let Some(token) = pieces(file.slice(block)).iter().find(|token| token.kind == PieceKind::Directive) {
        return Err(format!("line {}: a directive stands in the round", file.line(block.start + token.span.start)));
    }
    Ok(statements)
}
