//! Kernels that do what no device does: they call the system or the simulator, bring instructions of their own, or go to memory past
//! the API. Each is held against the honest operator by `compare`.

use crate::support::{Ended, Project, edited, require_tools};

const KERNEL: &str = "op_kernel/add_custom.cpp";
const INCLUDE: &str = "#include \"kernel_operator.h\"\n";
const ADD: &str = "        AscendC::Add(zLocal, xLocal, yLocal, this->tileLength);\n";
const COPY_IN: &str = "        AscendC::DataCopy(yLocal, yGm[tile * this->tileLength], this->tileLength);\n";

/// The operator with an edited kernel, compared with what it was.
fn compared(edits: &[(&str, &str)]) -> Ended {
    let (honest, project) = (Project::fixture("add_custom"), Project::fixture("add_custom"));
    let kernel = edits.iter().fold(project.read(KERNEL), |kernel, (from, to)| edited(&kernel, from, to));
    project.write(KERNEL, &kernel);
    let against = honest.path().display().to_string();
    project.run(&["compare", "--against", &against, "--probes", "3"])
}

fn refused(edits: &[(&str, &str)], reason: &str) {
    let ended = compared(edits).expect(1);
    let said = ended.named("comparison").into_iter().chain(ended.named("error")).map(ToString::to_string);
    let said: String = said.collect();
    assert!(said.contains(reason), "{reason}: {said}");
}

/// What a device does have: a table of the kernel's own lies in its global memory, wherever the linker of this machine puts it.
#[test]
fn tables_of_a_kernel_are_global_memory() {
    require_tools!();
    let table = "template <typename T> struct Tables {\n    constexpr static __gm__ T steps[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};\n};\n";
    let include = format!("{INCLUDE}{table}");
    let last = "        pipe.InitBuffer(outQueueZ, BUFFER_NUM, this->tileLength * sizeof(half));\n";
    let copied = "        AscendC::TBuf<AscendC::TPosition::VECCALC> own;\n        pipe.InitBuffer(own, 32);\n        AscendC::GlobalTensor<int16_t> steps;\n        steps.SetGlobalBuffer((__gm__ int16_t *)Tables<int16_t>::steps, 16);\n        AscendC::DataCopy(own.Get<int16_t>(), steps, 16);\n";
    compared(&[(INCLUDE, &include), (last, &format!("{last}{copied}"))]).expect(0);
}

#[test]
fn the_system_is_not_there() {
    require_tools!();
    let fork = format!("{INCLUDE}#include <unistd.h>\n");
    refused(
        &[(INCLUDE, &fork), (ADD, &format!("        if (fork() == 0) _exit(0);\n{ADD}"))],
        "a device does not have",
    );
}

#[test]
fn the_simulator_is_not_to_be_spoken_to() {
    require_tools!();
    let declared = format!("{INCLUDE}extern \"C\" bool Close() __asm__(\"_ZN9ascendsim10CloseTraceEv\");\n");
    refused(&[(INCLUDE, &declared), (ADD, &format!("{ADD}        Close();\n"))], "ascendsim::CloseTrace");
    let asked = format!("        if (!ascendsim::TouchesData()) return;\n{ADD}");
    refused(&[(ADD, &asked)], "ascendsim::TouchesData");
}

#[test]
fn instructions_are_not_replaced() {
    require_tools!();
    let own = format!(
        "{INCLUDE}__attribute__((used)) void copy_gm_to_ubuf(void*, const void*, uint8_t, uint16_t, uint16_t, uint16_t, uint16_t) {{}}\n"
    );
    refused(&[(INCLUDE, &own)], "copy_gm_to_ubuf");
}

#[test]
fn assembly_is_of_another_machine() {
    require_tools!();
    let hidden = format!("{INCLUDE}#define WORDS(text) __a##sm__ volatile(text ::: \"memory\")\n");
    refused(&[(INCLUDE, &hidden), (ADD, &format!("{ADD}        WORDS(\"nop\");\n"))], "assembly");
}

/// A loop over plain pointers is the scalar unit's work, and it takes that unit's time.
#[test]
fn plain_loops_take_their_time() {
    require_tools!();
    let global = "        for (uint32_t i = 0; i < this->tileLength; i++) {\n            yLocal.SetValue(i, yGm.GetPhyAddr()[tile * this->tileLength + i]);\n        }\n";
    let local = "        const half* a = reinterpret_cast<const half*>(xLocal.GetPhyAddr());\n        const half* b = reinterpret_cast<const half*>(yLocal.GetPhyAddr());\n        \
                 half* c = reinterpret_cast<half*>(zLocal.GetPhyAddr());\n        for (uint32_t i = 0; i < this->tileLength; i++) {\n            c[i] = half(float(a[i]) + float(b[i]));\n        }\n";
    // No device has a register of thirty-two bytes beside its vector unit.
    let wide = "        typedef int16_t Wide __attribute__((vector_size(32)));\n        const Wide* a = reinterpret_cast<const Wide*>(xLocal.GetPhyAddr());\n        \
                Wide* c = reinterpret_cast<Wide*>(zLocal.GetPhyAddr());\n        for (uint32_t i = 0; i < this->tileLength / 16; i++) {\n            c[i] = a[i] + a[i];\n        }\n";
    for edit in [(COPY_IN, global), (ADD, local), (ADD, wide)] {
        let ended = compared(&[edit]).expect(1);
        let comparison = ended.named("comparison")[0].clone();
        for probe in comparison["probes"].as_array().expect("probes") {
            let (before, now) = (probe["before_us"].as_f64(), probe["now_us"].as_f64());
            // Without a time it was found to race with the copy.
            assert!(now.is_none_or(|now| now > before.expect("a time")), "{probe}");
        }
    }
}

/// What is right for ordinary values alone is not right.
#[test]
fn values_beyond_the_range_are_looked_at() {
    require_tools!();
    let (honest, project) = (Project::fixture("softmax_rows"), Project::fixture("softmax_rows"));
    let file = "op_kernel/softmax_rows.h";
    let kernel = project.read(file);
    let constant = edited(&kernel, "tileMaximum = result.GetValue(0);", "tileMaximum = 1.0f;");
    project.write(file, &constant);
    let against = honest.path().display().to_string();
    let ended = project.run(&["compare", "--against", &against, "--probes", "8"]).expect(1);
    let comparison = ended.named("comparison")[0].to_string();
    assert!(comparison.contains("differ"), "{comparison}");
}
