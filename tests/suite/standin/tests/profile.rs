//! `msprof op` on an application, and the library of AscendCL that the application is made with.

use std::path::Path;
use std::process::Output;

use super::replay::{Case, cell, tables};
use super::scale_add::{data, pair, program, tiling};
use crate::standin::{Layout, Standin};
use crate::support::require_tools;

/// A folder with the data of the program.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let (x, z, _) = data();
    for (name, content) in [("x.bin", &x), ("z.bin", &z), ("tiling.bin", &tiling(4, 256))] {
        fs_err::write(folder.path().join(name), content).expect("a file");
    }
    folder
}

/// Kernel name of the object.
fn kernel() -> String {
    let text: serde_json::Value = serde_json::from_slice(&fs_err::read(pair().1).expect("a text")).expect("JSON");
    format!("{}_1", text["kernelName"].as_str().expect("a name"))
}

fn run(standin: &Standin, folder: &Path, words: &[&str]) -> Output {
    let mut command = standin.command(program("by_hand"));
    command.arg(pair().0).arg(kernel()).args(words).current_dir(folder).output().expect("the program runs")
}

fn profile(standin: &Standin, folder: &Path, options: &[&str], words: &[&str]) -> Output {
    let mut command = standin.program("msprof");
    command.arg("op").args(options).arg(format!("--output={}", folder.join("results").display()));
    command.arg(program("by_hand")).arg(pair().0).arg(kernel()).args(words);
    command.current_dir(folder).output().expect("msprof runs")
}

/// Microseconds that the program printed, a line each.
fn times(ended: &Output) -> Vec<f64> {
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    text.lines().filter_map(|line| line.strip_prefix("us ")).map(|text| text.parse().expect("a number")).collect()
}

#[test]
fn a_program_launches_objects_and_sees_times_with_noise_and_a_cold_clock() {
    require_tools!();
    let standin = Standin::new(Layout::New, "Ascend910B2");
    let folder = folder();
    let ended = run(&standin, folder.path(), &["0", "8"]);
    assert!(ended.status.success(), "{ended:?}");
    assert!(fs_err::read(folder.path().join("y.bin")).expect("the output") == data().2);
    let exact = times(&ended);
    // The first launches find a slow clock; afterwards nothing differs without noise.
    assert!(exact[0] > 1.5 * exact[7] && (exact[6] - exact[7]).abs() < 0.01, "{exact:?}");
    standin.set("noise", "0.05");
    let noisy = times(&run(&standin, folder.path(), &["0", "8"]));
    assert!((noisy[6] - noisy[7]).abs() > 0.01, "{noisy:?}");
    assert_eq!(standin.launches(0), 16);
    assert_eq!(standin.loaded(), [pair().0.display().to_string(), pair().0.display().to_string()]);
}

#[test]
fn devices_die_and_hang() {
    require_tools!();
    let standin = Standin::new(Layout::New, "Ascend910B2");
    standin.set("devices", "2");
    standin.set("device.1.dies_after", "3");
    let folder = folder();
    let ended = run(&standin, folder.path(), &["1", "8"]);
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success() && said.contains("507015") && said.contains("Aicore Kernel Exec Failed"), "{said}");
    assert!(!run(&standin, folder.path(), &["1", "1"]).status.success(), "it stays dead");
    assert!(run(&standin, folder.path(), &["0", "1"]).status.success(), "the other one is alive");
    let health = standin.program("npu-smi").args(["info", "-t", "health", "-i", "1"]).output().expect("npu-smi");
    assert!(String::from_utf8_lossy(&health.stdout).contains("Alarm"));
    standin.set("device.0.hangs_after", "0");
    standin.set("hang_s", "0.2");
    let ended = run(&standin, folder.path(), &["0", "1"]);
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success() && said.contains("507014"), "{said}");
    // Logical ids are remapped.
    let mut command = standin.command(program("by_hand"));
    command.env("ASCEND_RT_VISIBLE_DEVICES", "1").arg(pair().0).arg(kernel()).args(["1", "1"]);
    assert!(!command.current_dir(folder.path()).status().expect("it runs").success(), "only logical device 0 is there");
}

