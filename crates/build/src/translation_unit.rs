//! Text of the translation unit around an unmodified kernel entry file: what the operator compiler would define and
//! generate, and the entry that the runner calls.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::compiled_headers::TOOLKIT_KERNEL;
use super::error::{BuildError, CompileFailure};
use super::kernel_variant::KernelVariant;
use super::template_key::{DECODER, declared_parameters, template_arguments, width_check};
use super::tiling_header::{class_for, tiling_header};
use project::kernel_entries;

/// What is made of the translation unit.
pub(crate) const OUTPUT: &str = "kernel.so";

/// Of a toolkit's headers: on mixed cores the operator compiler's entry lets the cube core clear the messages between the
/// cores, which the library keeps in the workspace. In this configuration the vector cores do not wait for it by themselves.
const CLEAR_MESSAGES: &str = "\
namespace AscendC {
inline int clearWorkspace(...) { return 0; }
}  // namespace AscendC
namespace ascend_tune {
template <typename Address> inline void ClearMessages(Address workspace)
{
    using namespace AscendC;
    if constexpr (sizeof(Address) != 0 && !std::is_same_v<decltype(clearWorkspace(workspace)), int>) {
        if (ascendsim::OnMixedCores() && ascendsim::SubBlockDim() > 0) {
            clearWorkspace(workspace);
            if (!ascendsim::OnCubeCore()) {
                // The flag by which the library announces the end of clearing.
                wait_flag_dev(15);
            }
        }
    }
}
}  // namespace ascend_tune
";
const CALL_CLEAR: &str = "        ascend_tune::ClearMessages(static_cast<unsigned char*>(args[count - 2]));\n";

/// Text of the translation unit.
pub(crate) fn wrapper(
    texts: &[String],
    variant: &KernelVariant,
    generic: bool,
    toolkit: bool,
) -> Result<String, BuildError> {
    let key = variant.tiling_key;
    let entry = &variant.entry.function;
    let texts = || texts.iter().map(String::as_str);
    let mut text = String::from("// Generated: one variant of a kernel with the entry that the runner calls.\n");
    // A toolkit's headers come first, as they are compiled once for all variants; they name a variable for the key, and need
    // a macro at which kernels leave out SyncAll for tests that run one block after the other, which these are not.
    if toolkit {
        let _ = writeln!(text, "#include \"{TOOLKIT_KERNEL}\"\n#undef TILING_KEY_VAR\n#undef __CCE_KT_TEST__");
        // In this configuration some leave out what their tiling key means.
        if variant.entry.is_template && texts().any(|text| text.contains("ASCENDC_CPU_DEBUG")) {
            text.push_str("#undef ASCENDC_CPU_DEBUG\n");
        }
    }
    if variant.entry.is_template {
        text.push_str("#define ASCENDC_TPL_KERNEL 1\n");
    }
    if !generic {
        let _ = writeln!(text, "#define TILING_KEY_VAR {key}UL");
    } else if toolkit {
        text.push_str("#define TILING_KEY_VAR g_tilingKey\n");
    }
    text.push_str("#include \"kernel_operator.h\"\n");
    // The headers may have been compiled before the key was known.
    if !generic && !toolkit {
        text.push_str("#undef ASCENDSIM_TILING_KEY\n#define ASCENDSIM_TILING_KEY TILING_KEY_VAR\n");
    }
    definitions(variant, &mut text);
    if texts().any(|text| text.contains("ORIG_DTYPE_") || text.contains("FORMAT_")) {
        constants(&mut text);
    }
    let registered = registered_structure(texts());
    let own = registered
        .and_then(|name| name.rsplit("::").next())
        .filter(|structure| texts().any(|text| defines(text, structure)));
    text.push_str(&tiling_header(&variant.op_type, key, &variant.tiling_classes, own));
    let class = class_for(&variant.op_type, key, &variant.tiling_classes).map(|class| class.class.as_str());
    let fits = |name: &&str| class.is_none_or(|class| name.rsplit("::").next() == Some(class));
    if let Some(name) = registered.filter(fits) {
        let _ = writeln!(
            text,
            "#undef GET_TILING_DATA\n\
             #define GET_TILING_DATA(tiling_data, tiling_arg) GET_TILING_DATA_WITH_STRUCT({name}, tiling_data, tiling_arg)"
        );
    }
    // The entry may be called like a function of the C library; what begins with its name and ends with a number, like one of its own.
    let of_key = if generic { "all_keys".to_owned() } else { format!("key_{key}") };
    let _ = writeln!(text, "#define {entry} {entry}_{of_key}");
    let _ = writeln!(text, "#include \"{}\"", variant.entry.file);
    let function = instantiated(texts(), variant, &mut text)?;
    call_entry(entry, &function, toolkit, &mut text);
    Ok(text)
}

