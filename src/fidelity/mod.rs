//! The model beside published measurements: tables of cases, programs that do the same work, and the report.
//!
//! `docs/fidelity.md` is this report over `benches/fidelity/cases.csv`.

mod cases;
mod markdown;
mod measure;
mod report;
mod statistics;
mod traces;

pub use cases::{Case, CasesError, LeftOut, Level, Metric, Role, Table, Unit};
pub use markdown::render;
pub use measure::{Recorded, model, runs};
pub use report::{Group, KernelOrder, Missing, Report, Row, SpeedUp, UsedMachine};
pub use statistics::{kendall_tau, quantile};
pub use traces::{Run, TraceFailure, Traces};
