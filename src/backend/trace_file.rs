//! A trace that stays in its file while it is judged: traces can be larger than memory.

use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::aicore::TraceSource;

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
}

impl TraceSource for TraceFile {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
        self.file.file().read_exact_at(into, offset)
    }
}
