// What accompanies transfers: atomic operations, padding, fills of global memory, and the functions that take addresses.
#include "kernel_operator.h"

#include "isa_support.h"

using namespace isa_test;
namespace A = AscendC;
using A::AscendCUtils;

namespace {

template <typename T>
A::LocalTensor<T> At(uint32_t slot)
{
    return A::LocalTensor<T>(A::TPosition::VECCALC, slot * 4096, 4096 / sizeof(T));
}
template <typename T>
T* Raw(uint32_t slot)
{
    return reinterpret_cast<T*>(ascendsim::UbBase() + slot * 4096);
}

void Run(const char* what, Callee<void()> body)
{
    const auto result = OnCore(body);
    Expect(result.completed && result.faults == 0, std::string(what) + ": " + result.first_fault);
    Expect(ascendsim::GuardsIntact(), std::string(what) + ": wrote outside its output");
}

/// Transfers of one block after another onto the same words.
template <typename T>
void Atomics(void* memory)
{
    T* words = static_cast<T*>(memory);
    constexpr uint32_t count = 64 / sizeof(T);
    const auto left = [](uint32_t i) { return static_cast<float>(static_cast<int>(i * 7 % 23) - 11); };
    const auto right = [](uint32_t i) { return static_cast<float>(static_cast<int>(i * 5 % 19) - 9); };
    A::GlobalTensor<T> global;
    global.SetGlobalBuffer(words, count);
    enum Kind { kAdd, kMax, kMin, kTypeAfterMin, kNone, kDisabled };
    for (const Kind kind : {kAdd, kMax, kMin, kTypeAfterMin, kNone, kDisabled}) {
        for (uint32_t i = 0; i < count; ++i) {
            words[i] = static_cast<T>(left(i));
            Raw<T>(0)[i] = static_cast<T>(right(i));
        }
        if (kind == kAdd) {
            A::SetAtomicAdd<T>();
        } else if (kind == kMax || kind == kNone) {
            A::SetAtomicMax<T>();
        } else if (kind == kTypeAfterMin) {
            // The operation stays, the dtype changes.
            A::SetAtomicMin<std::conditional_t<sizeof(T) == 4, half, float>>();
            A::SetAtomicType<T>();
        } else {
            A::SetAtomicMin<T>();
        }
        if (kind == kNone) {
            A::SetAtomicNone();
        } else if (kind == kDisabled) {
            A::DisableDmaAtomic();
        }
        A::DataCopy(global, At<T>(0), count);
        A::SetAtomicNone();
        bool same = true;
        for (uint32_t i = 0; i < count; ++i) {
            const float a = left(i);
            const float b = right(i);
            const float want = kind == kAdd ? a + b : kind == kMax ? std::max(a, b) : kind == kMin || kind == kTypeAfterMin ? std::min(a, b) : b;
            same = same && static_cast<float>(words[i]) == want;
        }
        Expect(same, "atomic transfer of kind " + std::to_string(kind) + ", " + std::to_string(sizeof(T)) + " bytes");
    }
}

template <typename T>
void Padding(void* memory)
{
    T* words = static_cast<T*>(memory);
    constexpr uint8_t block = 32 / sizeof(T);
    for (uint32_t i = 0; i < block; ++i) {
        words[i] = static_cast<T>(static_cast<float>(i + 1));
    }
    A::GlobalTensor<T> global;
    global.SetGlobalBuffer(words, block);
    // Elements of 64 bits are padded with nothing but zeros.
    const T value = static_cast<T>(sizeof(T) == 8 ? 0.0f : -5.0f);
    const T other = static_cast<T>(sizeof(T) == 8 ? 0.0f : 9.0f);
    const uint8_t taken = block / 2;
    const uint8_t before = block / 4;
    const uint8_t behind = static_cast<uint8_t>(block - taken - before);
    const A::DataCopyExtParams one(1, taken * static_cast<uint32_t>(sizeof(T)), 0, 0, 0);
    for (const bool own : {false, true}) {
        A::SetPadValue(value);
        std::memset(Raw<uint8_t>(1), 0x5A, 96);
        A::DataCopyPad(At<T>(1), global, one, A::DataCopyPadExtParams<T>(own, before, behind, other));
        bool right = true;
        for (uint32_t i = 0; i < block; ++i) {
            const bool inside = i >= before && i < before + taken;
            right = right && Raw<T>(1)[i] == (inside ? words[i - before] : own ? other : value);
        }
        Expect(right && Raw<uint8_t>(1)[32] == 0x5A, std::string(own ? "padding of the transfer" : "SetPadValue") + ", " + std::to_string(sizeof(T)) + " bytes");
    }
    // Back behind the block, and no further.
    A::GlobalTensor<T> back;
    back.SetGlobalBuffer(words + block, block);
    words[block + taken] = static_cast<T>(77.0f);
    A::DataCopyPad(back, At<T>(1), one);
    Expect(std::equal(words + block, words + block + taken, Raw<T>(1)) && words[block + taken] == static_cast<T>(77.0f),
           "DataCopyPad of " + std::to_string(sizeof(T)) + " bytes to global memory");
}

/// Fills that fit the room in the Unified Buffer and that take it several times, to the element.
template <typename T>
void Fills(T* words, uint32_t count, T value, int kind)
{
    const T before = static_cast<T>(static_cast<float>(77));
    for (uint32_t i = 0; i < count + 8; ++i) {
        words[i] = before;
    }
    A::TPipe pipe;
    A::TBuf<A::TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, 190 * 1024);
    A::GlobalTensor<T> global;
    global.SetGlobalBuffer(words + 1, count + 7);
    if (kind == 0) {
        A::InitOutput<T>(global, count, value);
    } else if (kind == 1) {
        A::InitGlobalMemory<T>(global, count, value);
    } else {
        A::Fill<T>(global, count, value);
    }
    bool right = words[0] == before && words[count + 1] == before;
    for (uint32_t i = 1; i <= count; ++i) {
        right = right && words[i] == value;
    }
    Expect(right, "fill of kind " + std::to_string(kind) + " of " + std::to_string(count) + " elements");
}

