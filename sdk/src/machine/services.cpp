// What kernels ask of their core besides instructions: scalar accesses, faults, identity, waiting.
#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "machine/core_state.h"

namespace ascendsim {
namespace machine {

namespace {

constexpr const char* kFaultNames[] = {
    "none",          "out_of_bounds_gm", "out_of_bounds_ub", "misaligned",       "ub_overflow",
    "queue_misuse",  "repeat_overflow",  "deadlock",         "unsupported",      "operand_overlap",
    "flag_misuse",   "bad_argument",     "dtype_unsupported", "event_exhausted",  "out_of_bounds_on_chip",
    "read_behind_tensor", "never_freed", "write_in_padding", "misaligned_scalar",
    "division_by_zero"};

// A loop that faults in every round would fill the disk with the same sentence.
constexpr uint64_t kRecordedFaults = 4096;
constexpr size_t kMessageBytes = 512;

void AppendText(Core& core, Opcode opcode, uint32_t aux0, uint64_t site, const char* text, size_t length)
{
    if (core.pending.any) {
        FlushScalar(core);
    }
    ++core.records;
    const size_t padded = (length + 7) / 8 * 8;
    auto* head = reinterpret_cast<RecordHead*>(g_state.writer.Reserve(sizeof(RecordHead) + padded));
    std::memset(head, 0, sizeof(*head) + padded);
    head->opcode = opcode;
    head->pipe = kPipeNone;
    head->site = site;
    head->aux0 = aux0;
    head->aux1 = static_cast<uint32_t>(length);
    std::memcpy(head + 1, text, length);
}

/// How often the scalar unit goes to memory for so many bytes. It has no register of more than eight: what a compiler for this
/// machine copies or computes by sixteen and more is numbers one by one there.
uint32_t Accesses(uint32_t bytes)
{
    constexpr uint32_t kLargestRegister = 8;
    constexpr uint32_t kNumber = 4;
    return bytes <= kLargestRegister ? 1 : (bytes + kNumber - 1) / kNumber;
}

void Touch(Core& core, uint64_t addr, uint32_t len, TraceSpace space, uint8_t access, uint64_t site)
{
    PendingScalar& pending = core.pending;
    core.integers = 0;
    // Nobody waits for what is only fetched.
    const uint32_t accesses = access == kPreload ? 0 : Accesses(len);
    for (int i = pending.ranges - 1; i >= 0; --i) {
        PendingScalar::Range& range = pending.range[i];
        if (range.space != space || range.access != access || addr > range.addr + range.len ||
            range.addr > addr + len) {
            continue;
        }
        const uint64_t end = std::max(range.addr + range.len, addr + len);
        range.addr = std::min(range.addr, addr);
        range.len = static_cast<uint32_t>(end - range.addr);
        (space == kSpaceGm ? pending.gm : pending.ub) += accesses;
        return;
    }
    if (pending.ranges == PendingScalar::kRanges) {
        FlushScalar(core);
    }
    if (!pending.any) {
        pending.any = true;
        pending.site = site;
    }
    pending.range[pending.ranges++] = {addr, len, space, access};
    (space == kSpaceGm ? pending.gm : pending.ub) += accesses;
}

/// A scalar read of what only exists where instructions are carried out. Tiling data and lists of tensors always do.
void RefuseRead(Core& core, const void* ptr, size_t bytes, uint8_t space, uint64_t site)
{
    if (space != kSpaceGm) {
        NeedsData(core, site, "the scalar unit reads %zu bytes of %s", bytes, SpaceName(space));
    } else if (const Region* region = FindRegion(ptr); HoldsData(region->role)) {
        NeedsData(core, site, "the scalar unit reads %zu bytes of %s", bytes, DescribeRegion(*region).c_str());
    }
}

}  // namespace

bool ScalarAccess(Core& core, const void* ptr, size_t bytes, uint8_t access, uint64_t site, bool may_poll)
{
    if (core.polling.due) {
        GiveTurn(site);
    }
    const bool reads = (access & kRead) != 0;
    uint8_t space = kSpaceGm;
    uint64_t address = 0;
    if (FindSpace(core, ptr, bytes, &space, &address)) {
        if (g_state.timing_only && reads) {
            RefuseRead(core, ptr, bytes, space, site);
        }
        Touch(core, address, static_cast<uint32_t>(bytes), static_cast<TraceSpace>(space), access, site);
        if (space == kSpaceGm && reads) {
            if (may_poll) {
                NoteGmRead(core, address);
            }
        } else if (space == kSpaceGm) {
            NoteGmWrite();
        }
        return true;
    }
    // Just behind the buffer is an overrun of the buffer, not of global memory.
    const auto* at = static_cast<const uint8_t*>(ptr);
    const char* verb = reads ? "read" : "write";
    for (uint8_t near = 0; near < kSpaceCount; ++near) {
        const uint8_t* base = SpaceBase(core, near);
        if (base != nullptr && at >= base && at < base + SpaceRoom(core, near)) {
            RaiseFault(core, near == kSpaceUb ? FaultKind::kOutOfBoundsUb : FaultKind::kOutOfBoundsOnChip, site,
                       "scalar %s of %zu bytes at %s offset %zu of %zu", verb, bytes, SpaceName(near),
                       static_cast<size_t>(at - base), SpaceSize(core, near));
            return false;
        }
    }
    address = reads ? TranslateGmPadding(ptr, bytes, false) : 0;
    RaiseOutOfBoundsGm(core, site, reads ? "scalar read" : "scalar write", ptr, bytes, access & kReadWrite, address != 0);
    if (address != 0) {
        NeedsData(core, site, "the scalar unit reads %zu bytes behind a tensor", bytes);
        Touch(core, address, static_cast<uint32_t>(bytes), kSpaceGm, access, site);
    }
    return address != 0;
}

void CheckScalarAlignment(Core& core, const void* ptr, size_t bytes, uint8_t access, uint64_t site)
{
    constexpr size_t kLargestRegister = 8;
    const bool is_number = bytes <= kLargestRegister && (bytes & (bytes - 1)) == 0;
    if (is_number && reinterpret_cast<uintptr_t>(ptr) % bytes != 0) {
        RaiseFault(core, FaultKind::kMisalignedScalar, site, "scalar %s of %zu bytes at an address that %zu does not divide",
                   (access & kRead) != 0 ? "read" : "write", bytes, bytes);
    }
}

void RaiseOutOfBoundsGm(Core& core, uint64_t site, const char* what, const void* ptr, size_t bytes, uint8_t access,
                        bool in_padding)
{
    const FaultKind lesser = access == kRead ? FaultKind::kReadBehindTensor : FaultKind::kWriteInPadding;
    RaiseFault(core, in_padding ? lesser : FaultKind::kOutOfBoundsGm, site, "%s: %s%s", what,
               DescribeGm(ptr, bytes).c_str(), in_padding ? "; the rest is padding of its allocation" : "");
}

const char* FaultName(FaultKind kind) { return kFaultNames[static_cast<uint32_t>(kind)]; }

void FlushScalar(Core& core)
{
    PendingScalar& pending = core.pending;
    pending.any = false;  // before Append, which would come back here
    auto* head = Append(core, kOp_scalar, kPipeS, static_cast<uint8_t>(pending.ranges), pending.site);
    head->flags = pending.plain ? kFlagPlain : uint8_t{0};
    head->aux0 = pending.ub;
    head->aux1 = pending.ops;
    head->aux2 = pending.gm;
    head->repeat = pending.floats;
    for (int i = 0; i < pending.ranges; ++i) {
        const PendingScalar::Range& range = pending.range[i];
        SetOperand(OperandsOf(head) + i, range.addr, range.len, static_cast<TraceSpace>(range.space), range.access);
    }
    pending.plain = false;
    pending.ub = 0;
    pending.ops = 0;
    pending.gm = 0;
    pending.floats = 0;
    pending.ranges = 0;
}

void RaiseFault(Core& core, FaultKind kind, uint64_t site, const char* format, ...)
{
    char text[kMessageBytes];
    va_list args;
    va_start(args, format);
    const int written = std::vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    const size_t length = written < 0 ? 0 : std::min<size_t>(static_cast<size_t>(written), sizeof(text) - 1);
    text[length] = '\0';
    LaunchResult& launch = g_state.launch;
    if (launch.faults == 0) {
        launch.first_fault = std::string(FaultName(kind)) + ": " + text;
    }
    if (launch.faults++ < kRecordedFaults) {
        AppendText(core, kOp_fault, static_cast<uint32_t>(kind), site, text, length);
    }
    if ((kind == FaultKind::kDeadlock || kind == FaultKind::kUnsupported) && InBlock()) {
        launch.completed = false;
        AbandonBlock();
    }
}

}  // namespace machine

using namespace machine;

namespace {

/// An access by the API, which goes through a plain pointer next.
bool Announced(Core& core, const void* ptr, size_t bytes, uint8_t access, uint64_t site)
{
    CheckScalarAlignment(core, ptr, bytes, access, site);
    const bool possible = ScalarAccess(core, ptr, bytes, access, site);
    core.announced = ptr;
    core.announced_bytes = bytes;
    core.announced_access = access;
    core.announced_seen = 0;
    return possible;
}

}  // namespace

bool ScalarRead(const void* ptr, size_t bytes)
{
    return Announced(Current(), ptr, bytes, kRead, ASCENDSIM_SITE());
}

bool ScalarWrite(const void* ptr, size_t bytes)
{
    return Announced(Current(), ptr, bytes, kWrite, ASCENDSIM_SITE());
}

bool ScalarStore(const void* ptr, const void* value, size_t bytes)
{
    Core& core = Current();
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        uint64_t bits = 0;
        std::memcpy(&bits, static_cast<const uint8_t*>(value) + at, std::min(bytes - at, sizeof(bits)));
        NoteValue(core, bits);
    }
    return Announced(core, ptr, bytes, kWrite, ASCENDSIM_SITE()) && TouchesData();
}

