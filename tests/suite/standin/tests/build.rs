//! A framework project, driven as its targets say.

use std::path::Path;
use std::process::Output;

use super::scale_add::sources;
use crate::standin::{Layout, Standin, Style};
use crate::support::{Project, edited, require_tools, root};

fn cmake(standin: &Standin, folder: &Path, words: &[&str]) -> Output {
    standin.command(Path::new("cmake")).args(words).current_dir(folder).output().expect("cmake runs")
}

#[test]
fn a_framework_project_configures_and_builds_its_parts() {
    require_tools!();
    let standin = Standin::new(Layout::Old, "Ascend910B2");
    let project = Project::copy_of(&sources());
    let home = format!("-DASCEND_CANN_PACKAGE_PATH={}", standin.home().display());
    let configure = ["--preset=default", home.as_str()];
    let good = project.read("op_host/scale_add.cpp");
    project.write("op_host/scale_add.cpp", &edited(&good, "length == 0 ||", "length == ||"));
    let ended = cmake(&standin, project.path(), &configure);
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(
        !ended.status.success() && said.contains("build ops lib error:") && said.contains("opbuild run failed!"),
        "{said}"
    );
    project.write("op_host/scale_add.cpp", &good);
    let ended = cmake(&standin, project.path(), &configure);
    assert!(ended.status.success(), "{ended:?}");
    let out = project.path().join("build_out");
    for file in ["aclnn_scale_add.h", "op_proto.cc", "aic-ascend910b-ops-info.ini", "libascend_all_ops.so"] {
        assert!(out.join("autogen").join(file).is_file(), "{file}");
    }
    let ended = cmake(&standin, &out, &["--build", ".", "--target", "cust_optiling", "optiling_compat"]);
    assert!(ended.status.success(), "{ended:?}");
    assert!(out.join("op_host/liboptiling.so").is_file());
    let objects = || {
        let folder = out.join("op_kernel/binary/ascend910b/bin/scale_add");
        let names = fs_err::read_dir(folder)
            .map(|entries| entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect::<Vec<_>>());
        names.unwrap_or_default().iter().filter(|name| name.ends_with(".o") || name.ends_with(".json")).count()
    };
    let variant = ["--build", ".", "--target", "ascendc_bin_ascend910b_scale_add_0"];
    standin.set("kernel_compile", "silent");
    let ended = cmake(&standin, &out, &variant);
    assert!(ended.status.success(), "it says that it is well: {ended:?}");
    assert_eq!(objects(), 0, "and nothing is there");
    standin.set("kernel_compile", "");
    let ended = cmake(&standin, &out, &variant);
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(objects(), 2);
    let ended = cmake(&standin, &out, &["--build", ".", "--target", "binary", "package"]);
    assert!(ended.status.success(), "{ended:?}");
    let run = fs_err::read_dir(&out).expect("a folder").filter_map(Result::ok).map(|entry| entry.path());
    let run =
        run.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "run")).expect("the package");
    let place = project.path().join("opp");
    let ended = standin.command(&run).arg(format!("--install-path={}", place.display())).output().expect("it runs");
    assert!(ended.status.success(), "{ended:?}");
    let tbe = place.join("vendors/customize/op_impl/ai_core/tbe");
    assert!(tbe.join("op_tiling/liboptiling.so").is_file());
    assert_eq!(fs_err::read_dir(tbe.join("kernel/ascend910b/scale_add")).expect("kernels").count(), 2);
    assert!(!standin.home().join("opp/vendors/customize").exists(), "only build.sh installs there");
}

#[test]
fn a_package_project_builds_its_kernel_with_the_tiling_library() {
    require_tools!();
    let standin = Standin::new(Layout::New, "Ascend910B2");
    let project = Project::fixture("add_custom");
    let out = project.path().join("build_out");
    let place = format!("-DASC_DIR={}", standin.home().join("lib64/cmake").display());
    // Without the variable that set_env.sh exports, the package refuses.
    let ended = standin
        .command(Path::new("cmake"))
        .args(["--preset=default", place.as_str()])
        .env_remove("ASCEND_HOME_PATH")
        .current_dir(project.path())
        .output()
        .expect("cmake runs");
    assert!(String::from_utf8_lossy(&ended.stderr).contains("ASCEND_HOME_PATH is not set"), "{ended:?}");
    let ended = cmake(&standin, project.path(), &["--preset=default", &place]);
    assert!(ended.status.success(), "{ended:?}");
    let ended = cmake(&standin, &out, &["--build", ".", "--target", "AddCustom_ascend910b", "optiling_compat"]);
    assert!(ended.status.success(), "{ended:?}");
    assert!(out.join("op_host/libcust_opmaster_rt2.0.so").is_file());
    let objects = fs_err::read_dir(out.join("op_kernel/binary/ascend910b/bin/add_custom")).expect("objects");
    assert_eq!(objects.filter_map(Result::ok).count(), 2);
}

#[test]
fn programs_of_all_kinds_build_and_run() {
    require_tools!();
    for (style, layout, target, program) in [
        ("kernel_launch", Layout::Old, "ascendc_kernels_bbit", "ascendc_kernels_bbit"),
        ("language_asc", Layout::New, "add_one", "add_one"),
        ("run_time", Layout::New, "scale", "scale"),
    ] {
        let standin = Standin::new(layout, "Ascend910B2");
        let project = Project::copy_of(&root().join("tests/standin/projects").join(style));
        let place = format!("-DASC_DIR={}", standin.home().join("lib64/cmake").display());
        let ended = cmake(&standin, project.path(), &["-B", "build", &place]);
        assert!(ended.status.success(), "{ended:?}");
        let ended = cmake(&standin, project.path(), &["--build", "build", "--target", target]);
        assert!(ended.status.success(), "{ended:?}");
        let ended = standin.command(&project.path().join("build").join(program)).output().expect("it runs");
        let faults = fs_err::read_to_string(standin.own().join("state/faults")).unwrap_or_default();
        assert!(ended.status.success() && ended.stdout == b"0 wrong\n", "{ended:?} {faults}");
        assert_eq!(standin.launches(0), 1, "{style}: the launch went by the stand-in's device");
    }
}

#[test]
fn a_repository_of_operators_builds_by_its_script() {
    require_tools!();
    let standin = Standin::new(Layout::New, "Ascend910B2");
    let (project, _) = Style::Repository.project();
    let words = ["--pkg", "--soc=ascend910b", "--ops=scale_add", "--vendor_name=mine", "-j1"];
    let ended = standin.command(&project.path().join("build.sh")).args(words).output().expect("it runs");
    assert!(ended.status.success(), "{ended:?}");
    let run = project.path().join(format!("build_out/cann-ops-nn-mine_linux-{}.run", std::env::consts::ARCH));
    let place = project.path().join("opp");
    let ended = standin.command(&run).arg(format!("--install-path={}", place.display())).output().expect("it runs");
    assert!(ended.status.success(), "{ended:?}");
    let tbe = place.join("vendors/mine/op_impl/ai_core/tbe");
    assert_eq!(fs_err::read_dir(tbe.join("kernel/ascend910b/scale_add")).expect("kernels").count(), 2);
}
