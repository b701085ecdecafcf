//! `profile`: one run explained.

use std::collections::BTreeMap;

use super::Exit;
use super::args::{Common, ProfileArgs};
use super::output::{Output, start_event};
use super::target::{hazard_reports, open_with, runtime};
use aicore::Origin;
use backend::{Execution, LaunchProfile};
use events::{Event, PathReport, ProfileEvent, StallReport, Warning};
use report::chrome_trace;
use tuner::{
    InputData, NeedsData, Plan, Trial, TrialError, TunerError, Workspace, golden_references, mostly_fixed, rejects,
};
use verify::Rejection;

/// Executes the command.
pub fn execute(common: &Common, arguments: &ProfileArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let data = if arguments.timing_only { InputData::Left } else { InputData::Made };
    let folder =
        arguments.trace.as_deref().and_then(|path| path.parent()).filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(TunerError::Usage(format!("--trace: there is no folder {}", folder.display())));
    }
    let mut workspace = open_with(start_event("profile", common), common, &arguments.target, true, data, output)?;
    if workspace.manifest_text.is_empty() {
        output.emit(&Event::Warning(Warning {
            code: "no-manifest".to_owned(),
            message: "there is no ascend.toml; cases are made up from the sources".to_owned(),
            help: Some("run `cargo ascend-tune init` to choose shapes and ranges".to_owned()),
        }));
    }
    workspace.evaluator = workspace.evaluator.following();
    let candidate = workspace.baseline()?;
    let plan = candidate.plain_plan(workspace.tunables());
    let runtime = runtime()?;
    let mut golden = None;
    let mut longest: Option<LaunchProfile> = None;
    let mut wrong = false;
    let mut profiles: BTreeMap<String, Vec<LaunchProfile>> = BTreeMap::new();
    for index in 0..workspace.evaluator.workload.timed() {
        let trial = workspace.evaluator.workload.trials[index].clone();
        let case = trial.label(&workspace.manifest.cases);
        let mut timed = None;
        if arguments.timing_only {
            match runtime.block_on(workspace.evaluator.time_trial(&plan, &trial)).map_err(TrialError::of_baseline)? {
                Ok(execution) => timed = Some((execution, Verdict::NotComputed)),
                Err(NeedsData(reason)) => {
                    output.emit(&Event::Warning(Warning {
                        code: "needs-data".to_owned(),
                        message: format!("case {case} cannot be timed without data: {reason}"),
                        help: Some("it is run with data instead".to_owned()),
                    }));
                    workspace.make_data()?;
                }
            }
        }
        let (execution, verdict) = match timed {
            Some(timed) => timed,
            None => {
                if golden.is_none() {
                    golden = Some(runtime.block_on(golden_references(&workspace))?);
                }
                let expected = golden.as_ref().and_then(|golden| golden.get(&index));
                runtime.block_on(checked_run(&workspace, &plan, &trial, expected)).map_err(TrialError::of_baseline)?
            }
        };
        wrong |= verdict.correct(true) == Some(false);
        for (number, launch) in execution.launches.iter().enumerate() {
            let event = profile_event(&workspace, &case, number, launch, &verdict);
            measured_event(&event, launch).iter().for_each(|event| output.emit(event));
            wrong |= event.correct == Some(false);
            output.emit(&Event::Profile(Box::new(event)));
            profiles.entry(case.clone()).or_default().push(launch.clone());
            if longest.as_ref().is_none_or(|known| launch.profile.task_us > known.profile.task_us) {
                longest = Some(launch.clone());
            }
        }
    }
    if let Some(warning) = mostly_fixed(&profiles) {
        output.emit(&warning);
    }
    if let (Some(path), Some(launch)) = (&arguments.trace, longest) {
        let places = launch.profile.stalls.iter().zip(&launch.stall_places);
        let sites = places.map(|(stall, place)| (stall.site, format!("{}:{}", place.file, place.line))).collect();
        let title = workspace.manifest.operator.as_str();
        fs_err::write(path, chrome_trace(&[(title, &launch.profile)], Origin::Modelled, &sites))?;
    }
    Ok(if wrong { Exit::NothingValid } else { Exit::Fine })
}

/// What is known of the outputs of a case.
enum Verdict {
    /// They were compared.
    Checked {
        /// What is wrong with them; `None` where they are right.
        wrong: Option<String>,
        /// What they were compared with.
        with: &'static str,
    },
    /// The case was timed without data.
    NotComputed,
}

impl Verdict {
    /// What the event says of a launch without hazards, or of one with some.
    fn correct(&self, clean: bool) -> Option<bool> {
        match self {
            Self::Checked { wrong, .. } => Some(wrong.is_none() && clean),
            Self::NotComputed => (!clean).then_some(false),
        }
    }

    /// Why it is not right; empty where it is.
    fn why(&self, clean: bool) -> String {
        match self {
            Self::Checked { wrong: Some(wrong), with } => format!("against {with}, {wrong}"),
            _ if !clean => "it has a hazard that no candidate may have".to_owned(),
            _ => String::new(),
        }
    }
}

/// Runs a case with data and looks at its outputs.
async fn checked_run(
    workspace: &Workspace,
    plan: &Plan,
    trial: &Trial,
    expected: Option<&Vec<Vec<u8>>>,
) -> Result<(Execution, Verdict), TrialError> {
    let execution = workspace.evaluator.run_trial(plan, trial, expected.is_some()).await?;
    let verdict = check_outputs(workspace, plan, trial, &execution, expected).await?;
    Ok((execution, verdict))
}

