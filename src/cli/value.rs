//! Values of arguments: `NAME=VALUE` and durations.

use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use search::StrategyKind;
use space::Value;

/// `NAME=VALUE` or `NAME:TYPE=VALUE` of `-D`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Name of the cache entry, without its type.
    pub name: String,
    /// Value, possibly empty.
    pub value: String,
}

impl FromStr for Definition {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let (name, value) = split(text)?;
        let (name, kind) = match name.split_once(':') {
            Some((name, kind)) => (name, Some(kind)),
            None => (name, None),
        };
        check_name(name, text)?;
        match kind {
            None | Some("BOOL" | "FILEPATH" | "PATH" | "STRING" | "INTERNAL") => {}
            Some(kind) => return Err(ValueError::CacheType { kind: kind.to_owned() }),
        }
        Ok(Self { name: name.to_owned(), value: value.to_owned() })
    }
}

/// `NAME=VALUE` of `--set`: an integer, `true`, `false`, or text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Name of the tunable.
    pub name: String,
    /// Value.
    pub value: Value,
}

impl FromStr for Assignment {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let (name, value) = split(text)?;
        check_name(name, text)?;
        let number = value.strip_prefix('-').unwrap_or(value);
        let value = match value {
            "" => return Err(ValueError::NoValue { name: name.to_owned() }),
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ if number.bytes().all(|byte| byte.is_ascii_digit()) && !number.is_empty() => {
                Value::Int(value.parse().map_err(|_| ValueError::TooLarge { value: value.to_owned() })?)
            }
            _ => Value::Text(value.to_owned()),
        };
        Ok(Self { name: name.to_owned(), value })
    }
}

/// Why an argument's value is refused. The text follows clap's own `invalid value '..' for '..': `.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// No `=`.
    #[error("`=` is missing, write NAME=VALUE")]
    NoEquals,
    /// Nothing before `=`.
    #[error("the name before `=` is missing, write NAME=VALUE")]
    NoName,
    /// A name with other characters.
    #[error("`{character}` cannot be part of a name")]
    BadName {
        /// The first such character.
        character: char,
    },
    /// Nothing after `=` where something is needed.
    #[error("the value of {name} is missing, write {name}=VALUE")]
    NoValue {
        /// The name.
        name: String,
    },
    /// A number outside 64 bits.
    #[error("{value} is outside the range of 64-bit integers")]
    TooLarge {
        /// The number.
        value: String,
    },
    /// A type that CMake's cache does not have.
    #[error("`{kind}` is no type of a CMake cache entry; there are BOOL, FILEPATH, PATH, STRING and INTERNAL")]
    CacheType {
        /// The type.
        kind: String,
    },
    /// Not a duration.
    #[error("not a duration; write a number with s, m or h, such as 90s, 15m or 1.5h")]
    NoDuration,
}

fn split(text: &str) -> Result<(&str, &str), ValueError> {
    let (name, value) = text.split_once('=').ok_or(ValueError::NoEquals)?;
    if name.trim().is_empty() {
        return Err(ValueError::NoName);
    }
    Ok((name.trim(), value))
}

fn check_name(name: &str, text: &str) -> Result<(), ValueError> {
    if name.is_empty() {
        return Err(if text.starts_with(':') { ValueError::NoName } else { ValueError::NoEquals });
    }
    match name.chars().find(|one| !one.is_alphanumeric() && !matches!(one, '_' | '-' | '.')) {
        Some(character) => Err(ValueError::BadName { character }),
        None => Ok(()),
    }
}

/// Parses `90`, `90s`, `15m`, `1.5h`; at least one millisecond, at most a year.
pub fn duration(text: &str) -> Result<Duration, ValueError> {
    let text = text.trim();
    let (number, scale) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1.0),
        Some((at, 'm')) => (&text[..at], 60.0),
        Some((at, 'h')) => (&text[..at], 3600.0),
        _ => (text, 1.0),
    };
    let number: f64 = number.trim().parse().map_err(|_| ValueError::NoDuration)?;
    let seconds = number * scale;
    if !(0.001..=365.0 * 86400.0).contains(&seconds) {
        return Err(ValueError::NoDuration);
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Parser of strategies, which lists them in the help.
pub fn strategy() -> impl TypedValueParser<Value = StrategyKind> {
    PossibleValuesParser::new(StrategyKind::ALL.map(StrategyKind::name)).map(|name| name.parse().unwrap_or_default())
}
