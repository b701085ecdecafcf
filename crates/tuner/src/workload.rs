//! The workload of a run: for every case, seed and kind of data the input files and the right answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use backend::{JobInput, JobOutput};
use manifest::{Case, Layout, Manifest, Reference, TensorSpec};
use verify::{DType, DataKind, Draw, NpyError, UnknownDType, generate, parse_npy};

/// One set of inputs of one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Index of the case in the manifest.
    pub case: usize,
    /// Which data.
    pub data: DataKind,
    /// Number among those of its kind, from 0.
    pub seed: u32,
    /// Seed of its data.
    pub data_seed: u64,
    /// Whether this trial is timed; the others only check.
    pub timed: bool,
    /// Input files in order.
    pub inputs: Vec<JobInput>,
    /// Outputs in order.
    pub outputs: Vec<JobOutput>,
}

impl Trial {
    /// Name for messages and files: case, data and seed.
    pub fn label(&self, cases: &[Case]) -> String {
        let data = match self.data {
            DataKind::Random => "",
            DataKind::Hostile => " (hostile values)",
            DataKind::Zeros => " (zeros)",
        };
        format!("{}{data}", cases.get(self.case).map_or("?", |case| case.name.as_str()))
    }
}

/// Why a workload could not be made.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// A dtype of the manifest is unknown.
    #[error("case {case}: {source}")]
    DType {
        /// Case.
        case: String,
        /// Which dtype.
        source: UnknownDType,
    },
    /// An input has no shape.
    #[error("case {case}: input {tensor} has no shape; give `shape = [..]`")]
    NoShape {
        /// Case.
        case: String,
        /// Tensor.
        tensor: String,
    },
    /// A golden file is not usable.
    #[error("{path}: {source}")]
    Golden {
        /// File.
        path: PathBuf,
        /// Why.
        source: NpyError,
    },
    /// A golden file disagrees with the manifest.
    #[error("{path}: holds {found}, but the manifest says {expected}")]
    GoldenShape {
        /// File.
        path: PathBuf,
        /// What the file holds.
        found: String,
        /// What the manifest says.
        expected: String,
    },
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Whether input files are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputData {
    /// Yes, and golden files are read.
    #[default]
    Made,
    /// No: the operator is only timed.
    Left,
}

/// All trials of a run, timed ones first, and golden outputs where the user gave files.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// Trials: first the timed ones in case order, then the checks.
    pub trials: Vec<Trial>,
    /// Golden outputs by trial index, from `.npy` files.
    pub golden: BTreeMap<usize, Vec<Vec<u8>>>,
}

impl Workload {
    /// Makes input files below `directory` and lists the trials.
    pub fn prepare(
        manifest: &Manifest,
        cases: &[usize],
        directory: &Path,
        data: InputData,
        draw: Draw,
    ) -> Result<Self, WorkloadError> {
        Self::prepare_except(manifest, cases, directory, data, draw, &BTreeSet::new())
    }

    /// The same, where cases of these names have one timed trial each and no input files.
    pub fn prepare_except(
        manifest: &Manifest,
        cases: &[usize],
        directory: &Path,
        data: InputData,
        draw: Draw,
        without_data: &BTreeSet<String>,
    ) -> Result<Self, WorkloadError> {
        let golden = golden_folder(manifest).filter(|_| data == InputData::Made);
        let files = Files { directory, golden: golden.as_deref(), data };
        let mut timed = Vec::new();
        let mut checks = Vec::new();
        for &index in cases {
            let Some(case) = manifest.cases.get(index) else { continue };
            if without_data.contains(&case.name) {
                let files = Files { directory, golden: None, data: InputData::Left };
                timed.push(make_trial(index, case, (DataKind::Random, 0), 0, true, &files)?);
                continue;
            }
            // A program makes its own data, the same every time.
            let seeds = if manifest.layout == Layout::DirectLaunch { 1 } else { manifest.seeds.max(1) };
            for seed in 0..seeds {
                let is_timed = seed == 0 && !case.verify_only;
                let data_seed = draw.data_seed(DataKind::Random, seed);
                let trial = make_trial(index, case, (DataKind::Random, seed), data_seed, is_timed, &files)?;
                if is_timed { timed.push(trial) } else { checks.push(trial) }
            }
            if case.hostile {
                let data_seed = draw.data_seed(DataKind::Hostile, 0);
                checks.push(make_trial(index, case, (DataKind::Hostile, 0), data_seed, false, &files)?);
            }
        }
        for index in of_zeros(manifest, cases, without_data) {
            let data_seed = draw.data_seed(DataKind::Zeros, 0);
            checks.push(make_trial(index, &manifest.cases[index], (DataKind::Zeros, 0), data_seed, false, &files)?);
        }
        let mut workload = Self { trials: timed, golden: BTreeMap::new() };
        workload.trials.append(&mut checks);
        if let Some(folder) = files.golden {
            for (index, trial) in workload.trials.iter().enumerate() {
                if trial.data == DataKind::Random && trial.seed == 0 {
                    let outputs = golden_outputs(&manifest.cases[trial.case], folder)?;
                    workload.golden.insert(index, outputs);
                }
            }
        }
        Ok(workload)
    }

