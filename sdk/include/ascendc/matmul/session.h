// How vector cores of a mixed kernel ask their cube core to multiply: a message for each vector core in the part of the
// workspace that belongs to the library, with a status that both sides poll, and room to pass tensors of the Unified
// Buffer through.
#ifndef ASCENDC_MATMUL_SESSION_H
#define ASCENDC_MATMUL_SESSION_H

#include "ascendc/block_info.h"
#include "ascendc/matmul/matmul.h"
#include "ascendc/workspace.h"

namespace AscendC {
namespace detail {

enum class MatmulWork : uint32_t { ALL = 1, BLOCK = 2, BATCH = 3, QUIT = 4 };

/// In global memory. What was there before is neither of the two words.
constexpr uint32_t MATMUL_ASKED = 0x4D4D5251u;
constexpr uint32_t MATMUL_DONE = 0x4D4D444Fu;

struct MatmulMessage {
    MatmulWork work = MatmulWork::ALL;
    uint32_t object = 0;
    uint32_t row = 0;
    uint32_t column = 0;
    uint32_t index = 0; // of the block, from 1
    uint32_t atomic = 0;
    uint32_t sequential = 0;
    uint32_t partialSum = 0;
    uint32_t batchA = 0;
    uint32_t batchB = 0;
    uint32_t strideA = 0;
    uint32_t strideB = 0;
    uint32_t strideC = 0;
    MatmulState state;
};

constexpr uint64_t MATMUL_SLOT_BYTES = 1024;
constexpr uint64_t MATMUL_BODY_OFFSET = 64;
static_assert(MATMUL_BODY_OFFSET + sizeof(MatmulMessage) <= MATMUL_SLOT_BYTES, "a message must fit its slot");
constexpr uint64_t MATMUL_SLOTS = 64;
/// One vector core's slot.
class MatmulSlot {
public:
    ASC_API MatmulSlot() {}
    ASC_API MatmulSlot(__gm__ uint8_t* workspace, uint64_t vectorCore)
        : at_(workspace + vectorCore * MATMUL_SLOT_BYTES), core_(vectorCore), workspace_(workspace)
    {}

    ASC_API uint32_t Status() const
    {
        dcci(at_, static_cast<uint64_t>(CacheLine::SINGLE_CACHE_LINE));
        return ReadScalar(reinterpret_cast<const uint32_t*>(at_));
    }
    ASC_API void SetStatus(uint32_t status) const { WriteScalar(reinterpret_cast<uint32_t*>(at_), status); }
    ASC_API void Write(const MatmulMessage& message) const
    {
        if (ascendsim::ScalarWrite(at_ + MATMUL_BODY_OFFSET, sizeof(message))) {
            __builtin_memcpy(at_ + MATMUL_BODY_OFFSET, &message, sizeof(message));
        }
    }
    ASC_API void Read(MatmulMessage& message) const
    {
        if (ascendsim::ScalarRead(at_ + MATMUL_BODY_OFFSET, sizeof(message))) {
            __builtin_memcpy(&message, at_ + MATMUL_BODY_OFFSET, sizeof(message));
        }
    }
    /// Memory to pass an operand (0: A, 1: B, 2: bias) or a result (3) through.
    ASC_API __gm__ uint8_t* Stage(uint32_t which) const
    {
        return workspace_ + MATMUL_SLOTS * MATMUL_SLOT_BYTES + core_ * STAGE_BYTES + STAGE_AT[which];
    }
    ASC_API static uint64_t StageBytes(uint32_t which) { return STAGE_AT[which + 1] - STAGE_AT[which]; }

private:
    static constexpr uint64_t STAGE_AT[5] = {0, 96 * 1024, 176 * 1024, 180 * 1024, 252 * 1024};
    static constexpr uint64_t STAGE_BYTES = STAGE_AT[4];
    static_assert(MATMUL_SLOTS * (MATMUL_SLOT_BYTES + STAGE_BYTES) <= RESERVED_WORKSPACE, "the library's workspace");

    __gm__ uint8_t* at_ = nullptr;
    uint64_t core_ = 0;
    __gm__ uint8_t* workspace_ = nullptr;
};

ASC_API void CheckWorkspace(__gm__ uint8_t* workspace)
{
    if (ascendsim::GmBytesFrom(workspace) < RESERVED_WORKSPACE) {
        ascendsim::Fault(
            "unsupported",
            "Matmul: the workspace has no room for the library: GetLibApiWorkSpaceSize() bytes belong in the "
            "workspace size that the tiling function sets");
    }
}

// ---- on the vector core ----
/// Tells the cube core that no more work comes when the kernel ends.
class MatmulSession {
public:
    ASC_API explicit MatmulSession(__gm__ uint8_t* workspace)
        : slot_(workspace, static_cast<uint64_t>(GetBlockIdx())), active_(g_coreType == AIV && ascendsim::OnMixedCores())
    {
        if (active_ && static_cast<uint64_t>(GetBlockIdx()) >= MATMUL_SLOTS) {
            ascendsim::Fault("unsupported", "Matmul: more vector cores than the library's workspace has room for");
        }
        if (active_) {
            CheckWorkspace(workspace);
        }
    }
    MatmulSession(const MatmulSession&) = delete;
    MatmulSession& operator=(const MatmulSession&) = delete;
    ASC_API ~MatmulSession()
    {
        if (active_) {
            MatmulMessage message;
            message.work = MatmulWork::QUIT;
            Ask(message);
        }
    }
    ASC_API void Ask(const MatmulMessage& message)
    {
        Wait();
        PipeBarrier<PIPE_ALL>();
        slot_.Write(message);
        slot_.SetStatus(MATMUL_ASKED);
        asked_ = true;
    }
    /// Until what was asked last is done.
    ASC_API void Wait()
    {
        if (!asked_) {
            return;
        }
        while (slot_.Status() != MATMUL_DONE) {
            ascendsim::Yield();
        }
        asked_ = false;
    }
    ASC_API const MatmulSlot& Slot() const { return slot_; }

private:
    MatmulSlot slot_;
    bool active_;
    bool asked_ = false;
};

// ---- on the cube core ----
template <typename T>
constexpr bool IsMatmulObject = std::is_class<std::remove_reference_t<T>>::value;

template <typename M>
ASC_API void Perform(M& object, const MatmulMessage& message)
{
    using C = typename M::TC;
    if (message.work == MatmulWork::BLOCK) {
        object.ComputeBlock(message.row, message.column, message.partialSum != 0);
        object.SetWalk(message.index);
        object.DrainBlock(message.row, message.column, message.atomic != 0, message.sequential != 0);
        return;
    }
    GlobalTensor<C> out;
    out.SetGlobalBuffer(reinterpret_cast<__gm__ C*>(message.state.c));
    if (message.work == MatmulWork::ALL) {
        object.IterateAll(out, static_cast<uint8_t>(message.atomic), message.sequential != 0);
    } else {
        object.MultiplyBatches(
            out, message.batchA, message.batchB, message.sequential != 0, message.strideA, message.strideB, message.strideC,
            static_cast<uint8_t>(message.atomic));
    }
}

/// The object that a message names does what it asks. Only one object has buffers at a time.
class MatmulService {
public:
    ASC_API explicit MatmulService(TPipe* pipe) : pipe_(pipe) {}

