//! Running references: requests to and answers from our Python program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::array::Array;
use super::scripts::DataScript;
use crate::cases::{DescribedAttribute, DescribedOp};
use backend::{KernelJob, ProcessLimits, RunFailure, WorkerCommand};

const PROGRAM: &str = include_str!("run_reference.py");
const RECORDER: &str = include_str!("record_calls.py");
/// Seconds that a reference may take.
pub(super) const WALL_S: f64 = 60.0;
const MEMORY_BYTES: u64 = 16 << 30;

/// Why a reference gives no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReferenceError {
    /// A Python package is not there.
    #[error("the reference needs the Python package `{0}`; name a Python that has it with --python")]
    Missing(String),
    /// The script ends with an error.
    #[error("the reference fails: {0}")]
    Script(String),
    /// Python does not run, or the files cannot be exchanged.
    #[error("the reference cannot be run: {0}")]
    Run(String),
    /// No definition of ours has the operator's type.
    #[error("{0}")]
    Undefined(String),
    /// No definition of ours fits the call.
    #[error("{0}")]
    Unmatched(String),
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    arrays: Vec<Option<AnsweredArray>>,
    /// Calls that tests make, in the form of our recording program.
    #[serde(default)]
    calls: Vec<RecordedCall>,
}

/// What every answer may say instead.
#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    undefined: Option<String>,
    #[serde(default)]
    unmatched: Option<String>,
    #[serde(default)]
    missing: Option<String>,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Deserialize)]
struct AnsweredArray {
    file: String,
    dtype: String,
    shape: Vec<u64>,
}

/// A call that a Python test makes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct RecordedCall {
    /// File and line of the test.
    pub place: String,
    /// Arguments with their names.
    pub arguments: Vec<(String, RecordedArgument)>,
}

/// An argument of such a call.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum RecordedArgument {
    /// A tensor.
    Tensor(RecordedTensor),
    /// A list of tensors.
    Tensors {
        /// The tensors.
        tensors: Vec<RecordedTensor>,
    },
    /// A number.
    Number {
        /// The number.
        value: f64,
    },
    /// A list of numbers.
    Numbers {
        /// The numbers.
        values: Vec<f64>,
    },
    /// A truth value.
    Bool {
        /// The value.
        value: bool,
    },
    /// A text.
    Text {
        /// The text.
        value: String,
    },
    /// `None`.
    Nothing,
    /// Anything else.
    Unknown,
}

/// A tensor of such a call.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct RecordedTensor {
    /// Dtype name.
    pub dtype: String,
    /// Dimensions.
    pub shape: Vec<u64>,
    /// Least and greatest value, where all are finite.
    #[serde(default)]
    pub range: Option<(f64, f64)>,
    /// Every value, of whole numbers that are not too many.
    #[serde(default)]
    pub values: Vec<f64>,
}

/// A Python to run references with.
#[derive(Clone, Debug)]
pub struct Python {
    /// The interpreter.
    pub program: PathBuf,
    /// Our own executable, which offers the hidden worker command.
    pub worker_exe: PathBuf,
    /// Directory for private run directories.
    pub scratch: PathBuf,
}

impl Python {
    /// Right outputs for a job, in the order of its outputs; `None` for one that the golden function does not give.
    pub async fn golden(
        &self,
        script: &Path,
        op: &DescribedOp,
        operator: &str,
        job: &KernelJob,
        soc: &str,
    ) -> Result<Vec<Option<Array>>, ReferenceError> {
        let inputs: Vec<Value> = op
            .inputs
            .iter()
            .map(|found| {
                let instances: Vec<Value> = job
                    .inputs
                    .iter()
                    .filter(|input| input.name == found.name)
                    .map(|input| json!({ "file": input.file, "dtype": input.dtype, "shape": input.shape }))
                    .collect();
                json!([found.name, { "instances": instances, "dynamic": found.param.eq_ignore_ascii_case("dynamic") }])
            })
            .collect();
        let attributes: Vec<Value> = op.attrs.iter().map(|found| json!([found.name, value_in(job, found)])).collect();
        let outputs: Vec<Value> = job
            .outputs
            .iter()
            .map(|output| json!({ "dtype": output.dtype, "shape": output.shape, "format": output.format }))
            .collect();
        let list = |value: fn(&backend::JobInput) -> Value| job.inputs.iter().map(value).collect::<Vec<_>>();
        let request = json!({
            "script": script, "operator": operator, "soc": soc, "inputs": inputs, "attributes": attributes,
            "outputs": outputs,
            "input_dtypes": list(|input| json!(input.dtype)),
            "input_shapes": list(|input| json!(input.shape)),
            "input_formats": list(|input| json!(input.format)),
        });
        let directory = self.directory()?;
        self.arrays("golden", &request, directory.path()).await
    }

    /// The calls under one of `names` that Python tests make; `schemas` has the names of parameters by place.
    pub async fn calls(
        &self,
        files: &[PathBuf],
        names: &[String],
        schemas: &BTreeMap<String, Vec<String>>,
    ) -> Result<Vec<RecordedCall>, ReferenceError> {
        let directory = self.directory()?;
        let request = json!({ "files": files, "names": names, "schemas": schemas });
        Ok(self.ask::<Answer>(RECORDER, "calls", &request, directory.path()).await?.calls)
    }

    /// The arrays that a script writes, inputs and right outputs alike.
    pub async fn data(&self, script: &DataScript) -> Result<Vec<Array>, ReferenceError> {
        let directory = self.directory()?;
        copy_small_files(&script.path, directory.path()).map_err(|error| ReferenceError::Run(error.to_string()))?;
        let request = json!({ "script": script.path, "arguments": script.arguments });
        let arrays = self.arrays("data", &request, directory.path()).await?;
        Ok(arrays.into_iter().flatten().collect())
    }