/// Zeros where no value is said; as much as the room twice, which is two transfers; no room at all.
void FillsOfRooms(float* words)
{
    A::GlobalTensor<float> global;
    global.SetGlobalBuffer(words, 8192);
    uint32_t room = 0;
    for (uint32_t i = 0; i < 8192; ++i) words[i] = 77.0f;
    Run("fills of rooms", [&] {
        A::TPipe pipe;
        A::TBuf<A::TPosition::VECCALC> buf;
        pipe.InitBuffer(buf, 188 * 1024);
        A::LocalTensor<float> rest;
        A::PopStackBuffer<float, A::TPosition::LCM>(rest);
        room = rest.GetSize();
        A::InitOutput(global, 2 * room);
    });
    const auto none = OnCore([&] {
        A::TPipe pipe;
        A::TBuf<A::TPosition::VECCALC> buf, rest;
        pipe.InitBuffer(buf, 188 * 1024);
        pipe.InitBuffer(rest, room * 4);
        A::InitOutput(global, 8, 1.0f);
    });
    Expect(none.first_fault.rfind("ub_overflow: InitOutput: no room", 0) == 0, "InitOutput without room: " + none.first_fault);
    Expect(room > 0 && words[0] == 0 && words[2 * room - 1] == 0 && words[2 * room] == 77.0f, "InitOutput of twice the room: " + std::to_string(room));
}

void Workspaces(uint8_t* memory)
{
    Expect(A::GetUserWorkspace(nullptr) == nullptr && A::GetUserWorkspace(memory) == memory + 16 * 1024 * 1024, "GetUserWorkspace");
    Expect(A::GetSysWorkSpacePtr() != nullptr, "GetSysWorkSpacePtr before one is set");
    A::SetSysWorkspace(memory);
    Expect(A::GetSysWorkSpacePtr() == memory, "SetSysWorkspace");
    A::SetSysWorkSpacePtr(memory + 64);
    Expect(A::GetSysWorkSpacePtr() == memory + 64, "SetSysWorkSpacePtr");
    A::SetSysWorkspaceForce(memory + 128);
    Expect(A::GetSysWorkSpacePtr() == memory + 128, "SetSysWorkspaceForce");
    A::SetSysWorkspace(nullptr);
}

