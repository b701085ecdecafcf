//! Builds traces by hand, for tests and benchmarks.

use std::collections::BTreeMap;

use super::record::{HEAD_BYTES, NO_PIPE, VALUES_AT};

/// Pipe numbers as recorded.
pub mod pipe {
    /// Scalar unit.
    pub const S: u8 = 0;
    /// Vector unit.
    pub const V: u8 = 1;
    /// Into the unified buffer.
    pub const MTE2: u8 = 2;
    /// Out of the unified buffer.
    pub const MTE3: u8 = 3;
    /// From L1 into L0.
    pub const MTE1: u8 = 4;
    /// Cube unit.
    pub const M: u8 = 5;
    /// Out of L0C.
    pub const FIX: u8 = 6;
}

/// Memory numbers as recorded.
pub mod space {
    /// L1.
    pub const L1: u8 = 2;
    /// Left matrix.
    pub const L0A: u8 = 3;
    /// Right matrix.
    pub const L0B: u8 = 4;
    /// Accumulators.
    pub const L0C: u8 = 5;
}

/// Base address of region `index`.
pub const fn region(index: u64) -> u64 {
    (index + 1) << 40
}

/// An operand in the making.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    addr: u64,
    stride0: i64,
    stride1: i64,
    len: u32,
    count0: u32,
    count1: u32,
    space: u8,
    access: u8,
}

impl Part {
    const fn new(addr: u64, len: u32, space: u8, access: u8) -> Self {
        Self { addr, stride0: 0, stride1: 0, len, count0: 1, count1: 1, space, access }
    }

    /// Bytes of the unified buffer read.
    pub const fn ub_read(addr: u64, len: u32) -> Self {
        Self::new(addr, len, 0, 1)
    }

    /// Bytes of the unified buffer written.
    pub const fn ub_write(addr: u64, len: u32) -> Self {
        Self::new(addr, len, 0, 2)
    }

    /// Bytes of global memory read.
    pub const fn gm_read(addr: u64, len: u32) -> Self {
        Self::new(addr, len, 1, 1)
    }

    /// Bytes of global memory written.
    pub const fn gm_write(addr: u64, len: u32) -> Self {
        Self::new(addr, len, 1, 2)
    }

    /// The same past the data cache.
    #[must_use]
    pub const fn uncached(mut self) -> Self {
        self.access |= 4;
        self
    }

    /// A byte of global memory whose line the data cache fetches.
    pub const fn gm_preload(addr: u64) -> Self {
        Self::new(addr, 1, 1, 8)
    }

    /// Bytes of global memory changed.
    pub const fn gm_update(addr: u64, len: u32) -> Self {
        Self::new(addr, len, 1, 3)
    }

    /// Bytes of another on-chip memory read.
    pub const fn read(space: u8, addr: u64, len: u32) -> Self {
        Self::new(addr, len, space, 1)
    }

    /// Bytes of another on-chip memory written.
    pub const fn write(space: u8, addr: u64, len: u32) -> Self {
        Self::new(addr, len, space, 2)
    }

    /// Bytes of another on-chip memory changed.
    pub const fn update(space: u8, addr: u64, len: u32) -> Self {
        Self::new(addr, len, space, 3)
    }

    /// `count` pieces of the length so far, `stride` apart.
    pub const fn rows(mut self, count: u32, stride: i64) -> Self {
        self.count0 = count;
        self.stride0 = stride;
        self
    }

    /// All pieces so far `count` times, `stride` apart.
    pub const fn outer(mut self, count: u32, stride: i64) -> Self {
        self.count1 = count;
        self.stride1 = stride;
        self
    }
}

/// Records of one core.
#[derive(Clone, Debug, Default)]
pub struct CoreBuilder {
    bytes: Vec<u8>,
    names: Vec<(usize, &'static str)>,
    site: u64,
    bypass: bool,
}

impl CoreBuilder {
    /// Site of the records that follow.
    pub fn at(&mut self, site: u64) -> &mut Self {
        self.site = site;
        self
    }

