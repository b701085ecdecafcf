//! Small inputs want other values than large ones: the tiling function chooses by size, where sizes that no case has agree.

use serde_json::Value;

use crate::support::{Ended, Project, require_tools, root};

const HOST: &str = "op_host/leaky_relu_backward.cpp";

/// An operator that computes whole tiles, however short its input is: long ones are right for much work and wrong for little. The first
/// case is the large one, as `init` has it.
fn project(cases: [(u64, &str); 2]) -> Project {
    let project = Project::copy_of(&root().join("fixtures/leaky_relu_backward/beginner"));
    let manifest = project.read("ascend.toml");
    let (head, rest) = manifest.split_once("[[case]]").expect("cases");
    let (_, tail) = rest.split_once("[tunable.BLOCK_DIM]").expect("tunables");
    let case = |(elements, more): (u64, &str)| {
        let tensor = |name: &str| format!("{{ name = \"{name}\", dtype = \"float16\", shape = [{elements}] }}");
        format!(
            "[[case]]\nname = \"of-{elements}\"\nhostile = false\n{more}\ninputs = [{}, {}]\noutputs = [{{ name = \"dx\", dtype = \"float16\" }}]\n\
             attributes = [{{ name = \"negative_slope\", type = \"float\", value = 0.01 }}]\n\n",
            tensor("gradient"),
            tensor("x")
        )
    };
    let cases: String = cases.into_iter().map(case).collect();
    let (_, tiles) = tail.split_once("[tunable.TILE_LENGTH]").expect("tiles");
    let (tiles, _) = tiles.split_once("[tunable.BUFFER_NUM]").expect("one more tunable");
    let verify = "[verify]\nseeds = 1\nprobes = 4\n";
    let manifest = format!("{head}{cases}[tunable.TILE_LENGTH]{tiles}\n{verify}");
    project.write("ascend.toml", &manifest);
    project
}

fn tuned(project: &Project) -> Ended {
    project.run(&["run", "--budget", "4", "--seed", "1", "--stage", "host", "--no-bank"]).expect(0)
}

fn summary(ended: &Ended) -> &Value {
    ended.events.last().expect("a summary")
}

#[test]
fn values_are_chosen_by_size() {
    require_tools!();
    let project = project([(65_536, "weight = 2.0"), (1024, "")]);
    let before = project.read(HOST);
    let ended = tuned(&project);
    let found = summary(&ended);
    assert!(found["speedup"].as_f64().is_some_and(|speedup| speedup > 1.3), "{found}");
    assert_eq!(found["motifs"], serde_json::json!(["by-size"]));
    let cases = found["cases"].as_array().expect("cases").iter();
    assert!(cases.filter_map(|case| case["speedup"].as_f64()).all(|speedup| speedup > 0.98), "{found}");
    let probes = found["generalisation"]["probes"].as_array().expect("probes").iter();
    assert!(probes.filter_map(|probe| probe["speedup"].as_f64()).all(|speedup| speedup > 0.99), "{found}");
    let written = project.read(HOST);
    assert!(written.contains("chosen by cargo ascend-tune, see ascend.lock.\n"), "{written}");
    for part in
        ["const uint32_t tileLength =", "totalLength <= ", "? TILE_LENGTH_SMALL :", "set_tileLength(tileLength)"]
    {
        assert!(written.contains(part), "{part}: {written}");
    }
    let improved = ended.named("improvement");
    let change = improved.last().and_then(|event| event["change"].as_str()).unwrap_or_default();
    assert!(change.contains("TILE_LENGTH by size: ") && change.contains(" elements, "), "{change}");

    // More than the single winner is worth that the search ended with.
    let gain = project.read("ascend.lock");
    let gain = gain.split_once("gain_permille = ").and_then(|(_, rest)| rest.lines().next()?.parse::<u64>().ok());
    assert!(gain.is_some_and(|gain| gain > 1050), "{gain:?}");

    // It is a step like any other, and what it brought along is known to the lock.
    let lock = project.read("ascend.lock");
    assert!(
        lock.contains("id = \"by-size\"") && lock.contains("[brought]\n") && lock.contains("TILE_LENGTH_SMALL = "),
        "{lock}"
    );
    project.run(&["lock", "verify"]).expect(0);
    project.run(&["undo"]).expect(0);
    assert_eq!(project.read(HOST), before);
    project.run(&["apply", "--only", "by-size"]).expect(0);
    let alone = project.read(HOST);
    assert!(alone.contains("TILE_LENGTH_SMALL") && alone.contains("TILE_LENGTH = 1024;"), "{alone}");
    project.run(&["undo"]).expect(0);
    // The same seed, the same bytes.
    tuned(&project);
    assert_eq!((project.read(HOST), project.read("ascend.lock")), (written, lock));
    // A second run searches all values and writes no choice into the choice.
    let again = tuned(&project);
    assert!(summary(&again)["configuration"]["TILE_LENGTH_SMALL"].is_number(), "{}", summary(&again));
    assert_eq!(project.read(HOST).matches("see ascend.lock").count(), 1);
}

/// Where people say that sizes belong together which do not, the size at which that shows has the last word.
#[test]
fn a_choice_that_loses_where_a_class_ends_is_not_written() {
    require_tools!();
    let small = "stands-for = { elements = [1, 2047] }";
    let project = project([(65_536, "stands-for = { elements = [2048, 262144] }"), (1024, small)]);
    let before = project.read(HOST);
    let ended = tuned(&project);
    let taken = summary(&ended)["taken_back"].as_array().cloned().unwrap_or_default();
    let of_choice = taken.iter().find(|step| step["step"].as_str().is_some_and(|step| step.starts_with("by-size (")));
    let why = of_choice.and_then(|step| step["why"].as_str()).unwrap_or_default();
    assert!(why.starts_with("probe edge-float16-") && why.contains("slower than the operator as it was"), "{taken:?}");
    assert_eq!(project.read(HOST), before);
}
