//! Whether motifs are sound, found out by running them: generated kernels before and after every motif, and kernels that each
//! violate one precondition.
//!
//! * [`generator`]: kernels, by seed; [`launch`]: the data and tiling they are launched with.
//! * [`pair`]: what each motif makes of a kernel, with the coverage that its cases give.
//! * [`mod@bench`]: compiles many kernels into one program and runs many launches in one process.
//! * [`judge`], [`campaign`], [`tally`], [`report`]: comparison, the loop, the figures.

pub mod bench;
pub mod campaign;
mod draw;
mod error;
pub mod generator;
pub mod judge;
pub mod launch;
pub mod pair;
pub mod refusals;
pub mod report;
pub mod tally;

pub use bench::Bench;
pub use campaign::{Plan, run};
pub use error::SoundnessError;
pub use tally::Tally;
