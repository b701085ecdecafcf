//! Ten seeded defects, each tried as a candidate and rejected for the right reason at the right line.
//!
//! Every test also tries the repaired twin, the operator as it was before the defect was put in: it must be accepted.

use std::path::Path;

use aicore::HazardKind;
use source::SourceTree;
use tuner::{Candidate, Evaluator, Outcome, References, Scope, Workspace, WorkspaceOptions, establish_baseline};
use verify::{Reason, Rejection};

use crate::support::{Project, TOOL, require_tools, root, sdk_options};

/// Two inputs, tiles of 32 halves on 8 cores.
const ADD_MANIFEST: &str = r#"
[operator]
name = "AddCustom"
layout = "msopgen"
kernel = "add_custom"
sources = ["op_host/add_custom.cpp", "op_kernel/add_custom.cpp"]

[[case]]
name = "2x2048"
inputs = [
    { name = "x", dtype = "float16", shape = [2, 2048], range = [-100, 100] },
    { name = "y", dtype = "float16", shape = [2, 2048], range = [-100, 100] },
]
outputs = [{ name = "z", dtype = "float16", shape = [2, 2048] }]

[verify]
seeds = 2

[limits]
run-timeout-s = 4.0
"#;

/// One core, two full tiles of 128 floats and one of 44.
pub const GELU_MANIFEST: &str = r#"
[operator]
name = "GeluNaive"
layout = "msopgen"
kernel = "gelu_naive"
sources = ["op_host/gelu_naive.cpp", "op_kernel/gelu_naive.cpp"]

[[case]]
name = "300"
inputs = [{ name = "x", dtype = "float32", shape = [300], range = [-3, 3] }]
outputs = [{ name = "y", dtype = "float32", shape = [300] }]

[verify]
seeds = 2

[limits]
run-timeout-s = 4.0
"#;

/// One variant of the ladder, two buffers, on eight rows a core.
const LADDER_MANIFEST: &str = r#"
[operator]
name = "add_ladder"
layout = "direct-launch"
kernel = "add_ladder"
sources = ["add_ladder.asc"]

[cmake]
entries = { LADDER_VARIANT = 4, LADDER_ROWS = 384 }

[[case]]
name = "384x8192"
"#;

const LADDER: &str = "add_ladder.asc";
const ADD_KERNEL: &str = "op_kernel/add_custom.cpp";
const ADD_HOST: &str = "op_host/add_custom.cpp";
const GELU_KERNEL: &str = "op_kernel/gelu_naive.cpp";
const GELU_HOST: &str = "op_host/gelu_naive.cpp";

/// An operator whose outputs are the reference for what is put into copies of it.
pub struct Operator {
    project: Project,
    pub workspace: Workspace,
    references: References,
    /// Judges candidates for this operator.
    evaluator: Evaluator,
    runtime: tokio::runtime::Runtime,
}

impl Operator {
    /// AddCustom as the fixture has it: queues on all pipes.
    fn add_with_queues() -> Self {
        Self::open(Project::fixture("add_custom"), ADD_MANIFEST)
    }

    /// AddCustom with our hand-synchronised kernel.
    fn add_by_hand() -> Self {
        let project = Project::fixture("add_custom");
        let kernel = fs_err::read_to_string(root().join("tests/suite/data/by_hand.cpp")).expect("the kernel");
        project.write(ADD_KERNEL, &kernel);
        Self::open(project, ADD_MANIFEST)
    }

    /// GeluNaive with a tail.
    pub fn gelu() -> Self {
        Self::open(Project::fixture("gelu_naive"), GELU_MANIFEST)
    }

    /// A program with its own `main`.
    fn ladder() -> Self {
        Self::open(Project::fixture("add_ladder"), LADDER_MANIFEST)
    }

