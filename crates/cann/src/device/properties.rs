//! What `npu-smi` says in lines of `Key : Value`, and in its list of chips.

use std::collections::BTreeMap;

use super::table::Health;

/// Keys that are kept of a board. Others are not, because some are serial numbers, under names that change.
const KEPT: [&str; 18] = [
    "NPU ID",
    "Product Name",
    "Model",
    "Manufacturer",
    "Software Version",
    "Firmware Version",
    "Compatibility",
    "Board ID",
    "PCB ID",
    "BOM ID",
    "PCIe Bus Info",
    "Chip Count",
    "Faulty Chip Count",
    "Chip ID",
    "Chip Type",
    "Chip Name",
    "Chip Version",
    "NPU Name",
];

fn lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.split_once(':')).map(|(key, value)| (key.trim(), value.trim()))
}

/// A board's properties by their documented spelling.
pub(super) fn board(text: &str) -> BTreeMap<String, String> {
    let kept = |key: &str| KEPT.iter().find(|kept| kept.eq_ignore_ascii_case(key)).map(|key| (*key).to_owned());
    lines(text).filter_map(|(key, value)| Some((kept(key)?, value.to_owned()))).collect()
}

/// Health, and what it is about where it is not well.
pub(super) fn health(text: &str) -> (Health, Option<String>) {
    let value = |words: &[&str]| {
        let same = |key: &str| words.iter().any(|word| word.eq_ignore_ascii_case(key));
        lines(text).find(|(key, _)| same(key)).map(|(_, value)| value).filter(|value| !value.is_empty())
    };
    let state = value(&["Health", "Health Status"]).map_or_else(|| Health::Other("not told".to_owned()), Health::of);
    let about: Vec<&str> = [value(&["Error Code"]), value(&["Error Information"])]
        .into_iter()
        .flatten()
        .filter(|text| *text != "NA")
        .collect();
    (state, (!about.is_empty()).then(|| about.join(": ")))
}

/// Numbers of the driver by card and chip, out of `-m`. Rows of what is no chip (`Mcu`) have none.
pub(super) fn numbers(text: &str) -> BTreeMap<(u32, u32), u32> {
    let mut found = BTreeMap::new();
    let mut header: Vec<String> = Vec::new();
    for line in text.lines() {
        let cells = columns(line);
        if cells.iter().any(|cell| cell.eq_ignore_ascii_case("NPU ID")) {
            header = cells.iter().map(|cell| cell.to_ascii_lowercase()).collect();
            continue;
        }
        let number =
            |name: &str| -> Option<u32> { cells.get(header.iter().position(|known| known == name)?)?.parse().ok() };
        if let (Some(npu), Some(chip), Some(logic)) = (number("npu id"), number("chip id"), number("chip logic id")) {
            found.insert((npu, chip), logic);
        }
    }
    found
}

/// Cells that are set apart by two blanks or a tab.
fn columns(line: &str) -> Vec<&str> {
    line.split('\t').flat_map(|part| part.split("  ")).map(str::trim).filter(|cell| !cell.is_empty()).collect()
}
