//! Whether a text may change what a name stands for.

use crate::analysis::code::words;
use source::lex::{PieceKind, pieces};

/// Member functions of queues, buffers and tensors, which leave the object what it is; what they do to data is asked elsewhere.
const OF_OBJECTS: &[&str] = &[
    "AllocTensor",
    "FreeTensor",
    "EnQue",
    "DeQue",
    "Get",
    "GetWithOffset",
    "GetValue",
    "SetValue",
    "GetSize",
    "GetLength",
    "GetPhyAddr",
    "GetShapeInfo",
    "GetBufferAddr",
    "GetPosition",
    "ReinterpretCast",
    "InitBuffer",
    "SetFlag",
    "WaitFlag",
    "GetDataPtr",
    "GetDesc",
    "GetShape",
    "GetDim",
    "template",
    "HasTensorInQue",
    "VacantInQue",
    "GetTensorCountInQue",
];

/// Whether a text assigns to a name or to a part of it, steps it, asks a function of it that may change it, makes a
/// reference or a pointer to it, or hands it to a function that swaps.
pub(crate) fn assigns(text: &str, name: &str) -> bool {
    let tokens: Vec<(PieceKind, &str, usize)> = pieces(text)
        .into_iter()
        .filter(|token| token.kind != PieceKind::Comment)
        .map(|token| (token.kind, &text[token.span.clone()], token.span.start))
        .collect();
    let named = |(kind, word, _): &(PieceKind, &str, usize)| *kind == PieceKind::Word && *word == name;
    tokens.iter().enumerate().filter(|(_, token)| named(token)).any(|(index, _)| changed_at(&tokens, index))
        || tokens
            .iter()
            .any(|(kind, directive, _)| *kind == PieceKind::Directive && words(&directive[1..]).contains(&name))
}

/// Whether an expression has the same value everywhere in the text: no name in it is assigned there, and it calls nothing
/// but size queries and casts.
pub(crate) fn invariant(expression: &str, text: &str) -> bool {
    const PURE: &[&str] = &[
        "static_cast",
        "sizeof",
        "sqrt",
        "GetSize",
        "GetBlockIdx",
        "GetBlockNum",
        "half",
        "float",
        "int32_t",
        "uint32_t",
        "T",
    ];
    let tokens = pieces(expression);
    let calls_nothing = tokens.windows(2).all(|pair| {
        let open = &expression[pair[1].span.clone()] == "(";
        !(open && pair[0].kind == PieceKind::Word) || PURE.contains(&&expression[pair[0].span.clone()])
    });
    let indexed = tokens.iter().any(|token| matches!(&expression[token.span.clone()], "[" | "="));
    let stepped = expression.contains("++") || expression.contains("--");
    calls_nothing && !indexed && !stepped && words(expression).iter().all(|word| !assigns(text, word))
}

