//! `check` of many operators: what is chosen, one summary, one exit status, what is remembered, and every form of the result.

use std::path::PathBuf;

use super::*;
use tempfile::TempDir;

/// A repository with copies of the tuned operator in `ops`.
pub(super) struct Repository {
    directory: TempDir,
}

impl Repository {
    pub(super) fn of(names: impl IntoIterator<Item = String>) -> Self {
        let directory = tempfile::Builder::new().prefix("ascend-tune-many-").tempdir().expect("a directory");
        let repository = Self { directory };
        let tuned = tuned().0.path();
        for name in names {
            let entries = walkdir::WalkDir::new(tuned).into_iter().filter_entry(|entry| entry.file_name() != "target");
            for entry in entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_file()) {
                let to = repository.operator(&name).join(entry.path().strip_prefix(tuned).expect("below"));
                fs_err::create_dir_all(to.parent().expect("a folder")).expect("a folder");
                fs_err::copy(entry.path(), to).expect("a copy");
            }
        }
        repository
    }

    pub(super) fn path(&self) -> PathBuf {
        std::fs::canonicalize(self.directory.path()).expect("a directory")
    }

    fn operator(&self, name: &str) -> PathBuf {
        self.path().join("ops").join(name)
    }

    pub(super) fn write(&self, file: &str, text: &str) {
        fs_err::write(self.path().join(file), text).expect("a written file");
    }

    fn edit(&self, operator: &str, file: &str, from: &str, to: &str) {
        let path = self.operator(operator).join(file);
        let text = fs_err::read_to_string(&path).expect("a text file");
        assert!(text.contains(from), "{file} has no `{from}`");
        fs_err::write(path, text.replace(from, to)).expect("a written file");
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Ended {
        let arguments = arguments.iter().chain(&["--message-format", "json"]);
        Ended::new(&tool().args(arguments).current_dir(self.path()).output().expect("the tool runs"))
    }

    pub(super) fn read(&self, file: &str) -> String {
        fs_err::read_to_string(self.path().join(file)).expect("a report")
    }
}

/// Directories and verdicts of the summary.
fn verdicts(ended: &Ended) -> Vec<(&str, &str)> {
    let operators = only(ended, "checks")["operators"].as_array().expect("a list");
    operators
        .iter()
        .map(|one| (one["project"].as_str().expect("text"), one["verdict"].as_str().expect("text")))
        .collect()
}

