//! The command against the stand-in: projects of every style, and what a machine with a toolkit would be like to it.

use std::process::Command;

use super::layout::{Layout, Standin};
use crate::support::{Ended, Project, root};

/// Whether everything is tried that continuous integration has no time for: `ASCEND_TUNE_STANDIN` has any value.
pub fn at_length() -> bool {
    std::env::var_os("ASCEND_TUNE_STANDIN").is_some()
}

/// Styles of projects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// msOpGen's framework project.
    Framework,
    /// `find_package(ASC)`.
    Package,
    /// `ascendc_library` with a main of its own.
    KernelLaunch,
    /// The language ASC.
    Language,
    /// A program that compiles its kernel while it runs.
    RunTime,
    /// One operator of a repository.
    Repository,
    /// Another one, whose parameters are lists of tensors.
    List,
}

impl Style {
    /// The layout of toolkits that projects of the style are of.
    pub fn layout(self) -> Layout {
        match self {
            Style::Framework | Style::KernelLaunch => Layout::Old,
            Style::Package | Style::Language | Style::RunTime | Style::Repository | Style::List => Layout::New,
        }
    }

    /// A copy of its project; the path below it where the operator lies.
    pub fn project(self) -> (Project, &'static str) {
        let of = |name: &str| Project::copy_of(&root().join("tests/standin/projects").join(name));
        match self {
            Style::Framework => (of("msopgen"), ""),
            Style::Package => (Project::fixture("add_custom"), ""),
            Style::KernelLaunch => (of("kernel_launch"), ""),
            Style::Language => (of("language_asc"), ""),
            Style::RunTime => (of("run_time"), ""),
            Style::Repository => {
                let project = of("repository");
                for file in ["op_host/scale_add.cpp", "op_host/scale_add_tiling.h", "op_kernel/scale_add.cpp"] {
                    let to = project.path().join("math/scale_add").join(file);
                    fs_err::create_dir_all(to.parent().expect("a folder")).expect("a folder");
                    fs_err::copy(root().join("tests/standin/projects/msopgen").join(file), to).expect("a copy");
                }
                // Where the repository begins is told by this.
                fs_err::create_dir_all(project.path().join(".git")).expect("a folder");
                (project, "math/scale_add")
            }
            Style::List => {
                let project = of("repository");
                fs_err::create_dir_all(project.path().join(".git")).expect("a folder");
                let within = "foreach/foreach_add_scalar";
                let fixture = root().join("fixtures/foreach_add_scalar/careful");
                for file in walkdir::WalkDir::new(&fixture).into_iter().flatten().filter(|file| file.path().is_file()) {
                    let below = file.path().strip_prefix(&fixture).expect("below it");
                    let to = project.path().join(within).join(below);
                    fs_err::create_dir_all(to.parent().expect("a folder")).expect("a folder");
                    fs_err::copy(file.path(), to).expect("a copy");
                }
                (project, within)
            }
        }
    }
}

/// A project on a machine with a stand-in.
pub struct Machine {
    /// The toolkit and its devices.
    pub standin: Standin,
    /// The project.
    pub project: Project,
    within: &'static str,
}

impl Machine {
    /// A project of a style on a toolkit of its layout.
    pub fn new(style: Style) -> Self {
        let (project, within) = style.project();
        Self { standin: Standin::new(style.layout(), "Ascend910B2"), project, within }
    }

    /// The command with `--backend cann` and the toolkit's environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command(arguments);
        let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let mut changed = crate::support::tool();
        for word in words {
            // The operator may lie below the project's root.
            let is_root = word.as_os_str() == self.project.path().as_os_str();
            changed.arg(if is_root { self.project.path().join(self.within).into_os_string() } else { word });
        }
        command = changed;
        command.args(["--backend", "cann"]).envs(self.standin.environment());
        command
    }

    /// Runs it.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        Ended::new(&self.command(arguments).output().expect("the tool runs"))
    }

    /// The time that `profile` says of the only case.
    #[track_caller]
    pub fn profiled_us(&self, arguments: &[&str]) -> f64 {
        let ended = self.run(&[&["profile"], arguments].concat()).expect(0);
        let profile = ended.named("profile")[0].clone();
        assert_eq!((&profile["origin"], &profile["correct"]), (&"measured".into(), &true.into()), "{profile}");
        profile["task_us"].as_f64().expect("a time")
    }
}
