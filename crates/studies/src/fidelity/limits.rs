//! How many constants a table can hold.

use std::collections::BTreeSet;

/// Change of a row's logarithm with a constant's above which the row counts as touched.
pub(super) const TOUCHED: f64 = 0.02;
/// Rows that must touch a constant.
const LEAST_ROWS: usize = 2;
/// Rows that there must be for each constant.
const ROWS_EACH: usize = 3;
/// Part of a constant's effect that no other constant has, as a share of its whole effect.
const LEAST_OWN: f64 = 0.15;

/// How much one constant changes every row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sensitivity {
    /// Constant.
    pub(super) name: String,
    /// Change of the logarithm of each row with that of the constant.
    pub(super) slopes: Vec<f64>,
}

impl Sensitivity {
    /// Rows that it changes.
    pub(super) fn touched(&self) -> Vec<usize> {
        self.changing(TOUCHED)
    }

    /// Rows that it changes by more than `least`.
    pub(super) fn changing(&self, least: f64) -> Vec<usize> {
        (0..self.slopes.len()).filter(|row| self.slopes[*row].abs() > least).collect()
    }

    /// Kernels of these rows.
    pub(super) fn kernels(&self, kernels: &[String]) -> usize {
        self.touched().into_iter().map(|row| kernels[row].as_str()).collect::<BTreeSet<_>>().len()
    }

    fn size(&self) -> f64 {
        self.slopes.iter().map(|slope| slope * slope).sum::<f64>().sqrt()
    }
}

/// Share of a vector that is left beside orthonormal ones, and the rest itself, normed.
fn own_part(slopes: &[f64], basis: &[Vec<f64>]) -> (f64, Vec<f64>) {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let whole = dot(slopes, slopes).sqrt();
    let mut rest = slopes.to_vec();
    for direction in basis {
        let along = dot(&rest, direction);
        rest.iter_mut().zip(direction).for_each(|(value, direction)| *value -= along * direction);
    }
    let left = dot(&rest, &rest).sqrt();
    rest.iter_mut().for_each(|value| *value /= left.max(f64::MIN_POSITIVE));
    (if whole > 0.0 { left / whole } else { 0.0 }, rest)
}

/// The constants that the rows determine, those with the largest effect first.
pub(super) fn choose(mut all: Vec<Sensitivity>, kernels: &[String]) -> Vec<Sensitivity> {
    all.retain(|constant| constant.touched().len() >= LEAST_ROWS && constant.kernels(kernels) >= 2);
    all.sort_by(|a, b| b.size().total_cmp(&a.size()));
    let most = kernels.len() / ROWS_EACH;
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut chosen = Vec::new();
    for constant in all {
        if chosen.len() == most {
            break;
        }
        let (own, direction) = own_part(&constant.slopes, &basis);
        if own > LEAST_OWN {
            basis.push(direction);
            chosen.push(constant);
        }
    }
    chosen
}

/// Whether the rows determine the constants; if not, which of them they do not.
pub(super) fn refuse(constants: &[Sensitivity], kernels: &[String]) -> Result<(), String> {
    let counts = || {
        let count = |constant: &Sensitivity| {
            format!("`{}` {} rows of {} kernels", constant.name, constant.touched().len(), constant.kernels(kernels))
        };
        constants.iter().map(count).collect::<Vec<_>>().join(", ")
    };
    let too_many = |what: String| {
        Err(format!(
            "{what}; rows that each constant changes: {}; ask for fewer constants, or give rows that differ in them",
            counts()
        ))
    };
    if constants.len() * ROWS_EACH > kernels.len() {
        return too_many(format!("{} rows cannot hold {} constants", kernels.len(), constants.len()));
    }
    if let Some(constant) = constants.iter().find(|constant| constant.touched().len() < LEAST_ROWS) {
        return too_many(format!("too few rows change with `{}`", constant.name));
    }
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for constant in constants {
        let (own, direction) = own_part(&constant.slopes, &basis);
        if own <= LEAST_OWN {
            return too_many(format!("what `{}` does to the rows, the constants before it do as well", constant.name));
        }
        basis.push(direction);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(name: &str, slopes: &[f64]) -> Sensitivity {
        Sensitivity { name: name.to_owned(), slopes: slopes.to_vec() }
    }

    fn kernels() -> Vec<String> {
        (0..6).map(|row| format!("k{}", row / 2)).collect()
    }

    #[test]
    fn constants_that_rows_cannot_tell_apart_are_refused() {
        let one = constant("one", &[1.0, 1.0, 0.5, 0.5, 0.0, 0.0]);
        let twin = constant("twin", &[0.5, 0.5, 0.25, 0.25, 0.0, 0.0]);
        let other = constant("other", &[0.0, 0.0, 0.5, 0.0, 1.0, 1.0]);
        assert!(refuse(&[one.clone(), other.clone()], &kernels()).is_ok());
        let error = refuse(&[one.clone(), twin.clone()], &kernels()).unwrap_err();
        assert!(error.contains("`twin`") && error.contains("4 rows of 2 kernels"), "{error}");
        let error = refuse(&[one.clone(), other.clone(), twin.clone()], &kernels()).unwrap_err();
        assert!(error.contains("cannot hold 3"), "{error}");
        let names: Vec<_> = choose(vec![twin, other, one], &kernels()).into_iter().map(|c| c.name).collect();
        assert_eq!(names, ["one", "other"]);
    }

    #[test]
    fn a_constant_that_changes_one_row_is_refused() {
        let lonely = constant("lonely", &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        assert!(refuse(&[lonely], &kernels()).unwrap_err().contains("too few rows"));
    }
}
