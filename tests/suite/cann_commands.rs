//! Every command against the stand-in toolkit, for one project of every style. No number here is a measurement.

use serde_json::Value;

use crate::standin::{Machine, Style, at_length};
use crate::support::{Ended, edited, require_tools};

fn summary(ended: &Ended) -> &Value {
    ended.named("summary").last().copied().expect("a summary")
}

#[test]
fn doctor_finds_the_toolkit_and_its_device() {
    require_tools!();
    let machine = Machine::new(Style::Package);
    machine.standin.set("devices", "2");
    let mut command = crate::support::tool();
    command.arg("doctor").args(["--message-format", "json"]).envs(machine.standin.environment());
    let ended = Ended::new(&command.output().expect("the tool runs")).expect(0);
    let said = format!("{:?}", ended.events);
    for part in ["9.0.0", "Ascend910B2", &machine.standin.home().display().to_string()] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("NOT-FOR-LOGS"), "serial numbers are nobody's business: {said}");
}

/// profile, run and check of one style. Where every candidate is a program that is built anew, three say what five do.
fn everything(style: Style) {
    let budget = if matches!(style, Style::KernelLaunch) && !at_length() { "3" } else { "5" };
    let machine = Machine::new(style);
    machine.standin.set("noise", "0.02");
    let before = machine.profiled_us(&[]);
    let ended = machine.run(&["run", "--budget", budget, "--stage", "host", "--seed", "3"]).expect(0);
    let said = summary(&ended);
    assert_eq!(said["origin"], "measured", "{said}");
    let after = machine.profiled_us(&[]);
    assert!(after < 1.03 * before, "{style:?}: {before} us became {after} us");
    // Pairs of runs are tried where a run is cheap; one measurement tells within a fifth.
    let check: &[&str] = if matches!(style, Style::Framework) { &["check"] } else { &["check", "--tolerance", "1.2"] };
    machine.run(check).expect(0);
}

#[test]
fn operators_of_every_style_are_profiled_tuned_and_checked() {
    require_tools!();
    everything(Style::Framework);
    for style in [Style::Package, Style::Repository].into_iter().filter(|_| at_length()) {
        everything(style);
    }
}

/// What a change is worth is measured on both sides, at sizes of the tool's own.
#[test]
fn a_change_is_compared_on_a_device() {
    require_tools!();
    let (machine, before) = (Machine::new(Style::Framework), Style::Framework.project().0);
    let tiling = "op_host/scale_add.cpp";
    machine.project.write(tiling, &edited(&machine.project.read(tiling), "CORE_NUM = 4;", "CORE_NUM = 8;"));
    let against = before.path().display().to_string();
    let ended = machine.run(&["compare", "--against", &against, "--seed", "9", "--probes", "3"]).expect(0);
    let comparison = ended.named("comparison")[0];
    assert_eq!((&comparison["origin"], &comparison["at_fault"]), (&"measured".into(), &0.into()), "{comparison}");
    let probes = comparison["probes"].as_array().expect("probes");
    let faster = |probe: &Value| probe["before_us"].as_f64() > probe["now_us"].as_f64().map(|us| 1.1 * us);
    assert!(probes.len() >= 3 && probes.iter().all(|probe| probe["holds"] == true && faster(probe)), "{comparison}");
    assert!(machine.standin.launches(0) > 6, "the device was asked");
}

/// A list of tensors is one parameter, whose tensors lie anywhere: outputs come back from the device and are right.
#[test]
fn lists_of_tensors_are_launched() {
    require_tools!();
    let machine = Machine::new(Style::List);
    machine.profiled_us(&["--case", "3-tensors"]);
    assert!(machine.standin.launches(0) > 0, "the device was asked");
    // The profiler's text knows no lists: what it would run for its breakdown is another launch, which may never end.
    assert!(!machine.standin.own().join("state/profiling").exists(), "the profiler was asked");
    machine.standin.without_acl_header();
    fs_err::remove_dir_all(machine.project.path().join("foreach/foreach_add_scalar/target")).expect("what was built");
    let ended = machine.run(&["profile", "--case", "3-tensors"]);
    assert_ne!(ended.code, 0, "{ended:?}");
    assert!(format!("{:?}", ended.events).contains("is a list of tensors"), "{ended:?}");
}

