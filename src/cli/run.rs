//! `run`: tunes, writes the winner back, writes lock and report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::Exit;
use super::alone::{alone, weight_permille};
use super::args::{Common, ResumeMode, RunArgs, StageChoice};
use super::bank::own_bank;
use super::check::top_of_checkout;
use super::corpus;
use super::entries::{beside_what, drifted_entries, key_of, with_beside, with_own};
use super::locked::{
    cmake_entries, locked_departures, locked_device, locked_files, locked_findings, locked_machine, locked_manifest,
    locked_measurement,
};
use super::model::{invite, show_prompt};
use super::output::{Output, start_event, write_whole};
use super::page::write_html;
use super::patches::patches;
use super::record::{generalisation, taken_back};
use super::repair::survey_and_repair;
use super::report::{RECORD, RECORD_BEFORE};
use super::target::{open, runtime};
use backend::longest;
use events::{self, Event, Stage, StageSummary, Stages, Start, Summary, SummaryCase, Warning};
use experience::{Bank, Record};
use lock::{self, EntryKey, LOCK_FILE, LOCK_VERSION, Lock, LockedCase, LockedGeneralisation, LockedMotif, Picoseconds};
use project::OperatorProject;
use report::RunRecord;
use report::ci::gained;
use source::SourceTree;
use space::Configuration;
use tuner::{
    AppliedPatch, BackendKind, Experience, Generalisation, RecordedResult, Rewriting, RunOptions, RunOutcome,
    TunerError, Workspace, recover, run_from, status_of, write_winner,
};

