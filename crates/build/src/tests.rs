//! The builder against an SDK of a few lines: what is tested here is the driver, not the simulation.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::builder::Artifacts;
use super::sdk::{LibraryState, Sdk, SdkOptions};
use super::*;
use project::OperatorProject;
use source::SourceTree;
use toolchain::Cmake;

const KERNEL_OPERATOR: &str = "\
#pragma once
#include <cstdint>
#include <cstddef>
#define __global__
#define __aicore__
#define GM_ADDR uint8_t*
struct half { unsigned short bits; };
struct bfloat16_t { unsigned short bits; };
void vfill(uint8_t* to, int value);
void vmissing(uint8_t* to);
";

const LAUNCH: &str = "\
#pragma once
namespace ascendsim {
struct Launch {
    template <typename Blocks, typename Size, typename Stream> Launch(const char*, Blocks blocks, Size, Stream) : count(blocks) {}
    template <typename Function, typename... Values> void Run(Function function, Values... values)
    {
        for (int block = 0; block < count; ++block) {
            function(values...);
        }
    }
    int count;
};
}
";

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The embedded CMake side with a tiny library beside it.
fn tiny_sdk(folder: &Path) -> Option<Sdk> {
    if let Err(error) = Cmake::find() {
        eprintln!("skipped: {error}");
        return None;
    }
    let options = SdkOptions { directory: None, cache: Some(folder.join("cache")), jobs: 1 };
    let embedded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk");
    let root = folder.join("sdk");
    for part in ["cmake", "bin"] {
        std::fs::create_dir_all(root.join(part)).unwrap();
        for entry in std::fs::read_dir(embedded.join(part)).unwrap().flatten() {
            std::fs::copy(entry.path(), root.join(part).join(entry.file_name())).unwrap();
        }
    }
    write(&root, "include/kernel_operator.h", KERNEL_OPERATOR);
    write(&root, "include/ascendsim/launch.h", LAUNCH);
    write(
        &root,
        "include/ascendsim/knob.h",
        "#pragma once\nextern \"C\" long long ascend_tune_knob(const char*, long long);\n",
    );
    write(
        &root,
        "src/machine/fill.cpp",
        "#include \"kernel_operator.h\"\n#include \"ascendsim/knob.h\"\nvoid vfill(uint8_t* to, int value) { *to = static_cast<uint8_t>(*to + value); }\n\
         extern \"C\" long long ascend_tune_knob(const char*, long long fallback) { return fallback; }\n",
    );
    // Kernels announce every access that they make to memory.
    write(
        &root,
        "src/machine/accesses.cpp",
        "#define HEARD(bytes) void __tsan_read##bytes(void*) {} void __tsan_write##bytes(void*) {}\n\
         extern \"C\" {\nvoid __tsan_init() {}\nvoid __tsan_init();\nHEARD(1) HEARD(2) HEARD(4) HEARD(8) HEARD(16)\n}\n",
    );
    if let Err(error) = compiler::Compiler::find() {
        eprintln!("skipped: {error}");
        return None;
    }
    Some(Sdk::prepare(&SdkOptions { directory: Some(root), ..options }).unwrap_or_else(|error| panic!("{error}")))
}

fn builder(root: &Path, sdk: Sdk, work: PathBuf) -> Builder {
    let options = BuildOptions { work_directory: Some(work), jobs: 2, ..BuildOptions::default() };
    Builder::new(OperatorProject::find(root).unwrap(), sdk, options).unwrap()
}

