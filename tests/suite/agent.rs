//! A language model in a run, over HTTP on loopback: what it may change, what becomes of it, and what stays here. The answers are written
//! as a model would write them.

use std::time::Duration;

use ::agent::testing::{ScriptedServer, Step};
use motif::{LocalForm, LocalMotif};
use serde_json::json;
use tuner::{Elsewhere, has_place, try_elsewhere};

use crate::cli::small_gelu;
use crate::faults::{open, runtime};
use crate::resume::{journal, run_and_kill, run_and_kill_when};
use crate::support::{Ended, Project, edited, require_tools, root};

const KEY: &str = "sk-a-secret-of-the-user";
const HOST: &str = "op_host/gelu_naive.cpp";
const KERNEL: &str = "op_kernel/gelu_naive.cpp";
const TILE: &str = "    tiling.set_tileLength(TILE_LENGTH);";
const LONG_TILE: &str = "    tiling.set_tileLength(totalLength < 1024 ? TILE_LENGTH : 1024);";
const ONE: &str = "        AscendC::Duplicate(ones, 1.0f, count);";
const STORE: &str = "        AscendC::DataCopyPad(yGm[start], yLocal, copyParams);";

fn edit(file: &str, old: &str, new: &str) -> String {
    format!("<<<<<<< SEARCH {file}\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n")
}

/// A program that remembers that it was asked, and proposes nothing.
const PROGRAM: &str = r#"
[proposer]
command = ["sh", "-c", '''while read -r line; do echo "$line" >> asked; echo '{"proposals":[]}'; done''']
"#;

/// A project whose manifest names a server, and a program.
fn with_model(server: &ScriptedServer, more: &str) -> Project {
    let project = small_gelu();
    let table = format!("\n[model]\nendpoint = \"{}\"\nname = \"m\"\nshare = 1.0\n{more}{PROGRAM}", server.endpoint());
    let manifest = project.read("ascend.toml");
    project.write("ascend.toml", &format!("{manifest}{table}"));
    project
}

fn run(project: &Project, budget: &str, more: &[&str]) -> Ended {
    let run = ["run", "--jobs", "4", "--budget", budget];
    let more = if more.contains(&"--stage") { more.to_vec() } else { [&["--stage", "kernel"], more].concat() };
    let output = project.command(&[&run[..], &more].concat()).env("ASCEND_TUNE_MODEL_KEY", KEY).output();
    let output = output.expect("the tool runs");
    let said = [&output.stdout[..], &output.stderr].concat();
    assert!(!String::from_utf8_lossy(&said).contains(KEY), "the key is said");
    Ended::new(&output)
}

/// Everything that lies in a project after a run.
fn files(project: &Project) -> Vec<String> {
    let entries = walkdir::WalkDir::new(project.path()).into_iter().filter_map(Result::ok);
    let files = entries.filter(|entry| entry.file_type().is_file());
    files.map(|entry| String::from_utf8_lossy(&fs_err::read(entry.path()).expect("a file")).into_owned()).collect()
}

