//! `npu-smi` of the stand-in: the tables and lists of several generations.

use super::knobs::Knobs;
use super::program::Started;
use super::soc::Soc;

/// A device as the knobs describe it.
struct Device {
    npu: u32,
    chip: u32,
    physical: u32,
    health: String,
    busy_percent: String,
    process: Option<String>,
}

/// Bus address of a physical device. Every tree is a machine of its own: locks by address must not be those of another's devices.
fn bus_id(knobs: &Knobs, physical: u32) -> String {
    let domain = knobs.get("bus_domain").unwrap_or_else(|| "0000".to_owned());
    format!("{domain}:{:02X}:00.0", 0xC1 + physical)
}

fn devices(knobs: &Knobs, own: &std::path::Path) -> Vec<Device> {
    let count = knobs.number("devices", 1.0) as u32;
    let chips = if knobs.get("smi").as_deref() == Some("a3") { 2 } else { 1 };
    let of = |device: u32, what: &str| knobs.get(&format!("device.{device}.{what}"));
    (0..count)
        .map(|physical| Device {
            npu: physical / chips,
            chip: physical % chips,
            physical,
            health: match of(physical, "health") {
                Some(health) => health,
                None if own.join(format!("state/dead.{physical}")).exists() => "Alarm".to_owned(),
                None => "OK".to_owned(),
            },
            busy_percent: of(physical, "aicore_percent").unwrap_or_else(|| "0".to_owned()),
            process: of(physical, "process"),
        })
        .collect()
}

/// `npu-smi info [-l|-m|-t KIND [-i NPU] [-c CHIP]]`.
pub fn run(mut started: Started) -> i32 {
    let knobs = started.knobs();
    if knobs.get("smi").as_deref() == Some("fails") {
        started.say("DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)");
        started.say("dcmi module initialize failed. ret is -8005");
        return 1;
    }
    let soc = Soc::named(&knobs.get("soc").expect("a chip"));
    let devices = devices(&knobs, &started.own);
    let words: Vec<&str> = started.words.iter().map(String::as_str).collect();
    let after = |flag: &str| words.iter().position(|word| *word == flag).and_then(|at| words.get(at + 1)).copied();
    let npu = after("-i").and_then(|text| text.parse::<u32>().ok());
    let chip = after("-c").and_then(|text| text.parse::<u32>().ok());
    let chosen =
        |device: &&Device| npu.is_none_or(|npu| npu == device.npu) && chip.is_none_or(|chip| chip == device.chip);
    let text = match (words.first().copied(), after("-t")) {
        (Some("info"), None) if words.contains(&"-l") => list(&devices),
        (Some("info"), None) if words.contains(&"-m") => map(&devices, soc),
        (Some("info"), None) => table(&devices, soc, &knobs),
        (Some("info"), Some(kind)) => {
            devices.iter().filter(chosen).map(|device| of_kind(device, kind, soc, &knobs)).collect()
        }
        _ => {
            started.say("Error parameter of npu-smi");
            return 1;
        }
    };
    for line in text.lines() {
        started.say(line);
    }
    0
}

fn list(devices: &[Device]) -> String {
    let npus: std::collections::BTreeSet<u32> = devices.iter().map(|device| device.npu).collect();
    let mut text = format!("\tTotal Count                    : {}\n", npus.len());
    for npu in npus {
        let chips = devices.iter().filter(|device| device.npu == npu).count();
        text += &format!("\n\tNPU ID                         : {npu}\n\tChip Count                     : {chips}\n");
    }
    text
}

fn map(devices: &[Device], soc: Soc) -> String {
    let mut text = String::from(
        "\tNPU ID                         Chip ID                        Chip Logic ID                  Chip Name\n",
    );
    for device in devices {
        text += &format!(
            "\t{:<30} {:<30} {:<30} Ascend {}\n",
            device.npu,
            device.chip,
            device.physical,
            soc.smi_name.trim_start_matches("Ascend")
        );
    }
    text
}