fn changed_at(tokens: &[(PieceKind, &str, usize)], index: usize) -> bool {
    let at = |index: usize| tokens.get(index).map_or("", |(_, word, _)| *word);
    // What stands behind the name and the parts of it that are named: `a.b`, `a->b`, `a[i]`.
    let mut next = index + 1;
    loop {
        match (at(next), at(next + 1)) {
            ("[", _) => next = closing(tokens, next),
            (".", _) => next += 2,
            ("-", ">") => next += 3,
            _ => break,
        }
    }
    let member_called = next > index + 1 && matches!(at(next), "(" | "<") && !at(next - 1).ends_with(']');
    if member_called && !OF_OBJECTS.contains(&at(next - 1)) && (at(next) == "(" || template_call(tokens, next)) {
        return true;
    }
    let plain = at(next) == "=" && at(next + 1) != "=";
    let compound = matches!(at(next), "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^") && at(next + 1) == "=";
    let shifted = matches!((at(next), at(next + 1), at(next + 2)), ("<", "<", "=") | (">", ">", "="));
    let adjacent = tokens.get(next).zip(tokens.get(next + 1)).is_some_and(|(left, right)| left.2 + 1 == right.2);
    let stepped = adjacent && matches!((at(next), at(next + 1)), ("+", "+") | ("-", "-"));
    // What stands before `this->name` counts.
    let mut first = index;
    while first >= 3 && (at(first - 3), at(first - 2), at(first - 1)) == ("this", "-", ">") {
        first -= 3;
    }
    let before = |back: usize| first.checked_sub(back).map_or("", at);
    let stepped_before = matches!((before(2), before(1)), ("+", "+") | ("-", "-"));
    // `a & b` is no address; `&b` is one, and so is `(b)` after a sign of reference.
    let operand = |word: &str| {
        matches!(word, ")" | "]")
            || word.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let address = before(1) == "&" && before(2) != "&" && !(operand(before(2)) && before(2) != "return");
    let bound = matches!(before(1), "=" | "{" | "(" | ":") && {
        let name = first.checked_sub(2).map(at).unwrap_or_default();
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.is_empty();
        // A type before the sign: `auto &part = whole`, not `(a & b)`.
        is_name && before(3) == "&" && (operand(before(4)) || before(4) == ">") && before(4) != ")" && before(1) != "("
    };
    let swapped = {
        let mut open = first;
        let mut depth = 0usize;
        // The call that the name is an argument of.
        loop {
            let Some(back) = open.checked_sub(1) else { break false };
            open = back;
            match at(open) {
                ")" => depth += 1,
                "(" if depth == 0 => break matches!(at(open.wrapping_sub(1)), "swap" | "tie" | "exchange" | "Swap"),
                "(" => depth -= 1,
                ";" | "{" | "}" => break false,
                _ => {}
            }
        }
    };
    plain || compound || shifted || stepped || stepped_before || address || bound || swapped
}

/// One past the bracket that closes the one at `open`.
fn closing(tokens: &[(PieceKind, &str, usize)], open: usize) -> usize {
    let mut depth = 0usize;
    for (index, (_, word, _)) in tokens.iter().enumerate().skip(open) {
        match *word {
            "[" => depth += 1,
            "]" => {
                depth -= 1;
                if depth == 0 {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// Whether an angle bracket opens the template arguments of a call.
fn template_call(tokens: &[(PieceKind, &str, usize)], open: usize) -> bool {
    let mut rest = tokens.iter().skip(open + 1).map(|(_, word, _)| *word);
    let closed = rest.by_ref().find(|word| matches!(*word, ">" | ";" | "(" | ")" | "&" | "|"));
    closed == Some(">") && rest.next() == Some("(")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_change_a_name_is_seen() {
        for text in [
            "n = 1;",
            "n += 1;",
            "n <<= 1;",
            "n >>= 1;",
            "n %= k;",
            "n++;",
            "--n;",
            "--this->n;",
            "this->n = 2;",
            "n.rows = 2;",
            "n->rows = 2;",
            "n[3] = 2;",
            "n.rows[k] += 2;",
            "n.Next();",
            "n.Step<2>();",
            "f(&n);",
            "f(k, &this->n);",
            "auto &part = n;",
            "uint32_t &part = this->n;",
            "const T<U> &part = n;",
            "int *place = &n;",
            "std::swap(k, n);",
            "return &n;",
            "for (auto &part : n) {}",
            "#define STEP n = 2\n",
        ] {
            assert!(assigns(text, "n"), "{text}");
        }
    }

    #[test]
    fn what_only_reads_a_name_changes_nothing() {
        for text in [
            "k = n;",
            "k = n == 2;",
            "k = n << 2;",
            "k = n >> 2;",
            "if (n <= 2 && n >= 1) {}",
            "k = a & n;",
            "k = a && n;",
            "k = (a + b) & n;",
            "f(n);",
            "k = n + +1;",
            "n.GetValue(0);",
            "n.template DeQue<float>();",
            "k = n < a;",
            "for (uint32_t i = 0; i < n; i++) {}",
            "const uint32_t k = n;",
            "k[n] = 2;",
            "// n = 2\n",
            "other.name = n;",
        ] {
            assert!(!assigns(text, "n"), "{text}");
        }
    }
}
