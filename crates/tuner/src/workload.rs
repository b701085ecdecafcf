//! The workload of a run: for every case, seed and kind of data the input files and the right answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use backend::{JobInput, JobOutput};
use manifest::{Case, Layout, Manifest, Reference, TensorSpec};
use proposer::workers::in_order;
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

/// How the trials of a run are made.
#[derive(Clone, Copy, Debug)]
pub struct Making<'a> {
    /// Where input files go.
    pub directory: &'a Path,
    /// Whether there are any.
    pub data: InputData,
    /// What the run's seed decides about them.
    pub draw: Draw,
    /// Trials that are made at once, at most.
    pub at_once: usize,
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
    /// Makes input files and lists the trials.
    pub fn prepare(manifest: &Manifest, cases: &[usize], making: &Making<'_>) -> Result<Self, WorkloadError> {
        Self::prepare_except(manifest, cases, making, &BTreeSet::new(), None)
    }

    /// The same, where cases of these names have one timed trial each and no input files, and where what is `made` already for the
    /// same cases, with its manifest, is not made again.
    pub fn prepare_except(
        manifest: &Manifest,
        cases: &[usize],
        making: &Making<'_>,
        without_data: &BTreeSet<String>,
        made: Option<(&Manifest, &Workload)>,
    ) -> Result<Self, WorkloadError> {
        let with_data = making.data == InputData::Made;
        let of = |case, (data, seed), timed| {
            let data_seed = making.draw.data_seed(data, seed);
            Wanted { case, data, seed, data_seed, timed, with_data }
        };
        let (mut wanted, mut checks) = (Vec::new(), Vec::new());
        for &index in cases {
            let Some(case) = manifest.cases.get(index) else { continue };
            if without_data.contains(&case.name) {
                wanted.push(Wanted { with_data: false, ..of(index, (DataKind::Random, 0), true) });
                continue;
            }
            // A program makes its own data, the same every time.
            let seeds = if manifest.layout == Layout::DirectLaunch { 1 } else { manifest.seeds.max(1) };
            for seed in 0..seeds {
                let timed = seed == 0 && !case.verify_only;
                let list = if timed { &mut wanted } else { &mut checks };
                list.push(of(index, (DataKind::Random, seed), timed));
            }
            if case.hostile {
                checks.push(of(index, (DataKind::Hostile, 0), false));
            }
        }
        let zeros = of_zeros(manifest, cases, without_data);
        checks.extend(zeros.into_iter().map(|index| of(index, (DataKind::Zeros, 0), false)));
        wanted.append(&mut checks);
        let golden = golden_folder(manifest).filter(|_| with_data);
        let files = Files { directory: making.directory, golden: golden.as_deref() };
        let trials = in_order(&wanted, making.at_once, |trial| {
            let known = made.and_then(|(before, workload)| workload.like(before, manifest, trial));
            known.map_or_else(|| make_trial(manifest, trial, &files), Ok)
        });
        let trials = trials.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut workload = Self { trials, golden: BTreeMap::new() };
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

    /// The trial here with the same data, of the same case in the manifest that this was made for.
    fn like(&self, before: &Manifest, manifest: &Manifest, wanted: &Wanted) -> Option<Trial> {
        let case = manifest.cases.get(wanted.case).filter(|_| wanted.with_data)?;
        let is_it = |trial: &&Trial| {
            (trial.data, trial.seed, trial.data_seed) == (wanted.data, wanted.seed, wanted.data_seed)
                && before.cases.get(trial.case).is_some_and(|known| {
                    known.name == case.name && known.inputs == case.inputs && known.outputs == case.outputs
                })
                && trial.inputs.iter().all(|input| input.file.exists())
        };
        let known = self.trials.iter().find(is_it)?;
        Some(Trial { case: wanted.case, timed: wanted.timed, ..known.clone() })
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
            let files = Files { directory, golden: None };
            let seed = seeds.get(index).copied().unwrap_or(0);
            let kind = if case.hostile { DataKind::Hostile } else { DataKind::Random };
            let trial = Wanted { case: index, data: kind, seed, data_seed: seed.into(), timed: true, with_data: made };
            trials.push(make_trial(manifest, &trial, &files)?);
        }
        Ok(Self { trials, golden: BTreeMap::new() })
    }

    /// Makes the input files of a trial that went without them. They stand where the trial looks for them.
    pub fn make_inputs(manifest: &Manifest, trial: &Trial) -> Result<(), WorkloadError> {
        if manifest.cases.get(trial.case).is_none() {
            return Ok(());
        }
        let Some(directory) = trial.inputs.first().and_then(|input| input.file.parent()?.parent()) else {
            return Ok(());
        };
        let files = Files { directory, golden: None };
        let Trial { case, data, seed, data_seed, timed, .. } = *trial;
        make_trial(manifest, &Wanted { case, data, seed, data_seed, timed, with_data: true }, &files).map(drop)
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
}

