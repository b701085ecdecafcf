//! The tiling header that the operator compiler generates for operators whose tiling data is declared by macros: the host
//! class as a plain struct of the same layout, and `GET_TILING_DATA` for it.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::kernel_variant::TilingClass;

/// Classes nested deeper than this are not followed.
const MAX_DEPTH: usize = 16;

/// Structures of library functions. Kernels have them from `kernel_tiling/kernel_tiling.h`, so they are not declared.
const LIBRARY_STRUCTURES: [&str; 26] = [
    "BatchNormTiling",
    "ConfusionTransposeTiling",
    "Conv3DBackpropFilterTilingData",
    "Conv3DBackpropInputTilingData",
    "Conv3DBpFilterParams",
    "DeepNormTiling",
    "GroupNormTiling",
    "LayerNormGradBetaTiling",
    "LayerNormGradTiling",
    "LayerNormSeparateTiling",
    "LayerNormTiling",
    "LogSoftMaxTiling",
    "Mc2CcTiling",
    "Mc2HcommCfg",
    "Mc2InitTiling",
    "Mc2ServerCfg",
    "PadTiling",
    "RmsNormTiling",
    "SoftMaxTiling",
    "TConv3DApiTiling",
    "TConv3DBackpropInputTiling",
    "TConv3DBpFilterBasicBlockTiling",
    "TConv3DBpFilterTiling",
    "TCubeTiling",
    "TopkTiling",
    "UnPadTiling",
];

/// Text of the header: every class registered for the operator but `own`, which the kernel's sources define themselves; empty
/// if the operator declares no class.
pub(crate) fn tiling_header(op_type: &str, tiling_key: u64, classes: &[TilingClass], own: Option<&str>) -> String {
    let Some(class) = class_for(op_type, tiling_key, classes) else { return String::new() };
    // A kernel may name the classes of other keys too: which branch runs is often decided while it runs.
    let others = classes.iter().filter(|other| registered_key(op_type, other).is_some());
    let all: Vec<&TilingClass> = std::iter::once(class).chain(others).collect();
    let mut text = String::new();
    if all.iter().any(|class| uses_library(class, classes, 0)) {
        text.push_str("#include \"kernel_tiling/kernel_tiling.h\"\n");
    }
    let mut done: BTreeSet<String> = own.map(str::to_owned).into_iter().collect();
    for class in all {
        declare(class, classes, &mut done, &mut text, 0);
    }
    let name = &class.class;
    let _ = write!(
        text,
        "#undef GET_TILING_DATA\n\
         #define GET_TILING_DATA(tiling_data, tiling_arg) GET_TILING_DATA_WITH_STRUCT({name}, tiling_data, tiling_arg)\n"
    );
    text
}

/// The class that `GET_TILING_DATA` copies: the one registered for the operator type alone. A kernel names the class of a key
/// with `GET_TILING_DATA_WITH_STRUCT`; only where the type has no class of its own, the key's is taken.
pub(crate) fn class_for<'classes>(
    op_type: &str,
    key: u64,
    classes: &'classes [TilingClass],
) -> Option<&'classes TilingClass> {
    let keyed = format!("{op_type}_{key}");
    classes.iter().find(|class| class.op == op_type).or_else(|| classes.iter().find(|class| class.op == keyed))
}

/// Whether keys choose between classes, so that one kernel library cannot serve all keys.
pub(crate) fn depends_on_key(op_type: &str, classes: &[TilingClass]) -> bool {
    let keys = || classes.iter().filter_map(|class| registered_key(op_type, class));
    keys().any(|key| key.is_some()) && !keys().any(|key| key.is_none())
}

/// What a class is registered for if it is for this operator type: one key, or all others (`None`).
fn registered_key(op_type: &str, class: &TilingClass) -> Option<Option<u64>> {
    match class.op.strip_prefix(op_type)? {
        "" => Some(None),
        rest => rest.strip_prefix('_')?.parse().ok().map(Some),
    }
}

fn is_library(name: &str) -> bool {
    LIBRARY_STRUCTURES.binary_search(&name).is_ok()
}

fn uses_library(class: &TilingClass, all: &[TilingClass], depth: usize) -> bool {
    is_library(&class.class)
        || depth < MAX_DEPTH
            && class
                .fields
                .iter()
                .filter_map(|field| nested(&field.kind, all))
                .any(|part| uses_library(part, all, depth + 1))
}

fn nested<'classes>(kind: &str, all: &'classes [TilingClass]) -> Option<&'classes TilingClass> {
    all.iter().find(|class| class.class == kind)
}

