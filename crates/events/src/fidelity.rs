//! What `fidelity` and `calibrate` say: the model beside published figures, and constants fitted to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of evidence a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// A whole kernel whose making is known.
    Kernel,
    /// A whole kernel whose source is closed; the program's tiling is a guess.
    Library,
    /// One instruction or one copy.
    Instruction,
    /// A sustained rate.
    Bandwidth,
}

/// Whether a row is the figure of its case or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The time that the case is about.
    Headline,
    /// Time of a pipe in the same run.
    Detail,
}

/// What is taken from a modelled launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Task duration.
    Task,
    /// Longest core.
    CoreLongest,
    /// Mean over the cores.
    CoreMean,
    /// Busy time of the vector unit, mean over the cores.
    Vec,
    /// Busy time of the scalar unit.
    Scalar,
    /// Busy time of copies in.
    Mte2,
    /// Busy time of copies out.
    Mte3,
    /// Bytes from and to global memory of one core over the longest core.
    Bandwidth,
}

/// One row of the table with what the model says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Name of the case.
    pub case: String,
    /// Kernel that it is a variant of.
    pub kernel: String,
    /// Kind of evidence.
    pub level: Level,
    /// Category.
    pub category: String,
    /// Headline or detail.
    pub role: Role,
    /// What is compared.
    pub metric: Metric,
    /// Unit of both figures.
    pub unit: String,
    /// Published figure.
    pub published: f64,
    /// Modelled figure, if the program ran.
    pub modelled: Option<f64>,
    /// Whether the constants may have been fitted to this row.
    pub fit: bool,
    /// Machine description.
    pub machine: String,
    /// What a reader should know, or why there is no figure.
    pub note: String,
}

impl Row {
    /// Modelled over published.
    pub fn ratio(&self) -> Option<f64> {
        self.modelled.map(|modelled| modelled / self.published)
    }

    /// Distance of the ratio from one.
    pub fn error(&self) -> Option<f64> {
        self.ratio().map(|ratio| (ratio - 1.0).abs())
    }
}

/// Order of the variants of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelOrder {
    /// Kernel.
    pub kernel: String,
    /// Variants that were compared.
    pub variants: usize,
    /// Kendall's tau of modelled and published durations.
    pub tau: f64,
}

/// One change that was published as a speed-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedUp {
    /// Case before the change.
    pub from: String,
    /// Case after it.
    pub to: String,
    /// Published speed-up.
    pub published: f64,
    /// Modelled speed-up.
    pub modelled: f64,
}

/// Errors of a group of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// Name.
    pub name: String,
    /// Rows with a modelled figure.
    pub rows: usize,
    /// Median of the absolute errors.
    pub median: f64,
    /// 90th percentile of them.
    pub p90: f64,
}

/// A machine description that rows were played on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsedMachine {
    /// Name in the table.
    pub name: String,
    /// Version of the description.
    pub version: String,
    /// Start of its digest.
    pub digest: String,
}

/// A published case without a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// Name, or names with `*`.
    pub case: String,
    /// Why.
    pub reason: String,
}

/// The whole report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Digest of the table of cases.
    pub table: String,
    /// Machine descriptions.
    pub machines: Vec<UsedMachine>,
    /// Rows in the order of the table.
    pub rows: Vec<Row>,
    /// Published cases without a program.
    pub left_out: Vec<Missing>,
    /// Order of variants by kernel.
    pub orders: Vec<KernelOrder>,
    /// Speed-ups above 1.1 that the model has as slow-downs.
    pub reversed: Vec<SpeedUp>,
    /// Speed-ups above 1.1 that were compared.
    pub speed_ups: usize,
    /// Whole kernels, pipe times, single instructions, ...
    pub groups: Vec<Group>,
    /// Whole kernels by category.
    pub categories: Vec<Group>,
}

impl Report {
    /// Mean of tau over the kernels.
    pub fn mean_tau(&self) -> Option<f64> {
        let sum: f64 = self.orders.iter().map(|order| order.tau).sum();
        (!self.orders.is_empty()).then(|| sum / self.orders.len() as f64)
    }
}

/// A constant and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    /// Name.
    pub name: String,
    /// Unit.
    pub unit: String,
    /// Value before.
    pub before: f64,
    /// Value that fits.
    pub after: f64,
    /// Rows whose figure it changes.
    pub rows: usize,
    /// Kernels that these rows belong to.
    pub kernels: usize,
}

/// One row before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Residual {
    /// Case.
    pub case: String,
    /// Kernel.
    pub kernel: String,
    /// What is compared.
    pub metric: Metric,
    /// Modelled over published before.
    pub before: f64,
    /// The same after.
    pub after: f64,
    /// The same with constants that were fitted without this row's kernel.
    pub left_out: f64,
}

/// Result of a calibration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// Name of the base description.
    pub machine: String,
    /// Its version.
    pub machine_version: String,
    /// Digest of the table.
    pub table: String,
    /// Constants that moved.
    pub constants: Vec<Moved>,
    /// All rows.
    pub residuals: Vec<Residual>,
    /// Median absolute error before, after, and for kernels that were left out.
    pub median: [f64; 3],
    /// 90th percentile of the same.
    pub p90: [f64; 3],
}