/// Executes the command.
pub fn execute(common: &Common, arguments: &RunArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let started = Instant::now();
    let start =
        Start { seed: Some(arguments.target.seed), budget: Some(arguments.budget), ..start_event("run", common) };
    corpus::named(&arguments.corpus)?;
    let project = OperatorProject::find(&common.project)?;
    let completed = recover(&project.root, &project.work_directory())?;
    let workspace = open(start, common, &arguments.target, false, output)?;
    if !completed.is_empty() {
        output.emit(&begins_from_winner(&project.root, &completed));
    }
    let may_write = !arguments.dry_run;
    if may_write && matches!(workspace.options.backend, BackendKind::Recorded { .. }) {
        let message =
            "--backend recorded rehearses on noise of its own making: nothing of it is written; add --dry-run";
        return Err(TunerError::Usage(message.to_owned()));
    }
    if may_write && !arguments.allow_dirty {
        refuse_dirty(&workspace)?;
    }
    let lock_path = workspace.project.root.join(LOCK_FILE);
    let present = lock::read(&lock_path).ok();
    let beside = beside_what(&workspace, present.as_ref());
    if let Some(own) = &beside {
        output.emit(&goes_beside(own, &key_of(&workspace), arguments)?);
    }
    if arguments.resume_mode() == ResumeMode::Require && !workspace.work_directory.join("journal.jsonl").exists() {
        return Err(TunerError::Usage("--resume: there is no journal of an interrupted run".to_owned()));
    }
    for (name, error) in workspace.missing_tunables() {
        output.emit(&Event::Warning(events::Warning {
            code: "tunable-missing".to_owned(),
            message: format!("tunable {name} is left out: {error}"),
            help: None,
        }));
    }
    let invited = invite(arguments, &workspace, output)?;
    let runtime = runtime()?;
    let (workspace, surveyed) = survey_and_repair(workspace, arguments, &runtime, output)?;
    if let Some(role) = arguments.model.show_prompt {
        return show_prompt(&workspace, &surveyed, role, output);
    }
    let further = invited.take_part(&workspace, &surveyed)?;
    let options = RunOptions {
        evaluations: arguments.budget,
        time_limit: arguments.time_limit,
        seed: arguments.target.seed,
        strategy: arguments.strategy,
        // A rewrite would be one of the sources of the other chip.
        stages: if beside.is_some() { vec![Stage::Host] } else { stages(arguments.stage) },
        resume: arguments.resume_mode() != ResumeMode::Never,
        experience: experience(arguments, &workspace),
        // Neither would code that chooses by size.
        dispatch: beside.is_none() && !arguments.no_dispatch && workspace.manifest.dispatch,
        rewriting: Rewriting::default(),
        allow_rounding: arguments.allow_rounding,
        patches: patches(arguments, &workspace)?,
        further: further.proposers(),
        further_digest: further.digest.clone(),
        earlier_winners: earlier_winners(&workspace, present.as_ref()),
    };
    let outcome = runtime.block_on(run_from(&workspace, &options, surveyed, &mut |event| output.emit(&event)))?;

    let standing = present.as_ref().and_then(|present| present.entry(&key_of(&workspace)));
    let entry = or_standing(new_lock(&workspace, &outcome, arguments.target.seed), standing);
    let (before, best) = (&workspace.sources, &outcome.progress.best.sources);
    let (lock, drifted) = match (&beside, &present) {
        (Some(_), Some(present)) => (with_beside(present, entry, before, best), Vec::new()),
        _ => with_own(present.as_ref(), entry, best, workspace.tunables()),
    };
    let written = if beside.is_some() { before } else { best };
    if !matches!(workspace.options.backend, BackendKind::Recorded { .. }) {
        let lock_before = fs_err::read_to_string(&lock_path).ok();
        let recorded = match beside {
            Some(_) => RecordedResult::of_lock(lock_before, &lock)?,
            None => RecordedResult::of(&outcome, before, lock_before, &lock)?,
        };
        recorded.keep(&workspace.work_directory)?;
    }
    if may_write {
        if arguments.locked && lock::read(&lock_path).map_or(true, |present| present != lock) {
            return Err(TunerError::Locked(lock_path));
        }
        // What takes long comes before anything is written: a run that is interrupted here goes on from its journal.
        let records = further.records(&outcome.records, output);
        let rules = further.rules(&workspace, &arguments.corpus, &outcome.records, output);
        write_winner(&workspace.project.root, &workspace.work_directory, before, written, &lock)?;
        drifted_entries(&drifted).iter().for_each(|warning| output.emit(warning));
        keep_experience(&workspace, &records, output);
        further.keep_local_motifs(&workspace, rules, output);
        comments_of_what_was(before, written).iter().for_each(|warning| output.emit(warning));
    }
    let report_path = workspace.work_directory.join("report.html");
    let wall_s = started.elapsed().as_secs_f64();
    let used = further.used();
    let record = super::record::run_record(&workspace, &outcome, arguments.target.seed, arguments.budget, wall_s);
    let lineage = used.as_ref().map(|used| used.lineage.clone()).unwrap_or_default();
    if !lineage.is_empty() {
        write_whole(&workspace.work_directory.join("lineage.jsonl"), &further.lineage())?;
    }
    let record = RunRecord { lineage, ..record };
    // For later study: `replay --space record.json`, `report --compare`. The run before has none where this is the first.
    let kept = workspace.work_directory.join(RECORD);
    let _ = fs_err::rename(&kept, kept.with_file_name(RECORD_BEFORE));
    write_whole(&kept, &serde_json::to_string(&record).unwrap_or_default())?;
    let report = match write_html(&record, &report_path) {
        Ok(()) => Some(report_path.display().to_string()),
        Err(error) => {
            output.emit(&Event::Warning(Warning {
                code: "report-not-written".to_owned(),
                message: error.to_string(),
                help: None,
            }));
            None
        }
    };
    if outcome.progress.milestones.is_empty() {
        output.emit(&Event::Warning(Warning {
            code: "no-improvement".to_owned(),
            message: format!("nothing faster was found: {}", outcome.ended),
            help: None,
        }));
    }
    let wanted = arguments.stage != StageChoice::Host && beside.is_none() && !outcome.is_at_bound();
    if wanted && outcome.progress.tally(Stage::Kernel).evaluations == 0 {
        workspace.nothing_to_rewrite().iter().for_each(|warning| output.emit(warning));
    }
    let lock_shown = may_write.then(|| lock_path.display().to_string());
    let summary = summary(&workspace, &outcome, wall_s, lock_shown, report);
    if let Some(file) = &arguments.markdown {
        add_markdown(file, &summary, &workspace.project.root)?;
    }
    output.emit(&Event::Summary(Box::new(Summary { model: used, ..summary })));
    Ok(Exit::Fine)
}

