//! From a finished run to the record that the report renders.

use std::collections::BTreeMap;

use super::profile::path_reports;
use aicore::{Origin, Profile};
use backend::{LaunchProfile, longest};
use confinement::Layers;
use events::{CaseTime, Stage, StageSummary, Stages, Status};
use manifest::{Case, TensorSpec};
use report::{CaseRecord, ChangeRecord, EvaluationRecord, FileDiff, MachineRecord, RECORD_FORMAT, RunRecord};
use search::geometric_mean;
use space::{Binding, Tunable};
use tuner::{Generalisation, Milestone, RunOutcome, TakenBack, Workspace, status_of};

/// The record of a run.
pub fn run_record(workspace: &Workspace, outcome: &RunOutcome, seed: u64, budget: u64, wall_s: f64) -> RunRecord {
    let progress = &outcome.progress;
    let stage = |stage: Stage| {
        let tally = progress.tally(stage);
        StageSummary { evaluations: tally.evaluations, gain: tally.gain }
    };
    let machine = &workspace.machine;
    RunRecord {
        generalisation: outcome.generalisation.as_ref().map(generalisation),
        taken_back: outcome.taken_back.iter().map(taken_back).collect(),
        lineage: Vec::new(),
        known: outcome.baseline_known.by_place(),
        format: RECORD_FORMAT,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        operator: workspace.manifest.operator.clone(),
        kernel: workspace.manifest.kernel.clone(),
        layout: workspace.manifest.layout.words().to_owned(),
        backend: workspace.options.backend.name().to_owned(),
        origin: workspace.origin(),
        machine: MachineRecord {
            name: machine.name.clone(),
            version: machine.version.clone(),
            digest: machine.digest(),
            facts: facts_of_machine(workspace),
        },
        environment: BTreeMap::from([
            ("compiler".to_owned(), workspace.sdk.compiler.version.clone()),
            ("SDK".to_owned(), workspace.sdk.digest.clone()),
            ("end of the run".to_owned(), outcome.ended.clone()),
            ("operator's code held back from".to_owned(), confinement()),
        ]),
        seed,
        budget,
        wall_s,
        speedup: outcome.speedup(),
        claimed: outcome.claimed(),
        baseline_objective_us: outcome.baseline_us(),
        bound_objective_us: (workspace.origin() == Origin::Modelled)
            .then(|| geometric_mean(outcome.winner_times.iter().map(|time| time.bound_us), &outcome.weights)),
        stages: Stages { host: stage(Stage::Host), kernel: stage(Stage::Kernel) },
        baseline_configuration: outcome.baseline.configuration.clone(),
        configuration: progress.best.configuration.clone(),
        caps: workspace
            .tunables()
            .iter()
            .filter(|tunable| is_cap(tunable))
            .map(|tunable| tunable.name.clone())
            .collect(),
        cases: workspace.cases.iter().map(|&index| case_record(outcome, &workspace.manifest.cases[index])).collect(),
        evaluations: progress
            .attempts
            .iter()
            .map(|attempt| EvaluationRecord {
                index: attempt.index,
                candidate: attempt.digest.clone(),
                stage: attempt.stage,
                configuration: attempt.configuration.clone(),
                motif: (!attempt.motif.is_empty()).then(|| attempt.motif.clone()),
                status: attempt.rejection.as_ref().map_or(Status::Valid, status_of),
                reason: attempt.rejection.as_ref().map(ToString::to_string),
                cases: attempt
                    .times
                    .iter()
                    .map(|time| CaseTime { name: time.name.clone(), us: time.task_us })
                    .collect(),
                objective_us: attempt.objective_us,
                cached: false,
            })
            .collect(),
        changes: progress.milestones.iter().map(|milestone| change_record(milestone, workspace.origin())).collect(),
        diffs: FileDiff::of_trees(&outcome.baseline.sources, &progress.best.sources),
        sites: sites(outcome),
    }
}

/// Whether 0 is no limit.
fn is_cap(tunable: &Tunable) -> bool {
    matches!(tunable.binding, Binding::Cap { .. } | Binding::Share { .. } | Binding::Portion { .. })
}

/// What the machine holds operators' code back from, and what not, in a sentence.
fn confinement() -> String {
    match Layers::of_this_machine().missing().as_slice() {
        [] => "everything that is not its own, as docs/security.md has it".to_owned(),
        missing => format!("what docs/security.md has, but not from: {}", missing.join("; ")),
    }
}

