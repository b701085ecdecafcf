//! Recordings of what was exchanged with a model, as JSON Lines: no key, no folders of a machine.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chat::{CallError, Chat, Reply, Request, ToolCall};
use super::role::Role;

/// A question with what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Exchange {
    role: Role,
    digest: String,
    request: Value,
    #[serde(flatten)]
    outcome: Outcome,
}

/// A tool that was used between two exchanges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Usage {
    tool: ToolCall,
    result: String,
}

/// A line of a recording.
#[derive(Clone, Debug, PartialEq)]
enum Entry {
    Exchange(Box<Exchange>),
    Tool(Usage),
}

impl Entry {
    fn of(line: &str) -> serde_json::Result<Self> {
        let value: Value = serde_json::from_str(line)?;
        if value.get("tool").is_some() {
            return serde_json::from_value(value).map(Self::Tool);
        }
        serde_json::from_value(value).map(|exchange| Self::Exchange(Box::new(exchange)))
    }

    fn line(&self) -> serde_json::Result<String> {
        let text = match self {
            Self::Exchange(exchange) => serde_json::to_string(exchange),
            Self::Tool(usage) => serde_json::to_string(usage),
        };
        text.map(|line| format!("{line}\n"))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    Reply(Reply),
    Error(CallError),
}

impl Outcome {
    fn of(result: &Result<Reply, CallError>) -> Self {
        match result {
            Ok(reply) => Self::Reply(reply.clone()),
            Err(error) => Self::Error(error.clone()),
        }
    }

    fn result(self) -> Result<Reply, CallError> {
        match self {
            Self::Reply(reply) => Ok(reply),
            Self::Error(error) => Err(error),
        }
    }
}

/// Why a recording cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// The file is not to be had.
    #[error(transparent)]
    File(#[from] std::io::Error),
    /// A line is no exchange.
    #[error("{}:{line}: no exchange with a model: {message}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The request was changed after it was recorded.
    #[error("{}:{line}: the request for {role} is not the one that its digest {digest} stands for", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// For what.
        role: Role,
        /// The digest beside it.
        digest: String,
    },
}

/// Reads a recording. A last line without an end was cut off, and counts as not there.
fn read(path: &Path) -> Result<Vec<Entry>, CassetteError> {
    let text = fs_err::read_to_string(path)?;
    let mut entries = Vec::new();
    for (place, line) in text.split_inclusive('\n').enumerate() {
        if line.trim().is_empty() || !line.ends_with('\n') {
            continue;
        }
        let at = place + 1;
        let entry = Entry::of(line).map_err(|error| {
            let message = error.to_string();
            CassetteError::Line { path: path.to_owned(), line: at, message }
        })?;
        if let Entry::Exchange(exchange) = &entry {
            let Exchange { role, digest, request, .. } = &**exchange;
            if (Request { role: *role, body: request.clone() }).digest() != *digest {
                let digest = digest.clone();
                return Err(CassetteError::Changed { path: path.to_owned(), line: at, role: *role, digest });
            }
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// Writes one line at once, so that a run that is stopped leaves whole lines or a last one without an end.
fn append(file: &mut fs_err::File, entry: &Entry) -> Result<(), CallError> {
    let written = entry.line().map_err(std::io::Error::other);
    let written = written.and_then(|line| file.write_all(line.as_bytes()));
    let name = |file: &fs_err::File| file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    written.map_err(|error| CallError::NotKept { file: name(file), message: error.to_string() })
}

fn exchanged(request: &Request, result: &Result<Reply, CallError>) -> Entry {
    let (role, digest) = (request.role, request.digest());
    let exchange = Exchange { role, digest, request: request.body.clone(), outcome: Outcome::of(result) };
    Entry::Exchange(Box::new(exchange))
}

fn used(call: &ToolCall, result: &str) -> Entry {
    Entry::Tool(Usage { tool: call.clone(), result: result.to_owned() })
}

/// Records everything that goes through it.
#[derive(Debug)]
pub struct Recorder {
    inner: Box<dyn Chat>,
    file: fs_err::File,
}

impl Recorder {
    /// Begins a recording; a file that is there is replaced.
    pub fn create(path: &Path, inner: Box<dyn Chat>) -> Result<Self, CassetteError> {
        Ok(Self { inner, file: fs_err::File::create(path)? })
    }
}

impl Chat for Recorder {
    fn ask(&mut self, request: &Request) -> Result<Reply, CallError> {
        let result = self.inner.ask(request);
        append(&mut self.file, &exchanged(request, &result))?;
        result
    }

    fn tool(&mut self, call: &ToolCall, run: &mut dyn FnMut() -> String) -> Result<String, CallError> {
        let result = self.inner.tool(call, run)?;
        append(&mut self.file, &used(call, &result))?;
        Ok(result)
    }
}

/// Answers out of a recording, in its order, and asks nobody.
#[derive(Debug)]
pub struct Replay {
    name: String,
    entries: VecDeque<Entry>,
    asked: usize,
}

impl Replay {
    /// Reads a recording.
    pub fn open(path: &Path) -> Result<Self, CassetteError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, entries: read(path)?.into(), asked: 0 })
    }
}

