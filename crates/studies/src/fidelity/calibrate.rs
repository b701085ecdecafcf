//! Constants of a machine fitted to published or measured figures.
//!
//! What is fitted is the logarithm of the ratio of modelled and measured figures, every kernel with the same weight and large
//! misses with less than their square, by the Levenberg-Marquardt method over the logarithms of the constants. Constants
//! that are documented or measured never move.

use std::collections::{BTreeMap, BTreeSet};

use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra::{DMatrix, DVector, Dyn, Owned};

use super::cases::Case;
use super::limits::{Sensitivity, TOUCHED, choose, refuse};
use super::measure::{Recorded, Recordings, model};
use super::statistics::quantile;
use aicore::Machine;
use events::fidelity::{Calibration, Moved, Residual};

/// A constant moves by no more than this factor.
const MOST_FACTOR: f64 = 3.0;
/// Step of the differences, in the logarithm: well above the steps that the model takes by counting whole things.
pub(super) const STEP: f64 = 0.03;
/// Effect of a constant on a row that counts in figures which one device gave, as `TOUCHED` does in others.
const LEAST_EFFECT: f64 = 0.002;
/// Misses above this, in the logarithm, count linearly.
const HUBER: f64 = 0.15;
/// Pull towards the constant as it was, small beside any row.
const PULL: f64 = 0.01;
/// Rounds that the method may take, and the relative change at which it ends: where figures are from many hands, and where one
/// device gave them all.
const FROM_TABLES: (usize, f64) = (8, 1e-4);
const FROM_ONE_DEVICE: (usize, f64) = (40, 1e-7);

/// What to fit.
pub struct Task<'t> {
    /// Rows to fit to.
    pub cases: Vec<Case>,
    /// Their traces.
    pub recorded: &'t Recorded,
    /// Machines by the names that rows have for them.
    pub machines: &'t BTreeMap<String, Machine>,
    /// Description whose constants move.
    pub base: &'t Machine,
    /// Constants asked for; empty for those that the rows determine.
    pub constants: Vec<String>,
    /// Constants that the rows were made for, where one device gave them all: without others that are asked for, they are chosen
    /// among these. Empty for a table of figures from many hands, where all that may move are looked at.
    pub among: Vec<String>,
    /// Plays at the same time.
    pub jobs: usize,
}

/// Why nothing was fitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CalibrateError {
    /// No row may be used.
    #[error("no row has a figure and `yes` under `fit`")]
    NoRows,
    /// A constant that the machine does not have.
    #[error("`{0}` is no constant of the machine")]
    Unknown(String),
    /// A constant that is known better than by fitting.
    #[error("`{name}` is {confidence} and does not move; its source: {source_text}")]
    Fixed {
        /// Constant.
        name: String,
        /// How it is known.
        confidence: String,
        /// Its source.
        source_text: String,
    },
    /// The rows do not determine the constants.
    #[error("{0}")]
    TooMany(String),
    /// The method found nothing.
    #[error("the fit did not come to an end: {0}")]
    Failed(String),
}

