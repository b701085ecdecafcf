//! A manifest for a project that has none: cases from what the operator's authors wrote, each accepted by the tiling function.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::TunerError;
use super::case_search::Search;
use super::case_sizes::{CaseSizes, Size, is_about};
use super::case_trial::{CaseTrial, Tried, WITH_DATA_BYTES, first_line};
use super::faulty_case::FaultyCase;
use super::reference::find_reference;
use super::sound_cases::refused_cases;
use super::workspace::WorkspaceOptions;
use backend::{KernelJob, Meter, ProcessLimits, SimBackend};
use build::sdk::{Sdk, SdkOptions};
use build::{BuildOptions, Builder, TilingClass};
use discovery::cases::{Accepted, DescribedOps, Finder, Origin, Python, traffic_bytes};
use discovery::init::{self, Discovery, choose, written};
use discovery::oracle::{TestRunner, TilingExample, run_tiling_tests};
use manifest::Layout;
use project::{OperatorProject, load_machine};
use source::SourceTree;
use source::arch::TARGET;

/// How to look for cases.
#[derive(Clone, Debug)]
pub struct InventOptions {
    /// Our own executable, for workers.
    pub worker_exe: PathBuf,
    /// SDK and cache to use.
    pub sdk: SdkOptions,
    /// Python for scripts that make data.
    pub python: PathBuf,
    /// Cases to write at most.
    pub most_cases: usize,
    /// CMake entries.
    pub cmake: BTreeMap<String, String>,
}

/// A manifest, and what became of the cases that are not in it.
#[derive(Clone, Debug, Default)]
pub struct Invented {
    /// Its text.
    pub text: String,
    /// Number of cases that the tiling function accepted.
    pub accepted: usize,
    /// Cases that the tiling function refused, with the reason.
    pub refused: Vec<String>,
    /// Cases at which the operator is at fault, or they are.
    pub faults: Vec<FaultyCase>,
    /// Whether the operator is at fault at every case that is written.
    pub all_at_fault: bool,
    /// Why cases are written that were not run.
    pub unrun: Option<String>,
    /// Cases that are accepted and were left out.
    pub left_out: usize,
    /// Why nobody could ask the tiling function.
    pub unasked: Option<String>,
}

/// Seed of commands that are given none.
const USUAL_SEED: u64 = 1;
/// Seconds of processor time of one run of a case. What takes longer is no case to be run some hundred times.
const RUN_S: u64 = 10;
/// Processor time after which no further size is tried.
const SIZES_END: Duration = Duration::from_secs(30);
/// Why there are several sizes.
const SIZES_NOTE: &str = "Timed at several sizes, all with the same weight: what is right for one of them (fewer cores, a shorter \
                          tile) is often wrong for another. What the authors wrote is mostly too small to say anything about \
                          speed, and is only checked.";
/// Refusals that are told.
const TOLD: usize = 6;