impl Chat for Replay {
    fn ask(&mut self, request: &Request) -> Result<Reply, CallError> {
        self.asked += 1;
        let (role, digest) = (request.role, request.digest());
        let differs = |how: String| {
            let message = format!("{}: question {} of this run, for {role} ({digest}), {how}", self.name, self.asked);
            Err(CallError::NotRecorded { message })
        };
        let exchange = match self.entries.front() {
            Some(Entry::Exchange(exchange)) => exchange,
            Some(Entry::Tool(usage)) => {
                let name = super::answer::one_line(&usage.tool.name);
                return differs(format!("was not recorded: the tool {name:?} was used then"));
            }
            None => return differs("was not recorded: the recording ends before it".to_owned()),
        };
        if exchange.role != role || exchange.digest != digest {
            let what = difference(&exchange.request, &request.body);
            let how = format!("is not the one that was recorded, for {} ({}): {what}", exchange.role, exchange.digest);
            return differs(how);
        }
        match self.entries.pop_front() {
            Some(Entry::Exchange(exchange)) => exchange.outcome.result(),
            _ => differs("was not recorded".to_owned()),
        }
    }

    fn tool(&mut self, call: &ToolCall, _run: &mut dyn FnMut() -> String) -> Result<String, CallError> {
        match self.entries.pop_front() {
            Some(Entry::Tool(usage)) if usage.tool == *call => Ok(usage.result),
            _ => {
                let name = super::answer::one_line(&call.name);
                let after = format!("after question {} of this run", self.asked);
                let message = format!("{}: the use of the tool {name:?} {after} was not recorded", self.name);
                Err(CallError::NotRecorded { message })
            }
        }
    }
}

/// The first thing that two requests differ in.
fn difference(recorded: &Value, asked: &Value) -> String {
    let text = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    for (pointer, name) in
        [("/model", "the model"), ("/temperature", "the temperature"), ("/max_tokens", "the answer's length")]
    {
        let (was, is) = (recorded.pointer(pointer), asked.pointer(pointer));
        if was != is {
            return format!("{name} was {}, and is {}", text(was), text(is));
        }
    }
    let messages = |value: &Value| value.pointer("/messages").and_then(Value::as_array).map_or(0, Vec::len);
    for place in 0..messages(recorded).max(messages(asked)) {
        let name = ["instructions", "question"]
            .get(place)
            .map_or_else(|| format!("message {place}"), |name| (*name).to_owned());
        let of = |value: &Value| {
            value.pointer(&format!("/messages/{place}/content")).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let (was, is) = (of(recorded), of(asked));
        let line = was.lines().zip(is.lines()).position(|(was, is)| was != is);
        let line = line.or((was != is).then(|| was.lines().count().min(is.lines().count())));
        if let Some(line) = line {
            let quoted = |text: &str| super::answer::one_line(text.lines().nth(line).unwrap_or_default());
            return format!("line {} of the {name} was {:?}, and is {:?}", line + 1, quoted(&was), quoted(&is));
        }
    }
    for (name, what) in
        [("response_format", "the schema of the answer"), ("tools", "tools"), ("tool_choice", "the use of tools")]
    {
        if recorded.get(name) != asked.get(name) {
            return format!("{what} differ");
        }
    }
    "another role".to_owned()
}

/// Answers questions that were asked before without asking again, so that a run which is taken up goes the same way.
#[derive(Debug)]
pub struct Kept {
    inner: Box<dyn Chat>,
    file: fs_err::File,
    known: BTreeMap<String, VecDeque<Reply>>,
    /// What tools brought, by what was called.
    results: BTreeMap<String, VecDeque<String>>,
}

/// What tells a call from others.
fn call_key(call: &ToolCall) -> String {
    format!("{} {} {}", call.id, call.name, call.arguments)
}

impl Kept {
    /// Goes on with the file that an earlier run left, or begins one. `again` forgets what is there.
    pub fn open(path: &Path, again: bool, inner: Box<dyn Chat>) -> Result<Self, CassetteError> {
        let earlier = if path.exists() && !again { read(path)? } else { Vec::new() };
        let mut known: BTreeMap<String, VecDeque<Reply>> = BTreeMap::new();
        let mut results: BTreeMap<String, VecDeque<String>> = BTreeMap::new();
        let mut whole = String::new();
        for entry in earlier {
            whole.push_str(&entry.line().map_err(std::io::Error::other)?);
            match entry {
                Entry::Exchange(exchange) => {
                    if let Outcome::Reply(reply) = exchange.outcome {
                        known.entry(exchange.digest).or_default().push_back(reply);
                    }
                }
                Entry::Tool(usage) => {
                    results.entry(call_key(&usage.tool)).or_default().push_back(usage.result);
                }
            }
        }
        // A line that was cut off would spoil the next one.
        fs_err::write(path, whole)?;
        let file = fs_err::OpenOptions::new().append(true).open(path)?;
        Ok(Self { inner, file, known, results })
    }
}

impl Chat for Kept {
    fn ask(&mut self, request: &Request) -> Result<Reply, CallError> {
        if let Some(reply) = self.known.get_mut(&request.digest()).and_then(VecDeque::pop_front) {
            return Ok(reply);
        }
        let result = self.inner.ask(request);
        if result.is_ok() {
            append(&mut self.file, &exchanged(request, &result))?;
        }
        result
    }

    fn tool(&mut self, call: &ToolCall, run: &mut dyn FnMut() -> String) -> Result<String, CallError> {
        if let Some(result) = self.results.get_mut(&call_key(call)).and_then(VecDeque::pop_front) {
            return Ok(result);
        }
        let result = self.inner.tool(call, run)?;
        append(&mut self.file, &used(call, &result))?;
        Ok(result)
    }
}
