//! The operator that the tests run by hand: its object, made by the stand-in's compilers and kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::standin::{Layout, Standin};
use crate::support::{root, sdk};

/// Sources of the operator.
pub fn sources() -> PathBuf {
    root().join("tests/standin/projects/msopgen")
}

/// The pair of its only variant: `.o` and `.json`.
pub fn pair() -> (&'static Path, &'static Path) {
    static PAIR: LazyLock<(PathBuf, PathBuf)> = LazyLock::new(make);
    (&PAIR.0, &PAIR.1)
}

/// Its host library.
pub fn host() -> PathBuf {
    pair().0.with_file_name("libascend_all_ops.so")
}

/// A program of the tests, made against the stand-in's headers and library: `by_hand` launches kernels, `tiling_by_hand` asks tiling
/// functions.
pub fn program(name: &str) -> &'static Path {
    static PROGRAMS: LazyLock<Mutex<BTreeMap<String, &'static Path>>> = LazyLock::new(Mutex::default);
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    programs.entry(name.to_owned()).or_insert_with(|| Box::leak(compiled(name).into_boxed_path()))
}

fn compiled(name: &str) -> PathBuf {
    let standin = Standin::new(Layout::Old, "Ascend910B2");
    let source = root().join("tests/standin/device").join(format!("{name}.cpp"));
    let digest = blake3::hash(&fs_err::read(&source).expect("a source")).to_hex();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("standin-{name}-{}", &digest[..16]));
    if !program.is_file() {
        let mut compiler = Command::new(sdk().compiler.program());
        compiler.args(["-std=c++17", "-Wall", "-Wextra", "-Werror"]).arg(source).arg("-o").arg(&program);
        compiler.arg(format!("-I{}", standin.home().join("include").display()));
        compiler.arg(format!("-L{}", standin.home().join("lib64").display()));
        compiler.args(["-Wl,--allow-shlib-undefined", "-lascendcl", "-ldl"]);
        let ended = compiler.output().expect("the compiler runs");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    program
}

fn make() -> (PathBuf, PathBuf) {
    let standin = Standin::new(Layout::Old, "Ascend910B2");
    let mut digest = blake3::Hasher::new();
    digest.update(sdk().library_directory.as_os_str().as_encoded_bytes());
    for file in ["op_host/scale_add.cpp", "op_host/scale_add_tiling.h", "op_kernel/scale_add.cpp"] {
        digest.update(&fs_err::read(sources().join(file)).expect("a source"));
    }
    digest.update(include_bytes!("../object.rs"));
    let name = format!("standin-object-{}", &digest.finalize().to_hex()[..16]);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if !folder.join("done").is_file() {
        let host = folder.join("libascend_all_ops.so");
        fs_err::create_dir_all(&folder).expect("a folder");
        let mut compiler = Command::new(sdk().compiler.program());
        compiler.args(["-std=c++17", "-fPIC", "-shared"]).arg(sources().join("op_host/scale_add.cpp"));
        compiler.arg(format!("-I{}", standin.home().join("include").display())).arg("-o").arg(&host);
        assert!(compiler.status().expect("the compiler runs").success());
        let built = standin.program("op_build").args([&host, &folder]).output().expect("op_build runs");
        assert!(built.status.success(), "{built:?}");
        let mut opc = standin.program("opc");
        opc.arg(sources().join("op_kernel/scale_add.cpp"));
        opc.arg(format!("--op={}", folder.join("scale_add.op.json").display()));
        opc.args(["--main_func=scale_add", "--index=0"]).arg(format!("--output={}", folder.display()));
        let compiled = opc.output().expect("opc runs");
        assert!(compiled.status.success(), "{compiled:?}");
        fs_err::write(folder.join("done"), "").expect("a file");
    }
    let of = |extension: &str| {
        let entries = fs_err::read_dir(&folder).expect("a folder").filter_map(Result::ok).map(|entry| entry.path());
        let fits = |path: &PathBuf| {
            path.extension().is_some_and(|found| found == extension)
                && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ScaleAdd_"))
        };
        entries.into_iter().find(fits).expect("one of the pair")
    };
    (of("o"), of("json"))
}

/// Elements of the tensors that tests use.
pub const ELEMENTS: usize = 8192;

/// Inputs `x` and `z` as halves of small whole numbers, and the right answer for a scale of 2.
pub fn data() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let halves =
        |of: &dyn Fn(usize) -> f32| -> Vec<u8> { (0..ELEMENTS).flat_map(|at| half(of(at)).to_le_bytes()).collect() };
    let (x, z) = (|at: usize| (at % 17) as f32, |at: usize| (at % 5) as f32);
    (halves(&x), halves(&z), halves(&|at| 2.0 * x(at) + z(at)))
}

/// Bits of a small whole number as a half.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    if bits == 0 {
        return 0;
    }
    let exponent = ((bits >> 23) & 0xFF) - 127 + 15;
    u16::try_from((exponent << 10) | ((bits >> 13) & 0x3FF)).expect("a half")
}

/// Tiling data for so many cores and elements of a tile.
pub fn tiling(cores: u32, tile: u32) -> Vec<u8> {
    let words = [u32::try_from(ELEMENTS).expect("small") / cores, tile, 2.0_f32.to_bits()];
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}
