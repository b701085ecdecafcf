use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;
use crate::cli::Exit;
use confinement::Layers;
use events::Event;
use report::{Human, HumanOptions, Verbosity};

const ALL: Layers = Layers { files: true, tcp: true, signals: true, namespaces: true };

struct Fake {
    compiler: Result<&'static str, &'static str>,
    cmake: Result<&'static str, &'static str>,
    git: bool,
    cache: bool,
    sdk: bool,
    layers: Layers,
    variables: BTreeMap<&'static str, &'static str>,
    cann: CannFacts,
}

/// A machine without a toolkit.
fn no_cann() -> CannFacts {
    CannFacts {
        toolkit: Err("no toolkit was found; looked at ASCEND_HOME_PATH: not set; set ASCEND_HOME_PATH".to_owned()),
        devices: Err("npu-smi was not found in PATH; install the driver".to_owned()),
    }
}

/// One with all of it; the second device is another's.
fn all_of_cann() -> CannFacts {
    let place = |name: &'static str| (name, Some(format!("/opt/toolkit/bin/{name}")));
    let device = |number: u32, in_use: Option<&str>| DeviceFacts {
        shown: format!("device {number} (B2, 0000:C{number}:00.0, OK)"),
        soc: Ok("AscendX".to_owned()),
        cores: Some("24 cube and 48 vector cores at 1800 MHz".to_owned()),
        in_use: in_use.map(str::to_owned),
    };
    CannFacts {
        toolkit: Ok(ToolkitFacts {
            shown: "8.1.RC1 (/opt/toolkit, by ASCEND_HOME_PATH)".to_owned(),
            programs: vec![place("bisheng"), place("op_build"), place("asc_opc"), ("msprof", None)],
            ascendcl: Some("/opt/toolkit/include/acl/acl.h".to_owned()),
            modules: None,
            platforms: Some(("/opt/toolkit/data/platform_config".to_owned(), 40)),
        }),
        devices: Ok((vec![device(1, None), device(2, Some("used by process 7 (python3)"))], Vec::new())),
    }
}

impl Fake {
    fn complete() -> Self {
        Self {
            compiler: Ok("g++ (Debian 12.2.0-14) 12.2.0"),
            cmake: Ok("cmake version 3.25.1"),
            git: true,
            cache: true,
            sdk: true,
            layers: ALL,
            variables: BTreeMap::from([("ASCEND_HOME_PATH", "/opt/toolkit")]),
            cann: all_of_cann(),
        }
    }
}

impl Environment for Fake {
    fn compiler(&self) -> Result<Program, String> {
        program("/usr/bin/c++", self.compiler)
    }

    fn cmake(&self) -> Result<Program, String> {
        program("cmake", self.cmake)
    }

    fn git(&self) -> Result<Program, String> {
        program("git", if self.git { Ok("git version 2.39.5") } else { Err("`git --version` does not run") })
    }

    fn cache(&self) -> Result<PathBuf, String> {
        if self.cache { Ok("/cache".into()) } else { Err("/cache cannot be written: permission denied".into()) }
    }

    fn sdk(&self) -> SdkState {
        let path = PathBuf::from("/cache/sdk/libascend_sim.so");
        if self.sdk { SdkState::Built(path) } else { SdkState::NotBuilt(path) }
    }

    fn layers(&self) -> Layers {
        self.layers
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| (*value).to_owned())
    }

    fn kernel_headers(&self, directory: &str) -> Option<String> {
        (directory == "/opt/toolkit").then(|| "open device library".to_owned())
    }

    fn processors(&self) -> usize {
        2
    }

    fn cann(&self) -> CannFacts {
        self.cann.clone()
    }
}

fn program(path: &str, version: Result<&str, &str>) -> Result<Program, String> {
    match version {
        Ok(version) => Ok(Program { path: path.into(), version: version.into() }),
        Err(reason) => Err(reason.into()),
    }
}