/// Fits.
pub fn calibrate(task: &Task<'_>, table: &str) -> Result<Calibration, CalibrateError> {
    let wanted = candidates(task)?;
    let recordings = Recordings::of(task.recorded);
    let mut fitting = Fitting::new(task, &recordings)?;
    let sensitivities: Vec<Sensitivity> = wanted.iter().map(|name| fitting.sensitivity(name)).collect();
    let chosen = if task.constants.is_empty() {
        choose(sensitivities, &fitting.kernels())
    } else {
        refuse(&sensitivities, &fitting.kernels()).map_err(CalibrateError::TooMany)?;
        sensitivities
    };
    if chosen.is_empty() {
        return Err(CalibrateError::TooMany("no constant that may move changes enough rows".to_owned()));
    }
    fitting.names = chosen.iter().map(|constant| constant.name.clone()).collect();
    let one_device = !task.among.is_empty();
    // Small effects on many rows add up, where the figures are exact enough to show them.
    let least = if one_device { LEAST_EFFECT } else { TOUCHED };
    fitting.touched = chosen.iter().map(|constant| constant.changing(least)).collect();
    fitting.theta = DVector::zeros(chosen.len());
    let before = fitting.logs.clone();
    let (patience, least_change) = if one_device { FROM_ONE_DEVICE } else { FROM_TABLES };
    let (fitting, report) = LevenbergMarquardt::new()
        .with_ftol(least_change)
        .with_xtol(least_change)
        .with_gtol(least_change.min(1e-6))
        .with_patience(patience)
        .minimize(fitting);
    if !report.objective_function.is_finite() {
        return Err(CalibrateError::Failed(format!("{:?}", report.termination)));
    }
    let left_out = fitting.leave_one_out();
    let ratio = |log: f64| log.exp();
    let residuals: Vec<Residual> = fitting
        .cases
        .iter()
        .enumerate()
        .map(|(index, case)| Residual {
            case: case.case.clone(),
            kernel: case.kernel.clone(),
            metric: case.metric,
            before: ratio(before[index]),
            after: ratio(fitting.logs[index]),
            left_out: ratio(left_out[index]),
        })
        .collect();
    let errors = |pick: fn(&Residual) -> f64, share: f64| {
        let errors: Vec<f64> = residuals.iter().map(|row| (pick(row) - 1.0).abs()).collect();
        quantile(&errors, share).unwrap_or(0.0)
    };
    let picks: [fn(&Residual) -> f64; 3] = [|row| row.before, |row| row.after, |row| row.left_out];
    let values = fitting.values(&fitting.theta);
    let constants = chosen.iter().map(|constant| Moved {
        name: constant.name.clone(),
        unit: task.base.constants[&constant.name].unit.clone(),
        before: task.base.constants[&constant.name].value,
        after: values[&constant.name],
        rows: constant.touched().len(),
        kernels: constant.kernels(&fitting.kernels()),
    });
    Ok(Calibration {
        machine: task.base.name.clone(),
        machine_version: task.base.version.clone(),
        table: table.to_owned(),
        constants: constants.collect(),
        median: picks.map(|pick| errors(pick, 0.5)),
        p90: picks.map(|pick| errors(pick, 0.9)),
        residuals,
    })
}

/// Constants that are asked for or may move.
fn candidates(task: &Task<'_>) -> Result<Vec<String>, CalibrateError> {
    if task.constants.is_empty() {
        let movable = task
            .base
            .constants
            .iter()
            .filter(|(_, constant)| constant.confidence.may_be_fitted() && constant.value > 0.0)
            .filter(|(name, _)| task.among.is_empty() || task.among.contains(name));
        return Ok(movable.map(|(name, _)| name.clone()).collect());
    }
    let unique: BTreeSet<&String> = task.constants.iter().collect();
    for name in unique.iter().copied() {
        let constant = task.base.constants.get(name).ok_or_else(|| CalibrateError::Unknown(name.clone()))?;
        if !constant.confidence.may_be_fitted() {
            return Err(CalibrateError::Fixed {
                name: name.clone(),
                confidence: format!("{:?}", constant.confidence).to_lowercase(),
                source_text: constant.source.clone(),
            });
        }
    }
    Ok(unique.into_iter().cloned().collect())
}

/// The problem that the optimiser sees, and the state it is in.
struct Fitting<'t> {
    task: &'t Task<'t>,
    recordings: &'t Recordings<'t>,
    cases: Vec<Case>,
    names: Vec<String>,
    /// Rows that each constant changes.
    touched: Vec<Vec<usize>>,
    weights: Vec<f64>,
    theta: DVector<f64>,
    /// Logarithms of modelled over published.
    logs: Vec<f64>,
}

