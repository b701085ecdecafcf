//! Where events go: the trait, and the JSON lines writer.

use std::io::{self, ErrorKind, Write};

use events::Event;

/// Something that consumes events in order.
pub trait Sink: Send {
    /// Takes one event.
    fn emit(&mut self, event: &Event) -> io::Result<()>;
}

/// A sink that keeps everything, for records and tests.
impl Sink for Vec<Event> {
    fn emit(&mut self, event: &Event) -> io::Result<()> {
        self.push(event.clone());
        Ok(())
    }
}

/// A sink that drops everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Sink for Silent {
    fn emit(&mut self, _event: &Event) -> io::Result<()> {
        Ok(())
    }
}

/// One JSON object a line, flushed after each. A reader that goes away ends the output and nothing else.
#[derive(Debug)]
pub struct JsonLines<W> {
    output: Option<W>,
}

impl<W: Write> JsonLines<W> {
    /// Writes to `output`.
    pub fn new(output: W) -> Self {
        Self { output: Some(output) }
    }

    fn write(output: &mut W, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()
    }
}

impl<W: Write + Send> Sink for JsonLines<W> {
    fn emit(&mut self, event: &Event) -> io::Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        match Self::write(output, event) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.output = None;
                Ok(())
            }
            result => result,
        }
    }
}
