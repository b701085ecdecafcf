//! Everything that commands on a project have in common: project, manifest, machine, builder, backend, workload.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::TunerError;
use super::candidate::Candidate;
use super::contradictions::Contradictions;
use super::declared::{DATA, Declared};
use super::devices::{Attached, Attachment, DeviceChoice, find};
use super::evaluator::Evaluator;
use super::left_alone::nothing_to_rewrite;
use super::measurements::Measurements;
use super::workload::{InputData, Making, Workload};
use aicore::{Machine, Origin};
use backend::{Backend, ProcessLimits, Recorded, SimBackend};
use build::sdk::{LibraryState, Sdk, SdkOptions};
use build::{BuildError, BuildOptions, Builder, ToolLimits, Toolkit};
use discovery::init::Brought;
use events::Event;
use manifest::{Case, KernelHeaders, Layout, Manifest};
use project::{AutoSyncOff, OperatorProject, auto_sync_off, load_machine};
use source::SourceTree;
use source::tunable::{TunableError, present_value};
use space::{CaseFacts, Configuration, SearchSpace, Tunable};
use verify::Draw;

/// What a command was asked for.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceOptions {
    /// Where to look for the project.
    pub directory: PathBuf,
    /// Machine by name or path; `None` takes the manifest's.
    pub machine: Option<String>,
    /// Selected cases, empty for all.
    pub cases: Vec<String>,
    /// CMake entries on top of the manifest's.
    pub cmake: BTreeMap<String, String>,
    /// Fixed tunables.
    pub fixed: Configuration,
    /// Builds and runs at the same time.
    pub jobs: usize,
    /// Our own executable, for workers.
    pub worker_exe: PathBuf,
    /// Text of a manifest to take in place of the project's.
    pub made_up: Option<String>,
    /// SDK and cache to use; `jobs` stands above.
    pub sdk: SdkOptions,
    /// Kernel headers to build against; `None` takes the manifest's choice.
    pub headers: Option<KernelHeaders>,
    /// Absolute directory for everything that is written; `None` takes `target/ascend-tune` of the project.
    pub work_directory: Option<PathBuf>,
    /// Whether input files are made.
    pub data: InputData,
    /// Seed of what is only checked: data, and what unwritten memory holds.
    pub seed: u64,
    /// What runs candidates.
    pub backend: BackendKind,
}

/// An opened project.
#[derive(Clone)]
pub struct Workspace {
    /// Project.
    pub project: OperatorProject,
    /// Manifest, with the command line's choices applied.
    pub manifest: Arc<Manifest>,
    /// Text of the manifest; empty if it was made up.
    pub manifest_text: String,
    /// Machine description.
    pub machine: Arc<Machine>,
    /// SDK that is built against.
    pub sdk: Sdk,
    /// Indices of the selected cases.
    pub cases: Vec<usize>,
    /// Sources as they are on disk.
    pub sources: SourceTree,
    /// Where the project tells the device compiler to insert no synchronisation: every barrier of the kernel counts then.
    pub auto_sync_off: Option<AutoSyncOff>,
    /// Builds and runs.
    pub evaluator: Evaluator,
    /// Options it was opened with.
    pub options: WorkspaceOptions,
    /// Directory for everything that the tool writes beside sources, manifest and lock.
    pub work_directory: PathBuf,
    /// What is measured on, where something is.
    pub attached: Option<Arc<Attached>>,
}

/// Steps of opening a project that take long enough to be told.
#[derive(Clone, Copy, Debug)]
pub enum Opening<'a> {
    /// Manifest and machine are valid; nothing was compiled yet.
    Read(&'a Manifest, &'a Machine),
    /// The SDK is ready.
    Prepared(&'a Sdk),
    /// Toolkit and devices are there.
    Attached(&'a Attached),
}

/// What runs candidates.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum BackendKind {
    /// The embedded simulator and AI Core model.
    #[default]
    Sim,
    /// A recording of it with noise on its times.
    Recorded {
        /// Standard deviation as a share of a time.
        noise: f64,
    },
    /// The simulator first, and then devices with a toolkit.
    Cann(DeviceChoice),
}

impl BackendKind {
    /// Its name, as `--backend` takes it and every output says it.
    pub fn name(&self) -> &'static str {
        match self {
            BackendKind::Sim => "sim",
            BackendKind::Recorded { .. } => "recorded",
            BackendKind::Cann(_) => "cann",
        }
    }
}

