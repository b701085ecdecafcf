//! Library and runner of the SDK: compiled once per compiler.
//!
//! What the compiler does with one source alone is mostly to read headers that all of them include, and to make the same instances of
//! templates. So sources of a folder are compiled together, in units that are few and large, and yet enough for two processors.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use walkdir::WalkDir;

use super::cache::{Digest, publish_directory, remove_old};
use super::compiler::Compiler;
use super::error::{BuildError, CompileFailure};
use super::slots::Slots;
use toolchain::diagnostics::parse_compiler_output;

pub(super) const LIBRARY: &str = "libascend_sim.so";
pub(super) const RUNNER: &str = "ascend_sim_runner";
/// Nobody asks which floating-point exceptions were raised: without them roundings go many at a time, with the same results. Nor does
/// anybody ask for lines of the library: what is reported are those of kernels.
const LIBRARY_FLAGS: [&str; 5] = ["-std=c++17", "-march=native", "-ffp-contract=off", "-fno-trapping-math", "-fPIC"];
/// Instructions work on many elements at once; what is around them decides on one thing after the other, for which the compiler's most
/// costly passes do nothing. What answers a tiling function is asked a few times in a run.
const MANY_AT_ONCE: &str = "-O3";
const ONE_BY_ONE: &str = "-O2";
const QUICK_TO_COMPILE: &str = "-Og";
/// Folders of the library and of the runner, each with how it is compiled. What takes longest comes first.
const FOLDERS: [(&str, &str); 7] = [
    ("src/isa", MANY_AT_ONCE),
    ("runner", QUICK_TO_COMPILE),
    ("src/machine", ONE_BY_ONE),
    ("src/host", QUICK_TO_COMPILE),
    ("src/tiling_api", QUICK_TO_COMPILE),
    ("src/toolkit", ONE_BY_ONE),
    ("src/acl", QUICK_TO_COMPILE),
];
/// Text of the sources of one unit, about; instructions take several times as long as others.
const UNIT_BYTES: u64 = 200_000;
const INSTRUCTION_UNIT_BYTES: u64 = 80_000;

/// How folders begin that something is made in, and when nobody can be at it any more: whoever was has been killed.
const BEGUN: [&str; 2] = [".lib-", ".headers-"];
const GIVEN_UP_AFTER: Duration = Duration::from_secs(24 * 3600);

/// Sources that are compiled together.
#[derive(Debug)]
struct Unit {
    /// Name of its file.
    name: String,
    level: &'static str,
    sources: Vec<PathBuf>,
    is_of_runner: bool,
}

/// The units of a tree, those of a folder in the order of their names.
fn units(root: &Path) -> Result<Vec<Unit>, BuildError> {
    let mut units: Vec<Unit> = Vec::new();
    let mut known = 0;
    for (folder, level) in FOLDERS {
        let most = if folder == "src/isa" { INSTRUCTION_UNIT_BYTES } else { UNIT_BYTES };
        let mut filled = most;
        for source in sources(&root.join(folder))? {
            known += 1;
            let bytes = std::fs::metadata(&source).map_err(BuildError::io(&source))?.len();
            if filled + bytes > most {
                let name = format!("{}-{}.cpp", folder.replace('/', "-"), units.len());
                units.push(Unit { name, level, sources: Vec::new(), is_of_runner: folder == "runner" });
                filled = 0;
            }
            filled += bytes;
            if let Some(unit) = units.last_mut() {
                unit.sources.push(source);
            }
        }
    }
    let all = sources(&root.join("src"))?.len() + sources(&root.join("runner"))?.len();
    match all == known {
        true => Ok(units),
        false => Err(BuildError::Environment {
            message: format!("{}: a folder of src/ is not known to the builder", root.display()),
            fix: "put its sources into one that is, or name it in crates/build/src/sdk_library.rs".to_owned(),
        }),
    }
}