    /// Whether the copies that follow go past L2.
    pub fn bypass(&mut self, bypass: bool) -> &mut Self {
        self.bypass = bypass;
        self
    }

    /// Any record: opcode, pipe, dtype, flags, repeat, aux, operands.
    #[expect(clippy::too_many_arguments, reason = "mirrors the record's fields")]
    pub fn record(
        &mut self,
        name: &'static str,
        pipe: u8,
        dtype: u8,
        flags: u8,
        repeat: u16,
        aux: [u32; 3],
        parts: &[Part],
    ) -> &mut Self {
        self.names.push((self.bytes.len(), name));
        let mut head = [0_u8; HEAD_BYTES];
        head[2] = pipe;
        head[3] = dtype;
        head[4] = parts.len() as u8;
        head[5] = flags;
        head[6..8].copy_from_slice(&repeat.to_le_bytes());
        head[8..16].copy_from_slice(&self.site.to_le_bytes());
        for (index, value) in aux.iter().enumerate() {
            head[16 + index * 4..20 + index * 4].copy_from_slice(&value.to_le_bytes());
        }
        self.bytes.extend_from_slice(&head);
        for part in parts {
            self.bytes.extend_from_slice(&part.addr.to_le_bytes());
            self.bytes.extend_from_slice(&part.stride0.to_le_bytes());
            self.bytes.extend_from_slice(&part.stride1.to_le_bytes());
            for field in [part.len, part.count0, part.count1] {
                self.bytes.extend_from_slice(&field.to_le_bytes());
            }
            self.bytes.extend_from_slice(&[part.space, part.access, 0, 0]);
        }
        self
    }

    /// Copy from global memory into the unified buffer.
    pub fn load(&mut self, ub: u64, gm: u64, len: u32) -> &mut Self {
        let flags = if self.bypass { 4 } else { 0 };
        let parts = [Part::ub_write(ub, len), Part::gm_read(gm, len)];
        self.record("copy_gm_to_ubuf", pipe::MTE2, 1, flags, 0, [0, len, len], &parts)
    }

    /// Copy from the unified buffer to global memory.
    pub fn store(&mut self, gm: u64, ub: u64, len: u32) -> &mut Self {
        let parts = [Part::gm_write(gm, len), Part::ub_read(ub, len)];
        self.record("copy_ubuf_to_gm", pipe::MTE3, 1, 0, 0, [0, len, len], &parts)
    }

    /// A two-source instruction on `count` halves, in counter mode with the mask writes that the API adds.
    pub fn add(&mut self, dst: u64, src0: u64, src1: u64, count: u32) -> &mut Self {
        let len = count * 2;
        self.mask().mask();
        let parts = [Part::ub_write(dst, len), Part::ub_read(src0, len), Part::ub_read(src1, len)];
        self.record("vadd", pipe::V, 1, 1, 1, [count, 0, 0], &parts);
        self.mask().mask()
    }

    /// One mask register write.
    pub fn mask(&mut self) -> &mut Self {
        self.record("set_mask", pipe::V, 0, 0, 0, [0; 3], &[])
    }

    /// `set_flag`.
    pub fn set(&mut self, source: u8, destination: u8, id: u32) -> &mut Self {
        self.record("set_flag", source, 0, 0, 0, [id, source.into(), destination.into()], &[])
    }

    /// `wait_flag`.
    pub fn wait(&mut self, source: u8, destination: u8, id: u32) -> &mut Self {
        self.record("wait_flag", destination, 0, 0, 0, [id, source.into(), destination.into()], &[])
    }

    /// `set_flag` and `wait_flag` in one go.
    pub fn order(&mut self, source: u8, destination: u8, id: u32) -> &mut Self {
        self.set(source, destination, id).wait(source, destination, id)
    }

    /// `pipe_barrier` on one pipe.
    pub fn barrier(&mut self, pipe: u8) -> &mut Self {
        self.record("pipe_barrier", pipe, 0, 0, 0, [0; 3], &[])
    }

