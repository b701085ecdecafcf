//! What `init` writes.

use super::*;
use crate::support::edited;

/// add_custom without a manifest, and with its authors' list of two cases.
fn with_case_list(shapes: [&str; 2]) -> Project {
    let project = Project::fixture("add_custom");
    fs_err::remove_file(project.path().join("ascend.toml")).expect("every fixture has a manifest");
    fs_err::create_dir_all(project.path().join("tests/st")).expect("writable");
    let row = |shape: &str| format!("c,add_custom,\"(({shape}), ({shape}))\",\"('float16', 'float16')\"\n");
    let list = format!("case,op_name,input_shapes,input_dtypes\n{}{}", row(shapes[0]), row(shapes[1]));
    project.write("tests/st/cases.csv", &list);
    project
}

#[test]
fn what_init_writes_is_usable_as_it_stands() {
    require_tools!();
    for fixture in FIXTURES {
        let project = Project::fixture(fixture);
        fs_err::remove_file(project.path().join("ascend.toml")).expect("every fixture has a manifest");
        let ended = project.run(&["init"]).expect(0);
        let written = only(&ended, "init");
        assert_eq!(written["written"], true);
        assert!(!written["cases"].as_array().expect("a list").is_empty(), "{written}");
        assert!(!written["tunables"].as_array().expect("a list").is_empty(), "{written}");
        let manifest = project.read("ascend.toml");
        assert!(manifest.contains("reason = "), "{fixture}: tunables come with reasons");

        // At full size the trace of one of the ladder's ways takes a gigabyte.
        let size: &[&str] = if fixture == "add_ladder" { &["-D", "LADDER_ROWS=384"] } else { &[] };
        let ended = project.run(&[&["profile"], size].concat()).expect(0);
        assert!(!ended.named("profile").is_empty());
        for profile in ended.named("profile") {
            assert_path_adds_up(profile);
        }
        assert!(ended.named("warning").is_empty(), "{:?}", ended.named("warning"));
        // Both kinds of projects every time, all of them where that is asked for.
        let every_time = ["add_custom", "add_ladder"].contains(&fixture);
        if !every_time && std::env::var_os("ASCEND_TUNE_ALL_FIXTURES").is_none() {
            continue;
        }
        edit(&project, "ascend.toml", "\nprobes = 36\n", "\nprobes = 1\n");
        let run = ["run", "--dry-run", "--budget", "1", "--stage", "host"];
        project.run(&[&run, size].concat()).expect(0);
    }
}

#[test]
fn cases_come_from_the_operators_own_lists() {
    require_tools!();
    let project = with_case_list(["3, 5", "16, 4096"]);
    let ended = project.run(&["init"]).expect(0);
    let written = only(&ended, "init");
    let refused = written["refused"].as_array().expect("one case has a remainder");
    assert!(refused[0].as_str().is_some_and(|text| text.contains("tests/st/cases.csv:2")), "{refused:?}");
    let manifest = project.read("ascend.toml");
    let written = "# from tests/st/cases.csv:3; tiling key 0\n[[case]]\nname = \"float16-16x4096\"\n";
    assert!(manifest.contains(written), "{manifest}");
    assert!(manifest.contains("# Refused: 3x5 float16"), "{manifest}");
    // Timed at sizes that say something, each made from the authors' case, which is of such a size itself.
    let sizes = ["made middle (4 MiB of traffic)", "made small (96 KiB of traffic)"];
    assert!(sizes.iter().all(|size| manifest.contains(size)), "{manifest}");
    assert!(!manifest.contains("made large"), "its tiles grow with its data, and would not fit");
    let profile = project.run(&["profile"]).expect(0);
    let timed: Vec<&Value> = profile.named("profile").into_iter().map(|event| &event["case"]).collect();
    assert_eq!(timed, ["float16-176x4096", "float16-16x4096", "float16-4x4096"]);
}

#[test]
fn a_case_that_the_operator_fails_gives_way_to_one_that_it_survives() {
    require_tools!();
    let project = with_case_list(["256, 4096", "16, 4096"]);
    // The larger case would be chosen, but its tiles have 16 KiB.
    let kernel = project.read("op_kernel/add_custom.cpp");
    let size = "pipe.InitBuffer(outQueueZ, BUFFER_NUM, this->tileLength * sizeof(half));";
    assert!(kernel.contains(size));
    project.write("op_kernel/add_custom.cpp", &kernel.replace(size, "pipe.InitBuffer(outQueueZ, BUFFER_NUM, 4096);"));
    let ended = project.run(&["init"]).expect(0);
    let faults = only(&ended, "init")["faults"].as_array().expect("one case overruns its buffer").clone();
    let text = faults[0].as_str().unwrap_or_default();
    assert!(text.starts_with("256x4096 float16") && text.contains("op_kernel/add_custom.cpp:"), "{faults:?}");
    assert_eq!(ended.named("warning")[0]["code"], "faulty-case");
    assert!(project.read("ascend.toml").contains("# The operator is at fault: 256x4096 float16"));
    let profile = project.run(&["profile"]).expect(0);
    assert!(!profile.named("profile").is_empty(), "what is written runs");
}

