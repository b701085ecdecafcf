//! The table of published measurements and of the programs that do the same work: a CSV file with a header.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use aicore::Warmth;
use events::fidelity::{Level, Metric, Role};

/// Unit of a published figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Unit {
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Cycles of the AI Core clock.
    #[serde(rename = "cycles")]
    Cycles,
    /// Ticks of the in-kernel counter, 20 ns each.
    #[serde(rename = "ticks")]
    Ticks,
    /// Per cent of the mean core time.
    #[serde(rename = "percent")]
    Percent,
    /// 1e9 bytes a second, of one core.
    #[serde(rename = "GB/s")]
    GigabytesPerSecond,
}

/// One published figure and how to model it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// Name of the published case; rows of one run share it.
    pub case: String,
    /// Kernel: cases of one kernel are variants of each other.
    pub kernel: String,
    /// Kind of evidence.
    pub level: Level,
    /// Category of the summary.
    pub category: String,
    /// Headline or detail.
    pub role: Role,
    /// Source file of the program, below the directory of sources.
    pub program: String,
    /// Definitions it is compiled with.
    pub defines: Vec<String>,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Launch to look at, from 0; without one the last.
    pub launch: Option<usize>,
    /// Arguments of a run whose figure is subtracted.
    pub minus: Option<Vec<String>>,
    /// What the launch finds in caches.
    #[serde(serialize_with = "warmth_word")]
    pub warmth: Warmth,
    /// Machine description.
    pub machine: String,
    /// What is taken.
    pub metric: Metric,
    /// Factor on the modelled figure.
    pub scale: f64,
    /// Published figure.
    pub published: f64,
    /// Its unit.
    pub unit: Unit,
    /// Whether `calibrate` may fit to it.
    pub fit: bool,
    /// Case that this one differs from by one change.
    pub compare: Option<String>,
    /// What a reader should know.
    pub note: String,
    /// Line in the file.
    #[serde(skip)]
    pub line: u64,
}

/// A published case without a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Name, or names with `*`.
    pub case: String,
    /// Why there is none.
    pub reason: String,
}

/// A table of cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Rows with a program, in the order of the file.
    pub cases: Vec<Case>,
    /// Rows without.
    pub left_out: Vec<LeftOut>,
    /// Digest of the file.
    pub digest: String,
}

/// Why a table was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct CasesError {
    /// File as the caller named it.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// What is wrong and what would be right.
    pub message: String,
}

/// A row as the file has it. Columns that a table does not need may be left out of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    case: String,
    #[serde(default)]
    kernel: String,
    level: Option<Level>,
    #[serde(default)]
    category: String,
    role: Option<Role>,
    #[serde(default)]
    program: String,
    #[serde(default)]
    defines: String,
    #[serde(default)]
    arguments: String,
    launch: Option<usize>,
    #[serde(default)]
    minus: String,
    #[serde(default)]
    warm: String,
    #[serde(default)]
    machine: String,
    metric: Option<Metric>,
    scale: Option<f64>,
    published: Option<f64>,
    unit: Option<Unit>,
    #[serde(default)]
    fit: String,
    #[serde(default)]
    compare: String,
    #[serde(default)]
    note: String,
}

impl Table {
    /// Reads a table.
    pub fn load(path: &Path) -> Result<Self, CasesError> {
        let file = path.display().to_string();
        let text = fs_err::read_to_string(path).map_err(|error| CasesError {
            file: file.clone(),
            line: 1,
            message: format!("cannot be read: {error}"),
        })?;
        Self::parse(&file, &text)
    }

    /// Parses a table. `file` is only for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, CasesError> {
        let refuse = |line: u64, message: String| CasesError { file: file.to_owned(), line, message };
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let headers = reader.headers().map_err(|error| refuse(1, error.to_string()))?.clone();
        let mut cases = Vec::new();
        let mut left_out = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| {
                let line = error.position().map_or(1, csv::Position::line);
                refuse(line, error.to_string())
            })?;
            let line = record.position().map_or(1, csv::Position::line);
            let row: Row =
                record.deserialize(Some(&headers)).map_err(|error| refuse(line, column_message(&error, &headers)))?;
            if row.program.is_empty() {
                if row.note.is_empty() {
                    return Err(refuse(line, format!("`{}` has no program; say why in `note`", row.case)));
                }
                left_out.push(LeftOut { case: row.case, reason: row.note });
                continue;
            }
            cases.push(row.into_case(line).map_err(|message| refuse(line, message))?);
        }
        let names: BTreeSet<&str> = cases.iter().map(|case: &Case| case.case.as_str()).collect();
        for case in &cases {
            if let Some(other) = case.compare.as_ref().filter(|other| !names.contains(other.as_str())) {
                return Err(refuse(case.line, format!("`compare` names `{other}`, which is no case of the table")));
            }
        }
        let digest = blake3::hash(text.as_bytes()).to_hex()[..16].to_owned();
        Ok(Self { cases, left_out, digest })
    }
}

