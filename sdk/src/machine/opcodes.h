// Instruction names as they appear in the trace. The position in this list is the opcode number.
#ifndef ASCENDSIM_OPCODES_H
#define ASCENDSIM_OPCODES_H

#include <cstdint>

#define ASCENDSIM_ROUNDED(X, name) X(name##r) X(name##a) X(name##f) X(name##c) X(name##z)

#define ASCENDSIM_OPCODES(X)                                                                                   \
    X(scalar) X(set_flag) X(wait_flag) X(pipe_barrier) X(set_mask) X(set_ctrl) X(sync_all) X(set_cross_flag)   \
    X(wait_cross_flag) X(fault) X(note) X(end_of_block)                                                        \
    X(copy_gm_to_ubuf) X(copy_ubuf_to_gm) X(copy_ubuf_to_ubuf)                                                 \
    X(copy_gm_to_ubuf_align_b8) X(copy_gm_to_ubuf_align_b16) X(copy_gm_to_ubuf_align_b32)                      \
    X(copy_ubuf_to_gm_align_b8) X(copy_ubuf_to_gm_align_b16) X(copy_ubuf_to_gm_align_b32)                      \
    X(vadd) X(vsub) X(vmul) X(vdiv) X(vmax) X(vmin) X(vand) X(vor) X(vnot)                                     \
    X(vadds) X(vmuls) X(vmaxs) X(vmins) X(vlrelu) X(vaxpy) X(vshl) X(vshr)                                     \
    X(vabs) X(vrelu) X(vexp) X(vln) X(vsqrt) X(vrsqrt) X(vrec)                                                 \
    X(vmadd) X(vmaddrelu) X(vmla) X(vaddrelu) X(vsubrelu)                                                      \
    X(vmulconv_f162s8) X(vmulconv_f162u8) X(vaddreluconv_f162s8) X(vaddreluconv_f322f16)                       \
    X(vaddreluconv_s162s8) X(vsubreluconv_f162s8) X(vsubreluconv_f322f16) X(vsubreluconv_s162s8)               \
    X(vcmp_eq) X(vcmp_ne) X(vcmp_lt) X(vcmp_le) X(vcmp_gt) X(vcmp_ge)                                          \
    X(vcmpv_eq) X(vcmpv_ne) X(vcmpv_lt) X(vcmpv_le) X(vcmpv_gt) X(vcmpv_ge)                                    \
    X(vcmpvs_eq) X(vcmpvs_ne) X(vcmpvs_lt) X(vcmpvs_le) X(vcmpvs_gt) X(vcmpvs_ge)                              \
    X(set_cmpmask) X(get_cmpmask) X(vsel)                                                                      \
    X(vector_dup) X(vcopy) X(vbrcb) X(vgather) X(vgatherb) X(vreducev2) X(vtranspose) X(vld_va_reg)            \
    X(scatter_vnchwconv_b8) X(scatter_vnchwconv_b16) X(scatter_vnchwconv_b32)                                  \
    X(vcadd) X(vcmax) X(vcmin) X(vcgadd) X(vcgmax) X(vcgmin) X(vcpadd) X(vbitsort) X(vmrgsort4)                \
    X(vconv_f162f32) X(vconv_bf162f32) ASCENDSIM_ROUNDED(X, vconv_bf162s32)                                    \
    ASCENDSIM_ROUNDED(X, vconv_f162s16) ASCENDSIM_ROUNDED(X, vconv_f162s32)                                    \
    X(vconv_f162s8) ASCENDSIM_ROUNDED(X, vconv_f162s8) X(vconv_f162u8) ASCENDSIM_ROUNDED(X, vconv_f162u8)      \
    ASCENDSIM_ROUNDED(X, vconv_f322bf16) X(vconv_f322f16) ASCENDSIM_ROUNDED(X, vconv_f322f16)                  \
    X(vconv_f322f16o) ASCENDSIM_ROUNDED(X, vconv_f322f32) ASCENDSIM_ROUNDED(X, vconv_f322s16)                  \
    ASCENDSIM_ROUNDED(X, vconv_f322s32) ASCENDSIM_ROUNDED(X, vconv_f322s64)                                    \
    X(vconv_s162f16) ASCENDSIM_ROUNDED(X, vconv_s162f16) X(vconv_s162f32) X(vconv_s322f32)                     \
    ASCENDSIM_ROUNDED(X, vconv_s322f32) X(vconv_s322s16) X(vconv_s322s64)                                      \
    ASCENDSIM_ROUNDED(X, vconv_s642f32) X(vconv_s642s32) X(vconv_s82f16) X(vconv_u82f16) X(vconv_deq)          \
    X(dcci) X(dsb)                                                                                             \
    X(copy_gm_to_cbuf) X(copy_cbuf_to_gm) X(copy_cbuf_to_ubuf) X(copy_ubuf_to_cbuf) X(copy_cbuf_to_bt)         \
    X(copy_cbuf_to_fbuf) X(copy_gm_to_cbuf_multi_nd2nz_b8) X(copy_gm_to_cbuf_multi_nd2nz_b16)                  \
    X(copy_gm_to_cbuf_multi_nd2nz_b32s) X(load_gm_to_cbuf) X(load_gm_to_ca) X(load_gm_to_cb)                   \
    X(load_cbuf_to_ca) X(load_cbuf_to_cb) X(load_cbuf_to_ca_s4) X(load_cbuf_to_cb_s4)                          \
    X(load_cbuf_to_ca_transpose) X(load_cbuf_to_cb_transpose) X(load_cbuf_to_cb_transpose_s4)                  \
    X(load_cbuf_to_cb_sp) X(img2colv2_cbuf_to_ca) X(img2colv2_cbuf_to_cb) X(create_cbuf_matrix)                \
    X(create_ca_matrix) X(create_cb_matrix) X(copy_matrix_cbuf_to_cc) X(mad) X(mad_s4) X(mad_sp)               \
    X(copy_matrix_cc_to_gm) X(copy_matrix_cc_to_cbuf)                                                          \
    X(vconv_s42f16) X(vconv_f162s4) ASCENDSIM_ROUNDED(X, vconv_f162s4) X(vconv_deqs162b8l) X(vconv_deqs162b8h) \
    X(vconv_vdeqs162b8l) X(vconv_vdeqs162b8h) X(v4dtrans)

namespace ascendsim {

enum Opcode : uint16_t {
#define ASCENDSIM_ENUM(name) kOp_##name,
    ASCENDSIM_OPCODES(ASCENDSIM_ENUM)
#undef ASCENDSIM_ENUM
    kOpCount
};

/// Name of an opcode; "?" for a number out of range.
const char* OpcodeName(uint32_t opcode);

}  // namespace ascendsim

#endif