void Utilities()
{
    Expect(AscendCUtils::GetBitSize(0) == 0 && AscendCUtils::GetBitSize(5) == 40 && AscendCUtils::GetC0Size() == 32, "GetBitSize, GetC0Size");
    Expect(AscendCUtils::GetC0Count(1) == 32 && AscendCUtils::GetC0Count(2) == 16 && AscendCUtils::GetC0Count(4) == 8, "GetC0Count");
    Expect(AscendCUtils::GetDefaultBlockNum() == 8, "GetDefaultBlockNum");
    const A::IntriInfo none;
    Expect(none.c0Count == 0 && none.repeat == 0 && none.repeatRounding == 0 && none.repeatRemaining == 0 && none.tail == 0, "IntriInfo");
    // Bit 48 alone says whether results saturate.
    for (const uint64_t others : {uint64_t{0}, uint64_t{0x00A5000000000F08u}, ~(uint64_t{1} << 48)}) {
        set_ctrl(others);
        AscendCUtils::SetOverflow(1);
        Expect(static_cast<uint64_t>(get_ctrl()) == (others | uint64_t{1} << 48), "SetOverflow of 1");
        AscendCUtils::SetOverflow(1);
        Expect(static_cast<uint64_t>(get_ctrl()) == (others | uint64_t{1} << 48), "SetOverflow of 1 again");
        AscendCUtils::SetOverflow(0);
        Expect(static_cast<uint64_t>(get_ctrl()) == (others & ~(uint64_t{1} << 48)), "SetOverflow of 0");
    }
    set_ctrl(0);
    for (const uint32_t count : {0u, 63u, 64u, 64u * 255 + 7, 64u * 600 + 64}) {
        const A::IntriInfo info = AscendCUtils::CalIntriInfo(4, count);
        Expect(info.c0Count == 8 && info.repeat == count / 64 && info.tail == count % 64 && info.repeatRounding == count / 64 / 255
                   && info.repeatRemaining == count / 64 % 255,
               "CalIntriInfo");
    }
    const A::IntriInfo narrow = AscendCUtils::CalIntriInfo(2, 100, 4);
    Expect(narrow.c0Count == 16 && narrow.repeat == 1 && narrow.tail == 36, "CalIntriInfo with a stride");
    Expect(AscendCUtils::CalIntriInfo<true>(1, 513).c0Count == 64 && AscendCUtils::CalIntriInfo<true>(1, 513).tail == 1, "CalIntriInfo of four bits");
    int32_t* scratch = AscendCUtils::GetTemporaryBufferAddr<int32_t>(8192, 64);
    Expect(reinterpret_cast<uint8_t*>(scratch) == ascendsim::UbBase() + 8192, "GetTemporaryBufferAddr");
    AscendCUtils::FreeTemporaryBuffer(scratch);
}

/// What masks do, seen on what an instruction writes.
void Addresses()
{
    int32_t* to = Raw<int32_t>(1);
    const auto lanes = [to](const char* what, Callee<bool(uint32_t)> on) {
        bool right = true;
        for (uint32_t i = 0; i < 128; ++i) {
            right = right && to[i] == (on(i) ? 7 : 0);
            to[i] = 0;
        }
        Expect(right, what);
    };
    std::memset(to, 0, 4096);
    uint64_t words[2] = {0x8000000000000005u, 0};
    A::DuplicateImpl<int32_t>(to, 7, words, 1, 1, 8);
    lanes("DuplicateImpl with two words", [](uint32_t i) { return i == 0 || i == 2 || i == 63; });
    A::DuplicateImpl<int32_t>(to, 7, uint64_t{9}, 2, 1, 8);
    lanes("DuplicateImpl with a number of lanes", [](uint32_t i) { return i % 64 < 9; });
    A::DuplicateImpl<int32_t>(to, 7, 70);
    lanes("DuplicateImpl with a count", [](uint32_t i) { return i < 70; });
    AscendCUtils::SetMask<int32_t>(0, 0xF0);
    A::DuplicateImpl<int32_t, false>(to, 7, uint64_t{1}, 1, 1, 8);
    lanes("SetMask of two words", [](uint32_t i) { return i >= 4 && i < 8; });
    AscendCUtils::SetMask<int32_t>(5);
    AscendCUtils::SetMask<int32_t, false>(9);
    A::DuplicateImpl<int32_t, false>(to, 7, uint64_t{1}, 1, 1, 8);
    lanes("SetMask of lanes", [](uint32_t i) { return i < 5; });
    AscendCUtils::SetMaskCount<int32_t>();
    A::SetVectorMask<int32_t, A::MaskMode::COUNTER>(99);
    A::DuplicateImpl<int32_t, false>(to, 7, uint64_t{1}, 1, 1, 8);
    lanes("SetMaskCount", [](uint32_t i) { return i < 99; });
    AscendCUtils::SetMaskNorm<int32_t>();
    AscendCUtils::ResetMask();
    AscendCUtils::ResetMask<false>();
    A::DuplicateImpl<int32_t, false>(to, 7, uint64_t{1}, 1, 1, 8);
    lanes("SetMaskNorm and ResetMask", [](uint32_t i) { return i < 64; });

    float* from = Raw<float>(2);
    float* result = Raw<float>(3);
    for (uint32_t i = 0; i < 64; ++i) {
        from[i] = static_cast<float>(i * 37 % 64);
    }
    float want[4][32] = {};
    for (uint32_t i = 0; i < 64; ++i) {
        want[0][i / 8] += from[i];
        want[1][i / 8] = i % 8 == 0 ? from[i] : std::max(want[1][i / 8], from[i]);
        want[2][i / 8] = i % 8 == 0 ? from[i] : std::min(want[2][i / 8], from[i]);
        want[3][i / 2] += from[i];
    }
    A::BlockReduceSumIntrinsicsImpl(result, from, 1, 1, 1, 8);
    Expect(std::memcmp(result, want[0], 32) == 0, "BlockReduceSumIntrinsicsImpl");
    A::BlockReduceMaxIntrinsicsImpl(result, from, 1, 1, 1, 8);
    Expect(std::memcmp(result, want[1], 32) == 0, "BlockReduceMaxIntrinsicsImpl");
    A::BlockReduceMinIntrinsicsImpl(result, from, 1, 1, 1, 8);
    Expect(std::memcmp(result, want[2], 32) == 0, "BlockReduceMinIntrinsicsImpl");
    A::PairReduceSumIntrinsicsImpl(result, from, 1, 1, 1, 8);
    Expect(std::memcmp(result, want[3], 128) == 0, "PairReduceSumIntrinsicsImpl");
}