/// What an earlier run has gained is not what this one gains: each operator of a run adds to the file.
pub fn forget_markdown(arguments: &RunArgs) -> std::io::Result<()> {
    let removed = arguments.markdown.as_ref().map_or(Ok(()), fs_err::remove_file);
    removed.or_else(|error| if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Adds what was gained with an operator to the text of a pull request.
fn add_markdown(file: &Path, summary: &Summary, project: &Path) -> Result<(), TunerError> {
    let top = std::fs::canonicalize(top_of_checkout(project))?;
    let project = std::fs::canonicalize(project)?;
    let place = project.strip_prefix(&top).unwrap_or(&project).display().to_string();
    let Some(text) = gained(summary, if place.is_empty() { "." } else { &place }) else { return Ok(()) };
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs_err::create_dir_all(folder)?;
    }
    let before = if file.exists() { fs_err::read_to_string(file)? } else { String::new() };
    write_whole(file, &format!("{before}{text}"))?;
    Ok(())
}

/// That sources and manifest are of another chip, so that only values are searched, and held by the lock alone.
fn goes_beside(own: &EntryKey, key: &EntryKey, arguments: &RunArgs) -> Result<Event, TunerError> {
    let asked = [
        (arguments.stage == StageChoice::Kernel, "--stage kernel"),
        (!arguments.patch.is_empty(), "--patch"),
        (arguments.repair, "--repair"),
    ];
    if let Some((_, option)) = asked.into_iter().find(|(given, _)| *given) {
        return Err(TunerError::Usage(format!(
            "{option}: the sources hold what was chosen for {own}, and a run for {key} leaves them alone; name {} in ascend.toml to make \
             them its own",
            key.soc
        )));
    }
    Ok(Event::Warning(Warning {
        code: "other-chip".to_owned(),
        message: format!(
            "the sources hold what was chosen for {own}: values for {key} go into ascend.lock alone, and no rewrite is tried"
        ),
        help: Some(format!(
            "`cargo ascend-tune build --locked --soc {key}` builds with them; `machine` in ascend.toml says whose the sources are"
        )),
    }))
}

/// Comments beside what was written that still speak of a number which is gone.
fn comments_of_what_was(before: &SourceTree, after: &SourceTree) -> Option<Event> {
    let old = source::comments::of_what_was(before, after);
    let places: Vec<String> =
        old.iter().map(|comment| format!("{}:{}: {}", comment.file, comment.line, comment.text)).collect();
    (!places.is_empty()).then(|| {
        Event::Warning(Warning {
            code: "comment-of-what-was".to_owned(),
            message: format!("a comment beside what was written speaks of the number before: {}", places.join("; ")),
            help: Some("read it again; a run edits code, and leaves your words alone".to_owned()),
        })
    })
}

/// A run that was killed while it wrote its winner is over; who runs again is told what this one begins with.
fn begins_from_winner(root: &Path, completed: &[PathBuf]) -> Event {
    let files = completed.iter().map(|file| file.strip_prefix(root).unwrap_or(file).display().to_string());
    Event::Warning(Warning {
        code: "write-back-completed".to_owned(),
        message: format!(
            "the last run was stopped while it wrote its winner; that is done now ({}), and this run begins with it",
            files.collect::<Vec<_>>().join(", ")
        ),
        help: Some("`cargo ascend-tune check` compares with what the last run locked".to_owned()),
    })
}

fn stages(choice: StageChoice) -> Vec<Stage> {
    match choice {
        StageChoice::Both => vec![Stage::Kernel, Stage::Host],
        StageChoice::Host => vec![Stage::Host],
        StageChoice::Kernel => vec![Stage::Kernel],
    }
}

/// What the lock says of earlier runs of this operator, first for this chip. A lock that cannot be read is about to be replaced.
fn earlier_winners(workspace: &Workspace, present: Option<&Lock>) -> Vec<Configuration> {
    let key = key_of(workspace);
    let of_this = present.filter(|lock| lock.operator == workspace.manifest.operator);
    let mut entries = of_this.map(Lock::entries).unwrap_or_default();
    entries.sort_by_key(|entry| entry.key() != key);
    entries.into_iter().map(|entry| entry.configuration).collect()
}

fn summary(
    workspace: &Workspace,
    outcome: &RunOutcome,
    wall_s: f64,
    lock: Option<String>,
    report: Option<String>,
) -> Summary {
    let stage = |stage: Stage| {
        let tally = outcome.progress.tally(stage);
        StageSummary { evaluations: tally.evaluations, gain: tally.gain }
    };
    let cases = outcome
        .baseline_times
        .iter()
        .zip(&outcome.winner_times)
        .map(|(before, after)| {
            let longest = longest(outcome.winner_profiles.get(&after.name).into_iter().flatten());
            SummaryCase {
                name: before.name.clone(),
                baseline_us: before.task_us,
                best_us: after.task_us,
                speedup: before.task_us / after.task_us,
                // By the model, which says nothing about measured times.
                bound_us: after.measured.is_none().then_some(after.bound_us),
                limiter: longest.filter(|_| after.measured.is_none()).map(|launch| launch.profile.limiter),
            }
        })
        .collect();
    Summary {
        operator: workspace.manifest.operator.clone(),
        cases,
        speedup: outcome.speedup(),
        claimed: outcome.claimed(),
        error: outcome.error,
        evaluations: outcome.evaluations,
        rejected: outcome.rejected,
        wall_s,
        origin: workspace.origin(),
        machine: workspace.machine.name.clone(),
        machine_version: workspace.machine.version.clone(),
        stages: Stages { host: stage(Stage::Host), kernel: stage(Stage::Kernel) },
        lock,
        report,
        configuration: outcome.progress.best.configuration.clone(),
        rejections: rejections(outcome),
        sampled: outcome.sampled.clone(),
        known: outcome.baseline_known.by_place(),
        motifs: outcome.progress.best.patches.iter().map(|patch| patch.motif.clone()).collect(),
        generalisation: outcome.generalisation.as_ref().map(generalisation),
        taken_back: outcome.taken_back.iter().map(taken_back).collect(),
        beyond: outcome.beyond,
        model: None,
    }
}

/// Rejections by the event format's word.
fn rejections(outcome: &RunOutcome) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for rejection in outcome.progress.attempts.iter().filter_map(|attempt| attempt.rejection.as_ref()) {
        *counts.entry(status_of(rejection).word().to_owned()).or_insert(0) += 1;
    }
    counts
}

