//! A server of the Model Context Protocol over two streams: JSON-RPC 2.0, a message a line. What its tools do is the caller's.

mod message;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::message::{Code, Incoming, Request, failure, success};

/// Versions of the protocol that are spoken, the newest first.
pub const PROTOCOL_VERSIONS: [&str; 2] = ["2025-06-18", "2024-11-05"];
/// Bytes of a message that are read.
const MOST_BYTES: u64 = 8 << 20;
/// Calls that run at the same time.
const MOST_CALLS: usize = 4;
/// How long calls that run may go on when the input ends: who pipes a question in waits for the answer.
const GRACE: Duration = Duration::from_secs(2);

/// A tool as a client sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// JSON schema of its arguments, an object.
    pub schema: Value,
    /// Whether it only looks things up. Others build and run what lies in the project.
    pub read_only: bool,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// For the reader.
    pub text: String,
    /// The same as data, an object, where there is such.
    pub data: Option<Value>,
    /// Whether it went wrong, as `text` says.
    pub is_error: bool,
}

/// Where messages go, one at a time.
type Out = Arc<dyn Fn(Value) + Send + Sync>;

/// A call that runs: whether it is still wanted, and how it says how far it is.
pub struct Turn {
    cancelled: Arc<AtomicBool>,
    told: Option<(Value, Out)>,
    steps: Mutex<u64>,
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Turn").field("cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

impl Turn {
    /// Whether nobody waits for it any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Tells a client that wants to know that one more step is done.
    pub fn step(&self, what: &str) {
        let Some((token, tell)) = &self.told else { return };
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        *steps += 1;
        let params = json!({ "progressToken": token, "progress": *steps, "message": what });
        tell(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }));
    }
}

/// What a server offers.
pub trait Offer: Send + Sync {
    /// Name and version of the program.
    fn name(&self) -> (&str, &str);
    /// What a model should know of it before it calls anything.
    fn instructions(&self) -> String;
    /// Its tools.
    fn tools(&self) -> Vec<Description>;
    /// What a call of one of them brings; `Err` where the arguments are none of the tool.
    fn call(&self, tool: &str, arguments: &Value, turn: &Turn) -> Result<Answer, String>;
}

/// A call, by its request.
struct Running {
    cancelled: Arc<AtomicBool>,
    /// Whether it is over, but for the answer that is being written.
    over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// One conversation.
struct Session {
    offer: Arc<dyn Offer>,
    out: Out,
    is_open: bool,
    running: BTreeMap<String, Running>,
    /// Calls that write their answers.
    answering: Vec<JoinHandle<()>>,
}

/// Serves until the input ends. Calls that run then get a moment to answer, and are given up.
pub fn serve(offer: Arc<dyn Offer>, mut input: impl BufRead, output: impl Write + Send + 'static) -> io::Result<()> {
    let output = Mutex::new(output);
    let lost: Arc<AtomicBool> = Arc::default();
    let gone = Arc::clone(&lost);
    let out: Out = Arc::new(move |message: Value| {
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        // Who does not read any more ends the input too, or is gone.
        if writeln!(output, "{message}").and_then(|()| output.flush()).is_err() {
            gone.store(true, Ordering::Relaxed);
        }
    });
    let mut session = Session { offer, out, is_open: false, running: BTreeMap::new(), answering: Vec::new() };
    let mut line = Vec::new();
    while !lost.load(Ordering::Relaxed) {
        line.clear();
        let read = input.by_ref().take(MOST_BYTES).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        if read as u64 == MOST_BYTES && line.last() != Some(&b'\n') {
            (session.out)(failure(&Value::Null, Code::Invalid, &format!("a message has more than {MOST_BYTES} bytes")));
            break;
        }
        if !line.trim_ascii().is_empty() {
            session.hear(&line);
        }
    }
    session.end();
    Ok(())
}

impl Session {
    fn hear(&mut self, line: &[u8]) {
        match Incoming::read(line) {
            Ok(Incoming::Request(request)) => self.answer(request),
            Ok(Incoming::Notification { method, params }) => self.notice(&method, &params),
            // This server asks nothing.
            Ok(Incoming::Response) => {}
            Err((id, code, message)) => (self.out)(failure(&id, code, &message)),
        }
    }

    fn notice(&mut self, method: &str, params: &Value) {
        if method == "notifications/cancelled"
            && let Some(running) = params.get("requestId").and_then(|id| self.running.get(&id.to_string()))
        {
            running.cancelled.store(true, Ordering::Relaxed);
        }
    }

