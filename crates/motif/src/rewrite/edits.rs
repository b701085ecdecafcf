//! Edits that many motifs make: text at a place, lines behind a statement, a scratch tensor put in, a header included.

use std::ops::Range;

use crate::analysis::code::{VectorCall, unused_scratch};
use crate::site::Candidate;
use source::Edit;
use source::facts::TensorFacts;
use source::lex::{PieceKind, pieces};
use source::parse::{SyntaxFile, removal_with_comments};

/// An edit of one file.
pub(crate) fn edit(file: &SyntaxFile, span: Range<usize>, replacement: impl Into<String>) -> Edit {
    Edit { file: file.name().to_owned(), span, replacement: replacement.into() }
}

/// Deletes a statement for good, with the comments that are about nothing else.
pub(crate) fn deleted(file: &SyntaxFile, statement: &Range<usize>) -> Edit {
    edit(file, removal_with_comments(file, statement), "")
}

/// Inserts lines after the line of a statement, indented like it. `None` if the statement shares its lines.
pub(crate) fn insert_after(file: &SyntaxFile, statement: &Range<usize>, lines: &[String]) -> Option<Edit> {
    let whole = file.whole_lines(statement)?;
    let indentation = file.indentation(statement.start);
    let text: String = lines.iter().map(|line| format!("{indentation}{line}\n")).collect();
    file.slice(&whole).ends_with('\n').then(|| edit(file, whole.end..whole.end, text))
}

/// One candidate for every unused scratch tensor, or one that says that there is none.
pub(crate) fn with_each_scratch(
    file: &SyntaxFile,
    call: &VectorCall<'_>,
    tensors: &TensorFacts,
    note: &str,
    text: impl Fn(&str) -> String,
) -> Vec<Candidate> {
    let element = tensors.tensors.get(call.destination).map_or("", |tensor| tensor.element.as_str());
    let same_type =
        call.sources.iter().all(|source| tensors.tensors.get(*source).is_some_and(|source| source.element == element));
    let scratches = if same_type { unused_scratch(tensors, element) } else { Vec::new() };
    if scratches.is_empty() {
        let reason = "no unused scratch tensor of the same type is declared in the function".to_owned();
        return vec![Candidate::new(file, &call.call.span, note, Err(reason))];
    }
    let candidate = |scratch: &str| {
        Candidate::new(
            file,
            &call.call.span,
            format!("{note} through {scratch}"),
            Ok(vec![edit(file, call.call.span.clone(), text(scratch))]),
        )
    };
    scratches.into_iter().map(candidate).collect()
}

/// The line that includes a header, which is named with its quotes or brackets, if the file does not yet.
pub(crate) fn included(file: &SyntaxFile, header: &str) -> Result<Option<Edit>, String> {
    let text = file.text();
    if text.contains(header.trim_matches('"')) {
        return Ok(None);
    }
    let includes = |token: &source::lex::Piece| {
        token.kind == PieceKind::Directive
            && file.slice(&token.span).trim_start_matches('#').trim_start().starts_with("include")
    };
    let last = pieces(text).into_iter().rfind(includes).ok_or("the file includes nothing")?;
    let end = text[last.span.end..].find('\n').ok_or("the file ends in a directive")? + last.span.end + 1;
    Ok(Some(edit(file, end..end, format!("#include {header}\n"))))
}
