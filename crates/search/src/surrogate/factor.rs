//! A Cholesky factor that grows by rows.

use super::numeric::dot;

/// Lower triangle of the factor of a covariance matrix, row after row in one piece.
#[derive(Clone, Debug, Default)]
pub struct Factor {
    entries: Vec<f64>,
    rows: usize,
}

/// Least square of a diagonal entry: rows that are nearly a combination of others stay invertible.
const LEAST: f64 = 1e-9;

/// Where a row of a lower triangle begins.
fn start(row: usize) -> usize {
    row * (row + 1) / 2
}

impl Factor {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Takes out all rows; the memory stays.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.rows = 0;
    }

    /// A row up to its diagonal, and the diagonal.
    pub fn row(&self, at: usize) -> (&[f64], f64) {
        let row = &self.entries[start(at)..=start(at) + at];
        (&row[..at], row[at])
    }

    /// Appends the row of a point with the covariances `against` the earlier ones, all of them, and `diagonal` with itself.
    pub fn append(&mut self, against: impl IntoIterator<Item = f64>, diagonal: f64) {
        let begin = self.entries.len();
        self.entries.extend(against);
        let (known, row) = self.entries.split_at_mut(begin);
        for at in 0..row.len() {
            let earlier = &known[start(at)..=start(at) + at];
            row[at] = (row[at] - dot(&earlier[..at], &row[..at])) / earlier[at];
        }
        let rest = diagonal - dot(row, row);
        self.entries.push(libm::sqrt(rest.max(LEAST)));
        self.rows += 1;
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

    /// The inverse of the factored matrix. `columns` is memory to work in.
    pub fn inverse<'a>(&self, columns: &'a mut Vec<f64>) -> Inverse<'a> {
        let count = self.len();
        columns.clear();
        for first in 0..count {
            let begin = columns.len();
            columns.push(1.0 / self.row(first).1);
            for at in first + 1..count {
                let (row, diagonal) = self.row(at);
                let value = -dot(&row[first..], &columns[begin..]) / diagonal;
                columns.push(value);
            }
        }
        Inverse { columns, count }
    }
}

/// The inverse of a factored matrix, as the inverse of its factor.
pub struct Inverse<'a> {
    /// Columns of the factor's inverse, each from its diagonal on, the longest first.
    columns: &'a [f64],
    count: usize,
}

impl Inverse<'_> {
    fn column(&self, at: usize) -> &[f64] {
        let begin = at * self.count - at * at.saturating_sub(1) / 2;
        &self.columns[begin..begin + self.count - at]
    }

    /// The entry of row `i` and column `j`, not beyond the diagonal.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        dot(self.column(i), &self.column(j)[i - j..])
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
            factor.append(row[..at].iter().copied(), row[at]);
        }
        factor
    }

    #[test]
    fn solving_undoes_multiplying() {
        let solution = [1.0, -2.0, 0.5];
        let right: Vec<f64> = MATRIX.iter().map(|row| dot(row, &solution)).collect();
        let factor = factor();
        // One more row holds the right side solved by the lower triangle.
        let mut longer = factor.clone();
        longer.append(right.iter().copied(), 100.0);
        let solved = factor.solve_transposed(longer.row(3).0);
        assert!(solved.iter().zip(solution).all(|(a, b)| (a - b).abs() < 1e-12), "{solved:?}");
    }

    #[test]
    fn the_inverse_times_the_matrix_is_one() {
        let (factor, mut memory) = (factor(), Vec::new());
        let inverse = factor.inverse(&mut memory);
        for i in 0..3 {
            for j in 0..3 {
                let entry: f64 =
                    MATRIX.iter().enumerate().map(|(k, row)| inverse.entry(i.max(k), i.min(k)) * row[j]).sum();
                assert!((entry - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }
}
