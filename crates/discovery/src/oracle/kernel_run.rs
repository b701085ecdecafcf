//! Building and running an operator's kernel unit tests.

use backend::{RunFailure, SimBackend, TestRun};
use build::{BuildError, Builder};
use project::{KernelTests, OperatorProject, SourceLoadError, snake_case};

/// Why the tests could not be run at all.
#[derive(Debug, thiserror::Error)]
pub enum KernelTestError {
    /// Sources cannot be read.
    #[error(transparent)]
    Sources(#[from] SourceLoadError),
    /// Tests or kernel do not compile.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The operator has several kernels, or none, and none by its name.
    #[error("no kernel is called {operator}: the sources have {entries}")]
    NoKernel {
        /// The operator whose tests they are.
        operator: String,
        /// Names of the kernels that there are.
        entries: String,
    },
    /// The program does not even list its tests.
    #[error("the program of the tests cannot be run: {0}")]
    Program(#[from] RunFailure),
}

/// Runs the tests whose names contain `filter`, at most `limit` of them, in the order of the files. `on_run` hears of each.
pub async fn run_kernel_tests(
    builder: &Builder,
    backend: &SimBackend,
    tests: &KernelTests,
    operator: &str,
    filter: &str,
    limit: usize,
    on_run: &mut dyn FnMut(&TestRun),
) -> Result<Vec<TestRun>, KernelTestError> {
    let project: &OperatorProject = builder.project();
    let Some(entry) = project.entry_named(operator) else {
        let names: Vec<&str> = project.kernel_entries.iter().map(|entry| entry.function.as_str()).collect();
        let entries = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(KernelTestError::NoKernel { operator: operator.to_owned(), entries });
    };
    let sources = project.load_sources()?;
    // Tests with a header of their own need no host library.
    let classes = match tests.tiling_header {
        Some(_) => Vec::new(),
        None => match builder.host(&sources) {
            Ok(host) => backend.describe(&host.path).await.map(|said| said.tiling_classes).unwrap_or_default(),
            Err(_) => Vec::new(),
        },
    };
    // Tests know the operator by its folder, tiling classes by its type.
    let op_type = classes
        .iter()
        .map(|class| class.op.as_str())
        .find(|name| [operator, &entry.function].contains(&snake_case(name).as_str()))
        .unwrap_or(operator)
        .to_owned();
    let program = builder.kernel_tests(&sources, tests, &op_type, entry, &classes)?;
    let names = backend.list_kernel_tests(&program.path).await?;
    let mut runs = Vec::new();
    for name in names.iter().filter(|name| name.contains(filter)).take(limit) {
        let run = backend.run_kernel_test(&program.path, name, &project.repository_root).await?;
        on_run(&run);
        runs.push(run);
    }
    Ok(runs)
}
