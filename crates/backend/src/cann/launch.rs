//! A job and what the simulator says of it, as a launch on a device.

use std::path::Path;

use ::cann::KernelObject;
use ::cann::launcher::{LaunchInput, LaunchJob, LaunchOutput, LaunchParameter, Listed};
use ::cann::replay::{Replay, ReplayTensor};

use super::super::execution::{CallOutput, Execution, KernelCall, Parameter, RunFailure};
use super::super::job::{JobInput, KernelJob};
use verify::DType;

/// A launch on a device, whichever way it is made.
#[derive(Clone, Debug)]
pub(super) struct DeviceLaunch {
    /// What is launched.
    pub object: KernelObject,
    /// Key that selects the kernel.
    pub tiling_key: u64,
    job: LaunchJob,
    tensors: Vec<Option<ReplayTensor>>,
    outputs: Vec<ReplayTensor>,
}

/// Bytes that tiling data are rounded up to on a device; kernels may read the padding.
const TILING_STEP: usize = 8;

impl DeviceLaunch {
    /// The launch that a job is, with the tiling that was decided on the simulator. Outputs go into a folder.
    pub fn of(job: &KernelJob, ran: &Execution, object: KernelObject, folder: &Path) -> Result<Self, RunFailure> {
        if ran.call.writes_shapes {
            let why =
                "the kernel writes shapes of its outputs, which are known only then; this is not launched on a device";
            return Err(RunFailure::NoDevice(why.to_owned()));
        }
        let inputs = in_order_of_parameters(job, &ran.call);
        let mut outputs = Vec::new();
        for (place, output) in ran.call.tensors.iter().enumerate() {
            outputs.push(LaunchOutput {
                bytes: output.bytes,
                file: if job.timing_only { Default::default() } else { folder.join(format!("output-{place}.bin")) },
                in_place: twin_of(output, before(&ran.call.tensors[..place], &output.name), &inputs),
                initial: output.initial.clone(),
            });
        }
        let given = inputs.iter().map(|input| match job.timing_only {
            true => bytes_of(input).map(LaunchInput::Bytes),
            false => Ok(LaunchInput::File(input.file.clone())),
        });
        let given = given.collect::<Result<Vec<_>, _>>()?;
        let shapes = inputs.iter().map(|input| input.shape.clone());
        let passed = parameters(&ran.call.inputs, given.into_iter().zip(shapes));
        let shapes = ran.call.tensors.iter().map(|output| output.dims.clone());
        let returned = parameters(&ran.call.outputs, outputs.into_iter().zip(shapes));
        // The profiler's text has a name for every tensor and knows no lists: what it cannot say is refused before it is asked.
        let mut of_inputs = inputs.iter();
        let tensors = ran.call.inputs.iter().map(|parameter| {
            (parameter.tensors > 0).then(|| of_inputs.next()).flatten().map(|input| ReplayTensor {
                name: input.name.clone(),
                dtype: input.dtype.clone(),
                shape: input.shape.clone(),
                file: input.file.clone(),
            })
        });
        let tensors = tensors.collect();
        let replayed = ran.call.tensors.iter().zip(&job.outputs).map(|(output, asked)| ReplayTensor {
            name: output.name.clone(),
            dtype: asked.dtype.clone(),
            shape: output.dims.clone(),
            file: Default::default(),
        });
        let mut tiling = ran.tiling.tiling_hex.clone();
        while !tiling.len().is_multiple_of(2 * TILING_STEP) {
            tiling.push_str("00");
        }
        let job = LaunchJob {
            id: object.path.display().to_string(),
            blocks: ran.tiling.block_dim,
            sync_address: object.intercore_sync,
            inputs: passed,
            outputs: returned,
            workspace: ran.tiling.workspace_bytes,
            tiling,
            poison: job.poison,
        };
        let outputs = replayed.collect();
        Ok(Self { object, tiling_key: ran.tiling.tiling_key, job, tensors, outputs })
    }

    /// As our launcher takes it; under a name that tells kernels of one object apart.
    pub fn job(&self) -> LaunchJob {
        LaunchJob { id: self.id(), ..self.job.clone() }
    }