/// The function that the entry calls: of a template, the instance that the tiling key means. What its arguments need is added
/// to the text.
fn instantiated<'text>(
    texts: impl Iterator<Item = &'text str> + Clone,
    variant: &KernelVariant,
    text: &mut String,
) -> Result<String, BuildError> {
    let (entry, key) = (&variant.entry.function, variant.tiling_key);
    if !variant.entry.is_template {
        return Ok(format!("&{entry}"));
    }
    let Some(parameters) = texts.clone().find_map(declared_parameters) else {
        let mut entries = texts.flat_map(|text| kernel_entries("", text));
        let plain = entries.find(|one| one.function == *entry && !one.is_template);
        // A template beside a plain function of its name: nothing says how to instantiate the template.
        let plain = plain.ok_or_else(|| undeclared(variant))?;
        let parameters = vec!["GM_ADDR"; plain.parameters.len()].join(", ");
        return Ok(format!("static_cast<void (*)({parameters})>(&{entry})"));
    };
    text.push_str(DECODER);
    if !parameters.is_empty() {
        text.push_str(&width_check(&parameters, key));
    }
    Ok(format!("&{entry}<{}>", template_arguments(&parameters, key)))
}

/// That nothing says what the tiling key of a template means.
fn undeclared(variant: &KernelVariant) -> BuildError {
    let message = format!(
        "`{}` is a template, but no ASCENDC_TPL_ARGS_DECL says what its tiling key means in the files that it includes",
        variant.entry.function
    );
    BuildError::Compile(CompileFailure {
        what: OUTPUT.to_owned(),
        log: message.clone(),
        diagnostics: vec![super::Diagnostic {
            file: variant.entry.file.clone(),
            line: u32::try_from(variant.entry.line).unwrap_or(0),
            column: 0,
            severity: super::Severity::Error,
            message,
        }],
    })
}

/// The entry that the runner calls, with the kernel's name.
fn call_entry(entry: &str, function: &str, toolkit: bool, text: &mut String) {
    let (clear, call_clear) = if toolkit { (CLEAR_MESSAGES, CALL_CLEAR) } else { ("", "") };
    let _ = write!(
        text,
        "namespace ascend_tune {{\n\
         template <unsigned... Indices> struct Sequence {{}};\n\
         template <unsigned Count, unsigned... Indices> struct Counted : Counted<Count - 1, Count - 1, Indices...> {{}};\n\
         template <unsigned... Indices> struct Counted<0, Indices...> {{ using type = Sequence<Indices...>; }};\n\
         template <typename... Parameters, unsigned... Indices>\n\
         inline void Call(void (*entry)(Parameters...), void** args, unsigned count, Sequence<Indices...>)\n\
         {{\n\
         \x20   entry(reinterpret_cast<Parameters>(Indices < count ? args[Indices] : nullptr)...);\n\
         }}\n\
         template <typename... Parameters> inline void Call(void (*entry)(Parameters...), void** args, unsigned count)\n\
         {{\n\
         \x20   Call(entry, args, count, typename Counted<sizeof...(Parameters)>::type{{}});\n\
         }}\n\
         }}  // namespace ascend_tune\n\
         // As the operator compiler's entry does; the workspace comes before the tiling. Headers without the function get\n\
         // one that does nothing.\n\
         namespace AscendC {{\n\
         inline void SetSysWorkspaceForce(...) {{}}\n\
         }}  // namespace AscendC\n\
         {clear}\
         extern \"C\" void ascend_tune_entry(void** args, unsigned count)\n\
         {{\n\
         \x20   if (count >= 2) {{\n\
         \x20       AscendC::SetSysWorkspaceForce(static_cast<unsigned char*>(args[count - 2]));\n\
         {call_clear}\
         \x20   }}\n\
         \x20   ascend_tune::Call({function}, args, count);\n\
         }}\n\
         extern \"C\" {{\n\
         extern const char ascend_tune_kernel_name[];\n\
         const char ascend_tune_kernel_name[] = \"{entry}\";\n\
         }}\n"
    );
}