    pub(super) fn directory(&self) -> Result<tempfile::TempDir, ReferenceError> {
        let failed = |error: std::io::Error| ReferenceError::Run(error.to_string());
        fs_err::create_dir_all(&self.scratch).map_err(failed)?;
        tempfile::Builder::new().prefix("reference-").tempdir_in(&self.scratch).map_err(failed)
    }

    async fn arrays(
        &self,
        mode: &str,
        request: &Value,
        directory: &Path,
    ) -> Result<Vec<Option<Array>>, ReferenceError> {
        let failed = |error: std::io::Error| ReferenceError::Run(error.to_string());
        let answer: Answer = self.ask(PROGRAM, mode, request, directory).await?;
        let read = |array: AnsweredArray| {
            let bytes = fs_err::read(directory.join(&array.file)).map_err(failed)?;
            Ok(Array { file: array.file, dtype: array.dtype, shape: array.shape, bytes })
        };
        answer.arrays.into_iter().map(|array| array.map(read).transpose()).collect()
    }

    /// Runs one of our programs in a directory.
    pub(super) async fn ask<Answer: DeserializeOwned>(
        &self,
        text: &str,
        mode: &str,
        request: &Value,
        directory: &Path,
    ) -> Result<Answer, ReferenceError> {
        self.answer(text, mode, request, directory, WALL_S).await.and_then(said)
    }

    /// What one of our programs answers within so many seconds, refusals as they are.
    pub(super) async fn answer(
        &self,
        text: &str,
        mode: &str,
        request: &Value,
        directory: &Path,
        wall_s: f64,
    ) -> Result<Value, ReferenceError> {
        let failed = |error: std::io::Error| ReferenceError::Run(error.to_string());
        // Names that no script of an operator has.
        let (program, file) = (directory.join("ascend_tune_reference.py"), directory.join("ascend_tune_request.json"));
        fs_err::write(&program, text).map_err(failed)?;
        fs_err::write(&file, request.to_string()).map_err(failed)?;
        let threads = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"];
        let mut environment: Vec<(String, String)> =
            threads.iter().map(|name| ((*name).to_owned(), "1".to_owned())).collect();
        environment.push(("TMPDIR".to_owned(), directory.display().to_string()));
        environment.push(("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned()));
        let command = WorkerCommand {
            worker_exe: self.worker_exe.clone(),
            program: self.program.clone(),
            arguments: vec![program.into_os_string(), OsString::from(mode), file.into_os_string()],
            directory: directory.to_owned(),
            // Interpreters keep their packages in many places.
            readable: None,
            environment,
            limits: ProcessLimits::new(wall_s, MEMORY_BYTES),
        };
        let ended = command.run().await.map_err(|failure| match failure {
            RunFailure::TimedOut(limit) => ReferenceError::Script(format!("not ready after {limit} s")),
            failure => ReferenceError::Run(failure.to_string()),
        })?;
        let answer = fs_err::read(directory.join("answer.json"))
            .map_err(|_| ReferenceError::Run(ended.output.lines().last().unwrap_or_default().to_owned()))?;
        serde_json::from_slice(&answer).map_err(|error| ReferenceError::Run(error.to_string()))
    }
}

/// An answer as what was asked for, or the refusal that it is.
pub(super) fn said<Answer: DeserializeOwned>(answer: Value) -> Result<Answer, ReferenceError> {
    let unreadable = |error: serde_json::Error| ReferenceError::Run(error.to_string());
    let refusal = Refusal::deserialize(&answer).map_err(unreadable)?;
    if let Some(missing) = refusal.missing {
        return Err(ReferenceError::Missing(missing));
    }
    if let Some(reason) = refusal.undefined {
        return Err(ReferenceError::Undefined(reason));
    }
    if let Some(reason) = refusal.unmatched {
        return Err(ReferenceError::Unmatched(reason));
    }
    if let Some(error) = refusal.error {
        return Err(ReferenceError::Script(error.lines().next().unwrap_or_default().to_owned()));
    }
    serde_json::from_value(answer).map_err(unreadable)
}

/// What an attribute of a definition is in a call.
pub(super) fn value_in(job: &KernelJob, found: &DescribedAttribute) -> Value {
    let given = job.attributes.iter().find(|attribute| attribute.name == found.name);
    given.map_or_else(|| found.default.clone(), attribute_value)
}

/// Value of an attribute of a job as JSON.
fn attribute_value(attribute: &manifest::Attribute) -> Value {
    let text = attribute.value.as_str();
    let list = || text.split(',').map(str::trim).filter(|item| !item.is_empty());
    match attribute.kind.as_str() {
        "int" => text.parse::<i64>().map_or(Value::Null, Value::from),
        "float" => text.parse::<f64>().map_or(Value::Null, Value::from),
        "bool" => Value::from(text == "true"),
        "list_int" => list().filter_map(|item| item.parse::<i64>().ok()).collect(),
        "list_float" => list().filter_map(|item| item.parse::<f64>().ok()).collect(),
        "list_bool" => list().map(|item| item == "true").collect(),
        "list_list_int" => serde_json::from_str(text).unwrap_or(Value::Null),
        _ => Value::from(text),
    }
}

/// Copies the files beside a script that it may want: other scripts and small data.
fn copy_small_files(script: &Path, to: &Path) -> std::io::Result<()> {
    const SMALL_BYTES: u64 = 1 << 20;
    let folder = script.parent().unwrap_or(Path::new("."));
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let small = entry.metadata().is_ok_and(|data| data.is_file() && data.len() <= SMALL_BYTES);
        if small {
            fs_err::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    for folder in ["input", "output"] {
        fs_err::create_dir_all(to.join(folder))?;
    }
    Ok(())
}
