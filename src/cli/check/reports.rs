//! The forms of `--report`, each into its file or onto standard output.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::cli::args::{CheckArgs, Common, MessageFormat};
use events::CheckSummary;
use report::ci::{CheckFormat, Places, render_check};
use tuner::TunerError;

/// A form, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportTo {
    format: CheckFormat,
    /// Standard output if not given.
    file: Option<PathBuf>,
}

impl FromStr for ReportTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            Some((name, file)) => (name, Some(file)),
            None => (text, None),
        };
        let known = CheckFormat::ALL.map(CheckFormat::name).join(", ");
        let format = CheckFormat::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| format!("`{name}` is none of {known}"))?;
        match file {
            Some("") => Err(format!("give a file after `{name}=`, or leave the `=` out for standard output")),
            file => Ok(Self { format, file: file.map(PathBuf::from) }),
        }
    }
}

/// JSON lines with something between them are none, nor are two documents one.
pub(super) fn refuse_two_on_one_stream(common: &Common, arguments: &CheckArgs) -> Result<(), TunerError> {
    let on_stream: Vec<&ReportTo> = arguments.report.iter().filter(|report| report.file.is_none()).collect();
    let json = common.message_format == MessageFormat::Json;
    match on_stream.as_slice() {
        [first, ..] if json => {
            let name = first.format.name();
            let message =
                format!("standard output carries JSON lines: give the report a file, as in --report {name}=FILE");
            Err(TunerError::Usage(message))
        }
        [_, second, ..] => {
            let name = second.format.name();
            let message = format!("two reports on standard output: give one a file, as in --report {name}=FILE");
            Err(TunerError::Usage(message))
        }
        _ => Ok(()),
    }
}

/// Writes all that was asked for.
pub(super) fn write(summary: &CheckSummary, arguments: &CheckArgs, output: &mut dyn Write) -> Result<(), TunerError> {
    if arguments.report.is_empty() {
        return Ok(());
    }
    let start = std::env::current_dir()?;
    let places = Places { top: top_of_checkout(&start), start };
    for report in &arguments.report {
        let text = render_check(summary, report.format, &places).map_err(std::io::Error::from)?;
        match &report.file {
            Some(file) => {
                if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                    fs_err::create_dir_all(folder)?;
                }
                // In place: the file may be one that the system of continuous integration holds open.
                fs_err::write(file, text)?;
            }
            None => output.write_all(text.as_bytes())?,
        }
    }
    Ok(())
}

/// The nearest directory at or above with a `.git`; where there is none, the directory itself.
pub fn top_of_checkout(start: &Path) -> PathBuf {
    start.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(start).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_a_form_and_perhaps_a_file() {
        let parse = |text: &str| text.parse::<ReportTo>();
        let junit = ReportTo { format: CheckFormat::Junit, file: Some("target/a=b.xml".into()) };
        assert_eq!(parse("junit=target/a=b.xml"), Ok(junit));
        assert_eq!(parse("github"), Ok(ReportTo { format: CheckFormat::Github, file: None }));
        assert_eq!(parse("xml").unwrap_err(), "`xml` is none of junit, sarif, github, gitlab, markdown");
        assert!(parse("sarif=").unwrap_err().contains("leave the `=` out"));
    }
}
