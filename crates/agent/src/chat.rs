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
            "stream": false,
        });
        Self { role: prompt.role, body }
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
}

/// A way to ask a model.
pub trait Chat: Debug + Send {
    /// Asks, and waits for the answer.
    fn ask(&mut self, request: &Request) -> Result<Reply, CallError>;
}

/// Reads a server's answer to a request for a role.
pub(super) fn completion(host: &str, role: Role, body: &str) -> Result<(String, Option<Usage>), CallError> {
    let malformed = |message: String| CallError::Malformed { host: host.to_owned(), message };
    let value: Value = serde_json::from_str(body).map_err(|error| malformed(error.to_string()))?;
    let usage = value.get("usage").and_then(|usage| {
        let of = |name: &str| usage.get(name).and_then(Value::as_u64);
        Some(Usage { prompt_tokens: of("prompt_tokens")?, answer_tokens: of("completion_tokens")? })
    });
    let choice = value.pointer("/choices/0").ok_or_else(|| malformed("it has no choices".to_owned()))?;
    let refusal = choice.pointer("/message/refusal").and_then(Value::as_str).filter(|text| !text.is_empty());
    let text = choice.pointer("/message/content").and_then(Value::as_str).unwrap_or_default();
    let refused = |message: &str| CallError::Refused { role, message: super::answer::one_line(message) };
    match choice.get("finish_reason").and_then(Value::as_str) {
        _ if refusal.is_some() => Err(refused(refusal.unwrap_or_default())),
        Some("content_filter") => Err(refused("its answer was filtered")),
        Some("length") => Err(CallError::Truncated { role, tokens: usage.unwrap_or_default().answer_tokens }),
        _ if text.trim().is_empty() => Err(malformed("its message has no content".to_owned())),
        _ => Ok((text.to_owned(), usage)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<(String, Option<Usage>), CallError> {
        completion("h", Role::Propose, body)
    }

    #[test]
    fn an_answer_is_read_with_its_price() {
        let body = r#"{"choices":[{"message":{"content":"TITLE: x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#;
        assert_eq!(read(body), Ok(("TITLE: x".to_owned(), Some(Usage { prompt_tokens: 7, answer_tokens: 3 }))));
        assert_eq!(read(r#"{"choices":[{"message":{"content":"x"}}]}"#), Ok(("x".to_owned(), None)));
    }

    #[test]
    fn what_is_no_answer_says_why() {
        let said = |body: &str| read(body).unwrap_err().to_string();
        assert!(said("<html>").contains("what h sends is no chat completion: expected value"));
        assert!(said(r#"{"choices":[{"message":{"content":"x"#).contains("EOF"));
        assert!(said("{}").contains("it has no choices"));
        assert!(said(r#"{"choices":[{"message":{"content":null}}]}"#).contains("no content"));
        assert!(
            said(r#"{"choices":[{"message":{"content":"x"},"finish_reason":"length"}]}"#)
                .contains("raise `answer-tokens`")
        );
        assert!(said(r#"{"choices":[{"message":{"refusal":"No."}}]}"#).contains("refuses to answer for propose: No."));
        assert!(
            said(r#"{"choices":[{"message":{"content":"x"},"finish_reason":"content_filter"}]}"#).contains("filtered")
        );
    }
}
