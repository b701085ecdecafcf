//! Processor time: what work takes, however busy the machine is that does it.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Ticks a second of the times in `/proc`: the same on every Linux.
const TICKS_PER_SECOND: u64 = 100;
/// Places, from the state on, of the processor times of a process and of its children that it has waited for.
const TIMES: std::ops::Range<usize> = 11..15;

/// Adds up the processor time of this process and of those that it starts, as long as it measures.
#[derive(Debug, Default)]
pub struct Meter {
    spent_ms: AtomicU64,
}

impl Meter {
    /// What was spent while it measured.
    pub fn spent(&self) -> Duration {
        Duration::from_millis(self.spent_ms.load(Ordering::Relaxed))
    }

    /// Does some work, and counts what it takes. Work that is done beside it counts as well.
    pub async fn measure<T>(&self, work: impl Future<Output = T>) -> T {
        let before = processor_time();
        let result = work.await;
        let taken = processor_time().saturating_sub(before);
        self.spent_ms.fetch_add(u64::try_from(taken.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
        result
    }
}

/// Processor time of this process, and of its children that have ended; nothing where the system does not tell.
fn processor_time() -> Duration {
    fs_err::read_to_string("/proc/self/stat").ok().and_then(|line| times_of(&line)).unwrap_or_default()
}

fn times_of(line: &str) -> Option<Duration> {
    // The name in brackets may have blanks and brackets of its own.
    let (_, after) = line.rsplit_once(')')?;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let ticks = fields.get(TIMES)?.iter().map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_times_count() {
        let line = "77 (a (strange) name) S 1 77 77 0 -1 4194560 9 9 0 0 100 20 300 4 20 0 1 0 55 0 0\n";
        assert_eq!(times_of(line), Some(Duration::from_millis(4240)));
        assert_eq!(times_of("77 (short) S 1"), None);
    }

    #[tokio::test]
    async fn waiting_costs_nothing_and_a_child_that_works_does() {
        let shell = |script: &str| {
            let mut command = tokio::process::Command::new("sh");
            command.args(["-c", script]);
            async move { command.status().await.unwrap() }
        };
        let (waited, worked) = (Meter::default(), Meter::default());
        waited.measure(shell("sleep 0.3")).await;
        worked.measure(shell("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")).await;
        assert!(worked.spent() >= Duration::from_millis(50), "{worked:?}");
        assert!(waited.spent() < worked.spent(), "{waited:?} {worked:?}");
    }
}
