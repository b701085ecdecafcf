//! Plain tables: columns as wide as their content, text to the left, numbers to the right.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

/// Side on which a column is flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Lays out rows under a header, two spaces between columns. Every row has as many cells as there are columns.
pub(super) fn table(columns: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(index, (title, _))| {
            rows.iter().filter_map(|row| row.get(index)).map(|cell| width(cell)).fold(width(title), usize::max)
        })
        .collect();
    let mut text = String::new();
    let header: Vec<&str> = columns.iter().map(|(title, _)| *title).collect();
    push_row(&mut text, columns, &widths, &header);
    for row in rows {
        let cells: Vec<&str> = row.iter().map(String::as_str).collect();
        push_row(&mut text, columns, &widths, &cells);
    }
    text
}

fn push_row(text: &mut String, columns: &[(&str, Align)], widths: &[usize], cells: &[&str]) {
    let mut line = String::new();
    for ((cell, (_, align)), wanted) in cells.iter().zip(columns).zip(widths) {
        let padding = " ".repeat(wanted.saturating_sub(width(cell)));
        // Writing to a string cannot fail.
        let _ = match align {
            Align::Left => write!(line, "  {cell}{padding}"),
            Align::Right => write!(line, "  {padding}{cell}"),
        };
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

fn width(text: &str) -> usize {
    text.width()
}
