//! How numbers are written: microseconds, factors, shares and bytes, each with its unit.

use crate::aicore::Limiter;

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

/// The limiter in words.
pub(crate) fn limiter(limiter: Limiter) -> &'static str {
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
