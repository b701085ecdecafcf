//! A program that may not take longer than it may.

use std::process::{Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

/// Runs a command to its end, with nothing to read; `None` where its time is up. Nothing that it started is left then: a profiler's child
/// on a kernel without end would go on for ever.
pub(super) async fn ended_within(command: &mut Command, wall_s: f64) -> std::io::Result<Option<Output>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).kill_on_drop(true);
    let child = command.spawn()?;
    let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    match tokio::time::timeout(Duration::from_secs_f64(wall_s), child.wait_with_output()).await {
        Ok(ended) => ended.map(Some),
        Err(_) => {
            if let Some(group) = group {
                let _ = kill_process_group(group, Signal::KILL);
            }
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_program_started_goes_with_it() {
        let directory = tempfile::tempdir().unwrap();
        let mark = directory.path().join("mark");
        let mut command = Command::new("sh");
        command.args(["-c", "(sleep 1; touch \"$0\") & wait"]).arg(&mark);
        assert!(ended_within(&mut command, 0.2).await.unwrap().is_none());
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert!(!mark.exists(), "its child went on");
        let mut command = Command::new("sh");
        command.args(["-c", "echo done"]);
        assert_eq!(ended_within(&mut command, 10.0).await.unwrap().unwrap().stdout, b"done\n");
    }
}