void Transposes()
{
    uint64_t to[16];
    uint64_t from[16];
    half* toPointers[16];
    half* fromPointers[16];
    for (uint32_t i = 0; i < 256; ++i) {
        Raw<half>(5)[i] = static_cast<half>(static_cast<float>(i));
    }
    for (uint32_t i = 0; i < 16; ++i) {
        fromPointers[i] = Raw<half>(5) + 16 * i;
        toPointers[i] = Raw<half>(6) + 16 * i;
        from[i] = reinterpret_cast<uint64_t>(fromPointers[i]);
        to[i] = reinterpret_cast<uint64_t>(Raw<half>(7) + 16 * i);
    }
    A::TransDataTo5HDImpl<half>(toPointers, fromPointers, A::TransDataTo5HDParams());
    A::TransDataTo5HDImpl<half>(to, from, A::TransDataTo5HDParams());
    bool right = true;
    for (uint32_t i = 0; i < 256; ++i) {
        const half want = Raw<half>(5)[i % 16 * 16 + i / 16];
        right = right && Raw<half>(6)[i] == want && Raw<half>(7)[i] == want;
    }
    Expect(right, "TransDataTo5HDImpl");
}

void Copies(int16_t* words)
{
    int16_t* to = Raw<int16_t>(4);
    for (int16_t i = 0; i < 128; ++i) {
        words[i] = static_cast<int16_t>(i - 64);
        to[i] = 0;
    }
    // Two blocks with one between them, to two without.
    A::DataCopyGM2UBImpl(to, words, A::DataCopyParams(2, 1, 1, 0));
    Expect(std::memcmp(to, words, 32) == 0 && std::memcmp(to + 16, words + 32, 32) == 0 && to[32] == 0, "DataCopyGM2UBImpl");
    A::DataCopyUB2UBIntf(At<int16_t>(4)[48], At<int16_t>(4), A::DataCopyParams(1, 2, 0, 0));
    Expect(std::memcmp(to + 48, to, 64) == 0, "DataCopyUB2UBIntf");
    A::DataCopyUB2GMImpl(words + 64, to, A::DataCopyParams(1, 2, 0, 0));
    Expect(std::memcmp(words + 64, to, 64) == 0 && words[96] == 32, "DataCopyUB2GMImpl");
    A::DataCopyPadGm2UBImpl(to, words, A::DataCopyParams(1, 10, 0, 0), A::DataCopyPadParams(true, 1, 2, 0xFFF9));
    Expect(to[0] == -7 && to[1] == -64 && to[5] == -60 && to[6] == -7 && to[7] == -7, "DataCopyPadGm2UBImpl");
    A::DataCopyPadGm2UBImpl(to, words + 1, A::DataCopyExtParams(1, 6, 0, 0, 0), A::DataCopyPadExtParams<int16_t>(true, 2, 0, 8));
    Expect(to[0] == 8 && to[1] == 8 && to[2] == -63 && to[4] == -61, "DataCopyPadGm2UBImpl of the other kind");
    A::DataCopyPadUB2GMImpl(words + 101, to, A::DataCopyParams(1, 4, 0, 0));
    Expect(words[100] == 36 && words[101] == 8 && words[102] == 8 && words[103] == 39, "DataCopyPadUB2GMImpl");
    A::DataCopyPadUB2GMImpl(words + 111, to + 0, A::DataCopyExtParams(1, 2, 0, 0, 0));
    Expect(words[110] == 46 && words[111] == 8 && words[112] == 48, "DataCopyPadUB2GMImpl of the other kind");
}

