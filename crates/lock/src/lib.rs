//! `ascend.lock`: what was chosen, for which sources, and how fast it was.
//!
//! Readers come first: a version of the tool reads every format up to its own [`LOCK_VERSION`] and refuses newer
//! ones by name. Output is a pure function of the content: sorted, integers only, no time, host or absolute path, so
//! that two runs with the same seed give the same bytes. To change the format, teach the reader first, raise the
//! version in a later release.

mod compare;
mod content;
mod drift;
mod error;
mod format;
mod store;

#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;

pub use compare::{CaseComparison, MeasuredCase, compare};
pub use content::manifest_digest;
pub use drift::{Current, Drift, FileChange, drift, source_digests};
pub use error::LockError;
pub use format::{
    Accepted, LOCK_FILE, LOCK_VERSION, Lock, LockedCase, LockedDeparture, LockedDevice, LockedFinding,
    LockedGeneralisation, LockedMachine, LockedMeasurement, LockedMotif, Picoseconds, schema,
};
pub use store::{Written, read, write};
