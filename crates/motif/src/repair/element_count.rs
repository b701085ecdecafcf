//! A reduction that is given how many times the vector unit shall repeat, as the instruction below it wants it, where the function
//! wants to know how many elements there are: that is what the mask was set to.

use std::ops::Range;

use super::mend::{Mend, MendKind};
use crate::analysis::code::{block_of, squash, words};
use crate::context::Context;
use crate::rewrite::edits::edit;
use source::lex::{PieceKind, pieces};
use source::parse::{Call, SyntaxFile};

/// Functions that take destination, source, work space and the number of elements.
const REDUCTIONS: [&str; 3] = ["ReduceSum", "ReduceMax", "ReduceMin"];
/// Calls that leave mask and mode alone: they order, or move single values about. What else may do, nobody knows.
const LEAVES_THE_MASK: [&str; 13] = [
    "PipeBarrier",
    "SetFlag",
    "WaitFlag",
    "FetchEventID",
    "AllocEventID",
    "ReleaseEventID",
    "GetTPipePtr",
    "GetAccVal",
    "GetValue",
    "SetValue",
    "GetPhyAddr",
    "static_cast",
    "reinterpret_cast",
];

/// Every reduction whose number of elements is not what the vector mask was set to in counter mode.
pub fn element_counts(context: &Context) -> Vec<Mend> {
    let mut found = Vec::new();
    for file in context.forest.iter() {
        for call in file.calls().iter().filter(|call| is_reduction(call)) {
            let Some(wanted) = masked_elements(file, call) else { continue };
            let given = call.arguments[3].clone();
            let text = file.slice(&given).trim();
            if squash(text) == squash(wanted) {
                continue;
            }
            let title = format!("{} of {wanted} elements, not of {text}", call.name);
            found.push(Mend::new(MendKind::ElementCount, file, &call.span, title, vec![edit(file, given, wanted)]));
        }
    }
    found
}

fn is_reduction(call: &Call) -> bool {
    let plain = call.object.is_none() && matches!(call.scope.as_str(), "" | "AscendC");
    plain && REDUCTIONS.contains(&call.name.as_str()) && call.arguments.len() == 4
}

/// What the mask is set to where a reduction runs, if it is in counter mode there: nothing in between may change one of them.
fn masked_elements<'file>(file: &'file SyntaxFile, reduction: &Call) -> Option<&'file str> {
    let function = file.enclosing_function(reduction.span.start)?;
    let before = |name: &str, end: usize| {
        let calls = file.calls_in(function.body.clone()).filter(|call| call.name == name && call.span.end <= end);
        calls.max_by_key(|call| call.span.start)
    };
    let mask = before("SetVectorMask", reduction.span.start)?;
    let mode = before("SetMaskCount", mask.span.start)?;
    let surrounds = |call: &Call| {
        let block = call.statement.as_ref().and_then(|statement| block_of(file, statement));
        block.is_some_and(|block| block.contains(&reduction.span.start))
    };
    let [high, low] = &mask.arguments[..] else { return None };
    let zero = matches!(file.slice(high).trim().trim_end_matches(['u', 'U', 'l', 'L']), "0" | "0x0");
    if !(surrounds(mask) && surrounds(mode) && zero) {
        return None;
    }
    // In a loop that begins behind them, what follows the reduction comes before it as well.
    let loops =
        file.loops().iter().filter(|one| one.span.contains(&reduction.span.start) && one.span.start >= mask.span.end);
    let end = loops.map(|one| one.span.end).fold(reduction.span.end, usize::max);
    let leaves = |call: &Call| {
        let name = call.name.as_str();
        call.span == mask.span || is_reduction(call) || LEAVES_THE_MASK.contains(&name)
    };
    let wanted = file.slice(low).trim();
    let untouched = file.calls_in(mode.span.end..end).all(leaves);
    (untouched && !changes(file, mask.span.end..end, wanted)).then_some(wanted)
}

