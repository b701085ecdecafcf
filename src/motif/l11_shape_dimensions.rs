//! L11: tensors without room for a shape that nobody asks for.

use super::code::edit;
use super::context::{Candidate, Context, Counter, Family, Motif};
use super::entry::{device_files, entries, foreign_header, mention};
use crate::source::parse::{SyntaxFile, TokenKind, lex};

/// What stores or reads shapes of tensors.
const SHAPES: &[&str] =
    &["ShapeInfo", "SetShapeInfo", "GetShapeInfo", "GetShape", "NdDataCopy", "SliceInfo", "K_MAX_SHAPE_DIM"];

const LINE: &str = "#define K_MAX_SHAPE_DIM 0\n";

/// The motif.
pub struct NoShapes;

impl Motif for NoShapes {
    fn id(&self) -> &'static str {
        "L11"
    }
    fn title(&self) -> &'static str {
        "tensors without shape information"
    }
    fn family(&self) -> Family {
        Family::Launch
    }
    fn precondition(&self) -> &'static str {
        "nothing in the device sources stores or reads the shape of a tensor, and every header is one of the operator's or of the basic API; the macro is \
         defined before the first header of the file with the entry function"
    }
    fn cost(&self) -> &'static str {
        "nothing"
    }
    fn undoing(&self) -> &'static str {
        "drop the macro"
    }
    fn seen_by_model(&self) -> bool {
        false
    }
    fn relieves(&self) -> &'static [Counter] {
        &[Counter::ScalarUs]
    }
    fn prior_gain(&self) -> f64 {
        1.01
    }

    fn candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for file in entry_files(context) {
            let Some(first) = first_include(file) else { continue };
            if device_files(context).any(|file| file.text().contains("K_MAX_SHAPE_DIM")) {
                continue;
            }
            let edits = match (mention(context, SHAPES), foreign_header(context)) {
                (Some((word, place)), _) => Err(format!("{place}: {word} needs the shape of a tensor")),
                (_, Some(header)) => Err(format!("{header} is not part of these sources and may need shapes")),
                _ => Ok(vec![edit(file, first..first, LINE)]),
            };
            found.push(Candidate::new(file, &(first..first), "no shape in tensors", edits));
        }
        found
    }

    fn rewind_candidates(&self, context: &Context) -> Vec<Candidate> {
        let mut found = Vec::new();
        for file in entry_files(context) {
            let Some(start) = file.text().find(LINE) else { continue };
            let span = start..start + LINE.len();
            let own_line = start == 0 || file.text()[..start].ends_with('\n');
            let edits = if own_line {
                Ok(vec![edit(file, span.clone(), "")])
            } else {
                Err("the macro shares its line".to_owned())
            };
            found.push(Candidate::new(file, &span, "shapes in tensors", edits));
        }
        found
    }
}

fn entry_files(context: &Context) -> Vec<&SyntaxFile> {
    let mut files: Vec<&SyntaxFile> = entries(context).into_iter().map(|(file, _)| file).collect();
    files.dedup_by_key(|file| file.name());
    files
}

/// Start of the line of the first `#include`.
fn first_include(file: &SyntaxFile) -> Option<usize> {
    let includes = |token: &crate::source::parse::Token| {
        token.kind == TokenKind::Directive
            && file.slice(&token.span).trim_start_matches('#').trim_start().starts_with("include")
    };
    let start = lex(file.text()).into_iter().find(includes)?.span.start;
    (start == 0 || file.text()[..start].ends_with('\n')).then_some(start)
}
