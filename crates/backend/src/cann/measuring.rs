//! The backend: the simulator decides and judges, devices run and time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::cann::profiler::{CoreUnit, KernelLaunch};
use aicore::{Origin, PipeTimes};

use super::super::execution::{DeviceTime, Execution, RunFailure, Tiled};
use super::super::job::{Description, KernelJob, ProgramJob};
use super::super::scratch::ScratchDirectory;
use super::super::seam::{Answer, Backend, Capabilities, ToCome};
use super::super::sim::SimBackend;
use super::super::tape::{Tape, question, question_of_program};
use super::fleet::{Fleet, Pin};
use super::launch::DeviceLaunch;
use super::learned::Learned;
use super::objects::BuiltOnce;
use super::options::Told;
use super::program::ProgramLaunch;

/// Runs candidates on the simulator first, and on a device what is left of them.
#[derive(Clone, Debug)]
pub struct CannBackend {
    simulator: SimBackend,
    fleet: Arc<Fleet>,
    objects: Arc<BuiltOnce>,
    learned: Arc<Learned>,
    tape: Arc<Tape>,
    pin: Option<Arc<Pin>>,
    profiled: bool,
}

impl CannBackend {
    /// A backend over a fleet; `objects` builds for it.
    pub fn new(simulator: SimBackend, fleet: Arc<Fleet>, objects: BuiltOnce) -> Self {
        Self {
            simulator,
            fleet,
            objects: Arc::new(objects),
            learned: Arc::default(),
            tape: Arc::default(),
            pin: None,
            profiled: false,
        }
    }

    /// What this run has learnt of the model.
    pub fn learned(&self) -> Arc<Learned> {
        Arc::clone(&self.learned)
    }

    /// Its devices.
    pub fn fleet(&self) -> Arc<Fleet> {
        Arc::clone(&self.fleet)
    }

    async fn measure(&self, job: &KernelJob) -> Result<Execution, RunFailure> {
        let key = question(job, self.simulator.critical_path);
        let mut execution = self.tape.answer(&key, self.simulator.run_operator(job)).await?;
        // Without sources the model is all that is asked, and a run of some blocks looks at what these write.
        let Some(device) = job.device.as_ref().filter(|_| job.sample.is_none()) else { return Ok(execution) };
        let what = kind(job);
        let modelled_us: f64 = execution.launches.iter().map(|launch| launch.profile.task_us).sum();
        if !execution.launches.is_empty() {
            self.learned.is_worth(&what, modelled_us)?;
        }
        let products = self.objects.products(device).await?;
        let object = DeviceLaunch::object_for(products.objects_of(&job.operator)?, job)?;
        let folder = ScratchDirectory::below(&self.simulator.scratch)?;
        let launch = DeviceLaunch::of(job, &execution, object, folder.path())?;
        let told = self.fleet.run(&launch, self.pin.as_deref(), self.profiled).await?;
        if !job.timing_only {
            execution.outputs.clone_from(&told.outputs);
        }
        if let (Some(launch), Some(time)) = (execution.launches.first_mut(), device_time(&told)) {
            self.learned.note(&what, modelled_us, time.task_us);
            launch.device = Some(time);
        }
        Ok(execution)
    }
}

impl CannBackend {
    /// Outputs of a program are the simulator's: on a device nobody sees into its memory, and its exit code is what it says of itself.
    async fn measure_program(&self, job: &ProgramJob<'_>) -> Result<Execution, RunFailure> {
        let key = question_of_program(job, self.simulator.critical_path);
        let mut execution = self.tape.answer(&key, self.simulator.run_program(job)).await?;
        let Some(device) = job.device else { return Ok(execution) };
        let what = format!("program {:?}", job.arguments);
        let modelled_us: f64 = execution.launches.iter().map(|launch| launch.profile.task_us).sum();
        self.learned.is_worth(&what, modelled_us)?;
        let products = self.objects.products(device).await?;
        let program = products
            .program
            .clone()
            .ok_or_else(|| RunFailure::NoDevice("the toolkit's build leaves no program".to_owned()))?;
        let launch = ProgramLaunch {
            program,
            library_folders: products.libraries.iter().filter_map(|file| file.parent().map(Path::to_owned)).collect(),
            arguments: job.arguments.to_vec(),
            project: job.project.to_owned(),
            kernels: execution.launches.iter().map(|launch| launch.profile.kernel.clone()).collect(),
        };
        let times = self.fleet.run_program(&launch, self.pin.as_deref()).await?;
        self.learned.note(&what, modelled_us, times.iter().map(|time| time.task_us).sum());
        for (launch, time) in execution.launches.iter_mut().zip(times) {
            launch.device = Some(time);
        }
        Ok(execution)
    }
}

/// What jobs have to have in common so that their times can be compared.
fn kind(job: &KernelJob) -> String {
    let tensors: Vec<_> = job.inputs.iter().map(|input| (&input.name, &input.dtype, &input.shape)).collect();
    format!("{} {tensors:?} {:?}", job.operator, job.attributes)
}

fn device_time(told: &Told) -> Option<DeviceTime> {
    let time = told.time?;
    Some(DeviceTime {
        task_us: time.median_us,
        spread: time.spread,
        count: time.count,
        core_us: told.profile.as_ref().and_then(KernelLaunch::longest_core_us),
        pipes: told.profile.as_ref().and_then(pipe_times),
    })
}

/// Busy times of pipes as the model's are: of the kind of core that is busier on each.
fn pipe_times(profile: &KernelLaunch) -> Option<PipeTimes> {
    let busier = |pipe: &str| {
        let of = |unit| profile.pipe_us(unit, pipe).unwrap_or(0.0);
        of(CoreUnit::Vector).max(of(CoreUnit::Cube))
    };
    (!profile.cores.is_empty()).then(|| PipeTimes {
        scalar_us: busier("scalar"),
        vec_us: busier("vec"),
        mte1_us: busier("mte1"),
        mte2_us: busier("mte2"),
        mte3_us: busier("mte3"),
        cube_us: busier("cube"),
        fixpipe_us: busier("fixpipe"),
    })
}

impl Backend for CannBackend {
    fn capabilities(&self) -> Capabilities {
        Capabilities { origin: Origin::Measured, exact: false, devices: self.fleet.devices() }
    }

    fn run_operator<'a>(&'a self, job: &'a KernelJob) -> Answer<'a, Execution> {
        Box::pin(self.measure(job))
    }

    fn tile<'a>(&'a self, job: &'a KernelJob) -> Answer<'a, Tiled> {
        Box::pin(self.simulator.tile(job))
    }

    fn foresee<'a>(&'a self, jobs: &'a [KernelJob]) -> ToCome<'a, ()> {
        Box::pin(self.simulator.foresee(jobs))
    }

    fn describe<'a>(&'a self, host: &'a Path) -> Answer<'a, Description> {
        Box::pin(self.simulator.describe(host))
    }

    fn run_program<'a>(&'a self, job: &'a ProgramJob<'a>) -> Answer<'a, Execution> {
        Box::pin(self.measure_program(job))
    }

    fn following(&self) -> Arc<dyn Backend> {
        let simulator = SimBackend { critical_path: true, ..self.simulator.clone() };
        Arc::new(Self { simulator, profiled: true, ..self.clone() })
    }

    fn keeping_trace(&self, file: PathBuf) -> Arc<dyn Backend> {
        self.simulator.keeping_trace(file)
    }

    fn pinned(&self) -> Option<Arc<dyn Backend>> {
        Some(Arc::new(Self { pin: Some(Arc::default()), ..self.clone() }))
    }
}