    fn answer(&mut self, request: Request) {
        let Request { id, method, params } = &request;
        let result = match method.as_str() {
            "initialize" => self.opened(params),
            "ping" => Ok(json!({})),
            _ if !self.is_open => Err((Code::Invalid, format!("{method} before initialize"))),
            "tools/list" => Ok(json!({ "tools": self.offer.tools().iter().map(listed).collect::<Vec<_>>() })),
            "tools/call" => match self.begin(&request) {
                Ok(()) => return,
                Err(error) => Err(error),
            },
            _ => Err((Code::Method, format!("there is no method {method}"))),
        };
        (self.out)(match result {
            Ok(result) => success(id, result),
            Err((code, message)) => failure(id, code, &message),
        });
    }

    fn opened(&mut self, params: &Value) -> Result<Value, (Code, String)> {
        let wanted = params.get("protocolVersion").and_then(Value::as_str);
        let wanted = wanted.ok_or((Code::Params, "initialize has no `protocolVersion`".to_owned()))?;
        // Where the client's is not spoken it decides whether it speaks ours.
        let version = PROTOCOL_VERSIONS.into_iter().find(|known| *known == wanted).unwrap_or(PROTOCOL_VERSIONS[0]);
        self.is_open = true;
        let (name, version_of_program) = self.offer.name();
        Ok(json!({
            "protocolVersion": version,
            "capabilities": { "tools": { "listChanged": false } },
            "serverInfo": { "name": name, "version": version_of_program },
            "instructions": self.offer.instructions(),
        }))
    }

    /// Begins a call beside those that run.
    fn begin(&mut self, request: &Request) -> Result<(), (Code, String)> {
        // Whoever has an answer may ask again at once.
        let is_over = |running: &Running| running.over.load(Ordering::Acquire) || running.thread.is_finished();
        let (over, running): (BTreeMap<_, _>, _) =
            std::mem::take(&mut self.running).into_iter().partition(|(_, running)| is_over(running));
        self.running = running;
        self.answering.extend(over.into_values().map(|running| running.thread));
        self.answering.retain(|thread| !thread.is_finished());
        let wrong = |message: String| Err((Code::Params, message));
        let Some(name) = request.params.get("name").and_then(Value::as_str) else {
            return wrong("tools/call has no `name`".to_owned());
        };
        if self.offer.tools().iter().all(|tool| tool.name != name) {
            let names: Vec<&str> = self.offer.tools().iter().map(|tool| tool.name).collect();
            return wrong(format!("there is no tool {name:?}; there are {}", names.join(", ")));
        }
        let arguments = request.params.get("arguments").cloned().unwrap_or_else(|| json!({}));
        if !arguments.is_object() {
            return wrong("`arguments` is no object".to_owned());
        }
        let key = request.id.to_string();
        if self.running.contains_key(&key) {
            return Err((Code::Invalid, format!("request {key} runs already")));
        }
        if self.running.len() >= MOST_CALLS {
            return Err((Code::Busy, format!("{MOST_CALLS} calls run already; ask again when one of them has ended")));
        }
        let cancelled: Arc<AtomicBool> = Arc::default();
        let token = request.params.pointer("/_meta/progressToken").filter(|token| !token.is_null()).cloned();
        let told = token.map(|token| (token, Arc::clone(&self.out)));
        let turn = Turn { cancelled: Arc::clone(&cancelled), told, steps: Mutex::default() };
        let (offer, out, id, name) =
            (Arc::clone(&self.offer), Arc::clone(&self.out), request.id.clone(), name.to_owned());
        let over: Arc<AtomicBool> = Arc::default();
        let ended = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let result = offer.call(&name, &arguments, &turn);
            ended.store(true, Ordering::Release);
            // Nobody waits for an answer to what was cancelled.
            if !turn.is_cancelled() {
                out(match result {
                    Ok(answer) => success(&id, called(&answer)),
                    Err(message) => failure(&id, Code::Params, &message),
                });
            }
        });
        self.running.insert(key, Running { cancelled, over, thread });
        Ok(())
    }

    fn end(self) {
        let until = Instant::now() + GRACE;
        while self.running.values().any(|running| !running.thread.is_finished()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        for running in self.running.values() {
            running.cancelled.store(true, Ordering::Relaxed);
        }
        for thread in self.running.into_values().map(|running| running.thread).chain(self.answering) {
            // A call that panicked has said so on standard error.
            let _ = thread.join();
        }
    }
}

fn listed(tool: &Description) -> Value {
    let hints = json!({ "readOnlyHint": tool.read_only, "destructiveHint": false, "openWorldHint": false });
    json!({ "name": tool.name, "description": tool.description, "inputSchema": tool.schema, "annotations": hints })
}

fn called(answer: &Answer) -> Value {
    let mut result = json!({ "content": [{ "type": "text", "text": answer.text }], "isError": answer.is_error });
    if let Some(data) = &answer.data {
        result["structuredContent"] = data.clone();
    }
    result
}
