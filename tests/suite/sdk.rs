//! The self-checking programs of `sdk/tests`, built against the SDK's library.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use crate::support::{require_tools, root, sdk};

/// Programs that run longer than a compiler needs to optimise them.
const LONG: [&str; 1] = ["isa_arith"];

/// What most programs begin with.
const HEADERS: [&str; 2] = ["#include \"kernel_operator.h\"", "#include \"isa_support.h\""];

/// The compiler as it compiles every program.
fn compiler() -> Command {
    let sdk = sdk();
    let mut command = Command::new(sdk.compiler.program());
    command.args(["-std=c++17", "-DASC_API=inline", "-Wall", "-Wextra", "-Werror"]).args(
        [sdk.include().to_owned(), sdk.root.join("src"), root().join("sdk/tests")]
            .map(|folder| format!("-I{}", folder.display())),
    );
    command
}

/// A header with both of [`HEADERS`], compiled once: reading them is a third of the work of most programs.
fn compiled_headers() -> PathBuf {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    let folder = COMPILED.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sdk-tests");
        fs_err::create_dir_all(&folder).expect("a folder");
        let header = folder.join("headers.h");
        fs_err::write(&header, HEADERS.join("\n") + "\n").expect("the header is written");
        let mut command = compiler();
        command.args(["-O0", "-x", "c++-header"]).arg(&header).arg("-o").arg(folder.join("headers.h.gch"));
        let built = command.output().expect("the compiler runs");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        folder
    });
    folder.join("headers.h")
}

/// Compiles `sdk/tests/<name>.cpp` with all warnings as errors, runs it in a directory of its own and returns what it printed.
fn run(name: &str, arguments: &[&str]) -> String {
    let sdk = sdk();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let source = root().join("sdk/tests").join(format!("{name}.cpp"));
    let program = directory.path().join(name);
    let library = sdk.library_directory.display();
    let text = fs_err::read_to_string(&source).expect("the source is there");
    // What is defined before a header may change what it says.
    let mut directives = text.lines().filter(|line| line.starts_with('#'));
    let first = directives.find(|line| !line.starts_with("#include <"));
    let begins_with_headers = first.is_some_and(|line| HEADERS.contains(&line));
    let build = |output: &std::path::Path, more: &[&str]| {
        let mut command = compiler();
        if LONG.contains(&name) {
            command.arg("-O1");
        } else if more.is_empty() && begins_with_headers {
            command.arg("-O0").arg("-include").arg(compiled_headers());
        } else {
            command.arg("-O0");
        }
        let built = command
            .args(more)
            .arg(&source)
            .arg("-o")
            .arg(output)
            .args([format!("-L{library}"), format!("-Wl,-rpath,{library}")])
            .args(["-lascend_sim", "-ldl"])
            .output()
            .expect("the compiler runs");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    };
    build(&program, &[]);
    // A program for both kinds of cores loads itself, built for the cube core.
    let twin = format!("{name}_cube.so");
    if text.contains(&twin) {
        build(&directory.path().join(twin), &["-D__DAV_C220_CUBE__", "-shared", "-fPIC"]);
    }
    let ran = Command::new(&program).args(arguments).current_dir(directory.path()).output().expect("the program runs");
    let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{}\n{stdout}{stderr}", ran.status);
    stdout.into_owned()
}

fn check(name: &str) {
    require_tools!();
    run(name, &[]);
}

/// `docs/isa.md` is the table of instructions in prose; with `BLESS` in the environment it is written anew.
#[test]
fn isa_page() {
    require_tools!();
    let printed = run("isa_table", &["--markdown"]);
    let page = root().join("docs/isa.md");
    if std::env::var_os("BLESS").is_some() {
        fs_err::write(&page, &printed).expect("the page is written");
    }
    let written = fs_err::read_to_string(&page).expect("the page is there");
    assert_eq!(written, printed, "docs/isa.md is not the table; BLESS=1 writes it");
}

