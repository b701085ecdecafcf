// Functions of a kernel's own that take the place of copies of a multiplication, and the policies that it may be given.
#ifndef ASCENDC_MATMUL_CALLBACKS_H
#define ASCENDC_MATMUL_CALLBACKS_H

#include "ascendc/matmul/config.h"
#include "ascendc/tensor.h"

namespace AscendC {
/// How a block of C lies in L0C and goes to memory, for a function that moves it. Strides of the destination are elements of a row for
/// rows and units of 32 bytes for fractals; lengths of the source are units of 32 bytes.
struct DataCopyOutParams {
    uint8_t quantMode = 0;
    uint16_t cBurstNum = 0; // panels of 16 columns
    uint16_t burstLen = 0;  // of a panel
    uint16_t srcStride = 0; // between panels
    uint32_t dstStride = 0;
    uint16_t oriNSize = 0;  // columns that count; 0 for fractals
    bool enUnitFlag = false;
    uint64_t quantScalar = 0;
    int curM = 0; // of the block, in blocks
    int curN = 0;
    uint64_t cbufWorkspaceAddr = 0;
};

/// `dataCopyOut` moves a block of C from L0C, `copyA1` and `copyB1` a piece of an operand to L1: rows and columns are counted in base
/// blocks, sizes in elements. The last two words are what SetUserDefInfo and SetSelfDefineData were given.
template <
    void (*dataCopyOut)(
        const __gm__ void* gm, const LocalTensor<int8_t>& co1Local, const void* params, const uint64_t tilingPtr,
        const uint64_t dataPtr) = nullptr,
    void (*copyA1)(
        const LocalTensor<int8_t>& aMatrix, const __gm__ void* gm, int row, int col, int useM, int useK,
        const uint64_t tilingPtr, const uint64_t dataPtr) = nullptr,
    void (*copyB1)(
        const LocalTensor<int8_t>& bMatrix, const __gm__ void* gm, int row, int col, int useK, int useN,
        const uint64_t tilingPtr, const uint64_t dataPtr) = nullptr>
struct MatmulCallBackFunc {
    static constexpr auto DataCopyOutPtr = dataCopyOut;
    static constexpr auto CopyA1Ptr = copyA1;
    static constexpr auto CopyB1Ptr = copyB1;
};

namespace Impl {
namespace Detail {
// A policy says in which order blocks are loaded and kept; results do not depend on it, and here times do not either.
#define ASCENDC_MATMUL_POLICY(name)                                                                                       \
    template <const auto& config, typename IMPL, typename A_TYPE, typename B_TYPE, typename C_TYPE, typename BIAS_TYPE>   \
    struct name {}
ASCENDC_MATMUL_POLICY(MatmulPolicy);
ASCENDC_MATMUL_POLICY(NBuffer33MatmulPolicy);
ASCENDC_MATMUL_POLICY(SplitMMatmulPolicy);
ASCENDC_MATMUL_POLICY(SplitNMatmulPolicy);
#undef ASCENDC_MATMUL_POLICY
}  // namespace Detail
}  // namespace Impl
}  // namespace AscendC

#endif
