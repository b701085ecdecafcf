//! Kernels in raw literals, as programs have them that compile while they run. Pieces of a text go on in such a literal, so that all
//! that reads a text by its pieces finds the code there as it finds any other; here is where it stands.

use std::ops::Range;

use super::scan::{KERNEL_WORD, Piece, PieceKind, pieces};

/// A kernel in a raw literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedKernel {
    /// The code between the quotes.
    pub body: Range<usize>,
    /// What stands before it of the statement that has the literal.
    pub front: Range<usize>,
    /// What stands behind it of that statement, with the semicolon.
    pub back: Range<usize>,
    /// How many braces are open where the statement stands.
    pub depth: usize,
}

/// Kernels in the raw literals of a text, in its order.
pub fn embedded_kernels(text: &str) -> Vec<EmbeddedKernel> {
    if !text.contains(KERNEL_WORD) || !text.contains("R\"") {
        return Vec::new();
    }
    let pieces = pieces(text);
    let marks: Vec<&Piece> = pieces.iter().filter(|piece| is_mark(text, piece)).collect();
    let bodies: Vec<Range<usize>> = marks.chunks_exact(2).map(|pair| pair[0].span.end..pair[1].span.start).collect();
    let is_outside = |piece: &&Piece| !bodies.iter().any(|body| body.contains(&piece.span.start));
    let outside: Vec<&Piece> = pieces.iter().filter(is_outside).collect();
    let word = |piece: &Piece| &text[piece.span.clone()];
    let kernel = |body: Range<usize>| {
        let before: Vec<&Piece> = outside.iter().copied().take_while(|piece| piece.span.end <= body.start).collect();
        let ends = |piece: &&Piece| {
            piece.kind == PieceKind::Directive || piece.kind == PieceKind::Punctuation && ";{}".contains(word(piece))
        };
        let start = before.iter().rposition(ends).map_or(0, |at| before[at].span.end);
        let end = outside.iter().find(|piece| piece.span.start >= body.end && word(piece) == ";");
        let count = |brace: &str| before.iter().filter(|piece| word(piece) == brace).count();
        let back = body.end..end.map_or(text.len(), |piece| piece.span.end);
        EmbeddedKernel { front: start..body.start, back, depth: count("{").saturating_sub(count("}")), body }
    };
    bodies.iter().cloned().map(kernel).collect()
}

/// Whether all kernels' entries of a text stand in raw literals, so that the text itself is code of the host.
pub fn only_embedded_kernels(text: &str) -> bool {
    let kernels = embedded_kernels(text);
    let mut entries = text.match_indices(KERNEL_WORD);
    !kernels.is_empty() && entries.all(|(at, _)| kernels.iter().any(|kernel| kernel.body.contains(&at)))
}

/// Whether a piece is one end of such a literal: comments begin otherwise.
fn is_mark(text: &str, piece: &Piece) -> bool {
    piece.kind == PieceKind::Comment && !text[piece.span.clone()].starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::{Include, compiles_at_run_time, includes, tokens};

    #[test]
    fn kernels_in_raw_literals_are_code_and_other_texts_are_not() {
        const COMMENT: &str = "// R\"(\n__global__)\"\n";
        let text = "const char* a = R\"(\nplain)\";\nvoid f() {\nconst char* k = R\"--(\n#include \"x.h\"\n__global__ void f() {}\n)--\";\n\
                    int after; // R\"(\n__global__)\"\naclrtcCompileProg(p, 0, o); }\n";
        let found = embedded_kernels(text);
        let [kernel] = &found[..] else { panic!("{found:?}") };
        let of = |span: &Range<usize>| text[span.clone()].trim().to_owned();
        assert_eq!(of(&kernel.body), "#include \"x.h\"\n__global__ void f() {}");
        assert_eq!((of(&kernel.front).as_str(), of(&kernel.back).as_str()), ("const char* k = R\"--(", ")--\";"));
        assert_eq!(kernel.depth, 1);
        let found: Vec<&str> = tokens(text).iter().map(|token| token.text(text)).collect();
        assert!(found.contains(&"f") && found.contains(&"R\"(\nplain)\""), "{found:?}");
        assert!(found.windows(2).any(|pair| pair == ["}", ";"]) && found.contains(&"after"), "{found:?}");
        assert_eq!(includes(text), [Include::Quoted("x.h".to_owned())]);
        assert!(only_embedded_kernels(&text.replace(COMMENT, "\n")));
        assert!(!only_embedded_kernels(text) && !only_embedded_kernels(""));
        assert!(compiles_at_run_time(text) && !compiles_at_run_time("// aclrtcCompileProg(p)\nint aclrtcCompileProg;"));
        for open in ["R\"(\n__global__ void f() {}", "R\"x(\n__global__ )\"", "R\"__global__\n"] {
            assert!(embedded_kernels(open).is_empty(), "{open}");
        }
    }
}
