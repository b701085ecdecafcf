//! Facts about one kernel class: queues, buffers, pipes, global tensors, copies, barriers and loops.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::api::is_copy;
use super::tensors::{TensorFacts, TensorUse, base_name};
use crate::lex::{PieceKind, pieces};
use crate::parse::{Call, Class, SyntaxFile, SyntaxForest};

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileSpan {
    /// File, relative to the operator's root.
    pub file: String,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl FileSpan {
    /// A place from a span.
    pub fn new(file: &SyntaxFile, span: &Range<usize>) -> Self {
        Self { file: file.name().to_owned(), start: span.start, end: span.end }
    }

    /// The byte span.
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// A queue member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Position without scope: `VECIN`, `VECOUT`; for a bound queue both, separated by a comma.
    pub position: String,
    /// Depth argument of the template as written.
    pub depth: String,
    /// The member's declaration.
    pub declaration: FileSpan,
}

/// An `InitBuffer` call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitBuffer {
    /// Queue or buffer.
    pub target: String,
    /// Pipe object as written.
    pub pipe: String,
    /// Number of buffers as written; `None` for a `TBuf`.
    pub number: Option<FileSpan>,
    /// Size in bytes as written.
    pub size: String,
    /// The statement.
    pub statement: FileSpan,
}

/// One class, or one free function, that talks to the AI Core.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Name of the class, or of the free function.
    pub name: String,
    /// Direct base classes, whose members and functions are not among these; [`super::Facts::with_bases`] adds them.
    pub bases: BTreeSet<String>,
    /// Queues by name.
    pub queues: BTreeMap<String, Queue>,
    /// `TBuf` members with their declarations.
    pub buffers: BTreeMap<String, FileSpan>,
    /// Global tensors: element type and declaration.
    pub globals: BTreeMap<String, (String, FileSpan)>,
    /// `TPipe` members or pointers.
    pub pipes: BTreeMap<String, FileSpan>,
    /// `LocalTensor` members: their lifetime is not analysed.
    pub tensor_members: BTreeSet<String>,
    /// `InitBuffer` calls.
    pub init_buffers: Vec<InitBuffer>,
    /// Functions: file and index into [`SyntaxFile::functions`].
    pub functions: Vec<(String, usize)>,
}

impl Kernel {
    /// The size expression of a queue or buffer, if it is set at exactly one place.
    pub fn init_of(&self, target: &str) -> Option<&InitBuffer> {
        let mut found = self.init_buffers.iter().filter(|init| init.target == target);
        found.next().filter(|_| found.next().is_none())
    }

    /// Whether tensors are filled (`allocated`: those that a queue gives out empty) or emptied (those taken from it) by copies and not
    /// by the vector unit, which is what the queue's position says; or why that is not known.
    pub fn is_copied(&self, queue: &str, allocated: bool) -> Result<bool, String> {
        let Some(known) = self.queues.get(queue) else {
            return Err(format!("{queue} is not a queue member of {}", self.name));
        };
        let (filled, emptied) = match known.position.as_str() {
            "VECIN" => (true, false),
            "VECOUT" => (false, true),
            "VECIN,VECOUT" => (true, true),
            "VECCALC" => (false, false),
            other => return Err(format!("{queue} has the position {other}")),
        };
        Ok(if allocated { filled } else { emptied })
    }

