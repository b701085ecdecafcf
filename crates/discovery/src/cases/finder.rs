//! Which cases the tiling function accepts: it is called.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::beside::Beside;
use super::reference::{Array, DefinedData, Meant, Python, ReferenceError, ScriptCase, data_scripts, match_case};
use super::rescale::bytes_of;
use super::{
    Candidate, DescribedOp, Origin, ScriptData, by_definition, call, elements, example, grow, guess, list, python_test,
    shape_text, tiling_test, traffic_bytes, vary,
};
use crate::oracle::TilingExample;
use backend::{Backend, JobInput, JobOutput, KernelJob, Meter, RunFailure};
use manifest::{TensorSpec, ValueRange};
use project::snake_case;
use verify::{DType, DataKind, generate};

/// Guesses by rule, and at random after them.
const ORDERLY: usize = 150;
const RANDOM: usize = 350;

/// Processor time after which no further script is started.
const SCRIPTS_END: Duration = Duration::from_secs(30);

/// Bytes of an input that a tiling function may look into; no larger one is a list of sizes or places.
const MOST_LOOKED_AT: u64 = 64 << 10;

/// What is needed to find cases.
#[derive(Clone)]
pub struct Finder<'data> {
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
    pub backend: &'data dyn Backend,
    /// Runs scripts; nothing to leave them out.
    pub python: Option<&'data Python>,
    /// Traffic in bytes up to which a candidate's inputs have data. Larger ones are asked about and at most run without data:
    /// their files have a length and take no room.
    pub most_data_bytes: u64,
}

/// A case that the tiling function accepts.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// The case, with the shapes of its outputs.
    pub candidate: Candidate,
    /// The job, without kernel.
    pub job: KernelJob,
    /// Key that selects the kernel.
    pub tiling_key: u64,
    /// Cores that take part.
    pub block_dim: u32,
    /// Whether shape inference decided the shapes of the outputs.
    pub inferred: bool,
    /// Whether the definition of the operator's type holds for other calls and not for this one.
    pub outside: bool,
}

impl Accepted {
    /// Bytes of all inputs, and of all outputs as the operator makes them.
    pub fn bytes(&self) -> u64 {
        let inputs = self.candidate.inputs.iter().map(|input| bytes_of(&input.dtype, input.shape.as_deref()));
        let outputs = self.job.outputs.iter().map(|output| bytes_of(&output.dtype, output.shape.as_deref()));
        inputs.chain(outputs).fold(0, u64::saturating_add)
    }
}

/// Why a case cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The tiling function refuses it, or ends badly.
    #[error(transparent)]
    Call(#[from] RunFailure),
    /// A dtype that no data can be made of.
    #[error("dtype {0} cannot be made")]
    DType(String),
    /// Its data cannot be written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Refusal {
    /// Whether the tiling function did not return.
    pub fn is_endless(&self) -> bool {
        matches!(self, Refusal::Call(RunFailure::TilingTimedOut(_)))
    }
}

/// For which sizes of a case data by definition are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// For the shapes that it has.
    ItsShapes,
    /// For whatever it is made larger to: ranges only.
    AnySize,
}

/// Whether a case means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// The definition of the operator's type holds for it.
    Holds,
    /// The operator's type has a definition, which does not hold for it.
    HoldsNot,
    /// Nobody can tell.
    Unknown,
}

/// Cases for which a tiling function may fail to return before it is asked no more: one that does it for these does it for most,
/// and every further case would wait for its time limit.
pub const MOST_ENDLESS: usize = 3;

/// Groups of candidates in the order in which they are asked for: what comes later costs nothing until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Scripts that make data.
    Scripts,
    /// Tiling tests.
    Tests,
    /// Programs, documents and lists.
    Lists,
    /// Calls that the definition of its type is known to hold for.
    Definition,
    /// Guesses.
    Guesses,
}

impl Stage {
    /// All of them, in order.
    pub const ALL: [Stage; 5] = [Stage::Scripts, Stage::Tests, Stage::Lists, Stage::Definition, Stage::Guesses];
}

