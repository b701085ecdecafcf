//! Definitions of operators: what they should compute, by type name, inputs and attributes, in NumPy (`templates/definitions`).
//!
//! They are ours and know nothing of any kernel; a call that a definition does not fit in every particular has none.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::cases::reference::python::{Python, ReferenceError, WALL_S, said, value_in};
use crate::cases::{DescribedOp, packed};
use backend::{JobOutput, KernelJob};
use manifest::Tolerance;
use verify::{DType, Mismatch, ValueRange, compare_within, tolerance_from};

/// The program that is asked.
const PROGRAM: &str = "run.py";

/// A definition that fits a call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Definition {
    /// Operator type.
    pub operator: String,
    /// File of `templates/definitions` that it is in.
    pub file: String,
    /// What it computes, in one line.
    pub formula: String,
}

/// What a definition gives for a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Defined {
    /// The definition.
    pub definition: Definition,
    /// Outputs in the order of the job's; `None` for one that it says nothing about.
    pub outputs: Vec<Option<DefinedOutput>>,
}

/// A right output.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinedOutput {
    /// Raw bytes, rounded once to the output's dtype.
    pub bytes: Vec<u8>,
    /// How far each element may be off: infinitely where the interface says nothing about it. `None`: not at all.
    pub bounds: Option<Vec<f32>>,
    /// The relative tolerance that bounds were asked for by; 0 where none was.
    pub relative: f64,
    /// Elements that the interface says nothing about.
    pub unspecified: u64,
}

impl Defined {
    /// Whether the interface says nothing about an element of an output, which may then be left as it was. A definition that says nothing
    /// about any output does not count.
    pub fn says_nothing_of(&self, output: usize, element: usize) -> bool {
        match self.outputs.get(output) {
            Some(Some(right)) => {
                right.bounds.as_ref().and_then(|bounds| bounds.get(element)).is_some_and(|bound| bound.is_infinite())
            }
            Some(None) => self.outputs.iter().any(Option::is_some),
            None => false,
        }
    }
}

impl DefinedOutput {
    /// The sum of the sizes of the terms that an element is the sum of, as the definition counts them; 0 where that is not known.
    pub fn terms(&self, element: usize) -> f64 {
        let bound =
            self.bounds.as_ref().and_then(|bounds| bounds.get(element)).copied().filter(|bound| bound.is_finite());
        bound.filter(|_| self.relative > 0.0).map_or(0.0, |bound| f64::from(bound) / self.relative)
    }

    /// Compares what came out with what is right.
    pub fn agrees(&self, actual: &[u8], dtype: DType) -> Result<(), Mismatch> {
        compare_within(actual, &self.bytes, dtype, self.bounds.as_deref())
    }
}

/// What data of a tensor mean something, by the definition of its operator.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct DefinedData {
    /// Name of the input, or of an output that the operator adds to and its caller clears.
    pub tensor: String,
    /// Range that values are drawn from.
    #[serde(flatten)]
    pub range: Option<ValueRange>,
    /// Values, repeated to the end of the tensor, in place of a range.
    #[serde(default)]
    pub values: Vec<f64>,
}

/// What a definition says of a call before it is made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meant {
    /// Data that mean something, for those of its inputs that may not hold just anything.
    pub data: Vec<DefinedData>,
    /// The inputs that an operator changes which defines no output: they are what comes out.
    pub changed: Vec<String>,
}

#[derive(Deserialize)]
struct Answer {
    definition: Definition,
    outputs: Vec<Option<AnsweredOutput>>,
    data: Vec<DefinedData>,
    changed: Vec<String>,
}

#[derive(Deserialize)]
struct AnsweredOutput {
    file: String,
    bounds: Option<String>,
    unspecified: u64,
}

impl Python {
    /// The definition that fits a call, by its dtypes, attributes and inputs; its data need not be there.
    pub async fn match_definition(&self, op: &DescribedOp, job: &KernelJob) -> Result<Definition, ReferenceError> {
        let directory = self.directory_with_definitions()?;
        Ok(self.ask_one("match", op, job, directory.path()).await?.definition)
    }

    /// What the definition that fits a call says of its data.
    pub async fn meant_by_definition(&self, op: &DescribedOp, job: &KernelJob) -> Result<Meant, ReferenceError> {
        let directory = self.directory_with_definitions()?;
        let answer = self.ask_one("data", op, job, directory.path()).await?;
        Ok(Meant { data: answer.data, changed: answer.changed })
    }

    /// Right outputs of a call by its definition. `tolerance` overrides that of an output's dtype.
    pub async fn define(
        &self,
        op: &DescribedOp,
        job: &KernelJob,
        tolerance: &dyn Fn(DType) -> Option<Tolerance>,
    ) -> Result<Defined, ReferenceError> {
        self.compute(&[request(op, job, tolerance)]).await?.pop().unwrap_or_else(|| Err(no_answer()))
    }

