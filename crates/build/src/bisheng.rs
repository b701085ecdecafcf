//! The device compiler's command line on the host compiler, so that a plain `cmake --build` against the SDK works too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::builder::device_defines;
use super::direct::TOOLKIT_LIBRARIES;
use super::error::BuildError;
use super::kernel_kinds::KernelKinds;
use super::launch::{LAUNCH_HEADER, rewrite_launches};
use super::sdk::Sdk;
use source::lex::{Include, has_launch, includes};
use source::normal;

/// What the driver did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverOutcome {
    /// Exit code for the caller.
    pub code: u8,
    /// What is to be shown on standard error.
    pub output: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CommandLine {
    words: Vec<String>,
    sources: Vec<PathBuf>,
    depfile: Option<PathBuf>,
    links: bool,
}

/// Runs a compiler command line of the device compiler.
pub fn run(arguments: &[String], sdk: &Sdk) -> Result<DriverOutcome, BuildError> {
    if arguments.iter().any(|argument| argument == "--version" || argument == "-v") {
        return Ok(DriverOutcome {
            code: 0,
            output: format!("bisheng of cargo-ascend-tune over {}\n", sdk.compiler.version),
        });
    }
    let parsed = parse(arguments);
    let directory = std::env::current_dir().map_err(BuildError::io("."))?;
    let temporary =
        tempfile::Builder::new().prefix("ascend-tune-").tempdir().map_err(BuildError::io(std::env::temp_dir()))?;
    let mut words = parsed.words.clone();
    let mut originals = Vec::new();
    let mut texts = Vec::new();
    for (index, source) in parsed.sources.iter().enumerate() {
        let folder = temporary.path().join(index.to_string());
        let original = normal(&directory.join(source));
        match stage(&original, &folder) {
            Ok((staged, own_texts)) => {
                texts.extend(own_texts);
                words.extend(quote_folders(&original));
                words.extend([
                    "-x".to_owned(),
                    "c++".to_owned(),
                    staged.display().to_string(),
                    "-x".to_owned(),
                    "none".to_owned(),
                ]);
                originals.push((staged, source.clone()));
            }
            Err(StageError::Build(error)) => return Err(error),
            Err(StageError::Launch(message)) => {
                return Ok(DriverOutcome { code: 1, output: format!("{}:{message}\n", source.display()) });
            }
        }
    }
    if !parsed.sources.is_empty() {
        words.extend(device_defines());
        words.push("-D__DAV_C220_VEC__".to_owned());
        words.push(format!("-I{}", sdk.include().display()));
        words.extend([
            "-include".to_owned(),
            LAUNCH_HEADER.to_owned(),
            "-fPIC".to_owned(),
            "-fno-strict-aliasing".to_owned(),
        ]);
        words.extend(KernelKinds::of(texts.iter().map(String::as_str)).words());
    }
    if parsed.links {
        words.extend(sdk.link_words());
        words.extend(["-ldl", "-pthread"].map(str::to_owned));
    }
    let outcome = sdk.compiler.run(&directory, &words)?;
    if let Some(depfile) = &parsed.depfile {
        let path = directory.join(depfile);
        if let Ok(mut text) = std::fs::read_to_string(&path) {
            for (staged, original) in &originals {
                text = text.replace(&staged.display().to_string(), &original.display().to_string());
            }
            std::fs::write(&path, text).map_err(BuildError::io(path))?;
        }
    }
    Ok(DriverOutcome { code: u8::from(!outcome.success), output: outcome.output })
}

fn parse(arguments: &[String]) -> CommandLine {
    let mut result = CommandLine { links: true, ..CommandLine::default() };
    let mut as_device = false;
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "-c" | "-E" | "-S" => {
                result.links = false;
                result.words.push(word.to_owned());
            }
            "-x" => as_device = matches!(words.next(), Some("asc" | "cce")),
            "-xasc" | "-xcce" | "--asc-aicore-lang" | "--cce-aicore-lang" => as_device = true,
            "-mllvm" | "-Xclang" => {
                words.next();
            }
            "-dc" | "-lib" => result.links = false,
            "-MF" => {
                if let Some(file) = words.next() {
                    result.depfile = Some(file.into());
                    result.words.extend([word.to_owned(), file.to_owned()]);
                }
            }
            "-o" | "-MT" | "-MQ" | "-I" | "-isystem" | "-iquote" | "-include" | "-D" | "-U" | "-L" => {
                result.words.push(word.to_owned());
                result.words.extend(words.next().map(str::to_owned));
            }
            _ if is_device_only(word) => {}
            _ if !word.starts_with('-') && is_source(word, as_device) => result.sources.push(word.into()),
            _ => result.words.push(word.to_owned()),
        }
    }
    result
}