/// Compiles all headers of some folders that are written from `sdk/forwards.toml` in one translation unit; how many they are.
fn compile_forwards(folders: &[&str]) -> usize {
    let sdk = sdk();
    // By their paths: a header of another folder may have the same name.
    let text: String = folders
        .iter()
        .flat_map(|folder| walkdir::WalkDir::new(sdk.root.join(folder)).sort_by_file_name())
        .map(|entry| entry.expect("the SDK is unpacked").into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "h"))
        .filter(|path| fs_err::read_to_string(path).expect("a header").starts_with("// Generated from forwards.toml"))
        .map(|path| format!("#include \"{}\"\n", path.display()))
        .collect();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let source = directory.path().join("forwards.cpp");
    fs_err::write(&source, &text).expect("the source is written");
    let compiled = Command::new(sdk.compiler.program())
        .args(["-std=c++17", "-fsyntax-only", "-D__NPU_ARCH__=2201", "-D__CCE_AICORE__=220", "-D__DAV_C220__"])
        .arg("-DASCENDC_SIM=1")
        .args(["include", "unit_test", "src"].map(|name| format!("-I{}", sdk.root.join(name).display())))
        .arg(&source)
        .output()
        .expect("the compiler runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    text.lines().count()
}

/// Kernels include the header of their tiling, and with it what hosts include: that alone must not make them do anything before a launch,
/// which is refused as something that no device does.
#[test]
fn headers_of_hosts_have_a_kernel_do_nothing_before_its_launch() {
    require_tools!();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let source = directory.path().join("kernel.cpp");
    let headers =
        ["kernel_operator.h", "register/op_def_registry.h", "register/tilingdata_base.h", "tiling/tiling_api.h"];
    let text: String = headers.iter().map(|header| format!("#include \"{header}\"\n")).collect();
    let initialised = |more: &str| {
        fs_err::write(&source, format!("{text}{more}")).expect("the source is written");
        let mut command = compiler();
        let defined = ["-D__NPU_ARCH__=2201", "-D__CCE_AICORE__=220", "-D__DAV_C220__", "-DASCENDC_SIM=1"];
        let made = command.args(defined).args(["-w", "-O0", "-S", "-o", "-"]).arg(&source).output();
        let made = made.expect("the compiler runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        String::from_utf8_lossy(&made.stdout).contains(".init_array")
    };
    assert!(!initialised(""));
    assert!(initialised("#include <iostream>\n"), "which is how it is told");
}

#[test]
fn forwards_compile_together() {
    require_tools!();
    // No kernel sees our own headers and those that stand under a toolkit's.
    let found = compile_forwards(&["include", "unit_test"]) + compile_forwards(&["toolkit"]);
    assert!(found > 600, "{found}");
}

macro_rules! programs {
    ($($name:ident),+ $(,)?) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )+

        /// A program that nobody runs checks nothing.
        #[test]
        fn no_program_is_left_out() {
            let mut found: Vec<String> = fs_err::read_dir(root().join("sdk/tests"))
                .expect("the folder is there")
                .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".cpp").map(str::to_owned))
                .collect();
            found.sort();
            assert_eq!(found, [$(stringify!($name)),+]);
        }
    };
}

programs!(
    api_activation,
    api_cube,
    api_cube_moves,
    api_dropout,
    api_flags,
    api_floor,
    api_library_buffers,
    api_masks,
    api_math,
    api_matmul,
    api_matmul_batch,
    api_matmul_callbacks,
    api_matmul_config,
    api_matmul_mix,
    api_matmul_settings,
    api_normalization,
    api_params,
    api_quantization,
    api_queue,
    api_reduce_select,
    api_registers,
    api_resources,
    api_results,
    api_rows,
    api_scalar,
    api_softmax,
    api_template_key,
    api_transfers,
    api_vector,
    host_acl,
    host_acl_rtc,
    host_json,
    host_log,
    host_registry,
    host_tiling_api,
    host_tiling_data,
    isa_alignment,
    isa_arith,
    isa_convert,
    isa_differential,
    isa_differential_cube,
    isa_differential_fractals,
    isa_differential_select,
    isa_machine,
    isa_narrow,
    isa_rearrange,
    isa_records,
    isa_records_cube,
    isa_registers,
    isa_table,
    machine_blocks,
    machine_mix,
    machine_timing_only,
    runner_in_place,
    runner_job,
    unit_tiling,
);
