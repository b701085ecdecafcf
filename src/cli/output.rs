//! Where a command's events go, and how its failure is shown.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use anstream::AutoStream;
use clap::ColorChoice;
use indicatif::ProgressDrawTarget;

use super::Exit;
use super::args::{Common, MessageFormat};
use events::{Event, Failure, Start};
use report::{Human, HumanOptions, JsonLines, Sink, Verbosity};
use tuner::{FailureKind, TunerError};

/// The output of one command.
pub struct Output {
    /// Consumes events.
    pub sink: Box<dyn Sink>,
    /// Whether standard output carries JSON lines.
    pub json: bool,
    /// First event, until it or a fuller one was emitted.
    pending: Option<Start>,
    /// The speed-up that the last run claimed.
    claimed: Option<f64>,
}

impl Output {
    /// As the common options ask, for a command that may fail before it has anything to say.
    pub fn new(common: &Common, command: &str) -> Self {
        let pending = Some(start_event(command, common));
        match common.message_format {
            MessageFormat::Json => {
                Self { sink: Box::new(JsonLines::new(io::stdout())), json: true, pending, claimed: None }
            }
            MessageFormat::Human => {
                let terminal = io::stderr().is_terminal();
                let choice = match common.color {
                    ColorChoice::Always => anstream::ColorChoice::Always,
                    ColorChoice::Never => anstream::ColorChoice::Never,
                    ColorChoice::Auto => anstream::ColorChoice::Auto,
                };
                let verbosity = match (common.quiet, common.verbose) {
                    (true, _) => Verbosity::Quiet,
                    (_, 0) => Verbosity::Normal,
                    _ => Verbosity::Verbose,
                };
                let progress = terminal.then(ProgressDrawTarget::stderr);
                // Each stream decides for itself: what goes into a file stays plain.
                let options = HumanOptions { verbosity, color: true, progress };
                let human =
                    Human::new(AutoStream::new(io::stderr(), choice), AutoStream::new(io::stdout(), choice), options);
                Self { sink: Box::new(human), json: false, pending, claimed: None }
            }
        }
    }

    /// For a part of a command: what it says is collected, and ends when this is dropped.
    pub fn collecting(command: &str, common: &Common) -> (Self, Receiver<Event>) {
        let (sender, receiver) = channel();
        let pending = Some(start_event(command, common));
        (Self { sink: Box::new(Collected(sender)), json: true, pending, claimed: None }, receiver)
    }

    /// Emits an event. That nobody reads is no reason to stop working.
    pub fn emit(&mut self, event: &Event) {
        if let Some(start) = self.pending.take()
            && !matches!(event, Event::Start(_))
        {
            self.send(&Event::Start(start));
        }
        if let Event::Summary(summary) = event {
            self.claimed = Some(summary.claimed);
        }
        self.send(event);
    }

    /// The speed-up that a run has claimed since this was asked last.
    pub fn take_claimed(&mut self) -> Option<f64> {
        self.claimed.take()
    }

    fn send(&mut self, event: &Event) {
        if let Err(error) = self.sink.emit(event) {
            tracing::warn!(%error, "output failed");
        }
    }

    /// Shows a failure as the last event and says how the process ends.
    pub fn fail(&mut self, error: &TunerError) -> Exit {
        let exit = exit_of(error);
        self.emit(&Event::Error(Failure { message: error.to_string(), help: error.help(), exit: exit.code() }));
        exit
    }
}

/// Hands events on.
struct Collected(Sender<Event>);

impl Sink for Collected {
    fn emit(&mut self, event: &Event) -> io::Result<()> {
        self.0.send(event.clone()).map_err(io::Error::other)
    }
}

/// Exit status of a failure.
pub fn exit_of(error: &TunerError) -> Exit {
    match error.kind() {
        FailureKind::Usage => Exit::Usage,
        FailureKind::Environment => Exit::Environment,
        FailureKind::Build => Exit::BuildFailed,
        FailureKind::Wrong => Exit::NothingValid,
        FailureKind::Check => Exit::CheckFailed,
        FailureKind::Bug => Exit::Bug,
    }
}

/// The tool's own log goes to standard error, and only when asked for twice.
pub fn start_log(verbose: u8) {
    let level = match verbose {
        0 | 1 => tracing::Level::ERROR,
        2 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr).without_time();
    // A second initialisation, as in tests, keeps the first.
    let _ = log.try_init();
}

/// Writes a file by rename, so that a reader sees the old one or the new one.
pub fn write_whole(path: &Path, text: &str) -> Result<(), TunerError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs_err::create_dir_all(folder)?;
    }
    let temporary = path.with_extension("tmp");
    fs_err::write(&temporary, text)?;
    fs_err::rename(&temporary, path)?;
    Ok(())
}

/// The first event of a command. Operator and machine are added when they are known.
pub fn start_event(command: &str, common: &Common) -> Start {
    Start {
        project: Some(common.project.display().to_string()),
        backend: Some("sim".to_owned()),
        ..Start::new(command)
    }
}
