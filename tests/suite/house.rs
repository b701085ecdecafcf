//! What the house promises of itself.

use crate::support::root;

/// The crates below `crates/` compute. Files, processes, the network and the environment are the command's: whoever reads one of
/// them knows that nothing else goes in.
#[test]
fn crates_do_no_input_or_output() {
    let mut looked_at = 0;
    for entry in walkdir::WalkDir::new(root().join("crates")).into_iter().filter_map(Result::ok) {
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
