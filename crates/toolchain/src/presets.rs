//! Configure presets of a project, as far as its own build script uses them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::diagnostics::{Diagnostic, Severity};

/// A file of presets that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PresetError(pub Diagnostic);

/// Cache variables of the configure preset `default`, with what it inherits; none where there is no file of presets.
///
/// # Errors
/// Where the file is none.
pub fn preset_entries(directory: &Path) -> Result<BTreeMap<String, String>, PresetError> {
    let path = directory.join("CMakePresets.json");
    let Ok(bytes) = std::fs::read(&path) else { return Ok(BTreeMap::new()) };
    let file: Presets = serde_json::from_slice(&bytes).map_err(|error| {
        PresetError(Diagnostic {
            file: "CMakePresets.json".to_owned(),
            line: u32::try_from(error.line()).unwrap_or(0),
            column: u32::try_from(error.column()).unwrap_or(0),
            severity: Severity::Error,
            message: error.to_string(),
        })
    })?;
    let mut entries = BTreeMap::new();
    collect_preset(&file.configure_presets, "default", directory, &mut entries, 0);
    Ok(entries)
}

#[derive(Deserialize)]
struct Presets {
    #[serde(rename = "configurePresets", default)]
    configure_presets: Vec<Preset>,
}

#[derive(Deserialize)]
struct Preset {
    name: String,
    #[serde(default)]
    inherits: serde_json::Value,
    #[serde(rename = "cacheVariables", default)]
    cache_variables: BTreeMap<String, serde_json::Value>,
}

fn collect_preset(all: &[Preset], name: &str, directory: &Path, entries: &mut BTreeMap<String, String>, depth: usize) {
    let Some(preset) = all.iter().find(|preset| preset.name == name) else { return };
    for (name, value) in &preset.cache_variables {
        let value = value.get("value").unwrap_or(value);
        let text = match value {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Bool(true) => "TRUE".to_owned(),
            serde_json::Value::Bool(false) => "FALSE".to_owned(),
            _ => continue,
        };
        let source = directory.display().to_string();
        let text = text.replace("${sourceDir}", &source).replace("${presetName}", "default");
        // A preset wins over what it inherits.
        entries.entry(name.clone()).or_insert(text);
    }
    let parents: Vec<&str> = match &preset.inherits {
        serde_json::Value::String(parent) => vec![parent],
        serde_json::Value::Array(parents) => parents.iter().filter_map(serde_json::Value::as_str).collect(),
        _ => Vec::new(),
    };
    if depth < 16 {
        for parent in parents {
            collect_preset(all, parent, directory, entries, depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_taken_over_with_what_they_inherit() {
        let temporary = tempfile::tempdir().unwrap();
        std::fs::write(
            temporary.path().join("CMakePresets.json"),
            r#"{"version":3,"configurePresets":[{"name":"base","cacheVariables":{"A":"base","B":{"type":"BOOL","value":"ON"}}},
            {"name":"default","inherits":["base"],"binaryDir":"${sourceDir}/build_out","cacheVariables":{"A":"${sourceDir}/x","C":true,"D":null}}]}"#,
        )
        .unwrap();
        let entries = preset_entries(temporary.path()).unwrap();
        let expected: BTreeMap<String, String> =
            [("A", format!("{}/x", temporary.path().display())), ("B", "ON".into()), ("C", "TRUE".into())]
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
        assert_eq!(entries, expected);
    }

    #[test]
    fn a_broken_preset_names_file_and_line() {
        let temporary = tempfile::tempdir().unwrap();
        std::fs::write(temporary.path().join("CMakePresets.json"), "{\n  \"version\" 3\n}").unwrap();
        let error = preset_entries(temporary.path()).unwrap_err().to_string();
        assert!(error.contains("CMakePresets.json:2:"), "{error}");
    }
}
