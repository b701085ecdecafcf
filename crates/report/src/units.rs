//! How numbers are written: microseconds, factors, shares and bytes, each with its unit.

use aicore::{Limiter, PathPart};
use events::PathReport;

/// Contributors to the critical path shown, and the share below which none is.
const PATH_STEPS: usize = 8;
const PATH_SHARE: f64 = 0.01;

/// `1234.5 us`, with three significant digits below a hundred.
pub(crate) fn microseconds(value: f64) -> String {
    format!("{} us", number(value))
}

/// A number with about four significant digits, never in exponent form.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let magnitude = value.abs();
    if magnitude >= 1000.0 {
        format!("{value:.0}")
    } else if magnitude >= 100.0 {
        format!("{value:.1}")
    } else if magnitude >= 10.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

/// `5.31x`.
pub(crate) fn factor(value: f64) -> String {
    if value.is_finite() { format!("{value:.2}x") } else { "-".to_owned() }
}

/// How much of the latency the bound explains, in percent: 100 is at the bound. `None` where there is no latency.
pub(crate) fn percent_of_bound(time_us: f64, bound_us: f64) -> Option<f64> {
    (time_us > 0.0 && bound_us >= 0.0 && time_us.is_finite() && bound_us.is_finite())
        .then(|| (100.0 * bound_us / time_us).min(100.0))
}

/// `93 %`.
pub(crate) fn percent(value: f64) -> String {
    format!("{value:.0} %")
}

/// `1.50 MiB`.
pub(crate) fn bytes(value: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if value < 1024 {
        return format!("{value} B");
    }
    let mut scaled = value as f64 / 1024.0;
    let mut unit = 0;
    while scaled >= 1024.0 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{scaled:.2} {}", UNITS[unit])
}

/// `1 m 32 s`, `12.3 s`, `45 ms`.
pub(crate) fn seconds(value: f64) -> String {
    if value >= 60.0 {
        format!("{} m {:02} s", (value / 60.0) as u64, (value % 60.0) as u64)
    } else if value >= 1.0 {
        format!("{value:.1} s")
    } else {
        format!("{:.0} ms", value * 1e3)
    }
}

/// What a launch is limited by, in words.
pub fn limiter(limiter: Limiter) -> &'static str {
    match limiter {
        Limiter::Mte2 => "MTE2 (reads from global memory)",
        Limiter::Mte3 => "MTE3 (writes to global memory)",
        Limiter::Memory => "memory bandwidth",
        Limiter::Vector => "vector unit",
        Limiter::Cube => "cube unit",
        Limiter::Mte1 => "MTE1 (L1 to L0)",
        Limiter::Fixpipe => "fixpipe (L0C to global memory)",
        Limiter::Scalar => "scalar unit",
        Limiter::Launch => "launch overhead",
        Limiter::Latency => "latency and waits",
    }
}

/// `1 evaluation`, `2 evaluations`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// `file:line` as far as it is known.
pub(crate) fn place(file: &str, line: u32) -> String {
    match (file.is_empty(), line) {
        (true, _) => String::new(),
        (false, 0) => file.to_owned(),
        (false, line) => format!("{file}:{line}"),
    }
}

/// What a contributor to the critical path is, in words.
pub(crate) fn path_words(step: &PathReport) -> String {
    let aspect = |what: &str| format!("{}, {what}", step.opcode);
    match step.part {
        PathPart::Instruction | PathPart::Bytes | PathPart::Register => step.opcode.clone(),
        PathPart::StartUp => aspect("start-up"),
        PathPart::Spacing => aspect("behind the copy before"),
        PathPart::Rows => aspect("rows and bank conflicts"),
        PathPart::SharedMemory => aspect("memory busy with other copies"),
        PathPart::Tail => aspect("tail"),
        PathPart::Issue if step.opcode.is_empty() => "issue".to_owned(),
        PathPart::Issue => format!("issue of {}", step.opcode),
        PathPart::Scalar => "scalar work".to_owned(),
        PathPart::Flag => "flag".to_owned(),
        PathPart::Barrier => "barrier".to_owned(),
        PathPart::BarrierAll => "barrier of all pipes".to_owned(),
        PathPart::Cores => "signal between cores".to_owned(),
        PathPart::Start => "start of a block".to_owned(),
        PathPart::Unfollowed => "not followed".to_owned(),
    }
}

/// Those contributors to a critical path that are worth a line, of contributors with the largest first.
pub(crate) fn path_shown(steps: &[PathReport]) -> &[PathReport] {
    let worth = steps.iter().take(PATH_STEPS).take_while(|step| step.share >= PATH_SHARE).count();
    &steps[..worth]
}
