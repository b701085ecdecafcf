//! Pages of help and of wrong usage, word by word. `INSTA_UPDATE=always cargo test --test suite pages_say` writes what the command says now;
//! read the difference.

use std::process::Command;

use crate::support::{TOOL, root};

/// Name of the page, exit status, arguments.
const PAGES: [(&str, i32, &[&str]); 27] = [
    ("help", 0, &["--help"]),
    ("help-ablation", 0, &["ascend-tune", "ablation", "--help"]),
    ("help-bank", 0, &["ascend-tune", "bank", "--help"]),
    ("help-build", 0, &["ascend-tune", "build", "--help"]),
    ("help-calibrate", 0, &["ascend-tune", "calibrate", "--help"]),
    ("help-check", 0, &["ascend-tune", "check", "--help"]),
    ("help-completions", 0, &["ascend-tune", "completions", "--help"]),
    ("help-compare", 0, &["ascend-tune", "compare", "--help"]),
    ("help-doctor", 0, &["ascend-tune", "doctor", "--help"]),
    ("help-fidelity", 0, &["ascend-tune", "fidelity", "--help"]),
    ("help-init", 0, &["ascend-tune", "init", "--help"]),
    ("help-lock", 0, &["ascend-tune", "lock", "--help"]),
    ("help-man", 0, &["ascend-tune", "man", "--help"]),
    ("help-mcp", 0, &["ascend-tune", "mcp", "--help"]),
    ("help-profile", 0, &["ascend-tune", "profile", "--help"]),
    ("help-replay", 0, &["ascend-tune", "replay", "--help"]),
    ("help-report", 0, &["ascend-tune", "report", "--help"]),
    ("help-rewind", 0, &["ascend-tune", "rewind", "--help"]),
    ("help-run", 0, &["ascend-tune", "run", "--help"]),
    ("help-schema", 0, &["ascend-tune", "schema", "--help"]),
    ("help-short", 0, &["ascend-tune", "-h"]),
    ("help-survey", 0, &["ascend-tune", "survey", "--help"]),
    ("help-test", 0, &["ascend-tune", "test", "--help"]),
    ("usage-no-command", 2, &[]),
    ("usage-set-without-value", 2, &["run", "--set", "TILE_LENGTH"]),
    ("usage-unknown-backend", 2, &["run", "--backend", "gpu"]),
    ("usage-unknown-command", 2, &["tune"]),
];

#[test]
fn pages_say_what_they_said() {
    for (name, status, arguments) in PAGES {
        let ran = Command::new(TOOL).args(arguments).env("COLUMNS", "100").output().expect("the command runs");
        assert_eq!(ran.status.code(), Some(status), "{name}");
        // Help goes to the one stream, what is wrong to the other.
        let (said, silent) = if status == 0 { (ran.stdout, ran.stderr) } else { (ran.stderr, ran.stdout) };
        assert!(silent.is_empty(), "{name}: {}", String::from_utf8_lossy(&silent));
        insta::assert_snapshot!(name, String::from_utf8_lossy(&said));
    }
}

/// What docs/troubleshooting.md explains are words that the tool says: the longest part of each without what is put in.
#[test]
fn errors_that_are_explained_exist() {
    let page = fs_err::read_to_string(root().join("docs/troubleshooting.md")).expect("the page");
    let mut sources = String::new();
    for folder in ["src", "crates"] {
        for entry in walkdir::WalkDir::new(root().join(folder)).into_iter().filter_map(Result::ok) {
            if entry.path().extension().is_some_and(|extension| extension == "rs") {
                sources += &fs_err::read_to_string(entry.path()).expect("a source file");
            }
        }
    }
    let mut explained = 0;
    for paragraph in page.split("\n\n").filter(|paragraph| paragraph.starts_with("**")) {
        let title = paragraph
            .strip_prefix("**")
            .and_then(|rest| rest.split_once("**:").or(rest.split_once("** (")))
            .expect("a title")
            .0;
        for said in title.split('`').skip(1).step_by(2) {
            // Names in capitals, numbers, quoted letters and dots stand for something.
            let is_put_in = |word: &str| {
                word.chars().all(|letter| letter.is_uppercase() || letter.is_ascii_punctuation()) || word.contains('\'')
            };
            let words: Vec<&str> = said.split(' ').map(|word| if is_put_in(word) { "\n" } else { word }).collect();
            let words = words.join(" ");
            let longest = words.split('\n').map(str::trim).max_by_key(|part| part.len()).expect("a part");
            let longest = longest.trim_end_matches([',', ';', ':']);
            assert!(longest.is_empty() || sources.contains(longest), "nothing says `{longest}` ({said})");
            explained += usize::from(!longest.is_empty());
        }
    }
    assert!(explained > 25, "{explained}");
}
