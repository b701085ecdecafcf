//! What `init --ci` writes is YAML, and its steps do what they say, one after the other as the system would run them.

use std::path::PathBuf;

use saphyr::{LoadableYamlNode, Yaml};

use super::many::Repository;
use super::*;

fn parsed(text: &str) -> Yaml<'_> {
    let mut documents = Yaml::load_from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

fn texts<'text>(list: &'text Yaml<'_>) -> Vec<&'text str> {
    list.as_sequence().expect("a list").iter().map(|text| text.as_str().expect("text")).collect()
}

/// A repository of two tuned operators, and a folder of programs in which `cargo` knows this tool and nothing else.
fn machine() -> (Repository, PathBuf) {
    let repository = Repository::of(["one", "two"].map(str::to_owned));
    let git = |arguments: &[&str]| {
        let ran = Command::new("git").arg("-C").arg(repository.path()).args(arguments).output().expect("git runs");
        assert!(ran.status.success(), "{ran:?}");
    };
    git(&["init", "-q", "-b", "trunk"]);
    let programs = repository.path().join(".programs");
    fs_err::create_dir(&programs).expect("a folder");
    std::os::unix::fs::symlink(crate::support::TOOL, programs.join("cargo-ascend-tune")).expect("a link");
    let cargo = programs.join("cargo");
    fs_err::write(&cargo, "#!/bin/sh\nexec cargo-ascend-tune \"$@\"\n").expect("a script");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(&cargo, mode).expect("a program");
    (repository, programs)
}

/// Runs a step as both systems do: in the checkout, by a shell that stops at what fails.
fn step(repository: &Repository, programs: &Path, words: &str, variables: &[(&str, &str)]) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", words]).current_dir(repository.path()).envs(variables.iter().copied());
    shell.env("PATH", format!("{}:{path}", programs.display()));
    // Nothing of these is the workflow's: caches of the tests.
    shell.env("ASCEND_TUNE_CACHE", crate::support::cache()).env_remove("ASCEND_TUNE_SDK");
    let ran = shell.output().expect("a shell");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{words}:\n{said}{}", String::from_utf8_lossy(&ran.stderr));
    said
}

#[test]
fn the_workflow_for_github_checks_every_operator() {
    require_tools!();
    let (repository, programs) = machine();
    let ended = repository.run(&["init", "--ci", "github"]).expect(0);
    let file = ".github/workflows/ascend-tune.yml";
    assert_has(&only(&ended, "written")["files"].to_string(), &[file]);
    assert_has(&failure(&repository.run(&["init", "--ci", "github"]), 2), &["is there already", "--force"]);
    let text = repository.read(file);
    let workflow = parsed(&text);
    assert_eq!(texts(&workflow["on"]["push"]["branches"]), ["trunk"]);
    assert_eq!(workflow["permissions"]["contents"].as_str(), Some("read"));
    let steps = workflow["jobs"]["check"]["steps"].as_sequence().expect("steps");
    let uses = |name: &str| {
        steps
            .iter()
            .find(|step| step.as_mapping_get("uses").and_then(Yaml::as_str).is_some_and(|used| used.starts_with(name)))
    };
    assert_eq!(uses("actions/checkout@").expect("a step")["with"]["persist-credentials"].as_bool(), Some(false));
    let cache = &uses("actions/cache@").expect("a step")["with"];
    let key = cache["key"].as_str().expect("a key");
    assert_has(key, &[env!("CARGO_PKG_VERSION"), "steps.compiler.outputs.key", "github.run_id"]);
    assert!(key.starts_with(cache["restore-keys"].as_str().expect("a key")), "{key}");
    let (outputs, summary) = (repository.path().join("outputs"), repository.path().join("summary.md"));
    let variables =
        [("GITHUB_OUTPUT", outputs.to_str().expect("text")), ("GITHUB_STEP_SUMMARY", summary.to_str().expect("text"))];
    let ran = steps.iter().filter_map(|one| one.as_mapping_get("run").and_then(Yaml::as_str));
    let said: Vec<String> = ran.map(|words| step(&repository, &programs, words, &variables)).collect();
    assert_eq!(said.len(), 3);
    let compiler = fs_err::read_to_string(&outputs).expect("an output");
    assert!(compiler.trim().strip_prefix("key=").is_some_and(|key| key.len() == 16), "{compiler}");
    assert_has(&fs_err::read_to_string(&summary).expect("a summary"), &["2 operators: 2 same"]);
    let artifact = uses("actions/upload-artifact@").expect("a step")["with"]["path"].as_str().expect("a path");
    assert_has(&repository.read(artifact), &["ops/one", "ops/two"]);
}

#[test]
fn the_job_for_gitlab_checks_every_operator() {
    require_tools!();
    let (repository, programs) = machine();
    let install = "echo installed: \"$CARGO_HOME\" # by hand";
    let ended = repository.run(&["init", "--ci", "gitlab", "--install", install]).expect(0);
    assert_eq!(only(&ended, "written")["files"].as_array().expect("a list").len(), 2);
    let text = repository.read(".gitlab-ci.yml");
    let included = parsed(&text)["include"][0]["local"].as_str().expect("a file").to_owned();
    let again = repository.run(&["init", "--ci", "gitlab", "--force", "--install", install]).expect(0);
    assert_eq!(only(&again, "written")["next"], Value::Null, "it is included");
    let text = repository.read(&included);
    let workflow = parsed(&text);
    let job = &workflow["ascend-tune"];
    let image = job["image"].as_str().expect("an image").replace(':', "-");
    assert_has(job["cache"]["key"].as_str().expect("a key"), &[env!("CARGO_PKG_VERSION"), &image]);
    let before = texts(&job["before_script"]);
    assert_has(&before.join("\n"), &["command -v cargo-ascend-tune || echo installed"]);
    let home = repository.path().join(".ascend-tune/cargo");
    // Packages of the image are the image's matter.
    for words in before.into_iter().filter(|words| !words.starts_with("apt-get")).chain(texts(&job["script"])) {
        step(&repository, &programs, words, &[("CARGO_HOME", home.to_str().expect("text"))]);
    }
    let reports = &job["artifacts"]["reports"];
    assert_has(&repository.read(reports["junit"].as_str().expect("a file")), &["ops/one", "ops/two"]);
    let quality: Vec<Value> =
        serde_json::from_str(&repository.read(reports["codequality"].as_str().expect("a file"))).expect("JSON");
    assert!(quality.is_empty(), "{quality:?}");

    repository.write(".gitlab-ci.yml", "stages: [test]\n");
    let ended = repository.run(&["init", "--ci", "gitlab", "--force"]).expect(0);
    assert_has(&only(&ended, "written")["next"].to_string(), &["include it in .gitlab-ci.yml", &included]);
    assert_eq!(repository.read(".gitlab-ci.yml"), "stages: [test]\n");
}