/// Sizes at which nothing is written are no sizes to tune at, however many there are.
#[test]
fn an_operator_that_does_nothing_at_any_size_is_said_to_have_no_case() {
    require_tools!();
    let project = with_case_list(["256, 4096", "16, 4096"]);
    let process = "__aicore__ inline void Process()\n    {\n";
    edit(
        &project,
        "op_kernel/add_custom.cpp",
        process,
        &format!("{process}        if (this->tileCount > 0) return;\n"),
    );
    let ended = project.run(&["init"]).expect(0);
    assert!(ended.named("warning").iter().any(|warning| warning["code"] == "no-case-right"), "{:?}", ended.events);
    let cases = only(&ended, "init")["cases"].as_array().expect("a list").clone();
    assert_eq!(cases, ["float16-256x4096"], "no further sizes");
    assert!(project.read("ascend.toml").contains("# The operator is at fault: 256x4096 float16"));
    project.run(&["run", "--budget", "1", "--dry-run"]).expect(5);
}

#[test]
fn a_case_with_results_that_depend_on_garbage_gives_way_too() {
    require_tools!();
    let project = with_case_list(["256, 4096", "16, 4096"]);
    // Large tiles are loaded but for their end, which is added as it was.
    let load = "AscendC::DataCopy(xLocal, xGm[tile * this->tileLength], this->tileLength);";
    let short = load.replace("this->tileLength)", "this->tileLength - (this->tileLength > 4096 ? 128 : 0))");
    edit(&project, "op_kernel/add_custom.cpp", load, &short);
    let ended = project.run(&["init"]).expect(0);
    let faults = only(&ended, "init")["faults"].as_array().expect("one case copies garbage").clone();
    let text = faults[0].as_str().unwrap_or_default();
    assert!(text.starts_with("256x4096 float16") && text.contains("output z depends on memory"), "{faults:?}");
    project.run(&["run", "--budget", "1", "--dry-run"]).expect(0);
}

/// What only hostile values show is known before the manifest is written.
#[test]
fn a_case_that_commands_would_refuse_gives_way_too() {
    require_tools!();
    let project = with_case_list(["256, 4096", "16, 4096"]);
    // Large tiles with a first element that is nothing ordinary are not added.
    let add = "AscendC::Add(zLocal, xLocal, yLocal, this->tileLength);";
    let first = "const float first = static_cast<float>(xLocal.GetValue(0));";
    let odd = "this->tileLength > 4096 && !(first > -100.0f && first < 100.0f && first != 0.0f)";
    edit(&project, "op_kernel/add_custom.cpp", add, &format!("{first}\n        if (!({odd})) {{ {add} }}"));
    let ended = project.run(&["init"]).expect(0);
    let faults = only(&ended, "init")["faults"].as_array().expect("a fault").clone();
    let text = faults.last().and_then(|fault| fault.as_str()).unwrap_or_default();
    assert!(text.contains("4096"), "{faults:?}");
    project.run(&["run", "--budget", "1", "--dry-run"]).expect(0);
}

#[test]
fn the_authors_golden_function_becomes_the_reference() {
    require_tools!();
    let project = Project::fixture("add_custom");
    fs_err::remove_file(project.path().join("ascend.toml")).expect("every fixture has a manifest");
    fs_err::create_dir_all(project.path().join("tests")).expect("writable");
    let golden = "def add_custom_golden(x, y, **facts):\n    return x + y\n";
    project.write("tests/golden.py", golden);
    project.run(&["init"]).expect(0);
    let manifest = project.read("ascend.toml");
    if !python_has_numpy() {
        assert!(manifest.contains("# tests/golden.py is no reference here: the reference needs"), "{manifest}");
        assert!(manifest.contains("reference = \"baseline\""), "{manifest}");
        return;
    }
    assert!(manifest.contains("reference = \"script\"\nscript = \"tests/golden.py\"\n"), "{manifest}");
    let right = project.run(&["profile"]).expect(0);
    assert_eq!(right.named("profile")[0]["checked"], "golden data");
    project.write("tests/golden.py", &golden.replace("x + y", "x - y"));
    let wrong = project.run(&["profile"]).expect(5);
    assert_eq!(wrong.named("profile")[0]["correct"], false);
    project.write("tests/golden.py", &golden.replace("x + y", "None.sum()"));
    assert_has(&failure(&project.run(&["profile"]), 2), &["tests/golden.py failed on case", "NoneType"]);
}

