//! Why a toolkit's build gave nothing.

use std::path::PathBuf;

use super::style::Style;
use crate::diagnosis::{Class, Finding};
use toolchain::{PresetError, ToolError};

/// Why there is nothing built.
#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    /// The project is of a style that is not driven.
    #[error("{style} is not driven: {why}")]
    NotDriven {
        /// The style.
        style: Style,
        /// Why, and what to do instead.
        why: String,
    },
    /// A tool of the toolkit, or CMake, said no.
    #[error("{step} failed: {}", headline(findings, log))]
    Refused {
        /// The step.
        step: String,
        /// What was said, the most telling first.
        findings: Vec<Finding>,
        /// All of it.
        log: String,
    },
    /// All steps succeeded and there is no kernel object of these sources.
    #[error("{step} said that it succeeded, and left {what}{}; its log is in {}", because(findings), log_file.display())]
    NoObject {
        /// The last step.
        step: String,
        /// What is missing or old.
        what: String,
        /// What its words may have to do with it.
        findings: Vec<Finding>,
        /// All that was said, in a file.
        log_file: PathBuf,
    },
    /// Something of the toolkit or the machine is missing.
    #[error("{message}; {fix}")]
    Missing {
        /// What.
        message: String,
        /// How to get it.
        fix: String,
    },
    /// A tool could not say yes or no.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The project's presets cannot be read.
    #[error(transparent)]
    Preset(#[from] PresetError),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}

/// Words of a line that says why, where nothing better is known.
const TELLING: [&str; 5] = ["error", "cannot ", "no such file", "permission denied", "not found"];

fn headline(findings: &[Finding], log: &str) -> String {
    let lines = || log.lines().map(str::trim).filter(|line| !line.is_empty());
    let tells = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        TELLING.iter().any(|word| lower.contains(word))
    };
    let line = || lines().find(tells).or_else(|| lines().next_back()).unwrap_or("it said nothing").to_owned();
    findings.first().map_or_else(line, Finding::to_string)
}

fn because(findings: &[Finding]) -> String {
    findings.first().map_or_else(String::new, |finding| format!(" ({finding})"))
}

impl FlowError {
    /// What was said, the most telling first.
    pub fn findings(&self) -> &[Finding] {
        match self {
            FlowError::Refused { findings, .. } | FlowError::NoObject { findings, .. } => findings,
            _ => &[],
        }
    }

    /// Whether it says something about the sources, so that other sources may build.
    pub fn is_of_sources(&self) -> bool {
        match self {
            FlowError::Refused { findings, .. } => {
                findings.first().is_none_or(|finding| finding.class == Class::Unknown || finding.class.is_of_sources())
            }
            FlowError::NoObject { .. } | FlowError::Tool(ToolError::Limit { .. }) => true,
            _ => false,
        }
    }

    /// For `map_err`: what the system said about a path.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> FlowError {
        let path = path.into();
        move |source| FlowError::Io { path, source }
    }
}
