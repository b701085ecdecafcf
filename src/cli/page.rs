//! The HTML report as a file.

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use report::{RenderError, RunRecord, render_html};

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// There is nothing to write.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The file cannot be written.
    #[error("{path}: cannot write the report")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Writes the report of a run.
pub fn write_html(record: &RunRecord, path: &Path) -> Result<(), PageError> {
    write_page(&render_html(record)?, path)
}

/// Writes a page that was rendered.
pub(super) fn write_page(html: &str, path: &Path) -> Result<(), PageError> {
    write(html, path).map_err(|source| PageError::Write { path: path.to_owned(), source })
}

/// Writes a page, by rename, so that a reader sees the old one or the new one. Makes the directory.
fn write(html: &str, path: &Path) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs_err::create_dir_all(directory)?;
    let mut file = tempfile::Builder::new().prefix(".report").suffix(".html").tempfile_in(directory)?;
    file.write_all(html.as_bytes())?;
    // Temporary files are private; a report is for everybody who may read the project.
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_is_written_by_rename() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("target/ascend-tune/report.html");
        write("one", &path).unwrap();
        write("two", &path).unwrap();
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
    }
}
