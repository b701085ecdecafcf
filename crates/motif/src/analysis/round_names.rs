//! The names that several rows a round are written with, by which they are found again.

/// Name of the constant.
pub(crate) const ROWS: &str = "ROWS_PER_ROUND";
/// Number of rows of a round, and the row among them.
pub(crate) const COUNT: &str = "roundRows";
/// The row among those of a round.
pub(crate) const ROW: &str = "roundRow";
/// Comment behind a barrier that keeps rows apart.
pub(crate) const BETWEEN: &str = " // before the next row";
/// Rows of a round to choose from, in words because places with several choices are ordered by them: the first is the
/// one that is taken where no choice is asked for.
pub(crate) const CHOICES: &[(i64, &str)] =
    &[(8, "eight"), (4, "four"), (16, "sixteen"), (32, "thirty-two"), (2, "two")];
