//! The project's own CMake flow: locate cmake, configure once into a private binary directory, read the model.

use source::normal;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::cache::Digest;
use super::compiler_detection::Answers;
use super::error::BuildError;
use super::file_api::{CLIENT, CmakeModel, QUERY, read_reply};
use super::sdk::Sdk;
use super::wrapper::wrapper_project;
use project::{CmakeRoot, OperatorProject};
use toolchain::diagnostics::parse_cmake_output;
use toolchain::{Cmake, preset_entries, run_tool};

const STAMP: &str = "ascend-tune-stamp.json";

/// A configured project and where it was configured.
#[derive(Clone, Debug)]
pub struct Configured {
    /// What the project consists of.
    pub model: CmakeModel,
    /// The private binary directory.
    pub binary_directory: PathBuf,
    /// Whether cmake ran; otherwise an earlier configuration still holds.
    pub ran: bool,
}

#[derive(Serialize, Deserialize)]
struct Stamp {
    request: String,
    inputs: BTreeMap<PathBuf, String>,
}

/// Configures a project against the SDK if anything that matters has changed since the last time.
pub fn configure(
    project: &OperatorProject,
    sdk: &Sdk,
    work_directory: &Path,
    entries: &BTreeMap<String, String>,
) -> Result<Configured, BuildError> {
    let binary_directory = work_directory.join("cmake");
    fs_err::create_dir_all(&binary_directory).map_err(BuildError::io(&binary_directory))?;
    let lock_path = work_directory.join("cmake.lock");
    let lock = File::create(&lock_path).map_err(BuildError::io(&lock_path))?;
    lock.lock().map_err(BuildError::io(&lock_path))?;

    let source_directory = source_directory(project, sdk, work_directory)?;
    let entries = cache_entries(project, sdk, entries, &binary_directory)?;
    let request = Digest::new("configure 1")
        .text(&source_directory.to_string_lossy())
        .text(&sdk.digest)
        .text(&sdk.root.to_string_lossy())
        .text(&sdk.compiler.identity)
        .texts(entries.iter().map(|(name, value)| format!("{name}={value}")))
        .texts(project.host_files.iter().chain(&project.kernel_files))
        .finish();
    let stamp_path = binary_directory.join(STAMP);
    if let Some(model) = still_valid(&stamp_path, &request, &binary_directory) {
        return Ok(Configured { model, binary_directory, ran: false });
    }
    let cmake = Cmake::find()?;
    let answers = Answers::of(&cmake, sdk, &source_directory, &entries);
    clear(&binary_directory);
    let configure = || run(&cmake, project, sdk, &source_directory, &binary_directory, &entries);
    let given = answers.as_ref().is_some_and(|answers| answers.give(&binary_directory));
    if !given || configure().is_err() {
        clear(&binary_directory);
        configure()?;
        // What was of no use goes: the next project would ask twice as well.
        if let Some(answers) = answers {
            answers.keep(&binary_directory);
        }
    }
    let model = read_reply(&binary_directory)
        // CMake was content, so it is too old for what it was asked, or the disk is full, of which it says nothing.
        .map_err(|error| BuildError::Environment {
            message: error.to_string(),
            fix: "look for a full disk, and for the version of cmake with `cargo ascend-tune doctor`".to_owned(),
        })?;
    let inputs = model.inputs.iter().map(|path| (path.clone(), digest_of(path))).collect();
    let stamp = serde_json::to_vec_pretty(&Stamp { request, inputs }).unwrap_or_default();
    std::fs::write(&stamp_path, stamp).map_err(BuildError::io(&stamp_path))?;
    Ok(Configured { model, binary_directory, ran: true })
}

fn still_valid(stamp: &Path, request: &str, binary_directory: &Path) -> Option<CmakeModel> {
    let stamp: Stamp = serde_json::from_slice(&std::fs::read(stamp).ok()?).ok()?;
    let same = stamp.request == request && stamp.inputs.iter().all(|(path, digest)| digest_of(path) == *digest);
    same.then(|| read_reply(binary_directory).ok()).flatten()
}

fn digest_of(path: &Path) -> String {
    std::fs::read(path).map_or_else(|_| "absent".to_owned(), |bytes| Digest::new("file 1").bytes(&bytes).finish())
}

/// A cache of another SDK, compiler or generator would win over what we ask for.
fn clear(binary_directory: &Path) {
    let _ = std::fs::remove_file(binary_directory.join("CMakeCache.txt"));
    let _ = std::fs::remove_dir_all(binary_directory.join("CMakeFiles"));
}

