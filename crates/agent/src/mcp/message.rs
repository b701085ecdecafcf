//! Messages of JSON-RPC 2.0.

use serde_json::{Map, Value, json};

/// Why a request fails, by the numbers of JSON-RPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// It is no JSON.
    Parse = -32700,
    /// It is no request.
    Invalid = -32600,
    /// There is no such method.
    Method = -32601,
    /// The parameters are none of the method.
    Params = -32602,
    /// Too much is asked at once.
    Busy = -32000,
}

/// What wants an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What the answer refers to.
    pub id: Value,
    /// What is wanted.
    pub method: String,
    /// With what.
    pub params: Value,
}

/// A message that came in.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification {
        /// What it is about.
        method: String,
        /// More about it.
        params: Value,
    },
    /// Is an answer itself.
    Response,
}

impl Incoming {
    /// Reads one; otherwise what to answer.
    pub fn read(line: &[u8]) -> Result<Self, (Value, Code, String)> {
        let value: Value =
            serde_json::from_slice(line).map_err(|error| (Value::Null, Code::Parse, format!("no JSON: {error}")))?;
        let invalid = |id: &Value, message: &str| Err((id.clone(), Code::Invalid, message.to_owned()));
        let Value::Object(mut message) = value else {
            return invalid(&Value::Null, "a message is one object; batches are not spoken");
        };
        let id = message.remove("id");
        let asked = id.clone().filter(|id| id.is_string() || id.is_i64() || id.is_u64());
        let of = asked.clone().unwrap_or(Value::Null);
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return invalid(&of, "`jsonrpc` is not \"2.0\"");
        }
        let Some(method) = message.get("method").and_then(Value::as_str).map(str::to_owned) else {
            let is_response = message.contains_key("result") || message.contains_key("error");
            return if is_response { Ok(Self::Response) } else { invalid(&of, "there is no `method`") };
        };
        let params = message.remove("params").unwrap_or_else(|| Value::Object(Map::new()));
        if !params.is_object() {
            return invalid(&of, "`params` is no object");
        }
        match (id, asked) {
            (None, _) => Ok(Self::Notification { method, params }),
            (Some(_), Some(id)) => Ok(Self::Request(Request { id, method, params })),
            (Some(_), None) => invalid(&Value::Null, "`id` is neither a string nor a whole number"),
        }
    }
}

/// An answer.
pub fn success(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// A refusal.
pub fn failure(id: &Value, code: Code, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code as i32, "message": message } })
}
