//! A program of the user's that proposes rewrites, asked over its standard input and output: a JSON object a line, one answer to each
//! question.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::answer::{AnswerError, Change, change, change_of_files, one_line};
use super::ledger::Spent;
use super::mind::{Errand, Held, Mind, PATIENCE, Written, note};
use super::state::State;
use manifest::ProposerSettings;
use source::SourceTree;

/// What a run may ask of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramSettings {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How long to wait for an answer.
    pub timeout: Duration,
    /// Answers that mend one refused proposal, at most.
    pub repairs: u32,
    /// Share of the other evaluations that proposals may take before they have brought anything; 1 for no limit.
    pub share: f64,
}

impl ProgramSettings {
    /// Of a table that the manifest found sound.
    pub fn of(table: &ProposerSettings) -> Self {
        Self {
            command: table.command.clone(),
            timeout: Duration::from_secs_f64(table.timeout_s.unwrap_or(600.0)),
            repairs: table.repairs.unwrap_or(2),
            share: table.share.unwrap_or(0.1),
        }
    }
}

/// A program that runs.
#[derive(Debug)]
pub struct Program {
    settings: ProgramSettings,
    child: Child,
    /// Lines for it to read; `None` once it was late.
    questions: Option<Sender<String>>,
    lines: Receiver<std::io::Result<String>>,
    spent: Spent,
    unanswered: u32,
    barren: u32,
}

/// Bytes of an answer that are read.
const MOST_BYTES: u64 = 8 << 20;

/// A question.
#[derive(Serialize)]
struct Question<'a> {
    ask: &'static str,
    /// Proposals that are wanted, at most.
    most: usize,
    #[serde(flatten)]
    state: &'a State,
}

/// An answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    proposals: Vec<Proposed>,
}

/// One of its proposals: edits in the form in which models write them, or whole files.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Proposed {
    title: String,
    #[serde(default)]
    why: String,
    edits: Option<String>,
    #[serde(default)]
    files: std::collections::BTreeMap<String, String>,
}

impl Proposed {
    fn change(&self, sources: &SourceTree) -> Result<Change, AnswerError> {
        let change = match &self.edits {
            Some(edits) => change(edits, sources)?,
            None => change_of_files(&self.files, sources)?,
        };
        Ok(Change { title: one_line(self.title.trim()), ..change })
    }
}

impl Program {
    /// Starts it in a folder, without the environment variable `secret`. What it writes to standard error is seen as it is.
    pub fn start(settings: ProgramSettings, folder: &Path, secret: &str) -> std::io::Result<Self> {
        let (name, arguments) = settings.command.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(name);
        command.args(arguments).current_dir(folder).env_remove(secret).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (mut input, output) = input.zip(output).ok_or(std::io::ErrorKind::BrokenPipe)?;
        // Whoever reads nothing keeps this thread waiting, and not the run.
        let (questions, written) = channel::<String>();
        std::thread::spawn(move || {
            let mut write = |line: String| input.write_all(line.as_bytes()).and_then(|()| input.flush());
            written.into_iter().try_for_each(|line| write(line).map_err(drop))
        });
        let (send, lines) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let mut line = Vec::new();
                let read = output.by_ref().take(MOST_BYTES).read_until(b'\n', &mut line);
                let ended = !matches!(read, Ok(1..));
                let line = read.map(|_| String::from_utf8_lossy(&line).into_owned());
                if send.send(line).is_err() || ended {
                    return;
                }
            }
        });
        let questions = Some(questions);
        Ok(Self { settings, child, questions, lines, spent: Spent::default(), unanswered: 0, barren: 0 })
    }

    /// What may be asked of it.
    pub fn settings(&self) -> &ProgramSettings {
        &self.settings
    }

    fn ask(&mut self, question: &Question<'_>) -> Result<Answer, String> {
        let line = serde_json::to_string(question).map_err(|error| error.to_string())?;
        let sent = self.questions.as_ref().map(|questions| questions.send(format!("{line}\n")));
        if !matches!(sent, Some(Ok(()))) {
            return Err("it does not read its standard input".to_owned());
        }
        let line = match self.lines.recv_timeout(self.settings.timeout) {
            Ok(Ok(line)) if line.is_empty() => return Err("it has ended".to_owned()),
            Ok(Ok(line)) => line,
            Ok(Err(error)) => return Err(error.to_string()),
            Err(RecvTimeoutError::Disconnected) => return Err("it has ended".to_owned()),
            Err(RecvTimeoutError::Timeout) => {
                // Its answer would be taken for that to the next question.
                self.questions = None;
                return Err(format!(
                    "it gave no answer within {} s (`timeout-s`)",
                    self.settings.timeout.as_secs_f64()
                ));
            }
        };
        serde_json::from_str(&line).map_err(|error| format!("its answer is none: {error}"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.questions = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Mind for Program {
    fn hold(&mut self, errand: Errand, state: State, sources: &SourceTree) -> Held {
        let mut held = Held::default();
        let (question, repairs) = match &errand {
            Errand::Fresh(most) => (Question { ask: "propose", most: *most, state: &state }, 0),
            Errand::Repair(failed, repairs) => {
                let state = &state.failed(failed);
                return self.answered(&Question { ask: "repair", most: 1, state }, repairs + 1, sources, held);
            }
            // Programs keep populations, and write records, themselves.
            Errand::Evolve(_) | Errand::Distil(_) | Errand::Motif(_) | Errand::Rewind => return held,
        };
        held.nothing = false;
        self.answered(&question, repairs, sources, held)
    }

    fn spent(&self) -> Spent {
        self.spent
    }
}

impl Program {
    fn answered(&mut self, question: &Question<'_>, repairs: u32, sources: &SourceTree, mut held: Held) -> Held {
        let started = Instant::now();
        let answer = self.ask(question);
        self.spent.seconds += started.elapsed().as_secs_f64();
        match answer {
            Err(message) => {
                self.spent.failures += 1;
                self.unanswered += 1;
                held.notes.push(note("proposer-no-answer", format!("{}: {message}", self.settings.command[0])));
            }
            Ok(answer) => {
                self.spent.answers += 1;
                self.unanswered = 0;
                held.nothing = answer.proposals.is_empty() && question.ask == "propose";
                for proposed in answer.proposals.iter().take(question.most) {
                    match proposed.change(sources) {
                        Ok(change) => {
                            let idea = one_line(if proposed.why.is_empty() { &proposed.title } else { &proposed.why });
                            let author = format!("the program {}", one_line(&self.settings.command[0]));
                            held.written.push(Written { change, idea, author, repairs, lineage: None });
                        }
                        Err(error) => {
                            held.notes.push(note("proposer-answer-unusable", format!("{:?}: {error}", proposed.title)))
                        }
                    }
                }
                self.barren = if held.written.is_empty() { self.barren + 1 } else { 0 };
            }
        }
        if self.unanswered >= PATIENCE || self.questions.is_none() {
            held.over = Some("it does not answer".to_owned());
        } else if self.barren >= PATIENCE {
            held.over = Some(format!("{PATIENCE} answers in a row had no change in them"));
        }
        held
    }
}
