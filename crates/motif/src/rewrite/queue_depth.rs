//! The depth of a queue, in its declaration.

use crate::rewrite::edits::edit;
use source::Edit;
use source::facts::Queue;
use source::parse::SyntaxFile;

/// Replaces the depth in the declaration.
pub(crate) fn depth_set(file: &SyntaxFile, queue: &Queue, depth: &str) -> Result<Vec<Edit>, String> {
    let text = file.slice(&queue.declaration.span());
    let end = text.rfind('>').ok_or("the declaration has no template arguments")?;
    let start = text[..end].rfind(&queue.depth).ok_or("the depth is not written in the declaration")?;
    if !text[start + queue.depth.len()..end].trim().is_empty() || text[..end].contains("//") {
        return Err("the depth is not the last template argument".to_owned());
    }
    let start = queue.declaration.start + start;
    Ok(vec![edit(file, start..start + queue.depth.len(), depth)])
}
