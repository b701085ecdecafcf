#include "machine/trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ascendsim {

namespace {

constexpr size_t kBufferBytes = size_t{4} << 20;
constexpr size_t kChunkHead = 16;
constexpr char kMagic[8] = {'A', 'S', 'C', 'T', 'R', 'C', '0', '2'};

void PutHead(uint8_t* place, uint32_t kind, uint32_t core, uint64_t bytes)
{
    std::memcpy(place, &kind, 4);
    std::memcpy(place + 4, &core, 4);
    std::memcpy(place + 8, &bytes, 8);
}

const char* const kOpcodeNames[] = {
#define ASCENDSIM_NAME(name, unit, form, types, meaning) #name,
    ASCENDSIM_OPCODES(ASCENDSIM_NAME)
#undef ASCENDSIM_NAME
};

}  // namespace

const char* OpcodeName(uint32_t opcode) { return opcode < kOpCount ? kOpcodeNames[opcode] : "?"; }

bool TraceWriter::Open(const std::string& path)
{
    Close();
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd_ < 0) {
        return false;
    }
    failed_ = false;
    // Whatever was recorded while no trace was open belongs to none.
    CloseChunk();
    position_ = buffer_;
    limit_ = buffer_;
    WriteAll(kMagic, sizeof(kMagic));
    std::string names;
    for (const char* name : kOpcodeNames) {
        names += name;
        names += '\n';
    }
    Chunk(kChunkOpcodes, names);
    return !failed_;
}

bool TraceWriter::Close()
{
    if (fd_ < 0) {
        return true;
    }
    Flush();
    const bool closed = ::close(fd_) == 0;
    fd_ = -1;
    return closed && !failed_;
}

void TraceWriter::SelectCore(uint32_t core)
{
    if (core_ == core && chunk_ != nullptr) {
        return;
    }
    CloseChunk();
    core_ = core;
}

void TraceWriter::MakeRoom(size_t bytes)
{
    if (buffer_ == nullptr) {
        buffer_ = static_cast<uint8_t*>(std::malloc(kBufferBytes));
        if (buffer_ == nullptr) {
            std::abort();  // nothing can be recorded without four megabytes
        }
        position_ = buffer_;
        limit_ = buffer_;
    }
    if (chunk_ != nullptr) {
        Flush();
    } else if (position_ + kChunkHead + bytes > buffer_ + kBufferBytes) {
        Flush();
    }
    OpenChunk();
}

void TraceWriter::OpenChunk()
{
    chunk_ = position_;
    position_ += kChunkHead;
    limit_ = buffer_ + kBufferBytes;
}

void TraceWriter::CloseChunk()
{
    if (chunk_ == nullptr) {
        return;
    }
    const uint64_t bytes = static_cast<uint64_t>(position_ - chunk_) - kChunkHead;
    if (bytes == 0) {
        position_ = chunk_;
    } else {
        PutHead(chunk_, kChunkRecords, core_, bytes);
    }
    chunk_ = nullptr;
    limit_ = position_;  // the next record opens a chunk of its own
}

void TraceWriter::Chunk(TraceChunk kind, uint32_t core, const void* payload, size_t bytes)
{
    if (fd_ < 0) {
        return;
    }
    Flush();
    uint8_t head[kChunkHead];
    PutHead(head, kind, core, bytes);
    WriteAll(head, sizeof(head));
    WriteAll(payload, bytes);
}

void TraceWriter::DataChunk(uint64_t virtual_base, const void* data, uint64_t bytes)
{
    if (fd_ < 0) {
        return;
    }
    Flush();
    uint8_t head[kChunkHead + 16];
    PutHead(head, kChunkData, 0, bytes + 16);
    std::memcpy(head + kChunkHead, &virtual_base, 8);
    std::memcpy(head + kChunkHead + 8, &bytes, 8);
    WriteAll(head, sizeof(head));
    WriteAll(data, bytes);
}

void TraceWriter::Flush()
{
    CloseChunk();
    if (fd_ >= 0 && position_ != buffer_) {
        WriteAll(buffer_, static_cast<size_t>(position_ - buffer_));
    }
    position_ = buffer_;
    limit_ = buffer_;
}

void TraceWriter::WriteAll(const void* data, size_t bytes)
{
    const char* next = static_cast<const char*>(data);
    while (bytes > 0 && !failed_) {
        const ssize_t written = ::write(fd_, next, bytes);
        if (written < 0) {
            failed_ = errno != EINTR;
            if (failed_) {
                // A program with its own main ends as it likes: who reads the trace must learn that it stops short.
                (void)std::fprintf(stderr, "ascend_sim: cannot write the trace: %s\n", std::strerror(errno));
            }
            continue;
        }
        next += written;
        bytes -= static_cast<size_t>(written);
    }
}

}  // namespace ascendsim