    /// The same for several calls in one process, which takes longer to start than to answer most of them.
    pub async fn define_all(
        &self,
        calls: &[(DescribedOp, KernelJob)],
        tolerance: &dyn Fn(DType) -> Option<Tolerance>,
    ) -> Vec<Result<Defined, ReferenceError>> {
        let requests: Vec<Value> = calls.iter().map(|(op, job)| request(op, job, tolerance)).collect();
        match self.compute(&requests).await {
            Ok(answers) if answers.len() == requests.len() => answers,
            // One that never ends, or that brings the process down, is to blame for itself alone.
            _ => {
                let mut answers = Vec::with_capacity(requests.len());
                for request in &requests {
                    let answer = self.compute(std::slice::from_ref(request)).await;
                    answers.push(answer.and_then(|mut one| one.pop().unwrap_or_else(|| Err(no_answer()))));
                }
                answers
            }
        }
    }

    /// What definitions give for requests, in their order. An error concerns them all.
    async fn compute(&self, requests: &[Value]) -> Result<Vec<Result<Defined, ReferenceError>>, ReferenceError> {
        let directory = self.directory_with_definitions()?;
        let answers = self.answers("compute", requests, directory.path()).await?;
        let defined = |(answer, request)| said(answer).and_then(|one| defined(one, request, directory.path()));
        Ok(answers.into_iter().zip(requests).map(defined).collect())
    }

    async fn ask_one(
        &self,
        mode: &str,
        op: &DescribedOp,
        job: &KernelJob,
        directory: &Path,
    ) -> Result<Answer, ReferenceError> {
        let mut answers = self.answers(mode, &[request(op, job, &|_| None)], directory).await?;
        answers.pop().map_or_else(|| Err(no_answer()), said)
    }

    async fn answers(&self, mode: &str, requests: &[Value], directory: &Path) -> Result<Vec<Value>, ReferenceError> {
        let wall_s = WALL_S * requests.len() as f64;
        let answer = self.answer(packed::text(PROGRAM), mode, &Value::from(requests), directory, wall_s).await?;
        let Value::Array(answers) = answer else { return Err(no_answer()) };
        Ok(answers)
    }

    fn directory_with_definitions(&self) -> Result<tempfile::TempDir, ReferenceError> {
        let directory = self.directory()?;
        for (name, text) in packed::programs() {
            fs_err::write(directory.path().join(name), text).map_err(|error| ReferenceError::Run(error.to_string()))?;
        }
        Ok(directory)
    }
}

fn no_answer() -> ReferenceError {
    ReferenceError::Run("definitions give no answer".to_owned())
}

/// What a definition gives for a request, from the files that an answer names.
fn defined(answer: Answer, request: &Value, directory: &Path) -> Result<Defined, ReferenceError> {
    let read =
        |file: &String| fs_err::read(directory.join(file)).map_err(|error| ReferenceError::Run(error.to_string()));
    let output = |place: usize, answered: AnsweredOutput| {
        let relative = request["outputs"][place]["tolerance"]["relative"].as_f64().unwrap_or(0.0);
        let bounds = answered.bounds.as_ref().map(|file| read(file).map(|bytes| singles(&bytes))).transpose()?;
        Ok(DefinedOutput { bytes: read(&answered.file)?, bounds, relative, unspecified: answered.unspecified })
    };
    let outputs = answer.outputs.into_iter().enumerate();
    let outputs = outputs.map(|(place, one)| one.map(|answered| output(place, answered)).transpose());
    Ok(Defined { definition: answer.definition, outputs: outputs.collect::<Result<_, _>>()? })
}

fn singles(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).filter_map(|four| four.try_into().ok().map(f32::from_le_bytes)).collect()
}

fn request(op: &DescribedOp, job: &KernelJob, tolerance: &dyn Fn(DType) -> Option<Tolerance>) -> Value {
    let inputs: Vec<Value> = op
        .inputs
        .iter()
        .map(|found| {
            let given = job.inputs.iter().filter(|input| input.name == found.name);
            let instances: Vec<Value> = given
                .map(|input| {
                    json!({ "file": input.file, "dtype": dtype_name(&input.dtype), "shape": input.shape, "format": input.format })
                })
                .collect();
            json!({ "name": found.name, "dynamic": found.param.eq_ignore_ascii_case("dynamic"), "instances": instances })
        })
        .collect();
    let attributes: Vec<Value> =
        op.attrs.iter().map(|found| json!({ "name": found.name, "value": value_in(job, found) })).collect();
    let outputs: Vec<Value> = job.outputs.iter().map(|output| output_of(job, output, tolerance)).collect();
    json!({ "operator": op.kind, "inputs": inputs, "attributes": attributes, "outputs": outputs })
}

fn output_of(job: &KernelJob, output: &JobOutput, tolerance: &dyn Fn(DType) -> Option<Tolerance>) -> Value {
    let inputs = job.inputs.iter().filter_map(|input| input.dtype.parse().ok());
    let dtype = output.dtype.parse::<DType>().ok();
    let tolerance = dtype.map(|dtype| tolerance(dtype).unwrap_or_else(|| tolerance_from(dtype, inputs)));
    let (relative, absolute) = tolerance.map_or((0.0, 0.0), |one| (one.relative, one.absolute));
    json!({
        "name": output.name, "dtype": dtype_name(&output.dtype), "shape": output.shape, "format": output.format,
        "tolerance": { "relative": relative, "absolute": absolute },
    })
}

/// The name that definitions know a dtype by; operators have several for some.
fn dtype_name(name: &str) -> String {
    name.parse::<DType>().map_or_else(|_| name.to_owned(), |dtype| dtype.to_string())
}

#[cfg(test)]
mod tests;
