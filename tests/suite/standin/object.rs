//! The compilers of the stand-in: `bisheng`, `opc` that makes a kernel object, `op_build` that writes what an operator definition says.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::program::Started;
use crate::support::sdk;

/// Words of the host compiler that kernels are compiled with, for vector cores.
const DEVICE_WORDS: [&str; 9] = [
    "-std=c++17",
    "-O1",
    "-g1",
    "-fPIC",
    "-w",
    "-D__NPU_ARCH__=2201",
    "-D__CCE_AICORE__=220",
    "-D__DAV_C220__",
    "-D__DAV_C220_VEC__",
];

/// The device compiler's driver, on the host compiler.
pub fn bisheng(started: &Started) -> i32 {
    let lib = started.home().join("lib64");
    // Before the SDK's own library, so that launches come by the stand-in's devices.
    let device = lib.join("libascendcl.so").display().to_string();
    let mut words = vec![format!("-Wl,--no-as-needed,{device}"), format!("-Wl,-rpath,{}", lib.display())];
    if started.words.iter().any(|word| ["-c", "-E", "-S", "--version", "-v"].contains(&word.as_str())) {
        words.clear();
    }
    words.extend(started.words.iter().cloned());
    match build::bisheng::run(&words, sdk()) {
        Ok(outcome) => {
            eprint!("{}", outcome.output);
            i32::from(outcome.code)
        }
        Err(error) => {
            eprintln!("bisheng: error: {error}");
            1
        }
    }
}

/// What a library of host code registers, by the SDK's runner.
fn described(own: &Path, library: &Path) -> Result<Value, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (job, result) = (folder.path().join("job"), folder.path().join("result"));
    let library = std::path::absolute(library).map_err(|error| error.to_string())?;
    let asked = serde_json::json!({ "mode": "describe", "host": library, "result": result });
    fs_err::write(&job, asked.to_string()).map_err(|error| error.to_string())?;
    let ended = Command::new(own.join("ascend_sim_runner")).arg(&job).output().map_err(|error| error.to_string())?;
    let text = fs_err::read(&result).map_err(|_| String::from_utf8_lossy(&ended.stderr).into_owned())?;
    let described: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    if described["ops"].is_null() { Err(described.to_string()) } else { Ok(described) }
}

