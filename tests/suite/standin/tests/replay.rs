//! One kernel object with tiling data of one's own: `msprof op --config`.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::scale_add::{ELEMENTS, data, host, pair, program, tiling};
use crate::standin::{Layout, Standin};
use crate::support::require_tools;

/// A folder with a description and what it names.
pub struct Case {
    pub folder: TempDir,
    pub config: Value,
}

impl Case {
    pub fn new(cores: u32, tile: u32) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (x, z, _) = data();
        let bytes = tiling(cores, tile);
        for (name, content) in [("x.bin", &x), ("z.bin", &z), ("tiling.bin", &bytes)] {
            fs_err::write(folder.path().join(name), content).expect("a file");
        }
        let text: Value = serde_json::from_slice(&fs_err::read(pair().1).expect("a text")).expect("JSON");
        let at = |name: &str| folder.path().join(name);
        let config = json!({
            "kernel_name": text["kernelName"], "kernel_path": pair().0, "magic": text["magic"], "mode": "onboard",
            "blockdim": cores, "device_id": 0, "tiling_key": 1, "output_data_path": at("out"),
            "test_cases": [{ "case_name": "c0", "param_desc": [
                { "param_type": "input", "name": "x", "type": "float16", "shape": [8, 1024], "data_path": at("x.bin") },
                { "param_type": "input", "name": "z", "type": "float16", "shape": [8, 1024], "data_path": at("z.bin") },
                { "param_type": "output", "name": "y", "type": "float16", "shape": [8, 1024] },
                { "param_type": "workspace", "user_workspace_size": 1 << 20 },
                { "param_type": "tiling", "tiling_data_size": bytes.len(), "tiling_data_path": at("tiling.bin") },
            ]}],
        });
        Self { folder, config }
    }

    pub fn profile(&self, standin: &Standin, more: &[&str]) -> Output {
        let file = self.folder.path().join("case.json");
        fs_err::write(&file, self.config.to_string()).expect("a file");
        let mut command = standin.program("msprof");
        command.arg("op").arg(format!("--config={}", file.display()));
        command.arg(format!("--output={}", self.folder.path().join("results").display())).args(more);
        command.output().expect("msprof runs")
    }
}

/// Tables below a folder whose name begins so.
pub fn tables(folder: &Path, name: &str) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    let paths = entries.map(walkdir::DirEntry::into_path);
    paths.filter(|path| path.file_name().is_some_and(|found| found.to_string_lossy().starts_with(name))).collect()
}

/// A cell of the first row of a table.
pub fn cell(table: &Path, column: &str) -> String {
    let text = fs_err::read_to_string(table).expect("a table");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let at = lines.next().expect("a header").iter().position(|found| *found == column).expect("the column");
    lines.next().expect("a row")[at].to_owned()
}

#[test]
fn own_tiling_data_give_right_outputs_and_a_time() {
    require_tools!();
    let standin = Standin::new(Layout::Old, "Ascend910B2");
    let mut times = Vec::new();
    for (cores, tile) in [(2, 128), (8, 1024)] {
        let case = Case::new(cores, tile);
        let ended = case.profile(&standin, &[]);
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(ended.status.success(), "{ended:?}");
        assert!(said.contains("[INFO] Profiling running finished. All task success."), "{said}");
        let y = fs_err::read(case.folder.path().join("out/c0/y.bin")).expect("the output");
        assert!(y == data().2, "{cores} cores: {} of {}", y.len(), 2 * ELEMENTS);
        let results = case.folder.path().join("results");
        let [basic] = &tables(&results, "OpBasicInfo")[..] else { panic!("one table") };
        let name = basic.file_name().expect("a name").to_string_lossy().into_owned();
        let stamp = name.trim_start_matches("OpBasicInfo_").trim_end_matches(".csv");
        assert!(stamp.len() == 17 && stamp.bytes().all(|byte| byte.is_ascii_digit()), "{name}");
        assert_eq!(cell(basic, "Block Dim"), cores.to_string());
        assert_eq!(cell(basic, "Mix Block Dim"), "N/A");
        assert_eq!((cell(basic, "Current Freq"), cell(basic, "Rated Freq")), ("1800".to_owned(), "1800".to_owned()));
        assert!(cell(basic, "Op Name").ends_with("_1"), "the symbol has the key");
        times.push(cell(basic, "Task Duration(us)").parse::<f64>().expect("a number"));
        let pipes = &tables(&results, "PipeUtilization")[0];
        assert_eq!(fs_err::read_to_string(pipes).expect("a table").lines().count(), cores as usize + 1);
        assert_eq!(cell(pipes, "aic_time(us)"), "NA");
        assert!(cell(pipes, "aiv_mte2_time(us)").parse::<f64>().expect("a number") > 0.0);
    }
    assert!(times[1] < times[0], "more cores and longer tiles are faster: {times:?}");
}