/// Reads the project, builds its host library and asks its tiling function about every case it finds.
pub async fn invent(
    project: &OperatorProject,
    options: &InventOptions,
    on_step: &mut dyn FnMut(&str),
) -> Result<Invented, TunerError> {
    let failed = |error: init::InitError| TunerError::Usage(format!("{}: {error}", project.root.display()));
    let tree = project.load_sources()?;
    let discovery = init::discover(project, &tree, None, None);
    // In a repository the definition may lie with others of its kind, elsewhere; the host library has it.
    let elsewhere = matches!(&discovery, Err(init::InitError::NoOperator { .. }));
    if project.layout == Layout::DirectLaunch || !elsewhere {
        let discovery = discovery.as_ref().map_err(|error| failed(error.clone()))?;
        if project.layout == Layout::DirectLaunch {
            return Ok(Invented { text: init::render(discovery).map_err(failed)?, ..Invented::default() });
        }
    }
    let (mut discovery, invented) = match (Asked::open(project, &tree, options).await, discovery) {
        (Ok(asked), _) => asked.cases(project, &tree, options, on_step).await?,
        (Err(Unasked::Trouble(error)), _) => return Err(error),
        (Err(Unasked::Reason(reason)), Ok(discovery)) => {
            (discovery, Invented { unasked: Some(reason), ..Invented::default() })
        }
        (Err(Unasked::Reason(reason)), Err(error)) => {
            let message = format!("{}: {error}; nor could a host library be asked: {reason}", project.root.display());
            return Err(TunerError::Usage(message));
        }
    };
    if let Some(reason) = &invented.unasked {
        let line = reason.lines().next().unwrap_or_default();
        discovery.case_notes.push(format!("The tiling function could not be asked about these cases: {line}"));
    }
    let mut invented = Invented { text: init::render(&discovery).map_err(failed)?, ..invented };
    if invented.unasked.is_none() && !invented.all_at_fault && invented.accepted > 0 {
        on_step("at the cases that were chosen, as every command will");
        let opening = WorkspaceOptions {
            directory: project.root.clone(),
            cmake: options.cmake.clone(),
            jobs: options.sdk.jobs.max(1),
            worker_exe: options.worker_exe.clone(),
            made_up: Some(invented.text.clone()),
            sdk: options.sdk.clone(),
            seed: USUAL_SEED,
            ..WorkspaceOptions::default()
        };
        let refused = refused_cases(opening).await;
        without_refused(&mut discovery, &mut invented, refused);
        invented.text = init::render(&discovery).map_err(failed)?;
    }
    Ok(invented)
}

/// Takes cases out at which commands would find the operator at fault, as long as one stays that is timed.
fn without_refused(
    discovery: &mut Discovery,
    invented: &mut Invented,
    refused: Result<BTreeMap<String, String>, String>,
) {
    let refused = match refused {
        Ok(refused) => refused,
        Err(reason) => {
            let reason = first_line(&reason);
            let why = format!("whether the operator is right at the cases is not known: {reason}");
            discovery.case_notes.push(format!("{}.", capitalised(&why)));
            invented.unrun.get_or_insert(why);
            return;
        }
    };
    let doubt_of = |name: &String| discovery.cases.iter().find(|found| found.case.name == *name)?.doubt;
    let told: Vec<FaultyCase> =
        refused.iter().map(|(name, reason)| FaultyCase { text: first_line(reason), doubt: doubt_of(name) }).collect();
    discovery.case_notes.extend(told.iter().take(TOLD).map(FaultyCase::note));
    invented.faults.extend(told);
    invented.faults.sort_by_key(|fault| fault.doubt.is_some());
    let stays = |found: &init::FoundCase| !refused.contains_key(&found.case.name);
    if discovery.cases.iter().any(|found| stays(found) && !found.case.verify_only) {
        discovery.cases.retain(stays);
    } else {
        invented.all_at_fault = true;
    }
}

/// With a large first letter.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(letters).collect()
}

enum Unasked {
    Reason(String),
    Trouble(TunerError),
}

/// A built host library.
struct Asked {
    builder: Builder,
    backend: SimBackend,
    host: build::Artifact,
    ops: DescribedOps,
    tiling_classes: Vec<TilingClass>,
}

impl Asked {
    async fn open(project: &OperatorProject, tree: &SourceTree, options: &InventOptions) -> Result<Self, Unasked> {
        let trouble = |error: TunerError| Unasked::Trouble(error);
        let sdk = Sdk::prepare(&options.sdk).map_err(|error| trouble(error.into()))?;
        let machine = load_machine(init::MACHINE, &project.root).map_err(|error| trouble(error.into()))?;
        let work = project.root.join("target").join("ascend-tune");
        let backend = SimBackend {
            worker_exe: options.worker_exe.clone(),
            runner: sdk.runner(),
            scratch: work.join("runs"),
            machine: Arc::new(machine),
            limits: ProcessLimits::of_processor_time(RUN_S, 8 << 30),
            keep_trace: None,
            critical_path: false,
            auto_sync: true,
            warmth: aicore::Warmth::Cold,
            foreseen: backend::Foreseen::default(),
        };
        let build = BuildOptions {
            work_directory: Some(work),
            cmake_entries: options.cmake.clone(),
            jobs: 1,
            ..BuildOptions::default()
        };
        let unasked = |error: &dyn std::fmt::Display| Unasked::Reason(error.to_string());
        let builder = Builder::new(project.clone(), sdk, build).map_err(|error| unasked(&error))?;
        let host = builder.host(tree).map_err(|error| unasked(&error))?;
        let description = backend.describe(&host.path).await.map_err(|failure| unasked(&failure))?;
        let ops = DescribedOps::of(&description.ops);
        Ok(Self { builder, backend, host, ops, tiling_classes: description.tiling_classes })
    }

