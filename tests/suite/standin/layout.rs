//! Trees of the stand-in toolkit in the two layouts that installations have.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::files::{built, link_file, script, write};
use super::knobs::Knobs;
use super::soc;

/// How a toolkit lies on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `ascend-toolkit/8.1.RC1` with `latest` beside it.
    Old,
    /// `cann-9.0.0` with `cann` beside it.
    New,
}

/// One toolkit, its driver and its devices, in a folder of its own.
#[derive(Debug)]
pub struct Standin {
    directory: TempDir,
    home: PathBuf,
    layout: Layout,
}

impl Standin {
    /// Lays a tree out, with one device of the given chip.
    pub fn new(layout: Layout, chip: &str) -> Self {
        let directory = tempfile::Builder::new().prefix("standin-").tempdir().expect("a folder");
        let root = directory.path();
        let (folder, second) = match layout {
            Layout::Old => ("ascend-toolkit/8.1.RC1", "ascend-toolkit/latest"),
            Layout::New => ("cann-9.0.0", "cann"),
        };
        fs_err::create_dir_all(root.join(folder)).expect("a folder");
        let name = Path::new(folder).file_name().expect("a name");
        symlink(name, root.join(second)).expect("a link");
        let standin = Self { home: root.join(second), layout, directory };
        standin.versions();
        standin.contents();
        standin.environment_file();
        let chip = soc::Soc::named(chip);
        let digest = blake3::hash(standin.root().as_os_str().as_encoded_bytes());
        standin.set("bus_domain", &digest.to_hex()[..4].to_uppercase());
        for (knob, value) in [("soc", chip.name.to_owned()), ("rated_mhz", chip.rated_mhz.to_string())] {
            standin.set(knob, &value);
        }
        standin
    }

    /// The toolkit's root, as `ASCEND_HOME_PATH` names it.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The folder that everything lies in.
    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    /// Turns a knob.
    pub fn set(&self, name: &str, value: &str) {
        Knobs::of(&self.own()).set(name, value);
    }

    /// The folder that only the stand-in knows.
    pub fn own(&self) -> PathBuf {
        self.home.join("standin")
    }