fn declare(class: &TilingClass, all: &[TilingClass], done: &mut BTreeSet<String>, text: &mut String, depth: usize) {
    if depth > MAX_DEPTH || is_library(&class.class) || !done.insert(class.class.clone()) {
        return;
    }
    for field in &class.fields {
        if let Some(part) = nested(&field.kind, all) {
            declare(part, all, done, text, depth + 1);
        }
    }
    let _ = writeln!(text, "struct {} {{", class.class);
    let mut at: u64 = 0;
    for field in &class.fields {
        // The host side decides the offsets; where the language would place the field elsewhere, bytes fill the gap.
        let layout = layout_of_kind(&field.kind, all, 0);
        if layout.is_some_and(|layout| at.div_ceil(layout.alignment) * layout.alignment < field.offset) {
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
        at = field.offset + layout.map_or(0, |layout| layout.size) * field.count.max(1);
    }
    if let Some(layout) = layout_of_class(class, all, 0) {
        let end = at.div_ceil(layout.alignment) * layout.alignment;
        if end < class.size {
            let _ = writeln!(text, "    uint8_t ascend_tune_gap_{at}[{}];", class.size - at);
        }
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

/// How the language lays a type out, in bytes.
#[derive(Clone, Copy)]
struct Layout {
    size: u64,
    alignment: u64,
}

fn layout_of_kind(kind: &str, all: &[TilingClass], depth: usize) -> Option<Layout> {
    match primitive_size(kind) {
        Some(size) => Some(Layout { size, alignment: size }),
        None => layout_of_class(nested(kind, all)?, all, depth + 1),
    }
}

/// A structure that this header declares is as large as its class on the host; one of the library ends where its last
/// field does, rounded up to its alignment.
fn layout_of_class(class: &TilingClass, all: &[TilingClass], depth: usize) -> Option<Layout> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut layout = Layout { size: 0, alignment: 1 };
    for field in &class.fields {
        let part = layout_of_kind(&field.kind, all, depth)?;
        layout.alignment = layout.alignment.max(part.alignment);
        layout.size = field.offset + part.size * field.count.max(1);
    }
    layout.size = match is_library(&class.class) {
        true => layout.size.div_ceil(layout.alignment) * layout.alignment,
        false => class.size,
    };
    Some(layout)
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
    use super::super::kernel_variant::TilingField;
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
        insta::assert_snapshot!(tiling_header("Add", 1, &classes, None));
        assert_eq!(
            tiling_header("Add", 3, &classes, None),
            tiling_header("Add", 1, &classes, None),
            "of the type, not of the key"
        );
        assert!(!depends_on_key("Add", &classes));
        insta::assert_snapshot!(tiling_header("Add", 3, &classes[1..], None));
        assert!(depends_on_key("Add", &classes[1..]) && !depends_on_key("Inner", &classes));
        assert_eq!(tiling_header("Mul", 0, &classes, None), "");
    }

    #[test]
    fn library_structures_are_included_and_keep_the_place_that_the_host_gives_them() {
        let classes = [
            TilingClass {
                op: String::new(),
                class: "TCubeTiling".into(),
                size: 8,
                fields: vec![field("usedCoreNum", "int32_t", 0, 1), field("M", "int32_t", 4, 1)],
            },
            TilingClass {
                op: String::new(),
                class: "Part".into(),
                size: 8,
                fields: vec![field("x", "uint16_t", 0, 1)],
            },
            TilingClass {
                op: "MatMul".into(),
                class: "MatMulTiling".into(),
                size: 32,
                fields: vec![
                    field("n", "uint32_t", 0, 1),
                    field("cube", "TCubeTiling", 8, 1),
                    field("part", "Part", 16, 1),
                    field("last", "uint16_t", 24, 1),
                ],
            },
        ];
        insta::assert_snapshot!(tiling_header("MatMul", 0, &classes, None));
    }

    #[test]
    fn the_library_structures_are_those_of_the_sdk() {
        let lists = [
            include_str!("../../../sdk/include/kernel_tiling/vector_fields.h"),
            include_str!("../../../sdk/include/kernel_tiling/matmul_fields.h"),
            include_str!("../../../sdk/include/kernel_tiling/convolution_fields.h"),
            include_str!("../../../sdk/include/kernel_tiling/communication_fields.h"),
        ];
        let mut names: Vec<&str> = lists
            .iter()
            .flat_map(|list| list.lines())
            .filter_map(|line| line.strip_prefix("BEGIN_LIBRARY_TILING(")?.strip_suffix(")"))
            .collect();
        names.sort_unstable();
        assert_eq!(names, LIBRARY_STRUCTURES);
    }
}
