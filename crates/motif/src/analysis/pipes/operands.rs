//! Which memory the operands of calls are: buffers and queues of the class, and global tensors, by whatever name.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::analysis::code::{block_of, words};
use source::facts::{Kernel, base_name};
use source::lex::{PieceKind, pieces};
use source::parse::{Call, Function, Local, SyntaxFile, SyntaxForest};

/// Names are followed through so many others.
const DEPTH: usize = 12;

/// Memory that a kernel touches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Memory {
    /// A queue or buffer in the unified buffer.
    Local(String),
    /// A global tensor.
    Global(String),
}

/// A call of a function of the class that is being run: where it stands, and the function that it runs.
pub(crate) type Frame<'a> = (&'a SyntaxFile, &'a Call);

/// Follows names.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a> {
    pub(crate) forest: &'a SyntaxForest,
    pub(crate) kernel: &'a Kernel,
}

impl<'a> Operands<'a> {
    /// The memory of an operand of a call, `None` if it is a number or the like. `frames` are the calls that led there.
    pub(crate) fn memory(
        self,
        file: &'a SyntaxFile,
        at: usize,
        text: &str,
        frames: &[Frame<'a>],
    ) -> Result<Option<Memory>, String> {
        self.of(file, at, text, frames, 0)
    }

    fn of(
        self,
        file: &'a SyntaxFile,
        at: usize,
        text: &str,
        frames: &[Frame<'a>],
        depth: usize,
    ) -> Result<Option<Memory>, String> {
        let name = base_name(text);
        if name.is_empty() || depth > DEPTH || !is_operand(text) {
            return Ok(None);
        }
        let Some(function) = file.enclosing_function(at) else { return Ok(None) };
        if let Some(local) = local_of(file, function, name, at) {
            return self.of_local(file, function, local, frames, depth);
        }
        if let Some(position) = function.parameters.iter().position(|parameter| parameter.name == name) {
            let of_memory = |kind: &str| function.parameters[position].type_text.contains(kind);
            if !["Tensor", "TBuf", "TQue", "auto"].iter().any(|kind| of_memory(kind))
                && !is_template(function, position)
            {
                return Ok(None);
            }
            let (outer, call) = frames
                .last()
                .filter(|(_, call)| call.name == function.name)
                .ok_or_else(|| format!("what {name} of {} stands for is not known", function.name))?;
            let argument = outer.argument(call, position).unwrap_or_default().to_owned();
            return self.of(outer, call.span.start, &argument, &frames[..frames.len() - 1], depth + 1);
        }
        self.of_member(name, depth)
    }

    fn of_local(
        self,
        file: &'a SyntaxFile,
        function: &'a Function,
        local: &'a Local,
        frames: &[Frame<'a>],
        depth: usize,
    ) -> Result<Option<Memory>, String> {
        let kind = &local.type_text;
        if kind.contains("GlobalTensor") {
            return match &local.value {
                Some(value) => self.of(file, value.start, file.slice(value), frames, depth + 1),
                None => Ok(Some(Memory::Global(local.name.clone()))),
            };
        }
        if kind.contains("TBuf") || kind.contains("TQue") {
            return Ok(Some(Memory::Local(local.name.clone())));
        }
        let tensor = kind.contains("LocalTensor");
        if !tensor && !kind.contains("auto") {
            return Ok(None);
        }
        let mut values: Vec<Range<usize>> = local.value.clone().into_iter().collect();
        values.extend(assigned(file, &function.body, &local.name));
        let mut found = BTreeSet::new();
        for value in &values {
            let text = file.slice(value);
            if base_name(text) != local.name && text.trim() != "{}" {
                found.insert(self.of(file, value.start, text, frames, depth + 1)?);
            }
        }
        match (found.len(), found.pop_first()) {
            (1, Some(memory)) if memory.is_some() || !tensor => Ok(memory),
            (0, _) if !tensor => Ok(None),
            _ => Err(format!("line {}: what {} stands for is not known", file.line(local.span.start), local.name)),
        }
    }

    fn of_member(self, name: &str, depth: usize) -> Result<Option<Memory>, String> {
        if self.kernel.globals.contains_key(name) {
            return Ok(Some(Memory::Global(name.to_owned())));
        }
        if self.kernel.buffers.contains_key(name) || self.kernel.queues.contains_key(name) {
            return Ok(Some(Memory::Local(name.to_owned())));
        }
        if !self.kernel.tensor_members.contains(name) {
            return Ok(None);
        }
        let mut found = BTreeSet::new();
        for (file, function) in self.functions() {
            for value in assigned(file, &function.body, name) {
                if base_name(file.slice(&value)) != name {
                    found.insert(self.of(file, value.start, file.slice(&value), &[], depth + 1)?);
                }
            }
        }
        match (found.len(), found.pop_first()) {
            (1, Some(Some(memory))) => Ok(Some(memory)),
            _ => Err(format!("what the member {name} stands for is not known")),
        }
    }

    /// Functions of the class, and free ones that they call, with their files.
    pub(crate) fn functions(self) -> impl Iterator<Item = (&'a SyntaxFile, &'a Function)> {
        self.kernel.functions.iter().filter_map(move |(name, index)| {
            let file = self.forest.get(name)?;
            Some((file, file.functions().get(*index)?))
        })
    }
}

/// Whether a text is a name with indices and members behind it, the last of them none that gives a number.
pub(crate) fn is_operand(text: &str) -> bool {
    const NUMBERS: [&str; 4] = ["GetValue", "GetSize", "GetLength", "GetTensorCountInQue"];
    let text = text.trim().trim_start_matches("this->").trim_end();
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut last_member = "";
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'.' if depth == 0 => last_member = base_name(text[at + 1..].trim_start().trim_start_matches("template ")),
            b'+' | b'*' | b'/' | b'%' | b'?' | b'&' | b'|' | b'=' | b'!' if depth == 0 => return false,
            b'-' if depth == 0 && bytes.get(at + 1) != Some(&b'>') => return false,
            _ => {}
        }
    }
    !NUMBERS.contains(&last_member)
}

/// Whether a parameter's type is one of the template's, so that it may be a tensor.
fn is_template(function: &Function, position: usize) -> bool {
    let kind = function.parameters[position].type_text.replace("const", "");
    let kind = kind.trim().trim_end_matches('&').trim();
    kind.len() <= 2
        && kind.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
        && function.parameters[position].type_text.contains('&')
}

/// The variable that a name means at a byte.
fn local_of<'a>(file: &'a SyntaxFile, function: &Function, name: &str, at: usize) -> Option<&'a Local> {
    let visible = |local: &&Local| {
        local.name == name
            && function.body.contains(&local.span.start)
            && local.span.start <= at
            && block_of(file, &local.span).is_none_or(|block| block.contains(&at))
    };
    file.locals().iter().rfind(visible)
}

