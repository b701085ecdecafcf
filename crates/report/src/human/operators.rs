//! The end of a command on several operators.

use std::fmt::Write as _;

use events::OperatorsDone;

use super::super::units::{counted, factor, seconds};
use super::table::{Align, table};
use super::{BAD, GOOD, paint};

/// One row an operator, and how many ended in which way.
pub(super) fn done(done: &OperatorsDone, color: bool) -> String {
    let claims = done.operators.iter().any(|end| end.claimed.is_some());
    let mut columns = vec![("operator", Align::Left), ("took", Align::Right)];
    if claims {
        columns.insert(1, ("faster", Align::Right));
    }
    columns.push(("ended", Align::Left));
    let rows: Vec<Vec<String>> = done
        .operators
        .iter()
        .map(|end| {
            let ended = match &end.reason {
                _ if end.exit == 0 => "fine".to_owned(),
                Some(reason) => format!("{}: {reason}", end.exit),
                None => format!("{}: as said above", end.exit),
            };
            let mut row = vec![end.project.clone(), seconds(end.wall_s), ended];
            if claims {
                row.insert(1, end.claimed.map_or_else(|| "-".to_owned(), factor));
            }
            row
        })
        .collect();
    let mut text = table(&columns, &rows);
    text.push('\n');
    if done.left_out > 0 {
        let left_out = counted(done.left_out, "operator");
        let _ = writeln!(text, "{left_out} left out: nothing that they depend on has changed");
    }
    let failed = done.operators.iter().filter(|end| end.exit != 0).count() as u64;
    let all = counted(done.operators.len() as u64, "operator");
    let word = if failed == 0 { paint(color, GOOD, "done") } else { paint(color, BAD, "not all done") };
    let rest = if failed == 0 { String::new() } else { format!(", {} did not end well", counted(failed, "operator")) };
    let _ = writeln!(text, "{word}: {all} in {}{rest}", seconds(done.wall_s));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use events::OperatorEnd;

    #[test]
    fn each_operator_has_a_row_and_what_went_wrong_is_counted() {
        let end = |project: &str, exit: u8, claimed: Option<f64>| OperatorEnd {
            project: project.to_owned(),
            exit,
            reason: (exit == 2).then(|| "ascend.toml:3:1: unknown key".to_owned()),
            claimed,
            wall_s: 61.0,
        };
        let operators = vec![end("ops/add", 0, Some(1.25)), end("ops/broken", 2, None), end("ops/gelu", 5, None)];
        let all = OperatorsDone { operators, left_out: 4, wall_s: 183.0 };
        let text = done(&all, false);
        for part in
            ["ops/add      1.25x", "2: ascend.toml:3:1: unknown key", "5: as said above", "4 operators left out"]
        {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(text.ends_with("not all done: 3 operators in 3 m 03 s, 2 operators did not end well\n"), "{text}");
        let fine = OperatorsDone { operators: all.operators[..1].to_vec(), left_out: 0, wall_s: 61.0 };
        assert!(done(&fine, false).ends_with("done: 1 operator in 1 m 01 s\n"));
    }
}
