//! What a kernel's library may take from elsewhere, and what it must not bring along.
//!
//! On a device a kernel is alone: there are no processes, files or signals, instructions are what they are, and nobody can ask who
//! measures. Here it is loaded beside the simulator, where all of that could be reached.

use std::collections::BTreeSet;
use std::path::Path;

use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use source::lex::tokens;

use super::sdk::Sdk;

/// Functions of the system that no device has. Memory and text are left alone: scalar code may well use them.
const OF_A_SYSTEM: [&str; 78] = [
    "_Exit",
    "__clone2",
    "__libc_start_main",
    "__longjmp_chk",
    "__sigaction",
    "_exit",
    "_longjmp",
    "atexit",
    "bind",
    "chmod",
    "clone",
    "clone3",
    "connect",
    "dl_iterate_phdr",
    "dladdr",
    "dlmopen",
    "dlopen",
    "dlsym",
    "dlvsym",
    "dup",
    "dup2",
    "dup3",
    "execl",
    "execlp",
    "execv",
    "execve",
    "execvp",
    "exit",
    "fdopen",
    "fopen",
    "fopen64",
    "fork",
    "ftruncate",
    "ftruncate64",
    "getenv",
    "getpid",
    "getppid",
    "kill",
    "longjmp",
    "memfd_create",
    "mmap",
    "mmap64",
    "mprotect",
    "mremap",
    "msync",
    "munmap",
    "open",
    "open64",
    "openat",
    "openat64",
    "pipe",
    "pipe2",
    "popen",
    "posix_spawn",
    "posix_spawnp",
    "prctl",
    "process_vm_readv",
    "process_vm_writev",
    "pthread_create",
    "ptrace",
    "putenv",
    "quick_exit",
    "raise",
    "rename",
    "secure_getenv",
    "setenv",
    "sigaction",
    "sigaltstack",
    "siglongjmp",
    "signal",
    "sigprocmask",
    "socket",
    "syscall",
    "system",
    "truncate",
    "unlink",
    "vfork",
    "waitpid",
];
/// Functions of the mathematical library: the scalar unit adds, multiplies, divides and takes square roots, and curves are the vector
/// unit's. Here they would cost nothing. Each stands for its forms of other precision too.
const OF_MATHEMATICS: [&str; 28] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp10",
    "exp2", "expm1", "fmod", "hypot", "lgamma", "log", "log10", "log1p", "log2", "pow", "sin", "sinh", "tan", "tanh",
];
/// What of the C++ library leads there, by the beginnings of its mangled names.
const OF_A_CPP_LIBRARY: [(&str, &str); 4] = [
    ("_ZNSt6thread", "std::thread"),
    ("_ZNSt13basic_filebuf", "std::filebuf"),
    ("_ZNSt10filesystem", "std::filesystem"),
    ("_ZSt5asyncI", "std::async"),
];

/// How functions begin that are single instructions of the machine that the tool runs on.
const OF_THIS_MACHINE: [&str; 6] =
    ["__builtin_aarch64_", "__builtin_ia32_", "__builtin_neon_", "_mm256_", "_mm512_", "_mm_"];

const NAMESPACE: &str = "ascendsim";

const POINTER_BYTES: u64 = 8;

/// What a kernel's library has that it must not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Foreign {
    /// A function of the system that it calls.
    System(String),
    /// A function of the simulator that no header of the SDK declares.
    Simulator(String),
    /// A function that it defines in the place of the simulator's.
    Replaced(String),
    /// Instructions of the machine that the tool runs on.
    Assembly,
    /// A word that keeps accesses from being announced.
    Unseen(String),
    /// A function that is an instruction of the machine that the tool runs on.
    OfThisMachine(String),
    /// A directive that says where its lines are from.
    Lines,
    /// Data in a section of instructions.
    Instructions(String),
    /// A function that runs when the library is loaded.
    Constructor,
}

impl std::fmt::Display for Foreign {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Foreign::System(name) => write!(out, "the kernel calls {name}, which a device does not have"),
            Foreign::Simulator(name) => {
                write!(out, "the kernel names {name}, which belongs to the simulator and not to the API")
            }
            Foreign::Replaced(name) => write!(out, "the kernel defines {name}, which is the simulator's"),
            Foreign::Unseen(word) => {
                write!(out, "the kernel has {word}, which keeps its accesses to memory from being seen")
            }
            Foreign::OfThisMachine(name) => {
                write!(
                    out,
                    "the kernel has {name}, an instruction of this machine and not of a device, which nothing sees"
                )
            }
            Foreign::Lines => {
                write!(out, "the kernel has a #line that names a file, so that nobody can tell whose its lines are")
            }
            Foreign::Instructions(name) => write!(out, "the kernel has {name} among its instructions, which is data"),
            Foreign::Constructor => {
                write!(
                    out,
                    "the kernel does something before its launch, in a constructor or an initialiser such as that of <iostream>, which no device runs"
                )
            }
            Foreign::Assembly => {
                write!(
                    out,
                    "the kernel has assembly, which would be of this machine and not of a device, and which nothing sees"
                )
            }
        }
    }
}

