//! `ascend.lock`: what was chosen, for which sources, and how fast it was.
//!
//! Readers come first: a version of the tool reads every format up to its own [`LOCK_VERSION`] and refuses newer
//! ones by name. Output is a pure function of the content: sorted, integers only, no time, host or absolute path, so
//! that two runs with the same seed give the same bytes. To change the format, teach the reader first, raise the
//! version in a later release.
//!
//! Version 2 has what version 1 has, and more: what the tunables were before, the CMake entries that some of them are, digests of bytes
//! for readers that know no other (CMake), the gain of each motif. Version 3 has entries of other chips beside the one whose values the
//! sources hold, weights of cases, and what would be best for a case alone; a lock without these is still written as version 2.

mod compare;
mod conflict;
mod difference;
mod drift;
mod entry;
mod error;
mod export;
mod format;
mod store;

#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;

pub use ascend_build::digest::manifest_digest;
pub use compare::{CaseComparison, MeasuredCase, compare};
pub use difference::differences;
pub use drift::{Current, Drift, FileChange, Renewed, drift, locked_sources, renewed_digests, source_digests};
pub use entry::{EntryKey, EntryName, applied};
pub use error::LockError;
pub use export::{ExportError, cmake, header, identifier};
pub use format::{
    Accepted, LOCK_FILE, LOCK_VERSION, Lock, LockedAlone, LockedCase, LockedDeparture, LockedDevice, LockedFinding,
    LockedGeneralisation, LockedMachine, LockedMeasurement, LockedMotif, Picoseconds, schema,
};
pub use store::{Written, bytes_digest, file_digests, read, read_for_ours, write};
