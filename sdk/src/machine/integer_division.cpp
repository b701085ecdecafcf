// Integer divisions by zero in kernels. Many processors trap them, which would end the run; an AI Core goes on. Nothing public says what
// its scalar unit has for a quotient: here it is 0 and the remainder is the dividend, as on ARM, and the trace tells of the division.
#include <csignal>
#include <ucontext.h>

#include "machine/core_state.h"

namespace ascendsim {
namespace machine {

namespace {

struct sigaction g_before_traps;  // what else handles such traps

#if defined(__x86_64__)

/// A division instruction: bytes of its code and of its operand; no bytes for any other instruction.
struct Division {
    size_t length = 0;
    size_t operand = 0;
};

/// DIV and IDIV are the forms 6 and 7 of the opcodes F6 (bytes) and F7 (words, by prefix of 2, 4 or 8 bytes).
Division DivisionAt(const uint8_t* code)
{
    constexpr uint8_t kOperandSize = 0x66;
    constexpr uint8_t kSegmentFs = 0x64;
    constexpr uint8_t kAddressSize = 0x67;
    size_t at = 0;
    bool narrow = false;
    for (; code[at] >= kSegmentFs && code[at] <= kAddressSize; ++at) {
        narrow = narrow || code[at] == kOperandSize;
    }
    bool wide = false;
    if ((code[at] & 0xF0) == 0x40) {
        wide = (code[at++] & 8) != 0;
    }
    const uint8_t opcode = code[at++];
    const uint8_t form = code[at++];
    if ((opcode & 0xFE) != 0xF6 || ((form >> 3) & 7) < 6) {
        return {};
    }
    const int mode = form >> 6;
    const int base = form & 7;
    const bool indexed = mode != 3 && base == 4;
    const bool far = mode == 2 || (mode == 0 && (indexed ? code[at] & 7 : base) == 5);
    at += (indexed ? 1 : 0) + (far ? 4 : 0) + (mode == 1 ? 1 : 0);
    return {at, opcode == 0xF6 ? size_t{1} : wide ? size_t{8} : narrow ? size_t{2} : size_t{4}};
}

/// Puts the result where the instruction would and goes on behind it; false where something else was trapped.
bool SkipDivision(greg_t* registers)
{
    const Division division = DivisionAt(reinterpret_cast<const uint8_t*>(registers[REG_RIP]));
    if (division.length == 0) {
        return false;
    }
    const auto dividend = static_cast<uint64_t>(registers[REG_RAX]);
    switch (division.operand) {
        case 1:
            registers[REG_RAX] = static_cast<greg_t>((dividend & ~uint64_t{0xFFFF}) | (dividend & 0xFF) << 8);
            break;
        case 2:
            registers[REG_RAX] = static_cast<greg_t>(dividend & ~uint64_t{0xFFFF});
            registers[REG_RDX] = static_cast<greg_t>((static_cast<uint64_t>(registers[REG_RDX]) & ~uint64_t{0xFFFF}) |
                                                     (dividend & 0xFFFF));
            break;
        default:
            registers[REG_RAX] = 0;
            registers[REG_RDX] = static_cast<greg_t>(division.operand == 4 ? dividend & 0xFFFFFFFF : dividend);
    }
    registers[REG_RIP] += static_cast<greg_t>(division.length);
    return true;
}

/// Runs on the stack of the core that divides.
void OnTrap(int number, siginfo_t*, void* context)
{
    greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto site = static_cast<uint64_t>(registers[REG_RIP]) + 1;
    if (InBlock() && g_state.core != nullptr && SkipDivision(registers)) {
        RaiseFault(*g_state.core, FaultKind::kDivisionByZero, site,
                   "an integer is divided by zero, or the least one by -1: nothing public says what comes out on a device%s",
                   IsTilingUnset() ? "; the tiling data are all zero (is SaveToBuffer missing?)" : "");
        return;
    }
    // Not a core: the instruction is tried again and meets whoever was there before.
    (void)sigaction(number, &g_before_traps, nullptr);
}

#endif

}  // namespace

DivisionGuard::DivisionGuard()
{
#if defined(__x86_64__)
    struct sigaction action = {};
    action.sa_sigaction = OnTrap;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    (void)sigaction(SIGFPE, &action, &g_before_traps);
#else
    // Processors of other families either trap nothing or are not known here.
    (void)sigaction(SIGFPE, nullptr, &g_before_traps);
#endif
}

DivisionGuard::~DivisionGuard() { (void)sigaction(SIGFPE, &g_before_traps, nullptr); }

}  // namespace machine
}  // namespace ascendsim