#[test]
fn only_the_first_operator_is_profiled_without_a_name() {
    require_tools!();
    let standin = Standin::new(Layout::New, "Ascend910B2");
    let folder = folder();
    // The program launches another kernel first where it is told to.
    let ended = profile(&standin, folder.path(), &["--launch-count=10"], &["0", "3", "helper"]);
    assert!(ended.status.success(), "{ended:?}");
    let found = tables(&folder.path().join("results"), "OpBasicInfo");
    assert_eq!(found.len(), 1);
    assert!(cell(&found[0], "Op Name").starts_with("helper"), "{}", cell(&found[0], "Op Name"));
    fs_err::remove_dir_all(folder.path().join("results")).expect("results");
    let ended =
        profile(&standin, folder.path(), &["--launch-count=10", "--kernel-name=ScaleAdd*"], &["0", "3", "helper"]);
    assert!(ended.status.success(), "{ended:?}");
    let found = tables(&folder.path().join("results"), "OpBasicInfo");
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|table| cell(table, "Op Name") == kernel() && cell(table, "Current Freq") == "1800"));
    assert!(found[0].to_string_lossy().contains(&format!("/{}/0/", kernel())), "{found:?}");
    let ended = profile(&standin, folder.path(), &["--kernel-name=Nothing"], &["0", "1"]);
    assert!(!String::from_utf8_lossy(&ended.stdout).contains("All task success"), "{ended:?}");
}

#[test]
fn replays_spoil_what_a_kernel_changes_in_place() {
    require_tools!();
    let standin = Standin::new(Layout::New, "Ascend910B2");
    let folder = folder();
    // y is z: once is right, twice is not.
    assert!(run(&standin, folder.path(), &["0", "1", "in-place"]).status.success());
    assert!(fs_err::read(folder.path().join("y.bin")).expect("the output") == data().2);
    assert!(profile(&standin, folder.path(), &["--kernel-name=ScaleAdd"], &["0", "1", "in-place"]).status.success());
    assert!(fs_err::read(folder.path().join("y.bin")).expect("the output") != data().2);
}

#[test]
fn spellings_clocks_and_folders() {
    require_tools!();
    use std::os::unix::fs::PermissionsExt;
    let standin = Standin::new(Layout::New, "Ascend910B2");
    standin.set("columns", "documents");
    standin.set("clock_mhz", "1200");
    standin.set("csv_stamp", "off");
    standin.set("missing", "N/A");
    let case = Case::new(4, 256);
    let results = case.folder.path().join("results");
    assert!(case.profile(&standin, &["--aic-metrics=PipeUtilization"]).status.success());
    let basic = &tables(&results, "OpBasicInfo.csv")[0];
    assert_eq!((cell(basic, "Device ID"), cell(basic, "Current Freq")), ("0".to_owned(), "1200".to_owned()));
    assert_eq!(cell(&tables(&results, "PipeUtilization.csv")[0], "aic_time(us)"), "N/A");
    assert!(tables(&results, "MemoryUB").is_empty());
    standin.set("columns", "block-num");
    fs_err::remove_dir_all(&results).expect("results");
    assert!(case.profile(&standin, &["--warm-up=0"]).status.success());
    assert_eq!(cell(&tables(&results, "OpBasicInfo")[0], "Block Num"), "4");
    assert_eq!(cell(&tables(&results, "OpBasicInfo")[0], "Current Freq"), "800", "nothing has warmed it up");
    fs_err::set_permissions(&results, std::fs::Permissions::from_mode(0o775)).expect("a mode");
    let ended = case.profile(&standin, &[]);
    assert!(
        !ended.status.success() && String::from_utf8_lossy(&ended.stdout).contains("writable by group"),
        "{ended:?}"
    );
}