void ReadTilingWords(void* to, const void* from, size_t bytes)
{
    constexpr size_t kWord = 8;
    const uint64_t site = ASCENDSIM_SITE();
    auto* target = static_cast<uint8_t*>(to);
    const auto* source = static_cast<const uint8_t*>(from);
    for (size_t done = 0; done < bytes; done += kWord) {
        const size_t now = std::min(bytes - done, kWord);
        if (ScalarAccess(Current(), source + done, now, kRead, site)) {
            std::memcpy(target + done, source + done, now);
        }
    }
}

void ScalarOps(uint32_t count)
{
    PendingScalar& pending = Current().pending;
    if (!pending.any) {
        pending.any = true;
        pending.site = ASCENDSIM_SITE();
    }
    pending.ops += count;
}

void PreloadLine(const void* ptr)
{
    ScalarOps(1);
    if (const uint64_t address = machine::TranslateGm(ptr, 1); address != 0) {
        Touch(Current(), address, 1, kSpaceGm, kPreload, ASCENDSIM_SITE());
    }
}

uint64_t Site() { return ASCENDSIM_SITE(); }

void Fault(const char* kind, const char* message) { FaultAt(ASCENDSIM_SITE(), kind, message); }

void FaultAt(uint64_t site, const char* kind, const char* message)
{
    constexpr uint32_t kinds = sizeof(kFaultNames) / sizeof(kFaultNames[0]);
    for (uint32_t i = 1; i < kinds; ++i) {
        if (std::strcmp(kind, kFaultNames[i]) == 0) {
            RaiseFault(Current(), static_cast<FaultKind>(i), site, "%s", message);
            return;
        }
    }
    RaiseFault(Current(), FaultKind::kBadArgument, site, "%s (%s)", message, kind);
}