fn new_lock(workspace: &Workspace, outcome: &RunOutcome, seed: u64) -> Lock {
    let best = &outcome.progress.best;
    let included = workspace.included_beside();
    let alone = alone(outcome);
    let weight_of = |name: &str| {
        let case = workspace.manifest.cases.iter().find(|case| case.name == name);
        case.and_then(|case| weight_permille(case.weight))
    };
    let gain_of = |patch: &AppliedPatch| {
        let milestones = outcome.progress.milestones.iter();
        let mut of_it = milestones.filter(|one| one.motif == patch.motif && one.title == patch.title);
        of_it.next().map(|milestone| permille(milestone.gain))
    };
    let named = |name: &str| workspace.tunables().iter().any(|tunable| tunable.name == name);
    let values = |wanted: bool| -> Configuration {
        let of = best.configuration.iter().filter(|(name, _)| named(name) == wanted);
        of.map(|(name, value)| (name.to_owned(), value.clone())).collect()
    };
    let (mut configuration, brought) = (values(true), values(false));
    for (name, value) in outcome.baseline.configuration.iter() {
        if configuration.get(name).is_none() {
            configuration.set(name, value.clone());
        }
    }
    Lock {
        version: LOCK_VERSION,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        operator: workspace.manifest.operator.clone(),
        origin: workspace.origin(),
        seed,
        manifest: locked_manifest(workspace),
        speedup_permille: Some(permille(outcome.claimed())),
        machine: locked_machine(&workspace.machine),
        device: locked_device(workspace),
        sources: lock::source_digests(&best.sources),
        applied: BTreeMap::new(),
        files: locked_files(&workspace.project.root, &best.sources, &included),
        included: Some(lock::source_digests(&included)),
        configuration,
        defaults: outcome.baseline.configuration.clone(),
        brought,
        cmake: cmake_entries(workspace.tunables()),
        generalisation: outcome.generalisation.as_ref().and_then(locked_generalisation),
        motifs: best
            .patches
            .iter()
            .map(|patch| LockedMotif {
                id: patch.motif.clone(),
                title: patch.title.clone(),
                gain_permille: gain_of(patch),
            })
            .collect(),
        cases: outcome
            .baseline_times
            .iter()
            .zip(&outcome.winner_times)
            .map(|(before, after)| LockedCase {
                name: before.name.clone(),
                baseline: Picoseconds::from_us(before.task_us).unwrap_or_default(),
                tuned: Picoseconds::from_us(after.task_us).unwrap_or_default(),
                measured: locked_measurement(after),
                weight_permille: weight_of(&before.name),
                alone: alone.get(&before.name).cloned(),
                verification: outcome.verification.get(&before.name).cloned().unwrap_or_default(),
                outputs: outcome.output_digests.get(&before.name).cloned().unwrap_or_default(),
            })
            .collect(),
        known: locked_findings(&outcome.winner_known),
        departures: locked_departures(&outcome.baseline_known),
        accepted: Vec::new(),
        others: Vec::new(),
    }
}

