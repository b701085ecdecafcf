// Special registers that configure cube, load and fixpipe instructions. One set per core.
#ifndef ASCENDSIM_CUBE_REGISTERS_H
#define ASCENDSIM_CUBE_REGISTERS_H

#include <cstdint>

namespace ascendsim {
namespace isa __attribute__((visibility("hidden"))) {

struct CubeRegisters {};

}  // namespace isa
}  // namespace ascendsim

#endif