#[test]
fn verdicts_of_several_operators_come_in_one_summary_and_every_form() {
    require_tools!();
    let repository = Repository::of(["same", "slower", "unlocked", "left-out"].map(str::to_owned));
    let text = fs_err::read_to_string(repository.operator("slower").join(GELU_HOST)).expect("host code");
    let line = text.lines().find(|line| line.contains("TILE_LENGTH =")).expect("a tile constant");
    repository.edit("slower", GELU_HOST, line, "constexpr uint32_t TILE_LENGTH = 64;");
    fs_err::remove_file(repository.operator("unlocked").join("ascend.lock")).expect("a lock");
    fs_err::create_dir(repository.path().join(".git")).expect("the top of a checkout");
    let forms = ["junit", "sarif", "github", "gitlab", "markdown"].map(|form| format!("{form}=out/{form}"));
    let reports: Vec<&str> = forms.iter().flat_map(|form| ["--report", form.as_str()]).collect();
    let arguments = [&["check", "ops/*", "--exclude", "left-out", "--jobs", "2"][..], &reports].concat();
    let ended = repository.run(&arguments).expect(1);
    let expected = [("ops/same", "same"), ("ops/slower", "slower"), ("ops/unlocked", "cannot-tell")];
    assert_eq!(verdicts(&ended), expected);
    assert_eq!(ended.events.last(), Some(only(&ended, "checks")));
    assert_eq!(ended.named("check").len(), 2);

    let findings = only(&ended, "checks")["operators"][1]["findings"].as_array().expect("a list").clone();
    let slower = findings.iter().find(|finding| finding["verdict"] == "slower").expect("a reason");
    let message = slower["message"].as_str().expect("text");
    assert_has(
        message,
        &["32x1024", "are locked (+", "now limited by", "and pipe ", " waits ", "longest at op_kernel/"],
    );
    assert!(
        findings.iter().any(|finding| finding["verdict"] == "drifted" && finding["file"] == GELU_HOST),
        "{findings:?}"
    );

    let junit = repository.read("out/junit");
    assert_has(&junit, &["name=\"ops/same\"", "name=\"ops/slower\"", "type=\"slower\"", "type=\"cannot-tell\""]);
    let sarif: Value = serde_json::from_str(&repository.read("out/sarif")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("a list");
    let place = &results.iter().find(|result| result["ruleId"] == "slower").expect("a result")["locations"][0];
    let uri = place["physicalLocation"]["artifactLocation"]["uri"].as_str().expect("text");
    // The line that is shown is one of the operator's kernel, and there is such a line.
    let line = place["physicalLocation"]["region"]["startLine"].as_u64().expect("a number");
    assert!(uri.starts_with("ops/slower/op_kernel/"), "{uri}");
    assert!(usize::try_from(line).is_ok_and(|line| line <= repository.read(uri).lines().count()), "{uri}:{line}");
    let github = repository.read("out/github");
    assert_has(&github, &[&format!("::error file={uri},line={line},title=GeluNaive%3A slower::case 32x1024: ")]);
    let gitlab: Vec<Value> = serde_json::from_str(&repository.read("out/gitlab")).expect("JSON");
    assert_eq!(gitlab.len(), results.len());
    assert_has(&repository.read("out/markdown"), &["| ops/slower | slower |", &format!("`{uri}:{line}`")]);

    let people = tool().args(["check", "ops", "--report", "github"]).current_dir(repository.path()).output();
    let people = people.expect("the tool runs");
    let said = String::from_utf8_lossy(&people.stdout);
    assert_has(
        &said,
        &["ops/slower    slower", "failed: 4 operators: 2 same, 1 slower, 1 cannot tell in ", "\n::error file="],
    );
}

/// A record of a check serves every copy of what was checked, and none that differs.
#[test]
fn a_hundred_operators_that_did_not_change_are_not_built() {
    require_tools!();
    let repository = Repository::of((0..100).map(|number| format!("op{number:02}")));
    repository.run(&["check", "ops/op00"]).expect(0);
    let ended = repository.run(&["check", "--workspace"]).expect(0);
    let remembered = ended.named("check").iter().filter(|check| check["remembered"] == true).count();
    assert_eq!((remembered, verdicts(&ended).len(), ended.named("sdk").len()), (100, 100, 0));
    let ended = repository.run(&["check", "--workspace", "--drift"]).expect(0);
    assert_eq!(verdicts(&ended).iter().filter(|(_, verdict)| *verdict == "same").count(), 100);

    // A word that no earlier run of these tests with the same program has left in what is remembered.
    let new = format!("# {}\n[operator]", repository.path().display());
    repository.edit("op07", "ascend.toml", "[operator]", &new);
    let ended = repository.run(&["check", "--workspace"]).expect(0);
    assert_eq!(ended.named("check").iter().filter(|check| check["remembered"] == true).count(), 99);
    assert_eq!(ended.named("sdk").len(), 1, "one was built");
    let ended = repository.run(&["check", "ops/op00", "--fresh"]).expect(0);
    assert_eq!(only(&ended, "check")["remembered"], Value::Null);
}

/// Without a compiler, CMake or SDK: nothing is asked for them.
#[test]
fn drift_compares_digests_and_nothing_else() {
    require_tools!();
    let repository = Repository::of(["same", "source", "manifest", "older", "tool"].map(str::to_owned));
    let text = fs_err::read_to_string(repository.operator("source").join(GELU_KERNEL)).expect("a kernel");
    fs_err::write(repository.operator("source").join(GELU_KERNEL), text + "constexpr int UNUSED = 1;\n")
        .expect("written");
    repository.edit("manifest", "ascend.toml", "seeds = 3", "seeds = 4");
    let lock = fs_err::read_to_string(repository.operator("older").join("ascend.lock")).expect("a lock");
    let older = lock.split("[included]").next().expect("a beginning");
    let rest =
        lock.split("[included]").nth(1).and_then(|rest| rest.find("\n[").map(|at| &rest[at..])).unwrap_or_default();
    fs_err::write(repository.operator("older").join("ascend.lock"), format!("{older}{rest}")).expect("written");
    let version = format!("tool = \"{}\"", env!("CARGO_PKG_VERSION"));
    repository.edit("tool", "ascend.lock", &version, "tool = \"0.0.1\"");
    let ended = tool()
        .args(["check", "--workspace", "--drift", "--message-format", "json"])
        .env("PATH", "/nowhere")
        .env("ASCEND_TUNE_CACHE", "/nowhere")
        .current_dir(repository.path())
        .output();
    let ended = Ended::new(&ended.expect("the tool runs")).expect(1);
    let expected = [
        ("ops/manifest", "drifted"),
        ("ops/older", "cannot-tell"),
        ("ops/same", "same"),
        ("ops/source", "drifted"),
        ("ops/tool", "cannot-tell"),
    ];
    assert_eq!(verdicts(&ended), expected);
    let findings = only(&ended, "checks")["operators"].to_string();
    assert_has(
        &findings,
        &["ascend.toml was changed", GELU_KERNEL, "written by version 0.0.1", "does not say which headers"],
    );
    assert!(ended.named("sdk").is_empty() && !repository.operator("same").join("target").exists());
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_runs() {
    let repository = tempfile::tempdir().expect("a directory");
    for (arguments, said) in [
        (&["check", "nowhere"][..], "nowhere: not there"),
        (&["check", "--workspace"], "no ascend.toml here or below"),
        (&["check", "--changed-since", "HEAD"], "--changed-since HEAD: "),
        (&["check", "--report", "github"], "give the report a file"),
    ] {
        let arguments = arguments.iter().chain(&["--message-format", "json"]);
        let ended = Ended::new(&tool().args(arguments).current_dir(repository.path()).output().expect("the tool runs"));
        assert_has(&failure(&ended, 2), &[said]);
    }
}

/// Builds and runs of several operators: each has its turn, whatever becomes of the others.
#[test]
fn what_is_done_to_several_operators_is_done_to_each_and_summed_up() {
    require_tools!();
    let repository = Repository::of(["add", "broken", "gelu"].map(str::to_owned));
    repository.edit("broken", "ascend.toml", "[check]", "[chekc]");
    let ended = repository.run(&["build", "--workspace", "--dry-run", "--exclude", "add"]);
    assert_eq!(ended.code, 2, "the highest: {}", ended.stderr);
    let done = ended.events.last().expect("a summary");
    assert_eq!(done["event"], "operators-done");
    let rows: Vec<(&str, u64)> = done["operators"].as_array().expect("a list").iter().map(row_of).collect();
    assert_eq!(rows, [("ops/broken", 2), ("ops/gelu", 0)]);
    assert!(done["operators"][0]["reason"].as_str().is_some_and(|reason| reason.contains("unknown key `chekc`")));
    assert_eq!(ended.named("build").len(), 1, "of the one that can be built");
    // A run says what it claims for each.
    let ended = repository.run(&["run", "ops/gelu", "--budget", "1", "--dry-run"]).expect(0);
    assert!(ended.events.last().expect("a summary")["operators"][0]["claimed"].as_f64().is_some_and(|by| by >= 1.0));
}

fn row_of(operator: &Value) -> (&str, u64) {
    (operator["project"].as_str().expect("a directory"), operator["exit"].as_u64().expect("a number"))
}
