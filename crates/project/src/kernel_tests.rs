//! An operator's kernel unit tests: programs that fill memory, launch the kernel with `ICPU_RUN_KF` and compare, often with
//! scripts. Here they are only found; the build makes the program.

use std::path::{Path, PathBuf};

use source::arch::TARGET;

use super::{OperatorProject, without_cmake_comments};

/// Folder of kernel unit tests below an operator, and of their common parts below a repository.
const FOLDER: &str = "tests/ut/op_kernel";

/// The kernel unit tests of an operator, for this architecture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelTests {
    /// Their folder.
    pub directory: PathBuf,
    /// Test files.
    pub sources: Vec<PathBuf>,
    /// What the repository's tests share: files without `main`.
    pub helpers: Vec<PathBuf>,
    /// Folders of both.
    pub includes: Vec<PathBuf>,
    /// Definitions that the tests' CMake file asks for, with their `-D`.
    pub defines: Vec<String>,
    /// Header that stands in for the generated tiling header.
    pub tiling_header: Option<PathBuf>,
    /// Whether the test files include the kernel's source themselves.
    pub includes_kernel: bool,
}

/// Why an operator has no kernel unit tests that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoKernelTests {
    /// There are none.
    #[error("the operator has no kernel unit tests ({FOLDER})")]
    None,
    /// All of them are for other architectures.
    #[error("{}: its tests are for other architectures than {}", directory.display(), TARGET.chip)]
    OtherArchitecture {
        /// Their folder.
        directory: PathBuf,
    },
    /// None of the files launches a kernel.
    #[error("{}: no test launches a kernel with ICPU_RUN_KF", directory.display())]
    NoLaunch {
        /// Their folder.
        directory: PathBuf,
    },
}

impl KernelTests {
    /// Finds the kernel unit tests of a project.
    pub fn find(project: &OperatorProject) -> Result<KernelTests, NoKernelTests> {
        let directory = project.root.join(FOLDER);
        let files = cpp_files(&directory);
        if files.is_empty() {
            return Err(NoKernelTests::None);
        }
        let calls = test_cases(&read(&directory.join("CMakeLists.txt")));
        let ours = calls.iter().find(|call| call.is_for_ascend910b());
        let other = || NoKernelTests::OtherArchitecture { directory: directory.clone() };
        if !calls.is_empty() && ours.is_none() {
            return Err(other());
        }
        let of_architecture: Vec<PathBuf> = files
            .into_iter()
            .filter(|path| {
                let name = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
                name.starts_with("test_") && !TARGET.is_foreign_test(&name)
            })
            .collect();
        if of_architecture.is_empty() {
            return Err(other());
        }
        let sources: Vec<PathBuf> = of_architecture.into_iter().filter(|path| launches(&read(path))).collect();
        if sources.is_empty() {
            return Err(NoKernelTests::NoLaunch { directory });
        }
        let includes_kernel = sources.iter().any(|path| includes_source(&read(path)));
        let tiling_header = tiling_header(&directory, project);
        let mut includes = vec![directory.clone()];
        let mut helpers = Vec::new();
        for parent in project.root.ancestors().skip(1) {
            let common = parent.join(FOLDER);
            if common.is_dir() {
                helpers.extend(cpp_files(&common).into_iter().filter(|path| !has_main(&read(path))));
                includes.push(common);
            }
            if parent == project.repository_root {
                break;
            }
        }
        Ok(KernelTests {
            directory,
            sources,
            helpers,
            includes,
            defines: ours.map(TestCase::defines).unwrap_or_default(),
            tiling_header,
            includes_kernel,
        })
    }
}

/// `<operator>_tiling_def.h` beside the tests.
fn tiling_header(directory: &Path, project: &OperatorProject) -> Option<PathBuf> {
    let operator = project.root.file_name()?.to_string_lossy().into_owned();
    let own = directory.join(format!("{operator}_tiling_def.h"));
    own.is_file().then_some(own)
}

fn read(path: &Path) -> String {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

fn cpp_files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cpp"))
        .collect();
    files.sort();
    files
}

/// Lines of code, line comments taken off.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split("//").next().unwrap_or_default())
}

fn launches(text: &str) -> bool {
    code_lines(text).any(|line| line.contains("ICPU_RUN_KF"))
}

fn has_main(text: &str) -> bool {
    code_lines(text).any(|line| line.contains("int main("))
}

fn includes_source(text: &str) -> bool {
    code_lines(text).any(|line| {
        let line = line.trim();
        line.starts_with("#include") && line.contains("op_kernel/") && line.contains(".cpp")
    })
}

/// A call of `AddOpTestCase` in a CMake file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct TestCase {
    words: Vec<String>,
}

