// What normalisations over rows have in common: the temporaries start with mean and variance of every row, and the
// rest is divided into two or three parts of equal size, each a number of whole rows. A step takes as many rows.
#ifndef ASCEND_SDK_TILING_API_NORM_STEPS_H
#define ASCEND_SDK_TILING_API_NORM_STEPS_H

#include "arithmetic.h"

namespace AscendC {
namespace tiling_api {
struct NormSteps {
    uint32_t rows = 0;       // of the input
    uint32_t columns = 0;    // of a row as stored
    uint32_t parts = 3;      // temporaries of a step's size
    uint32_t head = 0;       // floats before the first of them
    uint32_t workspace = 0;  // floats
    uint32_t step = 0;       // floats of a temporary

    uint32_t Size() const
    {
        return rows * columns;
    }
    // The largest step that fits, in whole rows; 0 where none does.
    void FitRows()
    {
        step = (workspace - head) / parts / columns * columns;
        if (step > Size()) {
            step = Size();
        }
    }
};

// Fields that all these tilings share.
template <typename Tiling>
void FillSteps(Tiling& tiling, const NormSteps& steps)
{
    const uint32_t tail = steps.Size() % steps.step;
    tiling.set_inputXSize(steps.Size());
    tiling.set_meanVarSize(steps.rows);
    tiling.set_numberOfTmpBuf(steps.parts);
    tiling.set_tmpBufSize(steps.workspace);
    tiling.set_oneTmpSize(steps.step);
    tiling.set_firstTmpStartPos(steps.head);
    tiling.set_secondTmpStartPos(steps.head + steps.step);
    tiling.set_loopRound(steps.Size() / steps.step);
    tiling.set_inputRoundSize(steps.step);
    tiling.set_inputTailSize(tail);
    tiling.set_inputTailPos(steps.Size() - tail);
    tiling.set_meanVarRoundSize(steps.step / steps.columns);
    tiling.set_meanVarTailSize(tail / steps.columns);
    tiling.set_meanVarTailPos(steps.rows - tail / steps.columns);
}

// Those of the tilings that keep both mean and variance.
template <typename Tiling>
void FillMeanAndVariance(Tiling& tiling, const NormSteps& steps)
{
    const uint32_t floats = RoundUp(steps.rows, 8);
    tiling.set_meanTmpTensorPos(0);
    tiling.set_meanTmpTensorSize(floats);
    tiling.set_varianceTmpTensorPos(floats);
    tiling.set_varianceTmpTensorSize(floats);
    tiling.set_thirdTmpStartPos(steps.head + 2 * steps.step);
    tiling.set_bshCurLength(steps.step);
}
} // namespace tiling_api
} // namespace AscendC

#endif