#[test]
fn what_a_model_proposes_is_written_back_by_its_name_and_a_recording_does_the_same() {
    require_tools!();
    let good = format!("TITLE: longer tiles\n{}", edit(HOST, TILE, LONG_TILE));
    let pieces = ["Start-up of ", "the copies."].map(str::to_owned).to_vec();
    let learned = "<<<<<<< RECORD model-1\nWHAT: longer tiles where rows are long\nAVOID: short rows\n>>>>>>> END";
    // No kernel has this line: it is host code, and not the engine's.
    let stated = format!("<<<<<<< MOTIF longer tiles\n{}\n=======\n{}\n>>>>>>> END", TILE.trim(), LONG_TILE.trim());
    let steps = [
        Step::Stream(pieces),
        Step::Say("- longer tiles in the tiling function".to_owned()),
        // What it would propose is tried before.
        Step::Call("profile".to_owned(), json!({ "edits": good })),
        Step::Say(good),
        Step::by(move |asked| {
            let role = asked.body["messages"][0]["content"].as_str().unwrap_or_default();
            let (_, behind) = asked.question().split_once("The version to begin with").unwrap_or_default();
            let text = behind.split("```").nth(1).unwrap_or_default().trim_start_matches("cpp\n");
            Step::Say(match role {
                role if role.contains("RECORD name") => learned.to_owned(),
                role if role.contains("MOTIF title") => stated.to_owned(),
                _ if text.contains("? TILE_LENGTH : 1024") => {
                    let text = text.replace("? TILE_LENGTH : 1024", "? TILE_LENGTH : 512");
                    format!("TITLE: shorter ones\n<<<<<<< TILING\n{text}>>>>>>> REPLACE")
                }
                _ => "NOTHING".to_owned(),
            })
        }),
    ];
    let server = ScriptedServer::start(steps).expect("a server");
    let project = with_model(&server, "tools = [\"profile\"]\nevolve = 1\ndistil = true\nlocal-motifs = true\n");
    let replayed = Project::copy_of(project.path());

    let refused = run(&project, "5", &["--dry-run"]).expect(2);
    let message = refused.named("error")[0]["message"].to_string();
    assert!(
        message.contains("goes to 127.0.0.1:") && message.contains("--yes") && message.contains(KERNEL),
        "{message}"
    );
    assert!(server.received().is_empty(), "nobody agreed");

    let cassette = project.path().join("model.jsonl");
    let cassette = cassette.to_str().expect("a path");
    let ended = run(&project, "8", &["--yes", "--record", cassette]).expect(0);
    assert_eq!(ended.named("warning").iter().filter(|event| event["code"] == "sources-leave").count(), 2);
    let first = &server.received()[0];
    assert!(first.head.contains(&format!("Bearer {KEY}")) && first.question().contains("class KernelGelu {"));
    assert!(!first.question().contains(project.path().to_str().expect("a path")), "folders stay here");
    let tried = ended.named("evaluation").into_iter().find(|event| event["motif"] == "model-1").expect("it was tried");
    assert_eq!(tried["status"], "valid", "{tried}");
    assert!(project.read("asked").contains("\"ask\":\"propose\""), "the program takes part as well");
    assert!(project.read(HOST).contains(LONG_TILE));
    let lock = project.read("ascend.lock");
    assert!(lock.contains("model-1") && lock.contains("longer tiles"), "{lock}");
    let summary = ended.named("summary")[0];
    assert_eq!(summary["model"]["evaluations"], 2);
    let lineage = &summary["model"]["lineage"];
    assert_eq!((&lineage[0]["title"], &lineage[0]["outcome"]), (&json!("shorter ones"), &json!("right")), "{lineage}");
    assert!(project.read("target/ascend-tune/lineage.jsonl").contains("? TILE_LENGTH : 512"));
    let warnings = ended.named("warning");
    assert!(warnings.iter().any(|event| event["code"] == "local-motif-not-kept"), "host code is no local motif");
    let tried = &server.received()[3].body["messages"][3]["content"];
    let tried = tried.as_str().expect("what the tool brought");
    assert!(tried.starts_with("Right on the timed cases") && tried.contains("The longest launch: "), "{tried}");
    let record = files(&project).into_iter().find(|text| text.contains("model: longer tiles where rows are long"));
    let record = record.expect("what was learned is in the project's bank");
    assert!(record.contains("avoid-when = [") && record.contains("\"short rows\""), "{record}");
    let report = project.read("target/ascend-tune/report.html");
    assert!(report.contains("proposed by the model m: longer tiles in the tiling function"));
    assert!(files(&project).iter().all(|text| !text.contains(KEY)), "the key is kept");
    let recorded = fs_err::read_to_string(cassette).expect("a recording");
    assert!(recorded.lines().count() >= 3 && !recorded.contains(project.path().to_str().expect("a path")));

    let asked = server.received().len();
    run(&replayed, "8", &["--offline", "--replay", cassette]).expect(0);
    assert_eq!(server.received().len(), asked, "nothing leaves the machine");
    assert!(!replayed.path().join("asked").exists(), "and no program is started");
    for file in [HOST, KERNEL, "ascend.lock"] {
        assert_eq!(replayed.read(file), project.read(file), "{file}");
    }
    let other = run(&replayed, "8", &["--offline", "--replay", cassette, "--allow-dirty"]).expect(2);
    let message = other.named("error")[0]["message"].to_string();
    assert!(message.contains("question 1 of this run, for diagnose") && message.contains("line "), "{message}");
}