void CheckOwnCounter(const void* counters)
{
    constexpr size_t kCounterBytes = 32;
    const auto* own = static_cast<const uint8_t*>(counters) + kCounterBytes * static_cast<size_t>(BlockIdx());
    uint8_t space = kSpaceGm;
    uint64_t address = 0;
    if (!InLaunch() || g_state.timing_only || !FindSpace(Current(), own, kCounterBytes, &space, &address)) {
        return;
    }
    if (std::any_of(own, own + kCounterBytes, [](uint8_t byte) { return byte != 0; })) {
        RaiseFault(Current(), FaultKind::kBadArgument, ASCENDSIM_SITE(),
                   "SyncAll: cores count in this workspace, which has to be zero where the first of them begins");
    }
}

void Note(const char* message)
{
    AppendText(Current(), kOp_note, 0, ASCENDSIM_SITE(), message, std::min(std::strlen(message), kMessageBytes));
}

namespace {

/// Nobody promises what a tensor holds that a queue has handed out.
void FillFresh(Core& core, uint8_t space, uint32_t address, uint32_t bytes)
{
    const size_t size = SpaceSize(core, space);
    if (uint8_t* base = SpaceBase(core, space); base != nullptr && address < size) {
        std::memset(base + address, g_state.poison, std::min<size_t>(bytes, size - address));
    }
}

}  // namespace