fn run(
    cmake: &Cmake,
    project: &OperatorProject,
    sdk: &Sdk,
    source_directory: &Path,
    binary_directory: &Path,
    entries: &BTreeMap<String, String>,
) -> Result<(), BuildError> {
    let query = binary_directory.join(".cmake/api/v1/query").join(CLIENT);
    fs_err::create_dir_all(&query).map_err(BuildError::io(&query))?;
    std::fs::write(query.join("query.json"), QUERY).map_err(BuildError::io(&query))?;
    let mut command = Command::new(&cmake.program);
    command
        .arg("-S")
        .arg(source_directory)
        .arg("-B")
        .arg(binary_directory)
        .arg("-G")
        .arg(&cmake.generator)
        .args(entries.iter().map(|(name, value)| format!("-D{name}={value}")))
        .env("ASCEND_HOME_PATH", &sdk.root)
        .env("ASCEND_TOOLKIT_HOME", &sdk.root)
        .env("ASCEND_CANN_PACKAGE_PATH", &sdk.root)
        .env("ASCEND_OPP_PATH", sdk.root.join("opp"))
        .env("LC_ALL", "C");
    let run = run_tool(&command, sdk.compiler.limits(), "cmake", toolchain::CMAKE_FIX)?;
    if run.success {
        return Ok(());
    }
    let log = run.output;
    // CMake names files relative to the top of its sources.
    let diagnostics = parse_cmake_output(&log, &|path| {
        let path = normal(&source_directory.join(path));
        path.strip_prefix(&project.root).unwrap_or(&path).display().to_string()
    });
    Err(BuildError::Cmake { diagnostics, log })
}

/// Entries in the order of precedence: what the tool needs, what the user says, what the project's preset says.
fn cache_entries(
    project: &OperatorProject,
    sdk: &Sdk,
    user: &BTreeMap<String, String>,
    binary_directory: &Path,
) -> Result<BTreeMap<String, String>, BuildError> {
    let mut entries = preset_entries(project.cmake_root.directory())?;
    // Packaging for other machines has no place here.
    for name in ["ENABLE_CROSS_COMPILE", "ENABLE_TEST"] {
        if entries.contains_key(name) {
            entries.insert(name.to_owned(), "OFF".to_owned());
        }
    }
    entries.retain(|name, _| name != "CMAKE_TOOLCHAIN_FILE" && name != "CMAKE_CROSS_PLATFORM_COMPILER");
    let root = sdk.root.display().to_string();
    let mut ours: Vec<(&str, String)> = vec![
        ("CMAKE_POLICY_VERSION_MINIMUM", "3.5".to_owned()),
        ("CMAKE_CXX_COMPILER", sdk.compiler.program().display().to_string()),
        ("CMAKE_EXPORT_COMPILE_COMMANDS", "OFF".to_owned()),
    ];
    if !entries.contains_key("CMAKE_BUILD_TYPE") {
        ours.push(("CMAKE_BUILD_TYPE", "Release".to_owned()));
    }
    entries.extend(ours.into_iter().map(|(name, value)| (name.to_owned(), value)));
    entries.extend(user.iter().map(|(name, value)| (name.clone(), value.clone())));
    let fixed = [
        ("ASC_DIR", sdk.cmake().display().to_string()),
        ("ASCEND_CANN_PACKAGE_PATH", root.clone()),
        ("CMAKE_PROJECT_INCLUDE", sdk.cmake().join("project_include.cmake").display().to_string()),
        ("CMAKE_INSTALL_PREFIX", binary_directory.join("install").display().to_string()),
    ];
    entries.extend(fixed.into_iter().map(|(name, value)| (name.to_owned(), value)));
    Ok(entries)
}

