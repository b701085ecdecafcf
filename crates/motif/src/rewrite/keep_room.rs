//! Room for kept chunks: the buffer, its members, and how much of the unified buffer the others leave.

use std::ops::Range;

use crate::analysis::chunk_loads::Reuse;
use crate::analysis::code::{block_of, words};
use crate::analysis::flow::changes::changes_name;
use crate::analysis::queue_run::{QueueRun, loops_in, statement_at, statement_within};
use crate::rewrite::buffers::{access, buffer_type, last_member};
use crate::rewrite::counted_bytes::{BYTES, LENGTH, ROUNDS, SLOTS, TAKEN, padded, term};
use crate::rewrite::edits::insert_after;
use source::Edit;
use source::facts::{Callers, InitBuffer};
use source::parse::{Function, SyntaxFile};

/// Bytes of the unified buffer that all buffers together may take: 192 KiB less what the toolkit keeps for itself.
pub(crate) const LIMIT_BYTES: u32 = 190 * 1024;

/// Functions that take room in the unified buffer on their own if the call gives them none.
const HIDDEN_ROOM: &[&str] = &[
    "SoftMax",
    "SimpleSoftMax",
    "SoftmaxFlash",
    "SoftmaxFlashV2",
    "SoftmaxFlashV3",
    "SoftmaxGrad",
    "SoftmaxGradFront",
    "LogSoftMax",
    "LayerNorm",
    "LayerNormGrad",
    "LayerNormGradBeta",
    "RmsNorm",
    "BatchNorm",
    "DeepNorm",
    "GroupNorm",
    "Normalize",
    "WelfordUpdate",
    "WelfordFinalize",
    "Tanh",
    "Sigmoid",
    "Gelu",
    "FasterGelu",
    "FasterGeluV2",
    "SwiGLU",
    "Silu",
    "Swish",
    "GeGLU",
    "ReGlu",
    "Erf",
    "Erfc",
    "Power",
    "Sin",
    "Cos",
    "Tan",
    "Asin",
    "Acos",
    "Atan",
    "Sinh",
    "Cosh",
    "Asinh",
    "Acosh",
    "Atanh",
    "Log",
    "Log2",
    "Log10",
    "Broadcast",
    "BroadCast",
    "Sum",
    "Mean",
    "ReduceXorSum",
    "ReduceProd",
    "AscendQuant",
    "AscendDequant",
    "AscendAntiQuant",
    "TopK",
    "Xor",
    "Fmod",
    "Trunc",
    "Round",
    "Ceil",
    "Floor",
    "Frac",
    "Digamma",
    "Lgamma",
    "ClampMax",
    "ClampMin",
    "Sign",
    "Exp",
    "CumSum",
    "Hypot",
    "SelectWithBytesMask",
    "ConfusionTranspose",
    "Pad",
    "UnPad",
];

/// File and function that initialise the buffers, each with its bytes, and where the last one has been initialised.
type Sizes<'a> = (&'a SyntaxFile, &'a Function, Vec<(String, String)>, usize);

/// The buffer of one reuse.
pub(crate) struct Room<'a> {
    pub(crate) run: &'a QueueRun<'a>,
    pub(crate) reuse: &'a Reuse<'a>,
    /// Name of the buffer; the others are this with an end.
    pub(crate) name: &'a str,
}

