//! Templates of prompts: the tool's own, and those that a user puts in their place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};

use super::role::Role;

/// What is wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The directory, or a file in it, cannot be read.
    #[error("{}: {message}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// A file that stands in for no template.
    #[error("{}: no template has this name; there are {known}", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The names.
        known: String,
    },
    /// It is no template, or names what there is not.
    #[error("template {name}, line {line}: {message}")]
    Unsound {
        /// Name without `.md`.
        name: String,
        /// Line from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The system's part and the user's are not told apart.
    #[error("template {name}: no line is {DIVIDER:?}, which ends the instructions and begins the question")]
    Undivided {
        /// Name without `.md`.
        name: String,
    },
}

/// The line between instructions and question.
pub(super) const DIVIDER: &str = "=== user ===";

/// The tool's own, by name: one for each role, and what several include.
const OWN: [(&str, &str); 11] = [
    ("diagnose", include_str!("../../../templates/prompts/diagnose.md")),
    ("plan", include_str!("../../../templates/prompts/plan.md")),
    ("propose", include_str!("../../../templates/prompts/propose.md")),
    ("repair", include_str!("../../../templates/prompts/repair.md")),
    ("evolve", include_str!("../../../templates/prompts/evolve.md")),
    ("distil", include_str!("../../../templates/prompts/distil.md")),
    ("motif", include_str!("../../../templates/prompts/motif.md")),
    ("rewind", include_str!("../../../templates/prompts/rewind.md")),
    ("evidence", include_str!("../../../templates/prompts/evidence.md")),
    ("code", include_str!("../../../templates/prompts/code.md")),
    ("form", include_str!("../../../templates/prompts/form.md")),
];

/// Templates of all roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Templates(BTreeMap<String, String>);

impl Default for Templates {
    fn default() -> Self {
        Self(OWN.map(|(name, text)| (name.to_owned(), text.to_owned())).into())
    }
}

impl Templates {
    /// The tool's own, except for those that are `NAME.md` in a directory.
    pub fn with(directory: &Path) -> Result<Self, TemplateError> {
        let unreadable = |path: &Path, error: &std::io::Error| TemplateError::Unreadable {
            path: path.to_owned(),
            message: error.to_string(),
        };
        let mut templates = Self::default();
        let entries = std::fs::read_dir(directory).map_err(|error| unreadable(directory, &error))?;
        for entry in entries {
            let path = entry.map_err(|error| unreadable(directory, &error))?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".md")) else { continue };
            if !templates.0.contains_key(name) {
                let known = OWN.map(|(name, _)| format!("{name}.md")).join(", ");
                return Err(TemplateError::Unknown { path, known });
            }
            let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
            templates.0.insert(name.to_owned(), text);
        }
        Ok(templates)
    }

    /// What a run depends on of them.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (name, text) in &self.0 {
            hasher.update(format!("{name} {}\n{text}", text.len()).as_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// The two parts of a role's prompt, filled in.
    pub(super) fn render(&self, role: Role, state: &impl serde::Serialize) -> Result<(String, String), TemplateError> {
        let unsound = |error: &minijinja::Error| TemplateError::Unsound {
            name: error.name().unwrap_or(role.name()).to_owned(),
            line: error.line().unwrap_or(1),
            message: error.detail().map_or_else(|| error.kind().to_string(), str::to_owned),
        };
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // A line of nothing but a tag leaves no line behind.
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        syntax.map(|syntax| environment.set_syntax(syntax)).map_err(|error| unsound(&error))?;
        for (name, text) in &self.0 {
            environment.add_template(name, text).map_err(|error| unsound(&error))?;
        }
        let template = environment.get_template(role.name()).map_err(|error| unsound(&error))?;
        let text = template.render(Serde(state)).map_err(|error| unsound(&error))?;
        let undivided = || TemplateError::Undivided { name: role.name().to_owned() };
        let (system, user) = text.split_once(DIVIDER).ok_or_else(undivided)?;
        Ok((tidy(system), tidy(user)))
    }
}

/// A text without the empty lines that what was left out leaves; code stays as it is.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let (mut empty, mut code) = (0, false);
    for line in text.trim().lines() {
        code ^= line.starts_with("```");
        empty = if line.trim().is_empty() && !code { empty + 1 } else { 0 };
        if empty < 2 {
            tidied.push_str(line);
            tidied.push('\n');
        }
    }
    tidied.trim_end().to_owned()
}
