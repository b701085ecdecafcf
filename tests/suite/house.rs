//! What the house promises of itself.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::support::root;

/// Crates that compute, and nothing else.
const PURE: [&str; 6] = ["aicore", "motif", "search", "source", "space", "verify"];

/// Files, processes, the network and the environment are for others: whoever reads one of these crates knows that nothing else goes in.
#[test]
fn crates_that_compute_do_no_input_or_output() {
    let mut looked_at = 0;
    let folders = PURE.iter().flat_map(|name| walkdir::WalkDir::new(root().join("crates").join(name)));
    for entry in folders.map(|entry| entry.expect("the crate is there")) {
        let path = entry.path();
        let of_tests = ["tests", "tests.rs", "page.rs", "corpus.rs", "target"];
        if path.extension().is_none_or(|extension| extension != "rs")
            || path.components().any(|part| of_tests.iter().any(|name| part.as_os_str() == *name))
        {
            continue;
        }
        looked_at += 1;
        let text = fs_err::read_to_string(path).expect("a source file");
        // Unit tests stand last in a file.
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for word in ["std::fs", "std::process", "std::net", "std::env", "fs_err", "tokio", "File::open", "println!"] {
            let line = text.lines().position(|line| line.contains(word) && !line.trim_start().starts_with("//"));
            assert!(line.is_none(), "{}:{}: {word}", path.display(), line.unwrap_or(0) + 1);
        }
    }
    assert!(looked_at > 150, "{looked_at}");
}

/// `--offline` and consent hold because there is one place that could open a connection, and it takes a `Consent`.
#[test]
fn one_file_opens_connections() {
    let mut found = Vec::new();
    for folder in ["crates", "src"] {
        for entry in walkdir::WalkDir::new(root().join(folder)).into_iter().filter_map(Result::ok) {
            let path = entry.path().strip_prefix(root()).expect("below the root").display().to_string();
            if !path.ends_with(".rs") || path.contains("/tests") || path.ends_with("testing.rs") {
                continue;
            }
            let text = fs_err::read_to_string(entry.path()).expect("a source file");
            let words = ["ureq", "TcpStream", "UdpSocket", "tokio::net", "UnixStream"];
            if words.iter().any(|word| text.contains(word)) {
                found.push(path);
            }
        }
    }
    assert_eq!(found, ["crates/agent/src/client.rs"]);
}

/// The catalogue of motifs knows what they do, that knows what they ask, and no motif knows another.
#[test]
fn rooms_of_the_motifs_depend_downward() {
    let forbidden: [(&str, &[&str]); 5] = [
        ("catalogue", &["crate::catalogue", "super::"]),
        ("repair", &["crate::catalogue", "crate::motif"]),
        ("rewrite", &["crate::catalogue", "crate::repair"]),
        ("analysis", &["crate::catalogue", "crate::rewrite", "crate::repair", "crate::motif"]),
        ("context", &["crate::catalogue", "crate::rewrite", "crate::analysis", "crate::motif"]),
    ];
    for (room, words) in forbidden {
        let folder = root().join("crates/motif/src").join(room);
        let mut looked_at = 0;
        for entry in walkdir::WalkDir::new(&folder).into_iter().filter_map(Result::ok) {
            if entry.path().extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            looked_at += 1;
            let text = fs_err::read_to_string(entry.path()).expect("a source file");
            for word in words {
                assert!(!text.contains(word), "{}: {word}", entry.path().display());
            }
        }
        assert!(looked_at > 3, "{room}: {looked_at}");
    }
}