    async fn cases(
        &self,
        project: &OperatorProject,
        tree: &SourceTree,
        options: &InventOptions,
        on_step: &mut dyn FnMut(&str),
    ) -> Result<(Discovery, Invented), TunerError> {
        let failed = |error: init::InitError| TunerError::Usage(format!("{}: {error}", project.root.display()));
        let chosen = self.ops.about(project);
        let kind = chosen.as_ref().map(|(op, _)| op.kind.as_str());
        let mut discovery = init::discover(project, tree, kind, Some(&self.ops)).map_err(failed)?;
        let mut invented = Invented::default();
        let Some((op, entry)) = chosen else {
            invented.unasked = Some("the host library registers no operator definition".to_owned());
            return Ok((discovery, invented));
        };
        discovery.kernel = entry.function.clone();
        let other_chips = op.only_for_others(&TARGET).map(|chips| chips.join(", "));
        if op.has_tiling == Some(false) {
            return Err(TunerError::Usage(without_tiling(&op.kind, other_chips.as_deref())));
        }
        discovery.case_notes.extend(
            other_chips.as_ref().map(|chips| {
                format!("The definition is for {chips}; times are those of {}.", self.backend.machine.name)
            }),
        );
        on_step("for calls in tests, examples and documents, and asking the tiling function about them");
        let runner = TestRunner {
            worker_exe: options.worker_exe.clone(),
            scratch: self.backend.scratch.clone(),
            limits: self.backend.limits.clone(),
        };
        // Tests that do not build make no calls.
        let tests = run_tiling_tests(&self.builder, tree, &self.host, &runner).await.unwrap_or_default();
        let examples: Vec<TilingExample> = tests.into_iter().flat_map(|test| test.examples).collect();
        let python = Python {
            program: options.python.clone(),
            worker_exe: options.worker_exe.clone(),
            scratch: self.backend.scratch.clone(),
        };
        let data = project.root.join("target").join("ascend-tune").join("init-data");
        let finder = Finder {
            directory: &project.root,
            data: data.clone(),
            host: &self.host.path,
            op: &op,
            examples: &examples,
            backend: &self.backend,
            python: Some(&python),
            most_data_bytes: WITH_DATA_BYTES,
        };
        let mut search = Search::new(&finder);
        let searched = search.all().await;
        let mut accepted: Vec<&Accepted> = search.accepted.iter().collect();
        accepted.sort_by_key(|found| found.outside);
        let jobs: Vec<&KernelJob> = accepted.iter().map(|found| &found.job).collect();
        find_reference(&python, project, &op, &jobs, &self.backend.machine.name, &mut discovery).await;
        let trial = CaseTrial {
            builder: &self.builder,
            backend: &self.backend,
            sources: tree,
            op: &op,
            entry: &entry,
            tiling_classes: &self.tiling_classes,
            meter: Meter::default(),
        };
        on_step(&format!("at {} accepted cases, running some", search.accepted.len()));
        let Tried { mut chosen, all_at_fault, mut faults, unrun } =
            trial.select(&search.accepted, |accepted| choose(accepted, options.most_cases)).await?;
        let unrun = unrun.map(|why| match &other_chips {
            Some(chips) => format!("{why}; {}", is_for_others(chips)),
            None => why,
        });
        if let Some(odd) = search.odd.take_if(|_| unrun.is_none()) {
            let fault = trial.fault(&odd).await?;
            search.odd = fault.is_none().then_some(odd);
            faults.extend(fault);
        }
        // What `--cases all` would write beside these.
        let mut others = choose(&search.accepted, usize::MAX).len().saturating_sub(chosen.len() + faults.len());
        let mut sized = Vec::new();
        if unrun.is_none() && options.most_cases != usize::MAX {
            on_step("for sizes that say something of speed");
            let sizes = CaseSizes { finder: &finder, trial: &trial, until: trial.meter.spent() + SIZES_END };
            let (found, of_guesses) = larger(sizes, &mut search, &chosen, options.most_cases).await?;
            if of_guesses && all_at_fault && !found.is_empty() {
                chosen.clear();
            }
            sized = found;
        }
        if !sized.is_empty() && !all_at_fault {
            for own in own_cases(&search.accepted, &chosen) {
                if trial.fault(&search.accepted[own]).await?.is_none() {
                    chosen.push(own);
                    others = others.saturating_sub(1);
                }
            }
        }
        // The cases' data are made anew from the manifest.
        let _ = std::fs::remove_dir_all(&data);
        searched?;
        invented.left_out = write_cases(&mut discovery, &mut search, &chosen, &sized, others);
        // What is told first is what is surely the operator's: the rest may be many, and is only counted.
        faults.sort_by_key(|fault| fault.doubt.is_some());
        tell(&mut discovery, &search, &faults, unrun.as_deref());
        invented.all_at_fault = all_at_fault && sized.is_empty();
        invented.faults = faults;
        invented.unrun = unrun;
        invented.accepted = search.accepted.len();
        invented.refused = search.refused;
        Ok((discovery, invented))
    }
}