/// Whether the outputs are right, and by which measure: golden data if there is some; the program's own exit status
/// for a direct launch; otherwise a second run with other garbage in unwritten memory and the blocks in another order,
/// which must not change them.
async fn check_outputs(
    workspace: &Workspace,
    plan: &Plan,
    trial: &Trial,
    execution: &Execution,
    golden: Option<&Vec<Vec<u8>>>,
) -> Result<Verdict, TrialError> {
    let evaluator = &workspace.evaluator;
    let differs = |compared: Result<(), Rejection>| compared.err().map(|rejection| rejection.detail);
    if let Some(golden) = golden {
        let wrong = differs(evaluator.agrees(trial, execution, golden));
        return Ok(Verdict::Checked { wrong, with: "golden data" });
    }
    if workspace.is_direct_launch() {
        return Ok(Verdict::Checked { wrong: None, with: "the program's exit status" });
    }
    let wrong = match evaluator.run_with_other_garbage(plan, trial).await {
        Ok(again) => differs(evaluator.agrees(trial, &again, &execution.outputs)),
        Err(TrialError::Rejected(rejection)) => Some(rejection.to_string()),
        Err(machine) => return Err(machine),
    };
    let with = "a second run with other garbage in unwritten memory and the blocks in another order";
    Ok(Verdict::Checked { wrong, with })
}

fn profile_event(
    workspace: &Workspace,
    case: &str,
    number: usize,
    launch: &LaunchProfile,
    verdict: &Verdict,
) -> ProfileEvent {
    let profile = &launch.profile;
    let clean = !launch.hazards.iter().any(|hazard| rejects(hazard, workspace.manifest.hazards));
    ProfileEvent {
        operator: workspace.manifest.operator.clone(),
        case: case.to_owned(),
        kernel: profile.kernel.clone(),
        launch: u32::try_from(number).unwrap_or(u32::MAX),
        task_us: profile.task_us,
        count: None,
        spread: None,
        bound_us: Some(profile.bound_us),
        limiter: Some(profile.limiter),
        pipes: Some(profile.pipes),
        cores: profile.cores,
        longest_core_us: Some(profile.longest_core_us),
        gm_read_bytes: profile.gm_read_bytes,
        gm_write_bytes: profile.gm_write_bytes,
        stalls: profile
            .stalls
            .iter()
            .zip(&launch.stall_places)
            .map(|(stall, place)| StallReport {
                pipe: stall.pipe.clone(),
                reason: stall.reason.clone(),
                time_us: stall.time_us,
                file: place.file.clone(),
                line: place.line,
            })
            .collect(),
        critical_path: path_reports(launch),
        hazards: hazard_reports(launch),
        correct: verdict.correct(clean),
        wrong: verdict.why(clean),
        checked: match verdict {
            Verdict::Checked { with, .. } => (*with).to_owned(),
            Verdict::NotComputed => String::new(),
        },
        timing_only: matches!(verdict, Verdict::NotComputed),
        published_us: None,
        // Whatever else was measured, this is what the model says.
        origin: Origin::Modelled,
        machine: workspace.machine.name.clone(),
        machine_version: workspace.machine.version.clone(),
    }
}

/// What a device says of a launch, where one was asked: nothing of the model's is in it but what counts instructions and bytes.
fn measured_event(modelled: &ProfileEvent, launch: &LaunchProfile) -> Option<Event> {
    let device = launch.device.as_ref()?;
    Some(Event::Profile(Box::new(ProfileEvent {
        task_us: device.task_us,
        count: Some(device.count),
        spread: Some(device.spread),
        bound_us: None,
        limiter: None,
        pipes: device.pipes,
        longest_core_us: device.core_us,
        stalls: Vec::new(),
        critical_path: Vec::new(),
        origin: Origin::Measured,
        ..modelled.clone()
    })))
}

/// The critical path by source line: steps of one line that are spent on the same thing are one.
pub(super) fn path_reports(launch: &LaunchProfile) -> Vec<PathReport> {
    let whole_us = launch.profile.longest_core_us.max(f64::MIN_POSITIVE);
    let mut reports: Vec<PathReport> = Vec::new();
    for (step, place) in launch.profile.critical_path.iter().zip(&launch.path_places) {
        let same = |report: &&mut PathReport| {
            (&report.pipe, report.part, &report.opcode) == (&step.pipe, step.part, &step.opcode)
                && (&report.file, report.line) == (&place.file, place.line)
        };
        match reports.iter_mut().find(same) {
            Some(report) => {
                report.time_us += step.time_us;
                report.count += step.count;
                report.share = report.time_us / whole_us;
            }
            // Steps come largest first, so the way of the first one is the main one.
            None => reports.push(PathReport {
                pipe: step.pipe.clone(),
                part: step.part,
                opcode: step.opcode.clone(),
                time_us: step.time_us,
                share: step.time_us / whole_us,
                count: step.count,
                via: step.via.clone(),
                file: place.file.clone(),
                line: place.line,
            }),
        }
    }
    reports.sort_by(|a, b| b.time_us.total_cmp(&a.time_us));
    reports
}