    ASC_API void Dispatch(uint32_t, const MatmulMessage&) {}
    template <typename T, typename... Rest>
    ASC_API void Dispatch(uint32_t number, const MatmulMessage& message, T& object, Rest&&... rest)
    {
        if constexpr (IsMatmulObject<T>) {
            if (number == message.object) {
                Serve(object, message);
                return;
            }
            Dispatch(number + 1, message, rest...);
        } else {
            Dispatch(number, message, rest...); // a tiling, which comes with the message
        }
    }

private:
    template <typename M>
    ASC_API void Serve(M& object, const MatmulMessage& message)
    {
        const TCubeTiling& t = message.state.tiling;
        object.State() = message.state;
        if (current_ != &object || t.baseM != baseM_ || t.baseN != baseN_ || t.baseK != baseK_
            || t.depthA1 != depthA1_ || t.depthB1 != depthB1_ || t.isBias != bias_) {
            pipe_->Reset();
            object.StartEngine(pipe_);
            current_ = &object;
            baseM_ = t.baseM;
            baseN_ = t.baseN;
            baseK_ = t.baseK;
            depthA1_ = t.depthA1;
            depthB1_ = t.depthB1;
            bias_ = t.isBias;
        }
        SetHF32Mode(message.state.hf32 != 0);
        SetHF32TransMode(message.state.hf32TowardsZero != 0);
        Perform(object, message);
        object.End();
        PipeBarrier<PIPE_ALL>();
    }

    TPipe* pipe_;
    void* current_ = nullptr;
    int32_t baseM_ = 0;
    int32_t baseN_ = 0;
    int32_t baseK_ = 0;
    int32_t depthA1_ = 0;
    int32_t depthB1_ = 0;
    int32_t bias_ = 0;
};

/// Serves the vector cores of the block until all have ended.
template <typename... Objects>
ASC_API void ServeMatmul(TPipe* pipe, __gm__ uint8_t* workspace, Objects&&... objects)
{
    CheckWorkspace(workspace);
    const int64_t cores = ascendsim::SubBlockDim();
    bool ended[2] = {cores < 1, cores < 2};
    MatmulService service(pipe);
    MatmulMessage message;
    while (!ended[0] || !ended[1]) {
        bool idle = true;
        for (int64_t i = 0; i < cores && i < 2; ++i) {
            const MatmulSlot slot(workspace, static_cast<uint64_t>(GetBlockIdx() * cores + i));
            if (ended[i] || slot.Status() != MATMUL_ASKED) {
                continue;
            }
            idle = false;
            slot.Read(message);
            if (message.work == MatmulWork::QUIT) {
                ended[i] = true;
            } else {
                service.Dispatch(0, message, objects...);
            }
            slot.SetStatus(MATMUL_DONE);
        }
        if (idle) {
            ascendsim::Yield();
        }
    }
}

// ---- objects that work on the core that runs them ----
ASC_API void InitObjects(TPipe*) {}
template <typename M, typename... Rest>
ASC_API void InitObjects(TPipe* pipe, M& object, Rest&&... rest);
template <typename M, typename T, typename... Rest>
ASC_API void InitWithTiling(TPipe* pipe, M& object, T&& tiling, Rest&&... rest)
{
    if constexpr (IsMatmulObject<T>) {
        InitObjects(pipe, tiling, rest...);
    } else {
        // Kernels whose tiling lies in a structure of their own hand over its bare address.
        if constexpr (std::is_same<std::decay_t<T>, void*>::value) {
            object.Init(static_cast<const TCubeTiling*>(tiling), pipe);
        } else {
            object.Init(tiling, pipe);
        }
        InitObjects(pipe, rest...);
    }
}
template <typename M, typename... Rest>
ASC_API void InitObjects(TPipe* pipe, M& object, Rest&&... rest)
{
    if constexpr (sizeof...(Rest) != 0) {
        InitWithTiling(pipe, object, rest...);
    } else {
        (void)pipe;
        (void)object; // its tiling comes with Init
    }
}

}  // namespace detail
}  // namespace AscendC

#endif
