//! The trace: what the instruction floor recorded, grouped by launch and core.
//!
//! Reading is two-staged. [`Trace::parse`] walks the whole trace once, checks every length and enumeration, and keeps
//! where each core's records lie; after that [`CoreStream::cursor`] decodes on the fly and cannot fail. A core's stream is never
//! held decoded, and of a trace that is not in memory no more than a window of each core that runs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::operand::{OPERAND_BYTES, Space};
use super::record::{HEAD_BYTES, NO_PIPE, PIPE_COUNT, VALUES_AT, decode_head};
use super::region::{DataRegion, Region, Role};
use super::source::Source;
use super::stream::{CoreStream, Piece};
use super::trace_error::TraceError;
use super::words::{u32_at, u64_at};

const MAGIC: &[u8; 8] = b"ASCTRC02";
const CHUNK_HEAD_BYTES: usize = 16;

/// What an instruction is to the model, decided by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpKind {
    Scalar,
    SetFlag,
    WaitFlag,
    Barrier,
    Register,
    SyncAll,
    SetCross,
    WaitCross,
    Fault,
    Note,
    Buffer,
    EndOfBlock,
    Copy,
    Compute,
    /// A line of the data cache, or all of them, is written back and forgotten.
    CleanCache,
}

impl OpKind {
    fn of(name: &str) -> Self {
        match name {
            "scalar" => Self::Scalar,
            "set_flag" | "hset_flag" => Self::SetFlag,
            "wait_flag" | "hwait_flag" => Self::WaitFlag,
            "pipe_barrier" => Self::Barrier,
            "sync_all" => Self::SyncAll,
            "set_cross_flag" => Self::SetCross,
            "wait_cross_flag" => Self::WaitCross,
            "fault" => Self::Fault,
            "note" => Self::Note,
            "buffer" => Self::Buffer,
            "end_of_block" => Self::EndOfBlock,
            "dcci" => Self::CleanCache,
            _ if name.starts_with("copy_") => Self::Copy,
            _ if name.starts_with("set_") => Self::Register,
            _ => Self::Compute,
        }
    }
}

/// An instruction name with what the model makes of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Opcode {
    pub(crate) name: String,
    pub(crate) kind: OpKind,
}

/// How a launch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchStatus {
    /// All blocks ran to their end.
    Ok,
    /// The simulator gave up, with its reason.
    Aborted(String),
    /// The trace has no end for this launch: the program died.
    Unfinished,
}

/// One launch as recorded.
pub(crate) struct Launch<'a> {
    pub(crate) info: BTreeMap<String, String>,
    pub(crate) modules: String,
    pub(crate) regions: Vec<Region>,
    pub(crate) cores: BTreeMap<u32, CoreStream<'a>>,
    pub(crate) data: Vec<DataRegion>,
    pub(crate) status: LaunchStatus,
    pub(crate) opcodes: Vec<Opcode>,
    pub(crate) message_opcodes: Vec<bool>,
}

/// A whole trace.
pub(crate) struct Trace<'a> {
    pub(crate) launches: Vec<Launch<'a>>,
}

impl<'a> Trace<'a> {
    /// Read and check a trace.
    pub(crate) fn parse(source: &Arc<Source<'a>>) -> Result<Self, TraceError> {
        let size_bytes = source.size_bytes();
        let magic = source.bytes(0, size_bytes.min(8))?;
        if magic.as_ref() != MAGIC.as_slice() {
            return Err(TraceError::Magic { found: magic.into_owned() });
        }
        let mut reader = Reader::new(source);
        let mut offset = 8;
        while offset < size_bytes {
            let left = size_bytes - offset;
            if left < CHUNK_HEAD_BYTES {
                let needed = CHUNK_HEAD_BYTES;
                return Err(TraceError::Truncated { what: "a chunk head", offset, needed, left });
            }
            let head = source.bytes(offset, CHUNK_HEAD_BYTES)?;
            let (kind, core, size) = (u32_at(&head, 0), u32_at(&head, 4), u64_at(&head, 8));
            let start = offset + CHUNK_HEAD_BYTES;
            let needed = usize::try_from(size).unwrap_or(usize::MAX);
            if needed > size_bytes - start {
                return Err(TraceError::Truncated { what: "a chunk", offset, needed, left: size_bytes - start });
            }
            reader.chunk(kind, core, start, needed)?;
            offset = start + needed;
        }
        reader.finish()
    }
}

struct Reader<'a> {
    source: Arc<Source<'a>>,
    opcodes: Vec<Opcode>,
    current: Option<Launch<'a>>,
    launches: Vec<Launch<'a>>,
}

impl<'a> Reader<'a> {
    fn new(source: &Arc<Source<'a>>) -> Self {
        Self { source: Arc::clone(source), opcodes: Vec::new(), current: None, launches: Vec::new() }
    }

