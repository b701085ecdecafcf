//! Stand-ins for what nothing in a repository defines. Host code refers to branches for other architectures, whose sources
//! are left out; a function that is missing matters only when it is called, but a table of virtual functions or a function
//! whose address is taken keeps the whole library from being loaded.

use std::collections::BTreeSet;

/// Entries of a stand-in for a table of virtual functions; classes of operators have a few dozen at most.
const TABLE_ENTRIES: usize = 128;

/// Mangled symbols that a linker's output misses (`--no-demangle`).
pub(super) fn missing_symbols(log: &str) -> BTreeSet<String> {
    let between = |line: &str| {
        let (_, rest) = line.split_once("undefined reference to ")?;
        let symbol = rest.trim_matches(|letter| matches!(letter, '`' | '\'' | '"' | ' ' | '‘' | '’'));
        let is_name =
            symbol.starts_with("_Z") && symbol.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_name.then(|| symbol.to_owned())
    };
    log.lines().filter_map(between).collect()
}

/// A C++ source that defines them, weakly: whoever calls one is told its name, and the process ends.
pub(super) fn stand_ins(symbols: &BTreeSet<String>) -> String {
    let mut text = String::from(
        "#include <cstdio>\n#include <cstdlib>\n#include <cxxabi.h>\n\
         [[noreturn]] static void Missing(const char* name)\n{\n\
         \x20   char* readable = abi::__cxa_demangle(name, nullptr, nullptr, nullptr);\n\
         \x20   std::fprintf(stderr, \"%s is called, and no source of the repository defines it\\n\", readable == nullptr ? name : readable);\n\
         \x20   std::abort();\n}\n",
    );
    for symbol in symbols {
        let table = ["_ZTV", "_ZTI", "_ZTS", "_ZTT"].iter().any(|kind| symbol.starts_with(kind));
        text +=
            &format!("static void Missing{symbol}() {{ Missing(\"{symbol}\"); }}\nextern \"C\" __attribute__((weak)) ");
        text += &if table {
            let entries = vec![format!("Missing{symbol}"); TABLE_ENTRIES].join(", ");
            format!("void (*{symbol}[{TABLE_ENTRIES}])() = {{{entries}}};\n")
        } else {
            format!("void {symbol}() {{ Missing{symbol}(); }}\n")
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_names_are_read_and_defined() {
        let log = "a.o: in function `f':\nx.cpp:3: undefined reference to `_ZTV3Big'\nld: undefined reference to `_Z4Pickl'\n\
                   ld: undefined reference to `plain'\n";
        let symbols = missing_symbols(log);
        assert_eq!(symbols.iter().map(String::as_str).collect::<Vec<_>>(), ["_Z4Pickl", "_ZTV3Big"]);
        let text = stand_ins(&symbols);
        assert!(text.contains("void (*_ZTV3Big[128])() = {Missing_ZTV3Big, "));
        assert!(text.contains("void _Z4Pickl() { Missing_Z4Pickl(); }"));
    }
}
