//! Constant expressions against a compiler: what the evaluator gives a value has the same value and type there, and what it
//! refuses is no constant expression.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use source::constant::{ConstantError, ConstantValue, IntegerType, evaluate};

const LITERALS: [&str; 36] = [
    "0",
    "1",
    "2",
    "3",
    "5",
    "7",
    "8",
    "31",
    "32",
    "63",
    "64",
    "0u",
    "1u",
    "31U",
    "017",
    "0x1F",
    "0b101",
    "1'024",
    "2147483647",
    "2147483648",
    "4294967295u",
    "0xFFFFFFFF",
    "0x80000000",
    "9223372036854775807",
    "18446744073709551615u",
    "1L",
    "2ul",
    "3LL",
    "'a'",
    "'\\0'",
    "'\\xff'",
    "true",
    "false",
    "1.5",
    "0.25f",
    "3.0",
];
const TYPES: [&str; 14] = [
    "bool", "char", "int8_t", "uint8_t", "int16_t", "uint16_t", "int", "uint32_t", "int64_t", "uint64_t", "unsigned",
    "size_t", "float", "double",
];
const OPERATORS: [&str; 18] =
    ["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", ">", "<=", ">=", "&&", "||"];

fn one<'a>(random: &mut ChaCha8Rng, of: &[&'a str]) -> &'a str {
    of[random.random_range(0..of.len())]
}

/// A random expression, with as few parentheses as chance wants: how operators bind is part of the question.
fn expression(random: &mut ChaCha8Rng, depth: u32) -> String {
    let inner = |random: &mut ChaCha8Rng| expression(random, depth.saturating_sub(1));
    match random.random_range(0..if depth == 0 { 3 } else { 14 }) {
        0 | 1 => one(random, &LITERALS).to_owned(),
        2 => format!("sizeof({})", one(random, &TYPES)),
        3..=8 => format!("{} {} {}", inner(random), one(random, &OPERATORS), inner(random)),
        9 => format!("({})", inner(random)),
        10 => format!("{}{}", one(random, &["- ", "+ ", "~", "!"]), inner(random)),
        11 => format!("({}){}", one(random, &TYPES), inner(random)),
        12 => format!("static_cast<{}>({})", one(random, &TYPES), inner(random)),
        _ => format!("({} ? {} : {})", inner(random), inner(random), inner(random)),
    }
}

/// What must hold of a constant that was made of an expression with this value.
fn claim(name: &str, value: ConstantValue) -> String {
    let is = |kind: &str, number: &str| {
        format!("std::is_same_v<std::remove_const_t<decltype({name})>, {kind}> && {name} == {number}")
    };
    match value {
        ConstantValue::Integer { value, kind: IntegerType::BOOL } => {
            is("bool", if value != 0 { "true" } else { "false" })
        }
        ConstantValue::Integer { value, kind } => {
            let number = match value {
                _ if value == i128::from(i64::MIN) => "(-9223372036854775807L - 1)".to_owned(),
                _ if kind.signed => format!("({value}L)"),
                _ => format!("{value}ul"),
            };
            let (bytes, signed) = (kind.bits / 8, kind.signed);
            format!(
                "sizeof({name}) == {bytes} && std::is_integral_v<decltype({name})> \
                 && std::is_signed_v<decltype({name})> == {signed} && {name} == {number}"
            )
        }
        ConstantValue::Single(value) => is("float", &format!("static_cast<float>({value:e})")),
        ConstantValue::Double(value) => is("double", &format!("{value:e}")),
    }
}

/// Lines that a compiler refuses, with these options.
fn refused(text: &str, name: &str, options: &[&str]) -> BTreeSet<usize> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    fs_err::write(&file, text).expect("a file");
    let output = Command::new("g++")
        .args(["-std=c++17", "-fsyntax-only", "-fmax-errors=0"])
        .args(options)
        .arg(&file)
        .output()
        .expect("the compiler that kernels are built with");
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = said.lines().filter(|line| line.contains("error:"));
    lines.filter_map(|line| line.split_once(name)?.1.split(':').nth(1)?.parse().ok()).collect()
}

#[test]
fn values_and_refusals_are_those_of_a_compiler() {
    const HEAD: &str = "#include <cstddef>\n#include <cstdint>\n#include <type_traits>\n";
    let mut random = ChaCha8Rng::seed_from_u64(0x5EA);
    let (mut claims, mut refusals) = (String::from(HEAD), String::from(HEAD));
    let (mut claimed, mut asked) = (Vec::new(), Vec::new());
    while claimed.len() < 3000 || asked.len() < 500 {
        let text = expression(&mut random, 4);
        match evaluate(&text, &|_: &str| None) {
            Ok(value) if claimed.len() < 3000 => {
                let name = format!("value{}", claimed.len());
                let claim = claim(&name, value);
                writeln!(claims, "constexpr auto {name} = {text}; static_assert({claim});").expect("a text");
                claimed.push(text);
            }
            // What a compiler makes of a number that a type does not hold is its own affair.
            Ok(_) | Err(ConstantError::Overflow { operator: "cast" }) => {}
            Err(_) if asked.len() < 500 => {
                writeln!(refusals, "constexpr auto value{} = {text};", asked.len()).expect("a text");
                asked.push(text);
            }
            Err(_) => {}
        }
    }
    let first = HEAD.lines().count() + 1;
    let wrong: Vec<&String> =
        refused(&claims, "claims.cpp", &["-w"]).iter().map(|line| &claimed[line - first]).collect();
    assert!(wrong.is_empty(), "{} have another value: {wrong:#?}", wrong.len());
    // An overflow that a cast or a comparison follows is only warned of.
    let lines = refused(&refusals, "refusals.cpp", &["-Werror=overflow", "-Werror=div-by-zero"]);
    let missed: Vec<&String> =
        asked.iter().enumerate().filter(|(at, _)| !lines.contains(&(at + first))).map(|(_, text)| text).collect();
    assert!(missed.is_empty(), "{} of {} have a value: {missed:#?}", missed.len(), asked.len());
}
