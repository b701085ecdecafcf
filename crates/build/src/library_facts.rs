//! What a built half of an operator keeps from one call to the next, and what it asks the machine that it runs on. A device's kernel
//! does neither; tiling functions of existing operators do both at times, and what is theirs is left to them: candidates are held
//! against them.

use std::collections::BTreeSet;
use std::path::Path;

use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

use super::error::BuildError;
use super::imports::{Half, is_harmless};
use super::kernel_symbols::is_of_a_system;

/// What of the C++ library leads to the machine, by the beginnings of mangled names, beside what a kernel may not call at all.
const ASKING_IN_CPP: [(&str, &str); 11] = [
    ("_ZNSt11this_thread", "std::this_thread"),
    ("_ZNSt12__basic_file", "std::filebuf"),
    ("_ZNSt13basic_fstream", "std::fstream"),
    ("_ZNSt13random_device", "std::random_device"),
    ("_ZNSt14basic_ifstream", "std::ifstream"),
    ("_ZNSt14basic_ofstream", "std::ofstream"),
    ("_ZNSt18condition_variable", "std::condition_variable"),
    ("_ZNSt6chrono", "std::chrono"),
    ("_ZNSt6localeC1EPKc", "std::locale"),
    ("_ZSt3cin", "std::cin"),
    ("_ZSt4cout", "std::cout"),
];

/// Facts of one library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LibraryFacts {
    /// Variables that keep their values, by the names that the linker knows.
    pub state: BTreeSet<String>,
    /// Functions of the machine's libraries that it calls and that are not harmless, as a reader knows them.
    pub asks: BTreeSet<String>,
}

impl LibraryFacts {
    /// Reads the library of a half.
    pub fn of(library: &Path, half: Half) -> Result<Self, BuildError> {
        let data = std::fs::read(library).map_err(BuildError::io(library))?;
        let file = object::File::parse(&*data).map_err(std::io::Error::other).map_err(BuildError::io(library))?;
        let mut facts = Self::default();
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let Ok(name) = symbol.name() else { continue };
            if symbol.is_undefined() {
                facts.asks.extend(asked(name, half));
                continue;
            }
            let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
            let writable = section.is_some_and(|section| {
                let is_data = matches!(
                    section.kind(),
                    SectionKind::Data
                        | SectionKind::UninitializedData
                        | SectionKind::Tls
                        | SectionKind::UninitializedTls
                );
                // What the loader fills in and locks is constant.
                is_data && !section.name().is_ok_and(|name| name.contains("rel.ro"))
            });
            if writable && matches!(symbol.kind(), SymbolKind::Data | SymbolKind::Tls) {
                facts.state.insert(name.to_owned());
            }
        }
        Ok(facts)
    }

    /// A variable among `now` that `before` does not have and that sources with these words declare: what the headers of the API keep is
    /// theirs.
    pub fn new_state(before: &Self, now: &Self, words: &BTreeSet<&str>) -> Option<String> {
        now.state.difference(&before.state).find_map(|symbol| {
            let name = last_name(symbol);
            words.contains(name).then(|| name.to_owned())
        })
    }

    /// A function among `now` that `before` does not call.
    pub fn new_question(before: &Self, now: &Self) -> Option<String> {
        now.asks.difference(&before.asks).next().cloned()
    }
}

/// A function that is not harmless. What has a mangled name, and is not of the C++ library, is the SDK's or the operator's own.
fn asked(name: &str, half: Half) -> Option<String> {
    let bare = name.split('@').next().unwrap_or(name);
    let of_cpp = ASKING_IN_CPP.iter().find(|(prefix, _)| bare.starts_with(prefix));
    let heap = half == Half::Kernel && (bare.starts_with("_Znw") || bare.starts_with("_Zna"));
    let is_plain = !bare.is_empty() && !bare.starts_with("_Z");
    of_cpp
        .map(|(_, readable)| (*readable).to_owned())
        .or_else(|| is_of_a_system(bare))
        .or_else(|| heap.then(|| "operator new".to_owned()))
        .or_else(|| (is_plain && !is_harmless(bare, half)).then(|| bare.to_owned()))
}

