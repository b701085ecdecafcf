//! Tests of constant expressions: written before the evaluator they attack. What a compiler says of such expressions is compared
//! in the integration tests.

use super::*;

fn names(name: &str) -> Option<ConstantValue> {
    Some(match name {
        "N" => ConstantValue::wide(4),
        "tile" => ConstantValue::wide(1024),
        "small" => ConstantValue::Integer { value: 3, kind: IntegerType::U8 },
        "minus" => ConstantValue::Integer { value: -1, kind: IntegerType::I32 },
        "ratio" => ConstantValue::Double(0.5),
        _ => return None,
    })
}

fn value(text: &str) -> Result<i64, ConstantError> {
    let value = evaluate(text, &names)?;
    Ok(value.as_integer().unwrap_or_else(|| panic!("{text}: {value:?}")))
}

#[test]
fn literals_have_the_types_of_the_language() {
    let table = [
        ("16", 16, IntegerType::I32),
        ("16U", 16, IntegerType::U32),
        ("0x40uL", 64, IntegerType::U64),
        ("4'096", 4096, IntegerType::I32),
        ("0b1'1", 3, IntegerType::I32),
        ("017", 15, IntegerType::I32),
        ("0'17", 15, IntegerType::I32),
        ("0", 0, IntegerType::I32),
        ("0ull", 0, IntegerType::U64),
        ("2147483647", 2_147_483_647, IntegerType::I32),
        ("2147483648", 2_147_483_648, IntegerType::I64),
        ("0x80000000", 2_147_483_648, IntegerType::U32),
        ("0xFFFFFFFFFFFFFFFF", u64::MAX.into(), IntegerType::U64),
        ("18446744073709551615u", u64::MAX.into(), IntegerType::U64),
        ("'a'", 97, IntegerType::I8),
        (r"'\n'", 10, IntegerType::I8),
        (r"'\''", 39, IntegerType::I8),
        (r"'\\'", 92, IntegerType::I8),
        (r"'\x41'", 65, IntegerType::I8),
        (r"'\xff'", -1, IntegerType::I8),
        (r"'\101'", 65, IntegerType::I8),
        (r"'\0'", 0, IntegerType::I8),
        ("L'a'", 97, IntegerType::I32),
        ("u'a'", 97, IntegerType::U16),
        ("true", 1, IntegerType::BOOL),
    ];
    for (text, value, kind) in table {
        assert_eq!(literal(text), Some(ConstantValue::Integer { value, kind }), "{text}");
    }
    let none = [
        "1'",
        "1''0",
        "'1",
        "0x",
        "0x'1",
        "0b2",
        "08",
        "1lul",
        "1ulu",
        "10_K",
        "18446744073709551615",
        "9223372036854775808",
        "1f",
        "99999999999999999999",
        "",
        "U",
        "x",
        "-1",
        "'ab'",
        "''",
        "'",
        r"'\x'",
        r"'\400'",
        "\"a\"",
        "é",
        "1.5e",
        "'é'",
        "0x1p3",
        "1.e+f",
        "1e999",
        "0x1ffffffffffffffff",
    ];
    for text in none {
        assert_eq!(literal(text), None, "{text}");
    }
    assert_eq!(literal("1.5f"), Some(ConstantValue::Single(1.5)));
    assert_eq!(literal("1e3"), Some(ConstantValue::Double(1000.0)));
    assert_eq!(literal(".5"), Some(ConstantValue::Double(0.5)));
    assert_eq!(literal("08.5"), Some(ConstantValue::Double(8.5)));
    assert_eq!(literal("0.1f").map(ConstantValue::number), Some(0.1));
    for text in ["1.5f", "1e5", "'a'", "true", "x", ""] {
        assert_eq!(integer(text), None, "{text}");
    }
}

