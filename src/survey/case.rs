//! Finding a case that the tiling function accepts: the operator's own test data first, guesses last.

use std::path::{Path, PathBuf};

use super::example::{self, ExampleCase};
use super::guess::{self, GuessedCase};
use super::outcome::{Cause, CauseKind};
use super::reference::{Array, Python, ReferenceError, ScriptCase, data_scripts, match_case};
use super::trial::Stop;
use crate::backend::{JobInput, JobOutput, KernelJob, RunFailure, SimBackend};
use crate::init::DescribedOp;
use crate::manifest::TensorSpec;
use crate::oracle::TilingExample;
use crate::verify::{DType, DataKind, generate};

/// A case that the tiling function accepts.
pub struct Accepted {
    /// Shapes and dtypes, and where they come from.
    pub name: String,
    /// The job, without kernel.
    pub job: KernelJob,
    /// Key that selects the kernel.
    pub tiling_key: u64,
    /// Right outputs that came with the data.
    pub golden: Option<Vec<Array>>,
    /// Why the operator's own data were not used, if there are some.
    pub note: Option<ReferenceError>,
}

/// Attempts at a tiling that are made before the operator counts as refusing.
const ATTEMPTS: usize = 150;

/// What is needed to find a case.
pub struct CaseFinder<'data> {
    /// The operator's directory.
    pub directory: &'data Path,
    /// Directory for input files.
    pub data: PathBuf,
    /// Host library.
    pub host: &'data Path,
    /// Definition.
    pub op: &'data DescribedOp,
    /// Calls of the tiling function that its own tests make.
    pub examples: &'data [TilingExample],
    /// Runs tiling functions.
    pub backend: &'data SimBackend,
    /// Runs scripts.
    pub python: &'data Python,
}

impl CaseFinder<'_> {
    /// The first case that is accepted.
    pub async fn find(&self) -> Result<Accepted, Stop> {
        let mut note = None;
        for script in data_scripts(self.directory) {
            let arrays = match self.python.data(&script).await {
                Ok(arrays) => arrays,
                Err(error) => {
                    let missing = matches!(error, ReferenceError::Missing(_));
                    note.get_or_insert(error);
                    if missing {
                        break;
                    }
                    continue;
                }
            };
            let Some(case) = match_case(self.op, &arrays) else { continue };
            let mut job = self.job_of_script(&case)?;
            if let Ok(tiling_key) =
                self.tile(&mut job, || case.outputs.iter().map(|array| array.shape.clone()).collect()).await
            {
                let name = job.inputs.iter().map(|input| format!("{} {}", shape_text(&input.shape), input.dtype));
                let name = format!("{} (its own test data)", name.collect::<Vec<_>>().join(", "));
                return Ok(Accepted { name, job, tiling_key, golden: Some(case.outputs), note: None });
            }
        }
        for case in example::cases(self.op, self.examples).into_iter().take(ATTEMPTS) {
            // A dtype that nothing here can make numbers of is no reason to stop.
            let Ok(mut job) = self.job_of_example(&case) else { continue };
            let shapes = || case.outputs.iter().map(|output| output.shape.clone().unwrap_or_default()).collect();
            if let Ok(tiling_key) = self.tile(&mut job, shapes).await {
                let name = job.inputs.iter().map(|input| format!("{} {}", shape_text(&input.shape), input.dtype));
                let name = format!("{} (its own tiling test)", name.collect::<Vec<_>>().join(", "));
                return Ok(Accepted { name, job, tiling_key, golden: None, note });
            }
        }
        let mut first: Option<Stop> = None;
        for case in guess::cases(self.op).into_iter().take(ATTEMPTS) {
            let mut job = self.job_of_guess(&case)?;
            let leading = case.inputs.first().and_then(|input| input.shape.clone()).unwrap_or_default();
            match self.tile(&mut job, || vec![leading.clone(); case.outputs.len()]).await {
                Ok(tiling_key) => {
                    let name = format!("{} (guessed)", case.name);
                    return Ok(Accepted { name, job, tiling_key, golden: None, note });
                }
                Err(failure) => {
                    first.get_or_insert_with(|| {
                        let stop = Stop::run(&failure);
                        Stop { detail: format!("{} ({})", stop.detail, case.name), ..stop }
                    });
                }
            }
        }
        Err(first.unwrap_or_else(|| {
            Stop::failed(Cause::new(CauseKind::NotRecognised, "the operator has no input"), "no case to try")
        }))
    }

    /// Runs shape inference and tiling, and takes over the inferred shapes. `otherwise` gives the shapes of outputs where
    /// nothing infers them.
    async fn tile(&self, job: &mut KernelJob, otherwise: impl FnOnce() -> Vec<Vec<u64>>) -> Result<u64, RunFailure> {
        let mut outcome = self.backend.tile(job).await;
        if matches!(&outcome, Err(RunFailure::Broken(message)) if message.contains("shape inference")) {
            for (output, shape) in job.outputs.iter_mut().zip(otherwise()) {
                output.shape = Some(shape);
            }
            outcome = self.backend.tile(job).await;
        }
        let (decision, dims) = outcome?;
        for (output, dims) in job.outputs.iter_mut().zip(dims) {
            output.shape = Some(dims);
        }
        Ok(decision.tiling_key)
    }

    fn job_of_guess(&self, case: &GuessedCase) -> Result<KernelJob, Stop> {
        Ok(KernelJob {
            operator: self.op.kind.clone(),
            host: self.host.to_owned(),
            inputs: inputs(&case.inputs, &self.data)?,
            outputs: case.outputs.iter().map(output).collect(),
            attributes: case.attributes.clone(),
            ..KernelJob::default()
        })
    }

    fn job_of_example(&self, case: &ExampleCase) -> Result<KernelJob, Stop> {
        let specs: Vec<TensorSpec> = case.inputs.iter().map(|(spec, _)| spec.clone()).collect();
        let mut inputs = inputs(&specs, &self.data.join("example"))?;
        for (position, (input, (_, content))) in inputs.iter_mut().zip(&case.inputs).enumerate() {
            if let Some(content) = content {
                input.file =
                    self.data.join("example").join(format!("{position}-{}.const", blake3::hash(content).to_hex()));
                fs_err::write(&input.file, content).map_err(Stop::machine)?;
            }
        }
        Ok(KernelJob {
            operator: self.op.kind.clone(),
            host: self.host.to_owned(),
            inputs,
            outputs: case.outputs.iter().map(output).collect(),
            attributes: case.attributes.clone(),
            ..KernelJob::default()
        })
    }

    fn job_of_script(&self, case: &ScriptCase) -> Result<KernelJob, Stop> {
        let folder = self.data.join("own");
        fs_err::create_dir_all(&folder).map_err(Stop::machine)?;
        let pick = |list: &[String], otherwise: &str| {
            list.get(case.combination).or_else(|| list.first()).cloned().unwrap_or_else(|| otherwise.to_owned())
        };
        let mut inputs = Vec::new();
        for (name, array) in &case.inputs {
            let file = folder.join(format!("{name}.bin"));
            fs_err::write(&file, &array.bytes).map_err(Stop::machine)?;
            let formats = self.op.inputs.iter().find(|found| found.name == *name).map(|found| found.formats.as_slice());
            inputs.push(JobInput {
                name: name.clone(),
                dtype: array.dtype.clone(),
                format: pick(formats.unwrap_or_default(), "ND"),
                shape: array.shape.clone(),
                file,
            });
        }
        let outputs = self.op.outputs.iter().map(|found| JobOutput {
            name: found.name.clone(),
            dtype: pick(&found.dtypes, "float16"),
            format: pick(&found.formats, "ND"),
            shape: None,
        });
        Ok(KernelJob {
            operator: self.op.kind.clone(),
            host: self.host.to_owned(),
            inputs,
            outputs: outputs.collect(),
            attributes: guess::attributes(self.op),
            ..KernelJob::default()
        })
    }
}

