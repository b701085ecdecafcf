//! The fidelity report: every row, the order of variants, and the summary.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cases::{Case, LeftOut, Level, Metric, Role, Table};
use super::statistics::{kendall_tau, quantile};
use crate::aicore::Machine;

/// A published speed-up above this must not be modelled as a slow-down.
const SPEED_UP: f64 = 1.1;
/// Modelled durations closer than this are the same, which is no slow-down.
const SAME: f64 = 0.005;

/// One row of the table with what the model says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelOrder {
    /// Kernel.
    pub kernel: String,
    /// Variants that were compared.
    pub variants: usize,
    /// Kendall's tau of modelled and published durations.
    pub tau: f64,
}

/// One change that was published as a speed-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

impl Group {
    fn of<'r>(name: &str, rows: impl Iterator<Item = &'r Row>) -> Option<Self> {
        let errors: Vec<f64> = rows.filter_map(Row::error).collect();
        let (median, p90) = (quantile(&errors, 0.5)?, quantile(&errors, 0.9)?);
        Some(Self { name: name.to_owned(), rows: errors.len(), median, p90 })
    }
}

/// A machine description that rows were played on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsedMachine {
    /// Name in the table.
    pub name: String,
    /// Version of the description.
    pub version: String,
    /// Start of its digest.
    pub digest: String,
}

/// A published case without a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Missing {
    /// Name, or names with `*`.
    pub case: String,
    /// Why.
    pub reason: String,
}

/// The whole report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Puts a report together from the modelled figures, which have the order of the table's cases.
    pub fn new(table: &Table, modelled: &[Result<f64, String>], machines: &BTreeMap<String, Machine>) -> Self {
        let rows: Vec<Row> = table.cases.iter().zip(modelled).map(|(case, figure)| row(case, figure)).collect();
        let headlines = |level: Level| rows.iter().filter(move |row| row.level == level && row.role == Role::Headline);
        let pipes = rows.iter().filter(|row| {
            row.level == Level::Kernel
                && row.role == Role::Detail
                && matches!(row.metric, Metric::Vec | Metric::Scalar | Metric::Mte2 | Metric::Mte3)
        });
        let mut groups = vec![
            Group::of("whole kernels", headlines(Level::Kernel)),
            Group::of("pipe times of whole kernels", pipes.clone()),
        ];
        for (name, metric) in
            [("vec", Metric::Vec), ("scalar", Metric::Scalar), ("mte2", Metric::Mte2), ("mte3", Metric::Mte3)]
        {
            groups
                .push(Group::of(&format!("pipe times: {name}"), pipes.clone().filter(move |row| row.metric == metric)));
        }
        groups.push(Group::of("single instructions and copies", headlines(Level::Instruction)));
        groups.push(Group::of("sustained rates", headlines(Level::Bandwidth)));
        groups.push(Group::of("library kernels, tiling ours", headlines(Level::Library)));
        let mut by_category: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for row in headlines(Level::Kernel) {
            by_category.entry(&row.category).or_default().push(row);
        }
        let (reversed, speed_ups) = speed_ups(&table.cases, &rows);
        Self {
            table: table.digest.clone(),
            machines: machines
                .iter()
                .map(|(name, machine)| UsedMachine {
                    name: name.clone(),
                    version: machine.version.clone(),
                    digest: machine.digest()[..16].to_owned(),
                })
                .collect(),
            left_out: table
                .left_out
                .iter()
                .map(|LeftOut { case, reason }| Missing { case: case.clone(), reason: reason.clone() })
                .collect(),
            orders: orders(&rows),
            reversed,
            speed_ups,
            groups: groups.into_iter().flatten().collect(),
            categories: by_category.into_iter().filter_map(|(name, rows)| Group::of(name, rows.into_iter())).collect(),
            rows,
        }
    }

    /// Mean of tau over the kernels.
    pub fn mean_tau(&self) -> Option<f64> {
        let sum: f64 = self.orders.iter().map(|order| order.tau).sum();
        (!self.orders.is_empty()).then(|| sum / self.orders.len() as f64)
    }
}

fn row(case: &Case, figure: &Result<f64, String>) -> Row {
    Row {
        case: case.case.clone(),
        kernel: case.kernel.clone(),
        level: case.level,
        category: case.category.clone(),
        role: case.role,
        metric: case.metric,
        unit: serde_json::to_value(case.unit).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default(),
        published: case.published,
        modelled: figure.as_ref().ok().copied(),
        fit: case.fit,
        machine: case.machine.clone(),
        note: figure.as_ref().map_or_else(Clone::clone, |_| case.note.clone()),
    }
}

/// Tau of every kernel that has at least two headline rows in one metric and unit.
fn orders(rows: &[Row]) -> Vec<KernelOrder> {
    /// Kernel, metric and unit: figures that can be put in one order.
    type Group<'row> = (&'row str, Metric, &'row str);
    type Pairs = Vec<(f64, f64)>;
    let mut kernels: BTreeMap<Group<'_>, Pairs> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.level == Level::Kernel && row.role == Role::Headline) {
        if let Some(modelled) = row.modelled {
            kernels.entry((&row.kernel, row.metric, &row.unit)).or_default().push((row.published, modelled));
        }
    }
    let order = |(&(kernel, _, _), pairs): (&Group<'_>, &Pairs)| {
        Some(KernelOrder { kernel: kernel.to_owned(), variants: pairs.len(), tau: kendall_tau(pairs)? })
    };
    kernels.iter().filter_map(order).collect()
}

/// Published speed-ups that the model has as slow-downs, and how many there were.
fn speed_ups(cases: &[Case], rows: &[Row]) -> (Vec<SpeedUp>, usize) {
    let (mut reversed, mut counted) = (Vec::new(), 0);
    for (case, after) in cases.iter().zip(rows) {
        let Some(name) = case.compare.as_ref().filter(|_| after.level == Level::Kernel) else { continue };
        let before = rows.iter().find(|row| row.case == *name && row.metric == after.metric && row.unit == after.unit);
        let Some(before) = before else { continue };
        let (Some(modelled_before), Some(modelled_after)) = (before.modelled, after.modelled) else { continue };
        // A change that costs is a speed-up the other way round.
        let (from, to, published, modelled) = if before.published >= after.published {
            (before, after, before.published / after.published, modelled_before / modelled_after)
        } else {
            (after, before, after.published / before.published, modelled_after / modelled_before)
        };
        if published > SPEED_UP {
            counted += 1;
            if modelled < 1.0 - SAME {
                reversed.push(SpeedUp { from: from.case.clone(), to: to.case.clone(), published, modelled });
            }
        }
    }
    (reversed, counted)
}