/// The structure that a kernel registers for all its tiling keys: a plain one, or the host's class once more in a namespace.
/// Several, which are for several architectures, or some for single keys, leave the choice to the class.
fn registered_structure<'text>(texts: impl Iterator<Item = &'text str>) -> Option<&'text str> {
    let mut names = BTreeSet::new();
    for line in texts.flat_map(str::lines).map(str::trim_start) {
        if line.starts_with("REGISTER_TILING_FOR_TILINGKEY") {
            return None;
        }
        let name = line.strip_prefix("REGISTER_TILING_DEFAULT(").and_then(|rest| rest.split_once(')'));
        names.extend(name.map(|(name, _)| name.trim()));
    }
    (names.len() == 1).then(|| names.pop_first()).flatten()
}

/// Whether a text defines a structure for all who include it: not within `#if`, other than the one that guards a header.
fn defines(text: &str, structure: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    let mut guards: Vec<bool> = Vec::new();
    while let Some(line) = lines.next() {
        let directive = |word: &str| line.strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix(word));
        if let Some(name) = directive("ifndef") {
            let defined = lines.peek().and_then(|next| next.strip_prefix("#define"));
            guards.push(defined.is_some_and(|defined| defined.trim() == name.trim()));
        } else if directive("if").is_some() {
            guards.push(false);
        } else if directive("endif").is_some() {
            guards.pop();
        } else if guards.iter().all(|is_guard| *is_guard) {
            let rest = line.strip_prefix("struct").or_else(|| line.strip_prefix("class")).map(str::trim_start);
            let behind = rest.and_then(|rest| rest.strip_prefix(structure)).map(str::trim_start);
            if behind.is_some_and(|behind| {
                behind.starts_with('{') || behind.is_empty() && lines.peek().is_some_and(|next| next.starts_with('{'))
            }) {
                return true;
            }
        }
    }
    false
}

/// Macros per tensor that the operator compiler defines.
fn definitions(variant: &KernelVariant, text: &mut String) {
    let inputs: BTreeSet<String> = variant.inputs.iter().map(|tensor| tensor.name.to_uppercase()).collect();
    let outputs = variant.outputs.iter().map(|tensor| {
        let name = tensor.name.to_uppercase();
        let name = if inputs.contains(&name) { format!("{name}_REF") } else { name };
        (name, tensor)
    });
    for (name, tensor) in variant.inputs.iter().map(|tensor| (tensor.name.to_uppercase(), tensor)).chain(outputs) {
        let Some((kind, constant)) = dtype_names(&tensor.dtype) else { continue };
        let _ = writeln!(text, "#define DTYPE_{name} {kind}");
        let _ = writeln!(text, "#define ORIG_DTYPE_{name} {constant}");
        let _ = writeln!(text, "#define FORMAT_{name} FORMAT_{}", tensor.format);
    }
}

