//! `calibrate --device`: what its micro-kernels tell of a machine whose constants are known, and what it does with a toolkit.

use std::collections::BTreeMap;

use aicore::Machine;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

use crate::standin::{Machine as Bench, Style, at_length};
use crate::support::{Ended, require_tools, tool};

/// Constants that no public source measured and that the micro-kernels are there for.
const LIST: [&str; 18] = [
    "barrier_cycles",
    "cross_flag_cycles",
    "cube_tail_cycles",
    "dma_accept_cycles_per_byte",
    "dma_burst_cycles",
    "dma_packet_overhead_bytes",
    "flag_cycles",
    "hbm_read_gbps",
    "hbm_write_weight",
    "l2_read_gbps",
    "l2_write_gbps",
    "launch_per_core_us",
    "mte1_tail_cycles",
    "mte2_startup_cycles",
    "mte3_startup_cycles",
    "prologue_us",
    "scalar_gm_miss_cycles",
    "sync_all_cycles",
];

fn calibrated(folder: &TempDir, arguments: &[&str], bench: Option<&Bench>) -> Ended {
    let mut command = tool();
    command.envs(bench.map(|bench| bench.standin.environment()).into_iter().flatten());
    command.args(["calibrate", "--device", "--message-format", "json", "--out"]).arg(folder.path().join("out.toml"));
    Ended::new(&command.args(arguments).output().expect("the tool runs"))
}

fn written(folder: &TempDir) -> Machine {
    let text = fs_err::read_to_string(folder.path().join("out.toml")).expect("a description");
    Machine::parse("out.toml", &text).expect("the description can be read")
}

/// Every constant is moved by a factor of its own that the tool cannot know, and comes back.
#[test]
fn micro_kernels_give_back_the_constants_that_they_were_played_with() {
    require_tools!();
    let folder = tempfile::tempdir().expect("a folder");
    let base = Machine::named("ascend910b2").expect("it is embedded");
    let mut random = ChaCha8Rng::seed_from_u64(260_711);
    let truth: BTreeMap<&str, f64> = LIST
        .into_iter()
        .map(|name| {
            (
                name,
                base.constants[name].value
                    * random.random_range(if name.starts_with("flag") || name.starts_with("barrier") {
                        1.0..1.3
                    } else {
                        0.8..1.3
                    }),
            )
        })
        .collect();
    let lines: String = truth
        .iter()
        .map(|(name, value)| {
            let unit = &base.constants[*name].unit;
            format!("{name} = {{ value = {value}, unit = \"{unit}\", source = \"a draw\", confidence = \"fitted\" }}\n")
        })
        .collect();
    let other = folder.path().join("other.toml");
    let text = format!("name = \"Other\"\nversion = \"1\"\nextends = \"ascend910b2\"\n\n[constants]\n{lines}");
    fs_err::write(&other, text).expect("a written file");
    let kept = folder.path().join("kept");
    let [other, kept_word] = [&other, &kept].map(|path| path.display().to_string());
    calibrated(&folder, &["--as-if", &other, "--keep", &kept_word], None).expect(0);
    let found = written(&folder);
    for (name, value) in &truth {
        let ratio = found.constants[*name].value / value;
        assert!((ratio - 1.0).abs() < 0.03, "{name}: {ratio} of {value}");
    }
    // What is documented or measured stays, and so does what no row tells.
    let others = base.constants.iter().filter(|(name, _)| !truth.contains_key(name.as_str()));
    assert!(others.into_iter().all(|(name, constant)| found.constants[name].value == constant.value));
    // What was kept is a table that others can fit to.
    let table = fs_err::read_to_string(kept.join("rows.csv")).expect("a table");
    assert!(
        table.lines().count() > 60 && !table.contains(",measured ") && kept.join("copies.asc").is_file(),
        "{table}"
    );
}

#[test]
fn without_a_device_it_says_what_is_missing() {
    require_tools!();
    let folder = tempfile::tempdir().expect("a folder");
    let ended = calibrated(&folder, &["--toolkit", "/nowhere/at/all"], None).expect(3);
    assert!(ended.named("error")[0]["message"].to_string().contains("/nowhere/at/all"), "{:?}", ended.events);
    assert!(!folder.path().join("out.toml").exists());
}

