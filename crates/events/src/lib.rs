//! Events: everything that a command has to say, as plain data. Terminal, JSON lines and the recorded run are renderers of these.
//!
//! With `--message-format json` each event is one object on one line of standard output. The first event of every
//! command is [`Start`] and carries [`FORMAT`]; fields may be added within a format, none is renamed or removed.
//!
//! Whoever finds something out fills these in, and whoever shows it reads them; neither needs to know the other.

pub mod ablation;
mod event;
pub mod fidelity;
pub mod replay;
mod results;
pub mod survey;
mod taken_back;

pub use event::{
    Baseline, BaselineCase, BlocksRun, CaseBlocks, CaseTime, DoorStep, Doors, DoorsDifference, Evaluation, Event,
    FORMAT, Failure, Improvement, Sdk, SdkStatus, Stage, StageSwitch, Start, Status, Warning,
};
pub use results::{
    Bank, BankRecord, Build, CaseVerdict, Check, CheckCase, CheckState, CheckVerdict, ComparedProbe, Comparison,
    Doctor, DoctorCheck, Generalisation, HazardReport, Init, KernelTest, KernelTestSummary, KnownHazard, LockUpdate,
    MotifStatistics, PathReport, ProbeResult, ProfileEvent, Rewind, RewindStep, RewindYield, SampledCase, StageSummary,
    Stages, StallReport, Summary, SummaryCase, TestVerdict,
};
pub use taken_back::TakenBack;