impl Row {
    fn into_case(self, line: u64) -> Result<Case, String> {
        let needed = |column: &str| format!("`{}` has a program but no `{column}`", self.case);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let published = self.published.ok_or_else(|| needed("published"))?;
        if !(published.is_finite() && published > 0.0) {
            return Err(format!("`published` = {published}: it must be above zero"));
        }
        let metric = self.metric.ok_or_else(|| needed("metric"))?;
        let unit = self.unit.ok_or_else(|| needed("unit"))?;
        if (metric == Metric::Bandwidth) != (unit == Unit::GigabytesPerSecond) {
            return Err("`bandwidth` is in GB/s, and nothing else is".to_owned());
        }
        if self.machine.is_empty() {
            return Err(needed("machine"));
        }
        let minus = words(&self.minus);
        Ok(Case {
            kernel: if self.kernel.is_empty() { self.case.clone() } else { self.kernel },
            level: self.level.unwrap_or(Level::Kernel),
            role: self.role.unwrap_or(Role::Headline),
            defines: words(&self.defines),
            arguments: words(&self.arguments),
            launch: self.launch,
            minus: (!minus.is_empty()).then_some(minus),
            warmth: warmth_of(&self.warm)?,
            fit: answer("fit", &self.fit)?,
            scale: self.scale.unwrap_or(1.0),
            compare: (!self.compare.is_empty()).then_some(self.compare),
            case: self.case,
            category: self.category,
            program: self.program,
            machine: self.machine,
            metric,
            published,
            unit,
            note: self.note,
            line,
        })
    }
}

fn answer(column: &str, text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "" | "no" => Ok(false),
        other => Err(format!("`{column}` is yes or no, the file says `{other}`")),
    }
}

/// Words of the column `warm`.
const WARMTHS: [(&str, Warmth); 4] =
    [("no", Warmth::Cold), ("yes", Warmth::Kept), ("repeated", Warmth::Repeated), ("flushed", Warmth::Flushed)];

fn warmth_of(text: &str) -> Result<Warmth, String> {
    match WARMTHS.iter().find(|(word, _)| *word == text) {
        Some((_, warmth)) => Ok(*warmth),
        None if text.is_empty() => Ok(Warmth::Cold),
        None => Err(format!("`warm` is no, yes, repeated or flushed, the file says `{text}`")),
    }
}

fn warmth_word<S: serde::Serializer>(warmth: &Warmth, serializer: S) -> Result<S::Ok, S::Error> {
    let word = WARMTHS.iter().find(|(_, known)| known == warmth).map_or("no", |(word, _)| word);
    serializer.serialize_str(word)
}

/// The message of a row that does not fit, with the name of the column.
fn column_message(error: &csv::Error, headers: &csv::StringRecord) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => match err.field().and_then(|field| headers.get(field as usize)) {
            Some(column) => format!("column `{column}`: {}", err.kind()),
            None => err.kind().to_string(),
        },
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "case,program,machine,metric,published,unit,fit,compare,note\n";

    fn parse(rows: &str) -> Result<Table, CasesError> {
        Table::parse("t.csv", &format!("{HEADER}{rows}"))
    }

    #[test]
    fn rows_without_a_program_are_left_out_with_their_reason() {
        let table = parse("a,a.asc,ascend910b1,task,2.5,us,yes,,\nb,,,,,,,,closed source\n").unwrap();
        assert_eq!((table.cases.len(), table.cases[0].fit, table.cases[0].kernel.as_str()), (1, true, "a"));
        assert_eq!(table.left_out[0].reason, "closed source");
    }

    #[test]
    fn mistakes_name_their_line_and_column() {
        for (rows, line, part) in [
            ("a,a.asc,ascend910b1,task,0,us,yes,,\n", 2, "above zero"),
            ("a,a.asc,ascend910b1,task,1,us,yes,,\nb,b.asc,x,speed,1,us,yes,,\n", 3, "unknown variant `speed`"),
            ("a,a.asc,ascend910b1,task,1,us,perhaps,,\n", 2, "yes or no"),
            ("a,a.asc,ascend910b1,task,1,us,yes,z,\n", 2, "no case of the table"),
            ("a,,,,,,,,\n", 2, "say why"),
            ("a,a.asc,,task,1,us,yes,,\n", 2, "no `machine`"),
            ("a,a.asc,ascend910b1,task,1,GB/s,yes,,\n", 2, "bandwidth"),
        ] {
            let error = parse(rows).unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.message.contains(part), "{error}");
        }
    }

    #[test]
    fn the_table_of_this_repository_is_valid() {
        let table = Table::parse("cases.csv", include_str!("../../../../benches/fidelity/cases.csv")).unwrap();
        assert!(table.cases.len() > 150 && table.left_out.len() > 5);
        for case in &table.cases {
            assert!(aicore::Machine::named(&case.machine).is_ok(), "{}", case.machine);
        }
    }
}
