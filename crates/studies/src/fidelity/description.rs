//! A calibration as a machine description.

use std::fmt::Write;

use events::fidelity::Calibration;

/// How the rows were measured that a description is fitted to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// What was measured, how, and on what, in words.
    pub on: String,
    /// When, in UTC.
    pub date: Option<String>,
    /// Median over the rows of the standard deviation of one measurement, as a share of it.
    pub spread: Option<f64>,
}

impl Measured {
    fn line(&self) -> String {
        let date = self.date.as_ref().map_or_else(String::new, |date| format!(", {date}"));
        let spread = self.spread.map_or_else(String::new, |spread| format!(", spread {:.1} %", 100.0 * spread));
        format!("# {}{date}{spread}.\n", self.on)
    }
}

/// The description: it extends `base`, an embedded one, and states the constants that moved with where they come from.
pub fn description(calibration: &Calibration, base: &str, measured: Option<&Measured>) -> String {
    let kernels: std::collections::BTreeSet<&str> =
        calibration.residuals.iter().map(|row| row.kernel.as_str()).collect();
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "# {} with constants fitted by `cargo ascend-tune calibrate` to {} rows of {} kernels.\n\
         # Error of these rows, median and 90th percentile: {:.1} % and {:.1} %; of kernels left out: {:.1} % and {:.1} %.\n{}\
         name = \"{}\"\nversion = \"{}+{}\"\nextends = \"{base}\"\n\n[constants]",
        calibration.machine,
        calibration.residuals.len(),
        kernels.len(),
        100.0 * calibration.median[1],
        100.0 * calibration.p90[1],
        100.0 * calibration.median[2],
        100.0 * calibration.p90[2],
        measured.map_or_else(String::new, Measured::line),
        calibration.machine,
        calibration.machine_version,
        &calibration.table[..calibration.table.len().min(8)],
    );
    for constant in &calibration.constants {
        let _ = writeln!(
            text,
            "{} = {{ value = {:.6}, unit = \"{}\", source = \"fitted to table {}: {} rows of {} kernels; {} before\", confidence = \"fitted\" }}",
            constant.name,
            constant.after,
            constant.unit,
            calibration.table,
            constant.rows,
            constant.kernels,
            constant.before
        );
    }
    text
}
