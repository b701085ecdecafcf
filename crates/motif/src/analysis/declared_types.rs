//! What type a kernel is compiled for where its operator takes one type alone: `DTYPE_X` is a macro that the build defines for each of them.

use std::collections::BTreeSet;

use crate::analysis::code::words;
use crate::context::Context;
use source::facts::is_host;

/// The C++ type that `DTYPE_<NAME>` stands for, if every declaration of the input or output in host code names one type, always the same.
pub(crate) fn only_type(context: &Context, name: &str) -> Option<&'static str> {
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
    let only = types.pop_first().filter(|_| types.is_empty())?;
    match only {
        "DT_FLOAT" => Some("float"),
        "DT_FLOAT16" => Some("half"),
        "DT_INT32" => Some("int32_t"),
        _ => None,
    }
}
