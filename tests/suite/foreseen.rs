//! Questions to a tiling function that are asked together.

use std::path::{Path, PathBuf};

use backend::{JobInput, JobOutput, KernelJob, SimBackend};

use crate::faults::{open, runtime};
use crate::support::{Project, edited, require_tools};

const HOST: &str = "op_host/gelu_naive.cpp";
/// A length at which the tiling function crashes, and one that it refuses.
const CRASHES: u64 = 4096;
const REFUSED: u64 = 0;

/// A tiling function that does its work once in a process, and not at all for some lengths.
fn of_one_use() -> Project {
    let project = Project::fixture("gelu_naive");
    let checked = "    if (totalLength == 0) {\n";
    let once = format!(
        "    static int asked = 0;\n    if (totalLength == {CRASHES}) {{\n        __builtin_trap();\n    }}\n    if (totalLength == 0 || ++asked > 1) {{\n"
    );
    project.write(HOST, &edited(&project.read(HOST), checked, &once));
    project
}

fn question(host: &Path, length: u64) -> KernelJob {
    let [name, dtype, format] = ["x", "float32", "ND"].map(str::to_owned);
    let input = JobInput { name, dtype, format, shape: vec![length], file: PathBuf::new() };
    let [name, dtype, format] = ["y", "float32", "ND"].map(str::to_owned);
    let output = JobOutput { name, dtype, format, shape: None, initial: None };
    let operator = "GeluNaive".to_owned();
    KernelJob { operator, host: host.to_owned(), inputs: vec![input], outputs: vec![output], ..KernelJob::default() }
}

#[test]
fn each_is_answered_as_if_it_were_the_only_one_and_what_fails_is_asked_alone() {
    require_tools!();
    let project = of_one_use();
    let (workspace, runtime) = (open(&project), runtime());
    let tree = workspace.project.load_sources().expect("its sources");
    let host = workspace.evaluator.builder.host(&tree).unwrap_or_else(|error| panic!("{error}")).path;
    let jobs = [1024, CRASHES, 65_536, REFUSED, 100_000].map(|length| question(&host, length));
    let alone = workspace.simulator();
    let one_by_one: Vec<_> = jobs.iter().map(|job| runtime.block_on(alone.tile(job))).collect();

    let together = workspace.simulator();
    runtime.block_on(together.foresee(&jobs));
    // Whatever is asked alone now ends in an error.
    let broken = SimBackend { runner: PathBuf::from("/nonexistent/runner"), ..together };
    for (place, job) in jobs.iter().enumerate() {
        let answer = runtime.block_on(broken.tile(job));
        match (&one_by_one[place], answer) {
            (Ok(right), Ok(found)) => assert_eq!(&found, right, "question {place}"),
            (Err(_), Err(failure)) => assert!(format!("{failure:?}").contains("runner"), "{place}: {failure:?}"),
            (right, found) => panic!("question {place}: {found:?} in place of {right:?}"),
        }
        assert!(runtime.block_on(broken.tile(job)).is_err(), "an answer is given once");
    }
    assert_eq!(one_by_one.iter().filter(|answer| answer.is_ok()).count(), 3);
}