    /// Calls in all functions of the kernel, with their files.
    pub fn calls<'a>(&'a self, forest: &'a SyntaxForest) -> impl Iterator<Item = (&'a SyntaxFile, usize, &'a Call)> {
        self.functions
            .iter()
            .filter_map(move |(file, index)| {
                let file = forest.get(file)?;
                Some((file, file.functions().get(*index)?.body.clone()))
            })
            .flat_map(|(file, body)| {
                file.calls()
                    .iter()
                    .enumerate()
                    .filter(move |(_, call)| body.start <= call.span.start && call.span.end <= body.end)
                    .map(move |(index, call)| (file, index, call))
            })
    }

    /// Local tensors and their uses, function by function.
    pub fn tensors<'a>(&'a self, forest: &'a SyntaxForest) -> impl Iterator<Item = (&'a SyntaxFile, TensorFacts)> {
        self.functions.iter().filter_map(move |(file, index)| {
            let file = forest.get(file)?;
            Some((file, TensorFacts::of(file, file.functions().get(*index)?)))
        })
    }

    /// Whether a copy stays within the unified buffer, where the vector unit does it.
    pub fn copies_within(&self, file: &SyntaxFile, call: &Call) -> bool {
        self.may_copy_within(call)
            && file
                .enclosing_function(call.span.start)
                .is_some_and(|function| self.has_local_operands(file, call, &TensorFacts::of(file, function)))
    }

    fn may_copy_within(&self, call: &Call) -> bool {
        let vector = self.queues.values().all(|queue| queue.position.split(',').all(|part| part.starts_with("VEC")));
        vector && call.name == "DataCopy" && call.object.is_none()
    }

    fn has_local_operands(&self, file: &SyntaxFile, call: &Call, facts: &TensorFacts) -> bool {
        let local = |index: usize| {
            let name = file.argument(call, index).map(base_name).unwrap_or_default();
            self.buffers.contains_key(name) || facts.tensors.contains_key(name)
        };
        local(0) && local(1)
    }

    /// Buffers (`TBuf`) that a DMA copy reads or writes, and whether some copy has an operand of unknown origin.
    pub fn copied_buffers(&self, forest: &SyntaxForest) -> CopyOrigins {
        let mut origins = CopyOrigins::default();
        let mut known: BTreeMap<(&str, usize), TensorFacts> = BTreeMap::new();
        for (file, _, call) in self.calls(forest).filter(|(_, _, call)| is_copy(&call.name) && call.object.is_none()) {
            let Some(function) = file.enclosing_function(call.span.start) else { continue };
            let facts =
                known.entry((file.name(), function.span.start)).or_insert_with(|| TensorFacts::of(file, function));
            if self.may_copy_within(call) && self.has_local_operands(file, call, facts) {
                continue;
            }
            let place = |byte: usize| format!("{}:{}", file.name(), file.line(byte));
            // An operand that is neither a global tensor nor a local one of the function.
            let is_known = |index: usize| {
                let name = file.argument(call, index).map(base_name).unwrap_or_default();
                self.globals.contains_key(name) || facts.tensors.contains_key(name)
            };
            if !is_known(0) || !is_known(1) {
                origins.unknown.insert(place(call.span.start));
            }
            let is_operand = |used: &&TensorUse| {
                used.argument.is_some_and(|argument| argument < 2)
                    && used.call.and_then(|index| file.calls().get(index)).is_some_and(|other| other.span == call.span)
            };
            for used in facts.uses.iter().filter(is_operand) {
                match facts.tensors.get(&used.tensor).map(|tensor| &tensor.origin) {
                    Some(super::Origin::Buffer(buffer)) => {
                        origins.buffers.insert(buffer.clone());
                    }
                    Some(super::Origin::Alloc(_) | super::Origin::DeQue(_)) => {}
                    _ => {
                        origins.unknown.insert(place(used.span.start));
                    }
                }
            }
        }
        origins
    }
}

/// What DMA copies of a kernel touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyOrigins {
    /// `TBuf`s that are source or destination of a copy.
    pub buffers: BTreeSet<String>,
    /// `file:line` of copies with an operand of unknown origin.
    pub unknown: BTreeSet<String>,
}

/// Whether a file belongs to the half that runs on the host.
pub fn is_host(file: &str) -> bool {
    file.split('/').any(|part| part == "op_host" || part == "op_api" || part == "op_graph")
}

/// All kernels of a source tree by name.
pub(super) fn collect(forest: &SyntaxForest) -> BTreeMap<String, Kernel> {
    let mut kernels: BTreeMap<String, Kernel> = BTreeMap::new();
    // The host's half often has a class of the kernel's name: the operator's definition.
    for file in forest.iter().filter(|file| !is_host(file.name())) {
        for class in file.classes().iter().filter(|class| !is_definition(file, class)) {
            let kernel = kernels.entry(class.name.clone()).or_default();
            kernel.name.clone_from(&class.name);
            kernel.bases.extend(class.bases.iter().cloned());
            for member in &class.members {
                kernel.add_member(&member.name, &member.type_text, FileSpan::new(file, &member.span));
            }
        }
    }
    for file in forest.iter().filter(|file| !is_host(file.name())) {
        for (index, function) in file.functions().iter().enumerate() {
            if file.enclosing_class(function.span.start).is_some_and(|class| is_definition(file, class)) {
                continue;
            }
            let name = function.class.clone().unwrap_or_else(|| function.name.clone());
            let kernel = kernels.entry(name.clone()).or_default();
            kernel.name = name;
            kernel.functions.push((file.name().to_owned(), index));
            for local in file.locals().iter().filter(|local| function.body.contains(&local.span.start)) {
                if !local.type_text.contains("LocalTensor<") {
                    kernel.add_member(&local.name, &local.type_text, FileSpan::new(file, &local.span));
                }
            }
            for call in file.calls_in(function.body.clone()).filter(|call| call.name == "InitBuffer") {
                kernel.add_init(file, call);
            }
        }
    }
    let bases: BTreeSet<String> = kernels.values().flat_map(|kernel| kernel.bases.iter().cloned()).collect();
    kernels.retain(|name, kernel| !kernel.functions.is_empty() || !kernel.queues.is_empty() || bases.contains(name));
    kernels
}

