//! What is asked of a process's surroundings, as data: variables, who it is, where things are installed by default.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Where installers put toolkits for everybody.
const SYSTEM: &str = "/usr/local/Ascend";

/// Surroundings of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Variables by name; empty ones count as unset.
    pub variables: BTreeMap<String, String>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The user's number; 0 is root.
    pub uid: u32,
    /// Folder of toolkits that are installed for everybody.
    pub system: PathBuf,
}

impl Environment {
    /// The surroundings of this process.
    pub fn of_this_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let variables: BTreeMap<String, String> = std::env::vars_os().filter_map(text).collect();
        Self {
            home: variables.get("HOME").filter(|home| !home.is_empty()).map(PathBuf::from),
            variables,
            uid: rustix::process::getuid().as_raw(),
            system: SYSTEM.into(),
        }
    }

    /// A variable that is set to something.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// A list of folders with others put before what is there already.
    pub(crate) fn prepended(&self, name: &str, folders: &[PathBuf]) -> Option<String> {
        let mut all: Vec<String> = Vec::new();
        let known = self.variable(name).unwrap_or_default().split(':').map(str::to_owned);
        for folder in folders.iter().map(|folder| folder.display().to_string()).chain(known) {
            if !folder.is_empty() && !all.contains(&folder) {
                all.push(folder);
            }
        }
        (!all.is_empty()).then(|| all.join(":"))
    }
}

#[cfg(test)]
mod tests {
    use super::Environment;

    #[test]
    fn lists_of_folders_grow_at_their_beginning() {
        let mut environment = Environment::default();
        assert_eq!(environment.prepended("PATH", &[]), None);
        environment.variables.insert("PATH".to_owned(), "/usr/bin:/t/bin::/bin".to_owned());
        environment.variables.insert("EMPTY".to_owned(), " ".to_owned());
        let path = environment.prepended("PATH", &["/t/bin".into(), "/t/compiler".into()]);
        assert_eq!(path.as_deref(), Some("/t/bin:/t/compiler:/usr/bin:/bin"));
        assert_eq!(environment.variable("EMPTY"), None);
    }

    #[test]
    fn this_process_has_surroundings() {
        let environment = Environment::of_this_process();
        assert!(environment.variable("PATH").is_some());
        assert!(environment.system.is_absolute());
    }
}