fn operator(base: &Path) -> PathBuf {
    let root = base.join("ops/math/add");
    write(base, "ops/common/inc/op_kernel/shared.h", "constexpr int kShared = 1;\n");
    write(&root, "CMakeLists.txt", "add_all_modules_sources(OPTYPE add ACLNNTYPE aclnn)\n");
    write(&root, "op_host/add_def.cpp", "int definition() { return 1; }\n");
    write(
        &root,
        "op_host/add_tiling.cpp",
        "#include \"math/add/op_kernel/add_data.h\"\n#include \"../op_kernel/add_key.h\"\nstatic_assert(kData == 7);\nint tiling() { return kData; }\n",
    );
    write(&root, "op_kernel/add_data.h", "#pragma once\nconstexpr int kData = 7;\n");
    write(
        &root,
        "op_kernel/add_key.h",
        "#define ASCENDC_TPL_UI_LIST 1\n#define ASCENDC_TPL_ARGS_DECL(...)\nASCENDC_TPL_ARGS_DECL(Add, ASCENDC_TPL_UINT_DECL(mode, 4, ASCENDC_TPL_UI_LIST, 5, 9), ASCENDC_TPL_BOOL_DECL(last, 0, 1));\n",
    );
    write(
        &root,
        "op_kernel/add.h",
        "#include \"../inc/shared.h\"\ninline void Body(uint8_t* x, int value)\n{\n    vfill(x, value + kShared);\n}\n",
    );
    write(
        &root,
        "op_kernel/add.cpp",
        "#include \"kernel_operator.h\"\n#include \"add.h\"\n#include \"add_data.h\"\n#include \"add_key.h\"\n\
         template <unsigned mode, bool last>\n__global__ __aicore__ void add(GM_ADDR x, GM_ADDR tiling)\n{\n    static_assert(mode == 9 && last);\n    Body(x, kData);\n}\n",
    );
    root
}

fn variant(builder: &Builder, tiling_key: u64) -> KernelVariant {
    KernelVariant {
        op_type: "Add".into(),
        entry: builder.project().kernel_entries[0].clone(),
        inputs: vec![TensorBinding { name: "x".into(), dtype: "float16".into(), format: "ND".into() }],
        outputs: vec![],
        tiling_key,
        tiling_classes: vec![],
    }
}

fn vector_library(builder: &Builder, tree: &SourceTree, variant: &KernelVariant) -> Result<Artifact, BuildError> {
    builder.kernel(tree, variant).map(|libraries| libraries.vector.expect("it runs on vector cores"))
}