    /// One timed trial for each case of a manifest of probes, with data of its own seed. Those without data have no input
    /// files yet ([`Workload::make_inputs`]).
    pub fn of_probes(
        manifest: &Manifest,
        directory: &Path,
        seeds: &[u32],
        with_data: &[bool],
    ) -> Result<Self, WorkloadError> {
        let mut trials = Vec::with_capacity(manifest.cases.len());
        for (index, case) in manifest.cases.iter().enumerate() {
            let made = with_data.get(index).copied().unwrap_or(false);
            let data = if made { InputData::Made } else { InputData::Left };
            let files = Files { directory, golden: None, data };
            let seed = seeds.get(index).copied().unwrap_or(0);
            let kind = if case.hostile { DataKind::Hostile } else { DataKind::Random };
            trials.push(make_trial(index, case, (kind, seed), seed.into(), true, &files)?);
        }
        Ok(Self { trials, golden: BTreeMap::new() })
    }

    /// Makes the input files of a trial that went without them. They stand where the trial looks for them.
    pub fn make_inputs(manifest: &Manifest, trial: &Trial) -> Result<(), WorkloadError> {
        let Some(case) = manifest.cases.get(trial.case) else { return Ok(()) };
        let Some(directory) = trial.inputs.first().and_then(|input| input.file.parent()?.parent()) else {
            return Ok(());
        };
        let files = Files { directory, golden: None, data: InputData::Made };
        make_trial(trial.case, case, (trial.data, trial.seed), trial.data_seed, trial.timed, &files).map(drop)
    }

    /// Number of timed trials; they stand first.
    pub fn timed(&self) -> usize {
        self.trials.iter().filter(|trial| trial.timed).count()
    }
}

/// Cases that are tried on zeros too: of those that take hostile values and numbers that are not integers the smallest of every
/// combination of types. What a kernel makes of zeros does not hang on how many there are.
fn of_zeros(manifest: &Manifest, cases: &[usize], without_data: &BTreeSet<String>) -> Vec<usize> {
    let mut smallest: BTreeMap<Vec<&str>, (u64, usize)> = BTreeMap::new();
    for &index in cases {
        let Some(case) = manifest.cases.get(index).filter(|case| case.hostile) else { continue };
        let is_float = |tensor: &TensorSpec| tensor.dtype.parse::<DType>().is_ok_and(|dtype| dtype.part().is_float());
        if without_data.contains(&case.name)
            || !case.inputs.iter().any(|input| is_float(input) && input.values.is_empty())
        {
            continue;
        }
        let elements = |tensor: &TensorSpec| tensor.shape.iter().flatten().product::<u64>();
        let size = case.inputs.iter().map(elements).sum::<u64>();
        let types = case.inputs.iter().map(|input| input.dtype.as_str()).collect();
        let found = smallest.entry(types).or_insert((size, index));
        *found = (*found).min((size, index));
    }
    let mut found: Vec<usize> = smallest.into_values().map(|(_, index)| index).collect();
    found.sort_unstable();
    found
}

/// Folder of golden files, relative to the manifest.
fn golden_folder(manifest: &Manifest) -> Option<PathBuf> {
    match &manifest.reference {
        Reference::Npy(folder) => Some(manifest.path.parent().unwrap_or(Path::new(".")).join(folder)),
        Reference::Baseline | Reference::Command(_) | Reference::Script { .. } | Reference::Definition { .. } => None,
    }
}

/// Where input files go and come from.
struct Files<'a> {
    directory: &'a Path,
    golden: Option<&'a Path>,
    data: InputData,
}

