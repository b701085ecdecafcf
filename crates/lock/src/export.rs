//! A lock for other readers: a C++ header, a CMake script.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Lock;
use space::{Configuration, Value};

/// Why a lock has no such form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// Two tunables are one identifier.
    #[error("tunables `{first}` and `{second}` would both be called {identifier}: rename one in ascend.toml")]
    SameName {
        /// A tunable.
        first: String,
        /// Another.
        second: String,
        /// What both would be called.
        identifier: String,
    },
    /// A value that the form cannot hold.
    #[error("{name} = {value} has no form in {form}")]
    Value {
        /// The tunable.
        name: String,
        /// Its value.
        value: String,
        /// The form.
        form: &'static str,
    },
}

/// Tunables by what they are called where only letters, digits and `_` may be.
pub fn identifiers(configuration: &Configuration) -> Result<BTreeMap<String, (&str, &Value)>, ExportError> {
    let mut named: BTreeMap<String, (&str, &Value)> = BTreeMap::new();
    for (name, value) in configuration.iter() {
        let identifier = identifier(name);
        if let Some((first, _)) = named.insert(identifier.clone(), (name, value)) {
            return Err(ExportError::SameName { first: first.to_owned(), second: name.to_owned(), identifier });
        }
    }
    Ok(named)
}

/// A name in which only letters, digits and `_` are, and no digit is first.
pub fn identifier(name: &str) -> String {
    let mut made: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if made.chars().next().is_none_or(|first| first.is_ascii_digit()) {
        made.insert(0, '_');
    }
    made
}

/// A C++ header with a constant for each tunable, in a namespace of the operator. C++14 and later.
pub fn header(lock: &Lock) -> Result<String, ExportError> {
    let operator = identifier(&lock.operator);
    let guard = format!("ASCEND_TUNE_{}_H", operator.to_uppercase());
    let mut text = format!(
        "// Made by `cargo ascend-tune lock export` from ascend.lock: not to be edited by hand.\n\
         // {}, tuned for {} ({} latencies).\n\
         #ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\nnamespace ascend_tune {{\nnamespace {operator} {{\n",
        lock.operator,
        lock.device.as_ref().map_or(&lock.machine.name, |device| &device.soc),
        lock.origin.word(),
    );
    for (identifier, (name, value)) in identifiers(&lock.configuration)? {
        let _ = match value {
            Value::Int(value) => writeln!(text, "constexpr int64_t {identifier} = {};", cpp_integer(*value)),
            Value::Bool(value) => writeln!(text, "constexpr bool {identifier} = {value};"),
            Value::Text(value) if value.chars().all(|letter| !letter.is_control()) => {
                let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
                writeln!(text, "constexpr const char* {identifier} = \"{quoted}\";")
            }
            other => {
                return Err(ExportError::Value { name: name.to_owned(), value: other.to_string(), form: "C++" });
            }
        };
    }
    let _ = write!(text, "}} // namespace {operator}\n}} // namespace ascend_tune\n\n#endif // {guard}\n");
    Ok(text)
}

/// The least number has no literal of its own in C++.
fn cpp_integer(value: i64) -> String {
    if value == i64::MIN { format!("({} - 1)", value + 1) } else { value.to_string() }
}

/// A CMake script: cache entries for the tunables that are such, and variables for all. For `cmake -C`, or to be included.
pub fn cmake(lock: &Lock) -> Result<String, ExportError> {
    let prefix = format!("ASCEND_TUNE_{}", identifier(&lock.operator));
    let mut text = format!(
        "# Made by `cargo ascend-tune lock export` from ascend.lock: not to be edited by hand.\n\
         # Cache entries of {}, for `cmake -C THIS_FILE`; variables {prefix}_<tunable> for who includes it.\n",
        lock.operator
    );
    let quoted = |name: &str, value: &Value| match value {
        Value::Bool(value) => Ok(if *value { "ON".to_owned() } else { "OFF".to_owned() }),
        Value::Text(value) if value.chars().any(|letter| letter.is_control() || letter == ';') => {
            Err(ExportError::Value { name: name.to_owned(), value: value.clone(), form: "CMake" })
        }
        other => Ok(other.to_string().replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$")),
    };
    for (identifier, (name, value)) in identifiers(&lock.configuration)? {
        let _ = writeln!(text, "set({prefix}_{identifier} \"{}\")", quoted(name, value)?);
    }
    for (entry, tunable) in &lock.cmake {
        if let Some(value) = lock.configuration.get(tunable) {
            let value = quoted(tunable, value)?;
            let _ = writeln!(text, "set({entry} \"{value}\" CACHE STRING \"tuned, from ascend.lock\" FORCE)");
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    #[test]
    fn a_header_has_a_constant_for_each_tunable() {
        insta::assert_snapshot!(header(&sample()).unwrap(), @r#"
        // Made by `cargo ascend-tune lock export` from ascend.lock: not to be edited by hand.
        // GeluNaive, tuned for ascend910b2 (modelled latencies).
        #ifndef ASCEND_TUNE_GELUNAIVE_H
        #define ASCEND_TUNE_GELUNAIVE_H

        #include <stdint.h>

        namespace ascend_tune {
        namespace GeluNaive {
        constexpr int64_t BUFFER_NUM = 2;
        constexpr int64_t TILE_LENGTH = 8192;
        constexpr const char* mode = "wide";
        } // namespace GeluNaive
        } // namespace ascend_tune

        #endif // ASCEND_TUNE_GELUNAIVE_H
        "#);
    }

    #[test]
    fn a_script_sets_the_entries_that_are_tunables() {
        let lock = Lock { cmake: BTreeMap::from([("TILE".into(), "TILE_LENGTH".into())]), ..sample() };
        insta::assert_snapshot!(cmake(&lock).unwrap(), @r#"
        # Made by `cargo ascend-tune lock export` from ascend.lock: not to be edited by hand.
        # Cache entries of GeluNaive, for `cmake -C THIS_FILE`; variables ASCEND_TUNE_GeluNaive_<tunable> for who includes it.
        set(ASCEND_TUNE_GeluNaive_BUFFER_NUM "2")
        set(ASCEND_TUNE_GeluNaive_TILE_LENGTH "8192")
        set(ASCEND_TUNE_GeluNaive_mode "wide")
        set(TILE "8192" CACHE STRING "tuned, from ascend.lock" FORCE)
        "#);
    }

    #[test]
    fn names_and_values_that_have_no_form_are_refused() {
        let with = |entries: &[(&str, Value)]| Lock {
            configuration: entries.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            ..sample()
        };
        let same = with(&[("a-b", Value::Int(1)), ("a.b", Value::Int(2))]);
        let line = with(&[("a", Value::Text("one\ntwo".into()))]);
        let list = with(&[("a", Value::Text("one;two".into()))]);
        let errors = [header(&same), header(&line), cmake(&list)].map(|made| made.unwrap_err().to_string()).join("\n");
        insta::assert_snapshot!(errors, @"
        tunables `a-b` and `a.b` would both be called a_b: rename one in ascend.toml
        a = one
        two has no form in C++
        a = one;two has no form in CMake
        ");
        assert!(header(&with(&[("3d", Value::Int(i64::MIN))])).unwrap().contains("_3d = (-9223372036854775807 - 1);"));
    }
}
