//! The fidelity report: every row, the order of variants, and the summary.

use std::collections::BTreeMap;

use super::cases::{Case, LeftOut, Table};
use super::statistics::{kendall_tau, quantile};
use aicore::Machine;
use events::fidelity::{Group, KernelOrder, Level, Metric, Missing, Report, Role, Row, SpeedUp, UsedMachine};

/// A published speed-up above this must not be modelled as a slow-down.
const SPEED_UP: f64 = 1.1;
/// Modelled durations closer than this are the same, which is no slow-down.
const SAME: f64 = 0.005;

/// Puts a report together from the modelled figures, which have the order of the table's cases.
pub fn report(table: &Table, modelled: &[Result<f64, String>], machines: &BTreeMap<String, Machine>) -> Report {
    let rows: Vec<Row> = table.cases.iter().zip(modelled).map(|(case, figure)| row(case, figure)).collect();
    let headlines = |level: Level| rows.iter().filter(move |row| row.level == level && row.role == Role::Headline);
    let pipes = rows.iter().filter(|row| {
        row.level == Level::Kernel
            && row.role == Role::Detail
            && matches!(row.metric, Metric::Vec | Metric::Scalar | Metric::Mte2 | Metric::Mte3)
    });
    let mut groups =
        vec![group("whole kernels", headlines(Level::Kernel)), group("pipe times of whole kernels", pipes.clone())];
    for (name, metric) in
        [("vec", Metric::Vec), ("scalar", Metric::Scalar), ("mte2", Metric::Mte2), ("mte3", Metric::Mte3)]
    {
        groups.push(group(&format!("pipe times: {name}"), pipes.clone().filter(move |row| row.metric == metric)));
    }
    groups.push(group("single instructions and copies", headlines(Level::Instruction)));
    groups.push(group("sustained rates", headlines(Level::Bandwidth)));
    groups.push(group("library kernels, tiling ours", headlines(Level::Library)));
    let mut by_category: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in headlines(Level::Kernel) {
        by_category.entry(&row.category).or_default().push(row);
    }
    let (reversed, speed_ups) = speed_ups(&table.cases, &rows);
    Report {
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
        categories: by_category.into_iter().filter_map(|(name, rows)| group(name, rows.into_iter())).collect(),
        rows,
    }
}

fn group<'r>(name: &str, rows: impl Iterator<Item = &'r Row>) -> Option<Group> {
    let errors: Vec<f64> = rows.filter_map(Row::error).collect();
    let (median, p90) = (quantile(&errors, 0.5)?, quantile(&errors, 0.9)?);
    Some(Group { name: name.to_owned(), rows: errors.len(), median, p90 })
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
