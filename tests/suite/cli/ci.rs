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

/// A program of a machine that notes what it is given.
fn noting(programs: &Path, name: &str, more: &str) {
    let program = programs.join(name);
    let text = format!("#!/bin/sh\nfor word in \"$@\"; do printf '%s\\n' \"$word\"; done >> \"$0.given\"\n{more}");
    fs_err::write(&program, text).expect("a script");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(&program, mode).expect("a program");
}

/// What git says in a directory.
fn git(directory: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"];
    let ran = Command::new("git").arg("-C").arg(directory).args(identity).args(arguments).output().expect("git runs");
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

/// The checkout with all that it has as its first commit, and a bare repository as its remote.
fn committed(repository: &Repository, programs: &Path) -> PathBuf {
    let top = repository.path();
    let remote = programs.join("remote.git");
    fs_err::write(top.join(".gitignore"), "target/\n.programs/\n").expect("a file");
    git(&top, &["add", "--all"]);
    git(&top, &["commit", "--quiet", "--message=before"]);
    git(&top, &["clone", "--quiet", "--bare", ".", remote.to_str().expect("text")]);
    git(&top, &["remote", "add", "origin", remote.to_str().expect("text")]);
    remote
}

#[test]
fn the_workflow_for_github_proposes_what_was_gained_and_nothing_else() {
    require_tools!();
    let (repository, programs) = machine();
    let ended = repository.run(&["init", "--ci", "github", "--tune"]).expect(0);
    let file = ".github/workflows/ascend-tune-run.yml";
    assert_has(&only(&ended, "written")["files"].to_string(), &[file]);
    let text = repository.read(file);
    let workflow = parsed(&text);
    let jobs = &workflow["jobs"];
    // Whoever runs operators may not write, and whoever may write runs none.
    assert_eq!(workflow["permissions"]["contents"].as_str(), Some("read"));
    assert!(jobs["tune"].as_mapping_get("permissions").is_none() && !text.contains("secrets."));
    let may = &jobs["propose"]["permissions"];
    assert_eq!((may["contents"].as_str(), may["pull-requests"].as_str()), (Some("write"), Some("write")));
    assert_has(jobs["propose"]["if"].as_str().expect("a condition"), &["needs.tune.outputs.gained == 'true'"]);
    let of = |job: &str, name: &str| {
        let steps = jobs[job]["steps"].as_sequence().expect("steps");
        let named = |one: &&Yaml<'_>| one.as_mapping_get("name").and_then(Yaml::as_str) == Some(name);
        steps.iter().find(named).expect("a step")["run"].as_str().expect("words").to_owned()
    };
    assert!(!of("propose", "Propose").contains("ascend-tune run"));
    assert_eq!(jobs["tune"]["steps"][0]["with"]["persist-credentials"].as_bool(), Some(false));

    // A tile that is too short for what is locked.
    let host = "ops/one/op_host/gelu_naive.cpp";
    let short = repository.read(host).replace("TILE_LENGTH = ", "TILE_LENGTH = 8; // ");
    repository.write(host, &short);
    let top = repository.path();
    fs_err::remove_dir_all(top.join("ops/two")).expect("one is enough");
    let remote = committed(&repository, &programs);
    let (outputs, temporary) = (programs.join("outputs"), programs.join("temp"));
    fs_err::create_dir_all(temporary.join("gained")).expect("a folder");
    let variables = [
        ("GITHUB_OUTPUT", outputs.to_str().expect("text")),
        ("RUNNER_TEMP", temporary.to_str().expect("text")),
        ("BUDGET", "2"),
        ("SEED", "1"),
    ];
    let run = |job: &str, name: &str| step(&repository, &programs, &of(job, name), &variables);
    run("tune", "Collect");
    assert!(!outputs.exists() && !top.join("target/ascend-tune-gained.patch").exists(), "nothing was gained yet");
    run("tune", "Tune");
    run("tune", "Collect");
    assert_has(&fs_err::read_to_string(&outputs).expect("an output"), &["gained=true"]);
    let told = repository.read("target/ascend-tune-gained.md");
    assert_has(&told, &["### GeluNaive in ops/one: ", "| case | before | now | speed-up |"]);

    // The other job has a checkout of its own, and what the first one left.
    for end in ["md", "patch"] {
        let name = format!("ascend-tune-gained.{end}");
        fs_err::rename(top.join("target").join(&name), temporary.join("gained").join(&name)).expect("an artifact");
    }
    git(&top, &["reset", "--quiet", "--hard"]);
    noting(&programs, "gh", "");
    run("propose", "Propose");
    let given = fs_err::read_to_string(programs.join("gh.given")).expect("gh was called");
    assert_has(&given, &["pr\ncreate\n--base\ntrunk\n--head\nascend-tune/tuned\n", "ascend-tune-gained.md"]);
    let pushed = git(&remote, &["diff", "--name-only", "trunk", "ascend-tune/tuned"]);
    assert_has(&pushed, &["ops/one/ascend.lock", host]);
    assert!(!pushed.contains("target/"), "{pushed}");
    // The next one takes the place of a proposal that nobody took.
    git(&top, &["reset", "--quiet", "--hard", "HEAD~1"]);
    noting(&programs, "gh", "[ \"$2\" = list ] && echo 7 || true\n");
    run("propose", "Propose");
    let given = fs_err::read_to_string(programs.join("gh.given")).expect("gh was called");
    assert_has(&given, &["pr\nedit\n7\n--body-file\n"]);
    assert_eq!(given.matches("create").count(), 1);
}

#[test]
fn the_jobs_for_gitlab_propose_what_was_gained() {
    require_tools!();
    let (repository, programs) = machine();
    repository.run(&["init", "--ci", "gitlab", "--tune"]).expect(0);
    let text = repository.read(".gitlab-ci.yml");
    let included = parsed(&text)["include"][0]["local"].as_str().expect("a file").to_owned();
    let text = repository.read(&included);
    let workflow = parsed(&text);
    let script = |job: &str| texts(&workflow[job]["script"]).concat();
    let (tune, propose) = (script("ascend-tune-run"), script("ascend-tune-propose"));
    assert!(tune.contains("ascend-tune run --workspace") && !propose.contains("ascend-tune run"));
    assert!(tune.matches("TOKEN").count() == 0 && propose.matches("CI_JOB_TOKEN").count() == 1);

    let remote = committed(&repository, &programs);
    let top = repository.path();
    let quiet = step(&repository, &programs, &propose, &[]);
    assert_has(&quiet, &["nothing was gained"]);
    // What the other job leaves, without its run: a value, and a lock that was not there.
    let cargo = "#!/bin/sh\necho '### Gelu in ops/one: 2.00x' > ascend-tune-gained.md\necho >> ops/one/op_host/gelu_naive.cpp\n\
                 mkdir -p ops/three && echo > ops/three/ascend.lock && echo > ops/three/left\nexit 3\n";
    fs_err::write(programs.join("cargo"), cargo).expect("a script");
    let failing = format!("({tune}) && exit 1 || [ $? = 3 ]");
    step(&repository, &programs, &failing, &[("BUDGET", "2"), ("SEED", "1")]);
    assert!(top.join("ascend-tune-gained.patch").exists(), "what was gained is kept where one operator failed");
    git(&top, &["reset", "--quiet", "--hard"]);
    let to_remote = format!("url.{}.insteadOf", remote.display());
    git(&top, &["config", &to_remote, "https://gitlab-ci-token:t@host:443/a/b.git"]);
    git(&remote, &["config", "receive.advertisePushOptions", "true"]);
    let hook = "#!/bin/sh\nfor n in 0 1 2; do eval echo \\$GIT_PUSH_OPTION_$n; done > options\n";
    fs_err::create_dir_all(remote.join("hooks")).expect("a folder");
    noting(&remote.join("hooks"), "pre-receive", "");
    fs_err::write(remote.join("hooks/pre-receive"), hook).expect("a hook");
    let variables = [
        ("CI_SERVER_PROTOCOL", "https"),
        ("CI_SERVER_HOST", "host"),
        ("CI_SERVER_PORT", "443"),
        ("CI_PROJECT_PATH", "a/b"),
        ("CI_JOB_TOKEN", "t"),
    ];
    step(&repository, &programs, &propose, &variables);
    let options = fs_err::read_to_string(remote.join("options")).expect("the hook ran");
    assert_eq!(options, "merge_request.create\nmerge_request.target=trunk\nmerge_request.remove_source_branch\n");
    let message = git(&remote, &["log", "-1", "--format=%B", "ascend-tune/tuned"]);
    assert_has(&message, &["Tuned operators\n\n### Gelu in ops/one: 2.00x"]);
    let pushed = git(&remote, &["diff", "--name-only", "trunk", "ascend-tune/tuned"]);
    assert_eq!(pushed, "ops/one/op_host/gelu_naive.cpp\nops/three/ascend.lock\n");
}
