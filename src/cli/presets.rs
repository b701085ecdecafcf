//! `init --cmake`: presets by which a CMake project is configured with what is locked, beside those that somebody has written.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::operators::in_workspace;
use manifest::FILE_NAME;
use tuner::TunerError;

/// The preset's name.
const NAME: &str = "ascend-tune";
/// Where it is, from the top of the project. CMake 3.23 and later include such files.
const OURS: &str = "cmake/AscendTunePresets.json";
const THEIRS: &str = "CMakePresets.json";
const USERS: &str = "CMakeUserPresets.json";
/// The first version of the format of presets with `include`.
const INCLUDING: u64 = 4;
const LOCKED: &str = include_str!("../../templates/cmake/AscendTuneLocked.cmake");

/// Files to write, and what is left to do by hand.
#[derive(Debug)]
pub(super) struct Presets {
    /// Files that are ours.
    pub files: Vec<(PathBuf, String)>,
    /// A file that becomes the user's: only where there is none.
    pub first: Option<(PathBuf, String)>,
    /// What to do so that the preset is seen.
    pub next: Option<String>,
}

/// Presets for a CMake project. Nothing of the user's is changed: a file of presets that is there has to include ours by the user's hand.
///
/// # Errors
/// Where a file of presets cannot be read, or has another preset of this name.
pub(super) fn presets(project: &Path) -> Result<Presets, TunerError> {
    let theirs = read(project, THEIRS)?;
    read(project, USERS)?;
    let locks = locks(project)?;
    let ours = json!({
        "version": INCLUDING,
        "configurePresets": [{
            "name": NAME,
            "displayName": "with the values of ascend.lock",
            "binaryDir": "${sourceDir}/build/ascend-tune",
            "cacheVariables": {
                "CMAKE_PROJECT_INCLUDE_BEFORE": "${sourceDir}/cmake/AscendTuneLocked.cmake",
                "ASCEND_TUNE_LOCKS": locks.join(";"),
            },
        }],
        "buildPresets": [{ "name": NAME, "configurePreset": NAME }],
    });
    let whole = |value: &Value| serde_json::to_string_pretty(value).map(|text| text + "\n");
    let internal = |error: serde_json::Error| TunerError::Internal(error.to_string());
    let files = vec![
        (project.join("cmake/AscendTuneLocked.cmake"), LOCKED.to_owned()),
        (project.join(OURS), whole(&ours).map_err(internal)?),
    ];
    let configure = format!("cmake --preset {NAME}");
    let (first, next) = match theirs {
        None => {
            let text = whole(&json!({ "version": INCLUDING, "include": [OURS] })).map_err(internal)?;
            (Some((project.join(THEIRS), text)), configure)
        }
        Some(theirs) if includes_ours(&theirs) => (None, configure),
        Some(theirs) => {
            let version = theirs["version"].as_u64().unwrap_or(0);
            let raise = match version < INCLUDING {
                true => format!(", and \"version\": {INCLUDING} in place of {version}"),
                false => String::new(),
            };
            (None, format!("put \"include\": [\"{OURS}\"] into {THEIRS}{raise}; then {configure}"))
        }
    };
    Ok(Presets { files, first, next: Some(next) })
}

/// A file of presets, where there is one.
fn read(project: &Path, name: &str) -> Result<Option<Value>, TunerError> {
    let path = project.join(name);
    let Ok(text) = fs_err::read_to_string(&path) else { return Ok(None) };
    let refuse = |what: String| TunerError::Usage(format!("{}: {what}", path.display()));
    let presets: Value =
        serde_json::from_str(&text).map_err(|error| refuse(format!("no file of presets: {error}; mend it first")))?;
    let of_this_name = ["configurePresets", "buildPresets"].into_iter().find(|kind| {
        let list = presets[*kind].as_array().into_iter().flatten();
        list.into_iter().any(|preset| preset["name"].as_str() == Some(NAME))
    });
    match of_this_name {
        Some(kind) => Err(refuse(format!("{kind} has a preset `{NAME}` already; give that another name"))),
        None => Ok(Some(presets)),
    }
}

fn includes_ours(presets: &Value) -> bool {
    presets["include"].as_array().into_iter().flatten().any(|file| file.as_str() == Some(OURS))
}

/// Locks of the operators at and below the project, from its top. One that is written later has its place already.
fn locks(project: &Path) -> Result<Vec<String>, TunerError> {
    let mut locks = Vec::new();
    for operator in in_workspace(project).unwrap_or_else(|_| vec![project.to_owned()]) {
        let inside = operator.strip_prefix(project).unwrap_or(&operator).join(lock::LOCK_FILE);
        let inside = inside.display().to_string();
        if inside.contains([';', '$', '"', '\\']) {
            let message = format!(
                "{inside}: CMake takes a part of this path for something else; rename the directory of {FILE_NAME}"
            );
            return Err(TunerError::Usage(message));
        }
        locks.push(inside);
    }
    Ok(locks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_of_the_user_are_read_and_stay() {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path();
        for operator in ["add", "gelu"] {
            fs_err::create_dir_all(project.join("ops").join(operator)).unwrap();
            fs_err::write(project.join("ops").join(operator).join(FILE_NAME), "").unwrap();
        }
        let made = presets(project).unwrap();
        assert!(made.first.is_some() && made.next.as_deref() == Some("cmake --preset ascend-tune"));
        let ours: Value = serde_json::from_str(&made.files[1].1).unwrap();
        let locks = &ours["configurePresets"][0]["cacheVariables"]["ASCEND_TUNE_LOCKS"];
        assert_eq!(locks.as_str(), Some("ops/add/ascend.lock;ops/gelu/ascend.lock"));

        let next = |text: &str| {
            fs_err::write(project.join(THEIRS), text).unwrap();
            let made = presets(project).map_err(|error| error.to_string())?;
            assert!(made.first.is_none());
            Ok::<String, String>(made.next.unwrap())
        };
        let asked = "put \"include\": [\"cmake/AscendTunePresets.json\"] into CMakePresets.json";
        assert!(next(r#"{"version": 6}"#).unwrap().starts_with(&format!("{asked}; then")));
        assert!(next(r#"{"version": 3}"#).unwrap().contains("\"version\": 4 in place of 3"));
        let included = r#"{"version": 4, "include": ["cmake/AscendTunePresets.json"]}"#;
        assert_eq!(next(included).unwrap(), "cmake --preset ascend-tune");
        assert!(next("{\n \"version\" 4}").unwrap_err().contains("line 2"));
        fs_err::write(project.join(USERS), r#"{"version": 4, "configurePresets": [{"name": "ascend-tune"}]}"#).unwrap();
        assert!(next(included).unwrap_err().contains("CMakeUserPresets.json: configurePresets has a preset"));
    }
}
