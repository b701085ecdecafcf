//! The model beside published measurements: tables of cases, programs that do the same work, and the report.
//!
//! `docs/fidelity.md` is this report over `benches/fidelity/cases.csv`. [`calibrate`] fits constants to such a table.

mod calibrate;
mod cases;
mod description;
mod limits;
mod markdown;
mod measure;
mod micro;
mod report;
mod statistics;
mod traces;

pub use calibrate::{CalibrateError, Task, calibrate};
pub use cases::{Case, CasesError, LeftOut, Table, Unit};
pub use description::{Measured, description};
pub use markdown::render;
pub use measure::{Recorded, Recordings, model, runs};
pub use micro::{
    MicroRow, MicroTime, micro_cases, micro_constants, micro_programs, micro_rows, micro_table, write_micro_project,
    write_micro_sources,
};
pub use report::report;
pub use statistics::{kendall_tau, quantile};
pub use traces::{Run, TraceFailure, Traces};
