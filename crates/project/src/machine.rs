//! The machine description that a project or a command names.

use std::path::Path;

use aicore::{Machine, MachineError};

/// Why there is no machine description.
#[derive(Debug, thiserror::Error)]
pub enum LoadMachineError {
    /// The file cannot be read.
    #[error("machine description {name}: {message}")]
    Unreadable {
        /// The file as it was named.
        name: String,
        /// The system's reason.
        message: String,
    },
    /// No such description, or not a valid one.
    #[error(transparent)]
    Machine(#[from] MachineError),
}

/// An embedded description by name, or a user's own by path.
pub fn load_machine(name: &str, root: &Path) -> Result<Machine, LoadMachineError> {
    if !name.ends_with(".toml") {
        return Ok(Machine::named(name)?);
    }
    // As given on the command line, or beside the manifest that names it.
    let given = Path::new(name);
    let path = if given.exists() { given.to_owned() } else { root.join(given) };
    let text = fs_err::read_to_string(&path)
        .map_err(|error| LoadMachineError::Unreadable { name: name.to_owned(), message: error.to_string() })?;
    Ok(Machine::parse(&path.display().to_string(), &text)?)
}
