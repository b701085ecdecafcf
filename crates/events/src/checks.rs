//! What `check`, `compare` and `lock` found: what is now, beside what was.

use std::fmt;

use aicore::{HazardKind, Origin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Verdict of `check` as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// No case is slower than the lock by more than the tolerance, nothing drifted.
    Ok,
    /// At least one case is slower.
    Regressed,
    /// Sources, manifest or machine are not what was locked.
    Drifted,
    /// An output is not what was locked.
    Different,
    /// A case cannot be run, or shows a hazard that is not locked.
    Wrong,
    /// The lock misses a case, or the project does.
    Missing,
    /// The times here cannot be compared with those of the lock, or vary too much to tell.
    CannotTell,
}

/// What a check says of an operator, in the words of every output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No case is slower or faster than the lock by more than the tolerance, outputs are the same, nothing drifted.
    Same,
    /// The same, and at least one case is faster by more than the tolerance.
    Faster,
    /// At least one case is slower by more than the tolerance.
    Slower,
    /// An output is not what was locked.
    Different,
    /// A case cannot be run or fails verification, or shows a hazard that is not locked.
    Wrong,
    /// Sources, manifest or machine description are not what was locked.
    Drifted,
    /// There is nothing to compare, or it could not be compared.
    CannotTell,
}

impl Verdict {
    /// Every verdict, in order.
    pub const ALL: [Verdict; 7] = [
        Verdict::Same,
        Verdict::Faster,
        Verdict::Slower,
        Verdict::Different,
        Verdict::Wrong,
        Verdict::Drifted,
        Verdict::CannotTell,
    ];

    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Same => "same",
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Different => "different",
            Verdict::Wrong => "wrong",
            Verdict::Drifted => "drifted",
            Verdict::CannotTell => "cannot tell",
        }
    }

    /// The word for programs, as in JSON.
    pub fn rule(self) -> &'static str {
        match self {
            Verdict::CannotTell => "cannot-tell",
            other => other.word(),
        }
    }

    /// What it means, one sentence without a full stop.
    pub fn meaning(self) -> &'static str {
        match self {
            Verdict::Same => "No case is slower or faster than ascend.lock by more than the tolerance",
            Verdict::Faster => "A case is faster than ascend.lock by more than the tolerance",
            Verdict::Slower => "A case is slower than ascend.lock by more than the tolerance",
            Verdict::Different => "An output is not what was locked",
            Verdict::Wrong => "A case fails, or shows a hazard that ascend.lock does not know",
            Verdict::Drifted => "Sources, manifest or machine description are not what was locked",
            Verdict::CannotTell => "The operator could not be compared with ascend.lock",
        }
    }

    /// Whether a check with this verdict has passed.
    pub fn passes(self) -> bool {
        matches!(self, Verdict::Same | Verdict::Faster)
    }
}

/// Verdict on one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CaseVerdict {
    /// Within the tolerance.
    Ok,
    /// Slower than the lock by more than the tolerance.
    Regressed,
    /// Faster than the lock by more than the tolerance.
    Improved,
    /// It cannot be run, or fails verification.
    Wrong,
    /// Another case ended the check before its turn.
    NotRun,
    /// Only in the lock, or only in the project.
    Missing,
    /// Its times vary so much that a change beyond the tolerance could not be told from chance.
    CannotTell,
}

impl CaseVerdict {
    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            CaseVerdict::Ok => "ok",
            CaseVerdict::Regressed => "regressed",
            CaseVerdict::Improved => "improved",
            CaseVerdict::Wrong => "wrong",
            CaseVerdict::NotRun => "not-run",
            CaseVerdict::Missing => "missing",
            CaseVerdict::CannotTell => "cannot-tell",
        }
    }
}

/// One case of `check`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckCase {
    /// Name of the case.
    pub name: String,
    /// Latency in the lock, in microseconds.
    pub locked_us: Option<f64>,
    /// Latency now, in microseconds.
    pub now_us: Option<f64>,
    /// Now over locked.
    pub ratio: Option<f64>,
    /// Pairs of runs that it took to tell, where times are not the same each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// Verdict.
    pub verdict: CaseVerdict,
}

/// A hazard that the operator as it stands has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownHazard {
    /// Kind.
    pub kind: HazardKind,
    /// File, relative to the operator's root; empty if unknown.
    pub file: String,
    /// Line from 1; 0 if unknown.
    pub line: u32,
    /// The line's text without blanks at its ends.
    pub statement: String,
    /// The output that stays unwritten, by position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u32>,
    /// What happened.
    pub message: String,
    /// Cases that show it.
    pub cases: Vec<String>,
    /// Why it is meant to be there, where the manifest says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
}

impl fmt::Display for KnownHazard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.kind.word())?;
        if !self.file.is_empty() {
            write!(formatter, " at {}:{}", self.file, self.line)?;
        }
        let cases = if self.cases.len() == 1 { "case" } else { "cases" };
        write!(formatter, ": {} ({cases} {})", self.message, self.cases.join(", "))
    }
}

/// One thing that a check found, with its place where it has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckFinding {
    /// The verdict that it speaks for.
    pub verdict: Verdict,
    /// The case that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// File, relative to the operator's root; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// Line from 1; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub line: u32,
    /// What was found, one sentence.
    pub message: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_unknown(line: &u32) -> bool {
    *line == 0
}