fn diagnostics(outcome: Result<Artifact, BuildError>) -> Vec<String> {
    match outcome {
        Err(BuildError::Compile(failure)) => failure.diagnostics.iter().map(Diagnostic::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_operator_of_a_repository_is_built_and_found_again() {
    let temporary = tempfile::tempdir().unwrap();
    let Some(sdk) = tiny_sdk(temporary.path()) else { return };
    let builder = builder(&operator(temporary.path()), sdk, temporary.path().join("work"));
    let tree = builder.project().load_sources().unwrap();
    let host = builder.host(&tree).unwrap_or_else(|error| panic!("{error}"));
    assert!(host.path.is_file() && !host.cached && builder.host(&tree).unwrap().cached);
    // Mode 9 has index 1, and the switch lies above the four bits of the mode.
    let kernel = vector_library(&builder, &tree, &variant(&builder, 0x11)).unwrap_or_else(|error| panic!("{error}"));
    assert!(vector_library(&builder, &tree, &variant(&builder, 0x11)).unwrap().cached);
    let bytes = std::fs::read(&kernel.path).unwrap();
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("add.h") && !holds("/overlay/"), "debug information names the project's files");
    assert_eq!(project_relative(builder.project(), "./op_host/../op_kernel/add.h").as_deref(), Some("op_kernel/add.h"));
    assert_eq!(project_relative(builder.project(), "/usr/include/stdio.h"), None);

    // A host edit leaves the kernel as it was, and the header that both use changes both.
    let mut edited = tree.clone();
    edited.insert("op_host/add_def.cpp", "int definition() { return 2; }\n");
    assert!(vector_library(&builder, &edited, &variant(&builder, 0x11)).unwrap().cached);
    assert!(!builder.host(&edited).unwrap().cached);
    edited.insert("op_kernel/add_data.h", "#pragma once\nconstexpr int kData = 8;\n");
    assert!(!vector_library(&builder, &edited, &variant(&builder, 0x11)).unwrap().cached);
    let errors = diagnostics(builder.host(&edited));
    assert!(errors[0].starts_with("op_host/add_tiling.cpp:3:"), "{errors:?}");

    // The wrong key selects another instance, whose assertion fails at the project's own line.
    let errors = diagnostics(vector_library(&builder, &tree, &variant(&builder, 0)));
    assert!(errors[0].starts_with("op_kernel/add.cpp:8:"), "{errors:?}");
    // What the SDK lacks is found when linking, and remembered.
    let mut lacking = tree.clone();
    lacking.insert("op_kernel/add.h", "inline void Body(uint8_t* x, int)\n{\n    vmissing(x);\n}\n");
    for _ in 0..2 {
        let errors = diagnostics(vector_library(&builder, &lacking, &variant(&builder, 0x11)));
        assert!(errors[0].contains("vmissing"), "{errors:?}");
        assert!(errors[0].contains("op_kernel/add.h:3"), "{errors:?}");
    }
}

#[test]
fn a_quicker_linker_links_where_there_is_one_and_its_refusal_is_not_the_last_word() {
    let temporary = tempfile::tempdir().unwrap();
    let Some(sdk) = tiny_sdk(temporary.path()) else { return };
    let is_there = sdk.compiler.quick_linker().is_some();
    let refusing = Sdk { compiler: sdk.compiler.clone().with_quick_linker("-fuse-ld=no-such-linker"), ..sdk.clone() };
    let root = operator(temporary.path());
    for (sdk, quick) in [(sdk, is_there), (refusing, false)] {
        let work = temporary.path().join(format!("work-{quick}"));
        let options = BuildOptions { artifacts: Artifacts::Private, ..BuildOptions::default() };
        let options = BuildOptions { work_directory: Some(work), jobs: 2, ..options };
        let builder = Builder::new(OperatorProject::find(&root).unwrap(), sdk, options).unwrap();
        let tree = builder.project().load_sources().unwrap();
        let kernel = vector_library(&builder, &tree, &variant(&builder, 0x11)).unwrap();
        for library in [builder.host(&tree).unwrap(), kernel] {
            let signed = std::fs::read(&library.path).unwrap().windows(4).any(|window| window == b"gold");
            assert_eq!(signed, quick, "{}", library.path.display());
        }
    }
}

#[test]
fn headers_that_are_compiled_once_are_those_that_the_project_means() {
    let temporary = tempfile::tempdir().unwrap();
    let Some(sdk) = tiny_sdk(temporary.path()) else { return };
    if sdk.compiler.family != compiler::CompilerFamily::Gnu {
        return;
    }
    let header =
        format!("{KERNEL_OPERATOR}#ifdef SHIFTED\ntypedef char Shifted;\n#else\ntypedef long Shifted;\n#endif\n");
    write(&sdk.root, "include/kernel_operator.h", &header);
    let cache = temporary.path().join("cache");
    let compiled = || {
        let folders = std::fs::read_dir(&cache).unwrap().flatten();
        folders.filter(|folder| folder.path().join("own_kernel.h.gch").is_file()).count()
    };
    let root = operator(temporary.path());
    let kernel = |bytes: usize| {
        let builder = builder(&root, sdk.clone(), temporary.path().join("work"));
        let mut tree = builder.project().load_sources().unwrap();
        let text = tree.text("op_kernel/add.cpp").unwrap().to_owned();
        tree.insert("op_kernel/add.cpp", format!("{text}static_assert(sizeof(Shifted) == {bytes});\n"));
        vector_library(&builder, &tree, &variant(&builder, 0x11)).unwrap_or_else(|error| panic!("{error}"))
    };
    kernel(8);
    assert_eq!(compiled(), 1);
    // A definition that the headers ask for: they are read again, and nothing is compiled for it.
    let cmake = root.join("CMakeLists.txt");
    let flagged =
        "add_all_modules_sources(OPTYPE add ACLNNTYPE aclnn)\nadd_ops_compile_options(Add OPTIONS -DSHIFTED=1)\n";
    let plain = std::fs::read_to_string(&cmake).unwrap();
    std::fs::write(&cmake, flagged).unwrap();
    kernel(1);
    std::fs::write(&cmake, plain).unwrap();
    // A project with a header of that name wants its own.
    let own = header.replace("long Shifted", "short Shifted").replace("#pragma once", "#ifndef OWN_H\n#define OWN_H");
    write(&root, "op_kernel/kernel_operator.h", &format!("{own}#endif\n"));
    kernel(2);
    assert_eq!(compiled(), 1);
}

#[test]
fn headers_of_host_code_are_those_that_the_project_means() {
    let temporary = tempfile::tempdir().unwrap();
    let Some(sdk) = tiny_sdk(temporary.path()) else { return };
    if sdk.compiler.family != compiler::CompilerFamily::Gnu {
        return;
    }
    write(&sdk.root, "include/register/op_def_registry.h", "#pragma once\n#include \"graph/kind.h\"\n");
    write(&sdk.root, "include/graph/kind.h", "#pragma once\ntypedef long Kind;\n");
    let cache = temporary.path().join("cache");
    let compiled = || {
        let folders = std::fs::read_dir(&cache).unwrap().flatten();
        folders.filter(|folder| folder.path().join("own_host.h.gch").is_file()).count()
    };
    let root = operator(temporary.path());
    let host = |bytes: usize, time: usize| {
        let builder = builder(&root, sdk.clone(), temporary.path().join("work"));
        let mut tree = builder.project().load_sources().unwrap();
        let text =
            format!("#include \"register/op_def_registry.h\"\nstatic_assert(sizeof(Kind) == {bytes}); // {time}\n");
        tree.insert("op_host/add_def.cpp", text);
        builder.host(&tree).unwrap_or_else(|error| panic!("{error}"))
    };
    // They are compiled for whoever comes often, and what was built before asks for nothing.
    for time in [0, 1, 1, 2, 3] {
        host(8, time);
        assert_eq!(compiled(), 0);
    }
    host(8, 4);
    assert_eq!(compiled(), 1);
    // What the SDK's header includes may be the project's own.
    write(&root, "op_host/graph/kind.h", "#pragma once\ntypedef short Kind;\n");
    host(2, 0);
    assert_eq!(compiled(), 1);
}

#[test]
fn functions_in_a_file_of_their_own_begin_with_their_own_compiled_headers() {
    let temporary = tempfile::tempdir().unwrap();
    let Some(sdk) = tiny_sdk(temporary.path()) else { return };
    if sdk.compiler.family != compiler::CompilerFamily::Gnu {
        return;
    }
    write(&sdk.root, "include/register/op_def_registry.h", "#pragma once\nstruct Definition;\n");
    write(&sdk.root, "include/register/op_impl_registry.h", "#pragma once\ntypedef char Functions;\n");
    let root = operator(temporary.path());
    let builder = builder(&root, sdk, temporary.path().join("work"));
    let mut tree = builder.project().load_sources().unwrap();
    // A name that the definition's header has, and this source may have for itself.
    for time in 0..5 {
        let text = format!("#include \"register/op_impl_registry.h\"\ntypedef Functions Definition; // {time}\n");
        tree.insert("op_host/add_def.cpp", text);
        builder.host(&tree).unwrap_or_else(|error| panic!("{error}"));
    }
    let compiled: Vec<String> = std::fs::read_dir(temporary.path().join("cache"))
        .unwrap()
        .flatten()
        .flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten().flatten())
        .filter_map(|file| file.file_name().into_string().ok())
        .filter(|name| name.ends_with(".gch"))
        .collect();
    assert_eq!(compiled, ["own_functions.h.gch"]);
}

#[test]
fn what_needs_no_library_is_compiled_while_that_is_built() {
    let temporary = tempfile::tempdir().unwrap();
    let Some(sdk) = tiny_sdk(temporary.path()) else { return };
    let root = operator(temporary.path());
    let cache = temporary.path().join("other");
    let options = SdkOptions { directory: Some(sdk.root.clone()), cache: Some(cache.clone()), jobs: 2 };
    let artifacts = || std::fs::read_dir(cache.join("artifacts")).into_iter().flatten().flatten().count();
    let begin = |sdk: &Sdk| {
        let builder = builder(&root, sdk.clone(), temporary.path().join("ahead"));
        let tree = builder.project().load_sources().unwrap();
        builder.compile_ahead(&tree, "add");
        builder
    };
    let (ready, (builder, state)) = Sdk::prepare_beside(&options, |sdk, state| (begin(sdk), state)).unwrap();
    assert_eq!(state, LibraryState::Pending);
    assert!(ready.built && ready.library().is_file());
    let ahead = artifacts();
    assert!(ahead > 0);
    // What was compiled ahead is what the operator is made of: what comes now is only linked.
    let tree = builder.project().load_sources().unwrap();
    let objects = builder.objects(&tree, &builder.host_sources(&tree)).unwrap();
    assert!(!objects.is_empty() && objects.iter().all(|object| object.cached), "{objects:?}");
    builder.host(&tree).unwrap();
    let (again, state) = Sdk::prepare_beside(&options, |_, state| state).unwrap();
    assert_eq!((again.built, state), (false, LibraryState::Ready));
    // With one compiler at a time nothing begins before the library is there.
    let alone = SdkOptions { cache: Some(temporary.path().join("third")), jobs: 1, ..options.clone() };
    let (_, there) = Sdk::prepare_beside(&alone, |sdk, state| (sdk.library().is_file(), state)).unwrap();
    assert_eq!(there, (true, LibraryState::Ready));
    // A library that does not compile is told with its file, and leaves nothing that could be taken for one.
    write(&sdk.root, "src/machine/fill.cpp", "int broken(\n");
    let error = Sdk::prepare_beside(&options, |sdk, _| {
        begin(sdk);
    })
    .unwrap_err();
    assert!(matches!(&error, BuildError::Compile(failure) if failure.log.contains("fill.cpp")), "{error}");
    let mut folders = std::fs::read_dir(&cache).unwrap().flatten().map(|entry| entry.file_name());
    assert!(!folders.any(|name| name.to_string_lossy().starts_with(".lib-")));
}

#[test]
fn a_kernel_that_branches_over_its_key_is_compiled_for_each() {
    let temporary = tempfile::tempdir().unwrap();
    let Some(sdk) = tiny_sdk(temporary.path()) else { return };
    let builder = builder(&operator(temporary.path()), sdk, temporary.path().join("work"));
    let serves_all = |body: &str| {
        let mut tree = builder.project().load_sources().unwrap();
        let head = "#include \"kernel_operator.h\"\n__global__ __aicore__ void add(GM_ADDR x, GM_ADDR tiling)\n";
        tree.insert("op_kernel/add.cpp", format!("{head}{{\n{body}}}\n"));
        let mut variant = variant(&builder, 1);
        variant.entry.is_template = false;
        builder.kernel_serves_all_keys(&tree, &variant)
    };
    assert!(serves_all("    vfill(x, 1);\n"));
    assert!(serves_all("    if (TILING_KEY_IS(1)) {\n        vfill(x, 1);\n    }\n"));
    assert!(!serves_all("    if (TILING_KEY_IS(1)) {\n    } else if (TILING_KEY_IS(2)) {\n    }\n"));
}

fn program(base: &Path) -> PathBuf {
    let root = base.join("demo");
    write(
        &root,
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)\nset(CMAKE_ASC_ARCHITECTURES dav-2201)\nfind_package(ASC REQUIRED)\nproject(demo LANGUAGES ASC CXX)\n\
         add_executable(demo add.asc other.cpp)\ntarget_compile_definitions(demo PRIVATE STEP=3)\ntarget_link_libraries(demo PRIVATE ascendcl m)\n",
    );
    write(&root, "other.cpp", "int other() { return 1; }\n");
    write(
        &root,
        "run.h",
        "template <int Step> inline void run(int blocks, uint8_t* x)\n{\n    add<Step>\n        <<<blocks, 0, nullptr>>>(x);\n}\n",
    );
    write(
        &root,
        "add.asc",
        "#include <cstdio>\n#include \"kernel_operator.h\"\nint other();\ntemplate <int Step> __global__ __aicore__ void add(GM_ADDR x)\n{\n    vfill(x, Step);\n}\n\
         #include \"run.h\"\nint main()\n{\n    uint8_t value = 0;\n    run<STEP>(4, &value);\n    std::printf(\"%d\\n\", value + other());\n}\n",
    );
    root
}

