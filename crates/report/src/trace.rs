//! A timeline as Chrome trace JSON, which Perfetto and `chrome://tracing` open.

use std::collections::BTreeMap;

use aicore::{Origin, Profile};
use serde_json::{Value, json};

/// Lanes in the order in which a reader follows the data: in, compute, out, control.
pub(crate) const PIPES: [(&str, &str); 7] = [
    ("mte2", "MTE2 (global memory in)"),
    ("mte1", "MTE1 (L1 to L0)"),
    ("m", "Cube"),
    ("v", "Vector"),
    ("fix", "FixPipe"),
    ("mte3", "MTE3 (global memory out)"),
    ("s", "Scalar"),
];

/// The timelines as one trace, a process for each `(title, profile)` and a thread for each pipe. `sites` names source
/// lines by instruction site.
pub fn chrome_trace(profiles: &[(&str, &Profile)], origin: Origin, sites: &BTreeMap<u64, String>) -> String {
    let mut events: Vec<Value> = Vec::new();
    for (process, (title, profile)) in profiles.iter().enumerate() {
        let name = format!("{title}: {} ({})", profile.kernel, origin.word());
        events.push(json!({"ph": "M", "pid": process, "name": "process_name", "args": {"name": name}}));
        for (thread, (_, label)) in used_pipes(profile) {
            events.push(
                json!({"ph": "M", "pid": process, "tid": thread, "name": "thread_name", "args": {"name": label}}),
            );
            events.push(
                json!({"ph": "M", "pid": process, "tid": thread, "name": "thread_sort_index", "args": {"sort_index": thread}}),
            );
        }
        for interval in &profile.timeline {
            let thread = PIPES.iter().position(|(pipe, _)| *pipe == interval.pipe).unwrap_or(PIPES.len());
            let mut event = json!({
                "ph": "X", "pid": process, "tid": thread, "cat": interval.pipe, "name": interval.opcode,
                "ts": interval.start_us, "dur": (interval.end_us - interval.start_us).max(0.0),
            });
            if let Some(site) = sites.get(&interval.site) {
                event["args"] = json!({"site": site});
            }
            events.push(event);
        }
    }
    json!({"displayTimeUnit": "ns", "otherData": {"origin": origin.word()}, "traceEvents": events}).to_string()
}

/// The known pipes that appear in a timeline, with their place in the fixed order.
pub(crate) fn used_pipes(profile: &Profile) -> impl Iterator<Item = (usize, (&'static str, &'static str))> + '_ {
    PIPES.into_iter().enumerate().filter(|(_, (pipe, _))| profile.timeline.iter().any(|one| one.pipe == *pipe))
}
