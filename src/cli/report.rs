//! `report`: the page of a finished run once more, and two finished runs side by side.

use std::path::{Path, PathBuf};

use super::Exit;
use super::args::{Common, ReportArgs};
use super::output::{Output, start_event};
use super::page::{PageError, write_page};
use events::{Event, Written};
use project::OperatorProject;
use report::{RECORD_FORMAT, RunRecord, compare_runs, render_comparison, render_html};
use tuner::TunerError;

/// The record of the last run, in the project's work directory.
pub(super) const RECORD: &str = "record.json";
/// That of the run before it.
pub(super) const RECORD_BEFORE: &str = "record.before.json";

/// Executes the command.
pub fn execute(common: &Common, arguments: &ReportArgs, output: &mut Output) -> Result<Exit, TunerError> {
    output.emit(&Event::Start(start_event("report", common)));
    let path = match &arguments.record {
        Some(given) => found(given)?,
        None => OperatorProject::find(&common.project)?.work_directory().join(RECORD),
    };
    let record = read(&path)?;
    let Some(other) = &arguments.compare else {
        let page = arguments.html.clone().unwrap_or_else(|| path.with_file_name("report.html"));
        render_html(&record).map_err(PageError::from).and_then(|text| write_page(&text, &page)).map_err(failed)?;
        let files = vec![page.display().to_string()];
        output.emit(&Event::Written(Written { files, written: true, next: None }));
        return Ok(Exit::Fine);
    };
    let other_path = other.as_ref().map_or_else(|| Ok(path.with_file_name(RECORD_BEFORE)), |other| found(other))?;
    let other = read(&other_path)?;
    let name = |path: &Path| path.display().to_string();
    let mut comparison = compare_runs((&name(&other_path), &other), (&name(&path), &record));
    let page = arguments.html.clone().unwrap_or_else(|| path.with_file_name("comparison.html"));
    let text = render_comparison(&comparison, [&other, &record]).map_err(|error| failed(error.into()))?;
    write_page(&text, &page).map_err(failed)?;
    comparison.page = Some(name(&page));
    output.emit(&Event::RunComparison(Box::new(comparison)));
    Ok(Exit::Fine)
}

/// The record that a path means: a file, or that of the operator in a directory.
fn found(path: &Path) -> Result<PathBuf, TunerError> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let places = [path.join(RECORD), path.join("target/ascend-tune").join(RECORD)];
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| {
        TunerError::Usage(format!(
            "{}: neither {RECORD} nor target/ascend-tune/{RECORD}; `run` leaves one",
            path.display()
        ))
    })
}

fn read(path: &Path) -> Result<RunRecord, TunerError> {
    let refuse = |what: String| TunerError::Usage(format!("{}: {what}", path.display()));
    let bytes =
        std::fs::read(path).map_err(|error| refuse(format!("no record of a run ({error}); `run` leaves one")))?;
    let record: RunRecord =
        serde_json::from_slice(&bytes).map_err(|error| refuse(format!("no record of a run: {error}")))?;
    match record.format {
        RECORD_FORMAT => Ok(record),
        format => Err(refuse(format!("record format {format}, this version reads {RECORD_FORMAT}"))),
    }
}

fn failed(error: PageError) -> TunerError {
    match error {
        PageError::Write { path, source } => TunerError::Usage(format!("{}: {source}", path.display())),
        PageError::Render(error) => TunerError::Internal(error.to_string()),
    }
}