    /// What its kernel is called in the launcher.
    pub fn id(&self) -> String {
        format!("{}#{}", self.job.id, self.tiling_key)
    }

    /// As the profiler replays it; tiling data go into a folder.
    pub fn replay(&self, folder: &Path) -> Result<Replay, RunFailure> {
        if let Some(why) = self.not_sayable() {
            return Err(RunFailure::NoDevice(why.to_owned()));
        }
        let broken = |error: std::io::Error| RunFailure::Broken(error.to_string());
        let tiling: Vec<u8> = (0..self.job.tiling.len() / 2)
            .filter_map(|byte| u8::from_str_radix(self.job.tiling.get(2 * byte..2 * byte + 2)?, 16).ok())
            .collect();
        let tiling_file = folder.join("tiling.bin");
        fs_err::write(&tiling_file, &tiling).map_err(broken)?;
        Ok(Replay {
            inputs: self.tensors.clone(),
            outputs: self.outputs.clone(),
            workspace_bytes: self.job.workspace,
            tiling_file,
            tiling_bytes: tiling.len() as u64,
            tiling_key: self.tiling_key,
            blocks: self.job.blocks,
            // What is visible to the child is counted from 0.
            device: 0,
            output_folder: folder.join("outputs"),
        })
    }

    /// Outputs as our launcher has left them.
    pub fn outputs(&self) -> Result<Vec<Vec<u8>>, RunFailure> {
        let written = self.launched_outputs().filter(|output| !output.file.as_os_str().is_empty());
        written
            .map(|output| fs_err::read(&output.file).map_err(|error| RunFailure::Broken(error.to_string())))
            .collect()
    }

    fn launched_outputs(&self) -> impl Iterator<Item = &LaunchOutput> {
        self.job.outputs.iter().flatten().flat_map(LaunchParameter::tensors)
    }

    /// Why the profiler's text cannot say it: what it would run is another launch, which may never end.
    fn not_sayable(&self) -> Option<&'static str> {
        let in_lists = self.job.inputs.iter().flatten().any(LaunchParameter::is_list);
        if in_lists || self.job.outputs.iter().flatten().any(LaunchParameter::is_list) {
            return Some("a parameter is a list of tensors, which the profiler's text cannot say");
        }
        let left_out = self.job.outputs.iter().any(Option::is_none);
        left_out.then_some("an output is left out, which the profiler's text cannot say")
    }

    /// Why the profiler cannot replay it with right outputs.
    pub fn not_replayable(&self) -> Option<&'static str> {
        if let Some(why) = self.not_sayable() {
            return Some(why);
        }
        if self.launched_outputs().any(|output| output.in_place >= 0) {
            return Some("it changes an input in place, and the profiler runs a kernel several times");
        }
        self.launched_outputs()
            .any(|output| !output.initial.is_empty())
            .then_some("it counts on outputs that are filled before the launch")
    }

    /// Object of the dtypes of a job, out of those that a build left.
    pub fn object_for(objects: &[KernelObject], job: &KernelJob) -> Result<KernelObject, RunFailure> {
        match objects {
            [only] => Ok(only.clone()),
            [] => Err(RunFailure::Refused(format!("the toolkit's build leaves no kernel object of {}", job.operator))),
            several => {
                let wanted: Vec<&str> = job.inputs.iter().map(|input| input.dtype.as_str()).collect();
                let fits = |object: &&KernelObject| object.fits(&wanted);
                several.iter().find(fits).cloned().ok_or_else(|| {
                    RunFailure::Refused(format!(
                        "none of the {} kernel objects that the toolkit's build leaves of {} is for inputs of {}",
                        several.len(),
                        job.operator,
                        wanted.join(", ")
                    ))
                })
            }
        }
    }
}

/// Inputs of a job in the order in which the kernel's parameters take them.
fn in_order_of_parameters<'job>(job: &'job KernelJob, call: &KernelCall) -> Vec<&'job JobInput> {
    let mut inputs = Vec::new();
    for parameter in &call.inputs {
        let named = job.inputs.iter().filter(|input| input.name == parameter.name);
        inputs.extend(named.take(parameter.tensors as usize));
    }
    inputs
}