fn shown(fake: &Fake) -> (Exit, String) {
    let (mut status, mut results) = (Vec::new(), Vec::new());
    let options = HumanOptions { verbosity: Verbosity::Normal, color: false, progress: None };
    let exit = {
        let mut human = Human::new(&mut status, &mut results, options);
        crate::cli::doctor::execute(fake, &mut human).unwrap()
    };
    assert!(status.is_empty());
    (exit, String::from_utf8(results).unwrap())
}

#[test]
fn a_complete_machine_is_fine() {
    let (exit, text) = shown(&Fake::complete());
    assert_eq!(exit, Exit::Fine);
    insta::assert_snapshot!(text, @"
       found  c++-compiler    g++ (Debian 12.2.0-14) 12.2.0 (/usr/bin/c++)
       found  cmake           cmake version 3.25.1 (cmake)
       found  cache           /cache
       found  simulator       /cache/sdk/libascend_sim.so
       found  confinement     kernels see their own directory, no network and no other process
       found  git             git version 2.39.5 (git)
       found  headers         own, and --sdk-headers /opt/toolkit: open device library
       found  processors      2; --jobs sets how many are used
       found  cann-toolkit    8.1.RC1 (/opt/toolkit, by ASCEND_HOME_PATH)
       found  cann-bisheng    /opt/toolkit/bin/bisheng, compiles kernels
       found  cann-op-build   /opt/toolkit/bin/op_build, makes code out of definitions
       found  cann-asc-opc    /opt/toolkit/bin/asc_opc, compiles kernels of framework projects
      absent  cann-msprof     msprof is not among the toolkit's programs nor in PATH; without it only our own launcher measures, and counters of the pipes are not known
              help: install the toolkit's full package (compiler and tools), or `source <toolkit>/set_env.sh`
       found  cann-ascendcl   /opt/toolkit/include/acl/acl.h
       found  cann-cmake      no modules for find_package(ASC), which came with 8.3: projects have to bring their own cmake folder
       found  cann-platforms  40 chips (/opt/toolkit/data/platform_config)
       found  device          device 1 (B2, 0000:C1:00.0, OK): AscendX, 24 cube and 48 vector cores at 1800 MHz
      absent  device          device 2 (B2, 0000:C2:00.0, OK): AscendX, 24 cube and 48 vector cores at 1800 MHz; used by process 7 (python3)
              help: wait, or choose another with ASCEND_RT_VISIBLE_DEVICES
       found  run-cann-1      take 8.1.RC1 (/opt/toolkit, by ASCEND_HOME_PATH)
       found  run-cann-2      lock 1 of 2 devices, AscendX, in /tmp/ascend-tune-devices
       found  run-cann-3      run every candidate on the embedded SDK first: right, free of hazards, not hopeless
       found  run-cann-4      build survivors with the project's own CMake below target/ascend-tune/cann, each in a package of its own
       found  run-cann-5      build our launcher against AscendCL; load baseline and candidate once, time them in turns
       found  run-cann-6      compare outputs with the baseline's, and write back what is better by more than the noise

    ok: everything that tuning needs is there
    ");
}

#[test]
fn what_is_missing_comes_with_a_fix() {
    let fake = Fake {
        compiler: Err("no C++ compiler: not found"),
        cmake: Ok("cmake version 3.13.4"),
        git: false,
        cache: false,
        sdk: false,
        layers: Layers { files: false, tcp: false, signals: false, namespaces: false },
        variables: BTreeMap::from([("ASCEND_TOOLKIT_HOME", "/gone")]),
        cann: no_cann(),
    };
    let (exit, text) = shown(&fake);
    assert_eq!(exit, Exit::Environment);
    insta::assert_snapshot!(text, @"
     missing  c++-compiler  no C++ compiler: not found
              help: install g++ 9 or newer, such as `apt-get install g++`, or set CXX to a compiler
     missing  cmake         cmake version 3.13.4 (cmake)
              help: install CMake 3.19 or newer: `apt-get install cmake` or `pip install cmake`
     missing  cache         /cache cannot be written: permission denied
              help: make the directory writable, or set ASCEND_TUNE_CACHE to one that is
      absent  simulator     not built yet, will be in /cache/sdk/libascend_sim.so
              help: nothing to do: the first command that runs a kernel builds it, once per machine
      absent  confinement   code of operators is not held back from: reads and writes outside the run's directory; sockets; processes that outlive their run, and many of them; modes of the user's files; signals to other processes
              help: use Linux 6.12 or newer with Landlock (`lsm=landlock,..`), allow user namespaces (in a container too), and see docs/security.md
      absent  git           `git --version` does not run
              help: without git, `run` cannot see uncommitted changes and wants --allow-dirty to write back
       found  headers       own; --sdk-headers takes those of a toolkit or of a checkout of the open device library
       found  processors    2; --jobs sets how many are used
      absent  cann-toolkit  no toolkit was found; looked at ASCEND_HOME_PATH: not set
              help: set ASCEND_HOME_PATH
      absent  devices       npu-smi was not found in PATH
              help: install the driver
      absent  run-cann-1    stop: there is no toolkit. `--backend auto` takes the simulator

    incomplete: tuning needs what is marked missing
    ");
}

#[test]
fn old_compilers_are_refused_by_family() {
    let state = |version| {
        let fake = Fake { compiler: Ok(version), ..Fake::complete() };
        examine(&fake).ok
    };
    assert!(!state("g++ (GCC) 4.8.5 20150623 (Red Hat 4.8.5-44)"));
    assert!(state("Debian clang version 14.0.6"));
    assert!(!state("clang version 9.0.1"));
    assert!(state("some compiler without a number"));
}

#[test]
fn absent_is_not_missing() {
    let fake = Fake {
        git: false,
        layers: Layers { namespaces: false, ..ALL },
        sdk: false,
        variables: BTreeMap::new(),
        ..Fake::complete()
    };
    assert!(examine(&fake).ok);
}

#[test]
fn events_start_with_the_format() {
    let mut events: Vec<Event> = Vec::new();
    crate::cli::doctor::execute(&Fake::complete(), &mut events).unwrap();
    assert!(matches!(events.as_slice(), [Event::Start(start), Event::Doctor(_)] if start.format == 1));
}

#[test]
fn the_real_machine_answers() {
    let directory = tempfile::tempdir().unwrap();
    let environment = SystemEnvironment::new(directory.path().join("cache"), directory.path().join("none.so"));
    let doctor = examine(&environment);
    assert!(doctor.checks.len() >= 11, "{doctor:?}");
    assert!(doctor.checks.iter().any(|check| check.name == "run-cann-1"));
    let cache = doctor.checks.iter().find(|check| check.name == "cache").unwrap();
    assert_eq!(cache.fix, None, "{}", cache.detail);
}

#[test]
fn what_a_run_would_do_ends_where_it_cannot_go_on() {
    let last = |change: &dyn Fn(&mut CannFacts)| {
        let mut fake = Fake::complete();
        change(&mut fake.cann);
        let doctor = examine(&fake);
        assert!(doctor.ok, "nothing of it is needed for the simulator");
        doctor.checks.last().unwrap().detail.clone()
    };
    let toolkit = |facts: &mut CannFacts, change: &dyn Fn(&mut ToolkitFacts)| change(facts.toolkit.as_mut().unwrap());
    assert!(last(&|_| {}).starts_with("compare outputs"));
    assert!(last(&|facts| facts.devices = no_cann().devices).starts_with("stop: no device answers"));
    assert!(last(&|facts| facts.toolkit = no_cann().toolkit).starts_with("stop: there is no toolkit"));
    assert!(
        last(&|facts| facts.devices.as_mut().unwrap().0.remove(0).in_use = None).starts_with("stop: no device is free")
    );
    assert!(last(&|facts| toolkit(facts, &|one| one.programs[0].1 = None)).contains("without bisheng"));
    assert!(last(&|facts| toolkit(facts, &|one| one.ascendcl = None)).contains("neither AscendCL"));
}
