//! Where the tree has what an installation has.

use crate::standin::{Layout, Standin};
use crate::support::require_tools;

#[test]
fn both_layouts_have_versions_platform_files_and_libraries() {
    require_tools!();
    for (layout, version, folder) in [(Layout::Old, "8.1.RC1", "ascend-toolkit/latest"), (Layout::New, "9.0.0", "cann")]
    {
        let standin = Standin::new(layout, "Ascend910B3");
        let home = standin.home();
        assert_eq!(home, standin.root().join(folder));
        let arch = format!("{}-linux", std::env::consts::ARCH);
        let read = |path: &str| fs_err::read_to_string(home.join(path)).expect(path);
        assert!(read(&format!("{arch}/ascend_toolkit_install.info")).contains(&format!("\nversion={version}\n")));
        assert!(read("compiler/version.info").contains(&format!("\nversion_dir={version}\n")));
        assert!(read("version.cfg").contains(&format!(":{version}]")));
        assert!(read("include/version/cann_version.h").contains(&format!("CANN_VERSION_STR \"{version}\"")));
        let platform = read(&format!("{arch}/data/platform_config/Ascend910B3.ini"));
        for line in ["vector_core_cnt=40", "cube_core_cnt=20", "ub_size=196608", "cube_freq=1800", "[AICoreSpec]"] {
            assert!(platform.lines().any(|found| found == line), "{line}");
        }
        for path in [
            "lib64/libascendcl.so",
            "lib64/libregister.so",
            "include/acl/acl.h",
            "include/kernel_operator.h",
            "set_env.sh",
        ] {
            assert!(home.join(path).is_file(), "{path}");
        }
        assert_eq!(home.join("bin/setenv.bash").exists(), layout == Layout::New);
    }
}

/// `ASCEND_TUNE_STANDIN_LEAVE=old` or `=new` leaves a tree for a person, who finds its `set_env.sh` in the output.
#[test]
fn a_tree_is_left_for_a_person() {
    require_tools!();
    let layout = match std::env::var("ASCEND_TUNE_STANDIN_LEAVE").as_deref() {
        Ok("old") => Layout::Old,
        Ok("new") => Layout::New,
        _ => return,
    };
    let standin = Standin::new(layout, "Ascend910B2");
    let tools = standin.root().join("driver/tools");
    println!("PATH={}:$PATH; . {}", tools.display(), standin.leave().join("set_env.sh").display());
}