void NoteBuffer(BufferEvent what, uint32_t space, uint32_t address, uint32_t bytes)
{
    if (!InLaunch()) {
        return;
    }
    Core& core = Current();
    if (what == BufferEvent::kForgotten) {
        core.buffers.clear();
    } else if (what == BufferEvent::kCut && space == kSpaceUb) {
        core.buffers.push_back({address, address + bytes});
    } else if (what == BufferEvent::kTaken && g_state.fresh_tensors && !g_state.timing_only) {
        FillFresh(core, static_cast<uint8_t>(space), address, bytes);
    }
    RecordHead* head = Append(core, kOp_buffer, kPipeNone, 0, ASCENDSIM_SITE());
    head->aux0 = static_cast<uint32_t>(what);
    head->aux1 = address;
    head->aux2 = bytes;
    head->repeat = static_cast<uint16_t>(space);
}

namespace {

/// Whether a function is the running kernel's entry. A template has its arguments behind its name, and the entry of one tiling
/// key the key: `add_custom_key_0`, or `add_custom_all_keys`.
bool IsEntry(const char* function)
{
    const std::string name(function, std::strcspn(function, "<"));
    if (name.compare(0, g_state.kernel.size(), g_state.kernel) != 0) {
        return false;
    }
    static const std::string kOfKey = "_key_";
    const std::string key = name.substr(g_state.kernel.size());
    return key.empty() || key == "_all_keys" ||
           (key.size() > kOfKey.size() && key.compare(0, kOfKey.size(), kOfKey) == 0 &&
            key.find_first_not_of("0123456789", kOfKey.size()) == std::string::npos);
}

}  // namespace

void NotePipe(const char* maker)
{
    if (InLaunch() && !IsEntry(maker)) {
        NoteBuffer(BufferEvent::kPipeInObject, 0, 0, 0);
    }
}

int64_t BlockIdx() { return Current().group; }
int64_t BlockNum() { return Current().groups; }
uint64_t TilingKey() { return g_state.tiling_key; }
uint8_t* UbBase() { return Current().ub; }
size_t UbSize() { return Current().ub_size; }

uint8_t* OnChipBase(uint32_t space) { return SpaceBase(Current(), static_cast<uint8_t>(space)); }
size_t OnChipSize(uint32_t space) { return SpaceSize(Current(), static_cast<uint8_t>(space)); }
int64_t SubBlockIdx() { return Current().sub_block; }
int64_t SubBlockDim() { return Current().sub_blocks; }
bool OnMixedCores() { return Current().mixed; }
bool OnCubeCore() { return Current().unit == Unit::kCube; }

bool InUb(const void* ptr, size_t bytes)
{
    const Core& core = Current();
    const auto* address = static_cast<const uint8_t*>(ptr);
    return address >= core.ub && address <= core.ub + core.ub_size &&
           bytes <= static_cast<size_t>(core.ub + core.ub_size - address);
}

size_t GmBytesFrom(const void* ptr)
{
    const Region* region = FindRegion(ptr);
    return region == nullptr ? 0 : static_cast<size_t>(region->base + region->size - static_cast<const uint8_t*>(ptr));
}

void Yield() { GiveTurn(ASCENDSIM_SITE()); }
void PassFlag(int32_t* flag, int32_t expected, int32_t next)
{
    machine::PassFlag(Current(), flag, expected, next, ASCENDSIM_SITE());
}

void SetL2Bypass(bool bypass) { Current().l2_bypass = bypass; }
void*& CorePipeSlot() { return Current().pipe; }

}  // namespace ascendsim
