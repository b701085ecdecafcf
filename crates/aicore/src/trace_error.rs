//! What can be wrong with a trace.

/// Why a trace could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// Not a trace, or of another version.
    #[error(
        "not an instruction trace of version 02 (it starts with {found:?}); was it written by another version of the simulator?"
    )]
    Magic {
        /// First bytes.
        found: Vec<u8>,
    },
    /// The file ends inside something.
    #[error(
        "trace ends inside {what} at byte {offset}: {needed} bytes needed, {left} left; the simulated program was killed while writing"
    )]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Offset in the file, or in the core's stream for records.
        offset: usize,
        /// Bytes needed.
        needed: usize,
        /// Bytes there.
        left: usize,
    },
    /// The file can no longer be read.
    #[error("trace cannot be read at byte {offset}, where {needed} bytes are wanted: {message}")]
    Unreadable {
        /// Offset in the file.
        offset: usize,
        /// Bytes wanted.
        needed: usize,
        /// What the system says.
        message: String,
    },
    /// A field has a value that it cannot have.
    #[error("trace has {what} {value} at byte {offset} of {place}, allowed is {allowed}; the file is damaged")]
    Value {
        /// Field.
        what: &'static str,
        /// Its value.
        value: u64,
        /// What would be right.
        allowed: String,
        /// File or core stream.
        place: String,
        /// Offset in it.
        offset: usize,
    },
    /// A text chunk is not text.
    #[error("{what} chunk at byte {offset} is not UTF-8; the file is damaged")]
    Text {
        /// Which chunk.
        what: &'static str,
        /// Offset of its payload.
        offset: usize,
    },
}
