//! The end of a command on several operators.

use std::fmt::Write as _;

use events::{InitEnd, InitOutcome, InitsDone, OperatorsDone};

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

/// One row for each operator that was looked at; those that have a manifest are counted.
pub(super) fn inits(done: &InitsDone, color: bool) -> String {
    let looked_at: Vec<&InitEnd> = done.operators.iter().filter(|end| end.outcome != InitOutcome::LeftAlone).collect();
    let mut text = String::new();
    if !looked_at.is_empty() {
        let columns = [
            ("operator", Align::Left),
            ("cases", Align::Right),
            ("tunables", Align::Right),
            ("remarks", Align::Right),
            ("took", Align::Right),
            ("ended", Align::Left),
        ];
        let row = |end: &&InitEnd| {
            let ended = match end.outcome {
                InitOutcome::Written => "written".to_owned(),
                InitOutcome::Shown => "only shown".to_owned(),
                InitOutcome::LeftAlone => "left alone".to_owned(),
                InitOutcome::Failed => format!("{}: {}", end.exit, end.reason.as_deref().unwrap_or("as said above")),
            };
            let counts = [end.cases, end.tunables, end.remarks].map(|count| match end.outcome {
                InitOutcome::Failed => "-".to_owned(),
                _ => count.to_string(),
            });
            let [cases, tunables, remarks] = counts;
            vec![end.project.clone(), cases, tunables, remarks, seconds(end.wall_s), ended]
        };
        text.push_str(&table(&columns, &looked_at.iter().map(row).collect::<Vec<_>>()));
        text.push('\n');
    }
    let count = |outcome: InitOutcome| done.operators.iter().filter(|end| end.outcome == outcome).count() as u64;
    let left_alone = count(InitOutcome::LeftAlone);
    if left_alone > 0 {
        let these = counted(left_alone, "operator");
        let _ = writeln!(text, "{these} left alone, with an ascend.toml already; --force makes a new one");
    }
    if !done.other_chips.is_empty() {
        let others = counted(done.other_chips.len() as u64, "operator");
        let _ = writeln!(text, "{others} left out: for other chips only");
    }
    if looked_at.iter().any(|end| end.remarks > 0) {
        text.push_str("Remarks are comments in ascend.toml; --verbose shows them here.\n");
    }
    let (made, failed) = (count(InitOutcome::Written) + count(InitOutcome::Shown), count(InitOutcome::Failed));
    let word = if failed == 0 { paint(color, GOOD, "done") } else { paint(color, BAD, "not all done") };
    let rest = if failed == 0 { String::new() } else { format!(", none for {}", counted(failed, "operator")) };
    let _ = writeln!(text, "{word}: {} in {}{rest}", counted(made, "manifest"), seconds(done.wall_s));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use events::OperatorEnd;

    #[test]
    fn manifests_that_were_made_have_a_row_and_those_that_were_there_are_counted() {
        let end = |project: &str, outcome: InitOutcome| InitEnd {
            project: project.to_owned(),
            outcome,
            cases: 4,
            tunables: 3,
            remarks: u64::from(outcome == InitOutcome::Written),
            reason: (outcome == InitOutcome::Failed).then(|| "no kernel entry".to_owned()),
            exit: if outcome == InitOutcome::Failed { 2 } else { 0 },
            wall_s: 8.0,
            ..InitEnd::default()
        };
        let operators = vec![
            end("abs", InitOutcome::Written),
            end("add", InitOutcome::LeftAlone),
            end("ceil", InitOutcome::Failed),
        ];
        let text = inits(&InitsDone { operators, other_chips: vec!["r/floor".to_owned()], wall_s: 16.0 }, false);
        for part in [
            "abs           4         3        1",
            "2: no kernel entry",
            "1 operator left alone",
            "1 operator left out",
            "Remarks",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(
            !text.contains("\nadd") && text.ends_with("not all done: 1 manifest in 16.0 s, none for 1 operator\n"),
            "{text}"
        );
    }

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