impl<'t> Fitting<'t> {
    fn new(task: &'t Task<'t>, recordings: &'t Recordings<'t>) -> Result<Self, CalibrateError> {
        let modelled = model(&task.cases, recordings, task.machines, task.jobs);
        let mut cases = Vec::new();
        let mut logs = Vec::new();
        for (case, figure) in task.cases.iter().zip(modelled) {
            if let Some(figure) = figure.ok().filter(|figure| *figure > 0.0) {
                logs.push((figure / case.published).ln());
                cases.push(case.clone());
            }
        }
        if cases.is_empty() {
            return Err(CalibrateError::NoRows);
        }
        let mut rows: BTreeMap<&str, f64> = BTreeMap::new();
        for case in &cases {
            *rows.entry(&case.kernel).or_default() += 1.0;
        }
        let weights = cases.iter().map(|case| 1.0 / rows[case.kernel.as_str()].sqrt()).collect();
        Ok(Self {
            task,
            recordings,
            names: Vec::new(),
            touched: Vec::new(),
            weights,
            theta: DVector::zeros(0),
            logs,
            cases,
        })
    }

    fn kernels(&self) -> Vec<String> {
        self.cases.iter().map(|case| case.kernel.clone()).collect()
    }

    /// Values of the constants; the bound is approached, never crossed.
    fn values(&self, theta: &DVector<f64>) -> BTreeMap<String, f64> {
        let limit = MOST_FACTOR.ln();
        let value = |(name, theta): (&String, &f64)| {
            let factor = (limit * (theta / limit).tanh()).exp();
            (name.clone(), self.task.base.constants[name].value * factor)
        };
        self.names.iter().zip(theta.iter()).map(value).collect()
    }

    /// Logarithms of some rows with other values.
    fn logs_with(&self, values: &BTreeMap<String, f64>, rows: &[usize]) -> Vec<f64> {
        let cases: Vec<Case> = rows.iter().map(|row| self.cases[*row].clone()).collect();
        let machines = self.task.machines.iter();
        let moved = machines
            .map(|(name, machine)| (name.clone(), machine.with_values(&machine.inherited(self.task.base, values))));
        let modelled = model(&cases, self.recordings, &moved.collect(), self.task.jobs);
        let log = |(figure, case): (Result<f64, String>, &Case)| {
            let figure = figure.unwrap_or(case.published).max(1e-6 * case.published);
            (figure / case.published).ln()
        };
        modelled.into_iter().zip(&cases).map(log).collect()
    }

    /// How much one constant changes every row, from where the machine stands.
    fn sensitivity(&self, name: &str) -> Sensitivity {
        let value = self.task.base.constants[name].value;
        let all: Vec<usize> = (0..self.cases.len()).collect();
        let moved = self.logs_with(&BTreeMap::from([(name.to_owned(), value * STEP.exp())]), &all);
        let slopes = moved.iter().zip(&self.logs).map(|(after, before)| (after - before) / STEP).collect();
        Sensitivity { name: name.to_owned(), slopes }
    }

    /// Change of the logarithms with each constant, here.
    fn slopes(&self) -> DMatrix<f64> {
        let mut slopes = DMatrix::zeros(self.cases.len(), self.names.len());
        for (column, rows) in self.touched.iter().enumerate() {
            let mut theta = self.theta.clone();
            theta[column] += STEP;
            let moved = self.logs_with(&self.values(&theta), rows);
            for (row, log) in rows.iter().zip(moved) {
                slopes[(*row, column)] = (log - self.logs[*row]) / STEP;
            }
        }
        slopes
    }

    /// Rows as they would be with constants fitted without their kernel: fitted on the slopes at the result, then played.
    fn leave_one_out(&self) -> Vec<f64> {
        let slopes = self.slopes();
        let mut result = self.logs.clone();
        let kernels: BTreeSet<String> = self.kernels().into_iter().collect();
        for kernel in kernels {
            let (mut normal, mut right) = self.pull(&self.theta);
            for row in (0..self.cases.len()).filter(|row| self.cases[*row].kernel != kernel) {
                // Large misses count linearly, as in the fit itself.
                let weight = self.weights[row].powi(2) * (HUBER / self.logs[row].abs().max(HUBER));
                let slope = slopes.row(row).transpose();
                normal += &slope * slope.transpose() * weight;
                right -= &slope * (weight * self.logs[row]);
            }
            let Some(step) = normal.lu().solve(&right) else { continue };
            let theta = &self.theta + step;
            let rows: Vec<usize> = (0..self.cases.len()).filter(|row| self.cases[*row].kernel == kernel).collect();
            for (row, log) in rows.iter().zip(self.logs_with(&self.values(&theta), &rows)) {
                result[*row] = log;
            }
        }
        result
    }

