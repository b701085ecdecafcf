//! The episodes of a run: host stage and kernel stage in turn under one budget, every evaluation verified and
//! journalled, the winner verified once more from clean.

mod candidate;
mod case_trial;
mod error;
mod evaluation;
mod evaluator;
mod experience;
mod finish;
mod host_search;
mod host_stage;
mod injection;
mod invent;
mod journal;
mod kernel_stage;
mod prices;
mod progress;
mod ranking;
mod reference;
mod rewinding;
mod run;
mod scheduler;
mod session;
mod settings;
mod trial_error;
mod workload;
mod workspace;

pub use candidate::{AppliedPatch, Candidate, CandidateError};
pub use error::{FailureKind, TunerError};
pub use evaluation::{CaseTime, Champion, Evaluation, Outcome, geometric_mean};
pub use evaluator::{Evaluator, NeedsData, Plan, References, Scope, Trialled, rejects};
pub use finish::write_winner;
pub use injection::Injection;
pub use invent::{InventOptions, Invented, invent};
pub use journal::{Journal, Opened};
pub use kernel_stage::Rewriting;
pub use progress::{Attempt, Milestone, Progress, StageTally, status_of};
pub use ranking::{BlocksRun, CaseBlocks, Race, SampledCase};
pub use reference::golden_references;
pub use rewinding::{RewindOptions, RewindReport, rewind};
pub use run::{Experience, RunOptions, RunOutcome, establish_baseline, run};
pub use session::{Budget, Judged, Scarce, Session, Spent};
pub use trial_error::TrialError;
pub use workload::{InputData, Trial, Workload, WorkloadError};
pub use workspace::{Opening, Workspace, WorkspaceOptions, invented_manifest, load_machine};