/// `AddCustom` to `add_custom`.
fn file_name(op_type: &str) -> String {
    let mut name = String::new();
    for (at, letter) in op_type.char_indices() {
        if letter.is_ascii_uppercase() && at > 0 {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// `op_build LIBRARY FOLDER`: what is generated from operator definitions.
pub fn op_build(mut started: Started) -> i32 {
    let [library, folder] = &started.words[..] else {
        started.say("usage: op_build LIBRARY FOLDER");
        return 1;
    };
    let (library, folder) = (PathBuf::from(library), PathBuf::from(folder));
    let described = match described(&started.own, &library) {
        Ok(described) => described,
        Err(message) => {
            started.say(&format!("[ERROR] {message}"));
            return 1;
        }
    };
    let ops: Vec<&Value> =
        described["ops"].as_array().into_iter().flatten().filter(|op| op["defined"] == true).collect();
    if ops.is_empty() {
        started.say("[ERROR] No operator is registered!");
        return 1;
    }
    fs_err::create_dir_all(&folder).expect("a folder");
    let mut ini: BTreeMap<String, String> = BTreeMap::new();
    for op in ops {
        let kind = op["type"].as_str().expect("a type");
        let file = file_name(kind);
        let guard = format!("ACLNN_{}_H", file.to_uppercase());
        let header = format!("#ifndef {guard}\n#define {guard}\n#include \"acl/acl_base_rt.h\"\n#endif\n");
        fs_err::write(folder.join(format!("aclnn_{file}.h")), header).expect("a header");
        let source = format!(
            "#include \"aclnn_{file}.h\"\nextern \"C\" aclError aclnn{kind}GetWorkspaceSize() {{ return ACL_ERROR_API_NOT_SUPPORT; }}\n"
        );
        fs_err::write(folder.join(format!("aclnn_{file}.cpp")), source).expect("a source");
        let mut text = format!("[{kind}]\n");
        for (role, name) in [("inputs", "input"), ("outputs", "output")] {
            for (number, tensor) in op[role].as_array().into_iter().flatten().enumerate() {
                let list = |key: &str| {
                    let words = tensor[key].as_array().into_iter().flatten();
                    words.filter_map(Value::as_str).collect::<Vec<_>>().join(",")
                };
                let _ = writeln!(text, "{name}{number}.name={}", tensor["name"].as_str().unwrap_or_default());
                let _ = writeln!(text, "{name}{number}.paramType={}", tensor["param"].as_str().unwrap_or_default());
                let _ = writeln!(
                    text,
                    "{name}{number}.dtype={}\n{name}{number}.format={}",
                    list("dtypes"),
                    list("formats")
                );
            }
        }
        let _ = writeln!(text, "opFile.value={file}\nopInterface.value={file}");
        for unit in
            op["configs"].as_object().map(|configs| configs.keys().cloned().collect::<Vec<_>>()).unwrap_or_default()
        {
            ini.entry(unit).or_default().push_str(&text);
        }
        let json = json!({ "op": op, "tiling_classes": described["tiling_classes"] });
        fs_err::write(folder.join(format!("{file}.op.json")), json.to_string()).expect("a file");
    }
    for (unit, text) in ini {
        fs_err::write(folder.join(format!("aic-{unit}-ops-info.ini")), text).expect("a file");
    }
    fs_err::write(folder.join("op_proto.h"), "#pragma once\n").expect("a header");
    fs_err::write(folder.join("op_proto.cc"), "#include \"op_proto.h\"\n").expect("a source");
    0
}

/// `opc SOURCE (--op=FILE.op.json | --tiling-lib=FILE --op-type=TYPE) --main_func=NAME --index=N --output=FOLDER [words for the compiler]`: the object and its text.
pub fn opc(mut started: Started) -> i32 {
    let kernel = started.words.first().cloned().unwrap_or_default();
    match started.knobs().get("kernel_compile").as_deref() {
        Some("silent") => {
            started.say(&format!("compile Ascend C operator: {kernel} success!"));
            return 0;
        }
        Some("fails") => {
            started.say("[ERROR] An error occurred during compile phases of CompileStage.COMPILE, msg is the stand-in was told to.");
            started.say("Opc tool compile failed.");
            return 1;
        }
        _ => {}
    }
    match compile(&started) {
        Ok(name) => {
            started.say(&format!("compile Ascend C operator: {name} success!"));
            0
        }
        Err(message) => {
            eprint!("{message}");
            started.say("[ERROR] An error occurred during compile phases of CompileStage.PREPROCESS, msg is the compiler failed.");
            started.say("[ERROR] Opc tool compile failed.");
            1
        }
    }
}

fn compile(started: &Started) -> Result<String, String> {
    let io = |error: std::io::Error| error.to_string();
    let source = std::path::absolute(&started.words[0]).map_err(io)?;
    let value = |name: &str| {
        let flag = format!("--{name}=");
        started.words.iter().find_map(|word| word.strip_prefix(&flag)).ok_or(format!("opc: there is no --{name}\n"))
    };
    let description = description(started, &value)?;
    let index: usize = value("index")?.parse().map_err(|_| "opc: --index is no number\n".to_owned())?;
    let op = &description["op"];
    let kind = op["type"].as_str().ok_or("opc: no type\n")?;
    let variant = variant(op, index);
    let digest = blake3::hash(format!("{kind}{variant:?}").as_bytes());
    // The name says what it is called for and not what is in it: a changed kernel has the same.
    let name = format!("{kind}_{}", &digest.to_hex()[..32]);
    let keys = tiling_keys(&fs_err::read_to_string(&source).map_err(io)?);
    let classes = description["tiling_classes"].as_array().cloned().unwrap_or_default();
    let (wrapper, tiling_bytes) = wrapper(&source, kind, value("main_func")?, &name, &keys, &variant, &classes);
    let folder = PathBuf::from(value("output")?);
    fs_err::create_dir_all(&folder).map_err(io)?;
    let unit = folder.join(format!("{name}.cpp"));
    fs_err::write(&unit, wrapper).map_err(io)?;
    let object = folder.join(format!("{name}.o"));
    let home = started.home();
    let mut command = Command::new(sdk().compiler.program());
    command.args(DEVICE_WORDS).arg(format!("-I{}", home.join("include").display()));
    command.args(started.words.iter().filter(|word| word.starts_with("-D") || word.starts_with("-I")));
    command.args(["-shared", "-Wl,-Bsymbolic"]).arg(&unit).arg("-o").arg(&object);
    command.arg(format!("-L{}", home.join("lib64").display())).arg("-lascend_sim");
    let ended = command.output().map_err(io)?;
    if !ended.status.success() {
        return Err(String::from_utf8_lossy(&ended.stderr).into_owned());
    }
    fs_err::remove_file(&unit).map_err(io)?;
    let content = fs_err::read(&object).map_err(io)?;
    let list: Vec<Value> =
        keys.iter().map(|key| json!({ "kernelName": format!("{name}_{key}"), "tilingKey": key })).collect();
    let text = json!({
        "binFileName": name,
        "binFileSuffix": ".o",
        "kernelName": name,
        "kernelList": list,
        "magic": "RT_DEV_BINARY_MAGIC_ELF_AIVEC",
        "coreType": "VectorCore",
        "taskRation": "0:1",
        "blockDim": -1,
        "opParaSize": tiling_bytes,
        "workspace": { "num": 1, "size": [-1], "type": [0] },
        "parameters": [],
        "intercoreSync": 0,
        "deterministic": "ignore",
        "optionalInputMode": "gen_placeholder",
        "sha256": blake3::hash(&content).to_hex().to_string(),
    });
    fs_err::write(folder.join(format!("{name}.json")), text.to_string()).map_err(io)?;
    Ok(kind.to_owned())
}

/// What is known of the operator: from `op_build`'s file, or from a tiling library that the kernel's command names.
fn description<'words>(
    started: &Started,
    value: &impl Fn(&str) -> Result<&'words str, String>,
) -> Result<Value, String> {
    if let Ok(file) = value("op") {
        let text = fs_err::read_to_string(file).map_err(|error| error.to_string())?;
        return serde_json::from_str(&text).map_err(|error| error.to_string());
    }
    let (library, kind) = (value("tiling-lib")?, value("op-type")?);
    let described = described(&started.own, Path::new(library))?;
    let op = described["ops"].as_array().into_iter().flatten().find(|op| op["type"] == kind);
    let op = op.ok_or(format!("opc: {library} registers no {kind}\n"))?;
    Ok(json!({ "op": op, "tiling_classes": described["tiling_classes"] }))
}

/// Tensors with the dtype and format of one variant: name, dtype, format.
fn variant(op: &Value, index: usize) -> Vec<(String, String, String)> {
    let of = |tensor: &Value, key: &str| {
        let list = tensor[key].as_array().cloned().unwrap_or_default();
        list.get(index).or(list.last()).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let tensors = ["inputs", "outputs"].into_iter().flat_map(|role| op[role].as_array().into_iter().flatten());
    tensors
        .map(|tensor| {
            (tensor["name"].as_str().unwrap_or_default().to_owned(), of(tensor, "dtypes"), of(tensor, "formats"))
        })
        .collect()
}

/// Keys that a kernel asks for; 0 where it asks for none.
fn tiling_keys(source: &str) -> Vec<u64> {
    let parts = source.split("TILING_KEY_IS(").skip(1);
    let mut keys: Vec<u64> = parts.filter_map(|part| part.split(')').next()?.trim().parse().ok()).collect();
    keys.sort_unstable();
    keys.dedup();
    if keys.is_empty() { vec![0] } else { keys }
}

fn kernel_type(dtype: &str) -> &str {
    match dtype {
        "float16" => "half",
        "float32" => "float",
        "bfloat16" => "bfloat16_t",
        "bool" => "bool",
        other => integer_type(other),
    }
}

fn integer_type(dtype: &str) -> &'static str {
    match dtype {
        "int8" => "int8_t",
        "uint8" => "uint8_t",
        "int16" => "int16_t",
        "uint16" => "uint16_t",
        "int64" => "int64_t",
        "uint32" => "uint32_t",
        "uint64" => "uint64_t",
        _ => "int32_t",
    }
}

/// The translation unit around a kernel, and the bytes of its tiling data.
fn wrapper(
    source: &Path,
    op_type: &str,
    function: &str,
    name: &str,
    keys: &[u64],
    variant: &[(String, String, String)],
    classes: &[Value],
) -> (String, u64) {
    let mut text = String::from("#include \"kernel_operator.h\"\n");
    for (tensor, dtype, format) in variant {
        let tensor = tensor.to_uppercase();
        let _ =
            writeln!(text, "#define DTYPE_{tensor} {}\n#define FORMAT_{tensor} FORMAT_{format}", kernel_type(dtype));
    }
    let mut bytes = 0;
    for class in classes {
        let kind = class["class"].as_str().unwrap_or_default();
        let _ = writeln!(text, "#pragma pack(push, 8)\nstruct {kind} {{");
        for field in class["fields"].as_array().into_iter().flatten() {
            let (kind, name) = (field["type"].as_str().unwrap_or_default(), field["name"].as_str().unwrap_or_default());
            let many = if field["array"] == true { format!("[{}]", field["count"]) } else { String::new() };
            let _ = writeln!(text, "    {kind} {name}{many};");
        }
        let _ = writeln!(text, "}};\n#pragma pack(pop)");
        if class["op"] == op_type {
            bytes = class["size"].as_u64().unwrap_or(0);
            let _ = writeln!(
                text,
                "#undef GET_TILING_DATA\n#define GET_TILING_DATA(data, from) GET_TILING_DATA_WITH_STRUCT({kind}, data, from)"
            );
        }
    }
    let _ = write!(
        text,
        "#include \"{}\"\n\
         #include <utility>\n\
         namespace AscendC {{ inline void SetSysWorkspaceForce(...) {{}} }}\n\
         namespace standin {{\n\
         template <typename T> T As(void* value)\n\
         {{\n\
         \x20   if constexpr (std::is_pointer_v<T>) {{ return reinterpret_cast<T>(value); }}\n\
         \x20   else {{ return static_cast<T>(reinterpret_cast<uintptr_t>(value)); }}\n\
         }}\n\
         template <typename... P, size_t... I> void Call(void (*entry)(P...), void** args, std::index_sequence<I...>)\n\
         {{ entry(As<P>(args[I])...); }}\n\
         template <typename... P> void Call(void (*entry)(P...), void** args)\n\
         {{ Call(entry, args, std::make_index_sequence<sizeof...(P)>{{}}); }}\n\
         template <typename... P> constexpr unsigned Count(void (*)(P...)) {{ return sizeof...(P); }}\n\
         }}\n\
         extern \"C\" {{\n\
         extern const char standin_kernel_name[];\nconst char standin_kernel_name[] = \"{name}\";\n",
        source.display()
    );
    for key in keys {
        let symbol = format!("{name}_{key}");
        let _ = write!(
            text,
            "extern const unsigned {symbol}__arguments;\nconst unsigned {symbol}__arguments = standin::Count(&{function});\n\
             extern const uint64_t {symbol}__key;\nconst uint64_t {symbol}__key = {key}ULL;\n\
             void {symbol}(void** args, unsigned count)\n{{\n\
             \x20   if (count >= 2) {{ AscendC::SetSysWorkspaceForce(static_cast<uint8_t*>(args[count - 2])); }}\n\
             \x20   standin::Call(&{function}, args);\n}}\n"
        );
    }
    // What frameworks launch beside the operator: a kernel of another name.
    text.push_str(
        "extern const unsigned helper_memset__arguments;\nconst unsigned helper_memset__arguments = 1;\n\
         void helper_memset(void**, unsigned) { AscendC::PipeBarrier<PIPE_ALL>(); }\n}\n",
    );
    (text, bytes)
}