#[test]
fn constants_of_a_tiling_function_that_evolved_are_searched() {
    require_tools!();
    let server = ScriptedServer::start([Step::by(|asked| {
        let (_, behind) = asked.question().split_once("The version to begin with").unwrap_or_default();
        let text = behind.split("```").nth(1).unwrap_or_default().trim_start_matches("cpp\n");
        let data = "    GeluNaiveTilingData tiling;\n";
        let text = text.replace(data, &format!("    constexpr uint32_t WIDE_TILE = 256;\n{data}"));
        let text =
            text.replace("set_tileLength(TILE_LENGTH)", "set_tileLength(totalLength < 1024 ? TILE_LENGTH : WIDE_TILE)");
        Step::Say(match asked.body["messages"][0]["content"].as_str().unwrap_or_default() {
            role if role.contains("You evolve the tiling function") => {
                format!("TITLE: wide tiles for long work\n<<<<<<< TILING\n{text}>>>>>>> REPLACE")
            }
            _ => "NOTHING".to_owned(),
        })
    })]);
    let server = server.expect("a server");
    let project = with_model(&server, "evolve = 1\n");
    let replayed = Project::copy_of(project.path());
    let cassette = project.path().join("model.jsonl");
    let cassette = cassette.to_str().expect("a path");
    let fixed = ["--stage", "both", "--set", "BLOCK_DIM=1", "--set", "TILE_LENGTH=128", "--set", "BUFFER_NUM=1"];
    let ended = run(&project, "17", &[&fixed[..], &["--yes", "--record", cassette]].concat()).expect(0);
    let warnings = ended.named("warning");
    let brought = warnings.iter().find(|event| event["code"] == "tunables-brought").expect("it says so");
    assert!(brought["message"].to_string().contains("WIDE_TILE = 256"), "{brought}");
    let of_host =
        |event: &&&serde_json::Value| event["stage"] == "host" && !event["configuration"]["WIDE_TILE"].is_null();
    assert!(ended.named("evaluation").iter().filter(of_host).count() > 1, "it is searched");
    let chosen = &ended.named("summary")[0]["configuration"]["WIDE_TILE"];
    assert!(chosen.as_i64().is_some_and(|value| value > 256), "{chosen}");
    assert!(
        project.read(HOST).contains(&format!("constexpr uint32_t WIDE_TILE = {chosen};")),
        "{}",
        project.read(HOST)
    );
    let lock = project.read("ascend.lock");
    assert!(lock.contains(&format!("[brought]\nWIDE_TILE = {chosen}\n")), "{lock}");
    let drift = project.command(&["check", "--drift"]).output().expect("the tool runs");
    assert!(!String::from_utf8_lossy(&drift.stdout).contains("WIDE_TILE"), "the manifest need not name it");
    // Killed while they are searched, it goes on to the same result.
    let answers = ["run", "--jobs", "4", "--budget", "17", "--offline", "--replay", cassette];
    let again = [&answers[..], &fixed].concat();
    let lines = journal(project.path()).len() - 3;
    assert!(!run_and_kill(&replayed, replayed.command(&again), lines, Duration::ZERO), "it was over before");
    assert!(!replayed.path().join("ascend.lock").exists());
    let ended = Ended::new(&replayed.command(&again).output().expect("the tool runs")).expect(0);
    let warnings = ended.named("warning");
    assert!(warnings.iter().any(|event| event["code"] == "resumed"), "{warnings:?}");
    for file in [HOST, KERNEL, "ascend.lock"] {
        assert_eq!(replayed.read(file), project.read(file), "{file}");
    }
}