impl Workspace {
    /// Finds the project, reads the manifest and makes the SDK ready. `on_step` hears how that goes.
    pub fn open(options: WorkspaceOptions, on_step: &mut dyn FnMut(Opening<'_>)) -> Result<Self, TunerError> {
        let declared =
            Declared::read(&options.directory, options.work_directory.as_deref(), options.made_up.as_deref())?;
        let Declared { project, work_directory, manifest_text, mut manifest, sources } = declared;
        manifest.cmake.extend(options.cmake.clone());
        let found = match &options.backend {
            BackendKind::Cann(choice) => Some(find(choice, &manifest, &project.root)?),
            BackendKind::Sim | BackendKind::Recorded { .. } => None,
        };
        let machine_name = options.machine.clone().unwrap_or_else(|| match &found {
            // The tiling function decides for the chip that is there.
            Some((found, _)) => found.soc.name.to_ascii_lowercase(),
            None => manifest.machine.clone(),
        });
        let machine = Arc::new(load_machine(&machine_name, &project.root)?);
        let cases = select_cases(&manifest, &options.cases)?;
        on_step(Opening::Read(&manifest, &machine));
        let build_options = BuildOptions {
            work_directory: Some(work_directory.clone()),
            cmake_entries: manifest.cmake.clone(),
            program: None,
            // Candidates are what runs in parallel; each of them compiles its few files in turn.
            jobs: 1,
            toolkit: toolkit_directory(&options, &manifest, &project.root)?,
            limits: ToolLimits {
                wall_s: manifest.compile_timeout_s,
                memory_bytes: manifest.compile_memory_bytes,
                ..ToolLimits::default()
            },
            ..BuildOptions::default()
        };
        let sdk_options = SdkOptions { jobs: options.jobs, ..options.sdk.clone() };
        let (sdk, builder) = Sdk::prepare_beside(&sdk_options, |sdk, library| {
            let builder = Builder::new(project.clone(), sdk.clone(), build_options)?;
            if library == LibraryState::Pending {
                builder.compile_ahead(&sources, &manifest.kernel);
            }
            Ok::<_, BuildError>(builder)
        })?;
        on_step(Opening::Prepared(&sdk));
        let builder = Arc::new(builder?);
        let auto_sync_off = auto_sync_off(&project.root, &manifest.operator, &machine.name);
        let simulator = simulator(&options, &manifest, &sdk, &machine, &work_directory, auto_sync_off.is_none());
        let mut attached = None;
        let backend: Arc<dyn Backend> = match (&options.backend, found) {
            (BackendKind::Recorded { noise }, _) => Arc::new(Recorded::new(simulator, *noise, options.seed)),
            (BackendKind::Cann(_), Some((found, settings))) => {
                let attachment = Attachment {
                    found,
                    settings: &settings,
                    project: &project,
                    manifest: &manifest,
                    machine: &machine,
                    sdk: &sdk,
                    simulator,
                    work_directory: &work_directory,
                    jobs: options.jobs,
                };
                let (backend, what) = attachment.attach()?;
                on_step(Opening::Attached(&what));
                attached = Some(Arc::new(what));
                Arc::new(backend)
            }
            (BackendKind::Sim | BackendKind::Cann(_), _) => Arc::new(simulator),
        };
        let draw = Draw::of(options.seed);
        let directory = work_directory.join(DATA);
        let making = Making { directory: &directory, data: options.data, draw, at_once: options.jobs };
        let workload = Workload::prepare(&manifest, &cases, &making)?;
        let manifest = Arc::new(manifest);
        let evaluator =
            Evaluator::new(builder, backend, Arc::clone(&manifest), Arc::new(workload), project.root.clone())
                .with_garbage(draw.garbage())
                .with_pristine(&sources)
                .with_trials_at_once(options.jobs)
                .reporting(attached.as_ref().map(|attached| contradictions(attached, &machine, &work_directory)))
                .keeping(attached.as_ref().map(|attached| {
                    Arc::new(Measurements::below(&work_directory, attached, &machine, manifest.layout))
                }));
        Ok(Self {
            project,
            manifest,
            manifest_text,
            machine,
            sdk,
            cases,
            sources,
            auto_sync_off,
            evaluator,
            options,
            work_directory,
            attached,
        })
    }

    /// The simulator, set up for this project.
    pub fn simulator(&self) -> SimBackend {
        let Self { options, manifest, sdk, machine, work_directory, .. } = self;
        simulator(options, manifest, sdk, machine, work_directory, self.auto_sync_off.is_none())
    }

    /// What devices were seen to compute otherwise than the simulator, as warnings.
    pub fn contradictions(&self) -> Vec<Event> {
        self.evaluator.contradictions.as_ref().map(|contradictions| contradictions.events()).unwrap_or_default()
    }

    /// Where its times come from.
    pub fn origin(&self) -> Origin {
        self.evaluator.backend.capabilities().origin
    }

    /// Tunables of the manifest.
    pub fn tunables(&self) -> &[Tunable] {
        &self.manifest.tunables
    }

    /// The sources with the fixed tunables of the command line applied.
    pub fn baseline(&self) -> Result<Candidate, TunerError> {
        let baseline = Candidate::baseline(self.sources.clone(), self.tunables());
        if self.options.fixed.is_empty() {
            return Ok(baseline);
        }
        let mut configuration = baseline.configuration.clone();
        for (name, value) in self.options.fixed.iter() {
            if !self.tunables().iter().any(|tunable| tunable.name == name) {
                let known: Vec<&str> = self.tunables().iter().map(|tunable| tunable.name.as_str()).collect();
                let known = if known.is_empty() { "there are none".to_owned() } else { known.join(", ") };
                return Err(TunerError::Usage(format!(
                    "--set {name}: no such tunable in the manifest; known: {known}"
                )));
            }
            configuration.set(name, value.clone());
        }
        Ok(baseline.with_configuration(self.tunables(), &configuration)?)
    }

    /// Search space over the tunables that the command line leaves free.
    pub fn space(&self) -> Result<SearchSpace, TunerError> {
        let facts: Vec<CaseFacts> = self.cases.iter().map(|&index| self.facts(index)).collect();
        let path = self.manifest.path.display();
        let explain = |errors: Vec<space::SpaceError>| {
            let list: Vec<String> = errors.iter().map(ToString::to_string).collect();
            TunerError::Usage(format!("{path}: {}", list.join("; ")))
        };
        let space = SearchSpace::new(self.tunables(), &self.manifest.constraints, &facts)
            .map_err(explain)?
            .with_fixed(&self.options.fixed)
            .map_err(explain)?;
        if space.dimensions() > 0 && space.sample(&mut ChaCha8Rng::seed_from_u64(0)).is_none() {
            let present = space.present().map(|point| space.configuration(&point));
            let why = present.and_then(|present| space.check(&present).err()).map(|violation| format!(": {violation}"));
            let why = why.unwrap_or_default();
            return Err(TunerError::Usage(format!("{path}: no configuration fulfils the constraints{why}")));
        }
        Ok(space)
    }

    /// Tunables of which nothing is found in the sources, with the reason.
    pub fn missing_tunables(&self) -> Vec<(String, TunableError)> {
        let missing = |tunable: &Tunable| {
            let error = present_value(&self.sources, &tunable.binding).err()?;
            Some((tunable.name.clone(), error))
        };
        self.tunables().iter().filter_map(missing).collect()
    }

    /// Weights of the timed cases, in the order of their times.
    pub fn weights(&self) -> Vec<f64> {
        let timed = self.evaluator.workload.trials.iter().filter(|trial| trial.timed);
        timed.map(|trial| self.manifest.cases[trial.case].weight).collect()
    }

    /// Files of the repository that the sources include beside themselves.
    pub fn included_beside(&self) -> SourceTree {
        self.evaluator.builder.included_beside(&self.sources)
    }

    /// Why there is nothing to rewrite, where the kernel's work lies in files that are not among the sources.
    pub fn nothing_to_rewrite(&self) -> Option<Event> {
        let editable = |file: &str| self.project.editable_files.iter().any(|known| known == file);
        nothing_to_rewrite(&self.sources, &self.included_beside(), editable)
    }

    fn facts(&self, case: usize) -> CaseFacts {
        self.manifest.cases[case]
            .facts(self.machine.parameters.aiv_cores as u32, self.machine.parameters.ub_bytes as u64)
    }

    fn making<'a>(&self, directory: &'a Path) -> Making<'a> {
        let options = &self.options;
        Making { directory, data: options.data, draw: Draw::of(options.seed), at_once: options.jobs }
    }

    /// Makes the input files that a workspace without data went without. Trials keep their places.
    pub fn make_data(&mut self) -> Result<(), TunerError> {
        if self.options.data == InputData::Left {
            let directory = self.work_directory.join(DATA);
            let making = Making { data: InputData::Made, ..self.making(&directory) };
            let workload = Workload::prepare(&self.manifest, &self.cases, &making)?;
            self.evaluator.workload = Arc::new(workload);
            self.options.data = InputData::Made;
        }
        Ok(())
    }

    /// The same with one more case, or with this one in the place of the one of its name; `without_data` for one that is so
    /// large that it is only timed and judged.
    pub fn with_case(&self, case: Case, without_data: bool) -> Result<Self, TunerError> {
        let mut manifest = (*self.manifest).clone();
        let mut cases = self.cases.clone();
        let mut evaluator = self.evaluator.clone();
        let name = case.name.clone();
        match manifest.cases.iter_mut().find(|known| known.name == case.name) {
            Some(known) => *known = case,
            None => {
                cases.push(manifest.cases.len());
                manifest.cases.push(case);
            }
        }
        let directory = self.work_directory.join(DATA);
        if without_data {
            let mut names = (*evaluator.without_data).clone();
            names.insert(name);
            evaluator.without_data = Arc::new(names);
        }
        let names = Arc::clone(&evaluator.without_data);
        let made = Some((&*self.manifest, &*self.evaluator.workload));
        let workload = Workload::prepare_except(&manifest, &cases, &self.making(&directory), &names, made)?;
        let manifest = Arc::new(manifest);
        (evaluator.manifest, evaluator.workload) = (Arc::clone(&manifest), Arc::new(workload));
        Ok(Self { manifest, cases, evaluator, ..self.clone() })
    }

    /// The same with tunables that the manifest does not name.
    pub fn with_brought(&self, brought: &Brought) -> Self {
        let mut manifest = (*self.manifest).clone();
        manifest.tunables.extend(brought.tunables.iter().cloned());
        manifest.constraints.extend(brought.constraints.iter().map(|text| (text.clone(), 0..0)));
        let mut evaluator = self.evaluator.clone();
        let manifest = Arc::new(manifest);
        evaluator.manifest = Arc::clone(&manifest);
        Self { manifest, evaluator, ..self.clone() }
    }

    /// Whether the project has its own `main`.
    pub fn is_direct_launch(&self) -> bool {
        self.manifest.layout == Layout::DirectLaunch
    }
}