/// Whether a class describes an operator to the framework: it often has the name of the kernel's class, and is another one.
pub(super) fn is_definition(file: &SyntaxFile, class: &Class) -> bool {
    let head = file.slice(&(class.span.start..class.body.start));
    pieces(head).into_iter().any(|token| token.kind == PieceKind::Word && &head[token.span] == "OpDef")
}

impl Kernel {
    /// Whether base classes may add members that are not among these.
    pub fn has_base(&self) -> bool {
        !self.bases.is_empty()
    }

    /// Adds what a base class has; own members hide those of the same name.
    pub(super) fn take_over(&mut self, base: &Kernel) {
        fn missing<V: Clone>(own: &mut BTreeMap<String, V>, base: &BTreeMap<String, V>) {
            for (name, value) in base {
                own.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        missing(&mut self.queues, &base.queues);
        missing(&mut self.buffers, &base.buffers);
        missing(&mut self.globals, &base.globals);
        missing(&mut self.pipes, &base.pipes);
        self.tensor_members.extend(base.tensor_members.iter().cloned());
        self.init_buffers.extend(base.init_buffers.iter().cloned());
        self.functions.extend(base.functions.iter().cloned());
    }

    fn add_member(&mut self, name: &str, type_text: &str, declaration: FileSpan) {
        let short = type_text
            .rsplit_once("AscendC::")
            .map_or(type_text, |(_, rest)| if type_text.starts_with("AscendC::T") { &type_text[9..] } else { rest });
        let name = name.to_owned();
        if let Some(arguments) = template_arguments(short, "TQue").or_else(|| template_arguments(short, "TQueBind")) {
            let unscoped = |text: &str| text.rsplit("::").next().unwrap_or(text).trim().to_owned();
            let bound = short.starts_with("TQueBind") && arguments.len() > 1;
            let position = if bound {
                format!("{},{}", unscoped(&arguments[0]), unscoped(&arguments[1]))
            } else {
                unscoped(&arguments[0])
            };
            let depth = arguments.get(if bound { 2 } else { 1 }).cloned().unwrap_or_default();
            self.queues.insert(name, Queue { position, depth, declaration });
        } else if short.starts_with("TBuf<") || short == "TBuf" {
            self.buffers.insert(name, declaration);
        } else if let Some(arguments) = template_arguments(short, "GlobalTensor") {
            self.globals.insert(name, (arguments.join(", "), declaration));
        } else if short.starts_with("TPipe") {
            self.pipes.insert(name, declaration);
        } else if type_text.contains("LocalTensor<") {
            self.tensor_members.insert(name);
        }
    }

    fn add_init(&mut self, file: &SyntaxFile, call: &Call) {
        let (Some(statement), Some(target)) = (&call.statement, file.argument(call, 0)) else { return };
        let is_queue = call.arguments.len() == 3;
        let size = file.argument(call, if is_queue { 2 } else { 1 });
        self.init_buffers.push(InitBuffer {
            target: base_name(target).to_owned(),
            pipe: call.object.clone().unwrap_or_default(),
            number: is_queue.then(|| FileSpan::new(file, &call.arguments[1])),
            size: size.unwrap_or_default().to_owned(),
            statement: FileSpan::new(file, statement),
        });
    }
}

/// Arguments of `name<..>` at the top level of commas.
fn template_arguments(type_text: &str, name: &str) -> Option<Vec<String>> {
    let inner = type_text.trim().strip_prefix(name)?.trim_start().strip_prefix('<')?;
    let inner = inner.get(..inner.rfind('>')?)?;
    let mut parts = vec![String::new()];
    let mut depth = 0usize;
    for character in inner.chars() {
        match character {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(character);
        }
    }
    Some(parts.into_iter().map(|part| part.trim().to_owned()).collect())
}
