//! The installed tool, asked to build.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Error;
use super::package::Settings;

/// Names the tool where it is not found on PATH.
pub(super) const PROGRAM: &str = "CARGO_ASCEND_TUNE";

/// Builds an operator with its locked values, and returns what was built.
pub(super) fn build(directory: &Path, settings: &Settings) -> Result<Vec<PathBuf>, Error> {
    let program = std::env::var_os(PROGRAM).unwrap_or_else(|| OsString::from("cargo-ascend-tune"));
    let mut command = Command::new(&program);
    command.args(["build", "--locked", "--message-format", "json", "--backend", &settings.backend]);
    command.arg("--project").arg(directory).stdin(Stdio::null());
    command.args(settings.soc.iter().flat_map(|soc| ["--soc", soc]));
    for (name, value) in &settings.definitions {
        command.arg("-D").arg(format!("{name}={value}"));
    }
    // Builds that Cargo runs at the same time share its jobs; without this each would take every processor.
    if let Ok(jobs) = std::env::var("NUM_JOBS") {
        command.args(["--jobs", &jobs]);
    }
    let ran = command.output();
    let ran = ran.map_err(|source| Error::NoTool { program: program.to_string_lossy().into_owned(), source })?;
    let said = String::from_utf8_lossy(&ran.stdout);
    read(&said, ran.status.success()).map_err(|message| {
        let message = if message.is_empty() { String::from_utf8_lossy(&ran.stderr).trim().to_owned() } else { message };
        Error::Tool { command: format!("{command:?}").replace('"', ""), message }
    })
}

/// What the events of a build say: the files, or what went wrong.
fn read(events: &str, success: bool) -> Result<Vec<PathBuf>, String> {
    let events: Vec<Value> = events.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let named = |name: &str| events.iter().rev().find(|event| event["event"] == name);
    if !success {
        let error = named("error");
        let said = |key: &str| error.and_then(|error| error[key].as_str()).unwrap_or_default().to_owned();
        let (message, help) = (said("message"), said("help"));
        return Err(if help.is_empty() { message } else { format!("{message}; {help}") });
    }
    let built = named("build").and_then(|built| built["artifacts"].as_array());
    let built = built.ok_or("it ended well and named no files; another version of the tool?")?;
    Ok(built.iter().filter_map(Value::as_str).map(PathBuf::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_a_build_are_read() {
        let events = "{\"event\":\"start\"}\n{\"event\":\"build\",\"artifacts\":[\"/a/add\"]}\n";
        assert_eq!(read(events, true), Ok(vec![PathBuf::from("/a/add")]));
        let failed = "{\"event\":\"error\",\"message\":\"no compiler\",\"help\":\"install one\",\"exit\":3}\n";
        assert_eq!(read(failed, false), Err("no compiler; install one".to_owned()));
        assert_eq!(read("", false), Err(String::new()));
        assert!(read("noise\n", true).is_err());
    }
}
