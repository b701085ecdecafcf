//! Where kernels run: many of them in one program, many launches in one process.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::error::SoundnessError;
use super::launch::{Element, Launch};
use aicore::{Hazard, HazardKind, LaunchReport, LaunchStatus, Machine, Options, Severity, analyse};
use backend::{ProcessLimits, RunFailure, Symbols, WorkerCommand};
use build::sdk::Sdk;
use motif::CutLines;

/// The file that a kernel is to motifs.
pub const FILE: &str = "op_kernel/probe.cpp";
/// Name of the entry function of every kernel.
pub const ENTRY: &str = "probe_kernel";

const HARNESS: &str = include_str!("harness.h");
/// Limits of one process. Single launches end themselves after five seconds.
const LIMITS: ProcessLimits = ProcessLimits::new(300.0, 8 << 30);

/// What a batch is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Results and hazards.
    Results,
    /// These, and the lines that ran. Takes the compiler several times as long.
    Lines,
}

/// A kernel with its launches.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Its source.
    pub text: &'a str,
    /// Type of its elements.
    pub element: Element,
    /// Its launches.
    pub launches: &'a [Launch],
}

/// What became of a kernel.
#[derive(Clone, Debug)]
pub enum Ran {
    /// The compiler refused it.
    NotCompiled(String),
    /// What became of each launch.
    Launched(Vec<Observed>),
}

/// What one launch did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// Why it did not come to its end.
    pub fault: Option<String>,
    /// What it wrote, by the number of the region.
    pub outputs: BTreeMap<u64, Vec<u8>>,
    /// Kinds of hazards that reject a candidate, with what the first of each kind says.
    pub hazards: BTreeMap<HazardKind, String>,
    /// Lines that ran, where they were asked for.
    pub lines: BTreeMap<u32, u64>,
    /// Bytes of the unified buffer by the line that takes them, where lines were asked for.
    pub buffers: CutLines,
    /// Where these end.
    pub buffers_end_bytes: u64,
}

/// Compiles and runs batches.
#[derive(Clone, Debug)]
pub struct Bench {
    sdk: Sdk,
    machine: Machine,
    worker_exe: PathBuf,
    scratch: PathBuf,
}

impl Bench {
    /// Batches in private directories below `scratch`, run by `worker_exe`, this program.
    pub fn new(sdk: Sdk, machine: Machine, worker_exe: PathBuf, scratch: PathBuf) -> Self {
        Self { sdk, machine, worker_exe, scratch }
    }