/// A trial before its files are there.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    case: usize,
    data: DataKind,
    seed: u32,
    data_seed: u64,
    timed: bool,
    /// Whether it has input files.
    with_data: bool,
}

fn make_trial(manifest: &Manifest, wanted: &Wanted, files: &Files<'_>) -> Result<Trial, WorkloadError> {
    let Wanted { case: index, data, seed, data_seed, timed, with_data } = *wanted;
    let case = &manifest.cases[index];
    let kind = match data {
        DataKind::Random => "random",
        DataKind::Hostile => "hostile",
        DataKind::Zeros => "zeros",
    };
    // Runs by different seeds share the directory.
    let drawn = if data_seed == u64::from(seed) { String::new() } else { format!("-{data_seed:016x}") };
    let folder = files.directory.join(format!("{}-{kind}-{seed}{drawn}", case.name));
    if with_data {
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
        if with_data {
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

    fn making(directory: &Path, run: u64) -> Making<'_> {
        Making { directory, data: InputData::Made, draw: Draw::of(run), at_once: 2 }
    }

    /// What a trial reads, by its label, number and kind.
    fn inputs(directory: &Path, run: u64) -> BTreeMap<(DataKind, u32), Vec<u8>> {
        let text = format!("{SMALLEST}\n[verify]\nseeds = 2\n");
        let manifest = Manifest::parse(&text, Path::new("ascend.toml")).expect("a manifest");
        let workload = Workload::prepare(&manifest, &[0], &making(directory, run)).expect("made");
        let read = |trial: &Trial| ((trial.data, trial.seed), fs_err::read(&trial.inputs[0].file).expect("a file"));
        workload.trials.iter().map(read).collect()
    }

    #[test]
    fn what_is_made_for_a_case_is_not_made_again_and_for_another_it_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let manifest = Manifest::parse(SMALLEST, Path::new("ascend.toml")).expect("a manifest");
        let prepare = |manifest: &Manifest, made: Option<(&Manifest, &Workload)>| {
            let cases: Vec<usize> = (0..manifest.cases.len()).collect();
            let none = BTreeSet::new();
            Workload::prepare_except(manifest, &cases, &making(directory.path(), 1), &none, made)
        };
        let first = prepare(&manifest, None).expect("made");
        let file = &first.trials[0].inputs[0].file;
        let right = fs_err::read(file).expect("a file");
        // Who makes it again would write it anew.
        fs_err::write(file, b"other").expect("written");
        assert_eq!(prepare(&manifest, Some((&manifest, &first))).expect("known").trials, first.trials);
        assert_eq!(fs_err::read(file).expect("a file"), b"other");
        let mut wider = manifest.clone();
        wider.cases[0].inputs[0].range.high += 1.0;
        let third = prepare(&wider, Some((&manifest, &first))).expect("made");
        let other = fs_err::read(&third.trials[0].inputs[0].file).expect("a file");
        assert!(other.len() == right.len() && other != right);
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