    fn pull(&self, theta: &DVector<f64>) -> (DMatrix<f64>, DVector<f64>) {
        let count = theta.len();
        (DMatrix::identity(count, count) * PULL.powi(2), -theta * PULL.powi(2))
    }
}

/// A miss as the optimiser sees it: itself while it is small, its root beyond.
fn softened(log: f64) -> f64 {
    if log.abs() <= HUBER { log } else { log.signum() * (2.0 * HUBER * log.abs() - HUBER * HUBER).sqrt() }
}

fn softened_slope(log: f64) -> f64 {
    if log.abs() <= HUBER { 1.0 } else { HUBER / (2.0 * HUBER * log.abs() - HUBER * HUBER).sqrt() }
}

impl LeastSquaresProblem<f64, Dyn, Dyn> for Fitting<'_> {
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;
    type ParameterStorage = Owned<f64, Dyn>;

    fn set_params(&mut self, theta: &DVector<f64>) {
        self.theta = theta.clone();
        let all: Vec<usize> = (0..self.cases.len()).collect();
        self.logs = self.logs_with(&self.values(theta), &all);
    }

    fn params(&self) -> DVector<f64> {
        self.theta.clone()
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        let rows = self.logs.iter().zip(&self.weights).map(|(log, weight)| weight * softened(*log));
        Some(DVector::from_iterator(
            self.logs.len() + self.theta.len(),
            rows.chain(self.theta.iter().map(|t| PULL * t)),
        ))
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        let slopes = self.slopes();
        let (rows, columns) = slopes.shape();
        Some(DMatrix::from_fn(rows + columns, columns, |row, column| {
            if row < rows {
                self.weights[row] * softened_slope(self.logs[row]) * slopes[(row, column)]
            } else if row - rows == column {
                PULL
            } else {
                0.0
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::traces::Run;
    use super::super::{Table, Unit};
    use super::*;
    use aicore::testing::{TraceBuilder, pipe};
    use events::fidelity::{Level, Metric, Role};

    /// A table of copies and additions whose figures the model itself makes, with some constants moved.
    fn table_of(moved: &[(&str, f64)]) -> (Vec<Case>, Recorded, BTreeMap<String, Machine>) {
        let base = Machine::named("ascend910b2").unwrap();
        let values = moved.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let truth = BTreeMap::from([("ascend910b2".to_owned(), base.with_values(&values))]);
        let mut cases = Vec::new();
        let mut recorded = Recorded::new();
        for (kernel, len) in [("small", 256_u32), ("middle", 1024), ("large", 8192), ("huge", 32768)] {
            for (variant, waits, stores) in [("in", true, false), ("out", true, true), ("stream", false, false)] {
                let mut builder = TraceBuilder::default();
                let core = builder.core(0);
                for index in 0..8_u64 {
                    core.load(0, index << 20, len);
                    if waits {
                        core.barrier(pipe::MTE2);
                    }
                    if stores {
                        core.order(pipe::MTE2, pipe::MTE3, 0);
                        core.store((index << 20) + (1 << 30), 0, len).order(pipe::MTE3, pipe::MTE2, 0);
                    }
                }
                core.end();
                let case = Case {
                    case: format!("{kernel}-{variant}"),
                    kernel: kernel.to_owned(),
                    level: Level::Kernel,
                    category: String::new(),
                    role: Role::Headline,
                    program: format!("{kernel}-{variant}"),
                    defines: Vec::new(),
                    arguments: Vec::new(),
                    launch: None,
                    minus: None,
                    warmth: aicore::Warmth::Cold,
                    machine: "ascend910b2".to_owned(),
                    metric: Metric::CoreLongest,
                    scale: 1.0,
                    published: 1.0,
                    unit: Unit::Microseconds,
                    fit: true,
                    compare: None,
                    note: String::new(),
                    line: 0,
                };
                recorded.insert(Run::of(&case), Ok(builder.build()));
                cases.push(case);
            }
        }
        for (figure, case) in model(&cases.clone(), &Recordings::of(&recorded), &truth, 1).into_iter().zip(&mut cases) {
            case.published = figure.unwrap();
        }
        (cases, recorded, BTreeMap::from([("ascend910b2".to_owned(), base)]))
    }

    fn fit(moved: &[(&str, f64)], constants: &[&str]) -> Result<Calibration, CalibrateError> {
        let (cases, recorded, machines) = table_of(moved);
        let base = &machines["ascend910b2"];
        let constants = constants.iter().map(|name| (*name).to_owned()).collect();
        let among = Vec::new();
        calibrate(
            &Task { cases, recorded: &recorded, machines: &machines, base, constants, among, jobs: 1 },
            "0123456789",
        )
    }

    #[test]
    fn moved_constants_are_found_again_and_the_others_stay() {
        let truth = [("mte2_startup_cycles", 280.0), ("mte3_startup_cycles", 120.0)];
        let result = fit(&truth, &["mte2_startup_cycles", "mte3_startup_cycles"]).unwrap();
        for (name, expected) in truth {
            let found = result.constants.iter().find(|constant| constant.name == name).unwrap();
            assert!((found.after / expected - 1.0).abs() < 0.02, "{name}: {} for {expected}", found.after);
        }
        assert!(result.p90[1] < 0.01 && result.p90[0] > 0.05, "{:?}", result.p90);
        assert!(result.p90[2] < 0.05, "kernels left out: {:?}", result.p90);
        let text = super::super::description(&result, "ascend910b2", None);
        let machine = Machine::parse("fitted.toml", &text).unwrap();
        let base = Machine::named("ascend910b2").unwrap();
        for (name, constant) in &machine.constants {
            let moved = truth.iter().any(|(moved, _)| moved == name);
            assert_eq!(moved, constant.value != base.constants[name].value, "{name}");
        }
        assert_eq!(machine.version, format!("{}+01234567", base.version));
    }

    #[test]
    fn constants_are_chosen_by_what_the_rows_determine() {
        let result = fit(&[("mte2_startup_cycles", 280.0)], &[]).unwrap();
        assert!(result.constants.iter().any(|constant| constant.name == "mte2_startup_cycles"));
        assert!(result.constants.iter().all(|constant| constant.name != "sync_all_cycles"));
        assert!(result.p90[1] < result.p90[0]);
    }

    #[test]
    fn what_is_documented_and_what_rows_cannot_hold_is_refused() {
        let refused = |names: &[&str]| fit(&[], names).unwrap_err();
        assert!(matches!(refused(&["clock_mhz"]), CalibrateError::Fixed { .. }));
        assert!(matches!(refused(&["warp_speed"]), CalibrateError::Unknown(_)));
        assert!(refused(&["sync_all_cycles"]).to_string().contains("`sync_all_cycles` 0 rows"));
        let many = ["mte2_startup_cycles", "mte3_startup_cycles", "dma_accept_cycles", "prologue_us", "barrier_cycles"];
        assert!(refused(&many).to_string().contains("cannot hold 5"));
    }

    #[test]
    fn a_table_without_rows_to_fit_is_refused() {
        let table = Table::parse("t.csv", "case,note\na,no program\n").unwrap();
        assert!(table.cases.is_empty());
        let machines = BTreeMap::from([("ascend910b2".to_owned(), Machine::named("ascend910b2").unwrap())]);
        let recorded = Recorded::new();
        let base = &machines["ascend910b2"];
        let task = Task {
            cases: table.cases,
            recorded: &recorded,
            machines: &machines,
            base,
            constants: Vec::new(),
            among: Vec::new(),
            jobs: 1,
        };
        assert_eq!(calibrate(&task, "").unwrap_err(), CalibrateError::NoRows);
    }
}