/// Whether a text may give a name of an expression another value.
fn changes(file: &SyntaxFile, span: Range<usize>, expression: &str) -> bool {
    let text = file.slice(&span);
    let names = words(expression);
    let code: Vec<_> = pieces(text)
        .into_iter()
        .filter(|piece| piece.kind != PieceKind::Comment)
        .map(|piece| &text[piece.span])
        .collect();
    code.iter().enumerate().filter(|(_, piece)| names.contains(piece)).any(|(at, _)| {
        let after = code.get(at + 1..).unwrap_or_default().concat();
        let before = code[..at].concat();
        let assigned = ["=", "+=", "-=", "*=", "/=", "%=", "++", "--"].iter().any(|sign| after.starts_with(sign));
        assigned && !after.starts_with("==")
            || before.ends_with("++")
            || before.ends_with("--")
            || before.ends_with('&')
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{context, mended};
    use super::*;

    const KERNEL: &str = "class K {\n    void Run(int rows)\n    {\n        for (int row = 0; row < rows; row++) {\n            AscendCUtils::SetMaskCount<float>();\n            SetVectorMask<float>(0x0, columns);\n            ReduceSum(y, y, y, 1);\n            float sum = y.GetValue(0);\n            SetMaskNorm();\n            Adds(y, x, -sum, columns);\n        }\n    }\n};\n";

    fn found(from: &str, to: &str) -> Vec<Mend> {
        let text = KERNEL.replace(from, to);
        assert!(from == to || text != KERNEL, "{from}");
        element_counts(&context(&text))
    }

    #[test]
    fn a_reduction_is_told_the_number_of_elements() {
        let context = context(KERNEL);
        let mends = element_counts(&context);
        assert_eq!(mended(&context, &mends), KERNEL.replace("y, y, y, 1", "y, y, y, columns"));
        let [mend] = &mends[..] else { panic!("{mends:?}") };
        assert_eq!((mend.line, mend.title.as_str()), (7, "ReduceSum of columns elements, not of 1"));
    }

    #[test]
    fn other_ways_to_write_it_are_the_same() {
        assert_eq!(found("AscendCUtils::SetMaskCount<float>()", "AscendC::SetMaskCount()").len(), 1);
        assert_eq!(
            found("SetVectorMask<float>(0x0", "AscendC::SetVectorMask<float, AscendC::MaskMode::COUNTER>(0").len(),
            1
        );
        assert_eq!(found("ReduceSum(y, y, y, 1)", "AscendC::ReduceMax(y, y, w, repeats)").len(), 1);
        let looped = "for (int i = 0; i < rows; i++) {\n ReduceSum(y[i], y[i], y[i], 1);\n PipeBarrier<PIPE_V>();\n}";
        assert_eq!(found("ReduceSum(y, y, y, 1);", looped).len(), 1, "the mask is that of all iterations");
    }

    #[test]
    fn what_is_right_or_not_understood_stays() {
        let none = |what: &str, from: &str, to: &str| assert_eq!(found(from, to), [], "{what}");
        none("right", "y, y, y, 1", "y, y, y, columns");
        none("with repeats", "y, y, y, 1)", "y, y, y, 1, 2, 8)");
        none("another function", "ReduceSum(y, y, y, 1)", "WholeReduceSum(y, y, y, 1)");
        none("not in counter mode", "AscendCUtils::SetMaskCount<float>();", "");
        none("a mask of bits", "(0x0, columns)", "(columns, columns)");
        none("another mode since", "ReduceSum", "SetMaskNorm();\n ReduceSum");
        none("who knows what", "ReduceSum", "Prepare(y);\n ReduceSum");
        none("another number since", "ReduceSum", "columns = 2;\n ReduceSum");
        none("and counted on", "ReduceSum", "columns++;\n ReduceSum");
        let branch = "if (rows > 1) {\n SetVectorMask<float>(0, columns);\n }";
        none("on some ways only", "SetVectorMask<float>(0x0, columns);", branch);
        let looped = "for (int i = 0; i < rows; i++) {\n ReduceSum(y, y, y, 1);\n Abs(y, y, 8);\n}";
        none("another mask in the next iteration", "ReduceSum(y, y, y, 1);", looped);
    }
}
