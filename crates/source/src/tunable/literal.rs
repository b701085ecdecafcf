//! Integer literals and constant expressions of literals, with the form they are written in.

use crate::constant::{ConstantExpression, ConstantValue, IntegerType, Names, NumberType};

/// Suffix of an integer literal (`U`, `UL`, ..).
pub fn suffix(text: &str) -> &str {
    &text[text.trim_end_matches(['u', 'U', 'l', 'L', 'z', 'Z']).len()..]
}

/// `value` written like the literal `like`: same base, same suffix.
pub fn written_like(value: i64, like: &str) -> String {
    let suffix = suffix(like);
    let hexadecimal = like.starts_with("0x") || like.starts_with("0X");
    if hexadecimal && value >= 0 { format!("{}{value:x}{suffix}", &like[..2]) } else { format!("{value}{suffix}") }
}

/// Value of an expression of integer literals alone: one that a number can stand for without a loss.
pub fn constant_expression(words: &[&str]) -> Option<i64> {
    let value = ConstantExpression::of_words(words).ok()?.value(&Literals).ok()?;
    // A letter or a truth value is not written as a number.
    let is_number = value.kind() != NumberType::Integer(IntegerType::BOOL)
        && !words.iter().any(|word| word.ends_with('\'') || matches!(*word, "true" | "false"));
    value.as_integer().filter(|_| is_number)
}

/// No names and no types: `sizeof` would be lost where a number took its place.
struct Literals;

impl Names for Literals {
    fn value(&self, _name: &str) -> Option<ConstantValue> {
        None
    }

    fn type_bytes(&self, _name: &str) -> Option<i64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_keep_their_form() {
        assert_eq!(written_like(32, "16U"), "32U");
        assert_eq!(written_like(128, "0x40"), "0x80");
    }

    #[test]
    fn expressions_of_literals() {
        let value = |text: &str| constant_expression(&text.split_whitespace().collect::<Vec<_>>());
        assert_eq!(value("8 * 1024"), Some(8192));
        assert_eq!(value("( 1 << 4 ) + 2 * 3U"), Some(22));
        assert_eq!(value("static_cast < uint32_t > ( 48 )"), Some(48));
        assert_eq!(value("LENGTH * 2"), None);
        assert_eq!(value("8 *"), None);
        assert_eq!(value("1 / 0"), None);
    }
}
