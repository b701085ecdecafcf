//! `test`: the operator's own kernel unit tests on the simulated machine.

use super::Exit;
use super::args::{Common, TestArgs};
use super::output::{Output, start_event};
use super::target::{hazard_reports, processors, runtime, worker_exe};
use aicore::{Origin, Severity};
use backend::{ProcessLimits, SimBackend, TestRun};
use build::sdk::{Sdk, SdkOptions};
use build::{BuildOptions, Builder};
use discovery::oracle::{KernelTestError, run_kernel_tests};
use events::{Event, KernelTest, KernelTestSummary, Start, TestVerdict};
use project::{KernelTests, OperatorProject, auto_sync_off, load_machine};
use source::arch::TARGET;
use tuner::TunerError;

/// Memory of one test in bytes.
const MEMORY_BYTES: u64 = 8 << 30;

/// Executes the command.
pub fn execute(common: &Common, arguments: &TestArgs, output: &mut Output) -> Result<Exit, TunerError> {
    let project = OperatorProject::find(&common.project)?;
    let tests = KernelTests::find(&project).map_err(|error| TunerError::Usage(error.to_string()))?;
    let operator = project.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let machine = load_machine(arguments.machine.as_deref().unwrap_or(TARGET.test_soc), &project.root)?;
    output.emit(&Event::Start(Start {
        operator: Some(operator.clone()),
        machine: Some(machine.name.clone()),
        machine_version: Some(machine.version.clone()),
        origin: Some(Origin::Modelled),
        ..start_event("test", common)
    }));
    let sdk = Sdk::prepare(&SdkOptions { jobs: processors(), ..SdkOptions::from_environment() })?;
    let auto_sync = auto_sync_off(&project.root, &operator, &machine.name).is_none();
    let backend = SimBackend {
        worker_exe: worker_exe()?,
        runner: sdk.runner(),
        scratch: project.work_directory().join("runs"),
        machine: std::sync::Arc::new(machine),
        limits: ProcessLimits::new(arguments.timeout_s, MEMORY_BYTES),
        keep_trace: None,
        critical_path: false,
        auto_sync,
        warmth: aicore::Warmth::Cold,
        foreseen: backend::Foreseen::default(),
    };
    let builder = Builder::new(project, sdk, BuildOptions { jobs: 1, ..BuildOptions::default() })?;
    let filter = arguments.filter.as_deref().unwrap_or_default();
    let mut summary = KernelTestSummary { operator: operator.clone(), ..KernelTestSummary::default() };
    let ran =
        runtime()?.block_on(run_kernel_tests(&builder, &backend, &tests, &operator, filter, usize::MAX, &mut |run| {
            summary.add(&run.verdict, has_error(run));
            output.emit(&Event::KernelTest(Box::new(KernelTest {
                name: run.name.clone(),
                verdict: run.verdict.clone(),
                hazards: run.launches.iter().flat_map(hazard_reports).collect(),
            })));
        }));
    ran.map_err(|error| match error {
        KernelTestError::Sources(error) => TunerError::Sources(error),
        KernelTestError::Build(error) => TunerError::Build(error),
        error @ (KernelTestError::Program(_) | KernelTestError::NoKernel { .. }) => {
            TunerError::Usage(error.to_string())
        }
    })?;
    if summary.total() == 0 {
        return Err(TunerError::Usage(format!("no test's name contains `{filter}`")));
    }
    let exit = if summary.wrong + summary.hazardous > 0 { Exit::NothingValid } else { Exit::Fine };
    output.emit(&Event::KernelTestSummary(summary));
    Ok(exit)
}

fn has_error(run: &TestRun) -> bool {
    // What is wrong already is not counted twice.
    !matches!(run.verdict, TestVerdict::Wrong { .. })
        && run.launches.iter().flat_map(|launch| &launch.hazards).any(|hazard| hazard.severity == Severity::Error)
}
