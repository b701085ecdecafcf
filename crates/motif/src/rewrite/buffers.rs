//! Buffers that an edit adds to a kernel class or takes out of it: member, `InitBuffer` and all.

use crate::analysis::code::{classes_called, scope, squash, words};
use crate::context::Context;
use crate::rewrite::counted_bytes::{counted_in, counted_out};
use crate::rewrite::edits::{deleted, insert_after};
use source::Edit;
use source::facts::{FileSpan, InitBuffer, Kernel, base_name, parse_integer};

/// What names of buffers begin with that nobody uses and that only keep others apart.
pub(crate) const GAP: &str = "gapBuf";
use source::parse::SyntaxFile;

/// A name that no source has yet: the wanted one, or with a number behind.
pub(crate) fn free_name(context: &Context, wanted: &str) -> String {
    let taken = |name: &str| context.tree.iter().any(|(_, text)| text.contains(name));
    if !taken(wanted) {
        return wanted.to_owned();
    }
    (1..1000).map(|number| format!("{wanted}{number}")).find(|name| !taken(name)).unwrap_or_else(|| wanted.to_owned())
}

/// Edits that add buffers with their sizes in bytes: members behind the last one, initialised behind `near`, each `InitBuffer`
/// followed by its `lines` if it has any.
pub(crate) fn added(
    context: &Context,
    kernel: &Kernel,
    near: &InitBuffer,
    buffers: &[(String, String)],
    lines: &[String],
) -> Result<Vec<Edit>, String> {
    let names: Vec<&str> = buffers.iter().map(|(name, _)| name.as_str()).collect();
    Ok([vec![declared(context, kernel, &names)?], initialised(context, near, buffers, lines)?].concat())
}

/// The edit that declares buffers as members behind the last one.
pub(crate) fn declared(context: &Context, kernel: &Kernel, names: &[&str]) -> Result<Edit, String> {
    if classes_called(context, &kernel.name).len() > 1 {
        return Err(format!("{} stands there more than once, and each has members of its own", kernel.name));
    }
    let declaration = last_member(context, kernel).ok_or("the class has no buffer member to put another beside")?;
    let header = context.forest.get(&declaration.file).ok_or("the class is not parsed")?;
    let of = buffer_type(header, declaration);
    let members: Vec<String> = names.iter().map(|name| format!("{of} {name};")).collect();
    insert_after(header, &declaration.span(), &members).ok_or_else(shared_line)
}

/// Edits that initialise buffers with their sizes in bytes behind `near`, each `InitBuffer` followed by its `lines` if it has any.
pub(crate) fn initialised(
    context: &Context,
    near: &InitBuffer,
    buffers: &[(String, String)],
    lines: &[String],
) -> Result<Vec<Edit>, String> {
    let init_file = context.forest.get(&near.statement.file).ok_or("the initialisation is not parsed")?;
    let access = access(context, near);
    let mut inits: Vec<String> =
        buffers.iter().map(|(name, size)| format!("{access}InitBuffer({name}, {size});")).collect();
    inits.extend(lines.iter().cloned());
    let mut edits = vec![insert_after(init_file, &near.statement.span(), &inits).ok_or_else(shared_line)?];
    edits.extend(counted_in(init_file, buffers));
    Ok(edits)
}

fn shared_line() -> String {
    "a declaration shares its line".to_owned()
}

/// The type of a buffer, written as the member beside it.
pub(crate) fn buffer_type(header: &SyntaxFile, beside: &FileSpan) -> String {
    let beside = header.slice(&beside.span());
    let scope = match beside {
        _ if beside.contains("AscendC::") => "AscendC::",
        _ if beside.contains("TQue") || beside.contains("TBuf") => "",
        // By a name of the kernel's own.
        _ => scope(header),
    };
    let position = if beside.contains("QuePosition") { "QuePosition" } else { "TPosition" };
    format!("{scope}TBuf<{scope}{position}::VECCALC>")
}

/// Edits that take a buffer out: its member and its one `InitBuffer`. `others` counts the further mentions that the caller takes out.
pub(crate) fn removed(context: &Context, kernel: &Kernel, buffer: &str, others: usize) -> Result<Vec<Edit>, String> {
    let member = kernel.buffers.get(buffer).ok_or_else(|| format!("{buffer} is not a buffer member of the class"))?;
    let init = kernel.init_of(buffer).ok_or_else(|| format!("{buffer} is not initialised at exactly one place"))?;
    let mentions: usize =
        context.tree.iter().map(|(_, text)| words(text).into_iter().filter(|word| *word == buffer).count()).sum();
    if mentions != others + 2 {
        return Err(format!("{buffer} is used elsewhere too"));
    }
    let mut edits = Vec::new();
    for place in [member, &init.statement] {
        let file = context.forest.get(&place.file).ok_or("a file of the class is not parsed")?;
        edits.push(deleted(file, &place.span()));
    }
    edits.extend(context.forest.get(&init.statement.file).map(|file| counted_out(file, buffer)).into_iter().flatten());
    Ok(edits)
}

/// `pipe.` or `pipe->`, as at the existing call.
pub(crate) fn access(context: &Context, init: &InitBuffer) -> String {
    let Some(file) = context.forest.get(&init.statement.file).filter(|_| !init.pipe.is_empty()) else {
        return init.pipe.clone();
    };
    let text = file.slice(&init.statement.span());
    let arrow = text.trim_start().strip_prefix(&init.pipe).is_some_and(|rest| rest.trim_start().starts_with("->"));
    format!("{}{}", init.pipe, if arrow { "->" } else { "." })
}

/// The last member of the class that is a queue or a buffer.
pub(crate) fn last_member<'a>(context: &Context, kernel: &'a Kernel) -> Option<&'a FileSpan> {
    let class_level = |place: &&FileSpan| {
        context.forest.get(&place.file).is_some_and(|file| {
            file.enclosing_class(place.start).is_some_and(|class| class.name == kernel.name)
                && file.enclosing_function(place.start).is_none()
        })
    };
    let queues = kernel.queues.values().map(|queue| &queue.declaration);
    kernel.buffers.values().chain(queues).filter(class_level).max()
}

/// The value of the number of an `InitBuffer`: a literal or a named constant.
pub(crate) fn number_of_buffers(context: &Context, text: &str) -> Option<i64> {
    let named = || context.facts.known.value(name_of(text)).filter(|_| squash(text).ends_with(name_of(text)));
    parse_integer(text).or_else(named)
}

/// The constant that a number is given as.
pub(crate) fn name_of(text: &str) -> &str {
    base_name(text.rsplit("::").next().unwrap_or(text))
}
