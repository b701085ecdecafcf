//! `ASCEND_RT_VISIBLE_DEVICES`: which devices a process may use, and under which numbers.

use super::Device;

pub(super) const VARIABLE: &str = "ASCEND_RT_VISIBLE_DEVICES";

/// Devices that the variable leaves, in its order. Programs that inherit it know them by their place in it.
pub(super) fn select(all: Vec<Device>, value: Option<&str>, remarks: &mut Vec<String>) -> Vec<Device> {
    let Some(value) = value else { return all };
    let mut selected: Vec<Device> = Vec::new();
    for word in value.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let found = word.parse().ok().and_then(|id: u32| all.iter().find(|device| device.driver_id == id));
        match found {
            Some(device) if selected.iter().any(|known| known.driver_id == device.driver_id) => {
                remarks.push(format!("{VARIABLE} names device {word} twice"));
            }
            Some(device) => {
                let runtime_id = u32::try_from(selected.len()).unwrap_or(u32::MAX);
                selected.push(Device { runtime_id, ..device.clone() });
            }
            None => {
                let ids: Vec<String> = all.iter().map(|device| device.driver_id.to_string()).collect();
                remarks.push(format!("{VARIABLE} names {word:?}, which no device has: there are {}", ids.join(", ")));
                // The run time takes nothing after what it does not know.
                break;
            }
        }
    }
    selected
}
