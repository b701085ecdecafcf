// Trace records and the writer that appends them.
#ifndef ASCENDSIM_TRACE_H
#define ASCENDSIM_TRACE_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "machine/opcodes.h"

namespace ascendsim {

/// What the numbers of a record say, by the unit of the instruction in machine/opcodes.h:
/// vector: repeat the repeats, aux0 active lanes of a repeat or the count of counter mode.
/// movements: aux0 fractals or rows where there are any, aux1 bytes, aux2 bytes of a burst, repeat the bursts.
/// mad: aux0 m, aux1 k, aux2 n, repeat the unit flag. Fixpipe: aux0 fractals read, aux1 bytes written, aux2 bytes of a burst,
/// repeat the unit flag.
/// values: in the record that ends a core, a digest of what the core computed with and no record says (NoteValue): scalar operands,
/// registers, orders and patterns, what scalar stores store. Cores of equal records and digests do the same to their data. Zero in
/// all other records. Instructions of the cube core are not in it.
struct RecordHead {
    uint16_t opcode;
    uint8_t pipe;
    uint8_t dtype;
    uint8_t nops;
    uint8_t flags;
    uint16_t repeat;
    uint64_t site;
    uint32_t aux0;
    uint32_t aux1;
    uint32_t aux2;
    uint32_t values;
};
static_assert(sizeof(RecordHead) == 32, "record heads are 32 bytes in the file");

struct RecordOperand {
    uint64_t addr;
    int64_t stride0;
    int64_t stride1;
    uint32_t len;
    uint32_t count0;
    uint32_t count1;
    uint8_t space;
    uint8_t access;
    uint16_t reserved;
};
static_assert(sizeof(RecordOperand) == 40, "operands are 40 bytes in the file");

enum TracePipe : uint8_t {
    kPipeS = 0, kPipeV = 1, kPipeMte2 = 2, kPipeMte3 = 3, kPipeMte1 = 4, kPipeM = 5, kPipeFix = 6, kPipeNone = 255
};
enum TraceDtype : uint8_t {
    kNoDtype = 0, kF16, kF32, kBf16, kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kB8, kI4
};
enum TraceSpace : uint8_t {
    kSpaceUb = 0, kSpaceGm = 1, kSpaceL1 = 2, kSpaceL0a = 3, kSpaceL0b = 4, kSpaceL0c = 5, kSpaceBt = 6, kSpaceFb = 7,
    kSpaceCount
};
// kUncached: of a scalar access, past the data cache. kPreload: into the data cache and no further.
enum TraceAccess : uint8_t { kRead = 1, kWrite = 2, kReadWrite = 3, kUncached = 4, kPreload = 8 };
// kFlagAtomicMax and kFlagAtomicMin: beside kFlagAtomic, which alone means a sum.
// kFlagPlain: scalar accesses that the compiler announced, among them reads whose values nobody uses and no device makes.
enum TraceFlag : uint8_t {
    kFlagCount = 1, kFlagAtomic = 2, kFlagL2Bypass = 4, kFlagPartialMask = 8, kFlagPlain = 16, kFlagAtomicMax = 32,
    kFlagAtomicMin = 64
};

// What the fields of cube instructions mean:
//   mad*                            pipe M, dtype of the left matrix, aux0 = m, aux1 = k, aux2 = n; operands L0C, L0A, L0B
//                                   (and BT). L0C is read as well (access 3) where the product is added to it.
//   load_cbuf_to_*, copy_cbuf_to_*  pipe MTE1 (FIX for the fixpipe buffer), aux1 = bytes written; operands destination, source
//   copy_gm_to_cbuf*, load_gm_to_*  pipe MTE2, otherwise like the copies to the Unified Buffer
//   copy_matrix_cc_to_*             pipe FIX, aux1 = bytes written; operands destination, L0C (and FB)
//   On M and FIX `repeat` holds the unit flag's mode (2, 3: cube unit and fixpipe keep their order on L0C by themselves).
//   hset_flag, hwait_flag           like set_flag and wait_flag, with aux0 = 8 + id
//   buffer                          aux0 what happened (BufferEvent in ascendsim/core.h), aux1 first byte, aux2 bytes, repeat the
//                                   memory
enum TraceChunk : uint32_t {
    kChunkOpcodes = 1, kChunkModules, kChunkLaunch, kChunkRegions, kChunkRecords, kChunkEnd, kChunkData
};

/// Appends records to the chunk of one core and writes full buffers to the file. Without a file the records go
/// to scratch memory and are overwritten.
class __attribute__((visibility("hidden"))) TraceWriter {
public:
    bool Open(const std::string& path);
    bool Close();
    bool Active() const { return fd_ >= 0; }

    /// Later records belong to `core`.
    void SelectCore(uint32_t core);
    /// Room for `bytes` of the current core's records; valid until the next call.
    uint8_t* Reserve(size_t bytes)
    {
        if (__builtin_expect(position_ + bytes > limit_, 0)) {
            MakeRoom(bytes);
        }
        uint8_t* place = position_;
        position_ += bytes;
        return place;
    }
    /// Writes a whole chunk of another kind.
    void Chunk(TraceChunk kind, uint32_t core, const void* payload, size_t bytes);
    /// Content of a region: its place, then its bytes, without a copy of them.
    void DataChunk(uint64_t virtual_base, const void* data, uint64_t bytes);
    void Chunk(TraceChunk kind, const std::string& text) { Chunk(kind, 0, text.data(), text.size()); }
    /// Ends the open record chunk and writes everything out.
    void Flush();

private:
    void MakeRoom(size_t bytes);
    void OpenChunk();
    void CloseChunk();
    void WriteAll(const void* data, size_t bytes);

    int fd_ = -1;
    bool failed_ = false;
    uint32_t core_ = 0;
    uint8_t* buffer_ = nullptr;
    uint8_t* position_ = nullptr;
    uint8_t* limit_ = nullptr;
    uint8_t* chunk_ = nullptr;  // head of the open record chunk
};

}  // namespace ascendsim

#endif
