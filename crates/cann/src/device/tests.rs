//! All tables here are made up, in the documented layout.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use super::super::environment::Environment;
use super::{Answer, Ask, AskError, DeviceError, Devices, Health};

/// A card a row, numbered by the driver; 910B3.
const WIDE: &str = "\
+------------------------------------------------------------------------------------------------+
| npu-smi 25.2.1                   Version: 25.2.1                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 92.1        41                0    / 0             |
| 0     0                   | 0000:C1:00.0  | 0           0    / 0          3402 / 65536         |
+===========================+===============+====================================================+
| 3     910B3               | Warning       | 95.0        43                0    / 0             |
| 0     3                   | 0000:01:00.0  | 87          0    / 0          61002/ 65536         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| No running processes found in NPU 0                                                            |
+===========================+===============+====================================================+
| 3       0                 | 4711          | python3.11               | 57600                   |
+===========================+===============+====================================================+
";

/// An older driver: narrower, `Device` in place of `Phy-ID`, health of one that is ill.
const OLD: &str = "\
+-------------------------------------------------------------------------------------------+
| npu-smi 23.0.0            Version: 23.0.rc3                                               |
+----------------------+---------------+----------------------------------------------------+
| NPU     Name         | Health        | Power(W)     Temp(C)           Hugepages-Usage(page)|
| Chip    Device       | Bus-Id        | AICore(%)    Memory-Usage(MB)                        |
+======================+===============+====================================================+
| 2       310P3        | Alarm         | NA           44                0     / 0             |
| 0       0            | 0000:5E:00.0  | 0            1801  / 21527                           |
+======================+===============+====================================================+
";

/// Two chips a card; the second has no power of its own.
const TWO_CHIPS: &str = "\
+------------------------------------------------------------------------------------------------+
| npu-smi 25.0.rc1.1               Version: 25.0.rc1.1                                           |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     Ascend910           | OK            | 170.2       38                0    / 0             |
| 0     0                   | 0000:9D:00.0  | 0           0    / 0          3130 / 65536         |
+------------------------------------------------------------------------------------------------+
| 0     Ascend910           | OK            | -           37                0    / 0             |
| 1     1                   | 0000:9F:00.0  | 0           0    / 0          2900 / 65536         |
+===========================+===============+====================================================+
| 1     Ascend910           | UNKNOWN       | 171.0       39                0    / 0             |
| 0     2                   | NA            | 0           0    / 0          2901 / 65536         |
+===========================+===============+====================================================+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       1                 | 99            | vllm                     | 60                      |
+===========================+===============+====================================================+
";

