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
