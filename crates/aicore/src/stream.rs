//! The records of one core, in pieces that are in memory or are read when they are wanted.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use super::operand::{OPERAND_BYTES, Operand};
use super::record::{HEAD_BYTES, Record, StreamPosition, decode_head, record_bytes};
use super::source::Source;
use super::trace_error::TraceError;

/// Contiguous bytes of a core's stream.
#[derive(Clone)]
pub(crate) enum Piece<'a> {
    Here(Cow<'a, [u8]>),
    There { source: Arc<Source<'a>>, offset: usize, len: usize },
}

impl Piece<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Here(bytes) => bytes.len(),
            Self::There { len, .. } => *len,
        }
    }

    /// All of it at once.
    pub(crate) fn whole(&self) -> Result<Cow<'_, [u8]>, TraceError> {
        match self {
            Self::Here(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::There { source, offset, len } => source.bytes(*offset, *len),
        }
    }

    /// The operand that begins at a byte of the piece.
    fn operand(&self, at: usize, window: &mut Window<'_>) -> Option<Operand> {
        let (start, bytes): (usize, &[u8]) = match self {
            Self::Here(bytes) => (0, bytes),
            Self::There { source, offset, len } => {
                if at < window.start || at + OPERAND_BYTES > window.start + window.bytes().len() {
                    let wanted = source.window_bytes().max(OPERAND_BYTES).min(len.checked_sub(at)?);
                    window.fill(source, offset + at, wanted);
                    window.start = at;
                }
                (window.start, window.bytes())
            }
        };
        Some(Operand::decode(bytes.get(at - start..at - start + OPERAND_BYTES)?))
    }
}

/// Records of one core in program order.
#[derive(Clone, Default)]
pub(crate) struct CoreStream<'a> {
    pub(super) pieces: Vec<Piece<'a>>,
    pub(crate) records: u64,
    /// It sets, waits for or meets other cores.
    pub(crate) talks: bool,
    /// Regions of global memory that it writes, by the upper bits of their addresses.
    pub(crate) written_regions: Vec<u64>,
    /// Digest of what it computed with and its records do not say, from the last of them.
    pub(crate) values: u32,
}

impl CoreStream<'_> {
    /// `message_opcodes` says which opcodes carry text instead of operands.
    pub(crate) fn cursor<'s>(&'s self, message_opcodes: &'s [bool]) -> Cursor<'s> {
        Cursor { windows: self.windows(message_opcodes), offset: 0, last: 0 }
    }

    /// Whole records, as many at a time as are in memory together.
    pub(crate) fn windows<'s>(&'s self, message_opcodes: &'s [bool]) -> Windows<'s> {
        let (current, size) = (Window::default(), FIRST_WINDOW_BYTES);
        Windows { pieces: &self.pieces, piece: 0, end: 0, current, size, message_opcodes }
    }

    /// Sizes of its pieces.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().map(Piece::len)
    }
}

/// Looks up operands at places that another, alike stream names, mostly one after the other.
#[derive(Clone)]
pub(crate) struct OperandReader<'a> {
    pieces: &'a [Piece<'a>],
    piece: u32,
    window: Window<'a>,
}

impl<'a> OperandReader<'a> {
    pub(crate) fn new(stream: &'a CoreStream<'a>) -> Self {
        Self { pieces: &stream.pieces, piece: 0, window: Window::default() }
    }

    pub(crate) fn operand(&mut self, place: StreamPosition) -> Option<Operand> {
        if self.piece != place.piece {
            self.piece = place.piece;
            self.window = Window::default();
        }
        self.pieces.get(place.piece as usize)?.operand(place.offset, &mut self.window)
    }
}

/// Part of a piece. Clones of what has been read share its bytes.
#[derive(Clone, Default)]
struct Window<'a> {
    /// Where it begins in its piece.
    start: usize,
    bytes: Bytes<'a>,
}

#[derive(Clone)]
enum Bytes<'a> {
    Here(&'a [u8]),
    Read(Rc<Vec<u8>>),
}

impl Default for Bytes<'_> {
    fn default() -> Self {
        Self::Here(&[])
    }
}

