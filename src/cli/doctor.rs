//! `doctor`: says what is there, what is missing and how to get it.

use std::io;

use super::Exit;
use crate::doctor::{Environment, examine};
use events::{Event, Start};
use report::Sink;

/// Examines the environment and reports; the caller's last event is [`Event::Doctor`].
pub fn execute(environment: &dyn Environment, sink: &mut dyn Sink) -> io::Result<Exit> {
    sink.emit(&Event::Start(Start::new("doctor")))?;
    let doctor = examine(environment);
    let exit = if doctor.ok { Exit::Fine } else { Exit::Environment };
    sink.emit(&Event::Doctor(doctor))?;
    Ok(exit)
}