fn sources(directory: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let mut files = Vec::new();
    if !directory.is_dir() {
        return Ok(files);
    }
    for entry in WalkDir::new(directory).sort_by_file_name() {
        let entry = entry.map_err(|error| BuildError::Io { path: directory.to_owned(), source: error.into() })?;
        if entry.path().extension().is_some_and(|extension| extension == "cpp") {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

/// Folder of the library in the cache: named by what it is compiled from, so that a change of headers that only kernels
/// include, or of CMake files, does not build it again.
pub(super) fn library_name(root: &Path, compiler: &Compiler) -> Result<String, BuildError> {
    let mut name = Digest::new("library 3");
    name.text(&compiler.identity).texts(LIBRARY_FLAGS);
    name.texts(FOLDERS.iter().flat_map(|(folder, level)| [*folder, *level]));
    for folder in ["src", "runner", "include"].map(|folder| root.join(folder)) {
        for entry in WalkDir::new(&folder).sort_by_file_name().into_iter().flatten() {
            let path = entry.path();
            if entry.file_type().is_file() && !path.starts_with(root.join("include/ascendc")) {
                name.text(&path.strip_prefix(root).unwrap_or(path).to_string_lossy());
                name.bytes(&std::fs::read(path).map_err(BuildError::io(path))?);
            }
        }
    }
    Ok(format!("lib-{}", name.finish()))
}

/// Builds the library into its folder of the cache where it is not there yet, and says whether it was compiled now.
pub(super) fn build_library(
    root: &Path,
    compiler: &Compiler,
    target: &Path,
    slots: &Slots,
) -> Result<bool, BuildError> {
    if target.join(LIBRARY).is_file() {
        return Ok(false);
    }
    let cache = target.parent().unwrap_or(target);
    // Building takes a while on all cores: a second process waits instead of doing the same.
    let lock_path = target.with_extension("lock");
    let lock = File::create(&lock_path).map_err(BuildError::io(&lock_path))?;
    lock.lock().map_err(BuildError::io(&lock_path))?;
    if target.join(LIBRARY).is_file() {
        return Ok(false);
    }
    let temporary = tempfile::Builder::new().prefix(".lib-").tempdir_in(cache).map_err(BuildError::io(cache))?;
    let units = units(root)?;
    compile_all(root, temporary.path(), compiler, &units, slots)?;
    let objects = |of_runner: bool| {
        let chosen = units.iter().filter(move |unit| unit.is_of_runner == of_runner);
        chosen.map(|unit| object(temporary.path(), unit).display().to_string()).collect::<Vec<_>>()
    };
    let output = temporary.path().join(LIBRARY).display().to_string();
    let mut words = vec!["-shared".to_owned(), "-o".to_owned(), output, format!("-Wl,-soname,{LIBRARY}")];
    words.extend(objects(false));
    words.extend(["-ldl", "-pthread", "-lm"].map(str::to_owned));
    run(root, compiler, LIBRARY, &words)?;
    let of_runner = objects(true);
    if !of_runner.is_empty() {
        let output = temporary.path().join(RUNNER).display().to_string();
        let mut words = vec!["-o".to_owned(), output, "-rdynamic".to_owned()];
        words.extend(of_runner);
        words.push(format!("-L{}", temporary.path().display()));
        words.extend(
            ["-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed", "-lascend_sim", "-ldl", "-pthread"].map(str::to_owned),
        );
        run(root, compiler, RUNNER, &words)?;
    }
    for unit in &units {
        let _ = std::fs::remove_file(object(temporary.path(), unit));
        let _ = std::fs::remove_file(temporary.path().join(&unit.name));
    }
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(temporary.path(), std::fs::Permissions::from_mode(0o755))
        .map_err(BuildError::io(temporary.path()))?;
    publish_directory(temporary, target)?;
    for begun in BEGUN {
        remove_old(cache, begun, 0, GIVEN_UP_AFTER);
    }
    Ok(true)
}

fn object(output: &Path, unit: &Unit) -> PathBuf {
    output.join(&unit.name).with_extension("o")
}

fn compile_all(
    root: &Path,
    output: &Path,
    compiler: &Compiler,
    units: &[Unit],
    slots: &Slots,
) -> Result<(), BuildError> {
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<BuildError>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..slots.count().min(units.len()) {
            scope.spawn(|| {
                loop {
                    let _slot = slots.take();
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(unit) = units.get(index) else { return };
                    if let Err(error) = compile(root, output, compiler, unit) {
                        if let Ok(mut slot) = failure.lock() {
                            slot.get_or_insert(error);
                        }
                        next.store(units.len(), Ordering::Relaxed);
                        return;
                    }
                }
            });
        }
    });
    match failure.into_inner() {
        Ok(Some(error)) => Err(error),
        _ => Ok(()),
    }
}

fn compile(root: &Path, output: &Path, compiler: &Compiler, unit: &Unit) -> Result<(), BuildError> {
    let path = output.join(&unit.name);
    // Seen from the tree, whose own path may have characters that cannot stand there.
    let inside = unit.sources.iter().map(|source| source.strip_prefix(root).unwrap_or(source));
    let text: String = inside.map(|source| format!("#include \"{}\"\n", source.display())).collect();
    std::fs::write(&path, text).map_err(BuildError::io(&path))?;
    let mut words: Vec<String> = LIBRARY_FLAGS.map(str::to_owned).to_vec();
    words.push(unit.level.to_owned());
    words.push(format!("-ffile-prefix-map={}=.", root.display()));
    words.push(format!("-I{}", root.join("include").display()));
    words.push(format!("-I{}", root.join("src").display()));
    words.push(format!("-I{}", root.display()));
    let object = object(output, unit).display().to_string();
    words.extend(["-c".to_owned(), path.display().to_string(), "-o".to_owned(), object]);
    run(root, compiler, LIBRARY, &words)
}

fn run(root: &Path, compiler: &Compiler, what: &str, words: &[String]) -> Result<(), BuildError> {
    let outcome = compiler.run(root, compiler.output_flags().iter().chain(words))?;
    if outcome.success {
        return Ok(());
    }
    let diagnostics = parse_compiler_output(&outcome.output, &|path| {
        Path::new(path).strip_prefix(root).map_or_else(|_| path.to_owned(), |rest| format!("sdk/{}", rest.display()))
    });
    Err(BuildError::Compile(CompileFailure { what: format!("the SDK's {what}"), diagnostics, log: outcome.output }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_is_in_one_unit_and_units_are_not_too_large() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk");
        let units = units(&root).unwrap();
        let all: Vec<&PathBuf> = units.iter().flat_map(|unit| &unit.sources).collect();
        assert_eq!(all.len(), sources(&root.join("src")).unwrap().len() + sources(&root.join("runner")).unwrap().len());
        assert!((8..16).contains(&units.len()), "{units:?}");
        assert!(units.iter().all(|unit| unit.is_of_runner == unit.sources[0].starts_with(root.join("runner"))));
    }

    #[test]
    fn a_folder_that_nobody_knows_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("src/other");
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::write(folder.join("one.cpp"), "").unwrap();
        assert!(units(directory.path()).unwrap_err().to_string().contains("a folder of src/ is not known"));
    }
}