impl Window<'_> {
    #[inline]
    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Here(bytes) => bytes,
            Bytes::Read(bytes) => bytes,
        }
    }

    /// Reads; nothing is there if that fails.
    fn fill(&mut self, source: &Source<'_>, offset: usize, len: usize) {
        // Nobody else's bytes may change: a new buffer unless this one is ours alone.
        let mut own = match std::mem::take(&mut self.bytes) {
            Bytes::Read(shared) => Rc::try_unwrap(shared).unwrap_or_default(),
            Bytes::Here(_) => Vec::new(),
        };
        if let Err(error) = source.read(offset, len, &mut own) {
            source.fail(error);
            own.clear();
        }
        self.bytes = Bytes::Read(Rc::new(own));
    }

    fn keep(&mut self, len: usize) {
        if let Bytes::Read(shared) = &mut self.bytes
            && let Some(own) = Rc::get_mut(shared)
        {
            own.truncate(len);
        }
    }
}

/// A stream of whole records, window by window. Every record has been checked.
#[derive(Clone)]
pub(crate) struct Windows<'a> {
    pieces: &'a [Piece<'a>],
    piece: usize,
    /// Where the current window ends in its piece.
    end: usize,
    current: Window<'a>,
    /// How much is read next.
    size: usize,
    message_opcodes: &'a [bool],
}

/// What is read first: streams that differ mostly do so early.
const FIRST_WINDOW_BYTES: usize = 1 << 11;

impl Windows<'_> {
    /// The next window, if there is one.
    pub(crate) fn next(&mut self) -> Option<&[u8]> {
        self.advance().then(|| self.current.bytes())
    }

    fn advance(&mut self) -> bool {
        loop {
            let Some(piece) = self.pieces.get(self.piece) else {
                // Whoever is through needs no room.
                self.current = Window::default();
                return false;
            };
            if self.end >= piece.len() {
                self.piece += 1;
                self.end = 0;
                continue;
            }
            self.current.start = self.end;
            match piece {
                Piece::Here(bytes) => {
                    self.current.bytes = Bytes::Here(bytes);
                    self.end = bytes.len();
                    return true;
                }
                Piece::There { source, offset, len } => {
                    let mut size = self.size.min(source.window_bytes()).max(HEAD_BYTES);
                    self.size = size * 2;
                    loop {
                        let wanted = size.min(len - self.end);
                        self.current.fill(source, offset + self.end, wanted);
                        let whole = whole_records(self.current.bytes(), self.message_opcodes);
                        if whole > 0 {
                            self.current.keep(whole);
                            self.end += whole;
                            return true;
                        }
                        if wanted < size || self.current.bytes().is_empty() {
                            // Only what can no longer be read ends like this.
                            self.piece = self.pieces.len();
                            break;
                        }
                        size *= 2;
                    }
                }
            }
        }
    }
}

/// Bytes of the records that are there to their end.
fn whole_records(bytes: &[u8], message_opcodes: &[bool]) -> usize {
    let mut at = 0;
    while let Some(head) = bytes.get(at..at + HEAD_BYTES) {
        let end = at + record_bytes(head, message_opcodes);
        if end > bytes.len() {
            break;
        }
        at = end;
    }
    at
}

/// Goes through the records of a stream.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    windows: Windows<'a>,
    /// In the current window.
    offset: usize,
    /// The same for the record taken last.
    last: usize,
}

impl Cursor<'_> {
    // A record is large; whoever wants a few fields of it should not have it written to memory first.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<Record<'_>> {
        if self.windows.current.bytes().len() < self.offset + HEAD_BYTES && !self.go_on() {
            return None;
        }
        let Windows { piece, current, message_opcodes, .. } = &self.windows;
        let rest = &current.bytes()[self.offset..];
        let (record, used) = decode_head(rest, message_opcodes);
        let end = used.min(rest.len());
        let place = StreamPosition { piece: *piece as u32, offset: current.start + self.offset + HEAD_BYTES };
        self.last = self.offset;
        self.offset += end;
        Some(Record { tail: &rest[HEAD_BYTES.min(end)..end], place, ..record })
    }

    /// Comes to the next window that has a record.
    #[cold]
    fn go_on(&mut self) -> bool {
        self.offset = 0;
        while self.windows.advance() {
            if self.windows.current.bytes().len() >= HEAD_BYTES {
                return true;
            }
        }
        false
    }

    /// Takes the last record back, once: the next one is the same.
    pub(crate) fn step_back(&mut self) {
        self.offset = self.last;
    }
}
