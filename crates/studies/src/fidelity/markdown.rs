//! The report as Markdown.

use std::fmt::Write;

use events::fidelity::{Group, Level, Report, Role, Row};

/// Renders a report. `command` is what makes it again.
pub fn render(report: &Report, command: &str) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_report(&mut text, report, command);
    text
}

fn write_report(out: &mut String, report: &Report, command: &str) -> std::fmt::Result {
    writeln!(out, "# How far the model is right\n")?;
    writeln!(out, "Written by `{command}`; do not edit.\n")?;
    writeln!(
        out,
        "Every time in the column *modelled* comes from the model alone; nothing was measured here. The published"
    )?;
    writeln!(
        out,
        "figures are other people's, of programs that ours were written to do the same work as. A row with a"
    )?;
    writeln!(
        out,
        "mark under *fit* may have been used to choose constants, so that its error says little about unseen kernels.\n"
    )?;
    writeln!(out, "Table of cases: `{}`. Machine descriptions:", report.table)?;
    for machine in &report.machines {
        writeln!(out, "`{}` version {} (`{}`)", machine.name, machine.version, machine.digest)?;
    }
    writeln!(out, "\n## Summary\n")?;
    groups(out, &report.groups)?;
    if let Some(tau) = report.mean_tau() {
        writeln!(out, "\nMean of Kendall's tau over {} kernels: {tau:.2}.", report.orders.len())?;
    }
    writeln!(
        out,
        "Of {} published changes by more than 1.1 times, {} are modelled the other way round.\n",
        report.speed_ups,
        report.reversed.len()
    )?;
    for pair in &report.reversed {
        writeln!(
            out,
            "- {} to {}: published {:.2} times faster, modelled {:.2}",
            pair.from, pair.to, pair.published, pair.modelled
        )?;
    }
    writeln!(out, "\n## Whole kernels by category\n")?;
    groups(out, &report.categories)?;
    writeln!(out, "\n## Order of variants\n\n| kernel | variants | Kendall's tau |\n|---|---:|---:|")?;
    for order in &report.orders {
        writeln!(out, "| {} | {} | {:.2} |", order.kernel, order.variants, order.tau)?;
    }
    for (title, level, role) in [
        ("Whole kernels", Level::Kernel, Role::Headline),
        ("Pipe times of whole kernels", Level::Kernel, Role::Detail),
        ("Single instructions and copies", Level::Instruction, Role::Headline),
        ("Sustained rates of one core", Level::Bandwidth, Role::Headline),
        ("Library kernels whose tiling is not known", Level::Library, Role::Headline),
    ] {
        let rows: Vec<&Row> = report.rows.iter().filter(|row| row.level == level && row.role == role).collect();
        if !rows.is_empty() {
            writeln!(out, "\n## {title}\n")?;
            table(out, &rows)?;
        }
    }
    if !report.left_out.is_empty() {
        writeln!(out, "\n## Published, but without a program here\n\n| cases | why |\n|---|---|")?;
        for missing in &report.left_out {
            writeln!(out, "| {} | {} |", missing.case, missing.reason)?;
        }
    }
    Ok(())
}

fn groups(out: &mut String, groups: &[Group]) -> std::fmt::Result {
    writeln!(out, "| rows of | count | median error | 90th percentile |\n|---|---:|---:|---:|")?;
    for group in groups {
        writeln!(
            out,
            "| {} | {} | {:.1} % | {:.1} % |",
            group.name,
            group.rows,
            100.0 * group.median,
            100.0 * group.p90
        )?;
    }
    Ok(())
}

fn table(out: &mut String, rows: &[&Row]) -> std::fmt::Result {
    writeln!(
        out,
        "| case | of | unit | published | modelled | ratio | fit | remark |\n|---|---|---|---:|---:|---:|:-:|---|"
    )?;
    for row in rows {
        let metric = serde_json::to_value(row.metric).ok().and_then(|value| value.as_str().map(str::to_owned));
        let (modelled, ratio) = match (row.modelled, row.ratio()) {
            (Some(modelled), Some(ratio)) => (number(modelled), format!("{ratio:.2}")),
            _ => ("-".to_owned(), "-".to_owned()),
        };
        writeln!(
            out,
            "| {} | {} | {} | {} | {modelled} | {ratio} | {} | {} |",
            row.case,
            metric.unwrap_or_default(),
            row.unit,
            number(row.published),
            if row.fit { "x" } else { "" },
            row.note
        )?;
    }
    Ok(())
}

/// A figure with about four digits.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
