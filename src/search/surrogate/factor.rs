//! A Cholesky factor that grows by rows.

use super::numeric::dot;

/// Lower triangle of the factor of a covariance matrix, row after row.
#[derive(Clone, Debug, Default)]
pub struct Factor {
    rows: Vec<Vec<f64>>,
}

/// Least square of a diagonal entry: rows that are nearly a combination of others stay invertible.
const LEAST: f64 = 1e-9;

impl Factor {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// A row up to its diagonal, and the diagonal.
    pub fn row(&self, at: usize) -> (&[f64], f64) {
        let row = &self.rows[at];
        (&row[..at], row[at])
    }

    /// Appends the row of a point with the covariances `against` the earlier ones and `diagonal` with itself.
    pub fn append(&mut self, against: &[f64], diagonal: f64) {
        let mut row = self.solve(against);
        let rest = diagonal - dot(&row, &row);
        row.push(libm::sqrt(rest.max(LEAST)));
        self.rows.push(row);
    }

    /// Solves `L v = right` for as many rows as `right` has.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut solved: Vec<f64> = Vec::with_capacity(right.len() + 1);
        for (at, value) in right.iter().enumerate() {
            let (row, diagonal) = self.row(at);
            solved.push((value - dot(row, &solved)) / diagonal);
        }
        solved
    }

    /// Solves `L' x = right`.
    pub fn solve_transposed(&self, right: &[f64]) -> Vec<f64> {
        let mut solved = right.to_vec();
        for at in (0..solved.len()).rev() {
            let (row, diagonal) = self.row(at);
            solved[at] /= diagonal;
            let value = solved[at];
            for (entry, factor) in solved[..at].iter_mut().zip(row) {
                *entry -= factor * value;
            }
        }
        solved
    }

    /// Logarithm of the determinant of the factored matrix.
    pub fn log_determinant(&self) -> f64 {
        2.0 * (0..self.len()).map(|at| libm::log(self.row(at).1)).sum::<f64>()
    }

    /// Lower triangle of the inverse of the factored matrix.
    pub fn inverse(&self) -> Vec<Vec<f64>> {
        let count = self.len();
        // Columns of L^-1, each from its diagonal on.
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(count);
        for start in 0..count {
            let mut column = vec![1.0 / self.row(start).1];
            for at in start + 1..count {
                let (row, diagonal) = self.row(at);
                column.push(-dot(&row[start..], &column) / diagonal);
            }
            columns.push(column);
        }
        (0..count).map(|i| (0..=i).map(|j| dot(&columns[i], &columns[j][i - j..])).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Covariances of three points, with a little noise on the diagonal.
    const MATRIX: [[f64; 3]; 3] = [[1.1, 0.5, 0.2], [0.5, 1.1, 0.4], [0.2, 0.4, 1.1]];

    fn factor() -> Factor {
        let mut factor = Factor::default();
        for (at, row) in MATRIX.iter().enumerate() {
            factor.append(&row[..at], row[at]);
        }
        factor
    }

    #[test]
    fn solving_undoes_multiplying() {
        let solution = [1.0, -2.0, 0.5];
        let right: Vec<f64> = MATRIX.iter().map(|row| dot(row, &solution)).collect();
        let factor = factor();
        let solved = factor.solve_transposed(&factor.solve(&right));
        assert!(solved.iter().zip(solution).all(|(a, b)| (a - b).abs() < 1e-12), "{solved:?}");
    }

    #[test]
    fn the_inverse_times_the_matrix_is_one() {
        let inverse = factor().inverse();
        for i in 0..3 {
            for j in 0..3 {
                let entry: f64 = MATRIX.iter().enumerate().map(|(k, row)| inverse[i.max(k)][i.min(k)] * row[j]).sum();
                assert!((entry - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }
}
