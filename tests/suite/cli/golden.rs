//! Golden data of the user: NumPy files and a command that answers.

use super::*;

const SHAPE: &str = "[8, 2048]";

/// add_custom with right answers: all ones plus all twos.
fn with_npy(sum: u16) -> Project {
    let project = Project::fixture("add_custom");
    edit(&project, "ascend.toml", "reference = \"baseline\"", "reference = \"npy\"\ngolden = \"golden\"");
    fs_err::create_dir_all(project.path().join("golden/8x2048")).expect("a directory");
    for (name, half) in [("x", 0x3C00), ("y", 0x4000), ("z", sum)] {
        fs_err::write(project.path().join(format!("golden/8x2048/{name}.npy")), npy(half)).expect("a file");
    }
    project
}

fn npy(half: u16) -> Vec<u8> {
    let header = "{'descr': '<f2', 'fortran_order': False, 'shape': (8, 2048), }";
    let padded = format!("{header:<117}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((padded.len() as u16).to_le_bytes());
    file.extend(padded.bytes());
    file.extend(std::iter::repeat_n(half.to_le_bytes(), 8 * 2048).flatten());
    file
}

#[test]
fn npy_files_are_compared() {
    require_tools!();
    let right = with_npy(0x4200);
    // The key of a model's endpoint is nothing that it gets to see.
    let profile = right.command(&["profile"]).env("ASCEND_TUNE_MODEL_KEY", "secret").output().expect("the tool runs");
    assert_eq!(only(&Ended::new(&profile).expect(0), "profile")["correct"], true);
    right.run(&["run", "--budget", "2", "--stage", "host", "--dry-run"]).expect(0);

    let wrong = with_npy(0x4201);
    edit(
        &wrong,
        "ascend.toml",
        "# tolerance.float16 = { absolute = 1e-3, relative = 1e-3 }",
        "tolerance.float16 = { absolute = 0.0, relative = 0.0 }",
    );
    let ended = wrong.run(&["profile"]).expect(5);
    let profile = only(&ended, "profile");
    assert_eq!(profile["correct"], false);
    let why = profile["wrong"].as_str().expect("words");
    assert!(why.starts_with("against golden data, output ") && why.contains("elements differ, the first at"), "{why}");
    assert_has(&failure(&wrong.run(&["run", "--budget", "2"]), 5), &["8x2048", "output z", "3"]);
}

#[test]
fn a_command_answers() {
    require_tools!();
    // With zeros for y the right answer is x itself.
    let with_command = |source: &str| {
        let project = Project::fixture("add_custom");
        let y = |range: &str| format!("name = \"y\", dtype = \"float16\", shape = {SHAPE}, range = {range}");
        edit(&project, "ascend.toml", &y("[-1.0, 1.0]"), &y("[0.0, 0.0]"));
        edit(&project, "ascend.toml", "name = \"8x2048\"", "name = \"8x2048\"\nhostile = false");
        let script = "test -z \"$ASCEND_TUNE_MODEL_KEY\" && cp \"$0\" \"$1\"";
        let words = format!("\"sh\", \"-c\", '{script}', \"{{input:{source}}}\", \"{{output:z}}\"");
        let command = format!("reference = \"command\"\ncommand = [{words}]");
        edit(&project, "ascend.toml", "reference = \"baseline\"", &command);
        project
    };
    let right = with_command("x");
    // The key of a model's endpoint is nothing that it gets to see.
    let profile = right.command(&["profile"]).env("ASCEND_TUNE_MODEL_KEY", "secret").output().expect("the tool runs");
    assert_eq!(only(&Ended::new(&profile).expect(0), "profile")["correct"], true);
    right.run(&["run", "--budget", "2", "--stage", "host", "--dry-run"]).expect(0);
    let wrong = with_command("y");
    assert_eq!(only(&wrong.run(&["profile"]).expect(5), "profile")["correct"], false);
    assert_has(&failure(&wrong.run(&["run", "--budget", "2"]), 5), &["output z"]);
    let broken = with_command("x");
    edit(&broken, "ascend.toml", "\"sh\"", "\"false\"");
    assert_has(&failure(&broken.run(&["run", "--budget", "2"]), 2), &["reference command", "8x2048"]);
}

/// A fixture that is compared with the definition of its type.
fn with_definition(fixture: &str) -> Project {
    let project = Project::fixture(fixture);
    edit(&project, "ascend.toml", "reference = \"baseline\"", "reference = \"definition\"");
    project
}

fn departures(ended: &Ended) -> Vec<String> {
    let warnings = ended.named("warning");
    let told = warnings.iter().filter(|warning| warning["code"] == "departs-from-definition");
    told.map(|warning| warning["message"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_definition_holds_beside_the_operator_itself() {
    require_tools!();
    let run = ["run", "--budget", "2", "--stage", "host", "--jobs", "1"];
    let right = with_definition("add_custom");
    if !python_has_numpy() {
        assert_has(&failure(&right.run(&run), 2), &["reference = \"definition\"", "numpy"]);
        return;
    }
    assert_eq!(departures(&right.run(&run).expect(0)), Vec::<String>::new());
    assert!(!right.read("ascend.lock").contains("[[departure]]"));

    // What it computes is not what its type stands for: told, kept, and no reason to stop.
    let wrong = with_definition("add_custom");
    edit(&wrong, "op_kernel/add_custom.cpp", "AscendC::Add(", "AscendC::Sub(");
    let told = departures(&wrong.run(&run).expect(0));
    assert_eq!(told.len(), 1, "{told:?}");
    assert_has(&told[0], &["output z", "z = x + y", "elementwise.py", "elements differ"]);
    let lock = wrong.read("ascend.lock");
    assert_has(&lock, &["[[departure]]", "output = \"z\"", "z = x + y"]);
    wrong.run(&["check"]).expect(0);

    let nowhere = with_definition("gelu_naive");
    assert_has(&failure(&nowhere.run(&run), 2), &["there is no definition of GeluNaive", "take baseline"]);
}

/// Some operators add to an output that whoever calls them has to clear.
#[test]
fn an_output_holds_what_the_case_says_before_the_launch() {
    require_tools!();
    let adding = |sum: u16, before: &str| {
        let project = with_npy(sum);
        let copy = "AscendC::DataCopy(zGm[tile * this->tileLength], zLocal, this->tileLength);";
        let atomic = format!("AscendC::SetAtomicAdd<half>();\n{copy}\nAscendC::SetAtomicNone();");
        edit(&project, "op_kernel/add_custom.cpp", copy, &atomic);
        let output = format!("{{ name = \"z\", dtype = \"float16\"{before} }}");
        let manifest = project.read("ascend.toml").replace("{ name = \"z\", dtype = \"float16\" }", &output);
        project.write("ascend.toml", &manifest);
        project
    };
    let three = adding(0x4200, ", values = [0.0]");
    assert_eq!(only(&three.run(&["profile"]).expect(0), "profile")["correct"], true);
    three.run(&["run", "--budget", "2", "--stage", "host"]).expect(0);
    let four = adding(0x4400, ", values = [1.0]");
    assert_eq!(only(&four.run(&["profile"]).expect(0), "profile")["correct"], true);
    // Nobody clears it: what comes out depends on what lay there.
    let garbage = adding(0x4200, "");
    assert_eq!(only(&garbage.run(&["profile"]).expect(5), "profile")["correct"], false);
    let several = adding(0x4200, ", values = [0.0, 1.0]");
    assert_has(&failure(&several.run(&["profile"]), 2), &["2 values for an output", "write one number"]);
}

#[test]
fn init_takes_a_definition_that_fits() {
    require_tools!();
    let project = Project::fixture("add_custom");
    fs_err::remove_file(project.path().join("ascend.toml")).expect("every fixture has a manifest");
    // Short rows are what is quick to write; that an addition has others, its definition says.
    fs_err::create_dir(project.path().join("examples")).expect("the project can be written to");
    project.write(
        "examples/main.cpp",
        "int main() {\n    std::vector<int64_t> shape = {2048, 16};\n    std::vector<float> data = {1};\n\
         \x20   CreateAclTensor(data, shape, &xDevice, ACL_FLOAT16, &x);\n\
         \x20   CreateAclTensor(data, shape, &yDevice, ACL_FLOAT16, &y);\n\
         \x20   CreateAclTensor(data, shape, &zDevice, ACL_FLOAT16, &z);\n\
         \x20   aclnnAddCustomGetWorkspaceSize(x, y, z, &workspaceSize, &executor);\n}\n",
    );
    project.run(&["init"]).expect(0);
    let manifest = project.read("ascend.toml");
    let timed = manifest.split("[[case]]").skip(1).filter(|case| !case.contains("verify-only = true"));
    for case in timed {
        assert_eq!(python_has_numpy(), case.contains(", 1024]"), "{manifest}");
    }
    assert_has(&manifest, &["examples/main.cpp:7", "shape = [2048, 16]"]);
    if python_has_numpy() {
        let said = "# The definition of AddCustom fits (elementwise.py): z = x + y.\nreference = \"definition\"\n";
        assert!(manifest.contains(said), "{manifest}");
    } else {
        assert_has(&manifest, &["Python has no numpy", "reference = \"baseline\""]);
    }
}

/// Of numbers below one there is no such thing.
#[test]
fn init_draws_data_that_mean_something() {
    require_tools!();
    let project = Project::renamed("gelu_naive", [("GeluNaive", "Acosh"), ("gelu_naive", "acosh")]);
    fs_err::remove_file(project.path().join("ascend.toml")).expect("every fixture has a manifest");
    project.run(&["init"]).expect(0);
    let manifest = project.read("ascend.toml");
    assert_eq!(python_has_numpy(), manifest.contains("range = [1.01, 8.0]"), "{manifest}");
}