/// The chosen cases at other sizes; where what the authors wrote is small and cannot be made larger, guesses, which is said.
async fn larger(
    sizes: CaseSizes<'_>,
    search: &mut Search<'_, '_>,
    chosen: &[usize],
    most: usize,
) -> Result<(Vec<(Size, Accepted)>, bool), TunerError> {
    let sized = sizes_of(&sizes, &search.accepted, chosen, most).await?;
    if !sized.is_empty() || search.accepted.iter().any(|found| found.candidate.origin == Origin::Guess) {
        return Ok((sized, false));
    }
    let known = search.accepted.len();
    search.guesses().await?;
    search.odd = None;
    let guessed: Vec<usize> = (known..search.accepted.len()).collect();
    let sizes = CaseSizes { until: sizes.trial.meter.spent() + SIZES_END, ..sizes };
    Ok((sizes_of(&sizes, &search.accepted, &guessed, most).await?, true))
}

/// Puts the chosen cases into the manifest. Returns how many more there are.
fn write_cases(
    discovery: &mut Discovery,
    search: &mut Search<'_, '_>,
    chosen: &[usize],
    sized: &[(Size, Accepted)],
    others: usize,
) -> usize {
    if search.accepted.is_empty() {
        let note = "The tiling function accepted no case that was tried; this one is a guess.";
        discovery.case_notes.push(note.to_owned());
        return 0;
    }
    discovery.cases = with_sizes(sized, chosen.iter().map(|&found| &search.accepted[found]));
    if !sized.is_empty() {
        discovery.case_notes.push(SIZES_NOTE.to_owned());
    }
    if let Some(odd) = search.odd.take() {
        let mut found = written(std::iter::once(&odd));
        for found in &mut found {
            found.case.verify_only = true;
            found.case.name = format!("odd-{}", found.case.name);
        }
        discovery.cases.append(&mut found);
    }
    discovery.case_notes.insert(0, "The tiling function accepts every case below.".to_owned());
    if others > 0 {
        let note = format!("{others} more are accepted: `cargo ascend-tune init --cases all` writes them.");
        discovery.case_notes.push(note);
    }
    others
}

/// Notes on what did not become a case.
fn tell(discovery: &mut Discovery, search: &Search<'_, '_>, faults: &[FaultyCase], unrun: Option<&str>) {
    let notes = &mut discovery.case_notes;
    if let Some(note) = &search.note {
        notes.push(format!("Scripts for test data could not be run: {note}"));
    }
    notes.extend(search.refused.iter().take(TOLD).map(|refusal| format!("Refused: {refusal}")));
    if search.refused.len() > TOLD {
        notes.push(format!("{} more were refused.", search.refused.len() - TOLD));
    }
    notes.extend(faults.iter().take(TOLD).map(FaultyCase::note));
    if let Some(reason) = unrun {
        notes.push(format!("{}.", capitalised(reason)));
    }
}

