//! What the toolkit's profilers leave: files of columns whose names, numbers and order differ between versions.

mod error;
mod folder;
mod metrics;
mod outcome;
mod summary;
mod table;

pub use error::ProfilerError;
pub use folder::{PrivateFolder, newest};
pub use metrics::{BasicInfo, Clock, CoreCounters, CorePipes, CoreUnit, PipeBusy};
pub use outcome::{KernelLaunch, OpProfile, SUCCESS_LINE, is_kernel};
pub use summary::{KernelTime, SummaryRow, by_kernel, read_summary};
pub use table::{Table, Unit};
