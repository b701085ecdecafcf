//! Strategies on recorded tuning spaces: whole runs in milliseconds, with the budget accounting of a real run.
//!
//! A recording gives every configuration of a space with its time, or the reason why it has none. A strategy learns a row
//! only by spending an evaluation on it: an infeasible row costs one as well, and nothing is asked twice.

mod export;
mod formats;
mod markdown;
mod peers;
mod plot;
mod python;
mod recorded;
mod report;
mod settings;
mod simulation;
mod statistics;

pub use export::export;
pub use formats::{LoadError, load};
pub use markdown::render;
pub use peers::{read_peers, write_rows};
pub use plot::convergence;
pub use recorded::{Recorded, RecordedSpace, RecordedTable, RecordedTunable};
pub use report::replay;
pub use settings::search_settings;
pub use simulation::{Bench, Noise, SimulationError, Trace, simulate};
pub use statistics::{expected_best_of_random, summarise};