impl TestCase {
    fn is_for_ascend910b(&self) -> bool {
        self.words.iter().take(2).any(|word| word.to_lowercase().contains("ascend910b"))
    }

    fn defines(&self) -> Vec<String> {
        let is_own = |word: &&str| word.starts_with("-D") && !word.contains("${") && !word.starts_with("-DUT_");
        self.words.iter().flat_map(|word| word.split_whitespace().filter(is_own)).map(str::to_owned).collect()
    }
}

fn test_cases(cmake: &str) -> Vec<TestCase> {
    let text = without_cmake_comments(cmake);
    let mut calls = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("AddOpTestCase") {
        rest = &rest[at + "AddOpTestCase".len()..];
        let Some(open) = rest.find('(') else { break };
        if !rest[..open].trim().is_empty() {
            continue;
        }
        let (words, used) = words(&rest[open + 1..]);
        rest = &rest[open + 1 + used..];
        calls.push(TestCase { words });
    }
    calls
}

/// Arguments up to the closing parenthesis, and how many bytes they took.
fn words(text: &str) -> (Vec<String>, usize) {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    let mut any = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => {
                quoted = !quoted;
                any = true;
            }
            ')' if !quoted => {
                if any {
                    words.push(word);
                }
                return (words, at + 1);
            }
            letter if letter.is_whitespace() && !quoted => {
                if any {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            letter => {
                word.push(letter);
                any = true;
            }
        }
    }
    (words, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(files: &[(&str, &str)]) -> (tempfile::TempDir, OperatorProject) {
        let base = tempfile::tempdir().unwrap();
        let all = [
            ("math/add/op_host/add.cpp", ""),
            ("math/add/op_kernel/add.cpp", "extern \"C\" __global__ __aicore__ void add(GM_ADDR x) {}\n"),
        ];
        for (name, text) in all.iter().chain(files) {
            let path = base.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let project = OperatorProject::find(&base.path().join("math/add")).unwrap();
        (base, project)
    }

    #[test]
    fn tests_of_this_architecture_are_found_with_their_options() {
        let (base, project) = operator(&[
            ("math/add/tests/ut/op_kernel/test_add.cpp", "ICPU_RUN_KF(add, 1, x);\n"),
            ("math/add/tests/ut/op_kernel/test_add_apt.cpp", "ICPU_RUN_KF(add, 1, x);\n"),
            ("math/add/tests/ut/op_kernel/test_add_more.cpp", "// ICPU_RUN_KF(add, 1, x);\n"),
            ("math/add/tests/ut/op_kernel/add_tiling_def.h", ""),
            (
                "math/add/tests/ut/op_kernel/CMakeLists.txt",
                "# AddOpTestCase(add \"ascend310p\" \"\")\nAddOpTestCase(add \"ascend950\" \"-DNO\")\n\
                 AddOpTestCase(add \"ascend910B1;ascend310p\" \"-DDTYPE_X=float -DA=1 -I${X}\" \"${files}\")\n",
            ),
            ("tests/ut/op_kernel/data_utils.cpp", "bool ReadFile();\n"),
            ("tests/ut/op_kernel/test_main.cpp", "int main() {}\n"),
        ]);
        std::fs::create_dir_all(base.path().join("cmake")).unwrap();
        let mut project = project;
        project.repository_root = base.path().to_owned();
        let tests = KernelTests::find(&project).unwrap();
        let names = |paths: &[PathBuf]| -> Vec<String> {
            paths.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names(&tests.sources), ["test_add.cpp"]);
        assert_eq!(names(&tests.helpers), ["data_utils.cpp"]);
        assert_eq!(tests.defines, ["-DDTYPE_X=float", "-DA=1"]);
        assert!(tests.tiling_header.is_some() && !tests.includes_kernel);
    }

    #[test]
    fn tests_of_others_are_told_apart() {
        let (_base, project) = operator(&[]);
        assert_eq!(KernelTests::find(&project), Err(NoKernelTests::None));
        let (_base, project) = operator(&[
            ("math/add/tests/ut/op_kernel/test_add.cpp", "ICPU_RUN_KF(add, 1, x);\n"),
            ("math/add/tests/ut/op_kernel/CMakeLists.txt", "AddOpTestCase(add \"ascend950\" \"\")\n"),
        ]);
        assert!(matches!(KernelTests::find(&project), Err(NoKernelTests::OtherArchitecture { .. })));
        let (_base, project) = operator(&[("math/add/tests/ut/op_kernel/test_add.cpp", "int x;\n")]);
        assert!(matches!(KernelTests::find(&project), Err(NoKernelTests::NoLaunch { .. })));
    }
}