/// The variable's own name in a mangled one: `calls` of `_ZZL6TilingPvE5calls` and of `_ZL5calls`.
fn last_name(symbol: &str) -> &str {
    if !symbol.starts_with("_Z") {
        return symbol;
    }
    // A number behind the name tells variables of one name apart, unless it is part of the name.
    let numbered = match symbol.rfind('_') {
        Some(at) if at > 1 && symbol[at + 1..].bytes().all(|byte| byte.is_ascii_digit()) => at,
        _ => symbol.len(),
    };
    // Nested names end with an `E`, and so may names.
    let ends = |symbol: &str| symbol.trim_end_matches('E').len()..=symbol.len();
    let mut whole_or_not = ends(symbol).chain(ends(&symbol[..numbered]));
    whole_or_not.find_map(|end| name_at_the_end(&symbol[..end])).unwrap_or(symbol)
}

/// The name that ends a mangled one, with its length in front of it. None begins with a digit: `..._tiling11` ends with no `1`.
fn name_at_the_end(mangled: &str) -> Option<&str> {
    let begins_a_name = |at: &usize| mangled.is_char_boundary(*at) && !mangled.as_bytes()[*at].is_ascii_digit();
    let starts = (1..mangled.len()).rev().filter(begins_a_name);
    starts.into_iter().find_map(|at| {
        let digits = mangled[..at].bytes().rev().take_while(u8::is_ascii_digit).count();
        let says = |count: usize| mangled[at - count..at].parse::<usize>().ok() == Some(mangled.len() - at);
        (1..=digits).any(says).then(|| &mangled[at..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variables() {
        assert_eq!(last_name("_ZZL15GeluNaiveTilingPN4gert13TilingContextEE5calls"), "calls");
        assert_eq!(last_name("_ZZL15GeluNaiveTilingPN4gert13TilingContextEE5calls_0"), "calls");
        assert_eq!(last_name("_ZL5calls"), "calls");
        assert_eq!(last_name("_ZN3own11ones_ready1E"), "ones_ready1");
        assert_eq!(last_name("_ZL4SIZE"), "SIZE");
        assert_eq!(
            last_name("_ZL17g_register_glu_11"),
            "g_register_glu_11",
            "the number of a line that a macro put there"
        );
        assert_eq!(last_name("_ZL16g_register_glu11"), "g_register_glu11");
        assert_eq!(last_name("calls"), "calls");
    }

    #[test]
    fn only_what_is_new_and_the_sources_own_counts() {
        let facts = |state: &[&str], asks: &[&str]| LibraryFacts {
            state: state.iter().map(|name| (*name).to_owned()).collect(),
            asks: asks.iter().map(|name| (*name).to_owned()).collect(),
        };
        let before = facts(&["_ZL5calls"], &["getenv"]);
        let now = facts(&["_ZL5calls", "_ZL4memo", "_ZN9AscendC7nowhereE"], &["getenv", "access"]);
        let words = BTreeSet::from(["calls", "memo"]);
        assert_eq!(LibraryFacts::new_state(&before, &now, &words).as_deref(), Some("memo"));
        assert_eq!(LibraryFacts::new_state(&now, &now, &words), None);
        assert_eq!(LibraryFacts::new_question(&before, &now).as_deref(), Some("access"));
        assert_eq!(LibraryFacts::new_question(&now, &before), None);
    }

    #[test]
    fn functions_that_ask() {
        for (symbol, name) in [
            ("access@GLIBC_2.2.5", "access"),
            ("getenv", "getenv"),
            ("_ZNSt6chrono3_V212system_clock3nowEv", "std::chrono"),
        ] {
            assert_eq!(asked(symbol, Half::Host).as_deref(), Some(name), "{symbol}");
        }
        assert_eq!(asked("memcpy", Half::Kernel), None);
        assert_eq!(asked("_ZN5model12OfTheOperatorEv", Half::Kernel), None);
        assert_eq!(asked("strncpy", Half::Kernel).as_deref(), Some("strncpy"));
    }
}