fn shape_text(shape: &[u64]) -> String {
    if shape.is_empty() {
        return "scalar".to_owned();
    }
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}

fn output(spec: &TensorSpec) -> JobOutput {
    JobOutput {
        name: spec.name.clone(),
        dtype: spec.dtype.clone(),
        format: spec.format.clone(),
        shape: spec.shape.clone(),
    }
}

/// Writes the data of the inputs, each combination of name, dtype and shape once.
fn inputs(specs: &[TensorSpec], folder: &Path) -> Result<Vec<JobInput>, Stop> {
    fs_err::create_dir_all(folder).map_err(Stop::machine)?;
    let mut result = Vec::new();
    for (position, spec) in specs.iter().enumerate() {
        let shape = spec.shape.clone().unwrap_or_default();
        let file = folder.join(format!("{position}-{}-{}.bin", spec.dtype, shape_text(&shape)));
        if !file.exists() {
            let elements = shape.iter().product::<u64>() as usize;
            fs_err::write(&file, input_bytes(spec, elements, position as u64)?).map_err(Stop::machine)?;
        }
        result.push(JobInput {
            name: spec.name.clone(),
            dtype: spec.dtype.clone(),
            format: spec.format.clone(),
            shape,
            file,
        });
    }
    Ok(result)
}

fn input_bytes(spec: &TensorSpec, elements: usize, stream: u64) -> Result<Vec<u8>, Stop> {
    // Complex numbers are pairs of floats, and doubles are made from singles.
    if spec.dtype == "complex64" {
        return Ok(generate(spec, DType::Float32, 2 * elements, 1, stream, DataKind::Random));
    }
    if spec.dtype == "float64" || spec.dtype == "double" {
        let singles = generate(spec, DType::Float32, elements, 1, stream, DataKind::Random);
        let values = singles.chunks_exact(4).map(|bytes| DType::Float32.decode(bytes));
        return Ok(values.flat_map(f64::to_le_bytes).collect());
    }
    let dtype = spec.dtype.parse::<DType>().map_err(|error| {
        Stop::failed(Cause::new(CauseKind::NotRecognised, format!("dtype {}", spec.dtype)), error.to_string())
    })?;
    Ok(generate(spec, dtype, elements, 1, stream, DataKind::Random))
}