/// What an SDK lets kernels name, and what only it may define.
#[derive(Debug)]
pub(super) struct Interface {
    /// Words of the headers that kernels are built against: what these say of the simulator is part of the API.
    announced: BTreeSet<String>,
    /// Functions that its library has for kernels, as opposed to what every object brings along (templates, inline functions).
    provided: BTreeSet<String>,
}

impl Interface {
    /// Reads headers and library, some megabytes.
    pub(super) fn of(sdk: &Sdk) -> std::io::Result<Self> {
        Ok(Self { announced: sdk.announced_words()?, provided: functions_of(&sdk.library())? })
    }

    /// The first thing that a kernel's object file must not have. Where its headers may construct, so may it, and initialisers that
    /// only store `constants` are none.
    pub(super) fn foreign(
        &self,
        kernel: &Path,
        headers_construct: bool,
        constants: bool,
    ) -> std::io::Result<Option<Foreign>> {
        let data = std::fs::read(kernel)?;
        let file = object::File::parse(&*data).map_err(std::io::Error::other)?;
        // The compiler's own, which announces accesses, is one of them.
        let constructors =
            file.sections().filter(|section| section.name().is_ok_and(|name| name.starts_with(".init_array")));
        let constructors: u64 = constructors.map(|section| section.size() / POINTER_BYTES).sum();
        if constructors > 1 && !headers_construct && !constants {
            return Ok(Some(Foreign::Constructor));
        }
        Ok(file.symbols().find_map(|symbol| {
            let name = symbol.name().ok()?;
            let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
            if symbol.kind() == SymbolKind::Data && section.is_some_and(|section| section.kind() == SectionKind::Text) {
                return Some(Foreign::Instructions(plain(name)));
            }
            if symbol.is_undefined() {
                // Headers of a toolkit compute what they do not send to the simulator.
                return undefined(name, &self.announced).or_else(|| mathematics(name).filter(|_| !headers_construct));
            }
            let is_function = symbol.kind() == SymbolKind::Text;
            (is_function && self.provided.contains(name)).then(|| Foreign::Replaced(plain(name)))
        }))
    }
}

/// The simulator where a source file of the operator names it. What its headers do with it is theirs.
pub(super) fn names_simulator(text: &str) -> Option<Foreign> {
    let named = text.match_indices(NAMESPACE).find(|(at, _)| {
        let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        !text[..*at].ends_with(is_of_word) && !text[at + NAMESPACE.len()..].starts_with(is_of_word)
    });
    named.map(|(at, _)| {
        let rest = text[at..].split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != ':');
        Foreign::Simulator(rest.map(|name| name.trim_end_matches(':')).next().unwrap_or(NAMESPACE).to_owned())
    })
}

/// Whether macros put words together, so that what a file says is only known when they have been replaced.
pub(super) fn pastes_words(text: &str) -> bool {
    text.contains("##")
}

/// Whether a line is a directive that takes the lines after it for those of another file.
fn moves_lines(line: &str) -> bool {
    let line = line.trim_start();
    let directive = line.strip_prefix('#').or_else(|| line.strip_prefix("%:")).map(str::trim_start);
    let number = directive.and_then(|rest| match rest.strip_prefix("line") {
        Some(number) => number.starts_with([' ', '\t']).then_some(number),
        None => rest.starts_with(|letter: char| letter.is_ascii_digit()).then_some(rest),
    });
    // More than a number is a file, or a macro that stands for one.
    number.is_some_and(|number| !number.trim().bytes().all(|byte| byte.is_ascii_digit()))
}