/// The server is asked by `rewind`: once for what hurts as it should, once for what is wrong, and then it has nothing left.
#[test]
fn a_model_takes_out_of_an_operator_what_is_measured_then() {
    require_tools!();
    let slow = edit(HOST, TILE, "    tiling.set_tileLength(TILE_LENGTH / 4);");
    let wrong = edit(KERNEL, ONE, &ONE.replace("1.0f", "2.0f"));
    let answers = [
        format!("TITLE: long tiles\nCOUNTER: mte2_us\n{slow}"),
        format!("TITLE: a one\nCOUNTER: vec_us\n{wrong}"),
        "NOTHING".to_owned(),
    ];
    let server = ScriptedServer::start(answers.map(Step::Say)).expect("a server");
    let project = with_model(&server, "rewind = 3\n");
    // A rule that the bank has is taken out like a motif.
    let rule = "title = \"one barrier\"\nslow = \"@PipeBarrier<PIPE_ALL>();\\n@PipeBarrier<PIPE_ALL>();\\n@Exp($$y, $$x, $n);\"\n\
                fast = \"@PipeBarrier<PIPE_ALL>();\\n@Exp($$y, $$x, $n);\"\n";
    fs_err::create_dir_all(project.path().join("target/ascend-tune/bank/motifs")).expect("a folder");
    project.write("target/ascend-tune/bank/motifs/one-barrier.toml", rule);
    let rewind = ["rewind", "--budget", "12", "--sites", "1", "--jobs", "4"];
    let with = |more: &[&str]| Ended::new(&project.command(&[&rewind[..], more].concat()).output().expect("it runs"));
    let refused = with(&[]).expect(2).named("error")[0]["message"].to_string();
    assert!(refused.contains("goes to 127.0.0.1:") && server.received().is_empty(), "nobody agreed: {refused}");
    let cassette = project.path().join("rewound.jsonl");
    let cassette = cassette.to_str().expect("a path");
    let ended = with(&["--yes", "--record", cassette]).expect(0);
    let done = ended.named("rewind")[0];
    let of_model = |step: &&serde_json::Value| step["motif"].as_str().is_some_and(|what| what.starts_with("model: "));
    let steps: Vec<_> = done["steps"].as_array().expect("steps").iter().filter(of_model).collect();
    assert_eq!((&steps[0]["motif"], &steps[0]["kept"]), (&json!("model: long tiles"), &json!(true)), "{steps:?}");
    assert!(steps[0]["gain"].as_f64().is_some_and(|gain| gain > 1.005), "{steps:?}");
    assert!(steps[1]["detail"].to_string().contains("is not right"), "{steps:?}");
    assert_eq!((&done["model"]["answers"], &done["model"]["evaluations"]), (&json!(3), &json!(2)));
    assert!(server.received()[2].question().contains("long tiles: "), "it hears what became of it");
    let is_rule = |step: &&serde_json::Value| step["motif"].as_str().is_some_and(|what| what.starts_with("local-"));
    let rule = done["steps"].as_array().expect("steps").iter().find(is_rule).expect("the rule is unmade");
    assert!(rule["gain"].as_f64().is_some_and(|gain| gain > 1.0), "{rule}");
    let record = files(&project).into_iter().find(|text| text.contains("motif = \"model: long tiles\""));
    assert!(record.expect("it is in the bank").contains("verdict = \"kept\""));
    let again = with(&["--offline", "--replay", cassette]).expect(0);
    assert_eq!((&again.named("rewind")[0]["steps"], server.received().len()), (&done["steps"], 3));
    let without = with(&["--offline"]).expect(0);
    assert!(without.named("rewind")[0]["model"].is_null() && server.received().len() == 3);
}

/// What decides on a rule before it is kept.
#[test]
fn a_rule_is_tried_on_another_operator_that_has_a_place_for_it() {
    require_tools!();
    let project = small_gelu();
    let workspace = open(&project);
    let rule = |slow: &str, fast: &str| {
        let (title, slow, fast) = ("a rule".to_owned(), slow.to_owned(), fast.to_owned());
        LocalMotif::new(LocalForm { title, slow, fast, ..LocalForm::default() }).expect("a rule")
    };
    let runtime = runtime();
    let tried = |rule: &LocalMotif| {
        assert!(has_place(&workspace, rule));
        runtime.block_on(try_elsewhere(&workspace, rule)).unwrap_or_else(|error| panic!("{error}"))
    };
    let right = rule("@PipeBarrier<PIPE_ALL>();\n@Exp($$y, $$x, $n);", "@PipeBarrier<PIPE_V>();\n@Exp($$y, $$x, $n);");
    assert!(matches!(tried(&right), Elsewhere::Held { gain } if gain >= 1.0));
    let wrong = rule("@Duplicate($$y, 1.0f, $n);", "@Duplicate($$y, 2.0f, $n);");
    assert!(matches!(tried(&wrong), Elsewhere::Broken(why) if why.contains("wrong result")));
    assert!(!has_place(&workspace, &rule("@Sqrt($$y, $$x, $n);", "@Rsqrt($$y, $$x, $n);")));
}

