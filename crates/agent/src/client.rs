//! The client of a server that answers as OpenAI's does. It is the only place that opens a connection.

use std::io::BufRead;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ureq::Agent;
use ureq::http::Response;

use super::answer::one_line;
use super::chat::{CallError, Chat, Reply, Request, Tries};
use super::completion::Message;
use super::ledger::Usage;
use super::role::Role;
use super::scrub::Key;
use super::settings::Settings;
use super::tokens::tokens;

/// That somebody has agreed to send sources to a host. There is no client without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    host: String,
}

impl Consent {
    /// Somebody was told which files' text goes to `host`, and agreed.
    pub fn given(host: &str) -> Self {
        Self { host: host.to_owned() }
    }
}

/// Why there can be no client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The endpoint is behind https, and this build knows none.
    #[error(
        "{endpoint} is behind https, which this build does not speak: build it with `--features https`, or name a server on plain http"
    )]
    NoTls {
        /// The endpoint.
        endpoint: String,
    },
    /// It was agreed to send sources elsewhere.
    #[error("sources may go to {agreed}, not to {host}")]
    Elsewhere {
        /// Where they may go.
        agreed: String,
        /// Where they would go.
        host: String,
    },
    /// The key cannot stand in a header.
    #[error("the key in {variable} has letters that no HTTP header may have")]
    Key {
        /// Environment variable that it comes from.
        variable: String,
    },
}

/// Times that a server in trouble is asked.
const TRIES: u32 = 4;
/// Wait before it is asked again, doubled each time, where it does not say itself how long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Longest wait; a server that asks for more gets no further question.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Bytes of an answer that are read.
const MOST_BYTES: u64 = 8 << 20;

/// How to wait.
type Pause = Arc<dyn Fn(Duration) + Send + Sync>;

/// How far an answer has come that is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streaming {
    /// For what.
    pub role: Role,
    /// Tokens so far, by the estimate.
    pub tokens: u64,
}

/// Who is told how far an answer has come.
type Watch = Arc<dyn Fn(Streaming) + Send + Sync>;

/// Asks one server.
pub struct Client {
    agent: Agent,
    address: String,
    host: String,
    key: Option<Key>,
    timeout: Duration,
    pause: Pause,
    watch: Watch,
    /// Whether answers are asked for piece by piece, and no refusal of that was heard.
    stream: bool,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Client").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Client {
    /// A client of the endpoint that the settings name. Nothing is sent yet.
    pub fn new(settings: &Settings, key: Option<Key>, consent: &Consent) -> Result<Self, ClientError> {
        let (endpoint, host) = (settings.endpoint.clone(), settings.host().to_owned());
        if consent.host != host {
            return Err(ClientError::Elsewhere { agreed: consent.host.clone(), host });
        }
        if endpoint.starts_with("https://") && !cfg!(feature = "https") {
            return Err(ClientError::NoTls { endpoint });
        }
        if key
            .as_ref()
            .is_some_and(|key| !key.bearer().chars().all(|letter| letter.is_ascii_graphic() || letter == ' '))
        {
            return Err(ClientError::Key { variable: settings.key_variable.clone() });
        }
        let config = Agent::config_builder()
            .timeout_global(Some(settings.timeout))
            .http_status_as_error(false)
            // Nobody agreed to send anything to where a server points.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent("cargo-ascend-tune");
        let config = if is_loopback(&host) { config.proxy(None) } else { config };
        Ok(Self {
            agent: config.build().new_agent(),
            address: format!("{endpoint}/chat/completions"),
            host,
            key,
            timeout: settings.timeout,
            pause: Arc::new(std::thread::sleep),
            watch: Arc::new(|_| ()),
            stream: settings.stream,
        })
    }

    /// The same that waits otherwise.
    #[must_use]
    pub fn pausing(self, pause: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        Self { pause: Arc::new(pause), ..self }
    }

    /// The same that tells how far streamed answers have come.
    #[must_use]
    pub fn watching(self, watch: impl Fn(Streaming) + Send + Sync + 'static) -> Self {
        Self { watch: Arc::new(watch), ..self }
    }

    /// One try: the server's answer, or what to do about its trouble.
    fn send(&self, role: Role, body: &str) -> Result<Sent, ureq::Error> {
        let mut request = self.agent.post(&self.address).header("content-type", "application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", key.bearer());
        }
        let mut response = request.send(body)?;
        let (status, wait) = (response.status().as_u16(), retry_after(&response));
        if (200..300).contains(&status) && is_stream(&response) {
            let reader = response.body_mut().with_config().limit(MOST_BYTES).reader();
            let body = self.streamed(role, std::io::BufReader::new(reader))?;
            return Ok(Sent { status, wait, body });
        }
        let text = response.body_mut().with_config().limit(MOST_BYTES).lossy_utf8(true).read_to_string()?;
        // Before anybody else sees it.
        Ok(Sent { status, wait, body: Body::Whole(self.scrubbed(&text)) })
    }

    /// What comes piece by piece. A connection that breaks, or is too slow, before anything came of it is trouble of the connection.
    fn streamed(&self, role: Role, mut reader: impl BufRead) -> Result<Body, ureq::Error> {
        let mut message = Message::default();
        let mut line = Vec::new();
        let broken = loop {
            line.clear();
            match reader.read_until(b'\n', &mut line) {
                Ok(0) => break None,
                Ok(_) => {
                    if let Err(error) = message.line(&String::from_utf8_lossy(&line)) {
                        break Some(error);
                    }
                    (self.watch)(Streaming { role, tokens: message.answer_tokens() });
                }
                Err(error) if message.has_begun() && !is_timeout(&error) => break Some(error.to_string()),
                Err(error) => return Err(error.into()),
            }
        };
        let broken = broken.map(|message| one_line(&self.scrubbed(&message)));
        Ok(Body::Streamed(Box::new(message.scrubbed(|text| self.scrubbed(text))), broken))
    }

    fn scrubbed(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrubbed(text))
    }

    fn failed(&self, error: &ureq::Error) -> CallError {
        let host = self.host.clone();
        match error {
            ureq::Error::Timeout(_) => {
                CallError::TimedOut { host, limit_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX) }
            }
            ureq::Error::BodyExceedsLimit(_) => {
                CallError::Malformed { host, message: format!("it has more than {MOST_BYTES} bytes") }
            }
            other => CallError::Unreachable { host, message: self.scrubbed(&one_line(&other.to_string())) },
        }
    }
}