/// What nobody would see, in a source file of the operator: assembly, also where a macro puts the word together, accesses that the
/// compiler is told not to announce, and lines that pass for another file's.
pub(super) fn goes_unseen(text: &str) -> Option<Foreign> {
    if text.lines().any(moves_lines) {
        return Some(Foreign::Lines);
    }
    if !["asm", "##", "no_sanitize", "no-sanitize", "sanitizer", "_mm", "__builtin_"]
        .iter()
        .any(|word| text.contains(word))
    {
        return None;
    }
    let tokens = tokens(text);
    let mut words: Vec<String> = Vec::new();
    let mut pasted = false;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let pastes = token.is(text, "#") && tokens.get(at + 1).is_some_and(|next| next.is(text, "#"));
        if pastes {
            at += 2;
            pasted = true;
            continue;
        }
        match words.last_mut() {
            Some(word) if pasted => word.push_str(token.text(text)),
            _ => words.push(token.text(text).to_owned()),
        }
        pasted = false;
        at += 1;
    }
    words.iter().find_map(|word| match word.trim_matches('_') {
        "asm" => Some(Foreign::Assembly),
        _ if OF_THIS_MACHINE.iter().any(|beginning| word.starts_with(beginning)) => {
            Some(Foreign::OfThisMachine(word.clone()))
        }
        bare if bare.starts_with("no_sanitize") || bare.starts_with("disable_sanitizer") => {
            Some(Foreign::Unseen(word.clone()))
        }
        // What a compiler ignores today another one may heed.
        _ if is_option_of_sanitizers(word) => Some(Foreign::Unseen(NO_SANITIZE.to_owned())),
        _ => None,
    })
}

const NO_SANITIZE: &str = "no-sanitize";

