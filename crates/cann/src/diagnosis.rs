//! What the toolkit's programs say when something goes wrong, as findings of a class, with the project's file and line.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use toolchain::Severity;
use toolchain::diagnostics::{parse_cmake_output, parse_compiler_output};

/// What kind of trouble it is, which says whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A compiler does not accept the sources.
    Source,
    /// The definition of the operator does not compile, or registers nothing.
    Registration,
    /// CMake does not accept the project.
    Project,
    /// A tile is larger than the memory that it has to fit in.
    TooLarge,
    /// The kernel compiler failed without a place in the sources.
    KernelCompile,
    /// The build said that it succeeded and left no kernel object.
    NoObject,
    /// The tiling function refused the shape.
    TilingRefused,
    /// An interface was called with what it does not take.
    Parameter,
    /// The operator library failed inside.
    Inner,
    /// The kernel ended with a fault on the device.
    Fault,
    /// The kernel did not end.
    Hang,
    /// The device or its memory failed, whatever ran on it.
    Device,
    /// A tool failed and nothing known was said.
    Unknown,
}

impl Class {
    /// Whether it says something about the candidate; others are about the machine or the way it was driven.
    pub fn is_of_sources(self) -> bool {
        !matches!(self, Class::Device | Class::Unknown | Class::NoObject)
    }

    fn words(self) -> &'static str {
        match self {
            Class::Source => "the sources do not compile",
            Class::Registration => "the operator's definition does not build",
            Class::Project => "CMake refuses the project",
            Class::TooLarge => "a tile does not fit",
            Class::KernelCompile => "the kernel does not compile",
            Class::NoObject => "the build left no kernel object",
            Class::TilingRefused => "the tiling function refused",
            Class::Parameter => "an argument is not accepted",
            Class::Inner => "the operator library failed inside",
            Class::Fault => "the kernel faulted",
            Class::Hang => "the kernel did not end",
            Class::Device => "the device failed",
            Class::Unknown => "a tool failed",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.words())
    }
}

/// One thing that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of trouble it is.
    pub class: Class,
    /// The code that goes with it (`EZ9999`, `507015`), where there is one.
    pub code: Option<String>,
    /// File, by the project's own name; empty where none was named.
    pub file: String,
    /// Line from 1; 0 if unknown.
    pub line: u32,
    /// Column from 1; 0 if unknown.
    pub column: u32,
    /// The words.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(formatter, "{}:", self.file)?;
            for number in [self.line, self.column].into_iter().take_while(|number| *number > 0) {
                write!(formatter, "{number}:")?;
            }
            formatter.write_str(" ")?;
        }
        write!(formatter, "{}: {}", self.class, self.message)?;
        match &self.code {
            Some(code) if !self.message.contains(code.as_str()) => write!(formatter, " [{code}]"),
            _ => Ok(()),
        }
    }
}

/// Words of a line by which its class is known: all of an entry's words have to be in it, in whatever case.
const SAID: [(Class, &[&str]); 35] = [
    (Class::TooLarge, &["ub overflow"]),
    (Class::TooLarge, &["overflow, requires", "bits available"]),
    (Class::Registration, &["no operator is registered"]),
    (Class::Registration, &["build ops lib error"]),
    (Class::Registration, &["opbuild run failed"]),
    (Class::Registration, &["opbuild ops error"]),
    (Class::Registration, &["compile ascend all ops failed"]),
    (Class::Registration, &["ops binary compile scripts gen failed"]),
    (Class::Registration, &["duplicate with built-in operators"]),
    (Class::Project, &["value not set.", "soc_version"]),
    (Class::Project, &["does not support, the support list is"]),
    (Class::Project, &["asc compiler not found"]),
    (Class::Project, &["cannot find -l"]),
    (Class::KernelCompile, &["an error occurred during compile phases"]),
    (Class::KernelCompile, &["opc tool compile failed"]),
    (Class::KernelCompile, &["kernel compile failed, the run package will not be generated"]),
    (Class::KernelCompile, &["kernel compilation error"]),
    (Class::KernelCompile, &["fail op-type:", "fail compute-unit:"]),
    (Class::KernelCompile, &["miss kernel implementation for op"]),
    (Class::TilingRefused, &["do tiling failed"]),
    (Class::TilingRefused, &["dotiling", "failed"]),
    (Class::TilingRefused, &["e90003"]),
    (Class::TilingRefused, &["tiling func failed"]),
    (Class::Parameter, &["aclnn_parameter_error"]),
    (Class::Parameter, &["ez1001"]),
    (Class::Parameter, &["161001"]),
    (Class::Parameter, &["161002"]),
    (Class::Device, &["ecc"]),
    (Class::Device, &["507899"]),
    (Class::Device, &["device heartbeat", "lost"]),
    (Class::Hang, &["507014"]),
    (Class::Hang, &["aicore", "timeout"]),
    (Class::Fault, &["507015"]),
    (Class::Fault, &["aicore kernel exec failed"]),
    (Class::Inner, &["561002"]),
];