fn change_record(milestone: &Milestone, origin: Origin) -> ChangeRecord {
    let percent = (1.0 - 1.0 / milestone.gain) * 100.0;
    let effect = match milestone.motif.is_empty() {
        true => format!("other values of the tunables took {percent:.1} % off the {} time", origin.word()),
        false => format!("{}; it took {percent:.1} % off the {} time", milestone.why, origin.word()),
    };
    ChangeRecord {
        stage: milestone.stage,
        title: milestone.title.clone(),
        motif: (!milestone.motif.is_empty()).then(|| milestone.motif.clone()),
        effect,
        gain: milestone.gain,
        diffs: FileDiff::of_trees(&milestone.before.sources, &milestone.after.sources),
    }
}

fn case_record(outcome: &RunOutcome, case: &Case) -> CaseRecord {
    let time = |times: &[tuner::CaseTime]| times.iter().find(|time| time.name == case.name).map(|time| time.task_us);
    let launch = |profiles: &BTreeMap<String, Vec<LaunchProfile>>| longest(profiles.get(&case.name)?).cloned();
    // The model's profiles are not shown beside measured times.
    let modelled = |launch: &LaunchProfile| launch.device.is_none();
    let before = launch(&outcome.baseline_profiles).filter(modelled);
    let after = launch(&outcome.winner_profiles).filter(modelled);
    let path = |launch: &Option<LaunchProfile>| launch.as_ref().map(path_reports).unwrap_or_default();
    // The path by source line says what is left of the one by instruction.
    let profile = |launch: LaunchProfile| Profile { critical_path: Vec::new(), ..launch.profile };
    CaseRecord {
        name: case.name.clone(),
        description: describe(case),
        weight: case.weight,
        baseline_us: time(&outcome.baseline_times),
        best_us: time(&outcome.winner_times),
        published_us: None,
        path_before: path(&before),
        path_after: path(&after),
        before: before.map(profile),
        after: after.map(profile),
    }
}

fn describe(case: &Case) -> String {
    let tensor = |tensor: &TensorSpec| {
        let shape = tensor.shape.as_deref().unwrap_or_default();
        let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
        format!("{} {}[{}]", tensor.name, tensor.dtype, shape.join(", "))
    };
    let mut parts: Vec<String> = case.inputs.iter().map(tensor).collect();
    parts.extend(case.attributes.iter().map(|attribute| format!("{}={}", attribute.name, attribute.value)));
    if parts.is_empty() {
        parts.push(if case.arguments.is_empty() { "no arguments".to_owned() } else { case.arguments.join(" ") });
    }
    parts.join(", ")
}

/// Source lines of stalled instructions.
fn sites(outcome: &RunOutcome) -> BTreeMap<u64, String> {
    let launches = outcome.baseline_profiles.values().chain(outcome.winner_profiles.values()).flatten();
    launches
        .flat_map(|launch| launch.profile.stalls.iter().zip(&launch.stall_places))
        .filter(|(_, place)| !place.file.is_empty())
        .map(|(stall, place)| (stall.site, format!("{}:{}", place.file, place.line)))
        .collect()
}

/// A step that was taken back, as it is reported.
pub fn taken_back(step: &TakenBack) -> events::TakenBack {
    events::TakenBack { step: step.step.clone(), why: step.why.clone() }
}

/// Results on probes, as they are reported.
pub fn generalisation(general: &Generalisation) -> events::Generalisation {
    let probes = general.probes.iter().map(|(probe, speedup)| events::ProbeResult {
        name: probe.case.name.clone(),
        speedup: *speedup,
        compared: probe.with_data,
    });
    events::Generalisation {
        seed: general.seed,
        probes: probes.collect(),
        speedup: general.speedup().unwrap_or(1.0),
        unconfirmed: general.speedup().is_none(),
        at_fault: general.at_fault as u64,
        faulty: general.faulty.iter().map(|(name, reason)| format!("{name}: {reason}")).collect(),
        joined: general.joined.clone(),
        representing: general.representing.clone(),
    }
}

/// Values by name, for reports.
pub fn facts_of_machine(workspace: &Workspace) -> BTreeMap<String, String> {
    let machine = &workspace.machine;
    BTreeMap::from([
        ("vector cores".to_owned(), machine.parameters.aiv_cores.to_string()),
        ("unified buffer".to_owned(), format!("{} bytes", machine.parameters.ub_bytes)),
        ("L2".to_owned(), format!("{} MiB", machine.parameters.l2_bytes / 1_048_576.0)),
    ])
}
