// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernel half of ShapeTraps: y = 2 x in place, tiles take turns in the slots of one buffer.
#include "kernel_operator.h"

template <typename T>
class KernelShapeTraps {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t total, uint32_t share, uint32_t slots, uint32_t slotLength)
    {
        const uint32_t first = share * AscendC::GetBlockIdx();
        this->length = total - first < share ? total - first : share;
        this->slots = slots;
        this->slotLength = slotLength;
        xGm.SetGlobalBuffer((__gm__ T *)x + first, this->length);
        yGm.SetGlobalBuffer((__gm__ T *)y + first, this->length);
        pipe.InitBuffer(buffer, slots * slotLength * sizeof(T));
    }

    __aicore__ inline void Process()
    {
        AscendC::LocalTensor<T> all = buffer.Get<T>();
        // Every slot begins with zeros, which costs as much as there are slots.
        AscendC::Duplicate(all, static_cast<T>(0), static_cast<int32_t>(this->slots * this->slotLength));
        AscendC::SetFlag<AscendC::HardEvent::V_MTE2>(EVENT_ID0);
        AscendC::WaitFlag<AscendC::HardEvent::V_MTE2>(EVENT_ID0);
        // Tiles alternate between two events, whatever the number of slots.
        AscendC::SetFlag<AscendC::HardEvent::MTE3_MTE2>(EVENT_ID0);
        AscendC::SetFlag<AscendC::HardEvent::MTE3_MTE2>(EVENT_ID1);
        uint32_t tile = 0;
        for (uint32_t done = 0; done < this->length; done += this->slotLength) {
            const uint32_t left = this->length - done;
            const uint32_t count = left < this->slotLength ? left : this->slotLength;
            Tile(all[tile % this->slots * this->slotLength], done, count, tile % 2 == 0 ? EVENT_ID0 : EVENT_ID1);
            tile++;
        }
        AscendC::WaitFlag<AscendC::HardEvent::MTE3_MTE2>(EVENT_ID0);
        AscendC::WaitFlag<AscendC::HardEvent::MTE3_MTE2>(EVENT_ID1);
    }

private:
    __aicore__ inline void Tile(const AscendC::LocalTensor<T> &slot, uint32_t from, uint32_t count, event_t event)
    {
        const AscendC::DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
        AscendC::WaitFlag<AscendC::HardEvent::MTE3_MTE2>(event);
        AscendC::DataCopyPad(slot, xGm[from], copy, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(event);
        AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(event);
        AscendC::Muls(slot, slot, static_cast<T>(2), static_cast<int32_t>(count));
        AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(event);
        AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(event);
        AscendC::DataCopyPad(yGm[from], slot, copy);
        AscendC::SetFlag<AscendC::HardEvent::MTE3_MTE2>(event);
    }

    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    AscendC::GlobalTensor<T> xGm;
    AscendC::GlobalTensor<T> yGm;
    uint32_t length;
    uint32_t slots;
    uint32_t slotLength;
};

extern "C" __global__ __aicore__ void shape_traps(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    KernelShapeTraps<DTYPE_X> op;
    op.Init(x, y, tilingData.total, tilingData.share, tilingData.slots, tilingData.slotLength);
    op.Process();
}
