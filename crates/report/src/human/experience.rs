//! What `rewind` and `bank` found, as text.

use std::fmt::Write as _;

use events::{Bank, MotifStatistics, Rewind};

use super::super::units::{counted, factor};
use super::table::{Align, table};

/// Motifs taken out, and what each yielded.
pub(super) fn rewind(rewind: &Rewind) -> String {
    let rows: Vec<Vec<String>> = rewind
        .steps
        .iter()
        .map(|step| {
            vec![
                step.motif.clone(),
                step.missing.join(" "),
                step.site.clone(),
                step.gain.map_or_else(|| "-".to_owned(), factor),
                if step.kept { "kept" } else { "dropped" }.to_owned(),
                step.detail.clone(),
            ]
        })
        .collect();
    let gain = format!("gain ({})", rewind.origin.word());
    let mut text = table(
        &[
            ("motif", Align::Left),
            ("without", Align::Left),
            ("removed at", Align::Left),
            (&gain, Align::Right),
            ("record", Align::Left),
            ("", Align::Left),
        ],
        &rows,
    );
    let yields: Vec<Vec<String>> = rewind
        .yields
        .iter()
        .map(|one| {
            let most = if one.kept > 0 { factor(one.most) } else { "-".to_owned() };
            vec![one.motif.clone(), one.tried.to_string(), one.right.to_string(), one.kept.to_string(), most]
        })
        .collect();
    if !yields.is_empty() {
        text.push('\n');
        text.push_str(&table(
            &[
                ("motif", Align::Left),
                ("rewinds", Align::Right),
                ("right", Align::Right),
                ("kept", Align::Right),
                ("most", Align::Right),
            ],
            &yields,
        ));
    }
    let kept = rewind.steps.iter().filter(|step| step.kept).count() as u64;
    let _ = writeln!(text, "\n{} written to {} ({})", counted(kept, "record"), rewind.bank, rewind.machine);
    text
}

fn motif_statistics(motifs: &[MotifStatistics]) -> String {
    let rows: Vec<Vec<String>> = motifs
        .iter()
        .map(|one| {
            let counts =
                [one.records, one.operators, one.kept, one.no_gain, one.effect_without_mechanism, one.rejected];
            let mut row = vec![one.motif.clone()];
            row.extend(counts.iter().map(ToString::to_string));
            row.extend([one.lower, one.median, one.upper].map(factor));
            row
        })
        .collect();
    let columns = [
        ("motif", Align::Left),
        ("records", Align::Right),
        ("operators", Align::Right),
        ("kept", Align::Right),
        ("no gain", Align::Right),
        ("other effect", Align::Right),
        ("refused", Align::Right),
        ("lower quarter", Align::Right),
        ("median", Align::Right),
        ("upper quarter", Align::Right),
    ];
    table(&columns, &rows)
}

/// The records of a bank.
pub(super) fn bank(bank: &Bank) -> String {
    let rows: Vec<Vec<String>> = bank
        .records
        .iter()
        .map(|record| {
            vec![
                record.id.clone(),
                record.motif.clone(),
                record.operator.clone(),
                factor(record.gain),
                record.summary.clone(),
            ]
        })
        .collect();
    let mut text = String::new();
    if !rows.is_empty() {
        text.push_str(&table(
            &[
                ("record", Align::Left),
                ("motif", Align::Left),
                ("operator", Align::Left),
                ("gain", Align::Right),
                ("what it says", Align::Left),
            ],
            &rows,
        ));
        text.push('\n');
    }
    if !bank.motifs.is_empty() {
        text.push_str(&motif_statistics(&bank.motifs));
        text.push('\n');
    }
    let _ = match (bank.added, bank.removed) {
        (Some(added), _) => writeln!(text, "{} added to {}", counted(added, "record"), bank.path),
        (_, Some(removed)) => writeln!(text, "{} removed from {}", counted(removed, "record"), bank.path),
        _ if !bank.motifs.is_empty() => {
            let records = bank.motifs.iter().map(|motif| motif.records).sum();
            writeln!(
                text,
                "{} of {} in {}",
                counted(records, "record"),
                counted(bank.motifs.len() as u64, "motif"),
                bank.path
            )
        }
        _ => writeln!(text, "{} in {}", counted(bank.records.len() as u64, "record"), bank.path),
    };
    text
}
