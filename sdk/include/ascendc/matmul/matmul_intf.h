// Matrix multiplication as kernels include it: the object that the kind of core at hand has, and its registration.
#ifndef ASCENDC_MATMUL_MATMUL_INTF_H
#define ASCENDC_MATMUL_MATMUL_INTF_H

#include "ascendc/matmul/client.h"

namespace AscendC {
#if defined(ASCENDC_CUBE_ONLY) || defined(__DAV_C220_CUBE__)
template <
    class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto& MM_CFG = CFG_NORM,
    class MM_CB = MatmulCallBackFunc<>,
    template <const auto&, typename, typename, typename, typename, typename> class POLICY = Impl::Detail::MatmulPolicy>
using Matmul = MatmulImpl<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, POLICY>;
#else
template <
    class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto& MM_CFG = CFG_NORM,
    class MM_CB = MatmulCallBackFunc<>,
    template <const auto&, typename, typename, typename, typename, typename> class POLICY = Impl::Detail::MatmulPolicy>
using Matmul = MatmulClient<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, POLICY>;
#endif

// What kernels of the matmul family take from its headers: both count in 16 bits, as the library's do.
ASC_API uint16_t CeilDiv(uint16_t value, uint16_t divisor)
{
    if (divisor == 0) {
        ascendsim::Fault("bad-argument", "CeilDiv: division by 0");
        return 0;
    }
    return static_cast<uint16_t>((value + divisor - 1) / divisor);
}

ASC_API uint16_t CeilAlign(uint16_t value, uint16_t unit)
{
    return static_cast<uint16_t>(CeilDiv(value, unit) * unit);
}
}  // namespace AscendC

namespace matmul {
using namespace AscendC;
}

// (pipe, workspace, object, tiling, object, tiling...): in a mixed kernel the cube core serves the vector cores from here on
// and leaves the kernel when they have ended.
#if defined(ASCENDC_CUBE_ONLY)
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...) ::AscendC::detail::InitObjects(tpipe, __VA_ARGS__)
#elif defined(__DAV_C220_CUBE__)
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...)                                                  \
    if (::ascendsim::OnMixedCores() && ::ascendsim::SubBlockDim() > 0) {                          \
        ::AscendC::detail::ServeMatmul(tpipe, reinterpret_cast<__gm__ uint8_t*>(workspace), __VA_ARGS__); \
        return;                                                                                   \
    }                                                                                             \
    ::AscendC::detail::InitObjects(tpipe, __VA_ARGS__)
#else
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...)                                                            \
    ::AscendC::detail::MatmulSession ascendcMatmulSession(reinterpret_cast<__gm__ uint8_t*>(workspace));    \
    ::AscendC::detail::AttachObjects(&ascendcMatmulSession, tpipe, 0, __VA_ARGS__);                         \
    ::AscendC::detail::InitObjects(tpipe, __VA_ARGS__)
#endif
#define REGIST_MATMUL_OBJ_STATIC REGIST_MATMUL_OBJ
#define REGIST_CUBE_OBJ REGIST_MATMUL_OBJ

#endif
