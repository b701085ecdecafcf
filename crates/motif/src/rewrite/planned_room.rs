//! How much of the unified buffer a tiling function plans with: what it asks of the platform, less a limit behind the call.

use crate::context::Context;
use crate::context::unified_buffer::UNIFIED_BUFFER_BYTES;
use crate::rewrite::edits::edit;
use source::Edit;
use source::tunable::lexer::Tokens;
use source::tunable::{ASKING, SiteForm, asked_size, limit_asked};

/// Edits after which every tiling function plans with half of what it plans with now.
pub(crate) fn halve(context: &Context) -> Result<Vec<Edit>, String> {
    change(context, |bytes| Some(bytes / 2))
}

/// Edits after which every tiling function plans with two thirds of the unified buffer at most, so that there is room for something
/// beside its tiles; tiles of whole periods of the banks remain such. Refused where it plans with no more.
pub(crate) fn leave_a_third(context: &Context) -> Result<Vec<Edit>, String> {
    change(context, |bytes| Some(UNIFIED_BUFFER_BYTES / 3 * 2).filter(|less| *less < bytes))
}

/// Edits that undo [`halve`].
pub(crate) fn double(context: &Context) -> Result<Vec<Edit>, String> {
    change(context, |bytes| Some(bytes * 2).filter(|bytes| *bytes <= UNIFIED_BUFFER_BYTES))
}

fn change(context: &Context, to: impl Fn(i64) -> Option<i64>) -> Result<Vec<Edit>, String> {
    let mut edits = Vec::new();
    // Taking a file apart costs more than all else here, and few ask.
    for file in context.forest.iter().filter(|file| file.text().contains(ASKING)) {
        let tokens = Tokens::of(file.text());
        for position in 0..tokens.tokens.len() {
            let Some(asked) = asked_size(file.name(), &tokens, position) else { continue };
            let SiteForm::Asked { variable, line } = &asked.site.form else { continue };
            let present = asked.site.value.and_then(|limit| limit.as_int()).unwrap_or(UNIFIED_BUFFER_BYTES);
            let bytes = to(present).ok_or("the tiling function plans with another part of the unified buffer")?;
            let limit = if bytes < UNIFIED_BUFFER_BYTES { limit_asked(variable, line, bytes) } else { String::new() };
            edits.push(edit(file, asked.site.span, limit));
        }
    }
    if edits.is_empty() {
        Err("no tiling function asks for the size of the unified buffer".to_owned())
    } else {
        Ok(edits)
    }
}