/// Result of `check`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Verdict as a whole.
    pub verdict: CheckVerdict,
    /// Cases in the order of the lock.
    pub cases: Vec<CheckCase>,
    /// What drifted, one sentence each.
    pub drift: Vec<String>,
    /// Outputs that are not the locked ones, one sentence each with how far they are off, where that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    /// What speaks against the operator, with places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<CheckFinding>,
    /// Whether nothing was built or run: an earlier check of exactly this passed on this machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remembered: bool,
    /// Ratio up to which a case is not slower.
    pub tolerance: f64,
    /// Speed-up that the lock claims; nothing where it claims none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<f64>,
    /// What was timed on, and against what, where times are not the same each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed: Option<String>,
    /// Where the latencies come from.
    pub origin: Origin,
    /// Machine description by name.
    pub machine: String,
    /// Version of the machine description.
    pub machine_version: String,
}

impl Check {
    /// The verdict in the words of every output.
    pub fn outcome(&self) -> Verdict {
        match self.verdict {
            CheckVerdict::Ok if self.cases.iter().any(|case| case.verdict == CaseVerdict::Improved) => Verdict::Faster,
            CheckVerdict::Ok => Verdict::Same,
            CheckVerdict::Regressed => Verdict::Slower,
            CheckVerdict::Drifted => Verdict::Drifted,
            CheckVerdict::Different => Verdict::Different,
            CheckVerdict::Wrong => Verdict::Wrong,
            CheckVerdict::Missing | CheckVerdict::CannotTell => Verdict::CannotTell,
        }
    }
}

/// One operator of a `check` of many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedOperator {
    /// Its directory, as seen from the directory that the command was started in.
    pub project: String,
    /// The chip, and where its times come from, where a lock holds several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub soc: String,
    /// The operator; empty where its manifest could not be read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub operator: String,
    /// The verdict.
    pub verdict: Verdict,
    /// What speaks against it, with places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<CheckFinding>,
    /// What the check found, where it came to an end: the event `check` says the same.
    #[serde(skip)]
    pub check: Option<Check>,
    /// Exit status that a check of it alone has.
    pub exit: u8,
    /// Seconds that its check took.
    pub wall_s: f64,
}

impl CheckedOperator {
    /// What outputs call it: its directory, and the chip where a lock holds several.
    pub fn name(&self) -> String {
        if self.soc.is_empty() { self.project.clone() } else { format!("{} ({})", self.project, self.soc) }
    }
}

/// Result of a `check` of many operators, and of `check --drift`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckSummary {
    /// The operators, by directory.
    pub operators: Vec<CheckedOperator>,
    /// Whether only digests were compared.
    pub drift_only: bool,
    /// Operators that were left out because nothing that they depend on changed since a revision.
    #[serde(default)]
    pub left_out: u64,
    /// Seconds that all took.
    pub wall_s: f64,
}

impl CheckSummary {
    /// How many operators have a verdict.
    pub fn count(&self, verdict: Verdict) -> u64 {
        self.operators.iter().filter(|operator| operator.verdict == verdict).count() as u64
    }
}

/// One probe of `compare`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedProbe {
    /// Its name: what it is for, dtype and shape of the first input.
    pub name: String,
    /// Whether it counts for the mean; what has the tensors of a case does not.
    #[serde(default = "counts")]
    pub of_the_sample: bool,
    /// Key that the tiling function chose before.
    pub tiling_key: u64,
    /// Whether outputs were compared, or it was only timed and judged.
    pub compared: bool,
    /// Latency before, in microseconds.
    pub before_us: f64,
    /// Latency now, in microseconds; nothing if it is wrong.
    pub now_us: Option<f64>,
    /// Whether it is right and no slower than the floor allows.
    pub holds: bool,
    /// What is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
}

fn counts() -> bool {
    true
}

impl ComparedProbe {
    /// Before over now; nothing if it is wrong.
    pub fn speedup(&self) -> Option<f64> {
        self.now_us.map(|now| self.before_us / now)
    }
}

/// Result of `compare`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Operator.
    pub operator: String,
    /// The earlier state.
    pub against: String,
    /// Seed that the probes were drawn by.
    pub seed: u64,
    /// Ratio up to which a probe is not slower.
    pub floor: f64,
    /// The probes in their order.
    pub probes: Vec<ComparedProbe>,
    /// Probes at which the earlier state crashes, hangs or does not build, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faulty: Vec<String>,
    /// Probes at which the earlier state has hazards of its own.
    #[serde(default)]
    pub at_fault: u64,
    /// Where the latencies come from.
    pub origin: Origin,
    /// Machine description by name.
    pub machine: String,
    /// Version of the machine description.
    pub machine_version: String,
}

impl Comparison {
    /// Geometric mean of the speed-ups of those probes of the sample that have one; `None` where none has.
    pub fn speedup(&self) -> Option<f64> {
        let sample = self.probes.iter().filter(|probe| probe.of_the_sample);
        let logarithms: Vec<f64> = sample.filter_map(ComparedProbe::speedup).map(f64::ln).collect();
        (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
    }
}

/// Result of `lock`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LockUpdate {
    /// Path of the lock file.
    pub lock: String,
    /// Whether it was written.
    pub written: bool,
    /// What is not as the lock says, or as it said, one sentence each.
    pub changes: Vec<String>,
}
