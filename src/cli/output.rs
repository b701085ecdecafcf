//! The sink that the common options ask for.

use std::io::{self, IsTerminal};

use anstream::AutoStream;
use clap::ColorChoice;
use indicatif::ProgressDrawTarget;

use super::args::{Common, MessageFormat};
use crate::report::{Human, HumanOptions, JsonLines, Sink, Verbosity};

/// JSON lines on standard output, or status on standard error and results on standard output. Each stream decides by
/// itself whether it shows colour, so that a redirected one stays plain.
pub fn sink(common: &Common) -> Box<dyn Sink> {
    match common.message_format {
        MessageFormat::Json => Box::new(JsonLines::new(io::stdout())),
        MessageFormat::Human => {
            let choice = match common.color {
                ColorChoice::Auto => anstream::ColorChoice::Auto,
                ColorChoice::Always => anstream::ColorChoice::Always,
                ColorChoice::Never => anstream::ColorChoice::Never,
            };
            let options = HumanOptions {
                verbosity: verbosity(common),
                // The streams strip what they do not show.
                color: common.color != ColorChoice::Never,
                progress: io::stderr().is_terminal().then(ProgressDrawTarget::stderr),
            };
            let status = AutoStream::new(io::stderr(), choice);
            let results = AutoStream::new(io::stdout(), choice);
            Box::new(Human::new(status, results, options))
        }
    }
}

/// What `-q` and `-v` say together.
pub fn verbosity(common: &Common) -> Verbosity {
    match (common.quiet, common.verbose) {
        (true, _) => Verbosity::Quiet,
        (false, 0) => Verbosity::Normal,
        (false, _) => Verbosity::Verbose,
    }
}