/// Findings in what tools said, the most telling first: places in the sources, then causes, then what follows from them. `map` turns
/// a path of the build into the project's own name.
pub fn diagnose(log: &str, map: &dyn Fn(&str) -> String) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let places = format!("{log}\n{}", out_of_cmake(log));
    let map_place = |place: &str| map(without_prefix(place));
    for diagnostic in
        parse_compiler_output(&places, &map_place).into_iter().filter(|found| found.severity == Severity::Error)
    {
        // The shared reader speaks of the embedded SDK.
        let message = diagnostic.message.replace("the SDK does not define it", "nothing that is linked defines it");
        found.push(Finding {
            class: class_of(&message).unwrap_or(Class::Source),
            code: None,
            file: diagnostic.file,
            line: diagnostic.line,
            column: diagnostic.column,
            message,
        });
    }
    for (program, message) in log.lines().filter(|line| !is_repeated(line)).filter_map(by_program) {
        let class = class_of(message).unwrap_or(Class::Source);
        let message = format!("{program}: {message}");
        found.push(Finding { class, code: None, file: String::new(), line: 0, column: 0, message });
    }
    for diagnostic in parse_cmake_output(log, map) {
        found.push(Finding {
            class: class_of(&diagnostic.message).unwrap_or(Class::Project),
            code: None,
            file: diagnostic.file,
            line: diagnostic.line,
            column: 0,
            message: diagnostic.message,
        });
    }
    for line in log.lines().map(str::trim).filter(|line| !line.is_empty() && !is_repeated(line)) {
        let Some(class) = class_of(line).or_else(|| is_exception(line).then_some(Class::Unknown)) else { continue };
        let (file, row) = tagged(line).map_or((String::new(), 0), |(file, row)| (map(&file), row));
        found.push(Finding { class, code: code_of(line), file, line: row, column: 0, message: line.to_owned() });
    }
    let mut seen = BTreeSet::new();
    found.retain(|finding| seen.insert((finding.class, finding.file.clone(), finding.line, finding.message.clone())));
    // A line that repeats the text of a finding with a place says nothing more.
    let placed: Vec<String> =
        found.iter().filter(|finding| finding.line > 0).map(|finding| finding.message.clone()).collect();
    found.retain(|finding| finding.line > 0 || !placed.iter().any(|message| finding.message.contains(message)));
    found.sort_by_key(rank);
    found
}

/// How a script in Python says why it ended: `FileNotFoundError: ..`.
fn is_exception(line: &str) -> bool {
    let name = line.split_once(": ").map_or("", |(name, _)| name);
    let ends = name.ends_with("Error") || name.ends_with("Exception");
    ends && name.starts_with(|one: char| one.is_ascii_uppercase())
        && name.chars().all(|one| one.is_ascii_alphanumeric())
}

/// An error of a compiler or linker itself, without a place: `ld.lld: error: undefined symbol: f`.
fn by_program(line: &str) -> Option<(&str, &str)> {
    let (program, message) = line.trim().split_once(": error: ")?;
    let name = program.rsplit('/').next().unwrap_or(program);
    let is_program = !name.is_empty() && !name.contains([':', ' ', '(']);
    (is_program && name.chars().any(|one| one.is_ascii_alphabetic())).then(|| (name, message.trim()))
}

/// What drivers say after what their linker said.
const FOLLOWS: [&str; 2] = ["ld returned 1 exit status", "linker command failed with exit code"];

