//! Findings about a manifest, each pointing at bytes of the file.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// One mistake in a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Bytes at fault.
    pub span: Range<usize>,
    /// What is wrong, naming the value.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// Why there is no valid manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The file cannot be read.
    #[error("{}: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        message: String,
    },
    /// The file has mistakes.
    #[error(transparent)]
    Invalid(#[from] InvalidManifest),
}

/// All mistakes of one manifest, with the text that they point into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidManifest {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// The mistakes in file order, at least one.
    pub findings: Vec<Finding>,
}

impl std::error::Error for InvalidManifest {}

impl fmt::Display for InvalidManifest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, finding) in self.findings.iter().enumerate() {
            let (line, column) = self.position(finding.span.start);
            let separator = if position == 0 { "" } else { "\n" };
            write!(formatter, "{separator}{}:{line}:{column}: {}", self.path.display(), finding.message)?;
            if !finding.help.is_empty() {
                write!(formatter, "; {}", finding.help)?;
            }
        }
        Ok(())
    }
}

impl InvalidManifest {
    /// Line and column of a byte, both from 1; columns count characters.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// The findings with the lines they point at; `colour` adds terminal escapes.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let renderer = renderer.decor_style(DecorStyle::Ascii);
        let path = self.path.display().to_string();
        let mut reports = Vec::new();
        for finding in &self.findings {
            let end = finding.span.end.min(self.text.len());
            let span = finding.span.start.min(end)..end;
            let snippet =
                Snippet::source(self.text.as_str()).path(path.as_str()).annotation(AnnotationKind::Primary.span(span));
            let mut report = vec![Level::ERROR.primary_title(finding.message.as_str()).element(snippet)];
            if !finding.help.is_empty() {
                report.push(Group::with_title(Level::HELP.secondary_title(finding.help.as_str())));
            }
            reports.push(renderer.render(&report));
        }
        reports.join("\n\n")
    }
}
