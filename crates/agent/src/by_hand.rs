//! Recordings that nobody recorded: answers that somebody wrote by hand, as a model would give them, by role and in order.

use std::collections::VecDeque;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::cassette::{CassetteError, Replay};
use super::chat::{CallError, Chat, Reply, Request};
use super::ledger::Usage;
use super::role::Role;
use super::tokens::tokens;

/// The first line of such a file, which says what it is.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Head {
    /// What it is about, for readers.
    #[serde(rename = "by-hand")]
    _about: String,
}

/// Each line behind that.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    role: Role,
    /// Its lines.
    answer: Vec<String>,
}

/// What is said for a role that has no answer left: that there is nothing to say.
const NOTHING: &str = "NOTHING";

/// Answers by role, whatever the question is. A template can change without such a file; what was recorded is strict ([`Replay`]).
#[derive(Debug)]
struct ByHand {
    answers: VecDeque<Answer>,
}

/// Opens a recording, or a file of answers by hand: its first line tells which. With it comes what a run calls it.
pub fn open_recording(path: &Path) -> Result<(Box<dyn Chat>, String), CassetteError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs_err::read_to_string(path)?;
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_head = serde_json::from_str::<Value>(first).is_ok_and(|value| value.get("by-hand").is_some());
    if !is_head {
        return Ok((Box::new(Replay::open(path)?), name));
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let mut answers = VecDeque::new();
    for (place, line) in lines {
        let read = if line == first && answers.is_empty() {
            serde_json::from_str(line).map(|_: Head| ())
        } else {
            serde_json::from_str(line).map(|answer| answers.push_back(answer))
        };
        let read: serde_json::Result<()> = read;
        read.map_err(|error| {
            let message =
                format!("nor an answer by hand, such as {{\"role\": \"plan\", \"answer\": [\"- line\"]}}: {error}");
            CassetteError::Line { path: path.to_owned(), line: place + 1, message }
        })?;
    }
    Ok((Box::new(ByHand { answers }), format!("{name}, written by hand")))
}

impl Chat for ByHand {
    fn ask(&mut self, request: &Request) -> Result<Reply, CallError> {
        let place = self.answers.iter().position(|answer| answer.role == request.role);
        let answer = place.and_then(|place| self.answers.remove(place));
        let text = answer.map_or_else(|| NOTHING.to_owned(), |answer| answer.answer.join("\n"));
        let messages = request.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let asked = messages.iter().filter_map(|message| message["content"].as_str());
        let usage = Usage { prompt_tokens: asked.map(tokens).sum(), answer_tokens: tokens(&text) };
        Ok(Reply { text, usage, seconds: 0.0, calls: Vec::new() })
    }
}