/// add_custom without an output and a manifest: it adds to its first input.
fn adding_in_place() -> Project {
    let project = Project::fixture("add_custom");
    fs_err::remove_file(project.path().join("ascend.toml")).expect("every fixture has a manifest");
    let (host, kernel) = ("op_host/add_custom.cpp", "op_kernel/add_custom.cpp");
    let mut text = project.read(host);
    let define = text.find("        this->Output(").expect("an output");
    let end = define + text[define..].find('\n').expect("a line");
    text.replace_range(define..=end, "");
    let text = edited(&text, "    *context->GetOutputShape(0) = *context->GetInputShape(0);\n", "");
    let text = edited(&text, "    context->SetOutputDataType(0, context->GetInputDataType(0));\n", "");
    project.write(host, &text);
    let text = edited(&project.read(kernel), "GM_ADDR y, GM_ADDR z, GM_ADDR workspace", "GM_ADDR y, GM_ADDR workspace");
    project.write(kernel, &edited(&text, "op.Init(x, y, z, ", "op.Init(x, y, x, "));
    project
}

/// What it changes is compared, and so is what it must leave alone.
#[test]
fn an_operator_that_changes_its_inputs_is_tuned() {
    require_tools!();
    let (before, project) = (adding_in_place(), adding_in_place());
    before.run(&["init"]).expect(0);
    let manifest = before.read("ascend.toml");
    assert!(manifest.contains("AddCustom defines no output: all its inputs are compared"), "{manifest}");
    before.run(&["run", "--budget", "1", "--dry-run"]).expect(0);

    project.write("ascend.toml", &manifest);
    let (kernel, against) = (project.read("op_kernel/add_custom.cpp"), before.path().display().to_string());
    let compared = |kernel: &str| {
        project.write("op_kernel/add_custom.cpp", kernel);
        let ended = project.run(&["compare", "--against", &against, "--seed", "6", "--probes", "4"]);
        (ended.code, ended.named("comparison").first().map(|found| found.to_string()).unwrap_or_default())
    };
    assert_eq!(compared(&kernel).0, 0);
    let short = edited(&kernel, "tile < this->tileCount", "tile + 1 < this->tileCount");
    let store = "AscendC::DataCopy(zGm[tile * this->tileLength], zLocal, this->tileLength);";
    let both = edited(&kernel, store, &format!("{store}\n        {}", store.replace("zGm", "yGm")));
    for (kernel, place) in [(short, "wrong result in case ragged-float16"), (both, "output y: ")] {
        let (code, said) = compared(&kernel);
        assert!(code == 1 && said.contains(place), "{code} {said}");
    }
}

#[test]
fn a_manifest_that_is_there_is_not_replaced_unasked() {
    let project = Project::fixture("gelu_naive");
    project.write("ascend.toml", "mine");
    assert_has(&failure(&project.run(&["init"]), 2), &["ascend.toml", "--force"]);
    assert_eq!(project.read("ascend.toml"), "mine");
    let shown = human(&project, &["init", "--dry-run"]);
    assert!(shown.status.success());
    assert_eq!(project.read("ascend.toml"), "mine");
    project.run(&["init", "--force"]).expect(0);
    assert_eq!(project.read("ascend.toml"), String::from_utf8_lossy(&shown.stdout));
}

#[test]
fn a_directory_without_operator_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let project = Project::copy_of(directory.path());
    failure(&project.run(&["init"]), 2);
}

#[test]
fn run_without_manifest_names_init() {
    let project = Project::fixture("add_custom");
    fs_err::remove_file(project.path().join("ascend.toml")).expect("every fixture has a manifest");
    for command in ["run", "check"] {
        assert_has(&failure(&project.run(&[command]), 2), &["ascend.toml", "cargo ascend-tune init"]);
    }
}

#[test]
fn profile_works_without_manifest() {
    require_tools!();
    let project = Project::fixture("add_custom");
    fs_err::remove_file(project.path().join("ascend.toml")).expect("every fixture has a manifest");
    let ended = project.run(&["profile"]).expect(0);
    assert_eq!(ended.named("warning")[0]["code"], "no-manifest");
    let profiles = ended.named("profile");
    assert!(profiles.len() > 1 && profiles.iter().all(|profile| profile["operator"] == "AddCustom"));
    assert!(!project.path().join("ascend.toml").exists(), "only init writes it");
}