fn output_of(program: &Path) -> String {
    String::from_utf8_lossy(&Command::new(program).output().unwrap().stdout).trim().to_owned()
}

#[test]
fn a_program_with_launches_is_built_and_runs() {
    let temporary = tempfile::tempdir().unwrap();
    let Some(sdk) = tiny_sdk(temporary.path()) else { return };
    let builder = builder(&program(temporary.path()), sdk, temporary.path().join("work"));
    let tree = builder.project().load_sources().unwrap();
    let artifact = builder.direct(&tree).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(output_of(&artifact.path), "13");
    assert!(builder.direct(&tree).unwrap().cached);
    let mut edited = tree.clone();
    edited.insert("run.h", tree.text("run.h").unwrap().replace("(x);", "(y);"));
    let errors = diagnostics(builder.direct(&edited));
    assert!(errors[0].starts_with("run.h:4:"), "{errors:?}");
    edited.insert("run.h", tree.text("run.h").unwrap().replace("0, nullptr", "1, 0, nullptr"));
    let errors = diagnostics(builder.direct(&edited));
    assert!(errors[0].starts_with("run.h:4:") && errors[0].contains("SIMT"), "{errors:?}");
}

#[test]
fn copies_of_a_project_share_what_is_compiled_of_them() {
    let temporary = tempfile::tempdir().unwrap();
    let Some(sdk) = tiny_sdk(temporary.path()) else { return };
    let made = |base: &str, header: &str| {
        let base = temporary.path().join(base);
        let root = program(&base);
        write(&root, "step.h", header);
        write(&root, "other.cpp", "#include <step.h>\nint other() { return kStep; }\n");
        let builder = builder(&root, sdk.clone(), base.join("work"));
        let tree = builder.project().load_sources().unwrap();
        let artifact = builder.direct(&tree).unwrap_or_else(|error| panic!("{error}"));
        (output_of(&artifact.path), artifact)
    };
    let (first, first_artifact) = made("first", "constexpr int kStep = 1;\n");
    let (second, second_artifact) = made("second", "constexpr int kStep = 1;\n");
    assert!(!first_artifact.cached && second_artifact.cached);
    assert_eq!((first.as_str(), second.as_str()), ("13", "13"));
    // It is reached in angles, and another text is another program.
    let (third, artifact) = made("third", "constexpr int kStep = 2;\n");
    assert!(!artifact.cached);
    assert_eq!(third, "14");
}