fn simulator(
    options: &WorkspaceOptions,
    manifest: &Manifest,
    sdk: &Sdk,
    machine: &Arc<Machine>,
    work_directory: &Path,
    auto_sync: bool,
) -> SimBackend {
    SimBackend {
        worker_exe: options.worker_exe.clone(),
        runner: sdk.runner(),
        scratch: work_directory.join("runs"),
        machine: Arc::clone(machine),
        limits: ProcessLimits::new(manifest.run_timeout_s, manifest.run_memory_bytes),
        keep_trace: None,
        critical_path: false,
        auto_sync,
        warmth: aicore::Warmth::Cold,
        foreseen: backend::Foreseen::default(),
    }
}

/// Where it is written down that devices contradict the simulator, with versions and nothing that tells whose machine it is.
fn contradictions(attached: &Attached, machine: &Machine, work_directory: &Path) -> Arc<Contradictions> {
    let unknown = || "of unknown version".to_owned();
    let environment = vec![
        ("cargo-ascend-tune", env!("CARGO_PKG_VERSION").to_owned()),
        ("machine description", format!("{} version {}, digest {}", machine.name, machine.version, machine.digest())),
        // Where no file tells the version there is a folder in its place.
        ("toolkit", Some(&attached.toolkit).filter(|version| !version.contains('/')).cloned().unwrap_or_else(unknown)),
        ("chip", attached.soc.clone()),
        ("route", attached.fleet.route().words()),
    ];
    Arc::new(Contradictions::below(work_directory.join("contradictions"), environment))
}