/// Kernel type and constant of a dtype name.
fn dtype_names(dtype: &str) -> Option<(&'static str, &'static str)> {
    Some(match dtype {
        "float32" => ("float", "DT_FLOAT"),
        "float16" => ("half", "DT_FLOAT16"),
        "bfloat16" => ("bfloat16_t", "DT_BF16"),
        "int8" => ("int8_t", "DT_INT8"),
        "uint8" => ("uint8_t", "DT_UINT8"),
        "int16" => ("int16_t", "DT_INT16"),
        "uint16" => ("uint16_t", "DT_UINT16"),
        "int32" => ("int32_t", "DT_INT32"),
        "uint32" => ("uint32_t", "DT_UINT32"),
        "int64" => ("int64_t", "DT_INT64"),
        "uint64" => ("uint64_t", "DT_UINT64"),
        "float64" => ("double", "DT_DOUBLE"),
        "bool" => ("bool", "DT_BOOL"),
        // The family has no such type: kernels that are built for it work on pairs of floats by the tiling key.
        "complex64" => ("complex64", "DT_COMPLEX64"),
        "int4" | "DT_INT4" => ("AscendC::int4b_t", "DT_INT4"),
        _ => return None,
    })
}

/// Numbers for `#if ORIG_DTYPE_X == DT_FLOAT16`: the preprocessor knows no enumerators.
fn constants(text: &mut String) {
    for (name, number) in [
        ("DT_FLOAT", 0),
        ("DT_FLOAT16", 1),
        ("DT_INT8", 2),
        ("DT_INT32", 3),
        ("DT_UINT8", 4),
        ("DT_INT16", 6),
        ("DT_UINT16", 7),
        ("DT_UINT32", 8),
        ("DT_INT64", 9),
        ("DT_UINT64", 10),
        ("DT_DOUBLE", 11),
        ("DT_BOOL", 12),
        ("DT_COMPLEX64", 16),
        ("DT_BF16", 27),
        ("DT_INT4", 29),
        ("FORMAT_NCHW", 0),
        ("FORMAT_NHWC", 1),
        ("FORMAT_ND", 2),
        ("FORMAT_NC1HWC0", 3),
        ("FORMAT_FRACTAL_Z", 4),
        ("FORMAT_FRACTAL_NZ", 29),
    ] {
        let _ = writeln!(text, "#ifndef {name}\n#define {name} {number}\n#endif");
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel_variant::{TensorBinding, TilingClass};
    use super::*;
    use project::KernelEntry;

    fn tensor(name: &str, dtype: &str) -> TensorBinding {
        TensorBinding { name: name.into(), dtype: dtype.into(), format: "ND".into() }
    }

    fn variant(is_template: bool) -> KernelVariant {
        KernelVariant {
            op_type: "AddCustom".into(),
            entry: KernelEntry {
                file: "op_kernel/add_custom.cpp".into(),
                function: "add_custom".into(),
                parameters: vec![],
                is_template,
                line: 7,
            },
            inputs: vec![tensor("x", "float16")],
            outputs: vec![tensor("x", "float16"), tensor("z", "float32")],
            tiling_key: 3,
            tiling_classes: vec![],
        }
    }

    #[test]
    fn wrapper_defines_names_and_calls_the_entry() {
        let declaration = "ASCENDC_TPL_ARGS_DECL(A, ASCENDC_TPL_UINT_DECL(m, 8, ASCENDC_TPL_UI_LIST, 4, 5));";
        let texts = ["".to_owned(), declaration.to_owned()];
        let plain = wrapper(&texts, &variant(false), true, false).unwrap();
        for part in [
            "#define DTYPE_X half\n#define ORIG_DTYPE_X DT_FLOAT16\n#define FORMAT_X FORMAT_ND\n",
            "#define DTYPE_X_REF half\n",
            "#define DTYPE_Z float\n",
            "#define add_custom add_custom_all_keys\n#include \"op_kernel/add_custom.cpp\"\n",
            "ascend_tune::Call(&add_custom, args, count);",
        ] {
            assert!(plain.contains(part), "{part} in\n{plain}");
        }
        assert!(!plain.contains("TILING_KEY_VAR"));
        let of_one_key = wrapper(&texts, &variant(false), false, false).unwrap();
        assert!(of_one_key.contains("#define add_custom add_custom_key_3\n"), "add_custom_3 may be the kernel's own");
        let template = wrapper(&texts, &variant(true), false, false).unwrap();
        assert!(
            template.contains("#define TILING_KEY_VAR 3UL\n")
                && template.contains("&add_custom<ascend_tune::ListedValue<")
        );
        assert!(!plain.contains("launch.h"));
        let toolkit = wrapper(&texts, &variant(false), false, true).unwrap();
        assert!(
            toolkit.contains(
                "#include \"toolkit_kernel.h\"\n#undef TILING_KEY_VAR\n#undef __CCE_KT_TEST__\n#define TILING_KEY_VAR 3UL\n"
            ),
            "{toolkit}"
        );
        let hidden = format!("#ifndef ASCENDC_CPU_DEBUG\n{declaration}\n#endif\n");
        let template = wrapper(&[hidden], &variant(true), false, true).unwrap();
        assert!(template.contains("#undef ASCENDC_CPU_DEBUG\n"), "{template}");
        let get = "GET_TILING_DATA_WITH_STRUCT(Add::Tiling, tiling_data, tiling_arg)";
        for (kernel, registered) in [
            ("  REGISTER_TILING_DEFAULT(Add::Tiling);\n", true),
            ("// REGISTER_TILING_DEFAULT(Add::Tiling);\n", false),
            (
                "REGISTER_TILING_DEFAULT(Add::Tiling);\nREGISTER_TILING_FOR_TILINGKEY(\"TILING_KEY_VAR == 1\", B);\n",
                false,
            ),
            ("REGISTER_TILING_DEFAULT(Add::Tiling);\nREGISTER_TILING_DEFAULT(C);\n", false),
        ] {
            let texts = [kernel.to_owned()];
            let text = wrapper(&texts, &variant(false), true, false).unwrap();
            assert_eq!(text.contains(get), registered, "{kernel}");
        }
        let both = "template <int m> __global__ void add_custom(GM_ADDR x, GM_ADDR t) {}\n\
                    __global__ void add_custom(GM_ADDR x, GM_ADDR t) {}\n";
        let texts = [both.to_owned()];
        let chosen = wrapper(&texts, &variant(true), false, false).unwrap();
        let call = "ascend_tune::Call(static_cast<void (*)(GM_ADDR, GM_ADDR)>(&add_custom), args, count);";
        assert!(chosen.contains(call), "{chosen}");
        let error = wrapper(&[], &variant(true), false, false).unwrap_err().to_string();
        assert!(error.contains("op_kernel/add_custom.cpp:7:") && error.contains("ASCENDC_TPL_ARGS_DECL"), "{error}");
    }

    #[test]
    fn a_structure_of_the_kernel_is_not_declared_once_more() {
        let class = TilingClass { op: "AddCustom".into(), class: "Tiling".into(), size: 4, fields: vec![] };
        let variant = KernelVariant { tiling_classes: vec![class], ..variant(false) };
        let declared = |header: &str| {
            let kernel = "REGISTER_TILING_DEFAULT(Tiling);\n".to_owned();
            let text = wrapper(&[kernel, header.to_owned()], &variant, true, false).unwrap();
            text.contains("struct Tiling {")
        };
        assert!(declared(""));
        assert!(declared("#ifdef __CCE_KT_TEST__\nstruct Tiling {\n};\n#endif\n"), "tests bring their own");
        assert!(declared("struct Tiling;\nstruct TilingKey {\n};\n"));
        assert!(!declared("#ifndef H\n#define H\nnamespace add {\nstruct Tiling\n{\n};\n}\n#endif\n"));
    }
}