fn of_kind(device: &Device, kind: &str, soc: Soc, knobs: &Knobs) -> String {
    let line = |key: &str, value: &str| format!("\t{key:<30} : {value}\n");
    match kind {
        "health" => {
            line("Health", &device.health)
                + &line("Error Code", if device.health == "OK" { "NA" } else { "0x80E01801" })
                + &line("Error Information", if device.health == "OK" { "NA" } else { "HBM multi-bit ECC error" })
        }
        "board" => {
            line("NPU ID", &device.npu.to_string())
                + &line("Product Name", "IT21HMDB02")
                + &line("Model", "NA")
                + &line("Manufacturer", "Stand-in")
                + &line("Serial Number", "0000-NOT-FOR-LOGS")
                + &line("Software Version", "25.2.1")
                + &line("Firmware Version", "7.7.0.1.238")
                + &line("Chip ID", &device.chip.to_string())
                + &line("Chip Type", "Ascend")
                + &line("Chip Name", soc.name.trim_start_matches("Ascend"))
                + &line("PCIe Bus Info", &bus_id(knobs, device.physical))
        }
        "usages" => {
            line("Aicore Usage Rate(%)", &device.busy_percent)
                + &line("HBM Capacity(MB)", "65536")
                + &line("HBM Usage Rate(%)", "5")
        }
        "proc-mem" => match &device.process {
            Some(process) => {
                let parts: Vec<&str> = process.split(':').collect();
                line("Process id", parts[0]) + &line("Process name", parts[1]) + &line("Process memory(MB)", parts[2])
            }
            None => String::new(),
        },
        "temp" => line("NPU Temperature (C)", "41"),
        "power" => line("NPU Real-time Power(W)", "92.1"),
        _ => String::new(),
    }
}

fn table(devices: &[Device], soc: Soc, knobs: &Knobs) -> String {
    let generation = knobs.get("smi").unwrap_or_else(|| "a2".to_owned());
    let wide = |text: &str| format!("| {text:<94} |\n");
    let three = |a: &str, b: &str, c: &str| format!("| {a:<25} | {b:<13} | {c:<51}|\n");
    let border = |fill: &str| format!("+{}+{}+{}+\n", fill.repeat(27), fill.repeat(15), fill.repeat(52));
    let mut text = format!("+{}+\n", "-".repeat(96));
    text += &wide("npu-smi 25.2.1                   Version: 25.2.1");
    text += &border("-");
    text += &three("NPU   Name", "Health", "Power(W)    Temp(C)           Hugepages-Usage(page)");
    let second = if generation == "a2-old" { "Chip  Device" } else { "Chip  Phy-ID" };
    text += &three(second, "Bus-Id", "AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)");
    text += &border("=");
    for device in devices {
        let power = if device.chip == 0 { "92.1" } else { "-" };
        text += &three(
            &format!("{:<5} {}", device.npu, soc.smi_name),
            &device.health,
            &format!("{power:<11} 41                0    / 0"),
        );
        // Older drivers have no number of their own for a chip within the machine.
        let second = if generation == "a2-old" {
            format!("{}", device.chip)
        } else {
            format!("{:<5} {}", device.chip, device.physical)
        };
        text += &three(
            &second,
            &bus_id(knobs, device.physical),
            &format!("{:<11} 0    / 0          3402 / 65536", device.busy_percent),
        );
        text += &border("=");
    }
    let four = |a: &str, b: &str, c: &str, d: &str| format!("| {a:<25} | {b:<13} | {c:<24} | {d:<23} |\n");
    let border =
        |fill: &str| format!("+{}+{}+{}+{}+\n", fill.repeat(27), fill.repeat(15), fill.repeat(26), fill.repeat(25));
    text += &border("-");
    text += &four("NPU     Chip", "Process id", "Process name", "Process memory(MB)");
    text += &border("=");
    for device in devices {
        match &device.process {
            Some(process) => {
                let parts: Vec<&str> = process.split(':').collect();
                text += &four(&format!("{:<7} {}", device.npu, device.chip), parts[0], parts[1], parts[2]);
            }
            None if device.chip == 0 => text += &wide(&format!("No running processes found in NPU {}", device.npu)),
            None => {}
        }
        text += &border("=");
    }
    text
}
