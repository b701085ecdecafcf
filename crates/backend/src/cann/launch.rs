//! A job and what the simulator says of it, as a launch on a device.

use std::collections::BTreeMap;
use std::path::Path;

use ::cann::KernelObject;
use ::cann::launcher::{LaunchInput, LaunchJob, LaunchOutput};
use ::cann::replay::{Replay, ReplayTensor};

use super::super::execution::{Execution, RunFailure};
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
        let call = &ran.call;
        if let Some(list) = call.inputs.iter().chain(&call.outputs).find(|parameter| parameter.dynamic) {
            return Err(RunFailure::NoDevice(format!(
                "parameter {} of {} is a list of tensors, which no route to a device passes yet: tune it with --backend sim",
                list.name, job.operator
            )));
        }
        let mut given: BTreeMap<&str, &JobInput> = BTreeMap::new();
        for input in &job.inputs {
            given.entry(&input.name).or_insert(input);
        }
        let mut inputs = Vec::new();
        let mut tensors = Vec::new();
        for parameter in &call.inputs {
            let input = given.get(parameter.name.as_str()).filter(|_| parameter.tensors > 0);
            inputs.push(match input {
                None => None,
                Some(input) if job.timing_only => Some(LaunchInput::Bytes(bytes_of(input)?)),
                Some(input) => Some(LaunchInput::File(input.file.clone())),
            });
            tensors.push(input.map(|input| ReplayTensor {
                name: input.name.clone(),
                dtype: input.dtype.clone(),
                shape: input.shape.clone(),
                file: input.file.clone(),
            }));
        }
        let mut outputs = Vec::new();
        for (place, output) in call.tensors.iter().enumerate() {
            // An output with the name of an input is that input.
            let twin = call.inputs.iter().position(|parameter| parameter.name == output.name && parameter.tensors > 0);
            let same_size = twin.is_some_and(|twin| {
                tensors[twin].is_some()
                    && given.get(output.name.as_str()).and_then(|input| bytes_of(input).ok()) == Some(output.bytes)
            });
            outputs.push(LaunchOutput {
                bytes: output.bytes,
                file: if job.timing_only { Default::default() } else { folder.join(format!("output-{place}.bin")) },
                in_place: if same_size { twin.map_or(-1, |twin| twin as i64) } else { -1 },
                initial: output.initial.clone(),
            });
        }
        let replayed = call.tensors.iter().zip(&job.outputs).map(|(output, asked)| ReplayTensor {
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
            inputs,
            outputs,
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
        let written = self.job.outputs.iter().filter(|output| !output.file.as_os_str().is_empty());
        written
            .map(|output| fs_err::read(&output.file).map_err(|error| RunFailure::Broken(error.to_string())))
            .collect()
    }

    /// Why the profiler cannot replay it with right outputs.
    pub fn not_replayable(&self) -> Option<&'static str> {
        let outputs = &self.job.outputs;
        if outputs.iter().any(|output| output.in_place >= 0) {
            return Some("it changes an input in place, and the profiler runs a kernel several times");
        }
        outputs
            .iter()
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

fn bytes_of(input: &JobInput) -> Result<u64, RunFailure> {
    let dtype: DType = input
        .dtype
        .parse()
        .map_err(|_| RunFailure::Misfit(format!("input {}: the size of {} is not known", input.name, input.dtype)))?;
    Ok(input.shape.iter().product::<u64>() * dtype.size_bytes() as u64)
}

#[cfg(test)]
mod tests {
    use super::super::super::execution::{CallOutput, KernelCall, Parameter, TilingDecision};
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
        };
        let tiling =
            TilingDecision { tiling_key: 7, block_dim: 40, tiling_hex: "01020304".to_owned(), workspace_bytes: 32 };
        (job, Execution { call, tiling, ..Execution::default() })
    }

    #[test]
    fn parameters_stand_in_the_definitions_order_with_what_is_left_out() {
        let (job, ran) = job();
        let launch = DeviceLaunch::of(&job, &ran, object(), Path::new("/run")).unwrap();
        let made = launch.job();
        let file = |name: &str| Some(LaunchInput::File(format!("/in/{name}.bin").into()));
        assert_eq!(made.inputs, [file("a"), None, file("b")]);
        assert_eq!((made.blocks, made.tiling.as_str(), made.workspace), (40, "0102030400000000", 32));
        assert!(made.sync_address);
        assert_eq!(made.outputs.iter().map(|output| output.in_place).collect::<Vec<_>>(), [-1, 0]);
        assert_eq!(launch.id(), "/cache/Add.o#7");
        assert!(launch.not_replayable().unwrap().contains("in place"));
    }

    #[test]
    fn a_launch_that_is_only_timed_needs_no_data() {
        let (job, ran) = job();
        let job = KernelJob { timing_only: true, ..job };
        let made = DeviceLaunch::of(&job, &ran, object(), Path::new("/run")).unwrap().job();
        assert_eq!(made.inputs[0], Some(LaunchInput::Bytes(64)));
        assert!(made.outputs.iter().all(|output| output.file.as_os_str().is_empty()));
    }

    #[test]
    fn lists_of_tensors_are_refused_by_name() {
        let (job, mut ran) = job();
        ran.call.inputs[2].dynamic = true;
        let refused = DeviceLaunch::of(&job, &ran, object(), Path::new("/run")).unwrap_err();
        assert!(refused.to_string().contains("parameter b of Add is a list of tensors"), "{refused}");
        assert!(refused.is_of_machine(), "it says nothing about the candidate");
    }
}
