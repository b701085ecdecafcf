// Special registers that configure cube, load, fixpipe and dequantisation instructions. One set per core.
#ifndef ASCENDSIM_CUBE_REGISTERS_H
#define ASCENDSIM_CUBE_REGISTERS_H

#include <cstdint>
#include <vector>

namespace ascendsim {
namespace isa __attribute__((visibility("hidden"))) {

/// Contents as the set_* instructions of ascendsim/isa_registers.h were given them.
struct CubeRegisters {
    uint64_t fpc = 0;             // addresses of fixpipe factors
    uint64_t quant_pre = 0;       // one factor for all columns
    uint64_t nd_para = 0;         // matrices and strides of a fixpipe that writes rows
    uint64_t fmatrix[2] = {};     // feature map of 3D loads: set_fmatrix, set_fmatrix_b
    uint64_t padding = 0;         // value outside the feature map
    uint64_t l3d_repeat = 0x10000;  // once
    uint64_t l1_3d_size = 0;
    uint64_t deq_scale = 0;       // factors of vconv_deqs162b8*, or the address of their table
    float lrelu_alpha = 0.0f;
    const void* sparse_index = nullptr;  // where load_cbuf_to_cb_sp finds the index matrix
    std::vector<uint8_t> sparse;         // the index matrix beside L0B, two bits an element
    uint64_t condition_flag = 0;
    uint64_t loop_count = 0;
};

}  // namespace isa
}  // namespace ascendsim

#endif
