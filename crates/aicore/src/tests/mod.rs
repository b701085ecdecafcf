//! Tables of small programs and what the model must say of them.

mod critical;
mod decoding;
mod hazards;
mod ladder;
mod mix;
mod orders;
mod programs;
mod sample;
mod scalar;
mod shortcuts;
mod sources;
mod verdicts;
mod warmth;

use super::testing::TraceBuilder;
use super::{LaunchReport, Machine, Options, analyse};

fn report(trace: &TraceBuilder) -> LaunchReport {
    report_with(trace, &Options::default())
}

fn report_with(trace: &TraceBuilder, options: &Options) -> LaunchReport {
    let machine = Machine::named("ascend910b1").unwrap();
    let mut reports = analyse(&trace.build(), &machine, options).unwrap();
    assert_eq!(reports.len(), 1);
    reports.remove(0)
}