fn make_trial(
    index: usize,
    case: &Case,
    (data, seed): (DataKind, u32),
    data_seed: u64,
    timed: bool,
    files: &Files<'_>,
) -> Result<Trial, WorkloadError> {
    let kind = match data {
        DataKind::Random => "random",
        DataKind::Hostile => "hostile",
        DataKind::Zeros => "zeros",
    };
    // Runs by different seeds share the directory.
    let drawn = if data_seed == u64::from(seed) { String::new() } else { format!("-{data_seed:016x}") };
    let folder = files.directory.join(format!("{}-{kind}-{seed}{drawn}", case.name));
    if files.data == InputData::Made {
        fs_err::create_dir_all(&folder)?;
        // In use: what no run has asked for in a day is swept. A file system without times keeps it longer.
        let _ = std::fs::File::open(&folder).and_then(|folder| folder.set_modified(SystemTime::now()));
    }
    let mut inputs = Vec::with_capacity(case.inputs.len());
    for (position, tensor) in case.inputs.iter().enumerate() {
        let dtype = dtype_of(case, tensor)?;
        let shape = tensor
            .shape
            .clone()
            .ok_or_else(|| WorkloadError::NoShape { case: case.name.clone(), tensor: tensor.name.clone() })?;
        // The tensors of a list have one name.
        let number = case.inputs[..position].iter().filter(|before| before.name == tensor.name).count();
        let stem = if number == 0 { tensor.name.clone() } else { format!("{}-{number}", tensor.name) };
        let file = folder.join(format!("{stem}.bin"));
        if files.data == InputData::Made {
            let elements = shape.iter().product::<u64>() as usize;
            let from_user = match files.golden {
                Some(golden) if data == DataKind::Random && seed == 0 => {
                    let path = golden.join(&case.name).join(format!("{}.npy", tensor.name));
                    path.exists().then(|| golden_tensor(&path, dtype, Some(&shape))).transpose()?
                }
                _ => None,
            };
            let bytes =
                from_user.unwrap_or_else(|| generate(tensor, dtype, elements, data_seed, position as u64, data));
            // Left alone when it is right already: runs share the directory, and a reader must never see half a file.
            if fs_err::read(&file).map_or(true, |present| present != bytes) {
                let temporary = folder.join(format!("{stem}.{}.tmp", std::process::id()));
                fs_err::write(&temporary, &bytes)?;
                fs_err::rename(&temporary, &file)?;
            }
        }
        inputs.push(JobInput {
            name: tensor.name.clone(),
            dtype: tensor.dtype.clone(),
            format: tensor.format.clone(),
            shape,
            file,
        });
    }
    let outputs = case
        .outputs
        .iter()
        .map(|tensor| JobOutput {
            name: tensor.name.clone(),
            dtype: tensor.dtype.clone(),
            format: tensor.format.clone(),
            shape: tensor.shape.clone(),
            initial: tensor.values.first().copied(),
        })
        .collect();
    Ok(Trial { case: index, data, seed, data_seed, timed, inputs, outputs })
}

fn dtype_of(case: &Case, tensor: &TensorSpec) -> Result<DType, WorkloadError> {
    tensor.dtype.parse().map_err(|source| WorkloadError::DType { case: case.name.clone(), source })
}

fn golden_outputs(case: &Case, folder: &Path) -> Result<Vec<Vec<u8>>, WorkloadError> {
    case.outputs
        .iter()
        .map(|tensor| {
            let path = folder.join(&case.name).join(format!("{}.npy", tensor.name));
            golden_tensor(&path, dtype_of(case, tensor)?, tensor.shape.as_deref())
        })
        .collect()
}

fn golden_tensor(path: &Path, dtype: DType, shape: Option<&[u64]>) -> Result<Vec<u8>, WorkloadError> {
    let array =
        parse_npy(&fs_err::read(path)?).map_err(|source| WorkloadError::Golden { path: path.to_owned(), source })?;
    if array.dtype != dtype || shape.is_some_and(|shape| shape != array.shape) {
        return Err(WorkloadError::GoldenShape {
            path: path.to_owned(),
            found: format!("{} {:?}", array.dtype, array.shape),
            expected: format!("{dtype} {:?}", shape.unwrap_or(&array.shape)),
        });
    }
    Ok(array.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use manifest::testing::SMALLEST;

    /// What a trial reads, by its label, number and kind.
    fn inputs(directory: &Path, run: u64) -> BTreeMap<(DataKind, u32), Vec<u8>> {
        let text = format!("{SMALLEST}\n[verify]\nseeds = 2\n");
        let manifest = Manifest::parse(&text, Path::new("ascend.toml")).expect("a manifest");
        let workload = Workload::prepare(&manifest, &[0], directory, InputData::Made, Draw::of(run)).expect("made");
        let read = |trial: &Trial| ((trial.data, trial.seed), fs_err::read(&trial.inputs[0].file).expect("a file"));
        workload.trials.iter().map(read).collect()
    }

    #[test]
    fn runs_by_different_seeds_check_different_data_in_one_directory() {
        let directory = tempfile::tempdir().expect("a directory");
        let (first, second) = (inputs(directory.path(), 1), inputs(directory.path(), 2));
        assert_eq!(first.len(), 4);
        assert_eq!(first, inputs(directory.path(), 1));
        // Times are compared across runs, and zeros are zeros.
        let same = |(data, seed): &(DataKind, u32)| *data == DataKind::Zeros || (*data, *seed) == (DataKind::Random, 0);
        assert!(first.iter().all(|(trial, bytes)| (second[trial] == *bytes) == same(trial)));
    }
}
