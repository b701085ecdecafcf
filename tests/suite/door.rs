//! The second door: kernels against the headers of a toolkit. The headers here are a few of our own in the same shape.

use crate::support::{Project, require_tools, root};

fn toolkit() -> String {
    root().join("tests/suite/data/toolkit").display().to_string()
}

fn project() -> Project {
    let project = Project::fixture("add_custom");
    let kernel = fs_err::read_to_string(root().join("tests/suite/data/toolkit/add_custom.cpp")).expect("the kernel");
    project.write("op_kernel/add_custom.cpp", &kernel);
    project
}

/// An array of 8 x 2048 halves of one value, as NumPy writes it.
fn npy(half: u16) -> Vec<u8> {
    let mut header = "{'descr': '<f2', 'fortran_order': False, 'shape': (8, 2048), }".to_owned();
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(std::iter::repeat_n(half.to_le_bytes(), 8 * 2048).flatten());
    bytes
}

/// The project with right answers from outside, of inputs that are ones and twos.
fn project_with_answers() -> Project {
    let project = project();
    let manifest =
        project.read("ascend.toml").replace("reference = \"baseline\"", "reference = \"npy\"\ngolden = \"golden\"");
    project.write("ascend.toml", &manifest);
    fs_err::create_dir_all(project.path().join("golden/8x2048")).expect("a directory");
    for (name, half) in [("x", 0x3C00), ("y", 0x4000), ("z", 0x4200)] {
        fs_err::write(project.path().join(format!("golden/8x2048/{name}.npy")), npy(half)).expect("a file");
    }
    project
}

#[test]
fn a_kernel_builds_and_runs_on_a_toolkits_headers() {
    require_tools!();
    let project = project_with_answers();
    let ended = project.run(&["profile", "--sdk-headers", &toolkit()]).expect(0);
    let profile = ended.named("profile")[0];
    assert_eq!(profile["correct"], true, "{profile}");
    assert_eq!(profile["hazards"], serde_json::json!([]), "{profile}");
    // The API is inlined, so that the kernel's own line waits.
    assert!(profile.to_string().contains("op_kernel/add_custom.cpp"), "{profile}");
}

#[test]
fn memories_that_the_headers_fill_are_fresh_all_the_same() {
    require_tools!();
    let project = project_with_answers();
    let ended = project.run(&["profile", "--sdk-headers", &toolkit()]).expect(0);
    let task_us = ended.named("profile")[0]["task_us"].as_f64().expect("a number");
    assert!(task_us < 50.0, "the fill is not a device's work: {task_us} us");
    // Nobody has written what the second tile holds.
    let kernel = project.read("op_kernel/add_custom.cpp");
    let load = "        b.Load(reinterpret_cast<__gm__ half*>(y) + at);\n";
    let changed = kernel.replacen(load, "", 1);
    assert_ne!(changed, kernel);
    project.write("op_kernel/add_custom.cpp", &changed);
    let ended = project.run(&["profile", "--sdk-headers", &toolkit()]).expect(5);
    let hazards = ended.named("profile")[0]["hazards"].to_string();
    assert!(hazards.contains("uninitialised-read"), "{hazards}");
}

/// Headers read what they may need before they know whether they do; a device's compiler reads it where it is used.
#[test]
fn a_plain_read_of_unwritten_memory_that_changes_nothing_is_a_warning() {
    require_tools!();
    let project = project_with_answers();
    let kernel = project.read("op_kernel/add_custom.cpp");
    let load = "        a.Load(reinterpret_cast<__gm__ half*>(x) + at);\n";
    let read = "        const half early = b.GetValue(7);\n";
    let use_of_it = "        if (data.blockLength == 3) {\n            b.SetValue(7, early);\n        }\n";
    let changed = kernel.replacen(load, &format!("{read}{load}{use_of_it}"), 1);
    assert_ne!(changed, kernel);
    project.write("op_kernel/add_custom.cpp", &changed);
    let ended = project.run(&["profile", "--sdk-headers", &toolkit()]).expect(0);
    let profile = ended.named("profile")[0];
    let hazard = &profile["hazards"][0];
    assert_eq!((&hazard["kind"], &hazard["severity"]), (&"uninitialised-read".into(), &"warning".into()), "{profile}");
    assert_eq!(profile["correct"], true, "{profile}");
}

