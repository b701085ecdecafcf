//! Projects whose CMake files make the targets that the toolkit's functions make, with a shell in place of compilers. What is tried is
//! what is driven and when, what is taken, and what is refused; the stand-in toolkit under `tests/` tries it with a real flow.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Flow, FlowError, FlowOptions, Ran, Style};
use crate::environment::Environment;
use crate::soc::Soc;
use crate::toolkit::Toolkit;
use project::OperatorProject;

const KERNEL: &str = "#include \"kernel_operator.h\"\nextern \"C\" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR tiling) {}\n";
const HOST: &str = "int tiling = 1;\n";

/// Targets of the classic names. A kernel with `refused` in it does not compile, one with `silent` leaves nothing.
const CLASSIC: &str = r#"cmake_minimum_required(VERSION 3.16)
project(opp LANGUAGES CXX)
include(cmake/func.cmake)
file(APPEND ${CMAKE_BINARY_DIR}/configured "once\n")
add_subdirectory(framework)
opbuild(OPS_SRC op_host/add_custom.cpp)
add_library(cust_optiling SHARED op_host/add_custom.cpp)
set_target_properties(cust_optiling PROPERTIES OUTPUT_NAME cust_opmaster_rt2.0)
set(OUT ${CMAKE_BINARY_DIR}/op_kernel/binary/${ASCEND_COMPUTE_UNIT}/bin/add_custom)
add_custom_target(binary COMMAND sh ${CMAKE_SOURCE_DIR}/cmake/compile.sh ${CMAKE_SOURCE_DIR}/op_kernel/add_custom.cpp ${OUT})
add_custom_target(package COMMAND false)
install(CODE "message(FATAL_ERROR \"a file of another unit is missing\")")
"#;
const COMPILE: &str = r#"set -e
test -f "${ASCEND_CUSTOM_OPP_PATH%%:*}/op_impl/ai_core/tbe/op_tiling/liboptiling.so"
test "${ASCEND_CUSTOM_OPP_PATH#*:}" = /others/vendors/w
test -d "$ASCEND_HOME_PATH/opp"
mkdir -p $2
if grep -q refused $1; then echo "$1:2:1: error: use of undeclared identifier 'refused'" >&2; exit 1; fi
if grep -q silent $1; then echo "[ERROR] Kernel compile failed, the run package will not be generated."; exit 0; fi
cp $1 $2/AddCustom_ab12.o
echo '{"binFileName":"AddCustom_ab12","kernelName":"AddCustom_ab12","magic":"RT_DEV_BINARY_MAGIC_ELF_AIVEC"}' > $2/AddCustom_ab12.json
"#;

struct Bench {
    folder: tempfile::TempDir,
    toolkit: Toolkit,
}