impl Finder<'_> {
    /// Candidates of one stage, and why scripts gave none, if that was the reason.
    pub async fn candidates(&self, stage: Stage) -> (Vec<Candidate>, Option<ReferenceError>) {
        match stage {
            Stage::Scripts => self.scripts().await,
            Stage::Tests => (tiling_test::candidates(self.op, self.examples), None),
            Stage::Lists => {
                let name = snake_case(&self.op.kind);
                let mut calls = match self.python {
                    // One whose tests cannot be run has no calls.
                    Some(python) => python_test::calls(python, self.directory, &name).await.unwrap_or_default(),
                    None => Vec::new(),
                };
                calls.extend(example::calls(self.directory, &self.op.kind));
                calls.extend(list::calls(self.directory, &name));
                (calls.iter().flat_map(|call| call::candidates(self.op, call)).collect(), None)
            }
            Stage::Definition => {
                let calls = by_definition::calls(&self.op.kind);
                let mut found: Vec<Candidate> = calls.iter().flat_map(|call| call::candidates(self.op, call)).collect();
                // They are as small as can be, which some tiling functions refuse.
                let rounded: Vec<Candidate> = found.iter().flat_map(grow::rounded).collect();
                found.extend(rounded);
                (found, None)
            }
            Stage::Guesses => {
                let mut found = guess::candidates(self.op);
                found.truncate(ORDERLY);
                found.extend(vary::candidates(self.op, RANDOM));
                (found, None)
            }
        }
    }

    /// A guess of a given shape for the leading input; `place` counts the dtypes of the definition.
    pub fn guess_of_shape(&self, shape: &[u64], place: usize) -> Option<Candidate> {
        guess::of_shape(self.op, shape, place)
    }

    async fn scripts(&self) -> (Vec<Candidate>, Option<ReferenceError>) {
        let (mut found, mut note) = (Vec::new(), None);
        let Some(python) = self.python else { return (found, note) };
        let meter = Meter::default();
        for script in data_scripts(self.directory) {
            // One that makes a lot of data is one too many.
            if meter.spent() > SCRIPTS_END {
                break;
            }
            let arrays = match meter.measure(python.data(&script)).await {
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
            let place = script.path.strip_prefix(self.directory).unwrap_or(&script.path).display().to_string();
            found.extend(match_case(self.op, &arrays).map(|case| self.of_script(case, format!("{place}:1"))));
        }
        if !found.is_empty() && !self.op.attrs.is_empty() {
            let calls = example::calls(self.directory, &self.op.kind);
            let programs: Vec<Candidate> = calls.iter().flat_map(|call| call::candidates(self.op, call)).collect();
            found.iter_mut().for_each(|candidate| take_attributes(candidate, &programs));
        }
        (found, note)
    }

    fn of_script(&self, case: ScriptCase, place: String) -> Candidate {
        let pick = |list: &[String], otherwise: &str| {
            list.get(case.combination).or_else(|| list.first()).cloned().unwrap_or_else(|| otherwise.to_owned())
        };
        let formats = |name: &str| {
            let found = self.op.inputs.iter().find(|found| found.name == *name);
            pick(found.map(|found| found.formats.as_slice()).unwrap_or_default(), "ND")
        };
        let inputs = case.inputs.iter().map(|(name, array)| TensorSpec {
            name: name.clone(),
            dtype: array.dtype.clone(),
            format: formats(name),
            shape: Some(array.shape.clone()),
            range: value_range_of(array).unwrap_or_else(|| super::value_range(name, &array.dtype)),
            values: Vec::new(),
        });
        let outputs = self.op.outputs.iter().map(|found| TensorSpec {
            name: found.name.clone(),
            dtype: pick(&found.dtypes, "float16"),
            format: pick(&found.formats, "ND"),
            shape: None,
            range: super::value_range(&found.name, "float16"),
            values: Vec::new(),
        });
        let (inputs, outputs): (Vec<TensorSpec>, Vec<TensorSpec>) = (inputs.collect(), outputs.collect());
        let output_shapes: Vec<Vec<u64>> = case.outputs.iter().map(|array| array.shape.clone()).collect();
        let beside = Beside::new(self.op, &inputs, &outputs, &output_shapes);
        let attributes = self.op.attrs.iter().filter_map(|found| beside.attribute(found)).collect();
        Candidate {
            origin: Origin::DataScript,
            place,
            inputs,
            outputs,
            output_shapes,
            attributes,
            data: Some(ScriptData {
                inputs: case.inputs.into_iter().map(|(_, array)| array).collect(),
                outputs: case.outputs,
            }),
            resized: false,
            assumed: false,
        }
    }

    /// Says which candidates [`Finder::ask`] is going to be asked for: together they take less time.
    pub async fn foresee(&self, candidates: &[Candidate]) {
        // What has no job is refused when its turn comes.
        let both = |candidate: &Candidate| candidate.with_inferred_outputs().into_iter().chain([candidate.clone()]);
        let jobs: Vec<KernelJob> = candidates.iter().flat_map(both).filter_map(|one| self.job(&one).ok()).collect();
        self.backend.foresee(&jobs).await;
    }

    /// Asks the tiling function.
    pub async fn ask(&self, candidate: &Candidate) -> Result<Accepted, Refusal> {
        if let Some(inferring) = candidate.with_inferred_outputs() {
            let mut job = self.job(&inferring)?;
            if let Ok((decision, dims)) = self.backend.tile(&job).await
                && dims == inferring.output_shapes
            {
                job.outputs.iter_mut().zip(dims).for_each(|(output, dims)| output.shape = Some(dims));
                let (tiling_key, block_dim) = (decision.tiling_key, decision.block_dim);
                return Ok(Accepted {
                    candidate: inferring,
                    job,
                    tiling_key,
                    block_dim,
                    inferred: true,
                    outside: false,
                });
            }
        }
        let mut job = self.job(candidate)?;
        if let Some(shape) = candidate.shape_in_values() {
            // Callers bring outputs of their own; what is inferred may be anything, such as the shape of the shape.
            job.outputs.iter_mut().for_each(|output| output.shape = Some(shape.to_vec()));
        }
        let (tiling_key, block_dim, inferred) = self.tile(&mut job, &candidate.output_shapes).await?;
        let mut candidate = candidate.clone();
        if inferred && !candidate.has_sized_input() {
            // Nothing else says how large such a case is.
            candidate.output_shapes = job.outputs.iter().filter_map(|output| output.shape.clone()).collect();
        }
        Ok(Accepted { candidate, job, tiling_key, block_dim, inferred, outside: false })
    }

    fn job(&self, candidate: &Candidate) -> Result<KernelJob, Refusal> {
        Ok(KernelJob {
            operator: self.op.kind.clone(),
            host: self.host.to_owned(),
            inputs: self.inputs(candidate)?,
            outputs: candidate.outputs.iter().map(output).collect(),
            attributes: candidate.attributes.clone(),
            ..KernelJob::default()
        })
    }

    /// An accepted case with data that mean something to the definition of the operator's type, where one fits the case, says anything
    /// of its inputs' values, and the tiling function takes them too; else as it is.
    pub async fn with_meaning(&self, accepted: Accepted, reach: Reach) -> Accepted {
        let Some(python) = self.python.filter(|_| accepted.candidate.data.is_none()) else { return accepted };
        let Ok(meant) = python.meant_by_definition(self.op, &accepted.job).await else { return accepted };
        let mut candidate = accepted.candidate.clone();
        take_up(&mut candidate, &meant, reach);
        if candidate == accepted.candidate { accepted } else { self.ask(&candidate).await.unwrap_or(accepted) }
    }

    /// Whether an accepted case means something to the definition of the operator's type. Tiling functions accept much that does not:
    /// their own tests have shapes that no caller would put together.
    pub async fn sense(&self, accepted: &Accepted) -> Sense {
        self.senses(&[accepted]).await.pop().unwrap_or(Sense::Unknown)
    }

    /// The same for several cases.
    pub async fn senses(&self, accepted: &[&Accepted]) -> Vec<Sense> {
        let unknown = || vec![Sense::Unknown; accepted.len()];
        let Some(python) = self.python.filter(|_| accepted.iter().all(|one| one.candidate.data.is_none())) else {
            return unknown();
        };
        let calls: Vec<_> = accepted.iter().map(|one| (self.op.clone(), one.job.clone())).collect();
        let said = python.define_all(&calls, &|_| None).await;
        let sense = |said: Result<_, ReferenceError>| match said {
            Ok(_) => Sense::Holds,
            // A definition that stumbles over a call was not made for it.
            Err(ReferenceError::Unmatched(_) | ReferenceError::Script(_)) => Sense::HoldsNot,
            Err(_) => Sense::Unknown,
        };
        said.into_iter().map(sense).collect()
    }

    /// Runs shape inference and tiling, and takes over the inferred shapes. `otherwise` has the shapes of outputs where
    /// nothing infers them, or where what is inferred is refused; where it is empty too, outputs are taken to look like the
    /// first input.
    async fn tile(&self, job: &mut KernelJob, otherwise: &[Vec<u64>]) -> Result<(u64, u32, bool), RunFailure> {
        let mut outcome = self.backend.tile(job).await;
        let uninferred = outcome.as_ref().is_err_and(lacks_shape);
        let alike = match job.inputs.first() {
            Some(input) if uninferred && otherwise.is_empty() => {
                // Of as many tensors in a list as there are outputs, each looks like its own.
                let list = job.inputs.iter().take_while(|other| other.name == input.name);
                let shapes: Vec<_> = list.map(|other| other.shape.clone()).collect();
                let several = job.outputs.len() > 1 && shapes.len() == job.outputs.len();
                if several { shapes } else { vec![input.shape.clone(); job.outputs.len()] }
            }
            _ => Vec::new(),
        };
        let otherwise = if alike.is_empty() { otherwise } else { alike.as_slice() };
        let refused = match &outcome {
            Err(RunFailure::Tiling(_)) => true,
            Err(failure) => lacks_shape(failure),
            Ok(_) => false,
        };
        if refused && otherwise.len() == job.outputs.len() && job.outputs.iter().any(|output| output.shape.is_none()) {
            let inferred: Vec<Option<Vec<u64>>> = job.outputs.iter().map(|output| output.shape.clone()).collect();
            for (output, shape) in job.outputs.iter_mut().zip(otherwise) {
                output.shape = Some(shape.clone());
            }
            let again = self.backend.tile(job).await;
            if again.is_ok() || !matches!(outcome, Err(RunFailure::Tiling(_))) {
                outcome = again;
            } else {
                job.outputs.iter_mut().zip(inferred).for_each(|(output, shape)| output.shape = shape);
            }
        }
        let (decision, dims) = outcome?;
        let inferred = job.outputs.iter().all(|output| output.shape.is_none());
        for (output, dims) in job.outputs.iter_mut().zip(dims) {
            output.shape = Some(dims);
        }
        Ok((decision.tiling_key, decision.block_dim, inferred))
    }

    /// Writes the data of the inputs, each combination of position, dtype, shape and values once.
    fn inputs(&self, candidate: &Candidate) -> Result<Vec<JobInput>, Refusal> {
        let folder = match candidate.data {
            Some(_) => self.data.join("own"),
            None => self.data.clone(),
        };
        fs_err::create_dir_all(&folder)?;
        let without_data = traffic_bytes(candidate) > self.most_data_bytes;
        let mut result = Vec::new();
        for (position, spec) in candidate.inputs.iter().enumerate() {
            let given = candidate.data.as_ref().and_then(|data| data.inputs.get(position));
            let file = match given {
                Some(array) => {
                    let file = folder.join(format!("{position}-{}.bin", blake3::hash(&array.bytes).to_hex()));
                    fs_err::write(&file, &array.bytes)?;
                    file
                }
                None => written(&folder, position, spec, without_data)?,
            };
            result.push(JobInput {
                name: spec.name.clone(),
                dtype: spec.dtype.clone(),
                format: spec.format.clone(),
                shape: spec.shape.clone().unwrap_or_default(),
                file,
            });
        }
        Ok(result)
    }
}