/// Values that a variable gets by assignments in a function.
pub(crate) fn assigned(file: &SyntaxFile, body: &Range<usize>, name: &str) -> Vec<Range<usize>> {
    let text = file.slice(body);
    if !words(text).contains(&name) {
        return Vec::new();
    }
    let tokens: Vec<_> = pieces(text).into_iter().filter(|token| token.kind != PieceKind::Comment).collect();
    let word = |index: usize| tokens.get(index).map_or("", |token| &text[token.span.clone()]);
    let mut found = Vec::new();
    for index in 0..tokens.len() {
        let before = |back: usize| index.checked_sub(back).map_or("", |at| word(at));
        let arrow = before(1) == ">" && before(2) == "-";
        let part = before(1) == "." || (arrow && before(3) != "this");
        // `Type name = value` declares another of the name.
        let word_before = before(1).ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let declares =
            (before(1) == ">" && !arrow) || matches!(before(1), "&" | "*") || (word_before && before(1) != "else");
        if word(index) != name || part || declares || word(index + 1) != "=" || word(index + 2) == "=" {
            continue;
        }
        let Some(first) = tokens.get(index + 2) else { continue };
        let end = (index + 2..tokens.len()).find(|at| word(*at) == ";");
        let end = end.map_or(text.len(), |at| tokens[at].span.start);
        found.push(body.start + first.span.start..body.start + end);
    }
    found
}