/// What a server sent.
struct Sent {
    status: u16,
    wait: Option<Duration>,
    body: Body,
}

/// As it came, without the key.
enum Body {
    Whole(String),
    /// Piece by piece, with what broke it off.
    Streamed(Box<Message>, Option<String>),
}

impl Chat for Client {
    fn ask(&mut self, request: &Request) -> Result<Reply, CallError> {
        let started = Instant::now();
        let asked = tokens(&request.body.to_string());
        let body = match self.answered(request) {
            // It may be the stream that the server does not know.
            Err(error) if self.stream && error.is_about_the_request() => {
                self.stream = false;
                let again = self.answered(request);
                self.stream = again.is_err();
                again?
            }
            other => other?,
        };
        let host = &self.host;
        let completed = match body {
            Body::Whole(text) => {
                let malformed = |message| CallError::Malformed { host: host.clone(), message };
                Message::whole(&text).map_err(malformed)?.completed(host, request.role, asked)?
            }
            Body::Streamed(message, None) => message.completed(host, request.role, asked)?,
            Body::Streamed(message, Some(broken)) => {
                let usage = Usage { prompt_tokens: asked, answer_tokens: message.answer_tokens() };
                return Err(CallError::Cut { host: host.clone(), message: broken, usage });
            }
        };
        let of_calls: u64 = completed.calls.iter().map(|call| tokens(&call.arguments)).sum();
        let estimate = || Usage { prompt_tokens: asked, answer_tokens: tokens(&completed.text) + of_calls };
        let usage = completed.usage.unwrap_or_else(estimate);
        Ok(Reply { text: completed.text, calls: completed.calls, usage, seconds: started.elapsed().as_secs_f64() })
    }
}

impl Client {
    /// What a server says in the end, which is asked again while it is in trouble.
    fn answered(&self, request: &Request) -> Result<Body, CallError> {
        let mut body = request.body.clone();
        // How it is carried is no part of what is asked, so that a recording does not depend on it.
        body["stream"] = self.stream.into();
        if self.stream {
            body["stream_options"] = serde_json::json!({ "include_usage": true });
        }
        let body = body.to_string();
        let mut wait = FIRST_PAUSE;
        let mut tries = 0;
        loop {
            tries += 1;
            let (error, asked_for) = match self.send(request.role, &body) {
                Ok(sent) if (200..300).contains(&sent.status) => return Ok(sent.body),
                Ok(sent) => {
                    let message = match &sent.body {
                        Body::Whole(text) => what_it_says(text),
                        Body::Streamed(..) => String::new(),
                    };
                    let (host, after) = (self.host.clone(), Tries(tries));
                    let error = CallError::Status { host, status: sent.status, after, message };
                    if !matches!(sent.status, 429 | 500 | 502 | 503 | 504) {
                        return Err(error);
                    }
                    (error, sent.wait)
                }
                Err(error) => {
                    let failed = self.failed(&error);
                    // Who took too long once, or sends too much, does so again.
                    if !matches!(failed, CallError::Unreachable { .. }) {
                        return Err(failed);
                    }
                    (failed, None)
                }
            };
            let pause = asked_for.unwrap_or(wait);
            if tries == TRIES || pause > LONGEST_PAUSE {
                return Err(error);
            }
            (self.pause)(pause);
            wait *= 2;
        }
    }
}

/// Whether reading took too long.
fn is_timeout(error: &std::io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
    matches!(inner, Some(ureq::Error::Timeout(_))) || error.kind() == std::io::ErrorKind::TimedOut
}

/// Whether a response comes piece by piece.
fn is_stream<Body>(response: &Response<Body>) -> bool {
    let kind = response.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.trim().to_ascii_lowercase().starts_with("text/event-stream")
}

/// Seconds that a server asks to wait for. A date in their place counts as no word.
fn retry_after<Body>(response: &Response<Body>) -> Option<Duration> {
    let seconds = response.headers().get("retry-after")?.to_str().ok()?.trim().parse::<f64>().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// What a refusal says, one line.
fn what_it_says(text: &str) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let message = value.as_ref().and_then(|value| value.pointer("/error/message").or(value.get("message"))?.as_str());
    one_line(message.unwrap_or(text).trim())
}

/// Whether a host is this machine: no proxy lies in between.
fn is_loopback(host: &str) -> bool {
    let name = host
        .strip_prefix('[')
        .map_or_else(|| host.split(':').next().unwrap_or_default(), |rest| rest.split(']').next().unwrap_or_default());
    name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
