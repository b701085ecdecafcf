//! The tiling header that the operator compiler generates for operators whose tiling data is declared by macros: the host
//! class as a plain struct of the same layout, and `GET_TILING_DATA` for it.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::kernel::TilingClass;

/// Text of the header; empty if the operator declares no class.
pub(crate) fn tiling_header(op_type: &str, tiling_key: u64, classes: &[TilingClass]) -> String {
    let Some(class) = class_for(op_type, tiling_key, classes) else { return String::new() };
    let mut text = String::new();
    let mut done = BTreeSet::new();
    declare(class, classes, &mut done, &mut text, 0);
    let name = &class.class;
    let _ = write!(
        text,
        "#undef GET_TILING_DATA\n\
         #define GET_TILING_DATA(tiling_data, tiling_arg) GET_TILING_DATA_WITH_STRUCT({name}, tiling_data, tiling_arg)\n"
    );
    text
}

/// Class registered for an operator type and key, or for the type alone.
pub(crate) fn class_for<'classes>(
    op_type: &str,
    key: u64,
    classes: &'classes [TilingClass],
) -> Option<&'classes TilingClass> {
    let keyed = format!("{op_type}_{key}");
    classes.iter().find(|class| class.op == keyed).or_else(|| classes.iter().find(|class| class.op == op_type))
}

/// Whether keys choose between classes, so that one kernel library cannot serve all keys.
pub(crate) fn depends_on_key(op_type: &str, classes: &[TilingClass]) -> bool {
    let prefix = format!("{op_type}_");
    classes.iter().any(|class| class.op.strip_prefix(&prefix).is_some_and(|rest| rest.parse::<u64>().is_ok()))
}

fn declare(class: &TilingClass, all: &[TilingClass], done: &mut BTreeSet<String>, text: &mut String, depth: usize) {
    if depth > 16 || !done.insert(class.class.clone()) {
        return;
    }
    for field in &class.fields {
        if let Some(nested) = all.iter().find(|other| other.class == field.kind) {
            declare(nested, all, done, text, depth + 1);
        }
    }
    let _ = writeln!(text, "struct {} {{", class.class);
    let mut at: u64 = 0;
    for field in &class.fields {
        // The host side decides the offsets; where the language would place the field elsewhere, bytes fill the gap.
        let aligned = field_alignment(&field.kind).map(|alignment| at.div_ceil(alignment) * alignment);
        if aligned.is_some_and(|aligned| aligned < field.offset) {
            let _ = writeln!(text, "    uint8_t ascend_tune_gap_{at}[{}];", field.offset - at);
        }
        match field.count {
            0 | 1 if !field.is_array => {
                let _ = writeln!(text, "    {} {};", field.kind, field.name);
            }
            count => {
                let _ = writeln!(text, "    {} {}[{count}];", field.kind, field.name);
            }
        }
        let size = size_of_kind(&field.kind, all);
        at = field.offset + size * field.count.max(1);
    }
    let _ = writeln!(text, "}};");
    for field in &class.fields {
        let _ = writeln!(
            text,
            "static_assert(__builtin_offsetof({0}, {1}) == {2}, \"tiling field {0}::{1} has another place on the host\");",
            class.class, field.name, field.offset
        );
    }
}

fn field_alignment(kind: &str) -> Option<u64> {
    primitive_size(kind)
}

fn size_of_kind(kind: &str, all: &[TilingClass]) -> u64 {
    primitive_size(kind).or_else(|| all.iter().find(|class| class.class == kind).map(|class| class.size)).unwrap_or(0)
}

fn primitive_size(kind: &str) -> Option<u64> {
    Some(match kind.trim_start_matches("std::") {
        "int8_t" | "uint8_t" | "bool" | "char" => 1,
        "int16_t" | "uint16_t" | "half" | "bfloat16_t" => 2,
        "int32_t" | "uint32_t" | "float" | "int" => 4,
        "int64_t" | "uint64_t" | "double" | "size_t" => 8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::kernel::TilingField;
    use super::*;

    fn field(name: &str, kind: &str, offset: u64, count: u64) -> TilingField {
        TilingField { name: name.into(), kind: kind.into(), offset, count, is_array: count > 1 }
    }

    #[test]
    fn structs_have_the_layout_of_the_host_class() {
        let classes = [
            TilingClass {
                op: "Add".into(),
                class: "AddTiling".into(),
                size: 40,
                fields: vec![
                    field("n", "uint32_t", 0, 1),
                    field("inner", "Inner", 8, 1),
                    field("list", "uint16_t", 24, 4),
                ],
            },
            TilingClass {
                op: "Inner".into(),
                class: "Inner".into(),
                size: 16,
                fields: vec![field("x", "uint64_t", 0, 2)],
            },
            TilingClass {
                op: "Add_3".into(),
                class: "AddTiling3".into(),
                size: 8,
                fields: vec![field("m", "float", 4, 1)],
            },
        ];
        insta::assert_snapshot!(tiling_header("Add", 1, &classes));
        insta::assert_snapshot!(tiling_header("Add", 3, &classes));
        assert!(depends_on_key("Add", &classes) && !depends_on_key("Inner", &classes));
        assert_eq!(tiling_header("Mul", 0, &classes), "");
    }
}