/// Programs with a main of their own are timed by the task-level profiler, and say themselves whether they are right.
#[test]
fn programs_with_a_main_are_measured() {
    require_tools!();
    everything(Style::KernelLaunch);
    // A program that compiles its kernel while it runs: a run and a check; everything at length.
    if at_length() {
        everything(Style::RunTime);
    } else {
        Machine::new(Style::RunTime).profiled_us(&[]);
    }
    let machine = Machine::new(Style::Language);
    machine.profiled_us(&[]);
    // One that finds its results wrong on the device is no measurement.
    machine.standin.set("programs_do_nothing", "on");
    let ended = machine.run(&["profile"]);
    assert_ne!(ended.code, 0, "{ended:?}");
    assert!(format!("{:?}", ended.events).contains("the program ended with exit code"), "{ended:?}");
}

/// Two devices, one of which dies on the way: the run ends well on the other one, and nobody is made slower.
#[test]
fn a_device_that_dies_costs_nothing_but_time() {
    require_tools!();
    // Fewer seeds, candidates and repeats show the same.
    let (seeds, budget, dies, noise) = if at_length() { (20, "10", "60", "0.05") } else { (1, "6", "12", "0.02") };
    for seed in 1..=seeds {
        let machine = Machine::new(Style::Framework);
        machine.standin.set("noise", "0");
        let before = machine.profiled_us(&[]);
        machine.standin.set("noise", noise);
        machine.standin.set("seed", &seed.to_string());
        machine.standin.set("devices", "2");
        machine.standin.set("device.1.dies_after", dies);
        let seed = seed.to_string();
        let ended = machine.run(&["run", "--budget", budget, "--stage", "host", "--seed", &seed]).expect(0);
        let speedup = summary(&ended)["speedup"].as_f64().expect("a factor");
        assert!(speedup >= 1.0, "{speedup}");
        assert!(machine.standin.own().join("state/dead.1").exists(), "it was used, and died");
        // What was written is really no slower, without noise, on the device that lives.
        machine.standin.set("noise", "0");
        let after = machine.profiled_us(&[]);
        assert!(after <= 1.005 * before, "seed {seed}: {before} us became {after} us");
    }
}

/// Silicon that computes otherwise than the simulator thinks: the candidate is refused, and what somebody needs to see it again is
/// written down, with nothing of whose machine it was.
#[test]
fn what_a_device_contradicts_is_written_down() {
    require_tools!();
    let machine = Machine::new(Style::Framework);
    machine.standin.set("spoiled_argument", "2");
    let ended = machine.run(&["run", "--budget", "4", "--stage", "kernel", "--seed", "1"]).expect(0);
    let speedup = summary(&ended)["speedup"].as_f64().expect("a factor");
    assert!((speedup - 1.0).abs() < 1e-9, "nothing that is wrong on a device is written: {speedup}");
    let told = ended.named("warning").into_iter().find(|warning| warning["code"] == "device-contradicts-model");
    assert!(told.expect("a warning")["message"].to_string().contains("output"), "{told:?}");
    let reports = machine.project.path().join("target/ascend-tune/contradictions");
    let report = reports.read_dir().expect("reports").next().expect("one").expect("one").path();
    let page = fs_err::read_to_string(report.join("report.md")).expect("a page");
    for part in ["chip: Ascend910B2", "toolkit: ", "input x: float16", "tiling: key"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let secret = [
        machine.standin.home().display().to_string(),
        "NOT-FOR-LOGS".to_owned(),
        machine.project.path().display().to_string(),
    ];
    assert!(secret.iter().all(|secret| !page.contains(secret)), "{page}");
    let kept = |file: &str| report.join(file).exists();
    assert!(kept("trace") && kept("sources/op_kernel"), "{report:?}");
    let outputs: Vec<_> =
        report.join("outputs").read_dir().expect("outputs").flatten().map(|file| file.file_name()).collect();
    assert_eq!(outputs.len(), 3, "{outputs:?}");
}
