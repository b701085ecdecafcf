//! What the halves of an operator may call of the machine's libraries without anybody asking why. A list of what they may not call has
//! no end (there is always one more function that copies, waits or asks); this one has, and an operator that calls more as it stands
//! goes on doing so ([`super::LibraryFacts`]).

/// Which half calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Tiling functions, on the processor of the machine.
    Host,
    /// Kernels, which have a device to themselves.
    Kernel,
}

/// What compilers put there, and what the SDK's library has under plain names.
const OF_THE_COMPILER: [&str; 10] = [
    "_ITM_",
    "_Unwind_",
    "__cxa_",
    "__gmon_start__",
    "__gxx_personality",
    "__stack_chk_",
    "__tsan_",
    "__wrap_mem",
    "ascend_sim_",
    "ascend_tune_",
];
/// Arithmetic of integers wider than a register, by the ends of their names: `__udivti3`.
const OF_WIDE_INTEGERS: [&str; 2] = ["ti2", "ti3"];
/// Functions that either half may call: memory, whose accesses are announced, and the end of everything.
const OF_BOTH: [&str; 7] = ["__assert_fail", "abort", "memcmp", "memcpy", "memmove", "memset", "strlen"];
/// Functions whose results follow from their arguments, beside those of mathematics: what tiling functions compute and say with.
const OF_TILING: [&str; 44] = [
    "AlogCheckDebugLevel",
    "AlogRecord",
    "CheckLogLevel",
    "DlogRecord",
    "__errno_location",
    "__libc_single_threaded",
    "__memcpy_chk",
    "__memset_chk",
    "__snprintf_chk",
    "__vsnprintf_chk",
    "abs",
    "aligned_alloc",
    "atof",
    "atoi",
    "atol",
    "bsearch",
    "calloc",
    "free",
    "isalpha",
    "isdigit",
    "isspace",
    "labs",
    "malloc",
    "memchr",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_once",
    "qsort",
    "realloc",
    "snprintf",
    "strchr",
    "strcmp",
    "strncmp",
    "strncpy",
    "strrchr",
    "strstr",
    "strtod",
    "strtof",
    "strtol",
    "strtoll",
    "strtoul",
    "strtoull",
    "tolower",
    "toupper",
];
/// The same of mathematics, without the letter of a precision. What kernels may have of it is judged where they are built.
const OF_MATHEMATICS: [&str; 44] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "hypot",
    "ldexp",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "lrint",
    "lround",
    "modf",
    "nearbyint",
    "pow",
    "remainder",
    "rint",
    "round",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
];

/// Whether a function of the machine's libraries, by its plain name, may be begun to be called by that half.
pub fn is_harmless(name: &str, half: Half) -> bool {
    let of_mathematics = |name: &str| OF_MATHEMATICS.binary_search(&name).is_ok();
    let of_both = OF_THE_COMPILER.iter().any(|beginning| name.starts_with(beginning))
        || OF_BOTH.binary_search(&name).is_ok()
        || (name.starts_with("__") && OF_WIDE_INTEGERS.iter().any(|end| name.ends_with(end)))
        || of_mathematics(name)
        || name.strip_suffix(['f', 'l']).is_some_and(of_mathematics);
    // Tiling of a matrix product is the SDK's: `MatmulGetTmpBufSize`.
    of_both || half == Half::Host && (OF_TILING.binary_search(&name).is_ok() || name.contains("GetTmpBufSize"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_copies_waits_or_asks_is_not_harmless_by_whatever_name() {
        assert!(OF_BOTH.is_sorted() && OF_TILING.is_sorted() && OF_MATHEMATICS.is_sorted());
        for name in ["mempcpy", "usleep", "thrd_create", "freopen", "get_nprocs", "realpath", "swapcontext", "write"] {
            assert!(!is_harmless(name, Half::Host) && !is_harmless(name, Half::Kernel), "{name}");
        }
        for name in ["memcpy", "sqrtf", "__udivti3", "__tsan_read4", "_Unwind_Resume"] {
            assert!(is_harmless(name, Half::Host) && is_harmless(name, Half::Kernel), "{name}");
        }
        assert!(
            is_harmless("strncpy", Half::Host) && !is_harmless("strncpy", Half::Kernel),
            "nobody announces its copies"
        );
    }
}
