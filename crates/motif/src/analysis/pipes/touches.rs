//! Which memory a call touches, with which pipe.

use super::operands::{Frame, Memory, Operands};
use super::{COPY_IN, COPY_OUT, Pipes, SCALAR, VECTOR};
use crate::analysis::pipe_order::PROTOCOL;
use source::facts::api::{Access, argument_access, is_copy};
use source::facts::base_name;
use source::lex::{PieceKind, pieces};
use source::parse::{Call, SyntaxFile};

/// What a call does with one piece of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) memory: Memory,
    pub(crate) pipe: Pipes,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

/// Calls on tensors that touch no data and give the same memory by another type or name.
const VIEWS: [&str; 14] = [
    "ReinterpretCast",
    "SetGlobalBuffer",
    "SetL2CacheHint",
    "GetSize",
    "GetLength",
    "SetSize",
    "SetShapeInfo",
    "GetShapeInfo",
    "Get",
    "GetWithOffset",
    "AllocTensor",
    "DeQue",
    "EnQue",
    "FreeTensor",
];

/// Calls that fill global memory from a place of their own in the unified buffer.
const FILLS: [&str; 2] = ["InitGlobalMemory", "InitOutput"];

/// Everything that a call touches itself; `Err` if that is not known.
pub(crate) fn touches<'a>(
    operands: Operands<'a>,
    file: &'a SyntaxFile,
    call: &'a Call,
    frames: &[Frame<'a>],
) -> Result<Vec<Touch>, String> {
    let line = file.line(call.span.start);
    let foreign = ["copy_", "CrossCore", "ib_"].iter().any(|start| call.name.starts_with(start));
    if let Some(word) = macro_of(operands, &call.name) {
        return Err(format!("line {line}: the macro {} has {word} in it", call.name));
    }
    if PROTOCOL.contains(&call.name.as_str()) || foreign {
        return Err(format!("line {line}: {} is part of a protocol with other cores or units", call.name));
    }
    let memory = |text: &str| operands.memory(file, call.span.start, text, frames);
    if matches!(call.name.as_str(), "InitBuffer" | "SetGlobalBuffer") {
        return Ok(Vec::new());
    }
    if let Some(object) = &call.object {
        let touched = memory(object)?;
        let Some(touched) = touched else {
            // An object of another kind: what it does with tensors of this class is not known.
            return match first_tensor(operands, file, call, frames)? {
                Some(name) => Err(format!("line {line}: {name} goes to {} of {object}", call.name)),
                None => Ok(Vec::new()),
            };
        };
        let by_scalar = |reads, writes| Ok(vec![Touch { memory: touched.clone(), pipe: SCALAR, reads, writes }]);
        return match call.name.as_str() {
            "GetValue" => by_scalar(true, false),
            "SetValue" => by_scalar(false, true),
            name if VIEWS.contains(&name) => Ok(Vec::new()),
            name => Err(format!("line {line}: {object}.{name} is not understood")),
        };
    }
    if is_copy(&call.name) {
        return copy(operands, file, call, frames);
    }
    let defined = operands.forest.iter().any(|file| file.functions().iter().any(|function| function.name == call.name));
    let mut found = Vec::new();
    for index in 0..call.arguments.len() {
        let text = file.argument(call, index).unwrap_or_default();
        let access = argument_access(&call.name, index);
        let (reads, writes) = match access {
            Access::Read => (true, false),
            Access::Write => (false, true),
            Access::None => continue,
            Access::ReadWrite | Access::Release | Access::Escape => (true, true),
        };
        match memory(text)? {
            Some(memory @ Memory::Global(_)) if index == 0 && FILLS.contains(&call.name.as_str()) => {
                found.push(Touch { memory, pipe: COPY_OUT, reads: false, writes: true });
            }
            Some(Memory::Global(name)) => return Err(format!("line {line}: {name} goes to {}", call.name)),
            Some(touched) if defined => {
                let name = base_name(text);
                return Err(format!("line {line}: {name} ({touched:?}) goes to {}, which is not analysed", call.name));
            }
            Some(_) if is_raw(&call.name) => {
                return Err(format!("line {line}: {} goes to {}, which is not analysed", base_name(text), call.name));
            }
            Some(memory) => found.push(Touch { memory, pipe: VECTOR, reads, writes }),
            None if access != Access::Escape && !(index > 1 && is_scalar(text)) => {
                return Err(format!("line {line}: where {} comes from is not known", base_name(text)));
            }
            None => {}
        }
    }
    Ok(found)
}

/// Whether a function that the sources do not define works on tensors with other pipes than the vector unit.
fn is_raw(name: &str) -> bool {
    ["DataCopy", "Load", "Fixpipe", "Dump"].iter().any(|start| name.starts_with(start)) || name.ends_with("Impl")
}

/// A word in the body of a macro of this name that says that it touches tensors or orders pipes.
fn macro_of(operands: Operands<'_>, name: &str) -> Option<&'static str> {
    const WORDS: [&str; 7] = ["Copy", "Flag", "flag", "Barrier", "Tensor", "Sync", "Que"];
    let head = format!("define {name}(");
    operands.forest.iter().filter(|file| file.text().contains(&head)).find_map(|file| {
        let mut macros = pieces(file.text()).into_iter().filter(|token| token.kind == PieceKind::Directive);
        let body = macros.find_map(|token| file.text()[token.span].split_once(&head).map(|(_, body)| body))?;
        WORDS.into_iter().find(|word| body.contains(word))
    })
}

/// Whether an operand that is no tensor by its name is a number, and not something of an object that holds one.
fn is_scalar(text: &str) -> bool {
    text.trim().parse::<f64>().is_ok() || !text.contains(['.', '>'])
}

fn copy<'a>(
    operands: Operands<'a>,
    file: &'a SyntaxFile,
    call: &'a Call,
    frames: &[Frame<'a>],
) -> Result<Vec<Touch>, String> {
    let line = file.line(call.span.start);
    let side = |index: usize| {
        let text = file.argument(call, index).unwrap_or_default();
        let unknown = || format!("line {line}: a copy with an operand of unknown origin, {}", base_name(text));
        operands.memory(file, call.span.start, text, frames)?.ok_or_else(unknown)
    };
    let (to, from) = (side(0)?, side(1)?);
    let pipe = match (&to, &from) {
        (Memory::Local(_), Memory::Global(_)) => COPY_IN,
        (Memory::Global(_), Memory::Local(_)) => COPY_OUT,
        (Memory::Local(_), Memory::Local(_)) if call.name == "DataCopy" => VECTOR,
        _ => return Err(format!("line {line}: {} between these memories is not understood", call.name)),
    };
    Ok(vec![
        Touch { memory: from, pipe, reads: true, writes: false },
        Touch { memory: to, pipe, reads: false, writes: true },
    ])
}

fn first_tensor<'a>(
    operands: Operands<'a>,
    file: &'a SyntaxFile,
    call: &'a Call,
    frames: &[Frame<'a>],
) -> Result<Option<String>, String> {
    for index in 0..call.arguments.len() {
        let text = file.argument(call, index).unwrap_or_default();
        if operands.memory(file, call.span.start, text, frames)?.is_some() {
            return Ok(Some(base_name(text).to_owned()));
        }
    }
    Ok(None)
}
