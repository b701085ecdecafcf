//! What `Cargo.toml` says of the package's operators.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::Error;

/// `[package.metadata.ascend-tune]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// Directories of the operators.
    pub(super) projects: Vec<PathBuf>,
    /// Whether they are built, or only their constants are wanted.
    pub(super) build: bool,
    /// What they are built for.
    pub(super) backend: String,
    /// The chip whose entry of the lock is built; the one whose values the sources hold, where none is named.
    pub(super) soc: Option<String>,
    /// CMake cache entries.
    pub(super) definitions: BTreeMap<String, String>,
}

const TABLE: &str = "[package.metadata.ascend-tune]";

impl Settings {
    /// Reads the table of a package; without one, the package itself is the operator.
    pub(super) fn read(package: &Path) -> Result<Self, Error> {
        let path = package.join("Cargo.toml");
        let text = std::fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
        Self::parse(&text, package).map_err(|message| Error::Content { path, line: 0, message })
    }

    fn parse(text: &str, package: &Path) -> Result<Self, String> {
        let manifest: Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
        let said = ["package", "metadata", "ascend-tune"]
            .iter()
            .try_fold(&manifest, |table, key| table.get(*key).and_then(Value::as_table));
        let mut settings = Settings {
            projects: Vec::new(),
            build: true,
            backend: "sim".to_owned(),
            soc: None,
            definitions: BTreeMap::new(),
        };
        for (key, value) in said.into_iter().flatten() {
            let wrong = |what: &str| format!("{TABLE} {key}: give {what}");
            match key.as_str() {
                "project" => settings.projects.push(package.join(value.as_str().ok_or_else(|| wrong("a directory"))?)),
                "projects" => {
                    for one in value.as_array().ok_or_else(|| wrong("a list of directories"))? {
                        let name = one.as_str().ok_or_else(|| wrong("a list of directories"))?;
                        settings.projects.push(package.join(name));
                    }
                }
                "build" => settings.build = value.as_bool().ok_or_else(|| wrong("true or false"))?,
                "backend" => match value.as_str() {
                    Some(name @ ("sim" | "cann")) => settings.backend = name.to_owned(),
                    _ => return Err(wrong("\"sim\" or \"cann\"")),
                },
                "soc" => settings.soc = Some(value.as_str().ok_or_else(|| wrong("the name of a chip"))?.to_owned()),
                "definitions" => {
                    for (name, value) in value.as_table().ok_or_else(|| wrong("a table of texts"))? {
                        let value = value.as_str().ok_or_else(|| wrong("a table of texts"))?;
                        settings.definitions.insert(name.clone(), value.to_owned());
                    }
                }
                _ => {
                    return Err(format!(
                        "{TABLE} {key}: known are project, projects, build, backend, soc and definitions"
                    ));
                }
            }
        }
        if settings.projects.is_empty() {
            settings.projects.push(package.to_owned());
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(lines: &str) -> Result<Settings, String> {
        let text = format!("[package]\nname = \"p\"\n[package.metadata.ascend-tune]\n{lines}");
        Settings::parse(&text, Path::new("p"))
    }

    #[test]
    fn the_table_has_defaults() {
        let none = Settings::parse("[package]\nname = \"p\"\n", Path::new("p")).unwrap();
        assert_eq!((none.projects, none.build, none.backend.as_str()), (vec![PathBuf::from("p")], true, "sim"));
        let all =
            "project = \"a\"\nprojects = [\"b\"]\nbuild = false\nbackend = \"cann\"\ndefinitions = { X = \"1\" }\n";
        let all = parse(all).unwrap();
        assert_eq!(all.projects, [PathBuf::from("p/a"), PathBuf::from("p/b")]);
        assert_eq!((all.build, all.backend.as_str(), all.definitions["X"].as_str()), (false, "cann", "1"));
    }

    #[test]
    fn mistakes_are_named() {
        let texts = [
            "projects = \"a\"\n",
            "backend = \"gpu\"\n",
            "build = 1\n",
            "soc = 910\n",
            "definitions = { X = 1 }\n",
            "proyects = []\n",
        ];
        insta::assert_snapshot!(texts.map(|text| parse(text).unwrap_err()).join("\n"), @r#"
        [package.metadata.ascend-tune] projects: give a list of directories
        [package.metadata.ascend-tune] backend: give "sim" or "cann"
        [package.metadata.ascend-tune] build: give true or false
        [package.metadata.ascend-tune] soc: give the name of a chip
        [package.metadata.ascend-tune] definitions: give a table of texts
        [package.metadata.ascend-tune] proyects: known are project, projects, build, backend, soc and definitions
        "#);
    }
}