/// A kernel that hands a function of the API on by its name, of which the headers declare two that fit.
#[test]
fn functions_are_handed_on_by_name() {
    require_tools!();
    let project = project_with_answers();
    let kernel = project.read("op_kernel/add_custom.cpp");
    let by_name = "using WithScalar = void(const AscendC::LocalTensor<half>&, const AscendC::LocalTensor<half>&, \
                   const half&, const int32_t&);\n\
                   template <WithScalar* function>\n\
                   __aicore__ inline void Apply(const AscendC::LocalTensor<half>& tensor, half value, int32_t count)\n\
                   {\n    function(tensor, tensor, value, count);\n}\n\n";
    // Every input of the second tensor is two, so that adding two to the first one is the same.
    let call = "AscendC::LocalTensor<half> first{a.Memory()};\n        \
                Apply<AscendC::Adds>(first, half(2.0f), int32_t(tile));\n";
    let changed =
        kernel.replacen("extern \"C\"", &format!("{by_name}extern \"C\""), 1).replacen("a.Add(b);\n", call, 1);
    project.write("op_kernel/add_custom.cpp", &changed);
    let ended = project.run(&["profile", "--sdk-headers", &toolkit()]).expect(0);
    assert_eq!(ended.named("profile")[0]["correct"], true, "{ended:?}");
    // A float is a half's scalar, though other things can be made of it too.
    let select = "AscendC::Select(first, AscendC::LocalTensor<uint8_t>{}, first, 2.0f, \
                  AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, uint32_t(tile))";
    let selected = changed.replacen("Apply<AscendC::Adds>(first, half(2.0f), int32_t(tile))", select, 1);
    assert_ne!(selected, changed);
    project.write("op_kernel/add_custom.cpp", &selected);
    let ended = project.run(&["profile", "--sdk-headers", &toolkit()]).expect(0);
    assert_eq!(ended.named("profile")[0]["correct"], true, "{ended:?}");
    // A scalar of another type is refused, as the headers refuse it.
    let wrong = changed.replacen("Apply<AscendC::Adds>(first, half(2.0f)", "AscendC::Adds(first, first, 2.0f", 1);
    assert_ne!(wrong, changed);
    project.write("op_kernel/add_custom.cpp", &wrong);
    project.run(&["profile", "--sdk-headers", &toolkit()]).expect(4);
}

#[test]
fn cores_of_both_kinds_exchange_messages_in_the_workspace() {
    require_tools!();
    let project = project_with_answers();
    let kernel = fs_err::read_to_string(root().join("tests/suite/data/toolkit/mixed_add.cpp")).expect("the kernel");
    project.write("op_kernel/add_custom.cpp", &kernel);
    let host = project.read("op_host/add_custom.cpp");
    assert!(host.contains("workspace[0] = 0;"));
    project.write("op_host/add_custom.cpp", &host.replace("workspace[0] = 0;", "workspace[0] = (16 << 20) + 4096;"));
    let ended = project.run(&["profile", "--sdk-headers", &toolkit()]).expect(0);
    let profile = ended.named("profile")[0];
    assert_eq!(profile["correct"], true, "{profile}");
    let hazards = profile["hazards"].as_array().expect("a list");
    assert!(hazards.iter().all(|hazard| hazard["severity"] == "warning"), "{profile}");
}

#[test]
fn the_manifest_chooses_the_headers_and_the_command_line_overrules_it() {
    require_tools!();
    let project = project();
    let own = project.run(&["profile"]).expect(4);
    assert!(format!("{:?}", own.events).contains("Tile"), "{own:?}");
    let manifest = project.read("ascend.toml");
    project.write("ascend.toml", &format!("{manifest}\n[sdk]\nheaders = \"toolkit\"\ntoolkit = {:?}\n", toolkit()));
    project.run(&["profile"]).expect(0);
    project.run(&["profile", "--sdk-headers", "own"]).expect(4);
    let nothing = project.path().join("op_host").display().to_string();
    let ended = project.run(&["profile", "--sdk-headers", &nothing]).expect(3);
    assert!(format!("{:?}", ended.events).contains("kernel_operator.h was not found"), "{ended:?}");
}

/// The profile of the kernel when it reads one value of what it has just loaded, by plain C++, and the line of the read.
fn profile_with_a_scalar_read(index: u32, exit: i32) -> (serde_json::Value, usize) {
    let project = project();
    let kernel = project.read("op_kernel/add_custom.cpp");
    let load = "        a.Load(reinterpret_cast<__gm__ half*>(x) + at);\n";
    let read = format!("        const half first = a.GetValue({index});\n");
    let write = "        a.SetValue(0, first);\n        pipe_barrier(PIPE_ALL);\n        a.Add(b);\n";
    let changed = kernel.replacen(load, &format!("{load}{read}"), 1).replacen("        a.Add(b);\n", write, 1);
    let line = changed.lines().position(|line| line.contains("GetValue")).expect("the read") + 1;
    project.write("op_kernel/add_custom.cpp", &changed);
    let ended = project.run(&["profile", "--sdk-headers", &toolkit()]).expect(exit);
    (ended.named("profile")[0].clone(), line)
}

#[test]
fn plain_accesses_to_on_chip_memory_are_seen() {
    require_tools!();
    let (profile, line) = profile_with_a_scalar_read(0, 0);
    assert_eq!((&profile["correct"], &profile["hazards"]), (&true.into(), &serde_json::json!([])), "{profile}");
    // The compiler makes the scalar unit wait for the copy.
    let stalls = profile["stalls"].as_array().expect("a list");
    let order = stalls.iter().find(|stall| stall["reason"] == "mte2->s access order").expect("a wait for the load");
    assert_eq!((&order["file"], &order["line"]), (&"op_kernel/add_custom.cpp".into(), &line.into()), "{profile}");

    let (profile, line) = profile_with_a_scalar_read(98304, 5);
    let hazard = &profile["hazards"][0];
    assert!(
        hazard["message"]
            .as_str()
            .is_some_and(|message| message.contains("scalar read of 2 bytes at UB offset 196608")),
        "{profile}"
    );
    assert_eq!((&hazard["file"], &hazard["line"]), (&"op_kernel/add_custom.cpp".into(), &line.into()), "{profile}");
}

