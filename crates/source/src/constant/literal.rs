//! Literals with the types that the language gives them.

use super::types::{IntegerType, NumberType};
use super::value::ConstantValue;

/// Value of an integer literal such as `16`, `0x40u`, `4'096UL`; `None` for anything else.
pub fn integer(text: &str) -> Option<i64> {
    if text.starts_with(|first: char| first.is_ascii_digit()) { literal(text)?.as_integer() } else { None }
}

/// Value of a number, a character or a truth value; `None` for anything else.
pub fn literal(text: &str) -> Option<ConstantValue> {
    match text {
        "true" => Some(ConstantValue::truth(true)),
        "false" => Some(ConstantValue::truth(false)),
        _ if text.ends_with('\'') => character(text),
        _ => number(text),
    }
}

fn number(text: &str) -> Option<ConstantValue> {
    let lower = text.to_ascii_lowercase();
    if !lower.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let (base, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        _ if lower.len() > 1
            && lower.as_bytes()[1].is_ascii_digit() | (lower.as_bytes()[1] == b'\'')
            && lower.starts_with('0')
            && !lower.contains(['.', 'e', 'f']) =>
        {
            (8, &lower[1..])
        }
        _ => (10, lower.as_str()),
    };
    if base == 10 && lower.contains(['.', 'e', 'f']) {
        return floating(&lower);
    }
    let end = digits.find(|letter: char| !(letter.is_digit(base) || letter == '\'')).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    let (unsigned, widest) = match suffix {
        "" => (false, false),
        "u" => (true, false),
        "l" | "ll" | "z" => (false, true),
        "ul" | "lu" | "ull" | "llu" | "uz" | "zu" => (true, true),
        _ => return None,
    };
    let separated = |digits: &str| digits.ends_with('\'') || digits.contains("''");
    // Behind the prefix of an octal number a separator may stand, behind the others none.
    if separated(digits) || (base != 8 && digits.starts_with('\'')) {
        return None;
    }
    let digits = digits.replace('\'', "");
    let value = i128::from(u64::from_str_radix(&digits, base).ok()?);
    let types = [IntegerType::I32, IntegerType::U32, IntegerType::I64, IntegerType::U64];
    // Decimal literals without a suffix are never unsigned.
    let allowed = |kind: &IntegerType| {
        (!widest || kind.bits == 64) && if unsigned { !kind.signed } else { kind.signed || base != 10 }
    };
    let kind = types.into_iter().filter(allowed).find(|kind| kind.holds(value))?;
    Some(ConstantValue::Integer { value, kind })
}

fn floating(lower: &str) -> Option<ConstantValue> {
    let (digits, kind) = match lower.strip_suffix('f') {
        Some(digits) => (digits, NumberType::Single),
        None => (lower.strip_suffix('l').unwrap_or(lower), NumberType::Double),
    };
    // `1f` is no literal: without a point or an exponent there is no fraction to have a suffix.
    let plain = digits.contains(['.', 'e']) && !digits.starts_with('\'') && !digits.ends_with('\'');
    let valid = digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'+' | b'-' | b'\''));
    if !plain || !valid {
        return None;
    }
    let digits = digits.replace('\'', "");
    match kind {
        NumberType::Single => {
            let value: f32 = digits.parse().ok()?;
            value.is_finite().then(|| ConstantValue::Single(f64::from(value)))
        }
        _ => digits.parse().ok().filter(|value: &f64| value.is_finite()).map(ConstantValue::Double),
    }
}

/// `'a'`, `'\n'`, `'\x41'`, `'\101'`, with a prefix or without.
fn character(text: &str) -> Option<ConstantValue> {
    let (prefix, quoted) = text.split_once('\'')?;
    let kind = match prefix {
        "" => IntegerType::I8,
        "u8" => IntegerType::U8,
        "u" => IntegerType::U16,
        "U" => IntegerType::U32,
        "L" => IntegerType::I32,
        _ => return None,
    };
    let body = quoted.strip_suffix('\'')?;
    let value = match body.strip_prefix('\\') {
        None => {
            let mut letters = body.chars();
            let letter = letters.next().filter(|letter| letter.is_ascii() && *letter != '\'')?;
            letters.next().is_none().then_some(u32::from(letter))?
        }
        Some(escape) => match escape {
            "n" => 10,
            "t" => 9,
            "r" => 13,
            "a" => 7,
            "b" => 8,
            "f" => 12,
            "v" => 11,
            "\\" | "'" | "\"" | "?" => u32::from(*escape.as_bytes().first()?),
            _ => match escape.strip_prefix('x') {
                Some(digits) => coded(digits, 16)?,
                None if escape.len() <= 3 => coded(escape, 8)?,
                None => return None,
            },
        },
    };
    // An escape names a code of the unsigned type of this width.
    let unsigned = IntegerType { signed: false, ..kind };
    let value = i128::from(value);
    unsigned.holds(value).then(|| ConstantValue::Integer { value: kind.wrapped(value), kind })
}

fn coded(digits: &str, base: u32) -> Option<u32> {
    if digits.starts_with('+') { None } else { u32::from_str_radix(digits, base).ok() }
}