/// How many tensors of a name there are.
fn before(tensors: &[CallOutput], name: &str) -> usize {
    tensors.iter().filter(|tensor| tensor.name == name).count()
}

/// The input that an output is, by its place: the one of its name, and of its place among those of that name; -1 where none is of
/// its size.
fn twin_of(output: &CallOutput, place: usize, inputs: &[&JobInput]) -> i64 {
    let named = inputs.iter().enumerate().filter(|(_, input)| input.name == output.name);
    let twin = named.skip(place).map(|(at, input)| (at, bytes_of(input).ok())).next();
    twin.filter(|(_, bytes)| *bytes == Some(output.bytes)).map_or(-1, |(at, _)| at as i64)
}

/// Tensors, with their shapes, as the parameters of a kernel.
fn parameters<Tensor>(
    parameters: &[Parameter],
    mut tensors: impl Iterator<Item = (Tensor, Vec<u64>)>,
) -> Vec<Option<LaunchParameter<Tensor>>> {
    let mut one = |parameter: &Parameter| {
        let taken = tensors.by_ref().take(parameter.tensors as usize);
        if parameter.dynamic {
            let list = taken.map(|(tensor, shape)| Listed { shape, tensor }).collect();
            return Some(LaunchParameter::List(list));
        }
        taken.last().map(|(tensor, _)| LaunchParameter::Tensor(tensor))
    };
    parameters.iter().map(&mut one).collect()
}