/// The smallest and the largest case as the authors wrote it, unless they are chosen already: paths of their own are often for
/// short tensors, and a case that was made longer takes another.
fn own_cases(accepted: &[Accepted], chosen: &[usize]) -> Vec<usize> {
    let is_own = |found: &usize| {
        let candidate = &accepted[*found].candidate;
        candidate.origin != Origin::Guess && !candidate.resized
    };
    let own = || (0..accepted.len()).filter(is_own);
    let size = |found: &usize| traffic_bytes(&accepted[*found].candidate);
    let mut ends: Vec<usize> = own().min_by_key(size).into_iter().chain(own().max_by_key(size)).collect();
    ends.dedup();
    ends.retain(|found| !chosen.contains(found));
    ends
}

/// Why an operator may not be one for what is modelled.
fn is_for_others(chips: &str) -> String {
    format!("its definition is for {chips} only, and {} is what is modelled", TARGET.chip)
}

/// Why an operator cannot be run at all.
fn without_tiling(kind: &str, other_chips: Option<&str>) -> String {
    let why = match other_chips {
        Some(chips) => is_for_others(chips),
        None => "the host library that the project's CMake flow builds has none".to_owned(),
    };
    format!("{kind} registers no tiling function, so that no case of it can be run: {why}")
}

/// Timed cases: the first dtype at every size, the other dtypes at the middle one. Each with its size.
async fn sizes_of(
    sizes: &CaseSizes<'_>,
    accepted: &[Accepted],
    chosen: &[usize],
    most: usize,
) -> Result<Vec<(Size, Accepted)>, TunerError> {
    let mut sized: Vec<(Size, Accepted)> = Vec::new();
    let mut dtypes: Vec<&str> = Vec::new();
    for base in chosen.iter().map(|&found| &accepted[found]) {
        let dtype = base.candidate.inputs.first().map_or("", |input| input.dtype.as_str());
        if dtypes.contains(&dtype) || dtypes.len() >= most {
            continue;
        }
        let wanted: &[Size] = if dtypes.is_empty() { &Size::ALL } else { &[Size::Middle] };
        if sizes.is_spent() {
            break;
        }
        // What is wrong with what the authors wrote is known of the operator, and is no fault of a size.
        let known = sizes.trial.hazards(base).await?;
        let of_use = sizes.of_use(base, &known).await?;
        let base = of_use.as_ref().unwrap_or(base);
        let first = sized.len();
        let mut found = false;
        for &size in wanted {
            let Some(case) = sizes.at(base, size, &known).await? else { continue };
            found = true;
            // What had to be made shorter may be of the next size.
            let bytes = traffic_bytes(&case.candidate);
            if !sized[first..].iter().any(|(_, known)| is_about(traffic_bytes(&known.candidate), bytes)) {
                sized.push((size, case));
            }
        }
        if found {
            dtypes.push(dtype);
        }
    }
    Ok(sized)
}

/// Cases as they stand in a manifest: the sizes are timed, and what the authors wrote is checked. Where no size was found,
/// what the authors wrote is timed.
fn with_sizes<'cases>(
    sized: &'cases [(Size, Accepted)],
    chosen: impl Iterator<Item = &'cases Accepted> + Clone,
) -> Vec<init::FoundCase> {
    if sized.is_empty() {
        return written(chosen);
    }
    let is_sized = |found: &Accepted| sized.iter().any(|(_, known)| known.candidate.same_tensors(&found.candidate));
    let count = sized.len();
    // One call for all, so that no name is there twice.
    let all = sized.iter().map(|(_, found)| found).chain(chosen.filter(|found| !is_sized(found)));
    let mut cases = written(all);
    for (place, found) in cases.iter_mut().enumerate() {
        found.case.verify_only = place >= count;
        if let Some((size, _)) = sized.get(place) {
            // Values that need checking need it at one size; a large one would take minutes.
            found.case.hostile &= *size != Size::Large;
        }
    }
    cases
}