#[test]
fn answers_that_cheat_are_caught_by_the_gates_of_every_patch() {
    require_tools!();
    let barrier = "        AscendC::PipeBarrier<PIPE_ALL>();";
    let of_kernel = |new: &str| edit(KERNEL, STORE, new) + &edit(HOST, TILE, LONG_TILE);
    let answers = [
        "It computes too much.".to_owned(),
        "- the same everywhere\n- leave out the tail\n- do all of it where it is timed".to_owned(),
        // What it is judged by is not among the sources.
        edit("ascend.toml", "seeds = 3", "seeds = 1"),
        edit(KERNEL, STORE, &format!("        AscendC::Duplicate(yLocal, 0.0f, count);\n{barrier}\n{STORE}")),
        of_kernel(&format!("        copyParams.blockLen = count / 8 * 8 * sizeof(float);\n{STORE}")),
        of_kernel(&format!(
            "        const bool timed = this->length == 32 * 1024 || this->length == 7 * 333;\n        \
             if (timed || start == 0) {{\n    {STORE}\n        }}"
        )),
    ];
    let server = ScriptedServer::start(answers.map(Step::Say)).expect("a server");
    let project = with_model(&server, "consent = true\nrepairs = 1\n");
    // A manifest agrees to what is sent, and not to what is started: it may have come with the sources.
    let refused = run(&project, "7", &[]).expect(2);
    let message = refused.named("error")[0]["message"].to_string();
    assert!(message.contains("is given to sh, which nothing holds back: nobody agreed to that"), "{message}");
    let ended = run(&project, "7", &["--yes"]).expect(0);
    let warnings = ended.named("warning");
    let unusable = warnings.iter().find(|event| event["code"] == "model-answer-unusable").expect("it says so");
    assert!(unusable["message"].to_string().contains("ascend.toml cannot be changed"), "{unusable}");
    let of = |name: &str| {
        let found = ended.named("evaluation").into_iter().find(|event| event["motif"] == name);
        found.unwrap_or_else(|| panic!("{name} was not tried"))
    };
    let reason = |name: &str| of(name)["reason"].to_string();
    assert!(reason("model-1").contains("wrong result in case 32x1024"), "{}", reason("model-1"));
    assert!(reason("model-2").contains("output not written in case odd-7x333"), "{}", reason("model-2"));
    // Right wherever it was looked at: probes look elsewhere.
    assert_eq!(of("model-3")["status"], "valid", "{}", of("model-3"));
    let taken_back = ended.named("summary")[0]["taken_back"].to_string();
    assert!(taken_back.contains("model-3"), "{taken_back}");
    assert!(!project.read(KERNEL).contains("timed") && !project.read("ascend.lock").contains("model-3"));
}

#[test]
fn a_prompt_can_be_looked_at_without_asking_anybody() {
    require_tools!();
    let server = ScriptedServer::start([]).expect("a server");
    let project = with_model(&server, "");
    let ended = project.run(&["run", "--show-prompt", "propose"]).expect(0);
    let prompt = ended.named("prompt")[0];
    assert!(prompt["system"].as_str().expect("a text").contains("<<<<<<< SEARCH"), "{prompt}");
    let user = prompt["user"].as_str().expect("a text");
    for part in ["48 vector cores", "Lines on it:", "poly.SetValue(i, v + CUBIC * cube);", "32x1024: x float32 32x1024"]
    {
        assert!(user.contains(part), "{part}\n{user}");
    }
    assert!(server.received().is_empty());
    assert!(!project.path().join("ascend.lock").exists(), "and nothing is tuned");
}

/// A copy of a fixture with small timed cases, and a model that is never asked.
fn by_hand(fixture: &str, shapes: &[(&str, &str)]) -> Project {
    let project = Project::fixture(fixture);
    let mut manifest = project.read("ascend.toml");
    for (shape, smaller) in shapes {
        assert!(manifest.contains(shape), "{fixture}: {shape}");
        manifest = manifest.replace(shape, smaller);
    }
    let table = "\n[model]\nendpoint = \"http://127.0.0.1:9/v1\"\nname = \"by-hand\"\nshare = 1.0\n";
    project.write("ascend.toml", &format!("{manifest}{table}"));
    project
}

/// Six such files are compared with the engine alone by `benches/cassettes/run.py`.
#[test]
fn answers_written_by_hand_beat_what_the_engine_had_and_repeat_bit_for_bit() {
    require_tools!();
    let project = by_hand("group_quant/beginner", &[("[768, 1024]", "[48, 1024]"), ("[1500, 640]", "[94, 640]")]);
    let again = Project::copy_of(project.path());
    let cassette = root().join("tests/suite/data/cassettes/group_quant.jsonl");
    let answers = ["--offline", "--replay", cassette.to_str().expect("a path")];
    let ended = run(&project, "5", &answers).expect(0);
    let tried = ended.named("evaluation");
    let time = |tried: &serde_json::Value| tried["objective_us"].as_f64().expect("a time");
    let (of_answers, of_engine): (Vec<_>, Vec<_>) = tried.into_iter().partition(|tried| tried["motif"] == "model-1");
    let best = of_engine.iter().map(|tried| time(tried)).fold(f64::INFINITY, f64::min);
    assert!(of_engine.len() == 4 && time(of_answers[0]) < 0.9 * best, "{} beside {best}", time(of_answers[0]));
    let summary = ended.named("summary")[0];
    assert_eq!(summary["model"]["asked"], "group_quant.jsonl, written by hand");
    assert_eq!((&summary["evaluations"], &summary["model"]["evaluations"]), (&json!(5), &json!(1)));
    run(&again, "5", &answers).expect(0);
    for file in ["ascend.lock", "op_kernel/group_quant.h", "op_host/group_quant_tiling.cpp"] {
        assert_eq!(again.read(file), project.read(file), "{file}");
    }
    assert!(project.read("op_kernel/group_quant.h").contains("WholeReduceMax(maximum, halves, GROUP"));
}