/// Whether shape inference is missing or says no, so that others may say what outputs look like.
fn lacks_shape(failure: &RunFailure) -> bool {
    matches!(failure, RunFailure::Refused(message) | RunFailure::Misfit(message) if message.contains("shape inference"))
}

/// A script makes the data of a program, which says the attributes: those of the first program with inputs of the same shapes.
fn take_attributes(candidate: &mut Candidate, programs: &[Candidate]) {
    let shapes = |candidate: &Candidate| -> Vec<(String, Option<Vec<u64>>)> {
        candidate.inputs.iter().map(|spec| (spec.name.clone(), spec.shape.clone())).collect()
    };
    let wanted = shapes(candidate);
    if let Some(program) = programs.iter().find(|program| shapes(program) == wanted) {
        candidate.attributes.clone_from(&program.attributes);
    }
}

/// Smallest and largest value of what a script made, where they are finite.
fn value_range_of(array: &Array) -> Option<manifest::ValueRange> {
    let values = array.dtype.parse::<DType>().ok()?.elements(&array.bytes);
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Whole numbers are drawn below the upper end.
    let high = if array.dtype.contains("int") || array.dtype == "bool" { high + 1.0 } else { high };
    (low.is_finite() && high.is_finite()).then_some(manifest::ValueRange { low, high })
}

