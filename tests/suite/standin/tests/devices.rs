//! `npu-smi` and its generations.

use crate::standin::{Layout, Standin};
use crate::support::require_tools;

fn said(standin: &Standin, words: &[&str]) -> String {
    let ended = standin.program("npu-smi").args(words).output().expect("npu-smi runs");
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

#[test]
fn tables_name_devices_health_and_processes() {
    require_tools!();
    let standin = Standin::new(Layout::New, "Ascend910B3");
    standin.set("bus_domain", "0000");
    standin.set("devices", "2");
    standin.set("device.1.health", "Warning");
    standin.set("device.1.process", "4711:python3:3120");
    standin.set("device.1.aicore_percent", "87");
    let table = said(&standin, &["info"]);
    for part in [
        "| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)",
        "| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)",
        "| 0     910B3               | OK            |",
        "| 1     910B3               | Warning       |",
        "| 0000:C2:00.0  | 87 ",
        "No running processes found in NPU 0",
        "| 1       0                 | 4711          | python3",
    ] {
        assert!(table.contains(part), "{part}\n{table}");
    }
    let width = table.lines().next().expect("a border").len();
    assert!(table.lines().all(|line| line.len() == width), "{table}");
    assert!(said(&standin, &["info", "-t", "health", "-i", "1"]).contains("Health                         : Warning"));
    assert!(said(&standin, &["info", "-m"]).contains("Ascend 910B3"));
    standin.set("smi", "a2-old");
    assert!(said(&standin, &["info"]).contains("| Chip  Device"));
}

#[test]
fn the_third_generation_has_two_chips_each() {
    require_tools!();
    let standin = Standin::new(Layout::New, "Ascend910_9391");
    standin.set("bus_domain", "0000");
    standin.set("devices", "4");
    standin.set("smi", "a3");
    let table = said(&standin, &["info"]);
    assert!(table.contains("| 1     Ascend910           | OK            | -  "), "{table}");
    assert!(table.contains("| 1     3                   | 0000:C4:00.0"), "{table}");
    let board = said(&standin, &["info", "-t", "board", "-i", "0", "-c", "1"]);
    assert!(board.contains("Chip Name                      : 910_9391"), "{board}");
}