#[test]
fn operators_bind_as_in_the_language() {
    let table = [
        ("1 + 2 * 3", 7),
        ("10 - 3 - 2", 5),
        ("100 / 10 / 5", 2),
        ("1 << 2 + 1", 8),
        ("1 << 4 >> 2", 4),
        ("6 & 3 == 3", 0),
        ("1 | 2 ^ 3 & 2", 1),
        ("1 < 2 == 1", 1),
        ("3 > 2 > 1", 0),
        ("1 || 0 && 0", 1),
        ("0 ? 1 : 0 ? 2 : 3", 3),
        ("1 ? 0 ? 4 : 5 : 6", 5),
        ("1 ? 2 : 3 + 4", 2),
        ("-2 * -3", 6),
        ("- - 3", 3),
        ("!0 + !5", 1),
        ("~0", -1),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("8 /* not 9 */ + // nor 10\n 1", 9),
        ("1'000 * 2", 2000),
        ("(1 + 2) * (3)", 9),
        ("'a' + 1", 98),
    ];
    for (text, expected) in table {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

#[test]
fn integers_are_promoted_and_wrap_as_in_the_language() {
    let table = [
        ("(uint8_t)255 + 1", 256),
        ("(uint8_t)256", 0),
        ("static_cast<int8_t>(200)", -56),
        ("0u - 1", 4_294_967_295),
        ("4294967295u * 2u", 4_294_967_294),
        ("-1 < 0u", 0),
        ("-1 < 0L", 1),
        ("-1 > sizeof(int)", 1),
        ("1u << 31", 2_147_483_648),
        ("1 << 31", -2_147_483_648),
        ("0xFFFFFFFF + 1", 0),
        ("0xFFFFFFFF + 1L", 4_294_967_296),
        ("~0u >> 28", 15),
        ("-16 >> 2", -4),
        ("-(2147483648)", -2_147_483_648),
        ("(true ? -1 : 0u) > 0", 1),
        ("(true ? (char)1 : (char)2) + 0", 1),
        ("sizeof(half) + sizeof(bool) + sizeof(unsigned long long)", 11),
        ("(bool)8 + bool(0)", 1),
        ("uint32_t(5) / 2", 2),
        ("(int)2.9f", 2),
        ("(int)(7 / 2.0)", 3),
        ("18446744073709551615u * 18446744073709551615u", 1),
        ("static_cast<half>(8) == 8", 1),
        ("1.0 / 4 * 8 == 2", 1),
    ];
    for (text, expected) in table {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

#[test]
fn what_has_no_value_says_why() {
    let overflow = |operator| ConstantError::Overflow { operator };
    let table = [
        ("2147483647 + 1", overflow("+")),
        ("8 * 1024 * 1024 * 1024", overflow("*")),
        ("-2147483647 - 2", overflow("-")),
        ("-(-2147483647 - 1)", overflow("-")),
        ("(-2147483647 - 1) / -1", overflow("/")),
        ("(-2147483647 - 1) % -1", overflow("%")),
        ("-1 << 1", overflow("<<")),
        ("3 << 31", overflow("<<")),
        ("(int)1e10", overflow("cast")),
        ("static_cast<half>(4097)", overflow("cast")),
        ("1 / 0", ConstantError::DivisionByZero),
        ("1 % (2 - 2)", ConstantError::DivisionByZero),
        ("1.0 / 0", ConstantError::DivisionByZero),
        ("1 << 32", ConstantError::Shift { by: 32, bits: 32 }),
        ("1 << -1", ConstantError::Shift { by: -1, bits: 32 }),
        ("1L >> 64", ConstantError::Shift { by: 64, bits: 64 }),
        ("5.0 % 2", ConstantError::Operands { operator: "%" }),
        ("1 << 2.0", ConstantError::Operands { operator: "<<" }),
        ("~1.0", ConstantError::Operands { operator: "~" }),
        ("0 && ~1.0", ConstantError::Operands { operator: "~" }),
        ("1 || 1 << 2.0", ConstantError::Operands { operator: "<<" }),
        ("true ? 1 : 5 % 2.0", ConstantError::Operands { operator: "%" }),
        ("unknown + 1", ConstantError::UnknownName { name: "unknown".to_owned() }),
        ("sizeof(Pair)", ConstantError::UnknownType { name: "Pair".to_owned() }),
        ("static_cast<T>(1)", ConstantError::UnknownType { name: "T".to_owned() }),
        ("true ? 1 : unknown", ConstantError::UnknownName { name: "unknown".to_owned() }),
        ("08 + 1", ConstantError::Literal { literal: "08".to_owned() }),
        ("ops::CeilDiv(-8, 3)", ConstantError::Operands { operator: "ceil_div" }),
        ("ops::CeilDiv(8, 0)", ConstantError::Operands { operator: "ceil_div" }),
    ];
    for (text, error) in table {
        assert_eq!(evaluate(text, &names), Err(error), "{text}");
    }
    for text in [
        "",
        "8 *",
        "* 8",
        "(8",
        "8)",
        "1 2",
        "f(1)",
        "CeilDiv(8, 3)",
        "min(1, 2)",
        "a[1]",
        "x{1}",
        "1 ? 2",
        "1 : 2",
        "a =",
        "a++",
        "--1",
        "1, 2",
        "sizeof 4",
        "sizeof...(T)",
        "a->",
        "::",
        "a::",
        "\"text\"",
        "1 > > 2",
        "{1}",
        "static_cast<int>4",
        "@",
        "é +",
        "#define A 1",
    ] {
        let result = evaluate(text, &names);
        assert!(
            matches!(result, Err(ConstantError::Syntax { .. } | ConstantError::Literal { .. })),
            "{text}: {result:?}"
        );
    }
}

#[test]
fn names_and_helpers_are_looked_up() {
    let table = [
        ("N * sizeof(float) + 8 / 2", 20),
        ("this->N", 4),
        ("tiling->inner.tile / N", 256),
        ("Mode::N << 2", 16),
        ("small - 4", -1),
        ("minus > 0u", 1),
        ("std::min(N, 3)", 3),
        ("std::max<uint32_t>(N, 5)", 5),
        ("::std::min<int64_t>(tile, 1 << 20)", 1024),
        ("AscendC::Std::max(1, 2)", 2),
        ("ops::CeilDiv(tile, 1000)", 2),
        ("AscendC::AlignUp(33, 32)", 64),
        ("false && 1 / 0", 0),
        ("unknown && 0", 0),
        ("true || unknown", 1),
    ];
    for (text, expected) in table {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
    assert_eq!(evaluate("ratio * N", &names), Ok(ConstantValue::Double(2.0)));
    assert_eq!(evaluate("1 / 0 || true", &names), Err(ConstantError::DivisionByZero));
}

#[test]
fn words_of_a_lexer_are_the_same_as_text() {
    for text in
        ["8 * 1024", "( 1 << 4 ) + 2 * 3U", "static_cast < uint32_t > ( 48 )", "1024 > > 3", "N <= 4 && tile >= 2"]
    {
        let words: Vec<&str> = text.split_whitespace().collect();
        let of_words = ConstantExpression::of_words(&words).expect(text).value(&names);
        assert_eq!(of_words, evaluate(&text.replace("> > 3", ">> 3"), &names), "{text}");
    }
}

#[test]
fn no_text_exhausts_the_stack() {
    let long = 100_000;
    let texts = [
        "(".repeat(long),
        "-".repeat(long) + "1",
        "- ".repeat(long) + "1",
        "!".repeat(long),
        "(int)".repeat(long) + "1",
        "static_cast<int>(".repeat(long),
        "1+".repeat(long) + "1",
        "1?".repeat(long),
        "1?1:".repeat(long) + "1",
        "1<<".repeat(long) + "1",
        "std::min(".repeat(long),
        "a::".repeat(long) + "a",
        "half(1?".repeat(long),
        "int ".repeat(long),
    ];
    for text in texts {
        assert!(evaluate(&text, &names).is_err(), "{}", &text[..8]);
    }
    // What is looked at twice on every level takes no time for ever.
    let branches = format!("{}1{}", "half(1 ? ".repeat(40), " : 2)".repeat(40));
    assert!(matches!(evaluate(&branches, &names), Err(ConstantError::TooDeep { .. }) | Ok(_)));
    let sum = "1 + ".repeat(150) + "1";
    assert_eq!(value(&sum), Ok(151));
}