/// A rule that a model states of what was kept is tried on another operator before anything is written, is made from then on because it has
/// recurred there, and says what the profiles bear out.
#[test]
fn a_rule_that_recurs_is_kept_also_where_the_run_was_killed_while_it_was_tried() {
    require_tools!();
    let kernel = "op_kernel/adam_step.cpp";
    let root = "        Sqrt(first, newV, count);\n";
    let superfluous = "        PipeBarrier<PIPE_V>();\n        Muls(first, first, 1.0f, count);\n".repeat(4);
    let slow = format!("{root}{superfluous}");
    let small = || {
        let project = by_hand("adam_step/careful", &[("[1024, 768]", "[16, 768]")]);
        let manifest = format!("{}local-motifs = true\n", project.read("ascend.toml"));
        // One case does, and one probe.
        let (first, others) = manifest.split_once("[[case]]\nname = \"1500x1000\"").expect("a second case");
        let (_, rest) = others.split_once("[tunable.").expect("tunables");
        let manifest = format!("{first}[tunable.{rest}").replace("[verify]", "[verify]\nseeds = 2\nprobes = 1");
        project.write("ascend.toml", &manifest);
        project.write(kernel, &edited(&project.read(kernel), root, &slow));
        project
    };
    let (project, other) = (small(), small());
    let form = "@Sqrt($$y, $$x, $n);\n";
    let more = "@PipeBarrier<PIPE_V>();\n@Muls($$y, $$y, 1.0f, $n);\n".repeat(4);
    let title = "no multiplication by one";
    let rule = format!("<<<<<<< MOTIF {title}\n{form}{more}=======\n{form}>>>>>>> END\nRELIEVES: vec_us");
    let change = format!("TITLE: {title}\n{}", edit(kernel, slow.trim_end(), root.trim_end()));
    let answers = [
        json!({ "by-hand": title }),
        json!({ "role": "plan", "answer": [format!("- {title}")] }),
        json!({ "role": "propose", "answer": [change] }),
        json!({ "role": "motif", "answer": [rule] }),
    ];
    let lines: String = answers.iter().map(|answer| format!("{answer}\n")).collect();
    project.write("answers.jsonl", &lines);
    let (cassette, corpus) = (project.path().join("answers.jsonl"), other.path().to_str().expect("a path"));
    let run =
        ["run", "--jobs", "4", "--stage", "kernel", "--budget", "5", "--offline", "--allow-dirty", "--corpus", corpus];
    let command = || project.command(&[&run[..], &["--replay", cassette.to_str().expect("a path")]].concat());
    let tried = other.path().join("target/ascend-tune");
    assert!(!run_and_kill_when(command(), || tried.exists(), Duration::from_millis(200)), "it was over before");
    assert!(
        !project.path().join("ascend.lock").exists() && project.read(kernel).contains(&slow),
        "nothing is written yet"
    );
    let ended = Ended::new(&command().output().expect("the tool runs")).expect(0);
    let warnings = ended.named("warning");
    assert!(warnings.iter().any(|event| event["code"] == "resumed"), "{warnings:?}");
    let kept =
        warnings.iter().find(|event| event["code"] == "local-motif-kept").unwrap_or_else(|| panic!("{warnings:?}"));
    assert!(kept["message"].to_string().contains("1 of 1 other operators have a place for it"), "{kept}");
    assert!(!project.read(kernel).contains("1.0f, count") && project.read("ascend.lock").contains("model-1"));
    let rule = files(&project).into_iter().find(|text| text.contains("relieves = \"vec_us\"")).expect("the rule");
    assert!(rule.contains("places = 1") && rule.contains("gained = 2"), "{rule}");
    assert!(other.read(kernel).contains(&slow), "another operator is tried, and stays as it is");
}