    /// Paths of objects that were loaded, in their order.
    pub fn loaded(&self) -> Vec<String> {
        let text = fs_err::read_to_string(self.own().join("state/loaded")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Takes AscendCL's main header away: no launcher can be built, and what projects generate still can.
    pub fn without_acl_header(&self) {
        let acl = self.arch_folder().join("include/acl");
        let headers = fs_err::canonicalize(&acl).expect("a folder");
        fs_err::remove_file(&acl).expect("a link");
        fs_err::create_dir(&acl).expect("a folder");
        for header in fs_err::read_dir(headers).expect("a folder").filter_map(Result::ok) {
            if header.file_name() != "acl.h" {
                symlink(header.path(), acl.join(header.file_name())).expect("a link");
            }
        }
    }

    /// Leaves the tree where it is when this ends; for a person who wants to look.
    pub fn leave(self) -> PathBuf {
        let _ = self.directory.keep();
        self.home
    }

    /// What `ASCEND_CUSTOM_OPP_PATH` was to each program that used a device.
    pub fn packages(&self) -> Vec<String> {
        let text = fs_err::read_to_string(self.own().join("state/packages")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// How many launches a device was asked for.
    pub fn launches(&self, device: u32) -> u64 {
        fs_err::metadata(self.own().join(format!("state/launches.{device}"))).map_or(0, |found| found.len())
    }

    /// What a login shell has after `set_env.sh`, the driver's folder on the path included.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let home = &self.home;
        let arch = std::env::consts::ARCH;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let front = [
            home.join("bin"),
            home.join("compiler/ccec_compiler/bin"),
            home.join("tools/ccec_compiler/bin"),
            self.root().join("driver/tools"),
        ];
        let path = std::env::join_paths(front.into_iter().chain(std::env::split_paths(&path))).expect("a path");
        let libraries = [
            home.join("lib64"),
            home.join("lib64/plugin/opskernel"),
            home.join("lib64/plugin/nnengine"),
            home.join(format!("opp/built-in/op_impl/ai_core/tbe/op_tiling/lib/linux/{arch}")),
        ];
        vec![
            ("ASCEND_TOOLKIT_HOME", home.into()),
            ("ASCEND_HOME_PATH", home.into()),
            ("ASCEND_OPP_PATH", home.join("opp").into()),
            ("ASCEND_AICPU_PATH", home.into()),
            ("TOOLCHAIN_HOME", home.join("toolkit").into()),
            ("PATH", path),
            ("LD_LIBRARY_PATH", std::env::join_paths(libraries).expect("a path")),
        ]
    }

    /// One of its programs, in that environment.
    pub fn program(&self, program: &str) -> Command {
        let places = [
            self.home.join("bin"),
            self.home.join("compiler/ccec_compiler/bin"),
            self.root().join("driver/tools"),
            self.home.join("tools/msopt/bin"),
        ];
        let found = places.iter().map(|place| place.join(program)).find(|path| path.is_file());
        self.command(&found.unwrap_or_else(|| panic!("the stand-in has no {program}")))
    }

    /// A command in that environment.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.envs(self.environment());
        command
    }

    fn arch_folder(&self) -> PathBuf {
        self.home.join(format!("{}-linux", std::env::consts::ARCH))
    }

    fn versions(&self) {
        let (version, inner, package) = match self.layout {
            Layout::Old => ("8.1.RC1", "7.7.0.1.238", "Ascend-cann-toolkit"),
            Layout::New => ("9.0.0", "9.0.0", "Ascend-cann-toolkit"),
        };
        let arch = std::env::consts::ARCH;
        write(
            &self.arch_folder().join("ascend_toolkit_install.info"),
            &format!(
                "package_name={package}\nversion={version}\ninnerversion=V100R001C21SPC001B238\n\
                 compatible_version=[V100R001C15]\narch={arch}\nos=linux\npath={}\n",
                self.home.display()
            ),
        );
        for part in ["compiler", "opp"] {
            let text = format!(
                "Version={inner}\nversion_dir={version}\ntimestamp=20250101_000000000\nrequired_package_amct_acl_version=\">={inner}\"\n"
            );
            write(&self.home.join(part).join("version.info"), &text);
        }
        write(
            &self.home.join("version.cfg"),
            &format!(
                "# version: 1.0\ncompiler_running_version=[{inner}:{version}]\nopp_running_version=[{inner}:{version}]\n"
            ),
        );
        let number = if self.layout == Layout::Old { 80_100_001 } else { 90_000_000 };
        write(
            &self.arch_folder().join("include-version/cann_version.h"),
            &format!(
                "#define CANN_VERSION_STR \"{version}\"\n#define CANN_VERSION {number}\n#define CANN_TIMESTAMP \"20250101_000000000\"\n"
            ),
        );
    }

    fn environment_file(&self) {
        let home = self.home.display();
        let text = format!(
            "export ASCEND_TOOLKIT_HOME={home}\nexport ASCEND_HOME_PATH={home}\nexport ASCEND_OPP_PATH={home}/opp\n\
             export ASCEND_AICPU_PATH={home}\nexport TOOLCHAIN_HOME={home}/toolkit\n\
             export PATH={home}/bin:{home}/compiler/ccec_compiler/bin:{home}/tools/ccec_compiler/bin:$PATH\n\
             export LD_LIBRARY_PATH={home}/lib64:{home}/lib64/plugin/opskernel:{home}/lib64/plugin/nnengine:$LD_LIBRARY_PATH\n"
        );
        write(&self.home.join("set_env.sh"), &text);
        match self.layout {
            Layout::Old => write(&self.root().join("ascend-toolkit/set_env.sh"), &text),
            Layout::New => write(&self.home.join("bin/setenv.bash"), &text),
        }
    }

    fn contents(&self) {
        let home = &self.home;
        let own = self.own();
        fs_err::create_dir_all(own.join("state")).expect("a folder");
        write(&own.join("knobs"), "");
        let tests = std::env::current_exe().expect("this program");
        link_file(&tests, &own.join("tests"));
        link_file(&built().join("ascend_sim_runner"), &own.join("ascend_sim_runner"));
        link_file(&built().join("libascend_sim.so"), &own.join("libascend_sim.so"));
        let arch = self.arch_folder();
        for entry in fs_err::read_dir(built()).expect("what is built").filter_map(Result::ok) {
            if entry.path().extension().is_some_and(|extension| extension == "so") {
                link_file(&entry.path(), &arch.join("lib64").join(entry.file_name()));
            }
        }
        // Only `version/` is the tree's own; the rest of the headers is the same for all.
        let include = arch.join("include");
        fs_err::create_dir_all(include.join("version")).expect("a folder");
        fs_err::rename(arch.join("include-version/cann_version.h"), include.join("version/cann_version.h"))
            .expect("a header");
        fs_err::remove_dir(arch.join("include-version")).expect("an empty folder");
        for entry in fs_err::read_dir(built().join("include")).expect("headers").filter_map(Result::ok) {
            symlink(entry.path(), include.join(entry.file_name())).expect("a link");
        }
        let name = arch.file_name().expect("a name").to_owned();
        for part in ["include", "lib64"] {
            symlink(Path::new(&name).join(part), home.join(part)).expect("a link");
        }
        for chip in soc::ALL {
            write(&arch.join("data/platform_config").join(format!("{}.ini", chip.name)), &chip.platform_file());
        }
        write(&home.join("opp/vendors/config.ini"), "load_priority=\n");
        self.modules();
        script(&own.join("model"), &own, "model");
        script(&home.join("compiler/ccec_compiler/bin/bisheng"), &own, "bisheng");
        for program in ["opc", "op_build"] {
            script(&home.join("bin").join(program), &own, program);
        }
        script(&home.join("tools/profiler/bin/msprof"), &own, "msprof");
        symlink("../tools/profiler/bin/msprof", home.join("bin/msprof")).expect("a link");
        symlink("../compiler/ccec_compiler/bin/bisheng", home.join("bin/bisheng")).expect("a link");
        script(&self.root().join("driver/tools/npu-smi"), &own, "npu-smi");
        link_file(&built().join("kernel-launcher"), &home.join("tools/msopt/bin/kernel-launcher"));
    }

    /// CMake modules where projects look for them; the older layout has none for packages.
    fn modules(&self) {
        let from = crate::support::root().join("tests/standin/cmake");
        let modules = self.home.join("compiler/tikcpp/ascendc_kernel_cmake");
        let copy = |from: &Path, to: PathBuf| write(&to, &fs_err::read_to_string(from).expect("a module"));
        copy(&from.join("legacy_modules/ascendc.cmake"), modules.join("ascendc.cmake"));
        if self.layout == Layout::Old {
            copy(
                &from.join("legacy_modules/ascendc.cmake"),
                self.home.join("tools/tikcpp/ascendc_kernel_cmake/ascendc.cmake"),
            );
            return;
        }
        copy(&from.join("asc-config.cmake"), self.arch_folder().join("lib64/cmake/asc-config.cmake"));
        for folder in ["fwk_modules", "asc_modules"] {
            for entry in fs_err::read_dir(from.join(folder)).expect("modules").filter_map(Result::ok) {
                copy(&entry.path(), modules.join(folder).join(entry.file_name()));
            }
        }
    }
}
