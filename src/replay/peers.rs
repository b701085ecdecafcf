//! Tables of results in the columns of `peers.csv`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::formats::LoadError;
use super::statistics::BudgetResult;

/// One row: what an engine reached on a space at a budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerRow {
    /// Name of the space.
    pub space: String,
    /// Name of the engine and its strategy.
    pub engine: String,
    /// Evaluations.
    pub budget: usize,
    /// Runs.
    pub repeats: usize,
    /// Median of best found over optimum.
    pub median_ratio: f64,
    /// Mean of best found over optimum.
    pub mean_ratio: f64,
    /// 90th percentile of best found over optimum.
    pub p90_ratio: f64,
    /// Share of runs within 1 % of the optimum.
    pub hit1pct: f64,
    /// See [`BudgetResult::score`].
    pub score: Option<f64>,
}

impl PeerRow {
    /// The row of a result of ours.
    pub fn new(space: &str, engine: &str, result: &BudgetResult) -> Self {
        Self {
            space: space.to_owned(),
            engine: engine.to_owned(),
            budget: result.budget,
            repeats: result.repeats,
            median_ratio: result.median_ratio,
            mean_ratio: result.mean_ratio,
            p90_ratio: result.p90_ratio,
            hit1pct: result.hit1pct,
            score: result.score,
        }
    }
}

/// Reads a table.
pub fn read_peers(path: &Path) -> Result<Vec<PeerRow>, LoadError> {
    let text = fs_err::read(path)?;
    let mut reader = csv::Reader::from_reader(text.as_slice());
    reader
        .deserialize()
        .collect::<Result<_, _>>()
        .map_err(|error| LoadError::Content { path: path.to_owned(), message: error.to_string() })
}

/// The table as CSV text.
pub fn write_rows(rows: &[PeerRow]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
