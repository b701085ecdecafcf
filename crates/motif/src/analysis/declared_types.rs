//! What type a kernel is compiled for where its operator takes one type alone: `DTYPE_X` is a macro that the build defines for each of them.

use std::collections::BTreeSet;

use crate::analysis::code::words;
use crate::context::Context;
use source::facts::is_host;

/// The C++ type that `DTYPE_<NAME>` stands for, if every declaration of the input or output in host code names one type, always the same.
pub(crate) fn only_type(context: &Context, name: &str) -> Option<&'static str> {
    match types_of(context, name)?[..] {
        [only @ ("float" | "half" | "int32_t")] => Some(only),
        _ => None,
    }
}

/// The C++ types that `DTYPE_<NAME>` stands for, as declarations of the input or output in host code name them; nothing where there are
/// none, or one is not known here.
pub(crate) fn types_of(context: &Context, name: &str) -> Option<Vec<&'static str>> {
    let name = name.strip_prefix("DTYPE_")?;
    let mut types: BTreeSet<&str> = BTreeSet::new();
    for file in context.forest.iter().filter(|file| is_host(file.name())) {
        for call in file.calls().iter().filter(|call| call.name.starts_with("DataType")) {
            let object = call.object.as_deref().unwrap_or_default();
            let Some((before, rest)) = object.split_once("(\"") else { continue };
            let declares = before.ends_with("Input") || before.ends_with("Output");
            if !declares || !rest.split('"').next().unwrap_or_default().eq_ignore_ascii_case(name) {
                continue;
            }
            let listed = call.arguments.iter().flat_map(|argument| words(file.slice(argument)));
            types.extend(listed.filter(|word| *word != "ge"));
        }
    }
    let known = types.iter().map(|name| match *name {
        "DT_FLOAT" => Some("float"),
        "DT_FLOAT16" => Some("half"),
        "DT_BF16" => Some("bfloat16_t"),
        "DT_DOUBLE" => Some("double"),
        "DT_BOOL" => Some("bool"),
        "DT_INT8" => Some("int8_t"),
        "DT_INT16" => Some("int16_t"),
        "DT_INT32" => Some("int32_t"),
        "DT_INT64" => Some("int64_t"),
        "DT_UINT8" => Some("uint8_t"),
        "DT_UINT16" => Some("uint16_t"),
        "DT_UINT32" => Some("uint32_t"),
        "DT_UINT64" => Some("uint64_t"),
        _ => None,
    });
    known.collect::<Option<Vec<_>>>().filter(|known| !known.is_empty())
}