#[test]
fn a_failed_check_of_the_headers_says_why_at_the_kernels_line() {
    require_tools!();
    let project = project();
    let kernel = project.read("op_kernel/add_custom.cpp").replace("b(tile * sizeof(half), tile)", "b(tile + 2, tile)");
    let line = kernel.lines().position(|line| line.contains("b(tile + 2")).expect("the tile") + 1;
    project.write("op_kernel/add_custom.cpp", &kernel);
    let ended = project.run(&["profile", "--sdk-headers", &toolkit()]).expect(5);
    let profile = ended.named("profile")[0];
    let hazards = profile["hazards"].as_array().expect("a list");
    let failed = hazards.iter().find(|hazard| hazard["kind"] == "bad-argument").expect("the check");
    let message = failed["message"].as_str().unwrap_or_default();
    assert!(message.contains("headers failed: offset ") && message.ends_with("is not a multiple of 32"), "{profile}");
    assert_eq!((&failed["file"], &failed["line"]), (&"op_kernel/add_custom.cpp".into(), &line.into()), "{profile}");
}

/// The kernel that both header sets understand: instructions alone, with one more where the toolkit's are used.
const ON_INSTRUCTIONS: &str = r#"#include "kernel_operator.h"

// No word for this is known to both sets of headers, and kernels may not name the simulator.
#ifdef ASCENDC_CPU_DEBUG
#define ON_CHIP(elements) AscendC::Tile(0, elements).Memory()
#else
#define ON_CHIP(elements) AscendC::LocalTensor<half>(AscendC::TPosition::VECCALC, 0, elements).GetPhyAddr()
#endif

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    const uint32_t tile = data.blockLength / (2 * data.tileNum);
    __ubuf__ half* a = reinterpret_cast<__ubuf__ half*>(ON_CHIP(2 * tile));
    __ubuf__ half* b = a + tile;
    for (uint32_t done = 0; done < data.blockLength; done += tile) {
        const uint64_t at = static_cast<uint64_t>(block_idx) * data.blockLength + done;
        copy_gm_to_ubuf(a, reinterpret_cast<__gm__ half*>(x) + at, 0, 1, tile / 16, 0, 0);
        copy_gm_to_ubuf(b, reinterpret_cast<__gm__ half*>(y) + at, 0, 1, tile / 16, 0, 0);
        pipe_barrier(PIPE_ALL);
        set_mask_norm();
        set_vector_mask(~uint64_t{0}, ~uint64_t{0});
        vadd(a, a, b, tile / 128, 1, 1, 1, 8, 8, 8);
#ifdef MORE_FOR_TOOLKITS
        pipe_barrier(PIPE_V);
        vadds(a, a, static_cast<half>(0.0f), tile / 128, 1, 1, 8, 8);
#endif
        pipe_barrier(PIPE_ALL);
        copy_ubuf_to_gm(reinterpret_cast<__gm__ half*>(z) + at, a, 0, 1, tile / 16, 0, 0);
        pipe_barrier(PIPE_ALL);
    }
}
"#;

#[test]
fn both_doors_are_compared_step_by_step() {
    require_tools!();
    let project = project();
    project.write("op_kernel/add_custom.cpp", ON_INSTRUCTIONS);
    let arguments = ["doors", "--sdk-headers", &toolkit()];
    let same = project.run(&arguments).expect(0);
    let doors = same.named("doors")[0];
    assert!(doors["own_steps"].as_u64().is_some_and(|steps| steps >= 4), "{doors}");
    assert_eq!((&doors["own_steps"], &doors["differences"]), (&doors["toolkit_steps"], &0.into()), "{doors}");
    assert_eq!(doors["outputs"], serde_json::json!([]), "{doors}");
    assert_eq!(doors["hazards"], serde_json::json!([]), "{doors}");

    let more = ON_INSTRUCTIONS.replace("MORE_FOR_TOOLKITS", "ASCENDC_CPU_DEBUG");
    let line = more.lines().position(|line| line.contains("vadds(")).expect("the line") + 1;
    project.write("op_kernel/add_custom.cpp", &more);
    let differ = project.run(&arguments).expect(5);
    let doors = differ.named("doors")[0];
    let first = &doors["first"][0];
    assert_eq!(first["own"], serde_json::Value::Null, "{doors}");
    assert!(first["toolkit"]["what"].as_str().is_some_and(|what| what.contains("vadds")), "{doors}");
    assert_eq!(first["toolkit"]["line"], line, "{doors}");
    project.run(&["doors"]).expect(2);
}