fn is_device_only(word: &str) -> bool {
    [
        "--npu-",
        "--cce-",
        "--asc-",
        "--run-mode",
        "--enable-simt",
        "--sanitizer",
        "--aicore-only",
        "-Xaicore-",
        "-Xhost-",
        "--cce",
    ]
    .iter()
    .any(|prefix| word.starts_with(prefix))
        || word.starts_with("-D_GLIBCXX_USE_CXX11_ABI")
        || word.strip_prefix("-l").is_some_and(|name| TOOLKIT_LIBRARIES.contains(&name))
}

fn is_source(word: &str, as_device: bool) -> bool {
    let extension = Path::new(word).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    extension == "asc"
        || (as_device && matches!(extension, "cpp" | "cc" | "cxx" | "cce"))
        || (!as_device
            && matches!(extension, "cpp" | "cc" | "cxx")
            && std::fs::read_to_string(word).is_ok_and(|text| has_launch(&text)))
        || (as_device && extension.is_empty() && Path::new(word).is_file())
}

/// Include folders of the original beside the staged copy.
fn quote_folders(original: &Path) -> Vec<String> {
    original.parent().map(|folder| format!("-iquote{}", folder.display())).into_iter().collect()
}

enum StageError {
    Build(BuildError),
    Launch(String),
}

/// Copies a source, and those of its quoted includes that launch kernels, with launches rewritten. Returns the copy and the
/// texts that it consists of.
fn stage(original: &Path, folder: &Path) -> Result<(PathBuf, Vec<String>), StageError> {
    let mut done = BTreeSet::new();
    let mut texts = Vec::new();
    let name = original.file_name().map(PathBuf::from).unwrap_or_default();
    let staged = folder.join("source").join(&name);
    let mut pending = vec![(original.to_owned(), staged.clone(), true)];
    while let Some((from, to, always)) = pending.pop() {
        if !done.insert(from.clone()) {
            continue;
        }
        let bytes = std::fs::read(&from).map_err(|error| StageError::Build(BuildError::io(&from)(error)))?;
        let text = String::from_utf8_lossy(&bytes);
        for include in includes(&text).into_iter().filter_map(Include::quoted).filter(|path| !path.starts_with("..")) {
            let (Some(from_folder), Some(to_folder)) = (from.parent(), to.parent()) else { continue };
            let path = from_folder.join(&include);
            if path.is_file() {
                pending.push((path, to_folder.join(&include), false));
            }
        }
        if always || has_launch(&text) {
            let rewritten = rewrite_launches(&text).map_err(|error| {
                StageError::Launch(format!("{}:{}: error: {}", error.line, error.column, error.message))
            })?;
            let escaped = from.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
            if let Some(parent) = to.parent() {
                fs_err::create_dir_all(parent).map_err(|error| StageError::Build(BuildError::io(parent)(error)))?;
            }
            std::fs::write(&to, format!("#line 1 \"{escaped}\"\n{}", rewritten.text))
                .map_err(|error| StageError::Build(BuildError::io(&to)(error)))?;
        }
        texts.push(text.into_owned());
    }
    Ok((staged, texts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_words_go() {
        let line = "-DN=1 -I/a -std=c++17 --npu-arch=dav-2201 -O3 -x asc -MD -MT o -MF o.d -o o -c add.asc";
        let parsed = parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(parsed.words.join(" "), "-DN=1 -I/a -std=c++17 -O3 -MD -MT o -MF o.d -o o -c");
        assert_eq!((parsed.sources, parsed.links), (vec![PathBuf::from("add.asc")], false));
        let link =
            parse(&"--npu-arch=dav-2201 a.o -o demo -lascendcl -lm".split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(link.words.join(" "), "a.o -o demo -lm");
        assert!(link.links && link.sources.is_empty());
    }

    #[test]
    fn staged_sources_keep_their_lines() {
        let temporary = tempfile::tempdir().unwrap();
        let source = temporary.path().join("a.asc");
        std::fs::write(&source, "#include \"run.h\"\n#include \"plain.h\"\nk<<<1, 0, s>>>(x);\n").unwrap();
        std::fs::write(temporary.path().join("run.h"), "inline void r() { k<<<1, 0, s>>>(x); }\n").unwrap();
        std::fs::write(temporary.path().join("plain.h"), "int p;\n").unwrap();
        let folder = temporary.path().join("stage");
        let Ok((staged, _)) = stage(&source, &folder) else { panic!("staging failed") };
        let text = std::fs::read_to_string(&staged).unwrap();
        assert!(text.starts_with("#line 1 \"") && text.contains("::ascendsim::Launch(\"k\", 1, 0, s)"));
        assert!(folder.join("source/run.h").is_file() && !folder.join("source/plain.h").exists());
    }
}
