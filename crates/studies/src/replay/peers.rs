//! Tables of results in the columns of `peers.csv`.

use std::path::Path;

use super::formats::LoadError;
use events::replay::PeerRow;

/// Reads a table.
pub fn read_peers(path: &Path) -> Result<Vec<PeerRow>, LoadError> {
    let text = fs_err::read(path)?;
    let mut reader = csv::Reader::from_reader(text.as_slice());
    reader
        .deserialize()
        .collect::<Result<_, _>>()
        .map_err(|error| LoadError::Content { path: path.to_owned(), message: error.to_string() })
}

/// The table as CSV text.
pub fn write_rows(rows: &[PeerRow]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
