//! Tests of the constraint language.

use super::*;

struct Values;

impl Environment for Values {
    fn integer(&self, tunable: usize) -> i128 {
        [8, 3][tunable]
    }
    fn text(&self, _: usize) -> &str {
        "norm"
    }
    fn fact(&self, _: usize) -> i128 {
        i128::MAX
    }
}

fn resolve(name: &str) -> Option<Symbol> {
    match name {
        "TILE" => Some(Symbol::Tunable(0)),
        "DEPTH" => Some(Symbol::Tunable(1)),
        "MODE" => Some(Symbol::TextTunable(2)),
        "huge" => Some(Symbol::Fact(0)),
        _ => None,
    }
}

fn holds(text: &str) -> Result<bool, EvaluationError> {
    Expression::parse(text, &resolve).expect("parses").holds(&Values)
}

#[test]
fn arithmetic_and_logic() {
    for text in [
        "TILE * DEPTH == 24",
        "TILE - 2 * DEPTH + 1 == 3 && !(TILE < DEPTH)",
        "ceil_div(TILE, DEPTH) == 3 && align_up(TILE, 3) == 9",
        "min(TILE, DEPTH, 2) == 2 && max(TILE, DEPTH) == TILE",
        "-7 / 2 == -4 && -7 % 2 == 1 && 0x10 == 1_6",
        "MODE == 'norm' || TILE == 0",
        "MODE != 'count'",
        "(TILE == 8) == true",
    ] {
        assert_eq!(holds(text), Ok(true), "{text}");
    }
    assert_eq!(holds("TILE / (DEPTH - 3) == 0"), Err(EvaluationError::DivisionByZero));
    assert_eq!(holds("huge * 2 > 0"), Err(EvaluationError::Overflow));
    assert_eq!(holds("TILE == 8 || huge * 2 > 0"), Ok(true), "the right side is not needed");
}

#[test]
fn mistakes_point_at_the_bytes() {
    for (text, span, words) in [
        ("TILE * 4 <= ub_byte", 12..19, "neither a tunable"),
        ("TILE = 4", 5..6, "write `==`"),
        ("TILE * 4", 0..8, "must be true or false"),
        ("TILE <= ", 8..8, "ends too early"),
        ("MODE < 'a'", 0..10, "compared with a text"),
        ("MODE + 1 == 2", 0..4, "needs integers"),
        ("clamp(TILE) == 2", 0..5, "no function"),
        ("ceil_div(TILE) == 2", 0..14, "two arguments"),
        ("TILE == 8 8", 10..11, "expected an operator"),
        ("TILE == 99999999999999999999999999999999999999999", 8..49, "not an integer"),
        ("TILE § 8", 5..7, "unexpected character"),
    ] {
        let error = Expression::parse(text, &resolve).expect_err(text);
        assert_eq!(error.span, span, "{text}");
        assert!(error.message.contains(words), "{text}: {}", error.message);
    }
    let nested = format!("{}TILE{} == 8", "(".repeat(500), ")".repeat(500));
    assert!(Expression::parse(&nested, &resolve).is_err());
}

proptest::proptest! {
    #[test]
    fn any_text_is_survived(text in "[A-Z0-9a-z()+*/%<>=!&|,' §-]{0,40}") {
        match Expression::parse(&text, &resolve) {
            Ok(expression) => drop(expression.holds(&Values)),
            Err(error) => assert!(text.get(error.span).is_some(), "{text}"),
        }
    }
}