/// Built by the toolkit, run on the device, timed by the profiler with noise.
#[test]
fn micro_kernels_are_measured_on_a_device() {
    require_tools!();
    let folder = tempfile::tempdir().expect("a folder");
    let bench = Bench::new(Style::Language);
    bench.standin.set("noise", "0.01");
    // The rest takes longer, and what memory costs depends on what launches before left in L2, which the stand-in does not know.
    let only: &[&str] = if at_length() { &[] } else { &["--only", "launches", "--only", "cores"] };
    let ended = calibrated(&folder, only, Some(&bench)).expect(0);
    let devices = ended.named("devices");
    assert_eq!(devices[0]["soc"], "Ascend910B2", "{devices:?}");
    let residuals = ended.named("calibration")[0]["residuals"].as_array().expect("rows").clone();
    assert!(residuals.len() >= 16, "{residuals:?}");
    for row in residuals.iter().filter(|row| !row["kernel"].as_str().is_some_and(|kernel| kernel.starts_with("memory")))
    {
        let after = row["after"].as_f64().expect("a ratio");
        assert!((after - 1.0).abs() < 0.05, "{row}");
    }
    // What stands for a device is our own model, every launch with a cold start: nothing else has to move by more than the noise.
    let base = Machine::named("ascend910b2").expect("it is embedded");
    let found = written(&folder);
    for name in ["sync_all_cycles", "cross_flag_cycles"] {
        let ratio = found.constants[name].value / base.constants[name].value;
        assert!((ratio - 1.0).abs() < 0.06, "{name}: {ratio}");
    }
    let text = fs_err::read_to_string(folder.path().join("out.toml")).expect("a description");
    let line = text.lines().find(|line| line.contains("measured on")).expect("where it was measured");
    assert!(line.contains("Ascend910B2 with toolkit") && line.contains("spread") && line.contains("20"), "{line}");
}

/// A chip that is not quite what the description says: what a run measured on it tells what it is, and the model then says what the
/// device does.
#[test]
fn what_a_run_measured_mends_the_description() {
    require_tools!();
    let folder = tempfile::tempdir().expect("a folder");
    let bench = Bench::new(Style::Framework);
    let base = Machine::named("ascend910b2").expect("it is embedded");
    let truth = [("mte2_startup_cycles", 1.7), ("prologue_us", 1.5), ("launch_per_core_us", 1.6)];
    let lines: String = truth
        .iter()
        .map(|(name, factor)| {
            let constant = &base.constants[*name];
            let value = factor * constant.value;
            format!(
                "{name} = {{ value = {value}, unit = \"{}\", source = \"a draw\", confidence = \"fitted\" }}\n",
                constant.unit
            )
        })
        .collect();
    let other = folder.path().join("other.toml");
    let text = format!("name = \"Ascend910B2\"\nversion = \"1\"\nextends = \"ascend910b2\"\n\n[constants]\n{lines}");
    fs_err::write(&other, text).expect("a written file");
    bench.standin.set("constants", &other.display().to_string());
    bench.standin.set("caches", "kept");
    bench.standin.set("event_overhead_us", "0");
    bench.standin.set("noise", "0.005");

    let out = folder.path().join("mine.toml").display().to_string();
    let words = ["calibrate", "--from-journal", "--out", &out];
    let ended = bench.project.run(&words).expect(2);
    assert!(ended.named("error")[0]["message"].to_string().contains("nothing was measured on a device"), "{ended:?}");

    let run = ["run", "--budget", "20", "--stage", "host", "--seed", "3", "--no-resume", "--dry-run"];
    let ratio = |ended: &Ended| ended.named("model-error")[0]["ratio"].as_f64().expect("a ratio");
    let before = ratio(&bench.run(&run).expect(0));
    let ended = bench.project.run(&words).expect(0);
    let said = ended.named("calibration")[0];
    let [was, is, left_out] = [0, 1, 2].map(|place| said["median"][place].as_f64().expect("an error"));
    assert!(was > 0.15 && is < 0.02 && left_out < 0.05, "{said}");
    let text = fs_err::read_to_string(&out).expect("a description");
    assert!(
        text.contains("# Candidates of ScaleAdd measured on Ascend910B2 with toolkit 8.1.RC1, by our launcher"),
        "{text}"
    );
    let found = Machine::parse("mine.toml", &text).expect("the description can be read");
    for (name, factor) in truth {
        let ratio = found.constants[name].value / (factor * base.constants[name].value);
        assert!((ratio - 1.0).abs() < 0.05, "{name}: {ratio}");
    }
    let after = ratio(&bench.run(&[&run[..], &["--machine", &out]].concat()).expect(0));
    assert!(before > 1.15 && (after - 1.0).abs() < 0.02, "{before} became {after}");
}