/// Lines that only lead to, or come of, what is said elsewhere.
fn is_repeated(line: &str) -> bool {
    line.starts_with("CMake Error") || line.starts_with("raise ") || FOLLOWS.iter().any(|word| line.contains(word))
}

/// The path at the end of what a tool writes before it (`build ops lib error: /p/a.cpp`).
fn without_prefix(place: &str) -> &str {
    place.rsplit_once(": ").map_or(place, |(_, path)| path)
}

/// Lines of a compiler that CMake's `message` has flowed into a paragraph and broken anew, one a finding.
fn out_of_cmake(log: &str) -> String {
    const ERRORS: [&str; 2] = ["error:", "fatal"];
    let mut lines = String::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut inside = false;
    let mut end = |paragraph: &mut Vec<&str>| {
        let is_place = |word: &str| {
            let mut parts = word.rsplitn(4, ':');
            let numbers = parts.next() == Some("") && (0..2).all(|_| parts.next().is_some_and(is_number));
            numbers && parts.next().is_some_and(|file| !file.is_empty())
        };
        let places: Vec<usize> = (0..paragraph.len()).filter(|at| is_place(paragraph[*at])).collect();
        for (place, at) in places.iter().enumerate() {
            let until = places.get(place + 1).copied().unwrap_or(paragraph.len());
            if paragraph.get(at + 1).is_some_and(|word| ERRORS.contains(word)) {
                // The source line behind its number, a caret and what make says come after it.
                let words = &paragraph[*at..until];
                let is_next = |at: &usize| {
                    let (word, next) = (words[*at], words.get(at + 1).copied().unwrap_or_default());
                    word.starts_with(['^', '~', '|']) || word.starts_with("make") || is_number(word) && next == "|"
                };
                let length = (0..words.len()).find(is_next).unwrap_or(words.len());
                lines.push_str(&words[..length].join(" "));
                lines.push('\n');
            }
        }
        paragraph.clear();
    };
    for line in log.lines() {
        if line.starts_with("CMake Error") {
            end(&mut paragraph);
            inside = true;
        } else if inside && line.starts_with("  ") {
            paragraph.extend(line.split_whitespace());
        } else if !line.trim().is_empty() {
            inside = false;
        }
    }
    end(&mut paragraph);
    lines
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn rank(finding: &Finding) -> u8 {
    match (finding.class, finding.line > 0) {
        (Class::Source | Class::TooLarge, true) => 0,
        (Class::TooLarge, false) => 1,
        (Class::Source, false) => 2,
        // CMake's place is where it gave up, mostly not the cause.
        (Class::Registration | Class::KernelCompile, _) => 4,
        (Class::Project, _) => 3,
        (Class::TilingRefused | Class::Parameter | Class::Device, _) => 3,
        (Class::Fault | Class::Hang | Class::NoObject, _) => 5,
        (Class::Inner | Class::Unknown, _) => 6,
    }
}

fn class_of(line: &str) -> Option<Class> {
    let lower = line.to_ascii_lowercase();
    let has = |word: &&str| match word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        // A code, or a word of its own: `ecc` is part of many others.
        true => {
            lower.split(|one: char| !one.is_ascii_alphanumeric()).any(|part| part == *word)
                || word.len() > 6 && lower.contains(*word)
        }
        false => lower.contains(*word),
    };
    SAID.iter().find(|(_, words)| words.iter().all(has)).map(|(class, _)| *class)
}

/// Letters and digits as the toolkit forms codes (`EZ9999`, `E90003`), or the number of a run-time error.
fn code_of(line: &str) -> Option<String> {
    let is_code = |word: &&str| {
        let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
        let digits = &word[letters..];
        let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        all_digits && (matches!(letters, 1..=3) && matches!(digits.len(), 4..=5) || letters == 0 && digits.len() == 6)
    };
    line.split(|one: char| !one.is_ascii_alphanumeric()).find(is_code).map(str::to_owned)
}

/// `[FILE:path][LINE:12]`, which messages of the run time carry.
fn tagged(line: &str) -> Option<(String, u32)> {
    let value = |name: &str| {
        let (_, rest) = line.split_once(&format!("[{name}:"))?;
        Some(rest.split_once(']')?.0.trim().to_owned())
    };
    Some((value("FILE")?, value("LINE").and_then(|row| row.parse().ok()).unwrap_or(0)))
}

