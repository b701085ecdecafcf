use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;
use crate::cli::Exit;
use crate::report::event::Event;
use crate::report::{Human, HumanOptions, Verbosity};

struct Fake {
    compiler: Result<&'static str, &'static str>,
    cmake: Result<&'static str, &'static str>,
    git: bool,
    cache: bool,
    sdk: bool,
    landlock: bool,
    variables: BTreeMap<&'static str, &'static str>,
}

impl Fake {
    fn complete() -> Self {
        Self {
            compiler: Ok("g++ (Debian 12.2.0-14) 12.2.0"),
            cmake: Ok("cmake version 3.25.1"),
            git: true,
            cache: true,
            sdk: true,
            landlock: true,
            variables: BTreeMap::from([("ASCEND_HOME_PATH", "/opt/toolkit")]),
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

    fn landlock(&self) -> bool {
        self.landlock
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| (*value).to_owned())
    }

    fn has_directory(&self, path: &str) -> bool {
        path == "/opt/toolkit"
    }

    fn processors(&self) -> usize {
        2
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
    insta::assert_snapshot!(text, @"");
}

#[test]
fn what_is_missing_comes_with_a_fix() {
    let fake = Fake {
        compiler: Err("no C++ compiler: not found"),
        cmake: Ok("cmake version 3.13.4"),
        git: false,
        cache: false,
        sdk: false,
        landlock: false,
        variables: BTreeMap::from([("ASCEND_TOOLKIT_HOME", "/gone")]),
    };
    let (exit, text) = shown(&fake);
    assert_eq!(exit, Exit::Environment);
    insta::assert_snapshot!(text, @"");
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
    let fake = Fake { git: false, landlock: false, sdk: false, variables: BTreeMap::new(), ..Fake::complete() };
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
    assert_eq!(doctor.checks.len(), 8);
    let cache = doctor.checks.iter().find(|check| check.name == "cache").unwrap();
    assert_eq!(cache.fix, None, "{}", cache.detail);
}