#[test]
fn what_lies_beside_an_operator_is_of_its_own_copy() {
    let temporary = tempfile::tempdir().unwrap();
    let Some(sdk) = tiny_sdk(temporary.path()) else { return };
    let made = |base: &str| {
        let base = temporary.path().join(base);
        let builder = builder(&operator(&base), sdk.clone(), base.join("work"));
        let tree = builder.project().load_sources().unwrap();
        vector_library(&builder, &tree, &variant(&builder, 0x11)).unwrap_or_else(|error| panic!("{error}"))
    };
    assert!(!made("first").cached);
    assert!(!made("second").cached, "its debug information would name files of the first");
}

#[test]
fn the_driver_compiles_and_links_a_launching_source() {
    let temporary = tempfile::tempdir().unwrap();
    let Some(sdk) = tiny_sdk(temporary.path()) else { return };
    let root = program(temporary.path());
    let words = |line: String| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let object = temporary.path().join("add.o").display().to_string();
    let depfile = temporary.path().join("add.d").display().to_string();
    let source = root.join("add.asc").display().to_string();
    let line = format!(
        "-DSTEP=2 --npu-arch=dav-2201 -std=c++17 -x asc -MD -MT {object} -MF {depfile} -o {object} -c {source}"
    );
    let outcome = bisheng::run(&words(line), &sdk).unwrap();
    assert_eq!((outcome.code, outcome.output.as_str()), (0, ""));
    assert!(std::fs::read_to_string(&depfile).unwrap().contains(&source));
    let other = root.join("other.cpp").display().to_string();
    let demo = temporary.path().join("demo.out");
    let outcome = bisheng::run(&words(format!("{object} {other} -lascendcl -o {}", demo.display())), &sdk).unwrap();
    assert_eq!((outcome.code, outcome.output.as_str()), (0, ""));
    assert_eq!(output_of(&demo), "9");
}
