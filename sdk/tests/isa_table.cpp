// The table of instructions: consistent with itself, and printed as docs/isa.md with --markdown.
#include <set>

#include "isa_support.h"

#include "isa/forms.h"

using namespace isa_test;
using ascendsim::isa::FormRule;
using ascendsim::isa::kForms;

namespace {

struct Row {
    const char* name;
    uint8_t unit;
    const char* form;
    const char* types;
    const char* meaning;
};

struct Section {
    const char* title;
    std::vector<Row> rows;
};

std::vector<Section> Sections()
{
    using namespace ascendsim;
    using ascendsim::isa::kPipeGiven;
    return {
#define ASCENDSIM_ROW(name, unit, form, types, meaning) Row{#name, kPipe##unit, #form, types, meaning},
#define ASCENDSIM_SECTION(title, table) Section{title, {table(ASCENDSIM_ROW)}},
        ASCENDSIM_SECTIONS(ASCENDSIM_SECTION)
#undef ASCENDSIM_SECTION
#undef ASCENDSIM_ROW
    };
}

const char* UnitName(uint8_t unit)
{
    switch (unit) {
        case ascendsim::kPipeS:
            return "scalar";
        case ascendsim::kPipeV:
            return "vector";
        case ascendsim::kPipeMte1:
            return "MTE1";
        case ascendsim::kPipeMte2:
            return "MTE2";
        case ascendsim::kPipeMte3:
            return "MTE3";
        case ascendsim::kPipeM:
            return "cube";
        case ascendsim::kPipeFix:
            return "fixpipe";
        case ascendsim::isa::kPipeGiven:
            return "given";
        default:
            return "-";
    }
}

const char* SpaceText(uint8_t space)
{
    constexpr const char* kNames[] = {"UB", "GM", "L1", "L0A", "L0B", "L0C", "BT", "FB"};
    return kNames[space];
}

std::string OperandText(const FormRule& form)
{
    std::string text;
    for (int i = 0; i < form.operands; ++i) {
        const auto& operand = form.operand[i];
        text += (i > 0 ? ", " : "") + std::string(operand.name) + " " + SpaceText(operand.space) +
                (operand.access == ascendsim::kRead ? " read" : operand.access == ascendsim::kWrite ? " written" : " updated");
        if (operand.alignment > 1) {
            text += " (" + std::to_string(operand.alignment) + ")";
        }
    }
    return text;
}

std::string RuleText(const FormRule& form)
{
    std::string text = form.overlap == ascendsim::isa::Overlap::kInPlace
                           ? "in place or disjoint within a repeat, and no repeat reads what an earlier one wrote"
                           : "";
    if (*form.rules != '\0') {
        text += (text.empty() ? "" : "; ") + std::string(form.rules);
    }
    return text;
}

void PrintPage()
{
    size_t count = 0;
    for (const Section& section : Sections()) {
        count += section.rows.size();
    }
    std::printf("# Instructions\n\n");
    std::printf("Printed from the table in `sdk/src/machine/opcodes.h` and the forms in `sdk/src/isa/forms.h`; a test compares.\n"
                "`BLESS=1 cargo test --test suite isa_page` writes it anew.\n\n");
    std::printf("The simulator knows the %zu entries below. An instruction that the toolkit's headers name and that is not\n"
                "here is none of architecture 2201, or raises the `unsupported` fault with its name. How to add one:\n"
                "[extending.md](extending.md).\n\n",
                count);
    std::printf("Types: `a>b` reads a and writes b, `a*b>c` multiplies. Where a conversion has a last letter r, a, f, c, z or o, it\n"
                "names the rounding. Counter mode and the lane mask hold for all forms with a repeat count on the vector unit.\n\n");
    std::printf("## Forms\n\nThe number after an operand is the alignment in bytes that is checked.\n\n");
    std::printf("| form | operands | counts | checked |\n|---|---|---|---|\n");
    for (const FormRule& form : kForms) {
        if (form.operands > 0) {
            std::printf("| %s | %s | %s | %s |\n", form.name, OperandText(form).c_str(), form.counts, RuleText(form).c_str());
        }
    }
    for (const Section& section : Sections()) {
        std::printf("\n## %s\n\n| instruction | unit | form | types | meaning |\n|---|---|---|---|---|\n", section.title);
        for (const Row& row : section.rows) {
            std::printf("| `%s` | %s | %s | %s | %s |\n", row.name, UnitName(row.unit), row.form, row.types, row.meaning);
        }
    }
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc > 1 && std::strcmp(argv[1], "--markdown") == 0) {
        PrintPage();
        return 0;
    }
    std::set<std::string> names;
    std::set<std::string> used;
    size_t position = 0;
    for (const Section& section : Sections()) {
        for (const Row& row : section.rows) {
            Expect(names.insert(row.name).second, std::string(row.name) + " is listed twice");
            Expect(std::strcmp(row.name, ascendsim::OpcodeName(position)) == 0, std::string(row.name) + " has another number in the trace");
            Expect(*row.meaning != '\0', std::string(row.name) + " says nothing");
            const FormRule& form = kForms[ascendsim::isa::FormIndex(row.form)];
            Expect(form.operands == 0 || *row.types != '\0', std::string(row.name) + " has operands without a type");
            used.insert(row.form);
            ++position;
        }
    }
    for (const FormRule& form : kForms) {
        Expect(used.count(form.name) == 1, std::string("no instruction has the form ") + form.name);
        for (int i = 0; i < form.operands; ++i) {
            Expect(form.operand[i].alignment > 0, std::string("no alignment in ") + form.name);
        }
    }
    return Report("isa_table");
}
