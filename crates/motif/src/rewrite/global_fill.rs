//! Loops of scalars that give elements of global memory one value, which copies of a filled tile do many at a time.

use std::ops::Range;

use crate::analysis::arms::called_once;
use crate::analysis::code::{block_of, functions_of, object_name, scope, squash, words};
use crate::analysis::declared_types::types_of;
use crate::analysis::entry::device_files;
use crate::analysis::flow::effects::{is_plain, steady};
use crate::analysis::linear::grouped;
use crate::analysis::loops::{counted, loops_around};
use crate::context::Context;
use crate::rewrite::edits::edit;
use crate::site::Candidate;
use source::Edit;
use source::facts::Kernel;
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, Loop, SyntaxFile};

/// What says where a tensor is and asks nothing of memory.
const HARMLESS: &[&str] = &["SetGlobalBuffer", "SetL2CacheHint", "GetSize"];
/// What fills a tensor by copies, in the order of the program.
const FILLS: &[&str] = &["InitGlobalMemory", "InitOutput", "Fill"];
/// Types of elements that a tile can be filled with.
const FILLED: &[&str] = &["half", "float", "bfloat16_t", "int16_t", "uint16_t", "int32_t", "uint32_t"];

/// Loops that fill a global tensor, as candidates.
pub(crate) fn global_fills(context: &Context) -> Vec<Candidate> {
    let mut found = Vec::new();
    for kernel in context.facts.kernels.values().filter(|kernel| !kernel.globals.is_empty()) {
        for (file, function) in functions_of(context, kernel) {
            let inside = |repetition: &&Loop| function.body.contains(&repetition.span.start);
            for repetition in file.loops().iter().filter(inside) {
                let Some(write) = only_write(kernel, file, repetition) else { continue };
                let loop_of_writes = Filling { context, kernel, file, function, repetition, write };
                let note = format!("{} filled by copies of a tile", object_name(write));
                let candidate = Candidate::new(file, &repetition.span, note, loop_of_writes.edits())
                    .on_condition("the unified buffer has room for a tile behind the kernel's buffers")
                    .on_condition("no other tensor has a scalar's unwritten line of the same memory");
                found.push(candidate);
            }
        }
    }
    found
}

/// The write of a global tensor that is all that a loop does.
fn only_write<'a>(kernel: &Kernel, file: &'a SyntaxFile, repetition: &Loop) -> Option<&'a Call> {
    let mut writes = file.calls_in(repetition.body.clone()).filter(|call| {
        call.name == "SetValue" && call.arguments.len() == 2 && kernel.globals.contains_key(object_name(call))
    });
    let (Some(write), None) = (writes.next(), writes.next()) else { return None };
    let statement = write.statement.as_ref()?;
    let body = squash(file.slice(&repetition.body));
    let alone = squash(file.slice(statement));
    (body == alone || body == format!("{{{alone}}}")).then_some(write)
}

/// A loop that does nothing but one write of a global tensor.
struct Filling<'a> {
    context: &'a Context,
    kernel: &'a Kernel,
    file: &'a SyntaxFile,
    function: &'a Function,
    repetition: &'a Loop,
    write: &'a Call,
}