    pub fn open(project: Project, manifest: &str) -> Self {
        project.write("ascend.toml", manifest);
        let options = WorkspaceOptions {
            directory: project.path().to_owned(),
            jobs: 1,
            worker_exe: Path::new(TOOL).to_owned(),
            sdk: sdk_options(),
            ..WorkspaceOptions::default()
        };
        let workspace = Workspace::open(options, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let baseline = workspace.baseline().expect("a baseline");
        let (trialled, references) = runtime
            .block_on(establish_baseline(&workspace, &baseline))
            .unwrap_or_else(|error| panic!("the operator itself must be right: {error}"));
        let evaluator = workspace.evaluator.against(&trialled);
        Self { project, workspace, references, evaluator, runtime }
    }

    /// Where it lies.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// What becomes of sources in full verification.
    pub fn outcome(&self, sources: SourceTree) -> Outcome {
        let tunables = self.workspace.tunables();
        let plan = Candidate::baseline(sources, tunables).plain_plan(tunables);
        let trial = self.evaluator.try_plan(&plan, &self.references, Scope::All, false);
        self.runtime.block_on(trial).unwrap_or_else(|error| panic!("{error}")).evaluation.outcome
    }

    /// Line of the only occurrence of `text`.
    #[track_caller]
    fn line(&self, file: &str, text: &str) -> u32 {
        let source = self.project.read(file);
        assert_eq!(source.matches(text).count(), 1, "{text} in {file}");
        let before = source.split(text).next().unwrap_or_default();
        before.matches('\n').count() as u32 + 1
    }

    /// Tries the operator with `old`, which occurs once, replaced by `new`. Lines keep their numbers.
    #[track_caller]
    fn reject(&self, file: &str, old: &str, new: &str) -> Rejection {
        let source = self.project.read(file);
        assert_eq!(source.matches(old).count(), 1, "{old} in {file}");
        assert_eq!(old.matches('\n').count(), new.matches('\n').count(), "an edit must keep the lines");
        assert!(matches!(self.outcome(self.workspace.sources.clone()), Outcome::Valid(_)), "the repaired twin");
        let mut sources = self.workspace.sources.clone();
        sources.insert(file.to_owned(), source.replace(old, new));
        match self.outcome(sources) {
            Outcome::Rejected(rejection) => {
                println!("{rejection}");
                rejection
            }
            Outcome::Valid(_) => panic!("the defect was not found"),
        }
    }
}

/// Demands a hazard of a kind at a place.
#[track_caller]
fn expect_hazard(rejection: &Rejection, kind: HazardKind, file: &str, line: u32) {
    let found = (rejection.reason, rejection.hazard, rejection.file.as_str(), rejection.line);
    assert_eq!(found, (Reason::Hazard, Some(kind), file, line), "{rejection}");
}

/// Demands a reason that has no line of its own.
#[track_caller]
fn expect_reason(rejection: &Rejection, reason: Reason, words: &str) {
    assert_eq!((rejection.reason, rejection.hazard), (reason, None), "{rejection}");
    assert!(rejection.detail.contains(words), "{rejection}");
}

#[test]
fn missing_wait() {
    require_tools!();
    let operator = Operator::add_by_hand();
    let rejection = operator.reject(ADD_KERNEL, "AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);", "");
    let reader = operator.line(ADD_KERNEL, "AscendC::Cast(sum, x,");
    expect_hazard(&rejection, HazardKind::Race, ADD_KERNEL, reader);
    let writer = operator.line(ADD_KERNEL, "AscendC::DataCopy(x, xGm");
    assert!(rejection.detail.contains(&format!("{ADD_KERNEL}:{writer}")), "{rejection}");
    assert!(rejection.detail.contains("flag MTE2_V would order them"), "{rejection}");
}

#[test]
fn missing_wait_in_a_program_with_direct_launch() {
    require_tools!();
    let operator = Operator::ladder();
    let right = "WaitFlag<HardEvent::MTE3_V>(event);";
    let rejection = operator.reject(LADDER, right, "");
    let writer = operator.line(LADDER, "AscendC::Add(z, x, y, count);");
    expect_hazard(&rejection, HazardKind::Race, LADDER, writer);
    let reader = operator.line(LADDER, "DataCopy(zGm[start], z, count);");
    assert!(rejection.detail.contains(&format!("{LADDER}:{reader}")), "{rejection}");
}

#[test]
fn removed_barrier() {
    require_tools!();
    let operator = Operator::add_by_hand();
    let rejection = operator.reject(ADD_KERNEL, "AscendC::PipeBarrier<PIPE_ALL>();", "");
    let writer = operator.line(ADD_KERNEL, "AscendC::DataCopy(x, xGm");
    expect_hazard(&rejection, HazardKind::Race, ADD_KERNEL, writer);
    let reader = operator.line(ADD_KERNEL, "AscendC::Cast(sum, x,");
    assert!(rejection.detail.contains(&format!("{ADD_KERNEL}:{reader}")), "{rejection}");
}

#[test]
fn misaligned_copy() {
    require_tools!();
    let operator = Operator::gelu();
    let padded = "AscendC::DataCopyPad(yGm[start], yLocal, copyParams);";
    let rejection = operator.reject(GELU_KERNEL, padded, "AscendC::DataCopy(yGm[start], yLocal, count);");
    expect_hazard(&rejection, HazardKind::Misaligned, GELU_KERNEL, operator.line(GELU_KERNEL, padded));
}

#[test]
fn misaligned_address() {
    require_tools!();
    let operator = Operator::add_by_hand();
    let rejection = operator.reject(ADD_KERNEL, "DataCopy(zGm[start], z, ", "DataCopy(zGm[start], z[1], ");
    let line = operator.line(ADD_KERNEL, "AscendC::DataCopy(zGm[start], z, ");
    expect_hazard(&rejection, HazardKind::Misaligned, ADD_KERNEL, line);
}

#[test]
fn read_past_the_end() {
    require_tools!();
    let operator = Operator::add_with_queues();
    let right = "AscendC::DataCopy(yLocal, yGm[tile * this->tileLength]";
    let wrong = "AscendC::DataCopy(yLocal, yGm[(tile + 1) * this->tileLength]";
    let rejection = operator.reject(ADD_KERNEL, right, wrong);
    expect_hazard(&rejection, HazardKind::OutOfBoundsGm, ADD_KERNEL, operator.line(ADD_KERNEL, right));
}

#[test]
fn ub_overflow() {
    require_tools!();
    let operator = Operator::gelu();
    // 4 x 64 KiB of buffers, asked for by the host's choice of tile: three fill the memory, the fourth is too much.
    let rejection = operator.reject(GELU_HOST, "TILE_LENGTH = 128;", "TILE_LENGTH = 16384;");
    let line = operator.line(GELU_KERNEL, "pipe.InitBuffer(onesBuf,");
    expect_hazard(&rejection, HazardKind::UbOverflow, GELU_KERNEL, line);
}

#[test]
fn unwritten_tail() {
    require_tools!();
    let operator = Operator::gelu();
    let rejection = operator.reject(
        GELU_KERNEL,
        "(this->length + this->tileLength - 1) / this->tileLength",
        "this->length / this->tileLength",
    );
    assert_eq!((rejection.reason, rejection.hazard), (Reason::UnwrittenOutput, Some(HazardKind::UnwrittenOutput)));
    assert!(rejection.detail.contains("176 of 1200 bytes"), "{rejection}");
    assert!(rejection.detail.contains("the first at byte 1024"), "{rejection}");
    let last_write = operator.line(GELU_KERNEL, "AscendC::DataCopyPad(yGm[start], yLocal, copyParams);");
    assert_eq!((rejection.file.as_str(), rejection.line), (GELU_KERNEL, last_write), "{rejection}");
}

#[test]
fn wrong_rounding() {
    require_tools!();
    let operator = Operator::add_by_hand();
    // Ties away from zero instead of to even: only ties tell them apart.
    let rejection = operator.reject(ADD_KERNEL, "RoundMode::CAST_RINT", "RoundMode::CAST_ROUND");
    expect_reason(&rejection, Reason::WrongResult, "output z: ");
}

#[test]
fn infinite_loop() {
    require_tools!();
    let operator = Operator::gelu();
    let rejection =
        operator.reject(GELU_KERNEL, "for (uint32_t i = 0; i < count; i++)", "for (uint32_t i = 0; i < count;)");
    expect_reason(&rejection, Reason::TimedOut, "did not finish within 4.0 s");
}

#[test]
fn division_by_zero() {
    require_tools!();
    let operator = Operator::add_with_queues();
    let divides = "this->tileLength = blockLength / this->tileCount;";
    let rejection = operator.reject(ADD_HOST, "tiling.set_tileNum(TILE_NUM);", "tiling.set_tileNum(0);");
    // A device goes on, and so does the simulator; what comes of it is told by its cause.
    expect_hazard(&rejection, HazardKind::DivisionByZero, ADD_KERNEL, operator.line(ADD_KERNEL, divides));
}

#[test]
fn tiling_data_that_are_not_saved() {
    require_tools!();
    let operator = Operator::add_with_queues();
    let host = operator.project.read(ADD_HOST);
    let saved = host.lines().find(|line| line.contains("tiling.SaveToBuffer(")).expect("it saves its tiling data");
    let rejection = operator.reject(ADD_HOST, saved, "");
    assert!(rejection.detail.contains("tiling data are all zero (is SaveToBuffer missing?)"), "{rejection}");
}

#[test]
fn write_through_a_null_pointer() {
    require_tools!();
    let operator = Operator::add_with_queues();
    let right = "xGm.SetGlobalBuffer((__gm__ half *)x + offset, blockLength);";
    let wrong = "*(volatile __gm__ uint16_t *)nullptr = 0;";
    let rejection = operator.reject(ADD_KERNEL, right, wrong);
    expect_hazard(&rejection, HazardKind::OutOfBoundsGm, ADD_KERNEL, operator.line(ADD_KERNEL, right));
    assert!(rejection.detail.contains("through a null pointer"), "{rejection}");
}

#[test]
fn crash_by_a_wild_pointer() {
    require_tools!();
    let operator = Operator::add_with_queues();
    let right = "xGm.SetGlobalBuffer((__gm__ half *)x + offset, blockLength);";
    let wrong = "*(volatile __gm__ uint16_t *)0x123456789000ull = 0;";
    let rejection = operator.reject(ADD_KERNEL, right, wrong);
    expect_reason(&rejection, Reason::Crashed, "invalid memory access");
}

#[test]
fn enque_without_deque() {
    require_tools!();
    let operator = Operator::add_with_queues();
    let right = "inQueueY.DeQue<half>()";
    let rejection = operator.reject(ADD_KERNEL, right, "inQueueY.AllocTensor<half>()");
    // The second tile fills the queue: the tensor asked for instead of the enqueued one is not to be had.
    expect_hazard(&rejection, HazardKind::QueueMisuse, ADD_KERNEL, operator.line(ADD_KERNEL, right));
    assert!(rejection.detail.contains("all buffers of the queue are in use"), "{rejection}");
}

#[test]
fn enque_of_one_tile_too_many() {
    require_tools!();
    let operator = Operator::gelu();
    let right = "inQueueX.FreeTensor(xLocal);";
    let ahead = "if (count < tileLength) { xLocal = inQueueX.AllocTensor<float>(); inQueueX.EnQue(xLocal); }";
    let rejection = operator.reject(GELU_KERNEL, right, &format!("{right} {ahead}"));
    expect_hazard(&rejection, HazardKind::QueueMisuse, GELU_KERNEL, operator.line(GELU_KERNEL, right));
    assert!(rejection.detail.contains("enqueued but never dequeued: 1"), "{rejection}");
}

#[test]
fn a_fill_past_the_end_of_a_buffer_of_a_queue() {
    require_tools!();
    let operator = Operator::gelu();
    let right = "AscendC::LocalTensor<float> xLocal = inQueueX.DeQue<float>();";
    let wrong = format!("{right} AscendC::Duplicate(xLocal[tileLength - 8], 0.0f, 16);");
    let rejection = operator.reject(GELU_KERNEL, right, &wrong);
    expect_hazard(&rejection, HazardKind::OutOfBoundsUb, GELU_KERNEL, operator.line(GELU_KERNEL, right));
    assert!(rejection.detail.contains("past the end of the buffer that it begins in"), "{rejection}");
}

#[test]
fn use_without_deque() {
    require_tools!();
    let operator = Operator::gelu();
    let right = "AscendC::LocalTensor<float> xLocal = inQueueX.DeQue<float>();";
    let wrong = "AscendC::LocalTensor<float> xLocal(AscendC::TPosition::VECIN, 0, tileLength);";
    let rejection = operator.reject(GELU_KERNEL, right, wrong);
    // The first call on the queue that notices.
    let line = operator.line(GELU_KERNEL, "inQueueX.FreeTensor(xLocal);");
    expect_hazard(&rejection, HazardKind::QueueMisuse, GELU_KERNEL, line);
}

/// Tiling functions with a fault: what is edited, the reason or hazard, and what of the kernel or of the words names it.
#[test]
fn faults_of_the_tiling_function() {
    require_tools!();
    let operator = Operator::gelu();
    let blocks = "context->SetBlockDim((totalLength + blockLength - 1) / blockLength);";
    let load = operator.line(GELU_KERNEL, "AscendC::DataCopyPad(xLocal, xGm[start], copyParams, padParams);");
    let store = operator.line(GELU_KERNEL, "AscendC::DataCopyPad(yGm[start], yLocal, copyParams);");

    // One core more than there are shares: its share begins behind the tensor.
    let rejection = operator.reject(GELU_HOST, blocks, "context->SetBlockDim(totalLength / blockLength + 2);");
    expect_hazard(&rejection, HazardKind::OutOfBoundsGm, GELU_KERNEL, load);

    // The length rounded down to whole blocks: the tail is nobody's.
    let rounded = "tiling.set_totalLength(totalLength / ALIGN_NUM * ALIGN_NUM);";
    let rejection = operator.reject(GELU_HOST, "tiling.set_totalLength(totalLength);", rounded);
    assert_eq!(
        (rejection.reason, rejection.file.as_str(), rejection.line),
        (Reason::UnwrittenOutput, GELU_KERNEL, store)
    );

    // As many cores as whole shares fit in: none.
    let rejection = operator.reject(GELU_HOST, blocks, "context->SetBlockDim(totalLength / blockLength);");
    assert!(rejection.detail.contains("block"), "{rejection}");

    // A tile of nothing.
    let rejection = operator.reject(GELU_HOST, "tiling.set_tileLength(TILE_LENGTH);", "tiling.set_tileLength(0);");
    let divides =
        operator.line(GELU_KERNEL, "const uint32_t tiles = (this->length + this->tileLength - 1) / this->tileLength;");
    expect_hazard(&rejection, HazardKind::DivisionByZero, GELU_KERNEL, divides);

    // An attribute that the definition does not have.
    let length = "const uint32_t totalLength = static_cast<uint32_t>(shape.GetShapeSize());";
    let asked = "const uint32_t totalLength = shape.GetShapeSize() + *context->GetAttrs()->GetInt(0);";
    expect_reason(&operator.reject(GELU_HOST, length, asked), Reason::Crashed, "tiling");

    // Twice the elements: the length is in bytes where elements are meant.
    let rejection = operator.reject(GELU_HOST, length, &length.replace("GetShapeSize())", "GetShapeSize() * 4)"));
    expect_hazard(&rejection, HazardKind::OutOfBoundsGm, GELU_KERNEL, load);
}
