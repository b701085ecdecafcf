// What kernels of matrix multiplications are called with, for tests. Behind kernel_operator.h.
#ifndef MATMUL_OPERANDS_H
#define MATMUL_OPERANDS_H

#include "lib/matmul_intf.h"

namespace matmul_test {

struct Arguments {
    uint8_t* a;
    uint8_t* b;
    uint8_t* bias;
    uint8_t* c;
    uint8_t* workspace;
    const TCubeTiling* tiling;
    int mode;  // what is done with them
};

/// The same as tensors; A from element `fromA` on, C likewise.
struct Operands {
    __aicore__ explicit Operands(const Arguments& args, int64_t fromA = 0, int64_t fromC = 0)
    {
        a.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(args.a) + fromA);
        b.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(args.b));
        bias.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(args.bias));
        c.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(args.c) + fromC);
    }
    AscendC::GlobalTensor<half> a, b;
    AscendC::GlobalTensor<float> bias, c;
};

}  // namespace matmul_test

#endif