/// Where CMake starts: the project, or a wrapper written around one operator of a repository.
fn source_directory(project: &OperatorProject, sdk: &Sdk, work_directory: &Path) -> Result<PathBuf, BuildError> {
    match &project.cmake_root {
        CmakeRoot::Project(directory) => Ok(directory.clone()),
        CmakeRoot::Operator(directory) => wrapper_project(project, directory, sdk, work_directory),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "extern \"C\" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR tiling) {}\n";

    /// An SDK of which only the CMake side is used.
    fn sdk(cache: &Path) -> Option<Sdk> {
        if let Err(error) = Cmake::find() {
            eprintln!("skipped: {error}");
            return None;
        }
        let Ok(compiler) = super::super::compiler::Compiler::find() else {
            eprintln!("skipped: no C++ compiler on this machine");
            return None;
        };
        let options = super::super::sdk::SdkOptions { cache: Some(cache.to_owned()), ..Default::default() };
        let (root, digest) = Sdk::unpacked(&options).unwrap();
        Some(Sdk { root, digest, compiler, library_directory: cache.to_owned(), built: false, prepare_s: 0.0 })
    }

    fn project(root: &Path, files: &[(&str, &str)]) -> OperatorProject {
        for (file, text) in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        OperatorProject::find(root).unwrap()
    }

    fn group<'model>(model: &'model CmakeModel, target: &str) -> &'model super::super::file_api::CompileGroup {
        let found = model.targets.iter().find(|candidate| candidate.name == target);
        let names: Vec<&str> = model.targets.iter().map(|target| target.name.as_str()).collect();
        &found.unwrap_or_else(|| panic!("{target} is not in {names:?}")).groups[0]
    }

    #[test]
    fn a_classic_project_keeps_its_flags_and_never_runs_its_own_opbuild() {
        let temporary = tempfile::tempdir().unwrap();
        let Some(sdk) = sdk(&temporary.path().join("cache")) else { return };
        let root = temporary.path().join("opp");
        let project = project(
            &root,
            &[
                (
                    "CMakeLists.txt",
                    "cmake_minimum_required(VERSION 3.16.0)\nproject(opp)\ninclude(cmake/config.cmake)\ninclude(cmake/func.cmake)\ninclude(cmake/intf.cmake)\nadd_subdirectory(op_host)\nadd_subdirectory(op_kernel)\nget_system_info(SYSTEM_INFO)\n",
                ),
                (
                    "CMakePresets.json",
                    "{\"version\":1,\"configurePresets\":[{\"name\":\"default\",\"binaryDir\":\"${sourceDir}/build_out\",\"cacheVariables\":{\"CMAKE_BUILD_TYPE\":{\"type\":\"STRING\",\"value\":\"Debug\"},\"ASCEND_CANN_PACKAGE_PATH\":{\"type\":\"PATH\",\"value\":\"/usr/local/Ascend/latest\"}}}]}",
                ),
                ("cmake/config.cmake", ""),
                (
                    "cmake/func.cmake",
                    "function(opbuild)\n  message(FATAL_ERROR \"build ops lib error\")\nendfunction()\nfunction(get_system_info)\n  message(FATAL_ERROR \"no lsb_release\")\nendfunction()\n",
                ),
                (
                    "cmake/intf.cmake",
                    "add_library(intf_pub INTERFACE)\ntarget_include_directories(intf_pub INTERFACE ${ASCEND_CANN_PACKAGE_PATH}/include)\n",
                ),
                (
                    "op_host/CMakeLists.txt",
                    "aux_source_directory(${CMAKE_CURRENT_SOURCE_DIR} ops_srcs)\nopbuild(OPS_SRC ${ops_srcs} OUT_DIR ${ASCEND_AUTOGEN_PATH})\nfile(GLOB aclnn_src ${ASCEND_AUTOGEN_PATH}/aclnn_*.cpp)\nadd_library(cust_opapi SHARED ${aclnn_src})\nadd_library(cust_optiling SHARED ${ops_srcs})\ntarget_compile_definitions(cust_optiling PRIVATE OP_TILING_LIB)\ntarget_link_libraries(cust_optiling PRIVATE intf_pub exe_graph register)\n",
                ),
                ("op_host/add_custom.cpp", ""),
                (
                    "op_kernel/CMakeLists.txt",
                    "if(\"${CMAKE_BUILD_TYPE}\" STREQUAL Debug)\n  add_ops_compile_options(ALL OPTIONS -g -O0 -DDEEP)\nendif()\nadd_kernels_compile()\n",
                ),
                ("op_kernel/add_custom.cpp", KERNEL),
            ],
        );
        let work = temporary.path().join("work");
        let configured = match configure(&project, &sdk, &work, &BTreeMap::new()) {
            Ok(configured) => configured,
            Err(BuildError::Cmake { log, .. }) => panic!("{log}"),
            Err(error) => panic!("{error}"),
        };
        assert!(configured.ran && !root.join("build_out").exists());
        assert_eq!(configured.model.cache["ASCEND_CANN_PACKAGE_PATH"], sdk.root.display().to_string());
        let tiling = group(&configured.model, "cust_optiling");
        assert!(tiling.defines.contains(&"OP_TILING_LIB".to_owned()));
        assert!(tiling.includes.contains(&sdk.root.join("include")));
        assert!(group(&configured.model, "ascend_tune_AddCustom_kernel").options.contains(&"-DDEEP".to_owned()));
        // Nothing has changed: cmake does not run. A changed CMake file or entry makes it run.
        assert!(!configure(&project, &sdk, &work, &BTreeMap::new()).unwrap().ran);
        let entries = BTreeMap::from([("CMAKE_BUILD_TYPE".to_owned(), "Release".to_owned())]);
        assert!(configure(&project, &sdk, &work, &entries).unwrap().ran);
        std::fs::write(root.join("op_kernel/CMakeLists.txt"), "add_kernels_compile()\nbroken(\n").unwrap();
        let error = configure(&project, &sdk, &work, &entries).unwrap_err();
        assert!(error.to_string().contains("op_kernel/CMakeLists.txt:"), "{error}");
        // What the project's generator has written is not in every repository, and not needed here.
        std::fs::write(root.join("op_kernel/CMakeLists.txt"), "add_kernels_compile()\n").unwrap();
        std::fs::remove_dir_all(root.join("cmake")).unwrap();
        let configured = configure(&project, &sdk, &work, &entries).unwrap();
        assert!(group(&configured.model, "cust_optiling").defines.contains(&"OP_TILING_LIB".to_owned()));
        std::fs::write(root.join("CMakeLists.txt"), "project(opp)\ninclude(cmake/own.cmake)\n").unwrap();
        let error = configure(&project, &sdk, &work, &entries).unwrap_err();
        assert!(error.to_string().contains("could not find requested file: cmake/own.cmake"), "{error}");
    }

    #[test]
    fn package_functions_describe_host_and_kernels() {
        let temporary = tempfile::tempdir().unwrap();
        let Some(sdk) = sdk(&temporary.path().join("cache")) else { return };
        let project = project(
            &temporary.path().join("custom"),
            &[
                (
                    "CMakeLists.txt",
                    "cmake_minimum_required(VERSION 3.16.0)\nproject(custom_op)\nfind_package(ASC REQUIRED)\nset(package_name customize)\nnpu_op_package(${package_name} TYPE RUN CONFIG INSTALL_PATH ${CMAKE_BINARY_DIR})\nadd_subdirectory(op_host)\nadd_subdirectory(op_kernel)\n",
                ),
                (
                    "op_host/CMakeLists.txt",
                    "file(GLOB srcs add_custom/*.cpp)\nnpu_op_code_gen(SRC ${srcs} PACKAGE ${package_name} OUT_DIR ${ASCEND_AUTOGEN_PATH})\nnpu_op_library(cust_optiling TILING ${srcs})\nnpu_op_device_tiling_library(cust_opmaster SHARED ${srcs})\nfile(GLOB aclnn ${ASCEND_AUTOGEN_PATH}/aclnn_*.cpp)\nnpu_op_library(cust_opapi ACLNN ${aclnn})\nnpu_op_package_add(${package_name} LIBRARY cust_optiling cust_opapi cust_opmaster)\n",
                ),
                ("op_host/add_custom/add_custom_host.cpp", ""),
                (
                    "op_kernel/CMakeLists.txt",
                    "npu_op_kernel_sources(ascendc_kernels OP_TYPE AddCustom KERNEL_DIR add_custom KERNEL_FILE add_custom_kernel.cpp)\nnpu_op_kernel_options(ascendc_kernels OP_TYPE AddCustom OPTIONS -DTILE=8)\nnpu_op_kernel_library(ascendc_kernels SRC_BASE ${CMAKE_CURRENT_SOURCE_DIR} TILING_LIBRARY cust_optiling)\nnpu_op_package_add(${package_name} LIBRARY ascendc_kernels)\n",
                ),
                ("op_kernel/add_custom/add_custom_kernel.cpp", KERNEL),
            ],
        );
        let configured = configure(&project, &sdk, &temporary.path().join("work"), &BTreeMap::new()).unwrap();
        assert!(group(&configured.model, "cust_optiling").defines.contains(&"OP_TILING_LIB".to_owned()));
        assert!(group(&configured.model, "ascendc_kernels_AddCustom_kernel").options.contains(&"-DTILE=8".to_owned()));
    }

    /// What CMake finds out about compilers it finds out once for all projects that ask alike; where it is of no use, once more.
    #[test]
    fn compilers_are_looked_for_once() {
        let temporary = tempfile::tempdir().unwrap();
        let cache = temporary.path().join("cache");
        let Some(sdk) = sdk(&cache) else { return };
        let sdk = Sdk { library_directory: cache.join("lib"), ..sdk };
        let configured = |name: &str| {
            let text = format!(
                "cmake_minimum_required(VERSION 3.16)\nproject({name} LANGUAGES CXX)\nadd_library(y SHARED op_host/{name}.cpp)\n"
            );
            let host = format!("op_host/{name}.cpp");
            let kernel = format!("op_kernel/{name}.cpp");
            let files = [("CMakeLists.txt", text.as_str()), (&host, ""), (&kernel, KERNEL)];
            let project = project(&temporary.path().join(name), &files);
            let work = temporary.path().join("work").join(name);
            let configured = configure(&project, &sdk, &work, &BTreeMap::new()).unwrap();
            let version = Cmake::find().unwrap().version;
            let looked = configured.binary_directory.join("CMakeFiles").join(version).join("CompilerIdCXX").is_dir();
            let archiver = configured.model.cache.get("CMAKE_AR").cloned();
            let options = group(&configured.model, "y").options.clone();
            (looked, archiver, options)
        };
        let (looked, archiver, options) = configured("first");
        assert!(looked && archiver.is_some());
        assert_eq!(configured("second"), (false, archiver.clone(), options.clone()));
        // Answers that CMake can make nothing of.
        let kept = std::fs::read_dir(&cache).unwrap().flatten().map(|entry| entry.path());
        let kept = kept.into_iter().find(|path| path.to_string_lossy().contains("cmake-answers-")).unwrap();
        std::fs::write(kept.join("CMakeCXXCompiler.cmake"), "message(FATAL_ERROR broken)\n").unwrap();
        assert_eq!(configured("third"), (true, archiver.clone(), options.clone()));
        assert_eq!(configured("fourth"), (false, archiver, options), "they are replaced");
    }

    #[test]
    fn one_operator_and_a_program_are_described() {
        let temporary = tempfile::tempdir().unwrap();
        let Some(sdk) = sdk(&temporary.path().join("cache")) else { return };
        let operator = temporary.path().join("ops/math/add");
        std::fs::create_dir_all(temporary.path().join("ops/common/inc")).unwrap();
        let in_tree = project(
            &operator,
            &[
                ("CMakeLists.txt", "add_all_modules_sources(OPTYPE add ACLNNTYPE aclnn)\nadd_modules_ut_sources(x)\n"),
                ("op_host/add_def.cpp", ""),
                ("op_kernel/add_custom.cpp", KERNEL),
            ],
        );
        let configured = configure(&in_tree, &sdk, &temporary.path().join("work1"), &BTreeMap::new()).unwrap();
        assert!(group(&configured.model, "add_host").includes.contains(&temporary.path().join("ops/common/inc")));
        group(&configured.model, "add_AddCustom_kernel");
        let program = project(
            &temporary.path().join("direct"),
            &[
                (
                    "CMakeLists.txt",
                    "cmake_minimum_required(VERSION 3.16)\nset(CMAKE_ASC_ARCHITECTURES dav-2201 CACHE STRING \"\")\nfind_package(ASC REQUIRED)\nproject(demo LANGUAGES ASC CXX)\nset(N 0 CACHE STRING \"\")\nadd_executable(demo add.asc)\ntarget_compile_definitions(demo PRIVATE N=${N})\ntarget_link_libraries(demo PRIVATE ascendcl m)\n",
                ),
                (
                    "add.asc",
                    "__global__ __aicore__ void k(GM_ADDR x) {}\nint main() { k<<<1, nullptr, nullptr>>>(nullptr); }\n",
                ),
            ],
        );
        let entries = BTreeMap::from([("N".to_owned(), "5".to_owned())]);
        let configured = configure(&program, &sdk, &temporary.path().join("work2"), &entries).unwrap();
        let demo = group(&configured.model, "demo");
        assert_eq!((demo.language.as_str(), demo.defines.as_slice()), ("ASC", ["N=5".to_owned()].as_slice()));
    }
}
