//! `lock export`.

use std::path::Path;

use super::{bank, path_of};
use crate::cli::Exit;
use crate::cli::args::{Common, ExportFormat};
use crate::cli::output::{Output, write_whole};
use events::{Event, Written};
use lock::EntryName;
use tuner::{Declared, TunerError};

/// Executes the command.
pub(super) fn execute(
    common: &Common,
    (format, soc): (ExportFormat, Option<&EntryName>),
    out: Option<&Path>,
    keys: &[String],
    output: &mut Output,
) -> Result<Exit, TunerError> {
    if format != ExportFormat::Bank && !keys.is_empty() {
        return Err(TunerError::Usage("--key: only a bank has keys (--format bank)".to_owned()));
    }
    let path = path_of(common)?;
    let locked = lock::read(&path)?.named(soc, &path)?;
    let refuse = |error: lock::ExportError| TunerError::Usage(error.to_string());
    let (text, name) = match format {
        ExportFormat::Header => (lock::header(&locked).map_err(refuse)?, None),
        ExportFormat::Cmake => (lock::cmake(&locked).map_err(refuse)?, None),
        ExportFormat::Bank => {
            let declared = Declared::read(&common.project, None, None)?;
            let cube_cores = match &locked.device {
                Some(device) => device.cube_cores,
                None => declared.machine(Some(&locked.machine.name))?.parameters.aic_cores as u32,
            };
            let text = bank::lines(&locked, &declared.manifest.cases, keys).map_err(TunerError::Usage)?;
            (text, Some(bank::file_name(&locked, cube_cores)))
        }
    };
    let Some(out) = out else {
        if output.json {
            let message = "--message-format json: give --out FILE, standard output carries the events".to_owned();
            return Err(TunerError::Usage(message));
        }
        use std::io::Write as _;
        std::io::stdout().write_all(text.as_bytes())?;
        return Ok(Exit::Fine);
    };
    let file = match name {
        Some(name) if out.is_dir() => out.join(name),
        _ => out.to_owned(),
    };
    // A file that says the same keeps its time, and with it what was built from it.
    if fs_err::read_to_string(&file).ok().as_deref() != Some(text.as_str()) {
        write_whole(&file, &text)?;
    }
    let files = vec![file.display().to_string()];
    output.emit(&Event::Written(Written { files, written: true, next: None }));
    Ok(Exit::Fine)
}
