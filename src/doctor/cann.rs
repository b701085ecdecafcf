//! A real toolkit and its devices: every finding, every gap with what mends it, and what a run on them would do.

use events::{CheckState, DoctorCheck};

/// What is known of the toolkit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolkitFacts {
    /// Version, place and what led to it.
    pub shown: String,
    /// Programs that a build or a measurement starts: name, and where it is.
    pub programs: Vec<(&'static str, Option<String>)>,
    /// Headers and libraries of AscendCL, which our launcher is built against.
    pub ascendcl: Option<String>,
    /// CMake modules for `find_package(ASC)`.
    pub modules: Option<String>,
    /// Platform files: their folder and how many chips they describe.
    pub platforms: Option<(String, usize)>,
}

/// What is known of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Number, name, address and health.
    pub shown: String,
    /// The full name of its chip, or why it is not known.
    pub soc: Result<String, String>,
    /// Cores and clock by its platform file.
    pub cores: Option<String>,
    /// Why it should not be measured on now.
    pub in_use: Option<String>,
}

/// What is known of toolkit and devices; a reason in words, with what mends it, where there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannFacts {
    /// The toolkit.
    pub toolkit: Result<ToolkitFacts, String>,
    /// Devices that may be used, and what was passed over in finding them.
    pub devices: Result<(Vec<DeviceFacts>, Vec<String>), String>,
}

/// What programs are for, and what does without them.
fn purpose(program: &str) -> (&'static str, &'static str) {
    match program {
        "bisheng" => ("compiles kernels", "no kernel is compiled without it"),
        "msprof" => {
            ("measures kernels", "without it only our own launcher measures, and counters of the pipes are not known")
        }
        "op_build" => ("makes code out of definitions", "framework projects do not configure without it"),
        "asc_opc" => ("compiles kernels of framework projects", "framework projects have no kernel objects without it"),
        _ => ("", ""),
    }
}

/// The checks, and what `run --backend cann` would do.
pub(super) fn checks(facts: &CannFacts) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    match &facts.toolkit {
        Ok(toolkit) => of_toolkit(toolkit, &mut checks),
        Err(reason) => checks.push(absent("cann-toolkit", reason)),
    }
    match &facts.devices {
        Ok((devices, remarks)) => {
            for device in devices {
                checks.push(of_device(device));
            }
            for remark in remarks {
                checks.push(check("npu-smi", CheckState::Absent, remark.as_str(), None));
            }
        }
        Err(reason) => checks.push(absent("devices", reason)),
    }
    checks.extend(run(facts));
    checks
}

/// A reason and what mends it, which its sentence ends with.
fn absent(name: &str, reason: &str) -> DoctorCheck {
    let (detail, fix) = reason.rsplit_once("; ").map_or((reason, None), |(detail, fix)| (detail, Some(fix)));
    check(name, CheckState::Absent, detail, fix)
}

fn of_toolkit(toolkit: &ToolkitFacts, checks: &mut Vec<DoctorCheck>) {
    checks.push(check("cann-toolkit", CheckState::Found, toolkit.shown.as_str(), None));
    for (program, place) in &toolkit.programs {
        let (purpose, without) = purpose(program);
        let name = format!("cann-{}", program.replace('_', "-"));
        checks.push(match place {
            Some(place) => check(&name, CheckState::Found, format!("{place}, {purpose}"), None),
            None => check(
                &name,
                CheckState::Absent,
                format!("{program} is not among the toolkit's programs nor in PATH; {without}"),
                Some("install the toolkit's full package (compiler and tools), or `source <toolkit>/set_env.sh`"),
            ),
        });
    }
    checks.push(match &toolkit.ascendcl {
        Some(place) => check("cann-ascendcl", CheckState::Found, place.as_str(), None),
        None => check(
            "cann-ascendcl",
            CheckState::Absent,
            "no include/acl/acl.h with libascendcl.so or libacl_rt.so; our launcher cannot be built, `msprof op --config` is used in its place",
            Some("install the toolkit with its development files"),
        ),
    });
    checks.push(match &toolkit.modules {
        Some(place) => check("cann-cmake", CheckState::Found, place.as_str(), None),
        None => check(
            "cann-cmake",
            CheckState::Found,
            "no modules for find_package(ASC), which came with 8.3: projects have to bring their own cmake folder",
            None,
        ),
    });
    checks.push(match &toolkit.platforms {
        Some((folder, chips)) => check("cann-platforms", CheckState::Found, format!("{chips} chips ({folder})"), None),
        None => check(
            "cann-platforms",
            CheckState::Absent,
            "no data/platform_config; core counts come from the embedded machine descriptions",
            Some("install the toolkit's full package"),
        ),
    });
}

