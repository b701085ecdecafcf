//! Events: everything that a command has to say, as plain data. Terminal, JSON lines and the recorded run are renderers of these.
//!
//! With `--message-format json` each event is one object on one line of standard output. The first event of every
//! command is [`Start`] and carries [`FORMAT`]; fields may be added within a format, none is renamed or removed.
//!
//! Whoever finds something out fills these in, and whoever shows it reads them; neither needs to know the other.

pub mod ablation;
mod checks;
mod devices;
mod event;
mod experience;
pub mod fidelity;
mod locks;
mod operators;
mod repair;
pub mod replay;
mod results;
mod runs;
pub mod survey;
mod taken_back;
mod witness;

pub use checks::{
    CaseVerdict, Check, CheckCase, CheckFinding, CheckSummary, CheckVerdict, CheckedOperator, ComparedProbe,
    Comparison, KnownHazard, LockUpdate, Verdict,
};
pub use devices::{Devices, ModelError};
pub use event::{
    Baseline, BaselineCase, BlocksRun, CaseBlocks, CaseTime, DoorStep, Doors, DoorsDifference, Evaluation, Event,
    FORMAT, Failure, Improvement, Progress, Sdk, SdkStatus, Stage, StageSwitch, Start, Status, Warning, schema,
};
pub use experience::{Bank, BankRecord, MotifStatistics, Rewind, RewindStep, RewindYield};
pub use locks::{
    LockDiff, LockDifference, LockMigrated, LockShown, LockTopic, LockVerified, LockedProbes, LockedSetting,
    LockedStep, LockedTime, RecordedStep, Restored,
};
pub use operators::{InitEnd, InitOutcome, InitsDone, OperatorEnd, OperatorsDone};
pub use repair::Repair;
pub use results::{
    Build, CheckState, Doctor, DoctorCheck, Generalisation, HazardReport, Init, KernelTest, KernelTestSummary,
    ModelUse, PathReport, ProbeResult, ProfileEvent, SampledCase, StageSummary, Stages, StallReport, Summary,
    SummaryCase, TestVerdict, TilingVersion, Written,
};
pub use runs::{ComparedCase, ComparedHazard, ComparedStep, ComparedTunable, RunComparison, RunFacts};
pub use taken_back::TakenBack;