/// Whether a text, or a directive, names the option of compilers that leaves out what announces accesses, as an attribute or a pragma may.
fn is_option_of_sanitizers(word: &str) -> bool {
    word.starts_with(['"', '#']) && word.split(NO_SANITIZE).skip(1).any(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// Lines of preprocessed text that come from below `root`.
pub(super) fn lines_of(preprocessed: &str, root: &Path) -> String {
    let mut own = false;
    let mut text = String::new();
    for line in preprocessed.lines() {
        match line.strip_prefix("# ").and_then(|marker| marker.split('"').nth(1)) {
            Some(file) => own = Path::new(file).starts_with(root),
            None if own => text.extend([line, "\n"]),
            None => {}
        }
    }
    text
}

/// A function of the system that no device has, as a reader knows it.
pub(super) fn is_of_a_system(bare: &str) -> Option<String> {
    if let Some((_, readable)) = OF_A_CPP_LIBRARY.iter().find(|(prefix, _)| bare.starts_with(prefix)) {
        return Some((*readable).to_owned());
    }
    OF_A_SYSTEM.binary_search(&bare).is_ok().then(|| bare.to_owned())
}

fn undefined(name: &str, announced: &BTreeSet<String>) -> Option<Foreign> {
    let bare = name.split('@').next().unwrap_or(name);
    if let Some(function) = is_of_a_system(bare) {
        return Some(Foreign::System(function));
    }
    let of_simulator = bare.starts_with("_ZN9ascendsim") || bare.starts_with("_ZNK9ascendsim");
    let last = plain(bare);
    let word = last.rsplit("::").next().unwrap_or(&last);
    (of_simulator && !announced.contains(word)).then(|| Foreign::Simulator(last.clone()))
}

fn mathematics(name: &str) -> Option<Foreign> {
    let bare = name.split('@').next().unwrap_or(name);
    let base = bare.strip_suffix("_finite").map_or(bare, |finite| finite.trim_start_matches('_'));
    let is_known = |name: &str| OF_MATHEMATICS.binary_search(&name).is_ok();
    let known = is_known(base) || base.strip_suffix(['f', 'l']).is_some_and(is_known) || base.starts_with("sincos");
    known.then(|| Foreign::System(bare.to_owned()))
}

/// Names of a mangled function, without its parameters: `ascendsim::CloseTrace` of `_ZN9ascendsim10CloseTraceEv`.
fn plain(mangled: &str) -> String {
    let Some(mut rest) = mangled.strip_prefix("_Z") else { return mangled.to_owned() };
    let nested = rest.starts_with('N');
    rest = rest.trim_start_matches(['N', 'K', 'L']);
    let mut names = Vec::new();
    loop {
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let Some(length) = rest[..digits].parse::<usize>().ok() else { break };
        let Some(name) = rest.get(digits..digits + length) else { break };
        names.push(name);
        // Outside of a namespace one name stands alone, and parameters follow.
        if !nested {
            break;
        }
        rest = &rest[digits + length..];
    }
    if names.is_empty() { mangled.to_owned() } else { names.join("::") }
}

fn functions_of(simulator: &Path) -> std::io::Result<BTreeSet<String>> {
    let data = std::fs::read(simulator)?;
    let file = object::File::parse(&*data).map_err(std::io::Error::other)?;
    let strong = |symbol: &object::Symbol<'_, '_>| !symbol.is_undefined() && !symbol.is_weak();
    let functions = file.dynamic_symbols().filter(|symbol| strong(symbol) && symbol.kind() == SymbolKind::Text);
    Ok(functions.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_read() {
        assert!(OF_A_SYSTEM.is_sorted());
        assert!(OF_MATHEMATICS.is_sorted());
        assert_eq!(plain("_ZN9ascendsim10CloseTraceEv"), "ascendsim::CloseTrace");
        assert_eq!(plain("_Z15copy_gm_to_ubufPvPKvhtttt"), "copy_gm_to_ubuf");
        assert_eq!(plain("fork"), "fork");
    }

    #[test]
    fn sources_do_not_name_the_simulator() {
        assert_eq!(names_simulator("using ascendsimilar = int; // my_ascendsim"), None);
        let named = names_simulator("if (::ascendsim::TouchesData()) return;");
        assert_eq!(named, Some(Foreign::Simulator("ascendsim::TouchesData".to_owned())));
    }

    #[test]
    fn sources_have_no_assembly() {
        assert_eq!(goes_unseen("int asmr = 1; // asm\nconst char* text = \"asm\"; /* __asm__ */"), None);
        assert_eq!(goes_unseen("#define JOIN(a, b) a##b\nint JOIN(x, y);"), None);
        for text in [
            "void F() { asm volatile(\"rep movsb\"); }",
            "void F() { __asm__(\"nop\"); }",
            "#define A __a##sm__\nvoid F() { A(\"nop\"); }",
            "#define A as \\\n ## m\nvoid F() { A(\"nop\"); }",
        ] {
            assert_eq!(goes_unseen(text), Some(Foreign::Assembly), "{text}");
        }
    }

    #[test]
    fn sources_do_not_hide_accesses() {
        let hides = |text| matches!(goes_unseen(text), Some(Foreign::Unseen(_)));
        assert!(hides("__attribute__((no_sanitize(\"thread\"))) void F();"));
        assert!(hides("[[gnu::no_sanitize_thread]] void F();"));
        assert!(hides("__attribute__((__no_sanitize_thread__)) void F();"));
        assert!(hides("__attribute__((optimize(\"no-sanitize=thread\"))) void F();"));
        assert!(hides("__attribute__((optimize(\"O2\", \"-fno-sanitize=all\"))) void F();"));
        assert!(hides("_Pragma(\"GCC optimize (\\\"no-sanitize=thread\\\")\") void F();"));
        assert!(hides("#pragma GCC optimize(\"no-sanitize=thread\")\nvoid F();"));
        assert!(!hides("// no_sanitize, no-sanitize\nint no_sanitary; const char *TEXT = \"is no-sanitizer\";"));
    }

    #[test]
    fn instructions_of_this_machine_are_no_functions() {
        for text in ["auto v = _mm256_maskload_ps(x, m);", "__builtin_ia32_maskloadps256(x, m);"] {
            assert!(matches!(goes_unseen(text), Some(Foreign::OfThisMachine(_))), "{text}");
        }
        assert_eq!(goes_unseen("int _mmSize = __builtin_expect(1, 1);"), None);
    }

    #[test]
    fn lines_are_of_their_file() {
        for text in ["#line 7 \"/sdk/x.h\"\n", " # 7 \"x.h\"\n", "%:line 7 \"x.h\"\n", "#line 7 OTHER\n"] {
            assert_eq!(goes_unseen(text), Some(Foreign::Lines), "{text}");
        }
        assert_eq!(goes_unseen("#line 7\n#define line \"a\"\n"), None);
    }

    #[test]
    fn own_lines_of_preprocessed_text() {
        let text = "# 1 \"/o/k.cpp\"\nA\n# 3 \"/sdk/x.h\" 1\nB\n# 2 \"/o/k.cpp\" 2\nC\n";
        assert_eq!(lines_of(text, Path::new("/o")), "A\nC\n");
    }

    #[test]
    fn what_a_kernel_may_ask_for() {
        let announced = BTreeSet::from(["ScalarRead".to_owned()]);
        let undefined = |name| undefined(name, &announced);
        assert_eq!(undefined("memcpy"), None);
        assert_eq!(undefined("_ZN9ascendsim10ScalarReadEPKvm"), None);
        assert_eq!(undefined("fork"), Some(Foreign::System("fork".to_owned())));
        assert_eq!(
            undefined("_ZN9ascendsim10CloseTraceEv"),
            Some(Foreign::Simulator("ascendsim::CloseTrace".to_owned()))
        );
        assert_eq!(undefined("_ZNSt6thread6_StateD2Ev"), Some(Foreign::System("std::thread".to_owned())));
        for curve in ["expf", "exp", "powl", "__expf_finite", "sincosf", "fmod"] {
            assert_eq!(mathematics(curve), Some(Foreign::System(curve.to_owned())), "{curve}");
        }
        for plain in ["sqrtf", "fabs", "expand", "memcpy", "roundf"] {
            assert_eq!(mathematics(plain), None, "{plain}");
        }
    }
}