fn select_cases(manifest: &Manifest, names: &[String]) -> Result<Vec<usize>, TunerError> {
    if names.is_empty() {
        return Ok((0..manifest.cases.len()).collect());
    }
    names
        .iter()
        .map(|name| {
            manifest.cases.iter().position(|case| case.name == *name).ok_or_else(|| {
                let known: Vec<&str> = manifest.cases.iter().map(|case| case.name.as_str()).collect();
                TunerError::Usage(format!("--case {name}: no such case in the manifest; known: {}", known.join(", ")))
            })
        })
        .collect()
}

/// The toolkit whose headers kernels are built against, or `None` for the SDK's own.
fn toolkit_directory(
    options: &WorkspaceOptions,
    manifest: &Manifest,
    root: &Path,
) -> Result<Option<PathBuf>, TunerError> {
    match options.headers.as_ref().unwrap_or(&manifest.headers) {
        KernelHeaders::Own => Ok(None),
        // A path of the command line means the current directory, one of the manifest the project's.
        KernelHeaders::Toolkit(Some(path)) if options.headers.is_some() => Ok(Some(path.clone())),
        KernelHeaders::Toolkit(Some(path)) => Ok(Some(root.join(path))),
        KernelHeaders::Toolkit(None) => match Toolkit::from_environment() {
            Some(toolkit) => Ok(Some(toolkit.root)),
            None => Err(TunerError::Usage(format!(
                "{}: `headers = \"toolkit\"` needs a toolkit; write `toolkit = \"PATH\"` below it, or set ASCEND_HOME_PATH",
                manifest.path.display()
            ))),
        },
    }
}
