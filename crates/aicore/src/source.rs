//! Where the bytes of a trace come from: all of them in memory, or piece by piece from somewhere larger.

use std::borrow::Cow;
use std::io;
use std::sync::{Mutex, PoisonError};

use super::trace_error::TraceError;

/// Bytes read at a time for one core unless a source says otherwise: some hundred records, and for all cores together a few
/// megabytes.
const WINDOW_BYTES: usize = 1 << 16;

/// A trace that is read piece by piece.
pub trait TraceSource: Sync {
    /// Its size in bytes.
    fn size_bytes(&self) -> u64;

    /// Fills `into` with what lies from byte `offset` on.
    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// How many bytes of a core's records are held at a time.
    fn window_bytes(&self) -> usize {
        WINDOW_BYTES
    }
}

/// A source and what went wrong with it. Decoding of checked records cannot fail, so that it only notes when they can no
/// longer be read, and ends.
pub(crate) struct Source<'a> {
    kind: Kind<'a>,
    failure: Mutex<Option<TraceError>>,
}

enum Kind<'a> {
    Memory(&'a [u8]),
    Elsewhere(&'a dyn TraceSource),
}

impl<'a> From<&'a [u8]> for Source<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self { kind: Kind::Memory(bytes), failure: Mutex::default() }
    }
}

impl<'a> From<&'a dyn TraceSource> for Source<'a> {
    fn from(source: &'a dyn TraceSource) -> Self {
        Self { kind: Kind::Elsewhere(source), failure: Mutex::default() }
    }
}

impl<'a> Source<'a> {
    pub(crate) fn size_bytes(&self) -> usize {
        match self.kind {
            Kind::Memory(bytes) => bytes.len(),
            Kind::Elsewhere(source) => usize::try_from(source.size_bytes()).unwrap_or(usize::MAX),
        }
    }

    /// What lies there, without a copy if it is in memory. Nothing may lie behind the end.
    pub(crate) fn bytes(&self, offset: usize, len: usize) -> Result<Cow<'a, [u8]>, TraceError> {
        match self.kind {
            Kind::Memory(bytes) => Ok(Cow::Borrowed(bytes.get(offset..offset + len).unwrap_or_default())),
            Kind::Elsewhere(_) => {
                let mut bytes = Vec::new();
                self.read(offset, len, &mut bytes)?;
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// The bytes themselves if they are in memory.
    pub(crate) fn in_memory(&self) -> Option<&'a [u8]> {
        match self.kind {
            Kind::Memory(bytes) => Some(bytes),
            Kind::Elsewhere(_) => None,
        }
    }

    pub(crate) fn read(&self, offset: usize, len: usize, into: &mut Vec<u8>) -> Result<(), TraceError> {
        into.resize(len, 0);
        let read = match self.kind {
            Kind::Memory(bytes) => {
                into.copy_from_slice(bytes.get(offset..offset + len).unwrap_or_default());
                Ok(())
            }
            Kind::Elsewhere(source) => source.read(offset as u64, into),
        };
        read.map_err(|error| TraceError::Unreadable { offset, needed: len, message: error.to_string() })
    }

    pub(crate) fn window_bytes(&self) -> usize {
        match self.kind {
            Kind::Memory(_) => WINDOW_BYTES,
            Kind::Elsewhere(source) => source.window_bytes().max(1),
        }
    }

    pub(crate) fn fail(&self, error: TraceError) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Whether everything that was wanted could be read.
    pub(crate) fn check(&self) -> Result<(), TraceError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
    }
}
