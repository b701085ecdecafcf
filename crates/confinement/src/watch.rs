//! Processes that a program starts, watched from outside: limits of the system count for each of them alone.

use std::fs::read_to_string;

/// What the descendants of a process may have together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Process whose children are counted.
    pub process: u32,
    /// Bytes of memory of their own, all together.
    pub memory_bytes: u64,
    /// How many there may be.
    pub processes: usize,
}

/// What was found to be too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooMuch {
    /// Memory.
    Memory,
    /// Processes.
    Processes,
}

impl Watch {
    /// Looks once. Who ends while being looked at has nothing.
    pub fn look(&self) -> Option<TooMuch> {
        let mut found = vec![self.process];
        let (mut at, mut bytes) = (0, 0);
        while let Some(&process) = found.get(at) {
            found.extend(children(process));
            bytes += memory_bytes(process);
            at += 1;
            if found.len() > self.processes {
                return Some(TooMuch::Processes);
            }
        }
        (bytes > self.memory_bytes).then_some(TooMuch::Memory)
    }
}

fn children(process: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let of_thread = |thread: std::fs::DirEntry| read_to_string(thread.path().join("children")).unwrap_or_default();
    threads
        .map(of_thread)
        .flat_map(|text| text.split(' ').filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// Memory that a process shares with nobody's files.
fn memory_bytes(process: u32) -> u64 {
    let status = read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_children_of_children_count() {
        let mut child = std::process::Command::new("sh").args(["-c", "sh -c 'sleep 5; true' & wait"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(300));
        let watch = Watch { process: child.id(), memory_bytes: 1 << 40, processes: 2 };
        let (few, enough) = (watch.look(), Watch { processes: 8, ..watch }.look());
        let little = Watch { processes: 8, memory_bytes: 1, ..watch }.look();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((few, enough, little), (Some(TooMuch::Processes), None, Some(TooMuch::Memory)));
    }
}