/// Log files that a log sends its reader to (`See also "..._error.log"`).
pub fn named_logs(log: &str) -> Vec<PathBuf> {
    let mut named = Vec::new();
    for line in log.lines().filter(|line| line.to_ascii_lowercase().contains("see also")) {
        let words = line.split(['"', '\'', '`', ' ', '\t']).map(|word| word.trim_matches([',', '.', ':', ';']));
        for word in words.filter(|word| word.ends_with(".log")) {
            let path = PathBuf::from(word);
            if !named.contains(&path) {
                named.push(path);
            }
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::{Class, diagnose, named_logs};

    fn map(path: &str) -> String {
        path.trim_start_matches("/w/cann/source/").to_owned()
    }

    /// Logs are made up in the documented shapes.
    #[test]
    fn what_tools_say_has_a_class_and_a_place() {
        let cases: [(&str, Class, &str, &str); 24] = [
            (
                "/w/cann/source/op_kernel/add.cpp:12:9: error: use of undeclared identifier 'Foo'",
                Class::Source,
                "op_kernel/add.cpp:12",
                "use of undeclared identifier 'Foo'",
            ),
            (
                "/w/cann/source/op_host/add.cpp:3:10: fatal error: 'x.h' file not found\n1 error generated.\nmake[2]: *** [CMakeFiles/x.dir/y.o] Error 1",
                Class::Source,
                "op_host/add.cpp:3",
                "'x.h' file not found",
            ),
            ("ld.lld: error: undefined symbol: foo\n", Class::Source, ":0", "ld.lld: undefined symbol: foo"),
            (
                "build ops lib error: /w/cann/source/op_host/add.cpp:7:1: error: expected ';'\nopbuild run failed!",
                Class::Source,
                "op_host/add.cpp:7",
                "expected ';'",
            ),
            ("opbuild ops error: No operator is registered!", Class::Registration, ":0", "No operator is registered!"),
            (
                "CMake Error at op_host/CMakeLists.txt:9 (message):\n  opbuild run failed! \n\n-- Configuring incomplete",
                Class::Registration,
                "op_host/CMakeLists.txt:9",
                "opbuild run failed!",
            ),
            (
                "CMake Error at CMakeLists.txt:4 (find_package):\n  Could not find a package configuration file\n",
                Class::Project,
                "CMakeLists.txt:4",
                "Could not find a package",
            ),
            (
                "CMake Error at cmake/a.cmake:9 (message):\n  SOC_VERSION value not set.\n",
                Class::Project,
                "cmake/a.cmake:9",
                "value not set",
            ),
            (
                "An error occurred during compile phases of CompileStage.COMPILE, msg is oops",
                Class::KernelCompile,
                ":0",
                "msg is oops",
            ),
            ("Opc tool compile failed.", Class::KernelCompile, ":0", "Opc tool"),
            (
                "[ERROR] Kernel compile failed, the run package will not be generated.",
                Class::KernelCompile,
                ":0",
                "Kernel compile failed",
            ),
            (
                "=========== Failed operators ===========\nfail op-type: AddCustom, fail compute-unit: ascend910b.",
                Class::KernelCompile,
                ":0",
                "AddCustom",
            ),
            (
                "RuntimeError: Kernel Compilation Error: OpType AddCustom Kernel File /x/add.cpp!",
                Class::KernelCompile,
                ":0",
                "AddCustom",
            ),
            (
                "/w/cann/source/op_kernel/a.cpp:5:3: error: ub overflow, requires 2621440 bits while 1572864 bits available!",
                Class::TooLarge,
                "op_kernel/a.cpp:5",
                "2621440",
            ),
            (
                "error: ub overflow, requires 2621440 bits while 1572864 bits available!",
                Class::TooLarge,
                ":0",
                "2621440",
            ),
            (
                "EZ9999: Inner Error! AddCustom do tiling failed, ret is -1[FUNC:DoTiling][FILE:op_tiling.cc][LINE:231]",
                Class::TilingRefused,
                "op_tiling.cc:231",
                "do tiling failed",
            ),
            ("E90003: Tiling of op AddCustom fails", Class::TilingRefused, ":0", "Tiling of op"),
            ("Check NnopbaseExecutorDoTiling(executor) failed", Class::TilingRefused, ":0", "Executor"),
            (
                "AclNN_Parameter_Error(EZ1001): Expected a proper Tensor but got null for argument x.",
                Class::Parameter,
                ":0",
                "null",
            ),
            ("aclnnAddCustom failed. ERROR: 561002", Class::Inner, ":0", "561002"),
            ("synchronize stream failed, runtime result = 507014", Class::Hang, ":0", "507014"),
            ("rtStreamSynchronize execute failed, reason=[aicore timeout]", Class::Hang, ":0", "timeout"),
            ("Aicore Kernel Exec Failed, runtime result = 507015", Class::Fault, ":0", "507015"),
            ("HBM ECC error happened on device 0, rtMemcpy failed 507015", Class::Device, ":0", "HBM ECC"),
        ];
        for (log, class, place, words) in cases {
            let found = diagnose(log, &map);
            let first = found.first().unwrap_or_else(|| panic!("nothing in {log}"));
            assert_eq!(first.class, class, "{log}: {found:?}");
            assert_eq!(format!("{}:{}", first.file, first.line), place, "{log}: {found:?}");
            assert!(first.message.contains(words), "{log}: {found:?}");
        }
    }

    /// What CMake makes of the same lines where its own text is wide enough to be broken.
    #[test]
    fn places_are_found_in_what_cmake_has_broken_anew() {
        let log = "CMake Error at /t/fwk_modules/func.cmake:760 (message):\n  opbuild run failed!\n  \
            /w/cann/source/op_host/add_custom_with_a_long_name_of_its_own.cpp:17:5:\n  error: 'Foo' was not declared in this\n  \
            scope 17 | Foo(); | ^~~ make: *** [a.o] Error 1\nCall Stack (most recent call first):\n  op_host/CMakeLists.txt:3 (npu_op_code_gen)\n\n\n\
            -- Configuring incomplete, errors occurred!\n";
        let found = diagnose(log, &map);
        assert_eq!(
            found[0].to_string(),
            "op_host/add_custom_with_a_long_name_of_its_own.cpp:17:5: the sources do not compile: 'Foo' was not declared in this scope"
        );
        assert_eq!(
            (found[1].class, found[1].file.as_str(), found[1].line),
            (Class::Registration, "op_host/CMakeLists.txt", 3)
        );
    }

    #[test]
    fn a_good_build_says_nothing() {
        let log = "[100%] Built target ascendc_bin\ncompile Ascend C operator: AddCustom success!\n\
            /w/a.cpp:1:2: warning: unused\n-- Found 0 errors, specced and recce\n";
        assert!(diagnose(log, &map).is_empty(), "{:?}", diagnose(log, &map));
    }

    #[test]
    fn a_linkers_words_count_and_not_what_its_driver_says_after_it() {
        let log = "/usr/bin/ld: cannot find -lplatform: No such file or directory\ncollect2: error: ld returned 1 exit status\n";
        let found = diagnose(log, &map);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].class, found[0].message.contains("-lplatform")), (Class::Project, true));
    }

    #[test]
    fn codes_go_along() {
        let found = diagnose("EZ9999: Inner Error! do tiling failed, ret is -1", &map);
        assert_eq!(found[0].code.as_deref(), Some("EZ9999"));
        let found = diagnose("launch: 507015 Aicore Kernel Exec Failed", &map);
        assert_eq!(found[0].code.as_deref(), Some("507015"));
        assert_eq!(found[0].to_string(), "the kernel faulted: launch: 507015 Aicore Kernel Exec Failed");
    }

    #[test]
    fn logs_that_are_named_are_followed() {
        let log = "ERROR: compile failed. See also \"/w/log/ascend910b/AddCustom_error.log\".\nSee also: b_error.log, c_error.log\n";
        let named: Vec<String> = named_logs(log).iter().map(|path| path.display().to_string()).collect();
        assert_eq!(named, ["/w/log/ascend910b/AddCustom_error.log", "b_error.log", "c_error.log"]);
    }
}