fn of_device(device: &DeviceFacts) -> DoctorCheck {
    let cores = device.cores.as_ref().map_or_else(String::new, |cores| format!(", {cores}"));
    let detail = match &device.soc {
        Ok(soc) => format!("{}: {soc}{cores}", device.shown),
        Err(reason) => {
            let detail = format!("{}: the full name of its chip is not known: {reason}", device.shown);
            return check("device", CheckState::Absent, detail, Some("name it with --soc"));
        }
    };
    match &device.in_use {
        None => check("device", CheckState::Found, detail, None),
        Some(reason) => check(
            "device",
            CheckState::Absent,
            format!("{detail}; {reason}"),
            Some("wait, or choose another with ASCEND_RT_VISIBLE_DEVICES"),
        ),
    }
}

/// What `run --backend cann` would do here, a check a step; the first that it cannot do is the last.
fn run(facts: &CannFacts) -> Vec<DoctorCheck> {
    let mut steps: Vec<Result<String, String>> = Vec::new();
    let no_devices = (Vec::new(), Vec::new());
    let (devices, _) = facts.devices.as_ref().unwrap_or(&no_devices);
    let free: Vec<&DeviceFacts> = devices.iter().filter(|one| one.in_use.is_none() && one.soc.is_ok()).collect();
    match &facts.toolkit {
        Err(_) => steps.push(Err("stop: there is no toolkit. `--backend auto` takes the simulator".to_owned())),
        Ok(toolkit) => {
            let has = |name: &str| toolkit.programs.iter().any(|(program, place)| *program == name && place.is_some());
            steps.push(Ok(format!("take {}", toolkit.shown)));
            match (free.first(), devices.is_empty()) {
                (Some(device), _) => {
                    let soc = device.soc.as_deref().unwrap_or_default();
                    let count = free.len();
                    steps.push(Ok(format!(
                        "lock {count} of {} devices, {soc}, in /tmp/ascend-tune-devices",
                        devices.len()
                    )));
                    steps.push(Ok(
                        "run every candidate on the embedded SDK first: right, free of hazards, not hopeless"
                            .to_owned(),
                    ));
                    if !has("bisheng") {
                        steps.push(Err("stop: kernels cannot be compiled without bisheng".to_owned()));
                    } else {
                        steps.push(Ok("build survivors with the project's own CMake below target/ascend-tune/cann, each in a package of its own".to_owned()));
                        steps.push(match (toolkit.ascendcl.is_some(), has("msprof")) {
                            (true, _) => Ok("build our launcher against AscendCL; load baseline and candidate once, time them in turns".to_owned()),
                            (false, true) => Ok("time baseline and candidate in turns with `msprof op --config`".to_owned()),
                            (false, false) => Err("stop: there is neither AscendCL to build a launcher against nor msprof".to_owned()),
                        });
                        if steps.last().is_some_and(Result::is_ok) {
                            steps.push(Ok("compare outputs with the baseline's, and write back what is better by more than the noise".to_owned()));
                        }
                    }
                }
                (None, true) => {
                    steps.push(Err("stop: no device answers. `--backend auto` takes the simulator".to_owned()))
                }
                (None, false) => steps
                    .push(Err("stop: no device is free and known. `--backend auto` takes the simulator".to_owned())),
            }
        }
    }
    let named = |(place, step): (usize, Result<String, String>)| {
        let name = format!("run-cann-{}", place + 1);
        match step {
            Ok(text) => check(&name, CheckState::Found, text, None),
            Err(text) => check(&name, CheckState::Absent, text, None),
        }
    };
    steps.into_iter().enumerate().map(named).collect()
}

/// A check as data.
pub(super) fn check(name: &str, state: CheckState, detail: impl Into<String>, fix: Option<&str>) -> DoctorCheck {
    DoctorCheck { name: name.to_owned(), state, detail: detail.into(), fix: fix.map(str::to_owned) }
}
