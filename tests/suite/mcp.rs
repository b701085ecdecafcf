//! `mcp` as a client of the protocol sees it, over the standard streams of the command.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::cli::small_gelu;
use crate::support::{Project, require_tools};

struct Client {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    asked: u64,
}

impl Client {
    fn of(project: &Project, options: &[&str]) -> Self {
        let mut command = project.command(&[&["mcp"], options].concat());
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the tool runs");
        let (to, from) = (server.stdin.take(), server.stdout.take().expect("its output"));
        let mut client = Self { server, to, from: BufReader::new(from), asked: 0 };
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let opened = client.ask("initialize", &params);
        assert_eq!(opened["result"]["serverInfo"]["name"], "cargo-ascend-tune");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().expect("open"), "{message}").expect("the server reads");
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }));
        let mut line = String::new();
        self.from.read_line(&mut line).expect("an answer");
        let answer: Value = serde_json::from_str(&line).expect("a message is a line");
        assert_eq!(answer["id"], self.asked, "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> (bool, String) {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        (result["isError"] == true, result["content"][0]["text"].as_str().unwrap_or_default().to_owned())
    }

    fn tools(&mut self) -> Vec<String> {
        let tools = self.ask("tools/list", &json!({}))["result"]["tools"].clone();
        let tools = tools.as_array().expect("a list");
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }

    fn end(mut self) {
        drop(self.to.take());
        assert!(self.server.wait().expect("it ends").success());
    }
}

#[test]
fn what_is_known_is_served_and_nothing_is_run_unless_that_is_allowed() {
    require_tools!();
    let project = small_gelu();
    let mut client = Client::of(&project, &[]);
    assert_eq!(client.tools(), ["lookup-api", "search-bank", "survey-motifs"]);
    let (wrong, text) = client.call("lookup-api", &json!({ "name": "DataCopyPad" }));
    assert!(!wrong && text.contains("GlobalTensor<T>& src") && text.contains("cost: start-up"), "{text}");
    let (wrong, text) = client.call("survey-motifs", &json!({}));
    assert!(!wrong && text.contains("D01 double buffering at op_kernel/gelu_naive.cpp:"), "{text}");
    assert!(client.call("survey-motifs", &json!({ "motif": "D99" })).0);
    assert!(
        client.call("search-bank", &json!({ "words": "double buffering" })).1.contains("D01 double buffering: kept")
    );
    let refused = client.ask("tools/call", &json!({ "name": "profile", "arguments": {} }));
    assert_eq!(refused["error"]["code"], -32602);
    client.end();
    assert!(!project.path().join("target").exists(), "nothing was written");

    let mut client = Client::of(&project, &["--allow-run"]);
    let (wrong, text) = client.call("hazards", &json!({ "cases": ["32x1024"] }));
    assert!(!wrong && text.contains("\"hazards\":[]") && text.contains("\"correct\":true"), "{text}");
    let (wrong, text) = client.call("profile", &json!({ "cases": ["--help"] }));
    assert!(wrong && !text.contains("Usage:"), "{text}");
    client.end();
}
