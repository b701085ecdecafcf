//! Traces of the programs: built and run once, then kept in the cache, so that other constants need no other run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::cases::Case;
use aicore::Machine;
use backend::{ProcessLimits, RunFailure, SimBackend};
use build::BuildError;
use build::Digest;
use build::bisheng;
use build::sdk::Sdk;
use source::lex::{Include, includes};

/// Wall-clock limit of one run in seconds.
const RUN_WALL_S: f64 = 300.0;
/// Memory limit of one run.
const RUN_MEMORY_BYTES: u64 = 8 << 30;

/// A program with its arguments on a machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// Source file below the directory of sources.
    pub program: String,
    /// Definitions it is compiled with.
    pub defines: Vec<String>,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Machine that it is told it runs on.
    pub machine: String,
}

impl Run {
    /// The run of a case.
    pub fn of(case: &Case) -> Self {
        Self {
            program: case.program.clone(),
            defines: case.defines.clone(),
            arguments: case.arguments.clone(),
            machine: case.machine.clone(),
        }
    }

    /// The run whose figure a case subtracts.
    pub fn subtracted(case: &Case) -> Option<Self> {
        case.minus.as_ref().map(|arguments| Self { arguments: arguments.clone(), ..Self::of(case) })
    }
}

/// Why a run left no trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceFailure {
    /// The source is not there.
    #[error("{0}: no such source")]
    Missing(PathBuf),
    /// It does not compile.
    #[error("does not compile: {0}")]
    Compile(String),
    /// The compiler could not be used.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// It does not run.
    #[error(transparent)]
    Run(#[from] RunFailure),
    /// The cache cannot be read or written.
    #[error("the cache of traces: {0}")]
    Cache(#[from] std::io::Error),
    /// What the cache has is damaged.
    #[error("{}: damaged; remove it", .0.display())]
    Damaged(PathBuf),
}

/// Builds and runs programs, and keeps their traces.
pub struct Traces {
    sdk: Sdk,
    sources: PathBuf,
    cache: PathBuf,
    worker_exe: PathBuf,
}

impl Traces {
    /// Traces of programs below `sources`, kept below `cache`.
    pub fn new(sdk: Sdk, sources: &Path, cache: &Path, worker_exe: PathBuf) -> Self {
        Self { sdk, sources: sources.to_owned(), cache: cache.join("fidelity"), worker_exe }
    }

    /// The trace of a run.
    pub async fn trace(&self, run: &Run, machine: &Machine) -> Result<Vec<u8>, TraceFailure> {
        let source = self.sources.join(&run.program);
        if !source.is_file() {
            return Err(TraceFailure::Missing(source));
        }
        let program_key = self.program_key(&source, run)?;
        let mut digest = Digest::new("fidelity trace 1");
        digest.text(&program_key).texts(&run.arguments);
        let parameters = &machine.parameters;
        digest.text(&format!(
            "{} {} {} {} {}",
            machine.name, parameters.aiv_cores, parameters.aic_cores, parameters.ub_bytes, parameters.l2_bytes
        ));
        let kept = self.cache.join(format!("{}.lz4", digest.finish()));
        if let Ok(packed) = fs_err::read(&kept) {
            return lz4_flex::decompress_size_prepended(&packed).map_err(|_| TraceFailure::Damaged(kept));
        }
        fs_err::create_dir_all(&self.cache)?;
        let program = self.program(&source, run, &program_key)?;
        let scratch = tempfile::Builder::new().prefix("trace-").tempdir_in(&self.cache)?;
        let written = scratch.path().join("trace");
        let backend = SimBackend {
            worker_exe: self.worker_exe.clone(),
            runner: self.sdk.runner(),
            scratch: scratch.path().to_owned(),
            machine: std::sync::Arc::new(machine.clone()),
            limits: ProcessLimits::new(RUN_WALL_S, RUN_MEMORY_BYTES),
            keep_trace: None,
            critical_path: false,
            auto_sync: true,
            warmth: aicore::Warmth::Cold,
            foreseen: backend::Foreseen::default(),
        };
        let folder = source.parent().unwrap_or(&self.sources);
        backend.record_program(&program, &run.arguments, folder, &written).await?;
        let trace = fs_err::read(&written)?;
        let packed = scratch.path().join("packed");
        fs_err::write(&packed, lz4_flex::compress_prepend_size(&trace))?;
        fs_err::rename(&packed, &kept)?;
        Ok(trace)
    }

    /// Digest of everything that the program is made of.
    fn program_key(&self, source: &Path, run: &Run) -> Result<String, TraceFailure> {
        let mut digest = Digest::new("fidelity program 1");
        digest.text(&self.sdk.digest).text(&self.sdk.compiler.identity).texts(&run.defines);
        let mut seen = BTreeSet::new();
        let mut pending = vec![source.to_owned()];
        while let Some(path) = pending.pop() {
            if !seen.insert(path.clone()) {
                continue;
            }
            let bytes = fs_err::read(&path)?;
            digest.bytes(&bytes);
            let folder = path.parent().unwrap_or(&self.sources);
            let text = String::from_utf8_lossy(&bytes);
            let names = includes(&text).into_iter().filter_map(Include::quoted);
            pending.extend(names.map(|name| folder.join(name)).filter(|path| path.is_file()));
        }
        Ok(digest.finish())
    }

    /// The program, compiled where that has not been done yet.
    fn program(&self, source: &Path, run: &Run, key: &str) -> Result<PathBuf, TraceFailure> {
        let program = self.cache.join(format!("{key}.program"));
        if program.is_file() {
            return Ok(program);
        }
        let scratch = tempfile::Builder::new().prefix("program-").tempdir_in(&self.cache)?;
        let output = scratch.path().join("program");
        let mut words: Vec<String> =
            ["-O2", "-std=c++17", "-fno-strict-aliasing", "-w"].map(str::to_owned).into_iter().collect();
        words.extend(run.defines.iter().map(|define| format!("-D{define}")));
        words.extend(["-o".to_owned(), output.display().to_string(), source.display().to_string()]);
        let outcome = bisheng::run(&words, &self.sdk)?;
        if outcome.code != 0 {
            return Err(TraceFailure::Compile(outcome.output.trim().to_owned()));
        }
        fs_err::rename(&output, &program)?;
        Ok(program)
    }
}