    fn current(&mut self) -> &mut Launch<'a> {
        self.current.get_or_insert_with(|| Launch {
            info: BTreeMap::new(),
            modules: String::new(),
            regions: Vec::new(),
            cores: BTreeMap::new(),
            data: Vec::new(),
            status: LaunchStatus::Unfinished,
            opcodes: Vec::new(),
            message_opcodes: Vec::new(),
        })
    }

    fn chunk(&mut self, kind: u32, core: u32, offset: usize, size: usize) -> Result<(), TraceError> {
        if kind == 5 {
            let piece = match self.source.in_memory() {
                Some(_) => Piece::Here(self.source.bytes(offset, size)?),
                None => Piece::There { source: Arc::clone(&self.source), offset, len: size },
            };
            self.current().cores.entry(core).or_default().pieces.push(piece);
            return Ok(());
        }
        let payload = self.source.bytes(offset, size)?;
        let payload = payload.as_ref();
        match kind {
            1 => {
                let names = text("OPCODES", payload, offset)?;
                self.opcodes =
                    names.lines().map(|name| Opcode { name: name.to_owned(), kind: OpKind::of(name) }).collect();
            }
            2 => {
                let modules = text("MODULES", payload, offset)?;
                self.current().modules.push_str(modules);
            }
            3 => {
                let lines = text("LAUNCH", payload, offset)?;
                if self.current.as_ref().is_some_and(|launch| !launch.info.is_empty() || !launch.cores.is_empty()) {
                    self.close()?;
                }
                let pairs = lines.lines().filter_map(|line| line.split_once('='));
                let info = pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect();
                self.current().info = info;
            }
            4 => {
                if !payload.len().is_multiple_of(24) {
                    return Err(value("REGIONS size", payload.len() as u64, "a multiple of 24", "the file", offset));
                }
                for (index, entry) in payload.chunks_exact(24).enumerate() {
                    let role = match u32_at(entry, 16) {
                        0 => Role::Input,
                        1 => Role::Output,
                        2 => Role::Workspace,
                        3 => Role::Tiling,
                        4 => Role::Other,
                        5 => Role::Updated,
                        other => {
                            let at = offset + index * 24 + 16;
                            return Err(value("region role", u64::from(other), "0 to 5", "the file", at));
                        }
                    };
                    let region =
                        Region { base: u64_at(entry, 0), size_bytes: u64_at(entry, 8), role, index: u32_at(entry, 20) };
                    self.current().regions.push(region);
                }
            }
            6 => {
                let line = text("END", payload, offset)?;
                let status = if line.contains("status=ok") {
                    LaunchStatus::Ok
                } else {
                    let reason = line.split_once("reason=").map_or(line, |(_, reason)| reason);
                    LaunchStatus::Aborted(reason.trim().to_owned())
                };
                self.current().status = status;
                self.close()?;
            }
            7 => {
                if payload.len() < 16 {
                    let left = payload.len();
                    return Err(TraceError::Truncated { what: "a DATA chunk", offset, needed: 16, left });
                }
                let data = DataRegion { base: u64_at(payload, 0), bytes: payload[16..].to_vec() };
                let target = match (&mut self.current, self.launches.last_mut()) {
                    (None, Some(last)) => last,
                    _ => self.current(),
                };
                target.data.push(data);
            }
            8 => {}
            other => {
                return Err(value("chunk kind", u64::from(other), "1 to 8", "the file", offset - CHUNK_HEAD_BYTES));
            }
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), TraceError> {
        let Some(mut launch) = self.current.take() else { return Ok(()) };
        launch.message_opcodes =
            self.opcodes.iter().map(|opcode| matches!(opcode.kind, OpKind::Fault | OpKind::Note)).collect();
        let talk = |opcode: &Opcode| matches!(opcode.kind, OpKind::SyncAll | OpKind::SetCross | OpKind::WaitCross);
        let talking: Vec<bool> = self.opcodes.iter().map(talk).collect();
        for (core, stream) in &mut launch.cores {
            check_stream(*core, stream, &launch.message_opcodes, &talking)?;
        }
        launch.opcodes.clone_from(&self.opcodes);
        self.launches.push(launch);
        Ok(())
    }

    fn finish(mut self) -> Result<Trace<'a>, TraceError> {
        self.close()?;
        Ok(Trace { launches: self.launches })
    }
}

/// Checks every record of a core, so that decoding later needs no errors. Records that straddle chunks are joined first.
fn check_stream(
    core: u32,
    stream: &mut CoreStream<'_>,
    message_opcodes: &[bool],
    talking: &[bool],
) -> Result<(), TraceError> {
    let walk_all = |pieces: &[Piece<'_>]| {
        let mut seen = Seen::default();
        pieces.iter().try_for_each(|piece| walk_piece(core, piece, message_opcodes, talking, &mut seen))?;
        Ok(seen)
    };
    let seen = match walk_all(&stream.pieces) {
        Err(TraceError::Unreadable { offset, needed, message }) => {
            return Err(TraceError::Unreadable { offset, needed, message });
        }
        Err(_) if stream.pieces.len() > 1 => {
            let mut joined = Vec::new();
            for piece in &stream.pieces {
                joined.extend_from_slice(&piece.whole()?);
            }
            stream.pieces = vec![Piece::Here(Cow::Owned(joined))];
            walk_all(&stream.pieces)
        }
        seen => seen,
    };
    let seen = seen?;
    (stream.records, stream.talks, stream.values) = (seen.records, seen.talks, seen.values);
    stream.written_regions = seen.written_regions;
    Ok(())
}

