//! The protocol as a client sees it: one line in, one line out.

use std::io::{BufReader, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::*;

/// Two tools: one answers at once, the other when it is cancelled.
struct Pair;

impl Offer for Pair {
    fn name(&self) -> (&str, &str) {
        ("pair", "1.2.3")
    }

    fn instructions(&self) -> String {
        "Ask.".to_owned()
    }

    fn tools(&self) -> Vec<Description> {
        let tool = |name, read_only| {
            let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
            Description { name, description: "does", schema, read_only }
        };
        vec![tool("quick", true), tool("slow", false)]
    }

    fn call(&self, tool: &str, arguments: &Value, turn: &Turn) -> Result<Answer, String> {
        if tool == "slow" {
            turn.step("begun");
            while !turn.is_cancelled() {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        let n = arguments.get("n").and_then(Value::as_u64).ok_or("`n` is missing")?;
        Ok(Answer { text: format!("it is {n}"), data: Some(json!({ "n": n })), is_error: n == 0 })
    }
}

/// What a server reads, as it is sent.
struct Pipe(Receiver<String>, Vec<u8>);

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.is_empty() {
            self.1 = self.0.recv().map(String::into_bytes).unwrap_or_default();
        }
        let count = self.1.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.1[..count]);
        self.1.drain(..count);
        Ok(count)
    }
}

/// What a server writes, line by line.
struct Lines(Sender<Value>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // `writeln!` may write in pieces: tests read whole messages.
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            self.0.send(serde_json::from_slice(line)?).map_err(io::Error::other)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Client {
    to: Option<Sender<String>>,
    from: Receiver<Value>,
    server: Option<JoinHandle<io::Result<()>>>,
}

impl Client {
    fn new() -> Self {
        let ((to, input), (output, from)) = (channel(), channel());
        let server = std::thread::spawn(move || {
            // Whole lines: what is written in pieces is put together.
            let output = io::LineWriter::new(Lines(output));
            serve(Arc::new(Pair), BufReader::new(Pipe(input, Vec::new())), output)
        });
        Self { to: Some(to), from, server: Some(server) }
    }

    fn open() -> Self {
        let client = Self::new();
        client.ask(&json!({ "protocolVersion": "2025-06-18" }), "initialize");
        client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
        client
    }

    fn send(&self, line: &str) {
        self.to.as_ref().unwrap().send(format!("{line}\n")).unwrap();
    }

    fn heard(&self) -> Value {
        self.from.recv_timeout(Duration::from_secs(10)).unwrap()
    }

    fn ask(&self, params: &Value, method: &str) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string());
        let answer = self.heard();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)), "{answer}");
        answer
    }

    fn end(mut self) {
        drop(self.to.take());
        self.server.take().unwrap().join().unwrap().unwrap();
        assert!(self.from.recv_timeout(Duration::from_secs(10)).is_err(), "nothing is said after that");
    }
}

#[test]
fn versions_are_negotiated_and_tools_come_after_that() {
    let client = Client::new();
    assert_eq!(client.ask(&json!({}), "tools/list")["error"]["code"], -32600);
    assert_eq!(client.ask(&json!({}), "ping")["result"], json!({}));
    assert_eq!(client.ask(&json!({}), "initialize")["error"]["code"], -32602);
    let opened = client.ask(&json!({ "protocolVersion": "1999-01-01" }), "initialize");
    assert_eq!(opened["result"]["protocolVersion"], "2025-06-18");
    let opened = client.ask(&json!({ "protocolVersion": "2024-11-05", "capabilities": {} }), "initialize");
    assert_eq!(opened["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(opened["result"]["serverInfo"], json!({ "name": "pair", "version": "1.2.3" }));
    assert!(opened["result"]["capabilities"]["tools"].is_object());
    let tools = client.ask(&json!({}), "tools/list");
    assert_eq!(tools["result"]["tools"][1]["name"], "slow");
    assert_eq!(tools["result"]["tools"][0]["inputSchema"]["type"], "object");
    assert_eq!(tools["result"]["tools"][0]["annotations"]["readOnlyHint"], true);
    client.end();
}

#[test]
fn a_call_brings_text_and_data_and_what_is_wrong_with_it_is_said() {
    let client = Client::open();
    let call =
        |name: &str, arguments: Value| client.ask(&json!({ "name": name, "arguments": arguments }), "tools/call");
    let answer = call("quick", json!({ "n": 3 }));
    let text = json!([{ "type": "text", "text": "it is 3" }]);
    assert_eq!(answer["result"], json!({ "content": text, "isError": false, "structuredContent": { "n": 3 } }));
    assert_eq!(call("quick", json!({ "n": 0 }))["result"]["isError"], true);
    let wrong = |answer: Value, code: i32, said: &str| {
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(said), "{answer}");
    };
    wrong(call("quick", json!({})), -32602, "`n` is missing");
    wrong(call("other", json!({})), -32602, "there are quick, slow");
    wrong(call("quick", json!([])), -32602, "no object");
    wrong(client.ask(&json!({}), "tools/call"), -32602, "no `name`");
    wrong(client.ask(&json!({}), "resources/list"), -32601, "resources/list");
    client.end();
}

#[test]
fn what_is_no_message_is_answered_by_the_numbers_of_json_rpc() {
    let client = Client::open();
    for (line, id, code) in [
        ("no JSON", json!(null), -32700),
        ("[]", json!(null), -32600),
        ("{\"id\":1,\"method\":\"ping\"}", json!(1), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", json!(null), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"a\"}", json!("a"), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":[]}", json!(2), -32600),
    ] {
        client.send(line);
        let answer = client.heard();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{line}");
    }
    client.send("");
    client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}");
    client.send("{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}");
    assert_eq!(client.ask(&json!({}), "ping")["result"], json!({}), "none of these has an answer");
    client.end();
}

#[test]
fn a_call_runs_beside_others_tells_its_steps_and_can_be_cancelled() {
    let client = Client::open();
    let slow = |id: u64| {
        let params = json!({ "name": "slow", "arguments": { "n": 1 }, "_meta": { "progressToken": id } });
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string());
    };
    for id in 20..24 {
        slow(id);
        let told = client.heard();
        assert_eq!(told["method"], "notifications/progress");
        assert_eq!(told["params"], json!({ "progressToken": id, "progress": 1, "message": "begun" }));
    }
    slow(24);
    assert_eq!(client.heard()["error"]["code"], -32000, "four are enough");
    slow(20);
    assert_eq!(client.heard()["error"]["code"], -32600, "it runs already");
    assert_eq!(client.ask(&json!({}), "ping")["result"], json!({}));
    client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":20}}");
    client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":99}}");
    // The others are given up when the client goes, and none of them answers.
    client.end();
}

/// A shell pipes its questions in and closes the pipe before anything is answered.
#[test]
fn what_was_asked_before_the_input_ended_is_answered() {
    let asked = |id: u64, method: &str, params: Value| {
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
    };
    let input = [
        asked(1, "initialize", json!({ "protocolVersion": "2025-06-18" })),
        asked(2, "tools/call", json!({ "name": "quick", "arguments": { "n": 3 } })),
    ];
    let (output, from) = channel();
    serve(Arc::new(Pair), io::Cursor::new(input.join("\n")), io::LineWriter::new(Lines(output))).unwrap();
    let answers: Vec<Value> = from.iter().collect();
    assert_eq!(answers[1]["result"]["structuredContent"], json!({ "n": 3 }), "{answers:?}");
}
