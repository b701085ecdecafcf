//! Pages of help and of wrong usage, word by word. `INSTA_UPDATE=always cargo test --test suite pages_say` writes what the command says now;
//! read the difference.

use std::process::Command;

use crate::support::TOOL;

/// Name of the page, exit status, arguments.
const PAGES: [(&str, i32, &[&str]); 22] = [
    ("help", 0, &["--help"]),
    ("help-ablation", 0, &["ascend-tune", "ablation", "--help"]),
    ("help-bank", 0, &["ascend-tune", "bank", "--help"]),
    ("help-build", 0, &["ascend-tune", "build", "--help"]),
    ("help-calibrate", 0, &["ascend-tune", "calibrate", "--help"]),
    ("help-check", 0, &["ascend-tune", "check", "--help"]),
    ("help-compare", 0, &["ascend-tune", "compare", "--help"]),
    ("help-doctor", 0, &["ascend-tune", "doctor", "--help"]),
    ("help-fidelity", 0, &["ascend-tune", "fidelity", "--help"]),
    ("help-init", 0, &["ascend-tune", "init", "--help"]),
    ("help-lock", 0, &["ascend-tune", "lock", "--help"]),
    ("help-profile", 0, &["ascend-tune", "profile", "--help"]),
    ("help-replay", 0, &["ascend-tune", "replay", "--help"]),
    ("help-rewind", 0, &["ascend-tune", "rewind", "--help"]),
    ("help-run", 0, &["ascend-tune", "run", "--help"]),
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