impl<'a> Room<'a> {
    /// Members and `InitBuffer`.
    pub(crate) fn initialised(&self) -> Result<Vec<Edit>, String> {
        let Self { run, name, .. } = self;
        let (context, kernel) = (run.context, run.kernel);
        let queue = &self.reuse.first.queue;
        let own = kernel.init_of(queue).ok_or_else(|| format!("{queue} is not initialised at exactly one place"))?;
        for (file, _, call) in kernel.calls(&context.forest) {
            let form = call.name == "Exp" && call.template_arguments.is_none();
            if call.object.is_none() && HIDDEN_ROOM.contains(&call.name.as_str()) && !form {
                let line = file.line(call.span.start);
                return Err(format!("{} at line {line} may take room in the unified buffer on its own", call.name));
            }
        }
        let (file, function, taken, end) = self.sizes(own)?;
        let whole = self.statement_ending(file, end).ok_or("the last InitBuffer shares its line")?;
        let element = self.element()?;
        let mut lines = vec![
            format!("const uint32_t {name}{BYTES} = {};", padded(&own.size)),
            format!("uint32_t {name}{TAKEN} = 0;"),
        ];
        lines.extend(taken.iter().map(|(target, text)| term(&format!("{name}{TAKEN}"), target, text)));
        lines.push(format!("{name}{LENGTH} = {name}{BYTES} / sizeof({element});"));
        lines.push(format!(
            "{name}{SLOTS} = {name}{TAKEN} < {LIMIT_BYTES} ? ({LIMIT_BYTES} - {name}{TAKEN}) / {name}{BYTES} : 0;"
        ));
        let rounds = &self.reuse.first.rounds;
        let known = words(rounds).iter().all(|word| {
            let hidden = function.parameters.iter().any(|parameter| parameter.name == *word)
                || file.locals().iter().any(|local| local.name == *word && function.body.contains(&local.span.start));
            !hidden && !changes_name(file, &(end..function.body.end), word)
        });
        if known && !rounds.contains(['$', '[', '%', '@']) {
            lines.push(format!("const uint32_t {name}{ROUNDS} = static_cast<uint32_t>({});", bare(rounds)));
            lines.push(format!("{name}{SLOTS} = {name}{SLOTS} < {name}{ROUNDS} ? {name}{SLOTS} : {name}{ROUNDS};"));
        }
        lines.push(format!("if ({name}{SLOTS} > 0) {{"));
        lines.push(format!("    {}InitBuffer({name}, {name}{SLOTS} * {name}{BYTES});", access(context, own)));
        lines.push("}".to_owned());
        let declaration = last_member(context, kernel).ok_or("the class has no buffer member to put another beside")?;
        let header = context.forest.get(&declaration.file).ok_or("the class is not parsed")?;
        let members = [
            format!("{} {name};", buffer_type(header, declaration)),
            format!("uint32_t {name}{SLOTS} = 0;"),
            format!("uint32_t {name}{LENGTH} = 0;"),
        ];
        let shared = || "a declaration shares its line".to_owned();
        Ok(vec![
            insert_after(header, &declaration.span(), &members).ok_or_else(shared)?,
            insert_after(file, &whole, &lines).ok_or_else(shared)?,
        ])
    }

    /// Where all buffers have been initialised, with the bytes of each.
    fn sizes(&self, own: &'a InitBuffer) -> Result<Sizes<'a>, String> {
        let (context, kernel) = (self.run.context, self.run.kernel);
        let place = |init: &'a InitBuffer| {
            let file = context.forest.get(&init.statement.file)?;
            Some((file, file.enclosing_function(init.statement.start)?))
        };
        let (home_file, home) = place(own).ok_or("InitBuffer stands in no function")?;
        let callers = Callers::new(kernel, &context.forest);
        let above = callers.sites(home);
        let roots = [(home_file, home)].into_iter().chain(above.iter().map(|site| (site.file, site.function)));
        let mut reason = String::new();
        for (file, function) in roots {
            let pipe = source::facts::base_name(&own.pipe);
            if function.span != home.span && !kernel.pipes.contains_key(pipe) {
                continue;
            }
            match self.sizes_from(file, function, &place) {
                Ok((taken, end)) => return Ok((file, function, taken, end)),
                Err(error) => reason = if reason.is_empty() { error } else { reason },
            }
        }
        Err(reason)
    }

