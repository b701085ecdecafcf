//! The figures as a page.

use std::fmt::Write as _;

use super::pair::Direction;
use super::refusals::{Answer, Violation};
use super::tally::{Miss, Tally};
use motif::{Id, all};

/// A table of all motifs, what never applied, and a line for each miss.
pub fn render(tally: &Tally) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} pairs on {} kernels, {} runs of changed kernels: {} wrong. {} kernels were at fault themselves, and {} of {} probes.\n",
        tally.pairs(),
        tally.kernels,
        tally.runs(),
        tally.wrong(),
        tally.discarded,
        tally.faulty_probes,
        tally.faulty_probes + tally.probes,
    );
    text.push_str("| motif | way | kernels | sites | refused | undone | pairs | runs | wrong | new hazards | stopped by a case | escaped to a probe |\n");
    text.push_str("|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for ((motif, direction), row) in &tally.rows {
        let id = all().get(*motif).map_or("?", |motif| motif.id().name());
        let _ = writeln!(
            text,
            "| {id} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            direction.name(),
            row.kernels,
            row.sites,
            row.refused,
            row.given_back,
            row.pairs,
            row.runs,
            row.wrong + row.broken,
            row.hazards,
            row.stopped,
            row.escaped
        );
    }
    for direction in [Direction::Apply, Direction::Rewind] {
        let never: Vec<&str> = tally.never(direction).into_iter().map(Id::name).collect();
        if !never.is_empty() {
            let _ = writeln!(text, "\nNEVER RUN, {}: {}", direction.name(), never.join(", "));
        }
    }
    for miss in &tally.misses {
        let _ = writeln!(text, "\nWRONG: {}", line(miss));
    }
    for miss in &tally.conditional {
        let _ = writeln!(text, "\non condition: {}; conditions: {}", line(miss), miss.conditions.join("; "));
    }
    for reason in &tally.reasons {
        let _ = writeln!(text, "\nleft out: {reason}");
    }
    text
}

/// How motifs answered to kernels that violate one precondition each.
pub fn refusals(answers: &[(Violation, Answer)]) -> String {
    let right = answers.iter().filter(|(_, answer)| *answer == Answer::Right).count();
    let mut text = format!("{} violations of preconditions, {right} refused for their reason.\n", answers.len());
    for (violation, answer) in answers.iter().filter(|(_, answer)| *answer != Answer::Right) {
        let _ =
            writeln!(text, "\nNOT REFUSED AS IT SHOULD: {}, {}: {answer:?}", violation.motif, violation.precondition);
    }
    text
}

fn line(miss: &Miss) -> String {
    let Miss { motif, direction, kernel, line, note, failure, .. } = miss;
    format!(
        "{motif} {} on kernel {kernel}, line {line} ({note}): {}; {}",
        direction.name(),
        failure.what.text(),
        failure.launch
    )
}

/// A miss whole: what is wrong, the change, the kernel.
pub fn describe(miss: &Miss) -> String {
    let diff = source::lines::unified(&miss.before, &miss.after, 4, Some(("kernel", "changed")));
    format!("{}\nconditions: {}\n\n{diff}\n\n{}", line(miss), miss.conditions.join("; "), miss.before)
}
