//! Places where a kernel takes the tensor of a buffer that copies touch.

use std::ops::Range;

use crate::analysis::code::functions;
use crate::analysis::queue_uses::{QueueCall, calls_on};
use crate::context::Context;
use source::facts::api::{Access, is_copy};
use source::facts::{Kernel, TensorUse};
use source::parse::{Call, Local, SyntaxFile};

/// What copies do with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// They fill it.
    In,
    /// They empty it.
    Out,
}

impl Role {
    /// Position of a queue in this role.
    pub(crate) fn position(self) -> &'static str {
        match self {
            Role::In => "VECIN",
            Role::Out => "VECOUT",
        }
    }

    /// What the tensor on the copies' side of a queue is called where both sides are in one block.
    pub(crate) fn beside(self, tensor: &str) -> String {
        match self {
            Role::In => format!("{tensor}Incoming"),
            Role::Out => format!("{tensor}Outgoing"),
        }
    }
}

/// A tensor taken from a buffer.
pub(crate) struct Taken<'a> {
    pub(crate) file: &'a SyntaxFile,
    /// `buffer.Get<T>()`.
    pub(crate) call: &'a Call,
    /// Whether the first pipe of the role fills the buffer here.
    pub(crate) fills: bool,
    /// Whether the second one uses up what is in it.
    pub(crate) empties: bool,
    pub(crate) local: &'a Local,
    /// Uses by copies, and by the other pipes.
    pub(crate) copied: Vec<Range<usize>>,
    pub(crate) worked: Vec<Range<usize>>,
}

/// All places where a buffer is taken, if copies touch it; `None` if none does.
pub(crate) fn taken<'a>(
    context: &'a Context,
    kernel: &'a Kernel,
    name: &str,
    by: &str,
) -> Result<Option<(Role, Vec<Taken<'a>>)>, String> {
    let copied = kernel.copied_buffers(&context.forest).buffers.contains(name);
    if !copied {
        return Ok(None);
    }
    let (mut found, mut roles) = (Vec::new(), Vec::new());
    for QueueCall { file, function, call } in calls_on(context, kernel, name)? {
        let line = file.line(call.span.start);
        if call.name != by || !call.arguments.is_empty() || call.template_arguments.is_none() {
            return Err(format!("line {line}: {} is not all of {name}", call.name));
        }
        let declared = |local: &&Local| local.value.as_ref() == Some(&call.span) && local.alone;
        let local = file.locals().iter().find(declared).ok_or_else(|| format!("line {line}: no tensor is declared"))?;
        file.whole_lines(&local.span).ok_or_else(|| format!("line {line}: the declaration shares its line"))?;
        let (_, _, _, tensors) = functions(context)
            .into_iter()
            .find(|(other, known, ..)| other.name() == file.name() && known.span == function.span)
            .ok_or("the function is not known")?;
        let mut taken =
            Taken { file, call, fills: false, empties: false, local, copied: Vec::new(), worked: Vec::new() };
        for used in tensors.uses_of(&local.name) {
            match touched(kernel, file, used)? {
                Touched::Nothing => {}
                Touched::ByCopy(role) => {
                    roles.push(role);
                    taken.copied.push(used.span.clone());
                }
                Touched::ByWork => taken.worked.push(used.span.clone()),
            }
        }
        found.push(taken);
    }
    let Some(role) = roles.first().copied() else { return Ok(None) };
    if roles.iter().any(|other| *other != role) {
        return Err(format!("copies both fill and empty {name}"));
    }
    for taken in &mut found {
        let (copied, worked) = (!taken.copied.is_empty(), !taken.worked.is_empty());
        if !copied && !worked {
            return Err(format!("line {}: nothing is done with {name}", taken.file.line(taken.call.span.start)));
        }
        (taken.fills, taken.empties) = match role {
            Role::In => (copied, worked),
            Role::Out => (worked, copied),
        };
    }
    Ok(Some((role, found)))
}

/// How a tensor is used at one place.
pub(crate) enum Touched {
    /// Not at all.
    Nothing,
    /// By a copy.
    ByCopy(Role),
    /// By the vector or the scalar unit.
    ByWork,
}

/// How a tensor is used at one place.
pub(crate) fn touched(kernel: &Kernel, file: &SyntaxFile, used: &TensorUse) -> Result<Touched, String> {
    let line = file.line(used.span.start);
    let unclear = || Err(format!("line {line}: {} goes to code that is not analysed", used.tensor));
    let Some(call) = used.call.and_then(|index| file.calls().get(index)) else { return unclear() };
    if is_copy(&call.name) && call.object.is_none() && !kernel.copies_within(file, call) {
        return match (used.argument, call.statement.is_some()) {
            (Some(0), true) => Ok(Touched::ByCopy(Role::In)),
            (Some(1), true) => Ok(Touched::ByCopy(Role::Out)),
            _ => unclear(),
        };
    }
    match used.access {
        Access::None => Ok(Touched::Nothing),
        Access::Escape | Access::Release => unclear(),
        Access::Read | Access::Write | Access::ReadWrite => Ok(Touched::ByWork),
    }
}
