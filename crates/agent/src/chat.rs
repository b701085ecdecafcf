//! One question and its answer: what every way to ask a model has in common.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ledger::Usage;
use super::prompt::Prompt;
use super::role::Role;

/// A question as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// For what.
    pub role: Role,
    /// Body of the request.
    pub body: Value,
}

impl Request {
    /// A prompt for a model.
    pub fn new(prompt: &Prompt, model: &str, temperature: f64, answer_tokens: u64) -> Self {
        let body = json!({
            "model": model,
            "messages": [
                { "role": "system", "content": prompt.system },
                { "role": "user", "content": prompt.user },
            ],
            "temperature": temperature,
            "max_tokens": answer_tokens,
        });
        Self { role: prompt.role, body }
    }

    /// The same that wants an answer by a schema.
    #[must_use]
    pub fn formatted(mut self, format: Value) -> Self {
        self.body["response_format"] = format;
        self
    }

    /// The same with tools that the model may call; `last` where it has called enough of them.
    #[must_use]
    pub fn with_tools(mut self, tools: Value, last: bool) -> Self {
        self.body["tools"] = tools;
        self.body["tool_choice"] = if last { "none" } else { "auto" }.into();
        self
    }

    /// The same after calls that an answer made, with what came of them.
    #[must_use]
    pub fn with_results(mut self, text: &str, results: &[(ToolCall, String)]) -> Self {
        let call = |call: &ToolCall| {
            let function = json!({ "name": call.name, "arguments": call.arguments });
            json!({ "id": call.id, "type": "function", "function": function })
        };
        let calls: Vec<Value> = results.iter().map(|(made, _)| call(made)).collect();
        if let Some(messages) = self.body["messages"].as_array_mut() {
            messages.push(json!({ "role": "assistant", "content": text, "tool_calls": calls }));
            let result = |(call, result): &(ToolCall, String)| json!({ "role": "tool", "tool_call_id": call.id, "content": result });
            messages.extend(results.iter().map(result));
        }
        self
    }

    /// What tells it from others.
    pub fn digest(&self) -> String {
        let text = format!("{}\n{}", self.role, self.body);
        blake3::hash(text.as_bytes()).to_hex().as_str()[..16].to_owned()
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// What the model says.
    pub text: String,
    /// What it took.
    pub usage: Usage,
    /// Seconds until it was there, waiting for the server's leave included.
    pub seconds: f64,
    /// Tools that it calls before it says more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
}

/// A tool that a model calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What the model calls this call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments as it wrote them: JSON, if it keeps to what it was told.
    pub arguments: String,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CallError {
    /// Nobody answers there.
    #[error("{host} cannot be reached: {message}")]
    Unreachable {
        /// Whom.
        host: String,
        /// Why.
        message: String,
    },
    /// It took too long.
    #[error("{host} gave no answer within {limit_ms} ms (`timeout-s`)")]
    TimedOut {
        /// Who.
        host: String,
        /// How long was waited, in milliseconds.
        limit_ms: u64,
    },
    /// The server refuses the request, or is in trouble itself.
    #[error("{host} answers with status {status}{after}: {message}")]
    Status {
        /// Who.
        host: String,
        /// HTTP status.
        status: u16,
        /// Whether it was asked more than once.
        after: Tries,
        /// What it says.
        message: String,
    },
    /// What it sends is no answer.
    #[error("what {host} sends is no chat completion: {message}")]
    Malformed {
        /// Who.
        host: String,
        /// What is wrong.
        message: String,
    },
    /// The model was cut short.
    #[error("the answer for {role} ends in the middle, after {tokens} tokens; raise `answer-tokens`")]
    Truncated {
        /// For what.
        role: Role,
        /// How long it is.
        tokens: u64,
        /// How long the prompt was.
        #[serde(default)]
        prompt_tokens: u64,
    },
    /// The stream of an answer broke off.
    #[error("the answer of {host} breaks off: {message}")]
    Cut {
        /// Who.
        host: String,
        /// How.
        message: String,
        /// What it took until then.
        usage: Usage,
    },
    /// The model, or a filter before it, does not want to.
    #[error("the model refuses to answer for {role}: {message}")]
    Refused {
        /// For what.
        role: Role,
        /// What it says.
        message: String,
    },
    /// The recording was made of other questions.
    #[error("{message}")]
    NotRecorded {
        /// Which question, and how it differs.
        message: String,
    },
    /// What was exchanged cannot be kept.
    #[error("{file}: {message}")]
    NotKept {
        /// Where.
        file: String,
        /// Why.
        message: String,
    },
}

/// How often a server was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tries(pub u32);

impl std::fmt::Display for Tries {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 > 1 { write!(formatter, " after {} tries", self.0) } else { Ok(()) }
    }
}

impl CallError {
    /// Whether it says that this run is not what it claims to be, so that it must not go on.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::NotRecorded { .. } | Self::NotKept { .. })
    }

    /// Whether the server does not understand the request, or does not want to: another one may do better.
    pub fn is_about_the_request(&self) -> bool {
        matches!(self, Self::Status { status: 400 | 404 | 415 | 422 | 501, .. })
    }

    /// What it took all the same.
    pub fn usage(&self) -> Usage {
        match self {
            Self::Cut { usage, .. } => *usage,
            Self::Truncated { tokens, prompt_tokens, .. } => {
                Usage { prompt_tokens: *prompt_tokens, answer_tokens: *tokens }
            }
            _ => Usage::default(),
        }
    }
}

/// A way to ask a model.
pub trait Chat: Debug + Send {
    /// Asks, and waits for the answer.
    fn ask(&mut self, request: &Request) -> Result<Reply, CallError>;

    /// What a tool brings that an answer calls: `run` runs it, unless that is known already.
    fn tool(&mut self, _call: &ToolCall, run: &mut dyn FnMut() -> String) -> Result<String, CallError> {
        Ok(run())
    }
}
