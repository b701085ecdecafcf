//! A file of columns: read by name, in the unit that its header says, with what is not available left out.

use std::path::{Path, PathBuf};

use super::error::ProfilerError;

/// Units of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Microseconds.
    Us,
    /// A share, a count or a name.
    None,
}

impl Unit {
    fn word(self) -> &'static str {
        match self {
            Unit::Us => "us",
            Unit::None => "",
        }
    }
}

/// A header's words for values that are not available.
const ABSENT: [&str; 4] = ["", "na", "n/a", "nan"];

/// A column's name in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    /// As it stands in the header.
    text: String,
    /// In lower case, with blanks for underscores and without its unit.
    name: String,
    /// The words in parentheses behind it.
    units: Vec<String>,
}

impl Column {
    fn of(text: &str) -> Self {
        let text = text.trim().trim_start_matches('\u{feff}');
        let (name, rest) = text.split_at(text.find('(').unwrap_or(text.len()));
        let units = rest.split(['(', ')']).map(|unit| unit.trim().to_ascii_lowercase());
        Self { text: text.to_owned(), name: folded(name), units: units.filter(|unit| !unit.is_empty()).collect() }
    }
}

fn folded(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A file of columns.
#[derive(Clone, Debug)]
pub struct Table {
    path: PathBuf,
    columns: Vec<Column>,
    rows: Vec<(usize, Vec<String>)>,
}

impl Table {
    /// Reads a file.
    ///
    /// # Errors
    /// Where it cannot be read, has no header, or a line has more columns than that.
    pub fn read(path: &Path) -> Result<Self, ProfilerError> {
        let text = fs_err::read(path)
            .map_err(|error| ProfilerError::Unreadable { path: path.to_owned(), message: error.to_string() })?;
        Self::parse(path, &text)
    }

    /// Reads a text as the content of a file.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn parse(path: &Path, text: &[u8]) -> Result<Self, ProfilerError> {
        let fail = |message: String| ProfilerError::Unreadable { path: path.to_owned(), message };
        let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text);
        let header = reader.headers().map_err(|error| fail(error.to_string()))?;
        let columns: Vec<Column> = header.iter().map(Column::of).collect();
        if columns.is_empty() {
            return Err(fail("it is empty: not even a header".to_owned()));
        }
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| fail(error.to_string()))?;
            let line = record.position().map_or(0, |position| position.line() as usize);
            if record.len() > columns.len() {
                return Err(fail(format!("line {line} has {} fields for {} columns", record.len(), columns.len())));
            }
            rows.push((line, record.iter().map(str::to_owned).collect()));
        }
        Ok(Self { path: path.to_owned(), columns, rows })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is only a header.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Column of one of these names, in this unit. `None` where there is none of them.
    ///
    /// # Errors
    /// Where it is in another unit.
    pub fn find(&self, names: &[&str], unit: Unit) -> Result<Option<usize>, ProfilerError> {
        let position = names.iter().find_map(|name| {
            let name = folded(name);
            self.columns.iter().position(|column| column.name == name)
        });
        let Some(position) = position else { return Ok(None) };
        let column = &self.columns[position];
        let found = column.units.first().map_or("", String::as_str);
        if found != unit.word() {
            return Err(ProfilerError::OtherUnit {
                path: self.path.clone(),
                column: column.text.clone(),
                found: if found.is_empty() { "no unit".to_owned() } else { found.to_owned() },
                wanted: if unit.word().is_empty() { "no unit".to_owned() } else { unit.word().to_owned() },
            });
        }
        Ok(Some(position))
    }

    /// The same where there has to be one.
    ///
    /// # Errors
    /// Where there is none, or it is in another unit.
    pub fn need(&self, names: &[&str], unit: Unit) -> Result<usize, ProfilerError> {
        self.find(names, unit)?.ok_or_else(|| ProfilerError::NoColumn {
            path: self.path.clone(),
            column: names.first().copied().unwrap_or_default().to_owned(),
            found: self.columns.iter().map(|column| column.text.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    /// What stands in a row and column; `None` where it is not available.
    pub fn text(&self, row: usize, column: usize) -> Option<&str> {
        let value = self.rows[row].1.get(column)?.trim().trim_matches('"').trim();
        (!ABSENT.contains(&value.to_ascii_lowercase().as_str())).then_some(value)
    }

    /// The same as a number.
    ///
    /// # Errors
    /// Where something else stands there.
    pub fn number(&self, row: usize, column: usize) -> Result<Option<f64>, ProfilerError> {
        let Some(value) = self.text(row, column) else { return Ok(None) };
        let parsed = value.parse::<f64>().ok().filter(|number| number.is_finite());
        parsed.map(Some).ok_or_else(|| ProfilerError::NoNumber {
            path: self.path.clone(),
            line: self.rows[row].0,
            column: self.columns[column].text.clone(),
            value: value.to_owned(),
        })
    }

    /// Every number of a row by its column as the header has it; what is no number is left out.
    pub fn counters(&self, row: usize) -> impl Iterator<Item = (&str, f64)> {
        let number = move |column: usize| self.text(row, column)?.parse::<f64>().ok().filter(|value| value.is_finite());
        self.columns.iter().enumerate().filter_map(move |(place, column)| Some((column.text.as_str(), number(place)?)))
    }

    /// Names of the columns without their units, in lower case and with blanks for underscores, each with its place.
    pub fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.columns.iter().map(|column| column.name.as_str()).enumerate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        Table::parse(Path::new("x.csv"), text.as_bytes()).unwrap()
    }

    #[test]
    fn a_column_is_found_by_any_of_its_names_wherever_it_stands() {
        for text in ["Pid,Device Id,Block Dim\n1,0,40\n", "Block Num,PID,Device_id\n40,1,0\n"] {
            let table = table(text);
            let column = table.need(&["Block Dim", "Block Num"], Unit::None).unwrap();
            assert_eq!(table.number(0, column).unwrap(), Some(40.0));
            assert_eq!(table.number(0, table.need(&["Device ID"], Unit::None).unwrap()).unwrap(), Some(0.0));
        }
        let missing = table("a,b\n1,2\n").need(&["Block Dim", "Block Num"], Unit::None).unwrap_err().to_string();
        assert_eq!(missing, "x.csv: there is no column Block Dim; there are: a, b");
    }

    #[test]
    fn another_unit_is_refused() {
        let error = table("Task Duration(ms)\n1.5\n").need(&["Task Duration"], Unit::Us).unwrap_err().to_string();
        assert!(error.contains("column Task Duration(ms) is in ms, not in us"), "{error}");
        let error = table("Task Duration\n1.5\n").need(&["Task Duration"], Unit::Us).unwrap_err().to_string();
        assert!(error.contains("is in no unit, not in us"), "{error}");
        assert!(table("Task Duration(us)\n1.5\n").need(&["task_duration"], Unit::Us).is_ok());
    }

    #[test]
    fn what_is_not_available_is_absent_and_no_zero() {
        let table = table("a(us),b(us),c(us),d(us)\nNA,N/A,0.0,\n1\n");
        let numbers: Vec<_> = (0..4).map(|column| table.number(0, column).unwrap()).collect();
        assert_eq!(numbers, [None, None, Some(0.0), None]);
        assert_eq!((table.number(1, 0).unwrap(), table.number(1, 3).unwrap()), (Some(1.0), None));
        let error =
            Table::parse(Path::new("x.csv"), b"a(us)\n1\nfast\n").unwrap().number(1, 0).unwrap_err().to_string();
        assert_eq!(error, "x.csv:3: column a(us) holds \"fast\", which is no number");
    }

    #[test]
    fn lists_are_quoted_and_files_may_begin_with_a_mark() {
        let table = table("\u{feff}Op Name,Input Shapes,Block Dim\nAdd,\"\"\"8,4096\"\";\"\"8,4096\"\"\",40\n");
        assert_eq!(table.text(0, table.need(&["Op Name"], Unit::None).unwrap()), Some("Add"));
        assert_eq!(table.text(0, 1), Some("8,4096\";\"8,4096"));
        assert_eq!(table.number(0, 2).unwrap(), Some(40.0));
        assert!(Table::parse(Path::new("x.csv"), b"").unwrap_err().to_string().contains("empty"));
        let wide = Table::parse(Path::new("x.csv"), b"a,b\n1,2,3\n").unwrap_err().to_string();
        assert!(wide.contains("line 2 has 3 fields for 2 columns"), "{wide}");
    }
}