/// The lock that is there, where it says the same of the same sources: it also knows what they were before they were tuned, and how
/// the winner did on probes, which a run that finds nothing better does not.
fn or_standing(new: Lock, present: Option<Lock>) -> Lock {
    let says_the_same = |present: &Lock| {
        let of = |lock: &Lock| {
            let times = lock.cases.iter().map(|case| (case.name.clone(), case.tuned));
            (lock.tool.clone(), lock.operator.clone(), lock.origin, times.collect::<BTreeMap<_, _>>())
        };
        of(present) == of(&new)
            && (&present.manifest, &present.machine, &present.configuration, &present.device)
                == (&new.manifest, &new.machine, &new.configuration, &new.device)
            && (present.built_sources(), &present.included, &present.known)
                == (new.built_sources(), &new.included, &new.known)
    };
    match present.filter(says_the_same) {
        // In the format of today, with the digests of bytes that comments are part of.
        Some(present) => Lock { version: new.version, files: new.files, cmake: new.cmake, ..present },
        None => new,
    }
}

/// A speed-up as the lock has it.
fn permille(speedup: f64) -> u64 {
    (speedup * 1000.0).round() as u64
}

/// What the lock says of other shapes; nothing where no probe was to be had.
fn locked_generalisation(general: &Generalisation) -> Option<LockedGeneralisation> {
    let (worst, worst_speedup) = general.worst()?;
    Some(LockedGeneralisation {
        seed: general.seed,
        speedup_permille: permille(general.speedup()?),
        worst_permille: permille(*worst_speedup),
        worst: worst.case.name.clone(),
        probes: general.probes.iter().map(|(probe, _)| probe.case.name.clone()).collect(),
        joined: general.joined.clone(),
        representing: general.representing.clone(),
    })
}

/// Banks to ask: the shipped one, the project's own, and the one named on the command line.
fn experience(arguments: &RunArgs, workspace: &Workspace) -> Experience {
    if arguments.no_bank {
        return Experience::default();
    }
    let own = own_bank(workspace);
    let mut banks: Vec<PathBuf> = own.is_dir().then_some(own).into_iter().collect();
    banks.extend(arguments.bank.clone());
    Experience { shipped: true, banks, held_out: arguments.hold_out.clone() }
}

/// What single motifs did in this run goes to the project's own bank, where the next run finds it.
fn keep_experience(workspace: &Workspace, records: &[Record], output: &mut Output) {
    let directory = own_bank(workspace);
    let kept = Bank::load(&directory)
        .and_then(|mut bank| records.iter().try_for_each(|record| bank.add(&directory, record.clone()).map(|_| ())));
    if let Err(error) = kept {
        output.emit(&Event::Warning(Warning {
            code: "experience-not-kept".to_owned(),
            message: error.to_string(),
            help: None,
        }));
    }
}

/// Refuses to edit files with uncommitted changes. A project outside of git has nothing to compare with and is accepted.
fn refuse_dirty(workspace: &Workspace) -> Result<(), TunerError> {
    let files: Vec<String> = workspace.sources.iter().map(|(file, _)| file.to_owned()).collect();
    let listed = std::process::Command::new("git")
        .arg("-C")
        .arg(&workspace.project.root)
        .args(["status", "--porcelain", "--untracked-files=no", "--"])
        .args(&files)
        .output();
    let Ok(listed) = listed else { return Ok(()) };
    if !listed.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&listed.stdout);
    let dirty: Vec<String> = text.lines().filter_map(|line| line.get(3..)).map(str::to_owned).collect();
    if dirty.is_empty() { Ok(()) } else { Err(TunerError::Dirty(dirty)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lock::testing::sample;

    #[test]
    fn a_run_that_finds_nothing_better_leaves_the_lock_its_history() {
        let again = || {
            let mut lock =
                Lock { generalisation: None, speedup_permille: Some(1000), motifs: Vec::new(), seed: 9, ..sample() };
            lock.cases.iter_mut().for_each(|case| case.baseline = case.tuned);
            lock
        };
        assert_eq!(or_standing(again(), Some(sample())), sample());
        assert_eq!(or_standing(again(), None), again());
        let mut faster = again();
        faster.cases[0].tuned = Picoseconds(1);
        assert_eq!(or_standing(faster.clone(), Some(sample())), faster);
        let other = Lock { sources: Default::default(), ..again() };
        assert_eq!(or_standing(other.clone(), Some(sample())), other);
    }
}