fn output(spec: &TensorSpec) -> JobOutput {
    JobOutput {
        name: spec.name.clone(),
        dtype: spec.dtype.clone(),
        format: spec.format.clone(),
        shape: spec.shape.clone(),
        initial: spec.values.first().copied(),
    }
}

/// The file with an input's data, each combination of position, dtype, shape and values once; a large one that is not to have
/// data has only its length.
fn written(folder: &Path, position: usize, spec: &TensorSpec, without_data: bool) -> Result<PathBuf, Refusal> {
    let shape = spec.shape.as_deref().unwrap_or_default();
    let numbers: Vec<u8> =
        [spec.range.low, spec.range.high].iter().chain(&spec.values).flat_map(|value| value.to_le_bytes()).collect();
    let digest = blake3::hash(&numbers).to_hex();
    let length = input_length(spec, elements(shape))?;
    let empty = without_data && length > MOST_LOOKED_AT;
    let kind = if empty { "-empty" } else { "" };
    let file = folder.join(format!("{position}-{}-{}-{}{kind}.bin", spec.dtype, shape_text(shape), &digest[..12]));
    match file.exists() {
        true => {}
        false if empty => fs_err::File::create(&file)?.set_len(length)?,
        false => fs_err::write(&file, input_bytes(spec, elements(shape) as usize, position as u64)?)?,
    }
    Ok(file)
}

