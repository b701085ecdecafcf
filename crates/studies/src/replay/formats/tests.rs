//! Recordings of each format.

use super::*;
use space::Configuration;

const SIDECAR: &str = r#"
name = "toy"
kernel = "k"
device = "d"
constraints = ["a % 2 == 0 or not b == 1"]
[[param]]
name = "a"
values = [1, 2]
kind = "ordinal"
[[param]]
name = "b"
values = [0, 1]
kind = "categorical"
"#;

fn configuration(values: &[(&str, i64)]) -> Configuration {
    values.iter().map(|(name, value)| ((*name).to_owned(), Value::Int(*value))).collect()
}

#[test]
fn a_table_with_its_sidecar() {
    let rows = "a,b,time_ms,reason\n1,0,3.5,\n2,0,invalid,compile\n2,1,1.5,\n";
    let space = RecordedSpace::new(csv_table(SIDECAR, rows).expect("table")).expect("space");
    assert_eq!((space.len(), space.optimum(), space.worst()), (3, 1.5, 3.5));
    let failed = space.look_up(&configuration(&[("a", 2), ("b", 0)]));
    assert_eq!(failed, Some(Recorded::Infeasible(InfeasibleClass::Build)));
    assert_eq!(space.look_up(&configuration(&[("a", 1), ("b", 1)])), None, "outside the constraints");
    let (a, b) = (0, 1);
    assert!(space.space.is_ordered(a) && !space.space.is_ordered(b));
}

#[test]
fn mistakes_are_named() {
    let refused = |rows: &str| match csv_table(SIDECAR, rows).and_then(RecordedSpace::new) {
        Ok(_) => panic!("accepted: {rows}"),
        Err(message) => message,
    };
    assert!(refused("a,b,reason\n").contains("no column `time_ms`"));
    assert!(refused("a,b,time_ms,reason\n1,0,fast,\n").contains("line 2: `fast` is no time"));
    assert!(refused("a,b,time_ms,reason\n3,0,1,\n").contains("row 1"));
    assert!(refused("a,b,time_ms,reason\n1,0,1,\n1,0,2,\n").contains("twice"));
    assert!(refused("a,b,time_ms,reason\n1,0,invalid,runtime\n").contains("no configuration has a time"));
    assert!(refused("a,b,time_ms,reason\n1,0,-1,\n").contains("is no time"));
}

#[test]
fn a_cache_that_is_still_being_written() {
    let cache = r#"{"device_name": "d", "kernel_name": "k", "tune_params_keys": ["n", "how"], "objective": "time",
        "cache": {"16,x": {"n": 16, "how": "x", "time": 2.0}, "4,y": {"n": 4, "how": "y", "time": "RuntimeFailedConfig"},"#;
    let table = json_table("c", cache).expect("table");
    assert_eq!(table.tunables[0].values, [Value::Int(4), Value::Int(16)], "in the order of numbers");
    assert!(table.tunables[0].ordered && !table.tunables[1].ordered);
    let space = RecordedSpace::new(table).expect("space");
    assert_eq!(
        (space.len(), space.space.enumerate().map(|points| points.len())),
        (2, Some(2)),
        "the rows are the space"
    );
}

#[test]
fn results_in_t4_form() {
    let results = r#"{"results": [
        {"configuration": {"n": 1}, "invalidity": "correct", "objectives": ["time"], "times": {}, "measurements":
            [{"name": "time", "value": 4.0, "unit": "ms"}]},
        {"configuration": {"n": 2}, "invalidity": "correct", "times": {"runtimes": [1.0, 3.0]}},
        {"configuration": {"n": 4}, "invalidity": "timeout", "times": {}}]}"#;
    let space = RecordedSpace::new(json_table("t", results).expect("table")).expect("space");
    assert_eq!((space.optimum(), space.worst(), space.len()), (2.0, 4.0, 3));
    let wrong = json_table("t", r#"{"a": 1}"#);
    assert!(wrong.is_err_and(|message| message.contains("`results`")));
}

#[test]
fn the_record_of_a_run_of_ours() {
    let record = r#"{"operator": "add", "kernel": "add", "machine": {"name": "ascend910b2"}, "evaluations": [
        {"stage": "host", "configuration": {"TILE": 64}, "status": "valid", "objective_us": 4.0},
        {"stage": "host", "configuration": {"TILE": 128}, "status": "infeasible", "objective_us": null},
        {"stage": "kernel", "configuration": {"TILE": 64}, "status": "valid", "objective_us": 2.0},
        {"stage": "host", "configuration": {"TILE": 32}, "status": "valid", "objective_us": 1.0}]}"#;
    let table = json_table("record", record).expect("table");
    assert_eq!((table.name.as_str(), table.unit.as_str()), ("add", "us"));
    let space = RecordedSpace::new(table).expect("space");
    assert_eq!((space.len(), space.optimum()), (2, 4.0), "what followed a rewrite is another program");
}

#[test]
fn the_program_with_the_most_evaluations_is_the_space() {
    let evaluation = |stage: &str, tile: u32, us: &str| {
        format!(
            r#"{{"stage": "{stage}", "configuration": {{"TILE": {tile}}}, "status": "valid", "objective_us": {us}}}"#
        )
    };
    let all = [
        evaluation("kernel", 64, "8.0"),
        evaluation("host", 64, "9.0"),
        evaluation("kernel", 64, "4.0"),
        evaluation("host", 64, "5.0"),
        evaluation("kernel", 64, "6.0"),
        evaluation("host", 128, "3.0"),
    ];
    let record = |all: &[String]| {
        format!(r#"{{"operator": "add", "kernel": "add", "machine": {{}}, "evaluations": [{}]}}"#, all.join(","))
    };
    let space = RecordedSpace::new(json_table("record", &record(&all)).expect("table")).expect("space");
    assert_eq!((space.len(), space.optimum()), (2, 3.0), "a rewrite that was not taken over changes nothing");
    let rewrites = json_table("record", &record(&all[..1]));
    assert!(rewrites.is_err_and(|message| message.contains("host stage")));
}