fn bytes_of(input: &JobInput) -> Result<u64, RunFailure> {
    let dtype: DType = input
        .dtype
        .parse()
        .map_err(|_| RunFailure::Misfit(format!("input {}: the size of {} is not known", input.name, input.dtype)))?;
    Ok(input.shape.iter().product::<u64>() * dtype.size_bytes() as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::super::execution::TilingDecision;
    use super::super::super::job::JobOutput;
    use super::*;
    use ::cann::Magic;

    fn object() -> KernelObject {
        KernelObject {
            path: "/cache/Add.o".into(),
            kernel_name: "Add".to_owned(),
            symbols: BTreeMap::new(),
            magic: Magic::Vector,
            tiling_bytes: 4,
            intercore_sync: true,
            dtypes: Vec::new(),
        }
    }

    fn job() -> (KernelJob, Execution) {
        let input = |name: &str| JobInput {
            name: name.to_owned(),
            dtype: "float16".to_owned(),
            format: "ND".to_owned(),
            shape: vec![8, 4],
            file: format!("/in/{name}.bin").into(),
        };
        let output = |name: &str| JobOutput {
            name: name.to_owned(),
            dtype: "float16".to_owned(),
            format: "ND".to_owned(),
            shape: None,
            initial: None,
        };
        let parameter = |name: &str, tensors| Parameter { name: name.to_owned(), dynamic: false, tensors };
        let tensor =
            |name: &str| CallOutput { name: name.to_owned(), dims: vec![8, 4], bytes: 64, initial: String::new() };
        let job = KernelJob {
            operator: "Add".to_owned(),
            inputs: vec![input("b"), input("a")],
            outputs: vec![output("y"), output("a")],
            poison: 165,
            ..KernelJob::default()
        };
        let call = KernelCall {
            inputs: vec![parameter("a", 1), parameter("mask", 0), parameter("b", 1)],
            outputs: vec![parameter("y", 1), parameter("a", 1)],
            tensors: vec![tensor("y"), tensor("a")],
            writes_shapes: false,
        };
        let tiling =
            TilingDecision { tiling_key: 7, block_dim: 40, tiling_hex: "01020304".to_owned(), workspace_bytes: 32 };
        (job, Execution { call, tiling, ..Execution::default() })
    }

    #[test]
    fn a_kernel_that_writes_shapes_is_not_launched() {
        let (job, mut ran) = job();
        ran.call.writes_shapes = true;
        let refused = DeviceLaunch::of(&job, &ran, object(), Path::new("/run")).unwrap_err();
        assert!(refused.to_string().contains("writes shapes of its outputs"), "{refused}");
    }

    #[test]
    fn parameters_stand_in_the_definitions_order_with_what_is_left_out() {
        let (job, ran) = job();
        let launch = DeviceLaunch::of(&job, &ran, object(), Path::new("/run")).unwrap();
        let made = launch.job();
        let file = |name: &str| Some(LaunchParameter::Tensor(LaunchInput::File(format!("/in/{name}.bin").into())));
        assert_eq!(made.inputs, [file("a"), None, file("b")]);
        assert_eq!((made.blocks, made.tiling.as_str(), made.workspace), (40, "0102030400000000", 32));
        assert!(made.sync_address);
        assert_eq!(places(&launch), [-1, 0]);
        assert_eq!(launch.id(), "/cache/Add.o#7");
        assert!(launch.not_replayable().unwrap().contains("in place"));
    }

    #[test]
    fn a_launch_that_is_only_timed_needs_no_data() {
        let (job, ran) = job();
        let job = KernelJob { timing_only: true, ..job };
        let made = DeviceLaunch::of(&job, &ran, object(), Path::new("/run")).unwrap().job();
        assert_eq!(made.inputs[0], Some(LaunchParameter::Tensor(LaunchInput::Bytes(64))));
        let files = made.outputs.iter().flatten().flat_map(LaunchParameter::tensors).map(|output| &output.file);
        assert!(files.into_iter().all(|file| file.as_os_str().is_empty()));
    }

    fn places(launch: &DeviceLaunch) -> Vec<i64> {
        launch.launched_outputs().map(|output| output.in_place).collect()
    }

    #[test]
    fn lists_of_tensors_have_one_parameter_and_are_in_place_one_by_one() {
        let (mut job, mut ran) = job();
        // Another size of the second one: that output has memory of its own.
        let second = JobInput { shape: vec![2, 4], file: "/in/a2.bin".into(), ..job.inputs[1].clone() };
        job.inputs.push(second);
        job.outputs.push(job.outputs[1].clone());
        ran.call.inputs[0] = Parameter { name: "a".to_owned(), dynamic: true, tensors: 2 };
        ran.call.outputs[1] = Parameter { name: "a".to_owned(), dynamic: true, tensors: 2 };
        ran.call.tensors.push(ran.call.tensors[1].clone());
        let launch = DeviceLaunch::of(&job, &ran, object(), Path::new("/run")).unwrap();
        let made = launch.job();
        let listed = |file: &str, shape: &[u64]| Listed {
            shape: shape.to_vec(),
            tensor: LaunchInput::File(format!("/in/{file}.bin").into()),
        };
        let list = LaunchParameter::List(vec![listed("a", &[8, 4]), listed("a2", &[2, 4])]);
        let one = LaunchParameter::Tensor(LaunchInput::File("/in/b.bin".into()));
        assert_eq!(made.inputs, [Some(list), None, Some(one)]);
        assert_eq!(made.outputs.len(), 2, "a list is one parameter");
        assert_eq!(places(&launch), [-1, 0, -1]);
        assert!(launch.not_replayable().unwrap().contains("list of tensors"));
        // Nor for its times alone, where outputs do not matter: the profiler would run another launch.
        assert!(launch.replay(Path::new("/nowhere")).unwrap_err().to_string().contains("list of tensors"));
    }

    #[test]
    fn outputs_that_are_left_out_keep_their_place() {
        let (job, mut ran) = job();
        ran.call.outputs.insert(0, Parameter { name: "mask".to_owned(), dynamic: false, tensors: 0 });
        let launch = DeviceLaunch::of(&job, &ran, object(), Path::new("/run")).unwrap();
        let given: Vec<bool> = launch.job().outputs.iter().map(Option::is_some).collect();
        assert_eq!(given, [false, true, true]);
        assert!(launch.not_replayable().unwrap().contains("left out"));
    }
}