/// Bytes of an input of so many elements.
fn input_length(spec: &TensorSpec, elements: u64) -> Result<u64, Refusal> {
    let dtype = spec.dtype.parse::<DType>().map_err(|_| Refusal::DType(spec.dtype.clone()))?;
    let read_as_one = if dtype == DType::Int4 { elements.div_ceil(2) } else { elements };
    Ok(read_as_one.saturating_mul(dtype.size_bytes() as u64))
}

fn input_bytes(spec: &TensorSpec, elements: usize, stream: u64) -> Result<Vec<u8>, Refusal> {
    let dtype = spec.dtype.parse::<DType>().map_err(|_| Refusal::DType(spec.dtype.clone()))?;
    Ok(generate(spec, dtype, elements, 1, stream, DataKind::Random))
}

/// The candidate with all its inputs compared: of an operator that defines no output some of them hold what it gives, and the others
/// must stay what they were.
pub fn with_inputs_compared(mut candidate: Candidate) -> Candidate {
    compare(&mut candidate, |_| true);
    candidate
}

/// Makes outputs of those inputs that an operator may change.
fn compare(candidate: &mut Candidate, may_change: impl Fn(&TensorSpec) -> bool) {
    let changed = candidate.inputs.iter().filter(|spec| may_change(spec));
    candidate.outputs = changed.map(|spec| TensorSpec { values: Vec::new(), ..spec.clone() }).collect();
}

/// Puts data that mean something into a case.
fn take_up(candidate: &mut Candidate, meant: &Meant, reach: Reach) {
    if candidate.outputs.is_empty() {
        compare(candidate, |spec| meant.changed.contains(&spec.name));
    }
    let data_of = |spec: &TensorSpec| meant.data.iter().find(|data| data.tensor == spec.name);
    let most_values = if reach == Reach::ItsShapes { usize::MAX } else { 0 };
    for spec in &mut candidate.inputs {
        let Some(data) = data_of(spec) else { continue };
        match data.values[..] {
            // One number for all elements is so at any size.
            [value] if spec.shape.as_deref().is_some_and(|shape| elements(shape) != 1) => {
                spec.range = ValueRange { low: value, high: value };
                spec.values.clear();
            }
            _ if data.values.len() <= most_values => take(spec, data),
            _ => {}
        }
    }
    // What an output holds before is one number; the values of an input that is changed in place are the input's.
    for spec in &mut candidate.outputs {
        if let Some(data) = data_of(spec).filter(|data| data.values.len() <= 1) {
            take(spec, data);
        }
    }
}

