//! What a run may keep in memory.

use std::sync::OnceLock;

/// Memory of a machine that does not say how much it has.
const USUAL_BYTES: u64 = 8 << 30;

/// Bytes of outputs that a run keeps at most: a quarter of the machine's memory. As much again is what a definition says of them, and the
/// workers and what is compared need room.
pub(super) fn most_kept_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| total_bytes(&std::fs::read_to_string("/proc/meminfo").unwrap_or_default()) / 4)
}

fn total_bytes(meminfo: &str) -> u64 {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.map_or(USUAL_BYTES, |kib| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_machine_is_read() {
        assert_eq!(total_bytes("MemTotal:       24576000 kB\nMemFree:         1024 kB\n"), 24_576_000 << 10);
        assert_eq!(total_bytes("MemFree: 1024 kB\n"), USUAL_BYTES);
        assert!(most_kept_bytes() > 0);
    }
}