    /// `pipe_barrier(PIPE_ALL)`.
    pub fn barrier_all(&mut self) -> &mut Self {
        self.barrier(NO_PIPE)
    }

    /// Scalar work: accesses to the unified buffer, other operations, byte ranges.
    pub fn scalar(&mut self, accesses: u32, operations: u32, parts: &[Part]) -> &mut Self {
        self.record("scalar", pipe::S, 0, 0, 0, [accesses, operations, 0], parts)
    }

    /// A queue gets a buffer of the unified buffer.
    pub fn buffer_cut(&mut self, from: u32, len: u32) -> &mut Self {
        self.record("buffer", NO_PIPE, 0, 0, 0, [0, from, len], &[])
    }

    /// `dcci` of the line of an address, or of all lines.
    pub fn clean(&mut self, address: Option<u64>) -> &mut Self {
        let gm = address.unwrap_or_default();
        let aux = [u32::from(address.is_none()), gm as u32, (gm >> 32) as u32];
        self.record("dcci", pipe::S, 0, 0, 0, aux, &[])
    }

    /// All-core barrier of the core's own kind.
    pub fn sync_all(&mut self) -> &mut Self {
        self.record("sync_all", NO_PIPE, 0, 0, 0, [0; 3], &[])
    }

    /// Barrier of cores of both kinds.
    pub fn sync_everybody(&mut self) -> &mut Self {
        self.record("sync_all", NO_PIPE, 0, 0, 0, [0, 1, 0], &[])
    }

    /// Sets a cross-core flag on a pipe.
    pub fn set_cross(&mut self, pipe: u8, id: u32, mode: u32) -> &mut Self {
        self.record("set_cross_flag", pipe, 0, 0, 0, [id, mode, 0], &[])
    }

    /// Waits for a cross-core flag.
    pub fn wait_cross(&mut self, id: u32) -> &mut Self {
        self.record("wait_cross_flag", NO_PIPE, 0, 0, 0, [id, 0, 0], &[])
    }

    /// A text for whoever judges the trace.
    pub fn note(&mut self, message: &str) -> &mut Self {
        self.message("note", 0, message)
    }

    /// Copy from global memory into L1.
    pub fn load_l1(&mut self, l1: u64, gm: u64, len: u32) -> &mut Self {
        let parts = [Part::write(space::L1, l1, len), Part::gm_read(gm, len)];
        self.record("copy_gm_to_cbuf", pipe::MTE2, 1, 0, 0, [0, len, len], &parts)
    }

    /// Load from L1 into L0A (or another memory in front of the cube unit).
    pub fn load_l0(&mut self, target: u8, at: u64, l1: u64, len: u32) -> &mut Self {
        let parts = [Part::write(target, at, len), Part::read(space::L1, l1, len)];
        self.record("load_cbuf_to_ca", pipe::MTE1, 1, 0, 0, [0, len, len], &parts)
    }

    /// Product of the halves at the beginning of L0A and L0B into the beginning of L0C.
    pub fn product(&mut self, m: u32, k: u32, n: u32, unit_flag: u16) -> &mut Self {
        let parts = [
            Part::write(space::L0C, 0, m * n * 4),
            Part::read(space::L0A, 0, m * k * 2),
            Part::read(space::L0B, 0, k * n * 2),
        ];
        self.record("mad", pipe::M, 1, 0, unit_flag, [m, k, n], &parts)
    }

    /// Copy of floats from the beginning of L0C to global memory as halves.
    pub fn fixpipe(&mut self, gm: u64, count: u32, unit_flag: u16) -> &mut Self {
        let parts = [Part::gm_write(gm, count * 2), Part::read(space::L0C, 0, count * 4)];
        self.record("copy_matrix_cc_to_gm", pipe::FIX, 1, 0, unit_flag, [0, count * 2, count * 2], &parts)
    }