/// What chip families are called stands in their tables, and nowhere else: another one is added there.
#[test]
fn chip_families_are_named_in_their_tables_only() {
    const TABLES: [&str; 2] = ["crates/source/src/arch.rs", "crates/aicore/src/machine.rs"];
    let mut looked_at = 0;
    for folder in ["crates", "src"] {
        for entry in walkdir::WalkDir::new(root().join(folder)).into_iter().filter_map(Result::ok) {
            let path = entry.path().strip_prefix(root()).expect("below the root").display().to_string();
            let of_tests = path.contains("/tests") || path.ends_with("testing.rs") || path.ends_with("tests.rs");
            if !path.ends_with(".rs") || of_tests || TABLES.contains(&path.as_str()) {
                continue;
            }
            looked_at += 1;
            let text = fs_err::read_to_string(entry.path()).expect("a source file");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for (line, text) in code.lines().enumerate().filter(|(_, text)| !text.trim_start().starts_with("//")) {
                let named = ["2201", "c220", "\"ascend910", "\"Ascend910"].iter().find(|word| text.contains(**word));
                assert!(named.is_none(), "{path}:{}: {text}", line + 1);
            }
        }
    }
    assert!(looked_at > 400, "{looked_at}");
}

/// Rewrites and domains speak of the machine that times are those of.
#[test]
fn sizes_of_the_target_are_those_of_its_machine() {
    let (target, machine) = (source::arch::TARGET, aicore::Machine::named(source::arch::TARGET.machine));
    let parameters = machine.expect("the default machine").parameters;
    assert_eq!(target.vector.count as f64, parameters.aiv_cores);
    // The machine leaves out what is reserved (its description says so).
    let reserved_bytes = target.vector.unified_buffer_bytes as f64 - parameters.ub_bytes;
    assert_eq!(reserved_bytes, 256.0);
}

/// The picture in docs/architecture.md is drawn from what Cargo knows: every crate is in it, and knows only what lies below.
#[test]
fn crates_stand_on_the_floors_of_the_picture() {
    let page = fs_err::read_to_string(root().join("docs/architecture.md")).expect("the page");
    let mut floors: BTreeMap<String, u32> = BTreeMap::new();
    for line in page.lines().filter_map(|line| line.strip_prefix("    floor ")) {
        let mut words = line.split_whitespace();
        let floor: u32 = words.next().and_then(|word| word.parse().ok()).expect("a number");
        floors.extend(words.take_while(|word| !word.starts_with('.')).map(|name| (name.to_owned(), floor)));
    }
    let mut folders: Vec<(String, PathBuf)> = vec![("command".to_owned(), root().to_owned())];
    for entry in fs_err::read_dir(root().join("crates")).expect("a folder").filter_map(Result::ok) {
        folders.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
    }
    assert_eq!(folders.len(), floors.len(), "{floors:?}");
    for (name, folder) in folders {
        let own = *floors.get(&name).unwrap_or_else(|| panic!("{name} is not in the picture"));
        let text = fs_err::read_to_string(folder.join("Cargo.toml")).expect("a crate");
        let text: toml::Table = text.parse().expect("TOML");
        for known in text["dependencies"].as_table().expect("a table").keys() {
            let lower = floors.get(known).is_none_or(|floor| *floor < own);
            assert!(lower, "{name} knows {known}, which does not lie below it");
        }
    }
}

/// Targets that Cargo is told to have no tests have none: one that is written there would never run.
#[test]
fn no_test_is_written_where_none_is_run() {
    let mut manifests = vec![root().join("Cargo.toml")];
    let folders = fs_err::read_dir(root().join("crates")).expect("a folder").filter_map(Result::ok);
    manifests.extend(folders.map(|entry| entry.path().join("Cargo.toml")));
    let mut looked_at = 0;
    for manifest in manifests {
        let package: toml::Table = fs_err::read_to_string(&manifest).expect("a crate").parse().expect("TOML");
        let library = package.get("lib").into_iter();
        let programs = package.get("bin").and_then(toml::Value::as_array).into_iter().flatten();
        for target in library.chain(programs) {
            let is = |key: &str| target.get(key).and_then(toml::Value::as_bool) != Some(false);
            assert!(is("doctest"), "{}: doc tests are run", manifest.display());
            if is("test") {
                continue;
            }
            looked_at += 1;
            let source = target["path"].as_str().expect("a path");
            let text = fs_err::read_to_string(manifest.with_file_name(source)).expect("a source file");
            for word in ["test]", "cfg(test)", "mod "] {
                assert!(!text.contains(word), "{source} of {}: {word}", manifest.display());
            }
        }
    }
    assert_eq!(looked_at, 1, "the command's own program");
}
