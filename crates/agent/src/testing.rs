//! A server on loopback that speaks HTTP and answers as it was told, for tests.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// What a server does with a request.
#[derive(Clone, Debug)]
pub enum Step {
    /// It answers.
    Say(String),
    /// It answers with this status, these headers, and this body.
    Send {
        /// HTTP status.
        status: u16,
        /// Lines such as `retry-after: 2`.
        headers: Vec<String>,
        /// Body.
        body: String,
    },
    /// It takes so long.
    Slow(Duration, String),
    /// It stops in the middle of its answer.
    Cut(String),
    /// It sends server-sent events, one for each of these pieces of an answer, and ends the stream as it should.
    Stream(Vec<String>),
    /// The same, and hangs up behind the last piece.
    Broken(Vec<String>),
    /// It calls a tool, by name and arguments.
    Call(String, Value),
    /// What it does depends on what it is asked.
    With(Answering),
}

/// What a server does by what it is asked.
#[derive(Clone)]
pub struct Answering(pub Arc<dyn Fn(&Received) -> Step + Send + Sync>);

impl std::fmt::Debug for Answering {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Answering(..)")
    }
}

impl Step {
    /// A refusal with a message, as such servers send it.
    pub fn status(status: u16, message: &str) -> Self {
        let body = json!({ "error": { "message": message } }).to_string();
        Self::Send { status, headers: Vec::new(), body }
    }

    /// The same that says when to come again.
    pub fn later(status: u16, seconds: &str) -> Self {
        Self::Send { status, headers: vec![format!("retry-after: {seconds}")], body: String::new() }
    }

    /// A body that is no chat completion.
    pub fn body(body: &str) -> Self {
        Self::Send { status: 200, headers: Vec::new(), body: body.to_owned() }
    }

    /// A step that depends on what is asked.
    pub fn by(answering: impl Fn(&Received) -> Self + Send + Sync + 'static) -> Self {
        Self::With(Answering(Arc::new(answering)))
    }
}

/// A request as it came in.
#[derive(Clone, Debug)]
pub struct Received {
    /// Request line and headers.
    pub head: String,
    /// Body.
    pub body: Value,
}

impl Received {
    /// What the model is asked.
    pub fn question(&self) -> &str {
        self.body.pointer("/messages/1/content").and_then(Value::as_str).unwrap_or_default()
    }
}

/// A server that goes through its steps, one for each request.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

/// Tokens of a prompt, as the server has it.
pub const PROMPT_TOKENS: u64 = 100;
/// Tokens of an answer.
pub const ANSWER_TOKENS: u64 = 20;

/// Server-sent events of an answer in pieces; `end` closes it with its price.
fn events(pieces: &[String], end: bool) -> String {
    let event = |value: Value| format!("data: {value}\n\n");
    let piece = |text: &String| event(json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }));
    let mut events: String = pieces.iter().map(piece).collect();
    if end {
        events.push_str(&event(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] })));
        let usage = json!({ "prompt_tokens": PROMPT_TOKENS, "completion_tokens": ANSWER_TOKENS });
        events.push_str(&event(json!({ "choices": [], "usage": usage })));
        events.push_str("data: [DONE]\n\n");
    }
    events
}

/// A chat completion that calls a tool.
fn call(name: &str, arguments: &Value) -> String {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let message =
        json!({ "content": null, "tool_calls": [{ "id": "call-1", "type": "function", "function": function }] });
    let usage = json!({ "prompt_tokens": PROMPT_TOKENS, "completion_tokens": ANSWER_TOKENS });
    json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }], "usage": usage }).to_string()
}

/// A chat completion of a text.
pub fn completion(text: &str) -> String {
    let choices = json!([{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }]);
    let usage = json!({ "prompt_tokens": PROMPT_TOKENS, "completion_tokens": ANSWER_TOKENS });
    json!({ "object": "chat.completion", "choices": choices, "usage": usage }).to_string()
}

impl ScriptedServer {
    /// Listens on a port of loopback that is free. Behind its last step it refuses with status 400.
    pub fn start(steps: impl IntoIterator<Item = Step>) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let (heard, mut steps) = (Arc::clone(&received), steps.into_iter().collect::<VecDeque<_>>());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                // Whoever hangs up gets nothing; the next one is served.
                let _ = serve(stream, &mut steps, &heard);
            }
        });
        Ok(Self { address, received })
    }

    /// What a manifest names.
    pub fn endpoint(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What has come in so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(stream: TcpStream, steps: &mut VecDeque<Step>, heard: &Mutex<Vec<Received>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    let length =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let received = Received { head, body };
    heard.lock().unwrap_or_else(PoisonError::into_inner).push(received.clone());
    let answer = |mut stream: &TcpStream, status: u16, headers: &[String], body: &str, length: usize| {
        let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        let head =
            format!("HTTP/1.1 {status} Scripted\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n");
        stream.write_all(format!("{head}{body}").as_bytes())
    };
    let mut step = steps.pop_front().unwrap_or_else(|| Step::status(400, "the script has ended"));
    while let Step::With(Answering(answering)) = &step {
        let next = answering(&received);
        // The last one answers all that is asked from there on.
        if steps.is_empty() {
            steps.push_back(step);
        }
        step = next;
    }
    match step {
        Step::Say(text) => {
            let body = completion(&text);
            answer(&stream, 200, &[], &body, body.len())
        }
        Step::Send { status, headers, body } => answer(&stream, status, &headers, &body, body.len()),
        Step::Slow(time, text) => {
            std::thread::sleep(time);
            let body = completion(&text);
            answer(&stream, 200, &[], &body, body.len())
        }
        Step::Cut(text) => {
            let body = completion(&text);
            answer(&stream, 200, &[], &body[..body.len() / 2], body.len())
        }
        Step::Stream(pieces) => streamed(&stream, &events(&pieces, true), 0),
        Step::Broken(pieces) => streamed(&stream, &events(&pieces, false), 1),
        Step::Call(name, arguments) => {
            let body = call(&name, &arguments);
            answer(&stream, 200, &[], &body, body.len())
        }
        // Resolved above.
        Step::With(_) => Ok(()),
    }
}

/// Sends events. `missing` bytes of what the length says never come.
fn streamed(mut stream: &TcpStream, events: &str, missing: usize) -> std::io::Result<()> {
    let length = events.len() + missing;
    let head = format!(
        "HTTP/1.1 200 Scripted\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(format!("{head}{events}").as_bytes())
}