fn take(spec: &mut TensorSpec, data: &DefinedData) {
    spec.range = data.range.unwrap_or(spec.range);
    spec.values.clone_from(&data.values);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_an_input_that_is_changed_in_place_are_not_those_of_its_output() {
        let tensor = |name: &str| TensorSpec {
            name: name.into(),
            dtype: "int32".into(),
            format: "ND".into(),
            shape: Some(vec![8]),
            range: manifest::ValueRange { low: 0.0, high: 9.0 },
            values: Vec::new(),
        };
        let mut candidate = Candidate::guessed(vec![tensor("counts")], Vec::new(), Vec::new(), Vec::new());
        candidate.outputs = vec![tensor("counts"), tensor("sum")];
        let data =
            |name: &str, values: &[f64]| DefinedData { tensor: name.into(), range: None, values: values.to_vec() };
        let meant = Meant { data: vec![data("counts", &[3.0, 1.0]), data("sum", &[0.0])], changed: Vec::new() };
        let values = |candidate: &Candidate| {
            let all = candidate.inputs.iter().chain(&candidate.outputs);
            all.map(|spec| spec.values.clone()).collect::<Vec<_>>()
        };
        let mut larger = candidate.clone();
        take_up(&mut candidate, &meant, Reach::ItsShapes);
        assert_eq!(values(&candidate), [vec![3.0, 1.0], vec![], vec![0.0]]);
        take_up(&mut larger, &meant, Reach::AnySize);
        assert_eq!(values(&larger), [vec![], vec![], vec![0.0]], "what a larger case holds is not known");
    }

    #[test]
    fn an_input_that_holds_one_number_holds_it_at_any_size() {
        let row = TensorSpec {
            name: "y".into(),
            dtype: "float16".into(),
            format: "ND".into(),
            shape: Some(vec![4, 300]),
            range: ValueRange { low: 0.1, high: 1.0 },
            values: Vec::new(),
        };
        let mut cleared = Candidate::guessed(vec![row.clone()], vec![row], Vec::new(), Vec::new());
        let data = vec![DefinedData { tensor: "y".into(), range: None, values: vec![0.0] }];
        take_up(&mut cleared, &Meant { data, changed: Vec::new() }, Reach::AnySize);
        assert_eq!((cleared.inputs[0].range.high, cleared.inputs[0].values.len()), (0.0, 0));
        assert_eq!(cleared.outputs[0].values, [0.0]);
    }

    #[test]
    fn what_comes_out_counts_as_the_operator_makes_it() {
        let row = TensorSpec {
            name: "x".into(),
            dtype: "float32".into(),
            format: "ND".into(),
            shape: Some(vec![4]),
            range: manifest::ValueRange { low: 0.0, high: 1.0 },
            values: Vec::new(),
        };
        let square = JobOutput { shape: Some(vec![4, 4]), ..output(&TensorSpec { name: "y".into(), ..row.clone() }) };
        let accepted = Accepted {
            candidate: Candidate::guessed(vec![row], Vec::new(), Vec::new(), Vec::new()),
            job: KernelJob { outputs: vec![square], ..KernelJob::default() },
            tiling_key: 0,
            block_dim: 1,
            inferred: true,
            outside: false,
        };
        assert_eq!(accepted.bytes(), 16 + 64);
    }

    #[test]
    fn a_large_input_that_is_only_asked_about_takes_no_room() {
        use std::os::unix::fs::MetadataExt;

        let folder = tempfile::tempdir().unwrap();
        for (dtype, bytes) in [("float32", 32 << 20), ("int4", 4 << 20), ("complex64", 64 << 20)] {
            let range = manifest::ValueRange { low: 1.0, high: 2.0 };
            let shape = Some(vec![8192, 1024]);
            let spec = TensorSpec {
                name: "x".into(),
                dtype: dtype.into(),
                format: "ND".into(),
                shape,
                range,
                values: Vec::new(),
            };
            let asked = fs_err::metadata(written(folder.path(), 0, &spec, true).unwrap()).unwrap();
            assert_eq!((asked.len(), asked.blocks()), (bytes, 0), "{dtype}");
            let small = TensorSpec { shape: Some(vec![64, 64]), ..spec };
            let looked_at = written(folder.path(), 0, &small, true).unwrap();
            let data = fs_err::read(&looked_at).unwrap();
            assert!(data.iter().any(|byte| *byte != 0), "a tiling function may look into a small one");
            assert_eq!(looked_at, written(folder.path(), 0, &small, false).unwrap());
            assert_eq!(data.len() as u64 * 2048, bytes, "{dtype}");
        }
    }
}