#[test]
fn descriptions_with_faults_are_refused() {
    require_tools!();
    let standin = Standin::new(Layout::New, "Ascend910B2");
    let refused = |change: &dyn Fn(&mut Value), reason: &str| {
        let mut case = Case::new(4, 256);
        change(&mut case.config);
        let ended = case.profile(&standin, &[]);
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(!ended.status.success() && said.contains(reason), "{reason}: {ended:?}");
        assert!(!said.contains("All task success"));
    };
    refused(&|config| config["magic"] = json!("ELF"), "magic ELF is not supported");
    refused(&|config| config["mode"] = json!("ca"), "mode does not agree");
    refused(&|config| config["test_cases"][0]["param_desc"][0]["type"] = json!("float"), "type float is not supported");
    refused(&|config| config["test_cases"][0]["param_desc"][3]["user_workspace_size"] = json!(0), "out of range");
    refused(&|config| config["tiling_key"] = json!(7), "the application ended with");
    refused(&|config| config["test_cases"][0]["param_desc"][1]["shape"] = json!([8, 1000]), "its shape needs");
}

#[test]
fn the_toolkit_runs_tiling_functions_on_the_host() {
    require_tools!();
    let standin = Standin::new(Layout::Old, "Ascend910B2");
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("liboptiling.so");
    fs_err::copy(host(), &library).expect("a copy");
    let tensor = |name: &str, rows: u64| json!({ "name": name, "dtype": "float16", "shape": [rows, 1024], "ori_shape": [rows, 1024], "format": "ND", "ori_format": "ND" });
    let ask = |rows: u64| {
        let mut command = standin.command(program("tiling_by_hand"));
        command.arg(standin.home().join("lib64/libregister.so")).arg(&library).arg("ScaleAdd");
        command
            .arg(json!([tensor("x", rows), tensor("z", rows)]).to_string())
            .arg(json!([tensor("y", rows)]).to_string());
        command.arg(json!([{ "name": "scale", "dtype": "float", "value": 2.0 }]).to_string()).arg("{}");
        let ended = command.output().expect("it runs");
        assert!(ended.status.success(), "{ended:?}");
        let text = String::from_utf8_lossy(&ended.stdout).into_owned();
        let mut lines = text.lines();
        let said: Value = serde_json::from_str(lines.next().expect("an answer")).expect("JSON");
        (said, lines.next().unwrap_or_default().to_owned())
    };
    let (said, info) = ask(8);
    assert_eq!(said["ret_code"], 0, "{said}");
    let info: Value = serde_json::from_str(&info).expect("JSON");
    let bytes = tiling(4, 256).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!((&info["block_dim"], &info["tiling_key"]), (&json!(4), &json!(1)));
    assert!(info["tiling_data"].as_str().expect("hex").starts_with(&bytes), "{info}");
    // Its own check says no.
    assert_ne!(ask(0).0["ret_code"], 0);
}
