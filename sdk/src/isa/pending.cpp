// Declared instructions whose semantics is not there: each raises the `unsupported` fault with its name.
#include "isa/engine.h"

#include "ascendsim/isa.h"

namespace {
void Missing(uint64_t site, const char* name)
{
    ascendsim::isa::RaiseFault(ascendsim::isa::Current(), ascendsim::isa::FaultKind::kUnsupported, site,
                               "%s: not supported by the simulator", name);
    ascendsim::machine::AbandonBlock();
}
}  // namespace

#define MISSING(name) Missing(ASCENDSIM_SITE(), name)
namespace ascendsim {
namespace cube {
void NdToNzCopy(uint8_t, void*, const void*, const NdToNz&) { MISSING("copy_gm_to_cbuf_multi_nd2nz"); }
void LoadFractals(uint8_t, Place, bool, void*, const void*, const Load2d&) { MISSING("load_cbuf_to_ca/cb"); }
void LoadFractalsTransposed(uint8_t, Place, void*, const void*, const LoadTransposed&) { MISSING("load_cbuf_to_cb_transpose"); }
void Img2col(uint8_t, Place, void*, const void*, const Load3d&) { MISSING("img2colv2_cbuf_to_ca/cb"); }
void Fill(Place, uint8_t, void*, int64_t, uint32_t) { MISSING("create_cbuf_matrix"); }
void Multiply(uint8_t, uint8_t, uint8_t, void*, const void*, const void*, bool, uint64_t, const Mad&) { MISSING("mad"); }
void Drain(bool, uint8_t, uint8_t, void*, const void*, const Fixpipe&) { MISSING("copy_matrix_cc_to_gm/cbuf"); }
void CopyToAccumulators(uint8_t, uint8_t, void*, const void*, uint16_t, uint16_t, uint16_t, uint16_t)
{
    MISSING("copy_matrix_cbuf_to_cc");
}
}  // namespace cube
}  // namespace ascendsim

void copy_gm_to_cbuf(void*, const void*, uint8_t, uint16_t, uint16_t, uint16_t, uint16_t, pad_t) { MISSING("copy_gm_to_cbuf"); }
void copy_cbuf_to_gm(void*, const void*, uint8_t, uint16_t, uint16_t, uint16_t, uint16_t) { MISSING("copy_cbuf_to_gm"); }
void copy_cbuf_to_ubuf(void*, const void*, uint8_t, uint16_t, uint16_t, uint16_t, uint16_t) { MISSING("copy_cbuf_to_ubuf"); }
void copy_ubuf_to_cbuf(void*, const void*, uint8_t, uint16_t, uint16_t, uint16_t, uint16_t) { MISSING("copy_ubuf_to_cbuf"); }
void copy_cbuf_to_bt(uint64_t, const void*, uint16_t, uint16_t, uint16_t, uint16_t, uint16_t) { MISSING("copy_cbuf_to_bt"); }
void copy_cbuf_to_fbuf(void*, const void*, uint16_t, uint16_t, uint16_t, uint16_t) { MISSING("copy_cbuf_to_fbuf"); }
void load_cbuf_to_cb_sp(int8_t*, int8_t*, uint16_t, uint8_t) { MISSING("load_cbuf_to_cb_sp"); }
void mad_sp(int32_t*, int8_t*, int8_t*, uint16_t, uint16_t, uint16_t, uint8_t, bool, bool) { MISSING("mad_sp"); }

#define BODY1(name, D, S) \
    void name(D*, S*, uint8_t, uint16_t, uint16_t, uint16_t, uint16_t) { MISSING(#name); }
BODY1(vconv_s42f16, half, void)
BODY1(vconv_f162s4, void, half)
BODY1(vconv_f162s4r, void, half)
BODY1(vconv_f162s4a, void, half)
BODY1(vconv_f162s4f, void, half)
BODY1(vconv_f162s4c, void, half)
BODY1(vconv_f162s4z, void, half)
BODY1(vabs, int16_t, int16_t)
#define BODYD(name) BODY1(name, int8_t, int16_t) BODY1(name, uint8_t, int16_t)
BODYD(vconv_deqs162b8l)
BODYD(vconv_deqs162b8h)
BODYD(vconv_vdeqs162b8l)
BODYD(vconv_vdeqs162b8h)
void v4dtrans(uint8_t*, uint8_t*, uint16_t, uint16_t, bool) { MISSING("v4dtrans"); }
void v4dtrans(uint16_t*, uint16_t*, uint16_t, uint16_t, bool) { MISSING("v4dtrans"); }
void v4dtrans(uint32_t*, uint32_t*, uint16_t, uint16_t, bool) { MISSING("v4dtrans"); }