/// What a walk over a core's records finds out.
#[derive(Default)]
struct Seen {
    records: u64,
    /// One of them is for other cores.
    talks: bool,
    written_regions: Vec<u64>,
    /// Digest in the last of them.
    values: u32,
}

fn walk_piece(
    core: u32,
    piece: &Piece<'_>,
    message_opcodes: &[bool],
    talking: &[bool],
    seen: &mut Seen,
) -> Result<(), TraceError> {
    let (source, offset, len) = match piece {
        Piece::Here(bytes) => return walk(core, (bytes, 0, true), message_opcodes, talking, seen).map(drop),
        Piece::There { source, offset, len } => (source, *offset, *len),
    };
    let (mut at, mut size, mut bytes) = (0, source.window_bytes(), Vec::new());
    while at < len {
        let wanted = size.min(len - at);
        source.read(offset + at, wanted, &mut bytes)?;
        let used = walk(core, (&bytes, at, at + wanted == len), message_opcodes, talking, seen)?;
        at += used;
        // A record may be larger than a window.
        size = if used == 0 { size * 2 } else { source.window_bytes() };
    }
    Ok(())
}

/// Checks the records in some bytes of a piece, which lie at `base` in it and are its last or not; how many bytes these
/// records have. At the end of a piece every record has to be whole.
fn walk(
    core: u32,
    (bytes, base, last): (&[u8], usize, bool),
    message_opcodes: &[bool],
    talking: &[bool],
    seen: &mut Seen,
) -> Result<usize, TraceError> {
    let place = || format!("core {core}");
    let mut at = 0;
    while at < bytes.len() {
        let (rest, offset) = (&bytes[at..], base + at);
        let cut = |what: &'static str, needed: usize| match last {
            true => Err(TraceError::Truncated { what, offset, needed, left: rest.len() }),
            false => Ok(at),
        };
        if rest.len() < HEAD_BYTES {
            return cut("a record head", HEAD_BYTES);
        }
        let (record, size) = decode_head(rest, message_opcodes);
        let opcode = usize::from(record.opcode);
        if opcode >= message_opcodes.len() {
            let allowed = format!("below {}", message_opcodes.len());
            return Err(value("opcode", opcode as u64, &allowed, &place(), offset));
        }
        if usize::from(record.pipe) >= PIPE_COUNT && record.pipe != NO_PIPE {
            return Err(value("pipe", u64::from(record.pipe), "0 to 6 or 255", &place(), offset));
        }
        if rest.len() < size {
            return cut("a record", size);
        }
        if !message_opcodes[opcode] {
            for operand in rest[HEAD_BYTES..size].chunks_exact(OPERAND_BYTES) {
                check_operand(operand, &place, offset, seen)?;
            }
        }
        at += size;
        seen.records += 1;
        seen.talks |= talking[opcode];
        seen.values = u32_at(rest, VALUES_AT);
    }
    Ok(at)
}

#[inline]
fn check_operand(operand: &[u8], place: &dyn Fn() -> String, offset: usize, seen: &mut Seen) -> Result<(), TraceError> {
    if usize::from(operand[36]) >= Space::COUNT {
        return Err(value("operand space", u64::from(operand[36]), "0 to 7", &place(), offset));
    }
    if !matches!(operand[37], 1..=3 | 5..=6 | 8) {
        return Err(value("operand access", u64::from(operand[37]), "1 to 3, 5, 6 or 8", &place(), offset));
    }
    let pieces = u64::from(u32_at(operand, 28)) * u64::from(u32_at(operand, 32));
    if pieces > 1 << 20 {
        return Err(value("operand pieces", pieces, "up to 1048576", &place(), offset));
    }
    let bytes = pieces * u64::from(u32_at(operand, 24));
    if bytes > 1 << 32 {
        return Err(value("operand bytes", bytes, "up to 4294967296", &place(), offset));
    }
    let region = u64_at(operand, 0) >> 40;
    let written = operand[37] & 2 != 0 && Space::of(operand[36]) == Space::Gm;
    if written && !seen.written_regions.contains(&region) {
        seen.written_regions.push(region);
    }
    Ok(())
}

fn value(what: &'static str, value: u64, allowed: &str, place: &str, offset: usize) -> TraceError {
    TraceError::Value { what, value, allowed: allowed.to_owned(), place: place.to_owned(), offset }
}

fn text<'b>(what: &'static str, bytes: &'b [u8], offset: usize) -> Result<&'b str, TraceError> {
    std::str::from_utf8(bytes).map_err(|_| TraceError::Text { what, offset })
}
