//! What a server sends back: whole, or piece by piece as server-sent events. Both come to the same message.

use serde::Deserialize;
use serde_json::Value;

use super::answer::one_line;
use super::chat::{CallError, ToolCall};
use super::ledger::Usage;
use super::role::Role;
use super::tokens::tokens;

/// A message of the assistant, as far as it came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    text: String,
    refusal: String,
    calls: Vec<ToolCall>,
    /// Why it ends; empty where nothing says so.
    finish: String,
    usage: Option<Usage>,
    /// Trouble that the server speaks of in place of the rest.
    trouble: Option<String>,
    /// Whether the stream was closed as it should be.
    closed: bool,
}

/// What comes of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Completed {
    /// What the model says.
    pub text: String,
    /// Tools that it calls.
    pub calls: Vec<ToolCall>,
    /// What it took, where the server says so.
    pub usage: Option<Usage>,
}

/// A message in a response, or a piece of one.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Piece {
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CallPiece {
    index: Option<usize>,
    id: Option<String>,
    function: FunctionPiece,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FunctionPiece {
    name: Option<String>,
    arguments: Option<String>,
}

/// Tool calls of one message that are read.
const MOST_CALLS: usize = 32;

impl Message {
    /// Reads a response that came at once.
    pub fn whole(body: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
        let choice = value.pointer("/choices/0").ok_or("it has no choices")?;
        let mut message = Self { closed: true, ..Self::default() };
        message.take(choice, "message")?;
        message.usage = usage_of(&value);
        Ok(message)
    }

    /// Reads one line of a stream. Lines that are no data, such as comments that keep a connection open, say nothing.
    pub fn line(&mut self, line: &str) -> Result<(), String> {
        let Some(data) = line.trim_end().strip_prefix("data:").map(str::trim) else { return Ok(()) };
        if data == "[DONE]" {
            self.closed = true;
            return Ok(());
        }
        if data.is_empty() {
            return Ok(());
        }
        let value: Value = serde_json::from_str(data).map_err(|error| error.to_string())?;
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
            let said = error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned);
            self.trouble = Some(one_line(&said));
        }
        // The last piece may have the usage and no choice.
        self.usage = usage_of(&value).or(self.usage);
        match value.pointer("/choices/0") {
            Some(choice) => self.take(choice, "delta"),
            None => Ok(()),
        }
    }

    fn take(&mut self, choice: &Value, name: &str) -> Result<(), String> {
        let piece = choice.get(name).filter(|piece| !piece.is_null());
        let piece = piece.map(|piece| serde_json::from_value::<Piece>(piece.clone())).transpose();
        let piece = piece.map_err(|error| format!("`{name}`: {error}"))?.unwrap_or_default();
        self.text.push_str(&piece.content.unwrap_or_default());
        self.refusal.push_str(&piece.refusal.unwrap_or_default());
        for (place, call) in piece.tool_calls.into_iter().flatten().enumerate() {
            let place = call.index.unwrap_or(place);
            if place >= MOST_CALLS {
                return Err(format!("it calls more than {MOST_CALLS} tools at once"));
            }
            if self.calls.len() <= place {
                self.calls.resize_with(place + 1, ToolCall::default);
            }
            let known = &mut self.calls[place];
            known.id.push_str(&call.id.unwrap_or_default());
            known.name.push_str(&call.function.name.unwrap_or_default());
            known.arguments.push_str(&call.function.arguments.unwrap_or_default());
        }
        if let Some(finish) = choice.get("finish_reason").and_then(Value::as_str) {
            finish.clone_into(&mut self.finish);
        }
        Ok(())
    }

    /// Tokens so far: what the server says, else by the estimate.
    pub fn answer_tokens(&self) -> u64 {
        let calls: u64 = self.calls.iter().map(|call| tokens(&call.arguments)).sum();
        self.usage.map_or_else(|| tokens(&self.text) + calls, |usage| usage.answer_tokens)
    }

    /// Whether anything has come of it.
    pub fn has_begun(&self) -> bool {
        !(self.text.is_empty() && self.refusal.is_empty() && self.calls.is_empty() && self.finish.is_empty())
    }

    /// What is taken away of it, everywhere.
    #[must_use]
    pub fn scrubbed(mut self, scrub: impl Fn(&str) -> String) -> Self {
        (self.text, self.refusal) = (scrub(&self.text), scrub(&self.refusal));
        self.trouble = self.trouble.map(|trouble| scrub(&trouble));
        for call in &mut self.calls {
            (call.id, call.name, call.arguments) = (scrub(&call.id), scrub(&call.name), scrub(&call.arguments));
        }
        self
    }

    /// What comes of it for a role. `asked` is the prompt's length in tokens, by the estimate.
    pub fn completed(self, host: &str, role: Role, asked: u64) -> Result<Completed, CallError> {
        let host = host.to_owned();
        let usage = Usage { prompt_tokens: asked, answer_tokens: self.answer_tokens() };
        let usage = self.usage.unwrap_or(usage);
        let refused = |message: &str| Err(CallError::Refused { role, message: one_line(message) });
        if let Some(message) = self.trouble {
            return Err(CallError::Cut { host, message, usage });
        }
        if !self.refusal.is_empty() {
            return refused(&self.refusal);
        }
        match self.finish.as_str() {
            "content_filter" => refused("its answer was filtered"),
            "length" => Err(CallError::Truncated { role, tokens: usage.answer_tokens, prompt_tokens: asked }),
            "" if !self.closed => {
                let message = "the stream ends before the answer does".to_owned();
                Err(CallError::Cut { host, message, usage })
            }
            _ if self.text.trim().is_empty() && self.calls.is_empty() => {
                Err(CallError::Malformed { host, message: "its message has no content".to_owned() })
            }
            _ => Ok(Completed { text: self.text, calls: self.calls, usage: self.usage }),
        }
    }
}