    /// Runs every launch of every job, in their order.
    pub async fn run(&self, jobs: &[Job<'_>], wanted: Wanted) -> Result<Vec<Ran>, SoundnessError> {
        let mut ran: Vec<Option<Ran>> = vec![None; jobs.len()];
        // Kernels still to be compiled together. What does not compile is taken out, and asked alone.
        let mut parts: Vec<Vec<usize>> = vec![(0..jobs.len()).collect()];
        while let Some(part) = parts.pop() {
            if part.is_empty() {
                continue;
            }
            let chosen: Vec<Job<'_>> = part.iter().map(|at| jobs[*at]).collect();
            let directory = tempfile::Builder::new().prefix("soundness-").tempdir_in(&self.scratch)?;
            match self.compile(directory.path(), &chosen, wanted)? {
                None => {
                    let launched = self.launch(directory.path(), &chosen, wanted).await?;
                    for (at, result) in part.into_iter().zip(launched) {
                        ran[at] = Some(result);
                    }
                }
                Some(log) if part.len() == 1 => ran[part[0]] = Some(Ran::NotCompiled(log)),
                Some(log) => {
                    let blamed = blamed(&log);
                    let (bad, good): (Vec<_>, Vec<_>) = (0..part.len()).partition(|place| blamed.contains(place));
                    if bad.is_empty() || good.is_empty() {
                        let (first, second) = part.split_at(part.len() / 2);
                        parts.extend([first.to_vec(), second.to_vec()]);
                    } else {
                        parts.extend(bad.iter().map(|place| vec![part[*place]]));
                        parts.push(good.iter().map(|place| part[*place]).collect());
                    }
                }
            }
        }
        Ok(ran.into_iter().map(|result| result.unwrap_or_else(|| Ran::NotCompiled(String::new()))).collect())
    }

    /// Whether the program around no kernel at all builds; its error otherwise.
    pub fn check(&self) -> Result<(), SoundnessError> {
        let directory = tempfile::Builder::new().prefix("soundness-").tempdir_in(&self.scratch)?;
        match self.compile(directory.path(), &[], Wanted::Results)? {
            None => Ok(()),
            Some(log) => Err(SoundnessError::Harness(log)),
        }
    }

    /// The compiler's log where the batch does not compile.
    fn compile(&self, directory: &Path, jobs: &[Job<'_>], wanted: Wanted) -> Result<Option<String>, SoundnessError> {
        fs_err::write(directory.join("harness.h"), HARNESS)?;
        fs_err::write(directory.join("batch.cpp"), program(jobs.len(), wanted))?;
        for (number, job) in jobs.iter().enumerate() {
            fs_err::write(directory.join(file_of(number)), job.text)?;
        }
        let library = self.sdk.library_directory.display();
        let mut words =
            vec!["-std=c++17", "-O0", "-w", "-ffp-contract=off"].into_iter().map(str::to_owned).collect::<Vec<_>>();
        if wanted == Wanted::Lines {
            words.extend(["-g1".to_owned(), format!("-fdebug-prefix-map={}=.", directory.display())]);
        }
        words.extend([
            format!("-I{}", self.sdk.include().display()),
            format!("-I{}", self.sdk.root.join("src").display()),
            "batch.cpp".to_owned(),
            "-o".to_owned(),
            "program".to_owned(),
            format!("-L{library}"),
            format!("-Wl,-rpath,{library}"),
            "-lascend_sim".to_owned(),
            "-ldl".to_owned(),
        ]);
        let outcome = self.sdk.compiler.run(directory, &words)?;
        Ok((!outcome.success).then_some(outcome.output))
    }

    async fn launch(&self, directory: &Path, jobs: &[Job<'_>], wanted: Wanted) -> Result<Vec<Ran>, SoundnessError> {
        let lines: Vec<String> = jobs
            .iter()
            .enumerate()
            .flat_map(|(variant, job)| job.launches.iter().map(move |launch| (variant, job, launch)))
            .enumerate()
            .map(|(number, (variant, job, launch))| launch.line(number, variant, job.element))
            .collect();
        let mut observed: Vec<Observed> = vec![Observed::default(); lines.len()];
        let mut parts: Vec<Range<usize>> = std::iter::once(0..lines.len()).collect();
        while let Some(part) = parts.pop() {
            if part.is_empty() {
                continue;
            }
            let Some((at, fault)) = self.execute(directory, &lines[part.clone()]).await? else {
                self.collect(directory, &mut observed, wanted)?;
                continue;
            };
            // What stood before it is run again: the trace of a process that died has no end.
            let killer = part.start + at.min(part.len() - 1);
            observed[killer].fault = Some(fault);
            parts.extend([killer + 1..part.end, part.start..killer]);
        }
        let mut observed = observed.into_iter();
        Ok(jobs.iter().map(|job| Ran::Launched(observed.by_ref().take(job.launches.len()).collect())).collect())
    }

    /// Runs lines of a job in one process. The place of the one that killed it, if one did, and how.
    async fn execute(&self, directory: &Path, lines: &[String]) -> Result<Option<(usize, String)>, SoundnessError> {
        fs_err::write(directory.join("job"), lines.join("\n") + "\n")?;
        let command = WorkerCommand {
            worker_exe: self.worker_exe.clone(),
            program: directory.join("program"),
            arguments: ["job", "trace", "progress"].map(Into::into).to_vec(),
            directory: directory.to_owned(),
            readable: None,
            environment: Vec::new(),
            limits: LIMITS,
        };
        let fault = match command.run().await {
            Ok(ended) if ended.code == 0 => return Ok(None),
            Ok(ended) => format!("ended with code {}: {}", ended.code, ended.output.trim()),
            Err(failure @ RunFailure::Broken(_)) => return Err(SoundnessError::Program(failure)),
            Err(failure) => failure.to_string(),
        };
        let progress = fs_err::read_to_string(directory.join("progress"))?;
        Ok(Some((progress.lines().next().and_then(|line| line.parse().ok()).unwrap_or(0), fault)))
    }

    fn collect(&self, directory: &Path, into: &mut [Observed], wanted: Wanted) -> Result<(), SoundnessError> {
        let trace = fs_err::read(directory.join("trace"))?;
        let options = Options { critical_path: wanted == Wanted::Lines, ..Options::default() };
        let mut symbols = None;
        for mut report in analyse(&trace, &self.machine, &options)? {
            let number = report.info.get("kernel").and_then(|name| name.parse::<usize>().ok());
            let Some(slot) = number.and_then(|number| into.get_mut(number)) else { continue };
            slot.outputs = std::mem::take(&mut report.data).into_iter().map(|data| (data.base, data.bytes)).collect();
            slot.fault = match &report.status {
                LaunchStatus::Ok => None,
                LaunchStatus::Aborted(reason) => Some(reason.clone()),
                LaunchStatus::Unfinished => Some("unfinished".to_owned()),
            };
            slot.hazards = kinds(&report.hazards);
            if wanted == Wanted::Lines {
                note_lines(slot, &report, symbols.get_or_insert_with(|| Symbols::new(&report.modules)));
            }
        }
        Ok(())
    }
}

/// Kinds of hazards that reject a candidate.
fn kinds(hazards: &[Hazard]) -> BTreeMap<HazardKind, String> {
    let mut kinds = BTreeMap::new();
    for hazard in hazards.iter().filter(|hazard| hazard.severity == Severity::Error) {
        kinds.entry(hazard.kind).or_insert_with(|| hazard.message.clone());
    }
    kinds
}

fn note_lines(slot: &mut Observed, report: &LaunchReport, symbols: &mut Symbols) {
    let mut line = |site: u64| {
        let place = symbols.place(site);
        (place.line > 0 && place.file.starts_with('v')).then_some(place.line)
    };
    slot.lines.clear();
    for &(site, records) in &report.sites {
        if let Some(line) = line(site) {
            let most = slot.lines.entry(line).or_default();
            *most = records.max(*most);
        }
    }
    for buffer in &report.profile.buffers {
        if let Some(line) = line(buffer.site) {
            *slot.buffers.entry((FILE.to_owned(), line)).or_default() += buffer.bytes;
        }
    }
    slot.buffers_end_bytes = report.profile.buffers_end_bytes;
}

/// Kernels that the compiler found errors in, by their place in the program.
fn blamed(log: &str) -> BTreeSet<usize> {
    let place = |line: &str| line.split_once(".h:")?.0.strip_prefix('v')?.parse().ok();
    log.lines().filter(|line| line.contains("error: ")).filter_map(place).collect()
}

fn file_of(number: usize) -> String {
    format!("v{number}.h")
}

/// The translation unit around kernels.
fn program(kernels: usize, wanted: Wanted) -> String {
    let mut text = String::new();
    if wanted == Wanted::Results {
        // Lines come from functions of the API that are inlined everywhere. Without lines each is compiled once for all kernels.
        text.push_str("#include \"ascendsim/types.h\"\n#undef ASC_API\n#define ASC_API inline\n");
    }
    text.push_str("#include \"kernel_operator.h\"\n#include \"harness.h\"\n");
    for number in 0..kernels {
        let file = file_of(number);
        let _ = writeln!(
            text,
            "namespace v{number} {{\n#define {ENTRY} {ENTRY}_{number}\n#include \"{file}\"\n#undef {ENTRY}\n}}"
        );
    }
    text.push_str("static const soundness::Variant kVariants[] = {\n");
    for number in 0..kernels {
        let tiling = format!("v{number}::KernelTilingData");
        let _ = writeln!(text, "    {{&v{number}::{ENTRY}_{number}, &soundness::Fill<{tiling}>, sizeof({tiling})}},");
    }
    if kernels == 0 {
        text.push_str("    {nullptr, nullptr, 0},\n");
    }
    let _ = writeln!(
        text,
        "}};\nint main(int argc, char** argv) {{ return soundness::Main(argc, argv, kVariants, {kernels}); }}"
    );
    text
}