    /// A fault with its message.
    pub fn fault(&mut self, kind: u32, message: &str) -> &mut Self {
        self.message("fault", kind, message)
    }

    fn message(&mut self, name: &'static str, kind: u32, message: &str) -> &mut Self {
        self.record(name, NO_PIPE, 0, 0, 0, [kind, message.len() as u32, 0], &[]);
        self.bytes.extend_from_slice(message.as_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        self
    }

    /// Last record of a block.
    pub fn end(&mut self) -> &mut Self {
        self.record("end_of_block", NO_PIPE, 0, 0, 0, [0; 3], &[])
    }

    /// The same with the digest of what the block computed with.
    pub fn end_with(&mut self, values: u32) -> &mut Self {
        self.end();
        let digest = self.bytes.len() - HEAD_BYTES + VALUES_AT;
        self.bytes[digest..digest + 4].copy_from_slice(&values.to_le_bytes());
        self
    }
}

/// A trace of one launch.
#[derive(Clone, Debug, Default)]
pub struct TraceBuilder {
    cores: BTreeMap<u32, CoreBuilder>,
    regions: Vec<(u64, u64, u32, u32)>,
    aborted: bool,
    kernel_type: Option<&'static str>,
}

impl TraceBuilder {
    /// What cores the launch runs on, as traces spell it; vector cores without it. Cores of a mixed launch are numbered
    /// three to a group.
    pub fn on(&mut self, kernel_type: &'static str) -> &mut Self {
        self.kernel_type = Some(kernel_type);
        self
    }

    /// Core by block index.
    pub fn core(&mut self, core: u32) -> &mut CoreBuilder {
        self.cores.entry(core).or_default()
    }

    /// A region: index, size, role (0 input, 1 output, 2 workspace, 3 tiling, 4 other).
    pub fn with_region(&mut self, index: u64, size_bytes: u64, role: u32) -> &mut Self {
        self.regions.push((region(index), size_bytes, role, index as u32));
        self
    }

    /// Whether the launch ends as aborted.
    pub fn aborted(&mut self, aborted: bool) -> &mut Self {
        self.aborted = aborted;
        self
    }

    /// The file's bytes.
    pub fn build(&self) -> Vec<u8> {
        let mut names: Vec<&'static str> = Vec::new();
        let mut streams = Vec::new();
        for (core, builder) in &self.cores {
            let mut bytes = builder.bytes.clone();
            for (offset, name) in &builder.names {
                let index = names.iter().position(|known| known == name).unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                });
                bytes[*offset..offset + 2].copy_from_slice(&(index as u16).to_le_bytes());
            }
            streams.push((*core, bytes));
        }
        let mut file = b"ASCTRC02".to_vec();
        let mut chunk = |kind: u32, core: u32, payload: &[u8]| {
            file.extend_from_slice(&kind.to_le_bytes());
            file.extend_from_slice(&core.to_le_bytes());
            file.extend_from_slice(&(payload.len() as u64).to_le_bytes());
            file.extend_from_slice(payload);
        };
        chunk(1, 0, names.join("\n").as_bytes());
        let kernel_type = self.kernel_type.unwrap_or("aiv");
        let opening = format!("kernel=test\nblock_dim={}\nkernel_type={kernel_type}\n", self.cores.len());
        chunk(3, 0, opening.as_bytes());
        let mut regions = Vec::new();
        for (base, size, role, index) in &self.regions {
            regions.extend_from_slice(&base.to_le_bytes());
            regions.extend_from_slice(&size.to_le_bytes());
            regions.extend_from_slice(&role.to_le_bytes());
            regions.extend_from_slice(&index.to_le_bytes());
        }
        chunk(4, 0, &regions);
        for (core, bytes) in &streams {
            chunk(5, *core, bytes);
        }
        chunk(2, 0, b"1000 2000 kernel.so\n");
        chunk(6, 0, if self.aborted { b"status=aborted reason=test".as_slice() } else { b"status=ok" });
        file
    }
}