impl Bench {
    fn new(files: &[(&str, &str)]) -> Option<Bench> {
        if let Err(error) = toolchain::Cmake::find() {
            eprintln!("skipped: {error}");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for name in ["toolkit/opp", "toolkit/compiler", "toolkit/lib64"] {
            fs_err::create_dir_all(place(name)).unwrap();
        }
        let mut environment = Environment::of_this_process();
        environment.variables.insert("ASCEND_CUSTOM_OPP_PATH".to_owned(), "/others/vendors/w".to_owned());
        let toolkit = Toolkit::find(Some(&place("toolkit")), &environment).unwrap();
        let place = Bench { folder, toolkit };
        for (name, text) in files {
            place.put(name, text);
        }
        Some(place)
    }

    fn classic() -> Option<Bench> {
        Bench::new(&[
            ("CMakeLists.txt", CLASSIC),
            (
                "CMakePresets.json",
                r#"{"configurePresets":[{"name":"default","cacheVariables":{"vendor_name":"mine"}}]}"#,
            ),
            ("cmake/func.cmake", "function(opbuild)\nendfunction()\n"),
            ("cmake/compile.sh", COMPILE),
            ("framework/CMakeLists.txt", "find_package(TensorFlowThatNobodyHas REQUIRED)\n"),
            ("op_host/add_custom.cpp", HOST),
            ("op_kernel/add_custom.cpp", KERNEL),
        ])
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.folder.path().join("project").join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn flow(&self) -> Flow {
        let project = OperatorProject::find(&self.folder.path().join("project")).unwrap();
        let soc = Soc::named("Ascend910B2", None).unwrap();
        let options = FlowOptions { jobs: 1, ..FlowOptions::new(self.folder.path().join("work")) };
        Flow::new(project, self.toolkit.clone(), soc, options).unwrap()
    }

    fn build(&self, texts: &[(&str, &str)]) -> Result<super::Built, FlowError> {
        let flow = self.flow();
        let mut tree = flow.project.load_sources().unwrap();
        for (name, text) in texts {
            tree.insert((*name).to_owned(), (*text).to_owned());
        }
        flow.build(&tree)
    }
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = walkdir::WalkDir::new(folder).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    entries.map(|entry| (entry.path().to_owned(), fs_err::read(entry.path()).unwrap())).collect()
}

const NOTHING: Ran = Ran { configured: false, host: false, kernel: false };

#[test]
fn a_classic_project_is_built_step_by_step() {
    let Some(place) = Bench::classic() else { return };
    let before = (files(&place.folder.path().join("project")), files(&place.toolkit.home));
    assert_eq!(place.flow().style(), Style::MsOpGen);
    let first = place.build(&[]).unwrap_or_else(|error| panic!("{error}: {error:?}"));
    assert_eq!(first.ran, Ran { configured: true, host: true, kernel: true });
    let object = &first.objects["AddCustom"][0];
    assert_eq!(fs_err::read_to_string(&object.path).unwrap(), KERNEL);
    let vendor = first.package.as_ref().unwrap().vendor.clone();
    assert!(vendor.ends_with("vendors/mine") && object.path.starts_with(&vendor), "{}", object.path.display());
    assert!(vendor.join("op_impl/ai_core/tbe/op_tiling/liboptiling.so").is_file());

    assert_eq!(place.build(&[]).unwrap().ran, NOTHING);
    let host = place.build(&[("op_host/add_custom.cpp", "int tiling = 2;\n")]).unwrap();
    assert_eq!(host.ran, Ran { host: true, ..NOTHING });
    assert_ne!(host.libraries, first.libraries);
    let kernel = KERNEL.replace("tiling", "t");
    let edited = place.build(&[("op_kernel/add_custom.cpp", &kernel)]).unwrap();
    assert!(edited.ran.kernel && !edited.ran.configured, "{:?}", edited.ran);
    assert_eq!(fs_err::read_to_string(&edited.objects["AddCustom"][0].path).unwrap(), kernel);
    assert_eq!(fs_err::read_to_string(&object.path).unwrap(), KERNEL, "the first candidate's stays");
    let defined = place.build(&[("op_host/add_custom.cpp", "// class Add : public OpDef\nint tiling = 1;\n")]).unwrap();
    assert_eq!(defined.ran, Ran { configured: true, host: true, kernel: true });

    // Nothing but the work folder has changed.
    assert_eq!((files(&place.folder.path().join("project")), files(&place.toolkit.home)), before);
    let trees = fs_err::read_dir(place.folder.path().join("work")).unwrap().flatten();
    let tree = trees.map(|entry| entry.path()).find(|path| path.join("configured").is_file()).unwrap();
    assert_eq!(fs_err::read_to_string(tree.join("configured")).unwrap().lines().count(), 2, "it was never wiped");
}

#[test]
fn a_build_that_leaves_no_object_is_no_success() {
    let Some(place) = Bench::classic() else { return };
    place.build(&[]).unwrap();
    let refused = KERNEL.replace("{}", "{ refused }");
    let error = place.build(&[("op_kernel/add_custom.cpp", &refused)]).unwrap_err();
    assert!(matches!(error, FlowError::Refused { .. }) && error.is_of_sources(), "{error}");
    assert_eq!(
        error.to_string(),
        "the build of kernels failed: op_kernel/add_custom.cpp:2:1: the sources do not compile: use of undeclared identifier 'refused'"
    );
    let silent = KERNEL.replace("{}", "{ silent }");
    let error = place.build(&[("op_kernel/add_custom.cpp", &silent)]).unwrap_err();
    assert!(matches!(error, FlowError::NoObject { .. }), "{error}");
    assert!(
        error.to_string().contains("left no kernel object for") && error.to_string().contains("Kernel compile failed"),
        "{error}"
    );
    // And what was built before is built again.
    assert!(place.build(&[]).unwrap().ran.kernel);
}

#[test]
fn a_program_is_copied_with_its_libraries() {
    const LISTS: &str = "cmake_minimum_required(VERSION 3.16)\nproject(add LANGUAGES CXX)\nfunction(ascendc_library name kind)\n\
        add_library(${name} ${kind} ${ARGN})\nendfunction()\nascendc_library(kernels SHARED kernels.cpp)\n\
        add_executable(demo main.cpp)\ntarget_link_libraries(demo PRIVATE kernels)\n";
    // The launch is for the eyes of the project's finder.
    const MAIN: &str = "int value();\n#ifdef NEVER\nextern \"C\" __global__ __aicore__ void add(GM_ADDR x) {}\n\
        void run() { add<<<8, nullptr, nullptr>>>(nullptr); }\n#endif\nint main() { return value(); }\n";
    let Some(place) = Bench::new(&[
        ("CMakeLists.txt", LISTS),
        ("kernels.cpp", "int value() { return 3; }\n"),
        ("main.cpp", MAIN),
        ("unused.h", "int unused;\n"),
    ]) else {
        return;
    };
    let flow = place.flow();
    assert_eq!(flow.style(), Style::KernelLaunch);
    let run = |built: &super::Built| {
        std::process::Command::new(built.program.as_ref().unwrap()).status().unwrap().code().unwrap()
    };
    let first = place.build(&[]).unwrap_or_else(|error| panic!("{error}: {error:?}"));
    let second = place.build(&[("kernels.cpp", "int value() { return 4; }\n")]).unwrap();
    assert_eq!((run(&first), run(&second)), (3, 4), "each finds its own library");
    let error =
        place.build(&[("kernels.cpp", "int value() { return 4; }\n"), ("unused.h", "int other;\n")]).unwrap_err();
    assert!(error.to_string().contains("no target uses the files that changed"), "{error}");
}

#[test]
fn styles_that_are_not_driven_say_why() {
    const LISTS: &str =
        "cmake_minimum_required(VERSION 3.16)\nproject(rtc LANGUAGES CXX)\nadd_executable(a main.cpp)\n";
    const KERNEL: &str = "extern \"C\" __global__ __aicore__ void add(GM_ADDR x) {}\n";
    let literal = format!("const char* text = R\"(\n{KERNEL})\";\n");
    for (main, kernel, why) in [
        (
            "void run(const char* text) { aclrtcCompileProg(p, 0, o); }\n",
            KERNEL,
            Some("it reads its kernel from a file while it runs"),
        ),
        (
            "void run() { launch(\"add<<<8>>>\"); }\nvoid f() { add<<<8, nullptr, s>>>(x); }\n",
            KERNEL,
            Some("do not call aclrtcCompileProg"),
        ),
        (&format!("{literal}void run() {{ aclrtcCompileProg(p, 0, o); }}\n"), "", None),
    ] {
        let files = [("CMakeLists.txt", LISTS), ("main.cpp", main), ("add.cpp", kernel)];
        let Some(place) = Bench::new(&files) else { return };
        let project = OperatorProject::find(&place.folder.path().join("project")).unwrap();
        let soc = Soc::named("Ascend910B2", None).unwrap();
        let flow = Flow::new(project, place.toolkit.clone(), soc, FlowOptions::new(place.folder.path()));
        match (flow, why) {
            (Ok(flow), None) => assert_eq!(flow.style(), Style::RunTime),
            (Err(error), Some(why)) => assert!(error.to_string().contains(why), "{error}"),
            (flow, _) => panic!("{main}: {flow:?}"),
        }
    }
}

#[test]
fn an_operator_of_a_repository_is_built_by_its_script_in_a_copy() {
    const SCRIPT: &str = r#"# --pkg --soc= --ops=
set -e
echo "$@" > arguments
for word in "$@"; do case $word in --soc=*) unit=${word#--soc=};; --ops=*) op=${word#--ops=};; esac; done
out=build/binary/$unit/bin/$op; mkdir -p $out
cp math/$op/op_kernel/$op.cpp $out/AddCustom_ab12.o
echo '{"binFileName":"AddCustom_ab12","kernelName":"AddCustom_ab12","magic":"RT_DEV_BINARY_MAGIC_ELF_AIVEC"}' > $out/AddCustom_ab12.json
"#;
    let Some(place) = Bench::new(&[
        ("build.sh", SCRIPT),
        ("CMakeLists.txt", "project(ops)\n"),
        ("common/inc/x.h", ""),
        ("math/add_custom/CMakeLists.txt", "add_all_modules_sources(OPTYPE add_custom)\n"),
        ("math/add_custom/op_host/add_custom_def.cpp", HOST),
        ("math/add_custom/op_kernel/add_custom.cpp", KERNEL),
    ]) else {
        return;
    };
    let project = OperatorProject::find(&place.folder.path().join("project/math/add_custom")).unwrap();
    let tree = project.load_sources().unwrap();
    let soc = Soc::named("Ascend910B2", None).unwrap();
    let options = FlowOptions { jobs: 1, ..FlowOptions::new(place.folder.path().join("work")) };
    let flow = Flow::new(project, place.toolkit.clone(), soc, options).unwrap();
    assert_eq!(flow.style(), Style::Repository);
    let built = flow.build(&tree).unwrap_or_else(|error| panic!("{error}: {error:?}"));
    assert_eq!(fs_err::read_to_string(&built.objects["AddCustom"][0].path).unwrap(), KERNEL);
    let arguments = fs_err::read_to_string(place.folder.path().join("work/source/arguments")).unwrap();
    assert!(arguments.contains("--ops=add_custom") && arguments.contains("--vendor_name=ascend_tune"), "{arguments}");
    assert!(!place.folder.path().join("project/arguments").exists(), "the script runs in a copy");
}
