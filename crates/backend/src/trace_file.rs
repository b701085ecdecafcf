//! A trace that stays in its file while it is judged: traces can be larger than memory.

use std::os::unix::fs::FileExt;
use std::path::Path;

use aicore::TraceSource;

/// Traces up to this size are read at once: what is alike, how long it takes and what races are three passes over the same bytes, and
/// where cores wait for each other the recorder writes a chunk for every few records, so that a call to the system for each takes longer
/// than playing it. Every launch that is judged at the same time may hold as much.
const SMALL_BYTES: u64 = 128 << 20;

/// An open trace file. Nobody writes to it any more.
pub(super) struct TraceFile {
    file: fs_err::File,
    size_bytes: u64,
}

impl TraceFile {
    pub(super) fn open(path: &Path) -> std::io::Result<Self> {
        let file = fs_err::File::open(path)?;
        let size_bytes = file.metadata()?.len();
        Ok(Self { file, size_bytes })
    }

    /// All of a small trace.
    pub(super) fn small(&self) -> std::io::Result<Option<Vec<u8>>> {
        if self.size_bytes > SMALL_BYTES {
            return Ok(None);
        }
        let mut bytes = vec![0; self.size_bytes as usize];
        self.read(0, &mut bytes)?;
        Ok(Some(bytes))
    }
}

impl TraceSource for TraceFile {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
        self.file.file().read_exact_at(into, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_files_are_read_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace");
        fs_err::write(&path, b"0123456789").unwrap();
        let file = TraceFile::open(&path).unwrap();
        assert_eq!(file.small().unwrap().as_deref(), Some(b"0123456789".as_slice()));
        let mut part = [0; 3];
        file.read(4, &mut part).unwrap();
        assert_eq!((part, file.size_bytes()), (*b"456", 10));
        assert!(file.read(8, &mut part).is_err(), "nothing lies behind the end");
        fs_err::OpenOptions::new().write(true).open(&path).unwrap().file().set_len(SMALL_BYTES + 1).unwrap();
        assert_eq!(TraceFile::open(&path).unwrap().small().unwrap(), None);
    }
}
