//! Every command against the stand-in toolkit, for one project of every style. No number here is a measurement.

use serde_json::Value;

use crate::standin::{Machine, Style};
use crate::support::{Ended, require_tools};

/// How long everything is tried that continuous integration has no time for: any value of this variable.
fn at_length() -> bool {
    std::env::var_os("ASCEND_TUNE_STANDIN").is_some()
}

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

/// build, profile, run and check of one style.
fn everything(style: Style) {
    let machine = Machine::new(style);
    machine.standin.set("noise", "0.02");
    machine.run(&["build"]).expect(0);
    let before = machine.profiled_us(&[]);
    let ended = machine.run(&["run", "--budget", "12", "--stage", "host", "--seed", "3"]).expect(0);
    let said = summary(&ended);
    assert_eq!(said["origin"], "measured", "{said}");
    let after = machine.profiled_us(&[]);
    assert!(after < 1.03 * before, "{style:?}: {before} us became {after} us");
    machine.run(&["check"]).expect(0);
}

#[test]
fn a_framework_project_is_built_profiled_tuned_and_checked() {
    require_tools!();
    everything(Style::Framework);
}

#[test]
fn projects_of_other_styles_are_built_profiled_tuned_and_checked() {
    require_tools!();
    for style in Style::ALL.into_iter().skip(1).filter(|_| at_length()) {
        everything(style);
    }
}

/// Two devices, one of which dies on the way: the run ends well on the other one, and nobody is made slower.
#[test]
fn a_device_that_dies_costs_nothing_but_time() {
    require_tools!();
    let seeds = if at_length() { 20 } else { 1 };
    for seed in 1..=seeds {
        let machine = Machine::new(Style::Framework);
        machine.standin.set("noise", "0.05");
        machine.standin.set("seed", &seed.to_string());
        machine.standin.set("devices", "2");
        machine.standin.set("device.1.dies_after", "40");
        let seed = seed.to_string();
        let ended = machine.run(&["run", "--budget", "10", "--stage", "host", "--seed", &seed]).expect(0);
        let speedup = summary(&ended)["speedup"].as_f64().expect("a factor");
        assert!(speedup >= 1.0, "{speedup}");
        // What was written is really no slower, without noise, on the device that lives.
        machine.standin.set("noise", "0");
        let after = machine.profiled_us(&[]);
        let fresh = Machine::new(Style::Framework);
        let before = fresh.profiled_us(&[]);
        assert!(after <= 1.005 * before, "seed {seed}: {before} us became {after} us");
    }
}