/// Answers by arguments; what has no answer is refused.
#[derive(Default)]
struct Canned {
    answers: Vec<(&'static str, String)>,
    asked: RefCell<Vec<String>>,
    late: bool,
}

impl Canned {
    fn with(answers: &[(&'static str, &str)]) -> Canned {
        let answers = answers.iter().map(|(arguments, text)| (*arguments, (*text).to_owned())).collect();
        Canned { answers, ..Canned::default() }
    }
}

impl Ask for Canned {
    fn ask(&self, _: &Path, arguments: &[&str], limit: Duration) -> Result<Answer, AskError> {
        assert!(limit <= Duration::from_secs(30), "it may hang");
        let arguments = arguments.join(" ");
        self.asked.borrow_mut().push(arguments.clone());
        if self.late {
            return Err(AskError::Late);
        }
        let answer = self.answers.iter().find(|(known, _)| *known == arguments).map(|(_, text)| text.clone());
        let status = if answer.is_some() { "exit status: 0" } else { "exit status: 255" }.to_owned();
        Ok(Answer { success: answer.is_some(), status, output: answer.unwrap_or_else(|| "not supported\n".to_owned()) })
    }
}

/// Surroundings with an `npu-smi` in `PATH`, so that it is found.
fn surroundings() -> (tempfile::TempDir, Environment) {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("npu-smi"), "").unwrap();
    let mut environment = Environment::default();
    environment.variables.insert("PATH".to_owned(), folder.path().display().to_string());
    (folder, environment)
}

fn shown(devices: &Devices) -> Vec<String> {
    devices.devices.iter().map(super::Device::to_string).collect()
}

#[test]
fn tables_of_several_widths_are_read_by_their_headers() {
    let (_folder, environment) = surroundings();
    let wide = Devices::ask(&Canned::with(&[("info", WIDE)]), &environment).unwrap();
    assert_eq!(wide.driver.as_deref(), Some("25.2.1"));
    assert_eq!(shown(&wide), ["device 0 (910B3, 0000:C1:00.0, OK)", "device 1 (910B3, 0000:01:00.0, Warning)"]);
    let (free, taken) = (&wide.devices[0], &wide.devices[1]);
    assert_eq!((free.ai_core_percent, free.memory_mib), (Some(0), Some((3402, 65536))));
    assert_eq!(taken.memory_mib, Some((61002, 65536)));
    assert_eq!(free.in_use(&[]), None);
    assert_eq!(taken.in_use(&[]).unwrap(), "used by process 4711 (python3.11)");
    assert_eq!(taken.in_use(&[4711]), None, "that is us");
    assert!(wide.remarks.is_empty(), "{:?}", wide.remarks);

    let old = Devices::ask(&Canned::with(&[("info", OLD)]), &environment).unwrap();
    assert_eq!(shown(&old), ["device 0 (310P3, 0000:5E:00.0, Alarm)"]);
    assert_eq!((old.driver.as_deref(), old.devices[0].npu), (Some("23.0.rc3"), 2));
    assert_eq!(old.devices[0].memory_mib, Some((1801, 21527)));
    assert_eq!(old.devices[0].in_use(&[]).unwrap(), "its health is Alarm");

    let two = Devices::ask(&Canned::with(&[("info", TWO_CHIPS)]), &environment).unwrap();
    assert_eq!(
        shown(&two),
        [
            "device 0 (Ascend910, 0000:9D:00.0, OK)",
            "device 1 (Ascend910, 0000:9F:00.0, OK)",
            "device 2 (Ascend910, npu1-chip0, UNKNOWN)",
        ]
    );
    assert_eq!(two.devices[1].processes[0].name, "vllm");
    assert!(two.devices[0].processes.is_empty());
    assert_eq!(two.devices[2].in_use(&[]), None, "a word that nobody knows is no reason");
}

#[test]
fn an_ai_core_that_works_for_nobody_is_in_use() {
    let (_folder, environment) = surroundings();
    let text = WIDE.replace("| 3       0                 | 4711 ", "| No running processes in NPU | ");
    let devices = Devices::ask(&Canned::with(&[("info", &text)]), &environment).unwrap();
    assert_eq!(devices.devices[1].in_use(&[]).unwrap(), "its AI Cores are at 87 % and nobody says whose work it is");
}

#[test]
fn numbers_are_the_drivers() {
    const LIST: &str = "\tNPU ID                         Chip ID                        Chip Logic ID                  Chip Name\n\
        \t0                              0                              4                              Ascend 910B3\n\
        \t0                              1                              -                              Mcu\n\
        \t3                              0                              6                              Ascend 910B3\n";
    let (_folder, mut environment) = surroundings();
    let canned = Canned::with(&[("info", WIDE), ("info -m", LIST)]);
    let ids = |environment: &Environment| {
        let devices = Devices::ask(&canned, environment).unwrap();
        let ids: Vec<(u32, u32)> = devices.devices.iter().map(|one| (one.driver_id, one.runtime_id)).collect();
        (ids, devices.remarks)
    };
    assert_eq!(ids(&environment).0, [(4, 4), (6, 6)]);
    environment.variables.insert("ASCEND_RT_VISIBLE_DEVICES".to_owned(), "6, 4,6".to_owned());
    let (found, remarks) = ids(&environment);
    assert_eq!(found, [(6, 0), (4, 1)]);
    assert!(remarks[0].contains("names device 6 twice"), "{remarks:?}");
    environment.variables.insert("ASCEND_RT_VISIBLE_DEVICES".to_owned(), "4,9,6".to_owned());
    let (found, remarks) = ids(&environment);
    assert_eq!(found, [(4, 0)]);
    assert!(remarks[0].contains("names \"9\", which no device has: there are 4, 6"), "{remarks:?}");
    environment.variables.insert("ASCEND_RT_VISIBLE_DEVICES".to_owned(), "9".to_owned());
    let none = Devices::ask(&canned, &environment).unwrap_err();
    assert_eq!(none, DeviceError::NoneVisible { installed: 2, visible: "9".to_owned() });

    environment.variables.insert("ASCEND_RT_VISIBLE_DEVICES".to_owned(), "6".to_owned());
    let device = Devices::ask(&canned, &environment).unwrap().devices.remove(0);
    assert_eq!(device.environment()["ASCEND_RT_VISIBLE_DEVICES"], "6");
}

#[test]
fn names_come_from_the_board_and_serial_numbers_do_not() {
    const CARD: &str = "\tNPU ID                         : 0\n\tProduct Name                   : IT21\n\
        \tSerial Number                  : 0123SECRET\n\tSoftware Version               : 25.0.rc1.1\n\tChip Count : 2\n\tVDie ID : 1 2 3\n";
    const CHIP: &str = "\tChip ID : 1\n\tChip Type : Ascend\n\tChip Name : Ascend910\n\tChip Version : V1\n\tNPU Name : 9391\n\
        \tSerial number : 0123SECRET\n";
    let (_folder, environment) = surroundings();
    let canned = Canned::with(&[
        ("info", TWO_CHIPS),
        ("info -t board -i 0", CARD),
        ("info -t board -i 0 -c 1", CHIP),
        ("info -t health -i 0 -c 1", "\tHealth : Critical\n\tError Code : 80E01801\n\tError Information : HBM ECC\n"),
    ]);
    let devices = Devices::ask(&canned, &environment).unwrap();
    let board = devices.board(&canned, &devices.devices[1]).unwrap();
    assert!(!format!("{board:?}").contains("SECRET"), "{board:?}");
    assert_eq!(board["Software Version"], "25.0.rc1.1");
    assert_eq!(devices.soc(&canned, &devices.devices[1], None).unwrap().name, "Ascend910_9391");
    assert!(devices.soc(&canned, &devices.devices[2], None).is_err(), "a family is no chip");
    let (health, why) = devices.health(&canned, &devices.devices[1]).unwrap();
    assert_eq!((health, why.as_deref()), (Health::Critical, Some("80E01801: HBM ECC")));
    let plain = Devices::ask(&Canned::with(&[("info", WIDE)]), &environment).unwrap();
    assert_eq!(plain.soc(&Canned::default(), &plain.devices[0], None).unwrap().name, "Ascend910B3");
}

#[test]
fn a_program_that_is_missing_hangs_or_fails_is_told() {
    let (_folder, environment) = surroundings();
    let missing = Devices::ask(&Canned::default(), &Environment::default());
    // A machine with a driver has it at its usual place.
    assert!(matches!(missing, Err(DeviceError::NoProgram | DeviceError::Fails { .. })));
    let late = Devices::ask(&Canned { late: true, ..Canned::default() }, &environment).unwrap_err();
    assert!(late.to_string().contains("`npu-smi info` did not answer within 20 s"), "{late}");
    let fails = Devices::ask(&Canned::default(), &environment).unwrap_err().to_string();
    assert!(fails.contains("exit status: 255") && fails.contains("not supported"), "{fails}");
    for text in ["", "dcmi module initialize failed. ret is -8005\n", "| NPU Name | Health |\n| Chip | Bus-Id |\n"] {
        let error = Devices::ask(&Canned::with(&[("info", text)]), &environment).unwrap_err();
        assert!(matches!(error, DeviceError::Unreadable { .. }), "{text}: {error}");
    }
}

#[test]
fn a_line_that_is_not_understood_is_passed_over_and_told() {
    let (_folder, environment) = surroundings();
    let text = WIDE
        .replace("| 0     910B3               | OK    ", "| something new | 1 |\n| 0     910B3               | OK    ");
    let devices = Devices::ask(&Canned::with(&[("info", &text)]), &environment).unwrap();
    assert_eq!(devices.devices.len(), 2);
    assert_eq!(devices.remarks.len(), 1, "{:?}", devices.remarks);
}