/// What is for a path that this architecture has not leaves other copies as they are.
void EnhancedCopies(int16_t* words)
{
    A::GlobalTensor<int16_t> outside;
    outside.SetGlobalBuffer(words);
    const A::DataCopyEnhancedParams more(
        A::BlockMode::BLOCK_MODE_MATRIX, A::DeqScale::DEQ_NONE, 0, 0, false, pad_t::PAD_NONE, 0);
    for (int16_t i = 0; i < 128; ++i) {
        words[i] = static_cast<int16_t>(3 * i);
    }
    A::DataCopy(At<int16_t>(4), outside, A::DataCopyParams(2, 1, 1, 0), more);
    const A::LocalTensor<int16_t> there = At<int16_t>(4)[64];
    A::DataCopy(there, At<int16_t>(4), A::DataCopyParams(1, 2, 0, 0), A::DataCopyEnhancedParams());
    A::DataCopy(outside[64], there, A::DataCopyParams(1, 2, 0, 0), more);
    A::PipeBarrier<PIPE_ALL>();
    Expect(words[64] == 0 && words[79] == 45 && words[80] == 96 && words[95] == 141 && words[96] == 288,
           "copies with parameters of another path");
}

}  // namespace

int main()
{
    LooksForIdle() = true;
    auto* memory = static_cast<uint8_t*>(ascendsim::AllocateRegion(64 * 1024, ascendsim::RegionRole::kOutput, 0));
    Run("atomics", [&] {
        Atomics<float>(memory);
        Atomics<half>(memory);
        Atomics<bfloat16_t>(memory);
        Atomics<int32_t>(memory);
        Atomics<int16_t>(memory);
        Atomics<int8_t>(memory);
    });
    const auto unknown = OnCore([] { A::SetAtomicType<uint32_t>(); });
    Expect(unknown.first_fault.rfind("dtype_unsupported: SetAtomicType", 0) == 0, "SetAtomicType of uint32_t: " + unknown.first_fault);
    Run("enhanced copies", [&] { EnhancedCopies(reinterpret_cast<int16_t*>(memory)); });
    const auto other = OnCore([] {
        A::DataCopy(At<half>(4), At<float>(5), A::DataCopyParams(1, 1, 0, 0), A::DataCopyEnhancedParams());
    });
    Expect(other.first_fault.rfind("unsupported: DataCopy: NPU architecture 2201 has no path", 0) == 0,
           "a copy that converts: " + other.first_fault);
    Run("padding", [&] {
        Padding<int8_t>(memory);
        Padding<half>(memory);
        Padding<float>(memory);
        Padding<int64_t>(memory);
    });
    for (const uint32_t count : {1u, 7u, 8u, 489u, 1000u}) {
        for (int kind = 0; kind < 3; ++kind) {
            Run("fills", [&] { Fills<float>(reinterpret_cast<float*>(memory), count, -2.5f, kind); });
            Run("fills of 16 bits", [&] { Fills<int16_t>(reinterpret_cast<int16_t*>(memory), count, int16_t{-3}, kind); });
        }
    }
    FillsOfRooms(reinterpret_cast<float*>(memory));
    // Lengths have sixteen bits of blocks.
    for (const uint32_t blocks : {65535u, 65536u}) {
        for (const bool out : {false, true}) {
            A::GlobalTensor<int8_t> global;
            global.SetGlobalBuffer(reinterpret_cast<int8_t*>(memory), blocks * 32);
            const auto result = OnCore([&] { out ? A::DataCopy(global, At<int8_t>(0), blocks * 32) : A::DataCopy(At<int8_t>(0), global, blocks * 32); });
            const char* says = blocks == 65535 ? "out_of_bounds_ub: copy_" : "bad_argument: DataCopy: 65536 blocks of 32 bytes exceed the limit of 65535";
            Expect(result.first_fault.rfind(says, 0) == 0, "DataCopy of " + std::to_string(blocks) + " blocks: " + result.first_fault);
        }
    }
    Run("workspaces", [&] { Workspaces(memory); });
    Run("utilities", Utilities);
    Run("addresses", Addresses);
    Run("transposes", Transposes);
    Run("copies", [&] { Copies(reinterpret_cast<int16_t*>(memory)); });
    ascendsim::ClearRegions();
    return Report("api_transfers");
}