fn usage_of(value: &Value) -> Option<Usage> {
    let usage = value.get("usage")?;
    let of = |name: &str| usage.get(name).and_then(Value::as_u64);
    Some(Usage { prompt_tokens: of("prompt_tokens")?, answer_tokens: of("completion_tokens")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Completed, CallError> {
        let message = Message::whole(body).map_err(|message| CallError::Malformed { host: "h".to_owned(), message })?;
        message.completed("h", Role::Propose, 10)
    }

    fn streamed(lines: &[&str]) -> Result<Completed, CallError> {
        let mut message = Message::default();
        for line in lines {
            message.line(line).map_err(|message| CallError::Malformed { host: "h".to_owned(), message })?;
        }
        message.completed("h", Role::Propose, 10)
    }

    #[test]
    fn an_answer_is_read_with_its_price() {
        let body = r#"{"choices":[{"message":{"content":"TITLE: x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#;
        let usage = Some(Usage { prompt_tokens: 7, answer_tokens: 3 });
        assert_eq!(read(body), Ok(Completed { text: "TITLE: x".to_owned(), calls: Vec::new(), usage }));
        assert_eq!(read(r#"{"choices":[{"message":{"content":"x"}}]}"#).unwrap().usage, None);
    }

    #[test]
    fn what_is_no_answer_says_why() {
        let said = |body: &str| read(body).unwrap_err().to_string();
        assert!(said("<html>").contains("what h sends is no chat completion: expected value"));
        assert!(said(r#"{"choices":[{"message":{"content":"x"#).contains("EOF"));
        assert!(said("{}").contains("it has no choices"));
        assert!(said(r#"{"choices":[{"message":{"content":null}}]}"#).contains("no content"));
        assert!(said(r#"{"choices":[{"message":{"content":7}}]}"#).contains("`message`: invalid type"));
        assert!(
            said(r#"{"choices":[{"message":{"content":"x"},"finish_reason":"length"}]}"#)
                .contains("raise `answer-tokens`")
        );
        assert!(said(r#"{"choices":[{"message":{"refusal":"No."}}]}"#).contains("refuses to answer for propose: No."));
        assert!(
            said(r#"{"choices":[{"message":{"content":"x"},"finish_reason":"content_filter"}]}"#).contains("filtered")
        );
    }

    const FIRST: &str = r#"data: {"choices":[{"delta":{"role":"assistant","content":"TIT"}}]}"#;
    const SECOND: &str = r#"data:{"choices":[{"delta":{"content":"LE: x"}}]}"#;
    const END: &str = r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}"#;
    const PRICE: &str = r#"data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#;

    #[test]
    fn a_stream_comes_to_the_same_and_its_usage_counts() {
        let whole = streamed(&[": keep", "", FIRST, "", SECOND, "event: x", END, PRICE, "data: [DONE]"]).unwrap();
        assert_eq!((whole.text.as_str(), whole.usage.unwrap().answer_tokens), ("TITLE: x", 3));
        // Some servers end with one of both only.
        assert!(streamed(&[FIRST, "data: [DONE]"]).is_ok() && streamed(&[FIRST, END]).is_ok());
    }

    #[test]
    fn a_stream_that_ends_in_the_middle_is_no_answer_and_has_a_price() {
        let error = streamed(&[FIRST, SECOND]).unwrap_err();
        assert_eq!(error.usage(), Usage { prompt_tokens: 10, answer_tokens: 3 });
        assert!(error.to_string().contains("the stream ends before the answer does"), "{error}");
        let trouble = streamed(&[FIRST, r#"data: {"error":{"message":"out of\nmemory"}}"#]).unwrap_err();
        assert!(trouble.to_string().contains("out of memory"), "{trouble}");
        assert!(streamed(&["data: {\"choices\":["]).unwrap_err().to_string().contains("no chat completion"));
    }

    #[test]
    fn calls_of_tools_are_put_together_from_their_pieces() {
        let begin = r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read-file","arguments":"{\"pa"}}]}}]}"#;
        let more = r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"th\":1}"}},{"index":1,"id":"b","function":{"name":"compile","arguments":"{}"}}]}}]}"#;
        let end = r#"data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#;
        let calls = streamed(&[begin, more, end]).unwrap().calls;
        assert_eq!((calls[0].name.as_str(), calls[0].arguments.as_str()), ("read-file", "{\"path\":1}"));
        assert_eq!((calls[1].id.as_str(), calls[1].name.as_str()), ("b", "compile"));
        let far = r#"data: {"choices":[{"delta":{"tool_calls":[{"index":4000000000,"id":"a"}]}}]}"#;
        assert!(streamed(&[far]).unwrap_err().to_string().contains("more than 32 tools"));
    }
}
