// What instructions of one form have in common: operands, ranges of their counts, and rules that are checked or documented.
// The forms are named by the table in machine/opcodes.h. Internal to the library.
#ifndef ASCENDSIM_FORMS_H
#define ASCENDSIM_FORMS_H

#include <cstdint>

#include "machine/opcodes.h"
#include "machine/trace.h"

namespace ascendsim {
namespace isa __attribute__((visibility("hidden"))) {

/// Where an operand lies, what is done to it, and the alignment in bytes that its address must have there.
struct OperandRule {
    const char* name;
    TraceSpace space;
    uint8_t access;
    uint16_t alignment;
};

/// How source and destination may overlap.
enum class Overlap : uint8_t {
    kNone,      // nothing is checked
    kInPlace    // within a repeat the same bytes or disjoint; no later repeat reads what an earlier one wrote
};

struct FormRule {
    const char* name;
    int operands;
    OperandRule operand[4];
    Overlap overlap;
    const char* counts;   // arguments that count, with their ranges and units
    const char* rules;    // what else is checked
};

// clang-format off
#define ASCENDSIM_VECTOR_COUNTS "repeat 0..255; block and repeat strides 0..255 blocks of 32 bytes"
#define ASCENDSIM_UNARY_COUNTS "repeat 0..255; block strides 0..65535, repeat strides 0..4095 blocks of 32 bytes"
#define ASCENDSIM_BURST_COUNTS "bursts 0..4095 of 0..65535 blocks of 32 bytes; gaps 0..65535 blocks"
#define ASCENDSIM_LOAD_COUNTS "first fractal 0..65535; repeat 0..255; source stride and destination gap 0..65535 fractals of 512 bytes"

constexpr FormRule kForms[] = {
    {"Mark", 0, {}, Overlap::kNone, "", ""},
    {"Register", 0, {}, Overlap::kNone, "", ""},
    {"Flag", 0, {}, Overlap::kNone, "event or flag number", "event numbers 0..7, cross-core flags 0..15"},
    {"GmToUb", 2, {{"dst", kSpaceUb, kWrite, 32}, {"src", kSpaceGm, kRead, 1}}, Overlap::kNone, ASCENDSIM_BURST_COUNTS, ""},
    {"UbToGm", 2, {{"dst", kSpaceGm, kWrite, 1}, {"src", kSpaceUb, kRead, 32}}, Overlap::kNone, ASCENDSIM_BURST_COUNTS, ""},
    {"UbToUb", 2, {{"dst", kSpaceUb, kWrite, 32}, {"src", kSpaceUb, kRead, 32}}, Overlap::kNone, ASCENDSIM_BURST_COUNTS, ""},
    {"GmToUbAligned", 2, {{"dst", kSpaceUb, kWrite, 32}, {"src", kSpaceGm, kRead, 1}}, Overlap::kNone,
     "bursts 0..4095 of 0..2097151 bytes; source gap in bytes, destination gap in blocks; paddings in elements", "each padding takes at most 32 bytes"},
    {"UbToGmAligned", 2, {{"dst", kSpaceGm, kWrite, 1}, {"src", kSpaceUb, kRead, 32}}, Overlap::kNone,
     "bursts 0..4095 of 0..2097151 bytes; source gap in blocks, destination gap in bytes", ""},
    {"Binary", 3, {{"dst", kSpaceUb, kWrite, 32}, {"src0", kSpaceUb, kRead, 32}, {"src1", kSpaceUb, kRead, 32}}, Overlap::kInPlace, ASCENDSIM_VECTOR_COUNTS, ""},
    {"BinaryAccumulate", 3, {{"dst", kSpaceUb, kReadWrite, 32}, {"src0", kSpaceUb, kRead, 32}, {"src1", kSpaceUb, kRead, 32}}, Overlap::kInPlace, ASCENDSIM_VECTOR_COUNTS, ""},
    {"Unary", 2, {{"dst", kSpaceUb, kWrite, 32}, {"src", kSpaceUb, kRead, 32}}, Overlap::kInPlace, ASCENDSIM_UNARY_COUNTS, ""},
    {"Scalar", 2, {{"dst", kSpaceUb, kWrite, 32}, {"src", kSpaceUb, kRead, 32}}, Overlap::kInPlace, ASCENDSIM_UNARY_COUNTS, ""},
    {"ScalarAccumulate", 2, {{"dst", kSpaceUb, kReadWrite, 32}, {"src", kSpaceUb, kRead, 32}}, Overlap::kInPlace, ASCENDSIM_UNARY_COUNTS, ""},
    {"Compare", 3, {{"dst", kSpaceUb, kWrite, 32}, {"src0", kSpaceUb, kRead, 32}, {"src1", kSpaceUb, kRead, 32}}, Overlap::kNone, ASCENDSIM_VECTOR_COUNTS, ""},
    {"CompareScalar", 2, {{"dst", kSpaceUb, kWrite, 32}, {"src", kSpaceUb, kRead, 32}}, Overlap::kNone, ASCENDSIM_UNARY_COUNTS, ""},
    {"CompareMask", 2, {{"src0", kSpaceUb, kRead, 32}, {"src1", kSpaceUb, kRead, 32}}, Overlap::kNone, ASCENDSIM_VECTOR_COUNTS, "one repeat fills CMPMASK"},
    {"MaskLoad", 1, {{"src", kSpaceUb, kRead, 16}}, Overlap::kNone, "", ""},
    {"MaskStore", 1, {{"dst", kSpaceUb, kWrite, 16}}, Overlap::kNone, "", ""},
    {"Select", 3, {{"dst", kSpaceUb, kWrite, 32}, {"src0", kSpaceUb, kRead, 32}, {"src1 or bits", kSpaceUb, kRead, 32}}, Overlap::kNone, ASCENDSIM_VECTOR_COUNTS,
     "mode 0 takes the bits from CMPMASK, 1 from the operand with a scalar in CMPMASK, 2 from the address in CMPMASK"},
    {"Nibbles", 2, {{"dst", kSpaceUb, kWrite, 32}, {"src", kSpaceUb, kRead, 32}}, Overlap::kNone, ASCENDSIM_UNARY_COUNTS, "a block holds 64 integers of four bits"},
    {"HalfBlocks", 2, {{"dst", kSpaceUb, kWrite, 32}, {"src", kSpaceUb, kRead, 32}}, Overlap::kNone, ASCENDSIM_UNARY_COUNTS, "sixteen bytes of every destination block are written"},
    {"HalfBlocks2", 3, {{"dst", kSpaceUb, kWrite, 32}, {"src0", kSpaceUb, kRead, 32}, {"src1", kSpaceUb, kRead, 32}}, Overlap::kNone, ASCENDSIM_VECTOR_COUNTS, "sixteen bytes of every destination block are written"},
    {"Fill", 1, {{"dst", kSpaceUb, kWrite, 32}}, Overlap::kNone, ASCENDSIM_UNARY_COUNTS, ""},
    {"Spread", 2, {{"dst", kSpaceUb, kWrite, 32}, {"src", kSpaceUb, kRead, 32}}, Overlap::kNone, "repeat 0..255, eight elements each; strides in blocks", ""},
    {"Gather", 2, {{"dst", kSpaceUb, kWrite, 32}, {"offsets", kSpaceUb, kRead, 32}}, Overlap::kNone, "repeat 0..255; offsets in bytes from the base", "every offset stays in the buffer and is aligned to the element (vgather) or block (vgatherb); nothing is read that this or an earlier repeat writes for another lane"},
    {"Pack", 3, {{"dst", kSpaceUb, kWrite, 32}, {"src0", kSpaceUb, kRead, 32}, {"src1", kSpaceUb, kRead, 32}}, Overlap::kNone, "repeat 0..65535; pattern 0..7, 0 for the bits at src1", ""},
    {"Transpose", 2, {{"dst", kSpaceUb, kWrite, 32}, {"src", kSpaceUb, kRead, 32}}, Overlap::kNone, "", ""},
    {"AddressLoad", 1, {{"src", kSpaceUb, kRead, 32}}, Overlap::kNone, "register VA0..VA7, half L128 or H128", ""},
    {"AddressTranspose", 2, {{"dst", kSpaceUb, kWrite, 32}, {"src", kSpaceUb, kRead, 32}}, Overlap::kNone, "repeat 0..255; strides in blocks", "each side has sixteen block addresses in a pair of address registers"},
    {"Exchange", 2, {{"dst", kSpaceUb, kWrite, 32}, {"src", kSpaceUb, kRead, 32}}, Overlap::kNone, "pixels and channels 0..4095", "the operands are disjoint"},
    {"Reduce", 2, {{"dst", kSpaceUb, kWrite, 1}, {"src", kSpaceUb, kRead, 32}}, Overlap::kNone, "repeat 0..255; destination stride in results, source strides in blocks", "the destination is aligned to its elements; no repeat reads what an earlier one wrote"},
    {"Sort", 3, {{"dst", kSpaceUb, kWrite, 32}, {"src", kSpaceUb, kRead, 32}, {"index", kSpaceUb, kRead, 32}}, Overlap::kNone, "repeat 0..255, 32 elements each", ""},
    {"Merge", 2, {{"dst", kSpaceUb, kWrite, 32}, {"lists", kSpaceUb, kRead, 8}}, Overlap::kNone, "repeat 0..255; list lengths 0..4095 records of eight bytes", ""},
    {"GmToL1", 2, {{"dst", kSpaceL1, kWrite, 32}, {"src", kSpaceGm, kRead, 1}}, Overlap::kNone, ASCENDSIM_BURST_COUNTS, "no padding mode"},
    {"L1ToGm", 2, {{"dst", kSpaceGm, kWrite, 1}, {"src", kSpaceL1, kRead, 32}}, Overlap::kNone, ASCENDSIM_BURST_COUNTS, ""},
    {"L1ToUb", 2, {{"dst", kSpaceUb, kWrite, 32}, {"src", kSpaceL1, kRead, 32}}, Overlap::kNone, ASCENDSIM_BURST_COUNTS, ""},
    {"UbToL1", 2, {{"dst", kSpaceL1, kWrite, 32}, {"src", kSpaceUb, kRead, 32}}, Overlap::kNone, ASCENDSIM_BURST_COUNTS, ""},
    {"L1ToL0c", 2, {{"dst", kSpaceL0c, kWrite, 32}, {"src", kSpaceL1, kRead, 32}}, Overlap::kNone, ASCENDSIM_BURST_COUNTS, ""},
    {"L1ToBt", 2, {{"dst", kSpaceBt, kWrite, 64}, {"src", kSpaceL1, kRead, 32}}, Overlap::kNone, "bursts 0..4095 of 0..65535 times 64 source bytes; source gap in blocks of 32 bytes, destination gap of 64", ""},
    {"L1ToFb", 2, {{"dst", kSpaceFb, kWrite, 128}, {"src", kSpaceL1, kRead, 32}}, Overlap::kNone, "bursts 0..4095 of 0..65535 times 128 bytes; strides from start to start, source in 32 bytes, destination in 128", ""},
    {"NdToNz", 2, {{"dst", kSpaceL1, kWrite, 32}, {"src", kSpaceGm, kRead, 1}}, Overlap::kNone,
     "matrices 0..4095; rows 0..16384; columns 0..65535; source strides in elements, destination strides in blocks, between matrices in elements", ""},
    {"GmFractalsL1", 2, {{"dst", kSpaceL1, kWrite, 32}, {"src", kSpaceGm, kRead, 1}}, Overlap::kNone, ASCENDSIM_LOAD_COUNTS, ""},
    {"GmFractalsL0a", 2, {{"dst", kSpaceL0a, kWrite, 512}, {"src", kSpaceGm, kRead, 1}}, Overlap::kNone, ASCENDSIM_LOAD_COUNTS, ""},
    {"GmFractalsL0b", 2, {{"dst", kSpaceL0b, kWrite, 512}, {"src", kSpaceGm, kRead, 1}}, Overlap::kNone, ASCENDSIM_LOAD_COUNTS, ""},
    {"FractalsL0a", 2, {{"dst", kSpaceL0a, kWrite, 512}, {"src", kSpaceL1, kRead, 32}}, Overlap::kNone, ASCENDSIM_LOAD_COUNTS, "only 16-bit elements are turned"},
    {"FractalsL0b", 2, {{"dst", kSpaceL0b, kWrite, 512}, {"src", kSpaceL1, kRead, 32}}, Overlap::kNone, ASCENDSIM_LOAD_COUNTS, "only 16-bit elements are turned"},
    {"SquaresL0a", 2, {{"dst", kSpaceL0a, kWrite, 512}, {"src", kSpaceL1, kRead, 32}}, Overlap::kNone, "first square and stride 0..65535 squares; repeat 0..255; gaps 0..65535 fractals", ""},
    {"SquaresL0b", 2, {{"dst", kSpaceL0b, kWrite, 512}, {"src", kSpaceL1, kRead, 32}}, Overlap::kNone, "first square and stride 0..65535 squares; repeat 0..255; gaps 0..65535 fractals", ""},
    {"SparseL0b", 3, {{"dst", kSpaceL0b, kWrite, 512}, {"src", kSpaceL1, kRead, 32}, {"index", kSpaceL1, kRead, 32}}, Overlap::kNone, "first fractal 0..65535; repeat 0..255", ""},
    {"WindowsL0a", 2, {{"dst", kSpaceL0a, kWrite, 512}, {"src", kSpaceL1, kRead, 32}}, Overlap::kNone, "extensions and starts 0..65535; strides 1..63; filters 1..255 (511); dilations 1..255; channels 1..65535",
     "the first column starts a block of channels; elements of eight and four bits are not turned"},
    {"WindowsL0b", 2, {{"dst", kSpaceL0b, kWrite, 512}, {"src", kSpaceL1, kRead, 32}}, Overlap::kNone, "extensions and starts 0..65535; strides 1..63; filters 1..255 (511); dilations 1..255; channels 1..65535",
     "the first column starts a block of channels; no elements of eight and four bits"},
    {"FillL1", 1, {{"dst", kSpaceL1, kWrite, 32}}, Overlap::kNone, "repeat, blocks of 32 bytes and gap 0..32767", ""},
    {"FillL0a", 1, {{"dst", kSpaceL0a, kWrite, 512}}, Overlap::kNone, "repeat, fractals and gap 0..32767", ""},
    {"FillL0b", 1, {{"dst", kSpaceL0b, kWrite, 512}}, Overlap::kNone, "repeat, fractals and gap 0..32767", ""},
    {"Mad", 4, {{"c", kSpaceL0c, kReadWrite, 1024}, {"a", kSpaceL0a, kRead, 512}, {"b", kSpaceL0b, kRead, 512}, {"bias", kSpaceBt, kRead, 64}}, Overlap::kNone, "m, k, n 0..4095",
     "m = 1 reads a as a vector; float pads k to 8, or to 16 where asked for"},
    {"L0cToGm", 3, {{"dst", kSpaceGm, kWrite, 1}, {"src", kSpaceL0c, kRead, 64}, {"factors", kSpaceFb, kRead, 128}}, Overlap::kNone,
     "n 0..4095; m 0..65535; source stride in rows of 64 bytes; destination stride in blocks, for rows in elements", "the quantisation mode fits the element types; PReLU and 16-bit integer results are not simulated"},
    {"L0cToL1", 3, {{"dst", kSpaceL1, kWrite, 32}, {"src", kSpaceL0c, kRead, 64}, {"factors", kSpaceFb, kRead, 128}}, Overlap::kNone,
     "n 0..4095; m 0..65535; source stride in rows of 64 bytes; destination stride in blocks", "no rows, no channel split"},
};
// clang-format on
#undef ASCENDSIM_LOAD_COUNTS
#undef ASCENDSIM_BURST_COUNTS
#undef ASCENDSIM_UNARY_COUNTS
#undef ASCENDSIM_VECTOR_COUNTS

constexpr bool SameText(const char* a, const char* b)
{
    while (*a != '\0' && *a == *b) {
        ++a;
        ++b;
    }
    return *a == *b;
}

/// Position of a form in kForms; -1 for a name that is none.
constexpr int FormIndex(const char* name)
{
    for (unsigned i = 0; i < sizeof(kForms) / sizeof(kForms[0]); ++i) {
        if (SameText(kForms[i].name, name)) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

/// The unit of an instruction whose call names one.
constexpr uint8_t kPipeGiven = 254;

struct Instruction {
    uint8_t unit;
    uint8_t form;
};

constexpr Instruction kInstructions[] = {
#define ASCENDSIM_ROW(name, unit, form, types, meaning) {kPipe##unit, static_cast<uint8_t>(FormIndex(#form))},
    ASCENDSIM_OPCODES(ASCENDSIM_ROW)
#undef ASCENDSIM_ROW
};
#define ASCENDSIM_ROW(name, unit, form, types, meaning) static_assert(FormIndex(#form) >= 0, "no form " #form);
ASCENDSIM_OPCODES(ASCENDSIM_ROW)
#undef ASCENDSIM_ROW

inline uint8_t UnitOf(uint16_t opcode) { return kInstructions[opcode].unit; }
inline const FormRule& FormOf(uint16_t opcode) { return kForms[kInstructions[opcode].form]; }

}  // namespace isa
}  // namespace ascendsim

#endif
