//! A recorded space as a CSV file with its sidecar, so that others can study strategies on it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::recorded::{Recorded, RecordedSpace};
use search::InfeasibleClass;
use space::Value;

/// Writes `NAME.csv` and `NAME.toml` into a folder, each by rename; returns their paths.
pub fn export(recorded: &RecordedSpace, folder: &Path) -> std::io::Result<[PathBuf; 2]> {
    fs_err::create_dir_all(folder)?;
    let write = |extension: &str, text: String| {
        let path = folder.join(format!("{}.{extension}", recorded.name));
        let temporary = path.with_extension("tmp");
        fs_err::write(&temporary, text)?;
        fs_err::rename(&temporary, &path)?;
        Ok::<PathBuf, std::io::Error>(path)
    };
    Ok([write("csv", table(recorded).map_err(std::io::Error::other)?)?, write("toml", sidecar(recorded))?])
}

fn table(recorded: &RecordedSpace) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names: Vec<String> = recorded.space.tunables().map(|tunable| tunable.name.clone()).collect();
    let time = format!("time_{}", recorded.unit);
    writer.write_record(names.iter().map(String::as_str).chain([time.as_str(), "reason"]))?;
    for (point, row) in recorded.rows() {
        let mut cells: Vec<String> = Vec::with_capacity(names.len() + 2);
        for (dimension, index) in point.iter().enumerate() {
            cells.push(recorded.space.value(dimension, *index).map(Value::to_string).unwrap_or_default());
        }
        let (time, reason) = match row {
            Recorded::Objective(time) => (time.to_string(), ""),
            Recorded::Infeasible(class) => ("invalid".to_owned(), reason_of(class)),
        };
        cells.extend([time, reason.to_owned()]);
        writer.write_record(&cells)?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn reason_of(class: InfeasibleClass) -> &'static str {
    match class {
        InfeasibleClass::Build => "compile",
        InfeasibleClass::Tiling => "tiling",
        InfeasibleClass::Resource => "resource",
        InfeasibleClass::Run => "runtime",
        InfeasibleClass::Wrong => "wrong",
    }
}

fn sidecar(recorded: &RecordedSpace) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let mut text = format!("name = {}\nkernel = {}\n", quoted(&recorded.name), quoted(&recorded.about));
    for (dimension, tunable) in recorded.space.tunables().enumerate() {
        let values: Vec<String> = (0..recorded.space.domain_len(dimension))
            .filter_map(|index| recorded.space.value(dimension, index))
            .map(|value| match value {
                Value::Text(text) => quoted(text),
                Value::Int(_) | Value::Bool(_) => value.to_string(),
            })
            .collect();
        let kind = if recorded.space.is_ordered(dimension) { "ordinal" } else { "categorical" };
        let (name, values) = (quoted(&tunable.name), values.join(", "));
        let _ = write!(text, "\n[[param]]\nname = {name}\nvalues = [{values}]\nkind = \"{kind}\"\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{RecordedTable, RecordedTunable, load};

    #[test]
    fn what_is_exported_can_be_read_again() {
        let values = |values: [i64; 2]| values.map(Value::Int).to_vec();
        let method = |text: &str| Value::Text(text.to_owned());
        let table = RecordedTable {
            name: "toy".to_owned(),
            about: "k, d".to_owned(),
            unit: "us".to_owned(),
            tunables: vec![
                RecordedTunable { name: "how".to_owned(), values: vec![method("a"), method("b")], ordered: false },
                RecordedTunable { name: "n".to_owned(), values: values([8, 16]), ordered: true },
            ],
            constraints: Vec::new(),
            rows: vec![
                (vec![method("a"), Value::Int(16)], Recorded::Objective(1.25)),
                (vec![method("b"), Value::Int(8)], Recorded::Infeasible(InfeasibleClass::Tiling)),
            ],
        };
        let recorded = RecordedSpace::new(table).expect("space");
        let folder = tempfile::tempdir().expect("folder");
        let [rows, _] = export(&recorded, folder.path()).expect("written");
        let again = load(&rows).expect("read");
        assert_eq!((again.unit.as_str(), again.rows()), ("us", recorded.rows()));
    }
}