impl Filling<'_> {
    fn edits(&self) -> Result<Vec<Edit>, String> {
        let Self { context, kernel, file, repetition, write, .. } = *self;
        let tensor = object_name(write);
        let (counter, bound) = counted(file, repetition)?;
        let [index, value] = &write.arguments[..] else { return Err("SetValue without a value".to_owned()) };
        if squash(file.slice(index)) != counter {
            return Err(format!("{tensor} is not written from its first element on, one after the other"));
        }
        let value = file.slice(value).trim();
        if !is_plain(value) || words(value).contains(&counter.as_str()) {
            return Err(format!("{tensor} gets other values in other rounds"));
        }
        for text in [bound.as_str(), value] {
            if words(text).iter().any(|word| kernel.globals.contains_key(*word)) {
                return Err(format!("{text} is in global memory"));
            }
            steady(context, file, kernel, text, &repetition.body)?;
        }
        if kernel.has_base() || !context.facts.derived(&kernel.name).is_empty() {
            return Err(format!("{} has a base class or is one", kernel.name));
        }
        if !device_files(context).any(|file| words(file.text()).contains(&"TPipe")) {
            return Err("no pipe knows what is left of the unified buffer".to_owned());
        }
        let element = kernel.globals.get(tensor).map_or("", |(element, _)| element.as_str());
        self.is_filled_with(element)?;
        self.runs_once()?;
        self.comes_first(tensor)?;
        block_of(file, &repetition.span).ok_or("the loop is the only statement of an if or a loop")?;
        let (api, indentation) = (scope(file), file.indentation(repetition.span.start));
        let (count, object) = (grouped(&bound), write.object.as_deref().unwrap_or(tensor));
        let text = format!(
            "if ({bound} > 0) {{\n{indentation}    {api}InitGlobalMemory({object}, static_cast<uint64_t>({bound}), static_cast<{element}>({value}));\n\
             {indentation}    {api}PipeBarrier<PIPE_ALL>(); // before a scalar asks for it\n{indentation}}}",
            bound = count,
        );
        Ok(vec![edit(file, repetition.span.clone(), text)])
    }

    /// Proves that a tile can be filled with elements of this type, whatever it stands for.
    fn is_filled_with(&self, element: &str) -> Result<(), String> {
        let unclear = || format!("what {element} stands for is not known");
        let mut types = vec![element.to_owned()];
        let parameters = template_parameters(self.context, &self.kernel.name);
        if let Some(at) = parameters.iter().position(|name| name == element) {
            types = arguments(self.context, &self.kernel.name, at).ok_or_else(unclear)?;
        }
        for one in &types {
            let known = types_of(self.context, one);
            let stands_for = if one.starts_with("DTYPE_") { known.ok_or_else(unclear)? } else { vec![one.as_str()] };
            if let Some(other) = stands_for.iter().find(|own| !FILLED.contains(own)) {
                return Err(format!("no instruction fills a tile with elements of type {other}"));
            }
        }
        if types.is_empty() { Err(unclear()) } else { Ok(()) }
    }

    /// Proves that a launch comes to the loop once at most.
    fn runs_once(&self) -> Result<(), String> {
        let Self { context, file, function, repetition, .. } = *self;
        if loops_around(file, function, repetition.span.start).iter().any(|other| other.span != repetition.span) {
            return Err("the loop stands in another one".to_owned());
        }
        called_once(context, function)
    }

    /// Proves that no scalar asks for an element of the tensor, or sets one, before the loop: its line would still be in the data cache.
    fn comes_first(&self, tensor: &str) -> Result<(), String> {
        let end = self.repetition.span.end;
        for (file, function) in functions_of(self.context, self.kernel) {
            let here = file.name() == self.file.name() && function.span == self.function.span;
            let body = file.slice(&function.body);
            let tokens = pieces(body);
            for (index, token) in tokens.iter().enumerate() {
                if token.kind != PieceKind::Word || &body[token.span.clone()] != tensor {
                    continue;
                }
                let byte = function.body.start + token.span.start;
                let follows = |by: usize| tokens.get(index + by).map_or("", |next| &body[next.span.clone()]);
                let line = || format!("{}:{}", file.name(), file.line(byte));
                let is_of_loop = here && self.repetition.span.contains(&byte);
                let fills = || {
                    let mut calls = file.calls_in(function.body.clone());
                    calls.any(|call| FILLS.contains(&call.name.as_str()) && call.span.contains(&byte))
                };
                match (follows(1), follows(2)) {
                    (".", name) if HARMLESS.contains(&name) => {}
                    (".", "GetValue" | "SetValue") if is_of_loop || here && byte >= end => {}
                    (".", name) => return Err(format!("{}: {name} of {tensor} may come before the loop", line())),
                    _ if fills() => {}
                    _ => return Err(format!("{}: {tensor} is used as a whole", line())),
                }
            }
        }
        Ok(())
    }
}

/// Names of a class template's parameters.
fn template_parameters(context: &Context, class: &str) -> Vec<String> {
    for file in context.forest.iter() {
        for known in file.classes().iter().filter(|known| known.name == class) {
            let head = file.text()[..known.span.start].trim_end();
            let inside = |start: usize| head[start..].strip_suffix('>').and_then(|list| list.split_once('<'));
            if let Some((_, list)) = head.rfind("template").and_then(inside) {
                let names = list.split(',').map(|one| words(one).last().copied().unwrap_or_default().to_owned());
                return names.collect();
            }
        }
    }
    Vec::new()
}

/// What a class template is used with in the place of a parameter; nothing where that cannot be told.
fn arguments(context: &Context, class: &str, at: usize) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for file in device_files(context) {
        let text = file.blanked();
        let tokens = pieces(text);
        let named = |index: usize| tokens.get(index).map_or("", |token| &text[token.span.clone()]);
        for index in (0..tokens.len()).filter(|index| named(*index) == class && named(index + 1) == "<") {
            let list: Range<usize> = tokens[index + 1].span.end..text.len();
            let list = &text[list];
            let argument = list[..list.find('>')?].split(',').nth(at)?.trim().to_owned();
            if argument.contains(['<', '(']) {
                return None;
            }
            found.push(argument);
        }
    }
    Some(found)
}
