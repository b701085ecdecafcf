//! `mcp` as a client of the protocol sees it, over the standard streams of the command.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::cli::small_gelu;
use crate::support::{Project, TOOL, require_tools, root, tools_are_brought};

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

/// Agents that people use speak the protocol through its own library: what that takes for an answer counts.
#[test]
fn the_protocols_own_client_library_is_served() {
    let python = |arguments: &[&str]| Command::new("python3").args(arguments).output().expect("Python starts");
    let project = small_gelu();
    let calls = json!([
        ["lookup-api", { "name": "DataCopyPad" }],
        ["survey-motifs", {}],
        ["survey-motifs", { "motif": "D99" }],
        ["profile", {}],
    ]);
    let script = root().join("tests/suite/data/python/mcp_client.py");
    let (script, folder) = (script.to_str().expect("a path"), project.path().to_str().expect("a path"));
    let output = python(&[script, &calls.to_string(), TOOL, "mcp", "--project", folder]);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() && complaint.contains("No module named 'mcp'") {
        assert!(!tools_are_brought(), "{complaint}");
        eprintln!("skipped: there is no Python package mcp");
        return;
    }
    assert!(output.status.success(), "{complaint}");
    let told: Value = serde_json::from_slice(&output.stdout).expect("what the client was told");
    assert_eq!(told["opened"]["serverInfo"]["name"], "cargo-ascend-tune");
    let tools = told["tools"].as_array().expect("a list");
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["lookup-api", "search-bank", "survey-motifs"]);
    let text = |place: usize| told["answers"][place]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text(0).contains("GlobalTensor<T>& src") && told["answers"][0]["isError"] == false, "{told}");
    assert!(text(1).contains("D01 double buffering at op_kernel/gelu_naive.cpp:"), "{told}");
    assert!(text(2).contains("no motif is called") && told["answers"][2]["isError"] == true, "{told}");
    assert!(told["answers"][3]["refused"].to_string().contains("there is no tool"), "{told}");
}
