//! Files of a crate import each other one way only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support::root;

/// Files of a crate by the path of their module: `tunable::share` of `src/tunable/share/mod.rs`. `lib.rs` and `mod.rs` only hand names
/// on, and tests may look at everything.
fn modules(src: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in walkdir::WalkDir::new(src).into_iter().filter_map(Result::ok) {
        let inside = entry.path().strip_prefix(src).expect("below it").display().to_string();
        let Some(name) = inside.strip_suffix(".rs") else { continue };
        let of_tests = name.split('/').any(|part| part == "tests" || part == "testing");
        if !of_tests && name != "lib" && name != "main" && !name.ends_with("mod") {
            let text = fs_err::read_to_string(entry.path()).expect("a source file");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
            found.insert(name.replace('/', "::"), code);
        }
    }
    found
}

/// Paths that the `use` declarations of a module name, from the crate's root on.
fn named(module: &str, code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for part in code.split("\nuse ").skip(1) {
        let part: String = part.split(';').next().unwrap_or_default().split_whitespace().collect();
        let (head, list) = part.split_once("::{").unwrap_or((&part, ""));
        let mut at: Vec<&str> = module.split("::").collect();
        let mut words = head.split("::").peekable();
        match words.peek() {
            Some(&"crate") => at.clear(),
            Some(&"super") => {}
            _ => continue,
        }
        for word in words {
            match word {
                "crate" => {}
                "super" => drop(at.pop()),
                word => at.push(word),
            }
        }
        let items: Vec<&str> = if list.is_empty() { vec![""] } else { list.trim_end_matches('}').split(',').collect() };
        let head = at.join("::");
        paths.extend(items.iter().map(|item| [head.as_str(), *item].join("::").trim_matches(':').to_owned()));
    }
    paths
}

/// Rings of these modules, each named by one of its members first in the order of names.
fn rings(modules: &BTreeMap<String, String>) -> Vec<Vec<String>> {
    let file_of = |path: &str| {
        let mut path = path;
        loop {
            if modules.contains_key(path) {
                return Some(path.to_owned());
            }
            path = path.rsplit_once("::")?.0;
        }
    };
    let edges: BTreeMap<&String, BTreeSet<String>> = modules
        .iter()
        .map(|(module, code)| {
            let paths = named(module, code);
            (module, paths.iter().filter_map(|path| file_of(path)).filter(|known| known != module).collect())
        })
        .collect();
    let reached = |from: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = open.pop() {
            open.extend(edges[&module].iter().filter(|next| seen.insert((*next).clone())).cloned());
        }
        seen
    };
    let all: BTreeMap<&String, BTreeSet<String>> = modules.keys().map(|module| (module, reached(module))).collect();
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for (module, seen) in all.iter().filter(|(module, seen)| seen.contains(**module)) {
        found.insert(seen.iter().filter(|other| all[other].contains(*module)).cloned().collect());
    }
    found.into_iter().collect()
}

#[test]
fn files_of_a_crate_form_no_ring() {
    let mut crates: Vec<_> = fs_err::read_dir(root().join("crates"))
        .expect("a folder")
        .filter_map(|entry| Some(entry.ok()?.path().join("src")))
        .collect();
    crates.push(root().join("src"));
    let mut looked_at = 0;
    for src in crates {
        let modules = modules(&src);
        looked_at += modules.len();
        let rings = rings(&modules);
        assert!(rings.is_empty(), "{}: {rings:?}", src.display());
    }
    assert!(looked_at > 400, "{looked_at}");
}

#[test]
fn a_ring_is_found() {
    let modules = |texts: [(&str, &str); 3]| texts.map(|(name, code)| (name.to_owned(), code.to_owned())).into();
    let ring = [("a", "\nuse super::b::{One, Two};"), ("b", "\nuse crate::c::d;"), ("c", "\nuse super::{a::X, e};")];
    assert_eq!(rings(&modules(ring)), [["a", "b", "c"]]);
    let chain = [("a", "\nuse super::b::One;"), ("b", "\nuse crate::c::d;"), ("c", "\nuse super::Other;")];
    assert!(rings(&modules(chain)).is_empty());
}