    fn sizes_from(
        &self,
        file: &'a SyntaxFile,
        function: &'a Function,
        place: &dyn Fn(&'a InitBuffer) -> Option<(&'a SyntaxFile, &'a Function)>,
    ) -> Result<(Vec<(String, String)>, usize), String> {
        let (context, kernel) = (self.run.context, self.run.kernel);
        let callers = Callers::new(kernel, &context.forest);
        let (mut taken, mut end) = (Vec::new(), 0);
        for init in &kernel.init_buffers {
            let target = &init.target;
            let (other, within) = place(init).ok_or_else(|| format!("{target} is initialised in no function"))?;
            if !loops_in(other, within, init.statement.start).is_empty() {
                return Err(format!("{target} is initialised in a loop"));
            }
            let here = other.name() == file.name() && within.span == function.span;
            let statement = if here {
                init.statement.span()
            } else {
                let sites = callers.sites(within);
                let site =
                    sites.iter().find(|site| site.function.span == function.span && site.file.name() == file.name());
                let site = site.filter(|_| sites.len() == 1);
                site.map(|site| site.call.span.clone()).ok_or_else(|| {
                    format!("{target} is initialised in another function than {}", self.reuse.first.queue)
                })?
            };
            let statement = statement_within(file, &statement, &inner(file, function)?)
                .ok_or_else(|| format!("the InitBuffer of {target} is not understood"))?;
            if file.loops().iter().any(|repetition| repetition.span == statement) {
                return Err(format!("{target} is initialised in a loop"));
            }
            end = end.max(statement.end);
            let number = init.number.as_ref().map(|place| other.slice(&place.span()).trim());
            let bytes = padded(init.size.trim());
            let text = number.map_or(bytes.clone(), |number| format!("{number} * {}", closed(&bytes)));
            let after = init.statement.end..within.body.end;
            let behind = statement.end..function.body.end;
            for word in words(&text) {
                let local =
                    other.locals().iter().find(|local| local.name == word && within.body.contains(&local.span.start));
                let parameter = within.parameters.iter().any(|parameter| parameter.name == word);
                let hidden = match local {
                    Some(local) => !here || block_of(other, &local.span).as_ref() != Some(&within.body),
                    None => parameter && !here,
                };
                if hidden {
                    return Err(format!("{word} is not known at the end of the InitBuffer calls"));
                }
                if changes_name(other, &after, word) || changes_name(file, &behind, word) {
                    return Err(format!("{word} changes behind the InitBuffer of {target}"));
                }
            }
            taken.push((target.clone(), text));
        }
        Ok((taken, end))
    }

    fn statement_ending(&self, file: &SyntaxFile, end: usize) -> Option<Range<usize>> {
        let last = statement_at(file, &(end - 1..end));
        last.filter(|span| span.end == end && file.whole_lines(span).is_some())
    }

    fn element(&self) -> Result<String, String> {
        let load = self.reuse.first;
        let file = self.run.frames[load.to].file;
        let call = file.calls().iter().find(|call| load.taken.value.as_ref() == Some(&call.span));
        call.and_then(|call| call.template_arguments.clone())
            .ok_or_else(|| "the element type is not written".to_owned())
    }
}

/// A statement directly in the body of a function.
fn inner(file: &SyntaxFile, function: &Function) -> Result<Range<usize>, String> {
    let mut node = file.node_at(&function.body).ok_or("a function is not parsed")?;
    while node.kind() != "compound_statement" {
        node = node.parent().ok_or("a function has no body")?;
    }
    node.named_child(0).map(|child| child.byte_range()).ok_or_else(|| "a function is empty".to_owned())
}

/// In parentheses unless it is one word.
fn closed(text: &str) -> String {
    if text.contains(' ') { format!("({text})") } else { text.to_owned() }
}

/// Without parentheses around the whole.
pub(crate) fn bare(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        let mut depth = 0i32;
        let balanced = inner.chars().all(|character| {
            depth += i32::from(character == '(') - i32::from(character == ')');
            depth >= 0
        });
        if !balanced {
            break;
        }
        text = inner.trim();
    }
    text
}
